"""The replay window: keys, places, memory, the video, and what is redacted."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AudioError, RecordError
from labapp.base.messages import Message
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.model import annotations_folder
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.store import annotations_of, open_marks
from labapp.coding.annotations.video_files import list_file, videos_folder
from labapp.coding.sound import SessionSound
from labapp.coding.videos import decoding
from labapp.coding.videos.session import add_video
from labapp.record.audio.player import Player
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from labapp.session.withdrawal import withdraw
from labapp.ui.language import speak, tr, translate_message
from labapp.ui.replay import window as remembered
from labapp.ui.replay.coding_state import CodingRequest
from labapp.ui.replay.coding_window import CodingWindow, open_coding_window
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.transport import ACTIONS, Stroke, parse_stroke
from labapp.ui.replay.window import WIDE, ReplayWindow
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session
from tests.helpers.made_videos import heard_by, number_in, speech_like, write_video
from tests.helpers.recorded_sounds import Take, sounding_session
from tests.helpers.sample import EVERYTHING
from tests.record.audio.loudspeaker import RATE, Loudspeaker, PatientTime, Tone

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
    assert window.transport.hint.full() == "No more flags in this direction."


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


@pytest.mark.parametrize(
    ("language", "safe"), [("en", "continues by the"), ("de", "der Uhr des Computers weiter")]
)
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
    assert "as it was when you opened it" in window.notices.text.text()
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


BEGINS_S, SECONDS, PER_SECOND = 5.0, 40.0, 20

WORLD = speech_like(60.0, seed=21)

TOGETHER_S = 0.04


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of a minute, and a video that begins 5 s into it."""
    folder = tmp_path_factory.mktemp("filmed")
    take = Take(heard_by(WORLD, 0.5, 58.0), 0.5)
    session = sounding_session(
        folder / "data", take, end_s=60.0, uses={"video": True}, with_study=True
    )
    film = write_video(
        folder / "film.mp4", heard_by(WORLD, BEGINS_S, SECONDS), SECONDS, per_second=PER_SECOND,
        every=40, size=(160, 120),
    )  # fmt: skip
    placed = add_video(session, film)
    assert placed.alignment.offset_s == pytest.approx(BEGINS_S, abs=0.005)
    return session


@pytest.fixture
def session(filmed: Path, tmp_path: Path) -> Path:
    """A copy of its own for each test."""
    study = Path(shutil.copytree(filmed.parent, tmp_path / filmed.parent.name))
    return study / filmed.name


@pytest.fixture
def opened_replay_video(session: Path, qtbot: QtBot) -> Iterator[Open]:
    windows: list[ReplayWindow] = []
    before = threading.active_count()

    def open_one(at_s: float = 10.0, size: tuple[int, int] = (1366, 768)) -> ReplayWindow:
        window = ReplayWindow(open_session(session))
        window.resize(*size)
        window.open(round(at_s * NS))
        window.resize(*size)
        QApplication.processEvents()
        windows.append(window)
        return window

    yield open_one
    for window in windows:
        window.close()
        window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before)


def shown_s(window: ReplayWindow) -> float:
    """Session time at which the picture on the screen begins, by what is drawn on it and by where
    the video was placed, which is right to 5 ms; -1 for none."""
    assert window.video is not None
    shown = window.video.view.shown
    if shown is None or shown.picture is None:
        return -1.0
    number = number_in(shown.picture.pixels, 160)
    return window.video.view.placed.alignment.session_ns(number / PER_SECOND) / NS


def is_together(window: ReplayWindow) -> bool:
    t_s = window.controller.now_ns() / NS
    return shown_s(window) - 0.001 <= t_s < shown_s(window) + 1 / PER_SECOND + 0.001


def test_a_session_without_a_video_has_no_panel(tmp_path: Path, qtbot: QtBot) -> None:
    before = threading.active_count()
    session = sounding_session(tmp_path, end_s=20.0, with_study=True)
    window = ReplayWindow(open_session(session))
    window.open(0)
    assert window.video is None
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert "no video" in window.transport.hint.text()
    window.close()
    window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before)


