"""How a simulated participant turns dials: aimed movements, climbing by the alignment, fiddling.

Each way is a generator of moves that is told what is seen after each, and ends with what is seen
last. Strides are as far apart as a hand of that speed moves between two pictures.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil

import numpy as np

from labapp.models.representations.decoding import State
from labapp.session.simulation.person import AIM_SD, ParticipantTraits
from labapp.session.simulation.view import Acts, DialMove, View

OVERSHOOT = 2
"""Strides that go the wrong way before a hand that is dragging stops: about a quarter of a second,
the time a person takes to react to what is seen (reaction times of 200 to 300 ms)."""

ONWARD = 3
"""How many pictures to decode in one call of a movement that continues while the alignment rises.
More would often be wasted."""

SMALL, FAR = 256, 8
"""Values of a picture so small that decoding a few in vain costs less than another call, and how
many more are decoded then."""

RISES = 0.0005
"""Half a step of the alignment shown."""

Solving = Generator[DialMove, View, object]


@dataclass
class MotorModel:
    """Moves the dials for one participant, and counts how.

    by_plan : movements aimed at a place that was thought of. by_number : climbs by the alignment.
    by_chance : movements to any place.
    """

    person: ParticipantTraits
    rng: np.random.Generator
    by_plan: int = 0
    by_number: int = 0
    by_chance: int = 0

    @property
    def planned(self) -> float:
        """How far it went by a plan, 0..1; going by the number is half a plan."""
        done = self.by_plan + self.by_number + self.by_chance
        return (self.by_plan + self.by_number / 2) / done if done else 0.5

    def aim(self, view: View, dial: int, goal: float) -> float:
        """Where a movement with that goal ends: near it."""
        self.by_plan += 1
        dimension = view.dials[dial]
        if dimension.options:
            return goal
        return dimension.inside(goal + float(self.rng.normal(0, AIM_SD)) * (goal - view.z[dial]))

    def drag(self, view: View, dial: int, goal: float, most: int | None = None) -> Acts:
        """Drag straight to a value, or press a button; most: the largest number of strides."""
        dimension, at = view.dials[dial], view.z[dial]
        width = self.person.stride * dimension.width
        strides = 1 if dimension.options else ceil(abs(goal - at) / width)
        strides = strides if most is None else min(strides, most)
        values = [at + (goal - at) * k / strides for k in range(1, strides + 1)]
        if values:
            view = yield DialMove(dial, values[0], pause=True, onward=tuple(values[1:]))
        return view

    def climb(self, view: View, dial: int, stride: float) -> Acts:
        """To a local maximum of the alignment along one dial: past it, and back.

        stride: slider widths from look to look. Any way first; the other where that brought
        nothing. Of radio buttons each is tried.
        """
        self.by_number += 1
        dimension = view.dials[dial]
        if dimension.options:
            return (yield from self._buttons(view, dial))
        start = best = view.z[dial]
        highest = view.alignment
        ways = (1.0, -1.0) if self.rng.random() < 0.5 else (-1.0, 1.0)
        for way in ways:
            if view.z[dial] != start:
                view = yield from self.drag(view, dial, start)
            falls, turned = 0, True
            step = way * max(stride * dimension.width, dimension.step)
            while falls < OVERSHOOT:
                goal = dimension.inside(view.z[dial] + step)
                if goal == view.z[dial]:
                    break
                before = view.alignment
                most = OVERSHOOT if turned else ONWARD
                then = partial(_onward, view, dial, step, most - 1 - falls, start)
                view = yield DialMove(dial, goal, pause=turned, then=then)
                turned = False
                if view.alignment > highest + RISES:
                    best, highest, falls = view.z[dial], view.alignment, 0
                elif view.alignment < before - RISES or view.alignment < highest - RISES:
                    falls += 1
            if best != start:
                break
        return (yield from self.drag(view, dial, best))

    def press(self, view: View, dial: int, button: float, order: Sequence[float]) -> DialMove:
        """Press one of several buttons that are pressed one after the other."""
        return DialMove(dial, button, pause=True, then=lambda: states_along(view, dial, order))

    def _buttons(self, view: View, dial: int) -> Acts:
        best, highest = view.z[dial], view.alignment
        others = [k for k in range(view.dials[dial].options) if k != best]
        order = [float(k) for k in self.rng.permutation(others)]
        for k in order:
            view = yield self.press(view, dial, k, order)
            if view.alignment > highest + RISES:
                best, highest = view.z[dial], view.alignment
        if view.z[dial] != best:
            view = yield DialMove(dial, best, pause=True)
        return view

    def anywhere(self, view: View, dial: int) -> float:
        """Any place of a dial."""
        self.by_chance += 1
        dimension = view.dials[dial]
        if dimension.options:
            return float(self.rng.integers(dimension.options))
        return float(self.rng.uniform(dimension.low, dimension.high))


def states_along(view: View, dial: int, values: Iterable[float]) -> Iterator[State]:
    """The states of the dials with each of these values of one."""
    z, snap = view.z, view.dials[dial].snap
    return ((*z[:dial], snap(value), *z[dial + 1 :]) for value in values)


def _onward(view: View, dial: int, step: float, n: int, start: float) -> Iterator[State]:
    """The next n states behind the next one, where a dial goes on in equal steps. Of small
    pictures, some behind them and on the other side of the start, too."""
    onward = _steps(view, dial, view.z[dial], step)
    values = list(islice(onward, n + 1))
    if view.picture.size <= SMALL:
        values += [*islice(onward, FAR), *islice(_steps(view, dial, start, -step), ONWARD)]
    return states_along(view, dial, values[1:])


def _steps(view: View, dial: int, value: float, step: float) -> Iterator[float]:
    """The values of a dial that goes on from a value in equal steps, without end."""
    dimension = view.dials[dial]
    while True:
        value = dimension.snap(dimension.inside(value + step))
        yield value
