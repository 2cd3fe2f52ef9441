"""How simulated participants solve reconstruction questions: the strategies by name.

Each goes about it as participants of paper 000 were observed to (6.1.2, 6.2.2, 7), sees only what
is on the screen (`view.View`), and acts through the commands that widgets send. Those here learn
nothing of the dials; those that do are in `learning`. Wherever a strategy is named, shares of
several may stand: `understanding=0.3,random=0.7`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labapp.base.errors import UsageError
from labapp.session.simulation.learning import PartialStrategy, UnderstandingStrategy
from labapp.session.simulation.motor import RISES, MotorModel, Solving
from labapp.session.simulation.names import MIXTURE, ORACLE
from labapp.session.simulation.percept import Eye
from labapp.session.simulation.view import Strategy, View
from labapp.study.conditions import generator

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

STRATEGIES: MappingProxyType[str, Make] = MappingProxyType(
    {
        "understanding": lambda hand, rng: UnderstandingStrategy(Eye(rng, hand.person.noise), hand),
        "partial": lambda hand, rng: PartialStrategy(Eye(rng, hand.person.noise), hand),
        "ascent": HillClimbingStrategy,
        "random": RandomStrategy,
    }
)
"""Those of `labapp.session.simulation.names.TURNS_DIALS` that look at pictures."""


def in_practice(strategy: str) -> str:
    """The strategy with which a participant does the practice.

    Every participant has aligned all its targets (paper 000, 5.2.2), which the tutorial shows how
    to do. Also those who turn dials at random later go by the number there.
    """
    return "ascent" if strategy == "random" else strategy


SHARES = MappingProxyType({"understanding": 0.3, "partial": 0.3, "ascent": 0.25, "random": 0.15})
"""The usual mixture. Paper 000 saw all four ways and counted none of them: most of its participants
tried to understand and many partly did (6.1.2, 6.2.2), those who did not went by the number, few
experimented at random. The shares are ours; they were fixed before any study was simulated and are
not fitted to the published results."""


def parse(text: str, able: Sequence[str] = ()) -> dict[str, float]:
    """Shares from `understanding=0.3,random=0.7`; able: the strategies that may have one, empty for
    those that the study's tasks know (`labapp.session.simulation.fitting`). Raises UsageError."""

    def wrong(why: str) -> UsageError:
        return UsageError(
            f"{text!r} is not a mixture of strategies: {why}.",
            safe="No session was begun.",
            todo="Write it as understanding=0.3,random=0.7, with shares that add up to 1"
            + (f"; the strategies are {', '.join(able)}." if able else "."),
        )

    shares: dict[str, float] = {}
    for item in text.split(","):
        name, _, number = (side.strip() for side in item.partition("="))
        try:
            share = float(number)
        except ValueError:
            raise wrong(f"{item.strip()!r} is not NAME=SHARE") from None
        if name in (MIXTURE, ORACLE) or (able and name not in able):
            raise wrong(f"{name!r} is not one of the strategies")
        if name in shares:
            raise wrong(f"{name!r} stands twice")
        if not 0 <= share <= 1:
            raise wrong(f"a share must be from 0 to 1, found {share:g}")
        shares[name] = share
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise wrong(f"the shares add up to {sum(shares.values()):g} instead of 1")
    return {name: share for name, share in shares.items() if share > 0}


def shares_of(strategy: str) -> dict[str, float] | None:
    """The shares of a mixture; None of a single strategy. Raises UsageError."""
    if strategy == MIXTURE:
        return dict(SHARES)
    return parse(strategy) if "=" in strategy else None


def members(strategy: str) -> tuple[str, ...]:
    """The strategies that participants of a strategy, or of a mixture, can have."""
    shares = shares_of(strategy)
    return (strategy,) if shares is None else tuple(shares)


def draw_strategy(strategy: str, seed: int, participant: str) -> tuple[str, float | None]:
    """The strategy of a participant, and its share where it was drawn: by seed and label, and so
    the same whichever models the participant meets."""
    shares = shares_of(strategy)
    if shares is None:
        return strategy, None
    names = list(shares)
    edges = np.cumsum([shares[name] for name in names])
    lot = generator(seed, participant, "mixture").random()
    name = names[min(int(np.searchsorted(edges, lot, side="right")), len(names) - 1)]
    return name, shares[name]