def test_the_picture_of_every_time_is_shown(opened_replay_video: Open, qtbot: QtBot) -> None:
    window = opened_replay_video()
    assert_there_is_room(window)
    for t_s in (10.0, 44.0, 5.01, 30.27, 30.32, 30.2, 10.3508, 6.6):
        window.controller.seek(round(t_s * NS))
        qtbot.waitUntil(lambda: is_together(window))
    assert window.video is not None
    window.controller.seek(50 * NS)
    assert window.video.view.text.startswith("No video at this time")


def test_outside_of_the_video_it_is_said_where_it_is(
    opened_replay_video: Open, qtbot: QtBot
) -> None:
    window = opened_replay_video(2.0)
    assert window.video is not None
    assert window.video.view.text == "No video at this time. It runs from 0:05 to 0:45."
    window.controller.seek(20 * NS)
    qtbot.waitUntil(lambda: is_together(window))
    assert window.video.view.text == ""
    window.controller.seek(50 * NS)
    assert window.video.view.text.startswith("No video at this time")
    assert shown_s(window) == -1.0


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0])
def test_it_plays_in_step_with_what_is_heard(
    opened_replay_video: Open, qtbot: QtBot, speed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Sound that waits for a busy machine, as the pictures do.
    monkeypatch.setattr("labapp.record.audio.player.time", PatientTime(most_ms=2))
    window = opened_replay_video(10.0)
    qtbot.waitUntil(lambda: is_together(window))
    window.controller.set_speed(speed)
    window.controller.play()
    apart = []
    for _ in range(30 if EVERYTHING else 12):
        qtbot.wait(20)
        now_s = window.controller.player.heard_ns() / NS
        # A picture is right for as long as it lasts.
        late = now_s - (shown_s(window) + 1 / PER_SECOND)
        apart.append(max(late, shown_s(window) - now_s, 0.0) / speed)
    qtbot.waitUntil(lambda: window.controller.now_ns() > (10 + 0.4 * speed) * NS)
    window.controller.pause()
    assert float(np.median(apart)) <= TOGETHER_S
    qtbot.waitUntil(lambda: is_together(window))


@pytest.mark.parametrize("t_s", [10.3001, 10.3015, 10.325, 10.3508, 10.352])
def test_a_picture_lasts_from_where_the_video_was_placed(
    opened_replay_video: Open, qtbot: QtBot, t_s: float
) -> None:
    """Near the ends of a picture, too, where its place is off by less than it may be."""
    window = opened_replay_video(20.0)
    window.controller.seek(round(t_s * NS))
    qtbot.waitUntil(lambda: is_together(window))


def test_scrubbing_ends_at_the_picture_of_the_pointer(
    opened_replay_video: Open, qtbot: QtBot
) -> None:
    window = opened_replay_video(10.0)
    for t_s in np.linspace(12.0, 40.0, 40):
        window.controller.scrub(round(float(t_s) * NS))
        qtbot.wait(5)
    qtbot.waitUntil(lambda: is_together(window))
    assert shown_s(window) == pytest.approx(40.0, abs=0.051)


def test_what_is_redacted_is_not_seen(
    session: Path, opened_replay_video: Open, qtbot: QtBot
) -> None:
    redact(session, 20 * NS, 22 * NS, "anna")
    window = opened_replay_video(19.0)
    assert window.video is not None
    qtbot.waitUntil(lambda: is_together(window))
    for t_s in (20.0, 21.0, 21.99):
        window.controller.seek(round(t_s * NS))
        qtbot.wait(60)
        assert window.video.view.text == "Redacted: the video is not shown here."
        assert shown_s(window) == -1.0
    window.controller.seek(round(22.1 * NS))
    qtbot.waitUntil(lambda: is_together(window))


def test_it_is_hidden_and_shown_by_a_key_and_stays_so(
    opened_replay_video: Open, qtbot: QtBot
) -> None:
    window = opened_replay_video(10.0)
    assert window.filmed.isVisible()
    QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert not window.filmed.isVisible()
    window.close()
    assert not remembered.read()[0].video
    again = opened_replay_video(10.0)
    assert not again.filmed.isVisible()
    QTest.keyClick(again, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: is_together(again))


@pytest.mark.parametrize("size", [(1366, 768), (900, 560), (1920, 1080)])
def test_there_is_room_for_picture_and_video(
    opened_replay_video: Open, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = opened_replay_video(10.0, size)
    qtbot.waitUntil(lambda: is_together(window))
    assert (window.width(), window.height()) == size
    assert_there_is_room(window)


def assert_there_is_room(window: ReplayWindow) -> None:
    assert window.picture.width() >= 0.25 * window.width()
    assert window.video is not None
    assert window.video.width() >= 120
    assert window.side.text.width() >= 260


def test_a_file_that_is_gone_is_told(
    session: Path, opened_replay_video: Open, qtbot: QtBot
) -> None:
    (videos_folder(session) / "video-1.mp4").unlink()
    window = opened_replay_video(10.0)
    view = window.video.view  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: "cannot be read" in view.text)
    window.controller.seek(12 * NS)
    assert "cannot be read" in view.text


def test_without_the_extra_it_is_said_what_to_get(
    opened_replay_video: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    window = opened_replay_video(10.0)
    assert "labapp extras add video" in window.video.view.text  # type: ignore[union-attr]


def test_a_damaged_list_is_told_and_the_session_is_shown(
    session: Path, opened_replay_video: Open
) -> None:
    path = list_file(session)
    path.write_bytes(path.read_bytes().replace(b"video-1", b"video-7"))
    window = opened_replay_video(10.0)
    assert window.video is None
    assert "damaged" in window.notices.text.text() or "changed" in window.notices.text.text()


def test_a_bundle_shows_its_video_and_an_archive_says_why_not(
    session: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    before = threading.active_count()
    window = ReplayWindow(open_session(export([session], tmp_path / "bundle")))
    window.resize(1366, 768)
    window.open(10 * NS)
    qtbot.waitUntil(lambda: is_together(window))
    window.close()
    window.deleteLater()
    archived = open_session(export([session], tmp_path / "bundle.zip", zip=True))
    assert archived.videos == ()
    assert any("Unpack the bundle" in notice for notice in archived.notices)
    archived.close()
    qtbot.waitUntil(lambda: threading.active_count() <= before)


def test_two_videos_are_turned_to(
    session: Path, opened_replay_video: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    second = write_video(
        tmp_path / "second.mkv", None, 10.0, per_second=PER_SECOND, size=(160, 120)
    )
    add_video(session, second, offset_s=12.0)
    window = opened_replay_video(30.0)
    assert window.video is not None
    first, other = window.video.tabs
    qtbot.waitUntil(lambda: is_together(window))
    other.click()
    assert window.video.view.text == "No video at this time. It runs from 0:12 to 0:22."
    window.controller.seek(13 * NS)
    qtbot.waitUntil(lambda: window.video.view.shown is not None)  # type: ignore
    first.click()
    qtbot.waitUntil(lambda: is_together(window))


def test_redacted_sound_is_silent_and_drawn_as_silence(tmp_path: Path, qtbot: QtBot) -> None:
    session = golden_session(tmp_path / "data")
    redact(session, 20 * NS, 24 * NS, "anna")
    before = threading.active_count()
    opened = open_session(session)
    try:
        sound = opened.player._source  # type: ignore[attr-defined]
        assert isinstance(sound, SessionSound)
        assert not sound.read(20 * NS, 4 * sound.rate).any()
        assert sound.read(24 * NS, sound.rate)[10:].any()
        assert opened.peaks is not None
        low, high = opened.peaks.between(21 * NS, 23 * NS, 8)
        assert not low.any()
        assert not high.any()
    finally:
        opened.close()
        qtbot.waitUntil(lambda: threading.active_count() <= before)


@pytest.fixture
def coding(tmp_path: Path, qtbot: QtBot) -> Iterator[CodingWindow]:
    """A rater's window of a session with sound and units."""
    session = golden_session(tmp_path / "data")
    add_codebook(session.parent)
    add_units(session)
    before = threading.active_count()
    opened = open_coding_window(session, CodingRequest("anna"))
    opened.window.resize(1366, 768)
    opened.window.open(0)
    opened.window.activateWindow()
    qtbot.waitUntil(lambda: opened.window.filled)
    opened.coding.settings.play_units = False
    yield opened
    opened.window.close()
    opened.window.deleteLater()
    qtbot.waitUntil(lambda: threading.active_count() <= before)


def press_replay_redacted(coding: CodingWindow, text: str) -> None:
    stroke = parse_stroke(text)
    widget = QApplication.focusWidget() or coding.window
    QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))


def test_a_unit_is_redacted_by_key_once_that_is_confirmed(coding: CodingWindow) -> None:
    state, desk, window = coding.coding, coding.desk, coding.window
    unit = state.units[3]
    state.go_to(unit.id, play=False)
    words = state.text(unit.id)
    assert words is not None
    assert words.text
    sound = window.session.sound
    length = (unit.t1_ns - unit.t0_ns) * sound.rate // NS
    assert sound.read(unit.t0_ns, length).any()

    press_replay_redacted(coding, "Ctrl+Shift+X")
    assert desk.field.question is not None
    assert "deleted for good" in desk.field.hint.text()
    assert desk.field.no.hasFocus(), "what destroys is never under the keyboard by itself"
    press_replay_redacted(coding, "Return")
    assert sound.read(unit.t0_ns, length).any()
    assert state.text(unit.id) == words

    press_replay_redacted(coding, "E")  # a code that is there stays
    state.go_to(unit.id, play=False)
    press_replay_redacted(coding, "Ctrl+Shift+X")
    QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
    assert not sound.read(unit.t0_ns, length).any()
    assert sound.read(unit.t1_ns + NS // 10, sound.rate).any()
    shown = state.text(unit.id)
    assert shown is not None
    assert shown.text == "[…]"
    assert desk.units.rows[3].text == "[…]"
    assert "Redacted from" in window.notices.text.text()
    assert window.session.peaks is not None
    low, high = window.session.peaks.between(unit.t0_ns, unit.t1_ns, 8)
    assert not low.any()
    assert not high.any()
    for path in annotations_folder(state.files.session).rglob("*.jsonl"):
        assert words.text not in path.read_text("utf-8")
    assert [mark.unit for mark in state.marks.all] == [unit.id]
    press_replay_redacted(coding, "Ctrl+Z")
    shown = state.text(unit.id)
    assert shown is not None
    assert shown.text == "[…]", "no undo brings the words back"
    press_replay_redacted(coding, "G")  # and coding goes on
    assert state.marks.coded(unit.id)


def test_a_selection_is_redacted_and_another_window_stops_it(coding: CodingWindow) -> None:
    state, desk = coding.coding, coding.desk
    begin, end = 21 * NS, 22 * NS
    coding.window.timeline.selected.emit(begin, end)
    press_replay_redacted(coding, "Ctrl+Shift+X")
    assert "0:21.0" in desk.field.title.text()
    book = codebooks.codebooks_of(state.files.session.parent)[0]
    with open_marks(state.files.session, "ben", book):
        QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
        assert not annotations_of(state.files.record).redactions
        told = coding.window.transport.hint.full() + coding.window.notices.text.text()
        assert "open in a window" in told
    press_replay_redacted(coding, "E")  # the own files are open again
    assert len(state.marks) == 1
    press_replay_redacted(coding, "Ctrl+Shift+X")
    QTest.mouseClick(desk.field.yes, Qt.MouseButton.LeftButton)
    (redaction,) = annotations_of(state.files.record).redactions
    assert (redaction.t0_ns, redaction.t1_ns) == (begin, end)
