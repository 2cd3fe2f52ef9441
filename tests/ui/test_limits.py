"""No field cuts what is written into it without saying so."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import labapp
from labapp.record.events import Source
from labapp.record.events.commands import AddNote
from labapp.ui.widgets.controls import NOTE_LIMIT, Limit, Measured, PlainLabel, TextField
from tests.helpers.rooms import Room
from tests.ui.desk import Desk

ROOMS = Path(labapp.__file__).parent
FIELDS = {"QLineEdit", "QPlainTextEdit", "QTextEdit"}
LIMITS = {"Limit", "limit"}


def called(tree: ast.AST) -> list[str]:
    """Names of what a module calls, without their modules."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [getattr(made, "id", getattr(made, "attr", "")) for made in calls]


def test_every_field_has_its_limit_told() -> None:
    """Qt cuts at 32,767 characters, or where it was told to, and says nothing."""
    seen = 0
    for path in (*(ROOMS / "ui").rglob("*.py"), *(ROOMS / "tasks").rglob("*.py")):
        source = path.read_text("utf-8")
        if not any(name in source for name in ("setMaxLength", *FIELDS)):
            continue
        tree = ast.parse(source)
        names = called(tree)
        itself = path.name == "controls.py"  # the limit's own call
        assert names.count("setMaxLength") == itself, f"{path} cuts silently"
        fields = [name for name in names if name in FIELDS]
        bases = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            and any(getattr(base, "id", "") in FIELDS for base in node.bases)
        ]
        if fields or bases:
            seen += 1
            assert LIMITS & set(names), f"{path} has a field that may cut without a word"
    assert seen >= 6


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(400, 200)
    QVBoxLayout(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def paste(field: QLineEdit | QPlainTextEdit, text: str) -> None:
    QApplication.clipboard().setText(text)
    field.paste()


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
def test_what_does_not_fit_is_said_until_it_fits(
    window: QWidget, qtbot: QtBot, kind: Callable[[], QLineEdit | QPlainTextEdit]
) -> None:
    field = kind()
    limit = Limit(field, 10, "Only 10")
    layout = window.layout()
    assert layout is not None
    layout.addWidget(field)
    field.show()
    field.setFocus()
    text = field.text if isinstance(field, QLineEdit) else field.toPlainText
    qtbot.keyClicks(field, "0123456789")
    assert limit.notice is None
    qtbot.keyClicks(field, "x")
    assert text() == "0123456789"
    assert limit.notice is not None
    assert limit.notice.isVisible()
    assert limit.notice.text() == field.accessibleDescription() == "Only 10"
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    assert not limit.notice.isVisible()
    qtbot.keyClick(field, Qt.Key.Key_Home)
    paste(field, "abc")
    assert text() == "a012345678", "what stood there stays whole"
    assert limit.notice.isVisible()
    field.clearFocus()
    assert not limit.notice.isVisible()


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
@pytest.mark.parametrize(
    ("there", "pasted", "kept"),
    [
        ("012345678", "\N{GRINNING FACE}", "012345678"),
        ("\N{GRINNING FACE}" * 5, "x", "\N{GRINNING FACE}" * 5),
        ("0", "\N{GRINNING FACE}" * 9, "0" + "\N{GRINNING FACE}" * 4),
    ],
)
def test_a_character_of_two_units_is_taken_whole_or_refused_in_words(
    window: QWidget,
    kind: Callable[[], QLineEdit | QPlainTextEdit],
    there: str,
    pasted: str,
    kept: str,
) -> None:
    field = kind()
    limit = Limit(field, 10, "Only 10")
    layout = window.layout()
    assert layout is not None
    layout.addWidget(field)
    field.show()
    field.setFocus()
    paste(field, there)
    assert limit.notice is None
    paste(field, pasted)
    assert (field.text() if isinstance(field, QLineEdit) else field.toPlainText()) == kept
    assert limit.notice is not None
    assert limit.notice.isVisible()


def test_a_written_answer_keeps_its_end_when_something_is_put_into_its_middle(
    window: QWidget, qtbot: QtBot
) -> None:
    field = TextField("Comments", lines=3, longest=20, too_long="Only 20")
    layout = window.layout()
    assert layout is not None
    layout.addWidget(field)
    field.show()
    assert isinstance(field.edit, QPlainTextEdit)
    field.edit.setFocus()
    qtbot.keyClicks(field.edit, "the beginning, end")
    qtbot.keyClick(field.edit, Qt.Key.Key_Home)
    paste(field.edit, "long words ")
    assert field.text() == "lothe beginning, end"
    assert field.limit.notice is not None
    with qtbot.waitSignal(field.committed) as kept:
        field.keep()
    assert kept.args == ["lothe beginning, end"]


def test_a_long_note_is_kept_whole(desk: Desk) -> None:
    field = desk.console.notes.input
    long = "word " * 1500 + "end"
    assert len(long) < NOTE_LIMIT
    field.setFocus()
    paste(field, long)
    field.returnPressed.emit()
    assert desk.room.last("note.added")["text"] == long


def test_the_journal_takes_the_longest_note(open_room: Callable[..., Room]) -> None:
    room = open_room()
    room.session.begin()
    room.runner.send(AddNote("x" * NOTE_LIMIT, 0), Source.MODERATOR)
    assert len(room.last("note.added")["text"]) == NOTE_LIMIT


def test_what_is_measured_is_measured_again_with_its_style(qtbot: QtBot) -> None:
    label, heights = PlainLabel("text"), list[int]()
    qtbot.addWidget(label)
    Measured(label, lambda: heights.append(label.fontMetrics().lineSpacing()))
    label.setStyleSheet("font-size: 40px")
    label.show()
    assert heights[0] < heights[-1] == label.fontMetrics().lineSpacing()
