"""What a screen of the participant's window knows of a session: one view of it.

A screen draws what its view says and asks for what the hand wants, nothing else. So the same screen
shows a session that runs, the same session in a mirror, and a moment of a recorded one:
these are sources of a view, not other screens.

What a consent form says by itself, whatever the study's text says.

The runner and Qt: its signals, to which windows connect, and its timers in the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from labapp.base.clock import NS, Clock
from labapp.base.errors import VideoError
from labapp.record.events import Event, Source
from labapp.record.events.commands import Command
from labapp.record.events.lifecycle import PaymentComputed
from labapp.record.events.look import LAYOUT, Look
from labapp.record.events.registry import Pauses
from labapp.record.events.voice import SoundNow
from labapp.session.machine import PartRecord, SessionMachine, SessionState
from labapp.study import media
from labapp.study.consent import Asked, Use
from labapp.study.loading import LoadedStudy
from labapp.study.plugins import texts
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.schema import Presentation
from labapp.ui import theme, timers
from labapp.ui.strings import Strings
from labapp.ui.widgets.photo_view import Images

_SOUND_WORDS: Mapping[SoundNow, str] = {
    "waiting": "recording_waits",
    "on": "recording",
    "lost": "recording_lost",
    "stopped": "recording_stopped",
    "off": "no_recording",
}

OnConsent = Callable[[str, str, Mapping[str, bool]], bool | None]
"""Stores the typed name or the drawn signature apart (as JSON, see `private.Consent`) and sends the
consent, with whether the participant agrees to each use that is asked. Returns False if it could
not be stored, which was reported already: the participant gives it once more."""


class ViewSource(Protocol):
    """Where a view reads: the runner of a session, or a moment of one."""

    @property
    def machine(self) -> SessionMachine: ...
    @property
    def state(self) -> SessionState: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def pictures(self) -> Any: ...
    @property
    def ready(self) -> bool: ...
    @property
    def stalled(self) -> bool: ...
    @property
    def sound(self) -> SoundNow: ...


class ConsoleSession(ViewSource, Protocol):
    """What a console shows and asks: the runner of a session, or one that is followed at another
    computer (`labapp.session.remote.following`)."""

    @property
    def gallery(self) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def part(self) -> PlannedPart | None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def saved_ago_s(self) -> float: ...
    @property
    def streams(self) -> object: ...
    @property
    def streams_received(self) -> bool: ...
    def free_bytes(self) -> int | None: ...
    def send(self, command: Command, source: Source = ...) -> None: ...
    def listen(self, listener: Callable[[], None]) -> None: ...
    def subscribe(self, subscriber: Callable[[Event], None]) -> None: ...


@dataclass(frozen=True)
class MomentSource:
    """A session as it was at one moment, as a source; clock: stands at the moment; pictures: what
    the part shows besides its state, see `labapp.study.plugins.pictures`."""

    machine: SessionMachine
    state: SessionState
    clock: Clock
    pictures: Any = None
    ready: bool = True
    stalled: bool = False
    sound: SoundNow = "off"


class ParticipantActions(NamedTuple):
    """Who takes what the participant asks for: commands, the consent when it is given, and a link
    to open in a browser, which says whether one was started."""

    send: Callable[[Command], None]
    on_consent: OnConsent
    open_link: Callable[[str], bool] = lambda link: False


class CoverText(NamedTuple):
    """What hides the screen. more: a text below it, as Markdown."""

    title: str
    text: str
    more: str = ""


@dataclass(frozen=True)
class SessionView:
    """A session as its screens see it: the present state, and what stays the same in all of it.

    Attributes
    ----------
    images : the kept pictures, where the session shows any.
    hand : who takes what is asked for; None for a view that is only read: then nothing is sent.
    withholds : whether answers that can tell who somebody is are not shown (see `withheld` in
        `labapp.study.instruments.items`).
    """

    source: ViewSource
    loaded: LoadedStudy
    words: Strings
    palette: theme.Palette
    presentation: Presentation
    images: Images | None = None
    hand: ParticipantActions | None = None
    withholds: bool = False

    @property
    def read_only(self) -> bool:
        """Whether nobody can do anything on the screens of this view."""
        return self.hand is None

    def only_read(self) -> SessionView:
        """The same session, to look at."""
        return replace(self, hand=None)

    @property
    def improved(self) -> bool:
        return self.presentation == "improved"

    @property
    def part(self) -> PlannedPart | None:
        """The part on the screen."""
        return self.source.machine.part(self.source.state)

    @property
    def index(self) -> int:
        """The place in the plan of the part that runs or ran last, from 0; -1 before the first."""
        return self.source.state.index

    @property
    def part_state(self) -> Any:
        """The state of the part on the screen, of a type that its task says."""
        return self.source.state.part_state

    @property
    def look(self) -> Look:
        """What the participant's window shows in addition to the state, if it was recorded."""
        return self.source.state.look

    @property
    def layout(self) -> int:
        """How screens are laid out: as in the window that was seen, see `WindowShown.layout`."""
        seen = self.look.window
        return LAYOUT if seen is None or not self.read_only else seen.layout

    @property
    def pictures(self) -> Any:
        """What the part shows besides its state, of a type that its task says; None if it has no
        pictures, or none yet."""
        return self.source.pictures

    @property
    def ready(self) -> bool:
        """Whether there is something to show of the part."""
        return self.source.ready

    @property
    def parts(self) -> Sequence[PlannedPart]:
        """The plan."""
        return self.source.machine.parts

    @property
    def task(self) -> PartMachine[Any]:
        """The rules of the part on the screen."""
        return self.source.machine.tasks[self.source.state.index]

    @property
    def record(self) -> PartRecord:
        """When the part on the screen began."""
        return self.source.state.records[self.source.state.index]

    @property
    def clock(self) -> Clock:
        return self.source.clock

    @property
    def pauses(self) -> Pauses:
        return self.source.state.pauses

    @property
    def finished(self) -> bool:
        return self.source.state.ended is not None

    @property
    def stalled(self) -> bool:
        """Whether the disk keeps the session waiting."""
        return self.source.stalled

    @property
    def takes_back(self) -> bool:
        """Whether the participant skipped a question, and can take that back."""
        pending = self.source.state.pending
        return pending is not None and pending.what == "trial"

    def take_back_words(self) -> str:
        """The button that takes a skip back, with the seconds in which it can be; empty if
        nothing can be taken back."""
        pending = self.source.state.pending
        if pending is None or not self.takes_back or self.stalled:
            return ""
        left_ns = max(0, pending.until_ns - self.clock.now_ns())
        return f"{self.words('skipped_back')} ({ceil(left_ns / NS)})"

    @property
    def sound(self) -> SoundNow:
        """What becomes of sound now: as the recorder says. In a preview of the consent form nothing
        is recorded yet, either, and a session would begin to."""
        part, recording = self.part, self.loaded.study.recording
        consents, sound = part is not None and part.consents, self.source.sound
        if self.source.state.previewed and consents and recording.audio != "off":
            return "waiting"
        if sound == "waiting" and not consents and self.pauses.paused:
            return "stopped" if recording.in_breaks == "stop" else sound
        return sound

    @property
    def recorded(self) -> bool:
        return self.sound == "on"

    def sound_words(self) -> str:
        """What the top of every page says about the recording."""
        part, sound = self.part, self.sound
        if self.finished:
            return self.words("no_recording")
        if sound == "waiting" and not (part is not None and part.consents):
            sound = "off"
        if sound == "stopped" and not self.pauses.paused:
            sound = "off"
        return self.words(_SOUND_WORDS[sound])

    def break_words(self) -> str:
        """What the participant reads about the recording in a break or a pause; empty in a session
        without sound."""
        told = {"on": "break_recorded", "stopped": "break_stopped", "lost": "break_lost"}
        key = told.get(self.sound)
        return self.words(key) if key else ""

    def payment(self) -> PaymentComputed | None:
        """What was earned so far; None in a study that pays nothing."""
        return self.source.machine.payment(self.source.state)

    def result_values(self) -> dict[str, str]:
        """What texts may say in braces of how the parts before this one went."""
        return self.source.machine.result_values(self.source.state, self.words)

    def study_picture(self, name: str) -> bytes | None:
        """A picture of the study's folder that a text, an item or an option shows; None for what
        is none."""
        return self.loaded.files.get(name) if media.is_file(name) else None

    def study_sound(self, name: str) -> media.DecodedSound | None:
        """A sound or video of the study's folder; None for what is none."""
        content = self.loaded.files.get(name) if media.is_sound(name) else None
        if content is None:
            return None
        try:
            return media.decode_sound(content)
        except VideoError as error:
            return media.not_decoded(error)

    def pages(self, document: str, values: dict[str, str]) -> list[str]:
        """The pages of one of the study's texts, with values (numbers) filled in."""
        numbers = {name: self.words.number(value) for name, value in values.items()}
        return [texts.fill(page, numbers) for page in texts.pages(self.loaded.text(document))]

    def cover(self) -> CoverText | None:
        """What hides the screen now; None for nothing."""
        words, state, part = self.words, self.source.state, self.part
        if self.source.stalled:
            return CoverText(words("problem_title"), words("problem_text"))
        if self.finished:
            key = "ended_text"
            if state.withdrawal == "delete":
                key = "ended_deleted"
            elif any(record.outcome == "declined" for record in state.records):
                key = "ended_declined"
            # An early end shows the text that the plan ends with.
            last = self.parts[-1].documents() if state.debriefed else ()
            debriefing = "\n\n".join(page for name in last for page in self.pages(name, {}))
            return CoverText(words("ended_title"), words(key), media.name_sounds(debriefing))
        if state.pauses.paused and not (part is not None and part.rests):
            return CoverText(
                words("paused_title"), f"{words('paused_text')} {self.break_words()}".strip()
            )
        if self.takes_back:
            return CoverText(words("skipped_title"), words("skipped_text"))
        if state.pending is not None or part is None or not self.ready:
            return CoverText(words("waiting_title"), words("waiting_text"))
        return None

    def send(self, command: Command) -> None:
        """Ask for something on behalf of the participant; nothing if the view is only read."""
        if self.hand is not None:
            self.hand.send(command)

    def give_consent(self, name: str, drawing: str, uses: Mapping[str, bool]) -> bool:
        """Give the consent, see `OnConsent`; False if it could not be stored."""
        return self.hand is not None and self.hand.on_consent(name, drawing, uses) is not False

    def open_link(self, link: str) -> bool:
        """Open a link in a browser of this computer; False if none was started, as in a view
        that is only read."""
        return self.hand is not None and self.hand.open_link(link)


