"""The rows of concept repair, from sessions played by hand on sets whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.analysis.task_records import Parts, Ran, walk
from labapp.base.errors import RecordError
from labapp.models.stimuli import interventions
from labapp.record.events import payload_of
from labapp.record.events.commands import ConfirmSkip, Next, Resume, SkipStage
from labapp.study.plugins.part import PlannedPart, TrialsPart
from labapp.tasks.concept_repair.events import (
    Foretell,
    GiveUp,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickNothing,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.plan import (
    SAME,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedChange,
    encode_answers,
)
from tests.helpers.concepts import ConceptPlay, parts_of

BY = "mouse"
Row = dict[str, Any]


def rows_of(play: ConceptPlay, *parts: PlannedPart) -> dict[str, list[Row]]:
    """The rows of the task's own tables."""
    events = [(event, payload_of(event)) for event in play.events]
    (records,) = walk(events, Parts({part.id: part for part in parts}))
    return {name: list(rows) for name, rows in records.own_rows().items()}


def stage_rows(play: ConceptPlay, *parts: TrialsPart) -> list[Row]:
    """What the table of stages has of the task."""
    events = [(event, payload_of(event)) for event in play.events]
    (records,) = walk(events, Parts({part.id: part for part in parts}))
    ran = Ran(None, frozenset(), "")
    return [
        records.stage_row(part, [a for a in records.attempts if a.part is part], ran)
        for part in parts
    ]


def one_item(part: ConceptRepairPart, kind: str, **changes: Any) -> ConceptRepairPart:
    """The part with its first picture of a type alone."""
    item = next(item for item in part.items if item.item == kind)
    return part.model_copy(update={"items": (item.model_copy(update=changes),)})


def right_way(play: ConceptPlay, concept: int) -> int:
    """The state in which a concept is as it is in truth."""
    return interventions.set_to(play.item().concepts[concept])


def test_a_picture_set_right_is_a_success_and_a_gain(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path, 4)[0], "repair")
    play = ConceptPlay.of(part)
    wrong = play.item().wrong()
    for concept in wrong:
        play.now_ns += 2_000_000_000
        play.send(SetConcept(concept, right_way(play, concept), BY))
    play.now_ns += 1_000_000_000
    play.send(RepairDone())
    rows = rows_of(play, part)
    (row,) = rows["repairs"]
    assert (row["success"], row["gain"], row["correct_alone"]) == (True, 1, False)
    assert row["n_corrections"] == row["n_corrections_right"] == len(wrong)
    assert (row["n_confirmations"], row["n_harms"], row["n_concepts_wrong_end"]) == (0, 0, 0)
    assert (row["first_change_s"], row["response_s"]) == (2.0, 2.0 * len(wrong) + 1)
    assert row["outcome"] == "done"
    assert not row["excluded"]
    assert [change["change_kind"] for change in rows["concept_changes"]] == ["correction"] * len(
        wrong
    )


def test_given_up_right_is_no_success(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path)[0], "control")
    play = ConceptPlay.of(part)
    play.send(GiveUp())
    (row,) = rows_of(play, part)["repairs"]
    assert (row["correct_end"], row["success"], row["gain"], row["touched"]) == (
        True,
        False,
        0,
        False,
    )
    assert row["first_change_s"] is None


def test_a_right_confirmation_that_spoils_the_answer_is_a_harm(tmp_path: Path) -> None:
    """By hand: two concepts, both right; confirming the first turns the second in the answer."""
    part = one_item(parts_of(tmp_path)[0], "control")
    item = part.items[0]
    classes = [known.id for known in part.repaired.classes]
    truth = classes.index(item.truth)
    rule = part.repaired.classes[truth].concepts
    spoiled = next(
        place
        for place, known in enumerate(part.repaired.classes)
        if known.concepts["size"] == rule["size"] and known.concepts["side"] != rule["side"]
    )
    table = np.zeros((9, 4), np.float16)
    table[:, truth] = 1
    confirmed = interventions.place((interventions.set_to(item.concepts[0]), 0))
    table[confirmed] = 0
    table[confirmed, spoiled] = 1
    beliefs = tuple(0.9 if there else 0.1 for there in item.concepts)
    part = one_item(part, "control", answers=encode_answers(table), beliefs=beliefs)
    play = ConceptPlay.of(part)
    play.send(SetConcept(0, right_way(play, 0), BY))
    play.send(UndoChange(BY))
    play.send(SetConcept(0, 3 - right_way(play, 0), BY))
    play.send(SetConcept(0, 0, BY))
    play.send(RepairDone())
    rows = rows_of(play, part)
    confirmation, undo, correction, release = rows["concept_changes"]
    assert [row["change_kind"] for row in rows["concept_changes"]] == [
        "confirmation", "undo", "correction", "release"
    ]  # fmt: skip
    assert (confirmation["state_correct"], confirmation["harm"]) == (True, True)
    assert (confirmation["side_effects"], confirmation["n_side_effects"]) == ("side", 1)
    assert confirmation["undone"]
    assert (undo["state_correct"], undo["harm"], undo["n_side_effects"]) == (None, None, None)
    assert (correction["state_correct"], correction["harm"]) == (False, None)
    assert (release["state_after"], release["state_correct"]) == ("model", None)
    (row,) = rows["repairs"]
    assert (row["n_harms"], row["n_undone"], row["n_changes"]) == (1, 1, 3)
    assert (row["n_confirmations"], row["n_corrections"], row["n_released"]) == (1, 1, 1)
    assert (row["success"], row["gain"], row["n_set_end"]) == (True, 0, 0)


