"""Consent forms: signed by a click, a name or a drawing; uses asked one by one; the form as PDF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from labapp.base.errors import DataFolderError, SessionError, TargetExists
from labapp.session.private import consents
from labapp.study.loading import load
from labapp.ui.consent_pdf import write_blank, write_signed
from tests.helpers.rooms import SilentRecorder

LEFT = Qt.MouseButton.LeftButton

STUDY = """\
id: signed
title: A study with its own form
version: 1
recording: {audio: optional}
flow:
  - consent: {text: consent.md, sign: SIGN, items: ITEMS}
  - questionnaire: shipped:seq
"""


def study(folder: Path, sign: str, items: str = "{}") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text("# Consent\n\nWe record what you do.\n")
    path = folder / "signed.yaml"
    path.write_text(STUDY.replace("SIGN", sign).replace("ITEMS", items))
    return path


@pytest.fixture
def form(open_room, open_window, tmp_path):
    """A room, its window, and the form on it."""

    def open_one(sign: str, items: str = "{}", **more: object):
        room = open_room(study(tmp_path / "study", sign, items), **more)
        window = open_window(room)
        return room, window, window.screen_shown

    return open_one


def draw(field) -> None:
    """Draw a line across the field, as a hand does."""
    width, height = field.width(), field.height()
    QTest.mousePress(field, LEFT, pos=QPoint(width // 5, height // 2))
    for step in range(2, 5):
        QTest.mouseMove(field, QPoint(step * width // 5, height // 2 + 5 * step))
    QTest.mouseRelease(field, LEFT, pos=QPoint(4 * width // 5, height // 3))


def test_a_click_signs_and_no_name_is_asked_or_stored(form, tmp_path):
    room, window, screen = form("click")
    assert screen.name is None
    assert screen.field is None
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("consent.given") == 0
    assert window.bottom.note.text() == window.session.words("consent_missing_click")
    QTest.mouseClick(screen.tick, LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("consent.given")["signed"] == "click"
    assert not list((tmp_path / "0" / "private").rglob("*"))


def test_a_drawn_signature_is_kept_apart(form, tmp_path):
    room, window, screen = form("drawn")
    screen.tick.click()
    QTest.mouseClick(screen.field, LEFT)  # a slip of the hand is no signature
    assert not screen.complete
    draw(screen.field)
    assert screen.complete
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("consent.given")["signed"] == "drawn"
    (kept,) = consents(tmp_path / "0" / "private", "signed")
    assert len(json.loads(kept.drawing)) == 2
    assert kept.drawing not in str(room.events)


def test_whoever_cannot_draw_types_a_name(form, tmp_path):
    room, _, screen = form("drawn")
    screen.tick.click()
    QTest.keyClicks(screen.name, "Ada Lovelace")
    QTest.keyPress(screen.name, Qt.Key.Key_Return)
    assert room.count("consent.given") == 1
    (kept,) = consents(tmp_path / "0" / "private", "signed")
    assert (kept.name, kept.drawing) == ("Ada Lovelace", "")


def test_uses_are_asked_one_by_one_and_only_a_needed_one_holds_up(form):
    room, window, screen = form("click", "{transcript: required, quote: optional}")
    screen.tick.click()
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("consent.given") == 0
    assert window.bottom.note.text() == window.session.words("consent_missing_use")
    assert screen.uses["transcript"].hasFocus()
    screen.uses["transcript"].click()
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("consent.given")["uses"] == {"transcript": True, "quote": False}


def test_a_long_form_scrolls_to_what_is_asked_and_to_what_has_the_focus(form, qtbot):
    uses = "audio, transcript, quote, share_audio, video"
    items = "{" + ": required, ".join(uses.split(", ")) + ": required}"
    _, window, screen = form("drawn", items)
    window.showNormal()
    window.resize(window.minimumSize())

    def all_seen(widget: QWidget) -> bool:
        return widget.visibleRegion().boundingRect() == widget.rect()

    qtbot.waitUntil(lambda: not all_seen(screen.name))
    QTest.mouseClick(window.bottom.left, LEFT)
    qtbot.waitUntil(lambda: all_seen(screen.leave))
    QTest.mouseClick(screen.leave.stay, LEFT)
    qtbot.waitUntil(lambda: all_seen(screen.tick))
    window.bottom.right.setFocus()
    QTest.keyClick(window.bottom.right, Qt.Key.Key_Backtab)
    assert screen.name.hasFocus()
    qtbot.waitUntil(lambda: all_seen(screen.name))


@pytest.mark.parametrize("agrees", [True, False])
def test_whoever_does_not_agree_to_sound_is_not_recorded(form, agrees):
    room, window, screen = form("click", "{audio: optional}", make_recorder=SilentRecorder)
    screen.tick.click()
    if agrees:
        screen.uses["audio"].click()
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.session.recording is agrees
    assert room.count("audio.started") == agrees
    if not agrees:
        assert room.last("audio.off")["planned"]


def test_half_a_form_is_none(tmp_path, qapp):
    resource = pytest.importorskip("resource", reason="Windows limits no file's size")
    form, loaded = tmp_path / "form.pdf", load(study(tmp_path / "study", "name"))
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(DataFolderError, match="could not be written"):
            write_blank(form, loaded)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert not form.exists()
    write_blank(form, loaded)


def test_the_form_is_written_blank_and_signed(form, tmp_path):
    room, window, screen = form("drawn", "{quote: optional}")
    blank = tmp_path / "blank.pdf"
    write_blank(blank, load(tmp_path / "study" / "signed.yaml"))
    folder, private = room.session.folder.path, tmp_path / "0" / "private"
    signed = tmp_path / "signed.pdf"
    with pytest.raises(SessionError, match="No consent was given"):
        write_signed(signed, folder, private)
    screen.tick.click()
    draw(screen.field)
    QTest.keyClicks(screen.name, "Ada Lovelace")
    QTest.mouseClick(window.bottom.right, LEFT)
    write_signed(signed, folder, private)
    assert signed.read_bytes().startswith(b"%PDF-")
    assert blank.read_bytes().startswith(b"%PDF-")
    assert signed.stat().st_mode & 0o077 == 0
    # The picture of the signature is in one of them only.
    assert b"/Width 900" in signed.read_bytes()
    assert b"/Width 900" not in blank.read_bytes()
    with pytest.raises(TargetExists, match="already exists"):
        write_signed(signed, folder, private)
    with pytest.raises(SessionError, match="contains no signature"):
        write_signed(tmp_path / "other.pdf", folder, tmp_path / "elsewhere")
