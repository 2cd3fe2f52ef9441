"""Session folders: made once, never overwritten, held by one process."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from labapp.base import durable
from labapp.base.clock import NS, FakeClock
from labapp.base.errors import (
    DataFolderError,
    JournalFull,
    ModelError,
    ParticipantTaken,
    RecordError,
    SessionBusy,
    SessionError,
)
from labapp.record.events import Source
from labapp.record.events.commands import Pause, Resume
from labapp.record.journal.layout import MAKING
from labapp.record.journal.sessions import list_sessions
from labapp.record.journal.write import Journal
from labapp.session import folder, opening
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from labapp.session.overview import next_free
from labapp.session.private import Consent, check_private, consents, store_consent
from labapp.session.resuming import recover
from labapp.study.loading import load
from tests.helpers.beside import put_beside
from tests.helpers.disks import SmallDisk
from tests.session.sessions import begin_session, new_session, opened, resume_session, surroundings

QUICK = load("quickstart")


def tree(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_a_folder_holds_the_study_as_used(tmp_path: Path) -> None:
    made = new_session(tmp_path / "data", QUICK, "P01", "1", FakeClock())
    assert made.path.name == "sub-P01_ses-1_20260102T030405Z"
    assert made.path.parent.name == "quickstart"
    assert tree(made.study) == dict(QUICK.files)
    assert load(made.study / "quickstart.yaml", recorded=True).sha256 == QUICK.sha256


def test_every_name_in_a_new_folder_outlasts_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is on the disk is lost with the name that is not."""
    written: list[Path] = []
    synced: dict[Path, int] = {}
    write, sync = durable.write, durable.sync_folder
    monkeypatch.setattr(durable, "write", lambda *a: (write(*a), written.append(a[0])))
    monkeypatch.setattr(
        durable, "sync_folder", lambda path: (sync(path), synced.update({path: len(written)}))
    )
    new = folder.create(tmp_path / "data", QUICK, "P01", "1", FakeClock())
    assert len(written) == len(QUICK.files)
    folders = [path for path in new.home.path.rglob("*") if path.is_dir()]
    for folder_of in (*folders, new.home.path, new.home.path.parent, tmp_path / "data"):
        assert synced[folder_of] == len(written), "after the last file"
    new.discard()


def test_a_session_is_never_made_twice(tmp_path: Path) -> None:
    clock = FakeClock()
    made = new_session(tmp_path, QUICK, "P01", "1", clock)
    (made.path / "mark").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(ParticipantTaken, match="P01 already has session 1"):
        new_session(tmp_path, QUICK, "P01", "1", clock)
    clock.advance(60)
    with pytest.raises(ParticipantTaken):
        new_session(tmp_path, QUICK, "P01", "1", clock)
    assert tree(tmp_path) == before
    other = new_session(tmp_path, QUICK, "P01", "2", clock)
    assert folder.list_taken_labels(tmp_path, "quickstart") == {"P01": ["1", "2"]}
    assert [found.path for found in folder.sessions_of(tmp_path, "quickstart")] == [
        made.path,
        other.path,
    ]


def test_a_label_that_is_in_a_bundle_is_never_given_again(tmp_path: Path) -> None:
    """A lab may move sessions to an archive, and their labels are still those of these people."""
    session = begin_session(tmp_path, data=tmp_path / "data")
    session.close("interrupted")
    export([session.folder.path], tmp_path / "bundle")
    log = session.folder.path.parent / "exports.jsonl"
    with log.open("a") as file:
        file.write('{"sessions": 3}\n{"sessions": ["notes", 5]}\nnot json\n')
    session.folder.path.rename(tmp_path / "archive")
    assert folder.list_taken_labels(tmp_path / "data", "quickstart") == {"P01": ["1"]}
    with pytest.raises(ParticipantTaken, match="P01 already has session 1"):
        new_session(tmp_path / "data", QUICK, "P01", "1", FakeClock())
    assert next_free(QUICK, tmp_path / "data", 1) == ["P02"]


def test_a_folder_that_comes_in_the_way_is_not_touched(tmp_path: Path) -> None:
    new = folder.create(tmp_path, QUICK, "P01", "1", FakeClock())
    there = tmp_path / "quickstart" / "sub-P01_ses-1_20260102T030405Z"
    there.mkdir()
    (there / "mark").write_text("theirs")
    with pytest.raises(ParticipantTaken, match="already exists"):
        new.publish()
    new.discard()
    assert tree(there) == {"mark": b"theirs"}


