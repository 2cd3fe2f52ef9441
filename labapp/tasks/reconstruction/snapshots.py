"""The snapshots of a question and its active time: the rules of both, which the running task and
the analysis share.

Snapshots follow paper 000, 4.4, as its published application has it: one when z changes and at
least 100 ms have passed since the last, at once when the active dimension changes or the direction
reverses, and one at the end of the question.

Active time, paper 000, 4.3: the hidden count that brings Skip pauses after some seconds without
activity. The published application instead adds up the gaps between snapshots that are shorter.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from labapp.study.plugins.part import Snapshot

INTERVAL_NS = 100_000_000


class SnapshotFold(Struct, frozen=True):
    """State of the fold: `moved`, `decoded` and `ended` each give the next state, and the snapshot
    they cause, if any. z_seq: counts the changes of z."""

    z: tuple[float, ...]
    discrete: frozenset[int]
    last: Snapshot
    z_seq: int = 0
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

    def moved(self, t_ns: int, z_seq: int, dimension: int, value: float) -> SnapshotFold:
        """A dial was moved; marks whether the next decoded picture is due as a snapshot."""
        change = value - self.z[dimension]
        if change == 0:
            return replace(self, z_seq=z_seq)
        direction = 0 if dimension in self.discrete else (1 if change > 0 else -1)
        turned = dimension != self.dimension or direction != self.direction
        waited = t_ns - self.last.t_ns >= INTERVAL_NS
        z = (*self.z[:dimension], value, *self.z[dimension + 1 :])
        due = self.due or turned or waited
        return SnapshotFold(z, self.discrete, self.last, z_seq, dimension, direction, due)

    def decoded(
        self, t_ns: int, z_seq: int, alignment: float, error_sum: float, error_mean: float
    ) -> tuple[SnapshotFold, Snapshot | None]:
        """A dial state was decoded; a snapshot if one is due. Where the dials have moved on since,
        there is none: only the picture of their present state counts."""
        if not self.due or z_seq != self.z_seq:
            return self, None
        taken = Snapshot(
            t_ns, self.z, self.dimension, self.direction, alignment, error_sum, error_mean
        )
        fold = SnapshotFold(self.z, self.discrete, taken, z_seq, self.dimension, self.direction)
        return fold, taken

    def ended(self, t_ns: int, measures: tuple[float, float, float]) -> Snapshot:
        return Snapshot(t_ns, self.z, self.dimension, self.direction, *measures)


class ActiveTime(Struct, frozen=True):
    """Active time up to a moment, in ns. limit_ns: the inactivity limit."""

    limit_ns: int
    total_ns: int = 0
    last_ns: int = 0

    def at(self, now_ns: int) -> int:
        """Up to now: the stretch since the last activity counts for at most the limit."""
        return self.add_action(now_ns).total_ns

    def add_action(self, now_ns: int) -> ActiveTime:
        """The participant did something. There is one of every movement."""
        limit_ns, total_ns = self.limit_ns, self.total_ns
        gap_ns = now_ns - self.last_ns
        if gap_ns > 0:
            total_ns += gap_ns if gap_ns < limit_ns else limit_ns
        return ActiveTime(limit_ns, total_ns, now_ns)

    def seen(self, now_ns: int) -> ActiveTime:
        """As published, where snapshots count in place of activities: a snapshot was taken. The
        stretch since the last one counts where it is shorter than the limit."""
        gap_ns = now_ns - self.last_ns
        total_ns = self.total_ns + (gap_ns if gap_ns < self.limit_ns else 0)
        return ActiveTime(self.limit_ns, total_ns, now_ns)
