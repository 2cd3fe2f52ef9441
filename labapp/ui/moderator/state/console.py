"""Everything the console folds from the journal, in one place.

Deviations are folded by the analysis: what the console lists is what the tables will hold. In the
timeline all times are working time in ns, so that a pause or a crash gap is one line and not a
hole; masked pictures are many and short, and a sequence of them is one block. In the plan, parts
that belong together are one row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, cast

from labapp.analysis.deviations import Deviation, Deviations
from labapp.base import discovery
from labapp.base.clock import NS
from labapp.base.messages import decode_message
from labapp.record.events import Event, payload_of
from labapp.record.events.registry import Pauses
from labapp.record.events.remote import OBSERVER, Afar, ModeratorChanged, RemoteJoined
from labapp.session.machine import SessionMachine, SessionState
from labapp.study.inclusion import LEFT_OUT
from labapp.study.plugins import registry
from labapp.study.plugins.machine import limit_ns as stage_limit_ns
from labapp.study.plugins.part import PlannedPart, introduces, with_trials
from labapp.ui.language import (
    N_,
    WITHDREW,
    N_all,
    counted,
    number,
    tr,
    tr_known,
    translate_message,
    without_names,
)
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.alarms import Alarms, describe_alarm
from labapp.ui.moderator.wording import detail_of, every_mark, gap, pause_reason, words_of


class WorkTime:
    """A fold over the journal; all times in ns."""

    def __init__(self) -> None:
        self.pauses = Pauses()
        self.closed: list[tuple[int, int]] = []

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        before = self.pauses
        self.pauses = before.apply(event)
        if (closed := self.pauses.stretch_since(before)) is not None:
            self.closed.append(closed)

    def working_ns(self, t_ns: int) -> int:
        """Working time at any session time so far."""
        if self.pauses.open_since_ns is not None:
            t_ns = min(t_ns, self.pauses.open_since_ns)
        return t_ns - sum(min(t_ns, end) - start for start, end in self.closed if start < t_ns)


class Fold:
    """Made by a console for the parts of a task; `PartWords.fold` names it."""

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event, after which the working time is `work`; True if what is shown beside
        the mirror is to be drawn again now, and not with the participant's next change."""
        raise NotImplementedError


Veil = Callable[[Event], Event]
UNNAMED = "a model"


def no_veil(event: Event) -> Event:
    """Everything as it is."""
    return event


def veil_of(models: Iterable[str]) -> Veil:
    """Takes ids of models out of what an alarm says, also where they are folders of a path."""
    unnamed = without_names(models, UNNAMED)

    def veil(event: Event) -> Event:
        if event.kind != "alarm.raised" or unnamed is str:
            return event
        detail = unnamed(str(event.payload["detail"]))
        return event._replace(payload={**event.payload, "detail": detail})

    return veil


ENOUGH = 50


class Latency:
    """A fold over dial.moved and picture.decoded; the last 500 pictures count."""

    def __init__(self) -> None:
        self._moved: dict[int, int] = {}
        self._taken_ns: deque[int] = deque(maxlen=500)

    def apply(self, event: Event) -> bool:
        """Take in an event; True when there is a new measurement."""
        if event.kind == "dial.moved":
            self._moved[int(event.payload["z_seq"])] = event.t_ns
        elif event.kind == "picture.decoded":
            z_seq = int(event.payload["z_seq"])
            began = self._moved.pop(z_seq, None)
            # A slow decoder leaves out the states that were passed by.
            self._moved = {seq: t_ns for seq, t_ns in self._moved.items() if seq > z_seq}
            if began is not None:
                self._taken_ns.append(event.t_ns - began)
                return True
        elif event.kind == "trial.drawn":
            self._moved.clear()
        return False

    def p99_ms(self) -> float | None:
        """99th percentile in ms, or None while there are too few to tell."""
        if len(self._taken_ns) < ENOUGH:
            return None
        ordered = sorted(self._taken_ns)
        return ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))] / 1e6


