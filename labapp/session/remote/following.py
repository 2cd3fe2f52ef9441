"""A session that runs at another computer, as the console of this one shows it.

The session's own machine folds its events again, as in a replay; nothing is decided here. What the
moderator asks for goes to the session's computer, and what follows from it comes back as events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from labapp.base.errors import RecordError
from labapp.base.reading.values import json_value
from labapp.models.stimuli.gallery import RecordedGallery
from labapp.record.audio.recorder import Level
from labapp.record.events import Event, Payload, Source, payload_of
from labapp.record.events.commands import Command
from labapp.record.events.lifecycle import (
    AlarmCleared,
    AlarmRaised,
    SegmentStarted,
    SessionPlanned,
)
from labapp.record.events.voice import SoundState
from labapp.record.journal.layout import STIMULI, STUDY
from labapp.session.machine import SessionState
from labapp.session.pictures import PictureRenderer
from labapp.session.remote import wire
from labapp.session.remote.client import Link
from labapp.session.replay.history import (
    STALLED,
    RecordedDecoders,
    load_recorded_study,
    read_file_notes,
)
from labapp.session.runner import FollowsSession, Listener, machine_of
from labapp.session.stimuli import sets_of
from labapp.study.plan import models_of


class FollowedSession(FollowsSession):
    """Everything that a console asks of a session, of one at another computer.

    Parameters
    ----------
    link : to the session; its files are in `folder`.
    rows : all events so far, from the first on.
    post : calls a function in the thread of the windows; from any thread.

    Raises
    ------
    RecordError : the session has parts, events or files that this installation cannot show.
    """

    def __init__(
        self,
        link: Link,
        folder: Path,
        rows: Sequence[wire.Row],
        post: Callable[[Callable[[], None]], None],
    ) -> None:
        self.link, self.clock, self._folder = link, link.clock, folder
        self.past: list[Event] = []
        self.stalled = False
        self._sound = SoundState()
        self._listeners: list[Listener] = []
        self._subscribers: list[Callable[[Event], None]] = []
        self._now = wire.Now(None, 0.0, None, None)
        events = [_read(row) for row in rows]
        planned = next((p for _, p in events if isinstance(p, SessionPlanned)), None)
        if planned is None:
            raise RecordError("The session has no plan, so it cannot be shown.")
        self.planned = planned
        self.loaded = load_recorded_study(
            planned,
            folder / STUDY,
            safe="The session continues on its own computer.",
            todo="Install the same packages here as on the session's computer.",
        )
        self.machine = machine_of(self.loaded, planned, {})
        self.name = planned.participant
        cards, names = read_file_notes(payload for _, payload in events)
        models = dict.fromkeys(models_of(self.machine.parts), "")
        self.decoders = RecordedDecoders(models | cards)
        self.gallery = self._gallery(folder, names)
        self._post = post
        self._renderer = self._new_renderer()
        for model in self.decoders:
            if self.decoders.misses(model):
                link.want(model)
        self.error: Exception | None = None
        self.state: SessionState = self.machine.initial()
        for event, payload in events:
            self.past.append(event)
            self._fold(event, payload)
        self._show()

    def _new_renderer(self) -> PictureRenderer:
        return PictureRenderer(self.decoders, frozenset(), self._post, lambda command: self.tell())

    def _gallery(self, folder: Path, names: dict[str, str]) -> RecordedGallery | None:
        parts = self.machine.parts
        if not names and not any(part.stimulus_sets() for part in parts):
            return None
        return RecordedGallery(folder / STIMULI, names, *sets_of(parts, self.loaded.study))

    # --- what comes over the link -----------------------------------------------------------------

    def take(self, message: Any) -> None:
        """Take in events and what is shown besides, in the thread of the windows."""
        match message:
            case wire.Rows(rows):
                for event, payload in map(_read, rows):
                    self._fold(event, payload)
                    for subscriber in self._subscribers:
                        subscriber(event)
                self._show()
                self.tell()
            case wire.Now():
                self._now = message
            case wire.Model(model, place) if place:
                self.decoders.place(model, self._folder / place)
                self._renderer.close()
                self._renderer = self._new_renderer()
                self._show()
                self.tell()

    def _fold(self, event: Event, payload: Payload) -> None:
        self.state = self.machine.apply(self.state, event, payload)
        match payload:
            case SegmentStarted():
                self._sound, self.stalled = SoundState(), False
            case AlarmRaised() | AlarmCleared() if payload.code == STALLED:
                self.stalled = isinstance(payload, AlarmRaised)
        self._sound = self._sound.apply(payload)

    def _show(self) -> None:
        self.error = self._renderer.try_sync(self.part, self.state)

    # --- what a console asks ----------------------------------------------------------------------

    @property
    def saved_ago_s(self) -> float:
        """Since when events wait for the disk there."""
        return self._now.saved_ago_s

    @property
    def streams(self) -> object:
        """None if the session sends none."""
        return self._now.streams

    @property
    def streams_received(self) -> bool:
        """Whether anybody receives the session's streams."""
        return bool(self._now.streams)

    def free_bytes(self) -> int | None:
        """How much room the session's disk has."""
        return self._now.free_bytes

    def level(self) -> Level | None:
        """What the microphone hears."""
        level = self._now.level
        if level is None:
            return None
        return Level(*(getattr(level, name) for name in wire.Level.__struct_fields__))

    def send(self, command: Command, source: Source = Source.MODERATOR) -> None:
        """Ask the session's computer for something."""
        self.link.ask(command)

    def subscribe(self, subscriber: Callable[[Event], None]) -> None:
        """Call with every further event."""
        self._subscribers.append(subscriber)

    def close(self) -> None:
        """Leave, and let go what was loaded."""
        self.link.leave()
        self._renderer.close()
        self.decoders.close()


def _read(row: wire.Row) -> tuple[Event, Payload]:
    """An event with its payload. Raises RecordError."""
    try:
        event = Event(*row[:10], json_value(row[10]))
        return event, payload_of(event)
    except ValueError as error:
        raise RecordError(
            f"The event {row[0]} ({row[5]}) of the session cannot be read here: {error}.",
            safe="The session continues on its own computer.",
            todo="Install the same version of labapp and the same packages on both computers.",
        ) from error
