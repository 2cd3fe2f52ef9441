"""Simulated participants: whole sessions on a virtual clock, counted or recorded, until a study is
full."""

from __future__ import annotations

import gc
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import ExportExists, SessionError, UsageError
from labapp.record.events import Event, Payload, Source, UnstampedEvent
from labapp.record.events.commands import Pause
from labapp.record.events.lifecycle import NoteAdded
from labapp.record.journal.read import check_journal
from labapp.record.journal.write import MemoryJournal
from labapp.session import opening
from labapp.session.condition_assignment import Coverage, coverage
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.planning.thresholds import fold
from labapp.session.private import consents
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.runner import Runner
from labapp.session.simulation import simulation_job
from labapp.session.simulation.driver import STILL_S, Driver, Stuck
from labapp.session.simulation.fitting import check_fits, every_strategy, usual_strategy
from labapp.session.simulation.names import (
    MIXTURE,
    ORACLE,
    READS_EXPLANATIONS,
    REPAIRS_CONCEPTS,
    STRATEGY_NAMES,
    TURNS_DIALS,
)
from labapp.session.simulation.person import FAST, HUMAN
from labapp.session.simulation.simulation_job import (
    SimulationJob,
    check_job,
    is_included,
    run_job,
    simulate,
    simulate_study,
)
from labapp.session.simulation.strategies import STRATEGIES
from labapp.study.allocation import rule_of
from labapp.study.loading import LoadedStudy, list_shipped, load
from labapp.tasks.pages.task import TASK
from labapp.tasks.reconstruction import simulated
from tests.helpers.drawn import drawn_study
from tests.helpers.nightly import EVERYTHING
from tests.helpers.questionnaires import leave_why_empty, written_session, written_study
from tests.session.sessions import opened, scheduler_of, surroundings

QUICK = load("quickstart")


