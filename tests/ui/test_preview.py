"""A study is looked at without a participant, and nothing of that is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typer.testing import CliRunner

from labapp.base.errors import SetupError, TargetExists, UsageError
from labapp.cli.main import app
from labapp.record.events.commands import Next, SkipStage
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import WORDS, load
from labapp.study.words import shown
from labapp.ui.preview import (
    Place,
    Preview,
    PreviewWindow,
    contact_sheet,
    drawn_cells,
    opened_preview,
    write_pictures,
)
from labapp.ui.strings import Strings
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
    places, names = preview.places, [path.name for path in paths]
    assert {place.file for place in places} < set(names)
    assert names[-3:] == ["session-paused.png", "session-completed.png", "contact-sheet.png"]
    assert len(set(names)) == len(names)
    parts = preview.runner.machine.parts
    assert {place.part.id for place in places} == {part.id for part in parts}
    pages = [place for place in places if place.part.part == "questionnaire"]
    assert len(pages) > 1, "each page of a questionnaire"
    pictures = [QImage(str(path)) for path in paths]
    assert not any(picture.isNull() for picture in pictures)
    same = {bytes(picture.constBits()) for picture in pictures}
    assert len(same) == len(pictures), "and each is another"
    with pytest.raises(TargetExists, match="exists already"):
        write_pictures(preview, tmp_path / "out")


def test_no_screen_shows_a_word_that_translations_do_not_need(
    tmp_path: Path, temporary: Path, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    words_of = Strings.__call__

    def noted(strings: Strings, key: str, **values: object) -> str:
        asked.add(key)
        return words_of(strings, key, **values)

    monkeypatch.setattr(Strings, "__call__", noted)
    loaded = load("prototree-distinction")
    with opened_preview(loaded, None, None) as opened:
        write_pictures(opened, tmp_path / "out")
    assert len(asked) > 80
    assert asked <= set(shown(loaded.study, WORDS))


def test_what_comes_up_inside_of_a_part_is_there_once(qapp: QApplication) -> None:
    with opened_preview(load("quickstart"), None, None) as preview:
        stage = next(part for part in preview.runner.machine.parts if part.id == "stage-1")
        inside = [still for still in preview.stills if still.part is stage]
        after = {s.moment.after: s for s in inside if not s.moment.begins}
        assert set(after) == {"picture.decoded", "trial.solved", "skip.requested"}
        begun = [still.moment.trial for still in inside if still.moment.begins]
        assert begun == list(range(2, 6)), "the first question is the stage's own screen"
        solved, skipped = after["trial.solved"], after["skip.requested"]
        shown = preview.view_of(solved.moment)
        assert shown.part is stage
        assert shown.cover() is None
        assert shown.part_state.trial.solved
        assert preview.view_of(skipped.moment).takes_back, "the cover, too"
        number = f"{solved.moment.state.index + 1:02d}"
        assert solved.file == f"{number}-stage-1-trial-solved.png"
        twice = [preview.picture(solved) for _ in range(2)]
        assert twice[0] == twice[1]


def test_what_no_simulated_participant_gets_to_is_shown_by_the_window(preview: Preview) -> None:
    preview.course = Course(preview.runner.machine)
    assert preview.stills == ()
    last = preview.places[-1]
    assert not preview.picture(last).isNull()
    assert preview.place == last


def test_who_was_right_and_who_was_wrong_are_both_told(qapp: QApplication) -> None:
    with opened_preview(load("prototree-agreement"), None, None) as preview:
        parts = preview.runner.machine.parts
        warm_up = next(part for part in parts if part.part == "warm_up")
        told = [s for s in preview.stills if s.part is warm_up and s.moment.after == "photo.judged"]
        verdicts = [all(s.moment.state.part_state.trial.right.values()) for s in told]
        assert sorted(verdicts) == [False, True]
        preview.show(preview.places[-1])
        values = preview.window.session.result_values()
        assert any(values.values()), "texts tell how the parts before them went"


@pytest.fixture
def window(preview: Preview, qtbot: QtBot) -> PreviewWindow:
    window = PreviewWindow(preview)
    qtbot.addWidget(window)
    window.open()
    qtbot.waitExposed(window)
    return window


def _shows(window: PreviewWindow, preview: Preview, place: Place) -> bool:
    screen = preview.window.screen_shown
    return (
        window.chosen == place
        and preview.place == place
        and window.shown.currentWidget() is window.tried
        and screen is not None
        and screen.planned is place.part
        and (place.part.rests or not preview.window.covered)
    )


def test_any_screen_can_be_chosen(window: PreviewWindow, preview: Preview, qtbot: QtBot) -> None:
    places = preview.places
    for place in (places[-1], places[0], places[2], places[1]):
        window.choose(place)
        qtbot.waitUntil(partial(_shows, window, preview, place))
    window.following.click()
    qtbot.waitUntil(partial(_shows, window, preview, places[2]))
    window.back.click()
    qtbot.waitUntil(partial(_shows, window, preview, places[1]))
    rows = [window.screens.topLevelItem(at) for at in range(window.screens.topLevelItemCount())]
    assert [row.text(0) for row in rows] == [*(p.title for p in places), "A pause", "The end"]
    window.choose(places[0])
    assert not window.back.isEnabled()
    window.screens.setCurrentItem(rows[-1])
    assert window.back.isEnabled()
    assert not window.following.isEnabled()


def test_a_moment_inside_of_a_part_is_looked_at_and_nothing_more(
    window: PreviewWindow, preview: Preview, qtbot: QtBot
) -> None:
    inner = next(still for still in preview.stills if still.part is not None)
    place = next(p for p in preview.places if (p.part, p.page) == (inner.part, inner.moment.page))
    window.choose(place)
    qtbot.waitUntil(partial(_shows, window, preview, place))
    qtbot.keyClick(window.screens, Qt.Key.Key_Right)
    window.following.click()
    before = preview.runner.state
    assert window.chosen == inner
    assert window.shown.currentWidget() is not window.tried
    assert "to look at" in window.told.text()
    picture = window.shown.currentWidget().grab().toImage()
    window.screens.setCurrentItem(window.screens.topLevelItem(len(preview.places)))
    assert window.shown.count() == 2, "the one before is gone"
    assert window.shown.currentWidget().grab().toImage() != picture
    assert preview.runner.state.part_state == before.part_state
    window.choose(place)
    qtbot.waitUntil(partial(_shows, window, preview, place))
    assert window.shown.count() == 1


def test_the_list_follows_the_participants_own_way(
    window: PreviewWindow, preview: Preview, qtbot: QtBot
) -> None:
    places = preview.places
    for place in (next(place for place in places if place.pages > 1), places[0]):
        window.choose(place)
        qtbot.waitUntil(partial(_shows, window, preview, place))
        preview.runner.send(Next() if place.page else SkipStage())
        qtbot.waitUntil(lambda place=place: window.chosen != place)
        assert places.index(window.chosen) > places.index(place)
        assert preview.place == window.chosen


def test_closing_the_list_ends_the_preview(window: PreviewWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closed):
        window.close()


def test_behind_the_last_screen_any_can_be_chosen_again(
    window: PreviewWindow, preview: Preview, qtbot: QtBot
) -> None:
    first, last = preview.places[0], preview.places[-1]
    window.choose(last)
    qtbot.waitUntil(partial(_shows, window, preview, last))
    preview.runner.send(SkipStage())
    qtbot.waitUntil(lambda: preview.place is None)
    window.choose(first)
    qtbot.waitUntil(partial(_shows, window, preview, first))


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
