"""The computer itself before and during a session: battery, pending restart, sleep, loudspeaker.

While a session runs, sleep and the screen saver are held off. Each system has its own way: on
Linux `systemd-inhibit` for sleep and the desktop's service `org.freedesktop.ScreenSaver` for the
screen, on macOS `caffeinate`, on Windows `SetThreadExecutionState`. All of them end with this
process, however it ends. What could not be held off is said.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot

from labapp.base.errors import AudioError
from labapp.ui import timers
from labapp.ui.background import Worker
from labapp.ui.language import tr
from labapp.ui.moderator.checklist import Computer

Kind = Literal["sleep", "screen"]
EVERYTHING: frozenset[Kind] = frozenset({"sleep", "screen"})
WHY = "A study session is running."
PATIENCE_S = 1.0
"""A system that has not answered by then does not hold anything off."""
RESTART = (Path("/run/reboot-required"), Path("/var/run/reboot-required"))
"""Where Debian, Ubuntu and their like say that updates wait for a restart."""
RESTART_KEY = r"SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired"
LOOK_MS = 10_000


def look_at_computer(held: frozenset[Kind] | None) -> Computer:
    """The computer as it is now. held: what could be held off when it was tried."""
    import psutil

    try:
        battery = psutil.sensors_battery()
    except (OSError, AttributeError, RuntimeError):  # a system that does not say
        battery = None
    if battery is None:
        return Computer(held=held, restart=wants_restart())
    plugged = battery.power_plugged is not False
    return Computer(round(battery.percent), plugged, held, wants_restart())


def wants_restart() -> bool:
    """Whether the system waits for a restart to finish its updates, as far as it tells."""
    if sys.platform == "win32":
        import winreg

        try:
            winreg.CloseKey(winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, RESTART_KEY))
        except OSError:
            return False
        return True
    return any(path.exists() for path in RESTART)


class Awake:
    """Holds off sleep and the screen saver between `hold` and `release`."""

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._screen = False
        self._state = False

    def hold(self) -> frozenset[Kind]:
        """Hold off what can be; returns what is."""
        self.release()
        match sys.platform:
            case "darwin":
                return self._hold_by_command("caffeinate", "-dims", "-w", str(os.getpid()))
            case "win32":
                return self._set_state(on=True)
        # `cat` ends with the pipe from this process, and with it what is held off.
        sleep = self._hold_by_command(
            *("systemd-inhibit", "--what=sleep:idle", "--who=labapp", f"--why={WHY}"),
            *("--mode=block", "sh", "-c", "echo held; exec cat"),
            answers=True,
        )
        self._screen = _hold_off_screen_saver()
        return (sleep - {"screen"}) | ({"screen"} if self._screen else set())

    def release(self) -> None:
        """Hold off nothing any more. Harmless when nothing is."""
        for child in self._children:
            with suppress(OSError):
                child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
        self._children.clear()
        if self._screen:
            self._screen = False
            _let_screen_saver_go()
        if self._state:
            self._set_state(on=False)

    def _hold_by_command(
        self, command: str, *arguments: str, answers: bool = False
    ) -> frozenset[Kind]:
        """Run a command that holds off for as long as it runs. answers: it prints a line once it
        does."""
        program = shutil.which(command)
        if program is None:
            return frozenset()
        try:
            child = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return frozenset()
        self._children.append(child)
        if answers:
            assert child.stdout is not None
            ready, _, _ = select.select([child.stdout], [], [], PATIENCE_S)
            holds = bool(ready) and bool(child.stdout.readline())
        else:
            holds = child.poll() is None
        return EVERYTHING if holds else frozenset()

    def _set_state(self, *, on: bool) -> frozenset[Kind]:
        """Tell Windows whether this thread needs system and display."""
        continuous, system, display = 0x80000000, 0x1, 0x2
        flags = continuous | (system | display if on else 0)
        done = ctypes.windll.kernel32.SetThreadExecutionState(flags)  # type: ignore[attr-defined,unused-ignore]
        self._state = on and bool(done)
        return EVERYTHING if self._state else frozenset()


BUS = "labapp-awake"
"""A connection to the desktop for nothing else: when it ends, the desktop takes the wish back."""


def _hold_off_screen_saver() -> bool:
    """Ask the desktop to hold off its screen saver until the connection ends; whether it does."""
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS") and not _has_usual_bus():
        return False
    from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage

    bus = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, BUS)
    if not bus.isConnected():
        return False
    name = "org.freedesktop.ScreenSaver"
    wish = QDBusMessage.createMethodCall(name, "/org/freedesktop/ScreenSaver", name, "Inhibit")
    wish.setArguments(["labapp", WHY])
    answer = bus.call(wish, QDBus.CallMode.Block, round(PATIENCE_S * 1000))
    return answer.type() == QDBusMessage.MessageType.ReplyMessage


def _let_screen_saver_go() -> None:
    from PySide6.QtDBus import QDBusConnection

    QDBusConnection.disconnectFromBus(BUS)


def _has_usual_bus() -> bool:
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return bool(folder) and Path(folder or "", "bus").exists()


class ComputerWatch(QObject):
    """Looks at the computer while the home is on the screen. changed(Computer): it is another than
    before. What can be held off is tried once, in a thread, for it may take a moment."""

    changed = Signal(object)
    _tried = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: Computer | None = None
        self._held: frozenset[Kind] | None = None
        self._worker = Worker("computer")
        self._timer = timers.make_repeating_timer(self, self.look, LOOK_MS)
        self._tried.connect(self._keep_held)

    def begin(self) -> None:
        """Look now, and again and again."""
        self._timer.start()
        if self._held is None and not self._worker.there:
            self._worker.submit(try_hold).add_done_callback(self._tried.emit)
        self.look()

    def rest(self) -> None:
        """Look no more; what is being tried is waited for."""
        self._timer.stop()
        self._worker.close(finish=True)

    def look(self) -> None:
        """Check once, and report what has changed."""
        now = look_at_computer(self._held)
        if now != self.known:
            self.known = now
            self.changed.emit(now)

    @Slot(object)
    def _keep_held(self, done: Future[frozenset[Kind]]) -> None:
        self._held = done.result()
        if self._timer.isActive():
            self.look()


def try_hold() -> frozenset[Kind]:
    """The things that can be turned off on this computer, tried for a moment."""
    awake = Awake()
    try:
        return awake.hold()
    finally:
        awake.release()


TONE_S, TONE_RATE = 1.5, 48_000
Loudspeaker = Literal["untested", "playing", "asked", "heard", "unheard"]


def play_tone() -> None:
    """Play a soft tone on the system's loudspeaker, to its end. Raises AudioError."""
    import numpy as np

    from labapp.record.audio.check import TONE_DBFS, TONE_HZ
    from labapp.record.audio.player import DEFAULT, open_output

    output = open_output(DEFAULT, TONE_RATE)
    late = threading.Timer(TONE_S + 4.0, output.close)
    late.start()
    try:
        length = round(TONE_S * output.rate)
        wave = np.sin(2 * np.pi * TONE_HZ * np.arange(length) / output.rate)
        fade = np.minimum(1.0, np.minimum(np.arange(length), np.arange(length)[::-1]) / 960)
        tone = 10 ** (TONE_DBFS / 20) * 32767 * wave * fade
        output.write(tone.astype("<i2").tobytes())
        for report in output.reports():
            if report.first + report.samples >= length:
                time.sleep(report.latency_s)
                return
        raise AudioError(tr("loudspeaker.stopped"))
    finally:
        late.cancel()
        output.close()


