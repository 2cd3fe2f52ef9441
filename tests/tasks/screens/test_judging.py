"""The screens of heatmaps and prototypes on a real session."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from labapp.models.stimuli import masked_pictures
from labapp.record.events.commands import Next
from labapp.tasks.judging.events import Judge, OpenSpecies
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    SIMILARITY,
)
from labapp.tasks.judging.screen.description import HeatmapScreen
from labapp.tasks.judging.screen.photos import (
    PrototypeAgreementScreen,
    PrototypeDistinctionScreen,
)
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from labapp.ui.widgets.photo_view import image_of
from scripts.screens_judging import point
from tests.ui.hearing import heard, names, taken
from tests.ui.judging_stage import answer_all, trial_of
from tests.ui.judging_stage import stage as stage
from tests.ui.keys import focus, places, press

LEFT = Qt.MouseButton.LeftButton


@pytest.mark.parametrize("by", ["keyboard", "mouse"])
def test_digits_answer_after_the_method_description(stage, by: str):
    room, window, screen = stage("heatmaps")
    window.top.help.setFocus()
    for _ in range(2):  # opened, and closed again
        if by == "mouse":
            QTest.mouseClick(window.top.help, LEFT)
        else:
            press(Qt.Key.Key_Return)
            window.top.help.setFocus()
        QApplication.processEvents()
    assert window.opened is None
    window.top.help.setFocus()
    press(Qt.Key.Key_3)
    assert trial_of(room).answers == {OUTPUT: 3}
    for place in (window.bottom.right, window):
        place.setFocus()
        press(Qt.Key.Key_2)
        assert trial_of(room).answers == {OUTPUT: 2}
        assert focus() is screen.asked[OUTPUT].choice
    press(Qt.Key.Key_Tab)
    window.bottom.right.setFocus()
    press(Qt.Key.Key_5)
    assert trial_of(room).answers[OUTPUT_CONFIDENCE] == 5


def test_digits_rate_the_row_that_had_the_focus(stage):
    room, window, screen = stage("prototype-agreement")
    press(Qt.Key.Key_1)
    assert screen.rows.row_with_focus() is screen.rows.rows[1]
    window.bottom.right.setFocus()
    press(Qt.Key.Key_4)
    assert trial_of(room).answers == {SIMILARITY.format(1): 1, SIMILARITY.format(2): 4}
    assert screen.rows.row_with_focus() is screen.rows.rows[2]
    made = [kind for kind, _ in room.events].count("judgement.made")
    screen.rows.focus_on(1)
    press(Qt.Key.Key_1)  # it has this number already
    assert screen.rows.row_with_focus() is screen.rows.rows[1]
    press(Qt.Key.Key_Space)
    assert screen.rows.row_with_focus() is screen.rows.rows[2]
    assert [kind for kind, _ in room.events].count("judgement.made") == made


def cut_off(window: ParticipantWindow, within: QWidget) -> list[tuple[QWidget, str]]:
    """Visible widgets that are not wholly on the screen, and labels with less room than needed."""
    out = []
    for widget in within.findChildren(QWidget):
        if not widget.isVisible():
            continue
        corner = widget.mapTo(window, QPoint(0, 0))
        outside = not window.rect().contains(widget.rect().translated(corner))
        squeezed = (
            isinstance(widget, QLabel)
            and widget.wordWrap()
            and widget.height() < widget.heightForWidth(widget.width())
        )
        if outside or squeezed:
            out.append((widget, widget.text() if isinstance(widget, QLabel) else ""))
    return out


def test_heatmaps_by_keyboard_alone(stage):
    room, window, screen = stage("heatmaps")
    assert isinstance(screen, HeatmapScreen)
    assert focus() is screen.asked[OUTPUT].choice
    for pressed in (Qt.Key.Key_2, Qt.Key.Key_4, Qt.Key.Key_1, Qt.Key.Key_5):
        press(pressed)
        press(Qt.Key.Key_Tab)
    assert dict(trial_of(room).answers) == {
        OUTPUT: 2,
        OUTPUT_CONFIDENCE: 4,
        DISTINCTION: 1,
        DISTINCTION_CONFIDENCE: 5,
    }
    while QApplication.focusWidget() is not window.bottom.right:
        press(Qt.Key.Key_Tab)
    assert window.bottom.right.text() == "Next photo"
    press(Qt.Key.Key_Return)
    assert trial_of(room).number == 2
    assert focus() is screen.asked[OUTPUT].choice
    assert all(row.choice.index is None for row in screen.asked.values())
    devices = {p["device"] for k, p in room.events if k == "judgement.made"}
    assert devices == {"keyboard"}


def test_heatmaps_are_the_kept_ones_in_the_colours_of_the_plan(stage):
    room, _, screen = stage("heatmaps", colour_map="inferno")
    photo, rgb = room.runner.part.photos[0], room.runner.gallery.rgb
    assert len(screen.heatmaps) == len(photo.heatmaps) == 4
    for place, heat in zip(screen.heatmaps, photo.heatmaps, strict=True):
        expected = masked_pictures.overlay(rgb(photo.photo), rgb(heat), "positive", "inferno")
        assert place.view.image == image_of(expected)
    assert screen.photo_place.view.image == image_of(np.array(rgb(photo.photo)))


@pytest.mark.parametrize("name", ["heatmaps", "heatmaps-signed"])
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("labels", [False, True])
def test_all_of_the_heatmaps_is_on_a_small_screen(stage, name, language, labels):
    _, window, screen = stage(name, language=language, labels=labels)
    assert not cut_off(window, screen)
    sides = {place.view.width() for place in (screen.photo_place, *screen.heatmaps)}
    assert len(sides) == 1
    assert min(sides) >= 200


def said(screen: QWidget) -> str:
    return "\n".join(one.text() for one in screen.findChildren(QLabel) if one.isVisible())


def test_the_true_class_is_told_only_where_the_study_says_so(stage):
    room, _, screen = stage("heatmaps", labels=True, marks=True)
    part = room.runner.part
    truth = part.photos[0].truth
    marks = part.explained.marks[truth]
    assert f"This is a photo of {part.explained.names[truth]}." in said(screen)
    assert marks in said(screen)
    assert "most red" not in said(screen)


def test_the_name_alone_is_told_as_published(stage):
    """Paper 003, figures A11 and A12."""
    room, _, screen = stage("heatmaps", labels=True)
    explained = room.runner.part.explained
    assert "This is a photo of" in said(screen)
    assert explained.marks == {}
    assert not screen.marks.text()


def test_nothing_is_told_of_the_class_without_labels(stage):
    room, _, screen = stage("heatmaps-signed")
    names = room.runner.part.explained.names.values()
    assert not any(name in said(screen) for name in names)
    assert "Recall how Tiny works and choose the class whose heatmap is the most red." in said(
        screen
    )


def test_what_is_missing_is_told_and_nothing_moves(stage, qapp):
    room, window, screen = stage("heatmaps")
    before = places(screen)
    assert "the class the model predicts" in window.bottom.note.text()
    window.bottom.right.click()
    qapp.processEvents()
    assert trial_of(room).number == 1
    assert all(row.missing for row in screen.asked.values())
    assert window.bottom.note.property("tone") == "warn"
    assert focus() is screen.asked[OUTPUT].choice
    assert places(screen) == before
    answer_all(room)
    point(screen.heatmaps[2].view, 0.3, 0.3)
    qapp.processEvents()
    assert not any(row.missing for row in screen.asked.values())
    assert window.bottom.note.text() == ""
    assert places(screen) == before
    window.bottom.right.click()
    assert trial_of(room).number == 2
    assert screen.enlarger.enlarging is None


def test_an_answer_by_mouse_can_be_changed(stage):
    room, _, screen = stage("heatmaps")
    choice = screen.asked[OUTPUT].choice
    for index in (0, 2):
        QTest.mouseClick(choice.options[index], LEFT)
        assert choice.index == index
    made = [p for k, p in room.events if k == "judgement.made"]
    assert made == [
        {"question": OUTPUT, "value": 1, "device": "mouse"},
        {"question": OUTPUT, "value": 3, "device": "mouse"},
    ]


def test_the_key_z_enlarges_one_picture_after_the_other(stage):
    _, _, screen = stage("heatmaps")
    seen = []
    for _ in range(6):
        press(Qt.Key.Key_Z)
        seen.append(screen.enlarger.enlarging)
    assert seen == [
        screen.photo_place.view,
        *(place.view for place in screen.heatmaps),
        None,
    ]


def test_rows_are_rated_by_keys_and_the_focus_goes_on(stage):
    room, window, screen = stage("prototype-agreement", rows=10)
    assert isinstance(screen, PrototypeAgreementScreen)
    assert screen.above.text() == "The model predicts Species 1 for this photo."
    assert screen.task.text().startswith("Task: Rate the similarity of each row's")
    assert len(screen.rows.shown) == 10
    for row in range(1, 11):
        assert screen.rows.row_with_focus() is screen.rows.rows[row - 1]
        area, shown = screen.rows.area.viewport(), screen.rows.rows[row - 1].rating
        assert area.rect().contains(shown.rect().translated(shown.mapTo(area, QPoint(0, 0))))
        press(Qt.Key(Qt.Key.Key_1 + row % 4))
    assert focus() is screen.asked[AGREEMENT].choice
    answers = trial_of(room).answers
    assert [answers[SIMILARITY.format(n)] for n in range(1, 11)] == [
        1 + n % 4 for n in range(1, 11)
    ]
    press(Qt.Key.Key_Space)
    assert trial_of(room).answers[AGREEMENT] == 4, "the first option is the most confident one"
    press(Qt.Key.Key_Down)
    press(Qt.Key.Key_Down)
    press(Qt.Key.Key_Down)
    press(Qt.Key.Key_Return)
    assert trial_of(room).answers[AGREEMENT] == 1
    assert screen.asked[AGREEMENT].choice.index == 3
    window.bottom.right.click()
    assert trial_of(room).number == 2
    assert screen.rows.area.verticalScrollBar().value() == 0
    assert screen.rows.row_with_focus() is screen.rows.rows[0]


def tab_stops() -> list[QWidget]:
    """What Tab goes through, from what has the focus until it is back there."""
    stops = [focus()]
    while True:
        press(Qt.Key.Key_Tab)
        if focus() is stops[0]:
            return stops
        stops.append(focus())
        assert len(stops) < 100


def test_tab_goes_in_reading_order_and_then_to_next(stage):
    _, window, screen = stage("heatmaps")
    asked = [row.choice for row in screen.asked.values()]
    assert tab_stops() == [*asked, window.bottom.right, window.top.help, screen.enlarger]


def test_tab_goes_from_the_rows_to_the_question(stage):
    _, window, screen = stage("prototype-distinction")
    rows = [row.rating for row in screen.rows.shown]
    asked = [row.choice for row in screen.asked.values()]
    bars = [window.bottom.right, window.top.help]
    assert tab_stops() == [*rows, *asked, *bars, screen.enlarger, screen.tabs]


def test_a_rating_by_mouse_stays_where_it_is(stage):
    room, _, screen = stage("prototype-agreement")
    rating = screen.rows.shown[1].rating
    QTest.mouseClick(rating.options[2], LEFT)
    assert trial_of(room).answers == {SIMILARITY.format(2): 3}
    assert rating.index == 2
    assert focus() is rating
    assert heard(rating.options[2]).group == "Similarity, row 2"


def test_the_pictures_of_a_row_are_enlarged_where_the_photo_is(stage):
    _, _, screen = stage("prototype-agreement")
    row = screen.rows.shown[1]
    photo = screen.enlarger.view.image
    assert photo == row.views[0].image
    point(row.views[3], 0.5, 0.5)
    assert screen.enlarger.view.image is row.views[3].image
    assert screen.enlarger.caption.text() == "Prototype's photo, row 2, enlarged"
    screen.enlarger.leave()
    screen.rows.focus_on(2)
    seen = []
    for _ in range(5):
        press(Qt.Key.Key_Z)
        seen.append(screen.enlarger.enlarging)
    assert seen == [*row.views, None]
    assert screen.enlarger.view.image is photo


def test_a_row_shows_region_and_prototype_as_the_plan_has_them(stage):
    room, _, screen = stage("prototype-agreement")
    photo = room.runner.part.photos[0]
    for planned, view in zip(photo.rows, screen.rows.shown, strict=True):
        own, region, prototype, other = view.views
        assert own.box == planned.region
        assert other.box == planned.box
        assert other.image == image_of(np.array(room.runner.gallery.rgb(planned.photo)))
        assert region.image.width() == pytest.approx(0.3 * own.image.width(), abs=2)
        assert prototype.image.width() == pytest.approx(0.3 * other.image.width(), abs=2)


def test_what_is_missing_of_the_rows_is_marked_and_nothing_moves(stage, qapp):
    room, window, screen = stage("prototype-agreement")
    room.runner.send(Judge(SIMILARITY.format(1), 2, "mouse"))
    qapp.processEvents()
    before = places(screen)
    window.bottom.right.click()
    qapp.processEvents()
    assert [row.mark.text() for row in screen.rows.shown] == ["", "▸", "▸"]
    assert screen.asked[AGREEMENT].missing
    assert screen.rows.row_with_focus() is screen.rows.rows[1]
    assert "similarity of the rows (2 left)" in window.bottom.note.text()
    assert places(screen) == before
    answer_all(room)
    qapp.processEvents()
    assert [row.mark.text() for row in screen.rows.shown] == ["", "", ""]
    assert places(screen) == before


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", ["prototype-agreement", "prototype-distinction"])
def test_only_the_rows_scroll_on_a_small_screen(stage, name, language):
    _, window, screen = stage(name, language=language, rows=10)
    rows = set(screen.rows.area.findChildren(QWidget))
    assert not [one for one in cut_off(window, screen) if one[0] not in rows]
    assert screen.rows.area.verticalScrollBar().maximum() > 0
    assert screen.rows.area.horizontalScrollBar().maximum() == 0
    assert screen.enlarger.view.width() >= 300
    assert screen.rows.shown[0].views[0].width() >= 100
    last = screen.rows.shown[0].rating
    viewport = screen.rows.area.viewport()
    assert last.mapTo(viewport, QPoint(last.width(), 0)).x() <= viewport.width()


def test_from_the_last_row_of_a_species_to_the_next_species(stage):
    room, window, screen = stage("prototype-distinction")
    assert isinstance(screen, PrototypeDistinctionScreen)
    photo = room.runner.part.photos[0]
    for option in range(1, 5):
        assert trial_of(room).option == option
        shown = [photo.rows[number - 1].of for number in screen.numbers()]
        assert shown == [photo.options[option - 1]] * 3
        for _ in range(3):
            press(Qt.Key.Key_3)
        assert f"Species {option}: 3 of 3 rows rated" in names(screen.tabs)
    assert focus() is screen.asked[DISTINCTION].choice
    press(Qt.Key.Key_4)
    press(Qt.Key.Key_Tab)
    press(Qt.Key.Key_2)
    answers = trial_of(room).answers
    assert len(answers) == 14
    assert answers[DISTINCTION] == 4
    assert answers[DISTINCTION_CONFIDENCE] == 2
    window.bottom.right.click()
    assert trial_of(room).number == 2
    assert trial_of(room).option == 1
    assert screen.rows.row_with_focus() is screen.rows.rows[0]
    assert "Species 1: 0 of 3 rows rated" in names(screen.tabs)
    assert room.count("species.opened") == 3


def test_tabs_show_the_ratings_of_their_own_rows(stage, qapp):
    room, window, screen = stage("prototype-distinction")
    photo = room.runner.part.photos[0]
    first = photo.rows_of(3)[0]
    room.runner.send(Judge(SIMILARITY.format(first), 4, "mouse"))
    assert [row.rating.index for row in screen.rows.shown] == [None] * 3
    QTest.mouseClick(screen.tabs.options[2], LEFT)
    qapp.processEvents()
    assert trial_of(room).option == 3
    assert [row.rating.index for row in screen.rows.shown] == [3, None, None]
    left = len(photo.rows) - 1
    assert f"similarity of the rows ({left} left)" in window.bottom.note.text()
    window.bottom.right.click()
    qapp.processEvents()
    assert trial_of(room).option == 1, "it leads to the first row that is missing"
    assert screen.rows.row_with_focus() is screen.rows.rows[0]


def test_classes_that_are_no_species_are_called_classes(stage):
    def objects(manifest):
        manifest["classes_are"] = "objects"

    _, window, screen = stage("prototype-distinction", change=objects)
    assert names(screen.tabs)[0] == "Class 1: 0 of 3 rows rated"
    assert "Choose the class you think is correct" in said(screen)
    assert "from that class" in said(screen)
    assert "the class that is correct" in window.bottom.note.text()
    assert "pecies" not in said(screen) + window.bottom.note.text()


def test_a_window_that_comes_up_again_shows_what_was_answered(stage, qapp):
    room, _, _ = stage("prototype-distinction")
    room.runner.send(OpenSpecies(2))
    photo = room.runner.part.photos[0]
    for row in photo.rows_of(2)[:2]:
        room.runner.send(Judge(SIMILARITY.format(row), 2, "mouse"))
    room.runner.send(Judge(DISTINCTION, 3, "mouse"))
    again = ParticipantWindow(
        room.bridge,
        room.loaded,
        strings_of(room.loaded),
        room.loaded.study.presentation,
        room.session.give_consent,
    )
    again.open_on()
    qapp.processEvents()
    screen = again.screen_shown
    assert isinstance(screen, PrototypeDistinctionScreen)
    assert [row.rating.index for row in screen.rows.shown] == [1, 1, None]
    assert screen.asked[DISTINCTION].choice.index == 2
    assert taken(screen.tabs) == ["Species 2: 2 of 3 rows rated"]
    again.close_for_good()
    again.deleteLater()


def test_the_description_can_be_asked_for_at_any_time(stage):
    room, window, _ = stage("prototype-agreement")
    assert window.top.help.text() == "Model description"
    window.top.help.click()
    assert room.last("description.opened") == {"what": "method"}
    assert window.top.help.text() == "Close the description"
    window.top.help.click()
    assert room.count("description.closed") == 1


def test_gradcam_is_a_method_and_the_last_photo_leads_on(stage):
    room, window, screen = stage("heatmaps")
    assert window.top.help.text() == "Method description"
    for _ in range(3):
        answer_all(room)
        room.runner.send(Next())
    assert screen.last
    assert window.bottom.right.text() == "Continue"
    answer_all(room)
    window.bottom.right.click()
    assert room.runner.finished


@pytest.mark.parametrize(
    "name", ["prototype-agreement", "prototype-distinction", "path-agreement", "path-distinction"]
)
def test_rows_stay_below_their_head_in_the_smallest_window(stage, qapp, name):
    _, window, screen = stage(name)
    window.resize(window.minimumSize())
    qapp.processEvents()
    assert screen.rows.area.horizontalScrollBar().maximum() == 0
