"""Screens of payment, breaks and calibration."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Next, Pause, Resume
from labapp.tasks.pages.screen import PagesScreen
from labapp.tasks.reconstruction.screen.matching import CalibrationScreen
from labapp.tasks.resting.screen import BreakScreen
from labapp.ui import theme
from labapp.ui.participant.window import WindowPicture
from tests.helpers.languages import translated
from tests.helpers.rooms import skip_to, solve
from tests.helpers.studies import ring_decoder, write_study
from tests.tasks.screens.test_reconstruction import geometry

PAID = """\
incentive: {text: "texts/{language}/incentive-bonus.md", base: 3.75, per_solved: 0.15}
flow:
  - consent: texts/{language}/consent.md
"""

DEBRIEF = "  - debrief: texts/{language}/debrief.md\n"


def shown(window, qapp) -> str:
    qapp.processEvents()
    screen = window.screen_shown
    assert isinstance(screen, PagesScreen)
    return screen.text.toPlainText()


@pytest.mark.parametrize(
    ("language", "offer", "base_only", "with_bonus"),
    [
        ("en", "$0.15 is added", "Your payment: $3.75", "$3.90 ($3.75 and a bonus of $0.15)"),
        ("de", "kommen $0,15 hinzu", "Ihre Vergütung: $3,75", "$3,90 ($3,75 und ein Bonus"),
    ],
)
@pytest.mark.parametrize("solves", [False, True])
def test_the_payment_is_told(
    open_room, open_window, qapp, tmp_path, language, offer, base_only, with_bonus, solves
):
    study = write_study(tmp_path, "sinelines/gt")
    study.write_text(study.read_text().replace("flow:\n", PAID) + DEBRIEF)
    room = open_room(translated(study, language))
    window = open_window(room)
    skip_to(room, "incentive")
    told = shown(window, qapp)
    assert offer in told
    assert "{" not in told
    assert "0.00" not in told
    assert len(told.splitlines()) == 4, "nothing of answers: there are no such questions"
    skip_to(room, "stage-1")
    if solves:
        solve(room)
        room.runner.send(Next())
    skip_to(room, "debrief")
    assert (with_bonus if solves else base_only) in shown(window, qapp)
    room.runner.send(Next())
    assert room.last("payment.computed")["total"] == (3.9 if solves else 3.75)


def test_a_study_that_pays_nothing_tells_nothing(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "debrief")
    assert "payment" not in shown(window, qapp)


STUDY = """\
id: with-break
title: A study with a break
version: 1
flow:
  - text: shipped:consent
  - break: shipped:consent
    at_least_s: {seconds}
  - questionnaire: shipped:seq
