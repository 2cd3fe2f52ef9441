"""Journals as earlier programs wrote them, kept for ever: they stay readable and mean the same.

A file a generation of journals: one JSON array a line, the columns of `records.rows.Row`. When a
kind of event gets a new version, the golden session of before is added here; none is ever changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.task_records import Parts, walk
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal.read import payloads
from labapp.record.journal.record import outline
from labapp.tasks.reconstruction.records import ReconstructionRecords
from tests.helpers.old_journals import FOLDER, read

JOURNALS = sorted(FOLDER.glob("*.jsonl"))

# stage, trial, outcome, response time, error AUC (sum), slide distance, active time: by hand, see
# tests/helpers/golden.py.
BY_HAND = [
    ("stage-1", 1, "solved", 6.5, 176, 0.625, 6.5),
    ("stage-1", 2, "skipped", 9.0, 840, 0.2, 7.0),
    ("stage-2", 1, "solved", 8.0, 41.95, 0.5, 8.0),
    ("stage-2", 2, "solved", 7.25, 64, 1.0, 7.25),
    ("stage-3", 1, "solved", 4.0, 124, 1.1, 4.0),
    ("stage-3", 2, "solved", 1.0, 1, 0.0, 1.0),
]


@pytest.mark.parametrize("task", ["", "concepts", "single", "unmasking"])
def test_the_corpus_is_there(task: str) -> None:
    names = [path.stem for path in sorted((FOLDER / task).glob("*.jsonl"))]
    assert names[:1] == ["first"] if task else names == ["first", "second"]


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_an_old_journal_means_what_it_meant(path: Path) -> None:
    rows = read(path)
    assert outline(rows).working_ns == 82_000_000_000
    events = list(payloads(rows))
    planned = events[0][1]
    assert isinstance(planned, SessionPlanned)
    (task,) = walk(events, Parts.of(planned.plan))
    assert isinstance(task, ReconstructionRecords)
    found = [trial for trial in task.attempts if trial.part.role == "stage"]
    assert [(t.part.id, t.trial, t.outcome) for t in found] == [row[:3] for row in BY_HAND]
    for trial, row in zip(found, BY_HAND, strict=True):
        measured = (
            trial.duration_s,
            trial.error_auc_sum,
            sum(trial.movement.slide_distance_by_dimension),
            trial.active_s,
        )
        assert measured == pytest.approx(row[3:])
