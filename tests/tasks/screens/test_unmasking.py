"""The screen on which masked pictures are named, on a real session."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from labapp.record.events.commands import Pause, Resume
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.screen import UnmaskingScreen
from labapp.ui import presentation
from labapp.ui.fitting import fits, for_picture
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.widgets.photo_view import image_of
from tests.helpers.hands import LEFT, MS, key, now_ms, press
from tests.helpers.rooms import Room, skip_to
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import made, write_unmasking_study
from tests.ui.keys import places

SMALL = (1366, 768)
Open = Callable[..., tuple[Room, ParticipantWindow, UnmaskingScreen]]


@pytest.fixture
def stage(
    open_room: Callable[..., Room],
    open_window: Callable[..., ParticipantWindow],
    qtbot: QtBot,
    tmp_path: Path,
) -> Open:
    """A room and its window, on a small screen, with the first stimulus of the stage painted."""

    def open_one(
        role: str = "stage", **stages: Any
    ) -> tuple[Room, ParticipantWindow, UnmaskingScreen]:
        room = open_room(write_unmasking_study(tmp_path / "study", made(tmp_path), **stages))
        window = open_window(room)
        window.showNormal()
        window.resize(*SMALL)
        window.activateWindow()
        parts = [part for part in room.runner.machine.parts if isinstance(part, UnmaskingPart)]
        skip_to(room, next(part.id for part in parts if part.role == role))
        screen = window.screen_shown
        assert isinstance(screen, UnmaskingScreen)
        qtbot.waitUntil(lambda: trial_of(room).open)
        return room, window, screen

    return open_one


def trial_of(room: Room) -> Any:
    return room.runner.state.part_state.trial


def answers(room: Room) -> list[tuple[int, str]]:
    return [(p["response"], p["device"]) for k, p in room.events if k == "response.given"]


def test_the_buttons_keys_answer_wherever_the_focus_is(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    assert QApplication.focusWidget() is screen.responses
    for number, (code, response) in enumerate(
        [(Qt.Key.Key_F, 1), (Qt.Key.Key_J, 2), (Qt.Key.Key_Space, 0)], start=1
    ):
        key(code)
        assert answers(room)[-1] == (response, "keyboard")
        assert trial_of(room).number == number + 1
        qtbot.waitUntil(lambda: trial_of(room).open)
        screen.responses.buttons[number % 3].setFocus()


def test_tab_leads_to_the_buttons_and_enter_presses_them(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    for place, response in ((0, 1), (1, 2), (2, 0)):
        widget = QApplication.focusWidget()
        assert widget is not None
        QTest.keyClick(widget, Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is screen.responses.buttons[place]
        key(Qt.Key.Key_Return)
        assert answers(room)[-1] == (response, "keyboard")
        qtbot.waitUntil(lambda: trial_of(room).open)
        assert QApplication.focusWidget() is screen.responses.buttons[place]


def test_space_presses_the_button_with_the_focus_only_where_it_is_no_buttons_key(
    stage: Open, qtbot: QtBot
) -> None:
    room, _, screen = stage()
    screen.responses.buttons[0].setFocus()
    key(Qt.Key.Key_Space)
    assert answers(room) == [(0, "keyboard")]
    skip_stage(room.runner)


def test_space_is_any_other_key_where_a_study_names_others(stage: Open) -> None:
    room, _, screen = stage(keys=["Left", "Right", "0"])
    assert [button.response.cap for button in screen.responses.buttons] == ["←", "→", "0"]
    key(Qt.Key.Key_Space)
    assert not answers(room)
    screen.responses.buttons[1].setFocus()
    key(Qt.Key.Key_Space)
    assert answers(room) == [(2, "keyboard")]


def test_arrow_keys_answer_and_move_nothing(stage: Open) -> None:
    room, _, screen = stage(keys=["Left", "Right", "0"])
    screen.responses.buttons[1].setFocus()
    key(Qt.Key.Key_Left)
    assert answers(room) == [(1, "keyboard")]
    assert QApplication.focusWidget() is screen.responses.buttons[1]


def test_a_held_key_answers_once_and_a_command_not_at_all(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    key(Qt.Key.Key_F)
    qtbot.waitUntil(lambda: trial_of(room).open)
    for _ in range(20):
        key(Qt.Key.Key_F, again=True)
    QTest.keyClick(screen.responses, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(screen.responses, Qt.Key.Key_K)
    assert answers(room) == [(1, "keyboard")]


def test_the_mouse_answers_when_it_goes_down_and_takes_no_focus(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    for number, place in enumerate((1, 1, 2), start=1):
        button = screen.responses.buttons[place]
        quick = QEvent.Type.MouseButtonDblClick if number == 2 else QEvent.Type.MouseButtonPress
        press(button, quick)
        assert len(answers(room)) == number
        QTest.mouseRelease(button, LEFT)
        qtbot.waitUntil(lambda: trial_of(room).open)
        assert len(answers(room)) == number
    assert answers(room) == [(2, "mouse"), (2, "mouse"), (0, "mouse")]
    QTest.mouseClick(screen.responses.buttons[0], Qt.MouseButton.RightButton)
    assert len(answers(room)) == 3
    assert QApplication.focusWidget() is screen.responses


def test_times_are_those_of_the_frame_and_of_the_event(stage: Open) -> None:
    room, _, screen = stage()
    shown = room.last("stimulus.shown")
    drawn = room.last("stimulus.drawn")
    assert shown["shown_by"] == "flush"
    assert shown["refresh_ms"] == pytest.approx(1000 / screen.screen().refreshRate())
    assert drawn["due_ns"] <= shown["painted_ns"] <= room.clock.now_ns()
    time.sleep(0.03)
    stamp = now_ms()
    time.sleep(0.02)
    key(Qt.Key.Key_F, stamp_ms=stamp)
    given = room.last("response.given")
    assert given["timed_by"] == "event"
    assert given["input_ns"] == room.clock.from_perf_ns(stamp * MS)


def test_an_event_without_a_time_is_timed_by_its_arrival(stage: Open) -> None:
    room, _, _ = stage()
    before = room.clock.now_ns()
    key(Qt.Key.Key_F, stamp_ms=0)
    given = room.last("response.given")
    assert given["timed_by"] == "arrival"
    assert before <= given["input_ns"] <= room.clock.now_ns()


def test_a_press_from_before_the_picture_was_meant_for_the_one_before(stage: Open) -> None:
    room, _, _ = stage()
    painted_ms = (now_ms() * MS - room.clock.now_ns() + trial_of(room).painted_ns) // MS
    key(Qt.Key.Key_F, stamp_ms=painted_ms - 40)
    assert not answers(room)
    key(Qt.Key.Key_F)
    assert len(answers(room)) == 1


def test_in_the_blank_the_field_is_empty_and_the_buttons_do_nothing(
    stage: Open, qtbot: QtBot
) -> None:
    room, window, screen = stage(blank_ms=600)
    before = places(screen)
    button = screen.responses.buttons[0]
    looks = button.grab().toImage()
    key(Qt.Key.Key_F)
    due = room.last("stimulus.drawn")["due_ns"]
    assert screen.field.shown is None
    assert places(screen) == before
    assert button.grab().toImage() == looks
    for _ in range(3):
        key(Qt.Key.Key_F)
        press(screen.responses.buttons[1])
        assert field_colours(window, screen) == {screen.field.ground.rgb()}
        qtbot.wait(20)
    qtbot.waitUntil(lambda: trial_of(room).open)
    shown = room.last("stimulus.shown")["painted_ns"]
    assert shown >= due
    assert due >= room.last("response.given")["input_ns"] + 600 * MS
    assert len(answers(room)) == 1
    assert places(screen) == before
    assert len(field_colours(window, screen)) > 1


def field_colours(window: ParticipantWindow, screen: UnmaskingScreen) -> set[int]:
    """The colours inside the field's hairline."""
    image = screen.field.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
    ratio = round(window.devicePixelRatioF())
    return set(np.unique(pixels[2 * ratio : -2 * ratio, 2 * ratio : -2 * ratio]).tolist())


