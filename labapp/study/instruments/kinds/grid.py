"""A place on two scales at once, such as the affect grid. What is stored is the number on each."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field

from labapp.study.instruments.items import MOST_CIRCLES, Compound, Ends, SomeWords, Words
from labapp.study.instruments.kinds.rating import Scale


class Axis(Ends):
    """One of the two scales of a grid, with the words at its ends: `low` on the left, or below;
    `high` on the right, or above.

    Attributes
    ----------
    name : the name of the scale, for screen readers and tables (default: the words at its highest
        point).
    """

    name: Words = ""

    @property
    def title(self) -> str:
        return self.name or self.high


def _four_or_none(words: tuple[str, ...]) -> tuple[str, ...]:
    if len(words) not in (0, 4):
        raise ValueError("four texts: top left, top right, bottom left, bottom right")
    return words


class Grid(Compound):
    """A square of a grid, which gives two numbers at once, such as how pleasant and how arousing
    something is (affect grid; Russell, Weiss and Mendelsohn, 1989). In tables the two are ratings
    `<id>_x`, from 1 on the left, and `<id>_y`, from 1 below.

    Attributes
    ----------
    across : the scale from left to right, with `low`, `high` and perhaps a `name`.
    up : the scale from bottom to top.
    points : the number of points of both scales.
    corners : words at the corners: top left, top right, bottom left, bottom right.
    """

    at_once: ClassVar[bool] = True

    kind: Literal["grid"]
    text: SomeWords
    across: Axis
    up: Axis
    points: int = Field(default=9, ge=3, le=MOST_CIRCLES)
    corners: Annotated[tuple[SomeWords, ...], AfterValidator(_four_or_none)] = ()

    def axes(self) -> dict[str, Axis]:
        return {"x": self.across, "y": self.up}

    def parts(self) -> tuple[Scale, ...]:
        return tuple(
            self.as_part(Scale, name, axis.title, points=self.points, low=axis.low, high=axis.high)
            for name, axis in self.axes().items()
        )

    def check(self, value: Any) -> dict[str, int]:
        place = self.take(value, self.axes())
        whole = all(type(number) is int for number in place.values())
        if not whole or not all(1 <= number <= self.points for number in place.values()):
            raise ValueError(f"{self.id}: {value!r} is not on a grid of {self.points} points")
        if len(place) == 1:
            raise ValueError(f"{self.id}: {value!r} has one number, but a square has two")
        return place

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, int]:
        across, up = rng.integers(1, self.points + 1, 2).tolist()
        return {"x": across, "y": up}
