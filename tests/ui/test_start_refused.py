"""What cannot be begun is refused before anybody waits for it, and strange folders stop nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.errors import (
    DataFolderError,
    LslError,
    NoMicrophone,
    ParticipantTaken,
    StudyError,
    UsageError,
)
from labapp.base.resources import assets
from labapp.record.audio import devices
from labapp.record.journal.read import read_rows
from labapp.session import folder
from labapp.session import pictures as models
from labapp.session.folder import SessionFolder
from labapp.study.loading import load
from labapp.ui.controller import SessionController
from labapp.ui.home import HomeController
from labapp.ui.starting import MB, RunOptions, open_again, open_new, session_dependencies
from tests.helpers.beside import put_beside
from tests.hostile import rehashed
from tests.session.sessions import begin_session


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
        for place in (study, tmp_path / "data"):
            os.mkdir(os.fsencode(place) + b"/" + name)  # noqa: PTH102
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


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    return RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")


@pytest.mark.parametrize(("simulate", "least"), [(None, 500), ("understanding", 50)])
def test_a_disk_without_room_is_refused(
    options: RunOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    simulate: str | None,
    least: int,
) -> None:
    monkeypatch.setattr(folder, "check_data_root", lambda data: (least - 1) * MB)
    wanted = RunOptions(options.data, options.private, audio="off", simulate=simulate)
    with pytest.raises(DataFolderError, match=f"Only {least - 1} MB .* needs {least} MB") as said:
        open_new("quickstart", "P01", "1", wanted)
    assert "No session was started" in said.value.safe
    assert "Free some space" in said.value.todo
    assert not (tmp_path / "data" / "quickstart").exists()


@pytest.mark.parametrize(("speed", "late"), [(1.0, True), (2.0, False)])
def test_a_microphone_can_come_late_only_where_time_is_real(
    options: RunOptions, speed: float, late: bool
) -> None:
    chosen = replace(options, audio=None, speed=speed)
    found = session_dependencies((), load(assets() / "studies" / "quickstart.yaml"), chosen)
    assert (found.make_late is not None) == late


def test_a_translation_that_lacks_words_is_refused_before_there_is_a_session(
    options: RunOptions, tmp_path: Path
) -> None:
    shipped = assets() / "studies" / "quickstart.yaml"
    study = put_beside(tmp_path) / "quickstart.yaml"
    german = shipped.read_text().replace(
        "language: en", "language: de\nwords: ['texts/{language}/participant.yaml']"
    )
    study.write_text(german)
    own = tmp_path / "texts" / "de" / "participant.yaml"
    words = (assets() / "texts" / "de" / "participant.yaml").read_text()
    own.write_text(words.replace("next_question: Nächste Frage\n", ""))
    with pytest.raises(StudyError, match="lacks the words for next_question"):
        open_new(str(study), "P01", "1", options)
    assert not (tmp_path / "data" / "quickstart").exists()


def test_no_microphone_where_sound_is_required_does_not_advise_to_leave_it_out(
    options: RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = assets() / "studies" / "quickstart.yaml"
    study = shipped.read_text().replace("audio: optional", "audio: required")
    file = put_beside(tmp_path) / "quickstart.yaml"
    file.write_text(study)

    def none_there(spec: str) -> devices.Device:
        raise NoMicrophone("No microphone was found.", todo="… or --audio off")

    monkeypatch.setattr(devices, "choose", none_there)
    with pytest.raises(NoMicrophone, match="requires sound") as said:
        open_new(str(file), "P01", "1", RunOptions(options.data, options.private))
    assert "off" not in said.value.todo
    assert "labapp doctor" in said.value.todo


def test_a_label_that_is_taken_is_refused_before_models_are_loaded(
    options: RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = begin_session(tmp_path)
    before.close("test over")

    def load_warm(ids: object) -> None:
        raise AssertionError("nobody is to wait for models")

    monkeypatch.setattr(models, "load_warm", load_warm)
    with pytest.raises(ParticipantTaken, match="P01 already has session 1") as said:
        open_new("quickstart", "P01", "1", options)
    assert "untouched" in said.value.safe


@pytest.fixture
def without_pylsl(monkeypatch: pytest.MonkeyPatch) -> None:
    # So Python imports a module that is not there.
    monkeypatch.setitem(sys.modules, "pylsl", None)


@pytest.mark.usefixtures("without_pylsl")
def test_lsl_that_is_required_and_not_installed_is_refused_with_what_to_get(
    options: RunOptions, tmp_path: Path
) -> None:
    with pytest.raises(LslError, match="pylsl is not installed") as said:
        open_new("quickstart", "P01", "1", replace(options, lsl=True))
    assert said.value.safe == "No session was started."
    assert "labapp extras add lsl" in said.value.todo
    assert not (tmp_path / "data" / "quickstart").exists()


@pytest.mark.usefixtures("without_pylsl")
@pytest.mark.parametrize(("wanted", "events"), [("optional", 1), ("off", 0)])
def test_a_session_goes_on_without_lsl_where_it_may(
    options: RunOptions, tmp_path: Path, wanted: str, events: int
) -> None:
    opened = open_new(with_lsl(tmp_path, wanted), "P01", "1", options)
    opened.begin()
    opened.close("test over")
    rows = [row for row in read_rows(opened.folder.path) if row.kind.startswith("lsl")]
    assert [row.kind for row in rows] == ["lsl.off"] * events
    assert all("pylsl is not installed" in row.payload for row in rows)


def test_no_lsl_is_refused_where_the_study_requires_it(options: RunOptions, tmp_path: Path) -> None:
    study = with_lsl(tmp_path, "required")
    with pytest.raises(UsageError, match="--no-lsl is not possible"):
        open_new(study, "P01", "1", replace(options, lsl=False))
    opened = open_new(study, "P01", "1", replace(options, lsl=False, simulate="understanding"))
    opened.begin()
    opened.close("test over")
    assert not [row for row in read_rows(opened.folder.path) if row.kind.startswith("lsl")]


def with_lsl(tmp_path: Path, wanted: str) -> str:
    """The quick start, saying whether its events are sent."""
    study = (assets() / "studies" / "quickstart.yaml").read_text()
    assert "{audio: optional" in study
    file = put_beside(tmp_path) / "quickstart.yaml"
    file.write_text(study.replace("{audio: optional", f"{{lsl: {wanted}, audio: optional"))
    return str(file)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A copy of the quick start whose words are those of a version without `finish`."""
    made = tmp_path / "study" / "quickstart.yaml"
    for name, content in load("quickstart").files.items():
        (made.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (made.parent / name).write_bytes(content)
    words = made.parent / "texts" / "en" / "participant.yaml"
    words.write_text(words.read_text().replace("finish: Finish\n", ""))
    own = 'words: ["texts/{language}/participant.yaml"]'
    made.write_text(made.read_text().replace("version: 1\n", f"version: 1\n{own}\n", 1))
    return made


def test_a_session_begun_with_fewer_words_goes_on(
    tmp_path: Path, study: Path, qapp: QApplication
) -> None:
    options = RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")
    with pytest.raises(StudyError, match="lacks the words for finish"):
        open_new(str(study), "P01", "1", options)

    begun = begin_session(tmp_path, study=study)
    begun.close("the program was closed")
    copied = SessionFolder(begun.folder.path).study / "texts" / "en" / "participant.yaml"
    before = copied.read_bytes()

    again = open_again(begun.folder.path, options)
    controller = SessionController(again, options)
    try:
        assert controller.participant.session.words("finish") == "Finish"
    finally:
        controller._end()
    assert copied.read_bytes() == before
    assert b"finish:" not in before
    assert b"finish:" in (assets() / "texts" / "en" / "participant.yaml").read_bytes()
