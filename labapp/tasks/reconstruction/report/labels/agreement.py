"""Do raters agree on which names are consistent? Per cent, and Cohen's or Fleiss's kappa.

The paper says only that experimenters identified consistent names (Tables 1 and A.4); how many they
were, and how far they agreed, is ours to add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labapp.agreement.kappa import CohenKappa, FleissKappa
from labapp.agreement.measure import DRAWS, SEED, resample
from labapp.agreement.ratings import Ratings


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
    # A draw of names is a draw of how many there are of each kind of votes.
    kinds, counts = np.unique(votes.T.astype(np.int64), axis=0, return_counts=True)
    alone = np.arange(len(kinds))
    ratings = Ratings(kinds, (False, True), alone, alone)
    measure = CohenKappa() if raters == 2 else FleissKappa()
    sums = measure.sums(ratings)
    kappa = float(measure.value(np.tensordot(counts, sums, 1)))
    drawn = resample(measure, sums, counts / n, n, DRAWS, SEED)
    defined = drawn[np.isfinite(drawn)]
    undefined = DRAWS - defined.size
    if undefined > DRAWS / 2:
        return Agreement(raters, n, percent, kappa, None, None, undefined)
    low, high = (float(end) for end in np.percentile(defined, [2.5, 97.5]))
    return Agreement(raters, n, percent, kappa, low, high, undefined)
