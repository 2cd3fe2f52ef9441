"""The clock of the replay, on a player whose time is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS
from labapp.coding.annotations.model import Unit
from labapp.ui.replay.controller import REPEAT_SPEED, ReplayController, shown_time

END_NS = 100 * NS


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
    assert notices == ["There is no other unit in this direction."]
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
    assert notices == ["Select a stretch on the timeline first, or go to a unit."]
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
    assert notices == ["There is no other flag in this direction."]


def test_scrubbing_pauses_and_is_heard_where_the_pointer_is(
    replay: ReplayController, player: HandClock
) -> None:
    replay.play()
    replay.scrub(33 * NS)
    assert not player.playing
    assert player.grains == [33 * NS]
    assert replay.now_ns() == 33 * NS


def test_times_are_written_as_people_write_them() -> None:
    assert shown_time(754_500_000_000) == "12:34.5"
    assert shown_time(3_723_000_000_000, 0) == "1:02:03"
