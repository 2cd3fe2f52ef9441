"""What a simulated participant sees of a reconstruction question, and what it can do about it.

A `View` holds what is on a participant's screen and nothing else: neither the dials of the target,
nor the name of the model, nor those of its dials. What differs between models can reach a strategy
only through their pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from labapp.models.representations.decoding import Likely, State
from labapp.models.representations.space import (
    PUBLISHED_CHART,
    Chart,
    Continuous,
    Display,
    LatentSpace,
    snap_to_step,
)

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ScreenDial:
    """A dial as it stands on the screen: from low to high in steps, or so many radio buttons
    (options, 0 for a slider; their values are 0 … options - 1)."""

    low: float
    high: float
    step: float
    options: int = 0

    @property
    def width(self) -> float:
        """Of the whole slider, in its own unit."""
        return self.high - self.low

    def inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def snap(self, value: float) -> float:
        """Where it stops near a value."""
        return round(value) if self.options else snap_to_step(value, self.low, self.high, self.step)


def dials_of(space: LatentSpace) -> tuple[ScreenDial, ...]:
    """The dials of a latent space, without its names."""
    return tuple(
        ScreenDial(dimension.low, dimension.high, dimension.step)
        if isinstance(dimension, Continuous)
        else ScreenDial(0.0, dimension.k - 1.0, 1.0, dimension.k)
        for dimension in space.dimensions
    )


class View(Struct, frozen=True):
    """The screen at one moment.

    picture, target: float32, of the model's shape, in units of the screen: brightness from 0 to 1,
    or heights of the chart. alignment: as shown beside the target's `goal`, both 0..1 and in steps
    of 0.001 (per cent with one decimal). seconds: since the question began, without pauses.
    may_skip: Skip is on the screen.
    """

    picture: Array
    target: Array
    alignment: float
    goal: float
    z: tuple[float, ...]
    dials: tuple[ScreenDial, ...]
    seconds: float = 0.0
    may_skip: bool = False


def on_screen(picture: Array, display: Display, chart: Chart | None = None) -> Array:
    """A decoded picture as it is painted: black or white, or at its height on the chart."""
    if display == "binary_image":
        return (picture >= 0.5).astype(np.float32)
    if display == "series":
        low, high = chart or PUBLISHED_CHART
        scaled: Array = np.minimum(np.maximum((picture - low) / (high - low), 0.0), 1.0)
        return scaled
    return picture


class DialMove(Struct, frozen=True):
    """Set a dial to a value.

    Attributes
    ----------
    pause : stop for a moment first, to look or to turn round.
    onward : values that the dial is set to after that, one after the other. The strategy is asked
        again when the last of them is on the screen.
    watch : called with the states of the dials and the pictures, shape (n, *shape), that are seen
        on the way, before the last.
    then : gives what is likely to be seen next.
    """

    dial: int
    value: float
    pause: bool = False
    onward: tuple[float, ...] = ()
    watch: Callable[[Sequence[State], Array], None] | None = None
    then: Likely = tuple


Acts = Generator[DialMove, View, View]
"""One move after another; each is answered by what is seen at its end, and so is the last."""


class Strategy(Protocol):
    """How one participant goes about the questions of one stage; made afresh for each stage."""

    def solve(self, view: View) -> Generator[DialMove, View, object]:
        """Move after move; it ends where this participant does not know what else to try."""
        ...

    def understands(self, view: View) -> float:
        """How well this participant thinks it understands the dials, 0..1."""
        ...
