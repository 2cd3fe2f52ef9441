"""Windows are tested offscreen, on screens of a real size, with a real session behind them."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from labapp.analysis.checking import check_study
from labapp.base.errors import NoMicrophone
from labapp.record.audio import devices
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Pause
from labapp.session import gate
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.loading import LoadedStudy
from labapp.study.overview import Checked
from labapp.ui import controller, strings
from labapp.ui.home import HomeController
from labapp.ui.language import ENGLISH, speak
from labapp.ui.moderator import console_header
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import CodingWindow, open_coding_window
from labapp.ui.strings import strings_of, words_of
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.rooms import SHIPPED, Room, make_runner, skip_to
from tests.ui.desk import desk as desk

# The platform's own screen is 800 x 800. Read when the application is made, which is later.
os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).parent / 'screens.json'}"

OpenRoom = Callable[..., Room]
OpenWindow = Callable[..., ParticipantWindow]


@pytest.fixture(autouse=True)
def _nothing_remembered(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No home begins with what another test chose on one."""
    with tempfile.TemporaryDirectory(dir=tmp_path_factory.getbasetemp()) as folder:
        monkeypatch.setenv("LABAPP_SETTINGS", folder)
        yield


@pytest.fixture(autouse=True)
def speaks() -> Iterator[Callable[[str], None]]:
    """Has the moderator's windows speak another language; afterwards they speak English again."""
    yield speak
    speak(ENGLISH)


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each session settled the memory (True) or gave it back (False), in order.

    It is not done: what a whole run of tests keeps would be looked at again after each session,
    which takes seconds. That it works is tested in a process of its own.
    """
    told: list[bool] = []
    monkeypatch.setattr(controller, "settle_memory", lambda: told.append(True))
    monkeypatch.setattr(controller, "unsettle_memory", lambda: told.append(False))
    return told


@pytest.fixture(autouse=True, scope="session")
def _words_are_checked_once() -> Iterator[None]:
    """Each window on a study checks its words, a sixth of the time that it takes to open."""
    checked: dict[tuple[int, bool], tuple[LoadedStudy, dict[str, str]]] = {}

    def words(loaded: LoadedStudy, *, begun: bool = False) -> dict[str, str]:
        key = id(loaded), begun  # which no other study gets as long as this one is kept
        if key not in checked:
            checked[key] = loaded, words_of(loaded, begun=begun)
        if len(checked) > 20:
            del checked[next(iter(checked))]
        return checked[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "words_of", words)
        yield


@pytest.fixture(autouse=True, scope="session")
def _shipped_studies_are_checked_once() -> Iterator[None]:
    """Each session that is opened checks its study, a third of the time that it takes to begin."""
    checked: dict[str, Checked] = {}
    usual = os.environ["LABAPP_MODELS"]

    def check(study: str | Path, *how: Any) -> Checked:
        own = os.environ["LABAPP_MODELS"] != usual or how != (gate.check_predictable, None)
        if own or study not in SHIPPED:
            return check_study(study, *how)
        if study not in checked:
            checked[str(study)] = check_study(study, *how)
        return checked[str(study)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "check_study", check)
        yield


@pytest.fixture(autouse=True)
def _armed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What destroys something takes clicks at once; tests of just that set it back."""
    monkeypatch.setattr(console_header, "ARMED_MS", 0)


FOR_GOOD = ("graph-watcher",)
"""Threads of the whole program: the first that needs one begins it."""


@pytest.fixture(autouse=True)
def _nothing_left(qapp: QApplication) -> Iterator[None]:
    """Fails a test that leaves a thread, a window, a running timer or a mouse button held down."""
    threads = set(threading.enumerate())
    gc.freeze()  # what is there already is not looked at again: this makes the checks quick
    yield
    begun = {thread for thread in threading.enumerate() if thread.name not in FOR_GOOD} - threads
    for thread in begun:
        thread.join(60)  # one that opens a loudspeaker ends once that has answered
    left = [thread.name for thread in begun if thread.is_alive()]
    assert not left, f"threads left running: {left}"
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    windows = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
    for window in windows:
        window.hide()  # so that the next test begins clean
    assert not windows, f"windows left open: {windows}"
    running = [timer for timer in _timers() if timer.isActive()]
    for timer in running:
        timer.stop()
    assert not running, f"timers left running: {running}"
    held = [button for button in Qt.MouseButton if button & QApplication.mouseButtons()]
    for button in held:  # or no click of the next test would be one
        QTest.mouseRelease(QWidget(), button)
    assert not held, f"mouse buttons left down: {held}"


