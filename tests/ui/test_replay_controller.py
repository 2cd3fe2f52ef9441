"""The replay's clock, keys, processes and view of time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import SetupError
from labapp.base.parallel.processes import gc_paused
from labapp.coding.annotations.model import Unit
from labapp.record.journal.sessions import SessionSummary
from labapp.ui.moderator.home import PALETTE
from labapp.ui.moderator.wording import format_time
from labapp.ui.replay import timeline_rows as drawing
from labapp.ui.replay import transport
from labapp.ui.replay.controller import (
    REPEAT_SPEED,
    ReplayController,
)
from labapp.ui.replay.timeline_rows import LEAST_SPAN_NS, TICK_PX, TimeScale
from labapp.ui.replay.transport import ACTIONS, SECTIONS, parse_stroke, read_keys, stroke_of
from labapp.ui.researcher.job import ReplayProcesses
from labapp.ui.researcher.page import ResearcherPage
from tests.helpers.journals import golden_session
from tests.helpers.timelines import MIN, MemoryPeaks, made_units
from tests.ui.test_sessions_page import line

END_NS = 100 * NS


def test_nothing_is_collected_while_a_replay_opens() -> None:
    with gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


class HandClock:
    """A player without sound that hears what the test says."""

    def __init__(self) -> None:
        self.playing = False
        self.at_ns = 0
        self.speed = 1.0
        self.loop: tuple[int | None, int | None] = (None, None)
        self.grains: list[int] = []
        self.closed = False
        self.problem = ""

    def play(self) -> None:
        self.playing = True

    def pause(self) -> None:
        self.playing = False

    def seek(self, t_ns: int) -> None:
        self.at_ns = t_ns

    def scrub(self, t_ns: int) -> None:
        self.at_ns = t_ns
        self.grains.append(t_ns)

    def set_speed(self, speed: float) -> None:
        self.speed = speed

    def set_loop(self, t0_ns: int | None, t1_ns: int | None = None) -> None:
        self.loop = (t0_ns, t1_ns)

    def heard_ns(self) -> int:
        return self.at_ns

    def close(self) -> None:
        self.closed = True


UNITS = (Unit("a", 10 * NS, 14 * NS), Unit("b", 20 * NS, 25 * NS), Unit("c", 40 * NS, 45 * NS))


@pytest.fixture
def player() -> HandClock:
    return HandClock()


@pytest.fixture
def replay(player: HandClock, qtbot: QtBot) -> Iterator[ReplayController]:
    made = ReplayController(player, 0, END_NS)
    made.set_units(UNITS)
    yield made
    made.close()
    made.deleteLater()


def heard(replay: ReplayController, player: HandClock, seconds: float) -> None:
    """Let the player come to a time, and the replay look at it."""
    player.at_ns = round(seconds * NS)
    replay.tick()


def test_the_picture_follows_what_is_heard(replay: ReplayController, player: HandClock) -> None:
    moved, drawn = [], []
    replay.moved.connect(moved.append)
    replay.picture_due.connect(drawn.append)
    replay.toggle()
    heard(replay, player, 1.5)
    assert replay.now_ns() == moved[-1] == drawn[-1] == 1.5 * NS


def test_a_slow_picture_is_drawn_less_often_and_for_the_newest_time(
    replay: ReplayController, player: HandClock, qtbot: QtBot
) -> None:
    drawn = []

    def draw(t_ns: int) -> None:
        drawn.append(t_ns)
        qtbot.wait(30)

    replay.picture_due.connect(draw)
    replay.seek(NS)
    for tenths in range(1, 6):
        replay.seek(NS + tenths * NS // 10)
    assert drawn == [NS]
    qtbot.waitUntil(lambda: len(drawn) > 1)
    assert drawn == [NS, 1.5 * NS]


def test_playing_again_goes_back_where_it_was_paused(
    replay: ReplayController, player: HandClock
) -> None:
    replay.toggle()
    heard(replay, player, 30)
    replay.toggle()
    assert not player.playing
    replay.toggle()
    assert player.at_ns == 28 * NS
    assert player.playing


def test_playing_from_a_place_that_was_gone_to_goes_back_nowhere(
    replay: ReplayController, player: HandClock
) -> None:
    replay.toggle()
    heard(replay, player, 30)
    replay.pause()
    replay.seek(50 * NS)
    replay.toggle()
    assert player.at_ns == 50 * NS
    heard(replay, player, 60)
    replay.pause()
    replay.set_back(0)
    replay.toggle()
    assert player.at_ns == 60 * NS


def test_the_end_pauses_and_playing_there_begins_anew(
    replay: ReplayController, player: HandClock
) -> None:
    replay.play()
    heard(replay, player, 120)
    assert not replay.playing
    assert replay.now_ns() == END_NS
    replay.play()
    assert player.at_ns == 0


def test_units_are_gone_through_in_both_directions(
    replay: ReplayController, player: HandClock
) -> None:
    current, notices = [], []
    replay.unit_changed.connect(current.append)
    replay.notice.connect(notices.append)
    for _ in range(3):
        replay.go_to_unit(True)
    assert current == ["a", "b", "c"]
    replay.go_to_unit(True)
    assert notices == ["No more units in this direction."]
    replay.seek(42 * NS)
    replay.go_to_unit(False)
    assert replay.now_ns() == 40 * NS
    replay.go_to_unit(False)
    assert replay.now_ns() == 20 * NS


def test_while_it_plays_going_back_passes_the_beginning_that_was_just_heard(
    replay: ReplayController, player: HandClock
) -> None:
    replay.seek_and_play(40 * NS)
    heard(replay, player, 40.1)
    replay.go_to_unit(False)
    assert replay.now_ns() == 20 * NS
    assert player.playing


def test_a_unit_is_played_again(replay: ReplayController, player: HandClock) -> None:
    replay.seek(22 * NS)
    replay.repeat_unit()
    assert player.at_ns == 20 * NS
    assert player.playing
    heard(replay, player, 26)
    assert player.playing


def test_the_last_three_seconds_are_repeated_slowly_and_the_speed_comes_back(
    replay: ReplayController, player: HandClock
) -> None:
    replay.set_speed(2.0)
    replay.seek_and_play(50 * NS)
    replay.repeat_slowly()
    assert (player.at_ns, player.speed) == (47 * NS, REPEAT_SPEED)
    heard(replay, player, 48)
    replay.repeat_slowly()  # the same three seconds again
    assert (player.at_ns, player.speed) == (47 * NS, REPEAT_SPEED)
    heard(replay, player, 50)
    assert player.speed == replay.speed == 2.0
    assert player.playing


def test_going_elsewhere_ends_the_slow_repetition(
    replay: ReplayController, player: HandClock
) -> None:
    replay.seek_and_play(50 * NS)
    replay.repeat_slowly()
    replay.seek(10 * NS)
    assert player.speed == 1.0


def test_loops_are_of_the_selection_or_the_unit_and_end_when_left(
    replay: ReplayController, player: HandClock
) -> None:
    told: list[object] = []
    notices: list[str] = []
    replay.loop_changed.connect(told.append)
    replay.notice.connect(notices.append)
    replay.toggle_loop()
    assert notices == ["First select a stretch on the timeline, or go to a unit."]
    replay.seek(22 * NS)
    replay.toggle_loop()
    assert player.loop == (20 * NS, 25 * NS)
    replay.toggle_loop()
    assert player.loop == (None, None)
    replay.set_selection(60 * NS, 62 * NS)
    replay.toggle_loop()
    assert player.loop == (60 * NS, 62 * NS)
    assert player.at_ns == 60 * NS
    replay.seek(10 * NS)
    assert replay.loop is None
    assert told == [(20 * NS, 25 * NS), None, (60 * NS, 62 * NS), None]


def test_speeds_go_up_and_down_between_their_ends(
    replay: ReplayController, player: HandClock
) -> None:
    for _ in range(12):
        replay.change_speed(True)
    assert player.speed == 3.0
    for _ in range(12):
        replay.change_speed(False)
    assert player.speed == 0.25


def test_backwards_is_heard_in_grains_and_quicker_when_asked_again(
    replay: ReplayController, player: HandClock, qtbot: QtBot
) -> None:
    replay.seek(30 * NS)
    replay.backwards()
    qtbot.waitUntil(lambda: len(player.grains) >= 2)
    first = player.grains[0] - player.grains[1]
    replay.backwards()
    before = len(player.grains)
    qtbot.waitUntil(lambda: len(player.grains) >= before + 2)
    assert player.grains[-2] - player.grains[-1] == 2 * first
    replay.toggle()
    assert not replay.playing


def test_backwards_ends_at_the_beginning(
    replay: ReplayController, player: HandClock, qtbot: QtBot
) -> None:
    replay.seek(NS // 10)
    replay.backwards()
    qtbot.waitUntil(lambda: not replay.playing)
    assert replay.now_ns() == 0


def test_a_jump_that_leads_nowhere_says_so(replay: ReplayController) -> None:
    notices: list[str] = []
    replay.notice.connect(notices.append)
    replay.find = lambda kind, t_ns, forward: 7 * NS if kind == "note" and forward else None
    replay.jump("note", True)
    assert replay.now_ns() == 7 * NS
    replay.jump("flag", False)
    assert notices == ["No more flags in this direction."]


def test_scrubbing_pauses_and_is_heard_where_the_pointer_is(
    replay: ReplayController, player: HandClock
) -> None:
    replay.play()
    replay.scrub(33 * NS)
    assert not player.playing
    assert player.grains == [33 * NS]
    assert replay.now_ns() == 33 * NS


def test_times_are_written_as_people_write_them() -> None:
    assert format_time(754_500_000_000) == "12:34.5"
    assert format_time(3_723_000_000_000, 0) == "1:02:03"


KEY, HELD = Qt.Key, Qt.KeyboardModifier

NONE = HELD.NoModifier


def own(text: str) -> Path:
    """Write the user's own keys."""
    path = resources.settings_root() / transport.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_every_action_has_a_key_that_nothing_else_has() -> None:
    shipped = read_keys()
    assert shipped.problem is None
    for section in SECTIONS:
        assert set(shipped.strokes[section]) == set(ACTIONS[section])
    for section in ("replay", "code"):
        for action, strokes in shipped.strokes[section].items():
            assert strokes, action
            for stroke in strokes:
                assert not stroke.belongs_to_codes
                assert shipped.action(stroke, coding=section == "code") == action


