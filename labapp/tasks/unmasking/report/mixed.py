"""A mixed logistic model of correct annotations (ours), as statsmodels fits it.

Correct (with "I don't know" as not correct) on method and the natural logarithm of the percentage
shown, with random intercepts of participants and of images: that mode of the posterior, with the
priors of statsmodels, which holds the most of it, and Laplace's approximation there; intervals are
mode ± 1.96 sd. Annotations of one sequence are taken as independent beyond that, which they hardly
are: the intervals are narrower than those over participants.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from scipy import sparse

from labapp.analysis.bootstrap import NORMAL, SEED
from labapp.tasks.unmasking.report.cells import Cells

FLAT_ENOUGH = 1e-4
"""Gradient of the log posterior at which the search has arrived."""
STARTS = 6
"""Searches, each from a place of its own."""
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
    people, images = len(cells.participants), len(cells.images)
    rows = np.tile(np.arange(method.size), 2)
    random = sparse.csr_matrix(
        (np.ones(rows.size), (rows, np.concatenate([person, people + image]))),
        shape=(method.size, people + images),
    )
    fitted = _fitted(cells.correct.astype(np.float64), fixed, random, people, images)
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


def _fitted(
    correct: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    fixed: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    random: sparse.csr_matrix,
    people: int,
    images: int,
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...] | None:
    """Posterior modes and sds of the fixed effects; None where the fit does not converge.

    There are several modes: the posterior has a narrow peak wherever the sd of the participants or
    of the images goes to zero, as high as it is narrow, and a fifth of the searches end on one. The
    mode that is taken holds the most of the posterior: its height times its width, by Laplace.
    """
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    kinds = np.repeat([0, 1], [people, images])
    model = BinomialBayesMixedGLM(correct, fixed, random, kinds)
    modes = []
    for start in range(STARTS):
        with warnings.catch_warnings():
            # On its way the search may overflow; that it has arrived is asked below.
            warnings.simplefilter("ignore")
            try:
                # It begins at a random place: with a seed the numbers are always the same.
                fit = model.fit_map(method="BFGS", rng=SEED + start)
            except np.linalg.LinAlgError:
                continue
            # Where floating point lets the search improve on nothing more, it says that it failed.
            flat = np.abs(fit.optim_retvals.jac).max() < FLAT_ENOUGH
            sign, log_width = np.linalg.slogdet(fit.cov_params())
            held = model.logposterior(fit.params) + log_width / 2
        known = np.isfinite(held) and np.isfinite(fit.fe_sd).all() and sign > 0
        if known and (fit.optim_retvals.success or flat):
            modes.append((held, fit.fe_mean, fit.fe_sd))
    return max(modes, key=lambda mode: mode[0])[1:] if modes else None
