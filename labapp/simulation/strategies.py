"""How simulated participants solve reconstruction questions: the strategies by name.

Each goes about it as participants of paper 000 were observed to (6.1.2, 6.2.2, 7), sees only what
is on the screen (`view.View`), and acts through the commands that widgets send. Those here learn
nothing of the dials; those that do are in `learning`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labapp.simulation.learning import PartialStrategy, UnderstandingStrategy
from labapp.simulation.motor import RISES, MotorModel, Solving
from labapp.simulation.percept import Eye
from labapp.simulation.view import Strategy, View

TURNS_ROUND = 0.2
"""Share of the random movements that turn round on their way (ours)."""
FIRST_STRIDE = 0.05
"""Slider widths from look to look in the first round; half as much after a round in vain."""
SMALLEST_STRIDE = 0.0125
"""Nobody looks more closely than that while going through the dials (ours)."""
IN_ORDER = 0.5
"""Share of participants who take the dials in their order; the others in any."""

ORACLE_STRIDES = 6
"""Places at which the oracle sees a dial on its way."""


@dataclass
class RandomStrategy:
    """Turns any dial to any place, and stops when the picture matches by luck; only its patience
    ends it.

    "Randomly experimenting" (paper 000, section 7), and one half of the competing hypothesis there:
    that people only stumble upon solutions.
    """

    motor: MotorModel
    rng: np.random.Generator

    def understands(self, view: View) -> float:
        """It looks for nothing to understand."""
        return 0.1

    def solve(self, view: View) -> Solving:
        while True:
            dial = int(self.rng.integers(len(view.dials)))
            goal = self.motor.anywhere(view, dial)
            if self.rng.random() < TURNS_ROUND and not view.dials[dial].options:
                back = view.z[dial]
                view = yield from self.motor.drag(view, dial, goal)
                goal = back + (goal - back) * float(self.rng.uniform(0.2, 0.8))
            view = yield from self.motor.drag(view, dial, goal)


@dataclass
class HillClimbingStrategy:
    """Turns one dial after another to a local maximum of the alignment, until a round through all
    dials in the smallest strides brings nothing (paper 000, 6.2.2).

    "Watch one slider and look at the alignment number to see if it reaches a local max", through
    the dials one at a time (P10) or in a very random order (P8); it asks nothing of the pictures.
    """

    motor: MotorModel
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self._in_order = self.rng.random() < IN_ORDER

    def understands(self, view: View) -> float:
        """It does not try to."""
        return 0.15

    def solve(self, view: View) -> Solving:
        stride = FIRST_STRIDE
        while True:
            before = view.alignment
            dials = range(len(view.dials))
            for dial in dials if self._in_order else self.rng.permutation(dials):
                view = yield from self.motor.climb(view, int(dial), stride)
            if view.alignment > before + RISES:
                continue
            if stride <= SMALLEST_STRIDE:
                return view
            stride /= 2


@dataclass
class OracleStrategy:
    """Is told where the target's dials stand, and turns its own there.

    No model of a person, and not offered as one: it ends a session surely and soon, for the
    demonstration and for tests. All other strategies see only what is on the screen.

    target: the dials of the present question's target.
    """

    motor: MotorModel
    target: Callable[[], tuple[float, ...]]

    def understands(self, view: View) -> float:
        return 1.0

    def solve(self, view: View) -> Solving:
        """The most wrong dial first."""

        def wrong(dial: int) -> float:
            dimension = view.dials[dial]
            return abs(self.target()[dial] - view.z[dial]) / (dimension.width or 1.0)

        for dial in sorted(range(len(view.dials)), key=wrong, reverse=True):
            view = yield from self.motor.drag(view, dial, self.target()[dial], ORACLE_STRIDES)
        return view


Make = Callable[[MotorModel, np.random.Generator], Strategy]


def _understanding(motor: MotorModel, rng: np.random.Generator) -> Strategy:
    return UnderstandingStrategy(Eye(rng, motor.person.noise), motor)


def _partial(motor: MotorModel, rng: np.random.Generator) -> Strategy:
    return PartialStrategy(Eye(rng, motor.person.noise), motor)


STRATEGIES: MappingProxyType[str, Make] = MappingProxyType(
    {
        "understanding": _understanding,
        "partial": _partial,
        "ascent": HillClimbingStrategy,
        "random": RandomStrategy,
    }
)
"""Those of `labapp.simulation.names.TURNS_DIALS` that look at pictures."""


def in_practice(strategy: str) -> str:
    """The strategy with which a participant does the practice.

    Whoever takes part has aligned all its targets (paper 000, 5.2.2), which the tutorial shows how
    to do: also who turns dials at random later goes by the number there.
    """
    return "ascent" if strategy == "random" else strategy