def test_no_shipped_key_is_one_of_the_numeric_pad_or_a_function_key_alone() -> None:
    for strokes in read_keys().strokes["replay"].values():
        plain = [s for s in strokes if not KEY.Key_F1 <= s.key <= KEY.Key_F35]
        assert plain
        assert not any(s.modifiers & HELD.KeypadModifier.value for s in strokes)


@pytest.mark.parametrize(
    ("key", "held", "text", "action"),
    [
        (KEY.Key_Space, NONE, " ", "play"),
        (KEY.Key_Space, HELD.ShiftModifier, " ", "play_from_here"),
        (KEY.Key_Less, HELD.ShiftModifier, "<", "back_a_little"),
        (KEY.Key_Semicolon, HELD.ShiftModifier, ";", "back_a_little"),
        (KEY.Key_Question, HELD.ShiftModifier, "?", "keys"),
        (KEY.Key_1, HELD.ControlModifier | HELD.ShiftModifier, "1", "usual_speed"),
        (KEY.Key_Plus, NONE, "+", "faster"),
        (KEY.Key_Plus, HELD.KeypadModifier, "+", "faster"),
        (KEY.Key_Enter, HELD.KeypadModifier, "\r", "repeat_unit"),
        (KEY.Key_Equal, HELD.ShiftModifier, "=", "faster"),
        (KEY.Key_R, HELD.ControlModifier | HELD.ShiftModifier, "\x12", "repeat_slowly"),
    ],
)
def test_a_sign_is_meant_wherever_it_lies(
    key: Qt.Key, held: Qt.KeyboardModifier, text: str, action: str
) -> None:
    assert read_keys().action(stroke_of(key, held, text)) == action


