"""What the command line says of the data after a session that was ended early."""

from __future__ import annotations

from pathlib import Path

from labapp.record.journal.layout import LEAVING
from labapp.ui.starting import what_became


def test_data_are_called_deleted_only_when_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "sub-P01_ses-1_20260102T030405Z"
    folder.mkdir()
    assert what_became(folder) == f"What was recorded is kept in {folder}."
    leaving = folder.rename(tmp_path / f"{LEAVING}{folder.name}")
    assert what_became(folder).startswith("Not all that was recorded is deleted yet")
    assert f"sessions withdraw {folder} --delete" in what_became(folder)
    leaving.rmdir()
    assert what_became(folder) == "What was recorded was deleted, as the participant wishes."
