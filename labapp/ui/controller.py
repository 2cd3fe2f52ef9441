"""One session on the screens: two windows, the watcher of screens, and an orderly end.

Also the path of the participant's pointer, recorded if the study asks for it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget

from labapp.base.console import say
from labapp.base.errors import LabappError
from labapp.record.audio.devices import Device, MicrophoneFinder
from labapp.record.audio.pyramid import envelope
from labapp.record.events import Source
from labapp.record.events.commands import MovePointer, Pause, Resume
from labapp.record.events.lifecycle import AlarmRaised, PointerMoved
from labapp.record.events.registry import WorkingTime
from labapp.record.journal.decisions import is_pilot
from labapp.session.machine import TrialKey
from labapp.session.opening import OpenSession
from labapp.session.runner import Runner
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST, Pace
from labapp.ui import mistakes, timers
from labapp.ui.computer import Awake
from labapp.ui.keyboard import Keyboard, ScreenWatcher
from labapp.ui.language import tr
from labapp.ui.moderator.checklist import NOT_HELD
from labapp.ui.moderator.console import PALETTE, ConsoleWindow
from labapp.ui.moderator.others import OthersBar, PersonLine, where_of
from labapp.ui.participant.view import Bridge
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.qtapp import choose, settle_memory, unsettle_memory
from labapp.ui.starting import RunOptions
from labapp.ui.strings import strings_of

if TYPE_CHECKING:
    from labapp.session.remote.host import RemoteHost

COMPLETED, ENDED_EARLY = 0, 1
SIGNAL_MS = 200
MICROPHONES_MS = 500
LINGER_MS = 300
"""How long the last screen stays when nobody is asked to leave it (`labapp run`, the demo)."""

STALLED = (
    "The disk takes no more: the session waits. Nothing that was shown as saved is lost.\n"
    "Make room on it; the session goes on by itself."
)
GOES_ON = "The disk has space again, and the session continues."


class SessionController(QObject):
    """Shows a session and ends it in an orderly way.

    closed(status) : everything is stored and the windows are gone; 0 when the plan was completed.
    failed(LabappError) : what went wrong while ending, told before `closed`.

    The windows stay after the end until the moderator closes the console: until then notes are
    taken, and an early end can be taken back. Only where a program takes part they close by
    themselves. home : closing leads back to the home. pace : of the simulated participant, if there
    is one.
    """

    closed = Signal(int)
    failed = Signal(object)

    def __init__(
        self, opened: OpenSession, options: RunOptions, *, home: bool = False, pace: Pace = FAST
    ) -> None:
        super().__init__()
        self.opened = opened
        self.options = options
        self._home = home
        self._over = False
        self._gone = False
        self._stalled = False
        self._finder: MicrophoneFinder | None = None
        self._failure: LabappError | None = None
        self._signal = ""
        runner = opened.runner
        self.bridge = Bridge(runner, self)
        self._driver: Driver | None = None
        self._reason = "could not be shown"
        # Python runs its signal handlers only when the event loop calls into Python.
        self._signals = timers.make_repeating_timer(self, lambda: None, SIGNAL_MS)
        self._before: dict[int, Any] = {}
        self._hook_before: Any = None
        self._thread_hook_before: Any = None
        with ExitStack() as down:
            # Whatever goes wrong, and wherever: the session is closed, and no window stays. Last of
            # all the signals: a second Ctrl+C must not break off the closing.
            down.callback(self._release_signals)
            down.callback(self._close_session)
            self._make_windows(down)
            if options.simulate is not None:
                self._driver = Driver(
                    runner,
                    opened.give_consent,
                    options.simulate,
                    opened.planned.seed,
                    opened.planned.participant,
                    pace,
                    careless=options.careless,
                    language=opened.planned.language,
                    on_stuck=self._report_stuck,
                )
                down.callback(self._driver.stop)
            self._down = down.pop_all()

    def _make_windows(self, down: ExitStack) -> None:
        """Both windows and the watcher of screens, and how each is taken down again."""
        opened, runner = self.opened, self.opened.runner
        self.participant = ParticipantWindow(
            self.bridge,
            opened.loaded,
            strings_of(opened.loaded, begun=bool(opened.past)),
            opened.loaded.study.presentation,
            self._consent,
        )
        pilot = is_pilot(opened.folder.path, opened.planned)
        if pilot:
            self.participant.mark_pilot()
        down.callback(self.participant.deleteLater)
        down.callback(self.participant.close_for_good)
        if opened.loaded.study.recording.pointer and self.options.simulate is None:
            down.callback(PointerPath(self.participant, runner).stop)
        self.console = ConsoleWindow(
            self.bridge,
            opened.loaded,
            opened.planned.participant,
            self._level,
            past=opened.past,
            past_peaks=_past_peaks(opened),
            blind=opened.blind,
        )
        if pilot:
            self.console.mark_pilot()
        if not self._home:
            self.console.header.done.setText(tr("closing.close_console"))
        down.callback(self.console.deleteLater)
        down.callback(self.console.shut)
        self.watcher = ScreenWatcher(runner.emit, parent=self)
        down.callback(self.watcher.detach)
        self.keyboard = Keyboard(
            self.participant, self.console, runner.emit, lambda: self.watcher.alone, self
        )
        down.callback(self.keyboard.end)
        self._microphones = timers.make_repeating_timer(
            self, self._look_for_microphone, MICROPHONES_MS
        )
        self.console.voice.microphone_taken.connect(self._take_microphone)
        down.callback(self._look_no_more)
        down.callback(self._microphones.stop)
        self.console.done_requested.connect(self._end)
        self.others = RemoteControl(self, self.keyboard)
        down.callback(self.others.close)
        self.bridge.changed.connect(self._on_runner_change)

    def start(self) -> None:
        """Show the windows and begin. Where that fails the session is closed, the windows are gone,
        and what went wrong is raised."""
        try:
            self._begin()
        except BaseException:
            self._gone = True
            self._take_down("could not be begun")
            raise

    def _begin(self) -> None:
        self._catch_signals()
        self.keyboard.prepare()
        whole, screen = not self.options.windowed, self.options.screen
        self.watcher.attach(self.participant, self.console, screen, fullscreen=whole)
        self._stay_awake()
        self.opened.begin()
        self.keyboard.begin()
        if self.options.listen is not None:
            self.others.open(self.options.listen)
        # They were told by a signal, and what they raise then goes nowhere.
        self.participant.refresh()
        self.console.refresh()
        self._microphones.start()
        self._down.callback(unsettle_memory)
        settle_memory()
        if self._driver is not None:
            # A resumed session waits for a person to say that everybody is ready; here nobody is.
            self.opened.runner.send(Resume("simulated"), Source.SIMULATED)
            self._driver.start()

    def _stay_awake(self) -> None:
        """Hold off sleep and the screen saver until the windows are gone; a terminal is told what
        could not be. Where nothing is on a screen, nothing is held off."""
        if not choose().visible:
            return
        awake = Awake()
        self._down.callback(awake.release)
        if (why := NOT_HELD.get(awake.hold())) is not None:
            say(tr(why), err=True)

    def _look_for_microphone(self) -> None:
        """Offer a microphone that is there now, where none was or the one that was is gone."""
        if not self.opened.wants_microphone:
            self._look_no_more()
            return
        if self._finder is None:
            recorder = self.opened.runner.recorder
            gone = None if recorder is None else recorder.device
            self._finder = MicrophoneFinder(gone if isinstance(gone, Device) else None)
        microphone = self._finder.found
        self.console.voice.offer_microphone(None if microphone is None else microphone.label)

    def _look_no_more(self) -> None:
        if self._finder is not None:
            self._finder.close()
            self._finder = None
            self.console.voice.offer_microphone(None)

    def _take_microphone(self) -> None:
        if self._finder is not None and (microphone := self._finder.found) is not None:
            self.opened.record_with(microphone)
            self._look_no_more()

    def _level(self) -> Any:
        recorder = self.opened.runner.recorder
        return recorder.level() if recorder is not None and self.opened.recording else None

    def _consent(self, name: str, drawing: str, uses: Mapping[str, bool]) -> bool:
        """Store the signature apart, and say whether it is; if that fails, the session waits and an
        alarm says why."""
        try:
            self.opened.give_consent(name, drawing, uses)
        except LabappError as error:
            self.opened.runner.send(Pause("consent not stored"), Source.SYSTEM)
            what = f"{error.what} {error.todo}".strip()
            self.opened.runner.emit(AlarmRaised("consent_not_stored", what))
            return False
        return True

    def _on_runner_change(self) -> None:
        runner = self.opened.runner
        if runner.stalled != self._stalled:
            self._stalled = runner.stalled
            # The console says so too; somebody at a terminal sees only this.
            say(STALLED if self._stalled else GOES_ON, err=True)
        self.keyboard.follow(finished=runner.finished)
        if runner.finished != self._over:
            self._over = runner.finished
            if self._over:
                # The end is shown first: to close a sound file may take a moment.
                QTimer.singleShot(0, self._finish)

    def _finish(self) -> None:
        """The session is over: nothing is recorded any more. It may still be taken back."""
        if not self._over or self._gone:
            return
        what = tr("closing.sound_failed")
        with mistakes.show_errors(self._fail, what, tr("closing.kept_until_then")):
            self.opened.stop_sound()
        if self._driver is not None:
            self._driver.stop()
            QTimer.singleShot(LINGER_MS, self._end)

    def _close_session(self) -> None:
        what = tr("closing.session_failed")
        with mistakes.show_errors(self._fail, what, tr("closing.kept_until_then")):
            self.opened.close(self._reason)

    def _fail(self, error: LabappError) -> None:
        self._failure = error
        self.failed.emit(error)

    def _report_stuck(self, error: LabappError) -> None:
        """The simulated participant does not get on: nobody would ever end this session."""
        self._fail(error)
        self._end()

    def _end(self) -> None:
        """Take the windows down and say how it went; only the first call does anything."""
        if self._gone:
            return
        self._gone = True
        ended = self.opened.runner.state.ended
        what = tr("closing.windows_failed")
        with mistakes.show_errors(self._fail, what, tr("closing.stored")):
            self._take_down(ended or "interrupted")
        whole = self._failure is None
        if self._signal and ended is None:
            stored = "Everything is stored. Continue" if whole else "Free some space, then continue"
            say(
                f"Interrupted ({self._signal}). {stored} with: "
                f"labapp sessions resume {self.opened.folder.path}",
                err=True,
            )
        self.closed.emit(COMPLETED if whole and ended == "completed" else ENDED_EARLY)

    def _take_down(self, reason: str) -> None:
        """Close the windows and the session: everything, though one of them goes wrong."""
        self._reason = reason
        self._down.close()

    # --- Ctrl+C and kill: the session stays whole and can be resumed ------------------------------

    def _catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._on_signal)
        self._signals.start()
        self._hook_before, sys.excepthook = sys.excepthook, self._program_error
        self._thread_hook_before, threading.excepthook = threading.excepthook, self._thread_error

    def _program_error(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """A mistake of ours must not end a session: Qt goes on, and the moderator is told."""
        self._tell_error(f"{kind.__name__}: {error}")
        self._hook_before(kind, error, trace)

    def _thread_error(self, failed: threading.ExceptHookArgs) -> None:
        """The same for a writer's thread, which does end: the alarm names it."""
        name = failed.thread.name if failed.thread else "a thread"
        self._tell_error(f"{name} ended: {failed.exc_type.__name__}: {failed.exc_value}")
        self._thread_hook_before(failed)

    def _tell_error(self, what: str) -> None:
        try:
            self.opened.runner.emit(AlarmRaised("program_error", what))
        except LabappError as closed:
            say(closed, err=True)

    def _release_signals(self) -> None:
        self._signals.stop()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        if self._hook_before is not None:
            sys.excepthook, self._hook_before = self._hook_before, None
            threading.excepthook, self._thread_hook_before = self._thread_hook_before, None

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signal = signal.Signals(number).name
        self._end()