def test_what_was_foretold_is_compared_with_what_came(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path, foresee="all")[0], "repair")
    play = ConceptPlay.of(part)
    for answer, sure in ((SAME, True), ("c3", False)):
        concept = 0 if answer == SAME else 1
        play.send(SetConcept(concept, right_way(play, concept), BY))
        play.send(PickAnswer(answer, BY))
        play.send(Foretell(sure, BY))
    play.send(RepairDone())
    rows = rows_of(play, part)
    same, named = rows["concept_changes"]
    assert (same["foretold"], same["foretold_same"]) == (same["answer_before"], True)
    assert same["foretold_correct"] == (same["answer_before"] == same["answer_after"])
    assert (named["foretold"], named["foretold_same"], named["sure"]) == ("c3", False, False)
    assert named["foretold_correct"] == (named["answer_after"] == "c3")
    assert (same["sure"], same["chance"]) == (True, 0.25)
    (row,) = rows["repairs"]
    assert row["n_foretold"] == 2
    assert row["n_foretold_correct"] == same["foretold_correct"] + named["foretold_correct"]


def test_deviations_are_those_of_the_other_concepts(tmp_path: Path) -> None:
    part, _ = parts_of(tmp_path, 4)
    play = ConceptPlay.of(part)
    play.send(SetConcept(1, 1, BY))
    (change,) = rows_of(play, part)["concept_changes"]
    others = [abs(part.repaired.purity[1][j] - part.repaired.oracle[1][j]) for j in (0, 2, 3)]
    assert change["deviation_mean"] == pytest.approx(sum(others) / 3)
    assert change["deviation_largest"] == max(others) == pytest.approx(0.417)


def test_a_broken_off_picture_does_not_count(tmp_path: Path) -> None:
    part, _ = parts_of(tmp_path)
    play = ConceptPlay.of(part)
    play.send(SetConcept(0, 1, BY))
    (row,) = rows_of(play, part)["repairs"]
    assert (row["outcome"], row["success"], row["answer_end"]) == ("interrupted", None, None)
    assert row["excluded_because"] == "interrupted before its end"


def test_at_its_limit_a_picture_counts_as_it_stands(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path, time_limit_s=5)[0], "control")
    play = ConceptPlay.of(part)
    play.wait(6)
    (row,) = rows_of(play, part)["repairs"]
    assert (row["outcome"], row["correct_end"], row["success"]) == ("time_expired", True, False)
    assert not row["excluded"]


def test_the_grid_has_a_row_a_pair_with_what_was_met(tmp_path: Path) -> None:
    part, grid = parts_of(tmp_path, 4)
    play = ConceptPlay.of(part, grid)
    met = 0
    for _ in part.items:
        before = play.repair.answer
        play.send(SetConcept(0, right_way(play, 0), BY))
        met += 1 in part.repaired.side_effects(0, before, play.repair.answer)
        play.send(RepairDone())
    play.send(TickPair(0, 1, BY))
    play.send(TickPair(2, 3, BY))
    play.send(TickPair(2, 3, BY))
    play.now_ns += 3_000_000_000
    play.send(Next())
    rows = rows_of(play, part, grid)["concept_grids"]
    assert len(rows) == 12
    by_pair = {(row["concept"], row["other"]): row for row in rows}
    first = by_pair["size", "side"]
    assert (first["ticked"], first["ticks"], first["n_set"]) == (True, 1, len(part.items))
    assert first["n_side_effects"] == met
    assert first["deviation"] == pytest.approx(0.417)
    assert first["response_s"] == 3.0
    taken_back = by_pair["height", "shape"]
    assert (taken_back["ticked"], taken_back["ticks"]) == (False, 2)
    assert sum(row["ticked"] for row in rows) == 1
    assert {row["nothing"] for row in rows} == {False}