class RemotePeople:
    """A fold over what happens at other computers: who takes part, who moderates (0: the session's
    own computer), and which notes were taken there."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.moderator = 0
        self._afar = Afar()

    def apply(self, event: Event) -> None:
        """Take in an event."""
        if event.kind == "segment.started":
            self.names, self.moderator = {}, 0
        elif event.kind.startswith(("remote.", "moderator.")):
            payload = payload_of(event)
            self._afar.apply(event, payload)
            match payload:
                case RemoteJoined():
                    self.names[payload.member] = payload.name
                case ModeratorChanged():
                    self.moderator = payload.member or 0

    def place(self, note: Note, event: Event, work: WorkTime) -> Note:
        """A note as it was taken: an observer's with a name, a flag at the time of its key."""
        asked = self._afar.asked(event)
        if asked is None:
            return note
        t_ns = min(note.t_ns, asked.asked_ns)
        by = self.names.get(asked.member, "") if self._afar.source(event) == OBSERVER else ""
        return replace(note, by=by, t_ns=t_ns, working_ns=work.working_ns(t_ns))


F = TypeVar("F", bound=Fold)


class ConsoleState:
    """apply events in the journal's order; a resumed session applies the past ones first.

    changed: names of what changed since the console last cleared it (alarms, beside, deviations,
    notes, sound, timeline, warmed), so that only those widgets are brought up to date.
    pause_reason: of the last pause; withdrawal: what is to become of the data of somebody who
    withdrew, else empty; not_counted: the study's rules that a session at its end does not meet.
    lsl: why events are not sent over LSL, empty if they are; None if nobody asked for it.
    veil: what a blind moderator is not told is taken out of each event.
    """

    def __init__(
        self, parts: Sequence[PlannedPart], past: Iterable[Event] = (), veil: Veil = no_veil
    ) -> None:
        self._veil = veil
        self.work = WorkTime()
        self.alarms = Alarms()
        wheres = dict.fromkeys(words_of(part).fold for part in parts)
        self._folds = [discovery.load(where)() for where in wheres if where]
        self.latency = Latency()
        self.timeline = TimelineState(parts)
        self.sound = Sound()
        self.notes: list[Note] = []
        self.deviations = DeviationLog({part.id: part.title for part in parts})
        self.warmed: dict[str, tuple[str, float]] = {}
        self.changed: set[str] = set()
        self.last_seq = 0
        self.ended_ns: int | None = None
        self.pause_reason = self.withdrawal = ""
        self.remote = RemotePeople()
        self.lsl: str | None = None
        self.not_counted: tuple[str, ...] = ()
        for event in past:
            self.apply(event)

    def fold(self, kind: type[F]) -> F:
        """What a task of the plan makes of the events so far."""
        return next(fold for fold in self._folds if isinstance(fold, kind))

    def unveil(self) -> None:
        """Take in later events as they are."""
        self._veil = no_veil

    def apply(self, event: Event) -> None:
        """Take in the next event; one that was applied before is left alone."""
        if event.seq <= self.last_seq:
            return
        self.last_seq = event.seq
        event = self._veil(event)
        self.work.apply(event)
        if self.alarms.apply(event):
            self.changed.add("alarms")
        for fold in self._folds:
            if fold.apply(event, self.work):
                self.changed.add("beside")
        if self.latency.apply(event):
            self.changed.add("latency")
        if self.timeline.apply(event, self.work):
            self.changed.add("timeline")
        sound = self.sound.apply(event)
        if sound != self.sound:
            self.sound = sound
            self.changed.add("sound")
        if (note := note_of(event, self.work)) is not None:
            self.notes.append(self.remote.place(note, event, self.work))
            self.changed.add("notes")
        self.remote.apply(event)
        if event.kind == "note.corrected" and correct(self.notes, event):
            self.changed.add("notes")
        if self.deviations.apply(event):
            self.changed.add("deviations")
        if event.kind in ("session.completed", "session.ended"):
            self.ended_ns = event.t_ns
        if event.kind == "session.reopened":
            self.ended_ns, self.withdrawal, self.not_counted = None, "", ()
        if event.kind == "session.ended":
            self.withdrawal = str(event.payload.get("withdrawal", ""))
        if event.kind == "inclusion.decided":
            self.not_counted = tuple(map(str, event.payload["failed"]))
        if event.kind in ("session.paused", "pause.explained", "segment.started"):
            self.pause_reason = str(event.payload.get("reason", ""))
        self._apply_lsl(event)
        if event.kind == "decoder.warmed":
            p = event.payload
            self.warmed[str(p["model"])] = (str(p["device"]), float(p["p99_ms"]))
            self.changed.add("warmed")

    def _apply_lsl(self, event: Event) -> None:
        p, before = event.payload, self.lsl
        if event.kind == "segment.started":
            self.lsl = None
        elif event.kind == "lsl.opened":
            self.lsl = ""
        elif event.kind == "lsl.off":
            self.lsl = decode_message(str(p["reason"]), p.get("message"))
        elif event.kind == "alarm.raised" and p["code"] == "lsl_failed":
            self.lsl = decode_message(str(p["detail"]), p.get("message"))
        if self.lsl != before:
            self.changed.add("sound")


