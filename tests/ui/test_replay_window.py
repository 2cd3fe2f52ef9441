"""The replay window on a simulated session that thinks aloud: its keys, places and memory."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AudioError, RecordError
from labapp.base.messages import Message
from labapp.record.audio.player import Player
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from labapp.session.withdrawal import withdraw
from labapp.ui.language import speak, tr, translate_message
from labapp.ui.replay import window as remembered
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.transport import ACTIONS, Stroke
from labapp.ui.replay.window import WIDE, ReplayWindow
from tests.record.audio.loudspeaker import RATE, Loudspeaker, Tone

LEFT = Qt.MouseButton.LeftButton
REPLAY = sorted(ACTIONS["replay"])


@pytest.fixture
def recorded(thinking_aloud: Path, tmp_path: Path) -> Path:
    """A copy of its own for each test."""
    return Path(shutil.copytree(thinking_aloud, tmp_path / "quickstart" / thinking_aloud.name))


Open = Callable[..., ReplayWindow]


@pytest.fixture
def opened(recorded: Path, qtbot: QtBot) -> Iterator[Open]:
    windows: list[ReplayWindow] = []

    def open_one(at_ns: int | None = None, **more: Any) -> ReplayWindow:
        window = ReplayWindow(open_session(recorded), **more)
        window.resize(1366, 768)
        window.open(at_ns)
        window.activateWindow()
        while not window.filled:
            QApplication.processEvents()
        windows.append(window)
        return window

    yield open_one
    for window in windows:
        window.close()
        window.deleteLater()


def press(window: ReplayWindow, stroke: Stroke) -> None:
    widget = QApplication.focusWidget() or window
    QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))


def press_action(window: ReplayWindow, action: str) -> None:
    press(window, window.keys.keys(action)[0])


def test_every_key_does_what_it_is_for(opened: Open) -> None:
    window = opened()
    assert set(window.router.commands) >= set(ACTIONS["replay"])
    done: list[str] = []
    for name in REPLAY:
        window.router.commands[name] = lambda name=name: done.append(name)
    somewhere = QApplication.focusWidget() or window
    for action in REPLAY:
        strokes = window.keys.keys(action)
        assert strokes, action
        enter = sum(stroke.key == Qt.Key.Key_Return and not stroke.modifiers for stroke in strokes)
        # Wherever the focus is; Enter alone presses a button.
        for focus, presses in ((somewhere, 0), (window.transport.speed, enter)):
            focus.setFocus()
            done.clear()
            for stroke in strokes:
                press(window, stroke)
            assert done == [action] * (len(strokes) - presses), (action, focus)


def test_no_key_is_one_of_a_menu_or_a_shortcut(opened: Open) -> None:
    window = opened()
    own = {stroke for strokes in window.keys.strokes["replay"].values() for stroke in strokes}
    assert own
    assert not window.actions()
    assert not [button for button in window.findChildren(QPushButton) if "&" in button.text()]
    assert not [b for b in window.findChildren(QPushButton) if not b.shortcut().isEmpty()]


def test_space_plays_and_pauses_and_goes_back_a_little(opened: Open, qtbot: QtBot) -> None:
    window = opened(60 * NS)
    press_action(window, "play")
    qtbot.waitUntil(lambda: window.controller.now_ns() > 60.3 * NS)
    assert "❚❚" in window.transport.play.text()
    press_action(window, "play")
    paused = window.controller.now_ns()
    assert "▶" in window.transport.play.text()
    press_action(window, "play")
    qtbot.waitUntil(lambda: window.controller.now_ns() != paused)
    assert window.controller.now_ns() < paused - NS
    press_action(window, "play")


def test_steps_speeds_and_ends(opened: Open) -> None:
    window = opened(60 * NS)
    for action, seconds in (
        ("back", 59.0),
        ("forward", 60.0),
        ("back_a_little", 59.9),
        ("forward_a_little", 60.0),
        ("to_begin", 0.0),
    ):
        press_action(window, action)
        assert window.controller.now_ns() == seconds * NS, action
    assert window.timeline.playhead_ns == 0
    press_action(window, "to_end")
    assert window.controller.now_ns() == window.session.history.end_ns
    press_action(window, "slower")
    assert window.transport.speed.text() == "0.75×"
    press_action(window, "faster")
    press_action(window, "faster")
    assert window.transport.speed.text() == "1.25×"
    press_action(window, "usual_speed")
    assert window.transport.speed.text() == "1×"
    press_action(window, "more_back")
    assert window.transport.back.text() == "back 3 s on play"
    press_action(window, "less_back")
    assert window.transport.back.text() == "back 2 s on play"


def test_units_are_gone_to_by_keys_and_clicks_and_looped(opened: Open, qtbot: QtBot) -> None:
    window = opened(0)
    units = window.session.annotations.segmentation.units
    assert len(units) > 3
    for unit in units[:3]:
        press_action(window, "next_unit")
        assert window.controller.now_ns() == unit.t0_ns
        assert window.units.current == unit.id == window.timeline.current_unit
    press_action(window, "previous_unit")
    assert window.controller.now_ns() == units[1].t0_ns
    press_action(window, "loop")
    assert window.controller.loop == (units[1].t0_ns, units[1].t1_ns)
    assert window.transport.loop.isChecked()
    press_action(window, "loop")
    assert window.controller.loop is None
    press_action(window, "repeat_unit")
    assert window.controller.playing
    press_action(window, "play")
    window.units.chosen.emit(units[0].id)
    assert window.units.current == units[0].id
    assert window.controller.playing
    press_action(window, "play")
    press_action(window, "repeat_slowly")
    assert window.transport.speed.text() == "0.75×"
    press_action(window, "play")


def test_jumps_lead_to_what_the_lanes_have(opened: Open) -> None:
    window = opened(0)
    seen = []
    for _ in range(3):
        press_action(window, "next_trial")
        seen.append(window.controller.now_ns())
    assert seen == sorted(set(seen))
    press_action(window, "previous_trial")
    assert window.controller.now_ns() == seen[1]
    press_action(window, "next_dial")
    assert window.controller.now_ns() > seen[1]
    before = window.controller.now_ns()
    press_action(window, "next_flag")
    assert window.controller.now_ns() == before
    assert window.transport.hint.full() == "There is no other flag in this direction."


def test_a_time_is_typed_in_its_place_and_keys_write_there(opened: Open, qtbot: QtBot) -> None:
    window = opened(60 * NS)
    press_action(window, "go_to")
    assert window.transport.field.hasFocus()
    qtbot.keyClicks(window.transport.field, "1:90")
    qtbot.keyClick(window.transport.field, Qt.Key.Key_Return)
    assert window.transport.asking
    assert "12:34.5" in window.transport.hint.full()
    qtbot.keyClicks(window.transport.field, "1:30.5")
    assert not window.controller.playing  # the full stop and the digits were typed
    qtbot.keyClick(window.transport.field, Qt.Key.Key_Return)
    assert window.controller.now_ns() == 90.5 * NS
    assert window.transport.time.text() == "1:30.5"
    press_action(window, "go_to")
    press_action(window, "leave")
    assert not window.transport.asking
    press_action(window, "forward")
    assert window.controller.now_ns() == 91.5 * NS


def test_all_keys_lie_over_the_window_and_hold_nothing_up(opened: Open) -> None:
    window = opened(60 * NS)
    press_action(window, "keys")
    assert window.sheet.isVisible()
    press_action(window, "forward")
    assert window.controller.now_ns() == 61 * NS
    press_action(window, "leave")
    assert window.sheet.isHidden()
    press_action(window, "keys")
    press_action(window, "keys")
    assert window.sheet.isHidden()
    assert not window.isModal()
    assert QApplication.activeModalWidget() is None


def test_the_timeline_zooms_seeks_and_scrubs(opened: Open, qtbot: QtBot) -> None:
    window = opened(60 * NS)
    span = window.timeline.scale.span_ns
    press_action(window, "zoom_in")
    assert window.timeline.scale.span_ns == pytest.approx(span / 2)
    press_action(window, "zoom_out")
    assert window.timeline.scale.span_ns == pytest.approx(span)
    window.timeline.scrubbed.emit(70 * NS)
    assert window.controller.now_ns() == 70 * NS
    window.timeline.seeked.emit(80 * NS)
    assert window.controller.playing
    press_action(window, "play")
    window.timeline.selected.emit(10 * NS, 12 * NS)
    press_action(window, "loop")
    assert window.controller.loop == (10 * NS, 12 * NS)


def test_narrow_windows_have_the_panels_as_tabs_below_the_text(opened: Open) -> None:
    window = opened()
    assert window.side.wide
    wide = window.events.mapTo(window, QPoint(0, 0))
    assert wide.x() > window.units.mapTo(window, QPoint(0, 0)).x()
    window.resize(900, 560)
    QApplication.processEvents()
    assert not window.side.wide
    assert window.size().width() == 900
    assert window.size().height() == 560
    assert window.events.isVisible()
    assert not window.seen.heading.isVisible()
    other = QLabel("other")
    window.side.set_panels([(tr("replay.events"), window.events), ("Other", other)])
    assert window.events.isVisible()
    assert not other.isVisible()  # the tab of the first is in front
    window.side.show_panel(other)
    assert other.isVisible()
    assert not window.events.isVisible()
    window.side.show_panel(window.events)
    narrow = window.events.mapTo(window, QPoint(0, 0))
    assert narrow.y() > window.units.mapTo(window, QPoint(0, 0)).y()
    window.resize(WIDE, 768)
    QApplication.processEvents()
    assert window.events.isVisible()
    assert other.isVisible()
    assert window.seen.heading.isVisible()


def test_what_happened_goes_where_it_is_clicked_and_follows(opened: Open, qtbot: QtBot) -> None:
    window = opened(0)
    item = window.events.item(3)
    place = window.events.visualItemRect(item).center()
    qtbot.mouseClick(window.events.viewport(), LEFT, pos=place)
    assert window.events.currentRow() >= 3
    assert window.controller.now_ns() > 0


def test_the_window_remembers_where_it_was(opened: Open) -> None:
    window = opened(75 * NS)
    window.resize(1200, 700)
    press_action(window, "more_back")
    window.close()
    again = opened()
    choices, problem = remembered.read()
    assert problem is None
    assert choices.back_s == 3.0
    assert again.controller.back_s == 3.0
    assert again.controller.now_ns() == 75 * NS


@pytest.mark.parametrize("text", ["[]", "{", '{"places": {"a": "b"}}', '{"back_s": "much"}'])
def test_wrong_memories_are_told_and_hold_nothing_up(opened: Open, text: str) -> None:
    from labapp.base import resources

    path = resources.settings_root() / remembered.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    window = opened()
    assert remembered.FILE in window.notices.text.text()
    window.notices.away.click()
    assert window.notices.isHidden()


@pytest.mark.parametrize(("language", "safe"), [("en", "goes on by the"), ("de", "läuft nach")])
def test_sound_that_fails_is_told_and_tried_again(
    recorded: Path, qtbot: QtBot, language: str, safe: str
) -> None:
    plugged_in: list[Loudspeaker] = []

    def opened(_device: str, _rate: int) -> Loudspeaker:
        if not plugged_in:
            raise AudioError(Message("speaker_none"))
        return plugged_in[0]

    speak(language)
    try:
        player = Player(Tone(), open_output=opened)
        window = ReplayWindow(replace(open_session(recorded), player=player))
        window.open()
        window.showNormal()
        window.resize(960, 521)
        notices = window.notices
        qtbot.waitUntil(notices.again.isVisible)
        none = translate_message(Message("speaker_none"))
        assert (none == Message("speaker_none")) == (language == "en")
        assert notices.text.text().startswith(f"{none} ")
        assert safe in notices.text.text()
        assert notices.line.isVisible()
        notices.more.click()
        assert notices.text.isVisible()
        QTest.mouseClick(notices.again, LEFT)
        assert not notices.again.isEnabled()
        qtbot.waitUntil(notices.again.isEnabled)  # there is still none
        plugged_in.append(Loudspeaker(RATE))
        QTest.mouseClick(notices.again, LEFT)
        qtbot.waitUntil(notices.isHidden)
        assert player.sounding
    finally:
        for widget in QApplication.topLevelWidgets():
            widget.close()
        for speaker in plugged_in:
            speaker.close()


def test_what_goes_wrong_with_files_stays_until_it_is_put_away(opened: Open) -> None:
    window = opened()
    refused = AnnotationError("That is none.", safe="Nothing was changed.", todo="Take another.")
    window.show_error(refused)
    assert window.transport.hint.full() == "That is none. Nothing was changed. Take another."
    assert window.notices.isHidden()
    full = OSError(28, "No space left on device")
    error = AnnotationError("It was not kept.", safe="The rest is safe.", todo="Make room.")
    error.__cause__ = full
    window.show_error(error)
    assert window.notices.text.text() == "It was not kept. The rest is safe. Make room."
    assert window.notices.isVisible()


def test_wrong_keys_are_told_in_the_window(opened: Open) -> None:
    from labapp.base import resources

    path = resources.settings_root() / "keys.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("replay:\n  loop: [Ctrl+G]\n", "utf-8")
    window = opened()
    assert "line 2, replay.loop: Ctrl+G is also the key of" in window.notices.text.text()


def test_who_withdrew_is_not_replayed(recorded: Path, tmp_path: Path) -> None:
    withdraw(recorded, tmp_path / "private", delete=False)
    with pytest.raises(RecordError, match="withdrew"):
        open_session(recorded)


def test_a_damaged_session_is_refused_in_a_sentence(recorded: Path) -> None:
    (recorded / "journal.sqlite").write_bytes(b"no journal")
    with pytest.raises(RecordError):
        open_session(recorded)


def test_both_themes_and_german(opened: Open) -> None:
    from labapp.ui import language

    language.speak("de")
    try:
        window = opened(dark=True)
        assert window.windowTitle().startswith("Wiedergabe")
        assert window.palette_.ground == "#14181D"
    finally:
        language.speak("en")
    window.close()
    again = opened()  # as it was chosen last
    assert again.palette_.ground == "#14181D"
    again.close()
    assert opened(dark=False).palette_.ground == "#FAFAF8"


def test_no_jump_tells_when_what_is_hidden_begins(opened: Open) -> None:
    window = opened(60 * NS)
    before = window.controller.now_ns()
    window.timeline.set_future_hidden(True)
    press_action(window, "next_trial")
    assert window.controller.now_ns() == before
    press_action(window, "previous_trial")
    assert window.controller.now_ns() < before
    window.timeline.set_future_hidden(False)
    press_action(window, "next_trial")
    press_action(window, "next_trial")
    assert window.controller.now_ns() > before


def test_a_running_session_is_shown_up_to_now(recorded: Path, opened: Open) -> None:
    journal = sqlite3.connect(recorded / "journal.sqlite")
    journal.execute("DELETE FROM events WHERE seq > (SELECT MAX(seq) FROM events) - 500")
    journal.commit()
    journal.close()
    with SessionFolder(recorded).lock():
        window = opened(0)
    assert "still running" in window.header.chips
    assert "as it was when opened" in window.notices.text.text()
    press_action(window, "to_end")
    assert window.controller.now_ns() == window.session.history.end_ns


def test_an_interrupted_session_says_so(recorded: Path, opened: Open) -> None:
    journal = sqlite3.connect(recorded / "journal.sqlite")
    journal.execute("DELETE FROM events WHERE seq > (SELECT MAX(seq) FROM events) - 500")
    journal.commit()
    journal.close()
    assert "interrupted" in opened(0).header.chips


def test_a_deidentified_bundle_is_replayed_and_says_what_it_lacks(
    recorded: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    bundle = export([recorded], tmp_path / "bundle", deidentify=True)
    window = ReplayWindow(open_session(bundle))
    qtbot.addWidget(window)
    window.open(60 * NS)
    assert "de-identified" in window.header.chips
    assert "no sound" in window.header.chips
    assert window.notices.isVisible()
    window.close()
