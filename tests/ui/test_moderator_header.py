"""The console's top line: pausing with and without a reason, skipping, ending, withdrawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import ConfirmSkip, EndSession, GiveConsent, Pause
from labapp.record.events.voice import AudioStarted
from labapp.ui.language import tr
from labapp.ui.moderator.mirror import FACTS_WIDTH
from labapp.ui.moderator.wording import PAUSE_REASONS
from tests.helpers.rooms import Room, skip_to
from tests.helpers.skips import skip_stage
from tests.helpers.studies import write_study
from tests.ui.desk import Desk, closed_forms

LEFT = Qt.MouseButton.LeftButton


def paused_for(desk: Desk) -> list[Any]:
    return [payload["reason"] for kind, payload in desk.room.events if kind == "session.paused"]


def test_the_clock_is_working_time_and_stops_at_the_end(desk: Desk, qtbot: QtBot) -> None:
    header = desk.console.header
    desk.wait(100)
    assert header.elapsed.text() == "00:01:40"
    desk.runner.send(Pause("moderator"), Source.MODERATOR)
    desk.wait(1000)
    assert header.elapsed.text() == "00:01:40"
    assert (header.pause.text(), header.recording.text()) == ("Continue", "‖ paused, 16:40")
    qtbot.mouseClick(header.pause, LEFT)
    desk.wait(5)
    assert (header.elapsed.text(), header.pause.text()) == ("00:01:45", "Pause")
    desk.runner.send(EndSession("enough"), Source.MODERATOR)
    desk.wait(50)
    assert header.elapsed.text() == "00:01:45"
    assert header.recording.text() == "■ ended: enough"


def test_pause_pauses_at_once_asks_why_and_pressed_once_more_goes_on(
    desk: Desk, qtbot: QtBot
) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.pause, LEFT)
    assert paused_for(desk) == ["moderator"]
    assert header.reasons.isVisible()
    desk.wait(3)
    assert (header.pause.text(), header.recording.text()) == ("Continue", "‖ paused, 0:03")
    qtbot.mouseClick(header.pause, LEFT)
    assert not header.reasons.isVisible()
    assert not desk.runner.state.pauses.paused


def test_a_double_click_on_pause_pauses(desk: Desk, qtbot: QtBot) -> None:
    pause = desk.console.header.pause
    qtbot.mouseClick(pause, LEFT)
    # As the system sends the second half of a double click.
    where = QPointF(pause.rect().center())
    for kind in (QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease):
        at, none = pause.mapToGlobal(where), Qt.KeyboardModifier.NoModifier
        held = LEFT if kind == QEvent.Type.MouseButtonDblClick else Qt.MouseButton.NoButton
        QApplication.sendEvent(pause, QMouseEvent(kind, where, at, LEFT, held, none))
    assert paused_for(desk) == ["moderator"]
    assert desk.runner.state.pauses.paused


@pytest.mark.parametrize("width", [900, 1366, 1920])
def test_pause_stays_in_its_place_when_it_asks_why(desk: Desk, qtbot: QtBot, width: int) -> None:
    header = desk.console.header
    desk.console.resize(width, 700)
    QApplication.processEvents()
    at = header.pause.mapTo(desk.console, header.pause.rect().center())
    qtbot.mouseClick(header.pause, LEFT)
    QApplication.processEvents()
    assert header.reasons.isVisible()
    pressed = desk.console.childAt(at)
    assert pressed is header.pause


def test_the_pause_key_pauses_and_goes_on(desk: Desk, qtbot: QtBot) -> None:
    field = desk.console.notes.input
    field.setFocus()
    for times in (1, 2):
        qtbot.keyClick(field, Qt.Key.Key_F9)
        assert field.hasFocus()  # what is being written goes on
        assert paused_for(desk) == ["moderator"] * times
        desk.wait(1)
        qtbot.keyClick(field, Qt.Key.Key_F9)
        assert not desk.runner.state.pauses.paused


@pytest.mark.parametrize(("place", "reason"), list(enumerate(PAUSE_REASONS)))
def test_a_reason_takes_one_click_and_no_plain_key(
    desk: Desk, qtbot: QtBot, place: int, reason: str
) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.pause, LEFT)
    for key in (Qt.Key(Qt.Key.Key_1 + place), Qt.Key.Key_H):
        qtbot.keyClick(header.pause, key)
    assert desk.room.count("flag.added") == 0
    assert desk.console.notes.input.text() == ""
    qtbot.mouseClick(header.reasons.buttons[place], LEFT)
    assert not header.reasons.isVisible()
    assert paused_for(desk) == ["moderator"]
    assert desk.room.last("pause.explained") == {"reason": reason}
    desk.wait(130)
    assert header.recording.text() == f"‖ {tr(PAUSE_REASONS[reason])}, 2:10"
    desk.runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.wait(1)
    assert header.recording.text().endswith(", 2:11, still recording sound")


def test_another_reason_is_typed(desk: Desk, qtbot: QtBot) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.pause, LEFT)
    qtbot.mouseClick(header.reasons.buttons[-1], LEFT)
    typed = header.reasons.typed
    assert typed.hasFocus()
    qtbot.keyClicks(typed, "2 fire alarms")
    qtbot.keyClick(typed, Qt.Key.Key_Return)
    assert desk.room.last("pause.explained") == {"reason": "2 fire alarms"}
    desk.wait(7)
    assert header.recording.text() == "‖ 2 fire alarms, 0:07"


def test_escape_leaves_the_question_of_a_pause_and_cancel_takes_the_pause_back(
    desk: Desk, qtbot: QtBot
) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.pause, LEFT)
    qtbot.mouseClick(header.reasons.buttons[-1], LEFT)
    qtbot.keyClick(header.reasons.typed, Qt.Key.Key_Escape)
    assert not header.reasons.isVisible()
    assert desk.runner.state.pauses.paused
    qtbot.mouseClick(header.pause, LEFT)
    qtbot.mouseClick(header.pause, LEFT)
    qtbot.mouseClick(header.reasons.no, LEFT)
    assert not header.reasons.isVisible()
    assert not desk.runner.state.pauses.paused
    assert desk.room.count("pause.explained") == 0
    qtbot.mouseClick(header.pause, LEFT)
    desk.runner.send(EndSession("enough"), Source.MODERATOR)
    desk.wait(1)
    assert not header.reasons.isVisible()


def test_ending_and_skipping_ask_once_more_in_the_line(desk: Desk, qtbot: QtBot) -> None:
    header, asked = desk.console.header, desk.console.header.questions
    desk.wait(1)
    assert not header.skip.isEnabled()  # consent is given or declined, not skipped
    desk.runner.send(GiveConsent())
    desk.wait(1)
    qtbot.mouseClick(header.skip, LEFT)
    assert asked.question.text() == "Skip “Tutorial”?"
    qtbot.mouseClick(asked.no, LEFT)
    assert desk.runner.part is not None
    assert desk.runner.part.id == "tutorial"
    qtbot.mouseClick(header.skip, LEFT)
    qtbot.mouseClick(asked.yes, LEFT)
    desk.wait(1)
    assert desk.room.last("part.ended")["outcome"] == "completed"
    assert header.skipping.text.text() == "Skipping “Tutorial” in 2 s"
    assert header.skipping.back.isVisible()
    desk.runner.send(ConfirmSkip())
    desk.wait(0)
    assert desk.room.last("part.ended")["outcome"] == "skipped"
    assert not header.skipping.isVisible()
    qtbot.mouseClick(header.end, LEFT)
    qtbot.keyClick(asked.reason, Qt.Key.Key_Escape)
    assert not desk.runner.finished
    qtbot.mouseClick(header.end, LEFT)
    qtbot.keyClicks(asked.reason, "feels unwell")
    qtbot.mouseClick(asked.yes, LEFT)
    assert desk.room.last("session.ended") == {
        "reason": "feels unwell",
        "withdrawal": "",
        "debriefed": True,  # a task had begun
    }
    desk.wait(0)
    assert header.recording.text() == "■ ended: feels unwell"
    with qtbot.waitSignal(desk.console.done_requested):
        qtbot.mouseClick(header.done, LEFT)


def test_somebody_who_withdraws_says_that_the_data_are_kept(desk: Desk, qtbot: QtBot) -> None:
    header, asked = desk.console.header, desk.console.header.questions
    qtbot.mouseClick(header.end, LEFT)
    qtbot.mouseClick(asked.other, LEFT)
    assert (asked.yes.text(), asked.other.text()) == ("Keep the data", "Delete the data…")
    qtbot.mouseClick(asked.yes, LEFT)
    ended = desk.room.last("session.ended")
    assert ended == {
        "reason": "the participant withdrew",
        "withdrawal": "keep",
        "debriefed": False,
    }
    desk.wait(0)
    assert header.recording.text() == "■ withdrawn, data are kept"


def test_deleting_is_asked_twice_and_says_what_it_deletes(desk: Desk, qtbot: QtBot) -> None:
    header, asked = desk.console.header, desk.console.header.questions
    for _ in range(2):
        qtbot.mouseClick(header.end, LEFT)
        qtbot.keyClicks(asked.reason, "no time")
        qtbot.mouseClick(asked.other, LEFT)
        qtbot.mouseClick(asked.other, LEFT)
        folder = desk.runner.journal.path.parent.name
        assert folder in asked.detail.text()
        for deleted in (
            "sound",
            "answers",
            "the name or signature",
            "a note that P01 withdrew",
        ):
            assert deleted in asked.detail.text()
        qtbot.keyClick(asked.no, Qt.Key.Key_Escape)  # the first time
        assert not desk.runner.finished
    qtbot.mouseClick(header.end, LEFT)
    qtbot.mouseClick(asked.other, LEFT)
    qtbot.mouseClick(asked.other, LEFT)
    qtbot.keyClick(asked.no, Qt.Key.Key_Space)  # what has the focus deletes nothing
    assert not desk.runner.finished
    qtbot.mouseClick(header.end, LEFT)
    qtbot.keyClicks(asked.reason, "no time")
    for button in (asked.other, asked.other, asked.yes):
        qtbot.mouseClick(button, LEFT)
    assert desk.room.last("session.ended") == {
        "reason": "no time",
        "withdrawal": "delete",
        "debriefed": False,
    }
    desk.wait(0)
    said = header.recording.text()
    assert said == "■ withdrawn, data will be deleted when you close"
    assert header.done.isVisible()


def test_a_break_of_the_plan_is_told_and_can_be_cut_short(
    open_room: Callable[..., Room], qtbot: QtBot, tmp_path: Path
) -> None:
    study = write_study(tmp_path, "sinelines/gt")
    rest = "  - break: texts/{language}/debrief.md\n    at_least_s: 60\n"
    study.write_text(study.read_text("utf-8") + rest, "utf-8")
    clock = FakeClock()
    desk = Desk(open_room(study, clock=clock, decoders=closed_forms()), clock)
    desk.room.session.begin()
    skip_to(desk.room, "break-1")
    header = desk.console.header
    desk.wait(10)
    assert header.recording.text() == "‖ Break, 0:10 of 1:00"
    assert header.pause.text() == "Continue"
    assert header.skip.isEnabled()
    qtbot.mouseClick(header.skip, LEFT)
    qtbot.mouseClick(header.questions.yes, LEFT)
    assert desk.room.last("part.ended")["outcome"] == "skipped"
    assert not desk.runner.state.pauses.paused


def test_closing_the_window_asks_instead(desk: Desk, qtbot: QtBot) -> None:
    header = desk.console.header
    qtbot.mouseClick(header.pause, LEFT)
    assert not desk.console.close()
    assert desk.console.isVisible()
    assert header.questions.question.isVisible()
    assert not header.reasons.isVisible()
    assert not desk.runner.finished


@pytest.mark.parametrize("width", [1366, 1280, 911])
def test_every_question_of_the_line_fits(desk: Desk, qtbot: QtBot, width: int) -> None:
    header = desk.console.header
    desk.runner.emit(AudioStarted("f", "Jabra", "ALSA", 48_000, 1, "PCM_16"))
    desk.console.resize(width, 720)

    def fits() -> bool:
        QApplication.processEvents()
        desk.console.refresh()
        return header.minimumSizeHint().width() <= width == desk.console.width()

    qtbot.mouseClick(header.pause, LEFT)
    assert fits()
    header.ask_end()
    assert fits()
    header.questions.other.click()
    assert fits()
    header.questions.other.click()
    assert fits()
    detail = header.questions.detail
    qtbot.waitUntil(lambda: detail.heightForWidth(detail.width()) <= detail.height())


def test_the_mirror_can_become_narrow_again_after_it_was_wide_and_low(desk: Desk) -> None:
    mirror = desk.console.mirror
    for height in (140, 180, 260):
        mirror.resize(1600, height)
        assert mirror.facts.minimumWidth() <= FACTS_WIDTH


def test_a_part_that_ended_while_it_was_asked_about_skips_no_other(
    desk: Desk, qtbot: QtBot
) -> None:
    header, runner = desk.console.header, desk.runner
    skip_to(desk.room, "tutorial")
    desk.wait(1)
    qtbot.mouseClick(header.skip, LEFT)
    asked = header.questions.yes
    assert asked.isVisible()
    before = runner.state.index
    skip_stage(runner, Source.PARTICIPANT)
    assert runner.state.index == before + 1
    qtbot.mouseClick(asked, LEFT)  # before the console saw that another part is on
    assert runner.state.index == before + 1
    assert runner.state.records[before + 1].outcome is None


def test_the_question_goes_with_the_part_that_it_is_about(desk: Desk, qtbot: QtBot) -> None:
    header = desk.console.header
    skip_to(desk.room, "tutorial")
    desk.wait(1)
    qtbot.mouseClick(header.skip, LEFT)
    skip_stage(desk.runner, Source.PARTICIPANT)
    desk.wait(1)
    assert not header.questions.isVisible()
    qtbot.mouseClick(header.end, LEFT)
    desk.wait(1)
    assert header.questions.isVisible()  # that one is about the session


def places(desk: Desk) -> list[str]:
    listed = desk.console.header.continuing.list
    return [listed.item(row).text() for row in range(listed.count())]


def click_place(desk: Desk, qtbot: QtBot, title: str) -> None:
    listed = desk.console.header.continuing.list
    item = listed.item(places(desk).index(title))
    listed.scrollToItem(item)
    qtbot.mouseClick(listed.viewport(), LEFT, pos=listed.visualItemRect(item).center())


def test_the_session_continues_at_a_part_that_is_clicked(desk: Desk, qtbot: QtBot) -> None:
    header, asked = desk.console.header, desk.console.header.continuing
    desk.wait(1)
    assert not header.jump.isEnabled()  # nothing is passed over before consent
    skip_to(desk.room, "tutorial")
    desk.wait(1)
    qtbot.mouseClick(header.jump, LEFT)
    assert desk.console.asking is asked
    assert places(desk)[:2] == ["Before practice", "Practice"]
    qtbot.mouseClick(asked.go, LEFT)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Space):
        qtbot.keyClick(desk.console, key)
    assert asked.place is None
    assert desk.runner.state.pending is None
    click_place(desk, qtbot, "Before stage 1")
    assert asked.detail.text().startswith("Left out: Tutorial, Practice – ")
    qtbot.mouseClick(asked.go, LEFT)
    assert desk.console.asking is header.skipping
    assert header.skipping.text.text() == "Continuing at “Before stage 1” in 3 s"
    desk.runner.send(ConfirmSkip())
    desk.wait(0)
    assert desk.console.asking is None
    assert desk.runner.part is not None
    assert desk.runner.part.id == "stage-1-intro"


@pytest.mark.parametrize("how", ["button", "escape", "over", "end"])
def test_the_question_where_to_continue_is_left(desk: Desk, qtbot: QtBot, how: str) -> None:
    """And it is announced, so that the keyboard is given back."""
    header, asked = desk.console.header, desk.console.header.continuing
    skip_to(desk.room, "tutorial")
    desk.wait(1)
    with qtbot.waitSignal(desk.console.asking_changed):
        qtbot.mouseClick(header.jump, LEFT)
    click_place(desk, qtbot, "Practice")
    part = desk.runner.part
    with qtbot.waitSignal(desk.console.asking_changed):
        if how == "button":
            qtbot.mouseClick(asked.cancel, LEFT)
        elif how == "escape":
            qtbot.keyClick(desk.console, Qt.Key.Key_Escape)
        elif how == "over":
            skip_stage(desk.runner, Source.PARTICIPANT)
        else:
            desk.runner.send(EndSession("enough"), Source.MODERATOR)
        desk.wait(0)
    assert desk.console.asking is None
    assert not asked.isVisible()
    assert desk.runner.state.pending is None
    assert (desk.runner.part is part) == (how in ("button", "escape"))
    if how == "button":
        qtbot.mouseClick(header.jump, LEFT)
        assert asked.place is None  # asked again, nothing is chosen
