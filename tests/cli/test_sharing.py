"""Commands that write what leaves the lab: the sound of bundles, Psych-DS, deposits."""

from __future__ import annotations

from pathlib import Path

from labapp.session.bids.verify import verify
from tests.helpers.commands import Run
from tests.helpers.journals import golden_session

CREATOR = ("--creator", "Doe, Jo")


def test_sound_is_written_in_the_format_that_is_named(labapp: Run, tmp_path: Path) -> None:
    session = str(golden_session(tmp_path / "data"))
    out = tmp_path / "bundle"
    assert labapp("export", session, "--sound", "flac", "--out", str(out))[0] == 0
    assert [path.suffix for path in sorted(out.rglob("segment-*"))] == [".flac", ".flac"]
    assert verify(out).ok
    status, _, err = labapp("export", session, "--sound", "ogg", "--out", str(tmp_path / "b"))
    assert status == 2
    assert "cannot have sound as 'ogg'" in err
    assert "wav, flac" in err


def test_a_study_is_exported_and_analysed_by_its_id(labapp: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    golden_session(data)
    for command in ("export", "analyze"):
        out = tmp_path / command
        assert labapp(command, "golden", "--data", str(data), "--out", str(out))[0] == 0
        assert out.is_dir()


def test_a_deposit_is_made_and_says_who_is_in_it(labapp: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    golden_session(data)
    out = tmp_path / "deposit"
    options = ("--data", str(data), "--private", str(tmp_path / "private"), "--out", str(out))
    status, _, err = labapp("deposit", "golden", *CREATOR, *options)
    assert status == 2
    assert "No licence was given, and labapp does not choose one for you." in err
    assert "CC-BY-4.0" in err
    status, _, err = labapp("deposit", "golden", "--license", "CC0-1.0", *options)
    assert status == 2
    assert "No creator was given" in err
    assert not out.exists()
    status, told, _ = labapp("deposit", "golden", "--license", "CC0-1.0", *CREATOR, *options)
    assert status == 0
    assert told.splitlines()[0] == f"deposit: {out}"
    assert "The dataset has 1 session of 1 participant." in told
    assert "labapp does not know whether your consent form" in told
    assert (out / "README.md").exists()
    status, _, err = labapp("deposit", "golden", "--license", "CC0-1.0", *CREATOR, *options)
    assert status == 3
    assert "never overwrites" in err


def test_the_voices_in_a_deposit_are_warned_of(labapp: Run, tmp_path: Path) -> None:
    session = str(golden_session(tmp_path / "data"))
    out = tmp_path / "deposit"
    options = ("--license", "CC0-1.0", *CREATOR, "--private", str(tmp_path / "private"))
    status, _, err = labapp("deposit", session, "--with-audio", *options, "--out", str(out))
    assert status == 0
    assert "the voices in this deposit identify the people" in err
    assert len(list((out / "bids").rglob("*.flac"))) == 2