def test_a_file_in_the_place_of_the_data_folder(tmp_path: Path) -> None:
    wrong = tmp_path / "data"
    wrong.write_text("a file")
    for data in (wrong, wrong / "below"):
        with pytest.raises(DataFolderError) as caught:
            new_session(data, QUICK, "P01", "1", FakeClock())
        assert str(data) in caught.value.what
        assert "--data" in caught.value.todo
    assert wrong.read_text() == "a file"


def test_a_file_in_the_place_of_the_studys_folder(tmp_path: Path) -> None:
    (tmp_path / "quickstart").write_text("a file")
    with pytest.raises(DataFolderError, match="quickstart"):
        new_session(tmp_path, QUICK, "P01", "1", FakeClock())


def test_a_full_disk_makes_no_session(disk: SmallDisk) -> None:
    data = disk.path / "data"
    if disk.real:
        disk.fill()
        with pytest.raises(DataFolderError, match="full"):
            new_session(data, QUICK, "P01", "1", FakeClock())
        disk.make_room()
        # Room for the check of the folder, but not for the study.
        with (disk.path / "other").open("wb") as other:
            other.write(bytes(os.statvfs(disk.path).f_bavail * 4096 - 16384))
        with pytest.raises(DataFolderError, match="full"):
            new_session(data, QUICK, "P01", "1", FakeClock())
        (disk.path / "other").unlink()
    assert not folder.list_taken_labels(data, "quickstart")
    new_session(data, QUICK, "P01", "1", FakeClock())


def test_a_disk_that_fills_up_at_the_start_leaves_the_participant_free(
    tmp_path: Path, disk: SmallDisk
) -> None:
    session = opened(tmp_path, data=disk.path / "data")
    disk.fill()
    with pytest.raises(JournalFull):
        session.begin()
    with pytest.raises(JournalFull):
        session.close("could not start")
    disk.make_room()
    assert not folder.list_taken_labels(disk.path / "data", "quickstart")
    again = begin_session(tmp_path, data=disk.path / "data")
    again.close("test over")


def test_what_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    """No folder, no lock, no thread (the fixture of this folder looks for threads)."""

    def broken(*_: object) -> None:
        raise ModelError("the microphone's driver is missing")

    data = tmp_path / "data"
    around = surroundings(tmp_path, make_recorder=broken)
    with pytest.raises(ModelError):
        opening.create(QUICK, "P01", around, data=data)
    assert not folder.list_taken_labels(data, "quickstart")
    opened(tmp_path, data=data).close("test over")


def test_one_process_holds_a_session(tmp_path: Path) -> None:
    session = begin_session(tmp_path)
    path = session.folder.path
    with pytest.raises(SessionBusy):
        recover(path)
    with pytest.raises(SessionBusy):
        resume_session(tmp_path, path)
    session.close("test over")
    assert not recover(path).finished


def test_a_folder_that_is_no_session_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for path in (tmp_path, tmp_path / "notes.txt", tmp_path / "nothing"):
        with pytest.raises(RecordError, match="not a session folder"):
            recover(path)
        with pytest.raises(RecordError, match="not a session folder"):
            resume_session(tmp_path, path)
    assert tree(tmp_path) == {"notes.txt": b"mine"}
    with pytest.raises(SessionError):
        _ = SessionFolder(tmp_path).name


def test_every_segment_has_its_environment(tmp_path: Path) -> None:
    made = new_session(tmp_path, QUICK, "P01", "1", FakeClock())
    for segment in (1, 2):
        folder.write_environment(made, {"segment": segment, "screen": "Büro"})
    assert json.loads(made.environment.read_text("utf-8")) == [
        {"segment": 1, "screen": "Büro"},
        {"segment": 2, "screen": "Büro"},
    ]
    made.environment.unlink()
    made.environment.with_suffix(".partial").mkdir()
    with pytest.raises(DataFolderError):
        folder.write_environment(made, {"segment": 3})


def test_names_are_kept_apart_and_for_their_owner_only(tmp_path: Path) -> None:
    session = begin_session(tmp_path)
    session.give_consent("  Ada   Lovelace ")
    session.close("test over")
    private = tmp_path / "private"
    (kept,) = consents(private, "quickstart")
    assert (kept.participant, kept.session, kept.name) == ("P01", "1", "Ada Lovelace")
    table = private / "quickstart.sqlite"
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    for content in tree(session.folder.path).values():
        assert b"Ada" not in content
        assert b"Lovelace" not in content
    assert private not in session.folder.path.parents
    assert session.runner.part is not None
    assert session.runner.part.id == "tutorial"