def _timers() -> list[QTimer]:
    """The timers that Python made and that still have their C++ half. By type: torch keeps objects
    whose `__class__` warns when it is asked for."""
    from shiboken6 import isValid

    objects = gc.get_objects()
    timers = {kind for kind in set(map(type, objects)) if issubclass(kind, QTimer)}
    return [thing for thing in objects if type(thing) in timers and isValid(thing)]


def _quickstart(folder: Path, **how: Any) -> Path:
    """A session of three minutes: who knows the dials solves at once."""
    return simulate_study("quickstart", 1, "knowing", folder / "data", 1, **how)[0]


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of the study quickstart, of which each test takes a copy."""
    return _quickstart(tmp_path_factory.mktemp("simulated"))


@pytest.fixture(scope="session")
def thinking_aloud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, of a participant who thinks aloud."""
    return _quickstart(tmp_path_factory.mktemp("spoken"), thinks_aloud=True)


@pytest.fixture
def recorded(simulated: Path, tmp_path: Path) -> Path:
    """A copy of the session of the quickstart for one test, with ten units and a codebook."""
    path = Path(shutil.copytree(simulated, tmp_path / "quickstart" / simulated.name))
    add_codebook(path.parent)
    add_units(path, 10)
    return path


@pytest.fixture
def open_coding(recorded: Path) -> Iterator[Callable[..., CodingWindow]]:
    """Opens the window of a rater of this session, or of another; closed after the test."""
    windows: list[CodingWindow] = []

    def open_one(rater: str = "anna", *, of: Path = recorded, **how: Any) -> CodingWindow:
        coding = open_coding_window(of, CodingRequest(rater, **how))
        coding.window.resize(1366, 768)
        coding.window.open(0)
        coding.window.activateWindow()
        QApplication.processEvents()
        windows.append(coding)
        return coding

    yield open_one
    for coding in windows:
        coding.window.close()
        coding.window.deleteLater()


@pytest.fixture
def no_microphone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A computer without a microphone."""

    def none(**_: object) -> list[devices.Device]:
        raise NoMicrophone("No microphone was found.")

    monkeypatch.setattr(devices, "list_devices", none)


@pytest.fixture
def open_home(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., HomeController]]:
    """Opens a home on the test's data; after the test it is closed, a session begun there ended."""
    homes: list[HomeController] = []

    def open_one(data: Path | None = None) -> HomeController:
        homes.append(HomeController(data or tmp_path / "data", tmp_path / "private"))
        homes[-1].show()
        return homes[-1]

    yield open_one
    for home in homes:
        if home.session is not None:
            home.session.opened.runner.send(EndSession("test over"), Source.MODERATOR)
            home.session.console.done_requested.emit()
        home.window.close()
        home.window.deleteLater()


@pytest.fixture
def home(no_microphone: None, open_home: Callable[..., HomeController]) -> HomeController:
    return open_home()


@pytest.fixture
def open_room(tmp_path: Path, qapp: QApplication) -> Iterator[OpenRoom]:
    """`make_runner` with Qt's event loop as scheduler and `room.bridge`; closed after the test, and
    before it the consoles that show it.

    Other windows on a room are closed by their test (or its fixture) first.
    """
    rooms: list[Room] = []

    def open_one(study: str | Path = "quickstart", participant: str = "P01", **more: Any) -> Room:
        room = make_runner(
            tmp_path / str(len(rooms)), study, participant, scheduler=QtScheduler, **more
        )
        room.bridge = Bridge(room.runner)
        rooms.append(room)
        return room

    yield open_one
    for console in QApplication.topLevelWidgets():
        if isinstance(console, ConsoleWindow):
            console.shut()
            console.deleteLater()
    for room in rooms:
        room.session.close("test over")
        for part in (room.bridge, room.runner.scheduler):
            part.deleteLater()


@pytest.fixture
def open_window(open_room: OpenRoom, qapp: QApplication) -> Iterator[OpenWindow]:
    """The participant's window on a room that has begun, shown and active. at: the part that the
    session has come to by then; no screen before it is made. paused: it pauses there."""
    windows: list[ParticipantWindow] = []

    def open_one(room: Room, at: str = "", paused: bool = False) -> ParticipantWindow:
        if at:
            room.session.begin()
            skip_to(room, at)
        if paused:
            room.runner.send(Pause("moderator"), Source.MODERATOR)
        window = ParticipantWindow(
            room.bridge,
            room.loaded,
            strings_of(room.loaded),
            room.loaded.study.presentation,
            room.session.give_consent,
        )
        windows.append(window)
        if not at:
            room.session.begin()
        window.open_on()
        window.activateWindow()
        qapp.processEvents()
        return window

    yield open_one
    for window in windows:
        window.close_for_good()
        window.deleteLater()
