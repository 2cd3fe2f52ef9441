"""Whether anything opens a file is told by what the system's command says, not by what Qt hopes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.ui.researcher.job import LOOK_MS, open_outside

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="xdg-open is Linux's")


def opener(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An `xdg-open` that does this instead."""
    command = folder / "xdg-open"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_what_nothing_opens_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opener(tmp_path, "exit 3", monkeypatch)
    told: list[str] = []
    open_outside(tmp_path / "report.html", told.append)
    qtbot.waitUntil(lambda: bool(told))
    assert str(tmp_path / "report.html") in told[0]


def test_what_is_open_for_long_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opened = tmp_path / "opened"
    opener(tmp_path, f'echo "$1" > {opened}; sleep 0.5', monkeypatch)
    told: list[str] = []
    open_outside(tmp_path / "report.html", told.append)
    qtbot.waitUntil(opened.exists)
    qtbot.wait(500 + 3 * LOOK_MS)
    assert told == []
    assert opened.read_text().strip() == str(tmp_path / "report.html")
