"""Clicks at known session times, played through a real sound server and recorded from it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from labapp.base.clock import NS
from labapp.coding.sound import SessionSound
from labapp.record.audio.player import Player
from labapp.record.journal.opening import open_record
from tests.helpers.heard import Monitor
from tests.helpers.recorded_sounds import Take, sounding_session
from tests.helpers.waiting import wait_for
from tests.sound import VirtualMicrophone, microphone, sound_server

__all__ = ["microphone", "sound_server"]
pytestmark = pytest.mark.sound

RATE = 48_000
CLICKS_S = np.arange(2.0, 60.0)
LOUD = 5_000


@contextmanager
def playing(folder: Path) -> Iterator[Player]:
    sound = SessionSound(open_record(folder))
    player = Player(sound)
    try:
        wait_for(lambda: player.sounding)
        time.sleep(2.5)  # what PulseAudio says of its delay is wrong at first
        yield player
    finally:
        player.close()
        sound.close()


@pytest.fixture(scope="module")
def clicks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with a short, loud tone at each second, recorded by a clock 80 ppm fast."""
    take = Take(
        np.random.default_rng(1).normal(0, 20, 60 * RATE).astype(np.int16),
        start_s=0.5,
        rate=RATE,
        ppm=80,
    )
    tone = (20_000 * np.sin(np.arange(RATE // 20) * 2 * np.pi * 1500 / RATE)).astype(np.int16)
    for click_s in CLICKS_S:
        first = round((click_s - take.start_s) * take.true_rate)
        if first + tone.size < take.samples.size:
            take.samples[first : first + tone.size] = tone
    return sounding_session(tmp_path_factory.mktemp("clicks"), take, end_s=62)


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_the_playhead_is_where_the_sound_is(
    clicks: Path, microphone: VirtualMicrophone, speed: float
) -> None:
    with playing(clicks) as player:
        monitor = Monitor(RATE)
        wait_for(lambda: monitor.hears)
        player.set_speed(speed)
        player.seek(round(9.6 * NS))
        player.play()
        told: list[tuple[int, int]] = []
        ends = time.perf_counter() + 8.0
        while time.perf_counter() < ends:
            told.append((time.perf_counter_ns(), player.heard_ns()))
            time.sleep(0.005)
        player.pause()
        samples, began_ns = monitor.stop()
    loud = np.flatnonzero(np.abs(samples.astype(int)) > LOUD)
    starts = loud[np.concatenate(([True], np.diff(loud) > 0.2 * RATE))]
    heard_ns = began_ns + starts * (NS / RATE)
    playhead = np.array(told, float)
    heard_ns = heard_ns[(heard_ns > playhead[0, 0]) & (heard_ns < playhead[-1, 0])]
    told_s = np.interp(heard_ns, playhead[:, 0], playhead[:, 1]) / NS
    clicks_s = np.rint(told_s)
    assert heard_ns.size >= 3
    assert np.array_equal(np.diff(clicks_s), np.ones(heard_ns.size - 1))
    # How far the picture is from the sound, in the time of the one who looks and listens.
    off_ms = (told_s - clicks_s) / speed * 1e3
    print(f"{speed}×: playhead − sound {np.round(off_ms, 1)} ms")
    assert np.abs(off_ms).max() <= 40.0
    # The median: on a busy machine sound may break off once, and then the playhead waits with it.
    spacing_s = np.median(np.diff(heard_ns)) / NS * speed
    assert spacing_s == pytest.approx(1.0, rel=0.01)


def test_a_seek_is_heard_within_a_tenth_of_a_second(
    clicks: Path, microphone: VirtualMicrophone
) -> None:
    with playing(clicks) as player:
        monitor = Monitor(RATE)
        wait_for(lambda: monitor.hears)
        player.seek(round(30.3 * NS))
        player.play()
        time.sleep(0.3)
        sought = []
        for _ in range(5):
            sought.append(time.perf_counter_ns())
            player.seek(30 * NS)  # the first thing there is a click
            time.sleep(0.4)
        samples, began_ns = monitor.stop()
    loud = np.flatnonzero(np.abs(samples.astype(int)) > LOUD)
    heard_ns = began_ns + loud * (NS / RATE)
    late_ms = [(heard_ns[heard_ns > at].min() - at) / 1e6 for at in sought]
    print(f"seek to sound {np.round(late_ms, 1)} ms")
    assert np.median(late_ms) <= 100.0


def test_the_sound_server_goes_while_it_plays(clicks: Path, microphone: VirtualMicrophone) -> None:
    with playing(clicks) as player:
        player.seek(10 * NS)
        player.play()
        time.sleep(0.5)
        before = player.heard_ns()
        microphone.stop()
        wait_for(lambda: player.heard_ns() > 0 and not player.sounding)
        assert player.problem
        assert player.playing
        wait_for(lambda: player.heard_ns() > before + 2 * NS)
