"""Everything the console folds from the journal, in one place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from labapp import discovery
from labapp.events import Event
from labapp.messages import decoded
from labapp.plugins.part import PlannedPart
from labapp.ui.language import without_names
from labapp.ui.moderator.part_words import words_of
from labapp.ui.moderator.state.alarms import Alarms
from labapp.ui.moderator.state.deviations import DeviationLog
from labapp.ui.moderator.state.fold import Fold, WorkTime
from labapp.ui.moderator.state.notes import Note, correct, note_of
from labapp.ui.moderator.state.sound import Sound
from labapp.ui.moderator.state.timeline import Timeline

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


KEPT = 500
ENOUGH = 50


class Latency:
    """A fold over dial.moved and picture.decoded; the last 500 pictures count."""

    def __init__(self) -> None:
        self._moved: dict[int, int] = {}
        self._taken_ns: deque[int] = deque(maxlen=KEPT)

    def apply(self, event: Event) -> bool:
        """Take in an event; True when there is a new measurement."""
        if event.kind == "dial.moved":
            self._moved[int(event.payload["z_seq"])] = event.t_ns
            return False
        if event.kind == "picture.decoded":
            z_seq = int(event.payload["z_seq"])
            began = self._moved.pop(z_seq, None)
            # A slow decoder leaves out the states that were passed by.
            for older in [seq for seq in self._moved if seq < z_seq]:
                del self._moved[older]
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


F = TypeVar("F", bound=Fold)


class ConsoleState:
    """apply events in the journal's order; a resumed session applies the past ones first.

    changed: names of what changed since the console last cleared it (alarms, beside, deviations,
    notes, sound, timeline, warmed), so that only those widgets are brought up to date.
    pause_reason: of the last pause; withdrawal: what is to become of the data of somebody who
    withdrew, else empty; not_counted: the study's rules that a session at its end does not meet.
    lsl: why events are not sent over LSL, empty where they are; None where nobody asked for it.
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
        self.timeline = Timeline(parts)
        self.sound = Sound()
        self.notes: list[Note] = []
        self.deviations = DeviationLog({part.id: part.title for part in parts})
        self.warmed: dict[str, tuple[str, float]] = {}
        self.changed: set[str] = set()
        self.last_seq = 0
        self.ended_ns: int | None = None
        self.pause_reason = self.withdrawal = ""
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
        note = note_of(event, self.work)
        if note is not None:
            self.notes.append(note)
            self.changed.add("notes")
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
            self.lsl = decoded(str(p["reason"]), p.get("message"))
        elif event.kind == "alarm.raised" and p["code"] == "lsl_failed":
            self.lsl = decoded(str(p["detail"]), p.get("message"))
        if self.lsl != before:
            self.changed.add("sound")
