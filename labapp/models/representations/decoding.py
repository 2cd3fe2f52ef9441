"""Pictures of dial states and their distance from a target, as sessions need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.distance import get_distance, squared_errors
from labapp.models.representations.space import LatentSpace

Array = NDArray[np.float32]
KEPT = 512
"""Pictures of a question that are remembered; of dSprites they take 8 MiB."""


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


class TargetDistance(NamedTuple):
    """How near a picture is to the target: alignment in 0..1, error as sum and mean."""

    alignment: float
    error_sum: float
    error_mean: float


Look = tuple[Array, TargetDistance]
"""A picture and its distance from the target."""
State = tuple[float, ...]
Likely = Callable[[], Iterable[State]]
"""Gives states of the dials that are likely to come next."""


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
    return compare_many(distance, x[None], target)[0]


def compare_many(distance: str, x: Array, target: Array) -> list[TargetDistance]:
    """Alignment and error of pictures, shape (n, *shape), against the target."""
    alignments = 1.0 - get_distance(distance).many(x, target)
    sums, means = squared_errors(x, target)
    return list(map(TargetDistance, alignments.tolist(), sums.tolist(), means.tolist()))


class Foresight:
    """The pictures of one question as they are looked at, each with its distance from the target.

    Once it knows which states of the dials are likely to be looked at next, it decodes and
    compares them in one call, and remembers recent pictures.

    ONNX Runtime gives the same bits of one z and of many at once; other engines may differ in the
    last ones.
    """

    def __init__(self, decoder: Decoder, distance: str, target: Array) -> None:
        self._decoder = decoder
        self._distance = distance
        self._target = target
        self._next: Likely | None = None
        self._kept: dict[State, Look] = {}

    def foresee(self, likely: Likely) -> None:
        """What comes next; it is asked for where something has to be decoded."""
        self._next = likely

    def look(self, z: State) -> Look:
        """The picture of a state of the dials, shape (*shape,), and its distance."""
        if self._next is None:
            picture = decode_one(self._decoder, z)
            return picture, compare(self._distance, picture, self._target)
        return self.look_along((z,))[0]

    def look_along(self, states: Sequence[State]) -> list[Look]:
        """As `look`, of states that follow one another; they are decoded in one call, with what
        was said to come next."""
        kept = self._kept
        if any(z not in kept for z in states):
            if len(kept) >= KEPT:
                kept.clear()
            coming, self._next = self._next or tuple, tuple
            fresh = [z for z in dict.fromkeys((*states, *coming())) if z not in kept]
            z = self._decoder.space.encode_rows(np.array(fresh, np.float32))
            pictures = self._decoder.decode(z)
            measured = compare_many(self._distance, pictures, self._target)
            kept.update(zip(fresh, zip(pictures, measured, strict=True), strict=True))
        return [kept[z] for z in states]
