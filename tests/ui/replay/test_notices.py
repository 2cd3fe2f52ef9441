"""What a replay says of a session before it is looked at."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

from PySide6.QtWidgets import QApplication

from labapp.simulation.at_scale import simulate_at_scale
from labapp.ui.replay.session import open_session
from tests.helpers.journals import golden_session

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