def _past_peaks(opened: OpenSession) -> list[tuple[int, float]]:
    work = WorkingTime(opened.past)
    peaks = envelope(opened.folder.path, opened.past)
    return [(work.working_ns(t_ns), peak) for t_ns, peak in peaks]


class RemoteControl(QObject):
    """Other computers in the windows of a session: lets them join, and lets this console step aside
    while somebody else moderates."""

    def __init__(self, session: SessionController, keyboard: Keyboard) -> None:
        super().__init__(session)
        self._opened, self._console, self._keyboard = session.opened, session.console, keyboard
        self.host: RemoteHost | None = None
        self._tells, self._told = session.options.listen is not None, ""
        self.bar = OthersBar(PALETTE)
        session.console.add_others(self.bar)
        session.console.header.share.toggled.connect(self._want)
        self.bar.opened.connect(self.open)
        self.bar.closed.connect(self._stop)
        self.bar.taken_back.connect(self._take_back)
        self.bar.handed_over.connect(self._hand_over)
        self.bar.removed.connect(self._remove)
        self.bar.renewed.connect(self._renew)
        # The chord that brings the console to the front takes over where the link is lost.
        for brought in (session.participant.moderator_requested, session.console.toggle_requested):
            brought.connect(self._take_over_lost)

    def open(self, address: str) -> None:
        """Let others join at an address of this computer."""
        from labapp.session.remote.host import RemoteHost

        if self.host is None and not self._opened.runner.finished:
            self.host = RemoteHost(self._opened, [address], self._show)
            self._show()

    def close(self) -> None:
        """End all links, before the session is closed."""
        if self.host is not None:
            self.host.close()
            self.host = None

    def _stop(self) -> None:
        self.close()
        self._console.set_controls(True)
        self.bar.show_closed(addresses_here())

    def _want(self, wanted: bool) -> None:
        if self.host is None:
            self.bar.show_closed(addresses_here())
        self.bar.want(wanted)
        if self.host is not None:
            self._show()

    def _take_back(self) -> None:
        if self.host is not None:
            self.host.take_back()

    def _take_over_lost(self) -> None:
        host = self.host
        person = None if host is None else host.members.get(host.moderator)
        if host is not None and person is not None and not person.linked:
            host.take_back()

    def _hand_over(self, member: int) -> None:
        if self.host is not None:
            self.host.hand_over(member)

    def _remove(self, member: int) -> None:
        if self.host is not None:
            self.host.remove(member)

    def _renew(self) -> None:
        if self.host is not None:
            self.host.renew("moderator")
            self.host.renew("observer")

    def _show(self) -> None:
        host = self.host
        if host is None:
            return
        listening = host.listening
        if listening.problem:
            self.close()
            self._console.set_controls(True)
            self.bar.wanted = True
            self.bar.show_closed(addresses_here(), listening.problem)
            return
        lines = [
            PersonLine(
                member.number,
                member.name,
                member.role,
                member.linked,
                member.number == host.moderator,
                None if member.error_ns is None else member.error_ns / 1e6,
            )
            for member in host.members.values()
        ]
        here = not any(line.moderates for line in lines)
        if not here and self._console.controls:
            self._keyboard.give_back("button")
        self._console.set_controls(here)
        if listening.port:
            from labapp.session.remote.pairing import spoken  # cryptography is slow to load

            codes = [spoken(code) for code in listening.codes.values()] or ["", ""]
            where = where_of(listening.addresses[0], listening.port)
            self.bar.show_open(where, (codes[0], codes[1]), listening.attempts, lines)
            self._say(where, codes)

    def _say(self, where: str, codes: Sequence[str]) -> None:
        """Of a session that was started at the terminal with --listen, the codes are read there."""
        sentence = f"Others can join at {where}. To moderate: {codes[0]}. To observe: {codes[1]}."
        if self._tells and sentence != self._told and all(codes):
            self._told = sentence
            say(sentence, err=True)


