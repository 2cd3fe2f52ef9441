"""Decoding for the runner: at once where a decoder is fast, in a worker where it is slow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.representations.distance import DISTANCES, squared_error
from labapp.representations.space import LatentSpace

SLOW_MS = 8.0
"""A decoder whose 99th percentile is above this is moved off the GUI thread."""

Array = NDArray[np.float32]


class Decoder(Protocol):
    """What the runner needs of a model (see representations.package)."""

    @property
    def id(self) -> str: ...
    @property
    def space(self) -> LatentSpace: ...
    @property
    def latents(self) -> Array | None: ...
    def decode(self, z: Array) -> Array:
        """float32 (n, width) -> float32 (n, *shape)."""
        ...


@dataclass(frozen=True, slots=True)
class Measures:
    """How near a picture is to the target: alignment in 0..1, error as sum and mean."""

    alignment: float
    error_sum: float
    error_mean: float


def decode_one(decoder: Decoder, z: tuple[float, ...]) -> Array:
    """The picture of one dial state, shape (*shape,), float32."""
    picture: Array = decoder.decode(decoder.space.encode(z)[None, :])[0]
    return picture


def compare(distance: str, x: Array, target: Array) -> Measures:
    """Alignment and error of a picture against the target."""
    total, mean = squared_error(x, target)
    return Measures(1.0 - DISTANCES[distance](x, target), total, mean)


class DecodeWorker:
    """One thread that decodes the latest request and forgets the ones before it."""

    def __init__(self, deliver: Callable[[Callable[[], None]], None]) -> None:
        self._deliver = deliver
        self._wake = threading.Condition()
        self._job: Callable[[], Callable[[], None]] | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="decode-worker", daemon=True)
        self._thread.start()

    def request(self, job: Callable[[], Callable[[], None]]) -> None:
        """Run `job` in the worker; the function it returns is delivered to the runner's thread."""
        with self._wake:
            self._job = job
            self._wake.notify()

    def close(self, timeout_s: float = 2.0) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._job is not None or self._closing)
                if self._closing:
                    return
                job, self._job = self._job, None
            if job is not None:
                self._deliver(job())
