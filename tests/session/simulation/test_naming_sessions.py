"""Dials named in whole sessions: by whom, when, and without a change in anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labapp.analysis import load as load_tables
from labapp.base.clock import NS
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Event
from labapp.record.journal.read import check_journal
from labapp.session.resuming import finished, read_verified_events
from labapp.session.simulation import driver
from labapp.session.simulation.learning import LearningStrategy
from labapp.session.simulation.person import (
    ENGLISH,
    FAST,
    GERMAN,
    HUMAN,
    STRIDE_S,
    Pace,
    Person,
    typing_s,
    vocabulary,
)
from labapp.session.simulation.simulation_job import simulate
from labapp.study.conditions import generator
from labapp.study.loading import load
from labapp.tasks.reconstruction import simulated
from labapp.tasks.reconstruction.simulated import Reconstructor
from tests.helpers.formulas import formula_decoders
from tests.helpers.rooms import FormulaDecoder
from tests.session.sessions import surroundings


def play(
    tmp_path: Path,
    name: str,
    strategy: str = "understanding",
    *,
    labels: str = "editable",
    stages: str = "trials: 3",
    models: str = "[sinelines/gt, sinelines/vae]",
    language: str = "en",
    around: dict[str, Any] | None = None,
    pace: Pace = HUMAN,
    **more: Any,
) -> list[Event]:
    """A session of a small study; `name` keeps its files apart."""
    folder = tmp_path / name
    folder.mkdir()
    study = folder / "named.yaml"
    study.write_text(
        f"{{id: named, title: Named, version: 1, unnamed_texts: shipped, "
        f"language: {language}, seed: 11, flow: [{{stages: "
        f"{{task: reconstruction, models: {models}, order: as_listed, labels: {labels}, "
        f"{stages}}}}}]}}"
    )
    path = simulate(
        load(study),
        "P01",
        surroundings(folder, **(around or {})),
        data=folder / "data",
        strategy=strategy,
        pace=pace,
        **more,
    )
    assert not check_journal(path)
    events = read_verified_events(path)
    assert finished(events)
    return events


def edits(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind == "label.edited"]


def told(events: list[Event]) -> list[tuple[object, ...]]:
    """What happened, without when, what names this machine, and the names of dials."""
    apart = ("segment.started", "environment.recorded", "session.planned", "label.edited")
    return [(e.source, e.kind, e.key, e.payload) for e in events if e.kind not in apart]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    return play(tmp_path_factory.mktemp("named"), "open", stages="trials: 2")


def test_dials_are_named_by_the_command_that_a_person_s_typing_sends(named: list[Event]) -> None:
    found = edits(named)
    assert len(found) >= 4
    assert {event.source for event in found} == {"simulated"}
    words = {word for some in ENGLISH.values() for word in some}
    assert {event.payload["text"] for event in found} <= words
    assert {event.part_id for event in found} == {"stage-1", "stage-2"}


def test_where_dials_cannot_be_named_nobody_thinks_of_names(
    tmp_path: Path, named: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(self: LearningStrategy, view: object) -> dict[int, str]:
        raise AssertionError("asked for names")

    monkeypatch.setattr(LearningStrategy, "meanings", never)
    closed = play(tmp_path, "closed", labels="fixed")
    assert not edits(closed)
    assert told(closed) == told(named), "the same movements, in the same order, and all else"


@pytest.mark.parametrize("strategy", ["understanding", "partial"])
@pytest.mark.parametrize("pace", [HUMAN, FAST])
def test_naming_takes_its_time_and_changes_nothing_else(
    tmp_path: Path, strategy: str, pace: Pace
) -> None:
    """What is done is the same; when, later by what was typed until then."""
    stages = "trials: 2, after: [shipped:seq]"
    models = "[sinelines/gt]" if pace is HUMAN else "[sinelines/vae]"
    opened = play(tmp_path, "open", strategy, stages=stages, models=models, pace=pace)
    closed = play(
        tmp_path, "closed", strategy, stages=stages, models=models, pace=pace, labels="fixed"
    )
    assert edits(opened)
    assert told(opened) == told(closed)
    thinking = Person.drawn(11, "P01").thinking
    typed, shifts = 0.0, []
    for event in opened:
        if event.kind == "label.edited":
            typed += typing_s(event.payload["text"], thinking) * pace.stride_s / STRIDE_S
        else:
            shifts.append(typed)
    others = [event.t_ns for event in opened if event.kind != "label.edited"]
    late = [(a - b.t_ns) / NS for a, b in zip(others, closed, strict=True)]
    assert late == pytest.approx(shifts, abs=1e-6)
    assert shifts[-1] > 0


@pytest.mark.parametrize("strategy", ["ascent", "random", "knowing"])
def test_who_goes_by_the_number_names_nothing(tmp_path: Path, strategy: str) -> None:
    assert not edits(play(tmp_path, "open", strategy, stages="trials: 1"))


def test_who_does_not_try_names_nothing(tmp_path: Path) -> None:
    assert not edits(play(tmp_path, "open", stages="trials: 2, skip: always", careless=True))


def test_a_name_stays_until_it_is_known_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a change is typed, in the order of the dials; nothing is taken away again."""
    known = iter([{0: "slope"}, {0: "slope", 1: "height"}, {}, {1: "waves", 0: "slope"}])
    monkeypatch.setattr(LearningStrategy, "meanings", lambda self, view: next(known))
    events = play(tmp_path, "scripted", stages="trials: 4", models="[sinelines/gt]")
    own = vocabulary("en", generator(11, "P01", "simulated", "understanding", "labels"))
    assert [(e.trial, e.payload["dimension"], e.payload["text"]) for e in edits(events)] == [
        (1, 0, own["slope"]),
        (2, 1, own["height"]),
        (4, 1, own["waves"]),
    ]
    tables = load_tables(tmp_path / "scripted" / "data").labels
    assert tables.loc[tables["final"], "text"].tolist() == [own["slope"], own["waves"]]


