"""Everything that is written is readable to its owner alone, whatever the usual rights are."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from labapp.analysis.analyze import stage_output
from labapp.base import access
from labapp.base.errors import DataFolderError, UsageError
from labapp.cli.main import main
from labapp.record.audio.capture import WavWriter
from labapp.session.folder import study_folder
from labapp.session.private import Consent, store_consent
from labapp.ui import doctor
from labapp.ui.moderator import checklist
from tests.session.sessions import begin_session, opened

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
CONSENT = Consent("P01", "1", "Ada", "2026-01-02T03:04:05.000000Z", "0" * 64)


def others_can(folder: Path, bits: int = 0o077) -> list[str]:
    """What in a folder, itself included, has one of these rights."""
    every = (folder, *folder.rglob("*"))
    return [f"{stat.filemode(p.stat().st_mode)} {p}" for p in every if p.stat().st_mode & bits]


def command(umask: int, *arguments: str) -> None:
    """A command with these usual rights, which are as they were afterwards."""
    before = os.umask(umask)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["labapp", *arguments])
            with pytest.raises(SystemExit) as ended:
                main()
    finally:
        os.umask(before)
    assert ended.value.code == 0


STUDY = """\
id: open
title: A study whose model is there at once
version: 1
unnamed_texts: shipped
flow:
  - consent: shipped:consent
  - stages: {task: reconstruction, models: [sinelines/gt], trials: 1, after: [shipped:seq]}
