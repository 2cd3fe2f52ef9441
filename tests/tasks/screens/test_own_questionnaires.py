"""Questionnaires of one's own on the screen: numbers under the circles of a table, items that come
and go, attention checks."""

from __future__ import annotations

import pytest
import yaml
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible, QColor, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.screen.questionnaire import Page
from labapp.ui import theme
from labapp.ui.widgets.choice import Look, Scale
from tests.helpers.questionnaires import own_study
from tests.tasks.screens.test_questionnaires import WORDS
from tests.ui.hearing import announcements, interface_of
from tests.ui.keys import focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key
TABLE = """\
id: agreement
version: 1
title: What you think
source: Made for the tests.
scale: {points: 5, low: disagree, high: agree%s}
scores:
  agreement: {mean: [good, bad], reverse: [bad]}
items:
  - {id: good, kind: statement, identifying: no, text: It is good.}
  - {id: bad, kind: statement, identifying: no, text: It is bad.%s}
"""


def picture(text: str, qapp, width: int = theme.CONTENT_WIDTH) -> bytes:
    """The pixels of the first page of a questionnaire."""
    instrument = Instrument.model_validate(yaml.safe_load(text))
    holder = QWidget()
    holder.setStyleSheet(theme.stylesheet(theme.LIGHT))
    page = Page(instrument.title, "", instrument.pages[0], WORDS, theme.LIGHT)
    page.setParent(holder)
    for widget in (holder, page):
        widget.resize(width, 400)
    holder.show()
    qapp.processEvents()
    pixels = holder.grab().toImage()
    holder.close()
    return bytes(pixels.constBits())


def test_a_table_has_numbers_where_it_says_so_and_only_there(qapp):
    plain = picture(TABLE % ("", ""), qapp)
    assert picture(TABLE % (", numbers: false", ""), qapp) == plain
    numbered = picture(TABLE % (", numbers: true", ""), qapp)
    assert numbered != plain
    of_one = picture(TABLE % ("", ", numbers: true"), qapp)
    assert of_one not in (plain, numbered)
    assert picture(TABLE % (", numbers: true", ", numbers: true"), qapp) == numbered


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("points: 5", True),
        ("points: 5, numbers: false", False),
        ("points: 5, numbers: true", True),
        ("points: 21", False),
        ("points: 21, numbers: true", True),
        ("points: 5, look: ticks", False),
    ],
)
def test_what_a_scale_says_of_its_numbers_is_drawn(item, shown, qapp):
    """Of what stands alone; nothing that is said is passed over."""
    text = (
        "id: own\nversion: 1\ntitle: T\nsource: S\nitems:\n"
        f"  - {{id: a, text: Is it easy, low: hard, high: easy, {item}}}\n"
    )
    instrument = Instrument.model_validate(yaml.safe_load(text))
    page = Page("", "", instrument.items, WORDS, theme.LIGHT)
    assert page.views[0].row._look.numbered is shown
    if "numbers: false" not in item:
        bare = text.replace(item, f"{item.replace(', numbers: true', '')}, numbers: false")
        assert (picture(text, qapp) != picture(bare, qapp)) is shown


def test_the_number_that_is_seen_is_recorded_and_the_score_counts_the_other_way_round(
    open_room, open_window, tmp_path, qapp
):
    room = open_room(study=own_study(tmp_path / "study", TABLE % (", numbers: true", "")))
    window = open_window(room)
    qapp.processEvents()
    good, bad = window.screen_shown.items
    assert focus() is good.row
    assert [option.accessibleName() for option in bad.row.options] == [
        *("1: disagree", "2", "3", "4", "5: agree")
    ], "as it is seen, not as it is counted"
    QTest.mouseClick(good.row.options[3], LEFT)
    press(KEY.Key_Tab)
    assert focus() is bad.row
    press(KEY.Key_2, KEY.Key_Tab)
    assert focus() is window.bottom.right
    press(KEY.Key_Return)
    assert room.last("questionnaire.submitted")["answers"] == {"good": 4, "bad": 2}
    instrument = room.loaded.instruments["agreement"]
    assert instrument.scores["agreement"].of({"good": 4, "bad": 2}) == 4.0


CONDITIONAL = """\
id: follow
version: 1
title: Follow
source: Made for the tests.
per_page: 4
scale: {points: 3, low: "no", high: "yes"}
items:
  - {id: used, kind: statement, identifying: no, text: I used it.}
  - {id: liked, kind: statement, identifying: no, text: I liked it., only_if: {used: [2, 3]}}
  - {id: why, kind: written, identifying: no, text: "Why?", only_if: {liked: 3}}
  - {id: end, kind: statement, identifying: no, text: Enough.}
  - {id: more, kind: written, identifying: no, text: "More?", only_if: {used: 3}, required: no}
"""


def shown(screen) -> list[str]:
    return [view.item.id for view in screen.pages[screen.state.page].asked()]


@pytest.fixture
def following(open_room, open_window, tmp_path, qapp):
    room = open_room(study=own_study(tmp_path / "study", CONDITIONAL))
    window = open_window(room)
    qapp.processEvents()
    return room, window


