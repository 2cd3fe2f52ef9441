"""Mixtures: which share of the simulated participants has which strategy.

Wherever a strategy is named, shares of several may stand: `understanding=0.3,random=0.7`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from labapp.errors import UsageError
from labapp.simulation.names import MIXTURE, ORACLE
from labapp.study.assignment import generator

SHARES = MappingProxyType({"understanding": 0.3, "partial": 0.3, "ascent": 0.25, "random": 0.15})
"""The usual mixture. Paper 000 saw all four ways and counted none of them: most of its participants
tried to understand and many partly did (6.1.2, 6.2.2), those who did not went by the number, few
experimented at random. The shares are ours; they were fixed before any study was simulated and are
not fitted to the published results."""

ABOUT_ONE = 1e-6


def parse(text: str, able: Sequence[str] = ()) -> dict[str, float]:
    """Shares from `understanding=0.3,random=0.7`; able: the strategies that may have one, empty for
    those that the study's tasks know (`labapp.simulation.fitting`). Raises UsageError."""

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
            raise wrong(f"{name!r} is none of the strategies")
        if name in shares:
            raise wrong(f"{name!r} stands twice")
        if not 0 <= share <= 1:
            raise wrong(f"a share is from 0 to 1, found {share:g}")
        shares[name] = share
    if abs(sum(shares.values()) - 1) > ABOUT_ONE:
        raise wrong(f"the shares add up to {sum(shares.values()):g}, not to 1")
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


def drawn(strategy: str, seed: int, participant: str) -> tuple[str, float | None]:
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
