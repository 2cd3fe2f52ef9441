"""A study is looked at without a participant, and nothing of that is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot
from typer.testing import CliRunner

from labapp.cli.main import app
from labapp.errors import SetupError, UsageError
from labapp.events.commands import Next, SkipStage
from labapp.study.loading import load
from labapp.ui.preview import (
    Preview,
    PreviewWindow,
    contact_sheet,
    drawn_cells,
    opened_preview,
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


@pytest.fixture
def window(preview: Preview, qtbot: QtBot) -> PreviewWindow:
    window = PreviewWindow(preview)
    qtbot.addWidget(window)
    window.open()
    qtbot.waitExposed(window)
    return window


def _shows(window: PreviewWindow, preview: Preview, row: int) -> bool:
    screen = preview.window.screen_shown
    place = preview.places[row]
    return (
        window.screens.currentRow() == row
        and preview.place == place
        and screen is not None
        and screen.planned is place.part
        and (place.part.rests or not preview.window.covered)
    )


def test_any_screen_can_be_chosen(window: PreviewWindow, preview: Preview, qtbot: QtBot) -> None:
    last = len(preview.places) - 1
    for row in (last, 0, 2, 1):
        window.screens.setCurrentRow(row)
        qtbot.waitUntil(partial(_shows, window, preview, row))
    window.following.click()
    qtbot.waitUntil(partial(_shows, window, preview, 2))
    window.back.click()
    qtbot.waitUntil(partial(_shows, window, preview, 1))
    assert window.screens.item(0).text() == preview.places[0].title
    window.screens.setCurrentRow(last)
    assert window.back.isEnabled()
    assert not window.following.isEnabled()


def test_the_list_follows_the_participants_own_way(
    window: PreviewWindow, preview: Preview, qtbot: QtBot
) -> None:
    pages = next(row for row, place in enumerate(preview.places) if place.pages > 1)
    for row in (pages, 0):
        window.screens.setCurrentRow(row)
        qtbot.waitUntil(partial(_shows, window, preview, row))
        preview.runner.send(Next() if preview.places[row].page else SkipStage())
        qtbot.waitUntil(lambda row=row: window.screens.currentRow() > row)
        assert preview.place == preview.places[window.screens.currentRow()]


def test_closing_the_list_ends_the_preview(window: PreviewWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closed):
        window.close()


def test_behind_the_last_screen_any_can_be_chosen_again(
    window: PreviewWindow, preview: Preview, qtbot: QtBot
) -> None:
    last = len(preview.places) - 1
    window.screens.setCurrentRow(last)
    qtbot.waitUntil(partial(_shows, window, preview, last))
    preview.runner.send(SkipStage())
    qtbot.waitUntil(lambda: preview.place is None)
    window.screens.setCurrentRow(0)
    qtbot.waitUntil(partial(_shows, window, preview, 0))


def test_without_a_screen_the_preview_says_what_to_do() -> None:
    result = CliRunner().invoke(app, ["studies", "preview", "quickstart"])
    assert isinstance(result.exception, SetupError)
    assert "--out" in result.exception.todo


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
