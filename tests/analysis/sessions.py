"""Small sessions for the tests of the analysis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labapp.analysis.rows import SessionRecords
from labapp.base.clock import NS
from labapp.record.events import Event, Payload, payload_of
from labapp.record.events.trials import TrialEnded
from labapp.tasks.reconstruction.events import DialMoved, PictureDecoded, TrialDrawn, TrialStarted
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.records import QuestionAttempt, ReconstructionRecords
from tests.helpers.journals import SessionBuilder, stamp

SPACE = [
    {"type": "discrete", "name": "class", "k": 10},
    {"type": "continuous", "name": "size", "low": -1.0, "high": 3.0, "step": 0.01},
    {"type": "continuous", "name": "slant", "low": 0.0, "high": 1.0, "step": 0.01},
]
ZERO = (0.0, 0.0, 0.0)
TARGET = (3.0, 1.0, 0.5)

Stamped = list[tuple[Event, Payload]]


def stage_row(stage: str = "stage-1", **changes: Any) -> dict[str, Any]:
    """A row of a plan: a stage on a space of one discrete and two continuous dimensions."""
    return {
        "part": "reconstruction",
        "id": stage,
        "title": "Stage 1",
        "role": "stage",
        "number": 1,
        "of": 1,
        "model": "mnist8k/ss2",
        "display": "binary_image",
        "dimensions": SPACE,
        "trials": 5,
        "sampling": "held_out",
        "distance": "mnist",
        "target_alignment": 0.75,
        "skip": "after",
        "skip_after_s": 45.0,
        "inactivity_s": 3.0,
        "active_time": "paused",
        "time_limit_s": None,
        "overlay_at_start": False,
        "labels_editable": True,
        "think_aloud": True,
    } | changes


def stage_part(**changes: Any) -> ReconstructionPart:
    return ReconstructionPart.model_validate(stage_row(**changes))


def paired(builder: SessionBuilder) -> Stamped:
    """The builder's events in time order, with their payloads as a journal gives them back."""
    events = stamp(sorted(builder.rows, key=lambda row: row[0]))
    return [(event, payload_of(event)) for event in events]


def builder(
    *rows: dict[str, Any], declared: dict[str, Any] | None = None, **changes: Any
) -> SessionBuilder:
    """A session with these parts in its plan, begun; declared: by the study."""
    made = SessionBuilder(study_files=None, **changes)
    made.plan(rows or (stage_row(),), declared=declared or {})
    made.segment(0, 1)
    return made


def begin_trial(made: SessionBuilder, t: float, trial: int = 1, attempt: int = 1) -> None:
    """Drawn and shown at t, alignment 0.25, error sum 8, mean 0.5."""
    made.at(t, TrialDrawn(ZERO, TARGET), "stage-1", trial, attempt=attempt)
    made.at(t, TrialStarted(0.25, 8.0, 0.5, False), "stage-1", trial, attempt=attempt)


def move(
    made: SessionBuilder,
    t: float,
    z_seq: int,
    dimension: int,
    value: float,
    *,
    error: float | None = None,
    trial: int = 1,
    device: str = "mouse",
) -> None:
    """A movement, and its picture at the same moment unless error is None (mean = sum / 16)."""
    made.at(t, DialMoved(z_seq, dimension, value, device), "stage-1", trial)
    if error is not None:
        made.at(t, PictureDecoded(z_seq, 0.5, error, error / 16), "stage-1", trial)


def end_trial(made: SessionBuilder, t: float, outcome: str = "skipped", trial: int = 1) -> None:
    made.at(t, TrialEnded(outcome), "stage-1", trial)


def records(made: SessionBuilder) -> SessionRecords:
    return SessionRecords.of(paired(made), "test")


def reconstruction(found: SessionRecords) -> ReconstructionRecords:
    (task,) = found.tasks
    assert isinstance(task, ReconstructionRecords)
    return task


def one_trial(made: SessionBuilder) -> QuestionAttempt:
    (trial,) = reconstruction(records(made)).attempts
    return trial


def seconds(values: Iterable[int]) -> list[float]:
    return [value / NS for value in values]
