"""`labapp replay --still`: a screen of a recorded session as a picture."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.session.withdrawal import withdraw
from tests.helpers.commands import Run


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    return simulate_at_scale("quickstart", 1, "knowing", folder / "data", 1)[0]


@pytest.fixture
def replay_here(labapp: Run, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `labapp replay …` in this process."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    return partial(labapp, "replay")


def replay(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "labapp", "replay", *map(str, arguments)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "LABAPP_LANGUAGE": "en"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_still_is_the_same_picture_every_time(session: Path, tmp_path: Path) -> None:
    first, second, wide = (tmp_path / f"{name}.png" for name in ("first", "second", "wide"))
    for path in (first, second):
        done = replay(session, "--at", "2:00", "--still", path, "--trails")
        assert done.returncode == 0, done.stderr
    assert first.read_bytes() == second.read_bytes()
    image = QImage(str(first))
    assert (image.width(), image.height()) == (1366, 768)
    assert replay(session, "--at", "120", "--still", wide, "--size", "1920x1080").returncode == 0
    assert QImage(str(wide)).width() == 1920


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "5:70", "--still", "x.png"], "is no time"),
        (["--at", "99:00", "--still", "x.png"], "is not in the session"),
        (["--still", "x.png"], "needs a time"),
        (["--at", "2:00", "--still", "x.png", "--size", "big"], "is no size"),
        (["--at", "2:00", "--still", "x.tiff/y.png"], "cannot be written"),
        (["--size", "800x600"], "--still is missing"),
    ],
)
def test_what_cannot_be_is_told(
    session: Path, replay_here: Run, options: list[str], told: str
) -> None:
    status, _, err = replay_here(session, *options)
    assert status in (1, 2)
    assert told in err


def test_where_there_is_no_screen_it_is_told(session: Path) -> None:
    done = replay(session, "--at", "2:00")
    assert done.returncode == 1
    assert "There is no screen to show the replay on" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_picture_that_is_there_is_not_overwritten(
    session: Path, tmp_path: Path, replay_here: Run
) -> None:
    path = tmp_path / "there.png"
    path.write_bytes(b"mine")
    assert "exists already" in replay_here(session, "--at", "2:00", "--still", path)[2]
    assert path.read_bytes() == b"mine"


def test_who_withdrew_is_not_shown(session: Path, tmp_path: Path, replay_here: Run) -> None:
    copy = Path(shutil.copytree(session, tmp_path / "quickstart" / session.name))
    withdraw(copy, tmp_path / "private", delete=False)
    told = replay_here(copy, "--at", "2:00", "--still", tmp_path / "screen.png")[2]
    assert "P01 withdrew: this session is not replayed." in told
    assert not (tmp_path / "screen.png").exists()