def test_a_name_is_kept_only_of_who_agrees(tmp_path: Path) -> None:
    """Not of somebody who does not agree to what is needed to take part, nor during a pause."""
    study = put_beside(tmp_path / "own") / "study.yaml"
    text = load("quickstart").path.read_text("utf-8")
    asked = '{text: "texts/{language}/consent.md", items: {audio: required}}'
    study.write_text(re.sub(r"consent: \S+", f"consent: {asked}", text))
    session = begin_session(tmp_path, study=study)
    private = tmp_path / "private"
    session.give_consent("Ada Lovelace", uses={"audio": False})
    session.runner.send(Pause("a call"), Source.MODERATOR)
    session.give_consent("Ada Lovelace", uses={"audio": True})
    assert consents(private, "quickstart") == []
    session.runner.send(Resume("on"), Source.MODERATOR)
    session.give_consent("Ada Lovelace", uses={"audio": True})
    assert [record.name for record in consents(private, "quickstart")] == ["Ada Lovelace"]
    session.close("test over")


def test_a_consent_that_cannot_be_stored_keeps_the_session_at_consent(tmp_path: Path) -> None:
    session = begin_session(tmp_path)
    (tmp_path / "private").rmdir()
    (tmp_path / "private").write_text("a file")
    (tmp_path / "private").chmod(0o600)
    with pytest.raises(DataFolderError, match="consent could not be stored"):
        session.give_consent("Ada Lovelace")
    assert session.runner.part is not None
    assert session.runner.part.id == "consent"
    session.close("test over")


def test_consents_are_added_never_replaced(tmp_path: Path) -> None:
    assert consents(tmp_path / "private", "quickstart") == []
    records = [Consent(f"P0{n}", "1", "A", "2026", "0") for n in (1, 2, 1)]
    for record in records:
        store_consent(tmp_path / "private", "quickstart", record)
    assert consents(tmp_path / "private", "quickstart") == records


