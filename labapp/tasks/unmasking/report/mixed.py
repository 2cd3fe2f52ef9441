"""A mixed logistic model of correct annotations (ours), as statsmodels fits it.

Correct (with "I don't know" as not correct) on method and the natural logarithm of the percentage
shown, with random intercepts of participants and of images: that mode of the posterior, with the
priors of statsmodels, which holds the most of it, and Laplace's approximation there; intervals are
mode ± 1.96 sd. Annotations of one sequence are taken as independent beyond that, which they hardly
are: the intervals are narrower than those over participants.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from labapp.analysis import mixed_logistic
from labapp.analysis.bootstrap import NORMAL
from labapp.tasks.unmasking.report.cells import Cells

COLUMNS = ("effect", "n", "estimate", "sd", "low", "high")
INTERCEPT, LOG_PERCENT = "intercept", "log percent"
FEW = "it needs two participants, two images and two masks"
FLAT = "all annotations are correct, or none is"
FAILED = "the fit did not converge, as happens where participants or images hardly differ"


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
    if fitted is None:
        return none, FAILED
    mean, sd = fitted
    return pd.DataFrame(
        {
            "effect": names,
            "n": method.size,
            "estimate": mean,
            "sd": sd,
            "low": mean - NORMAL * sd,
            "high": mean + NORMAL * sd,
        }
    ), ""
