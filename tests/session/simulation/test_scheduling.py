"""The virtual scheduler: timers in the order of their times, the clock moved to each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labapp.base.clock import FakeClock
from labapp.session.runner import VirtualScheduler


@given(st.lists(st.floats(0, 100), max_size=20))
def test_timers_run_in_order_at_their_times(delays: list[float]) -> None:
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    ran: list[tuple[int, int]] = []
    for number, delay in enumerate(delays):
        scheduler.call_later(delay, lambda n=number: ran.append((clock.now_ns(), n)))  # type: ignore[misc]
    scheduler.run(lambda: False)
    assert ran == sorted((round(d * 1e9), n) for n, d in enumerate(delays))


def test_cancelled_timers_do_not_run_and_posts_run_before_time_goes_on() -> None:
    clock = FakeClock()
    scheduler = VirtualScheduler(clock)
    ran: list[str] = []
    scheduler.call_later(1, lambda: ran.append("cancelled")).cancel()
    scheduler.call_later(1, lambda: scheduler.post(lambda: ran.append("posted")))
    scheduler.call_later(2, lambda: ran.append("later"))
    scheduler.run(lambda: len(ran) == 2)
    assert ran == ["posted", "later"]
    assert clock.now_ns() == 2_000_000_000
