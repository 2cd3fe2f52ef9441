"""A mixed logistic model of correct annotations (ours).

Correct (with "I don't know" as not correct) on method and the natural logarithm of the percentage
shown, with random intercepts of participants and of images, by maximum likelihood; intervals are
estimate ± 1.96 standard errors. Annotations of one sequence are taken as independent beyond that,
which they hardly are: the intervals are narrower than those over participants.
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
