"""When the console draws: not without news, not without an end, and behind the hand."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Resume
from labapp.tasks.reconstruction.events import MoveDial
from labapp.ui.moderator.console import SECOND_TICKS
from tests.helpers.rooms import skip_to
from tests.ui.desk import Desk
from tests.ui.quiet import restless_widgets


def test_a_refresh_without_news_repaints_nothing_of_the_mirror(desk: Desk) -> None:
    skip_to(desk.room, "stage-1")
    desk.console.refresh()
    QApplication.processEvents()
    picture = desk.console.mirror.shown.picture
    assert picture is not None
    while not desk.console.mirror.shown.rests:
        desk.console.refresh()
    drawn: list[int] = []
    draw = picture.draw
    picture.draw = lambda *room: drawn.append(1) or draw(*room)  # type: ignore[method-assign]
    while desk.console._ticks % SECOND_TICKS == 0:
        desk.console.refresh()
    drawn.clear()
    desk.console.refresh()
    assert drawn == []
    desk.runner.send(MoveDial(0, 0.1, "mouse"))
    desk.console.refresh()
    assert drawn == [1]


@pytest.mark.parametrize("width", [900, 1366, 1920])
def test_nothing_is_laid_out_while_nothing_happens(desk: Desk, width: int) -> None:
    desk.console.resize(width, 768)
    header, runner = desk.console.header, desk.runner
    assert not restless_widgets()
    header.press_pause()
    assert not restless_widgets()
    header.press_pause()
    assert not restless_widgets()
    header.press_pause()
    header.ask_end()
    assert not restless_widgets()
    runner.send(Resume("moderator"), Source.MODERATOR)
    skip_to(desk.room, "stage-1")
    desk.wait(1)
    assert not restless_widgets()
    runner.send(EndSession("test"), Source.MODERATOR)
    desk.wait(1)
    assert not restless_widgets()


class _Probe(QWidget):
    """A widget that writes down when it is painted."""

    def __init__(self, order: list[str]) -> None:
        super().__init__()
        self.order = order

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.order.append("painted")


def test_while_a_hand_moves_the_console_draws_right_behind_the_picture(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    order: list[str] = []
    probe = _Probe(order)
    qtbot.addWidget(probe)
    probe.show()
    QApplication.processEvents()
    console, bridge = desk.console, desk.room.bridge
    console._timer.stop()
    monkeypatch.setattr(console, "refresh", lambda **_: order.append("console"))
    bridge.changed.connect(probe.update)
    bridge.changed.emit()
    console._tick()
    console._later.stop()  # however slow this machine is, only the next picture makes it draw
    QApplication.processEvents()
    assert "console" not in order
    order.clear()
    bridge.changed.emit()
    qtbot.waitUntil(lambda: "console" in order)
    assert order == ["painted", "console"]
    bridge.changed.emit()
    console._tick()
    qtbot.waitUntil(lambda: order.count("console") == 2)  # the hand has stopped
