"""The record of an attempt at a question of reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from labapp.analysis.task_records import INTERRUPTED, Attempt, Key
from labapp.clock import NS
from labapp.events import Event, Payload
from labapp.events.trials import TrialEnded
from labapp.plugins.part import Snapshot
from labapp.tasks.reconstruction.activity import ACTIVITIES, counted_as_published_ns, counted_ns
from labapp.tasks.reconstruction.events import (
    AlignmentMarked,
    DialMoved,
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
)
from labapp.tasks.reconstruction.movement import Movement
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.snapshots import SnapshotFold

LEFT = ("solved", "marked", "skipped")
SOLVED_AT_START = "solved before the first move"
"""Outcomes of questions that the participant left, by Next or Skip."""


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One attempt at a question. Times are working time (pauses and gaps taken out), in seconds
    from `trial.started`; None where the thing did not happen.

    snapshots: t_ns counts from `trial.started` too.
    """

    part: ReconstructionPart
    trial: int
    attempt: int
    outcome: str
    excluded_because: str | None
    started_session_s: float | None
    duration_s: float | None
    solved_s: float | None
    skip_offered_s: float | None
    active_s: float | None
    active_s_as_published: float | None
    error_auc_sum: float | None
    error_auc_mean: float | None
    alignment_start: float | None
    alignment_final: float | None
    aligned_at_start: bool
    redrawn: int
    overlay_toggles: int
    label_edits: int
    z_start: tuple[float, ...]
    z_target: tuple[float, ...]
    movement: Movement
    snapshots: tuple[Snapshot, ...] = field(repr=False)

    @property
    def left_by_participant(self) -> bool:
        """Ended by a click on Next or Skip, so that its duration is a response time."""
        return self.outcome in LEFT


def error_auc(snapshots: Sequence[Snapshot]) -> tuple[float, float]:
    """Integral of the error over working time, as (error sum x s, error mean x s).

    The error is taken as constant from each snapshot to the next; idle time counts. The paper
    calls the error a mean, its application and tables use the sum: both are given.
    """
    total_sum = total_mean = 0.0
    for pair, following in pairwise(snapshots):
        seconds = (following.t_ns - pair.t_ns) / NS
        total_sum += pair.error_sum * seconds
        total_mean += pair.error_mean * seconds
    return total_sum, total_mean


def active_as_published_ns(snapshots: Sequence[Snapshot], part: ReconstructionPart) -> int:
    """Active time as the published application counts it: the gaps between snapshots that are
    shorter than the part's inactivity limit."""
    limit = round(part.inactivity_s * NS)
    times = [snapshot.t_ns for snapshot in snapshots]
    return sum(
        counted_as_published_ns(following - pair, limit) for pair, following in pairwise(times)
    )


