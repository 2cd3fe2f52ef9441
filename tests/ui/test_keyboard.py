"""One keyboard, two people: whose it is, how it changes hands, and that no key counts for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from labapp import tasks
from labapp.base.clock import FakeClock
from labapp.base.resources import assets
from labapp.record.events.commands import ConfirmSkip, EndSession, GiveConsent, SkipStage
from labapp.study.plugins import registry
from labapp.ui import keyboard, language
from labapp.ui.keyboard import Keyboard, KeysHeld, ScreenWatcher, is_field
from labapp.ui.moderator import console_header
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from labapp.ui.widgets.controls import Button
from tests.helpers.beside import put_beside
from tests.helpers.rooms import Room, skip_to
from tests.ui.desk import HEARD, closed_forms

LEFT = Qt.MouseButton.LeftButton

CONTROL = Qt.KeyboardModifier.ControlModifier


class Table:
    """Both windows of a session, as the controller puts them on the screens."""

    def __init__(self, room: Room, screens: int = 2) -> None:
        self.room = room
        self.participant = ParticipantWindow(
            room.bridge, room.loaded, strings_of(room.loaded), "improved", room.session.give_consent
        )
        self.console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: HEARD)
        emit = room.runner.emit
        self.watcher = ScreenWatcher(emit)
        self.alone = screens == 1
        self.keyboard = Keyboard(self.participant, self.console, emit, lambda: self.alone)
        self.keyboard.prepare()
        self.watcher.attach(self.participant, self.console, fullscreen=False)
        room.session.begin()
        self.keyboard.begin()
        QApplication.processEvents()

    def close(self) -> None:
        self.keyboard.end()
        self.watcher.detach()
        self.console.shut()
        self.participant.close_for_good()
        for made in (self.keyboard, self.watcher, self.console, self.participant):
            made.deleteLater()

    def press(self, window: QWidget, key: Qt.Key, more: Qt.KeyboardModifier | None = None) -> None:
        """As the window system sends it: to the window, which hands it to what has the focus."""
        QTest.keyPress(window.windowHandle(), key, more or Qt.KeyboardModifier.NoModifier)

    def release(
        self, window: QWidget, key: Qt.Key, more: Qt.KeyboardModifier | None = None
    ) -> None:
        QTest.keyRelease(window.windowHandle(), key, more or Qt.KeyboardModifier.NoModifier)

    def chord(self, key: Qt.Key, more: Qt.KeyboardModifier) -> None:
        """Pressed in the window that is in front, let go in the one that is then."""
        self.press(QApplication.activeWindow(), key, more)
        QApplication.processEvents()
        self.release(QApplication.activeWindow(), key, more)
        QApplication.processEvents()

    def type(self, window: QWidget, keys: str) -> None:
        for letter in keys:
            self.press(window, Qt.Key(ord(letter.upper())))
            self.release(window, Qt.Key(ord(letter.upper())))

    def click(self, widget: QWidget) -> None:
        """A click of the mouse, by way of its window."""
        top = widget.window()
        at = widget.mapTo(top, widget.rect().center())
        QTest.mouseClick(top.windowHandle(), LEFT, pos=at)
        QApplication.processEvents()

    @property
    def given(self) -> list[tuple[str, str]]:
        """Who was given the keyboard and why, in order."""
        return [(p["to"], p["why"]) for kind, p in self.room.events if kind == "keyboard.given"]

    @property
    def said(self) -> tuple[str, str]:
        """What the chips say: the participant's, the console's."""
        there, here = self.participant.top.keyboard, self.console.alarms.keyboard
        return (
            "" if there.isHidden() else there.text(),
            "" if here.isHidden() else here.text.text(),
        )


@pytest.fixture
def lay(open_room: Callable[..., Room]) -> Iterator[Callable[..., Table]]:
    tables: list[Table] = []

    def lay(study: str | Path = "quickstart", screens: int = 2) -> Table:
        made = Table(open_room(study, clock=FakeClock(), decoders=closed_forms()), screens)
        tables.append(made)
        return made

    yield lay
    for table in tables:
        table.close()


@pytest.fixture
def table(lay: Callable[..., Table]) -> Table:
    return lay()


def test_the_participant_has_the_keyboard_and_nothing_is_said(table: Table) -> None:
    assert table.participant.isActiveWindow()
    assert table.given == []
    assert table.said == ("", "")


@pytest.mark.parametrize("begin", ["click", "Ctrl+N"])
@pytest.mark.parametrize(
    ("key", "why", "notes", "left"),
    [(Qt.Key.Key_Return, "enter", 1, ""), (Qt.Key.Key_Escape, "escape", 0, "hm")],
)
def test_a_note_borrows_the_keyboard(
    table: Table, begin: str, key: Qt.Key, why: str, notes: int, left: str
) -> None:
    field = table.console.notes.input
    if begin == "click":
        table.click(field)
    else:
        table.chord(Qt.Key.Key_N, CONTROL)
    QApplication.processEvents()
    assert table.console.isActiveWindow()
    assert field.hasFocus()
    assert table.said[0] == "The moderator is using the keyboard."
    assert "Press Enter to save, or Esc to give it back" in table.said[1]
    table.type(table.console, "hm")
    table.press(table.console, key)
    QApplication.processEvents()
    assert table.participant.isActiveWindow()
    # The key that ended it is still down: nothing counts yet.
    assert table.given == [("moderator", "note")]
    assert table.said[1].startswith("The participant gets the keyboard back once")
    table.release(table.participant, key)
    assert table.given == [("moderator", "note"), ("participant", why)]
    assert table.said == ("", "")
    assert table.room.count("note.added") == notes
    assert field.text() == left
    assert (table.console.notes.legend.text() == "Not saved. Press Ctrl+N to continue") == bool(
        left
    )


def test_after_a_while_without_a_key_it_goes_back_and_the_note_stays(
    table: Table, qtbot: QtBot
) -> None:
    table.click(table.console.notes.input)
    table.type(table.console, "unfinis")
    table.keyboard._idle.setInterval(60)  # from now on: typing itself may take longer
    qtbot.waitUntil(table.participant.isActiveWindow)
    assert table.given == [("moderator", "note"), ("participant", "idle")]
    assert table.console.notes.input.text() == "unfinis"
    assert table.console.notes.legend.text() == "Not saved. Press Ctrl+N to continue"
    table.keyboard._idle.setInterval(keyboard.IDLE_MS)
    table.chord(Qt.Key.Key_N, CONTROL)
    table.type(table.console, "hed")
    table.press(table.console, Qt.Key.Key_Return)
    assert table.room.last("note.added")["text"] == "unfinished"


def test_no_click_on_the_console_moves_a_key(table: Table) -> None:
    """A click on a flag, a list, a tab, the timeline: the window system may move the keyboard to
    the console; it goes back at once, and nothing there has got the focus."""
    console = table.console
    for widget in (
        console.notes.buttons[1], console.notes.list, console.notes.tabs[1], console.timeline.view,
        console.header.elapsed, console.header.study, console.plan, console.voice,
    ):  # fmt: skip
        console.windowHandle().setFlag(Qt.WindowType.WindowDoesNotAcceptFocus, False)
        console.activateWindow()  # as a window system that knows no windows without keyboard
        table.click(widget)
        QApplication.processEvents()
        assert table.participant.isActiveWindow(), widget
        assert not isinstance(console.focusWidget(), QAbstractButton), widget
        assert table.said == ("", "")
    assert set(table.given) == {("moderator", "window"), ("participant", "window")}
    assert table.room.last("flag.added") == {"number": 1, "meaning": "insight"}


def test_plain_keys_on_the_console_are_nobodys(table: Table) -> None:
    """What is typed while the keyboard is on the console unasked is no flag, note or button."""
    console = table.console
    table.keyboard._give_back_unasked = lambda: None  # type: ignore[method-assign]
    console.windowHandle().setFlag(Qt.WindowType.WindowDoesNotAcceptFocus, False)
    console.activateWindow()
    before = len(table.room.events)
    table.type(console, "1f3j")
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Left):
        table.press(console, key)
        table.release(console, key)
    # Where the console stands is told a moment after it came up.
    assert [kind for kind, _ in table.room.events[before:] if kind != "window.shown"] == []
    assert console.notes.input.text() == ""


def test_a_click_elsewhere_leaves_the_keyboard_with_the_note(table: Table) -> None:
    console = table.console
    table.click(console.notes.input)
    table.type(console, "a")
    for widget in (console.notes.list, console.notes.buttons[2], console.timeline.view):
        table.click(widget)
    table.type(console, "b")
    assert console.notes.input.text() == "ab"
    assert table.given == [("moderator", "note")]


def test_tab_out_of_the_field_gives_it_back(table: Table) -> None:
    table.click(table.console.notes.input)
    table.press(table.console, Qt.Key.Key_Tab)
    QApplication.processEvents()
    assert table.participant.isActiveWindow()


def test_the_chords_work_from_the_participants_window(table: Table, qtbot: QtBot) -> None:
    table.room.runner.send(GiveConsent())
    skip_to(table.room, "practice")
    plain = Qt.KeyboardModifier.NoModifier
    table.chord(Qt.Key.Key_2, CONTROL)
    assert table.room.last("flag.added") == {"number": 2, "meaning": "prompt"}
    table.chord(Qt.Key.Key_F8, plain)
    assert table.room.count("prompt.given") == 1
    assert table.given == []
    table.chord(Qt.Key.Key_F9, plain)
    assert table.room.count("session.paused") == 1
    assert table.given == [("moderator", "question")]
    table.chord(Qt.Key.Key_F9, plain)
    assert table.room.count("session.resumed") == 1
    assert table.given == [("moderator", "question"), ("participant", "answered")]


def test_a_reason_borrows_the_keyboard_like_a_note(table: Table) -> None:
    header = table.console.header
    table.click(header.pause)
    table.click(header.reasons.buttons[-1])
    assert table.room.last("session.paused") == {"reason": "moderator"}
    assert table.given == [("moderator", "question")]
    table.type(table.console, "fire")
    table.press(table.console, Qt.Key.Key_Return)
    table.release(table.console, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert table.room.last("pause.explained") == {"reason": "fire"}
    assert table.given[-1] == ("participant", "answered")


def test_a_window_system_that_refuses_is_told(
    table: Table, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    table.click(table.console.notes.input)
    table.keyboard._asked.setInterval(30)
    monkeypatch.setattr(table.participant, "activateWindow", lambda: None)
    table.press(table.console, Qt.Key.Key_Escape)
    table.release(table.console, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: table.keyboard.standing.where == "refused")
    assert table.said == (
        "Please click here to use the keyboard.",
        "The system is holding the keyboard here. Click in the participant’s window.",
    )
    monkeypatch.undo()
    table.participant.activateWindow()  # the click
    QApplication.processEvents()
    assert table.said == ("", "")
    assert table.given[-1] == ("participant", "escape")


def test_a_console_that_does_not_get_it_waits_for_a_click(
    table: Table, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    table.keyboard._asked.setInterval(30)
    monkeypatch.setattr(table.console, "activateWindow", lambda: None)
    table.chord(Qt.Key.Key_N, CONTROL)
    qtbot.waitUntil(lambda: not table.keyboard._asked.isActive())
    assert table.keyboard.standing.where == "participant"
    assert table.given == [("moderator", "note"), ("participant", "window")]


def test_another_program_in_front_is_said_and_is_no_gift(table: Table, qtbot: QtBot) -> None:
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    assert table.keyboard.standing.where == "elsewhere"
    assert table.said[0]
    assert table.given == []
    assert table.room.last("window.focus") == {"focused": False}
    other.close()
    table.participant.activateWindow()
    qtbot.waitUntil(table.participant.isActiveWindow)
    assert table.said == ("", "")


def test_on_one_screen_the_console_in_front_takes_view_and_keyboard(
    lay: Callable[..., Table], qtbot: QtBot
) -> None:
    table = lay(screens=1)
    shift = Qt.KeyboardModifier.ShiftModifier
    table.chord(Qt.Key.Key_M, CONTROL | shift)
    qtbot.waitUntil(table.console.isActiveWindow)
    assert table.given == [("moderator", "console")]
    assert table.said[1].startswith("The participant sees nothing and cannot type")
    table.click(table.console.notes.input)
    table.type(table.console, "x")
    table.press(table.console, Qt.Key.Key_Return)
    table.release(table.console, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert table.console.isActiveWindow()  # it was brought in front to be looked at
    assert table.room.count("note.added") == 1
    table.chord(Qt.Key.Key_M, CONTROL | shift)
    qtbot.waitUntil(table.participant.isActiveWindow)
    assert table.given == [("moderator", "console"), ("participant", "console")]
    # A note from the participant's window goes straight back to it.
    table.chord(Qt.Key.Key_N, CONTROL)
    table.press(table.console, Qt.Key.Key_Escape)
    table.release(table.console, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert table.participant.isActiveWindow()


def test_on_one_screen_the_console_stays_in_front_when_the_end_is_taken_back(
    lay: Callable[..., Table], qtbot: QtBot
) -> None:
    table = lay(screens=1)
    table.chord(Qt.Key.Key_M, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(table.console.isActiveWindow)
    table.room.runner.send(EndSession("enough"))
    table.keyboard.follow(finished=True)
    table.keyboard.follow(finished=False)
    QApplication.processEvents()
    assert table.console.isActiveWindow(), "Continue is there"
    assert table.said[1].startswith("The participant sees nothing and cannot type")
    table.chord(Qt.Key.Key_M, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(table.participant.isActiveWindow)
    assert table.said == ("", "")


@pytest.mark.parametrize("screens", [1, 2])
def test_after_the_end_a_note_is_begun_from_the_participants_window(
    lay: Callable[..., Table], qtbot: QtBot, screens: int
) -> None:
    table = lay(screens=screens)
    table.room.runner.send(EndSession("enough"))
    table.keyboard.follow(finished=True)
    assert table.participant.isActiveWindow() == (screens == 1)
    table.participant.activateWindow()
    table.console.refresh()
    table.chord(Qt.Key.Key_N, CONTROL)
    qtbot.waitUntil(table.console.notes.input.hasFocus)
    table.type(QApplication.activeWindow(), "hm")
    table.press(QApplication.activeWindow(), Qt.Key.Key_Return)
    assert table.room.count("note.added") == 1


def test_after_the_end_the_console_is_a_window_like_any_other(table: Table) -> None:
    table.room.runner.send(EndSession("enough"))
    table.keyboard.follow(finished=True)
    table.console.activateWindow()
    QApplication.processEvents()
    assert table.console.isActiveWindow()
    assert table.said == ("The moderator is using the keyboard.", "")
    assert not table.console.windowHandle().flags() & Qt.WindowType.WindowDoesNotAcceptFocus
    table.keyboard.follow(finished=False)  # the end was taken back
    QApplication.processEvents()
    assert table.participant.isActiveWindow()
    assert table.console.windowHandle().flags() & Qt.WindowType.WindowDoesNotAcceptFocus


def test_what_was_begun_before_the_end_holds_nothing_up_when_it_is_taken_back(
    table: Table, qtbot: QtBot
) -> None:
    table.chord(Qt.Key.Key_N, CONTROL)
    qtbot.waitUntil(table.console.isActiveWindow)
    table.press(table.console, Qt.Key.Key_A)
    table.room.runner.send(EndSession("enough"))
    table.keyboard.follow(finished=True)  # in the middle of a note, with a key down
    table.release(table.console, Qt.Key.Key_A)
    table.keyboard.follow(finished=False)
    qtbot.waitUntil(table.participant.isActiveWindow)
    QApplication.processEvents()
    assert table.keyboard.standing.where == "participant", "no key is waited for"
    assert table.said == ("", "")


def test_a_system_that_keeps_the_keyboard_is_told_after_a_taken_back_end_too(
    table: Table, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.chord(Qt.Key.Key_N, CONTROL)
    qtbot.waitUntil(table.console.isActiveWindow)
    table.room.runner.send(EndSession("enough"))
    table.keyboard.follow(finished=True)
    monkeypatch.setattr(keyboard, "REFUSED_MS", 1)
    monkeypatch.setattr(table.participant, "activateWindow", lambda: None)
    table.keyboard._asked.setInterval(1)
    table.keyboard.follow(finished=False)
    qtbot.waitUntil(lambda: table.keyboard.standing.where == "refused")


def _states(table: Table) -> Iterator[str]:
    """The console in every state in which it has other widgets."""
    room, console = table.room, table.console
    yield "consent"
    room.runner.send(GiveConsent())
    kinds = {}
    for part in room.runner.machine.parts[1:]:
        kinds.setdefault((part.part, getattr(part, "task", "")), part.id)
    for part_id in kinds.values():
        skip_to(room, part_id)
        yield part_id
    console.header.ask_end()
    yield "end asked"
    room.runner.send(EndSession("enough"))
    yield "ended"


@pytest.mark.parametrize("study", ["quickstart", "prototree-agreement-tree", "unmasking-faces"])
def test_nothing_on_the_console_but_a_field_takes_the_focus_by_a_click(
    open_room: Callable[..., Room], study: str
) -> None:
    room = open_room(study, clock=FakeClock())
    table = Table(room)
    try:
        for state in _states(table):
            table.console.refresh()
            QApplication.processEvents()
            takers = [
                widget
                for widget in table.console.findChildren(QWidget)
                if widget.focusPolicy() & Qt.FocusPolicy.ClickFocus and not is_field(widget)
            ]
            assert takers == [], state
            if state != "ended":
                assert not isinstance(table.console.focusWidget(), QAbstractButton), state
    finally:
        table.close()


KEYS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["press", "release", "repeat"])), max_size=12
)


@given(KEYS, KEYS)
def test_keys_count_only_once_all_were_let_go(
    before: list[tuple[int, str]], after: list[tuple[int, str]]
) -> None:
    """Of keyboards that lose no event: whatever was down when the keyboard changed hands, nothing
    counts until no key is down, and then everything does."""
    held = KeysHeld()
    down: set[int] = set()

    def play(keys: list[tuple[int, str]]) -> Iterator[bool]:
        for key, kind in keys:
            if (kind == "press") == (key in down):
                continue
            (down.add if kind == "press" else down.discard)(key) if kind != "repeat" else None
            step = "release" if kind == "release" else "press"
            yield held.take(key, step, repeated=kind == "repeat")

    assert all(play(before))
    held.hand_over()
    waiting = bool(down)
    assert held.waiting == waiting
    for counts in play(after):
        assert counts == (not waiting)
        waiting = waiting and bool(down)


def test_a_release_that_never_came_does_not_take_the_keyboard_for_ever() -> None:
    held = KeysHeld()
    held.take(1, "press", repeated=False)
    held.hand_over()
    assert not held.take(2, "press", repeated=False)
    assert not held.take(2, "release", repeated=False)
    assert held.take(1, "press", repeated=False)  # so it was up


__all__ = ["lay"]

PLAIN = Qt.KeyboardModifier.NoModifier

SHIFT = Qt.KeyboardModifier.ShiftModifier

STUDIES = {
    "quickstart": "consent reconstruction pages questionnaire resting survey",
    "synthetic-crowd": "single_dimension",
    "unmasking-faces": "unmasking",
    "dsprites-demo": "interview",
    "gradcam-distinction": "judging",
    "prototree-agreement-tree": "judging",
    "concept-repair": "concept_repair",
}

"""The tasks (their folders) whose screens are looked at in each study."""

SURVEY = "https://survey.example.org/?pid={participant}"

PRESSED = (
    *(Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_Left),
    *(Qt.Key.Key_Down, Qt.Key.Key_F, Qt.Key.Key_Z, Qt.Key.Key_Backspace),
)


def click(table: Table, button: QWidget) -> bool:
    """Whether it could be clicked."""
    if not (button.isVisible() and button.isEnabled()):
        return False
    table.click(button)
    return True


def pause(table: Table) -> bool:
    if table.room.runner.part is not None and table.room.runner.part.rests:
        return False
    table.chord(Qt.Key.Key_F9, PLAIN)
    assert table.room.runner.state.pauses.paused, "at once"
    assert table.participant.covered, "and the participant sees it"
    return True


def skip(table: Table) -> bool:
    return click(table, table.console.header.skip)


def end(table: Table) -> bool:
    return click(table, table.console.header.end)


def withdraw(table: Table) -> bool:
    return end(table) and click(table, table.console.header.questions.other)


def delete(table: Table) -> bool:
    return withdraw(table) and click(table, table.console.header.questions.other)


def unblind(table: Table) -> bool:
    table.console.header.show_blind(True)
    return click(table, table.console.header.blind)


def skipping(table: Table) -> bool:
    part = table.room.runner.part
    if part is None or part.rests:
        return False  # a break is over at once
    return skip(table) and click(table, table.console.header.questions.yes)


def continue_at(table: Table) -> bool:
    return click(table, table.console.header.jump)


def flag(table: Table) -> bool:
    table.chord(Qt.Key.Key_1, CONTROL)
    table.console.refresh()
    table.chord(Qt.Key.Key_N, CONTROL | SHIFT)
    return table.console.asking is not None


QUESTIONS: tuple[Callable[[Table], bool], ...] = (
    *(pause, skip, skipping, continue_at, end, withdraw, delete, unblind, flag),
)


class Heard(QObject):
    """The keys that count for somebody: those that reach a widget of a window."""

    def __init__(self, window: QWindow) -> None:
        super().__init__()
        self._window, self.keys = window, 0
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            inside = isinstance(watched, QWidget) and watched.window().windowHandle()
            self.keys += inside is self._window
        return False

    def close(self) -> None:
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]


def press(key: Qt.Key) -> None:
    """In whichever window is in front, as the window system sends it."""
    QTest.keyPress(QApplication.focusWindow(), key)
    QTest.keyRelease(QApplication.focusWindow(), key)
    QApplication.processEvents()


def folder_of(screen: str) -> str:
    """The task that a screen is of."""
    return screen.split(".")[2]


def every_screen(room: Room) -> Iterator[tuple[str, str]]:
    """The first part of each screen: its id, and the screen."""
    seen = set()
    while (part := room.runner.part) is not None:
        screen = registry.task_type_of(part).screen(part)
        if screen not in seen:
            seen.add(screen)
            yield part.id, screen
        if part.consents:
            room.runner.send(GiveConsent())
        else:
            room.runner.send(SkipStage(room.runner.state.index))
            room.runner.send(ConfirmSkip())
        QApplication.processEvents()


def settle(room: Room) -> None:
    """Wait until a screen is laid out: how far it is scrolled then is recorded once more."""
    events = -1
    while events != len(room.events):
        events = len(room.events)
        QTest.qWait(60)


def faults(table: Table, question: Callable[[Table], bool], at: str) -> Iterator[str]:
    """What does not hold of a question over the screen that is up."""
    name = f"{question.__name__} over {at}"
    console, room = table.console, table.room
    console.refresh()
    before = len(room.events)
    if not question(table):
        return
    if not console.isActiveWindow() and not (table.alone and question is pause):
        yield f"{name}: the console does not have the keyboard"
    if table.said[0] != "The moderator is using the keyboard.":
        yield f"{name}: the participant's window says {table.said[0]!r}"
    focused = console.focusWidget()
    if isinstance(focused, QAbstractButton) or is_field(focused):
        yield f"{name}: the focus is on {focused}"
    opened, there = len(room.events), Heard(table.participant.windowHandle())
    for key in PRESSED:
        press(key)
    there.close()
    if there.keys:
        yield f"{name}: {there.keys} keys reach the participant's screen"
    if came := [kind for kind, _ in room.events[opened:] if not kind.startswith("window.")]:
        yield f"{name}: keys became {came}"
    for kind, payload in room.events[before:]:
        if kind in ("close.requested", "session.ended", "part.ended"):
            yield f"{name}: {kind} {payload}"
    if question is pause:
        table.chord(Qt.Key.Key_F9, PLAIN)
    else:
        press(Qt.Key.Key_Escape)
    console.header.show_blind(False)
    if console.asking is not None:
        yield f"{name}: it is still open"
    if table.said != ("", "") or not table.participant.isActiveWindow():
        yield f"{name}: the participant does not get the keyboard back: {table.said}"


def test_the_studies_have_a_screen_of_every_task() -> None:
    folders = {path.name for path in Path(tasks.__file__).parent.iterdir() if path.is_dir()}
    seen = {folder for folders in STUDIES.values() for folder in folders.split()}
    assert seen == folders - {"__pycache__"}


@pytest.mark.parametrize(
    ("study", "screens"),
    [("quickstart", 1), ("dsprites-demo", 1), *((study, 2) for study in STUDIES)],
)
def test_no_key_reaches_the_other_person_while_a_question_is_open(
    open_room: Callable[..., Room], tmp_path: Path, study: str, screens: int
) -> None:
    """On the first study every question; on the others, and on a single screen, one of each way in
    which they open."""
    first = study == "quickstart"
    questions = QUESTIONS if first and screens == 2 else (pause, end, flag)
    file = with_every_page(tmp_path) if first else study
    room = open_room(file, clock=FakeClock(), decoders=closed_forms())
    table = Table(room, screens)
    try:
        found, folders = [], set()
        for at, screen in every_screen(room):
            if folder_of(screen) not in STUDIES[study].split():
                continue
            settle(room)
            folders.add(folder_of(screen))
            for question in questions:
                if screens == 1 and question not in (pause, flag):
                    table.chord(Qt.Key.Key_M, CONTROL | SHIFT)
                    found += list(in_front(table, question, at))
                    table.chord(Qt.Key.Key_M, CONTROL | SHIFT)
                else:
                    found += list(faults(table, question, at))
        assert found == []
        assert folders == set(STUDIES[study].split())
    finally:
        table.close()


def with_every_page(folder: Path) -> Path:
    """The quickstart with a break, a questionnaire and the way to a survey before its end."""
    path = put_beside(folder) / "quickstart.yaml"
    study = yaml.safe_load((assets() / "studies" / path.name).read_text("utf-8"))
    study["flow"][-1:-1] = [
        {"break": "texts/{language}/debrief.md", "at_least_s": 60},
        {"questionnaire": "seq"},
        {"survey": "texts/{language}/survey.md", "link": SURVEY, "open_with": "qr-code"},
    ]
    path.write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")
    return path


def in_front(table: Table, question: Callable[[Table], bool], at: str) -> Iterator[str]:
    """On one screen the console stays in front when its question is closed."""
    for fault in faults(table, question, at):
        if "does not get the keyboard back" not in fault:
            yield fault


def test_a_question_that_nobody_answers_is_closed_but_not_in_a_pause(
    lay: Callable[..., Table], qtbot: QtBot
) -> None:
    table = lay()
    assert pause(table)
    table.keyboard._unanswered.setInterval(20)
    table.keyboard._unanswered.start()
    qtbot.wait(80)
    assert table.console.asking is table.console.header.reasons
    table.chord(Qt.Key.Key_F9, PLAIN)
    table.keyboard._unanswered.setInterval(20)
    assert end(table)
    qtbot.waitUntil(table.participant.isActiveWindow)
    assert table.console.asking is None
    assert not table.room.runner.finished
    assert table.given[-1] == ("participant", "idle")


def test_the_participants_window_takes_no_keyboard_while_the_moderator_has_it(
    lay: Callable[..., Table],
) -> None:
    """A participant who goes on with the mouse takes no letter out of a note; a window system that
    gives them the keyboard all the same closes the question."""
    table = lay()
    unwanted = Qt.WindowType.WindowDoesNotAcceptFocus
    for begin in (lambda: table.chord(Qt.Key.Key_N, CONTROL), lambda: end(table)):
        begin()
        assert table.participant.windowHandle().flags() & unwanted
        press(Qt.Key.Key_Escape)
        assert not table.participant.windowHandle().flags() & unwanted
    assert end(table)
    table.participant.windowHandle().setFlag(unwanted, False)  # as one that does not know it
    table.participant.activateWindow()  # what a click into it does there
    QApplication.processEvents()
    assert table.console.asking is None
    assert table.said == ("", "")


# --- where answers come up ------------------------------------------------------------------------


def place(console: ConsoleWindow, button: QWidget) -> QRect:
    return QRect(button.mapTo(console, QPoint(0, 0)), button.size())


def grave(console: ConsoleWindow) -> list[Button]:
    """Buttons of the top line that destroy something, or make an end final."""
    header = console.header
    buttons = [
        *(header.questions.yes, header.questions.other, header.continuing.go),
        *(header.done, header.reopen),
    ]
    return [button for button in buttons if button.isVisible()]


CHAINS = (
    ("skip", "yes"), ("end", "yes"), ("end", "other", "yes"), ("end", "other", "other", "yes"),
    ("blind", "yes"), ("jump",),
)  # fmt: skip


def button_of(console: ConsoleWindow, name: str) -> Button:
    of = console.header if name in ("skip", "end", "blind", "jump") else console.header.questions
    made: Button = getattr(of, name)
    return made


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("width", [900, 1366])
@pytest.mark.parametrize("tongue", ["en", "de"])
def test_nothing_that_destroys_comes_up_under_the_pointer_or_the_focus(
    open_room: Callable[..., Room], chain: tuple[str, ...], width: int, tongue: str
) -> None:
    language.speak(tongue)
    room = open_room(clock=FakeClock(), blind=True)
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None, blind=True)
    room.session.begin()
    skip_to(room, "tutorial")
    console.resize(width, 768)
    console.show()
    console.refresh()
    QApplication.processEvents()
    for name in chain:
        button = button_of(console, name)
        before = place(console, button)
        QTest.mouseClick(button, LEFT)
        console.refresh()
        QApplication.processEvents()
        for other in grave(console):
            assert not place(console, other).intersects(before), (name, other.text())
            assert not other.hasFocus()


def test_what_destroys_takes_no_click_at_first(
    open_room: Callable[..., Room], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(console_header, "ARMED_MS", 300)
    room = open_room(clock=FakeClock())
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    asked = console.header.questions
    room.session.begin()
    console.show()
    QTest.mouseClick(console.header.end, LEFT)
    for _ in range(5):
        QTest.mouseClick(asked.other, LEFT)
    assert asked.yes.text() == "End early, keep the data"
    assert asked.no.isEnabled()
    for _ in range(2):
        qtbot.waitUntil(asked.other.isEnabled)
        QTest.mouseClick(asked.other, LEFT)
        QTest.mouseClick(asked.yes, LEFT)
    assert not room.runner.finished
    qtbot.waitUntil(asked.yes.isEnabled)
    QTest.mouseClick(asked.yes, LEFT)
    assert room.runner.finished
    console.refresh()
    assert not console.header.done.isEnabled()
    qtbot.waitUntil(console.header.done.isEnabled)


# --- after the end --------------------------------------------------------------------------------


@pytest.mark.parametrize("reopenable", [True, False])
def test_what_is_typed_after_the_end_is_a_note(
    lay: Callable[..., Table], qtbot: QtBot, reopenable: bool
) -> None:
    table = lay()
    room, console = table.room, table.console
    if reopenable:
        assert end(table)
        table.click(console.header.questions.yes)
    else:
        for _ in every_screen(room):
            pass
    assert room.runner.finished
    table.keyboard.follow(finished=True)
    console.refresh()
    QApplication.processEvents()
    assert console.isActiveWindow()
    assert isinstance(console.focusWidget(), QLineEdit)
    QTest.keyClicks(console.focusWidget(), "so 1 2 that was it")
    press(Qt.Key.Key_Escape)
    assert room.runner.finished
    assert console.notes.input.text() == "so 1 2 that was it"
    assert console.header.reopen.isVisible() == reopenable
    console.shut()  # without Enter
    assert room.last("note.added")["text"] == "so 1 2 that was it"


def test_typing_goes_on_when_the_session_ends_in_the_middle_of_a_word(
    lay: Callable[..., Table],
) -> None:
    table = lay()
    skip_to(table.room, "debrief")
    table.chord(Qt.Key.Key_N, CONTROL)
    QTest.keyClicks(table.console.focusWidget(), "they fin")
    for _ in every_screen(table.room):
        pass
    table.keyboard.follow(finished=True)
    table.console.refresh()
    QTest.keyClicks(table.console.focusWidget(), "ished it")
    press(Qt.Key.Key_Return)
    assert table.room.last("note.added")["text"] == "they finished it"
