"""A study is looked at without a participant, and nothing of that is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from labapp.errors import UsageError
from labapp.study.loading import load
from labapp.ui.preview import (
    Preview,
    contact_sheet,
    drawn_cells,
    opened_preview,
    show_preview,
    write_pictures,
)
from tests.helpers.questionnaires import written_study


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def preview(tmp_path: Path, temporary: Path, qtbot: QtBot) -> Iterator[Preview]:
    study = written_study(tmp_path / "study", break_s=30)
    with opened_preview(load(study), None, None) as opened:
        yield opened
    assert not list(temporary.iterdir()), "nothing is left of it"


def test_every_screen_is_a_picture(preview: Preview, tmp_path: Path) -> None:
    paths = write_pictures(preview, tmp_path / "out")
    places = preview.places
    assert [path.name for path in paths] == [*(place.file for place in places), "contact-sheet.png"]
    parts = preview.runner.machine.parts
    assert {place.part.id for place in places} == {part.id for part in parts}
    pages = [place for place in places if place.part.part == "questionnaire"]
    assert len(pages) > 1, "each page of a questionnaire"
    pictures = [QImage(str(path)) for path in paths]
    assert not any(picture.isNull() for picture in pictures)
    same = {picture.constBits().tobytes() for picture in pictures}
    assert len(same) == len(pictures), "and each is another"
    with pytest.raises(UsageError, match="exists already"):
        write_pictures(preview, tmp_path / "out")


def test_one_jumps_anywhere_and_back(preview: Preview, qtbot: QtBot) -> None:
    screens = show_preview(preview)
    qtbot.addWidget(screens)
    for row in (len(preview.places) - 1, 0, 2, 1):
        screens.setCurrentRow(row)
        shown = preview.window.screen_shown
        assert shown is not None
        assert shown.planned is preview.places[row].part
    assert screens.item(0).text() == preview.places[0].title


def test_a_condition_is_chosen_by_its_name() -> None:
    loaded = load("synthetic-crowd")
    assert drawn_cells(loaded, "exemplars-dsprites") == ("exemplars-dsprites",)
    assert len(drawn_cells(loaded, None)) == 1
    with pytest.raises(UsageError, match="1 of reconstruction-dsprites"):
        drawn_cells(loaded, "nope")
    with pytest.raises(UsageError, match="draws no conditions"):
        drawn_cells(load("quickstart"), "nope")


def test_a_study_is_read_in_another_language() -> None:
    assert load("quickstart", "de").study.language == "de"


def test_a_contact_sheet_has_room_for_all() -> None:
    image = QImage(64, 36, QImage.Format.Format_RGB32)
    image.fill(0)
    assert contact_sheet([(image, "one")]).width() < contact_sheet([(image, "a")] * 4).width()
    assert contact_sheet([(image, "a")] * 4).height() < contact_sheet([(image, "a")] * 5).height()
