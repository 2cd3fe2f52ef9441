"""A microphone of numbers: streams and a watcher that do what a test says, on the real clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from labapp.base.errors import AudioError
from labapp.record.audio.capture import Packet
from labapp.record.audio.devices import Device
from labapp.record.events import Payload
from tests.helpers.waiting import wait_for

RATE = 8000
DEVICE = Device(0, "Test Mic", "Test", 1, RATE, True)


class Told:
    """What was emitted of a recording."""

    def __init__(self) -> None:
        self.events: list[Payload] = []

    def of(self, kind: type[Payload]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def until(self, condition: Callable[[], object]) -> None:
        wait_for(condition, about=lambda: self.events)


class Tone:
    """A stream that delivers a 400 Hz tone as time goes by, until told otherwise.

    rate, channels as in ProcessInput. finished: end by itself; mute: deliver nothing more.
    """

    def __init__(self, rate: int = RATE, channels: int = 1) -> None:
        self.rate = rate
        self.channels = channels
        self.pid = 4711
        self.beat_ns: int | None = None
        self.finished = False
        self.mute = False
        self.closed = False
        self.overhear: Any = None
        self._start = time.perf_counter()
        self._frames = 0

    def take(self) -> list[Packet]:
        if self.mute or self.closed:
            return []
        elapsed = time.perf_counter() - self._start
        packets = []
        block = self.rate // 20
        while (self._frames + block) / self.rate <= elapsed:
            frames = np.arange(self._frames, self._frames + block)
            wave = (9000 * np.sin(2 * np.pi * 400 / self.rate * frames)).astype("<i2")
            self._frames += block
            at = self._start + self._frames / self.rate
            packets.append(
                Packet(
                    round(at * 1e9),
                    at - 0.05,
                    at,
                    False,
                    0,
                    wave.repeat(self.channels).tobytes(),
                )
            )
        return packets

    def close(self) -> None:
        self.closed = True


class Plug:
    """Opens streams while it is in; each one opened is kept in `streams`."""

    def __init__(self, make: Callable[[], Tone] = Tone) -> None:
        self.make = make
        self.plugged = True
        self.streams: list[Tone] = []

    def open(self, device: Device) -> Tone:
        if not self.plugged:
            raise AudioError(f"{device.name} is not there.")
        self.streams.append(self.make())
        return self.streams[-1]

    def pull(self) -> None:
        self.plugged = False
        self.streams[-1].finished = True


class Watcher:
    """A SourceWatcher that says what a test says."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.there = True
        self.following = 0
        self.closed = threading.Event()

    def follow(self, pid: int) -> None:
        assert pid == 4711
        self.reason = None
        self.following += 1

    def unfollow(self) -> None:
        pass

    def gone(self) -> str | None:
        return self.reason

    def available(self) -> bool:
        return self.there

    def close(self) -> None:
        self.closed.set()