FREQUENT = frozenset({"dial.moved", "picture.decoded", "audio.block"})
"""Kinds that are no deviations and come by the ten thousand."""

AWAY = "focus_lost"
WORDS = {
    **N_all(
        "deviation",
        *("interrupted", "stage_restarted", "part_skipped", "skip_taken_back", "ended_early"),
        *("unfinished", "attempt_interrupted", "unblinded", "aligned_at_start", "no_sound"),
        *("sound_lost", "microphone_lost", "close_requested"),
    ),
    "paused": N_("state.paused"),
    "stalled": "",
    "clock_changed": N_("alarm.clock_changed"),
    "withdrawn": N_("deviation.withdrew"),
    "noted": "",
    "noted_taken_back": N_("deviation.taken_back"),
    "sound_zeros": N_("deviation.zeros"),
    "sound_clipping": N_("alarm.clipping"),
    "screen_changed": N_("deviation.screen"),
    AWAY: N_("deviation.keyboard_away"),
}
KEPT_DATA = {"keep": N_("deviation.data_kept"), "delete": N_("deviation.data_deleted")}
SKIPPED = {"trial": N_("deviation.skipped_question"), "part": N_("deviation.skipped_part")}
ADDED, REMOVED = N_("deviation.screen_added"), N_("deviation.screen_removed")
WAYS = {"escape": N_("deviation.by_escape"), "close": N_("deviation.by_close")}


class DeviationLog:
    """deviations: in the order of their events. titles: of the parts of the plan, by their ids."""

    def __init__(self, titles: Mapping[str, str] | None = None) -> None:
        self._fold = Deviations()
        self.deviations = self._fold.deviations
        self._titles = titles or {}
        self._details: dict[int, str] = {}

    def apply(self, event: Event) -> bool:
        """Take in the next event; True when `deviations` changed."""
        if event.kind in FREQUENT or not self._fold.apply(event, payload_of(event)):
            return False
        if detail := _detail(event):
            self._details[event.seq] = detail
        return True

    def lines(self) -> list[tuple[Deviation, str]]:
        """What is listed, each with its words: every note takes the keyboard from the participant's
        window for a moment, so these times are one line, at the latest of them."""
        away = [deviation for deviation in self.deviations if deviation.kind == AWAY]
        listed = [d for d in self.deviations if d.kind != AWAY or d is away[-1]]
        return [(d, self._together(away) if d.kind == AWAY else self.words_of(d)) for d in listed]

    def words_of(self, deviation: Deviation) -> str:
        """One deviation: what, the detail, how long."""
        told = self._details.get(deviation.seq or 0)
        if deviation.kind == "part_skipped" and (title := self._titles.get(deviation.stage or "")):
            told = wording.part_title(title)
        return _words(deviation, told)

    def _together(self, away: list[Deviation]) -> str:
        if len(away) == 1:
            return self.words_of(away[0])
        in_all = sum(deviation.duration_s or 0.0 for deviation in away)
        return tr(
            "deviation.times",
            what=tr(WORDS[AWAY]),
            n=len(away),
            time=wording.short_time(round(in_all * NS)),
        )


