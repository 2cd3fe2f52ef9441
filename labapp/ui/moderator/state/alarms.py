"""What needs the moderator: alarms as a fold over the journal.

An alarm stands until its condition is over (or, where nothing can end it, until it is dismissed).
A new run of the program starts with none. `Watch` raises what the program itself notices, in
English.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labapp.base.messages import Message, encode_message
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised, cause_of
from labapp.session.folder import LOW_DISK_BYTES
from labapp.ui.language import N_, N_all, counted, tr, tr_known
from labapp.ui.moderator import wording
from labapp.ui.moderator.wording import detail_of, gap

SLOW_MS = 16.0
"""A picture should follow its dial within one frame of a 60 Hz screen."""
RECOVERED_MS = 12.0
"""An alarm ends only well below its limit, so that it does not flicker."""
DISK_OK_BYTES = LOW_DISK_BYTES * 6 // 5


class Watch:
    """Raises each alarm once and clears it when its cause is over.

    sound: the recorder runs and watches the disk itself.
    """

    def __init__(self, *, sound: bool) -> None:
        self._sound = sound
        self._standing: set[str] = set()

    def check(self, free_bytes: int | None, p99_ms: float | None) -> list[Payload]:
        """What to store after a look: free space of the data folder, 99th percentile of decoding
        (None: not known)."""
        out: list[Payload] = []
        if free_bytes is not None and not self._sound:
            size, unit = wording.plain_size(free_bytes).split()
            detail = Message("disk_free", size=float(size), unit=unit)
            low, enough = free_bytes < LOW_DISK_BYTES, free_bytes > DISK_OK_BYTES
            out += self._judge("disk_low", detail, low, enough)
        if p99_ms is not None:
            detail = Message("pictures_slow", ms=round(p99_ms))
            out += self._judge("decoder_slow", detail, p99_ms > SLOW_MS, p99_ms < RECOVERED_MS)
        return out

    def _judge(self, code: str, detail: Message, bad: bool, good: bool) -> list[Payload]:
        if bad and code not in self._standing:
            self._standing.add(code)
            return [AlarmRaised(code, str(detail), encode_message(detail))]
        if good and code in self._standing:
            self._standing.remove(code)
            return [AlarmCleared(code)]
        return []


Severity = Literal["alarm", "warn"]

SILENT = "audio_silent"

RAISED: dict[str, tuple[Severity, str]] = {
    "journal_stalled": ("alarm", N_("alarm.journal_stalled")),
    "sound_disk_low": ("warn", N_("alarm.disk_low")),
    "sound_write_failed": ("alarm", ""),
    "disk_low": ("warn", N_("alarm.disk_low")),
    "network_drive": ("warn", ""),
    "quota_full": ("warn", ""),
    "microphone_failed": ("alarm", N_("alarm.microphone_failed")),
    "lsl_failed": ("alarm", N_("alarm.lsl_failed")),
    "remote_failed": ("alarm", N_("alarm.remote_failed")),
    "consent_not_stored": ("alarm", N_("alarm.consent_not_stored")),
    "program_error": ("alarm", N_("alarm.program_error")),
    "exclusion_undecided": ("warn", N_("alarm.exclusion_undecided")),
    "decoder_slow": ("warn", N_("alarm.decoder_slow")),
}
"""Severity and words of the codes of alarm.raised; empty if the detail says it all. Any other
code is an alarm with its detail."""

AUDIO_STATES: dict[str, tuple[Severity, str, str]] = {
    "silent": ("warn", N_("alarm.silent"), ""),
    "zeros": ("alarm", N_("alarm.zeros"), N_("alarm.zeros_why")),
    "gated": ("warn", N_("alarm.gated"), N_("alarm.gated_why")),
    "clipping": ("warn", N_("alarm.clipping"), N_("alarm.clipping_why")),
}
ADVICE: dict[str, str] = N_all(
    "alarm.todo",
    *("journal_stalled", "sound_disk_low", "sound_write_failed"),
    *("disk_low", "microphone_failed", "lsl_failed", "remote_failed"),
    *("program_error", "exclusion_undecided", "decoder_slow"),
    *("audio_silent", "audio_zeros", "audio_gated", "gap", "device", "screen"),
)
"""What to do, by the key of an alarm; nothing if its words say that themselves."""
SOUND = frozenset(f"audio_{state}" for state in AUDIO_STATES)
"""Keys of the alarms about what the microphone hears."""

DURING = SOUND | {"device", "close"}
"""Keys of the alarms that ask for what only a running session needs."""

TOLD = N_all("alarm.stalled", "recorder", "kept", "left_out")
"""What follows from a standstill, and what to do."""


LEAVING = {"escape": N_("alarm.leaving.escape"), "close": N_("alarm.leaving.close")}
"""Words for the ways of close.requested."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """key tells alarms of one cause apart; since_ns: session time; seq: its event (a later event
    of the same cause is news even if the earlier one was dismissed); lasting: it ends by itself."""

    key: str
    severity: Severity
    text: str
    detail: str
    since_ns: int
    seq: int
    lasting: bool

    @property
    def sentence(self) -> str:
        """What happened, and what to do."""
        what = ": ".join(part for part in (self.text, self.detail) if part)
        todo = ADVICE.get(self.key.split()[0])
        if todo is None:
            return what
        return f"{what}{'' if what.endswith(('.', '!', '?')) else '.'} {tr(todo)}"


def describe_alarm(code: str) -> tuple[Severity, str]:
    """Severity and words of an alarm; no words where its detail says it all."""
    if code not in RAISED:
        return "alarm", code.replace("_", " ").capitalize()
    severity, text = RAISED[code]
    return severity, text and tr(text)


class Alarms:
    """standing: by key, oldest first; dismissed ones are still there (see `visible`)."""

    def __init__(self) -> None:
        self.standing: dict[str, Alarm] = {}
        self._dismissed: set[int] = set()
        self._heard = False  # a voice came through this microphone

    def visible(self) -> list[Alarm]:
        """Those the moderator has not dismissed: alarms before warnings, newest first."""
        shown = [alarm for alarm in self.standing.values() if alarm.seq not in self._dismissed]
        return sorted(shown, key=lambda alarm: (alarm.severity != "alarm", -alarm.seq))

    def dismiss(self, key: str) -> None:
        """The moderator has seen it; one that nothing else ends is over."""
        alarm = self.standing.get(key)
        if alarm is None:
            return
        self._dismissed.add(alarm.seq)
        if not alarm.lasting:
            del self.standing[key]

    def apply(self, event: Event) -> bool:
        """Take in an event; True when the alarms changed."""
        p = event.payload
        match event.kind:
            case "segment.started":
                changed = bool(self.standing)
                self._heard = False
                self.standing.clear()
                return changed
            case "session.completed" | "session.ended":
                return self._clear(*DURING)
            case "alarm.raised":
                code = str(p["code"])
                severity, text = describe_alarm(code)
                key = cause_of(code, p.get("about", ""))
                return self._raise(event, key, severity, text, detail_of(p), lasting=True)
            case "alarm.cleared":
                return self._clear(cause_of(str(p["code"]), p.get("about", "")))
            case "program.stalled":
                return self._add_stall(event)
            case "clock.changed":
                detail = wording.clock_changed(p)
                text = tr("alarm.clock_changed")
                return self._raise(event, "clock", "warn", text, detail, lasting=False)
            case "audio.device_lost":
                self._heard = False
                text = tr("alarm.microphone_gone")
                detail = tr("alarm.device_why", what=detail_of(p) or str(p["device"]))
                return self._raise(event, "device", "alarm", text, detail, lasting=True)
            case "audio.started":
                return self._clear("device", "microphone_failed")
            case "audio.device_back":
                return self._clear("device")
            case "audio.gap":
                return self._gap(event)
            case "audio.state":
                return self._audio_state(event)
            case "screen.changed":
                return self._screen(event)
            case "close.requested":
                text = tr("alarm.leaving")
                how = tr_known(str(p["how"]), LEAVING)
                return self._raise(event, "close", "alarm", text, how, lasting=event.v >= 2)
            case "close.withdrawn" | "session.paused" | "session.resumed":
                return self._clear("close")
        return False

    def _add_stall(self, event: Event) -> bool:
        p = event.payload
        after = "left_out" if p["left_out"] or not p["duration_ns"] else "kept"
        told = tr(TOLD["recorder" if p["who"] == "recorder" else after])
        return self._raise(event, "stalled", "warn", wording.describe_stall(p), told, lasting=False)

    def _gap(self, event: Event) -> bool:
        if event.payload["cause"] in ("device_lost", "reopened"):
            return False  # the lost microphone is an alarm of its own
        detail = counted(
            int(event.payload["frames"]), "alarm.frames", cause=gap(str(event.payload["cause"]))
        )
        return self._raise(event, "gap", "warn", tr("alarm.sound_lost"), detail, lasting=False)

    def _audio_state(self, event: Event) -> bool:
        state = str(event.payload["state"])
        self._heard |= state == "heard"
        if state == "zeros" and self._heard:
            state = "gated"
        key = f"audio_{state}"
        changed = self._clear(*(SOUND - {key}))
        if state in AUDIO_STATES:
            severity, text, detail = AUDIO_STATES[state]
            why = tr(detail) if detail else ""
            changed |= self._raise(event, key, severity, tr(text), why, lasting=True)
        return changed

    def _screen(self, event: Event) -> bool:
        name, left = str(event.payload["screen"]), int(event.payload["screens_left"])
        if event.payload["change"] != "removed":
            return self._clear(f"screen {name}")
        text = tr("alarm.screen_gone", name=name)
        detail = counted(left, "alarm.screens_left")
        return self._raise(event, f"screen {name}", "alarm", text, detail, lasting=True)

    def _raise(
        self, event: Event, key: str, severity: Severity, text: str, detail: str, *, lasting: bool
    ) -> bool:
        self.standing.pop(key, None)
        self.standing[key] = Alarm(key, severity, text, detail, event.t_ns, event.seq, lasting)
        return True

    def _clear(self, *keys: str) -> bool:
        standing = self.standing.keys() & keys
        for key in standing:
            del self.standing[key]
        return bool(standing)
