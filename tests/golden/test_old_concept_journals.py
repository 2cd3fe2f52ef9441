"""Journals of concept repair as earlier programs wrote them, kept for ever.

A picture of practice, a stage of four pictures of two concepts (half of them foretold, 20 s each),
its grid, and a stage of two changes that are given. A pause of 60 s lies in the third picture,
which its limit ends, and a gap of 101 s in the fourth.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import RecordError
from labapp.record.journal.read import payloads
from labapp.study.plan import parts_of
from labapp.study.plugins import registry
from labapp.tasks.concept_repair.plan import ConceptGridPart, ConceptRepairPart
from tests.helpers.concepts import ConceptPlay
from tests.helpers.old_journals import FOLDER, read, tables_of

JOURNALS = sorted((FOLDER / "concepts").glob("*.jsonl"))
NO = None
PICTURES = (
    *("stage", "trial", "picture", "item", "outcome", "correct_alone", "correct_end", "success"),
    *("gain", "n_changes", "n_undone", "n_foretold", "first_change_s", "response_s", "excluded"),
)
# By hand, from the events and the answers in the plan.
PICTURES_BY_HAND = [
    ("practice", 1, "p20", NO, "done", False, True, True, 1, 1, 0, 1, 2, 5, True),
    ("stage-1", 1, "p12", "control", "done", True, True, True, 0, 0, 0, 0, NO, 2, False),
    ("stage-1", 2, "p04", "trap", "gave_up", False, False, False, 0, 3, 1, 0, 2, 6, False),
    ("stage-1", 3, "p06", "repair", "time_expired", False, True, False, 1, 1, 0, 1, 2, 20, False),
    ("stage-1", 4, "p16", "repair", "done", False, False, False, 0, 2, 0, 0, 17, 19, False),
    ("stage-2", 1, "p12", "control", "done", True, False, NO, NO, 0, 0, 1, NO, 5, False),
    ("stage-2", 2, "p10", "repair", "done", False, False, NO, NO, 0, 0, 1, NO, 5, False),
]
CHANGES = (
    *("stage", "trial", "change", "concept", "change_kind", "state_after", "state_correct"),
    *("undone", "given", "correct_before", "correct_after", "foretold", "foretold_correct"),
    *("side_effects", "change_s"),
)
S = "stage-1"
CHANGES_BY_HAND = [
    (
        *("practice", 1, 1, "side", "correction", "off", True, False, False, False, True),
        *("c3", True, NO, 4),
    ),
    (S, 2, 1, "size", "correction", "off", False, True, False, False, False, NO, NO, "side", 2),
    (S, 2, 2, "size", "undo", "model", NO, False, False, False, False, NO, NO, NO, 3),
    (S, 2, 3, "size", "confirmation", "on", True, False, False, False, False, NO, NO, NO, 4),
    (S, 2, 4, "side", "correction", "off", True, False, False, False, False, NO, NO, "size", 5),
    (S, 3, 1, "side", "correction", "on", True, False, False, False, True, "c1", False, "size", 4),
    (S, 4, 1, "size", "confirmation", "on", True, False, False, False, True, NO, NO, "side", 17),
    (S, 4, 2, "size", "release", "model", NO, False, False, True, False, NO, NO, "side", 18),
    (
        *("stage-2", 1, 1, "side", "correction", "off", False, False, True, True, False),
        *("c4", False, "size", 4),
    ),
    (
        *("stage-2", 2, 1, "size", "correction", "on", False, False, True, False, False),
        *("c1", False, NO, 4),
    ),
]


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_journal_means_what_it_meant(path: Path) -> None:
    tables = tables_of(path)
    pictures = [tuple(row[name] for name in PICTURES) for row in tables["repairs"]]
    assert pictures == PICTURES_BY_HAND
    changes = [tuple(row[name] for name in CHANGES) for row in tables["concept_changes"]]
    assert changes == CHANGES_BY_HAND
    grid = [(row["concept"], row["ticked"], row["ticks"]) for row in tables["concept_grids"]]
    assert grid == [("size", True, 1), ("side", False, 2)]
    (person,) = tables["participants"]
    assert (person["n_pauses"], person["paused_s"]) == (1, 60)
    assert (person["n_gaps"], person["gap_s"]) == (1, 101)


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_session_comes_to_the_state_it_came_to(path: Path) -> None:
    stored = list(payloads(read(path)))
    parts = parts_of(stored[0][1])  # type: ignore[arg-type]
    own = [part for part in parts if isinstance(part, ConceptRepairPart | ConceptGridPart)]
    state = ConceptPlay.of(*own).machine.fold([event for event, _ in stored])
    assert state.ended == "completed"
    assert [record.outcome for record in state.records] == ["completed"] * 4


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"beliefs": [0.5]}, "beliefs and truths for 2 concepts"),
        ({"answers": "AAA="}, "1 answers, not 9 x 4"),
        ({"answers": "AAAA" * 24 + "AA=="}, "36.5 answers, not 9 x 4"),
        ({"answers": "A"}, "its answers are not base64"),
        ({"given": {"concept": 1, "to": 1}}, "a change is given, but nothing else is changed"),
        ({"truth": "none"}, "'none' is not one of the classes"),
    ],
)
def test_a_part_that_does_not_fit_together_is_refused(changes: dict[str, Any], why: str) -> None:
    plan = json.loads(read(JOURNALS[0])[0].payload)["plan"]
    row = next(row for row in plan if row["id"] == "stage-1")
    assert registry.read_part(row).id == row["id"]
    row["items"][0] |= changes
    with pytest.raises(RecordError, match=why):
        registry.read_part(row)
