"""What happened when in a recorded session, as lanes of a timeline.

All times are session time in ns, as in the journal; stretches are half-open. No task is known here
by its name: what comes onto the screen, which events move a dial and which compare a picture with a
target, task types and the bases of events say. Words are put to it by the windows.

All stretches of a study that have a code or words: where, what was said, in which condition.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from labapp.base.clock import NS
from labapp.base.errors import LabappError
from labapp.coding.annotations.final import find_planted_marks
from labapp.coding.annotations.model import Mark, SessionAnnotations, Text
from labapp.coding.annotations.store import annotations_of
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import Prompt
from labapp.record.events.registry import (
    KINDS,
    LANES,
    STALLED,
    Pauses,
    kinds_of,
    moving_kinds,
    registered_kinds,
)
from labapp.record.events.trials import Comparison, DialTurned
from labapp.record.journal.opening import open_record, places
from labapp.record.journal.read import Row, payloads
from labapp.record.journal.record import Record
from labapp.study.plugins import registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from labapp.coding.annotations.model import Blinding
    from labapp.coding.sound import SessionSound
    from labapp.record.journal.record import Record


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
    outcome : how the part or trial ended; empty if it did not, or where it is hidden.
    seq : number of the event; 0 if there is none.
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
    id : what it shows.
    kind : spans and points have `items`; moves and curves have `times` and `values`.
    items : in order of their beginnings.
    times : session time in ns, in order, shape (n,).
    values : of moves which dial, from 0; of a curve the alignment, 0-1, NaN if it breaks off.
    """

    id: LaneId
    kind: Literal["spans", "points", "moves", "curve"]
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


def lanes_of(
    record: Record,
    *,
    sound: SessionSound | None = None,
    blind: Collection[Blinding] = (),
    answers: Collection[str] = (),
    folded: LaneFold | None = None,
) -> tuple[Lane, ...]:
    """The lanes of a recorded session, of any task; those of which it has nothing are left out.
    Raises RecordError: the journal cannot be read.

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
    """
    lanes = fold_lanes(record.rows, answers, folded)
    if sound is not None:
        lanes = (_with_sound(lanes, sound), *(lane for lane in lanes if lane.id != "sound"))
    return blind_lanes((lane for lane in lanes if lane.items or lane.times.size), blind)


def blind_lanes(lanes: Iterable[Lane], blind: Collection[Blinding]) -> tuple[Lane, ...]:
    """Lanes as a rater sees them from whom something is hidden; see `lanes_of`."""
    hidden: set[LaneId] = {"flags", "notes"} if blind else set()
    if "outcomes" in blind:
        hidden |= {"alignment", "answers"}
    shown = tuple(lane for lane in lanes if lane.id not in hidden)
    if "outcomes" not in blind:
        return shown
    return tuple(
        replace(lane, items=tuple(replace(item, outcome="") for item in lane.items))
        for lane in shown
    )


def _with_sound(lanes: Iterable[Lane], sound: SessionSound) -> Lane:
    """The lane of sound: where it was recorded and lost, and what was noticed of it. Of a session
    without any it does not say of every moment that there is none."""
    noticed = [item for lane in lanes if lane.id == "sound" for item in lane.items]
    absent = [
        LaneItem("unrecorded" if cause == "not_recorded" else "lost", t0, t1, cause)
        for t0, t1, cause in sound.gaps
    ]
    items = [
        *(LaneItem("recorded", span.t0_ns, span.t1_ns) for span in sound.spans),
        *(item for item in absent if sound.spans or item.kind == "lost"),
        *(item for item in noticed if item.kind != "lost"),
    ]
    return Lane("sound", "spans", tuple(sorted(items, key=lambda item: item.t0_ns)))


def next_after(lanes: Iterable[Lane], t_ns: int, kinds: Collection[Jump]) -> int | None:
    """When the next thing of some kinds begins; None if none does.

    lanes: while the future is hidden, `until` the playhead, which leads nowhere.
    """
    onsets = (onset for lane in lanes for onset in _onsets(lane, kinds))
    return min((onset for onset in onsets if onset > t_ns), default=None)


