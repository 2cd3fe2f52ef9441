"""A second copy of each finished session: whole or not at all, compared, never over another one,
and gone where its participant wants it gone."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.base.errors import DataFolderError, NotFoundError, UsageError
from labapp.record.events.commands import EndSession
from labapp.record.journal import anchor
from labapp.record.journal.layout import BACKUPS, LOCK
from labapp.record.journal.sessions import list_sessions
from labapp.session import backup
from labapp.session.backup import MARKER, Place, back_up, missing, prepare_place
from labapp.session.private import consents
from labapp.session.withdrawal import withdraw
from tests.helpers.drawn import begun, drawn_study, ended, interrupted
from tests.helpers.trees import flip, snapshot
from tests.session.sessions import begin_session

KILLED_WHILE_COPYING = """
import os, signal, sys
from pathlib import Path
from labapp.session import backup
copy = backup._copy
def dies(source, goal):
    done = copy(source, goal)
    if source.name == "journal.sqlite":
        os.kill(os.getpid(), signal.SIGKILL)
    return done
backup._copy = dies
place = backup.prepare_place(Path(sys.argv[2]), Path(sys.argv[1]))
backup.back_up(Path(sys.argv[1]), place)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two finished sessions, one that was interrupted, and one that is open."""
    loaded = drawn_study(tmp_path, included=9)
    for participant in ("P01", "P02"):
        ended(loaded, tmp_path, participant)
    interrupted(loaded, tmp_path, "P03")
    return tmp_path / "data"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk" / "labapp"
    folder.mkdir(parents=True)
    return folder


def session_of(data: Path, participant: str) -> Path:
    (path,) = data.glob(f"*/sub-{participant}_*")
    return path


def copied(disk: Path) -> dict[str, bytes]:
    return {name: content for name, content in snapshot(disk).items() if name != MARKER}


def original(session: Path) -> dict[str, bytes]:
    return {name: content for name, content in snapshot(session).items() if name != LOCK}


def test_each_finished_session_is_copied_and_compared(data: Path, disk: Path) -> None:
    place = prepare_place(disk, data)
    assert [line.participant for line in missing(list_sessions(data), place)] == ["P01", "P02"]
    report = back_up(data, place)
    assert report.ok
    assert [copy.session[:7] for copy in report.done] == ["sub-P01", "sub-P02"]
    assert missing(list_sessions(data), place) == []
    for participant in ("P01", "P02"):
        session = session_of(data, participant)
        there = disk / "sessions" / "drawn" / session.name
        assert snapshot(there) == original(session)
        listing = Path(f"{there}.sha256").read_text()
        checked = dict(reversed(line.split("  ")) for line in listing.splitlines())
        assert checked == {
            f"{session.name}/{name}": hashlib.sha256(content).hexdigest()
            for name, content in original(session).items()
        }, "as `sha256sum -c` reads it"
    assert not list(disk.rglob("*P03*")), "one that is not over has no copy yet"
    assert not list(disk.rglob(".*")), "nothing hidden is left"
    assert anchor.check(data / "drawn")[0] == []


def test_a_second_backup_copies_only_what_is_new(data: Path, disk: Path, tmp_path: Path) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    before = {path: path.stat().st_mtime_ns for path in disk.rglob("*")}
    ended(drawn_study(tmp_path, included=9), tmp_path, "P04")
    report = back_up(data, place)
    assert (report.there, [copy.session[:7] for copy in report.done]) == (2, ["sub-P04"])
    study = disk / "sessions" / "drawn"
    assert all(path.stat().st_mtime_ns == at for path, at in before.items() if path != study)


def test_a_place_that_is_away_is_caught_up_with(data: Path, disk: Path) -> None:
    place = prepare_place(disk, data)
    disk.rename(disk.with_name("pulled out"))
    with pytest.raises(DataFolderError, match="does not exist"):
        back_up(data, place)
    assert not disk.exists(), "nothing is made where the disk should be"
    disk.mkdir()  # the folder that it is mounted on
    with pytest.raises(DataFolderError, match="or it is a different one"):
        back_up(data, place)
    assert list(disk.iterdir()) == []
    disk.rmdir()
    disk.with_name("pulled out").rename(disk)
    assert len(back_up(data, place).done) == 2


@pytest.mark.parametrize("damage", ["changed", "cut off", "one more file", "a file less"])
def test_a_copy_that_differs_is_reported_and_left_alone(
    data: Path, disk: Path, damage: str
) -> None:
    place = prepare_place(disk, data)
    session = session_of(data, "P01")
    there = disk / "sessions" / "drawn" / session.name
    shutil.copytree(session, there, ignore=shutil.ignore_patterns(LOCK))
    if damage == "changed":
        flip(there / "journal.sqlite", 5000)
    elif damage == "cut off":
        (there / "journal.sqlite").write_bytes(b"cut")
    elif damage == "one more file":
        (there / "more.txt").write_text("more")
    else:
        (there / "environment.json").unlink()
    before = snapshot(there)
    report = back_up(data, place)
    assert [(name, "differs" in why) for name, why in report.left_out] == [(session.name, True)]
    assert snapshot(there) == before
    assert [copy.session[:7] for copy in report.done] == ["sub-P02"], "others go on"
    assert len(missing(list_sessions(data), place)) == 1


def test_a_copy_that_was_lost_or_shortened_later_is_noticed(data: Path, disk: Path) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    first, second = (disk / "sessions" / "drawn" / session_of(data, p).name for p in ("P01", "P02"))
    shutil.rmtree(first)
    (second / "journal.sqlite").write_bytes(b"cut")
    report = back_up(data, place)
    assert [copy.session for copy in report.done] == [first.name]
    assert [name for name, _ in report.left_out] == [second.name]


def test_a_copy_whose_log_line_was_lost_is_taken_over(data: Path, disk: Path) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    before = copied(disk)
    (data / "drawn" / BACKUPS).unlink()
    report = back_up(data, place)
    assert len(report.done) == 2
    assert copied(disk) == before


def test_killed_while_it_copies_it_goes_on_with_the_next(data: Path, disk: Path) -> None:
    command = [sys.executable, "-c", KILLED_WHILE_COPYING, str(data), str(disk)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    study = disk / "sessions" / "drawn"
    assert all(path.name.startswith(".") for path in study.iterdir()), "nothing that looks whole"
    report = back_up(data, prepare_place(disk, data))
    assert len(report.done) == 2
    assert not list(study.glob(".*"))


def test_what_the_disk_wrote_wrongly_gets_no_name(
    data: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = backup._copy

    def writes_wrongly(source: Path, goal: Path) -> str:
        done = copy(source, goal)
        if source.name == "journal.sqlite":
            flip(goal, 4096)
        return done

    monkeypatch.setattr(backup, "_copy", writes_wrongly)
    report = back_up(data, prepare_place(disk, data))
    assert len(report.left_out) == 2
    assert not list((disk / "sessions" / "drawn").iterdir())


def test_a_session_that_is_open_is_left_for_later(disk: Path, tmp_path: Path) -> None:
    session = begun(drawn_study(tmp_path, included=9), tmp_path, "P01")
    session.runner.send(EndSession("tired", ""))
    report = back_up(tmp_path / "data", prepare_place(disk, tmp_path / "data"))
    assert report.done == []
    session.close("ended")
    assert len(back_up(tmp_path / "data", prepare_place(disk, tmp_path / "data")).done) == 1


def test_withdrawing_deletes_the_copy_too(data: Path, disk: Path, tmp_path: Path) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    session = session_of(data, "P01")
    there = disk / "sessions" / "drawn" / session.name
    done = withdraw(session, tmp_path / "private", delete=True)
    assert done.copies == (str(there),)
    assert f"Copies in the backup were deleted: {there}." in done.lines()
    assert not list(disk.rglob("*P01*"))
    assert list(disk.rglob("*P02*"))
    report = back_up(data, place)
    assert (report.deleted, report.there) == ([], 1)


def test_a_copy_elsewhere_is_named_and_deleted_once_it_is_back(
    data: Path, disk: Path, tmp_path: Path
) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    session = session_of(data, "P01")
    elsewhere = tmp_path / "mounted elsewhere"
    disk.rename(elsewhere)
    done = withdraw(session, tmp_path / "private", delete=True)
    assert done.copies_left == (str(disk / "sessions" / "drawn" / session.name),)
    assert "click *Back up now* on the Sessions page" in "\n".join(done.lines())
    report = back_up(data, Place(elsewhere, place.id))
    assert len(report.deleted) == 1
    assert not list(elsewhere.rglob("*P01*"))


def test_data_that_are_kept_keep_their_copy(data: Path, disk: Path, tmp_path: Path) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    before = copied(disk)
    withdraw(session_of(data, "P01"), tmp_path / "private", delete=False)
    assert back_up(data, place).ok
    assert copied(disk) == before


@pytest.mark.parametrize("path", ["../../precious", "sessions/../..", "/precious", "a/b/precious"])
def test_a_line_of_the_log_deletes_nothing_but_copies(
    data: Path, disk: Path, tmp_path: Path, path: str
) -> None:
    place = prepare_place(disk, data)
    back_up(data, place)
    session = session_of(data, "P01")
    (tmp_path / "precious").mkdir()
    (disk / "a" / "b" / "precious").mkdir(parents=True)
    line = {"session": session.name, "place": place.id, "to": str(disk), "path": path}
    anchor.add_line(data / "drawn" / BACKUPS, {**line, "state": "made"})
    withdraw(session, tmp_path / "private", delete=True)
    assert (tmp_path / "precious").is_dir()
    assert (disk / "a" / "b" / "precious").is_dir()


def test_names_and_signatures_are_copied_only_when_asked_for(disk: Path, tmp_path: Path) -> None:
    for participant in ("P01", "P02"):
        session = begin_session(tmp_path, participant=participant)
        session.give_consent(f"Name of {participant}")
        session.runner.send(EndSession("tired", ""))
        session.close("ended")
    data, private = tmp_path / "data", tmp_path / "private"
    place = prepare_place(disk, data)
    assert back_up(data, place).ok
    assert not (disk / "private").exists()
    assert not [name for name, content in copied(disk).items() if b"Name of P0" in content]
    assert back_up(data, place, private).consents == 2
    assert back_up(data, place, private).consents == 0, "each of them once"
    withdraw(session_of(data, "P01"), private, delete=True)
    assert [c.name for c in consents(disk / "private", "quickstart")] == ["Name of P02"]
    assert b"Name of P01" not in (disk / "private" / "quickstart.sqlite").read_bytes()


def test_places_that_cannot_hold_copies_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no folder"):
        prepare_place(tmp_path / "not mounted", data)
    inside = data / "copies"
    inside.mkdir()
    for folder in (inside, data, tmp_path, session_of(data, "P01")):
        with pytest.raises(UsageError):
            prepare_place(folder, data)
    assert not list(tmp_path.rglob(MARKER))


def test_a_file_in_the_place_of_the_marker_is_left_alone(data: Path, disk: Path) -> None:
    (disk / MARKER).write_text("somebody's own")
    with pytest.raises(DataFolderError, match="no marker of a backup"):
        prepare_place(disk, data)
    assert (disk / MARKER).read_text() == "somebody's own"


def test_two_at_once_make_one_copy_of_each(data: Path, disk: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from labapp.session.backup import *\n"
        "data, disk = map(Path, sys.argv[1:])\n"
        "print(back_up(data, prepare_place(disk, data)).left_out)"
    )
    command = [sys.executable, "-c", code, str(data), str(disk)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [each.wait(60) for each in both] == [0, 0]
    for each in both:
        assert each.stdout is not None
        each.stdout.close()
    report = back_up(data, prepare_place(disk, data))
    assert (report.there + len(report.done), report.left_out) == (2, [])
    assert len(list(disk.glob("sessions/drawn/*.sha256"))) == 2
    assert not list(disk.rglob(".*"))
