"""Time stamps of input events become times of the session's clock, or are not trusted."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.ui import presentation
from labapp.ui.presentation import LONGEST_NS, MS, RECENT, WRAP_NS, InputClock

WRAP_MS = WRAP_NS // MS
NOW = 1_234_567_890_123_456
STARTS = st.integers(LONGEST_NS + MS, 2**62)
LATES = st.integers(0, LONGEST_NS - MS)
OFFSETS = st.integers(0, 2**50)


@given(STARTS, LATES)
def test_a_stamp_of_the_same_clock_is_the_time_to_the_millisecond(happened: int, late: int) -> None:
    stamp = happened // MS
    found = InputClock(same=True).of(stamp, happened + late)
    assert found == (stamp * MS, "event")


@given(st.integers(1, 40), STARTS, LATES)
def test_a_clock_of_32_bits_that_began_again_is_the_same_clock(
    turns: int, happened: int, late: int
) -> None:
    happened += turns * WRAP_NS
    stamp = happened // MS % WRAP_MS
    found = InputClock(same=True).of(stamp, happened + late)
    assert found.perf_ns == (happened // MS * MS if stamp else happened + late)


def test_a_press_just_before_the_clock_began_again_arrives_just_after() -> None:
    arrival = 7 * WRAP_NS + 2 * MS
    assert InputClock(same=True).of(WRAP_MS - 3, arrival) == (arrival - 5 * MS, "event")


@pytest.mark.parametrize("stamp", [0, NOW // MS + 5, (NOW - LONGEST_NS) // MS - 5, 17])
def test_no_stamp_one_from_the_future_and_one_from_long_ago_are_not_trusted(stamp: int) -> None:
    assert InputClock(same=True).of(stamp, NOW) == (NOW, "arrival")


@pytest.mark.parametrize("stamp", [0, (NOW - LONGEST_NS) // MS - 5, 17])
def test_nor_are_they_of_another_clock(stamp: int) -> None:
    clock = InputClock(same=False)
    clock.of(NOW // MS - 1, NOW)
    assert clock.of(stamp, NOW) == (NOW, "arrival")


@given(OFFSETS, STARTS, st.lists(st.tuples(st.integers(1, 5 * 10**9), LATES), min_size=2))
def test_of_another_clock_the_promptest_event_says_what_to_add(
    offset: int, start: int, events: list[tuple[int, int]]
) -> None:
    """Never after the arrival, and after the event by no more than the promptest one was late."""
    clock, happened, lates = InputClock(same=False), start, []
    for gap, late in events:
        happened += gap
        lates.append(late)
        found = clock.of((happened + offset) // MS, happened + late)
        assert found.perf_ns <= happened + late
        promptest = min(lates[-RECENT - 1 :])
        assert abs(found.perf_ns - happened) <= promptest + MS
        assert found.timed_by == ("arrival" if len(lates) == 1 else "event")


@given(OFFSETS, STARTS, LATES)
def test_clocks_that_part_are_brought_together_again(offset: int, start: int, late: int) -> None:
    """A machine that slept stops one clock and not the other."""
    clock, happened = InputClock(same=False), start
    for _ in range(5):
        happened += 10**9
        clock.of((happened + offset) // MS, happened)
    slept = 3600 * 10**9
    happened += slept
    assert clock.of((happened + offset - slept) // MS, happened).timed_by == "arrival"
    happened += 10**9
    found = clock.of((happened + offset - slept) // MS, happened + late)
    assert abs(found.perf_ns - happened) <= MS
    assert found.timed_by == "event"


def test_within_a_step_of_a_coarse_clock_the_arrival_says_more() -> None:
    clock = InputClock(same=True, step_ns=16 * MS)
    assert clock.of(NOW // MS - 10, NOW) == (NOW, "arrival")
    assert clock.of(NOW // MS - 20, NOW) == ((NOW // MS - 20) * MS, "event")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux's clocks")
def test_on_linux_python_reads_the_clock_that_x11_and_wayland_stamp_with() -> None:
    stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // MS
    found = presentation.of_this_machine().of(stamp, time.perf_counter_ns())
    assert found == (stamp * MS, "event")
