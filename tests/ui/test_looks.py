"""The mirror shows the page, the place scrolled to and the enlargement that the participant has."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.record.events.commands import Pause
from labapp.tasks.judging.events import METHOD, TREE, OpenDescription
from labapp.ui.participant.window import WindowPicture, bars_of, enlarging_of, look_of
from labapp.ui.widgets.photo_view import Enlarger, ZoomView
from tests.helpers.rooms import skip_to
from tests.helpers.studies import write_study
from tests.helpers.unmasking import made, write_unmasking_study
from tests.tasks.screens.test_method import opened as opened
from tests.ui.judging_stage import stage as stage

KINDS = ("window.shown", "screen.page", "screen.scrolled", "screen.enlarged")


def told(window) -> None:
    """What is seen has come to rest, and is told."""
    for _ in range(8):
        QApplication.processEvents()
        window.looks.look()


@pytest.fixture
def mirrored():
    """Follows a window in a picture of it, and says how that looks."""
    pictures: list[WindowPicture] = []

    def follow(window):
        if not pictures:
            pictures.append(WindowPicture(window.session.only_read()))
        for _ in range(8):
            QApplication.processEvents()
            pictures[0].follow()
            pictures[0].draw(window.size(), 1.0)
        top = pictures[0].stack.currentWidget()
        return look_of(window, top)

    yield follow
    for picture in pictures:
        picture.close()


def test_a_long_text_is_scrolled_in_the_mirror_too(open_room, open_window, tmp_path, mirrored):
    room = open_room(write_study(tmp_path / "study", "sinelines/gt"))
    window = open_window(room)
    screen = window.screen_shown
    screen.text.show_text("\n\n".join(f"Paragraph {n}." for n in range(90)))
    window.showNormal()
    told(window)
    bar = bars_of(screen)[0]
    assert bar.maximum() > 300
    bar.setValue(240)
    told(window)
    assert room.last("screen.scrolled") == {"area": 0, "at": 240}
    assert room.runner.state.look == look_of(window, screen)
    assert room.count("screen.scrolled") == 1


def test_a_screen_that_its_window_is_too_small_for_is_scrolled_in_the_mirror_too(stage):
    room, window, screen = stage("heatmaps")
    picture = WindowPicture(window.session.only_read())
    window.resize(window.minimumSize())
    told(window)
    picture.follow()
    for shown in (screen, picture.screen):
        shown.setMinimumSize(2000, 1000)
    told(window)
    down, sideways = bars_of(screen)[-2:]
    down.setValue(120)
    sideways.setValue(340)
    told(window)
    assert room.count("screen.scrolled") == 2
    picture.follow()
    assert [bar.value() for bar in bars_of(picture.screen)[-2:]] == [120, 340]
    picture.close()


def test_an_enlarged_picture_is_mirrored_and_forgotten_with_its_photo(stage, mirrored):
    room, window, screen = stage("heatmaps")
    screen.enlarger.turn()
    screen.enlarger.turn()
    told(window)
    assert room.last("screen.enlarged")["picture"] == screen.enlarger.look[0] > 0
    assert mirrored(window) == look_of(window, screen)
    screen.enlarger.leave()
    told(window)
    assert room.last("screen.enlarged")["picture"] == -1
    assert mirrored(window) == look_of(window, screen)


def test_what_is_missing_is_marked_in_the_mirror_too(stage, mirrored):
    room, window, _ = stage("heatmaps")
    QTest.mouseClick(window.bottom.right, Qt.MouseButton.LeftButton)
    told(window)
    assert room.last("screen.page") == {"page": 0, "reminded": True}
    assert mirrored(window).reminded


def test_an_example_in_the_description_and_the_enlarged_tree_are_mirrored(opened, mirrored):
    room, window = opened("path-distinction")
    skip_to(room, "stage-1")
    room.runner.send(OpenDescription(METHOD))
    QApplication.processEvents()
    window.opened.turn_to(1)
    told(window)
    assert room.last("screen.page")["page"] == 1
    assert mirrored(window) == look_of(window, window.opened)
    room.runner.send(OpenDescription(TREE))
    QApplication.processEvents()
    tree = enlarging_of(window.opened)
    assert isinstance(tree, ZoomView)
    tree.zoom(2.0, None)
    QTest.keyClick(tree, Qt.Key.Key_Left)
    told(window)
    ours, theirs = mirrored(window).enlarged, look_of(window, window.opened).enlarged
    assert ours.picture == theirs.picture == 0
    assert ours.scale == pytest.approx(theirs.scale, abs=0.001)
    assert (ours.x, ours.y) == pytest.approx((theirs.x, theirs.y), abs=0.005)


def test_a_look_costs_an_event_at_most_and_none_where_nobody_sees_it(stage):
    room, window, screen = stage("heatmaps")
    told(window)
    assert isinstance(screen.enlarger, Enlarger)

    def events() -> int:
        return sum(room.count(kind) for kind in KINDS)

    before = events()
    for step in range(20):
        screen.enlarger.turn()
        window.resize(window.width() - 1, window.height())
        screen.reminded = step % 2 == 0
        window.looks.look()
    assert events() - before <= 20
    told(window)
    before = events()
    room.runner.send(Pause("tea"))
    screen.enlarger.leave()
    screen.reminded = not screen.reminded
    told(window)
    assert events() == before


def test_before_consent_only_the_window_and_the_text_are_told_of(open_room, open_window):
    room = open_room()
    window = open_window(room)
    screen = window.screen_shown
    screen.name.setText("Ada Lovelace")
    QTest.mouseMove(window, QPoint(30, 30))
    told(window)
    shown = room.last("window.shown")
    assert (shown["width"], shown["height"]) == (window.width(), window.height())
    assert shown["ratio"] == window.devicePixelRatioF()
    assert "Ada" not in json.dumps(room.events)


def test_where_times_are_measured_only_the_window_is_told_of(open_room, open_window, tmp_path):
    room = open_room(write_unmasking_study(tmp_path / "study", made(tmp_path / "set")))
    window = open_window(room)
    told(window)
    skip_to(room, "stage-1")
    window.showNormal()
    window.resize(1200, 720)
    window.screen_shown.reminded = True
    told(window)
    assert room.count("screen.page") == 0
    shown = room.last("window.shown")
    assert (shown["width"], shown["height"]) == (window.width(), window.height())
