"""How simulated participants solve reconstruction questions: the strategies by name.

Each goes about it as participants of paper 000 were observed to (6.1.2, 6.2.2, 7), sees only what
is on the screen (`view.View`), and acts through the commands that widgets send. Those that learn
what the dials do (`learning.Learning`) can name them, see `naming`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from labapp.simulation.ascent import Ascent
from labapp.simulation.hands import Hands
from labapp.simulation.partial import Partial
from labapp.simulation.percept import Eye
from labapp.simulation.understanding import Understanding
from labapp.simulation.view import Strategy
from labapp.simulation.wandering import Wandering

Make = Callable[[Hands, np.random.Generator], Strategy]


def _understanding(hands: Hands, rng: np.random.Generator) -> Strategy:
    return Understanding(Eye(rng, hands.person.noise), hands)


def _partial(hands: Hands, rng: np.random.Generator) -> Strategy:
    return Partial(Eye(rng, hands.person.noise), hands)


STRATEGIES: MappingProxyType[str, Make] = MappingProxyType(
    {
        "understanding": _understanding,
        "partial": _partial,
        "ascent": Ascent,
        "random": Wandering,
    }
)
"""Those of `labapp.simulation.names.TURNS_DIALS` that look at pictures."""


def in_practice(strategy: str) -> str:
    """The strategy with which a participant does the practice.

    Whoever takes part has aligned all its targets (paper 000, 5.2.2), which the tutorial shows how
    to do: also who turns dials at random later goes by the number there.
    """
    return "ascent" if strategy == "random" else strategy