def test_what_was_met_before_a_stage_began_again_was_met(tmp_path: Path) -> None:
    """The grid is about that, too, and whoever foretells it afterwards remembers it."""
    part, grid = parts_of(tmp_path, 4, foresee="all", items={"repair": 2, "control": 0})
    play = ConceptPlay.of(part, grid, restarts=True)

    def foretell(concept: int, to: int) -> None:
        play.send(SetConcept(concept, to, BY))
        play.send(PickAnswer(SAME, BY))
        play.send(Foretell(True, BY))

    foretell(0, 1)
    play.send(RepairDone())
    foretell(1, 2)
    play.crash(60)
    play.send(Resume("resumed"))
    for change in ((0, 1), (1, 2)):
        foretell(*change)
        foretell(2, 2)
        play.send(RepairDone())
    play.send(TickNothing(BY))
    play.send(Next())
    rows = rows_of(play, part, grid)
    assert sum(row["excluded"] for row in rows["concept_changes"]) == 2
    counted = [row for row in rows["concept_changes"] if not row["excluded"]]
    seen = [(row["trial"], row["concept"], row["seen_before"]) for row in counted]
    assert seen == [
        (1, "size", True),
        (1, "height", False),
        (2, "side", True),
        (2, "height", False),
    ]
    assert [row["n_foretold"] for row in rows["repairs"] if not row["excluded"]] == [1, 1]
    times_set = {row["concept"]: row["n_set"] for row in rows["concept_grids"]}
    assert times_set == {"size": 2, "side": 2, "height": 2, "shape": 0}


def test_that_nothing_changes_is_an_answer(tmp_path: Path) -> None:
    _, grid = parts_of(tmp_path, 4)
    play = ConceptPlay.of(grid)
    play.send(TickPair(0, 1, BY))
    play.send(TickNothing(BY))
    play.send(Next())
    rows = rows_of(play, grid)["concept_grids"]
    assert {(row["ticked"], row["nothing"]) for row in rows} == {(False, True)}
    assert sum(row["ticks"] for row in rows) == 2


def test_a_skipped_grid_says_of_no_pair_that_it_was_not_ticked(tmp_path: Path) -> None:
    _, grid = parts_of(tmp_path, 4)
    play = ConceptPlay.of(grid)
    play.send(TickPair(0, 1, BY))
    play.send(SkipStage())
    play.send(ConfirmSkip())
    rows = rows_of(play, grid)["concept_grids"]
    assert {(row["ticked"], row["nothing"]) for row in rows} == {(None, None)}
    assert all(row["excluded"] and row["response_s"] is None for row in rows)


def test_side_effects_are_those_that_both_classes_speak_of(tmp_path: Path) -> None:
    """The example of the definition: classes of a disc say nothing of its height."""
    repaired = parts_of(tmp_path, 4)[0].repaired
    places = {concept.id: place for place, concept in enumerate(repaired.concepts)}

    def of(**rule: bool) -> str:
        return next(known.id for known in repaired.classes if known.concepts == rule)

    def effects(concept: str, before: str, after: str) -> set[str]:
        told = repaired.side_effects(places[concept], before, after)
        return {repaired.concepts[place].id for place in told}

    disc = of(shape=True, size=False, side=True)
    left, right = of(shape=False, side=True, height=True), of(shape=False, side=False, height=True)
    assert effects("shape", disc, left) == set()
    assert effects("shape", disc, right) == {"side"}
    assert effects("size", disc, left) == {"shape"}
    assert effects("height", left, right) == {"side"}
    assert effects("side", left, right) == effects("side", left, left) == set()


def test_the_model_alone_is_told_once_a_model(tmp_path: Path) -> None:
    part, grid = parts_of(tmp_path, 4, items={"repair": 2, "control": 1})
    play = ConceptPlay.of(part, grid)
    rows = rows_of(play, part, grid)
    assert {row["measure"]: row["value"] for row in rows["concept_models"]} == {
        "ois": 0.5, "nis": 0.2, "share_trap": 0.125
    }  # fmt: skip
    assert len(rows["concept_purities"]) == 16
    curves = rows["concept_curves"]
    assert len(curves) == 3 * 5
    for item in part.items:
        of_picture = [row for row in curves if row["picture"] == item.photo]
        alone, *_, every = of_picture
        right = item.item == "control"
        assert (alone["correct_any"], alone["correct_in_order"]) == (float(right), right)
        assert (every["correct_any"], every["correct_wrong_first"]) == (1.0, True)
        if item.item == "repair":
            assert of_picture[len(item.wrong())]["correct_wrong_first"]


def test_the_curve_over_all_choices_is_counted_by_hand(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path)[0], "repair")
    (item,) = part.items
    truth = [known.id for known in part.repaired.classes].index(item.truth)
    set_first, set_second = (
        (interventions.set_to(item.concepts[0]), 0),
        (0, interventions.set_to(item.concepts[1])),
    )
    hits = [int(np.argmax(item.probabilities(state))) == truth for state in (set_first, set_second)]
    rows = rows_of(ConceptPlay.of(part), part)["concept_curves"]
    assert rows[1]["correct_any"] == sum(hits) / 2
    assert rows[1]["correct_in_order"] == hits[0]


