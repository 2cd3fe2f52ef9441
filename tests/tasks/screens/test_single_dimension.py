"""The single-dimension screen on a real session."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.models.representations.decoding import decode_one
from labapp.record.events.commands import HandIn, Next, Pause, Resume
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.screen import ExampleScreen, SingleDimensionScreen
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.screen import Body
from tests.helpers.packages import ring_model
from tests.helpers.rooms import FormulaDecoder, decoder_of, skip_to
from tests.helpers.single import write_single_study
from tests.ui.hearing import names
from tests.ui.keys import focus, press

LEFT = Qt.MouseButton.LeftButton
RINGS = "mnist8k/ss5"


@pytest.fixture
def stage(open_room, open_window, qapp, tmp_path):
    """A room and its window on the first question about wavy lines."""
    room = open_room(write_single_study(tmp_path, practice=True))
    window = open_window(room, "stage-1")
    return room, window


@pytest.fixture
def rings(open_room, open_window, qapp, tmp_path):
    """The same with digits' size, six dials, one of ten values, and exemplars."""
    study = write_single_study(tmp_path, [RINGS], "exemplars")
    room = open_room(study, decoders={RINGS: ring_model(RINGS, 5, 10)})
    window = open_window(room, "stage-1")
    return room, window


def screen_of(window) -> SingleDimensionScreen:
    screen = window.screen_shown
    assert isinstance(screen, SingleDimensionScreen)
    return screen


def question_of(room):
    return room.runner.state.part_state.trial


def answer(room, *, right: bool = True) -> None:
    correct = question_of(room).correct
    for command in (
        Choose(correct if right else int(correct == 0), "mouse"),
        Rate("confidence", 4, "mouse"),
        Rate("understanding", 5, "mouse"),
        HandIn(),
    ):
        room.runner.send(command)


@pytest.mark.parametrize("size", [(911, 512), (960, 540)])
def test_a_small_screen_scrolls_down_only_and_its_picture_can_be_compared(stage, qapp, size):
    """1366×768 at 150 %, and 1920×1080 at 200 %: the picture had 35 pixels, and a bar below."""
    _, window = stage
    window.resize(*size)
    for _ in range(5):
        qapp.processEvents()
    screen = screen_of(window)
    body = window.findChild(Body)
    assert body.verticalScrollBar().isVisible()
    assert not body.horizontalScrollBar().isVisible()
    assert screen.picture.height() >= 128