def test_names_come_last_in_a_question(named: list[Event]) -> None:
    """So that nothing that is done with the dials can depend on them."""
    for event in edits(named):
        later = [e for e in named if e.key == event.key and e.seq > event.seq]
        assert {e.kind for e in later} <= {
            "label.edited",
            "skip.requested",
            "skip.confirmed",
            "trial.ended",
        }


def test_names_are_in_the_study_s_language(tmp_path: Path) -> None:
    german = play(tmp_path, "german", language="de", stages="trials: 2")
    texts = {event.payload["text"] for event in edits(german)}
    assert texts
    assert texts <= {word for some in GERMAN.values() for word in some}


def test_names_come_from_what_is_seen_and_not_from_the_model(tmp_path: Path) -> None:
    """The same pictures by the id of another model, and with other names of its dials."""
    own = play(tmp_path, "own", stages="trials: 2", models="[sinelines/vae]")
    made = formula_decoders()["sinelines/vae"]
    assert isinstance(made, FormulaDecoder)
    rows = [{**row, "name": f"thickness {at}"} for at, row in enumerate(made.space.to_json())]
    space = LatentSpace.from_json(rows)
    other = FormulaDecoder("sinelines/ae", space, made.latents, made.formula)
    around = {"decoders": {**formula_decoders(), "sinelines/ae": other}}
    disguised = play(
        tmp_path, "disguised", stages="trials: 2", models="[sinelines/ae]", around=around
    )
    assert edits(own)
    assert [e.payload for e in edits(disguised)] == [e.payload for e in edits(own)]


def test_what_is_still_being_typed_when_the_stage_is_over_names_no_other_dial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "typing_s", lambda text, thinking: 3600.0)
    monkeypatch.setattr(driver, "STILL_S", 7200.0)  # nobody is given up who only types slowly
    events = play(tmp_path, "slow", stages="trials: 3, time_limit_min: 10")
    assert not edits(events)
    ended = [e.payload["outcome"] for e in events if e.kind == "part.ended"]
    assert ended.count("time_expired") == 2


def test_what_was_decided_when_the_stage_ended_is_not_done_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reconstructor, "_takes", lambda actor, before: 400.0)
    monkeypatch.setattr(driver, "STILL_S", 7200.0)
    events = play(tmp_path, "slow", stages="trials: 3, time_limit_min: 10")
    shown_ns = {e.key: e.t_ns for e in events if e.kind == "trial.started"}
    moved = [e for e in events if e.kind == "dial.moved"]
    assert {e.part_id for e in moved} == {e[0] for e in shown_ns}
    for event in moved:  # a moment is between 0.8 and 1.25 of what it takes
        assert event.t_ns - shown_ns[event.key] >= 0.8 * 400 * NS


def test_the_tables_hold_the_names(tmp_path: Path) -> None:
    events = play(tmp_path, "open", stages="trials: 2")
    tables = load_tables(tmp_path / "open" / "data")
    rows = tables.labels
    assert rows["text"].tolist() == [event.payload["text"] for event in edits(events)]
    assert tables.dials["labels_editable"].all()
