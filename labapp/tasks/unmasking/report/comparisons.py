"""Tests between methods (ours; the paper names none): Friedman, Wilcoxon, a mixed logistic model.

The unit of the first two is a participant's accuracy with a method, "I don't know" counted as not
correct, over all masks and at each mask. Participants who lack a method are left out there.

The mixed logistic model is of correct annotations: correct (with "I don't know" as not correct) on
method and the natural logarithm of the percentage shown, with random intercepts of participants and
of images, by maximum likelihood; intervals are estimate ± 1.96 standard errors. Annotations of one
sequence are taken as independent beyond that, which they hardly are: the intervals are narrower
than those over participants.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from labapp.analysis import inference, mixed_logistic
from labapp.analysis.bootstrap import NORMAL, Float64, divided
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.curves import IMAGE
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


COLUMNS = ("effect", "n", "estimate", "sd", "low", "high")
INTERCEPT, LOG_PERCENT = "intercept", "log percent"
FEW = "it needs two participants, two images and two masks"
FLAT = "all annotations are correct, or none is"
FAILED = "the effects have no finite value: in a part of the annotations all or none are correct"


def mixed(cells: Cells) -> tuple[pd.DataFrame, str]:
    """Fixed effects in log odds, and why there are none. The first method, and the middle of the
    masks' logarithms, are what the intercept is of."""
    none = pd.DataFrame(columns=list(COLUMNS))
    person, image, method, mask = cells.where
    if min(np.unique(factor).size for factor in (person, image, mask)) < 2:
        return none, FEW
    if cells.correct.all() or not cells.correct.any():
        return none, FLAT
    x = np.log(np.array(cells.percents))
    there = np.unique(method)
    fixed = np.column_stack(
        [
            np.ones(method.size),
            *(method == index for index in there[1:]),
            (x - x.mean())[mask],
        ]
    ).astype(np.float64)
    names = [INTERCEPT, *(cells.methods[index] for index in there[1:]), LOG_PERCENT]
    fitted = mixed_logistic.fit(cells.correct.astype(np.float64), fixed, [person, image])
    if fitted is None or not all(map(fitted.finite, range(len(names)))):
        return none, FAILED
    return pd.DataFrame(
        {
            "effect": names,
            "n": method.size,
            "estimate": fitted.mean,
            "sd": fitted.sd,
            "low": fitted.mean - NORMAL * fitted.sd,
            "high": fitted.mean + NORMAL * fitted.sd,
        }
    ), ""
