"""Ascent: turns one dial after another to a local maximum of the alignment (paper 000, 6.2.2).

"Watch one slider and look at the alignment number to see if it reaches a local max", through the
dials one at a time (P10) or in a very random order (P8); it asks nothing of the pictures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labapp.simulation.hands import RISES, Hands, Solving
from labapp.simulation.view import View

FIRST_STRIDE = 0.05
"""Slider widths from look to look in the first round; half as much after a round in vain."""
SMALLEST_STRIDE = 0.0125
"""Nobody looks more closely than that while going through the dials (ours)."""
IN_ORDER = 0.5
"""Share of participants who take the dials in their order; the others in any."""


@dataclass
class Ascent:
    """Climbs until a round through all dials in the smallest strides brings nothing."""

    hands: Hands
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
                view = yield from self.hands.climb(view, int(dial), stride)
            if view.alignment > before + RISES:
                continue
            if stride <= SMALLEST_STRIDE:
                return view
            stride /= 2
