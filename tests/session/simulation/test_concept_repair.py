"""Simulated participants that repair concepts do what their strategies say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labapp.models.stimuli.interventions import is_predicted_on, set_to
from labapp.record.events import Event
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.names import REPAIRS_CONCEPTS
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import LoadedStudy, load
from labapp.tasks.concept_repair.plan import ConceptRepairPart, PlannedItem
from labapp.tasks.concept_repair.simulated import Eyesight
from tests.helpers.concepts import write, write_study
from tests.session.sessions import surroundings

EXACT = {"concept-repair": Eyesight(sees=(1.0, 1.0), applies=1.0)}
"""Nobody errs: what happens follows from the strategy and the model alone."""


@dataclass(frozen=True)
class Picture:
    """A picture of a stage, as planned, and what happened with it."""

    item: PlannedItem
    events: tuple[Event, ...]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event.payload for event in self.events if event.kind == kind]

    @property
    def changes(self) -> list[tuple[int, int]]:
        return [(change["concept"], change["to"]) for change in self.of("concept.set")]

    @property
    def end(self) -> dict[str, Any]:
        return self.of("repair.ended")[0]

    def truth(self, concept: int) -> tuple[int, int]:
        return concept, set_to(self.item.concepts[concept])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("made"), 4, each=6, natural=6).folder


def study(folder: Path, made: Path, **stages: Any) -> LoadedStudy:
    from labapp.models.stimuli import library

    asked = {"repair": 4, "control": 4, "trap": 3, "unrepairable": 3}
    return load(write_study(folder / "study", library.load(made), **{"items": asked, **stages}))


def run(
    folder: Path, made: Path, strategy: str, *, options: Any = EXACT, **stages: Any
) -> tuple[list[Picture], list[Event]]:
    """The pictures of the stage of a session, and all its events."""
    loaded = study(folder, made, **stages)
    path = simulate(
        loaded,
        "P01",
        surroundings(folder),
        data=folder / "data",
        strategy=strategy,
        options=options,
        thinks_aloud=True,
    )
    events = list(read_verified_events(path))
    return list(_pictures(events)), events


def _pictures(events: list[Event]) -> Iterator[Picture]:
    planned = next(event for event in events if event.kind == "session.planned")
    for raw in planned.payload["plan"]:
        if raw["part"] != "concept_repair" or raw["role"] != "stage":
            continue
        part = ConceptRepairPart.model_validate(raw)
        for number, item in enumerate(part.items, start=1):
            own = [e for e in events if (e.part_id, e.trial) == (part.id, number)]
            yield Picture(item, tuple(own))


def test_the_oracle_sets_what_is_wrong_and_nothing_else(tmp_path: Path, made: Path) -> None:
    pictures, _ = run(tmp_path, made, "oracle")
    assert len(pictures) == 14
    for picture in pictures:
        assert sorted(picture.changes) == [picture.truth(n) for n in picture.item.wrong()]
        right = picture.end["answer"] == picture.item.truth
        assert picture.end["how"] == ("done" if right else "gave_up")
        if picture.item.item in ("repair", "control"):
            assert right
        if picture.item.item == "unrepairable":
            assert not right


def test_the_careful_stop_as_soon_as_the_name_is_right(tmp_path: Path, made: Path) -> None:
    pictures, _ = run(tmp_path, made, "careful")
    for picture in pictures:
        answers = [change["answer_after"] for change in picture.of("concept.set")]
        assert picture.item.truth not in answers[:-1]
        assert set(picture.changes) <= {picture.truth(n) for n in picture.item.wrong()}
        if picture.item.item == "control":
            assert not picture.changes


def test_the_stubborn_set_every_concept_and_never_give_up(tmp_path: Path, made: Path) -> None:
    pictures, _ = run(tmp_path, made, "stubborn", time_limit_s=None)
    for picture in pictures:
        assert sorted(picture.changes) == [picture.truth(n) for n in range(4)]
        assert picture.end["how"] == "done"
        wrong = picture.item.wrong()
        assert {concept for concept, _ in picture.changes[: len(wrong)]} == set(wrong)


def test_the_misled_take_back_what_they_did_not_expect(tmp_path: Path, made: Path) -> None:
    pictures, events = run(tmp_path, made, "misled")
    undone = [undo for picture in pictures for undo in picture.of("concept.undone")]
    spoken = Counter(
        code
        for event in events
        if event.kind == "speech.simulated"
        for code in event.payload["codes"].values()
    )
    assert undone
    assert len(undone) >= spoken["surprise"] >= spoken["workaround"] > 0
    for picture in pictures:
        assert len(set(picture.changes)) == len(picture.changes)  # no change is tried again
        if picture.changes:
            first = picture.of("concept.set")[0]
            expected = _by_card(picture)[first["concept"], first["to"]]
            after = [event.kind for event in picture.events if event.kind.startswith("concept.")]
            assert (after[1:2] == ["concept.undone"]) is (first["answer_after"] != expected)


@pytest.mark.parametrize("strategy", sorted(REPAIRS_CONCEPTS))
def test_an_audit_ends_with_every_concept_set(tmp_path: Path, made: Path, strategy: str) -> None:
    pictures, _ = run(
        tmp_path,
        made,
        strategy,
        instruction="audit",
        items={"repair": 2, "control": 2},
        time_limit_s=None,
    )
    for picture in pictures:
        assert picture.end["how"] == "done"
        assert {concept for concept, _ in picture.changes} == {0, 1, 2, 3}


def test_who_knows_no_leak_foretells_by_the_rule_card(tmp_path: Path, made: Path) -> None:
    """With exact eyes a careful one is wrong just where the model does not follow the card."""
    pictures, _ = run(tmp_path, made, "careful", foresee="all")
    names = {picture.item.photo: _by_card(picture) for picture in pictures}
    told = [
        (picture, told, change)
        for picture in pictures
        for told, change in zip(
            picture.of("answer.foretold"), picture.of("concept.set"), strict=True
        )
    ]
    assert told
    for picture, foretold, change in told:
        answer = foretold["answer"] or change["answer_before"]
        if picture.of("concept.set")[0] == change:
            assert answer == names[picture.item.photo][change["concept"], change["to"]]


def _by_card(picture: Picture) -> dict[tuple[int, int], str]:
    """What the card has after each first change, from the events and the plan alone."""
    from tests.helpers.concepts import FOUR

    def named(concepts: list[bool]) -> str:
        ids = ("size", "side", "height", "shape")
        shown = dict(zip(ids, concepts, strict=True))
        return next(f"c{n}" for n, rule in enumerate(FOUR, 1) if rule.items() <= shown.items())

    now = [is_predicted_on(p) for p in picture.item.beliefs]
    alone = picture.of("concepts.drawn")[0]["answer"]
    answers = {}
    for concept in range(4):
        for to in (1, 2):
            then = [*now[:concept], to == 2, *now[concept + 1 :]]
            answers[concept, to] = alone if named(then) == named(now) else named(then)
    return answers


def test_learners_foretell_leaks_better_and_tick_them(tmp_path: Path) -> None:
    """In the foresight task: the model pulls the next concept along; who learns it is right about
    it later, who does not is not."""
    rates = {}
    made = write(tmp_path / "leaking", 4, each=12, natural=0, leak=9.0).folder
    for strategy in ("careful", "learner"):
        folder = tmp_path / strategy
        folder.mkdir()
        pictures, events = run(
            folder,
            made,
            strategy,
            instruction="foresight",
            foresee="all",
            items={"repair": 12, "control": 12},
        )
        right = [
            (foretold["answer"] or change["answer_before"]) == change["answer_after"]
            for picture in pictures
            for foretold, change in zip(
                picture.of("answer.foretold"), picture.of("concept.set"), strict=True
            )
        ]
        assert len(right) == 24
        rates[strategy] = sum(right) / len(right)
        if strategy == "learner":
            ticked = {
                (event.payload["concept"], event.payload["other"])
                for event in events
                if event.kind == "grid.ticked"
            }
            assert ticked
            leaks = {(0, 1), (1, 2), (2, 3), (3, 0)}
            assert len(ticked & leaks) > len(ticked - leaks)
    assert rates["learner"] > rates["careful"]


def test_the_same_seed_does_the_same_and_silence_changes_nothing(
    tmp_path: Path, made: Path
) -> None:
    def told(events: list[Event]) -> list[tuple[Any, ...]]:
        ours = ("concept", "answer", "repair", "grid")
        return [
            (event.t_ns, event.kind, event.payload)
            for event in events
            if event.kind.startswith(ours)
        ]

    runs = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        runs.append(told(run(folder, made, "misled", options={}, foresee="half")[1]))
    assert runs[0] == runs[1]
    assert runs[0]
