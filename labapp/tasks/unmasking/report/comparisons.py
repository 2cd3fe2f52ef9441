"""Tests between methods (ours; the paper names none): Friedman, Wilcoxon, a mixed logistic model.

The unit of the first two is a participant's accuracy with a method, "I don't know" counted as not
correct, over all masks and at each mask. Participants who lack a method are left out there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from labapp.analysis import inference
from labapp.analysis.bootstrap import Float64, divided
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.curves import IMAGE
from labapp.tasks.unmasking.report.mixed import mixed
from labapp.tasks.unmasking.report.results import Comparisons

ALPHA = 0.05
FEW_METHODS = "Friedman's test is of three methods or more"
FEW_PEOPLE = "fewer than two participants have all methods"
FEW_PAIRS = "fewer than two participants have both methods"
NO_DIFFERENCE = "the methods do not differ for any participant"
FRIEDMAN = ("percent", "n", "statistic", "df", "p", "p_holm", "why")
PAIRS = (
    *("percent", "method", "other", "n", "mean_difference", "statistic", "p", "p_holm"),
    *("significant", "why"),
)


def comparisons(cells: Cells) -> Comparisons:
    """See `Comparisons`."""
    right, count = cells.sums(cells.correct).sum(IMAGE), cells.counts.sum(IMAGE)
    overall = _tests(cells.methods, {np.nan: divided(right.sum(axis=2), count.sum(axis=2))})
    shares = divided(right, count)
    by_mask = _tests(
        cells.methods, {percent: shares[..., place] for place, percent in enumerate(cells.percents)}
    )
    effects, why = mixed(cells)
    return Comparisons(
        pd.concat([overall[0], by_mask[0]], ignore_index=True),
        pd.concat([overall[1], by_mask[1]], ignore_index=True),
        effects,
        why,
    )


def _tests(
    methods: Sequence[str], shares: dict[float, Float64]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Of one family. shares: accuracy by mask, each of shape (participants, methods)."""
    over_all, pairs = [], []
    for percent, own in shares.items():
        over_all.append({"percent": percent, **_friedman(own)})
        for pair, other in combinations(range(len(methods)), 2):
            about = {"percent": percent, "method": methods[pair], "other": methods[other]}
            pairs.append(about | _pair(own[:, pair] - own[:, other]))
    friedman = pd.DataFrame(over_all, columns=[name for name in FRIEDMAN if name != "p_holm"])
    paired = pd.DataFrame(pairs, columns=[name for name in PAIRS if name not in _CORRECTED])
    friedman["p_holm"], paired["p_holm"] = (
        inference.holm(friedman["p"]),
        inference.holm(paired["p"]),
    )
    enough = paired["n"] >= inference.SMALLEST
    paired["significant"] = (paired["p_holm"] < ALPHA) & enough
    return friedman[list(FRIEDMAN)], paired[list(PAIRS)]


_CORRECTED = ("p_holm", "significant")


def _friedman(shares: Float64) -> dict[str, object]:
    """shares : shape (participants, methods)."""
    whole = np.round(shares[np.isfinite(shares).all(axis=1)], 9)
    about: dict[str, object] = {"n": len(whole), "statistic": np.nan, "df": np.nan, "p": np.nan}
    if shares.shape[1] < 3:
        return about | {"why": FEW_METHODS}
    if len(whole) < 2:
        return about | {"why": FEW_PEOPLE}
    if not np.ptp(whole, axis=1).any():
        return about | {"why": NO_DIFFERENCE}
    test = stats.friedmanchisquare(*whole.T)
    return about | {
        "statistic": float(test.statistic),
        "df": float(shares.shape[1] - 1),
        "p": float(test.pvalue),
        "why": "",
    }


def _pair(differences: Float64) -> dict[str, object]:
    """differences : of each participant."""
    known = inference.values_of(differences)
    mean = inference.mean(known)
    test = inference.signed_rank(known)
    why = ""
    if test.p is None:
        why = FEW_PAIRS if known.size < 2 else NO_DIFFERENCE
    return {
        "n": known.size,
        "mean_difference": np.nan if mean is None else mean,
        "statistic": np.nan if test.statistic is None else test.statistic,
        "p": np.nan if test.p is None else test.p,
        "why": why,
    }
