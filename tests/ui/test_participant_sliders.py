"""The slider of a questionnaire: by mouse and keys, untouched and touched, what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.study.instruments import Slider
from labapp.tasks.questionnaire.screen.items import SliderView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.slider_item import NumberSlider

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
WORDS = Strings({"selected_accuracy": "Selected: {value} {unit}", "selected_value": "{value}"})
INSTRUMENT = """
id: sliders
version: 1
title: Sliders
source: made for a test
items:
  - {id: low_risk, kind: slider, text: Low risk, low: 60, high: 100, start: 76}
  - {id: high_risk, kind: slider, text: High risk, low: 60, high: 100, start: 76}
  - {id: reason, kind: written, text: "Why?", required: false}
"""
STUDY = """
id: sliding
title: Sliders
version: 1
language: en
flow:
  - questionnaire: sliders
  - questionnaire: shipped:comments
"""


@pytest.fixture
def asked(open_room, open_window, tmp_path: Path):
    folder = tmp_path / "study"
    (folder / "instruments").mkdir(parents=True)
    (folder / "instruments" / "sliders.yaml").write_text(INSTRUMENT)
    (folder / "sliding.yaml").write_text(STUDY)
    room = open_room(study=folder / "sliding.yaml")
    window = open_window(room)
    return room, window


@pytest.fixture
def slider(qapp: QApplication, qtbot):
    made = NumberSlider(60, 100, 76, "%", theme.LIGHT)
    qtbot.addWidget(made)
    made.resize(500, made.sizeHint().height())
    made.show()
    made.setFocus()
    return made


def at(slider: NumberSlider, value: int) -> QPoint:
    return QPoint(round(slider.handle_x(value)), theme.TARGET_HEIGHT // 2)


@pytest.mark.parametrize(
    ("accuracy", "places"),
    [(76.1, (60, 100, 76)), (66.7, (50, 100, 67)), (79.9, (70, 100, 80)), (81.7, (70, 100, 82))],
)
def test_it_begins_at_the_accuracy_as_in_the_paper(accuracy, places):
    item = Slider(kind="slider", id="low", text="Low risk", about="accuracy")
    assert item.places(accuracy) == places


def test_arrow_keys_move_one_and_stop_at_the_ends(slider, qtbot):
    given: list[int] = []
    slider.given.connect(given.append)
    for key in (KEY.Key_Right, KEY.Key_Down, KEY.Key_PageUp, KEY.Key_End, KEY.Key_Right):
        QTest.keyClick(slider, key)
    assert given == [77, 76, 86, 100], "at its end nothing more is given"
    QTest.keyClick(slider, KEY.Key_Home)
    QTest.keyClick(slider, KEY.Key_Left)
    assert given[4:] == [60]


def test_leaving_it_where_it_stands_is_an_answer_once(slider):
    given: list[int] = []
    slider.given.connect(given.append)
    assert not slider.touched
    QTest.keyClick(slider, KEY.Key_Space)
    QTest.keyClick(slider, KEY.Key_Space)
    assert given == [76]
    assert slider.touched


def test_a_drag_is_given_once_and_followed_all_the_way(slider):
    given: list[int] = []
    moved: list[int] = []
    slider.given.connect(given.append)
    slider.moved.connect(moved.append)
    QTest.mousePress(slider, LEFT, pos=at(slider, 76))
    for value in (78, 81, 85):
        QTest.mouseMove(slider, at(slider, value))
    assert moved == [78, 81, 85]
    assert given == []
    QTest.mouseRelease(slider, LEFT, pos=at(slider, 85))
    assert given == [85]


def test_a_click_in_the_line_takes_the_handle_there(slider):
    given: list[int] = []
    slider.given.connect(given.append)
    QTest.mouseClick(slider, LEFT, pos=at(slider, 91))
    assert given == [91]


def test_it_says_in_words_where_it_stands(qtbot):
    item = Slider(kind="slider", id="low", text="Low risk", about="accuracy")
    view = SliderView(item.placed(81.7), WORDS, theme.LIGHT)
    qtbot.addWidget(view)
    view.show()
    height = view.sizeHint().height()
    assert view.selected.text() == "Selected: 82 %"
    assert view.slider.accessibleDescription() == "Selected: 82 %"
    view.show_value({"value": 90, "touched": True})
    assert view.selected.text() == "Selected: 90 %"
    assert view.sizeHint().height() == height, "nothing shifts"


def test_untouched_and_touched_are_told_apart_in_the_record(asked):
    room, window = asked
    low = window.screen_shown.items[0]
    QTest.mouseClick(low.slider, LEFT, pos=at(low.slider, 90))
    QTest.mouseClick(window.bottom.right, LEFT)
    answers = room.last("questionnaire.submitted")["answers"]
    assert answers["low_risk"] == {"value": 90, "touched": True}
    assert answers["high_risk"] == {"value": 76, "touched": False}


def test_a_value_still_under_the_hand_is_kept_when_the_session_goes_on(asked):
    room, window = asked
    low = window.screen_shown.items[0]
    QTest.mousePress(low.slider, LEFT, pos=at(low.slider, 76))
    QTest.mouseMove(low.slider, at(low.slider, 80))
    window.close_for_good()
    QTest.mouseRelease(window, LEFT)
    assert room.runner.state.part_state.answers["low_risk"] == {"value": 80, "touched": True}


def test_a_resumed_page_shows_what_was_given(asked, open_window):
    room, window = asked
    low = window.screen_shown.items[0]
    QTest.mouseClick(low.slider, LEFT, pos=at(low.slider, 90))
    window.close_for_good()
    screen = open_window(room).screen_shown
    first, second = (view.slider for view in screen.items[:2])
    assert (first.value(), first.touched) == (90, True)
    assert (second.value(), second.touched) == (76, False)