class Question(Attempt):
    """One attempt at a question while its events come in."""

    part: ReconstructionPart

    def __init__(self, part: ReconstructionPart, key: Key, drawn: TrialDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.movement = Movement(part, drawn.z_start)
        self.inactivity_ns = round(part.inactivity_s * NS)
        self.started: TrialStarted | None = None
        self.last_ns = 0
        self.active_ns = 0
        self.activity_ns = 0
        self.measures = (0.0, 0.0, 0.0)
        self.fold: SnapshotFold | None = None
        self.snapshots: list[Snapshot] = []
        self.snapshot_z_seq = 0
        self.z_seq = 0
        self.toggles = 0
        self.label_edits = 0
        self.edits: list[tuple[Event, LabelEdited]] = []
        self.marks: list[tuple[Event, AlignmentMarked, int]] = []
        self.solved_ns: int | None = None
        self.offered_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        """Take in an event of this attempt at working time `working` in ns."""
        if isinstance(payload, TrialStarted):
            self._start(event, payload, working)
        elif isinstance(payload, TrialEnded) and self.outcome is None:
            self.last_ns = working
            self._end(working)
        fold = self.fold
        if fold is None or self.outcome is not None:
            self._noted(event, payload, working)
            return
        self.last_ns = working
        if isinstance(payload, PictureDecoded):  # every other event, and no activity
            self._decoded(fold, payload, working)
            return
        if event.kind in ACTIVITIES:
            self.active_ns += counted_ns(working - self.activity_ns, self.inactivity_ns)
            self.activity_ns = working
        match payload:
            case DialMoved():
                self.z_seq = payload.z_seq
                self.movement.moved(payload.dimension, payload.value, payload.device)
                self.fold = fold.moved(self._shown_ns(working), payload.dimension, payload.value)
            case DialSelected():
                self.movement.selected(payload.dimension)
            case OverlayToggled():
                self.toggles += 1
            case LabelEdited():
                self.label_edits += 1
                self._noted(event, payload, working)
            case AlignmentMarked():
                self._noted(event, payload, working)
            case SkipOffered():
                self.offered_ns = working
            case TrialSolved():
                self._solved(fold, payload, working)

    def _noted(self, event: Event, payload: Payload, working: int) -> None:
        """Names and marks have tables of their own, whether the question was shown or was over."""
        if isinstance(payload, LabelEdited):
            self.edits.append((event, payload))
        elif isinstance(payload, AlignmentMarked) and self.started_ns is not None:
            self.marks.append((event, payload, working))

    def _start(self, event: Event, payload: TrialStarted, working: int) -> None:
        self.started = payload
        self.started_session_ns = event.t_ns
        self.started_ns = self.activity_ns = working
        self.measures = (payload.alignment, payload.error_sum, payload.error_mean)
        self.fold, first = SnapshotFold.begin(
            0, self.drawn.z_start, self.part.discrete, self.measures
        )
        self.snapshots.append(first)

    def _decoded(self, fold: SnapshotFold, payload: PictureDecoded, working: int) -> None:
        self.measures = (payload.alignment, payload.error_sum, payload.error_mean)
        if payload.z_seq != self.z_seq:
            return  # the dials have moved on; only the picture of the present state counts
        self.fold, taken = fold.decoded(self._shown_ns(working), *self.measures)
        if taken is not None:
            self.snapshots.append(taken)
            self.snapshot_z_seq = payload.z_seq

    def _solved(self, fold: SnapshotFold, payload: TrialSolved, working: int) -> None:
        # The dials lock here: the question's movements end, and there is always a snapshot. Without
        # it, an older error would count until the click on Next.
        self.solved_ns = working
        self.movement.locked(payload.z)
        self.fold = fold._replace(z=payload.z)
        if payload.z_seq != self.snapshot_z_seq:
            self._end(working)

    def _end(self, working: int) -> None:
        """The snapshot at an end of the question's movements, where it was shown at all."""
        if self.fold is not None:
            self.snapshots.append(self.fold.ended(self._shown_ns(working), self.measures))

    def _shown_ns(self, working: int) -> int:
        """How long the question has been shown, which is a snapshot's time."""
        return working - (self.started_ns or 0)

    @property
    def excluded_because(self) -> str | None:
        why = super().excluded_because
        if why is None and self.started is not None and self.started.aligned_at_start:
            return SOLVED_AT_START
        return why

    @property
    def solved(self) -> bool | None:
        return None if self.part.solved_at is None else self.outcome == "solved"

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.last_ns) if self.outcome in LEFT else None

    def record(self) -> TrialRecord:
        """The finished record."""
        if self.outcome is None:
            self._end(self.last_ns)
        shown = self.started
        snapshots = tuple(self.snapshots)
        auc_sum, auc_mean = error_auc(snapshots)
        return TrialRecord(
            part=self.part,
            trial=self.trial,
            attempt=self.attempt,
            outcome=self.outcome or INTERRUPTED,
            excluded_because=self.excluded_because,
            started_session_s=self.started_session_s,
            duration_s=self.since_start(self.last_ns),
            solved_s=self.since_start(self.solved_ns),
            skip_offered_s=self.since_start(self.offered_ns),
            active_s=None if shown is None else self._active_ns() / NS,
            active_s_as_published=(
                None if shown is None else active_as_published_ns(snapshots, self.part) / NS
            ),
            error_auc_sum=None if shown is None else auc_sum,
            error_auc_mean=None if shown is None else auc_mean,
            alignment_start=None if shown is None else shown.alignment,
            alignment_final=None if shown is None else self.measures[0],
            aligned_at_start=shown is not None and shown.aligned_at_start,
            redrawn=self.drawn.redrawn,
            overlay_toggles=self.toggles,
            label_edits=self.label_edits,
            z_start=self.drawn.z_start,
            z_target=self.drawn.z_target,
            movement=self.movement,
            snapshots=snapshots,
        )

    def _active_ns(self) -> int:
        return self.active_ns + counted_ns(self.last_ns - self.activity_ns, self.inactivity_ns)
