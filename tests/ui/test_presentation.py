"""Pictures are said to be on the screen when they are, and not before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QExposeEvent, QGuiApplication, QPainter, QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from labapp.ui.presentation import DueTimer, Presenter, refresh_ms


class Sheet(QWidget):
    """Paints a colour, and keeps what it painted when."""

    def __init__(self) -> None:
        super().__init__()
        self.tone = "black"
        self.painted: list[tuple[str, int]] = []
        self.presenter: Presenter | None = None

    def show_tone(self, tone: str) -> None:
        self.tone = tone

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self.tone))
        painter.end()
        self.painted.append((self.tone, time.perf_counter_ns()))
        if self.presenter is not None:
            self.presenter.painted()


@pytest.fixture
def sheet(qapp: QApplication) -> Iterator[Sheet]:
    window = QWidget()
    made = Sheet()
    QVBoxLayout(window).addWidget(made)
    window.resize(300, 300)
    window.show()
    qapp.processEvents()
    made.painted.clear()
    yield made
    window.close()
    window.deleteLater()


class Told(list[tuple[int, str]]):
    def __call__(self, at_ns: int, shown_by: str) -> None:
        self.append((at_ns, shown_by))


def test_a_picture_is_shown_when_its_paint_was_flushed(sheet: Sheet) -> None:
    sheet.presenter, told = Presenter(sheet, framed=False), Told()
    before = time.perf_counter_ns()
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    [(tone, painted)] = sheet.painted
    [(at, shown_by)] = told
    assert (tone, shown_by) == ("red", "flush")
    assert before < painted <= at <= time.perf_counter_ns()
    assert not sheet.presenter.busy


def test_with_frames_it_is_shown_when_the_second_request_is_answered(
    sheet: Sheet, qtbot: QtBot
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=True), Told()
    answered: list[int] = []
    handle = sheet.window().windowHandle()
    assert handle is not None

    class Watch(QWidget):
        def eventFilter(self, watched: object, event: QEvent) -> bool:
            if event.type() == QEvent.Type.UpdateRequest:
                answered.append(time.perf_counter_ns())
            return False

    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    watch = Watch()
    handle.installEventFilter(watch)  # the last one installed sees events first
    assert not sheet.painted
    assert not told
    qtbot.waitUntil(lambda: bool(told))
    handle.removeEventFilter(watch)
    [(_, painted)], [(at, shown_by)] = sheet.painted, told
    assert shown_by == "frame"
    assert len(answered) == 2
    assert answered[0] < painted < answered[1] <= at


@pytest.mark.parametrize("framed", [False, True])
def test_nothing_is_said_of_a_picture_that_was_taken_back(
    sheet: Sheet, qtbot: QtBot, framed: bool
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=framed), Told()
    if framed:
        sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    else:
        sheet.window().hide()
        sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    assert sheet.presenter.busy
    sheet.presenter.cancel()
    sheet.window().show()
    qtbot.wait(60)
    assert not told


@pytest.mark.parametrize("framed", [False, True])
def test_a_window_that_is_not_there_shows_nothing_until_it_is(
    sheet: Sheet, qtbot: QtBot, framed: bool
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=framed), Told()
    sheet.window().hide()
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    qtbot.wait(60)
    assert not told
    again = time.perf_counter_ns()
    sheet.window().show()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0][0] > again
    assert sheet.painted[-1][0] == "red"


def test_an_unexposed_window_shows_nothing(
    sheet: Sheet, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minimised window is still painted by some platforms."""
    exposed = False
    handle = sheet.window().windowHandle()
    assert handle is not None
    sheet.presenter, told = Presenter(sheet, framed=False), Told()
    monkeypatch.setattr(type(handle), "isExposed", lambda _: exposed)
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    assert sheet.painted
    assert not told
    exposed = True
    sheet.update()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0][1] == "flush"
    assert told[0][0] >= sheet.painted[-1][1]


def test_a_frame_that_was_lost_under_another_window_is_painted_again(
    sheet: Sheet, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet.presenter, told = Presenter(sheet, framed=True), Told()
    handle = sheet.window().windowHandle()
    assert handle is not None
    request, asked = handle.requestUpdate, []

    def unreliable() -> None:
        asked.append(len(sheet.painted))
        if len(asked) != 2:
            request()

    monkeypatch.setattr(type(handle), "requestUpdate", lambda _: unreliable())
    sheet.presenter.present(lambda: sheet.show_tone("red"), told)
    qtbot.waitUntil(lambda: len(asked) >= 2)
    qtbot.wait(60)
    assert asked == [0, 1]
    assert not told
    QApplication.sendEvent(handle, QExposeEvent(QRegion(sheet.window().rect())))
    qtbot.waitUntil(lambda: bool(told))
    assert asked == [0, 1, 2]
    assert told[0][0] > sheet.painted[-1][1]
    qtbot.wait(30)
    assert len(told) == 1


def test_due_is_never_early(qtbot: QtBot) -> None:
    owner = QWidget()
    timer = DueTimer(owner)
    late: list[int] = []

    def came(at: int) -> None:
        late.append(time.perf_counter_ns() - at)

    for wait_ms in (0, 1, 2.5, 7, 20.3):
        at = time.perf_counter_ns() + round(wait_ms * 1e6)
        timer.call(at, partial(came, at))
        qtbot.waitUntil(lambda: not timer.waits)
    assert len(late) == 5
    assert min(late) >= 0
    timer.call(time.perf_counter_ns() + 10_000_000, lambda: late.append(-1))
    timer.stop()
    qtbot.wait(30)
    assert len(late) == 5
    owner.deleteLater()


def test_the_refresh_interval_is_the_screens_and_none_where_it_says_none(
    sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = sheet.screen()
    assert refresh_ms(sheet) == pytest.approx(1000 / screen.refreshRate())
    monkeypatch.setattr(type(screen), "refreshRate", lambda _: 0.0)
    assert refresh_ms(sheet) is None


@pytest.mark.parametrize(
    ("platform", "framed"),
    [("wayland", True), ("wayland-egl", True), ("cocoa", True), ("xcb", False), ("windows", False)],
)
def test_frames_are_confirmed_where_the_platform_does_it(
    sheet: Sheet, monkeypatch: pytest.MonkeyPatch, platform: str, framed: bool
) -> None:
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: platform)
    presenter, told = Presenter(sheet), Told()
    sheet.presenter = presenter
    presenter.present(lambda: sheet.show_tone("red"), told)
    assert bool(told) is not framed
    presenter.cancel()
