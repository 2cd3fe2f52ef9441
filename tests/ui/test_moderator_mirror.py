"""The mirror on the console follows the participant, over screens that come and go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QScreen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.base.errors import JournalError
from labapp.record.events import Payload, Source
from labapp.record.events.commands import EndSession, Next, Pause, Resume
from labapp.record.events.lifecycle import ScreenChanged
from labapp.session.simulation.simulation_job import Course
from labapp.study.loading import load
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.judging.events import METHOD, TREE, OpenDescription
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.reconstruction.events import MarkAlignment, MoveDial, ToggleOverlay
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.keyboard import NumberCards, ScreenWatcher, choices, choose_screen, name_of
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.window import (
    ParticipantWindow,
    WindowPicture,
    bars_of,
    enlarging_of,
    look_of,
)
from labapp.ui.preview import open_preview
from labapp.ui.widgets.photo_view import Enlarger, ZoomView
from tests.helpers.questionnaires import own_study, questionnaire_study
from tests.helpers.rooms import Room, skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.helpers.unmasking import made, write_unmasking_study
from tests.tasks.screens.test_method import opened as opened
from tests.ui.desk import Desk, closed_forms
from tests.ui.judging_stage import stage as stage


def test_the_mirror_is_the_participants_screen(desk: Desk) -> None:
    runner, mirror = desk.runner, desk.console.mirror
    desk.console.refresh()
    picture = mirror.shown.picture
    assert picture is not None
    assert isinstance(picture.screen, ConsentScreen)
    assert mirror.title.full() == "Consent"
    assert mirror.facts.text == "The participant is reading and signing the consent form."
    skip_to(desk.room, "stage-1")
    desk.console.refresh()
    before = runner.state.part_state.trial
    runner.send(MoveDial(1, before.z[1] + 0.25, "mouse"))
    runner.send(ToggleOverlay(on=False))
    desk.console.refresh()
    trial, screen = runner.state.part_state.trial, picture.screen
    assert isinstance(screen, ReconstructionScreen)
    assert [row.control.shown for row in screen.dials.rows] == pytest.approx(trial.z)
    percent = f"{trial.alignment * 100:.1f}"
    assert f"{percent}\N{NO-BREAK SPACE}% / 90 %" in mirror.facts.text.replace(" % /", "\xa0% /")
    assert "In the hand: Slider 2, " in mirror.facts.text
    assert mirror.title.full() == "Stage 1 · Question 1 of 5"
    solve(desk.room)
    desk.console.refresh()
    assert "✓ matched" in mirror.facts.text
    runner.send(Pause("x"), Source.MODERATOR)
    desk.console.refresh()
    assert mirror.facts.text.startswith("Paused\n")
    assert picture.stack.currentWidget() is picture.cover
    runner.send(Resume("x"), Source.MODERATOR)
    desk.console.refresh()
    assert picture.stack.currentWidget() is screen


def test_the_mirror_looks_like_the_window(
    open_room: Callable[..., Room], open_window: Callable[[Room], ParticipantWindow]
) -> None:
    """Dot for dot, save for the focus ring, the caret and where the pointer is."""
    room = open_room("quickstart", clock=FakeClock(), decoders=closed_forms())
    window = open_window(room)
    picture = WindowPicture(window.session.only_read())
    for part in ("consent", "tutorial", "stage-1", "stage-1-seq", "debrief"):
        if room.runner.part is not None and room.runner.part.id != part:
            skip_to(room, part)
        for _ in range(8):
            QTest.qWait(10)
            window.looks.look()
            picture.follow()
            picture.draw(window.size(), 1.0)
        window.setFocus()
        ours = picture.draw(window.size(), 1.0).toImage().convertToFormat(RGB)
        theirs = window.grab().toImage().convertToFormat(RGB)
        assert ours.size() == theirs.size()
        assert differing(ours, theirs) < 0.002, part
    picture.close()


@pytest.mark.parametrize("size", [(1366, 768), (900, 560)])
def test_the_mirror_looks_like_the_window_on_every_screen_of_a_study(
    size: tuple[int, int], qapp: QApplication
) -> None:
    """Pages, a method with a task to try, a warm-up, photos, questionnaires: all as large as in the
    window, however often either was laid out."""
    with open_preview(load("prototree-agreement-tree"), None, None) as preview:
        preview.course = Course(preview.runner.machine)  # nobody has to go through it first
        window = preview.window
        window.resize(*size)
        window.show()
        picture = WindowPicture(window.session.only_read())
        faults = []
        for place in preview.places:
            preview.show(place)
            for _ in range(8):
                qapp.processEvents()
                window.looks.look()
                picture.follow()
                ours = picture.draw(window.size(), 1.0).toImage().convertToFormat(RGB)
            window.setFocus()
            theirs = window.grab().toImage().convertToFormat(RGB)
            if differing(ours, theirs) > 0.0005:
                faults.append(place.file)
        picture.close()
    assert faults == []


RGB = QImage.Format.Format_RGB32


def differing(one: QImage, two: QImage) -> float:
    """The share of pixels that differ visibly."""
    pixels = [
        np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1).astype(int)
        for image in (one, two)
    ]
    return float(np.mean(np.abs(pixels[0] - pixels[1]) > 24))


def test_nothing_typed_reaches_the_mirror(
    open_room: Callable[..., Room], open_window: Callable[[Room], ParticipantWindow]
) -> None:
    room = open_room("quickstart", clock=FakeClock(), decoders=closed_forms())
    window = open_window(room)
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    console.show()
    screen = window.screen_shown
    assert isinstance(screen, ConsentScreen)
    assert screen.name is not None
    screen.name.setText("Ada Lovelace")
    console.refresh()
    picture = console.mirror.shown.picture
    assert picture is not None
    assert isinstance(picture.screen, ConsentScreen)
    assert picture.screen.name is not None
    assert picture.screen.name.text() == ""
    console.shut()
    assert console.mirror.shown.picture is None
    console.deleteLater()
    window.activateWindow()


OWN = """
id: feelings
version: 1
title: Who are you, and how was it?
source: Made for the tests.
items:
  - {id: mail, kind: written, text: Your address}
  - {id: town, kind: written, identifying: yes, text: Your town}
  - {id: mood, kind: written, identifying: no, text: Your mood}
  - {id: easy, kind: statement, text: It was easy, points: 5, low: not at all, high: very}
