"""The voice at another computer is played soon, and little of it is left out."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from labapp.base.errors import AudioError
from labapp.record.audio.player import Report
from labapp.session.remote import voice, wire
from labapp.session.remote.voice import VoicePlayer
from tests.helpers.waiting import wait_for

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
        self._chosen: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        choose = self.player._choose

        def watched(*piece: Any) -> voice.Sound:
            chosen = choose(*piece)
            self._chosen.put((len(chosen), len(self.speaker.samples)))
            return chosen

        self.player._choose = watched  # type: ignore[method-assign]

    def come(self, *, late_ms: int = 0, sound: bytes = LOUD) -> int:
        """A piece comes; how many frames are played of it."""
        spoken = self.put * 20 * 10**6
        self.put += 1
        self.now = 10**9 + spoken + late_ms * 10**6
        self.player.put(wire.Sound(spoken, RATE, sound * FRAMES))
        chosen, before = self._chosen.get(timeout=60)
        wait_for(lambda: not chosen or len(self.speaker.samples) > before)
        return chosen

    def play(self, pieces: int) -> None:
        self._take(pieces * FRAMES)

    def play_all(self) -> None:
        self._take(len(self.speaker.samples) // 2 - self.speaker.taken)

    def _take(self, frames: int) -> None:
        self.speaker.take(frames)
        wait_for(lambda: self.player._taken == self.speaker.taken)

    @property
    def waiting(self) -> int:
        """Pieces that wait to be played."""
        return len(self.speaker.samples) // 2 // FRAMES - self.speaker.taken // FRAMES


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
        assert room.come() == FRAMES
    assert room.player.left_out == room.player.shortened == 0


def test_what_is_spoken_until_the_loudspeaker_plays_is_over(room: Room) -> None:
    assert [room.come() for _ in range(5)] == [FRAMES, 0, 0, 0, 0]
    assert room.player.left_out == 0, "nobody could hear it"


def test_a_burst_is_played_but_for_what_would_be_heard_too_late(room: Room) -> None:
    room.come()
    room.play(1)
    # The network held 300 ms back: the first of it is too late, the rest comes sooner and sooner.
    played = [room.come(late_ms=300 - 20 * place) for place in range(16)]
    assert not played[0]
    assert played[10]
    assert 0 < room.waiting * 20 <= voice.LATE_S * 1000
    assert room.player.left_out == played.count(0) * FRAMES


def test_late_speech_catches_up_by_leaving_out_pauses_and_then_periods(room: Room) -> None:
    room.come()
    room.play(1)
    assert [room.come(), room.come()] == [FRAMES, FRAMES]
    assert room.come(sound=QUIET) == 0
    assert room.player.pauses == FRAMES
    shorter = room.come()
    least, most = (period * RATE for period in voice.PERIOD_S)
    assert least <= FRAMES - shorter <= most
    assert room.come() == FRAMES, "not two on end"
    room.play_all()
    assert room.come(sound=QUIET) == FRAMES, "with little waiting, pauses stay"
    assert room.player.shortened == FRAMES - shorter
    assert room.player.left_out == 0


def test_a_pause_is_made_longer_for_a_network_that_is_late_now_and_then(room: Room) -> None:
    room.come()
    room.play(1)
    for _ in range(5):
        room.come(late_ms=100)
        room.play(1)
    assert room.come(sound=QUIET) == 2 * FRAMES, "so the next late piece finds sound still playing"
    assert room.come() == FRAMES


@pytest.mark.parametrize("pitch", [90, 130, 220, 400])
def test_shortened_speech_keeps_its_pitch(pitch: int) -> None:
    spoken = (9000 * np.sin(np.arange(FRAMES) * 2 * np.pi * pitch / RATE)).astype("<i2")
    shorter = voice.shorten(spoken, RATE)
    periods = (FRAMES - len(shorter)) * pitch / RATE
    assert abs(periods - round(periods)) < 0.1
    assert round(periods) >= 1
    step = 9000 * 2 * np.pi * pitch / RATE
    assert np.abs(np.diff(shorter.astype(int))).max() < 1.2 * step, "it clicks"
    assert shorter[0] == spoken[0]
    assert shorter[-1] == spoken[-1]


def test_a_piece_that_is_too_short_stays_as_it_is() -> None:
    piece = np.arange(60, dtype=np.int16)
    assert voice.shorten(piece, RATE) is piece


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
