"""`labapp docs`, and *Help* on the home."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.ui.moderator.home import HomeWindow
from tests.helpers.commands import Run


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the pages, which are not built yet."""
    folder = tmp_path / "pages"
    folder.mkdir()
    monkeypatch.setattr(resources, "documentation", lambda: folder)
    return folder


def test_the_pages_are_opened(pages: Path, labapp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (pages / "index.html").write_text("<h1>labapp</h1>")
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    assert labapp("docs")[0] == 0
    assert opened == [(pages / "index.html").as_uri()]
    assert labapp("docs", "--path") == (0, f"{pages / 'index.html'}\n", "")
    assert len(opened) == 1


def test_without_a_browser_their_place_is_told(
    pages: Path, labapp: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pages / "index.html").write_text("<h1>labapp</h1>")
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    status, out, _ = labapp("docs")
    assert (status, str(pages / "index.html") in out) == (0, True)


def test_pages_that_are_not_built_are_told(pages: Path, labapp: Run) -> None:
    status, _, err = labapp("docs")
    assert status != 0
    assert "make docs" in err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="xdg-open is Linux's")
def test_help_opens_the_pages_by_key_and_by_button(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opened = tmp_path / "opened"
    command = tmp_path / "bin" / "xdg-open"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    window = HomeWindow()
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: "not built" in window.view.error.title.text())
    (pages / "index.html").write_text("<h1>labapp</h1>")
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.waitUntil(opened.exists)
    window.view.help.click()
    qtbot.waitUntil(lambda: opened.read_text().count(str(pages / "index.html")) == 2)
    window.close()
