"""The warm-up on the screen: explained, answered by mouse and keys, handed in, locked, told."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from labapp.tasks.judging.plan import AGREEMENT, MISTAKE, VERDICT
from labapp.tasks.judging.screen.warm_up import Explanation, WarmUpScreen, paint_fruits, parts_of
from labapp.ui.participant.screen import stops
from tests.ui.hearing import names, taken
from tests.ui.keys import focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
TEXT = "# Warming up\n\nAbout the tree.\n\n---\n\nMore about it.\n"
STUDY = """
id: warm
title: Warm-up
version: 1
language: en
flow:
  - warm_up: fruits
  - questionnaire: shipped:comments
"""


@pytest.fixture
def opened(open_room, open_window, tmp_path):
    """The window on a warm-up of two pages of text, at the first of them."""
    folder = tmp_path / "study"
    (folder / "texts" / "en").mkdir(parents=True)
    (folder / "texts" / "en" / "warm-up-fruits.md").write_text(TEXT)
    (folder / "warm.yaml").write_text(STUDY)
    room = open_room(study=folder / "warm.yaml")
    return room, open_window(room)


def at_exercises(window) -> WarmUpScreen:
    screen = window.screen_shown
    assert isinstance(screen, WarmUpScreen)
    for _ in range(3):
        QTest.mouseClick(window.bottom.right, LEFT)
    return screen


def click(row, place: int) -> None:
    QTest.mouseClick(row.choice.options[place - 1], LEFT)


def answer(screen: WarmUpScreen, number: int, *places: int) -> None:
    for row, place in zip(screen.panels[number - 1].rows.values(), places, strict=True):
        click(row, place)


def test_pages_of_text_then_an_example_that_is_answered(opened):
    room, window = opened
    screen = window.screen_shown
    assert isinstance(screen.page, Explanation)
    assert screen.page.tree.path == ()
    assert window.bottom.left.isHidden()
    press(KEY.Key_Return, KEY.Key_Return)
    assert screen.page is screen.worked
    assert screen.worked.tree.path == ("colour", "shape", "E")
    assert list(stops(screen.worked)) == []
    click(screen.worked.rows[VERDICT], 2)
    assert room.count("judgement.made") == 0
    assert "Fruit E" in screen.worked.feedback.text.text()
    QTest.mouseClick(window.bottom.left, LEFT)
    assert screen.page is screen.explanations[1]


def test_options_stand_as_published_and_are_recorded_as_they_count(opened):
    room, window = opened
    screen = at_exercises(window)
    answer(screen, 1, 2, 1, 2)  # Incorrect; fairly confident that it is correct; Colour
    trial = room.runner.state.part_state.trial
    assert trial.answers == {VERDICT: 1, AGREEMENT: 4, MISTAKE: 1}
    answer(screen, 1, 1, 4, 1)
    trial = room.runner.state.part_state.trial
    assert trial.answers == {VERDICT: 2, AGREEMENT: 1, MISTAKE: 4}


def test_submit_names_what_is_missing_and_leads_there(opened):
    room, window = opened
    screen = at_exercises(window)
    assert focus() is screen.panels[0].rows[VERDICT].choice
    click(screen.panels[0].rows[VERDICT], 2)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("photo.judged") == 0
    assert "the first mistake" in window.bottom.note.text()
    assert screen.panels[0].rows[MISTAKE].missing
    assert not screen.panels[0].rows[VERDICT].missing
    assert focus() is screen.panels[0].rows[AGREEMENT].choice


def test_an_exercise_is_told_about_and_locked_and_nothing_shifts(opened, qapp):
    room, window = opened
    screen = at_exercises(window)
    answer(screen, 1, 1, 2, 1)
    qapp.processEvents()
    panel = screen.panels[0]
    before = [row.geometry() for row in panel.rows.values()], panel.tree.geometry()
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert ([row.geometry() for row in panel.rows.values()], panel.tree.geometry()) == before
    assert room.last("photo.judged")["right"] == {VERDICT: False, MISTAKE: False}
    assert panel.feedback.head.text() == "✗ Incorrect"
    told = panel.feedback.text
    assert told.height() >= told.heightForWidth(told.width()), "nothing of it is cut off"
    assert focus() is window.bottom.right
    click(panel.rows[VERDICT], 2)
    assert room.last("judgement.made")["question"] == MISTAKE, "answers stay"


def test_both_exercises_by_keyboard_alone(opened):
    room, window = opened
    screen = at_exercises(window)
    press(KEY.Key_2, KEY.Key_Tab, KEY.Key_4, KEY.Key_Tab, KEY.Key_2, KEY.Key_Tab)
    assert focus() is window.bottom.left
    press(KEY.Key_Tab, KEY.Key_Return)
    assert screen.panels[0].feedback.head.text() == "✓ Correct!"
    press(KEY.Key_Return)
    assert screen.page is screen.panels[1]
    assert focus() is screen.panels[1].rows[VERDICT].choice
    press(KEY.Key_1, KEY.Key_Tab, KEY.Key_1, KEY.Key_Tab, KEY.Key_1, KEY.Key_Tab, KEY.Key_Return)
    assert room.last("photo.judged")["right"] == {VERDICT: True, MISTAKE: True}
    press(KEY.Key_Return)
    assert room.runner.part.id == "questionnaire-1"


def test_confidence_is_neither_right_nor_wrong(opened):
    _, window = opened
    screen = at_exercises(window)
    answer(screen, 1, 2, 1, 2)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert screen.panels[0].feedback.head.text() == "✓ Correct!"


def test_a_session_goes_on_where_it_was(opened, open_window):
    _, window = opened
    screen = at_exercises(window)
    answer(screen, 1, 2, 4, 2)
    window.close_for_good()
    again = open_window(opened[0]).screen_shown
    assert again.page is again.panels[0], "what was explained is not shown again"
    rows = again.panels[0].rows.values()
    assert [taken(row.choice) for row in rows] == [
        ["Incorrect"],
        ["Fairly confident that prediction is incorrect"],
        ["Colour"],
    ]


def test_the_tree_and_the_photo_are_told_to_who_hears_the_screen(opened):
    _, window = opened
    panel = window.screen_shown.panels[0]
    assert panel.tree.accessibleDescription() == "Colour → Green → Count → Greater than 3 → Fruit B"
    assert panel.photo.accessibleName()
    assert names(panel.rows[MISTAKE].choice) == ["None", "Colour", "Count", "Shape"]


@pytest.mark.parametrize("shape", ["round", "skinny"])
@pytest.mark.parametrize("number", range(1, 6))
def test_fruits_lie_inside_their_picture(shape, number, qapp):
    """What is painted leaves a rim free all round."""
    name = f"yellow-{shape}-{number}"
    assert parts_of(name) == ("yellow", shape, number)
    image = QImage(190, 137, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    paint_fruits(painter, image.rect().toRectF(), name)
    painter.end()
    white = 0xFFFFFFFF
    rim = [image.pixel(x, y) for x in range(190) for y in (0, 1, 135, 136)]
    rim += [image.pixel(x, y) for y in range(137) for x in (0, 1, 188, 189)]
    assert set(rim) == {white}
    painted = sum(image.pixel(x, y) != white for x in range(190) for y in range(137))
    assert painted > 2000


def test_a_picture_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="blue-round-2"):
        parts_of("blue-round-2")


def test_the_time_of_the_first_exercise_runs_from_when_it_is_there(opened):
    room, window = opened

    def trial():
        return room.runner.state.part_state.trial

    assert trial().number == 1
    assert trial().started_ns is None
    for _ in range(2):
        QTest.mouseClick(window.bottom.right, LEFT)
    assert trial().started_ns is None
    QTest.mouseClick(window.bottom.right, LEFT)
    began = trial().started_ns
    assert began is not None
    QTest.mouseClick(window.bottom.left, LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert trial().started_ns == began
    assert room.kinds().count("photo.shown") == 1
