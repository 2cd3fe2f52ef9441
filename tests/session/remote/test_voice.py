"""The voice at another computer is played soon, or not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from labapp.base.errors import AudioError
from labapp.record.audio.player import Report
from labapp.session.remote import voice, wire
from labapp.session.remote.voice import VoicePlayer

RATE = 16_000
FRAMES = 320
LOUD, QUIET = b"\x00\x10", b"\x10\x00"


class Loudspeaker:
    """Takes samples when it is told to."""

    def __init__(self, rate: int = RATE) -> None:
        self.rate = rate
        self.samples = b""
        self.taken = 0
        self.closed = threading.Event()
        self._changed = threading.Condition()

    def write(self, samples: bytes) -> None:
        self.samples += samples

    def take(self, frames: int) -> None:
        with self._changed:
            self.taken += frames
            self._changed.notify_all()

    def reports(self) -> Iterator[Report]:
        first = 0
        while not self.closed.is_set():
            with self._changed:
                while self.taken == first and not self.closed.is_set():
                    self._changed.wait(1)
                samples = self.taken - first
            yield Report(0, 0.0, first, first, samples)
            first += samples

    def close(self) -> None:
        self.closed.set()
        self.take(0)


class Room:
    """A player and its loudspeaker. Pieces of 20 ms come when `come` says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rate: int = RATE) -> None:
        self.now = 10**9
        monkeypatch.setattr(voice, "time", SimpleNamespace(perf_counter_ns=lambda: self.now))
        self.speaker = Loudspeaker(rate)
        self.failed: list[AudioError] = []
        self.put = 0
        self.player = VoicePlayer(self.failed.append, lambda device, rate: self.speaker)  # type: ignore[arg-type,return-value]

    def come(self, *, late_ms: int = 0, sound: bytes = LOUD) -> bool:
        """A piece comes; whether it is played."""
        before, left = len(self.speaker.samples), self.player.left_out
        spoken = self.put * 20 * 10**6
        self.put += 1
        self.now = 10**9 + spoken + late_ms * 10**6
        self.player.put(wire.Sound(spoken, RATE, sound * FRAMES))
        wait_for(lambda: len(self.speaker.samples) > before or self.player.left_out > left)
        return len(self.speaker.samples) > before

    def play(self, pieces: int) -> None:
        self.speaker.take(pieces * FRAMES)
        wait_for(lambda: self.player._taken == self.speaker.taken)

    @property
    def waiting(self) -> int:
        """Pieces that wait to be played."""
        return len(self.speaker.samples) // 2 // FRAMES - self.speaker.taken // FRAMES


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    made = Room(monkeypatch)
    yield made
    made.player.close()
    assert made.speaker.closed.is_set()


def test_sound_is_played_as_it_comes(room: Room) -> None:
    assert room.come()
    for _ in range(10):
        room.play(1)
        assert room.come()
    assert room.player.left_out == 0


def test_what_is_spoken_until_the_loudspeaker_plays_is_over(room: Room) -> None:
    assert [room.come() for _ in range(5)] == [True, False, False, False, False]
    assert room.player.left_out == 4 * FRAMES


def test_a_burst_is_played_but_for_what_would_be_heard_too_late(room: Room) -> None:
    room.come()
    room.play(1)
    # The network held 300 ms back: the first of it is too late, the rest comes sooner and sooner.
    played = [room.come(late_ms=300 - 20 * place) for place in range(16)]
    assert not played[0]
    assert played[10]
    assert 0 < room.waiting * 20 <= voice.LATE_S * 1000 + 20
    assert room.player.left_out == played.count(False) * FRAMES


def test_a_pause_in_speech_is_left_out_while_much_is_waiting(room: Room) -> None:
    room.come()
    room.play(1)
    while room.waiting < 6:
        assert room.come()
    assert not room.come(sound=QUIET)
    assert room.come()
    room.play(5)
    assert room.come(sound=QUIET), "with little waiting, pauses stay"


def test_a_network_that_became_slower_for_good_is_heard_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.come()
    room.play(1)
    assert not room.come(late_ms=1000)
    for _ in range(voice.PIECES):
        room.come(late_ms=1000)
    assert room.come(late_ms=1000)


@pytest.mark.parametrize("rate", [8_000, 44_100, 48_000])
def test_a_loudspeaker_of_another_rate_plays_the_same_voice(
    rate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(monkeypatch, rate=rate)
    assert room.come()
    room.player.close()
    played = np.frombuffer(room.speaker.samples, "<i2")
    assert len(played) == FRAMES * rate // RATE
    assert set(played) == {0x1000}
    wave = (9000 * np.sin(np.arange(3200) * 2 * np.pi * 200 / RATE)).astype("<i2")
    there = voice.at_rate(wave, RATE, rate)
    expected = 9000 * np.sin(np.arange(len(there)) * 2 * np.pi * 200 / rate)
    assert np.abs(there[:-10] - expected[:-10]).max() < 100
    assert len(voice.at_rate(wave[:0], RATE, rate)) == 0


def test_without_a_loudspeaker_it_says_so_and_ends() -> None:
    failed: list[AudioError] = []

    def fail(device: str, rate: int) -> None:
        raise AudioError("There is no loudspeaker.")

    player = VoicePlayer(failed.append, fail)  # type: ignore[arg-type]
    player.put(wire.Sound(0, RATE, LOUD))
    wait_for(lambda: bool(failed))
    player.put(wire.Sound(0, RATE, LOUD))
    player.close()
    assert not player._thread.is_alive()


def test_closing_before_any_sound_opens_nothing() -> None:
    def fail(device: str, rate: int) -> None:
        raise AssertionError("it was opened")

    player = VoicePlayer(lambda error: None, fail)  # type: ignore[arg-type]
    player.close()
    assert not player._thread.is_alive()
