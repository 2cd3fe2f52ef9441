"""`labapp sessions backup`: where to, what it says, and how it ends."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_commands import run
from tests.helpers.commands import Run
from tests.helpers.drawn import drawn_study, ended


def test_the_command_remembers_the_place_and_says_how_it_went(tmp_path: Path, labapp: Run) -> None:
    loaded, data, disk = drawn_study(tmp_path, included=9), tmp_path / "data", tmp_path / "disk"
    first = ended(loaded, tmp_path, "P01")
    ended(loaded, tmp_path, "P02")
    disk.mkdir()
    where = ("--data", str(data))
    status, _, said = labapp("sessions", "backup", *where)
    assert (status, "No backup folder was chosen" in said) == (2, True)
    assert labapp("sessions", "backup", "--to", tmp_path / "not mounted", *where)[0] == 2
    made = run("sessions", "backup", "--to", disk, *where)
    assert len(made["done"]) == 2
    assert run("sessions", "backup", *where)["there"] == 2
    there = disk / "sessions" / "drawn" / first.name / "journal.sqlite"
    there.write_bytes(b"cut")
    status, said, _ = labapp("sessions", "backup", *where)
    assert status == 1
    assert "NOT backed up. The copy differs" in said
    disk.rename(tmp_path / "away")
    status, _, said = labapp("sessions", "backup", *where)
    assert (status, "does not exist" in said) == (1, True)