"""


def test_what_an_item_declares_says_whether_the_mirror_shows_its_answer(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    clock = FakeClock()
    study = own_study(tmp_path / "study", OWN)
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    for item, answer in (("mail", "ada@x.org"), ("town", "Potsdam"), ("mood", "good"), ("easy", 4)):
        desk.runner.send(Answer(item, answer))
    desk.console.refresh()
    text = desk.console.mirror.facts.text
    assert "identify somebody are hidden" in text
    for line in ("Your address   ✓", "Your town   ✓", "Your mood   good", "It was easy   4"):
        assert line in text
    assert "ada" not in text


def test_the_mirror_never_shows_who_the_participant_is(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    clock = FakeClock()
    study = questionnaire_study(tmp_path, ["demographics", "nasa-tlx"])
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    desk.console.refresh()
    picture = desk.console.mirror.shown.picture
    assert picture is not None
    sheet = picture.screen
    assert isinstance(sheet, QuestionnaireScreen)
    empty = [view.grab().toImage() for view in sheet.items]
    own = {"chosen": ["self_described"], "described": "a secret of mine"}
    desk.runner.send(Answer("gender", own))
    desk.runner.send(Answer("age", {"chosen": ["from_18_to_34"]}))
    desk.console.refresh()
    text = desk.console.mirror.facts.text
    assert [view.grab().toImage() for view in sheet.items] == empty
    assert "Answered: 2 of 4" in text
    assert "identify somebody are hidden" in text
    assert "Age   ✓" in text
    assert "Geographic Location   –" in text
    for told in ("18", "secret", "described", "Self"):
        assert told not in text
    desk.runner.send(Next())
    desk.runner.send(Answer("effort", 12))
    desk.console.refresh()
    text = desk.console.mirror.facts.text
    assert "Answered: 1 of 6" in text
    assert "Effort   12" in text


def test_the_mirror_counts_the_marks_of_a_calibration(
    open_room: Callable[..., Room], tmp_path: Path
) -> None:
    model = "mnist8k/ss5"
    study = write_study(tmp_path, model, marks=True)
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock, decoders={model: ring_decoder(model, 3, 10)}), clock)
    desk.room.session.begin()
    skip_to(desk.room, "stage-1")
    for _ in range(2):
        desk.runner.send(MarkAlignment("far"))
    desk.console.refresh()
    mirror = desk.console.mirror.facts
    assert "/" not in mirror.text
    assert "marked: far away 2, close enough 0" in mirror.text
    assert desk.console.timeline.signs.text().startswith("⬢ answer   ● note")


def test_a_break_is_no_pause_in_the_mirror(open_room: Callable[..., Room], tmp_path: Path) -> None:
    study = tmp_path / "rest.yaml"
    study.write_text(
        "id: rest\ntitle: A rest\nversion: 1\nflow:\n"
        "  - break: shipped:consent\n    at_least_s: 90\n  - questionnaire: shipped:seq\n"
    )
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock), clock)
    desk.room.session.begin()
    desk.console.refresh()
    assert desk.console.mirror.title.full() == "Break"
    assert "may continue after 1:30" in desk.console.mirror.facts.text


def test_the_mirror_does_not_call_kept_what_is_deleted(desk: Desk) -> None:
    desk.runner.send(EndSession("withdraws", "delete"), Source.MODERATOR)
    desk.console.refresh()
    assert desk.console.mirror.facts.text.endswith(
        "Everything recorded is deleted when you close the console."
    )


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


class Plugs(QObject):
    """The real screens, plugged in and out by hand."""

    screenAdded = Signal(object)
    screenRemoved = Signal(object)

    def __init__(self, screens: list[QScreen]) -> None:
        super().__init__()
        self.plugged = list(screens)

    def screens(self) -> list[QScreen]:
        return list(self.plugged)

    def unplug(self, screen: QScreen) -> None:
        self.plugged.remove(screen)
        self.screenRemoved.emit(screen)

    def plug(self, screen: QScreen) -> None:
        self.plugged.append(screen)
        self.screenAdded.emit(screen)


@pytest.fixture
def two() -> list[QScreen]:
    screens = QGuiApplication.screens()
    assert len(screens) == 2
    return screens


@pytest.fixture
def windows(qapp: QApplication) -> Iterator[tuple[QWidget, QWidget]]:
    made = QLabel("participant"), QLabel("console")
    yield made
    for window in made:
        window.close()
        window.deleteLater()


class Setup:
    def __init__(self, screens: list[QScreen], emit: Callable[[Payload], None]) -> None:
        self.plugs = Plugs(screens)
        self.watcher = ScreenWatcher(emit, self.plugs)


def test_choices_and_the_preferred_screen(two: list[QScreen]) -> None:
    first, second = choices(two)
    assert (first.number, first.name, first.width, first.height) == (1, "first", 1366, 768)
    assert second.label == "2 · second · 1920 × 1080"
    assert choose_screen(two, two[0]) == "second"
    assert choose_screen(two[:1], two[0]) == "first"
    assert choose_screen([], None) is None


def test_two_screens_one_window_on_each(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    setup = Setup(two, lambda payload: None)
    setup.watcher.attach(participant, console, "second")
    assert participant.isFullScreen()
    assert participant.geometry() == two[1].geometry()
    assert two[0].geometry().contains(console.geometry().center())
    assert not setup.watcher.alone
    setup.watcher.detach()


def test_without_a_name_the_primary_screen_is_the_moderators(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    """As the home chooses: `labapp run` and `sessions resume` name no screen."""
    participant, console = windows
    primary = QGuiApplication.primaryScreen()
    other = next(screen for screen in two if screen is not primary)
    for order in (two, two[::-1]):
        setup = Setup(order, lambda payload: None)
        setup.watcher.attach(participant, console)
        assert setup.watcher.screen_of(participant) is other
        assert setup.watcher.screen_of(console) is primary
        assert participant.geometry() == other.geometry()
        assert setup.watcher.where == (
            f"Screens: participant on {name_of(other)}, console on {name_of(primary)}."
        )
        setup.watcher.detach()
        participant.hide()
        console.hide()


def test_the_participants_screen_is_unplugged(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(participant, console, "second")
    setup.plugs.unplug(two[1])
    assert events == [ScreenChanged("removed", "second", 1)]
    assert participant.isFullScreen()
    assert participant.geometry() == two[0].geometry()
    assert setup.watcher.alone
    setup.plugs.plug(two[1])
    assert events[1:] == [ScreenChanged("added", "second", 2)]
    # The participant stays; the console takes the screen that came back.
    assert participant.geometry() == two[0].geometry()
    assert two[1].geometry().contains(console.geometry().center())
    setup.watcher.detach()


def test_the_consoles_screen_is_unplugged(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(participant, console, "second")
    setup.plugs.unplug(two[0])
    assert participant.geometry() == two[1].geometry()
    assert two[1].geometry().contains(console.geometry().center())
    setup.watcher.detach()


def test_the_last_screen_goes_and_comes_back(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    participant, console = windows
    events: list[Payload] = []
    setup = Setup(two[:1], events.append)
    setup.watcher.attach(participant, console)
    assert setup.watcher.alone
    setup.plugs.unplug(two[0])
    assert setup.watcher.screen_of(participant) is None
    setup.plugs.plug(two[1])
    assert participant.geometry() == two[1].geometry()
    assert setup.watcher.screen_of(console) is two[1]
    setup.watcher.detach()


def test_a_detached_watcher_is_quiet(two: list[QScreen], windows: tuple[QWidget, QWidget]) -> None:
    events: list[Payload] = []
    setup = Setup(two, events.append)
    setup.watcher.attach(*windows)
    setup.watcher.detach()
    setup.plugs.unplug(two[1])
    assert events == []


def test_a_screen_that_goes_while_the_session_closes_is_no_crash(
    two: list[QScreen], windows: tuple[QWidget, QWidget]
) -> None:
    def refuse(payload: Payload) -> None:
        raise JournalError("The journal is closed.")

    setup = Setup(two, refuse)
    setup.watcher.attach(*windows, "second")
    setup.plugs.unplug(two[1])
    assert windows[0].geometry() == two[0].geometry()
    setup.watcher.detach()


def test_by_default_it_watches_the_application(qapp: QApplication) -> None:
    events: list[Payload] = []
    watcher = ScreenWatcher(events.append)
    qapp.screenRemoved.emit(qapp.screens()[1])
    assert [payload.as_dict()["change"] for payload in events] == ["removed"]
    qapp.screenRemoved.disconnect(watcher._on_screen_removed)
    qapp.screenAdded.disconnect(watcher._on_screen_added)


def test_an_unplugged_screen_is_an_alarm_on_the_console_and_an_event(
    open_room: Callable[..., Room], two: list[QScreen], windows: tuple[QWidget, Any]
) -> None:
    room = open_room()
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    room.session.begin()
    setup = Setup(two, room.runner.emit)
    setup.watcher.attach(windows[0], console, "second")
    setup.plugs.unplug(two[1])
    console.refresh()
    assert room.last("screen.changed")["screen"] == "second"
    said = console.alarms.chips[0].text.text()
    assert said.startswith(
        "Screen second was unplugged: one screen is left. Plug the screen back in"
    )
    setup.watcher.detach()


def test_numbered_cards_stand_on_their_screens_and_go_by_themselves(
    two: list[QScreen], qtbot: QtBot
) -> None:
    cards = NumberCards()
    cards.show(two, seconds=0.05)
    shown = list(cards.cards)
    assert [card.findChildren(QLabel)[0].text() for card in shown] == ["1", "2"]
    for card, screen in zip(shown, two, strict=True):
        assert screen.geometry().contains(card.geometry())
    assert name_of(two[1]) in shown[1].findChildren(QLabel)[1].text()
    qtbot.waitUntil(lambda: cards.cards == [])
    cards.show(two)
    cards.hide()
    assert cards.cards == []