def previous_before(lanes: Iterable[Lane], t_ns: int, kinds: Collection[Jump]) -> int | None:
    """When the last thing of some kinds before a time began; None if none did."""
    onsets = (onset for lane in lanes for onset in _onsets(lane, kinds))
    return max((onset for onset in onsets if onset < t_ns), default=None)


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
    rests = (np.diff(lane.times) >= BURST_NS) | (np.diff(lane.values) != 0)
    onsets: list[int] = lane.times[np.r_[True, rests][: lane.times.size]].tolist()
    return onsets


_COURSE = frozenset({"part.started", "part.ended", "part.restarted", "trial.ended"})
_SOUND = frozenset({"audio.state", "audio.started", "audio.stopped"})
_NOTICED = frozenset({"silent", "zeros", "clipping"})
"""States of the sound that a timeline shows; else it was simply heard."""


def fold_lanes(
    rows: Sequence[Row], answers: Collection[str] = (), folded: LaneFold | None = None
) -> tuple[Lane, ...]:
    """Every lane of a session, empty ones too; see `labapp.session.replay.lanes.lanes_of`."""
    if folded is None:
        folded = LaneFold(answers)
        for event, payload in payloads(row for row in rows if row.kind in folded.kinds):
            folded.apply(event, payload)
    return folded.lanes(rows[-1].t_ns)


