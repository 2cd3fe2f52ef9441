"""What a participant knows in a stage: the target as seen, and what each dial was seen to do."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.simulation.effects import Effects
from labapp.simulation.percept import KINDS, Eye, kinds_of
from labapp.simulation.view import Acts, Move, View

Float64 = NDArray[np.float64]

GLANCES = 4
"""Glances of a look at what does not move, about one a quarter of a second."""
GRID = 41
"""Places of a slider that are thought of."""
NOTICED = 4.0
"""A gain below two just noticeable differences (squared) is not worth turning a dial for."""

RELIABLE = 0.5
"""Share of what a dial does that was expected, from which it is relied on (ours)."""


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """Where to turn a dial; gain: how much nearer that comes to the target, as far as is known
    (squared just noticeable differences)."""

    dial: int
    goal: float
    gain: float

    @property
    def worth_it(self) -> bool:
        return self.gain > NOTICED


class LearnerModel:
    """What one participant knows of the dials in one stage; made at its first view."""

    def __init__(self, eye: Eye, view: View) -> None:
        self.eye = eye
        self.kinds = kinds_of(view.target)
        self.effects = Effects(view.dials, len(self.kinds))
        self._target = np.zeros(len(self.kinds))
        self._now: tuple[tuple[float, ...], Float64] | None = None

    def begin(self, view: View) -> None:
        """A new question: look at both pictures."""
        self._target = self.eye.look(view.target, GLANCES)
        self._now = None
        self.see(view)

    def see(self, view: View) -> None:
        """Glance at the own picture, and remember it with the dials."""
        self.effects.see(view.z, self.eye.look(view.picture))

    def now(self, view: View) -> Float64:
        """The own picture, looked at for a while."""
        if self._now is None or self._now[0] != view.z:
            self._now = view.z, self.eye.look(view.picture, GLANCES)
        return self._now[1]

    def gap(self, view: View) -> Float64:
        """What is still different, by property."""
        return self._target - self.now(view)

    def plan(self, view: View, dial: int, kind: int | None = None) -> PlannedTurn:
        """The best place of a dial, as far as is known of it, all others staying where they are.

        kind: only properties of this kind count.
        """
        dimension, at = view.dials[dial], view.z[dial]
        values = np.linspace(dimension.low, dimension.high, dimension.options or GRID)
        effect = self.effects.effect(dial, np.append(values, at))
        changes = effect[:-1] - effect[-1]
        gap, counts = self.gap(view), slice(None) if kind is None else self.kinds == kind
        left = np.square(gap[counts] - changes[:, counts]).sum(axis=1)
        best = int(np.argmin(left))
        gain = float(np.square(gap[counts]).sum() - left[best])
        return PlannedTurn(dial, float(values[best]), gain)

    def expected(self, view: View, dial: int, value: float) -> Float64:
        """What turning a dial to a value is expected to change."""
        effect = self.effects.effect(dial, np.array([view.z[dial], value]))
        change: Float64 = effect[1] - effect[0]
        return change

    def learn(self, dial: int, expected: Float64, before: Float64, view: View) -> None:
        """Compare what a turn was expected to change with what it did."""
        noise = self.eye.noise * np.sqrt(2 / GLANCES)
        self.effects.judge(dial, expected, self.now(view) - before, noise)

    def does(self, view: View, dial: int) -> Float64:
        """How strongly a dial changes each kind of property over its range, shape (kinds,)."""
        spread = self.over_range(view, dial).var(axis=0)
        return np.array([spread[self.kinds == kind].sum() for kind in KINDS])

    def over_range(self, view: View, dial: int) -> Float64:
        """What a dial adds to each property over its range, shape (places, properties)."""
        dimension = view.dials[dial]
        values = np.linspace(dimension.low, dimension.high, dimension.options or GRID)
        return self.effects.effect(dial, values)

    def understanding(self, view: View) -> float:
        """How many of the dials mean something to it, 0..1: those that do what is expected of them,
        and that change one kind of property rather than all."""
        means = []
        for dial in range(len(view.dials)):
            does = self.does(view, dial)
            main = float(does.max() / (does.sum() + NOTICED))
            means.append(self.effects.reliable(dial) * main)
        return float(np.mean(means))

    def watch(self, acts: Generator[Move, View, View]) -> Acts:
        """Look at the picture after each move."""
        view: View | None = None
        while True:
            try:
                move = next(acts) if view is None else acts.send(view)
            except StopIteration as end:
                last: View = end.value
                return last
            view = yield move
            self.see(view)