class LoudspeakerTest(QObject):
    """Plays a tone and asks whether it was heard. changed(state, problem): what is known now."""

    changed = Signal(str, str)
    _played = Signal(object)

    def __init__(self, parent: QObject | None = None, play: Callable[[], None] = play_tone) -> None:
        super().__init__(parent)
        self.state: Loudspeaker = "untested"
        self._play = play
        self._worker = Worker("loudspeaker")
        self._played.connect(self._ask)

    def begin(self) -> None:
        """Play the tone, unless it is being played."""
        if self.state == "playing":
            return
        self._set("playing")
        self._worker.submit(self._play).add_done_callback(self._played.emit)

    def answer(self, heard: bool) -> None:
        """The moderator heard it, or did not."""
        self._set("heard" if heard else "unheard")

    def close(self) -> None:
        """Wait for a tone that is being played, and end the thread."""
        self._worker.close(finish=True)
        if self.state == "playing":
            self._set("untested")

    @Slot(object)
    def _ask(self, done: Future[None]) -> None:
        if not self._worker.there:
            return  # nobody waits for it any more
        error = done.exception()
        if error is None:
            self._set("asked")
        else:
            self._set("unheard", error.what if isinstance(error, AudioError) else str(error))

    def _set(self, state: Loudspeaker, problem: str = "") -> None:
        self.state = state
        self.changed.emit(state, problem)