class LaneFold:
    """A fold over the events of a session, those of other kinds passed over; answers: the kinds
    that tasks have marks for."""

    def __init__(self, answers: Collection[str] = ()) -> None:
        self._shown = registry.shown_kinds()
        self._turned = frozenset((*kinds_of(DialTurned), *moving_kinds()))
        self._compared = frozenset(kinds_of(Comparison))
        self._points: dict[str, LaneId] = dict.fromkeys(answers, "answers")
        self._points |= dict.fromkeys(kinds_of(Prompt), "prompts")
        marked = {name: known.lane for name, known in registered_kinds().items() if known.lane}
        self._points |= cast("dict[str, LaneId]", marked)
        self._marks: dict[LaneId, dict[int, LaneItem]] = {}
        self._first: dict[int, tuple[LaneId, LaneItem]] = {}
        self._part: LaneItem | None = None
        self._trial: LaneItem | None = None
        self._screen: list[LaneItem] = []
        self._pauses = Pauses()
        self._open: dict[str, LaneItem] = {}
        self._held: list[LaneItem] = []
        self._heard: LaneItem | None = None
        self._sound: list[LaneItem] = []
        self._moves = array("q"), array("f")
        self._curve = array("q"), array("f")
        told = {"note.corrected", *_COURSE, *_SOUND, *KINDS, *self._points, *self._shown}
        self._told = frozenset(told)
        self.kinds = frozenset(told | self._turned | self._compared)

    def apply(self, event: Event, payload: Payload) -> None:
        kind, at = event.kind, event.t_ns
        if kind not in self.kinds:
            return
        if isinstance(payload, DialTurned):
            self._moves[0].append(at)
            self._moves[1].append(payload.dimension)
            return
        if (moved := payload.moved_dial()) is not None:
            self._moves[0].append(at)
            self._moves[1].append(moved[0])
        if kind in self._shown:
            self._end_trial(at, "")  # an attempt that a crash cut off has no end
            where = event.part_id, event.trial
            self._trial = LaneItem("trial", at, at, "", *where, "", event.seq)
        if isinstance(payload, Comparison):
            self._curve[0].append(at)
            self._curve[1].append(payload.alignment)
            if kind not in self._told:
                return
        fields = payload.as_dict() if kind not in self._compared else {}
        if kind in _COURSE:
            self._course(event, fields)
        if kind in KINDS:
            self._hold(event, fields)
        if kind in _SOUND:
            self._hear(event, fields)
        if (lane := self._points.get(kind)) is not None:
            self._note(lane, event, fields)
        elif kind == "note.corrected":
            self._correct(int(fields["seq"]), str(fields["text"]))

    def lanes(self, end_ns: int) -> tuple[Lane, ...]:
        """The lanes of what was taken in; what still runs lasts until end_ns."""
        self._end_part(end_ns, "")
        for item in self._open.values():
            self._held.append(replace(item, t1_ns=end_ns))
        self._end_state(end_ns)
        marked = cast("tuple[LaneId, ...]", LANES)
        return (
            Lane("sound", "spans", tuple(self._sound)),
            Lane("pauses", "spans", _sort_items(self._held)),
            Lane("screen", "spans", _sort_items(self._screen)),
            Lane("dials", "moves", (), *_arrays(self._moves)),
            Lane("alignment", "curve", (), *_arrays(self._curve)),
            *(
                Lane(id_, "points", _sort_items(self._marks.get(id_, {}).values()))
                for id_ in marked
            ),
        )

    def _course(self, event: Event, fields: Mapping[str, Any]) -> None:
        at = event.t_ns
        match event.kind:
            case "part.started":
                self._end_part(at, "")
                self._part = LaneItem("part", at, at, "", event.part_id, None, "", event.seq)
            case "part.ended":
                self._end_part(at, str(fields["outcome"]))
            case "part.restarted":
                self._end_trial(at, "")
            case "trial.ended":
                self._end_trial(at, str(fields["outcome"]))

    def _end_trial(self, at: int, outcome: str) -> None:
        if self._trial is not None:
            self._screen.append(replace(self._trial, t1_ns=at, outcome=outcome))
            self._trial = None
        times, values = self._curve
        if values and not isnan(values[-1]):
            times.append(at)
            values.append(float("nan"))

    def _end_part(self, at: int, outcome: str) -> None:
        self._end_trial(at, "")
        if self._part is not None:
            self._screen.append(replace(self._part, t1_ns=at, outcome=outcome))
            self._part = None

    def _hold(self, event: Event, fields: Mapping[str, Any]) -> None:
        """What stops the session, each for itself, as `Pauses` knows it."""
        if event.kind == STALLED:
            if fields["who"] != "recorder":
                t0, t1 = int(fields["from_ns"]), int(fields["from_ns"]) + int(fields["duration_ns"])
                stall = LaneItem("stall", t0, t1, "", *event.key[:2], "", event.seq, fields)
                self._held.append(stall)
            return
        before = self._pauses.holds
        self._pauses = self._pauses.apply(event)
        now = self._pauses.holds
        for hold in before - now:
            if (item := self._open.pop(hold, None)) is not None:
                self._held.append(replace(item, t1_ns=event.t_ns))
        for hold in now - before:
            gap_from = fields.get("gap_from_ns")
            kind: str = hold
            if gap_from is not None:
                kind = "gap"
            elif hold == "pause" and event.part_id is not None:
                kind = "break"
            at = event.t_ns if gap_from is None else int(gap_from)
            self._open[hold] = LaneItem(
                kind, at, at, "", event.part_id, event.trial, "", event.seq, fields
            )

    def _hear(self, event: Event, fields: Mapping[str, Any]) -> None:
        if event.kind == "audio.state":
            since, state = int(fields["since_ns"]), str(fields["state"])
            self._end_state(since)
            if state in _NOTICED:
                self._heard = LaneItem(state, since, since, "", event.part_id, seq=event.seq)
        else:
            self._end_state(event.t_ns)

    def _end_state(self, at: int) -> None:
        if self._heard is not None:
            self._sound.append(replace(self._heard, t1_ns=max(at, self._heard.t0_ns)))
            self._heard = None

    def _note(self, lane: LaneId, event: Event, fields: Mapping[str, Any]) -> None:
        if event.kind == "screen.changed" and fields["change"] != "removed":
            return
        at = int(fields.get("typing_began_ns", event.t_ns))
        text = str(fields.get("text", fields.get("meaning", "")))
        item = LaneItem(event.kind, at, at, text, event.part_id, event.trial, "", event.seq, fields)
        self._marks.setdefault(lane, {})[event.seq] = item
        self._first[event.seq] = lane, item

    def _correct(self, seq: int, text: str) -> None:
        """What was taken back has no mark; what only the study words gets its own words back."""
        if seq not in self._first:
            return
        lane, item = self._first[seq]
        self._marks[lane].pop(seq, None)
        if text:
            words = text if lane == "notes" else item.text
            self._marks[lane][seq] = replace(item, text=words)


def _sort_items(items: Collection[LaneItem]) -> tuple[LaneItem, ...]:
    """By time; what lasts longer first, so that a trial lies on its part."""
    return tuple(sorted(items, key=lambda item: (item.t0_ns, -item.t1_ns, item.seq)))


