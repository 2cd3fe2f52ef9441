"""Mutual information of each code with each factor, counted in bins.

Everything is the plug-in estimate in nats: shares of rows stand for probabilities, without a
correction. Independent columns therefore come out near (bins - 1)^2 / 2n, not at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import JSON, Score, check_inputs, refusal

_refuse = partial(refusal, "Columns cannot be binned")

Binning: TypeAlias = Literal["equal-width", "equal-frequency"]

BINS = 20


def discretise(column: Float64, bins: int = BINS, method: Binning = "equal-width") -> Int64:
    """The bin of every value, int64 from 0 to bins - 1.

    Parameters
    ----------
    column : float64, shape (n,), finite.
    method :
        "equal-width" cuts the range from the least to the greatest value into equal lengths; a
        value on a cut belongs above it, the greatest value to the last bin. Changes under any map
        that is not linear: most rows of z^15 fall into one bin.
        "equal-frequency" gives each bin the same number of rows, as far as equal values, which
        are never parted, allow. The same under every increasing map.

    Raises
    ------
    MetricError : fewer than 2 bins, or an unknown method.
    """
    if bins < 2:
        raise _refuse(f"bins is {bins}", "Give at least 2 bins.")
    if method not in get_args(Binning):
        raise _refuse(f"the binning is {method!r}", f"Allowed: {', '.join(get_args(Binning))}.")
    if method == "equal-width":
        cuts = np.linspace(column.min(), column.max(), bins + 1)[1:-1]
        return np.searchsorted(cuts, column, side="right").astype(np.int64)
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    # A value lies where the middle row of its kind does; in whole numbers, so nothing is rounded.
    twice_middle = 2 * np.cumsum(counts) - counts
    return np.asarray((twice_middle * bins // (2 * len(column)))[place], dtype=np.int64)


def labels(factor: Float64, bins: int = BINS, binning: Binning = "equal-width") -> Int64:
    """The class of every value, int64 from 0: its own, or its bin if there are more than `bins`."""
    values, place = np.unique(factor, return_inverse=True)
    return place.astype(np.int64) if len(values) <= bins else discretise(factor, bins, binning)


@dataclass(frozen=True, slots=True, eq=False)
class Information:
    """Nats, float64.

    `matrix` has shape (C, K): mutual information of a code and a factor. `code_entropies`, shape
    (C,), and `factor_entropies`, shape (K,), are those of the binned columns.
    """

    matrix: Float64
    code_entropies: Float64
    factor_entropies: Float64

    def parts(self) -> dict[str, float | Float64]:
        """As every metric that is computed from it gives it back."""
        return {
            "mutual_information": self.matrix,
            "code_entropies": self.code_entropies,
            "factor_entropies": self.factor_entropies,
        }


def mi(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "equal-width",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """How much of each factor its most telling code knows: the mean over factors of the largest
    mutual information with a code over the factor's entropy, 0 to 1, higher is better.

    It says what a representation knows code by code, and nothing of disentanglement: further codes,
    copies and codes that tell of several factors never lower it. The matrix is what MIG, DCIMIG and
    modularity are computed from (paper 000, Figure 2, shows such matrices; the score is ours).
    Every code shares something with a factor by chance, about (bins - 1)^2 / 2n nats, so that codes
    of noise score above 0.

    Returns a Score with the parts `per_factor` (K,) and `per_code` (C,), the greatest of `share`
    down each column and along each row; `share` (C, K), mutual information over the factor's
    entropy; `mutual_information` (C, K), `code_entropies` and `factor_entropies`, in nats. Raises
    MetricError: see `mutual_information`.

    codes : real numbers, shape (n, C). A code that takes one value only shares 0 nats.
    factors : real numbers, shape (n, K), none of them constant.
    bins, binning : see `binning.discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : every factor is binned, as in `mig.mig`.
    """
    mutual = mutual_information(
        codes, factors, bins=bins, binning=binning, label_factors=not as_published
    )
    share = mutual.matrix / mutual.factor_entropies
    return Score(
        metric="mi",
        score=float(share.max(axis=0).mean()),
        parts={
            "per_code": share.max(axis=1),
            "per_factor": share.max(axis=0),
            "share": share,
            **mutual.parts(),
        },
        settings=settings_of(codes, bins, binning, as_published),
    )


def settings_of(
    codes: ArrayLike, bins: int, binning: Binning, as_published: bool
) -> dict[str, JSON]:
    """What a score that is computed from mutual information depends on."""
    return {
        "bins": bins,
        "binning": binning,
        "factors": "binned" if as_published else f"labels up to {bins} values, else binned",
        "as_published": as_published,
        "rows": len(np.asarray(codes)),
    }


def mutual_information(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "equal-width",
    label_factors: bool = True,
) -> Information:
    """Pairwise mutual information of codes (n, C) and factors (n, K). Raises MetricError: see
    `inputs.check_inputs`; fewer than 2 bins, or an unknown binning.

    bins : how many bins a column is cut into, at least 2.
    binning : see `binning.discretise`.
    label_factors : a factor with at most `bins` distinct values is taken as it is, each value a
        class of its own; False bins such a factor too.
    """
    c, f = check_inputs(codes, factors)
    code_bins = [discretise(column, bins, binning) for column in c.T]
    factor_bins = [
        labels(column, bins, binning) if label_factors else discretise(column, bins, binning)
        for column in f.T
    ]
    return Information(
        matrix=np.array([[shared_in_bins(a, b) for b in factor_bins] for a in code_bins]),
        code_entropies=np.array([_entropy(a) for a in code_bins]),
        factor_entropies=np.array([_entropy(b) for b in factor_bins]),
    )


def _entropy(a: Int64) -> float:
    """Of a column of bin numbers: what it shares with itself."""
    return shared_in_bins(a, a)


def shared_in_bins(a: Int64, b: Int64) -> float:
    """Mutual information of two columns of bins or classes, int64 from 0: nats, from 0."""
    n, width = len(a), int(b.max()) + 1
    joint = np.bincount(a * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    rows, columns = np.nonzero(joint)
    both = joint[rows, columns]
    # Whole numbers up to the ratio: a constant column shares exactly 0.
    chance = joint.sum(axis=1)[rows] * joint.sum(axis=0)[columns]
    return max(0.0, float((both * np.log(both * n / chance)).sum()) / n)
