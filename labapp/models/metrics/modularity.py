"""Modularity: how nearly each code informs about one factor alone (Ridgeway and Mozer, 2018)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64
from labapp.models.metrics.information import BINS, Binning, mutual_information, settings_of
from labapp.models.metrics.inputs import Score


def modularity(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "equal-width",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The mean over codes of 1 - sum of I^2 over the other factors / ((K - 1) I^2 of the best one),
    0 to 1, higher is better.

    A code that shares nothing with any factor scores 0. The paper does not say; the released code
    does so too, and a code of noise, whose shares are all alike, comes near it. Unused codes
    therefore lower the score. Copies of a code count as often as they occur.

    Mutual information, bins and their faults are those of `mig.mig`.

    Parameters
    ----------
    codes : real numbers, shape (n, C).
    factors : real numbers, shape (n, K), none of them constant. Of a single factor, every code that
        shares anything scores 1: it tells of nothing else.
    bins, binning : see `binning.discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : taken so that all metrics are called alike. The released code (of Locatello et
        al., 2019) parts from this only in what has no meaning: a factor of more than `bins` values
        is not binned there but has as many classes, and one factor gives 0 / 0.

    Returns
    -------
    Score with the parts `per_code` (C,), whose plain mean is the score; `mutual_information`
    (C, K), `code_entropies` and `factor_entropies`, in nats.

    Raises
    ------
    MetricError : see `information.mutual_information`.
    """
    mutual = mutual_information(codes, factors, bins=bins, binning=binning)
    per_code = modularities(mutual.matrix)
    return Score(
        metric="modularity",
        score=float(per_code.mean()),
        parts={"per_code": per_code, **mutual.parts()},
        settings=settings_of(codes, bins, binning, as_published=False)
        | {"as_published": as_published},
    )


def modularities(information: Float64) -> Float64:
    """1 - how far each row of a matrix (C, K), not negative, is from one that holds its greatest
    entry alone; float64, shape (C,). A row of zeros: 0."""
    best = information.max(axis=1, keepdims=True)
    relative = information / np.where(best > 0, best, 1.0)
    # The greatest is 1 itself, so that one factor leaves nothing to be divided by nothing.
    others = (np.square(relative).sum(axis=1) - 1.0) / max(information.shape[1] - 1, 1)
    return np.asarray(np.where(best[:, 0] > 0, 1.0 - others, 0.0).clip(0.0, 1.0))