def test_without_a_blank_one_picture_replaces_the_other(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    emptied: list[str | None] = []
    paint = screen.field.painted
    assert paint is not None

    def watch() -> None:
        emptied.append(screen.field.shown)
        paint()

    screen.field.painted = watch
    for _ in range(4):
        key(Qt.Key.Key_F)
        qtbot.waitUntil(lambda: trial_of(room).open)
    pictures = list(screen.part.stored_pictures())
    assert [name for name in emptied if name not in pictures] == []
    assert emptied[-1] == pictures[4] == screen.field.shown


def test_the_next_pictures_are_ready_before_they_are_due(
    stage: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read, decoded or scaled between a response and the next picture."""
    room, _, screen = stage()
    part = room.runner.part
    assert isinstance(part, UnmaskingPart)
    gallery, field = room.runner.gallery, screen.field
    assert gallery is not None
    done: list[str] = []
    read, prepare = gallery.rgb, field.prepare

    def reads(ref: str) -> Any:
        done.append(f"read {ref}")
        return read(ref)

    def prepares(name: str, image: QImage) -> None:
        done.append(f"scaled {name}")
        prepare(name, image)

    monkeypatch.setattr(gallery, "rgb", reads)
    monkeypatch.setattr(field, "prepare", prepares)
    sequences = [[mask.picture for mask in one.masks] for one in part.sequences]
    idle = screen._idle
    while isinstance(room.runner.part, UnmaskingPart):
        trial = trial_of(room)
        sequence, mask = part.at(trial.number)
        qtbot.waitUntil(lambda: not idle.isActive())
        coming = chain.from_iterable(sequences[sequence : sequence + 1])
        ahead = [*sequences[sequence - 1][mask - 1 :], *coming]
        assert all(field.ready(name) for name in ahead)
        done.clear()
        events = len(room.events)
        key(Qt.Key.Key_F)
        happened = [kind for kind, _ in room.events[events:]]
        if isinstance(room.runner.part, UnmaskingPart):
            assert happened[-1] == "stimulus.shown"  # painted by now
        assert done == []
    assert trial.number == part.trials


def test_of_the_pictures_gone_by_nothing_is_kept(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage()
    first = screen.field.shown
    assert first is not None
    for _ in range(3):
        key(Qt.Key.Key_F)
        qtbot.waitUntil(lambda: trial_of(room).open)
    qtbot.waitUntil(lambda: not screen._idle.isActive())
    assert not screen.field.ready(first)


def test_a_pause_takes_the_picture_away_and_brings_it_again(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage(blank_ms=80)
    first, attempt = screen.field.shown, trial_of(room).attempt
    room.runner.send(Pause("test"))
    assert window.covered
    assert screen.field.shown is None
    qtbot.wait(30)
    room.runner.send(Resume("test"))
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert screen.field.shown == first
    trial = trial_of(room)
    assert (trial.number, trial.attempt) == (1, attempt + 1)
    assert room.last("trial.ended")["outcome"] == "interrupted"
    assert QApplication.focusWidget() is screen.responses
    key(Qt.Key.Key_J)
    assert answers(room) == [(2, "keyboard")]


def test_a_pause_in_the_blank_brings_no_picture(stage: Open, qtbot: QtBot) -> None:
    room, _, screen = stage(blank_ms=60)
    key(Qt.Key.Key_F)
    room.runner.send(Pause("test"))
    shown = room.count("stimulus.shown")
    qtbot.wait(120)
    assert room.count("stimulus.shown") == shown
    assert screen.field.shown is None
    room.runner.send(Resume("test"))
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert (trial_of(room).number, trial_of(room).attempt) == (2, 2)


@pytest.mark.parametrize("how", ["escape", "close"])
def test_who_asks_to_leave_sees_no_picture_and_gets_it_again(
    stage: Open, qtbot: QtBot, how: str
) -> None:
    room, window, screen = stage()
    first = screen.field.shown
    if how == "escape":
        key(Qt.Key.Key_Escape)
    else:
        window.close()
    assert window.leave.isVisible()
    assert screen.field.shown is None
    assert room.last("trial.ended")["outcome"] == "interrupted"
    key(Qt.Key.Key_F)
    press(screen.responses.buttons[0])
    qtbot.wait(30)
    assert not answers(room)
    assert room.count("stimulus.shown") == 1
    window.leave.stay.click()
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert screen.field.shown == first
    assert (trial_of(room).number, trial_of(room).attempt) == (1, 2)
    assert QApplication.focusWidget() is screen.responses


def test_a_key_that_is_printed_on_a_button_answers_wherever_the_focus_is(
    stage: Open, qtbot: QtBot
) -> None:
    room, window, screen = stage()
    qtbot.waitUntil(lambda: trial_of(room).open)
    window.setFocus()
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_F)
    assert len(answers(room)) == 1
    assert QApplication.focusWidget() is screen.responses


def test_another_window_in_front_takes_the_picture_away(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage()
    other = QWidget()
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: not window.isActiveWindow())
    qtbot.waitUntil(lambda: screen.field.shown is None)
    assert room.last("trial.ended")["outcome"] == "interrupted"
    other.close()
    window.activateWindow()
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert trial_of(room).attempt == 2
    other.deleteLater()


@pytest.mark.parametrize(("rule", "attempt"), [("mark", 1), ("repeat", 2)])
def test_without_the_keyboard_a_picture_stays_or_is_shown_again_as_the_study_says(
    stage: Open, qtbot: QtBot, rule: str, attempt: int
) -> None:
    room, window, screen = stage(keyboard_away=rule)
    shown = screen.field.shown
    window.show_keyboard(away=True, refused=False)
    assert window.top.keyboard.text() == "The moderator is using the keyboard."
    assert (screen.field.shown is None) == (rule == "repeat")
    qtbot.wait(30)
    window.show_keyboard(away=False, refused=False)
    assert window.top.keyboard.isHidden()
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert screen.field.shown == shown
    assert (trial_of(room).number, trial_of(room).attempt) == (1, attempt)


def test_the_moderators_console_on_another_screen_covers_nothing(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage()
    screens = QApplication.screens()
    assert len(screens) > 1
    other = QWidget()
    other.setScreen(screens[1])
    other.move(screens[1].geometry().topLeft())
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: not window.isActiveWindow())
    assert screen.field.shown is not None
    assert trial_of(room).open
    window.activateWindow()
    other.close()
    other.deleteLater()


def test_what_a_slow_disk_hid_is_shown_again(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage()
    window.stack.setCurrentWidget(window.cover)
    assert screen.field.shown is None
    window.stack.setCurrentWidget(screen)
    qtbot.waitUntil(lambda: trial_of(room).attempt == 2)
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert room.last("trial.ended")["outcome"] == "interrupted"


def test_pixels_are_blocks_of_whole_device_pixels(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage()
    for size in ((1366, 768), (1024, 700), (1920, 1080)):
        window.resize(*size)
        qtbot.wait(10)
        gallery, shown = room.runner.gallery, screen.field.shown
        assert gallery is not None
        assert shown is not None
        rgb = gallery.rgb(shown)
        drawn = screen.field.grab().toImage()
        where = screen.field.picture_rect()
        ratio = window.devicePixelRatioF()
        factor = where.width() * ratio / rgb.shape[1]
        assert factor == round(factor)
        least = screen.part.size_px - 1 / ratio * rgb.shape[1]
        assert least < screen.field.side <= screen.part.size_px
        assert room.last("stimulus.shown")["side_px"] == factor * max(rgb.shape[:2])
        whole = np.repeat(np.repeat(rgb, round(factor), 0), round(factor), 1)
        left, top = round(where.left() * ratio), round(where.top() * ratio)
        high, wide, _ = whole.shape
        assert drawn.copy(left, top, wide, high) == image_of(whole).convertToFormat(drawn.format())


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [(1366, 768), (1024, 700)])
def test_everything_is_on_the_screen(
    stage: Open, qtbot: QtBot, language: str, size: tuple[int, int]
) -> None:
    _, window, screen = stage(language=language)
    window.resize(*size)
    qtbot.wait(10)
    for widget in (screen.field, screen.question, *screen.responses.buttons):
        corner = widget.mapTo(window, QPoint(0, 0))
        assert window.rect().contains(widget.rect().translated(corner))
    assert all(b.needed_width <= b.width() for b in screen.responses.buttons)
    assert len({button.width() for button in screen.responses.buttons}) == 1


def said(widget: QWidget) -> list[str]:
    return [one.text() for one in widget.findChildren(QLabel) if one.isVisible()]


def test_it_says_where_one_is_and_nothing_of_answers(stage: Open, qtbot: QtBot) -> None:
    room, window, screen = stage()
    assert "Picture 1 of 24" in said(window.top)
    before = said(screen)
    key(Qt.Key.Key_F)
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert "Picture 2 of 24" in said(window.top)
    assert said(screen) == before == ["What is shown?"]
    names = [button.response.text for button in screen.responses.buttons]
    assert names == [*(b.name for b in screen.part.buttons[:-1]), "I don't know"]


def test_the_example_says_that_it_is_one_in_german(stage: Open) -> None:
    _, window, screen = stage("practice", language="de", question=None)
    assert {"Beispiel", "Bild 1 von 3"} <= set(said(window.top))
    assert screen.question.text() == "Was ist auf dem Bild zu sehen?"
    last = screen.responses.buttons[-1].response
    assert (last.text, last.cap) == ("Ich weiß es nicht", "Leertaste")


def test_blocks_count_on(stage: Open, qtbot: QtBot) -> None:
    room, window, _ = stage(breaks={"every": 2, "text": "rest.md"})
    parts = [p for p in room.runner.machine.parts if isinstance(p, UnmaskingPart)]
    second = next(part for part in parts if part.first)
    skip_to(room, second.id)
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert f"Picture {second.first + 1} of {second.total}" in said(window.top)


def test_a_window_that_changes_its_size_while_a_picture_waits_for_a_frame(
    stage: Open, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presentation, "FRAMED", QApplication.platformName())
    room, _, screen = stage(size_px=800)
    key(Qt.Key.Key_F)
    before = screen.field.side
    screen.resize(screen.width(), screen.height() - 150)
    assert screen.presenter.busy
    assert screen.field.side < before
    qtbot.waitUntil(lambda: trial_of(room).open)
    assert screen.field.shown == screen.part.stimulus(*screen.part.at(2))[1].picture


@pytest.mark.parametrize(("high", "small"), [(640, False), (620, True)])
def test_a_trial_is_marked_whose_window_is_too_small(stage: Open, qtbot, high, small) -> None:
    room, window, screen = stage(size_px=384)
    window.showNormal()
    window.resize(900, high)
    qtbot.wait(20)
    key(Qt.Key.Key_F)
    qtbot.waitUntil(lambda: trial_of(room).number == 2 and trial_of(room).open)
    assert room.last("stimulus.shown")["too_small"] is small
    assert fits(900, high, for_picture(screen.part.picture_px)) is not small


def test_the_next_level_of_an_adaptive_stage_is_ready_before_the_answer(
    stage: Open, qtbot: QtBot
) -> None:
    """Whatever is answered, the picture that follows is on the screen with the next frame."""
    rule = {"method": "psi", "trials": 12, "guess": 0.5}
    room, _, screen = stage(adaptive=rule, order="as_listed")
    assert screen.head().question == "Picture 1"
    late = []
    for number, code in enumerate((Qt.Key.Key_F, Qt.Key.Key_J, Qt.Key.Key_Space) * 3, start=1):
        qtbot.waitUntil(lambda: not screen._idle.isActive())
        ready = {*screen.field._ready}
        key(code)
        trial = trial_of(room)
        assert trial.number == number + 1
        assert screen._picture(trial) in ready
        qtbot.waitUntil(lambda: trial_of(room).open)
        given, shown = room.last("response.given"), room.last("stimulus.shown")
        late.append((shown["painted_ns"] - given["input_ns"]) / 1e6)
    assert sorted(late)[len(late) // 2] < 50, "milliseconds from the answer to the next picture"
    chosen = [payload for kind, payload in room.events if kind == "level.chosen"]
    assert len(chosen) == 10
