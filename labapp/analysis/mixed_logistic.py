"""Mixed logistic models, as statsmodels fits them.

Yes or no on fixed effects, with random intercepts of one or more factors (participants, pictures):
that mode of the posterior, with the priors of statsmodels, which holds the most of it, and
Laplace's approximation there; intervals are mode ± 1.96 sd.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from labapp.analysis.bootstrap import SEED, Float64, Int64

FLAT_ENOUGH = 1e-4
"""Gradient of the log posterior at which the search has arrived."""
STARTS = 6
"""Searches, each from a place of its own."""


def fit(
    outcome: Float64, fixed: Float64, factors: Sequence[Int64], starts: int = STARTS
) -> tuple[Float64, Float64] | None:
    """Posterior modes and sds of the fixed effects, in log odds; None where the fit does not
    converge, as happens where the levels of a factor hardly differ.

    There are several modes: the posterior has a narrow peak wherever the sd of a factor goes to
    zero, as high as it is narrow, and a fifth of the searches end on one. The mode that is taken
    holds the most of the posterior: its height times its width, by Laplace.

    Parameters
    ----------
    outcome : ndarray of float64, shape (n,)
        0 or 1.
    fixed : ndarray of float64, shape (n, effects)
        The design, its intercept included.
    factors : sequence of ndarray of int64, shape (n,)
        Of each factor the level of each value, from 0, each level there.
    starts : int
        Searches that are made.

    Returns
    -------
    pair of ndarray of float64, shape (effects,), or None
    """
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    sizes = [int(codes.max()) + 1 for codes in factors]
    offsets = np.cumsum([0, *sizes[:-1]])
    rows = np.tile(np.arange(outcome.size), len(factors))
    columns = np.concatenate([codes + at for codes, at in zip(factors, offsets, strict=True)])
    random = sparse.csr_matrix(
        (np.ones(rows.size), (rows, columns)), shape=(outcome.size, sum(sizes))
    )
    kinds = np.repeat(np.arange(len(sizes)), sizes)
    model = BinomialBayesMixedGLM(outcome, fixed, random, kinds)
    modes = []
    for start in range(starts):
        with warnings.catch_warnings():
            # On its way the search may overflow; that it has arrived is asked below.
            warnings.simplefilter("ignore")
            try:
                # It begins at a random place: with a seed the numbers are always the same.
                result = model.fit_map(method="BFGS", rng=SEED + start)
            except np.linalg.LinAlgError:
                continue
            # Where floating point lets the search improve on nothing more, it says that it failed.
            flat = np.abs(result.optim_retvals.jac).max() < FLAT_ENOUGH
            sign, log_width = np.linalg.slogdet(result.cov_params())
            held = model.logposterior(result.params) + log_width / 2
        known = np.isfinite(held) and np.isfinite(result.fe_sd).all() and sign > 0
        if known and (result.optim_retvals.success or flat):
            modes.append((held, result.fe_mean, result.fe_sd))
    if not modes:
        return None
    _, mean, sd = max(modes, key=lambda mode: mode[0])
    return np.asarray(mean, np.float64), np.asarray(sd, np.float64)
