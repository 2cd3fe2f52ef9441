"""The state of a reconstruction stage. All its times are working time (without pauses), in ns."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.record.events.durations import Pauses
from labapp.study.plugins.machine import State
from labapp.tasks.reconstruction.snapshots import ActiveTime, SnapshotFold

NONE_YET = ActiveTime(0)
"""Active time before a question began."""

MOST_UNDECODED = 64
"""A slow decoder is behind the hand by a few changes of a dial."""

MARKS = ("far", "close")
"""What the participant of a calibration can mark: "far away" and "close enough"."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of a calibration: mark is one of MARKS, alignment that of the picture marked."""

    mark: str
    alignment: float


class Trial(State, frozen=True):
    """One question.

    z: present dial state; z_seq counts its changes and decoded_seq is the last one whose picture
    was decoded, of the dial state z_decoded. undecoded: the changes since by z_seq, at most
    MOST_UNDECODED. started_ns is None until the pictures are on the screen. redrawn: the pairs
    before this one that were put back unseen.
    """

    number: int
    z_start: tuple[float, ...]
    z_target: tuple[float, ...]
    z: tuple[float, ...]
    overlay: bool
    attempt: int = 1
    redrawn: int = 0
    z_seq: int = 0
    decoded_seq: int = 0
    z_decoded: tuple[float, ...] | None = None
    undecoded: tuple[tuple[int, tuple[float, ...]], ...] = ()
    alignment: float = 0.0
    error_sum: float = 0.0
    error_mean: float = 0.0
    started_ns: int | None = None
    aligned_at_start: bool = False
    solved: bool = False
    skip_offered: bool = False
    active: ActiveTime = NONE_YET
    snapshots: SnapshotFold | None = None
    selected: int | None = None
    marks: tuple[Mark, ...] = ()
    outcome: str | None = None

    @property
    def z_shown(self) -> tuple[float, ...]:
        """The dial state whose picture is on the screen."""
        return self.z if self.solved or self.z_decoded is None else self.z_decoded

    @property
    def on_screen(self) -> bool:
        """The pictures are shown and the question is not over."""
        return self.started_ns is not None and self.outcome is None

    @property
    def running(self) -> bool:
        """On the screen and not solved: dials can be moved."""
        return self.on_screen and not self.solved

    @property
    def unmarked(self) -> tuple[str, ...]:
        """What a calibration still lacks: of MARKS, those that were not made yet."""
        made = {mark.mark for mark in self.marks}
        return tuple(mark for mark in MARKS if mark not in made)


class StageState(State, frozen=True):
    """trial: the present question, None before the first; outcomes: of the questions so far;
    labels: the participant's names of the dials, None where not renamed; attempt: at the stage;
    highest: greatest attempt of any question so far."""

    pauses: Pauses
    labels: tuple[str | None, ...]
    trial: Trial | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    attempt: int = 1
    highest: int = 1

    def again(self, attempt: int) -> StageState:
        """The stage from its beginning; the participant's names of the dials stay."""
        return StageState(self.pauses, self.labels, attempt=attempt, highest=attempt)
