"""Journals of the unmasking task as earlier programs wrote them, kept for ever.

An example of two masks, a block of two sequences of two masks, a break of 30 s, and a block of one
sequence. A pause of 60 s lies in the third stimulus of the first block and a gap of 102 s in its
fourth; the moderator skipped the second block in its second stimulus.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import RecordError
from labapp.record.journal.read import payloads
from labapp.session.machine import SessionMachine
from labapp.study.plan import BreakPart, parts_of
from labapp.study.plugins import registry
from labapp.tasks.resting.machine import BreakMachine
from labapp.tasks.unmasking.machine import UnmaskingTask
from labapp.tasks.unmasking.plan import UnmaskingPart
from tests.helpers.old_journals import FOLDER, read, tables_of

JOURNALS = sorted((FOLDER / "unmasking").glob("*.jsonl"))
FIRST, SECOND = "stage-1-block-1", "stage-1-block-2"
NO = None
COLUMNS = (
    *("stage", "trial", "attempt", "number", "image", "method", "percent"),
    *("outcome", "button", "correct", "reaction_time_ms", "excluded"),
)
# By hand; every stimulus was painted 8 ms after it was due.
BY_HAND = [
    ("practice", 1, 1, 1, "p04", "middle", 5, "answered", 1, True, 500, True),
    ("practice", 2, 1, 2, "p04", "middle", 10, "answered", 0, False, 250, True),
    (FIRST, 1, 1, 1, "p02", "edge", 5, "answered", 0, False, 900, False),
    (FIRST, 2, 1, 2, "p02", "edge", 10, "answered", 1, True, 700, False),
    (FIRST, 3, 1, 3, "p01", "middle", 5, "interrupted", NO, NO, NO, True),
    (FIRST, 3, 2, 3, "p01", "middle", 5, "answered", 2, True, 1200, False),
    (FIRST, 4, 1, 4, "p01", "middle", 10, "interrupted", NO, NO, NO, True),
    (FIRST, 4, 3, 4, "p01", "middle", 10, "answered", 1, False, 400, False),
    (SECOND, 1, 1, 5, "p00", "middle", 5, "answered", 2, False, 600, False),
    (SECOND, 2, 1, 6, "p00", "middle", 10, "stage_skipped", NO, NO, NO, True),
]


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_journal_means_what_it_meant(path: Path) -> None:
    tables = tables_of(path)
    rows = tables["annotations"]
    assert [tuple(row[name] for name in COLUMNS) for row in rows] == BY_HAND
    assert {row["due_to_paint_ms"] for row in rows} == {8}
    wrong = [row["number"] for row in rows if not row["correct_prediction"]]
    assert wrong == [1, 2], "of p02 alone the model is wrong"
    assert [row["follows_prediction"] for row in rows[2:4]] == [False, False]
    assert len(tables["masked_predictions"]) == 6, "without the example"
    stages = [(row["outcome"], row["n_planned"], row["n_answered"]) for row in tables["stages"]]
    assert stages == [("completed", 4, 4), ("skipped", 2, 1)]
    (person,) = tables["participants"]
    assert (person["n_pauses"], person["paused_s"]) == (1, 60)
    assert (person["n_breaks"], person["breaks_s"]) == (1, 30)
    assert (person["n_gaps"], person["gap_s"]) == (1, 102)


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_session_comes_to_the_state_it_came_to(path: Path) -> None:
    stored = list(payloads(read(path)))
    parts = parts_of(stored[0][1])  # type: ignore[arg-type]
    tasks = [
        UnmaskingTask(part, index) if isinstance(part, UnmaskingPart) else BreakMachine(part, index)
        for index, part in enumerate(parts)
        if isinstance(part, UnmaskingPart | BreakPart)
    ]
    machine = SessionMachine(parts, tasks, {1: "insight"})
    state = machine.fold([event for event, _ in stored])
    assert state.ended == "completed"
    assert [record.outcome for record in state.records] == ["completed"] * 3 + ["skipped"]
    answered = {(row[0], row[1]) for row in BY_HAND if row[7] == "answered"}
    assert state.tally.trials.keys() == answered


@pytest.mark.parametrize(
    ("where", "changes", "why"),
    [
        ((), {"method": "none"}, "'none' is not one of the methods"),
        ((), {"truth": "none"}, "'none' is not one of the classes"),
        ((), {"prediction": "none"}, "'none' is not one of the classes"),
        ((), {"logits": [0.5] * 9}, "9 logits"),
        (("masks", 0), {"logits": [0.5] * 9}, "9 logits"),
    ],
)
def test_a_part_that_names_what_its_set_does_not_have_is_refused(
    where: tuple[str | int, ...], changes: dict[str, Any], why: str
) -> None:
    plan = json.loads(read(JOURNALS[0])[0].payload)["plan"]
    row = next(row for row in plan if row["part"] == "unmasking")
    assert registry.read_part(row).id == row["id"]
    changed = row["sequences"][0]
    for step in where:
        changed = changed[step]
    changed |= changes
    with pytest.raises(RecordError, match=why):
        registry.read_part(row)
