"""The slider of a questionnaire: by mouse and keys, untouched and touched, what is kept of it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from labapp.base.resources import assets
from labapp.record.events.look import LAYOUT
from labapp.study.instruments import Instrument, Slider
from labapp.tasks.questionnaire.screen.kinds.slider import NumberSlider, SliderView
from labapp.ui import theme
from labapp.ui.strings import Strings

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
WORDS = Strings(
    {
        "selected_accuracy": "Selected: {value} {unit}",
        "selected_value": "{value}",
        "slider_unanswered": "Not answered yet",
        "optional": "Optional",
    }
)
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
    """As in a published study: its handle stands somewhere before it is touched."""
    made = NumberSlider(60, 100, 76, "%", theme.LIGHT)
    made.show_start(True)
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
    assert view.selected.text() == "Not answered yet"
    assert not view.slider.has_handle
    view.show_as(published=True, layout=LAYOUT)
    assert view.selected.text() == "82\N{NO-BREAK SPACE}% · Not answered yet"
    assert view.slider.accessibleDescription() == view.selected.text()
    assert view.slider.has_handle
    view.show_value({"value": 90, "touched": True})
    assert view.selected.text() == "Selected: 90 %"
    assert view.sizeHint().height() == height, "nothing shifts"


@pytest.mark.parametrize("ends", [None, {"low": "not at all", "high": "completely"}])
def test_its_parts_stay_together_beside_a_tall_picture(qtbot, ends):
    picture = {"file": "a.png", "alt": "Rows", "width": 320}
    given = {"kind": "slider", "id": "low", "text": "Low risk", "ends": ends, "media": picture}
    view = SliderView(Slider.model_validate(given), WORDS, theme.LIGHT)
    qtbot.addWidget(view)
    content = BytesIO()
    Image.new("RGB", (320, 213)).save(content, "png")
    view.show_pictures(lambda name: content.getvalue())
    view.resize(1000, view.sizeHint().height())
    view.show()
    line = view.slider.geometry()
    assert view.height() > 213
    assert line.top() - view.selected.geometry().bottom() <= theme.SPACE_S
    for label in view.findChildren(QLabel):
        if label.text() in (ends or {}).values():
            tall = label.fontMetrics().height()
            assert label.alignment() & Qt.AlignmentFlag.AlignTop
            assert label.y() - line.bottom() <= theme.SPACE_S
            assert label.height() <= 2 * tall


def test_an_old_session_shows_what_its_participant_saw(qtbot):
    """Before layout 2 a slider said where it stood, answered or not."""
    item = Slider(kind="slider", id="low", text="Low risk", about="accuracy")
    view = SliderView(item.placed(81.7), WORDS, theme.LIGHT)
    qtbot.addWidget(view)
    for published in (True, False):
        view.show_as(published=published, layout=1)
        assert (view.selected.text(), view.slider.has_handle) == ("Selected: 82 %", True)


@pytest.mark.parametrize(
    ("key", "value"),
    [(KEY.Key_Right, 76), (KEY.Key_PageDown, 76), (KEY.Key_Home, 60), (KEY.Key_End, 100)],
)
def test_nothing_draws_an_answer_before_the_first_touch(qtbot, key, value):
    """No handle, and no key confirms what nobody sees; the first one puts a handle there."""
    bare = NumberSlider(60, 100, 76, "%", theme.LIGHT)
    qtbot.addWidget(bare)
    bare.resize(500, bare.sizeHint().height())
    bare.show()
    bare.setFocus()
    qtbot.waitUntil(bare.hasFocus)
    seen = bare.grab().toImage()
    other = NumberSlider(60, 100, 91, "%", theme.LIGHT)
    qtbot.addWidget(other)
    other.resize(bare.size())
    bare.clearFocus()
    assert other.grab().toImage() == bare.grab().toImage(), "where it would begin is not seen"
    bare.setFocus()
    assert seen == bare.grab().toImage()
    given: list[int] = []
    bare.given.connect(given.append)
    for confirms in (KEY.Key_Space, KEY.Key_Return, KEY.Key_Enter):
        QTest.keyClick(bare, confirms)
    assert (given, bare.touched) == ([], False)
    QTest.keyClick(bare, key)
    assert (given, bare.touched) == ([value], True)


def test_a_click_is_the_answer_where_no_handle_is(qtbot):
    bare = NumberSlider(60, 100, 76, "%", theme.LIGHT)
    qtbot.addWidget(bare)
    bare.resize(500, bare.sizeHint().height())
    bare.show()
    given: list[int] = []
    bare.given.connect(given.append)
    QTest.mouseClick(bare, LEFT, pos=at(bare, 77))  # where a hidden handle would be hit
    assert given == [77]


def test_what_nobody_touched_is_no_answer_in_any_reading():
    item = Slider(kind="slider", id="low", text="Low risk", low=60, start=76)
    left, moved = item.untouched(), {"value": 76, "touched": True}
    assert (item.answered(left), item.answered(moved)) == (False, True)
    assert (item.values(left), item.values(moved)) == ((), (76,))
    assert item.cells(left) == {"": None, "touched": False}
    assert item.cells(moved) == {"": 76, "touched": True}


def test_every_item_begins_without_an_answer(asked, qtbot):
    """Of every kind: whatever stands on the page before a hand comes near is no answer."""
    _, window = asked
    for view in window.screen_shown.items:
        value = view.item.untouched()
        assert value is None or not view.item.answered(value), view.item.kind
    for path in sorted((assets() / "instruments").glob("*.yaml")):
        made = Instrument.parse(path, path.read_bytes())
        for item in made.items:
            value = item.untouched()
            assert value is None or not item.answered(value), (path.name, item.id)
            assert value is None or item.cells(value)[""] is None, (path.name, item.id)


def test_a_study_may_require_a_touch(open_room, open_window, tmp_path: Path):
    folder = tmp_path / "study"
    (folder / "instruments").mkdir(parents=True)
    needed = INSTRUMENT.replace("start: 76}", "start: 76, required: true}")
    (folder / "instruments" / "sliders.yaml").write_text(needed)
    (folder / "sliding.yaml").write_text(STUDY)
    room = open_room(study=folder / "sliding.yaml")
    window = open_window(room)
    part = room.runner.part.id
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.runner.part.id == part
    assert "Low risk" in window.bottom.foot.note
    for view in window.screen_shown.items[:2]:
        QTest.mouseClick(view.slider, LEFT, pos=at(view.slider, 76))
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.runner.part.id != part


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


def test_a_slider_without_numbers_shows_none_and_a_screen_reader_says_them(qtbot):
    ends = {"low": "not at all", "high": "completely"}
    item = Slider(kind="slider", id="sure", text="How sure?", ends=ends, numbers=False)
    view = SliderView(item, WORDS, theme.LIGHT)
    qtbot.addWidget(view)
    view.show_as(published=False, layout=LAYOUT)
    view.resize(900, 160)
    view.show()
    assert view.selected.text(), "it says that there is no answer yet"
    given: list[object] = []
    view.answered.connect(given.append)
    slider = view.slider
    QTest.mouseClick(
        slider,
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(slider.handle_x(30)), slider.height() // 2),
    )
    assert given == [{"value": 30, "touched": True}]
    view.show_value(given[0])
    assert view.selected.text() == ""
    assert "30" in slider.accessibleDescription()
    assert slider._ends == ["", ""]
    view.show_value(None)
    assert view.selected.text(), "an answer that is taken back"
