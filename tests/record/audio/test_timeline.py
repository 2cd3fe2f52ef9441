from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.record.audio.capture import Packet, PacketQueue
from labapp.record.audio.track import PacketTimeline, PlacedPacket
from tests.helpers.nightly import examples

RATE = 48000
BLOCK = 2400
BLOCK_S = BLOCK / RATE


def packet(at_s: float, *, overflow: bool = False, dropped: int = 0) -> Packet:
    return Packet(round(at_s * 1e9), at_s, at_s, overflow, dropped, bytes(2 * BLOCK))


def run(packets: Iterable[Packet]) -> list[PlacedPacket]:
    timeline = PacketTimeline(RATE)
    placed = [ready for item in packets for ready in timeline.take(item)]
    return placed + timeline.flush()


def lost(placed: Sequence[PlacedPacket]) -> list[tuple[int, int, str]]:
    """(index of the packet it lies before, frames, cause) of every gap."""
    return [(i, p.lost, p.cause) for i, p in enumerate(placed) if p.cause]


@settings(max_examples=examples(40))
@given(
    jitter=st.lists(st.floats(0, 0.03), min_size=150, max_size=150),
    stalls=st.lists(
        st.tuples(st.integers(2, 4), st.floats(0.05, 0.95)), max_size=3, unique_by=lambda s: s[0]
    ),
    ppm=st.floats(-500, 500),
)
def test_jitter_stalls_and_drift_never_look_like_lost_sound(
    jitter: list[float], stalls: list[tuple[int, float]], ppm: float
) -> None:
    arrivals = [(i + 1) * BLOCK_S * (1 + ppm / 1e6) + late for i, late in enumerate(jitter)]
    for place, length in stalls:
        index = 30 * place
        # Nothing is delivered for a while, then the backlog comes at once.
        until = arrivals[index] + length
        arrivals[index:] = [max(at, until) for at in arrivals[index:]]
    arrivals = [max(arrivals[: i + 1]) for i in range(len(arrivals))]
    placed = run(packet(at) for at in arrivals)
    assert len(placed) == len(arrivals)
    assert lost(placed) == []


@settings(max_examples=examples(40))
@given(
    at=st.integers(65, 100),
    seconds=st.floats(0.1, 3.0),
    flag=st.booleans(),
    jitter=st.lists(st.floats(0, 0.004), min_size=150, max_size=150),
)
def test_lost_sound_is_found_where_it_is_missing(
    at: int, seconds: float, flag: bool, jitter: list[float]
) -> None:
    packets = [
        packet((i + 1) * BLOCK_S + late + (seconds if i >= at else 0.0), overflow=flag and i == at)
        for i, late in enumerate(jitter)
    ]
    placed = run(packets)
    [(index, frames, cause)] = lost(placed)
    assert index == at
    assert cause == ("overflow" if flag else "stalled")
    assert frames / RATE == pytest.approx(seconds, abs=0.005)
    assert [p.packet for p in placed] == packets


def test_an_overflow_without_missing_time_is_told_but_not_filled() -> None:
    placed = run(packet((i + 1) * BLOCK_S, overflow=i == 80) for i in range(120))
    assert lost(placed) == [(80, 0, "overflow")]


def test_what_found_the_queue_full_is_known_to_the_frame() -> None:
    packets = [packet((i + 1) * BLOCK_S) for i in range(60)]
    packets += [
        packet((i + 11) * BLOCK_S, dropped=10 * BLOCK if i == 60 else 0) for i in range(60, 120)
    ]
    assert lost(run(packets)) == [(60, 10 * BLOCK, "queue")]


def test_a_stream_that_starts_late_and_off_beat_has_no_gap() -> None:
    early = [packet(5.0 + 0.001 * i) for i in range(8)]
    late = [packet(5.6 + (i + 1) * BLOCK_S) for i in range(100)]
    assert lost(run(early + late)) == []


def test_expected_time_of_the_next_frame() -> None:
    timeline = PacketTimeline(RATE)
    assert timeline.expected_ns() is None
    for i in range(100):
        timeline.take(packet(7.0 + (i + 1) * BLOCK_S + (0.02 if i % 3 else 0.0)))
    assert timeline.expected_ns() == pytest.approx(12.0e9, abs=1e6)


def test_the_queue_is_bounded_and_counts_what_it_refuses() -> None:
    queue = PacketQueue(max_frames=100, frame_bytes=2)
    for i in range(5):
        queue.put(i, 0.0, 0.0, False, bytes(60))
    assert [p.dropped for p in queue.take()] == [0, 0, 0]
    queue.put(9, 0.0, 0.0, False, bytes(60))
    assert [p.dropped for p in queue.take()] == [60]
    assert queue.take() == []


def test_a_frame_is_never_younger_than_its_block() -> None:
    wrong = Packet(0, adc_s=10.0, now_s=10.006, overflow=False, dropped=0, data=b"")
    right = Packet(0, adc_s=10.0, now_s=10.090, overflow=False, dropped=0, data=b"")
    assert wrong.age_s(0.05) == 0.05
    assert right.age_s(0.05) == pytest.approx(0.09)


def test_a_stall_after_a_stall_is_waited_out() -> None:
    arrivals = [(i + 1) * BLOCK_S for i in range(150)]
    for index in (70, 71):
        until = arrivals[index] + 0.5
        arrivals[index:] = [max(at, until) for at in arrivals[index:]]
    assert lost(run(packet(at) for at in arrivals)) == []
