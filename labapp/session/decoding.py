"""Decoding for the runner: at once where a decoder is fast, in a worker where it is slow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.representations.distance import DISTANCES, squared_error
from labapp.representations.space import LatentSpace

SLOW_MS = 8.0
"""A decoder whose 99th percentile is above this is moved off the GUI thread."""

Array = NDArray[np.float32]
Job = Callable[[], Callable[[], None]]


class Decoder(Protocol):
    """What the runner needs of a model (see representations.package)."""

    @property
    def id(self) -> str: ...
    @property
    def space(self) -> LatentSpace: ...
    @property
    def latents(self) -> Array | None: ...
    @property
    def percentiles(self) -> Mapping[int, Array]: ...
    @property
    def from_prior(self) -> bool: ...
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


def decode_rows(decoder: Decoder, rows: Sequence[Sequence[tuple[float, ...]]]) -> Array:
    """The pictures of dial states in rows of equal length, shape (rows, columns, *shape)."""
    z = np.stack([decoder.space.encode(state) for row in rows for state in row])
    x = decoder.decode(z)
    return x.reshape(len(rows), len(rows[0]), *x.shape[1:])


def compare(distance: str, x: Array, target: Array) -> Measures:
    """Alignment and error of a picture against the target."""
    total, mean = squared_error(x, target)
    return Measures(1.0 - DISTANCES[distance](x, target), total, mean)


class DecodeWorker:
    """One thread that decodes the latest request and forgets the ones before it.

    deliver: calls a function in the runner's thread. What a job raises is raised there too, so
    that a decoder that breaks is noticed instead of freezing the picture.
    """

    def __init__(self, deliver: Callable[[Callable[[], None]], None]) -> None:
        self._deliver = deliver
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode-worker")
        self._lock = threading.Lock()
        self._next: Job | None = None
        self._closing = False
        self._running: Future[Callable[[], None]] | None = None

    def request(self, job: Job) -> None:
        """Run `job` in the worker; the function it returns is called in the runner's thread."""
        with self._lock:
            if self._closing:
                return
            waiting, self._next = self._next, job
            if waiting is None:
                self._running = self._pool.submit(self._run)
                self._running.add_done_callback(self._done)

    def close(self, timeout_s: float = 2.0) -> None:
        """Forget the job that waits, and join the thread if its job ends in time."""
        with self._lock:
            self._closing = True
            self._next = None
        left = wait([self._running] if self._running else [], timeout_s).not_done
        self._pool.shutdown(wait=not left, cancel_futures=True)

    def _run(self) -> Callable[[], None]:
        with self._lock:
            job, self._next = self._next, None
        return job() if job is not None else _nothing

    def _done(self, future: Future[Callable[[], None]]) -> None:
        if not self._closing and not future.cancelled():
            self._deliver(lambda: future.result()())


def _nothing() -> None:
    """What a job that was forgotten leads to."""
