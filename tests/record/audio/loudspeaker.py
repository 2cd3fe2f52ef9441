"""A loudspeaker in memory: it takes a block every 10 ms, and keeps what it took."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.record.audio import player as players
from labapp.record.audio.player import RAMP_S, Report, SampleQueue

BLOCK_S = 0.01
LATENCY_S = 0.02
RATE = 16_000
"""Of the tone."""


class PatientTime:
    """In place of `time` in the player: real time, but of a moment in which nobody looked at it, as
    where this process does not get its turn, no more than so many ms. So nothing is late in it."""

    def __init__(self, most_ms: int = 5) -> None:
        self._most_ns = most_ms * 1_000_000
        self._lock = threading.Lock()
        self._looked = self._now = time.perf_counter_ns()

    def perf_counter_ns(self) -> int:
        with self._lock:
            before, self._looked = self._looked, time.perf_counter_ns()
            self._now += min(self._looked - before, self._most_ns)
            return self._now

    def perf_counter(self) -> float:
        return self.perf_counter_ns() / NS

    def sleep(self, seconds: float) -> None:
        ends = self.perf_counter() + seconds
        while self.perf_counter() < ends:
            time.sleep(0.002)


class Tone:
    """A minute of 220 Hz, which begins at 5 s."""

    rate = RATE
    begin_ns, end_ns = 0, 60 * NS

    def read(self, t0_ns: int, frames: int) -> NDArray[np.int16]:
        places = np.rint(t0_ns * RATE / NS) + np.arange(frames)
        heard = 10_000 * np.sin(places * 2 * np.pi * 220 / RATE)
        return np.where((places >= 5 * RATE) & (places < 60 * RATE), heard, 0).astype(np.int16)


class Loudspeaker:
    """In place of a ProcessOutput. rate: at which it is open, whatever was asked for."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.taken: list[NDArray[np.int16]] = []
        self.stuck = False
        self._queue = SampleQueue(round(RAMP_S * rate))
        self._reports: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="test-loudspeaker", daemon=True)
        self._thread.start()

    def write(self, samples: bytes) -> None:
        self._queue.put(samples)

    def flush(self) -> None:
        self._queue.flush()

    def reports(self) -> Iterator[Report]:
        while (report := self._reports.get()) is not None:
            yield report

    def close(self) -> None:
        """As when it is unplugged, too."""
        self._ends.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def sound(self) -> NDArray[np.int16]:
        """All that it took."""
        return np.concatenate([np.zeros(0, np.int16), *self.taken])

    def _run(self) -> None:
        frames, block = 0, round(BLOCK_S * self.rate)
        began = players.time.perf_counter_ns()
        while not self._ends.is_set():
            # By the clock, as a device does, however late this thread comes.
            due_ns = began + round(frames / self.rate * NS)
            if not self.stuck and due_ns <= players.time.perf_counter_ns():
                samples, pieces = self._queue.take(block)
                self.taken.append(np.array(samples, np.int16))
                for at, first, count in pieces:
                    late = LATENCY_S + at / self.rate
                    self._reports.put(Report(due_ns, late, frames + at, first, count))
                frames += block
            else:
                time.sleep(0.002)
        self._reports.put(None)