def _arrays(columns: tuple[array[int], array[float]]) -> tuple[Any, Any]:
    times, values = columns
    return np.array(times, dtype=np.int64), np.array(values, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class CodedStretch:
    """A stretch that was given a code, or a unit with words that has none.

    Attributes
    ----------
    session : the folder of its session.
    t0_ns, t1_ns : session time.
    tier, code : of the codebook; empty if nobody gave a code.
    value : on a tier with values.
    raters : who gave it, by name; several where they agree.
    unread : whether some of these words were not read against the sound.
    memo : what the raters remarked.
    conditions : what the participant got, by the study's variables.
    outcome : how the trial ended in which it lies; empty if it lies in none.
    """

    session: Path
    participant: str
    t0_ns: int
    t1_ns: int
    tier: str
    code: str
    value: int | None = None
    raters: tuple[str, ...] = ()
    text: str = ""
    unread: bool = False
    memo: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found in a study, and sessions that could not be looked at, each with why."""

    stretches: tuple[CodedStretch, ...] = ()
    problems: tuple[str, ...] = ()


def retrieve(study: Path) -> Retrieved:
    """Every stretch of a study that has a code or words, session by session in order of time.

    Parameters
    ----------
    study : the folder of its sessions. Sessions of which the participant withdrew are left out.
    """
    stretches: list[CodedStretch] = []
    problems: list[str] = []
    for path in places(study):
        try:
            record = open_record(path)
            if not record.withdrawn:
                stretches.extend(find_coded_stretches(record, path, annotations_of(record)))
        except LabappError as error:
            problems.append(f"{path.name}: {error.what}")
    return Retrieved(tuple(stretches), tuple(problems))


def find_coded_stretches(
    record: Record, path: Path, annotations: SessionAnnotations
) -> Iterator[CodedStretch]:
    """The stretches of a session in order of time; a code that several raters gave is one."""
    together: dict[tuple[object, ...], list[Mark]] = {}
    planted = find_planted_marks(annotations)
    for rater in annotations.raters.values():
        for mark in rater.marks if not rater.machine or rater is planted else ():
            place = mark.unit if mark.unit is not None else (mark.t0_ns, mark.t1_ns)
            together.setdefault((place, mark.tier, mark.code, mark.value), []).append(mark)
    coded = {place for place, *_ in together}
    for unit in annotations.segmentation.units:
        if unit.id in annotations.texts and unit.id not in coded:
            mark = Mark("", "", "", "", unit.t0_ns, unit.t1_ns, unit.id)
            together[(unit.id,)] = [mark]
    if not together:
        return
    items = (item for lane in lanes_of(record) if lane.id == "screen" for item in lane.items)
    trials = sorted((i for i in items if i.kind == "trial"), key=lambda item: item.t0_ns)
    begins = [trial.t0_ns for trial in trials]
    conditions = {
        str(name): str(value)
        for name, value in record.planned.assignment.items()
        if isinstance(value, str | int | float)
    }
    for marks in sorted(together.values(), key=lambda group: (group[0].t0_ns, group[0].code)):
        first = marks[0]
        at = bisect_right(begins, first.t0_ns) - 1
        inside = at >= 0 and first.t0_ns < trials[at].t1_ns
        texts = _texts(annotations, first)
        yield CodedStretch(
            path,
            record.participant,
            first.t0_ns,
            first.t1_ns,
            first.tier,
            first.code,
            first.value,
            tuple(sorted({mark.rater for mark in marks if mark.rater})),
            " ".join(text.text for text in texts),
            not all(text.reviewed for text in texts),
            " · ".join(mark.memo for mark in marks if mark.memo),
            conditions,
            trials[at].outcome if inside else "",
        )


def _texts(annotations: SessionAnnotations, mark: Mark) -> list[Text]:
    """The words of a unit, or of all units that a span or a moment has time of."""
    end_ns = max(mark.t1_ns, mark.t0_ns + 1)
    units = [
        unit.id
        for unit in annotations.segmentation.units
        if unit.t0_ns < end_ns and mark.t0_ns < unit.t1_ns
    ]
    touched = units if mark.unit is None else [mark.unit]
    return [annotations.texts[unit] for unit in touched if unit in annotations.texts]
