"""Knowing: is told where the target's dials stand, and turns its own there.

No model of a person, and not offered as one: it ends a session surely and soon, for the
demonstration and for tests. All other strategies see only what is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labapp.simulation.hands import Hands, Solving
from labapp.simulation.view import View

STRIDES = 6
"""Places at which a dial is seen on its way."""


@dataclass
class Knowing:
    """target: the dials of the present question's target."""

    hands: Hands
    target: Callable[[], tuple[float, ...]]

    def understands(self, view: View) -> float:
        return 1.0

    def solve(self, view: View) -> Solving:
        """The most wrong dial first."""

        def wrong(dial: int) -> float:
            dimension = view.dials[dial]
            return abs(self.target()[dial] - view.z[dial]) / (dimension.width or 1.0)

        for dial in sorted(range(len(view.dials)), key=wrong, reverse=True):
            view = yield from self.hands.drag(view, dial, self.target()[dial], STRIDES)
        return view