"""


@pytest.fixture
def rest(open_room, open_window, qapp, tmp_path: Path):
    """Opens a break of at least so many seconds: its room and window."""

    def open_one(seconds: float):
        study = tmp_path / "with-break.yaml"
        study.write_text(STUDY.format(seconds=seconds))
        room = open_room(study, clock=FakeClock())
        window = open_window(room, "break-1")
        assert isinstance(window.screen_shown, BreakScreen)
        return room, window

    return open_one


def look(window, qapp) -> None:
    window.screen_shown._look()
    qapp.processEvents()


def test_the_participant_goes_on_after_the_least_time(rest, qapp):
    room, window = rest(90)
    assert not window.covered
    assert window.bottom.note.text() == "You can continue in 1:30."
    assert not window.bottom.right.isEnabled()
    room.clock.advance(85.5)
    look(window, qapp)
    assert window.bottom.note.text() == "You can continue in 0:05."
    window.screen_shown.right()  # too early: nothing
    assert room.runner.part.id == "break-1"
    room.clock.advance(4.5)
    look(window, qapp)
    assert window.bottom.note.text() == ""
    assert QApplication.focusWidget() is window.bottom.right
    before = room.runner.state.pauses.total_ns
    QTest.keyClick(window.bottom.right, Qt.Key.Key_Return)
    qapp.processEvents()
    assert room.runner.part.id == "questionnaire-1"
    assert room.runner.state.pauses.total_ns - before == 90 * 10**9, "which counts in no duration"
    assert not room.runner.state.pauses.paused


def test_a_break_without_least_time_is_left_at_once(rest, qapp):
    room, window = rest(0)
    assert window.bottom.right.isEnabled()
    assert QApplication.focusWidget() is window.bottom.right
    QTest.mouseClick(window.bottom.right, Qt.MouseButton.LeftButton)
    assert room.runner.part.id == "questionnaire-1"


def test_the_moderator_ends_a_break_at_once(rest, qapp):
    room, _ = rest(600)
    room.runner.send(Resume("ready"), Source.MODERATOR)
    qapp.processEvents()
    assert room.runner.part.id == "questionnaire-1"


def test_a_session_can_end_in_a_break(rest, qapp):
    room, window = rest(600)
    room.runner.send(EndSession("no time left"), Source.MODERATOR)
    qapp.processEvents()
    assert window.covered
    assert not window.bottom.note.text()


LEFT = Qt.MouseButton.LeftButton

MODEL = "mnist8k/ss10"


@pytest.fixture
def calibration(open_room, open_window, qapp, tmp_path):
    """A room and its window on a calibration with dials that can be renamed."""
    study = write_study(tmp_path, MODEL, labels="editable", skip="after", marks=True)
    room = open_room(study, decoders={MODEL: ring_decoder(MODEL, 10, 10)}, clock=FakeClock())
    window = open_window(room, "stage-1")
    return room, window


def screen_of(window) -> CalibrationScreen:
    screen = window.screen_shown
    assert isinstance(screen, CalibrationScreen)
    return screen


def test_there_is_no_target_mark(calibration):
    _, window = calibration
    bar = screen_of(window).bar
    assert bar.accessibleDescription() == bar.percent


def test_marks_by_mouse_lead_on_and_nothing_shifts(calibration, qapp):
    room, window = calibration
    screen = screen_of(window)
    before = geometry(window)
    assert "at least once" in screen.marks.line.text()
    QTest.mouseClick(screen.marks.buttons["far"], LEFT)
    qapp.processEvents()
    marked = room.last("alignment.marked")
    assert (marked["mark"], marked["alignment"]) == (
        "far",
        room.runner.state.part_state.trial.alignment,
    )
    assert screen.marks.line.text() == "Marked: Far away (1). Still to mark: Close enough."
    assert not window.bottom.right.isEnabled()
    solve(room)
    assert all(not row.control.locked for row in screen.dials.rows)
    QTest.mouseClick(screen.marks.buttons["close"], LEFT)
    QTest.mouseClick(screen.marks.buttons["close"], LEFT)
    qapp.processEvents()
    assert screen.marks.line.text() == "Marked: Close enough (2). You can mark again or continue."
    assert geometry(window) == before
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert room.last("trial.ended") == {"outcome": "marked"}
    assert room.runner.state.part_state.trial.number == 2
    assert "at least once" in screen.marks.line.text()
    assert not window.bottom.right.isEnabled()


def test_marks_by_key_keep_the_hand_on_its_dial(calibration, qapp):
    room, window = calibration
    dial = screen_of(window).dials.rows[2].control
    dial.setFocus()
    QTest.keyClick(dial, Qt.Key.Key_F)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.keyClick(dial, Qt.Key.Key_Right)
    QTest.keyClick(dial, Qt.Key.Key_C)  # what the hand did is sent before its mark
    assert room.count("alignment.marked") == 2
    assert room.last("alignment.marked")["mark"] == "close"
    assert room.last("alignment.marked")["z_seq"] == 2
    assert QApplication.focusWidget() is dial
    assert window.bottom.right.isEnabled()


def test_letters_of_a_name_mark_nothing(calibration, qapp):
    room, window = calibration
    screen = screen_of(window)
    screen.dials.rows[1].name.edit()
    qapp.processEvents()
    QTest.keyClicks(QApplication.focusWidget(), "fc")
    assert room.count("alignment.marked") == 0


def test_mark_keys_and_arrow_keys_work_wherever_the_focus_is(calibration, qapp):
    room, window = calibration
    dial = screen_of(window).dials.rows[2].control
    dial.setFocus()
    before = dial.shown
    for place in (window, screen_of(window).marks.buttons["far"]):
        place.setFocus()
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_F)
        assert QApplication.focusWidget() is place
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Right)
        assert QApplication.focusWidget() is dial
    assert room.count("alignment.marked") == 2
    assert dial.shown == pytest.approx(before + 2 * dial.dimension.step)


def test_a_long_text_has_the_height_of_its_page_before_it_scrolls(open_room, open_window, qapp):
    """Also in small windows; in sessions that were recorded earlier it had half of it."""
    room = open_room()
    window = open_window(room)
    window.resize(1366, 768)
    skip_to(room, "debrief")
    shown(window, qapp)
    text, page = window.screen_shown.text, window.screen_shown
    text.show_text("\n\n".join(["A paragraph of this text."] * 14))
    qapp.processEvents()
    assert not text.verticalScrollBar().maximum()
    text.show_text("\n\n".join(["A paragraph of this text."] * 60))
    qapp.processEvents()
    assert text.verticalScrollBar().maximum()
    assert text.height() > 0.9 * page.contentsRect().height() - 2 * theme.SPACE_XL


def test_the_bar_stays_in_a_pause_wherever_a_replay_came_from(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    room.runner.send(Pause("technical"))
    qapp.processEvents()
    picture = WindowPicture(window.session.only_read())
    picture.follow_at_once()
    assert window.covered
    head = [label.text() for label in window.top.findChildren(QLabel)]
    assert [label.text() for label in picture.top.findChildren(QLabel)] == head
    assert any("1" in text for text in head), "the number of the stage"
    picture.close()