"""


def simulated(umask: int, folder: Path) -> Path:
    """A new folder, open to none but its owner, with a session in its folder `data`."""
    made = folder / "made"
    made.mkdir(mode=0o700)
    study = folder / "open.yaml"
    study.write_text(STUDY)
    out = str(made / "data")
    command(umask, "simulate", str(study), "--participants", "1", "--workers", "1", "--out", out)
    return made


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_commands_write_nothing_that_others_can_read(tmp_path: Path, umask: int) -> None:
    """Sessions, private folder, bundle, archive, analysis: with figures where all is open."""
    made = simulated(umask, tmp_path)
    data, bundle = str(made / "data"), str(made / "a" / "bundle")
    command(umask, "export", data, "--out", bundle)
    command(umask, "export", data, "--out", str(made / "b.zip"), "--zip", "--deidentify")
    if not umask:
        command(umask, "analyze", bundle, "--out", str(made / "results"))
    names = {path.name for path in made.rglob("*")}
    assert {
        "journal.sqlite",
        "exports.jsonl",
        "b.zip",
        "manifest.json",
        "environment.json",
    } <= names
    assert umask or {"trials.csv", "snapshots.csv", "report.html"} <= names
    assert others_can(made) == []


def test_for_the_labs_group_everything_is_open_but_the_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp

    monkeypatch.setenv(access.GROUP, grp.getgrgid(os.getegid()).gr_name)
    made = simulated(0o022, tmp_path)
    command(0o022, "export", str(made / "data"), "--out", str(made / "bundle"))
    private = made / "data" / "private"
    assert others_can(made, 0o007) == []
    assert others_can(private) == []
    for path in (*(made / "data").rglob("*"), *(made / "bundle").rglob("*")):
        if private not in (path, *path.parents):
            mode = path.stat().st_mode
            assert mode & 0o060 == 0o060, path
            assert path.is_file() or mode & stat.S_ISGID, path
            assert path.stat().st_gid == os.getegid(), path


@pytest.mark.parametrize("shared", [False, True])
def test_sound_is_written_with_the_same_rights(
    tmp_path: Path, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp

    if shared:
        monkeypatch.setenv(access.GROUP, grp.getgrgid(os.getegid()).gr_name)
    before = os.umask(0)
    try:
        WavWriter(tmp_path / "s.wav", 8000).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "s.wav").stat().st_mode) == (0o660 if shared else 0o600)


def test_a_group_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(access.GROUP, "no-such-group-here")
    with pytest.raises(UsageError, match="there is no such group"):
        access.restrict()


def test_folders_for_data_are_closed_whoever_makes_them(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        study_folder(tmp_path / "data", "a-study")
        with stage_output(tmp_path / "results", "last") as folder:
            (folder / "last").write_text("")
        access.create(tmp_path / "file").close()
        store_consent(tmp_path / "private", "a-study", CONSENT)
        session = begin_session(tmp_path)
        session.close("over")
    finally:
        os.umask(before)
    for name in ("data", "data/a-study", "results", "file", "private", "private/a-study.sqlite"):
        path = tmp_path / name
        assert path.stat().st_mode & 0o077 == 0, path
    assert session.folder.path.stat().st_mode & 0o077 == 0


def test_an_archive_that_comes_from_another_machine_gets_our_rights(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, kind in (("folder", tarfile.DIRTYPE), ("folder/file", tarfile.REGTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, 0o777
            archive.addfile(member)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        access.unpack(archive, tmp_path / "out")
    assert others_can(tmp_path / "out" / "folder") == []
    assert (tmp_path / "out" / "folder" / "file").is_file()


@pytest.mark.parametrize(
    ("name", "kind"),
    [("../out", tarfile.REGTYPE), ("/tmp/out", tarfile.REGTYPE), ("link", tarfile.SYMTYPE)],
)
def test_an_archive_leads_nowhere_else(tmp_path: Path, name: str, kind: bytes) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    stream.seek(0)
    with (
        tarfile.open(fileobj=stream) as archive,
        pytest.raises(ValueError, match="neither a file nor"),
    ):
        access.unpack(archive, tmp_path / "in")
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_private_place_that_others_can_read_is_refused(tmp_path: Path, what: str) -> None:
    private = tmp_path / "private"
    store_consent(private, "quickstart", CONSENT)
    wide = private if what == "folder" else private / "quickstart.sqlite"
    wide.chmod(0o755 if what == "folder" else 0o644)
    before = (private / "quickstart.sqlite").read_bytes()
    with pytest.raises(DataFolderError, match=f"Others can read the private {what}") as refused:
        store_consent(private, "quickstart", CONSENT)
    assert "chmod -R go-rwx" in refused.value.todo
    with pytest.raises(DataFolderError, match="Others can read"):
        opened(tmp_path)
    assert not list((tmp_path / "data").rglob("sub-*")), "told before anything is made"
    assert (private / "quickstart.sqlite").read_bytes() == before


@pytest.mark.parametrize("private", [True, False])
def test_the_command_that_closes_a_folder_can_be_run_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private: bool
) -> None:
    monkeypatch.delenv(access.GROUP, raising=False)
    folder = tmp_path / "the lab's $HOME; folder"
    folder.mkdir()
    folder.chmod(0o755)
    subprocess.run(access.narrower(folder, private=private), shell=True, check=True)
    assert access.wide(folder, private=private) == ""


def test_the_labs_group_may_read_all_but_what_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp

    monkeypatch.setenv(access.GROUP, grp.getgrgid(os.getegid()).gr_name)
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o770)
    assert access.wide(folder) == ""
    assert access.wide(folder, private=True) == "drwxrwx---"
    folder.chmod(0o775)
    assert access.wide(folder) == "drwxrwxr-x"


def test_a_wide_data_folder_is_warned_of_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, private = tmp_path / "data", tmp_path / "private"
    for folder in (data, private):
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("LABAPP_PRIVATE", str(private))
    assert access.warning(data) == ""
    assert [check.level for check in doctor._access(data, private)] == ["pass"]
    assert checklist.access_row(data, private) is None
    data.chmod(0o755)
    assert f"chmod -R go-rwx {data}" in access.warning(data)
    (note,) = doctor._access(data, private)
    assert (note.level, note.ok) == ("note", True)
    row = checklist.access_row(data, private)
    assert row is not None
    assert (row.state, row.blocks) == ("warn", False)
    private.chmod(0o750)
    (failure,) = doctor._access(data, private)
    assert (failure.level, failure.ok) == ("fail", False)
    row = checklist.access_row(data, private)
    assert row is not None
    assert (row.state, row.blocks) == ("missing", True)
    command(0o077, "sessions", "list", "--data", str(data))
    assert "Warning: Others can read the data folder" in capsys.readouterr().err
