"""The player plays what it is told, knows what is heard, and goes on without a loudspeaker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.base.errors import AudioError
from labapp.record.audio import player as players
from labapp.record.audio.player import (
    HeardSamples,
    Player,
    Report,
    SampleQueue,
    SessionTimes,
    Stretcher,
    WallClock,
)
from tests.helpers.waiting import wait_for
from tests.record.audio.loudspeaker import RATE, Loudspeaker, PatientTime, Tone

time = PatientTime()
STEEPEST = 10_000 * 2 * np.pi * 220 / RATE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "time", time)


@contextmanager
def player(rate: int = RATE) -> Iterator[tuple[Player, list[Loudspeaker]]]:
    speakers: list[Loudspeaker] = []

    def opened(_device: str, _rate: int) -> Loudspeaker:
        speakers.append(Loudspeaker(rate))
        return speakers[-1]

    made = Player(Tone(), open_output=opened)
    wait_for(lambda: made.sounding)
    try:
        yield made, speakers
    finally:
        made.close()
        for speaker in speakers:
            speaker.close()


def heard_for(made: Player, seconds: float) -> NDArray[np.float64]:
    """Times in s at which it was asked, and session time in s that it told."""
    ends = time.perf_counter() + seconds
    told = []
    while (now := time.perf_counter()) < ends:
        told.append((now, made.heard_ns() / NS))
        time.sleep(0.004)
    return np.array(told)


def speed_of(told: NDArray[np.float64]) -> float:
    """Session time that passed with each second, by the slope of the middle."""
    inside = told[told.shape[0] // 5 :]
    return float(np.polyfit(inside[:, 0], inside[:, 1], 1)[0])


@pytest.mark.parametrize("rate", [RATE, 44_100])
@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_what_is_heard_goes_on_at_its_speed(speed: float, rate: int) -> None:
    with player(rate) as (made, speakers):
        assert (made.heard_ns(), made.playing, made.problem) == (0, False, "")
        made.set_speed(speed)
        made.seek(10 * NS)
        made.play()
        assert made.playing
        told = heard_for(made, 1.0)
        assert speed_of(told) == pytest.approx(speed, abs=0.04)
        assert (np.diff(told[:, 1]) >= 0).all()
        assert told[-1, 1] == pytest.approx(10 + speed, abs=0.12 * speed + 0.03)
        made.pause()
        assert not made.playing
        time.sleep(0.1)
        stopped = made.heard_ns()
        time.sleep(0.1)
        assert made.heard_ns() == stopped
        assert np.abs(speakers[0].sound).max() > 9000
        made.play()
        assert heard_for(made, 0.2)[:, 1].min() >= stopped / NS - 1e-6


def test_a_seek_is_heard_soon_and_told_at_once() -> None:
    with player() as (made, speakers):
        made.play()
        time.sleep(0.3)
        assert not speakers[0].sound.any()
        made.seek(20 * NS)
        began = len(speakers[0].taken)
        assert made.heard_ns() == 20 * NS
        wait_for(lambda: bool(speakers[0].sound.any()))
        silent = np.flatnonzero([block.any() for block in speakers[0].taken])[0] - began
        assert silent <= 3  # blocks of 10 ms
        assert 20.0 <= made.heard_ns() / NS < 20.1
        made.seek(-NS)
        assert made.heard_ns() == 0
        made.seek(1000 * NS)
        assert made.heard_ns() == 60 * NS
        wait_for(lambda: not made.playing)
        made.play()
        assert not made.playing


def test_a_loop_has_no_gap() -> None:
    with player() as (made, speakers):
        made.set_loop(10 * NS, round(10.5 * NS))
        made.seek(10 * NS)
        made.play()
        assert made.loop == (10 * NS, round(10.5 * NS))
        told = heard_for(made, 2.0)[:, 1]
        assert told.min() >= 9.98
        assert told.max() < 10.55
        assert (np.diff(told) < -0.3).sum() in (3, 4)
        made.set_loop(None)
        wait_for(lambda: made.heard_ns() > 10.6 * NS)
        sound = speakers[0].sound
    first, last = np.flatnonzero(sound)[[0, -1]]
    # The tone crosses zero, but is never away.
    silent = np.convolve(sound[first:last] == 0, np.ones(round(0.01 * RATE)), "valid")
    assert silent.max() < round(0.01 * RATE)


def test_nothing_clicks() -> None:
    with player() as (made, speakers):
        made.seek(10 * NS)
        made.play()
        for number in range(40):
            match number % 5:
                case 0:
                    made.set_speed((0.5, 2.0, 1.0, 3.0)[number // 5 % 4])
                case 1:
                    made.seek((10 + number) * NS + 1_234_567)
                case 2:
                    made.pause()
                case 3:
                    made.play()
                case 4:
                    made.set_loop(made.heard_ns(), made.heard_ns() + NS // 5)
            time.sleep(0.03)
        steps = np.abs(np.diff(speakers[0].sound.astype(int)))
        # A ramp of 5 ms adds no more than its own slope.
        assert steps.max() < 1.6 * STEEPEST + 10_000 / (0.005 * RATE)


def test_scrubbing_plays_grains() -> None:
    with player() as (made, speakers):
        made.play()
        began = time.perf_counter()
        for number in range(60):
            made.scrub((20 * NS) + number * NS // 100)
            assert not made.playing
            assert made.heard_ns() == 20 * NS + number * NS // 100
            time.sleep(0.01)
        took = time.perf_counter() - began
        time.sleep(0.2)
        assert made.heard_ns() == 20 * NS + 59 * NS // 100
        # Of 60 ms that 40 ms follow, or more where this machine is busy, most are loud.
        loud = np.array([np.abs(block).max() > 5000 for block in speakers[0].taken])
        assert 0.4 * min(took, 60 * 0.06) <= loud.sum() * 0.01 <= took + 0.1
        assert np.abs(np.diff(speakers[0].sound.astype(int))).max() < 3 * STEEPEST
        wait_for(lambda: not speakers[0].taken[-1].any())
        made.play()
        wait_for(lambda: made.heard_ns() > 20.7 * NS)


def test_it_stops_at_the_end() -> None:
    with player() as (made, _):
        made.seek(round(59.7 * NS))
        made.play()
        wait_for(lambda: not made.playing)
        assert made.heard_ns() == 60 * NS
        made.seek(59 * NS)
        made.play()
        assert made.playing


def test_without_a_loudspeaker() -> None:
    made = Player(Tone(), device=None)
    assert made.problem == ""
    made.seek(10 * NS)
    made.set_speed(2.0)
    made.play()
    told = heard_for(made, 0.3)
    assert speed_of(told) == pytest.approx(2.0, abs=0.01)
    made.set_loop(12 * NS, 11 * NS)
    wait_for(lambda: made.heard_ns() >= 11 * NS)
    assert heard_for(made, 1.2)[:, 1].max() < 12
    made.scrub(30 * NS)
    assert (made.heard_ns(), made.playing) == (30 * NS, False)
    made.set_loop(None)
    made.seek(round(59.8 * NS))
    made.play()
    wait_for(lambda: not made.playing)
    assert made.heard_ns() == 60 * NS
    made.close()
    made.close()


def test_a_loudspeaker_that_cannot_be_opened() -> None:
    plugged_in: list[Loudspeaker] = []

    def opened(_device: str, _rate: int) -> Loudspeaker:
        if not plugged_in:
            raise AudioError("There is none.")
        return plugged_in[0]

    made = Player(Tone(), open_output=opened)
    wait_for(lambda: bool(made.problem))
    made.play()
    wait_for(lambda: made.heard_ns() > 0.1 * NS)
    assert (made.problem, made.sounding) == ("There is none.", False)
    plugged_in.append(Loudspeaker(RATE))
    made.try_again()
    wait_for(lambda: made.sounding)
    assert (made.problem, made.playing) == ("", True)
    made.seek(10 * NS)
    wait_for(lambda: bool(plugged_in[0].sound.any()))
    made.close()
    plugged_in[0].close()


def test_it_goes_on_where_the_loudspeaker_is_pulled_out() -> None:
    with player() as (made, speakers):
        made.seek(10 * NS)
        made.play()
        time.sleep(0.3)
        before = made.heard_ns()
        speakers[0].close()
        wait_for(lambda: not made.sounding)
        assert "was unplugged" in made.problem
        assert made.playing
        assert before <= made.heard_ns() < before + NS
        wait_for(lambda: made.heard_ns() > before + NS // 5)
        made.pause()
        made.play()
        wait_for(lambda: made.sounding)
        assert (len(speakers), made.problem) == (2, "")
        wait_for(lambda: bool(speakers[1].sound.any()))


def test_a_loudspeaker_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "LATE_S", 0.2)
    monkeypatch.setattr(players, "STALL_S", 0.2)
    with player() as (made, speakers):
        made.seek(10 * NS)
        made.play()
        speakers[0].stuck = True
        for _ in range(300):
            made.seek(20 * NS)  # nothing of this waits for it
        wait_for(lambda: made.heard_ns() > 0 and not made.sounding)
        assert "is not accepting sound" in made.problem
        wait_for(lambda: made.heard_ns() > 20.1 * NS)


def test_closed_while_it_is_opened() -> None:
    speakers: list[Loudspeaker] = []

    def slow(_device: str, _rate: int) -> Loudspeaker:
        time.sleep(0.2)
        speakers.append(Loudspeaker(RATE))
        return speakers[-1]

    made = Player(Tone(), open_output=slow)
    made.play()
    made.close()
    wait_for(lambda: bool(speakers) and speakers[0]._ends.is_set())
    assert not made.sounding


@pytest.mark.parametrize("speed", [0.5, 1.0, 1.7])
def test_no_drift_in_ninety_minutes(speed: float) -> None:
    """Simulated: a device whose clock is 60 ppm fast and whose times jitter by 3 ms."""
    rng = np.random.default_rng(4)
    rate, block = 1000, 20
    true_rate = rate * (1 + 60e-6)
    stretcher = Stretcher(lambda _first, frames: np.zeros(frames, np.int16), rate)
    times, heard = SessionTimes(), HeardSamples(rate)
    sent = 0
    off: list[float] = []
    for number in range(round(90 * 60 * rate / block)):
        while sent <= (number + 5) * block:
            hop = stretcher.hop(speed)
            times.add(sent, hop.first * NS / rate, (hop.last - hop.first) * NS / rate / 20)
            sent += hop.samples.size
        frame = number * block
        at_ns = round(frame / true_rate * NS)
        late_s = 0.02 + rng.uniform(-0.003, 0.003)
        heard.add(Report(at_ns, late_s, frame, frame, block))
        if number > 100 and number % 50 == 0:
            really = (at_ns / NS - 0.02) * true_rate
            told_ns = times.at(heard.at(at_ns))
            assert told_ns is not None
            off.append(told_ns / NS * rate - really * speed)
    # Jitter and stretching move it to and fro; from the first minutes to the last it stays.
    tenth = len(off) // 10
    assert abs(np.mean(off[-tenth:]) - np.mean(off[:tenth])) < 1.0
    assert np.abs(off).max() <= 3 + (10 if speed != 1 else 0)


@given(st.lists(st.tuples(st.sampled_from("ptf"), st.integers(1, 400)), max_size=60))
def test_every_sample_keeps_its_number(steps: list[tuple[str, int]]) -> None:
    waiting = SampleQueue(8)
    sent = 0
    numbers: list[int] = []
    for step, size in steps:
        if step == "p":
            waiting.put(np.full(size, 1000, np.int16).tobytes())
            sent += size
        elif step == "f":
            waiting.flush()
        else:
            samples, pieces = waiting.take(size)
            assert len(samples) == size
            assert sum(count for _, _, count in pieces) <= size
            for at, first, count in pieces:
                assert 0 <= at < size
                numbers += range(first, first + count)
            covered = sum(count for _, _, count in pieces)
            assert not any(samples[covered:])
    assert numbers == sorted(set(numbers))
    assert all(number < sent for number in numbers)


@given(
    st.floats(0, 100), st.floats(0.25, 3), st.lists(st.floats(0, 200), min_size=1),
    st.none() | st.tuples(st.integers(0, 50), st.integers(51, 100)),
)  # fmt: skip
def test_the_wall_clock_stays_where_it_should(
    at_s: float, speed: float, moments: list[float], loop_s: tuple[int, int] | None
) -> None:
    wall = WallClock(0, 100 * NS)
    loop = None if loop_s is None else (loop_s[0] * NS, loop_s[1] * NS)
    wall.set(0, at_s * NS, playing=True, speed=speed, loop=loop)
    before = -1.0
    for moment in sorted(moments):
        t_ns = wall.at(round(moment * NS))
        assert 0 <= t_ns <= 100 * NS
        if loop is None:
            assert t_ns == pytest.approx(min(at_s + moment * speed, 100) * NS, abs=10)
            assert t_ns >= before
        else:
            assert t_ns < max(loop[1], at_s * NS + 1)
        before = t_ns
