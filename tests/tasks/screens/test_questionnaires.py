"""Questionnaires on the screen: every kind of item by mouse and by keyboard, paged, resumed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QWidget

from labapp.base import resources
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.screen.questionnaire import Page
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.dial import BOTTOM_HEIGHT, TOP_HEIGHT
from tests.helpers.questionnaires import ALL, questionnaire_study
from tests.helpers.reach import out_of_reach
from tests.helpers.rooms import Room
from tests.ui.keys import focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
WORDS = Strings(
    {
        "optional": "Optional",
        "own_words": "In your own words",
        "selected_accuracy": "Selected Black-box model accuracy: {value} {unit}",
        "selected_value": "Selected: {value} {unit}",
        "slider_unanswered": "Not answered yet",
        "text_limit": "Only {n} characters",
    }
)


@pytest.fixture
def asked(open_room, open_window, tmp_path, qapp):
    """Opens a room in which one instrument is asked first; returns room and window."""

    def ask(*names: str, study: Path | None = None):
        path = study or questionnaire_study(tmp_path / "study", names)
        room = open_room(study=path)
        window = open_window(room)
        qapp.processEvents()
        return room, window

    return ask


def answers(room: Room) -> dict[str, object]:
    return dict(room.runner.state.part_state.answers)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", ALL)
def test_every_shipped_instrument_fits_one_screen(name, language, qapp):
    """At 1280 x 720, which is 1920 x 1080 at 150 %: less than 1366 x 768."""
    path = resources.assets() / "instruments" / f"{name}.yaml"
    file = Instrument.parse(path, path.read_bytes(), language)
    instrument = file.realise(file.item_ids(5))
    holder = QWidget()
    holder.setStyleSheet(theme.stylesheet(theme.LIGHT))
    height = 720 - TOP_HEIGHT - BOTTOM_HEIGHT - 2 * theme.SPACE_XL
    for items in instrument.pages:
        page = Page(instrument.title, instrument.instruction, items, WORDS, theme.LIGHT)
        page.setParent(holder)
        page.resize(theme.CONTENT_WIDTH, height)
        holder.resize(theme.CONTENT_WIDTH, height)
        holder.show()
        page.show()
        qapp.processEvents()
        for view in page.views:
            view.mark_missing(True)
        qapp.processEvents()
        assert page.verticalScrollBar().maximum() == 0
        assert page.views[-1].height() > 0
        holder.resize(852, 336)  # in the smallest window it scrolls, and no word is cut
        page.resize(852, 336)
        for _ in range(4):
            qapp.processEvents()
        assert out_of_reach(holder) == []
    holder.close()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", ALL)
def test_what_is_missing_is_said_on_one_line(name, language, asked, tmp_path, qapp):
    """On the narrowest screen: 1280 logical pixels."""
    study = questionnaire_study(tmp_path / language, [name], language=language)
    _, window = asked(study=study)
    window.showNormal()
    window.resize(1280, 720)
    qapp.processEvents()
    note = window.bottom.note
    assert note.fontMetrics().horizontalAdvance(note.text()) <= note.width()


def test_a_question_after_a_table_shares_its_hairline(asked, qapp):
    _, window = asked("synthetic-end")
    page = window.screen_shown.pages[0]
    lines = [one for one in page.findChildren(QFrame) if one.property("role") == "hairline"]
    heights = sorted(line.mapTo(page, QPoint(0, 0)).y() for line in lines)
    assert len(heights) == len(page.views) + 1
    gaps = [below - above for above, below in pairwise(heights)]
    assert min(gaps) >= theme.TARGET_HEIGHT


def test_the_workload_by_keyboard_alone(asked):
    room, window = asked("nasa-tlx")
    view = window.screen_shown.items[0]
    assert focus() is view.row
    assert view.row.index is None
    for expected, keys in enumerate(
        [(KEY.Key_Right,), (KEY.Key_Right, KEY.Key_Right), (KEY.Key_Home,), (KEY.Key_End,)] * 2
    ):
        if expected == 6:
            break
        press(*keys, KEY.Key_Tab)
    assert list(answers(room).values()) == [0, 1, 0, 20, 0, 1]
    assert focus() is window.bottom.right
    press(KEY.Key_Return)
    assert room.last("questionnaire.submitted")["answers"]["performance"] == 20


def test_a_table_of_statements_takes_digits(asked):
    room, window = asked("understanding")
    press(KEY.Key_2, KEY.Key_Tab, KEY.Key_5, KEY.Key_Tab, KEY.Key_9, KEY.Key_0)
    assert answers(room) == {"systematic_plan": 2, "random_experimenting": 5}
    assert "understood" in window.bottom.note.text() or "I understood" in window.bottom.note.text()
    press(KEY.Key_Tab, KEY.Key_Return)
    assert room.count("questionnaire.submitted") == 0
    assert window.bottom.note.property("tone") == "warn"
    assert focus() is window.screen_shown.items[2].row


def test_pairs_go_on_page_by_page_and_back(asked):
    room, window = asked("nasa-tlx-weights")
    screen = window.screen_shown
    assert len(screen.pages) == 2
    assert not window.bottom.left.isVisible()
    first = screen.pages[0].views
    for view in first:
        assert focus() is view.group
        press(KEY.Key_Right, KEY.Key_Space, KEY.Key_Tab)
    press(KEY.Key_Return)
    assert room.runner.state.part_state.page == 1
    assert window.bottom.left.isVisible()
    assert focus() is screen.pages[1].views[0].group
    QTest.mouseClick(window.bottom.left, LEFT)
    assert room.runner.state.part_state.page == 0
    assert all(view.group.options[1].isChecked() for view in first), "answers are kept"
    QTest.mouseClick(window.bottom.right, LEFT)
    for view in screen.pages[1].views:
        QTest.mouseClick(view.group.options[0], LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    given = room.last("questionnaire.submitted")["answers"]
    assert len(given) == 15
    assert all(len(value["chosen"]) == 1 for value in given.values())


def test_several_alone_and_described(asked, qapp):
    room, window = asked("demographics")
    gender = window.screen_shown.items[1]
    woman, man, _, not_disclosed, own = gender.group.options
    QTest.mouseClick(woman, LEFT)
    QTest.mouseClick(own, LEFT)
    assert focus() is gender.field.edit
    QTest.keyClicks(focus(), "my own")
    assert answers(room)["gender"] == {"chosen": ("woman", "self_described"), "described": ""}
    press(KEY.Key_Return)
    assert answers(room)["gender"]["described"] == "my own"
    QTest.mouseClick(not_disclosed, LEFT)
    assert answers(room)["gender"] == {"chosen": ("not_disclosed",)}
    assert not gender.field.isVisible()
    QTest.mouseClick(man, LEFT)
    assert answers(room)["gender"] == {"chosen": ("man",)}
    QTest.mouseClick(man, LEFT)
    assert answers(room)["gender"] == {"chosen": ()}, "an optional answer can be taken back"
    age = window.screen_shown.items[0]
    QTest.mouseClick(age.group.options[1], LEFT)
    QTest.mouseClick(age.group.options[2], LEFT)
    assert answers(room)["age"] == {"chosen": ("from_35_to_50",)}
    assert not window.bottom.note.text()
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("questionnaire.submitted")["answers"] == {
        "age": {"chosen": ("from_35_to_50",)}
    }


def test_a_written_answer_is_recorded_when_it_is_kept(asked, qapp, qtbot):
    room, window = asked("comments")
    field = window.screen_shown.items[0].field
    assert focus() is field.edit
    QTest.keyClicks(focus(), "one two")
    assert room.count("response.changed") == 0, "never key by key"
    qtbot.waitUntil(lambda: room.count("response.changed") > 0)
    assert answers(room) == {"comments": "one two"}
    QTest.keyClicks(focus(), " three ")
    press(KEY.Key_Tab)
    assert answers(room) == {"comments": "one two three"}
    assert room.count("response.changed") == 2
    field.edit.setFocus()
    QTest.keyClicks(field.edit, "!")
    window.screen_shown.right()
    submitted = room.last("questionnaire.submitted")["answers"]
    assert submitted == {"comments": "one two three !"}


def test_whoever_writes_without_a_rest_is_kept_too(asked, qapp, monkeypatch):
    monkeypatch.setattr(controls, "LONGEST_MS", 600)
    monkeypatch.setattr(controls, "QUIET_MS", 60_000)  # a busy machine is no rest
    room, _ = asked("comments")
    written = ""
    while not room.count("response.changed"):
        QTest.keyClicks(focus(), "a")
        written += "a"
        QTest.qWait(60)
        assert len(written) < 200
    [kept] = [payload["value"] for kind, payload in room.events if kind == "response.changed"]
    assert kept in (written, written[:-1]), "never key by key"
    assert len(kept) > 1


def test_two_words_with_the_scale_between_them(asked):
    room, window = asked("ueq-s")
    views = window.screen_shown.items
    QTest.mouseClick(window.bottom.right, LEFT)
    assert "obstructive" in window.bottom.note.text()
    assert "5 more" in window.bottom.note.text()
    QTest.mouseClick(views[0].row.options[6], LEFT)
    assert answers(room) == {"ueq_1": 7}


def test_the_mouse_finds_every_point_of_a_statement(asked):
    room, window = asked("understanding")
    view = window.screen_shown.items[0]
    for index in (0, 4, 2):
        QTest.mouseClick(view.row.options[index], LEFT)
        assert answers(room) == {"systematic_plan": index + 1}
    assert view.row.centre(0).x() == pytest.approx(view.row.width() / 10)


def test_a_session_goes_on_at_the_page_where_it_was(asked, open_window):
    room, window = asked("nasa-tlx-weights")
    for view in window.screen_shown.pages[0].views:
        QTest.mouseClick(view.group.options[1], LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    window.close_for_good()
    again = open_window(room)
    screen = again.screen_shown
    assert screen.stack.currentIndex() == 1
    assert focus() is screen.pages[1].views[0].group
    QTest.mouseClick(again.bottom.left, LEFT)
    assert all(view.group.options[1].isChecked() for view in screen.pages[0].views)


def test_a_text_is_no_longer_than_it_may_be(asked, qapp):
    room, window = asked("comments")
    field = window.screen_shown.items[0].field
    field.edit.insertPlainText("x" * 2001)
    QTest.keyClicks(field.edit, "y")
    window.screen_shown.right()
    assert room.last("questionnaire.submitted")["answers"] == {"comments": "x" * 2000}
