"""The events.tsv of the session as a whole: its runs, parts, pauses, answers, moderator, sound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labapp.analysis.deviations import clock_words, stalled_words
from labapp.analysis.notes import Trail
from labapp.analysis.session_totals import breaks_of
from labapp.bids.task_timeline import COMMON, SEQ, WORKING, OpenRow
from labapp.bids.tsv import Table
from labapp.clock import NS
from labapp.events import Event, Payload
from labapp.events.durations import Pauses
from labapp.events.event import payload_text
from labapp.events.lifecycle import (
    ClockChanged,
    DeviationNoted,
    NoteAdded,
    PartEnded,
    PartStarted,
    PauseExplained,
    ProgramStalled,
    SegmentEnded,
    SegmentStarted,
    SessionPaused,
    SessionPlanned,
    SessionResumed,
)
from labapp.events.lsl import LslClock
from labapp.events.moderation import NoteCorrected
from labapp.events.speech import SpeechSimulated
from labapp.plugins import registry
from labapp.plugins.bids import Cells, Column, seconds

KILLED = "killed"
"""Outcome of a run that came to no orderly end."""

SESSION_TYPES = {
    "segment": "A run of the program on this session.",
    "part": "A part of the plan: consent, tutorial, practice, stage, questionnaire, break, "
    "interview, debrief.",
    "part.restarted": "A stage that was interrupted began again with its first question; value is "
    "the attempt at it.",
    "part.skipped": "A part was skipped before it began: the moderator skipped its stage or "
    "continued at a later part, or it asks about a stage that was skipped.",
    "pause": "The session stood still; text says why.",
    "break": "A break of the plan; the session stood still. The row of its part has its outcome.",
    "gap": "From the end of a run that was killed to the moment the session went on.",
    "program.stalled": "Something stood still for more than a second: value is who (program, "
    "computer, or recorder, of the sound); text says what became of that time. The duration does "
    "not count sleep of the computer, which text does.",
    "clock.changed": "The computer's date and time were set; value is by how many seconds.",
    "page.turned": "A page of a text or questionnaire is on the screen; value counts from 0.",
    "note.added": "A moderator's note, from its first key; value is the session time in s at which "
    "it was kept (Enter).",
    "deviation.noted": "What went otherwise than the study says, as the moderator wrote it down, "
    "from its first key; value is the session time in s at which it was kept (Enter).",
    "note.corrected": "A note, deviation, flag, prompt or question reads text from now on; without "
    "text it is taken back; value is the seq of what is corrected. Onset is the first key.",
    "blinding.set": "The console hides (true) or names (false) the representations to the "
    "moderator.",
    "flag.added": "A moderator's flag; value is its number, text its meaning.",
    "prompt.given": "The moderator prompted the participant.",
    "alarm.raised": "Something needed the moderator; text is its code and detail.",
    "alarm.cleared": "The alarm with this code was over.",
    "screen.changed": "A screen was removed or added.",
    "window.focus": "The participant's window gained (true) or lost (false) the keyboard.",
    "window.shown": "The participant's window came up, or has another size or screen; text is its "
    "width and height in logical pixels, value how many of the display's are one of them.",
    "keyboard.given": "The keyboard changed hands; value is to whom (moderator, participant), text "
    "why.",
    "close.requested": "The participant tried to close the window; nothing was closed.",
    "close.withdrawn": "The participant who tried to close the window went on; working time stood "
    "still since close.requested, in sessions that have these rows.",
    "skip.requested": "A question (text: trial) was skipped by the participant, or a part (text: "
    "part) by the moderator; it could be taken back, and working time stood still.",
    "skip.taken_back": "The skip was taken back: the question or part went on as it was.",
    "skip.confirmed": "The skip was not taken back.",
    "session.reopened": "The end was taken back before the console was closed; value is its seq.",
    "speech.simulated": "A simulated participant said something; text is its words.",
    "audio.started": "A sound file was opened; text is its name.",
    "audio.off": "The session is recorded without sound; text says why.",
    "audio.state": "The level says: heard, silent, zeros or clipping.",
    "audio.gap": "Sound was lost and filled with silence; value is the number of frames.",
    "audio.device_lost": "The microphone was gone.",
    "audio.device_back": "The microphone was back.",
    "audio.stopped": "A sound file was closed; text is its name.",
    "lsl.opened": "The events are sent over the Lab Streaming Layer; text is the source_id by "
    "which a recording of the streams is known as this session's.",
    "lsl.clock": "One moment on both clocks; value is the onset on that of the Lab Streaming "
    "Layer, in s.",
    "lsl.off": "The events were to be sent over the Lab Streaming Layer, and are not; text says "
    "why.",
    "session.completed": "Every part of the plan was done.",
    "session.ended": "The session was ended early; text says why, value what a participant who "
    "withdrew wants done with the data: keep or delete.",
}
WITHOUT_ROW = frozenset(
    {
        *("session.planned", "environment.recorded", "participant.simulated", "decoder.warmed"),
        *("inclusion.decided", "payment.computed", "stimuli.kept", "audio.block", "pointer.moved"),
        *("session.paused", "pause.explained", "session.resumed"),
        *("segment.ended", "part.ended"),
        *("screen.page", "screen.scrolled", "screen.enlarged"),
    }
)
"""The kinds of labapp's own that other rows or other files of a bundle tell of, and those that only
say how a screen was looked at. Any other that nobody has a row for has one, with its fields."""


def session_types() -> dict[str, str]:
    """What the types of rows mean, those that tasks have too."""
    types = list(SESSION_TYPES.items())
    for row in registry.course_rows().values():
        names = [name for name, _ in types]
        place = names.index(row.behind) + 1 if row.behind in names else len(types)
        types.insert(place, (row.kind, row.meaning))
    return dict(types)


def session_columns(others: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    """The columns of the session's events.tsv; others: types of rows that only this session has."""
    return (
        *COMMON,
        Column("trial_type", "What happened.", levels=session_types() | dict(others or {})),
        Column("stage", "Id of the plan's part it belongs to."),
        WORKING,
        Column("outcome", "How the part or run ended; n/a where no end was recorded."),
        Column("source", "Who caused it: participant, moderator, system or simulated."),
        Column("value", "A number or answer, see trial_type."),
        Column("text", "Words, on one line, see trial_type."),
        SEQ,
    )


