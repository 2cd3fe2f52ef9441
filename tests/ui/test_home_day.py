"""Before and after a session: the study's own list, the length, and backups from the home."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from labapp.base.errors import StudyError
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Resume
from labapp.session.backup import prepare_place
from labapp.session.pictures import ReadDecoder, WarmDecoders, read_decoder
from labapp.session.withdrawal import withdraw
from labapp.study.loading import load
from labapp.ui import language, remembered
from labapp.ui.home import HomeController
from labapp.ui.moderator import checklist
from labapp.ui.moderator.checklist import BACKUP, COMPUTER, ITEMS, LENGTH, LOUDSPEAKER
from labapp.ui.remembered import BackupChoice
from tests.helpers.drawn import drawn_study, ended
from tests.helpers.studies import write_study

LEFT, ON_BOX = Qt.MouseButton.LeftButton, QPoint(10, 16)
OWN = "checklist:\n  - Door sign\n  - {en: Tissue box, de: Taschentücher}\nminutes: 45\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a list of its own."""
    path = write_study(tmp_path / "own", "sinelines/gt")
    path.write_text(path.read_text().replace("flow:\n", f"{OWN}flow:\n"))
    return path


def text_of(home: HomeController, key: str) -> str:
    row = home.view.ready.rows[key]
    return "" if row.isHidden() else row.text.text()


def test_the_studys_own_list_is_ticked_before_a_session(
    home: HomeController, study: Path, qtbot: QtBot
) -> None:
    ready = home.view.ready
    home.choose_study(str(study))
    qtbot.waitUntil(ready.start_button.isEnabled, timeout=30_000)
    assert [box.text() for box in ready.items.boxes] == ["Door sign", "Tissue box"]
    assert ready.rows[ITEMS].icon.state == "todo"
    assert ready.why.text() == "Ready to start. Not ticked yet: Door sign, Tissue box."
    qtbot.mouseClick(ready.items.boxes[0], LEFT, pos=ON_BOX)
    assert ready.why.text() == "Ready to start. Not ticked yet: Tissue box."
    qtbot.mouseClick(ready.items.boxes[1], LEFT, pos=ON_BOX)
    assert (ready.rows[ITEMS].icon.state, text_of(home, ITEMS)) == ("ok", "Everything is prepared.")
    assert ready.why.text() == "Everything is ready."
    qtbot.mouseClick(ready.start_button, LEFT)
    assert home.session is not None
    assert not any(box.isChecked() for box in ready.items.boxes), "the next session begins anew"
    home.session.opened.runner.send(EndSession("test over"), Source.MODERATOR)
    home.session.console.done_requested.emit()
    home.choose_study("quickstart")
    assert ready.rows[ITEMS].isHidden(), "another study has another list, or none"


def test_the_list_is_in_the_language_of_the_moderator(
    study: Path, speaks: Callable[[str], None]
) -> None:
    loaded = load(study).study
    assert loaded.checklist_in("de") == ["Door sign", "Taschentücher"]
    assert loaded.checklist_in("fr") == ["Door sign", "Tissue box"]
    speaks("de")
    assert "Taschentücher" in loaded.checklist_in(language.current_language())


@pytest.mark.parametrize(
    "wrong", ["door sign", "['']", "[{}]", "[{EN: sign}]", "[[sign]]", "[{en: ''}]", "[3]"]
)
def test_a_list_that_is_none_is_refused_with_its_line(study: Path, wrong: str) -> None:
    text = study.read_text().replace(OWN, f"checklist: {wrong}\n")
    study.write_text(text)
    with pytest.raises(StudyError, match=r"line \d+, checklist"):
        load(study)


def test_the_length_says_when_a_session_ends() -> None:
    row = checklist.length_row(45, datetime(2026, 1, 2, 23, 30))
    assert row.text == "About 45 min. If it starts now, it ends at 00:15."
    assert checklist.length_row(None, datetime(2026, 1, 2)).text == ""


def test_the_further_rows_hold_nothing_up(home: HomeController, study: Path, qtbot: QtBot) -> None:
    home.choose_study(str(study))
    home._slow_checks()
    assert text_of(home, LENGTH).startswith("About 45 min. If it starts now, it ends at ")
    assert text_of(home, LOUDSPEAKER) == "Not tested."
    assert (
        text_of(home, BACKUP)
        == "No backup folder has been chosen, so there is only one copy of each finished session."
    )
    qtbot.waitUntil(lambda: "turn off" in text_of(home, COMPUTER))
    for key in (LENGTH, LOUDSPEAKER, BACKUP, COMPUTER, ITEMS):
        assert key not in checklist.NEEDED


def test_the_loudspeaker_is_tested_by_a_click_and_an_answer(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.loudspeaker, "_play", lambda: None)
    ready = home.view.ready
    assert ready.heard.isHidden()
    qtbot.mouseClick(ready.tone, LEFT)
    qtbot.waitUntil(lambda: not ready.heard.isHidden())
    assert text_of(home, LOUDSPEAKER) == "Did you hear the tone?"
    qtbot.mouseClick(ready.not_heard, LEFT)
    assert ready.heard.isHidden()
    assert ready.rows[LOUDSPEAKER].icon.state == "warn"
    assert "Turn up the volume" in text_of(home, LOUDSPEAKER)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk" / "labapp"
    folder.mkdir(parents=True)
    return folder


