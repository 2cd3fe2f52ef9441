"""What happened when in a recorded session, as lanes of a timeline.

All times are session time in ns, as in the journal; stretches are half-open. No task is known here
by its name: what comes onto the screen, which events move a dial and which compare a picture with a
target, task types and the bases of events say. Words are put to it by the windows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from labapp.clock import NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labapp.annotations.model import Blinding
    from labapp.journal.record import Record
    from labapp.replay.lane_fold import LaneFold

LaneId = Literal[
    "sound",
    "pauses",
    "screen",
    "dials",
    "alignment",
    "prompts",
    "answers",
    "flags",
    "notes",
    "alarms",
]
LaneKind = Literal["spans", "points", "moves", "curve"]
Jump = Literal[
    "note", "flag", "prompt", "answer", "alarm", "pause", "part", "trial", "silence", "dial"
]
"""What a replay can jump to. A silence is one that was noticed, or lost sound; a dial is the first
move after a rest, or of another dial."""

BURST_NS = NS
"""Moves of a dial that follow each other by less belong together."""
_NO_TIMES: NDArray[np.int64] = np.empty(0, dtype=np.int64)
_NO_VALUES: NDArray[np.float32] = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class LaneItem:
    """Something that lasted, or happened at a moment.

    Attributes
    ----------
    kind : of sound `recorded`, `lost`, `unrecorded`, `silent`, `zeros` or `clipping`; of pauses
        `pause`, `break`, `gap`, `stall`, `skip`, `leave` or `end`; of the screen `part` or `trial`;
        of all others the kind of the event.
    t0_ns, t1_ns : session time; equal for a moment.
    text : what a person wrote, as it reads now, or the cause of lost sound.
    part_id : the part that ran.
    trial : the trial, from 1.
    outcome : how the part or trial ended; empty where it did not, or where it is hidden.
    seq : number of the event; 0 where there is none.
    payload : the event's own fields, of kinds that have words for them.
    """

    kind: str
    t0_ns: int
    t1_ns: int
    text: str = ""
    part_id: str | None = None
    trial: int | None = None
    outcome: str = ""
    seq: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Lane:
    """One lane.

    Attributes
    ----------
    id : what it tells of.
    kind : spans and points have `items`; moves and curves have `times` and `values`.
    items : in order of their beginnings.
    times : int64 array, shape (n,)
        Session time in ns, in order.
    values : float32 array, shape (n,)
        Of moves which dial, from 0; of a curve the alignment, 0-1, NaN where it breaks off.
    """

    id: LaneId
    kind: LaneKind
    items: tuple[LaneItem, ...] = ()
    times: NDArray[np.int64] = field(default_factory=lambda: _NO_TIMES)
    values: NDArray[np.float32] = field(default_factory=lambda: _NO_VALUES)

    def until(self, t_ns: int) -> Lane:
        """The lane as it was known at a time: nothing of it tells what comes after."""
        known = int(np.searchsorted(self.times, t_ns, "right"))
        past = self.items[: bisect_right(self.items, t_ns, key=lambda item: item.t0_ns)]
        return replace(
            self,
            items=tuple(
                item if item.t1_ns <= t_ns else replace(item, t1_ns=t_ns, outcome="")
                for item in past
            ),
            times=self.times[:known],
            values=self.values[:known],
        )


class Spans(Protocol):
    """Where a session has sound; see `labapp.replay.sound.SessionSound`."""

    @property
    def spans(self) -> Sequence[Any]: ...
    @property
    def gaps(self) -> Sequence[tuple[int, int, str]]: ...


def lanes_of(
    record: Record,
    *,
    sound: Spans | None = None,
    blind: Collection[Blinding] = (),
    answers: Collection[str] = (),
    folded: LaneFold | None = None,
) -> tuple[Lane, ...]:
    """The lanes of a recorded session, of any task; those of which it has nothing are left out.

    Parameters
    ----------
    record : a session folder or a bundle.
    sound : SessionSound, optional
        Where there is sound and where it was lost.
    blind : what is hidden. Outcomes hide how parts and trials ended, the alignment and answers; any
        hiding hides what the moderator wrote down: flags and notes. What comes after the playhead
        is hidden by `Lane.until`.
    answers : kinds of events of tasks that are marks of a timeline.
    folded : LaneFold, optional
        What has taken in all of the session's events, where they were read for something else, too.

    Raises
    ------
    RecordError : the journal cannot be read.
    """
    from labapp.replay.lane_fold import fold_lanes

    lanes = fold_lanes(record.rows, answers, folded)
    if sound is not None:
        lanes = (_with_sound(lanes, sound), *(lane for lane in lanes if lane.id != "sound"))
    return veiled((lane for lane in lanes if lane.items or lane.times.size), blind)


def veiled(lanes: Iterable[Lane], blind: Collection[Blinding]) -> tuple[Lane, ...]:
    """Lanes as a rater sees them from whom something is hidden; see `lanes_of`."""
    hidden = _hidden(blind)
    shown = tuple(lane for lane in lanes if lane.id not in hidden)
    if "outcomes" not in blind:
        return shown
    return tuple(
        replace(lane, items=tuple(replace(item, outcome="") for item in lane.items))
        for lane in shown
    )


def _hidden(blind: Collection[Blinding]) -> frozenset[LaneId]:
    hidden: set[LaneId] = set()
    if blind:
        hidden |= {"flags", "notes"}
    if "outcomes" in blind:
        hidden |= {"alignment", "answers"}
    return frozenset(hidden)


def _with_sound(lanes: Iterable[Lane], sound: Spans) -> Lane:
    """The lane of sound: where it was recorded and lost, and what was noticed of it. Of a session
    without any it does not say of every moment that there is none."""
    noticed = [item for lane in lanes if lane.id == "sound" for item in lane.items]
    absent = [LaneItem(_absence(cause), t0, t1, cause) for t0, t1, cause in sound.gaps]
    items = [
        *(LaneItem("recorded", span.t0_ns, span.t1_ns) for span in sound.spans),
        *(item for item in absent if sound.spans or item.kind == "lost"),
        *(item for item in noticed if item.kind != "lost"),
    ]
    return Lane("sound", "spans", tuple(sorted(items, key=lambda item: item.t0_ns)))


def _absence(cause: str) -> str:
    return "unrecorded" if cause == "not_recorded" else "lost"


def next_after(lanes: Iterable[Lane], t_ns: int, kinds: Collection[Jump]) -> int | None:
    """When the next thing of some kinds begins; None where none does.

    lanes: while the future is hidden, `until` the playhead, which leads nowhere.
    """
    following = (
        times[at] for times, at in _places(lanes, t_ns, kinds, bisect_right) if at < len(times)
    )
    return min(following, default=None)


def previous_before(lanes: Iterable[Lane], t_ns: int, kinds: Collection[Jump]) -> int | None:
    """When the last thing of some kinds before a time began; None where none did."""
    before = (times[at - 1] for times, at in _places(lanes, t_ns, kinds, bisect_left) if at)
    return max(before, default=None)


def _places(
    lanes: Iterable[Lane],
    t_ns: int,
    kinds: Collection[Jump],
    side: Callable[[Sequence[int], int], int],
) -> Iterable[tuple[Sequence[int], int]]:
    for lane in lanes:
        times = _onsets(lane, kinds)
        yield times, side(times, t_ns)


_LANE_OF: Mapping[LaneId, Jump] = {
    "notes": "note",
    "flags": "flag",
    "prompts": "prompt",
    "answers": "answer",
    "alarms": "alarm",
    "pauses": "pause",
}
_SILENT = frozenset({"lost", "silent", "zeros"})


def _onsets(lane: Lane, kinds: Collection[Jump]) -> Sequence[int]:
    """The times of a lane at which something of some kinds begins, in order."""
    if lane.id == "dials":
        return burst_onsets(lane) if "dial" in kinds else ()
    if lane.id == "sound":
        return [i.t0_ns for i in lane.items if i.kind in _SILENT] if "silence" in kinds else ()
    if lane.id == "screen":
        return [item.t0_ns for item in lane.items if item.kind in kinds]
    return [item.t0_ns for item in lane.items] if _LANE_OF.get(lane.id) in kinds else ()


def burst_onsets(lane: Lane) -> list[int]:
    """Where moves of the dials begin: after a rest of a second, or of another dial."""
    if not lane.times.size:
        return []
    first = np.ones(lane.times.size, dtype=bool)
    first[1:] = (np.diff(lane.times) >= BURST_NS) | (np.diff(lane.values) != 0)
    onsets: list[int] = lane.times[first].tolist()
    return onsets
