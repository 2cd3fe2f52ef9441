"""Session time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from labapp.base.clock import FakeClock, SessionClock, utc_label, utc_text


def test_session_time_goes_on_from_where_it_starts() -> None:
    clock = SessionClock(start_ns=5_000)
    reading = time.perf_counter_ns()
    assert clock.now_ns() >= 5_000
    assert clock.from_perf_ns(reading + 1_000) - clock.from_perf_ns(reading) == 1_000
    assert clock.real_seconds(2_000_000_000) == 2.0


def test_a_fast_clock_counts_more_for_the_same_wait() -> None:
    clock = SessionClock(speed=8.0)
    reading = time.perf_counter_ns()
    assert clock.from_perf_ns(reading + 1_000_000) - clock.from_perf_ns(reading) == 8_000_000
    assert clock.real_seconds(8_000_000_000) == 1.0
    for speed in (0, -1):
        with pytest.raises(ValueError, match="speed"):
            SessionClock(speed=speed)


def test_a_fake_clock_moves_only_when_told_and_never_back() -> None:
    clock = FakeClock()
    clock.advance(1.5)
    assert clock.now_ns() == 1_500_000_000
    assert clock.utc() == datetime(2026, 1, 2, 3, 4, 6, 500_000, tzinfo=UTC)
    with pytest.raises(ValueError, match="back"):
        clock.set_ns(1)


def test_utc_as_text() -> None:
    moment = datetime(2026, 7, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert utc_text(moment) == "2026-06-30T23:30:00.000000Z"
    assert utc_label(moment) == "20260630T233000Z"
