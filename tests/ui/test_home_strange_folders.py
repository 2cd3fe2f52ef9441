"""What lies in the data folder and is none of ours stops neither the home nor its lists."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from labapp.ui.home import HomeController
from tests.hostile import rehashed


@pytest.fixture
def data(no_microphone: None, tmp_path: Path) -> Path:
    """A session beside folders with strange names, links that go round, pipes, and damaged logs."""

    session = rehashed.write(
        tmp_path / "data", rehashed.rows_of(rehashed.GOLDEN / "journals" / "second.jsonl")
    )
    study = session.parent
    for name in (
        b"sub-P02_ses-1_99999999T999999Z",
        b"sub-\xff_ses-1_20260102T030405Z",
        b"\x1b[2J\n",
    ):
        for folder in (study, tmp_path / "data"):
            os.mkdir(os.fsencode(folder) + b"/" + name)  # noqa: PTH102
    (study / "round").symlink_to("round")
    os.mkfifo(tmp_path / "data" / "pipe")
    os.mkfifo(study / "exports.jsonl")
    (tmp_path / "data" / "quickstart").mkdir()
    (tmp_path / "data" / "quickstart" / "withdrawn.jsonl").write_text("[" * 100_000 + "\n")
    return tmp_path / "data"


@pytest.fixture
def home(open_home: Callable[..., HomeController], data: Path) -> HomeController:
    return open_home(data)


def test_the_others_are_listed_and_the_damage_is_told(home: HomeController, qtbot: QtBot) -> None:
    def lines() -> dict[str, str]:
        return {line.participant: line.state for line in home.lists._listing.sessions}

    qtbot.waitUntil(lambda: lines() == {"P01": "complete", "P02": "damaged"}, timeout=30_000)
    home.choose_study("quickstart")
    assert not home.view.error.isHidden()
    assert "not who" in home.view.error.title.text()
