"""Do raters agree on which names are consistent? Per cent, and Cohen's or Fleiss's kappa.

The paper says only that experimenters identified consistent names (Tables 1 and A.4); how many they
were, and how far they agreed, is ours to add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 2_000
SEED = 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of two raters or more, over the names that can agree with another one.

    n : names. percent : of names on which all raters say the same, 0-100; None without names.
    kappa : Cohen's of two raters (Cohen 1960), Fleiss's of more (Fleiss 1971); None where it is
        undefined. low, high : its 95 % interval, percentiles of `DRAWS` bootstrap draws of names;
        None without kappa, or where it is undefined in more than half of the draws.
    undefined : draws in which kappa is undefined, left out of the interval. why_not : why there is
        no kappa.
    """

    raters: int
    n: int
    percent: float | None
    kappa: float | None
    low: float | None
    high: float | None
    undefined: int
    why_not: str = ""

    @property
    def name(self) -> str:
        return "Cohen's kappa" if self.raters == 2 else "Fleiss's kappa"


def agreement(says: Sequence[Sequence[bool]]) -> Agreement:
    """says: by rater what he or she says of each name, in one order; two raters or more."""
    votes = np.asarray(says, dtype=bool).reshape(len(says), -1)
    raters, n = votes.shape
    if n == 0:
        return Agreement(raters, 0, None, None, None, None, 0, "there is no name to agree on")
    percent = 100 * float(np.mean((votes == votes[0]).all(axis=0)))
    if (votes == votes[0, 0]).all():
        text = "consistent" if votes[0, 0] else "not consistent"
        why = f"every rater calls every name {text}, so that agreement by chance is certain"
        return Agreement(raters, n, percent, None, None, None, 0, why)
    kappa = _cohen(votes) if raters == 2 else _fleiss(votes)
    drawn = _bootstrap(votes)
    known = drawn[np.isfinite(drawn)]
    undefined = DRAWS - known.size
    if undefined > DRAWS / 2:
        return Agreement(raters, n, percent, kappa, None, None, undefined)
    low, high = (float(end) for end in np.percentile(known, [2.5, 97.5]))
    return Agreement(raters, n, percent, kappa, low, high, undefined)


def _cohen(votes: NDArray[np.bool_]) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(votes[0], votes[1]))


def _fleiss(votes: NDArray[np.bool_]) -> float:
    from statsmodels.stats.inter_rater import fleiss_kappa

    yes = votes.sum(axis=0)
    return float(fleiss_kappa(np.stack([len(votes) - yes, yes], axis=1)))


def _bootstrap(votes: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Kappa of each draw of as many names with replacement, float64 of shape (DRAWS,); NaN where it
    is undefined. A draw of names is a draw of how many there are of each kind of votes."""
    raters, n = votes.shape
    kinds, counts = np.unique(votes.T, axis=0, return_counts=True)
    rng = np.random.Generator(np.random.PCG64(SEED))
    drawn = rng.multinomial(n, counts / n, size=DRAWS).astype(np.float64)
    yes = kinds.sum(axis=1)
    if raters == 2:
        observed = drawn @ (kinds[:, 0] == kinds[:, 1]) / n
        first, other = drawn @ kinds[:, 0] / n, drawn @ kinds[:, 1] / n
        chance = first * other + (1 - first) * (1 - other)
    else:
        same = (yes * (yes - 1) + (raters - yes) * (raters - yes - 1)) / (raters * (raters - 1))
        observed = drawn @ same / n
        share = drawn @ yes / (n * raters)
        chance = share**2 + (1 - share) ** 2
    certain = np.isclose(chance, 1.0)
    kappa = (observed - chance) / np.where(certain, 1.0, 1 - chance)
    return np.where(certain, np.nan, kappa)