def test_a_question_by_keyboard_alone(stage):
    room, window = stage
    screen = screen_of(window)
    assert focus() is screen.answers
    question = question_of(room)
    for _ in range(question.correct + 1):
        press(Qt.Key.Key_Right)
    assert screen.answers.index == question.correct
    press(Qt.Key.Key_Tab)
    press(Qt.Key.Key_4)
    press(Qt.Key.Key_Tab)
    press(Qt.Key.Key_Right)
    press(Qt.Key.Key_Tab)
    assert focus() is screen.more
    press(Qt.Key.Key_Space)
    assert question_of(room).resamples == 1
    press(Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is window.bottom.right
    assert window.bottom.right.text() == "Check my answer"
    press(Qt.Key.Key_Return)
    assert question_of(room).right is True
    assert room.last("answer.given") == {
        "choice": question.correct,
        "correct": True,
        "confidence": 4,
        "understanding": 1,
    }
    assert {p["device"] for k, p in room.events if k in ("choice.made", "rating.made")} == {
        "keyboard"
    }
    assert "Correct" in screen.feedback.text()
    assert QApplication.focusWidget() is window.bottom.right
    press(Qt.Key.Key_Return)
    assert question_of(room).number == 2
    assert screen.feedback.text() == ""
    assert focus() is screen.answers


def test_a_question_by_mouse_and_a_wrong_answer_is_told_inline(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    question = question_of(room)
    wrong = int(question.correct == 0)
    QTest.mouseClick(screen.answers.options[wrong], LEFT)
    for rating in screen.ratings.values():
        QTest.mouseClick(rating.row.options[1], LEFT)
    before = [w.geometry() for w in (screen.answers, screen.sheet, screen.picture)]
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert [w.geometry() for w in (screen.answers, screen.sheet, screen.picture)] == before
    names = ("Low", "Medium", "High")
    assert screen.feedback.text() == f"✗ Not correct: it is {names[question.correct]}."
    assert screen.feedback.property("tone") == "alarm"
    QTest.mouseClick(screen.answers.options[2], LEFT)
    QTest.mouseClick(screen.more, LEFT)
    assert question_of(room).choice == wrong, "final"
    assert question_of(room).resamples == 0
    assert {p["device"] for k, p in room.events if k == "choice.made"} == {"mouse"}


def test_what_is_missing_is_said_and_gets_the_focus(stage, qapp):
    room, window = stage
    screen = screen_of(window)
    assert "your answer" in window.bottom.note.text()
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert focus() is screen.answers
    room.runner.send(Choose(0, "mouse"))
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert focus() is screen.ratings["confidence"].row
    assert screen.ratings["confidence"].label.property("tone") == "warn"
    assert room.count("answer.given") == 0


def test_nothing_is_chosen_before_the_hand_chooses(stage):
    _, window = stage
    screen = screen_of(window)
    assert screen.answers.index is None
    assert [rating.row.index for rating in screen.ratings.values()] == [None, None]


def test_the_pictures_are_those_of_the_journal(stage):
    room, _ = stage
    drawn = room.last("question.drawn")
    decoder = decoder_of("sinelines/gt")
    shown = room.runner.pictures
    assert shown is not None
    assert shown.rows.shape == (5, 7, 64)
    np.testing.assert_allclose(shown.question, decode_one(decoder, tuple(drawn["z"])), atol=1e-6)
    for row, column in ((0, 0), (2, 3), (4, 6)):
        z = tuple(drawn["examples"][row][column])
        np.testing.assert_allclose(shown.rows[row, column], decode_one(decoder, z), atol=1e-6)
    room.runner.send(ShowMoreExamples())
    other = room.runner.pictures
    assert other is not None
    assert other.question is shown.question
    z = tuple(room.last("examples.redrawn")["examples"][1][1])
    np.testing.assert_allclose(other.rows[1, 1], decode_one(decoder, z), atol=1e-6)


def test_a_pause_hides_the_question_and_it_is_the_same_afterwards(stage, qapp):
    room, window = stage
    room.runner.send(Choose(1, "mouse"))
    shown = room.runner.pictures
    room.runner.send(Pause("a break"))
    assert window.covered
    room.runner.send(Resume("back"))
    assert not window.covered
    assert room.runner.pictures is shown
    assert screen_of(window).answers.index == 1


def test_everything_fits_and_pictures_are_magnified_whole(rings, qapp):
    room, window = rings
    screen = screen_of(window)
    inside = screen.rect()
    seen = set()
    while room.runner.part is not None and room.runner.part.id == "stage-1":
        qapp.processEvents()
        seen.add(question_of(room).dimension)
        for widget in (screen.picture, screen.answers, screen.feedback, screen.sheet, screen.more):
            corner = widget.mapTo(screen, QPoint(widget.width(), widget.height()))
            assert inside.contains(widget.mapTo(screen, QPoint(0, 0)))
            assert inside.contains(corner), widget
        times = screen.sheet.cell[0] * screen.devicePixelRatioF() / 28
        assert times == round(times)
        assert times >= 1
        answer(room)
        room.runner.send(Next())
    assert seen == set(range(6))


def test_a_discrete_dial_is_asked_by_letters(rings, qapp):
    room, window = rings
    while question_of(room).dimension != 0:
        answer(room)
        room.runner.send(Next())
    screen = screen_of(window)
    assert room.runner.pictures.rows.shape == (10, 8, 28, 28)
    assert names(screen.answers) == list("ABCDEFGHIJ")
    press(Qt.Key.Key_J)
    assert question_of(room).choice == 9
    press(Qt.Key.Key_2)
    assert question_of(room).choice == 1
    press(Qt.Key.Key_K)
    assert question_of(room).choice == 1, "there is no K"
    answer(room, right=False)
    right = "ABCDEFGHIJ"[question_of(room).correct]
    assert screen.feedback.text() == f"✗ Not correct: it is {right}."


def test_the_tutorial_shows_the_pictures_on_its_last_page(open_room, open_window, qapp, tmp_path):
    for number, visualisation in enumerate(("traversals", "exemplars")):
        folder = tmp_path / str(number)
        room = open_room(write_single_study(folder, visualisation=visualisation, practice=True))
        window = open_window(room)
        screen = window.screen_shown
        assert isinstance(screen, ExampleScreen)
        assert not screen.sheet.isVisible()
        room.runner.send(Next())
        qapp.processEvents()
        assert screen.sheet.isVisible()
        assert screen.rect().contains(screen.sheet.geometry())
        room.runner.send(Next())
        assert room.runner.part.id == "practice-intro"


def test_the_moderator_sees_the_question_and_the_right_choice(rings, qapp):
    room, _ = rings
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    console.show()
    try:
        console.refresh()
        mirror = console.mirror

        def facts() -> str:
            return mirror.facts.text

        assert mirror.title.full() == "Stage 1 · Question 1 of 12"
        assert "Chosen: –" in facts()
        discrete = question_of(room).dimension == 0
        names = tuple("ABCDEFGHIJ") if discrete else ("Low", "Medium", "High")
        assert f"Right: {names[question_of(room).correct]}" in facts()
        answer(room, right=False)
        console.refresh()
        assert "✗" in facts()
        assert "Confident: 4 of 5" in facts()
        room.runner.send(Pause("x"))
        console.refresh()
        assert "Confident" not in facts()
    finally:
        console.shut()
        console.deleteLater()


def test_a_question_waits_for_the_pictures_of_a_slow_decoder(
    open_room, open_window, qtbot, tmp_path
):
    may_decode = threading.Event()
    plain = ring_model(RINGS, 5, 10)

    def formula(z):
        assert threading.current_thread() is not threading.main_thread()
        assert may_decode.wait(20)
        return plain.decode(z)

    slow = FormulaDecoder(RINGS, plain.space, plain.latents, formula)
    warmed = DecoderWarmed(RINGS, "cpu", 1, 1, 20.0, 30.0)
    study = write_single_study(tmp_path / "study", [RINGS], "exemplars")
    room = open_room(study, decoders={RINGS: slow}, warmed=(warmed,))
    window = open_window(room)
    skip_to(room, "stage-1")
    assert window.covered
    assert window.cover.accessibleName().startswith("One moment, please")
    may_decode.set()
    qtbot.waitUntil(lambda: not window.covered)
    assert room.count("question.shown") == 1
    screen = screen_of(window)
    assert focus() is screen.answers
    may_decode.clear()
    answer(room)
    assert not window.covered
    room.runner.send(Next())
    assert window.covered, "the next question is not shown with the pictures of this one"
    assert room.count("question.shown") == 1
    may_decode.set()
    qtbot.waitUntil(lambda: not window.covered)
    assert room.count("question.shown") == 2
    assert focus() is screen.answers