def addresses_here() -> list[tuple[str, str]]:
    """Addresses of this computer at which another one can reach it, each with what is shown of it;
    last the one that only this computer reaches."""
    from PySide6.QtNetwork import QAbstractSocket, QNetworkInterface

    listed = []
    for interface in QNetworkInterface.allInterfaces():
        if not interface.flags() & QNetworkInterface.InterfaceFlag.IsUp:
            continue
        for entry in interface.addressEntries():
            address = entry.ip()
            ipv4 = address.protocol() == QAbstractSocket.NetworkLayerProtocol.IPv4Protocol
            if ipv4 and not address.isLoopback():
                text = address.toString()
                listed.append((f"{text} ({interface.humanReadableName()})", text))
    return [*listed, (f"127.0.0.1 ({tr('others.this_computer')})", "127.0.0.1")]


INTERVAL_MS = 33
LONGEST_NS = 1_000_000_000
"""A stretch is handed over after this time at the latest: a crash costs no more of it."""
NS_IN_MS = 1_000_000


class PointerPath(QObject):
    """Asks 30 times a second where the pointer is, and sends what it did since, stretch by stretch.

    It asks rather than listens: many widgets are told of a moving pointer only while a button is
    down. A stretch ends when the question changes, the pointer rests or leaves the window, or
    nobody can see what it points at (a pause, a wait).
    """

    def __init__(self, window: QWidget, runner: Runner) -> None:
        super().__init__(window)
        self._window = window
        self._runner = runner
        self._last: QPoint | None = None
        self._key: TrialKey = (None, None, None)
        self._began_ns = 0
        self._points: list[tuple[int, int, int]] = []
        self._timer = timers.make_repeating_timer(self, self._look, INTERVAL_MS)
        self._timer.start()

    def stop(self) -> None:
        """Hand over what is left, and look no more."""
        self._timer.stop()
        self.flush()

    def flush(self) -> None:
        """Hand over the stretch so far."""
        points, self._points = self._points, []
        if not points:
            return
        t_ms, x, y = zip(*points, strict=True)
        size = self._window.size()
        path = PointerMoved(self._began_ns, size.width(), size.height(), t_ms, x, y)
        self._runner.send(MovePointer(self._key, path))

    def _look(self) -> None:
        runner = self._runner
        key = runner.machine.trial_key(runner.state)
        place = self._window.mapFromGlobal(QCursor.pos())
        if key != self._key:
            self.flush()
            self._key = key
        away = not self._window.isVisible() or not self._window.rect().contains(place)
        # Before consent nothing is recorded of the hand, its drawn signature least of all.
        idle = runner.part is None or runner.part.consents
        rests, self._last = place == self._last, place
        if away or idle or runner.state.pauses.held or rests:
            self.flush()
            return
        now_ns = runner.clock.now_ns()
        if not self._points:
            self._began_ns = now_ns
        self._points.append(((now_ns - self._began_ns) // NS_IN_MS, place.x(), place.y()))
        if now_ns - self._began_ns >= LONGEST_NS:
            self.flush()