def test_practice_is_in_no_table_of_models(tmp_path: Path) -> None:
    part, _ = parts_of(tmp_path)
    practice = part.model_copy(update={"role": "practice"})
    play = ConceptPlay.of(practice)
    play.send(RepairDone())
    play.events = play.events[:-2]  # up to the end of the first picture
    rows = rows_of(play, practice)
    assert not rows["concept_models"]
    assert not rows["concept_curves"]
    assert [row["excluded_because"] for row in rows["repairs"]] == ["practice"]


def test_a_picture_that_the_plan_lacks_is_refused(tmp_path: Path) -> None:
    part, grid = parts_of(tmp_path)
    play = ConceptPlay.of(part)
    other = part.model_copy(update={"items": part.items[1:] + part.items[:1]})
    with pytest.raises(RecordError, match="begins the picture"):
        rows_of(play, other)
    as_grid: ConceptGridPart = grid.model_copy(update={"id": part.id})
    with pytest.raises(RecordError, match="begins the picture"):
        rows_of(play, as_grid)


def test_a_change_that_the_plan_gives_is_nobodys_doing(tmp_path: Path) -> None:
    """In foresight nothing is set freely: what the given change spoils or mends is no harm and no
    gain of the participant's."""
    items = {"repair": 0, "control": 1}
    part, _ = parts_of(tmp_path, instruction="foresight", foresee="all", items=items)
    (item,) = part.items
    right = PlannedChange(concept=0, to=interventions.set_to(item.concepts[0]))
    truth = [known.id for known in part.repaired.classes].index(item.truth)
    table = np.zeros((9, 4), np.float16)
    table[:, 1 - truth % 2] = 1
    table[0] = np.eye(4)[truth]
    item = item.model_copy(update={"given": right, "answers": encode_answers(table)})
    part = part.model_copy(update={"items": (item,)})
    play = ConceptPlay.of(part)
    play.send(PickAnswer(SAME, BY))
    play.send(Foretell(True, BY))
    play.send(RepairDone())
    rows = rows_of(play, part)
    (row,) = rows["repairs"]
    assert (row["correct_alone"], row["correct_end"]) == (True, False)
    assert (row["success"], row["gain"], row["n_harms"], row["first_change_s"]) == (
        None,
        None,
        0,
        None,
    )
    assert not row["touched"]
    assert {row[f"n_{kind}"] for kind in ("changes", "corrections", "confirmations")} == {0}
    assert (row["n_foretold"], row["n_foretold_correct"]) == (1, 0)
    (change,) = rows["concept_changes"]
    assert change["given"]
    (stage,) = stage_rows(play, part)
    assert {stage[name] for name in ("success_rate", "gain", "harm_rate")} == {None}
    assert stage["foretold_rate"] == 0


def test_a_change_that_the_limit_cut_off_was_chosen(tmp_path: Path) -> None:
    part = one_item(parts_of(tmp_path, foresee="all", time_limit_s=10)[0], "control")
    play = ConceptPlay.of(part)
    play.wait(3)
    play.send(SetConcept(0, 1, BY))
    play.wait(8)
    rows = rows_of(play, part)
    (row,) = rows["repairs"]
    assert (row["outcome"], row["n_changes"], row["n_foretold"]) == ("time_expired", 0, 0)
    assert (row["touched"], row["first_change_s"]) == (True, 3.0)
    assert rows["concept_changes"] == []


def test_what_was_seen_before_is_not_foretold(tmp_path: Path) -> None:
    """A change, back, and again; then all of it back to what the model has."""
    part = one_item(parts_of(tmp_path, foresee="all")[0], "control")
    play = ConceptPlay.of(part)

    def foretell(concept: int, to: int) -> None:
        play.send(SetConcept(concept, to, BY))
        play.send(PickAnswer(SAME, BY))
        play.send(Foretell(True, BY))

    foretell(0, 1)
    play.send(UndoChange(BY))
    foretell(0, 1)
    foretell(1, 2)
    foretell(1, 0)
    play.send(RepairDone())
    rows = rows_of(play, part)
    seen = [change["seen_before"] for change in rows["concept_changes"]]
    assert seen == [False, True, True, False, True]
    new = [rows["concept_changes"][place]["foretold_correct"] for place in (0, 3)]
    (row,) = rows["repairs"]
    assert (row["n_foretold"], row["n_foretold_correct"]) == (2, sum(new))
    (stage,) = stage_rows(play, part)
    assert stage["foretold_rate"] == sum(new) / 2