SMALL = """
{id: small, title: Small, version: 1, unnamed_texts: shipped, flow: [{stages:
  {task: reconstruction, models: [sinelines/gt, sinelines/ae], trials: 1, skip: after}}]}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> LoadedStudy:
    path = tmp_path_factory.mktemp("study") / "small.yaml"
    path.write_text(SMALL)
    return load(path)


def run(
    tmp_path: Path, study: LoadedStudy, name: str = "a", participant: str = "P01", **more: object
) -> list[Event]:
    around: SessionDependencies = surroundings(tmp_path / name)
    path = simulate(
        study,
        participant,
        around,
        data=tmp_path / name,
        **{"strategy": "understanding", **more},  # type: ignore[arg-type]
    )
    assert not check_journal(path)
    return read_verified_events(path)


def story(events: list[Event]) -> list[tuple[object, ...]]:
    """What happened, without what names this machine."""
    return [
        (e.t_ns, e.source, e.kind, e.key, e.payload)
        for e in events
        if e.kind not in ("segment.started", "environment.recorded")
    ]


def test_a_session_is_completed_by_someone_marked_as_simulated(tmp_path: Path) -> None:
    events = run(tmp_path, QUICK)
    assert events[0].kind == "session.planned"
    assert is_finished(events)
    kinds = [event.kind for event in events]
    assert "session.completed" in kinds
    assert kinds[-1] == "segment.ended"
    outcomes = [e.payload["outcome"] for e in events if e.kind == "trial.ended"]
    assert len(outcomes) == 3 + 3 * 5
    assert outcomes[:3] == ["solved"] * 3, "the practice has to be solved"
    assert {"solved", "skipped"} >= set(outcomes)
    assert outcomes.count("solved") >= 8
    minutes = events[-1].t_ns / 60e9
    assert 3 < minutes < 60, "about a person's speed"
    done = {"dial.moved", "response.changed", "page.turned", "trial.ended"}
    assert {e.source for e in events if e.kind in done} == {"simulated"}
    assert HUMAN.stride_s > FAST.stride_s


def test_a_session_is_the_same_again_from_the_same_seed(tmp_path: Path, small: LoadedStudy) -> None:
    events = run(tmp_path, small)
    assert is_finished(events)
    assert story(events) == story(run(tmp_path, small, "b"))
    if EVERYTHING:
        assert story(events) != story(run(tmp_path, small, "c", seed=4))


def test_one_after_another(tmp_path: Path) -> None:
    told: list[str] = []
    paths = simulate_study("quickstart", 2, "understanding", tmp_path / "data", None, told.append)
    assert told == ["P01", "P02"]
    assert [path.name[:7] for path in paths] == ["sub-P01", "sub-P02"]
    orders = [
        tuple(read_verified_events(path)[0].payload["assignment"]["models"]) for path in paths
    ]
    assert orders[0] != orders[1]
    names = [record.participant for record in consents(tmp_path / "data" / "private", "quickstart")]
    assert names == ["P01", "P02"]


def test_a_session_that_stands_still_is_told(tmp_path: Path, small: LoadedStudy) -> None:
    with pytest.raises(SessionError, match="made no progress"):
        run(tmp_path, small, until=lambda session: False)
    (path,) = (tmp_path / "a" / "small").iterdir()
    assert is_finished(read_verified_events(path)), "what happened until then is kept"


def test_an_interrupted_simulation_leaves_a_whole_journal(tmp_path: Path) -> None:
    def interrupt(session: OpenSession) -> bool:
        if session.runner.part is not None and session.runner.part.id == "practice":
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, QUICK, until=interrupt)
    (path,) = (tmp_path / "a" / "quickstart").iterdir()
    events = read_verified_events(path)
    assert events[-1].kind == "segment.ended"
    assert not is_finished(events)


def test_an_existing_folder_is_not_written_into(tmp_path: Path) -> None:
    with pytest.raises(ExportExists):
        simulate_study("quickstart", 1, "understanding", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_name_is_a_strategy_for_some_study(tmp_path: Path) -> None:
    assert {*STRATEGIES, ORACLE} == set(TURNS_DIALS)
    shipped = {*TURNS_DIALS, *READS_EXPLANATIONS, *REPAIRS_CONCEPTS}
    assert shipped == {*STRATEGY_NAMES, ORACLE} - {MIXTURE}
    assert shipped == set(every_strategy())
    assert all(every_strategy().values())
    with pytest.raises(UsageError, match="No task has a strategy 'wizard'") as nobody:
        simulate_study("quickstart", 1, "wizard", tmp_path / "out")
    assert "ascent, partial, random, understanding." in (nobody.value.todo or "")
    refused = {
        "explanation": ("quickstart", "understanding"),
        "understanding=0.5,explanation=0.5": ("quickstart", "partial"),
        "partial": ("gradcam-distinction", "explanation"),
        MIXTURE: ("unmasking-faces", "random"),
    }
    for strategy, (study, instead) in refused.items():
        with pytest.raises(UsageError, match=f"cannot do the study '{study}'") as told:
            simulate_study(study, 1, strategy, tmp_path / "out")
        assert told.value.safe
        assert instead in (told.value.todo or "")
    assert list(tmp_path.iterdir()) == []


def test_without_a_strategy_every_shipped_study_has_participants_that_can_do_it(
    tmp_path: Path,
) -> None:
    for study in (path.stem for path in list_shipped()):
        loaded = check_job(study, 2, None, tmp_path / "out")
        check_fits(usual_strategy(loaded.study), loaded.study)


def test_whoever_gets_nowhere_and_may_not_skip_is_helped_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "ENDURES", 200)
    path = tmp_path / "never.yaml"
    path.write_text(
        "{id: never, title: Never, version: 1, unnamed_texts: shipped, "
        "flow: [{stages: {task: reconstruction, "
        "models: [sinelines/ae], trials: 2, skip: never, target_alignment: 1.0}}]}"
    )
    folder = simulate(
        load(path),
        "P01",
        surroundings(tmp_path),
        data=tmp_path / "data",
        strategy="random",
        pace=FAST,
    )
    events = read_verified_events(folder)
    assert is_finished(events)
    assert not check_journal(folder)
    (ended,) = [e.payload["outcome"] for e in events if e.kind == "trial.ended"]
    assert ended == "stage_skipped"
    assert sum(e.kind == "dial.moved" for e in events) > 100


def test_whoever_is_told_the_answers_solves_everything(tmp_path: Path) -> None:
    events = run(tmp_path, QUICK, strategy="knowing", pace=FAST)
    outcomes = [e.payload["outcome"] for e in events if e.kind == "trial.ended"]
    assert outcomes == ["solved"] * 18


def test_sessions_one_after_another_leave_nothing_in_memory(tmp_path: Path) -> None:
    """What a session made goes with it. The first one loads what all of them need."""

    def left(number: int) -> int:
        run(tmp_path, QUICK, str(number), f"P0{number}", strategy="random")
        gc.collect()
        return len(gc.get_objects())

    left(1)
    first, second, third = left(2), left(3), left(4)
    assert max(second, third) - first < 500, (first, second, third)
    # Some objects of torch warn where isinstance asks for their class.
    assert not [one for one in gc.get_objects() if type(one) is OpenSession]


MEASURED = ("decoder.warmed", "environment.recorded")

"""Of the machine, not of the participant."""


def all_of_it(events: Sequence[tuple[Event, Payload]], name: str) -> Any:
    kept = [event for event, _ in events if event.kind not in MEASURED]
    return name, [json.loads(json.dumps(event)) for event in kept], fold(events, name)


def first(loaded: LoadedStudy, strategy: str = "understanding") -> SimulationJob:
    """The session of the first participant."""
    label, rule = loaded.study.participants.label(1), rule_of(loaded.study)
    drawn = () if rule is None else rule.draw(Counter(), 3, loaded.study.id, label)
    return SimulationJob(loaded, label, drawn, strategy, None)


@pytest.mark.parametrize(
    ("study", "cells", "strategy"),
    [
        ("quickstart", (), ORACLE),
        ("dsprites-demo", (), ORACLE),
        ("mnist-think-aloud", (), ORACLE),
        ("synthetic-crowd", ("exemplars-sinelines",), "understanding"),
        ("gradcam-distinction", (), "understanding"),
        ("unmasking-faces", (), "understanding"),
        ("concept-repair-crowd", (), "careful"),
    ],
)
@pytest.mark.parametrize("careless", [False, True])
def test_events_and_rows_are_those_of_a_recorded_session(
    study: str, cells: tuple[str, ...], strategy: str, careless: bool, tmp_path: Path
) -> None:
    loaded = load(study)
    job = replace(first(loaded, strategy), seed=3, careless=careless, fold=all_of_it)
    job = replace(job, drawn=cells or job.drawn)
    quick = run_job(job)
    slow = run_job(replace(job, keep="folder", scratch=tmp_path))
    assert quick.folded == slow.folded
    assert (quick.name, quick.included) == (slow.name, slow.included)
    assert quick.path is None
    assert slow.path is not None


@pytest.mark.parametrize(
    ("study", "cells", "strategy", "careless"),
    [
        ("quickstart", (), "partial", False),
        ("synthetic-crowd", ("reconstruction-sinelines",), "random", False),
        ("synthetic-crowd", ("reconstruction-dsprites",), "understanding", True),
        ("calibration", (), ORACLE, False),
        ("quickstart", (), "ascent", False),
    ],
)
def test_movements_are_the_same_whether_one_by_one_or_many_on_end(
    study: str,
    cells: tuple[str, ...],
    strategy: str,
    careless: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = replace(first(load(study), strategy), careless=careless, drawn=cells, fold=all_of_it)
    taken: list[int] = []
    take = Runner.take

    def noted(runner: Runner, run: Sequence[Any], *rest: Any) -> None:
        taken.append(len(run))
        take(runner, run, *rest)

    monkeypatch.setattr(Runner, "take", noted)
    on_end = run_job(job).folded
    assert max(taken) > 10, "several movements, each of them with its picture"
    taken.clear()
    monkeypatch.setattr(Runner, "quiet_until_ns", None)
    assert run_job(job).folded == on_end
    assert not taken


def test_nothing_is_written_where_only_numbers_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object, **named: object) -> None:
        raise AssertionError("a folder was made")

    monkeypatch.setattr(tempfile, "mkdtemp", never)
    monkeypatch.setattr(opening, "create", never)
    assert run_job(replace(first(load("gradcam-distinction")), scratch=tmp_path)).included
    assert not any(tmp_path.iterdir())


def test_a_session_that_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "start", lambda driver: None)
    with pytest.raises(SessionError, match="made no progress"):
        run_job(first(load("gradcam-distinction")))


def test_a_value_of_another_type_is_found_in_memory_too() -> None:
    journal = MemoryJournal(FakeClock())
    journal.append(UnstampedEvent(NoteAdded(3, None)), Source.SYSTEM)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"note\.added"):
        journal.payloads()


def play(tmp_path: Path, study: Path) -> Path:
    around = surroundings(tmp_path)
    data = tmp_path / "data"
    return simulate(load(study), "P01", around, data=data, strategy="random", pace=FAST)


def test_an_item_that_takes_no_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_why_empty(monkeypatch)
    with pytest.raises(Stuck, match=r"in questionnaire-1 .*, page 2: no answer to 'why'") as told:
        play(tmp_path, written_study(tmp_path / "study"))
    assert "recorded" in told.value.safe
    path = written_session(tmp_path / "data")
    events = read_verified_events(path)
    assert events[-1].kind == "segment.ended"
    assert STILL_S <= (events[-1].t_ns - events[-2].t_ns) / 1e9 < 2 * STILL_S
    assert check_journal(path) == []


def test_a_part_of_an_unknown_kind_is_named_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(TASK), "actors", "")
    with pytest.raises(Stuck, match="parts of the kind 'text'"):
        play(tmp_path, written_study(tmp_path / "study"))
    assert not is_finished(read_verified_events(written_session(tmp_path / "data")))


def test_a_driver_that_lost_its_thread_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Driver, "send", lambda *_, **__: None)
    with pytest.raises(Stuck, match="made no progress for 120 s"):
        play(tmp_path, written_study(tmp_path / "study"))


@pytest.mark.parametrize(
    ("took_ms", "moving", "windows", "waits_s"),
    [
        (15, True, True, 0.005),
        (50, True, True, 0.0),
        (15, False, True, 0.02),
        (15, True, False, 0.02),
    ],
)
def test_a_hand_on_its_way_does_not_wait_for_what_is_drawn(
    took_ms: int, moving: bool, windows: bool, waits_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, waits = FakeClock(), []
    runner: Any = SimpleNamespace(
        clock=clock,
        part=None,
        send=lambda *_: clock.set_ns(clock.now_ns() + took_ms * 1_000_000),
        scheduler=SimpleNamespace(call_later=lambda seconds, act: waits.append(seconds)),
    )
    monkeypatch.setattr(Driver, "lasts", lambda self, seconds: seconds)
    driven = Driver(runner, print, "random", 1, "P01", FAST, paints=not windows)
    for _ in range(3):  # what was late is never caught up with
        driven.send(Pause("a stride"), FAST.stride_s, moving=moving)
        clock.set_ns(clock.now_ns() + round(waits[-1] * 1e9))
    assert waits[1:] == pytest.approx([waits_s, waits_s])


@pytest.mark.parametrize(("alone", "told"), [(True, 1), (False, 0)])
def test_only_where_there_is_a_moderator_a_pause_may_last(
    tmp_path: Path, alone: bool, told: int
) -> None:
    session = opened(tmp_path, study=written_study(tmp_path / "study"))
    errors: list[Any] = []
    session.begin()
    driven = Driver(
        session.runner,
        session.give_consent,
        "random",
        1,
        "P01",
        FAST,
        paints=alone,
        on_stuck=errors.append,
    )
    driven.start()
    session.runner.send(Pause("a knock at the door"), Source.MODERATOR)
    clock = session.runner.clock
    scheduler_of(session).run(lambda: bool(errors) or clock.now_ns() > 3 * STILL_S * 1e9)
    driven.stop()
    session.close("test over")
    assert len(errors) == told


def test_a_long_break_is_no_standing_still(tmp_path: Path) -> None:
    study = written_study(tmp_path / "study", break_s=3 * STILL_S)
    assert is_finished(read_verified_events(play(tmp_path, study)))


RULES = "inclusion: {min_solved: 1, practice_correct: true}"

SINGLE = """
id: drawn
title: Drawn
version: 1
unnamed_texts: shipped
assignment:
  condition: {included: 2, cells: {a: {kind: traversals}, b: {kind: exemplars}}}
