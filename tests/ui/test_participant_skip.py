"""A question that was skipped waits under a cover, and whoever is asked whether to leave stands
still; by mouse and by keyboard, in the real window."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import Pause, Resume, SkipStage, Tick
from labapp.session.machine import TAKE_BACK_NS
from tests.helpers.rooms import skip_to
from tests.helpers.studies import ring_decoder, write_study

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key


@pytest.fixture
def opens(open_room, open_window, qapp, tmp_path):
    """A room whose time is moved by hand, and its window on the first question of a stage."""

    def made(**settings: Any):
        study = write_study(tmp_path, "dsprites/ae", labels="editable", **settings)
        decoders = {"dsprites/ae": ring_decoder("dsprites/ae", 5)}
        room = open_room(study, decoders=decoders, clock=FakeClock())
        window = open_window(room)
        skip_to(room, "stage-1")
        qapp.processEvents()
        return room, window

    return made


def focus() -> QWidget | None:
    return QApplication.focusWidget()


def press(*keys: Qt.Key) -> None:
    for key in keys:
        widget = focus()
        assert widget is not None, "the keyboard leads somewhere"
        QTest.keyClick(widget, key)
        QApplication.processEvents()


def wait(room: Any, seconds: float) -> None:
    """Time passes, as the runner's timer would tell."""
    room.clock.advance(seconds)
    room.runner.send(Tick(), Source.SYSTEM)
    QApplication.processEvents()


def trial(room: Any) -> Any:
    return room.runner.state.part_state.trial


def skip_by_keyboard(window: Any) -> None:
    window.bottom.left.setFocus()
    press(KEY.Key_Return)


def test_nothing_of_the_next_question_shows_before_the_skip_is_confirmed(opens) -> None:
    room, window = opens()
    drawn = room.count("trial.drawn")
    pictures = room.runner.pictures
    skip_by_keyboard(window)
    assert window.covered
    assert "Question skipped" in window.cover.accessibleName()
    assert window.cover.back.isVisible()
    assert not window.screen_shown.isVisible()
    assert not window.bottom.left.isVisible()
    assert not window.bottom.right.isVisible()
    wait(room, 2.9)
    assert room.count("trial.drawn") == drawn
    assert room.runner.pictures is pictures, "nothing is decoded"
    assert room.count("trial.ended") == 0
    wait(room, 0.2)
    assert room.last("trial.ended") == {"outcome": "skipped"}
    assert trial(room).number == 2
    assert not window.covered
    assert not window.cover.back.isVisible()


@pytest.mark.parametrize("how", ["mouse", KEY.Key_Return, KEY.Key_Space, KEY.Key_Escape])
def test_taken_back_the_question_is_as_it_was(opens, how: str | Qt.Key) -> None:
    room, window = opens()
    before = trial(room)
    working = room.runner.state.pauses.working_ns(room.clock.now_ns())
    confirmed = room.count("skip.confirmed")
    skip_by_keyboard(window)
    wait(room, 2)
    if isinstance(how, str):
        QTest.mouseClick(window.cover.back, LEFT)
    else:
        assert focus() is window.cover.back
        press(how)
    assert room.last("skip.taken_back") == {"what": "trial"}
    assert room.count("close.requested") == 0, "Escape takes back and asks nothing"
    assert trial(room) == before
    assert not window.covered
    assert focus() is window.screen_shown.dials.rows[0].control, "not on Skip"
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working
    wait(room, 2 * TAKE_BACK_NS / 1e9)
    assert room.count("skip.confirmed") == confirmed


@pytest.mark.parametrize("presentation", ["improved", "as_published"])
def test_the_focus_never_comes_back_to_skip(opens, presentation: str) -> None:
    room, window = opens(presentation=presentation)
    for number in (2, 3):
        skip_by_keyboard(window)
        assert focus() is not window.bottom.left
        wait(room, 3.1)
        assert trial(room).number == number
        assert focus() is window.screen_shown.dials.rows[0].control
        press(KEY.Key_Return, KEY.Key_Return)
        assert trial(room).number == number, "the second Enter skips nothing"


def test_as_published_there_is_no_cover(opens) -> None:
    room, window = opens(presentation="as_published")
    asked = room.count("skip.requested")
    QTest.mouseClick(window.bottom.left, LEFT)
    assert room.count("skip.requested") == asked
    assert trial(room).number == 2
    assert not window.covered


def test_a_pause_takes_the_skip_back(opens, qapp) -> None:
    room, window = opens()
    skip_by_keyboard(window)
    room.runner.send(Pause("knock"), Source.MODERATOR)
    qapp.processEvents()
    assert "A short pause" in window.cover.accessibleName()
    assert not window.cover.back.isVisible()
    room.runner.send(Resume("on"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.covered
    assert trial(room).number == 1
    assert focus() is window.screen_shown.dials.rows[0].control


def test_a_part_that_the_moderator_skips_is_covered_without_a_button(opens, qapp) -> None:
    room, window = opens()
    room.runner.send(SkipStage(), Source.MODERATOR)
    qapp.processEvents()
    assert window.covered
    assert not window.cover.back.isVisible()
    assert "Question skipped" not in window.cover.accessibleName()
    wait(room, 3.1)
    assert room.last("part.ended")["outcome"] == "skipped"


def test_dials_stand_still_while_the_participant_is_asked_to_leave(opens, qapp) -> None:
    room, window = opens()
    dial = window.screen_shown.dials.rows[1].control
    value, moved = dial.shown, room.count("dial.moved")
    working = room.runner.state.pauses.working_ns(room.clock.now_ns())
    press(KEY.Key_Escape)
    assert focus() is window.leave.stay
    room.clock.advance(30)
    for x in (10, dial.width() - 10):
        QTest.mouseClick(dial, LEFT, pos=QPoint(x, dial.height() // 2))
    QTest.keyClick(dial, KEY.Key_PageUp)
    QTest.mouseClick(window.bottom.left, LEFT)
    qapp.processEvents()
    for _ in range(8):
        press(KEY.Key_Tab)
        assert window.leave.isAncestorOf(focus()), "the focus stays in the question"
    assert (dial.shown, room.count("dial.moved")) == (value, moved)
    assert room.count("trial.ended") == 0
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working
    window.leave.stay.setFocus()
    press(KEY.Key_Return)
    assert room.count("close.withdrawn") == 1
    assert not window.leave.isVisible()
    assert not room.runner.state.pauses.held
    press(KEY.Key_PageUp)
    assert room.runner.state.pauses.working_ns(room.clock.now_ns()) == working


def test_a_name_that_is_written_is_kept_when_its_writer_asks_to_leave(opens, qapp) -> None:
    room, window = opens()
    row = window.screen_shown.dials.rows[1]
    row.name.edit()
    QTest.keyClicks(row.name.editor, "width")
    window.close()
    qapp.processEvents()
    assert room.last("label.edited")["text"] == "width"
    kinds = [kind for kind in room.kinds() if kind in ("label.edited", "close.requested")]
    assert kinds == ["label.edited", "close.requested"]
    window.leave.stay.click()
    assert row.name.text == "width"


def test_a_pause_puts_an_end_to_the_question_whether_to_leave(opens, qapp) -> None:
    room, window = opens()
    press(KEY.Key_Escape)
    room.runner.send(Pause("they talk"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.leave.isVisible()
    room.runner.send(Resume("on"), Source.MODERATOR)
    qapp.processEvents()
    assert not window.leave.isVisible()
    assert window.stack.isEnabled()
    assert not room.runner.state.pauses.held