def test_items_come_and_go_with_the_answers_and_nothing_moves(following, qapp):
    room, window = following
    screen = window.screen_shown
    used, liked, why, end = screen.pages[0].views
    assert shown(screen) == ["used", "end"]
    at = end.mapTo(window, end.rect().topLeft())
    assert screen.head().of == 0
    press(KEY.Key_3)
    assert shown(screen) == ["used", "liked", "end"]
    assert (screen.head().done, screen.head().of) == (1, 2)
    press(KEY.Key_Tab)
    assert focus() is liked.row, "what came up is next in turn"
    press(KEY.Key_3, KEY.Key_Tab)
    assert focus() is why.field.edit
    qapp.processEvents()
    assert end.mapTo(window, end.rect().topLeft()) == at
    QTest.keyClicks(focus(), "so")
    press(KEY.Key_Tab, KEY.Key_1)
    QTest.mouseClick(used.row.options[0], LEFT)
    assert shown(screen) == ["used", "end"]
    qapp.processEvents()
    assert end.mapTo(window, end.rect().topLeft()) == at
    assert not window.bottom.note.text(), "nothing that is hidden is missing"
    QTest.mouseClick(used.row.options[2], LEFT)
    assert shown(screen) == ["used", "liked", "why", "end"]
    assert why.field.edit.text() == "so", "what was written is still there"
    QTest.mouseClick(used.row.options[0], LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    submitted = room.last("questionnaire.submitted")
    assert submitted["answers"] == {"used": 1, "end": 1}
    assert submitted["not_asked"] == ("liked", "why", "more")


def test_a_screen_reader_is_told_what_an_answer_added_and_took_away(following, qapp, monkeypatch):
    _room, window = following
    used, liked, why, _end = window.screen_shown.pages[0].views
    said = announcements(monkeypatch)
    assert interface_of(liked).state().invisible
    press(KEY.Key_3)
    assert said == ["New questions: “I liked it.”"]
    assert not interface_of(liked).state().invisible
    assert focus() is used.row, "nothing takes the focus from where the answer is given"
    press(KEY.Key_Tab, KEY.Key_3)
    assert said[1:] == ["New questions: “Why?”"]
    assert interface_of(why.field.edit).text(QAccessible.Text.Name) == "Why?"
    press(KEY.Key_2)
    assert said[2:] == ["No longer asked: “Why?”"]
    press(KEY.Key_3)
    QTest.mouseClick(used.row.options[0], LEFT)
    assert said[4:] == ["No longer asked: “I liked it.”, “Why?”"]
    del said[:]
    QTest.mouseClick(used.row.options[1], LEFT)
    QTest.mouseClick(used.row.options[2], LEFT)
    assert said == ["New questions: “I liked it.”, “Why?”"], "what changes nothing says nothing"


def test_nothing_is_said_of_another_page(following, qapp, monkeypatch):
    _room, window = following
    screen = window.screen_shown
    for view, option in ((0, 2), (1, 0), (3, 0)):
        QTest.mouseClick(screen.pages[0].views[view].row.options[option], LEFT)
    said = announcements(monkeypatch)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert shown(screen) == ["more"]
    QTest.mouseClick(window.bottom.left, LEFT)
    assert said == []


def test_the_answer_that_decided_is_changed_on_the_way_back(following, qapp):
    room, window = following
    screen = window.screen_shown
    for view, option in ((0, 2), (1, 0), (3, 0)):
        QTest.mouseClick(screen.pages[0].views[view].row.options[option], LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert shown(screen) == ["more"]
    assert (screen.head().done, screen.head().of) == (2, 2)
    QTest.keyClicks(focus(), "words")
    QTest.mouseClick(window.bottom.left, LEFT)
    assert room.last("response.changed")["value"] == "words"
    QTest.mouseClick(screen.pages[0].views[0].row.options[1], LEFT)
    QTest.mouseClick(window.bottom.right, LEFT)
    submitted = room.last("questionnaire.submitted")
    assert submitted["answers"] == {"used": 2, "liked": 1, "end": 1}
    assert submitted["not_asked"] == ("why", "more")


def test_nobody_can_see_that_an_item_is_a_check(qapp):
    asked = TABLE % (", numbers: true", "")
    checked = asked.replace("text: It is bad.", "text: It is bad., check: 2").replace(", bad]", "]")
    checked = checked.replace("reverse: [bad]", "reverse: [good]")
    assert "check: 2" in checked
    assert picture(checked, qapp) == picture(asked, qapp)


def test_a_scale_is_painted_up_to_its_edges_where_they_lie_within_pixels(qapp):
    """At 150 %; a line was seen to the right of the circles, and one below their numbers."""
    scale = Scale(7, theme.LIGHT, Look(numbered=True))
    scale.resize(301, 47)
    image = QImage(460, 80, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    painter.setClipRect(QRect(0, 0, 452, 71))  # every pixel that it has a part of
    painter.scale(1.5, 1.5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    scale.paint(painter)
    painter.end()
    ground = QColor(theme.LIGHT.ground)
    assert [image.pixelColor(x, 10).name() for x in (0, 450, 451)] == [ground.name()] * 3
    assert [image.pixelColor(1, y).name() for y in (0, 70)] == [ground.name()] * 2