def _detail(event: Event) -> str:
    """The detail of a deviation that an event tells of, where it is a sentence with values."""
    payload = event.payload
    match event.kind:
        case "segment.started":
            return tr("deviation.segment", number=payload["segment"])
        case "program.stalled":
            return wording.describe_stall(payload)
        case "clock.changed":
            return wording.clock_changed(payload)
        case "part.restarted":
            return tr("deviation.attempt", number=payload["attempt"])
        case "screen.changed" if payload["change"] in ("added", "removed"):
            form = ADDED if payload["change"] == "added" else REMOVED
            return tr(form, screen=payload["screen"])
        case "alarm.raised" | "audio.off":
            return detail_of(payload)
        case "audio.device_lost":
            return f"{payload['device']}: {detail_of(payload)}"
    return ""


def _words(deviation: Deviation, told: str | None) -> str:
    """told: the detail in the language of the console, where its event says it."""
    kind = deviation.kind
    key = WORDS.get(kind)
    text = kind.replace("_", " ").capitalize() if key is None else key and tr(key)
    head, _, rest = deviation.detail.partition(": ")
    match kind:
        case "noted" | "noted_taken_back":
            detail = deviation.detail
        case "paused":
            detail = pause_reason(deviation.detail)
        case "alarm":
            text, detail = describe_alarm(head)[1], rest if told is None else told
        case "withdrawn":
            reason = "" if rest == WITHDREW else translate_message(rest)
            detail = ": ".join(part for part in (tr_known(head, KEPT_DATA), reason) if part)
        case "sound_lost":
            detail = gap(deviation.detail)
        case "skip_taken_back":
            detail = tr_known(deviation.detail, SKIPPED)
        case "close_requested":
            detail = tr_known(deviation.detail, WAYS)
        case _:
            detail = translate_message(deviation.detail) if told is None else told
    line = ": ".join(part for part in (text, detail) if part)
    if deviation.duration_s is None or (kind == "stalled" and told is not None):
        return line  # of a standstill its words say how long it lasted
    if kind == "sound_lost":
        return f"{line}, {number(f'{deviation.duration_s:.2g}')} s"
    return f"{line}, {wording.short_time(round(deviation.duration_s * NS))}"


@dataclass(frozen=True, slots=True)
class Sound:
    """device is empty before the first audio.started; off: why there is no sound, or None.
    lost_frames counts the frames of this segment that were filled with silence; heard: a voice came
    through this microphone."""

    device: str = ""
    host_api: str = ""
    rate: int = 0
    off: str | None = None
    lost: bool = False
    lost_frames: int = 0
    state: str | None = None
    heard: bool = False

    def apply(self, event: Event) -> Sound:
        """The state after an event."""
        p = event.payload
        match event.kind:
            case "segment.started":
                return Sound()
            case "audio.started":
                return Sound(p["device"], p["host_api"], int(p["nominal_rate"]))
            case "audio.off":
                return Sound(off=decode_message(str(p["reason"]), p.get("message")))
            case "audio.gap":
                return replace(self, lost_frames=self.lost_frames + int(p["frames"]))
            case "audio.device_lost":
                return replace(self, lost=True, heard=False)
            case "audio.device_back":
                return replace(self, lost=False, device=p["device"])
            case "session.completed" | "session.ended":
                return replace(self, lost=False)
            case "audio.state":
                return replace(self, state=p["state"], heard=self.heard or p["state"] == "heard")
        return self


MarkKind = Literal[
    "note", "flag", "prompt", "question", "answer", "deviation", "alarm", "pause", "gap"
]


@dataclass(frozen=True, slots=True)
class TimelineBlock:
    """A part or a question; end_ns and outcome are None while it runs. of: index of its part."""

    start_ns: int
    label: str
    of: int
    end_ns: int | None = None
    outcome: str | None = None

    def end_or(self, now_ns: int) -> int:
        """Where it ends, or now."""
        return now_ns if self.end_ns is None else self.end_ns


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """seq: of the event that noted it, where it can be corrected."""

    at_ns: int
    kind: MarkKind
    text: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Hearing:
    """A change of what the microphone hears (`audio.state`)."""

    at_ns: int
    state: str


