"""The snapshots of a question and its active time, as the running task and the analysis take them.

Snapshots follow paper 000, 4.4, as its published application has it: one when z changes and at
least 100 ms have passed since the last, at once when the active dimension changes or the direction
reverses, and one at the end of the question.

Active time, paper 000, 4.3: the hidden count that brings Skip pauses after some seconds without
activity. The published application instead adds up the gaps between snapshots that are shorter.
"""

from __future__ import annotations

from typing import NamedTuple

from labapp.study.plugins.part import Snapshot

INTERVAL_NS = 100_000_000


class SnapshotFold(NamedTuple):
    """State of the fold: `moved`, `decoded` and `ended` each give the next state, and the snapshot
    they cause, if any. A tuple, because there is one of every movement."""

    z: tuple[float, ...]
    discrete: frozenset[int]
    last: Snapshot
    dimension: int | None = None
    direction: int = 0
    due: bool = False

    @classmethod
    def begin(
        cls,
        t_ns: int,
        z: tuple[float, ...],
        discrete: frozenset[int],
        measures: tuple[float, float, float],
    ) -> tuple[SnapshotFold, Snapshot]:
        """A question starts; its first snapshot. measures: alignment, error sum, error mean."""
        first = Snapshot(t_ns, z, None, 0, *measures)
        return cls(z, discrete, first), first

    def moved(self, t_ns: int, dimension: int, value: float) -> SnapshotFold:
        """A dial was moved; marks whether the next decoded picture is due as a snapshot."""
        change = value - self.z[dimension]
        if change == 0:
            return self
        direction = 0 if dimension in self.discrete else (1 if change > 0 else -1)
        turned = dimension != self.dimension or direction != self.direction
        waited = t_ns - self.last.t_ns >= INTERVAL_NS
        z = (*self.z[:dimension], value, *self.z[dimension + 1 :])
        due = self.due or turned or waited
        return SnapshotFold(z, self.discrete, self.last, dimension, direction, due)

    def decoded(
        self, t_ns: int, alignment: float, error_sum: float, error_mean: float
    ) -> tuple[SnapshotFold, Snapshot | None]:
        """The present dial state was decoded; a snapshot if one is due."""
        if not self.due:
            return self, None
        taken = Snapshot(
            t_ns, self.z, self.dimension, self.direction, alignment, error_sum, error_mean
        )
        fold = SnapshotFold(self.z, self.discrete, taken, self.dimension, self.direction)
        return fold, taken

    def ended(self, t_ns: int, measures: tuple[float, float, float]) -> Snapshot:
        return Snapshot(t_ns, self.z, self.dimension, self.direction, *measures)


ACTIVITIES = frozenset(
    {"dial.moved", "dial.selected", "overlay.toggled", "label.edited", "alignment.marked"}
)
"""The kinds that are something the participant did in a question."""


def counted_ns(gap_ns: int, inactivity_ns: int) -> int:
    """Active time of a stretch between two activities, in ns: at most the inactivity limit."""
    if gap_ns < 0:
        return 0
    return gap_ns if gap_ns < inactivity_ns else inactivity_ns


def counted_as_published_ns(gap_ns: int, inactivity_ns: int) -> int:
    """Active time of a stretch between two snapshots, in ns: all of it, or nothing."""
    return gap_ns if gap_ns < inactivity_ns else 0
