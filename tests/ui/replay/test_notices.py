"""What a replay says of a session before it is looked at."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import rmtree

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.ui.language import speak, tr
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.window import ReplayWindow
from tests.helpers.journals import golden_session
from tests.ui.test_blind_words import texts_of

USUAL = "screens are shown in a usual window"


def notices(path: Path) -> str:
    session = open_session(path)
    session.close()
    return " ".join(session.notices)


def test_an_old_session_says_what_it_did_not_note(tmp_path: Path, qapp: QApplication) -> None:
    session = golden_session(tmp_path)
    rmtree(session / "audio")  # nothing is to be heard here
    assert USUAL in notices(session)


def test_a_simulated_session_had_no_window_to_note(tmp_path: Path, qapp: QApplication) -> None:
    session = simulate_at_scale("quickstart", 1, "understanding", tmp_path / "data", 1)[0]
    assert USUAL not in notices(session)


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_no_window_sends_anybody_to_a_terminal(tmp_path: Path, qtbot: QtBot, spoken: str) -> None:
    """What a window advises can be done in a window, also without sound and without units."""
    session = simulate_at_scale("quickstart", 1, "understanding", tmp_path / "data", 1)[0]
    speak(spoken)
    window = ReplayWindow(open_session(session))
    window.open(0)
    qtbot.waitUntil(lambda: window.filled)
    assert window.units.empty.text() == tr("replay.silent_notice")
    advice = [text for text in texts_of(window) if re.search(r"labapp \w|`", text)]
    window.close()
    window.deleteLater()
    assert not advice