class TimelineState:
    """parts, trials, marks, hearing: in the order of their events. version counts the changes."""

    def __init__(self, parts: Sequence[PlannedPart]) -> None:
        self._plan = parts
        lanes = frozenset().union(*(words_of(part).lanes(part) for part in parts))
        self.answers, self.asks = "answer" in lanes, "question" in lanes
        self._shown = registry.shown_kinds()
        self.parts: list[TimelineBlock] = []
        self.trials: list[TimelineBlock] = []
        self.marks: list[TimelineMark] = []
        self._first: dict[int, TimelineMark] = {}
        self.hearing: list[Hearing] = []
        self.version = 0

    def apply(self, event: Event, work: WorkTime) -> bool:
        """Take in an event (after `work` did); True when the timeline changed."""
        changed = self._apply(event, work, work.working_ns(event.t_ns))
        self.version += changed
        return changed

    def _apply(self, event: Event, work: WorkTime, at: int) -> bool:
        p = event.payload
        match event.kind:
            case "part.started":
                index = int(p["index"])
                self.parts.append(
                    TimelineBlock(at, wording.part_title(self._plan[index].title), index)
                )
            case "part.ended":
                _close(self.parts, at, str(p["outcome"]))
                _close(self.trials, at, None)
            case kind if kind in self._shown and self.parts:
                return self._trial(event.trial or 1, at)
            case "trial.ended":
                return self._end_trial(event.trial or 1, at, str(p["outcome"]))
            case "part.restarted":
                _close(self.trials, at, None)
            case "session.paused":
                self.marks.append(
                    TimelineMark(at, "pause", wording.describe_pause(str(p["reason"])))
                )
            case "pause.explained":
                return self._explain_pause(str(p["reason"]))
            case "session.resumed":
                self._close_pause(work)
            case "segment.started" if p["gap_from_ns"] is not None:
                self.marks.append(TimelineMark(at, "gap", tr("timeline.gap")))
            case "audio.state":
                since = work.working_ns(int(p["since_ns"]))
                self.hearing.append(Hearing(since, str(p["state"])))
            case kind if (text := wording.alarm_text(kind, p)) is not None:
                self.marks.append(TimelineMark(at, "alarm", text))
            case "skip.taken_back":
                self.marks.append(TimelineMark(at, "deviation", tr("timeline.skip_taken_back")))
            case kind if (words := every_mark().get(kind)) is not None and self.parts:
                said = words.mark(self._plan[self.parts[-1].of], p)
                self.marks.append(TimelineMark(at, cast(MarkKind, words.marks[kind]), said))
            case "deviation.noted":
                since = work.working_ns(int(p["typing_began_ns"]))
                self._add_mark(TimelineMark(since, "deviation", p["text"], event.seq))
            case "note.corrected":
                return self._correct_mark(int(p["seq"]), str(p["text"]))
            case "audio.gap":
                lost = counted(int(p["frames"]), "deviation.frames", cause=gap(str(p["cause"])))
                self.marks.append(TimelineMark(at, "alarm", lost))
            case _:
                return self._note(event, work)
        return True

    def _trial(self, trial: int, at: int) -> bool:
        """A trial is on the screen: its block begins, or goes on."""
        index = self.parts[-1].of
        part = self._plan[index]
        words = words_of(part)
        label = words.trial(part, trial)
        last = self.trials[-1] if self.trials else None
        open_ = last is not None and last.end_ns is None
        if open_ and words.joins and last is not None and (last.of, last.label) == (index, label):
            return False
        _close(self.trials, at, None)  # an attempt that a crash cut off has no end
        self.trials.append(TimelineBlock(at, label, index))
        return True

    def _end_trial(self, trial: int, at: int, outcome: str) -> bool:
        part = self._plan[self.parts[-1].of] if self.parts else None
        if part is not None and words_of(part).goes_on(part, trial, outcome):
            return False
        _close(self.trials, at, outcome)
        return True

    def _note(self, event: Event, work: WorkTime) -> bool:
        note = note_of(event, work)
        if note is None:
            return False
        match note.kind:
            case "flag":
                text = tr("timeline.flag", number=note.number, meaning=note.text)
            case "prompt":
                text = tr("timeline.prompt", prompt=note.text)
            case "question":
                text = tr("interview.asked", question=note.text)
            case _:
                text = note.text
        self._add_mark(TimelineMark(note.working_ns, note.kind, text, event.seq))
        return True

    def _add_mark(self, mark: TimelineMark) -> None:
        """Keep what a mark of the moderator was at first, for it may be corrected."""
        self._first[mark.seq] = mark
        self.marks.append(_translate_mark(mark))

    def _correct_mark(self, seq: int, text: str) -> bool:
        """What was taken back has no mark; what only the study words gets its own words back."""
        mark = self._first.get(seq)
        if mark is None:
            return False
        self.marks = [mark for mark in self.marks if mark.seq != seq]
        if text:
            words = text if mark.kind in ("note", "deviation") else mark.text
            self.marks.append(_translate_mark(replace(mark, text=words)))
        return True

    def _explain_pause(self, reason: str) -> bool:
        """Say at the mark of the pause why it was made."""
        place = self._last("pause")
        if place is not None:
            self.marks[place] = replace(self.marks[place], text=wording.describe_pause(reason))
        return place is not None

    def _close_pause(self, work: WorkTime) -> None:
        """Tell at the mark how long the pause or gap was."""
        if work.closed and (place := self._last("pause", "gap")) is not None:
            start, end = work.closed[-1]
            mark = self.marks[place]
            text = f"{mark.text}, {wording.short_time(end - start)}"
            self.marks[place] = replace(mark, text=text)

    def _last(self, *kinds: str) -> int | None:
        """The place of the last mark of these kinds."""
        places = (place for place, mark in enumerate(self.marks) if mark.kind in kinds)
        return max(places, default=None)