def session_timeline(events: Iterable[tuple[Event, Payload]]) -> Table:
    """The rows of the session, by their onset. events: of the whole session, with payloads."""
    fold = _Fold()
    placed: dict[str | None, frozenset[str]] = {}
    none: frozenset[str] = frozenset()
    for event, payload in events:
        if isinstance(payload, SessionPlanned):
            of_kind = {
                part: files.placed for files in registry.task_files() for part in files.parts
            }
            placed = {str(row["id"]): of_kind.get(row["part"], none) for row in payload.plan}
        # Most of a journal is movements and pictures, of which the files of their task tell.
        if event.kind not in placed.get(event.part_id, none):
            fold.take(event, payload)
    rows = sorted(fold.rows, key=lambda row: (row["at"], row["seq"]))
    return Table(session_columns(fold.others), rows)


class _Fold:
    def __init__(self) -> None:
        self.rows: list[Cells] = []
        self.others: dict[str, str] = {}
        self._of_tasks = registry.course_rows()
        self._pauses = Pauses()
        self._trail = Trail()
        self._open: dict[str, OpenRow] = {}
        self._breaks: frozenset[str] = frozenset()
        self._running: str | None = None

    def take(self, event: Event, payload: Payload) -> None:
        was_paused = self._pauses.paused
        self._trail.apply(event, payload)
        self._pauses = self._pauses.apply(event)
        match payload:
            case SegmentStarted():
                gap_from = payload.gap_from_ns
                if gap_from is not None:
                    self._close("segment", gap_from, KILLED)
                    if not was_paused:
                        self._begin("pause", "gap", event, gap_from)
                self._begin("segment", "segment", event, event.t_ns)
            case SegmentEnded():
                self._close("segment", event.t_ns, payload.reason)
            case SessionPlanned():
                self._breaks = breaks_of(payload)
            case SessionPaused() if not was_paused:
                kind = "break" if self._running in self._breaks else "pause"
                self._begin("pause", kind, event, event.t_ns, text=payload.reason)
            case PauseExplained():
                if (pause := self._open.get("pause")) is not None:
                    pause.cells["text"] = payload.reason
            case SessionResumed():
                self._close("pause", event.t_ns, None)
            case PartStarted():
                self._running = event.part_id
                self._begin("part", "part", event, event.t_ns)
            case PartEnded():
                self._close("part", event.t_ns, payload.outcome)
            case NoteAdded() | DeviationNoted() | NoteCorrected():
                # Written while somebody talked: it belongs to the moment it was begun in.
                began_ns = payload.typing_began_ns
                row = self._add(event.kind, event, began_ns, duration="0", **_words(event))
                row["stage"] = self._trail.at(began_ns)[0]
            case ProgramStalled():
                lasts = seconds(payload.duration_ns)
                words = {"value": payload.who, "text": stalled_words(payload)}
                self._add(event.kind, event, payload.from_ns, duration=lasts, **words)
            case ClockChanged():
                by = seconds(round(payload.by_s * NS))
                words = {"value": by, "text": clock_words(payload)}
                self._add(event.kind, event, event.t_ns, duration="0", **words)
            case SpeechSimulated():
                lasts = seconds(payload.t1_ns - payload.t0_ns)
                self._add(event.kind, event, payload.t0_ns, duration=lasts, text=payload.text)
            case LslClock():
                value = repr(payload.lsl_s)
                self._add(event.kind, event, payload.session_ns, duration="0", value=value)
            case _ if event.kind in self._of_tasks:
                cells = self._of_tasks[event.kind].cells(payload)
                self._add(event.kind, event, event.t_ns, duration="0", **cells)
            case _ if event.kind in SESSION_TYPES:
                self._add(event.kind, event, event.t_ns, duration="0", **_words(event))
            case _ if event.kind not in WITHOUT_ROW:
                meaning = " ".join((type(payload).__doc__ or "").split())
                self.others[event.kind] = f"{meaning} Text is its fields as JSON."
                fields = payload_text(event.payload)
                self._add(event.kind, event, event.t_ns, duration="0", text=fields)

    def _add(self, trial_type: str, event: Event, t_ns: int, **cells: Any) -> Cells:
        row = {
            "at": t_ns,
            "onset": seconds(t_ns),
            "trial_type": trial_type,
            "stage": event.part_id,
            "source": event.source,
            "seq": event.seq,
            **cells,
        }
        self.rows.append(row)
        return row

    def _begin(self, slot: str, trial_type: str, event: Event, t_ns: int, **cells: Any) -> None:
        row = self._add(trial_type, event, t_ns, **cells)
        self._open[slot] = OpenRow(row, t_ns, self._pauses.working_ns(t_ns))

    def _close(self, slot: str, t_ns: int, outcome: str | None) -> None:
        if (lasting := self._open.pop(slot, None)) is not None:
            lasting.close(t_ns, self._pauses.working_ns(t_ns), outcome)


