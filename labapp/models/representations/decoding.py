"""Pictures of dial states and their distance from a target, as sessions need them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.distance import named, squared_error
from labapp.models.representations.space import LatentSpace

Array = NDArray[np.float32]
KEPT = 512
"""Pictures that a decoder with foresight remembers; of dSprites they take 8 MiB."""
AT_ONCE, MOST_SPARE = 32, 12
"""How many pictures it decodes in one call, and how many of them for what may come."""


class Decoder(Protocol):
    """What a session needs of a model; for the members see `decoders.LoadedDecoder`."""

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
    @property
    def forward(self) -> Callable[[Array], Array]: ...
    def decode(self, z: Array) -> Array:
        """float32 (n, width) -> float32 (n, *shape)."""
        ...


class TargetDistance(NamedTuple):
    """How near a picture is to the target: alignment in 0..1, error as sum and mean."""

    alignment: float
    error_sum: float
    error_mean: float


State = tuple[float, ...]
Likely = tuple[Iterable[State], Iterable[State]]
"""States of the dials that come next, and others that may come, the likeliest first."""


def nothing_likely() -> Likely:
    return (), ()


class Foresight:
    """A decoder's `forward` that is told which states are likely to be shown next, decodes them in
    one call, and remembers recent pictures.

    ONNX Runtime gives the same bits of one z and of many at once; other engines may differ in the
    last ones. spare: how many pictures that may come are decoded with one that is wanted.
    """

    def __init__(
        self, forward: Callable[[Array], Array], encode: Callable[[State], Array], spare: int
    ) -> None:
        self._forward = forward
        self._encode = encode
        self._spare = spare
        self._next: Callable[[], Likely] = nothing_likely
        self._kept: dict[bytes, Array] = {}

    @classmethod
    def of(cls, decoder: Decoder) -> Foresight:
        """Of a loaded decoder: as many pictures are spare as take about as long as the call."""
        rows = np.stack([decoder.space.encode(decoder.space.snap((0.0,) * len(decoder.space)))] * 9)
        one_s, nine_s = (_least_s(partial(decoder.decode, rows[:n])) for n in (1, 9))
        each_s = (nine_s - one_s) / 8
        spare = MOST_SPARE if one_s >= MOST_SPARE * each_s else int(one_s / each_s) - 1
        return cls(decoder.forward, decoder.space.encode, spare)

    def foresee(self, likely: Callable[[], Likely]) -> None:
        """What comes next; asked where something has to be decoded."""
        self._next = likely

    def __call__(self, z: Array) -> Array:
        if len(z) != 1:
            return self._forward(z)
        key = z.tobytes()
        if (picture := self._kept.get(key)) is None:
            rows, (surely, perhaps) = {key: z[0]}, self._next()
            self._add(rows, surely, AT_ONCE)
            self._add(rows, perhaps, min(AT_ONCE, len(rows) + self._spare))
            self._next = nothing_likely
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept.update(zip(rows, self._forward(np.stack([*rows.values()])), strict=True))
            picture = self._kept[key]
        return picture[None]

    def _add(self, rows: dict[bytes, Array], states: Iterable[State], most: int) -> None:
        """Add what is not remembered, until there are so many rows."""
        for state in states:
            if len(rows) >= most:
                return
            row = self._encode(state)
            if (key := row.tobytes()) not in self._kept:
                rows.setdefault(key, row)


def _least_s(work: Callable[[], object]) -> float:
    """The seconds of the quickest of three times."""
    moments = [time.perf_counter()]
    for _ in range(3):
        work()
        moments.append(time.perf_counter())
    return min(after - before for before, after in pairwise(moments))


def decode_one(decoder: Decoder, z: tuple[float, ...]) -> Array:
    """The picture of one dial state, shape (*shape,), float32."""
    picture: Array = decoder.decode(decoder.space.encode(z)[None, :])[0]
    return picture


def decode_rows(decoder: Decoder, rows: Sequence[Sequence[tuple[float, ...]]]) -> Array:
    """The pictures of dial states in rows of equal length, shape (rows, columns, *shape)."""
    z = np.stack([decoder.space.encode(state) for row in rows for state in row])
    x = decoder.decode(z)
    return x.reshape(len(rows), len(rows[0]), *x.shape[1:])


def compare(distance: str, x: Array, target: Array) -> TargetDistance:
    """Alignment and error of a picture against the target."""
    total, mean = squared_error(x, target)
    return TargetDistance(1.0 - named(distance)(x, target), total, mean)
