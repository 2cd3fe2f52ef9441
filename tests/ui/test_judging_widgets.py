"""The widgets of the screens on which explanations are judged."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QCursor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from labapp.models.stimuli import masked_pictures
from labapp.tasks.judging.screen.description import HeatmapBar
from labapp.ui import theme
from labapp.ui.widgets.photo_view import Enlarger, PhotoView, cut_out, image_of, scale_image
from labapp.ui.widgets.row_view import ClassTabs
from labapp.ui.widgets.segments import QuestionRow, Segments
from scripts.screens_judging import point
from tests.ui.hearing import Role, heard, names, taken

P = theme.LIGHT
LEFT = Qt.MouseButton.LeftButton


FAR = (5000, 5000)
"""Where no window is."""


@pytest.fixture
def show(qapp):
    """Put widgets into a window that is on the screen."""
    windows = []
    QCursor.setPos(*FAR)  # wherever another test left it

    def one(*widgets: QWidget) -> QWidget:
        window = QWidget()
        column = QVBoxLayout(window)
        for widget in widgets:
            column.addWidget(widget)
        window.show()
        window.activateWindow()
        qapp.processEvents()
        windows.append(window)
        return window

    yield one
    for window in windows:
        window.close()
        window.deleteLater()


def gradient(width: int = 64, height: int = 64) -> QImage:
    """Red grows to the right, green downwards."""
    rgb = np.zeros((height, width, 3), np.uint8)
    rgb[..., 0] = np.linspace(0, 255, width)[None, :]
    rgb[..., 1] = np.linspace(0, 255, height)[:, None]
    return image_of(rgb)


def test_a_picture_owns_its_pixels_and_is_cut_out_by_shares():
    rgb = np.full((10, 20, 3), (9, 8, 7), np.uint8)
    image = image_of(rgb)
    rgb[:] = 0
    assert image.pixelColor(3, 3) == QColor(9, 8, 7)
    part = cut_out(gradient(100, 100), (0.25, 0.5, 0.75, 1.0))
    assert (part.width(), part.height()) == (50, 50)
    assert part.pixelColor(0, 0).green() == pytest.approx(128, abs=3)
    assert cut_out(gradient(), (0.5, 0.5, 0.5, 0.5)).width() == 1
    whole = gradient()
    assert cut_out(whole, None) is whole


def test_a_photo_keeps_its_proportions_and_its_box_is_inside(show):
    view = PhotoView(P, "Photo")
    view.set_side(200)
    view.show_picture(gradient(64, 32), (0.0, 0.0, 1.0, 1.0))
    show(view)
    where = view.shown_rect()
    assert (where.width(), where.height()) == (200, 100)
    shot = view.grab().toImage()
    yellow = QColor(theme.BOX)
    assert shot.pixelColor(2, round(where.top()) + 2) == yellow
    assert shot.pixelColor(197, round(where.bottom()) - 2) == yellow


def test_the_place_for_enlarging_shows_what_is_pointed_at_and_rests_again(show):
    view, enlarger = PhotoView(P, "Photo"), Enlarger(P, "hint", "{} larger".format)
    photo, other = gradient(), gradient()
    view.set_side(120)
    view.show_picture(photo, (0.1, 0.1, 0.2, 0.2))
    enlarger.set_side(200)
    enlarger.rest(other, None, "Photo")
    enlarger.watch(view, "Photo of row 1")
    show(view, enlarger)
    size = enlarger.size()
    point(view, 0.9, 0.5)
    assert enlarger.enlarging is view
    assert enlarger.view.image is photo
    assert enlarger.caption.text() == "Photo of row 1 larger"
    # The right half at half height: red from its middle on, green round the middle.
    middle = enlarger.view.grab().toImage().pixelColor(97, 97)
    assert middle.red() == pytest.approx(191, abs=8)
    assert middle.green() == pytest.approx(128, abs=8)
    view.gone.emit()
    assert enlarger.enlarging is None
    assert enlarger.view.image is other
    assert enlarger.caption.text() == "Photo"
    assert enlarger.caption.property("role") == "secondary"
    assert enlarger.size() == size


def test_what_is_under_the_pointer_stays_under_it_in_the_picture_at_rest(show):
    enlarger = Enlarger(P, "hint", "{} larger".format)
    enlarger.set_side(206)
    enlarger.rest(gradient(), None, "Photo")
    show(enlarger)
    before = enlarger.view.grab().toImage().pixelColor(150, 50)
    point(enlarger.view, 0.75, 0.25)
    after = enlarger.view.grab().toImage().pixelColor(150, 50)
    assert after.red() == pytest.approx(before.red(), abs=4)
    assert after.green() == pytest.approx(before.green(), abs=4)
    assert enlarger.caption.text() == "Photo larger"


def test_enlarging_by_keyboard(show, qapp):
    views = [PhotoView(P, f"View {n}") for n in range(3)]
    enlarger = Enlarger(P, "hint", "{} larger".format)
    for view in views[:2]:
        view.set_side(60)
        view.show_picture(gradient(), (0.8, 0.8, 1.0, 1.0))
    enlarger.set_side(120)
    for view in views:
        enlarger.watch(view, view.accessibleName())
    show(*views, enlarger)
    enlarger.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(enlarger, Qt.Key.Key_Space)
    assert enlarger.enlarging is views[0]
    at_box = enlarger.view.grab().toImage()
    for _ in range(8):
        QTest.keyClick(enlarger, Qt.Key.Key_Left)
    assert enlarger.view.grab().toImage() != at_box
    assert enlarger.view.grab().toImage().pixelColor(5, 60).red() < 10
    QTest.keyClick(enlarger, Qt.Key.Key_Space)
    assert enlarger.enlarging is views[1]
    QTest.keyClick(enlarger, Qt.Key.Key_Space)  # the third has no picture
    assert enlarger.enlarging is None
    enlarger.turn([views[1]])
    assert enlarger.enlarging is views[1]
    enlarger.clearFocus()
    assert enlarger.enlarging is None


def asked(choice: Segments) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    choice.chosen.connect(lambda index, device: found.append((index, device)))
    return found


def test_options_by_keys_and_mouse_only_ask(show):
    choice = Segments(("1", "2", "3", "4"), P, "Similarity, row 2", each=38)
    said = asked(choice)
    show(choice)
    assert choice.index is None
    QTest.keyClick(choice, Qt.Key.Key_Right)
    QTest.keyClick(choice, Qt.Key.Key_Right)
    assert said == [], "arrow keys only go there"
    QTest.keyClick(choice, Qt.Key.Key_Space)
    QTest.keyClick(choice, Qt.Key.Key_4)
    QTest.keyClick(choice, Qt.Key.Key_5)
    QTest.mouseClick(choice.options[1], LEFT)
    assert said == [(2, "keyboard"), (3, "keyboard"), (1, "mouse")]
    assert choice.index is None, "the session decides"
    choice.show_index(1)
    QTest.mouseClick(choice.options[1], LEFT)
    assert len(said) == 3, "the same answer again is none"
    told = heard(choice.options[1])
    assert told == ("2", Role.RadioButton, "", "Similarity, row 2", 2, 4, True)
    assert taken(choice) == ["2"]
    choice.show_index(None)
    assert taken(choice) == []
    choice.set_locked(True)
    QTest.mouseClick(choice.options[0], LEFT)
    QTest.keyClick(choice, Qt.Key.Key_1)
    assert len(said) == 3


def test_options_with_markup_are_heard_without_it_and_drawn_with_it(show):
    plain = Segments(("It is correct", "It is not"), P, "Q", upright=True)
    marked = Segments(("It is <u>correct</u>", "It is not"), P, "Q", upright=True)
    show(plain, marked)
    assert names(plain) == names(marked) == ["It is correct", "It is not"]
    assert plain.size() == marked.size()
    assert plain.grab().toImage() != marked.grab().toImage()
    assert marked.box(0).bottom() <= marked.box(1).top()


def test_options_break_into_lines_and_choosing_moves_nothing(show):
    texts = ("Not confident at all", "Somewhat confident", "Completely confident")
    one = Segments(texts, P, "Q")
    two = Segments(texts, P, "Q", lines=2)
    show(one, two)
    assert two.width() < 0.75 * one.width()
    assert two.height() > one.height()
    size = two.size()
    two.show_index(1)
    assert two.size() == size


def test_a_question_is_marked_where_its_answer_is_missing(show):
    row = QuestionRow("Which one?", ("1", "2"), P)
    show(row)
    place = row.choice.pos()
    row.mark_missing(True)
    assert row.missing
    assert row.mark.text() == "▸"
    assert row.label.property("tone") == "warn"
    assert row.choice.pos() == place
    row.show_answer(2)
    assert row.choice.index == 1
    row.mark_missing(False)
    assert row.mark.text() == ""


def test_tabs_say_how_much_is_rated(show):
    tabs = ClassTabs(("Species 1", "Species 2"), P, "Rows", "{}: {} of {}".format)
    opened: list[int] = []
    tabs.opened.connect(opened.append)
    show(tabs)
    tabs.show_state(1, ((3, 3), (0, 3)), (False, True))
    assert names(tabs) == ["Species 1: 3 of 3", "Species 2: 0 of 3"]
    assert taken(tabs) == ["Species 1: 3 of 3"]
    QTest.mouseClick(tabs.options[1], LEFT)
    QTest.mouseClick(tabs.options[0], LEFT)
    QTest.keyClick(tabs, Qt.Key.Key_Right)
    QTest.keyClick(tabs, Qt.Key.Key_2)
    assert opened == [2, 2, 2]


@pytest.mark.parametrize("middle", ["", "neither"])
def test_the_colour_bar_names_its_ends(show, middle: str):
    bar = HeatmapBar(
        masked_pictures.table("rdbu_r"), P, "against", "for", middle=middle, remark="same"
    )
    show(bar)
    said = bar.accessibleName()
    assert said == ("against – neither – for. same" if middle else "against – for. same")
    strip = bar.grab().toImage()
    left, right = strip.pixelColor(3, 7), strip.pixelColor(bar.width() - 4, 7)
    assert left.blue() > left.red()
    assert right.red() > right.blue()


def test_what_a_finger_chooses_is_recorded_as_touch(show, qapp):
    choice = Segments(("1", "2", "3"), theme.LIGHT, "Similarity")
    show(choice)
    heard = asked(choice)
    screen = QTest.createTouchDevice()
    option = choice.options[1]
    place = option.rect().center()
    QTest.touchEvent(option.window(), screen).press(0, place, option)
    QTest.touchEvent(option.window(), screen).release(0, place, option)
    qapp.processEvents()
    assert heard == [(1, "touch")]
    QTest.mouseClick(choice.options[2], Qt.MouseButton.LeftButton)
    assert heard == [(1, "touch"), (2, "mouse")]


def test_a_small_picture_keeps_its_pixels_as_squares_where_it_is_asked_for(qapp) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    image = image_of(pixels)
    for squares in (False, True):
        large = scale_image(image, QSize(64, 64), squares=squares)
        colors = {large.pixel(x, y) for x in range(64) for y in range(64)}
        assert (len(colors) == 64) == squares
    half = scale_image(image, QSize(4, 4), squares=True)  # a smaller one is made of means
    assert half.pixel(0, 0) not in {image.pixel(x, y) for x in range(8) for y in range(8)}