def _words(event: Event) -> Cells:
    payload = event.payload
    match event.kind:
        case "page.turned":
            return {"value": payload["page"]}
        case "note.added" | "deviation.noted":
            return {"value": seconds(event.t_ns), "text": payload["text"]}
        case "note.corrected":
            return {"value": payload["seq"], "text": payload["text"] or None}
        case "blinding.set":
            return {"value": payload["blind"]}
        case "session.ended":
            return {"value": payload.get("withdrawal") or None, "text": payload["reason"]}
        case "part.restarted":
            return {"value": payload["attempt"]}
        case "flag.added":
            return {"value": payload["number"], "text": payload["meaning"]}
        case "alarm.raised":
            return {"text": f"{payload['code']}: {payload['detail']}"}
        case "screen.changed":
            return {"value": payload["screens_left"], "text": payload["change"]}
        case "window.focus":
            return {"value": payload["focused"]}
        case "window.shown":
            size = f"{payload['width']} x {payload['height']}"
            return {"value": payload["ratio"], "text": size}
        case "keyboard.given":
            return {"value": payload["to"], "text": payload["why"]}
        case "audio.gap":
            return {"value": payload["frames"], "text": payload["cause"]}
        case "session.reopened":
            return {"value": payload["seq"]}
    named = ("text", "reason", "code", "state", "file", "how", "device", "what", "source_id")
    return {"text": next((payload[name] for name in named if name in payload), None)}
