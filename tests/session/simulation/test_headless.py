"""Simulated participants: whole sessions on a virtual clock, recorded like real ones."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from labapp.base.errors import ExportExists, SessionError, UsageError
from labapp.record.events import Event
from labapp.record.journal.read import check_journal
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.private import consents
from labapp.session.resuming import finished, read_verified_events
from labapp.session.simulation.fitting import every_strategy
from labapp.session.simulation.names import (
    MIXTURE,
    ORACLE,
    READS_EXPLANATIONS,
    REPAIRS_CONCEPTS,
    STRATEGY_NAMES,
    TURNS_DIALS,
)
from labapp.session.simulation.person import FAST, HUMAN
from labapp.session.simulation.simulation_job import simulate, simulate_study
from labapp.session.simulation.strategies import STRATEGIES
from labapp.study.loading import LoadedStudy, load
from labapp.tasks.reconstruction import simulated
from tests.helpers.nightly import EVERYTHING
from tests.session.sessions import surroundings

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
    assert finished(events)
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
    assert finished(events)
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
    with pytest.raises(SessionError, match="stood still"):
        run(tmp_path, small, until=lambda session: False)
    (path,) = (tmp_path / "a" / "small").iterdir()
    assert finished(read_verified_events(path)), "what happened until then is kept"


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
    assert not finished(events)


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
    with pytest.raises(UsageError, match="No task knows a strategy 'wizard'") as nobody:
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
    assert finished(events)
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
