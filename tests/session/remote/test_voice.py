"""The participant's voice at another computer stays near, whatever the network does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from labapp.base.errors import AudioError
from labapp.record.audio.player import Report
from labapp.session.remote import wire
from labapp.session.remote.voice import LATE_S, LOOK_BACK, VoicePlayer, at_rate

RATE = 16_000
PIECE = 320


class Loudspeaker:
    """Takes what it is given when the test says so."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.written: list[bytes] = []
        self._reports: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        self.closed = threading.Event()

    def write(self, samples: bytes) -> None:
        self.written.append(samples)

    def take_all(self) -> None:
        """The device has taken everything so far."""
        frames = sum(map(len, self.written)) // 2
        self._reports.put(Report(0, 0.0, 0, 0, frames))

    def reports(self) -> Iterator[Report]:
        while (report := self._reports.get()) is not None:
            yield report

    def close(self) -> None:
        self.closed.set()
        self._reports.put(None)


def piece(value: int = 1000) -> wire.Sound:
    return wire.Sound(0, RATE, np.full(PIECE, value, np.int16).tobytes())


def heard(player: VoicePlayer, count: int) -> None:
    """Until so many pieces were played or left out."""
    for _ in range(1000):
        if player.put_frames == count * PIECE:
            return
        threading.Event().wait(0.005)
    raise AssertionError(player.put_frames)


def opened(rate: int = RATE) -> tuple[VoicePlayer, list[Loudspeaker]]:
    made: list[Loudspeaker] = []

    def open_output(device: str, wanted: int) -> Loudspeaker:
        made.append(Loudspeaker(rate))
        return made[-1]

    return VoicePlayer(pytest.fail, open_output), made  # type: ignore[arg-type]


def test_what_comes_in_time_is_all_played() -> None:
    player, made = opened()
    for number in range(30):
        player.put(piece(number))
        heard(player, number + 1)
        made[0].take_all()
        threading.Event().wait(0.002)
    player.close()
    assert made[0].closed.is_set()
    assert player.left_out == 0
    assert b"".join(made[0].written) == b"".join(piece(n).data for n in range(30))


def test_a_burst_that_came_too_late_is_cut_and_nothing_waits_longer() -> None:
    player, made = opened()
    for _ in range(100):
        player.put(piece())
    heard(player, 100)
    player.close()
    waits_s = sum(map(len, made[0].written)) / 2 / RATE
    assert waits_s <= LATE_S + 2 * PIECE / RATE
    assert player.left_out == 100 * PIECE - waits_s * RATE


def test_a_delay_that_stays_is_taken_back_piece_by_piece() -> None:
    player, made = opened()
    ahead = 5
    for number in range(ahead):
        player.put(piece())
        heard(player, number + 1)
    taken = 0
    for number in range(ahead, 3 * LOOK_BACK):
        player.put(piece())
        heard(player, number + 1)
        taken += PIECE
        made[0]._reports.put(Report(0, 0.0, 0, 0, taken))  # as fast as it comes, never all of it
        threading.Event().wait(0.002)
    player.close()
    assert 0 < player.left_out <= 5 * PIECE


@pytest.mark.parametrize("wanted", [8000, 16_000, 44_100, 48_000])
def test_a_loudspeaker_with_another_rate_hears_the_same_tone(wanted: int) -> None:
    seconds = np.arange(RATE) / RATE
    tone = (8000 * np.sin(2 * np.pi * 440 * seconds)).astype(np.int16)
    made = np.frombuffer(at_rate(tone.tobytes(), RATE, wanted), np.int16)
    assert len(made) == wanted
    spectrum = np.abs(np.fft.rfft(made.astype(float)))
    assert int(spectrum.argmax()) == 440


def test_where_there_is_no_loudspeaker_it_is_told_once() -> None:
    told: list[AudioError] = []

    def none(device: str, rate: int) -> Loudspeaker:
        raise AudioError("there is none")

    player = VoicePlayer(told.append, none)  # type: ignore[arg-type]
    player.put(piece())
    player.put(piece())
    player.close()
    assert [error.what for error in told] == ["there is none"]
