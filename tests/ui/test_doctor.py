"""`labapp doctor`, the system's command, and what windows need."""

from __future__ import annotations

import json
import linecache
import struct
import sys
from importlib import import_module
from inspect import getsource
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from labapp.coding.transcription import models
from labapp.ui import doctor, qtapp, theme
from labapp.ui.qtapp import Display, make_app


@pytest.mark.parametrize(
    ("size", "level"), [((1366, 768), "pass"), ((800, 450), "note"), ((911, 512), "pass")]
)
def test_a_screen_on_which_a_window_is_cut_off_is_told(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], level: str
) -> None:
    told = json.dumps([("eDP-1", *size, 1.5)])
    monkeypatch.setattr(qtapp, "choose", lambda: Display(True, "the display answers"))
    monkeypatch.setattr(doctor, "_ask_qt", lambda code: CompletedProcess((), 0, told, ""))
    (check,) = doctor._screens()
    assert (check.name, check.level, check.ok) == ("screen", level, True)
    assert f"{size[0]} × {size[1]} points at 150 %" in check.found
    assert ("900 × 500" in check.todo) == (level == "note")


def test_a_qt_that_cannot_enlarge_pages_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qtapp, "choose", lambda: Display(True, "as if there were one"))
    monkeypatch.setattr(doctor, "can_grow", lambda: False)
    assert "cannot enlarge participants' pages" in doctor._screens()[-1].found


def test_what_qt_says_of_screens_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qtapp, "choose", lambda: Display(True, "as if there were one"))
    names = {check.name for check in doctor._screens()}
    assert names == {"screen"}, "those of the offscreen platform"


def test_what_can_write_down_speech_is_told_with_what_to_get(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LABAPP_SPEECH", str(tmp_path))
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    (check,) = doctor._speech()
    assert (check.name, check.level, check.ok) == ("speech", "note", True)
    assert check.found == f"no engine; no model in {tmp_path}"
    assert "labapp extras add whispercpp" in check.todo
    assert "ggml-small.bin from ggerganov/whisper.cpp" in check.todo
    assert "For German, use one without" in check.todo
    (tmp_path / "ggml-tiny.bin").write_bytes(struct.pack("<4sI", b"lmgg", 51865))
    (tmp_path / "notes.txt").write_text("mine")
    (check,) = doctor._speech()
    assert check.found == "no engine; ggml-tiny.bin (pywhispercpp)"
    assert "Put a model" not in check.todo
    monkeypatch.setattr(models, "find_spec", lambda name: object())
    (check,) = doctor._speech()
    assert (check.level, check.todo) == ("pass", "")


def test_the_source_of_what_is_imported_later_is_not_held_in_memory(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As PySide comes: tests/conftest.py has told it already.
    feature = import_module("shibokensupport.feature")
    monkeypatch.setattr(feature, "_mod_uses_pyside", lambda module: "PySide" in getsource(module))
    make_app()
    (tmp_path / "imported_after_qt.py").write_text("import imported_by_it\n")
    (tmp_path / "imported_by_it.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import imported_after_qt  # type: ignore[import-not-found]

    try:
        assert imported_after_qt.imported_by_it.VALUE == 1
        assert not [name for name in linecache.cache if "imported_" in name]
    finally:
        for name in ("imported_after_qt", "imported_by_it"):
            sys.modules.pop(name, None)


def luminance(color: QColor) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [channel / 255 for channel in (color.red(), color.green(), color.blue())]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("field", [QLineEdit, QPlainTextEdit])
def test_what_is_to_be_typed_can_be_read(
    qtbot: QtBot, palette: theme.Palette, field: type[QLineEdit] | type[QPlainTextEdit]
) -> None:
    """Contrast of the darkest (or lightest) pixel of the words; the fonts' edges are softer."""
    made = field()
    qtbot.addWidget(made)
    made.setStyleSheet(theme.stylesheet(palette))
    made.setPlaceholderText("Hhhh lllll")
    made.resize(300, 80)
    made.show()
    qtbot.wait(1)
    made.clearFocus()
    image: QImage = made.grab().toImage()
    ground = image.pixelColor(image.width() // 2, image.height() // 2)
    written = [
        image.pixelColor(x, y)
        for x in range(theme.SPACE_M, image.width() // 3)
        for y in range(theme.SPACE_XS, image.height() - theme.SPACE_XS)
    ]
    assert max(contrast(color, ground) for color in written) >= 4.5
