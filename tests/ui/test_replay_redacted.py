"""What is redacted is not heard in the replay window either."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import annotations_folder
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.coding.sound import SessionSound
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import CodingWindow, open_coding_window
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.transport import parse_stroke
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session


def test_redacted_sound_is_silent_and_drawn_as_silence(tmp_path: Path, qtbot: QtBot) -> None:
    session = golden_session(tmp_path / "data")
    redact(session, 20 * NS, 24 * NS, "anna")
    before = threading.active_count()
    opened = open_session(session)
    try:
        sound = opened.player._source  # type: ignore[attr-defined]
        assert isinstance(sound, SessionSound)
        assert not sound.read(20 * NS, 4 * sound.rate).any()
        assert sound.read(24 * NS, sound.rate)[10:].any()
        assert opened.peaks is not None
        low, high = opened.peaks.between(21 * NS, 23 * NS, 8)
        assert not low.any()
        assert not high.any()
    finally:
        opened.close()
        qtbot.waitUntil(lambda: threading.active_count() == before, timeout=10_000)


@pytest.fixture
def coding(tmp_path: Path, qtbot: QtBot) -> Iterator[CodingWindow]:
    """A rater's window of a session with sound and units."""
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session)
    before = threading.active_count()
    opened = open_coding_window(session, CodingRequest("anna"))
    opened.window.resize(1366, 768)
    opened.window.open(0)
    opened.window.activateWindow()
    qtbot.waitUntil(lambda: opened.window.filled)
    opened.coding.settings.play_units = False
    yield opened
    opened.window.close()
    opened.window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before, timeout=10_000)


def press(coding: CodingWindow, text: str) -> None:
    stroke = parse_stroke(text)
    widget = QApplication.focusWidget() or coding.window
    QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))


def test_a_unit_is_redacted_by_key_once_that_is_confirmed(coding: CodingWindow) -> None:
    state, desk, window = coding.coding, coding.desk, coding.window
    unit = state.units[3]
    state.go_to(unit.id, play=False)
    words = state.text(unit.id)
    assert words is not None
    assert words.text
    sound = window.session.sound
    length = (unit.t1_ns - unit.t0_ns) * sound.rate // NS
    assert sound.read(unit.t0_ns, length).any()

    press(coding, "Ctrl+Shift+X")
    assert desk.field.question is not None
    assert "deleted for good" in desk.field.hint.text()
    assert desk.field.no.hasFocus(), "what destroys is never under the keyboard by itself"
    press(coding, "Return")
    assert sound.read(unit.t0_ns, length).any()
    assert state.text(unit.id) == words

    press(coding, "E")  # a code that is there stays
    state.go_to(unit.id, play=False)
    press(coding, "Ctrl+Shift+X")
    QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
    assert not sound.read(unit.t0_ns, length).any()
    assert sound.read(unit.t1_ns + NS // 10, sound.rate).any()
    shown = state.text(unit.id)
    assert shown is not None
    assert shown.text == "[…]"
    assert desk.units.rows[3].text == "[…]"
    assert "Redacted from" in window.notices.text.text()
    assert window.session.peaks is not None
    low, high = window.session.peaks.between(unit.t0_ns, unit.t1_ns, 8)
    assert not low.any()
    assert not high.any()
    for path in annotations_folder(state.files.session).rglob("*.jsonl"):
        assert words.text not in path.read_text("utf-8")
    assert [mark.unit for mark in state.marks.all] == [unit.id]
    press(coding, "Ctrl+Z")
    shown = state.text(unit.id)
    assert shown is not None
    assert shown.text == "[…]", "no undo brings the words back"
    press(coding, "G")  # and coding goes on
    assert state.marks.coded(unit.id)


def test_a_selection_is_redacted_and_another_window_stops_it(coding: CodingWindow) -> None:
    state, desk = coding.coding, coding.desk
    begin, end = 21 * NS, 22 * NS
    coding.window.timeline.selected.emit(begin, end)
    press(coding, "Ctrl+Shift+X")
    assert "0:21.0" in desk.field.title.text()
    book = codebooks.codebooks_of(state.files.session.parent)[0]
    with open_marks(state.files.session, "ben", book):
        QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
        assert not annotations_of(state.files.record).redactions
        told = coding.window.transport.hint.full() + coding.window.notices.text.text()
        assert "open in a window" in told
    press(coding, "E")  # the own files are open again
    assert len(state.marks) == 1
    press(coding, "Ctrl+Shift+X")
    QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
    (redaction,) = annotations_of(state.files.record).redactions
    assert (redaction.t0_ns, redaction.t1_ns) == (begin, end)
