"""Several simulated sessions at once in one process, whose pictures are decoded together.

The weights of a large decoder are read from memory for each call, which takes longer than
computing a few pictures from them. So sessions take turns: one goes on until it needs a picture,
and once all of them wait, the pictures of one decoder are computed in one call. Each session has a
thread of its own, only one of which runs at any time: the course of each is the same as alone.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from labapp.models.datasets.split import Float32
from labapp.models.representations.decoders import Forward, LoadedDecoder
from labapp.models.representations.package import find
from labapp.models.training.files import WEIGHTS

LARGE = 4 << 20
"""Bytes of a file of weights that no core keeps in a cache of its own: those of MNIST have 13 MB.
Of dSprites, whose have 0.7 MB, many pictures in one call take as long as one by one."""

T = TypeVar("T")
Compute = Callable[[Float32], Float32]


def _make_turn() -> threading.Lock:
    """A lock that is held until its thread's turn comes."""
    turn = threading.Lock()
    turn.acquire()
    return turn


@dataclass(eq=False)
class _Request:
    """Pictures that a session waits for. turn: released when they are there, and it may go on."""

    compute: Compute
    z: Float32
    pictures: Future[Float32] = field(default_factory=Future)
    turn: threading.Lock = field(default_factory=_make_turn)


class TogetherDecoding:
    """Lets tasks take turns, and decodes for all of them at once.

    Attributes
    ----------
    shares : bool
        Whether any decoder is shared, so that it is worth running tasks together.
    """

    def __init__(self) -> None:
        self.shares = False
        self._ready: deque[threading.Lock] = deque()
        self._waiting: list[_Request] = []
        self._running = False

    def share(self, decoder: LoadedDecoder) -> LoadedDecoder:
        """The decoder, as tasks that `run` takes use it.

        Only large ones are shared, of those that give the same bits of one z and of many: the
        networks that labapp itself hands to ONNX Runtime.
        """
        forward, own = decoder.forward, decoder.card.backend == "torch"
        if not own or not isinstance(forward, Forward) or forward.engine != "onnxruntime":
            return decoder
        if (find(decoder.id) / WEIGHTS).stat().st_size < LARGE:
            return decoder
        self.shares = True
        shared = replace(forward, compute=partial(self._compute, forward.compute))
        return replace(decoder, forward=shared)

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """What each of them returns. Raises the error of the first that failed, once all are
        over."""
        done: list[Future[T]] = [Future() for _ in tasks]
        turns = [_make_turn() for _ in tasks]
        threads = [
            threading.Thread(target=self._go, args=each, daemon=True)
            for each in zip(tasks, done, turns, strict=True)
        ]
        self._waiting.clear()
        self._ready = deque(turns)
        self._running = True
        try:
            for thread in threads:
                thread.start()
            self._hand_on()
            for thread in threads:
                thread.join()
        finally:
            self._running = False
        return [future.result() for future in done]

    def _go(self, task: Callable[[], T], done: Future[T], turn: threading.Lock) -> None:
        turn.acquire()
        try:
            done.set_result(task())
        except BaseException as error:  # noqa: BLE001 (raised by `run`)
            done.set_exception(error)
        finally:
            self._hand_on()

    def _compute(self, compute: Compute, z: Float32) -> Float32:
        """Called by the task whose turn it is, or by a task that runs alone."""
        if not self._running:
            return compute(z)
        request = _Request(compute, z)
        self._waiting.append(request)
        self._hand_on()
        request.turn.acquire()
        return request.pictures.result()

    def _hand_on(self) -> None:
        """Let the next one go on; where all wait, decode first, with the decoder that most pictures
        are wanted of."""
        if not self._ready and self._waiting:
            wanted: Counter[Compute] = Counter()
            for request in self._waiting:
                wanted[request.compute] += len(request.z)
            ((compute, _),) = wanted.most_common(1)
            some = [request for request in self._waiting if request.compute is compute]
            self._waiting = [each for each in self._waiting if each.compute is not compute]
            _decode(compute, some)
            self._ready.extend(request.turn for request in some)
        if self._ready:
            self._ready.popleft().release()


def _decode(compute: Compute, requests: Sequence[_Request]) -> None:
    """Compute the pictures of several requests in one call."""
    try:
        pictures = compute(np.concatenate([request.z for request in requests]))
    except Exception as error:  # noqa: BLE001 (raised where the pictures are wanted)
        for request in requests:
            request.pictures.set_exception(error)
        return
    at = 0
    for request in requests:
        request.pictures.set_result(pictures[at : at + len(request.z)])
        at += len(request.z)
