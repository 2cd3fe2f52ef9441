"""The participant's window over a whole session: by keyboard alone, and around its edges."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from labapp.record.events import Source
from labapp.record.events.commands import ConfirmSkip, EndSession, Next, Pause, Reopen, Resume
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.tasks.reconstruction.screen.matching import TutorialScreen
from labapp.ui.widgets.dial import DialSlider
from tests.helpers.rooms import Room, skip_to, solve
from tests.ui.keys import focus, press

LEFT = Qt.MouseButton.LeftButton
KEY = Qt.Key


def tab_to(widget: QWidget, most: int = 40) -> None:
    for _ in range(most):
        if focus() is widget:
            return
        press(KEY.Key_Tab)
    raise AssertionError(f"Tab does not reach {widget}")


def turn_to(dial: DialSlider, wanted: float) -> None:
    """Set a dial by keys alone: from the nearer end in pages, then in steps."""
    assert focus() is dial
    d = dial.dimension
    steps = round((wanted - dial.shown) / d.step)
    page, single = (
        (KEY.Key_PageUp, KEY.Key_Right) if steps > 0 else (KEY.Key_PageDown, KEY.Key_Left)
    )
    pages, rest = divmod(abs(steps), 10)
    for key, times in ((page, pages), (single, rest)):
        for _ in range(times):
            if dial.locked:
                return
            press(key)


def reconstruct(room: Room, window) -> None:
    """Solve the question on the screen by keyboard; skip where that is offered and quicker."""
    trial = room.runner.state.part_state.trial
    screen = window.screen_shown
    assert focus() is screen.dials.rows[0].control or trial.solved
    if trial.number > 1 and window.bottom.left.isVisible():
        tab_to(window.bottom.left)
        press(KEY.Key_Space)
        assert focus() is window.cover.back, "nothing of the next question is there yet"
        room.runner.send(ConfirmSkip())  # three seconds later
        return
    for dimension, wanted in enumerate(trial.z_target):
        if screen.bar.solved:
            break
        tab_to(screen.dials.rows[dimension].control)
        turn_to(screen.dials.rows[dimension].control, wanted)
    assert screen.bar.solved
    assert focus() is window.bottom.right
    press(KEY.Key_Return)


def test_the_whole_session_by_keyboard(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    assert isinstance(window.screen_shown, ConsentScreen)
    press(KEY.Key_Space, KEY.Key_Tab)
    QTest.keyClicks(focus(), "A Person")
    tab_to(window.bottom.right)
    press(KEY.Key_Return)
    assert room.count("consent.given") == 1
    for _ in range(200):
        part = room.runner.part
        if part is None:
            break
        if isinstance(part, ReconstructionPart):
            reconstruct(room, window)
        elif isinstance(window.screen_shown, QuestionnaireScreen):
            press(KEY.Key_5)
            tab_to(window.bottom.right)
            press(KEY.Key_Return)
        elif isinstance(window.screen_shown, TutorialScreen):
            if window.screen_shown.entrance() is not None:
                press(KEY.Key_Right)
            tab_to(window.bottom.right)
            press(KEY.Key_Return)
        else:
            assert focus() is window.bottom.right
            press(KEY.Key_Return)
    assert room.runner.state.ended == "completed"
    assert room.count("tutorial.dial_moved") == 1
    assert room.count("questionnaire.submitted") == 3
    assert room.last("questionnaire.submitted")["answers"] == {"seq": 5}
    outcomes = [payload["outcome"] for kind, payload in room.events if kind == "trial.ended"]
    assert outcomes == ["solved"] * 3 + (["solved"] + ["skipped"] * 4) * 3
    devices = {payload["device"] for kind, payload in room.events if kind == "dial.moved"}
    assert devices == {"keyboard"}
    assert window.covered
    assert window.session.words("ended_title") in window.cover.accessibleName()


def test_consent_needs_a_tick_and_a_name(open_room, open_window, qapp, tmp_path):
    room = open_room()
    window = open_window(room)
    screen = window.screen_shown
    words = window.session.words
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("consent.given") == 0
    assert window.bottom.note.text() == words("consent_missing")
    assert window.bottom.note.property("tone") == "warn"
    assert focus() is screen.tick
    press(KEY.Key_Space)
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("consent.given") == 0
    assert focus() is screen.name
    QTest.keyClicks(screen.name, "   ")
    press(KEY.Key_Return)
    assert room.count("consent.given") == 0
    QTest.keyClicks(screen.name, "Zebulon Quill")
    assert window.bottom.note.text() == ""
    press(KEY.Key_Return)
    assert room.count("consent.given") == 1
    assert "Zebulon" not in str(room.events)
    private = list((tmp_path / "0" / "private").glob("*.sqlite"))
    assert len(private) == 1
    assert b"Zebulon Quill" in private[0].read_bytes()


def test_declining_asks_inline_and_ends(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    screen = window.screen_shown
    QTest.mouseClick(window.bottom.left, LEFT)
    assert screen.leave.isVisible()
    assert focus() is screen.leave.stay
    press(KEY.Key_Escape)
    assert not screen.leave.isVisible()
    assert room.count("consent.declined") == 0
    QTest.mouseClick(window.bottom.left, LEFT)
    QTest.mouseClick(screen.leave.go, LEFT)
    assert room.count("consent.declined") == 1
    assert "not recorded" in window.cover.accessibleName()
    assert "saved" not in window.cover.accessibleName()
    assert room.runner.finished
    assert window.covered


def test_a_questionnaire_says_what_is_missing(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "stage-1-seq")
    qapp.processEvents()
    item = window.screen_shown.items[0]
    assert item.row.index is None  # nothing is preselected
    assert window.bottom.right.property("unready")
    assert "would you say this task was" in window.bottom.note.text()
    assert not window.bottom.note.property("tone")
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.count("questionnaire.submitted") == 0
    assert window.bottom.note.property("tone") == "warn"
    assert focus() is item.row
    QTest.mouseClick(item.row.options[2], LEFT)
    assert room.last("response.changed")["value"] == 3
    press(KEY.Key_Right)
    assert room.last("response.changed")["value"] == 4
    assert window.bottom.note.text() == ""
    assert not window.bottom.right.property("unready")
    QTest.mouseClick(window.bottom.right, LEFT)
    assert room.last("questionnaire.submitted")["answers"] == {"seq": 4}


@pytest.mark.parametrize("how", ["escape", "close"])
def test_leaving_asks_gently_and_tells_the_moderator(how, open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "stage-1")
    qapp.processEvents()
    before = focus()
    if how == "escape":
        press(KEY.Key_Escape)
    else:
        window.close()
    assert window.isVisible()
    assert window.leave.isVisible()
    assert QApplication.activeModalWidget() is None
    assert room.last("close.requested") == {"how": how}
    assert focus() is window.leave.stay
    assert not room.runner.state.pauses.paused
    press(KEY.Key_Return)
    assert not window.leave.isVisible()
    assert focus() is before
    assert room.count("dial.selected") == 0


def test_escape_on_the_question_stays(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    press(KEY.Key_Escape, KEY.Key_Escape)
    assert not window.leave.isVisible()
    assert room.count("close.requested") == 1


def test_only_the_controller_closes(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    assert not window.close()
    window.close_for_good()
    assert not window.isVisible()


def test_focus_is_recorded(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    assert room.last("window.focus") == {"focused": True}
    other = QWidget()
    other.show()
    other.activateWindow()
    qapp.processEvents()
    assert room.last("window.focus") == {"focused": False}
    window.activateWindow()
    qapp.processEvents()
    assert room.last("window.focus") == {"focused": True}
    assert room.count("window.focus") == 3
    other.close()
    room.runner.send(EndSession("enough"))
    assert "is saved" in window.cover.accessibleName()
    count = room.count("window.focus")
    QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    assert room.count("window.focus") == count


def test_a_focus_that_came_back_behind_an_end_is_recorded_when_that_is_taken_back(
    open_room, open_window, qapp
):
    room = open_room()
    window = open_window(room)
    other = QWidget()
    other.show()
    other.activateWindow()
    qapp.processEvents()
    room.runner.send(EndSession("a mistake"), Source.MODERATOR)
    window.activateWindow()
    qapp.processEvents()
    assert room.last("window.focus") == {"focused": False}
    room.runner.send(Reopen(room.runner.state.end_seq), Source.MODERATOR)
    assert room.last("window.focus") == {"focused": True}
    other.activateWindow()
    qapp.processEvents()
    assert room.last("window.focus") == {"focused": False}
    other.close()


def test_nothing_is_called_saved_that_is_deleted(open_room, open_window):
    room = open_room()
    window = open_window(room)
    room.runner.send(EndSession("withdraws", "delete"))
    assert "nothing that was recorded about you is kept" in window.cover.accessibleName()
    assert "saved" not in window.cover.accessibleName()


def test_the_moderator_can_be_called_from_this_window(open_room, open_window, qtbot):
    room = open_room()
    window = open_window(room)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(window.moderator_requested):
        QTest.keyClick(window, KEY.Key_M, modifiers)


def test_the_tutorial_turns_pages_both_ways_and_its_dials_live(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "tutorial")
    screen = window.screen_shown
    assert not window.bottom.left.isVisible()
    QTest.mouseClick(window.bottom.right, LEFT)
    qapp.processEvents()
    assert len(screen.boxes) == 4
    assert all(box.isVisible() for box in screen.boxes)
    box = screen.boxes[2]
    before = box.view.grab().toImage()
    dial = box.dials.rows[-1].control
    QTest.mouseClick(dial, LEFT, pos=QPoint(dial.width() - 30, dial.height() // 2))
    qapp.processEvents()
    assert room.last("tutorial.dial_moved")["box"] == 2
    assert box.view.grab().toImage() != before
    QTest.mouseClick(window.bottom.left, LEFT)
    qapp.processEvents()
    assert room.last("page.turned") == {"page": 0}
    assert not screen.boxes[0].isVisible()


def test_the_top_bar_says_where_one_is(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "stage-2")
    solve(room)
    room.runner.send(Next())
    head = window.screen_shown.head()
    assert (head.stage, head.question) == ("Stage 2 of 3", "Question 2 of 5")
    assert (head.done, head.of) == (2, 5)
    skip_to(room, "stage-2-seq")
    assert window.screen_shown.head().stage == "Stage 2 of 3"
    skip_to(room, "stage-3-intro")
    assert window.screen_shown.head().stage == "Stage 3 of 3"


def test_texts_are_at_most_70_characters_wide(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    skip_to(room, "debrief")
    qapp.processEvents()
    text = window.screen_shown.text
    block = text.document().begin()
    widest = 0
    while block.isValid():
        layout = block.layout()
        for index in range(layout.lineCount()):
            widest = max(widest, layout.lineAt(index).textLength())
        block = block.next()
    assert 50 < widest <= 75  # an average: narrow letters fit a few more in
    assert text.height() >= text.document().size().height() - 1  # all of it is on the screen


def cut_off(window: QWidget) -> list[str]:
    """Visible labels and buttons that are smaller than their words."""
    cut = []
    for label in window.findChildren(QLabel):
        if not label.isVisible() or not label.text():
            continue
        wraps = label.wordWrap()
        needed = label.heightForWidth(label.width()) if wraps else label.sizeHint().height()
        wide_enough = wraps or label.width() >= label.sizeHint().width()
        if label.height() < needed or not wide_enough:
            cut.append(label.text())
    buttons = [button for button in window.findChildren(QPushButton) if button.isVisible()]
    cut += [b.text() for b in buttons if b.width() < b.sizeHint().width()]
    return cut


def test_no_words_are_cut_off(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    parts = ("consent", "tutorial", "practice-intro", "practice", "stage-1", "stage-1-seq")
    for part in (*parts, "debrief"):
        skip_to(room, part)
        qapp.processEvents()
        assert cut_off(window) == []
    window.close()
    qapp.processEvents()
    assert cut_off(window) == []
    room.runner.send(Pause("a break"))
    qapp.processEvents()
    assert cut_off(window) == []
    room.runner.send(Resume("goes on"))
    room.runner.send(Next())
    qapp.processEvents()
    assert room.runner.finished
    assert cut_off(window) == []


def test_everything_one_can_reach_has_a_name(open_room, open_window, qapp):
    room = open_room()
    window = open_window(room)
    parts = ("consent", "tutorial", "practice", "stage-1", "stage-1-seq", "debrief")
    for part in parts:
        skip_to(room, part)
        qapp.processEvents()
        for widget in window.findChildren(QWidget):
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible():
                name = widget.accessibleName() or getattr(widget, "text", str)()
                assert name, f"{part}: {widget} has no accessible name"


def test_a_window_that_opens_on_a_pause_names_the_place_and_offers_nothing(
    open_room, open_window, qapp
) -> None:
    """As a session does that goes on after a crash: the screen comes up below the pause."""
    room = open_room()
    window = open_window(room, at="stage-1", paused=True)
    assert window.covered
    words = [label.text() for label in window.top.findChildren(QLabel) if label.isVisible()]
    head = window.screen_shown.head()
    assert head.stage in words
    assert head.question in words
    assert not window.top.help.isVisible()
    room.runner.send(EndSession("over"), Source.MODERATOR)
    qapp.processEvents()
    assert not any(label.text() == head.stage for label in window.top.findChildren(QLabel))
