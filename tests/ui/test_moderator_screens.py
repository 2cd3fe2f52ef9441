"""Screens that come and go: the tests' platform has two real (offscreen) ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.errors import JournalError
from labapp.record.events import Payload
from labapp.record.events.lifecycle import ScreenChanged
from labapp.ui.keyboard import NumberCards, ScreenWatcher, choices, name_of, preferred
from labapp.ui.moderator.console import ConsoleWindow
from tests.helpers.rooms import Room


class Plugs(QObject):
    """The real screens, plugged in and out by hand."""

    screenAdded = Signal(object)
    screenRemoved = Signal(object)

    def __init__(self, screens: list[QScreen]) -> None:
        super().__init__()
        self.plugged = list(screens)

    def screens(self) -> list[QScreen]:
        return list(self.plugged)

    def unplug(self, screen: QScreen) -> None:
        self.plugged.remove(screen)
        self.screenRemoved.emit(screen)

    def plug(self, screen: QScreen) -> None:
        self.plugged.append(screen)
        self.screenAdded.emit(screen)


@pytest.fixture
def two() -> list[QScreen]:
    screens = QGuiApplication.screens()
    assert len(screens) == 2
    return screens


@pytest.fixture
def windows(qapp: QApplication) -> Iterator[tuple[QWidget, QWidget]]:
    made = QLabel("participant"), QLabel("console")
    yield made
    for window in made:
        window.close()
        window.deleteLater()


class Setup:
    def __init__(self, screens: list[QScreen], emit: Callable[[Payload], None]) -> None:
        self.plugs = Plugs(screens)
        self.watcher = ScreenWatcher(emit, self.plugs)


def test_choices_and_the_preferred_screen(two: list[QScreen]) -> None:
    first, second = choices(two)
    assert (first.number, first.name, first.width, first.height) == (1, "first", 1366, 768)
    assert second.label == "2 · second · 1920 × 1080"
    assert preferred(two, two[0]) == "second"
    assert preferred(two[:1], two[0]) == "first"
    assert preferred([], None) is None


def test_two_screens_one_window_on_each(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    setup = Setup(two, lambda payload: None)
    setup.watcher.attach(participant, console, "second")
    assert participant.isFullScreen()
    assert participant.geometry() == two[1].geometry()
    assert two[0].geometry().contains(console.geometry().center())
    assert not setup.watcher.alone
    setup.watcher.detach()


def test_without_a_name_the_primary_screen_is_the_moderators(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    """As the home chooses: `labapp run` and `sessions resume` name no screen."""
    participant, console = windows
    primary = QGuiApplication.primaryScreen()
    other = next(screen for screen in two if screen is not primary)
    for order in (two, two[::-1]):
        setup = Setup(order, lambda payload: None)
        setup.watcher.attach(participant, console)
        assert setup.watcher.screen_of(participant) is other
        assert setup.watcher.screen_of(console) is primary
        assert participant.geometry() == other.geometry()
        assert setup.watcher.where == (
            f"Screens: participant on {name_of(other)}, console on {name_of(primary)}."
        )
        setup.watcher.detach()
        participant.hide()
        console.hide()


def test_the_participants_screen_is_unplugged(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(participant, console, "second")
    setup.plugs.unplug(two[1])
    assert events == [ScreenChanged("removed", "second", 1)]
    assert participant.isFullScreen()
    assert participant.geometry() == two[0].geometry()
    assert setup.watcher.alone
    setup.plugs.plug(two[1])
    assert events[1:] == [ScreenChanged("added", "second", 2)]
    # The participant stays; the console takes the screen that came back.
    assert participant.geometry() == two[0].geometry()
    assert two[1].geometry().contains(console.geometry().center())
    setup.watcher.detach()


def test_the_consoles_screen_is_unplugged(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(participant, console, "second")
    setup.plugs.unplug(two[0])
    assert participant.geometry() == two[1].geometry()
    assert two[1].geometry().contains(console.geometry().center())
    setup.watcher.detach()


def test_the_last_screen_goes_and_comes_back(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two[:1], events.append)
    setup.watcher.attach(participant, console)
    assert setup.watcher.alone
    setup.plugs.unplug(two[0])
    assert setup.watcher.screen_of(participant) is None
    setup.plugs.plug(two[1])
    assert participant.geometry() == two[1].geometry()
    assert setup.watcher.screen_of(console) is two[1]
    setup.watcher.detach()


def test_a_detached_watcher_is_quiet(two: list[QScreen], windows: tuple[QWidget, QWidget]) -> None:
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(*windows)
    setup.watcher.detach()
    setup.plugs.unplug(two[1])
    assert events == []


def test_a_screen_that_goes_while_the_session_closes_is_no_crash(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    def refuse(payload: Payload) -> None:
        raise JournalError("The journal is closed.")

    setup = Setup(two, refuse)
    setup.watcher.attach(*windows, "second")
    setup.plugs.unplug(two[1])
    assert windows[0].geometry() == two[0].geometry()
    setup.watcher.detach()


def test_by_default_it_watches_the_application(qapp: QApplication) -> None:
    events: list[Payload] = []
    watcher = ScreenWatcher(events.append)
    qapp.screenRemoved.emit(qapp.screens()[1])
    assert [payload.as_dict()["change"] for payload in events] == ["removed"]
    qapp.screenRemoved.disconnect(watcher._removed)
    qapp.screenAdded.disconnect(watcher._added)


def test_an_unplugged_screen_is_an_alarm_on_the_console_and_an_event(
    open_room: Callable[..., Room], two: list[QScreen], windows: tuple[QWidget, Any]
) -> None:
    room = open_room()
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    room.session.begin()
    setup = Setup(two, room.runner.emit)
    setup.watcher.attach(windows[0], console, "second")
    setup.plugs.unplug(two[1])
    console.refresh()
    assert room.last("screen.changed")["screen"] == "second"
    said = console.alarms.chips[0].text.text()
    assert said.startswith("Screen second is gone: one screen is left. Plug it in again")
    setup.watcher.detach()


def test_numbered_cards_stand_on_their_screens_and_go_by_themselves(
    two: list[QScreen], qtbot: QtBot
) -> None:
    cards = NumberCards()
    cards.show(two, seconds=0.05)
    shown = list(cards.cards)
    assert [card.findChildren(QLabel)[0].text() for card in shown] == ["1", "2"]
    for card, screen in zip(shown, two, strict=True):
        assert screen.geometry().contains(card.geometry())
    assert name_of(two[1]) in shown[1].findChildren(QLabel)[1].text()
    qtbot.waitUntil(lambda: cards.cards == [])
    cards.show(two)
    cards.hide()
    assert cards.cards == []