def test_alt_gr_makes_a_sign() -> None:
    both = HELD.ControlModifier | HELD.AltModifier
    assert stroke_of(KEY.Key_BracketLeft, both, "[") == parse_stroke("[")


def test_while_a_text_is_typed_only_keys_that_write_nothing_hold() -> None:
    shipped = read_keys()
    for text in ("Space", ",", "?", "Left", "Ctrl+Left", "Return", "Home"):
        assert shipped.action(parse_stroke(text), typing=True) is None, text
    for text in ("Ctrl+R", "Ctrl+Space", "Escape", "Alt+N"):
        assert shipped.action(parse_stroke(text), typing=True) is not None, text


def test_an_own_file_changes_what_it_names() -> None:
    own("replay:\n  play: [Ctrl+P]\n")
    changed = read_keys()
    assert changed.problem is None
    assert changed.action(parse_stroke("Ctrl+P")) == "play"
    assert changed.action(parse_stroke("Space")) is None
    assert changed.action(parse_stroke(",")) == "back"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("replay:\n  plai: [Space]\n", 2, "unknown action 'plai' (did you mean 'play'?)"),
        ("repaly: {}\n", 1, "unknown section 'repaly' (did you mean 'replay'?)"),
        ("replay:\n  loop: [Ctrl+G]\n", 2, "Ctrl+G is also the key of replay.go_to"),
        ("replay:\n  play: [Space]\n  loop: [Space]\n", 3, "Space is also the key of replay.play"),
        ("replay:\n  play: [Spaec]\n", 2, "found 'Spaec'; allowed: a key such as Space"),
        ("replay:\n  play: ['Shift+,']\n", 2, "the symbol that this key produces with Shift"),
        ("replay:\n  play: [p]\n", 2, "which belongs to codes"),
        ("replay:\n  play: ['7']\n", 2, "which belongs to codes"),
        ("replay:\n  play: Space\n", 2, "a list of keys"),
        ("replay:\n  play: [1]\n", 2, "a list of keys"),
        ("replay: [Space]\n", 1, "allowed: action: [keys]"),
        ("replay:\n  play: [Space\n", 2, "YAML"),
        ("- play\n", 0, "expected 'key: value' lines"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_reason(text: str, line: int, why: str) -> None:
    path = own(text)
    read = read_keys()
    assert read.action(parse_stroke("Space")) == "play"  # the usual keys hold
    assert isinstance(read.problem, SetupError)
    assert str(path) in read.problem.what
    assert why in read.problem.what
    if line:
        assert f"line {line}" in read.problem.what


def test_a_file_that_cannot_be_read_is_told() -> None:
    (resources.settings_root() / transport.FILE).mkdir(parents=True)
    assert read_keys().problem is not None


@given(st.text(max_size=12))
def test_no_text_is_worse_than_refused(text: str) -> None:
    try:
        stroke = parse_stroke(text)
    except ValueError:
        return
    assert isinstance(stroke.text(), str)


@pytest.fixture
def replays(qtbot: QtBot) -> Iterator[ReplayProcesses]:
    made = ReplayProcesses()
    yield made
    made.stop()
    made.deleteLater()


def test_a_session_that_cannot_be_replayed_is_told(
    replays: ReplayProcesses, tmp_path: Path, qtbot: QtBot
) -> None:
    session = golden_session(tmp_path)
    (session / "journal.sqlite").write_bytes(b"no journal")
    with qtbot.waitSignal(replays.failed, timeout=60_000) as told:
        replays.open(session)
    (error,) = told.args
    assert session.name in error.what
    assert error.todo
    assert replays.running == ()


def test_a_session_is_opened_once_and_closed_when_a_session_begins(
    replays: ReplayProcesses, tmp_path: Path, qtbot: QtBot
) -> None:
    session = golden_session(tmp_path)
    with qtbot.assertNotEmitted(replays.failed):
        replays.open(session)
        replays.open(session)
        assert replays.running == (session,)
        qtbot.wait(50)
        replays.stop()
    assert replays.running == ()


def test_a_row_of_the_results_is_replayed(qtbot: QtBot) -> None:
    page = ResearcherPage(PALETTE)
    qtbot.addWidget(page)
    lines: list[SessionSummary] = [line("P1", 1), line("P2", 2, withdrawn="keep")]
    page.set_sessions(lines, {}, "2 sessions")
    assert not page.replay.isEnabled()
    page.sessions.selectRow(0)
    chosen = page.sessions.selected()
    assert chosen is not None
    assert page.replay.isEnabled() == (not chosen.withdrawn)
    for row in range(2):
        page.sessions.selectRow(row)
        chosen = page.sessions.selected()
        assert chosen is not None
        if chosen.withdrawn:
            with qtbot.assertNotEmitted(page.replay_requested):
                page.sessions.opened.emit(chosen)
        else:
            with qtbot.waitSignal(page.replay_requested) as asked:
                page.sessions.opened.emit(chosen)
            assert asked.args == [chosen.path]


END = 20 * MIN

REPLAY_TIME_DRAWING_UNITS = made_units(END)


def test_a_moved_view_asks_for_new_columns_of_sound_only() -> None:
    peaks = MemoryPeaks(END, REPLAY_TIME_DRAWING_UNITS)
    columns = drawing.WaveColumns(peaks)
    columns.between(1000, 800, 1e7)
    asked = peaks.asked
    low, high = columns.between(1007, 800, 1e7)
    assert peaks.asked - asked == 7
    fresh_low, fresh_high = drawing.WaveColumns(peaks).between(1007, 800, 1e7)
    np.testing.assert_array_equal(low, fresh_low)
    np.testing.assert_array_equal(high, fresh_high)
    low, _ = columns.between(990, 800, 1e7)
    np.testing.assert_array_equal(low, drawing.WaveColumns(peaks).between(990, 800, 1e7)[0])


def test_a_curve_stays_until_it_changes_and_breaks_off() -> None:
    scale = TimeScale()
    scale.set_session(0, 10 * NS)
    scale.resize(0, 10)
    times = np.array([NS, 3 * NS, 3 * NS + 1, 6 * NS], dtype=np.int64)
    values = np.array([0.2, 0.9, 0.5, np.nan], dtype=np.float32)
    low, high = drawing.step_columns(scale, times, values, 10)
    np.testing.assert_allclose(low[[1, 2, 3, 5]], [0.2, 0.2, 0.2, 0.5])
    np.testing.assert_allclose(high[[1, 2, 3, 5]], [0.2, 0.2, 0.9, 0.5], rtol=1e-6)
    assert np.isnan(low[[0, 7, 9]]).all()


@given(
    st.lists(
        st.tuples(st.sampled_from(["zoom", "pan", "show"]), st.floats(-3, 3), st.floats(0, 1)),
        max_size=30,
    )
)
def test_no_move_leaves_the_session(moves: list[tuple[str, float, float]]) -> None:
    scale = TimeScale()
    scale.set_session(7, END)
    scale.resize(100, 900)
    for move, amount, share in moves:
        if move == "zoom":
            scale.zoom(2.0**amount, 100 + 900 * share)
        elif move == "pan":
            scale.pan(1000 * amount)
        else:
            scale.show(share * END, share * END + abs(amount) * MIN)
        assert scale.left_ns >= 7
        assert scale.right_ns <= END + 1
        assert scale.span_ns >= LEAST_SPAN_NS
        places = [scale.x(t_ns) for t_ns, _ in scale.ticks()]
        assert all(b - a >= TICK_PX - 1e-6 for a, b in pairwise(places))


def test_labels_of_times_tell_ticks_apart() -> None:
    scale = TimeScale()
    scale.set_session(0, END)
    for span in (NS // 2, 3 * NS, 40 * NS, 7 * MIN, END):
        scale.resize(0, 1000)
        scale.show(MIN, MIN + span)
        words = [word for _, word in scale.ticks()]
        assert len(words) == len(set(words)) > 1