def test_a_table_of_names_that_an_older_labapp_made_is_read_and_added_to(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    with closing(sqlite3.connect(private / "quickstart.sqlite")) as connection, connection:
        connection.execute(
            "CREATE TABLE consent (participant TEXT NOT NULL, session TEXT NOT NULL, "
            "name TEXT NOT NULL, utc TEXT NOT NULL, document_sha256 TEXT NOT NULL) STRICT"
        )
        connection.execute("INSERT INTO consent VALUES ('P01', '1', 'Ada', '2026', '0')")
    (private / "quickstart.sqlite").chmod(0o600)
    old = Consent("P01", "1", "Ada", "2026", "0")
    assert consents(private, "quickstart") == [old]
    drawn = Consent("P02", "1", "", "2027", "0", drawing="[[[0,0],[1,1]]]")
    store_consent(private, "quickstart", drawn)
    assert consents(private, "quickstart") == [old, drawn]


def test_two_programs_cannot_both_take_a_participant(tmp_path: Path) -> None:
    took: list[Path] = []
    refused: list[ParticipantTaken] = []

    def start(second: int) -> None:
        try:
            took.append(new_session(tmp_path, QUICK, "P01", "1", FakeClock(second * NS)).path)
        except ParticipantTaken as error:
            refused.append(error)

    threads = [threading.Thread(target=start, args=(second,)) for second in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == 1
    assert len(refused) == 7


def test_the_name_of_a_new_session_outlasts_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    made = new_session(tmp_path, QUICK, "P01", "1", FakeClock())
    assert synced[-1] == made.path.parent


def test_a_session_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    made = new_session(tmp_path, QUICK, "P01", "1", FakeClock())
    (made.path / "session.lock").unlink()
    (made.path / "session.lock").mkdir()
    with pytest.raises(
        DataFolderError, match=r"cannot write to the data folder .* \([A-Z][a-z ]+\)"
    ):
        made.lock()


@pytest.mark.parametrize("before_models", [False, True])
def test_what_a_killed_start_left_is_cleared_away(tmp_path: Path, before_models: bool) -> None:
    """Also what versions left that made the folder under its own name."""
    study = tmp_path / "quickstart"
    for name in ("sub-P01_ses-1_20260102T030405Z", f"{MAKING}sub-P02_ses-1_20260102T030405Z"):
        left = study / name
        (left / "study").mkdir(parents=True)
        (left / "study" / "quickstart.yaml").write_text("id: quickstart")
        (left / "audio").mkdir()
        Journal.create(left / "journal.sqlite", FakeClock()).close()
    if before_models:
        folder.refuse_taken(tmp_path, QUICK, "P01", "1")
        assert [child for child in study.iterdir() if child.is_dir()] == []
    made = new_session(tmp_path, QUICK, "P01", "1", FakeClock(60 * NS))
    assert [child for child in study.iterdir() if child.is_dir()] == [made.path]


def test_nothing_that_holds_an_event_or_is_somebody_elses_is_cleared_away(tmp_path: Path) -> None:
    study = tmp_path / "quickstart"
    begun = new_session(tmp_path, QUICK, "P01", "1", FakeClock())
    begun.path.rename(study / f"{MAKING}{begun.path.name}")  # killed before it had its name
    odd = study / "sub-P02_ses-1_20260102T030405Z"
    odd.mkdir()
    (odd / "thesis.tex").write_text("mine")
    damaged = study / "sub-P03_ses-1_20260102T030405Z"
    damaged.mkdir()
    (damaged / "journal.sqlite").write_bytes(b"no table")
    sounding = study / "sub-P04_ses-1_20260102T030405Z"
    (sounding / "audio").mkdir(parents=True)
    (sounding / "audio" / "segment-01.wav").write_bytes(b"RIFF")
    hidden = study / f"{MAKING}sub-P05_ses-1_20260102T030405Z"
    hidden.mkdir()
    (hidden / "thesis.tex").write_text("mine")
    before = tree(odd) | tree(damaged) | tree(sounding) | tree(hidden)
    with pytest.raises(ParticipantTaken, match="already has session 1"):
        new_session(tmp_path, QUICK, "P01", "1", FakeClock())
    assert recover(begun.path).events == 1
    for path, words in (
        (odd, "labapp did not write"),
        (damaged, "already"),
        (sounding, "labapp did not write"),
        (hidden, "labapp did not write"),
    ):
        with pytest.raises(ParticipantTaken, match=words):
            new_session(tmp_path, QUICK, path.name.removeprefix(MAKING)[4:7], "1", FakeClock())
    assert tree(odd) | tree(damaged) | tree(sounding) | tree(hidden) == before


def test_what_is_being_made_is_no_session_and_is_left_alone(tmp_path: Path) -> None:
    new = folder.create(tmp_path, QUICK, "P01", "1", FakeClock())
    assert list_sessions(tmp_path) == []
    assert folder.list_taken_labels(tmp_path, "quickstart") == {}
    with pytest.raises(ParticipantTaken, match="Another program is starting session 1 of P01"):
        folder.create(tmp_path, QUICK, "P01", "1", FakeClock(60 * NS))
    other = new_session(tmp_path, QUICK, "P02", "1", FakeClock())
    assert new.home.path.is_dir()
    new.discard()
    assert [child for child in (tmp_path / "quickstart").iterdir() if child.is_dir()] == [
        other.path
    ]


def test_a_private_folder_that_cannot_be_written_is_told_before_the_session(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("a file in the folder's place")
    (tmp_path / "private").chmod(0o600)
    with pytest.raises(DataFolderError, match="Consent could not be stored in the private folder"):
        opened(tmp_path)
    assert not list((tmp_path / "data").rglob("sub-*")), "no folder takes the participant's label"


def test_a_table_of_consent_that_cannot_be_written_is_told_before_the_session(
    tmp_path: Path,
) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "private/quickstart.sqlite").write_bytes(b"no database" * 500)
    (tmp_path / "private/quickstart.sqlite").chmod(0o600)
    with pytest.raises(DataFolderError, match="Consent could not be stored"):
        opened(tmp_path)
    check_private(tmp_path / "private", "another-study")
    assert [path.name for path in (tmp_path / "private").iterdir()] == ["quickstart.sqlite"]


def test_a_private_folder_is_proved_and_left_as_it_was(tmp_path: Path) -> None:
    check_private(tmp_path / "private", "golden")
    assert list((tmp_path / "private").iterdir()) == []
    store_consent(tmp_path / "private", "golden", Consent("P01", "1", "Ann", "now", "0"))
    before = tree(tmp_path / "private")
    check_private(tmp_path / "private", "golden")
    assert tree(tmp_path / "private") == before
