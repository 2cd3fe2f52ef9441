"""The computer before and during a session: battery, restart, sleep, loudspeaker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from labapp.base.errors import AudioError
from labapp.ui import computer
from labapp.ui.computer import EVERYTHING, Awake, ComputerWatch, LoudspeakerTest, play_tone
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import Computer
from tests.helpers.heard import Monitor
from tests.helpers.waiting import wait_for
from tests.sound import VirtualMicrophone, microphone, sound_server

__all__ = ["microphone", "sound_server"]

RATE = 48_000
INHIBITS = """#!/bin/sh
echo "$@" >> {log}
while [ "$1" != sh ]; do shift; done
"$@"
echo ended >> {log}
"""
"""A system that holds off sleep for as long as a command runs, as systemd-inhibit does."""
REFUSES = "#!/bin/sh\nexit 1\n"
DESKTOP = """
import sys
from PySide6.QtCore import QCoreApplication
from PySide6.QtDBus import QDBusConnection, QDBusServiceWatcher, QDBusVirtualObject
app = QCoreApplication([])
watchers = []
class Saver(QDBusVirtualObject):
    def introspect(self, path): return ""
    def handleMessage(self, message, bus):
        print(message.member(), *message.arguments(), flush=True)
        kind = QDBusServiceWatcher.WatchModeFlag.WatchForUnregistration
        watchers.append(QDBusServiceWatcher(message.service(), bus, kind))
        watchers[-1].serviceUnregistered.connect(lambda name: print("let go", flush=True))
        return bus.send(message.createReply(7))
bus, saver = QDBusConnection.sessionBus(), Saver()
option = QDBusConnection.VirtualObjectRegisterOption.SingleNode
assert bus.registerVirtualObject("/org/freedesktop/ScreenSaver", saver, option)
assert bus.registerService("org.freedesktop.ScreenSaver")
print("ready", flush=True)
app.exec()
"""
HOLDS = """
import sys
from labapp.ui.computer import Awake
awake = Awake()
print(sorted(awake.hold()), flush=True)
sys.stdin.readline()
awake.release()
sys.stdin.readline()
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the commands of the system; no desktop answers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return folder


