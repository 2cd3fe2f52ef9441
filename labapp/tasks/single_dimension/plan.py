"""The single-dimension task in a plan: its parts, and how its visualisations are laid out.

Source: paper 000, 4.5 (regimes, visualisations, two questions a dimension), A.4 with Figures A.14
and A.15; the practice is that of the published application.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from string import ascii_uppercase
from typing import Literal

import numpy as np

from labapp.models.representations.space import BaseSampling, Discrete, Display, LatentSpace
from labapp.study.plugins.part import Dimensions, Drawing, PlannedPart, RepresentationPart
from labapp.study.stages import Visualisation

Regime = Literal["low", "medium", "high"]
Bounds = tuple[tuple[float, float], ...]
"""The values between which Low, Medium and High are drawn; empty for a discrete dimension."""
Z = tuple[float, ...]
Rows = tuple[tuple[Z, ...], ...]

REGIMES: tuple[Regime, ...] = ("low", "medium", "high")

TRAVERSALS, STEPS = 5, 7
"""Rows of a traversal, and linear steps of a continuous dimension from Low to High."""
EXEMPLARS = 8
"""Examples a bin."""


class SingleDimensionPart(RepresentationPart):
    """A stage (or the practice) of the single-dimension task.

    asked: the dimension (from 0) that each question is about; answers, states: the regime and the
    slider positions of each, where they are not drawn. feedback: whether the right answer is told
    after each. The items of adaptive tracks are places in asked, and their levels the spreads of
    the regimes."""

    part: Literal["single_dimension"] = "single_dimension"
    role: Literal["stage", "practice"]
    display: Display
    visualisation: Visualisation
    asked: tuple[int, ...]
    answers: tuple[Regime, ...] = ()
    states: tuple[Z, ...] = ()
    feedback: bool = True
    sampling: BaseSampling
    time_limit_s: float | None
    think_aloud: bool

    @property
    def trials(self) -> int:
        """How many questions it has; of an adaptive stage the most that may come."""
        return len(self.asked) if self.adaptive is None else self.adaptive.most

    @property
    def task(self) -> str:
        return f"single-dimension-{self.visualisation}"

    def choice_name(self, dimension: int, choice: int | None) -> str | None:
        """Low, medium or high; of a discrete dimension the index of the value, from 0."""
        if choice is None or isinstance(self.space.dimensions[dimension], Discrete):
            return None if choice is None else str(choice)
        return REGIMES[choice]


class ExamplePart(Drawing, PlannedPart):
    """The tutorial: a text whose last page shows the pictures of a question about one slider.

    examples: their slider positions, in rows.
    """

    part: Literal["example"] = "example"
    document: str
    model: str
    display: Display
    dimensions: Dimensions
    visualisation: Visualisation
    dimension: int
    examples: Rows

    def dials(self) -> Iterator[tuple[str, Dimensions]]:
        yield self.model, self.dimensions


def spread_out(bounds: Bounds, spread: float) -> Bounds:
    """The regimes drawn together around the middle of Medium; spread: 1 leaves them as they are."""
    low, high = bounds[len(bounds) // 2]
    middle = (low + high) / 2
    return tuple(
        (middle + spread * (low - middle), middle + spread * (high - middle))
        for low, high in bounds
    )


def lay_out(
    visualisation: Visualisation,
    space: LatentSpace,
    dimension: int,
    bounds: Bounds,
    base: Callable[[], Z],
    rng: np.random.Generator,
) -> Rows:
    """Slider states of a visualisation, in rows.

    Traversals: each row is one drawn state with the dimension at linear steps from a value of Low
    to one of High, both drawn anew for the row (the published application). Exemplars: each row is
    one bin (Low, Medium, High), every example a state of its own with a value of its own. A
    discrete dimension has a step, or a bin, a value.

    base: draws a state.
    """
    if visualisation == "traversals":
        states = [base() for _ in range(TRAVERSALS)]
        return tuple(
            tuple(put(z, dimension, value) for value in steps(space, dimension, bounds, rng))
            for z in states
        )
    return tuple(
        tuple(
            put(base(), dimension, draw_value(space, dimension, bounds, choice, rng))
            for _ in range(EXEMPLARS)
        )
        for choice in range(choices(space, dimension))
    )


def choices(space: LatentSpace, dimension: int) -> int:
    dial = space.dimensions[dimension]
    return dial.k if isinstance(dial, Discrete) else len(REGIMES)


def shape_of(visualisation: Visualisation, space: LatentSpace, dimension: int) -> tuple[int, int]:
    """Rows and columns of `lay_out`."""
    count = choices(space, dimension)
    if visualisation == "exemplars":
        return count, EXEMPLARS
    discrete = isinstance(space.dimensions[dimension], Discrete)
    return TRAVERSALS, count if discrete else STEPS


def steps(
    space: LatentSpace, dimension: int, bounds: Bounds, rng: np.random.Generator
) -> tuple[float, ...]:
    last = choices(space, dimension) - 1
    if not bounds:
        return tuple(float(value) for value in range(last + 1))
    low, high = (draw_value(space, dimension, bounds, end, rng) for end in (0, last))
    return tuple(float(value) for value in np.linspace(low, high, STEPS).round(4))


def draw_value(
    space: LatentSpace, dimension: int, bounds: Bounds, choice: int, rng: np.random.Generator
) -> float:
    """A value of the dimension for which `choice` is right: uniform within the regime."""
    if not bounds:
        return float(choice)
    low, high = bounds[choice]
    return min(max(round(float(rng.uniform(low, high)), 4), low), high)


def put(z: Sequence[float], dimension: int, value: float) -> Z:
    return (*z[:dimension], value, *z[dimension + 1 :])


def value_name(index: int) -> str:
    """A discrete slider's value as a letter (digits would be taken for those of MNIST)."""
    return ascii_uppercase[index] if index < len(ascii_uppercase) else f"{index + 1}"
