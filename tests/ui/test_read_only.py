"""A screen that is only read: no hand reaches it, it draws what the state says, and asks for
nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QInputMethodEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.base.resources import assets
from labapp.record.events.commands import Command
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.plan import DONT_KNOW
from labapp.tasks.unmasking.screen import UnmaskingScreen
from labapp.ui.participant.screen import make_screen
from labapp.ui.participant.view import SessionView
from labapp.ui.participant.window import ParticipantWindow
from tests.helpers.hands import turn_wheel
from tests.helpers.rooms import Room, skip_to
from tests.ui.desk import closed_forms

OpenRoom = Callable[..., Room]
OpenWindow = Callable[[Room], ParticipantWindow]

STUDIES = sorted(path.stem for path in (assets() / "studies").glob("*.yaml"))

BUTTONS = (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton)
KEYS = (
    *(Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home),
    *(Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Escape, Qt.Key.Key_F2),
    *(Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_A, Qt.Key.Key_Z, Qt.Key.Key_Delete),
)


def kind_of(part: PlannedPart) -> tuple[str, ...]:
    names = ("task", "visualisation", "sign", "marks", "labels_editable")
    return (part.part, *(str(getattr(part, name, "")) for name in names))


def shown_parts(room: Room) -> Iterator[PlannedPart]:
    """One part of each kind, each while it runs."""
    kinds: dict[tuple[str, ...], PlannedPart] = {}
    for part in room.runner.machine.parts:
        kinds.setdefault(kind_of(part), part)
    for part in kinds.values():
        skip_to(room, part.id)
        QTest.qWait(20)  # until its pictures are there and its texts have their heights
        yield part


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Whatever views that are only read are asked to send."""
    asked: list[object] = []
    send, consent = SessionView.send, SessionView.give_consent

    def sent(view: SessionView, command: Command) -> None:
        asked.extend([command] if view.read_only else [])
        send(view, command)

    def given(view: SessionView, name: str, drawing: str, uses: Mapping[str, bool]) -> bool:
        asked.extend(["consent"] if view.read_only else [])
        return consent(view, name, drawing, uses)

    monkeypatch.setattr(SessionView, "send", sent)
    monkeypatch.setattr(SessionView, "give_consent", given)
    return asked


def touch(widget: QWidget) -> None:
    """Every kind of mouse and key event, straight to a widget."""
    middle = widget.rect().center()
    for button in BUTTONS:
        QTest.mouseClick(widget, button, pos=middle)
        QTest.mouseDClick(widget, button, pos=middle)
        QTest.mouseRelease(widget, button, pos=middle)
    QTest.mousePress(widget, BUTTONS[0], pos=middle)
    place = QPointF(widget.width() - 4, widget.height() / 2)
    held = QMouseEvent(
        QEvent.Type.MouseMove, place, widget.mapToGlobal(place), Qt.MouseButton.NoButton,
        BUTTONS[0], Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    menu = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle, widget.mapToGlobal(middle))
    composed = QInputMethodEvent("", [])
    composed.setCommitString("é")
    turn_wheel(widget, middle, -1)
    for event in (held, menu, composed):
        QApplication.sendEvent(widget, event)
    QTest.mouseRelease(widget, BUTTONS[0], pos=QPoint(widget.width() - 4, middle.y()))
    for key in KEYS:
        QTest.keyClick(widget, key)
    widget.setFocus(Qt.FocusReason.OtherFocusReason)


def settled(screen: QWidget) -> QImage:
    """How a screen looks once its layout has come to rest."""
    looks = [screen.grab().toImage()]
    while len(looks) < 4 or any(look != looks[-1] for look in looks[-4:]):
        QTest.qWait(10)
        looks.append(screen.grab().toImage())
        assert len(looks) < 100, "it never comes to rest"
    return looks[-1]


@pytest.mark.parametrize("study", STUDIES)
def test_no_hand_reaches_a_screen_that_is_only_read(
    open_room: OpenRoom, open_window: OpenWindow, asked: list[object], study: str, qtbot: QtBot
) -> None:
    window = open_window(room := open_room(study, clock=FakeClock(), decoders=closed_forms()))
    window.looks.stop()  # what this window looks like is recorded, too
    for part in shown_parts(room):
        screen = make_screen(window.session.only_read())
        screen.resize(1200, 640)
        screen.render_state()
        screen.show()
        screen.activateWindow()
        before, stood = settled(screen), room.runner.state
        widgets = [screen, *screen.findChildren(QWidget)]
        for widget in widgets:
            if widget.isVisible():
                touch(widget)
                assert not (screen.isActiveWindow() and QApplication.focusWidget()), widget
        QApplication.processEvents()
        assert asked == [], part.id
        assert room.runner.state is stood, part.id
        assert [w for w in (screen, *screen.findChildren(QWidget)) if w.hasFocus()] == [], part.id
        assert all(not field.isModified() for field in screen.findChildren(QLineEdit)), part.id
        scrolled = [area.verticalScrollBar().value() for area in areas(screen)]
        assert not any(scrolled), part.id
        assert settled(screen) == before, part.id
        screen.hide()
        screen.deleteLater()
    window.activateWindow()


def areas(screen: QWidget) -> list[QAbstractScrollArea]:
    return screen.findChildren(QAbstractScrollArea)


def test_a_masked_picture_is_drawn_from_painted_to_hidden(
    open_room: OpenRoom, open_window: OpenWindow, asked: list[object]
) -> None:
    clock = FakeClock()
    room = open_room("unmasking-faces", clock=clock)
    window = open_window(room)
    skip_to(room, "stage-1")
    clock.advance(2)
    window.hide()  # nothing but this test says when a picture is there
    screen = make_screen(window.session.only_read())
    assert isinstance(screen, UnmaskingScreen)
    screen.resize(1200, 640)
    screen.grab()

    def shown() -> str | None:
        screen.render_state()
        return screen.field.shown

    def trial() -> object:
        return room.runner.state.part_state.trial

    assert shown() is None
    part = room.runner.part
    room.runner.send(StimulusPainted(clock.now_ns(), "flush", 16.7, 384))
    number = trial().number
    assert shown() == part.stimulus(*part.at(number))[1].picture
    empty = screen.grab().toImage()
    clock.advance(1)
    room.runner.send(Respond(DONT_KNOW, "keyboard", clock.now_ns(), "event"))
    assert shown() is None
    assert screen.grab().toImage() != empty
    assert asked == []
    assert not hasattr(screen, "presenter")
    assert not hasattr(screen, "due")
    screen.deleteLater()