def announce_interview(
    words: Strings, items: dict[Use, Asked], *, interview: bool, sound: bool
) -> list[str]:
    """Paragraphs behind the study's text: that there will be an interview, and whether the voice is
    recorded in it. items: what is asked one by one; sound: whether the session records any."""
    if not interview:
        return []
    if not sound:
        return [words("consent_interview_unrecorded")]
    return [words("consent_interview_asked" if "audio" in items else "consent_interview")]


class _QtTimer:
    """A cancellable single shot."""

    def __init__(self, timer: QTimer) -> None:
        self._timer: QTimer | None = timer

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.deleteLater()
            self._timer = None


class QtScheduler(QObject):
    """Timers in session time, and calls from other threads, in the thread that made it."""

    _posted = Signal(object)

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def call_later(self, session_s: float, function: Callable[[], None]) -> _QtTimer:
        def due() -> None:
            handle.cancel()
            function()

        timer = timers.once(self, due)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        handle = _QtTimer(timer)
        real_ms = self._clock.real_seconds(round(session_s * NS)) * 1000
        timer.start(max(0, round(real_ms)))
        return handle

    def post(self, function: Callable[[], None]) -> None:
        self._posted.emit(function)

    @Slot(object)
    def _run(self, function: Callable[[], None]) -> None:
        function()


class Bridge(QObject):
    """changed: the runner's state, pictures or `stalled` changed (GUI thread). happened: an event
    was appended, from any thread; Qt queues it into the GUI thread. images: the kept pictures of
    the session, where it shows any; windows share them."""

    changed = Signal()
    happened = Signal(object)

    def __init__(self, runner: ConsoleSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runner: Any = runner
        self.images = None if runner.gallery is None else Images(runner.gallery)
        runner.listen(self.changed.emit)
        runner.subscribe(self.happened.emit)