def _translate_mark(mark: TimelineMark) -> TimelineMark:
    if mark.kind != "deviation":
        return mark
    return replace(mark, text=tr("deviation.noted", said=mark.text))


def _close(blocks: list[TimelineBlock], at: int, outcome: str | None) -> None:
    if blocks and blocks[-1].end_ns is None:
        blocks[-1] = replace(blocks[-1], end_ns=at, outcome=outcome)


RowState = Literal["todo", "current", "done", "skipped", "left_out"]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """parts: indices into the plan. title is what is done, detail what it is done with."""

    title: str
    detail: str
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A row as it stands: progress (`4 / 7`, `reading`), and its working time so far in ns.

    left_ns: working time until its time limit, or the whole limit before it begins; None if the
    study sets none.
    """

    row: PlanRow
    state: RowState
    progress: str
    working_ns: int | None
    left_ns: int | None = None


def rows_of(parts: Sequence[PlannedPart], *, blind: bool = False) -> tuple[PlanRow, ...]:
    """Rows for a plan. The row of a stage includes the text before it and the questionnaires about
    it.

    blind: representations are not named.
    """
    rows: list[PlanRow] = []
    waiting: list[int] = []
    owner: dict[str, int] = {}
    for index, part in enumerate(parts):
        if (about := part.belongs_to()) is not None and about in owner:
            row = rows[owner[about]]
            rows[owner[about]] = PlanRow(row.title, row.detail, (*row.parts, index))
        elif introduces(parts, index):
            waiting.append(index)
        else:
            detail = words_of(part).detail(part, blind=blind)
            if part.has_trials:
                owner[part.id] = len(rows)
            rows.append(PlanRow(part.title, detail, (*waiting, index)))
            waiting = []
    return tuple(rows)


def view_of(
    rows: Sequence[PlanRow],
    machine: SessionMachine,
    state: SessionState,
    work: WorkTime,
    now_ns: int,
) -> tuple[PlanView, ...]:
    """Every row as it stands at session time now_ns."""
    views = []
    for row in rows:
        records = [
            record for index in row.parts if (record := state.records[index]).outcome != LEFT_OUT
        ]
        started = next((r.started_ns for r in records if r.started_ns is not None), None)
        outcomes = [r.outcome for r in records]
        standing: RowState
        if not records:
            standing, length = LEFT_OUT, None
        elif started is None:  # or skipped before it began
            standing, length = "todo" if None in outcomes else "skipped", None
        elif None in outcomes and state.ended is None:
            standing, length = "current", _length(work, started, now_ns)
        else:
            # A part that was going on when the session ended has no end of its own.
            begun = [r for r in records if r.started_ns is not None]
            ends = [now_ns if r.ended_ns is None else r.ended_ns for r in begun]
            length = _length(work, started, max(ends))
            whole = all(outcome in ("completed", "time_expired") for outcome in outcomes)
            standing = "done" if whole else "skipped"
        progress = progress_of(machine, state) if standing == "current" else ""
        if standing == LEFT_OUT:
            progress = tr(wording.OUTCOMES[LEFT_OUT])
        elif standing == "skipped":
            wrong = (o for o in outcomes if o not in ("completed", "time_expired"))
            progress = tr(wording.OUTCOMES.get(next(wrong) or "", N_("outcome.unfinished")))
        left = None
        if standing == "todo":
            limits = [limit_of(machine.parts[index]) for index in row.parts]
            left = sum(filter(None, limits)) or None
        elif standing == "current":
            left = left_of(machine, state, work.working_ns(now_ns))
        views.append(PlanView(row, standing, progress, length, left))
    return tuple(views)


def limit_of(part: PlannedPart) -> int | None:
    """The time limit of a part in ns; None if it has none."""
    limits = (trials.time_limit_s for trials in with_trials([part]))
    return next((round(limit_s * NS) for limit_s in limits if limit_s is not None), None)


def left_of(machine: SessionMachine, state: SessionState, working_ns: int) -> int | None:
    """Working time until the part on the screen reaches its time limit; None if it has none."""
    part = machine.part(state)
    for trials in with_trials([] if part is None else [part]):
        limit_ns = stage_limit_ns(trials, state.part_state)
        return None if limit_ns is None else max(0, limit_ns - working_ns)
    return None


def _length(work: WorkTime, start_ns: int, end_ns: int) -> int:
    return work.working_ns(end_ns) - work.working_ns(start_ns)


def progress_of(machine: SessionMachine, state: SessionState) -> str:
    """How far the part on the screen is, in a word or two."""
    if not state.running:
        return ""
    part, task = machine.parts[state.index], machine.tasks[state.index]
    return words_of(part).progress(part, task, state.part_state)


NoteKind = Literal["note", "flag", "prompt", "question"]


@dataclass(frozen=True, slots=True)
class Note:
    """working_ns: working time at which its typing began; t_ns: the same in session time; text: how
    it reads now, empty if it was taken back; first: how it read at first; stage: part that ran;
    by: the observer who wrote it, empty for the moderator.
    """

    seq: int
    kind: NoteKind
    working_ns: int
    t_ns: int
    text: str
    number: int | None = None
    first: str = ""
    stage: str | None = None
    by: str = ""

    @property
    def taken_back(self) -> bool:
        return not self.text

    @property
    def corrected(self) -> bool:
        """Whether its text has been changed."""
        return self.text != self.first


def note_of(event: Event, work: WorkTime) -> Note | None:
    """The entry of a note, flag, prompt or interview question; None for any other event."""
    payload, at_ns = event.payload, event.t_ns
    kind: NoteKind
    number: int | None = None
    match event.kind:
        case "note.added":
            kind, text, at_ns = "note", payload["text"], int(payload["typing_began_ns"])
        case "flag.added":
            kind, text, number = "flag", payload["meaning"], int(payload["number"])
        case "prompt.given":
            kind, text = "prompt", payload["text"]
        case "interview.question_asked":
            kind, text, number = "question", payload["text"], int(payload["question"])
        case _:
            return None
    work_ns = work.working_ns(at_ns)
    return Note(event.seq, kind, work_ns, at_ns, text, number, text, event.part_id)


def correct(notes: list[Note], event: Event) -> bool:
    """Take in a note.corrected event; True when one of the notes reads otherwise now."""
    seq = int(event.payload["seq"])
    for place, note in enumerate(notes):
        if note.seq == seq:
            notes[place] = replace(note, text=str(event.payload["text"]))
            return True
    return False
