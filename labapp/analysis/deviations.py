"""Everything that did not go as planned, with when and for how long: a fold over one session.

Also the session as a whole: how long it took, how it ended, and what sound there is.

What the moderator wrote down, set and asked, with every correction: a fold over one session.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload, Source
from labapp.record.events.lifecycle import (
    Agreement,
    AlarmCleared,
    AlarmRaised,
    BlindingSet,
    ClockChanged,
    CloseRequested,
    CloseWithdrawn,
    DeviationNoted,
    FlagAdded,
    GuideQuestion,
    NoteAdded,
    NoteCorrected,
    PartEnded,
    ParticipantSimulated,
    PartRestarted,
    PartSkipped,
    PartStarted,
    PauseExplained,
    ProgramStalled,
    PromptGiven,
    QuotaMet,
    ScreenChanged,
    SegmentStarted,
    SessionCompleted,
    SessionEnded,
    SessionPaused,
    SessionPlanned,
    SessionReopened,
    SessionResumed,
    SkipRequested,
    SkipTakenBack,
    WindowFocus,
    cause_of,
)
from labapp.record.events.registry import Pauses, WorkingTime, frequent_kinds
from labapp.record.events.remote import Afar
from labapp.record.events.trials import TargetShown
from labapp.record.events.voice import (
    AudioBlock,
    AudioDeviceBack,
    AudioDeviceLost,
    AudioGap,
    AudioOff,
    AudioStarted,
    AudioState,
)
from labapp.study.plugins import registry

MEANINGS = {
    "paused": "the moderator paused the session",
    "interrupted": "the program stopped (crash or closed) and the session was resumed later",
    "stalled": "the program, the computer or the sound recorder froze for more than a second; "
    "detail says which, and whether durations exclude that time",
    "clock_changed": "the computer's date and time were set; detail says by how much, or that it "
    "is not known how long an interruption lasted",
    "stage_restarted": "a stage that was interrupted began again with its first question",
    "part_skipped": "the moderator skipped a part, or the rest of it; or the part asks about a "
    "stage that was skipped",
    "skip_taken_back": "the skipping of a question (trial) or of the rest of a part (part) was "
    "taken back",
    "ended_early": "the session was ended before its plan was complete; if there is a duration, "
    "the end was taken back after that time",
    "unfinished": "the journal stops before the session was completed or ended",
    "withdrawn": "the participant withdrew; detail says what happens to the data; if there is a "
    "duration, the decision was taken back after that time",
    "session_order": "the participant came for this session before an earlier one of the study; "
    "detail names it",
    "noted": "the moderator wrote down a deviation; detail has the text after corrections",
    "noted_taken_back": "the moderator wrote down a deviation (its text is in detail) and took "
    "it back",
    "unblinded": "from here on, the console names the representations to a moderator who was blind",
    "attempt_interrupted": "an attempt at a question was not finished, or a pause cut it off",
    "aligned_at_start": "the start and target of a question already matched",
    "alarm": "an alarm was raised",
    "no_sound": "the session was recorded without sound; if there is a duration, only for that "
    "time",
    "sound_lost": "sound was lost and filled with silence",
    "microphone_lost": "the microphone vanished",
    "sound_zeros": "the microphone gave no signal at all (muted, or not permitted)",
    "sound_clipping": "the microphone was overdriven",
    "screen_changed": "a screen was removed or added",
    "focus_lost": "the participant's window lost the keyboard focus",
    "close_requested": "the participant tried to leave the window, and was asked whether to "
    "stop; the duration is that of the question",
}
"""Every kind of deviation, in words."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """kind: one of MEANINGS; session_s: session time (pauses included); duration_s: how long it
    lasted, or how much sound was lost, None if that has no meaning or no end was recorded; seq:
    of its event, None if no event says it."""

    kind: str
    session_s: float
    detail: str = ""
    duration_s: float | None = None
    stage: str | None = None
    trial: int | None = None
    attempt: int | None = None
    seq: int | None = field(default=None, compare=False)


class Deviations:
    """What the events of one session say went otherwise than planned so far, in order: `found`.

    Attempts without an end and unfinished sessions are known from their own folds. A break of the
    plan is none, though the session stands still in it.
    """

    def __init__(self) -> None:
        self.deviations: list[Deviation] = []
        self._lasting: dict[str, int] = {}  # what is going on now, by name -> place in `deviations`
        self._rates: dict[str, int] = {}
        self._noted: dict[int, int] = {}  # seq of what was written down -> place in `deviations`
        self._trail = Trail()
        self._blind = False
        self._skip: Event | None = None
        self._running: str | None = None
        self._breaks: frozenset[str] = frozenset()
        self._elsewhere: frozenset[str] = frozenset()

    def apply(self, event: Event, payload: Payload) -> bool:
        """Take in the next event; True when `found` changed."""
        self._trail.apply(event, payload)
        if payload.of_trial and not isinstance(payload, TargetShown):
            return False  # nearly all of them
        if isinstance(payload, SessionPlanned):
            self._breaks = breaks_of(payload)
            self._elsewhere = elsewhere_of(payload)
        if isinstance(payload, PartStarted):
            self._running = event.part_id
        resting = self._running in self._breaks
        if resting and isinstance(payload, SessionPaused):
            return False
        if self._running in self._elsewhere and payload == WindowFocus(focused=False):
            return False
        if isinstance(payload, AudioStarted):
            self._rates[payload.file] = payload.nominal_rate
        if isinstance(payload, SegmentStarted):
            # Ends that fell into the gap were not recorded; only the gap itself goes on.
            self._lasting = {name: at for name, at in self._lasting.items() if name == "pause"}
        changed = False
        for ending in self._lasting.keys() & _ends(payload):
            at = self._lasting.pop(ending)
            lasted_s = event.t_ns / NS - self.deviations[at].session_s
            self.deviations[at] = replace(self.deviations[at], duration_s=lasted_s)
            changed = True
        if (deviation := _deviation(event, payload, self._rates)) is not None:
            if resting and isinstance(payload, SegmentStarted):
                # The break goes on with the program; session.resumed is the end of the break.
                deviation = replace(deviation, duration_s=event.t_ns / NS - deviation.session_s)
            elif (name := _lasts(event, payload)) is not None:
                self._lasting.setdefault(name, len(self.deviations))
            if isinstance(payload, DeviationNoted):
                self._noted[event.seq] = len(self.deviations)
                # Of what was on the screen when it was begun, as in the table of notes.
                stage, trial, attempt = self._trail.at(payload.typing_began_ns)
                self.deviations.append(
                    replace(deviation, stage=stage, trial=trial, attempt=attempt)
                )
            else:
                self.deviations.append(replace(deviation, stage=deviation.stage or self._running))
            changed = True
        if isinstance(payload, PauseExplained) and "pause" in self._lasting:
            at = self._lasting["pause"]
            if self.deviations[at].kind == "paused":
                self.deviations[at] = replace(self.deviations[at], detail=payload.reason)
                changed = True
        if isinstance(payload, NoteCorrected) and payload.seq in self._noted:
            at = self._noted[payload.seq]
            kind = "noted" if payload.text else "noted_taken_back"
            detail = payload.text or self.deviations[at].detail
            self.deviations[at] = replace(self.deviations[at], kind=kind, detail=detail)
            changed = True
        if isinstance(payload, SkipRequested):
            self._skip = event
        if isinstance(payload, SkipTakenBack) and (asked := self._skip) is not None:
            lasted_s = (event.t_ns - asked.t_ns) / NS
            began_s = asked.t_ns / NS
            self.deviations.append(
                Deviation("skip_taken_back", began_s, payload.what, lasted_s, *event.key, event.seq)
            )
            changed = True
        if isinstance(payload, BlindingSet):
            if self._blind and not payload.blind:
                unblinded = Deviation(
                    "unblinded", event.t_ns / NS, stage=self._running, seq=event.seq
                )
                self.deviations.append(unblinded)
                changed = True
            self._blind = payload.blind
        if isinstance(payload, PartEnded):
            self._running = None
        return changed


def fold_deviations(events: Iterable[tuple[Event, Payload]]) -> list[Deviation]:
    """The deviations of a whole session."""
    deviations = Deviations()
    for event, payload in events:
        deviations.apply(event, payload)
    return deviations.deviations


WHO = {"program": "the program", "computer": "the computer", "recorder": "the sound recorder"}
COUNTED = {True: "left out of durations", False: "counted in durations"}


def describe_stall(payload: ProgramStalled) -> str:
    """Who stood still, and what became of that time."""
    words = [WHO.get(payload.who, payload.who)]
    if payload.asleep_ns:
        words.append(f"asleep for {payload.asleep_ns / NS:.1f} s")
    if payload.who != "recorder" and payload.duration_ns:
        words.append(COUNTED[payload.left_out])
    return ", ".join(words)


def clock_words(payload: ClockChanged) -> str:
    """By how much the time of day was set, or that nobody knows."""
    way = "forward" if payload.by_s > 0 else "back"
    by = f"set {way} by {abs(payload.by_s):.1f} s"
    return by if payload.certain else f"{by} or more; how long the interruption lasted is not known"


def _ends(payload: Payload) -> frozenset[str]:
    """The names of what a payload puts an end to; none for most."""
    match payload:
        case SessionResumed():
            return frozenset({"pause", "leave"})
        case CloseWithdrawn() | SessionPaused() | SessionEnded() | SessionCompleted():
            return frozenset({"leave"})
        case SessionReopened():
            return frozenset({"end"})
        case AlarmCleared():
            return frozenset({f"alarm {cause_of(payload.code, payload.about)}"})
        case AudioDeviceBack():
            return frozenset({"device"})
        case AudioStarted():
            return frozenset({"device", "no sound"})
        case WindowFocus(focused=True):
            return frozenset({"focus"})
        case AudioState():
            return frozenset({"level"})
    return frozenset()


def _lasts(event: Event, payload: Payload) -> str | None:
    """The name under which a deviation goes on until something ends it."""
    match payload:
        case CloseRequested():
            return "leave" if event.v >= 2 else None  # earlier, its end was not written down
        case SessionEnded():
            return "end"
        case SessionPaused() | SegmentStarted():
            return "pause"
        case AlarmRaised():
            return f"alarm {cause_of(payload.code, payload.about)}"
        case AudioDeviceLost():
            return "device"
        case AudioOff():
            return "no sound"
        case WindowFocus():
            return "focus"
        case AudioState():
            return "level"
    return None


def _deviation(event: Event, payload: Payload, rates: Mapping[str, int]) -> Deviation | None:
    def make(
        kind: str, detail: str = "", duration_s: float | None = None, at_ns: int | None = None
    ) -> Deviation:
        at_s = (event.t_ns if at_ns is None else at_ns) / NS
        where = (event.part_id, event.trial, event.attempt)
        return Deviation(kind, at_s, detail, duration_s, *where, event.seq)

    match payload:
        case SessionPaused():
            return make("paused", payload.reason)
        case SegmentStarted(gap_from_ns=int(gap_from)):
            unsure = (
                "; the length of the interruption is known only from the time of day"
                if payload.gap_by == "wall"
                else ""
            )
            detail = f"segment {payload.segment} began{unsure}"
            return make("interrupted", detail, at_ns=gap_from)
        case ProgramStalled():
            lasted_s = (payload.duration_ns + payload.asleep_ns) / NS
            return make("stalled", describe_stall(payload), lasted_s, payload.from_ns)
        case ClockChanged():
            return make("clock_changed", clock_words(payload))
        case PartRestarted():
            return make("stage_restarted", f"attempt {payload.attempt}")
        case PartEnded(outcome="skipped") | PartSkipped():
            return make("part_skipped")
        case SessionEnded(withdrawal="keep" | "delete"):
            return make("withdrawn", f"{payload.withdrawal}: {payload.reason}")
        case SessionEnded():
            return make("ended_early", payload.reason)
        case DeviationNoted():
            return make("noted", payload.text, at_ns=payload.typing_began_ns)
        case TargetShown(aligned_at_start=True):
            return make("aligned_at_start")
        case AlarmRaised():
            return make("alarm", f"{payload.code}: {payload.detail}")
        case AudioOff(planned=False):
            return make("no_sound", payload.reason)
        case AudioGap():
            rate = rates.get(payload.file)
            return make("sound_lost", payload.cause, payload.frames / rate if rate else None)
        case AudioDeviceLost():
            return make("microphone_lost", f"{payload.device}: {payload.detail}")
        case AudioState(state="zeros" | "clipping"):
            return make(f"sound_{payload.state}", at_ns=payload.since_ns)
        case ScreenChanged():
            return make("screen_changed", f"{payload.screen} {payload.change}")
        case WindowFocus(focused=False):
            return make("focus_lost")
        case CloseRequested():
            return make("close_requested", payload.how)
    return None


UNFINISHED = "unfinished"
LAST_MOVED_YEAR = "1925"
"""Dates up to this year are not true ones: de-identified copies have them moved there, as BIDS asks
for (specification, "Common principles")."""


@dataclass(slots=True)
class PartSpan:
    """When a part ran, in working seconds; outcome and ended_s stay None while it has no end. One
    that was skipped before it began has an outcome and no end."""

    started_s: float
    ended_s: float | None = None
    outcome: str | None = None

    @property
    def duration_s(self) -> float | None:
        return None if self.ended_s is None else self.ended_s - self.started_s


@dataclass(slots=True)
class SessionTotals:
    """A session as a whole.

    outcome: completed, ended_early, declined or unfinished. elapsed_s is session time,
    duration_s working time (without pauses and gaps). sound_s is the length of the sound files,
    sound_lost_s the part of it that was lost and filled with silence. breaks: session time in s of
    each planned break, by its id; None while it has no end. strategy: of a simulated participant.
    consent_signed: how the form was signed, None without consent; agreed: to which uses of the
    data, of those that were asked one by one.
    blind: whether the moderator began blind, None if the journal does not say; unblinded_s:
    session time from which representations were named to one who did.
    """

    planned: SessionPlanned
    started_utc: str
    boot_id: str
    n_events: int = 0
    outcome: str = UNFINISHED
    ended_reason: str = ""
    elapsed_s: float = 0.0
    duration_s: float = 0.0
    simulated: bool = False
    strategy: str | None = None
    spans: dict[str, PartSpan] = field(default_factory=dict)
    breaks: dict[str, float | None] = field(default_factory=dict)
    app_versions: list[str] = field(default_factory=list)
    sound_s: float = 0.0
    sound_lost_s: float = 0.0
    no_sound_because: str = ""
    consent_signed: str | None = None
    agreed: Mapping[str, bool] = field(default_factory=dict)
    blind: bool | None = None
    unblinded_s: float | None = None
    quotas: list[str] = field(default_factory=list)

    @property
    def interviews(self) -> list[PartSpan]:
        """When the interviews of the plan ran, as far as they did."""
        ids = {
            str(row["id"])
            for row in self.planned.plan
            if registry.part_class(str(row["part"])).talks
        }
        return [span for part_id, span in self.spans.items() if part_id in ids]


def true_date(utc: str) -> bool:
    """Whether a time, as journals and tables have it, is of the day on which it was."""
    return utc[:4] > LAST_MOVED_YEAR


def fold_totals(events: Iterable[tuple[Event, Payload]]) -> SessionTotals:
    """The totals of one session. Raises RecordError when it does not begin with its plan."""
    totals: SessionTotals | None = None
    pauses = Pauses()
    rates: dict[str, int] = {}
    frames: dict[str, int] = {}
    planned_breaks: frozenset[str] = frozenset()
    rest_began_s = 0.0
    last_ns = 0
    frequent = frequent_kinds()
    for event, payload in events:
        if totals is None:
            totals = _start_totals(event, payload)
            planned_breaks = breaks_of(totals.planned)
        totals.n_events += 1
        last_ns = event.t_ns
        totals.simulated = totals.simulated or event.source == Source.SIMULATED
        if payload.of_trial or event.kind in frequent:
            continue
        pauses = pauses.apply(event)
        working_s = pauses.working_ns(event.t_ns) / NS
        totals.elapsed_s = event.t_ns / NS
        match payload:
            case SegmentStarted():
                totals.boot_id = totals.boot_id or payload.boot_id
                if payload.app_version not in totals.app_versions:
                    totals.app_versions.append(payload.app_version)
            case ParticipantSimulated():
                totals.strategy = payload.strategy
            case PartStarted() | PartRestarted() if event.part_id is not None:
                totals.spans[event.part_id] = PartSpan(working_s)
                if event.part_id in planned_breaks:
                    totals.breaks[event.part_id], rest_began_s = None, totals.elapsed_s
            case PartEnded() if event.part_id in totals.spans:
                span = totals.spans[event.part_id]
                span.ended_s, span.outcome = working_s, payload.outcome
                if event.part_id in planned_breaks:
                    totals.breaks[event.part_id] = totals.elapsed_s - rest_began_s
            case PartSkipped() if event.part_id is not None:
                totals.spans[event.part_id] = PartSpan(working_s, outcome="skipped")
            case QuotaMet():
                totals.quotas.append(f"{payload.quota}!" if payload.full else payload.quota)
            case SessionCompleted():
                totals.outcome = "completed"
            case SessionEnded():
                declined = any(span.outcome == "declined" for span in totals.spans.values())
                totals.outcome = "declined" if declined else "ended_early"
                totals.ended_reason = payload.reason
            case Agreement():
                totals.consent_signed, totals.agreed = payload.signed, payload.uses
            case SessionReopened():
                totals.outcome, totals.ended_reason = UNFINISHED, ""
            case AudioStarted():
                rates[payload.file] = payload.nominal_rate
                totals.no_sound_because = ""  # a microphone came late
            case AudioBlock():
                frames[payload.file] = payload.frames
            case AudioGap() if payload.file in rates:
                totals.sound_lost_s += payload.frames / rates[payload.file]
            case BlindingSet():
                if event.segment == 1 and totals.blind is None:
                    totals.blind = payload.blind
                elif totals.blind and not payload.blind and totals.unblinded_s is None:
                    totals.unblinded_s = event.t_ns / NS
            case AudioOff():
                totals.no_sound_because = payload.reason
    if totals is None:
        raise RecordError("The session contains no events.", todo="Leave it out.")
    totals.elapsed_s, totals.duration_s = last_ns / NS, pauses.working_ns(last_ns) / NS
    totals.sound_s = sum(count / rates[file] for file, count in frames.items() if file in rates)
    return totals


def breaks_of(planned: SessionPlanned) -> frozenset[str]:
    """The ids of the breaks of a plan."""
    return frozenset(
        str(row["id"]) for row in planned.plan if registry.part_class(str(row["part"])).rests
    )


def elsewhere_of(planned: SessionPlanned) -> frozenset[str]:
    """The ids of the parts of a plan for which participants leave the window."""
    return frozenset(
        str(row["id"])
        for row in planned.plan
        if registry.part_class(str(row["part"])).leads_elsewhere
    )


def _start_totals(event: Event, payload: Payload) -> SessionTotals:
    if not isinstance(payload, SessionPlanned):
        raise RecordError(
            f"The session begins with {event.kind!r} instead of its plan.",
            todo="Check it with `labapp sessions verify`.",
        )
    return SessionTotals(planned=payload, started_utc=event.utc, boot_id="")


KINDS = {
    "note": "the moderator's own words",
    "flag": "one of the study's flags, set by its number",
    "prompt": "the moderator asked the participant to go on talking",
    "deviation": "a deviation from the study, in the moderator's words",
    "question": "a question of an interview's guide was asked",
}
"""Every kind of entry, in words."""

Place = tuple[str | None, int | None, int | None]
"""Stage, trial and attempt."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something the moderator noted, or a correction of it.

    kind: one of KINDS; onset_ns: session time of its first key (of a flag, prompt or question of
    its key); kept_ns: of its event; text: as it was written; number: of a flag or question; place:
    stage, trial and attempt at its onset; corrects: the seq of the entry that it corrects, None
    if it is none; now: how it reads after all corrections, empty if it was taken back.
    """

    seq: int
    kind: str
    onset_ns: int
    kept_ns: int
    text: str
    source: str
    place: Place = (None, None, None)
    number: int | None = None
    corrects: int | None = None
    now: str = ""

    @property
    def taken_back(self) -> bool:
        return not self.now


class Trail:
    """What was on the screen at any session time so far."""

    def __init__(self) -> None:
        self._from: list[int] = [0]
        self._places: list[Place] = [(None, None, None)]

    def apply(self, event: Event, payload: Payload) -> None:
        """Take in the next event. What a moderator does carries the place it was done in, which
        is none to begin with."""
        place = self._places[-1]
        if isinstance(payload, PartStarted):
            place = (event.part_id, None, None)
        elif isinstance(payload, PartEnded):
            place = (None, None, None)
        elif event.trial is not None and event.source != Source.MODERATOR:
            place = (event.part_id, event.trial, event.attempt)
        if place != self._places[-1]:
            self._from.append(event.t_ns)
            self._places.append(place)

    def at(self, t_ns: int) -> Place:
        """Stage, trial and attempt at a session time."""
        return self._places[max(0, bisect_right(self._from, t_ns) - 1)]


class Notes:
    """The entries of one session so far, in the order of their events: `entries`."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._trail, self._afar = Trail(), Afar()
        self._at: dict[int, int] = {}  # seq of what is no correction -> place in `entries`

    def apply(self, event: Event, payload: Payload) -> bool:
        """Take in the next event; True when `entries` changed."""
        self._trail.apply(event, payload)
        if payload.of_trial:
            return False  # nearly all of them
        self._afar.apply(event, payload)
        key_ns = self._afar.time_ns(event)
        match payload:
            case NoteAdded():
                self._add(event, "note", payload.text, payload.typing_began_ns)
            case DeviationNoted():
                self._add(event, "deviation", payload.text, payload.typing_began_ns)
            case FlagAdded():
                self._add(event, "flag", payload.meaning, key_ns, payload.number)
            case PromptGiven():
                self._add(event, "prompt", payload.text, key_ns)
            case GuideQuestion():
                self._add(event, "question", payload.text, key_ns, payload.question)
            case NoteCorrected() if payload.seq in self._at:
                self._correct(event, payload)
            case _:
                return False
        return True

    def _add(
        self, event: Event, kind: str, text: str, onset_ns: int, number: int | None = None
    ) -> None:
        self._at[event.seq] = len(self.entries)
        place = self._trail.at(onset_ns)
        source = self._afar.source(event)
        self.entries.append(
            Entry(event.seq, kind, onset_ns, event.t_ns, text, source, place, number, now=text)
        )

    def _correct(self, event: Event, payload: NoteCorrected) -> None:
        """The corrected entry, and all its corrections, read as the last of them says."""
        first = self.entries[self._at[payload.seq]]
        for index, entry in enumerate(self.entries):
            if payload.seq in (entry.seq, entry.corrects):
                self.entries[index] = replace(entry, now=payload.text)
        self.entries.append(
            Entry(
                event.seq,
                first.kind,
                payload.typing_began_ns,
                event.t_ns,
                payload.text,
                str(event.source),
                self._trail.at(payload.typing_began_ns),
                first.number,
                payload.seq,
                payload.text,
            )
        )


def fold_notes(events: Iterable[tuple[Event, Payload]]) -> list[Entry]:
    """The entries of a whole session."""
    notes = Notes()
    for event, payload in events:
        notes.apply(event, payload)
    return notes.entries


def note_rows(entries: Iterable[Entry], work: WorkingTime) -> list[dict[str, Any]]:
    """Rows of the table `notes`, by their onset. work: of the same session."""
    return [
        {
            "onset_s": entry.onset_ns / NS,
            "working_s": work.working_ns(max(0, entry.onset_ns)) / NS,
            "kept_s": entry.kept_ns / NS,
            "kind": entry.kind,
            "text": entry.text,
            "text_now": entry.now,
            "taken_back": entry.taken_back,
            "number": entry.number,
            "stage": entry.place[0],
            "trial": entry.place[1],
            "attempt": entry.place[2],
            "source": entry.source,
            "seq": entry.seq,
            "corrects": entry.corrects,
        }
        for entry in sorted(entries, key=lambda entry: (entry.onset_ns, entry.seq))
    ]
