"""The rules of concept repair: what each command leads to, and what it does not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from labapp.record.events import payload_of
from labapp.record.events.commands import Next, Pause, Resume
from labapp.tasks.concept_repair.events import (
    ConceptSet,
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import SAME, ConceptGridPart, ConceptRepairPart, Grid
from tests.helpers.concepts import ConceptPlay, parts_of
from tests.helpers.skips import skip_stage

BY = "mouse"


def play(folder: Path, **stages: Any) -> ConceptPlay:
    return ConceptPlay.of(*parts_of(folder, **stages))


@pytest.fixture
def repair(tmp_path: Path) -> ConceptPlay:
    """A stage of two concepts in which nothing is foretold."""
    return play(tmp_path)


def kinds(events: Any) -> list[str]:
    return [unstamped.payload.kind for unstamped in events]


def test_a_change_looks_its_answer_up_and_shows_it(repair: ConceptPlay) -> None:
    item, before = repair.item(), repair.repair
    (event,) = repair.send(SetConcept(1, 2, BY))
    payload = event.payload
    assert isinstance(payload, ConceptSet)
    assert payload.probabilities == tuple(map(float, item.table[2]))
    assert (payload.was, payload.answer_before) == (0, before.answer)
    assert repair.repair.states == (0, 2)
    assert repair.repair.answer == payload.answer_after
    assert repair.repair.probabilities == payload.probabilities


def test_confirming_is_a_change_and_setting_again_is_none(repair: ConceptPlay) -> None:
    belief = repair.item().beliefs[0]
    as_believed = 2 if belief >= 0.5 else 1
    assert kinds(repair.send(SetConcept(0, as_believed, BY))) == ["concept.set"]
    assert not repair.send(SetConcept(0, as_believed, BY))
    assert kinds(repair.send(SetConcept(0, 0, BY))) == ["concept.set"]
    assert repair.repair.states == (0, 0)
    assert len(repair.repair.history) == 2


@pytest.mark.parametrize(
    "command", [SetConcept(2, 1, BY), SetConcept(-1, 1, BY), SetConcept(0, 3, BY)]
)
def test_what_there_is_not_cannot_be_set(repair: ConceptPlay, command: SetConcept) -> None:
    assert not repair.send(command)


def test_changes_are_undone_one_by_one_to_the_beginning(repair: ConceptPlay) -> None:
    states = [repair.repair]
    for command in (SetConcept(0, 1, BY), SetConcept(1, 2, BY), SetConcept(0, 2, BY)):
        repair.send(command)
        states.append(repair.repair)
    while len(states) > 1:
        states.pop()
        assert kinds(repair.send(UndoChange(BY))) == ["concept.undone"]
        assert repair.repair == states[-1]
    assert not repair.send(UndoChange(BY))


def test_done_and_given_up_lead_to_the_next_picture(repair: ConceptPlay) -> None:
    assert kinds(repair.send(RepairDone())) == ["repair.ended", "trial.ended"]
    assert repair.repair.number == 2
    assert not repair.send(Next())  # nothing is left by Next
    assert kinds(repair.send(GiveUp())) == ["repair.ended", "trial.ended"]
    outcomes = [e.payload["outcome"] for e in repair.events if e.kind == "trial.ended"]
    assert outcomes == ["done", "gave_up"]


def test_a_picture_is_left_at_its_limit_without_the_pauses(tmp_path: Path) -> None:
    timed = play(tmp_path, time_limit_s=10)
    timed.wait(6)
    timed.send(Pause("phone"))
    timed.wait(60)
    timed.send(Resume("goes on"))
    timed.wait(3.9)
    assert timed.repair.number == 1
    timed.wait(0.2)
    assert timed.repair.number == 2
    (ended,) = (e for e in timed.events if e.kind == "repair.ended")
    assert ended.payload["how"] == "time_expired"


def test_a_crash_takes_nothing_from_the_limit(tmp_path: Path) -> None:
    timed = play(tmp_path, time_limit_s=10)
    timed.wait(3)
    timed.send(SetConcept(0, 1, BY))
    kept = timed.repair
    timed.crash(100)
    timed.send(Resume("goes on"))
    assert timed.repair == kept
    timed.wait(6.9)
    assert timed.repair.number == 1
    timed.wait(0.2)
    assert timed.repair.number == 2


def test_without_a_limit_a_picture_stays(tmp_path: Path) -> None:
    timed = play(tmp_path, time_limit_s=None)
    timed.wait(3600)
    assert timed.repair.number == 1


def test_an_audit_is_done_when_every_concept_was_set(tmp_path: Path) -> None:
    audit = play(tmp_path, instruction="audit")
    assert not audit.send(RepairDone())
    assert audit.repair.unset == (0, 1)
    audit.send(SetConcept(1, 1, BY))
    assert audit.repair.unset == (0,)
    assert not audit.send(RepairDone())
    audit.send(SetConcept(0, 2, BY))
    assert kinds(audit.send(RepairDone())) == ["repair.ended", "trial.ended"]
    assert kinds(audit.send(GiveUp())) == ["repair.ended", "trial.ended"]


def test_a_foretold_change_is_hidden_until_it_is_final(tmp_path: Path) -> None:
    foretold = play(tmp_path, foresee="all")
    before = foretold.repair
    assert kinds(foretold.send(SetConcept(0, 1, BY))) == ["concept.chosen"]
    assert foretold.repair.phase == "foretelling"
    assert foretold.repair.probabilities == before.probabilities
    for command in (
        SetConcept(1, 1, BY),
        UndoChange(BY),
        RepairDone(),
        GiveUp(),
        Foretell(True, BY),
    ):
        assert not foretold.send(command)  # the answer is not picked yet
    assert not foretold.send(PickAnswer("nobody", BY))
    assert kinds(foretold.send(PickAnswer("c1", BY))) == ["answer.picked"]
    assert not foretold.send(PickAnswer("c1", BY))
    foretold.send(PickAnswer(SAME, BY))
    assert kinds(foretold.send(Foretell(False, BY))) == ["answer.foretold", "concept.set"]
    assert foretold.repair.phase == "setting"
    assert foretold.repair.picked is None
    told = next(e for e in foretold.events if e.kind == "answer.foretold")
    assert told.payload == {"answer": SAME, "sure": False, "device": BY}
    assert kinds(foretold.send(UndoChange(BY))) == ["concept.undone"]  # back to what was seen


def test_half_of_each_kind_is_foretold(tmp_path: Path) -> None:
    part, _ = parts_of(tmp_path, foresee="half", items={"repair": 4, "control": 4, "natural": 2})
    told = [(item.sample, item.item) for item in part.items if item.foresee]
    assert len(told) == 5
    assert told.count(("matched", "repair")) == told.count(("matched", "control")) == 2


def test_in_foresight_only_the_given_change_is_foretold(tmp_path: Path) -> None:
    given = play(
        tmp_path, instruction="foresight", foresee="all", items={"repair": 2, "control": 2}
    )
    change = given.item().given
    assert change is not None
    assert given.repair.pending == (change.concept, change.to)
    assert not given.send(SetConcept(0, 1, BY))
    assert not given.send(RepairDone())
    given.send(PickAnswer("c2", BY))
    given.send(Foretell(True, BY))
    assert given.repair.states[change.concept] == change.to
    assert given.events[-1].payload["device"] == "plan"
    for command in (SetConcept(0, 1, BY), SetConcept(0, 2, BY), UndoChange(BY), GiveUp()):
        assert not given.send(command)
    assert kinds(given.send(RepairDone())) == ["repair.ended", "trial.ended"]


def test_every_second_given_change_changes_the_answer(tmp_path: Path) -> None:
    part, _ = parts_of(
        tmp_path, 4, instruction="foresight", foresee="all", items={"repair": 4, "control": 4}
    )
    changed = 0
    for item in part.items:
        assert item.given is not None
        state = [0] * 4
        state[item.given.concept] = item.given.to
        after = item.probabilities(tuple(state))
        changed += part.answer(after) != part.answer(item.probabilities((0,) * 4))
    assert changed == 4


def test_the_grid_is_ticked_and_left(tmp_path: Path) -> None:
    _, grid = parts_of(tmp_path)
    ticking = ConceptPlay.of(grid)
    assert not ticking.send(TickPair(1, 1, BY))
    assert not ticking.send(TickPair(0, 2, BY))
    ticking.send(TickPair(0, 1, BY))
    ticking.send(TickPair(1, 0, BY))
    ticking.send(TickPair(0, 1, BY))
    state = ticking.state.part_state
    assert state is not None
    assert state.trial.ticked == {(1, 0)}
    assert kinds(ticking.send(Next())) == ["trial.ended", "part.ended"]


def test_nobody_goes_on_from_a_grid_without_an_answer(tmp_path: Path) -> None:
    """That nothing else changes is said, and not told by a grid that was passed over."""
    _, grid = parts_of(tmp_path)
    ticking = ConceptPlay.of(grid)
    assert not ticking.send(Next())
    ticking.send(TickPair(0, 1, BY))
    assert kinds(ticking.send(TickNothing(BY))) == ["grid.ticked", "grid.nothing"]
    said = ticking.asked
    assert isinstance(said, Grid)
    assert (said.ticked, said.nothing) == (frozenset(), True)
    assert kinds(ticking.send(TickPair(1, 0, BY))) == ["grid.nothing", "grid.ticked"]
    ticking.send(TickPair(1, 0, BY))
    assert not ticking.send(Next())
    ticking.send(TickNothing(BY))
    ticking.send(TickNothing(BY))
    assert not ticking.send(Next())
    ticking.send(TickNothing(BY))
    assert ticking.machine.fold(ticking.events) == ticking.state
    assert kinds(ticking.send(Next())) == ["trial.ended", "part.ended"]


@pytest.mark.parametrize("place", [0, 1], ids=["stage", "grid"])
def test_what_the_moderator_skips_is_no_answer(tmp_path: Path, place: int) -> None:
    """Nothing ticked is an answer of those who go on, not of those who are led on."""
    skipped = ConceptPlay.of(parts_of(tmp_path)[place])
    skip_stage(skipped)
    ended = [e.payload["outcome"] for e in skipped.events if e.kind == "trial.ended"]
    assert ended == ["stage_skipped"]


def test_a_whole_stage_is_replayed_without_the_answers(tmp_path: Path) -> None:
    """What stands in the events is enough: replay, mirror and resuming look nothing up."""
    part, grid = parts_of(tmp_path)
    live = ConceptPlay.of(part, grid)
    live.send(SetConcept(0, 1, BY))
    live.send(SetConcept(1, 2, BY))
    live.send(UndoChange(BY))
    zero = "AAAA" * (9 * 4 * 2 // 3)
    blank = part.model_copy(
        update={"items": tuple(item.model_copy(update={"answers": zero}) for item in part.items)}
    )
    again = ConceptPlay.of(blank, grid)
    state = again.machine.initial()
    for event in live.events:
        state = again.machine.apply(state, event, payload_of(event))
    assert state == live.state


def test_no_event_tells_what_is_true(tmp_path: Path) -> None:
    """A screen, and whoever reads over the moderator's shoulder, learns nothing from events."""
    for cls in (ConceptRepairPart, ConceptGridPart):
        assert "repaired" in cls.model_fields
    secret = {"truth", "item", "concepts", "purity", "oracle", "scores", "sample"}
    from labapp.tasks.concept_repair import events

    for payload in vars(events).values():
        if dataclasses.is_dataclass(payload):
            assert not secret & {field.name for field in dataclasses.fields(payload)}, payload


def test_a_withheld_answer_is_in_no_event_and_ends_the_picture(tmp_path: Path) -> None:
    given = play(tmp_path, instruction="foresight", foresee="all", answers="withheld")
    given.send(PickAnswer(SAME, BY))
    told = kinds(given.send(Foretell(True, BY)))
    assert told == ["answer.foretold", "repair.ended", "trial.ended"]
    assert not any(event.kind == "concept.set" for event in given.events)
    asked = given.asked
    assert asked is not None
    assert asked.number == 2
    assert given.machine.fold(given.events) == given.state
