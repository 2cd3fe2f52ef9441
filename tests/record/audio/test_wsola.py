"""Slower and faster sound keeps its pitch, its place and its samples."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.record.audio.player import FASTEST, SEARCH_S, SLOWEST, Hop, Read, Stretcher
from tests.helpers.nightly import examples

RATE = 48_000


def reader(samples: NDArray[np.int16]) -> Read:
    def read(first: int, frames: int) -> NDArray[np.int16]:
        out = np.zeros(frames, np.int16)
        begin, end = max(0, first), min(samples.size, first + frames)
        if begin < end:
            out[begin - first : end - first] = samples[begin:end]
        return out

    return read


def hops(samples: NDArray[np.int16], speed: float, rate: int = RATE) -> list[Hop]:
    stretcher = Stretcher(reader(samples), rate)
    made = []
    while stretcher.at < samples.size:
        made.append(stretcher.hop(speed))
    return made


def stretched(samples: NDArray[np.int16], speed: float, rate: int = RATE) -> NDArray[np.int16]:
    return np.concatenate([hop.samples for hop in hops(samples, speed, rate)])


def tone(hz: float, seconds: float, rate: int = RATE) -> NDArray[np.int16]:
    turns = np.arange(round(seconds * rate)) * (2 * np.pi * hz / rate)
    return (10_000 * np.sin(turns)).astype(np.int16)


def pitch(samples: NDArray[np.int16], rate: int = RATE) -> float:
    """The loudest frequency in Hz, to twentieths."""
    shaped = samples * np.hanning(samples.size)
    size = 1 << 20
    return float(np.argmax(np.abs(np.fft.rfft(shaped, size)))) * rate / size


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("rate", [16_000, 44_100, RATE])
def test_a_tone_keeps_its_pitch(speed: float, rate: int) -> None:
    made = stretched(tone(220.0, 4.0, rate), speed, rate)
    assert made.size / rate == pytest.approx(4.0 / speed, abs=0.03)
    inside = made[rate // 10 : -rate // 10]
    assert abs(pitch(inside, rate) - 220.0) < 1.0
    # No break in it: it never moves by more than the tone itself does.
    steepest = 10_000 * 2 * np.pi * 220 / rate
    assert np.abs(np.diff(inside.astype(int))).max() < 1.6 * steepest + 2


def test_at_its_own_speed_it_is_itself() -> None:
    noise = np.random.default_rng(1).integers(-32768, 32767, 5 * RATE).astype(np.int16)
    assert np.array_equal(stretched(noise, 1.0)[: noise.size], noise)


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.3, 2.0, 3.0])
def test_bursts_lie_where_they_are_due(speed: float) -> None:
    """A tenth of a second of noise every second, its middle no more than 25 ms away."""
    rng = np.random.default_rng(2)
    samples = rng.normal(0, 30, 20 * RATE).astype(np.int16)
    middles = np.arange(RATE // 2, samples.size, RATE)
    for middle in middles:
        samples[middle - RATE // 20 : middle + RATE // 20] = rng.normal(0, 8000, RATE // 10)
    made = np.abs(stretched(samples, speed).astype(float))
    made[made < 300] = 0
    for middle in middles:
        around = slice(*(round((middle + side * RATE / 4) / speed) for side in (-1, 1)))
        heard = np.average(np.arange(around.start, around.stop), weights=made[around])
        assert abs(heard * speed - middle) / RATE < 0.025


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.0, 1.3, 2.0, 3.0])
def test_what_is_heard_is_told(speed: float) -> None:
    """Every sample of slowly rising sound lies between those that a hop names."""
    samples = np.linspace(0, 30_000, 10 * RATE).astype(np.int16)
    made = hops(samples, speed)
    for before, hop in pairwise(made):
        assert before.last == hop.first
        assert abs(hop.first - hop.due) <= SEARCH_S * RATE + abs(speed - 1) * 0.02 * RATE + 1
        if hop.last + 0.02 * RATE < samples.size:
            told = np.linspace(hop.first, hop.last, hop.samples.size) * 30_000 / samples.size
            assert np.abs(hop.samples - told).max() < 30  # a hundredth of a second


@settings(max_examples=examples(30))
@given(st.lists(st.floats(SLOWEST, FASTEST), min_size=1, max_size=200), st.floats(0, 1e6))
def test_its_place_is_the_sum_of_its_speeds(speeds: list[float], first: float) -> None:
    stretcher = Stretcher(lambda _first, frames: np.zeros(frames, np.int16), 8000)
    stretcher.seek(first)
    expected = first
    for speed in speeds:
        hop = stretcher.hop(speed)
        assert hop.due == pytest.approx(expected, abs=1e-6)
        assert hop.samples.size == stretcher.hop_frames
        expected += stretcher.hop_frames * speed
    assert stretcher.at == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("speed", [0.7, 1.1])
def test_no_drift_in_ninety_minutes(speed: float) -> None:
    stretcher = Stretcher(lambda _first, frames: np.zeros(frames, np.int16), 1000)
    hops = round(90 * 60 / 0.02 / speed)
    for _ in range(hops):
        stretcher.hop(speed)
    assert abs(stretcher.at - hops * stretcher.hop_frames * speed) < 0.01


def test_a_change_of_speed_and_a_jump_make_no_click() -> None:
    samples = tone(220.0, 30.0)
    stretcher = Stretcher(reader(samples), RATE)
    hops = []
    for number in range(400):
        if number % 50 == 49:
            stretcher.jump(stretcher.at - 4321)
        hops.append(stretcher.hop((0.5, 1.0, 2.0, 1.5)[number // 10 % 4]).samples)
    steepest = 10_000 * 2 * np.pi * 220 / RATE
    assert np.abs(np.diff(np.concatenate(hops).astype(int))).max() < 1.6 * steepest + 2


def test_a_speed_that_cannot_be_is_clipped() -> None:
    stretcher = Stretcher(reader(tone(220, 1)), RATE)
    for asked, taken in ((0.01, SLOWEST), (50.0, FASTEST)):
        before = stretcher.at
        assert stretcher.hop(asked).samples.size == stretcher.hop_frames
        assert stretcher.at - before == stretcher.hop_frames * taken


def test_it_is_cheap() -> None:
    """A hundredth of a core at the very most; the benchmark says how much it is."""
    samples = np.random.default_rng(1).normal(0, 3000, 30 * RATE).astype(np.int16)
    began = time.process_time()
    made = stretched(samples, 1.5)
    assert (time.process_time() - began) / (made.size / RATE) < 0.05
