"""`labapp doctor` on the screens of this machine."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from labapp.coding.transcription import models
from labapp.ui import doctor, qtapp
from labapp.ui.qtapp import Display


@pytest.mark.parametrize(
    ("size", "level"), [((1366, 768), "pass"), ((800, 450), "note"), ((911, 512), "pass")]
)
def test_a_screen_on_which_a_window_is_cut_off_is_told(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], level: str
) -> None:
    told = json.dumps([("eDP-1", *size, 1.5)])
    monkeypatch.setattr(qtapp, "choose", lambda: Display(True, "the display answers"))
    monkeypatch.setattr(doctor, "_asked", lambda code: CompletedProcess((), 0, told, ""))
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
    assert "ggml-small.bin of ggerganov/whisper.cpp" in check.todo
    assert "German needs one without" in check.todo
    (tmp_path / "ggml-tiny.bin").write_bytes(struct.pack("<4sI", b"lmgg", 51865))
    (tmp_path / "notes.txt").write_text("mine")
    (check,) = doctor._speech()
    assert check.found == "no engine; ggml-tiny.bin (pywhispercpp)"
    assert "Put a model" not in check.todo
    monkeypatch.setattr(models, "find_spec", lambda name: object())
    (check,) = doctor._speech()
    assert (check.level, check.todo) == ("pass", "")