inclusion: {practice_correct: true}
flow:
  - each: condition
    flow:
      - practice: circles-traversals
      - stages: {task: single-dimension, visualisation: traversals, models: [sinelines/gt]}
"""


def covered(out: Path, study: Path) -> Coverage:
    found = coverage(out, load(study))
    assert found is not None
    return found


def test_many_places_that_nobody_has_had_are_counted_in_one_line(tmp_path: Path) -> None:
    simulate_study("concept-forecast", 2, "careful", tmp_path / "out")
    lines = covered(tmp_path / "out", Path("concept-forecast")).lines()
    assert sum("1 of 1 included" in line for line in lines) == 2
    assert "  Nobody yet in 70 others of 72." in lines
    assert len(lines) == 5


def test_the_careless_are_excluded_and_replaced_until_each_cell_has_its_own(
    tmp_path: Path,
) -> None:
    loaded = drawn_study(tmp_path, cells="abcd", draw=2, included=3, lines=RULES)
    out = tmp_path / "out"
    told: list[str] = []
    made = simulate_study(
        str(loaded.path), None, "understanding", out, 5, told.append, careless=0.4
    )
    assert len(made) == len(told) == len(set(told))
    counts = Counter(is_included(path) for path in made)
    assert counts[True] == 6
    assert 1 <= counts[False] <= 12, "the careless, and nobody else"
    found = covered(out, loaded.path)
    assert found.complete
    assert {cell: count["included"] for cell, count in found.counts().items()} == dict.fromkeys(
        "abcd", 3
    )
    assert found.retention() == (6, len(made))
    skipped = [
        [e.payload["outcome"] for e in read_verified_events(path) if e.kind == "trial.ended"]
        for path in made
    ]
    assert all(
        set(s) == {"skipped"} for s, p in zip(skipped, made, strict=True) if not is_included(p)
    )
    again = simulate_study(
        str(loaded.path), None, "understanding", tmp_path / "again", 5, careless=0.4
    )
    assert [path.name for path in again] == [path.name for path in made]


def test_a_full_study_takes_no_more_than_it_wants(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, included=1)
    assert len(simulate_study(str(loaded.path), 9, "knowing", tmp_path / "out")) == 3
    few = simulate_study(str(loaded.path), 2, "knowing", tmp_path / "few")
    assert len(few) == 2
    assert not covered(tmp_path / "few", loaded.path).complete


def test_who_guesses_in_practice_is_excluded(tmp_path: Path) -> None:
    study = tmp_path / "drawn.yaml"
    study.write_text(SINGLE)
    made = simulate_study(str(study), 6, "understanding", tmp_path / "out", 1, careless=1.0)
    assert [is_included(path) for path in made].count(True) <= 2, "three guesses in a row are rare"


def test_where_skipping_takes_a_while_the_careless_bide_their_time(tmp_path: Path) -> None:
    text = drawn_study(tmp_path, lines=RULES).path.read_text()
    study = tmp_path / "drawn.yaml"
    study.write_text(text.replace("skip: always", "skip: after"))
    (path,) = simulate_study(str(study), 1, "understanding", tmp_path / "out", careless=1.0)
    events = read_verified_events(path)
    assert [e.payload["outcome"] for e in events if e.kind == "trial.ended"] == ["skipped"] * 2
    assert any(e.kind == "skip.offered" for e in events)


def test_a_study_that_does_not_fill_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = drawn_study(tmp_path, lines=RULES)
    monkeypatch.setattr(simulation_job, "IN_VAIN", 3)
    with pytest.raises(SessionError, match="None of the last 3"):
        simulate_study(str(loaded.path), None, "understanding", tmp_path / "out", careless=1.0)
    with pytest.raises(UsageError, match="never full"):
        simulate_study("quickstart", None, "understanding", tmp_path / "other")
