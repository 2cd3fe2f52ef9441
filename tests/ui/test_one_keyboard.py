"""A key goes to one person, the one whose window says so: every question of the console over the
screens of every task. And nothing that destroys lies under the pointer or under the focus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from labapp import tasks
from labapp.base.clock import FakeClock
from labapp.base.resources import assets
from labapp.record.events.commands import ConfirmSkip, GiveConsent, SkipStage
from labapp.study.plugins import registry
from labapp.ui import language
from labapp.ui.keyboard import is_field
from labapp.ui.moderator import console_header
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.widgets.controls import Button
from tests.helpers.beside import put_beside
from tests.helpers.rooms import Room, skip_to
from tests.ui.desk import closed_forms
from tests.ui.test_keyboard import CONTROL, Table, lay

__all__ = ["lay"]
LEFT = Qt.MouseButton.LeftButton
PLAIN = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
STUDIES = {
    "quickstart": "consent reconstruction pages questionnaire resting",
    "synthetic-crowd": "single_dimension",
    "unmasking-faces": "unmasking",
    "dsprites-demo": "interview",
    "gradcam-distinction": "judging",
    "prototree-agreement-tree": "judging",
    "concept-repair": "concept_repair",
}
"""The tasks (their folders) whose screens are looked at in each study."""
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
    """The quickstart with a break and a questionnaire before its end."""
    path = put_beside(folder) / "quickstart.yaml"
    study = yaml.safe_load((assets() / "studies" / path.name).read_text("utf-8"))
    study["flow"][-1:-1] = [
        {"break": "texts/{language}/debrief.md", "at_least_s": 60},
        {"questionnaire": "seq"},
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
