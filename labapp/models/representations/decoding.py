"""Pictures of dial states and their distance from a target, as sessions need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.distance import named, squared_error
from labapp.models.representations.space import LatentSpace

Array = NDArray[np.float32]
KEPT = 512
"""Pictures that a decoder with foresight remembers; of dSprites they take 8 MiB."""


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
    def decode(self, z: Array) -> Array:
        """float32 (n, width) -> float32 (n, *shape)."""
        ...


@dataclass(frozen=True, slots=True)
class TargetDistance:
    """How near a picture is to the target: alignment in 0..1, error as sum and mean."""

    alignment: float
    error_sum: float
    error_mean: float


State = tuple[float, ...]
Likely = Callable[[], Iterable[State]]
"""Gives states of the dials that are likely to come next."""


class Foresight:
    """A decoder's `forward` that learns which states are likely to be shown next, decodes them in
    one call, and remembers recent pictures.

    ONNX Runtime gives the same bits of one z and of many at once; other engines may differ in the
    last ones.
    """

    def __init__(self, forward: Callable[[Array], Array], encode: Callable[[State], Array]) -> None:
        self._forward = forward
        self._encode = encode
        self._next: Likely = tuple
        self._kept: dict[bytes, Array] = {}

    def foresee(self, likely: Likely) -> None:
        """What comes next; it is asked for where something has to be decoded."""
        self._next = likely

    def __call__(self, z: Array) -> Array:
        if len(z) != 1:
            return self._forward(z)
        key = z.tobytes()
        if (picture := self._kept.get(key)) is None:
            rows = {key: z[0]}
            for row in map(self._encode, self._next()):
                if (other := row.tobytes()) not in self._kept:
                    rows.setdefault(other, row)
            self._next = tuple
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept.update(zip(rows, self._forward(np.stack([*rows.values()])), strict=True))
            picture = self._kept[key]
        return picture[None]


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