def test_a_finished_session_is_copied_by_itself(
    home: HomeController, disk: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, study: Path
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(disk))
    ready = home.view.ready
    qtbot.mouseClick(ready.backup, LEFT)
    qtbot.waitUntil(lambda: text_of(home, BACKUP) == f"Each finished session is copied to {disk}.")
    assert remembered.read_backup().to == str(disk)
    home.choose_study(str(study))
    qtbot.waitUntil(ready.start_button.isEnabled, timeout=30_000)
    qtbot.mouseClick(ready.start_button, LEFT)
    assert home.session is not None
    path = home.session.opened.folder.path
    runner = home.session.opened.runner
    runner.send(Resume("moderator"), Source.MODERATOR)
    assert not home.backup.running
    runner.send(EndSession("tired"), Source.MODERATOR)
    qtbot.waitUntil(lambda: runner.finished)  # or there is no button to be done with it
    home.session.console.done_requested.emit()
    done = f"{disk} contains a copy of the finished session."
    qtbot.waitUntil(lambda: text_of(home, BACKUP) == done, timeout=60_000)
    assert ready.rows[BACKUP].icon.state == "ok"
    assert (disk / "sessions" / path.parent.name / path.name / "journal.sqlite").is_file()


def test_what_waits_is_said_and_copied_once_the_disk_is_back(
    no_microphone: None,
    open_home: Callable[..., HomeController],
    disk: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    loaded = drawn_study(tmp_path, included=9)
    paths = [ended(loaded, tmp_path, participant) for participant in ("P01", "P02")]
    place = prepare_place(disk, tmp_path / "data")
    remembered.write_backup(BackupChoice(str(disk), place.id))
    disk.rename(disk.with_name("away"))
    home = open_home()
    ready = home.view.ready
    away = f"{disk} is not connected, and 2 sessions have no copy yet. Connect the disk."
    qtbot.waitUntil(lambda: text_of(home, BACKUP) == away)
    assert ready.rows[BACKUP].icon.state == "warn"
    assert ready.backup.text() == "Choose the folder…", "it may be connected elsewhere"
    disk.with_name("away").rename(disk)
    home.lists.refresh()
    done = f"{disk} contains a copy of all 2 finished sessions."
    qtbot.waitUntil(lambda: text_of(home, BACKUP) == done, timeout=60_000)
    withdraw(paths[0], tmp_path / "private", delete=True)
    assert not list(disk.rglob("*P01*"))


def test_what_cannot_be_copied_is_said_and_not_tried_for_ever(
    no_microphone: None,
    open_home: Callable[..., HomeController],
    disk: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    path = ended(drawn_study(tmp_path, included=9), tmp_path, "P01")
    place = prepare_place(disk, tmp_path / "data")
    there = disk / "sessions" / path.parent.name / path.name
    there.mkdir(parents=True)
    (there / "journal.sqlite").write_bytes(b"another one")
    remembered.write_backup(BackupChoice(str(disk), place.id))
    home = open_home()
    qtbot.waitUntil(lambda: not home.view.error.isHidden(), timeout=60_000)
    assert "The copy differs from the session" in home.view.error.text.text()
    assert text_of(home, BACKUP) == f"1 session has not been copied to {disk} yet."
    home.view.error.hide()
    with qtbot.waitSignal(home.backup._looked):
        home.lists.refresh()
    assert not home.backup.running
    assert (there / "journal.sqlite").read_bytes() == b"another one"


def test_the_window_goes_on_while_decoders_are_read(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, threads = threading.Event(), []

    def slow(model: str) -> ReadDecoder:
        threads.append(threading.current_thread())
        assert go_on.wait(30)
        return read_decoder(model)

    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    monkeypatch.setattr("labapp.ui.home.read_decoder", slow)
    home._warm = WarmDecoders({}, [])
    home._warming.start(0)
    qtbot.waitUntil(lambda: bool(threads))
    assert threading.main_thread() not in threads
    qtbot.mouseClick(home.view.tabs[1], LEFT)
    assert home.view.pages.currentIndex() == 1, "clicks are taken meanwhile"
    assert home.view.ready.rows["decoders"].icon.state == "busy"
    go_on.set()
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    assert set(home._warm.decoders) == set(home._needed or ())
    assert all(times.p99_ms > 0 for times in home._warm.warmed)


def test_a_start_meanwhile_waits_for_the_one_that_is_being_read(
    home: HomeController, qtbot: QtBot
) -> None:
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    home._warm = WarmDecoders({}, [])
    home._warm_next()
    qtbot.mouseClick(home.view.ready.start_button, LEFT)
    assert home.session is None, "Start waits for its models"
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    qtbot.mouseClick(home.view.ready.start_button, LEFT)
    assert home.session is not None