def put(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def test_a_command_holds_sleep_off_until_it_is_released(system: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    put(system / "systemd-inhibit", INHIBITS.format(log=log))
    awake = Awake()
    assert awake.hold() == {"sleep"}, "no desktop holds the screen saver off"
    (line,) = log.read_text().splitlines()
    assert line.startswith("--what=sleep:idle --who=labapp")
    awake.release()
    awake.release()
    assert not awake._children


def test_it_ends_with_the_program_however_that_ends(system: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    put(system / "systemd-inhibit", INHIBITS.format(log=log))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "['sleep']\n"
        child.send_signal(signal.SIGKILL)
    wait_for(lambda: "ended" in log.read_text())


@pytest.mark.parametrize("answer", [REFUSES, ""])
def test_what_refuses_or_is_not_there_holds_nothing(
    system: Path, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer:
        put(system / "systemd-inhibit", answer)
    else:
        monkeypatch.setenv("PATH", str(system))
    awake = Awake()
    assert awake.hold() == frozenset()
    awake.release()


def test_macs_have_a_command_for_both(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(system / "caffeinate", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(sys, "platform", "darwin")
    awake = Awake()
    assert awake.hold() == EVERYTHING
    (child,) = awake._children
    awake.release()
    assert child.poll() is not None


@pytest.mark.skipif(shutil.which("dbus-run-session") is None, reason="dbus is not installed")
def test_a_desktop_holds_the_screen_saver_off_until_the_connection_ends(tmp_path: Path) -> None:
    script = tmp_path / "both.py"
    script.write_text(
        "import subprocess, sys\n"
        f"desktop = subprocess.Popen([sys.executable, '-c', {DESKTOP!r}], stdout=-1, text=True)\n"
        "assert desktop.stdout.readline() == 'ready\\n'\n"
        f"holder = subprocess.Popen([sys.executable, '-c', {HOLDS!r}], stdin=-1, stdout=-1, "
        "text=True)\n"
        "assert 'screen' in holder.stdout.readline()\n"
        "print(desktop.stdout.readline().strip())\n"
        "holder.stdin.write('\\n'); holder.stdin.flush()\n"
        "print(desktop.stdout.readline().strip(), holder.poll())\n"
        "holder.communicate('\\n'); desktop.terminate(); desktop.wait()\n"
    )
    command = ["dbus-run-session", "--", sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = ["Inhibit labapp A study session is running.", "let go None"]
    assert done.stdout.splitlines() == lines, done.stderr


def test_a_pending_restart_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer, "RESTART", (tmp_path / "reboot-required",))
    assert not computer.wants_restart()
    (tmp_path / "reboot-required").touch()
    assert computer.look_at_computer(None).restart


@pytest.mark.parametrize(
    ("known", "state", "text"),
    [
        (Computer(), "busy", "Checking"),
        (Computer(held=EVERYTHING), "ok", "are turned off during a session"),
        (Computer(80, held=EVERYTHING), "ok", "Battery 80\N{NO-BREAK SPACE}%, plugged in."),
        (Computer(80, False, EVERYTHING), "warn", "Plug the computer in for a long session."),
        (Computer(31, False, EVERYTHING), "warn", "Plug the computer in."),
        (Computer(held=frozenset({"screen"})), "warn", "labapp cannot turn off sleep mode on"),
        (Computer(held=frozenset({"sleep"})), "warn", "labapp cannot turn off the screen saver"),
        (
            Computer(held=frozenset()),
            "warn",
            "labapp cannot turn off sleep mode and the screen saver",
        ),
        (Computer(held=EVERYTHING, restart=True), "warn", "Restart the computer"),
    ],
)
def test_what_is_said_of_the_computer(known: Computer, state: str, text: str) -> None:
    row = checklist.computer_row(known)
    assert (row.state, row.blocks) == (state, False)
    assert text in row.text


def test_the_home_is_told_once_something_changes(
    system: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(system / "systemd-inhibit", INHIBITS.format(log=tmp_path / "log"))
    monkeypatch.setattr(computer, "RESTART", (tmp_path / "reboot-required",))
    watch = ComputerWatch()
    told: list[Computer] = []
    watch.changed.connect(told.append)
    watch.begin()
    qtbot.waitUntil(lambda: bool(told) and told[-1].held == {"sleep"})
    heard = len(told)
    watch.look()
    assert len(told) == heard, "nothing new is no news"
    (tmp_path / "reboot-required").touch()
    watch.look()
    assert told[-1].restart
    watch.rest()


@contextmanager
def loudspeaker_test(play: object) -> Iterator[tuple[LoudspeakerTest, list[tuple[str, str]]]]:
    test = LoudspeakerTest(play=play)  # type: ignore[arg-type]
    told: list[tuple[str, str]] = []
    test.changed.connect(lambda state, problem: told.append((state, problem)))
    try:
        yield test, told
    finally:
        test.close()


def test_a_tone_is_played_in_a_thread_and_asked_about(qtbot: QtBot) -> None:
    go_on = threading.Event()
    with loudspeaker_test(lambda: go_on.wait(60)) as (test, told):
        test.begin()
        test.begin()
        assert told == [("playing", "")]
        go_on.set()
        qtbot.waitUntil(lambda: told[-1] == ("asked", ""))
        test.answer(True)
        assert told[-1] == ("heard", "")


def test_where_no_tone_can_be_played_it_says_why(qtbot: QtBot) -> None:
    def fails() -> None:
        raise AudioError("There is no output.")

    with loudspeaker_test(fails) as (test, told):
        test.begin()
        qtbot.waitUntil(lambda: told[-1] == ("unheard", "There is no output."))


@pytest.mark.sound
def test_the_tone_comes_out_of_the_loudspeaker(microphone: VirtualMicrophone) -> None:
    monitor = Monitor(RATE)
    wait_for(lambda: monitor.hears)
    play_tone()
    samples, _ = monitor.stop()
    spectrum = np.abs(np.fft.rfft(samples))
    loudest_hz = np.fft.rfftfreq(samples.size, 1 / RATE)[spectrum.argmax()]
    assert abs(loudest_hz - 1000) < 5
    assert np.count_nonzero(np.abs(samples) > 500) / RATE > 1.0, "all of it, not its begin"
