"""What cannot be begun is refused before anybody waits for it, and the message says what to do."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

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
from labapp.session import folder, pictures
from labapp.ui.starting import MB, RunOptions, open_new
from tests.helpers.beside import put_beside
from tests.session.sessions import begin_session


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
    assert "Make room" in said.value.todo
    assert not (tmp_path / "data" / "quickstart").exists()


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

    monkeypatch.setattr(pictures, "load_warm", load_warm)
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
    assert 'pip install "labapp[lsl]"' in said.value.todo
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
    with pytest.raises(UsageError, match="--no-lsl is refused"):
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
