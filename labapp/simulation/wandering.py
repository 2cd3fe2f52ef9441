"""Random: turns any dial to any place, and stops when the picture matches by luck.

"Randomly experimenting" (paper 000, section 7), and one half of the competing hypothesis there:
that people only stumble upon solutions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.simulation.hands import Hands, Solving
from labapp.simulation.view import View

TURNS_ROUND = 0.2
"""Share of the movements that turn round on their way (ours)."""


@dataclass
class Wandering:
    """Never ends by itself: patience does."""

    hands: Hands
    rng: np.random.Generator

    def understands(self, view: View) -> float:
        """It looks for nothing to understand."""
        return 0.1

    def solve(self, view: View) -> Solving:
        while True:
            dial = int(self.rng.integers(len(view.dials)))
            goal = self.hands.anywhere(view, dial)
            if self.rng.random() < TURNS_ROUND and not view.dials[dial].options:
                back = view.z[dial]
                view = yield from self.hands.drag(view, dial, goal)
                goal = back + (goal - back) * float(self.rng.uniform(0.2, 0.8))
            view = yield from self.hands.drag(view, dial, goal)
