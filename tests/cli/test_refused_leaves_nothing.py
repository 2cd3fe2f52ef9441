"""A command that is refused removes the folders that it made on its way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labapp.base import access
from labapp.base.errors import LslError, NoMicrophone
from labapp.record import lsl
from labapp.record.audio import devices
from labapp.session import folder
from tests.helpers.commands import Run

RUN = ("run", "quickstart", "--participant", "P01", "--windowed")


def test_a_session_refused_for_its_microphone_leaves_no_data_folder(
    labapp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(spec: str) -> devices.Device:
        raise NoMicrophone(f"There is no microphone {spec}.")

    monkeypatch.setattr(devices, "choose", choose)
    data = tmp_path / "new" / "data"
    status, _, err = labapp(*RUN, "--audio", "none-such", "--data", data)
    assert status != 0
    assert "no microphone none-such" in err
    assert not data.parent.exists()


def test_a_session_refused_once_its_folder_was_made_leaves_no_locks_either(
    labapp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, made = tmp_path / "data", list[Path]()

    def streams(*_: Any) -> None:
        made.extend(data.rglob("*.lock"))
        raise LslError("No stream could be opened.")

    monkeypatch.setattr(lsl, "load", lambda: None)
    monkeypatch.setattr(lsl, "SessionStreams", streams)
    words = (*RUN, "--audio", "off", "--lsl", "--simulate", "understanding", "--data", data)
    status, _, err = labapp(*words)
    assert status != 0
    assert "No stream could be opened" in err
    assert data / ".creating.lock" in made
    assert not data.exists()


def test_folders_with_anything_in_them_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"
    study = folder.study_folder(data, "quickstart")
    access.own_folder(data / "other")
    (study / "notes.txt").write_text("kept")
    (tmp_path / "before").mkdir()
    access.own_folder(tmp_path / "before")
    access.remove_unused()
    assert [path.name for path in data.iterdir()] == ["quickstart"]
    assert (tmp_path / "before").is_dir()
    (study / "notes.txt").unlink()
    access.remove_unused()  # what was left once is no longer this process's to remove
    assert study.is_dir()


def test_a_lock_that_is_held_keeps_its_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder.check_data_root(data)
    with folder.creating(data):
        access.remove_unused()
    assert data.is_dir()
