"""Mutual information of each code with each factor, counted in bins.

Everything is the plug-in estimate in nats: shares of rows stand for probabilities, without a
correction. Independent columns therefore come out near (bins - 1)^2 / 2n, not at 0.

MIG: how much more mutual information a factor's best code has with it than the second best.

Chen et al. (2018), as printed in paper 002, 3.2.2: the mean over factors of
(I_first - I_second) / H(factor).

DCIMIG: how much information about the factors is in codes that inform about one factor alone.

Sepliarskaia, Kiseleva and de Rijke (paper 002, 4.1). The gap of a code is its mutual information
with its best factor minus that with its second best. Each factor gets the largest gap among the
codes whose best factor it is. The score is the sum of these gaps over the sum of the entropies.

Modularity: how nearly each code informs about one factor alone (Ridgeway and Mozer, 2018).
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
    """The bin of every value, int64 from 0 to bins - 1. Raises MetricError: fewer than 2 bins, or
    an unknown method.

    Parameters
    ----------
    column : float64, shape (n,), finite.
    method :
        "equal-width" cuts the range from the least to the greatest value into equal lengths; a
        value on a cut belongs above it, the greatest value to the last bin. Changes under any map
        that is not linear: most rows of z^15 fall into one bin.
        "equal-frequency" gives each bin the same number of rows, as far as equal values, which
        are never parted, allow. The same under every increasing map.
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
    bins, binning : see `discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : every factor is binned, as in `mig`.
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
    binning : see `discretise`.
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
        matrix=np.array(
            [[binned_mutual_information(a, b) for b in factor_bins] for a in code_bins]
        ),
        code_entropies=np.array([_entropy(a) for a in code_bins]),
        factor_entropies=np.array([_entropy(b) for b in factor_bins]),
    )


def _entropy(a: Int64) -> float:
    """Of a column of bin numbers: what it shares with itself."""
    return binned_mutual_information(a, a)


def binned_mutual_information(a: Int64, b: Int64) -> float:
    """Mutual information of two columns of bins or classes, int64 from 0: nats, from 0."""
    n, width = len(a), int(b.max()) + 1
    joint = np.bincount(a * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    rows, columns = np.nonzero(joint)
    both = joint[rows, columns]
    # Whole numbers up to the ratio: a constant column shares exactly 0.
    chance = joint.sum(axis=1)[rows] * joint.sum(axis=0)[columns]
    return max(0.0, float((both * np.log(both * n / chance)).sum()) / n)


def mig(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "equal-width",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The mutual information gap, between 0 and 1, higher is better.

    Codes are binned; a factor with more than `bins` distinct values is binned likewise, any other
    is taken as it is, each value a class.

    It falls below 1 for a perfect representation where factors depend on each other (the second
    code truly knows of the factor), and by finite samples: the ground truth of Sinelines scores
    0.984 on 5,000 rows. With equal-width bins it also falls under monotone maps with heavy tails
    (paper 002 holds in Fact 7 that it does not: that is the definition's promise, which this
    estimate breaks); equal-frequency bins keep the promise. Raises MetricError: see
    `mutual_information`; a constant factor has no entropy to divide by and is refused.

    Parameters
    ----------
    codes : real numbers, shape (n, C). With one code the runner-up knows nothing: 0 nats. A code
        that takes one value only shares 0 nats with every factor.
    factors : real numbers, shape (n, K), none of them constant.
    bins, binning : see `discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : as in papers 000 and 001, whose released code counts in one two-dimensional
        histogram of 20 x 20 equal widths: every factor is binned, also one with few values. That
        differs from the default only if a factor has at most `bins` values that are not evenly
        spaced: values that share a bin become one. (The released code's bits cancel out of the
        score; all parts are in nats here too.)

    Returns
    -------
    Score with the parts `per_factor` (each factor's gap over its entropy), `mutual_information`
    (C, K), `code_entropies` and `factor_entropies`, in nats.
    """
    mutual = mutual_information(
        codes, factors, bins=bins, binning=binning, label_factors=not as_published
    )
    per_factor = gaps(mutual.matrix, mutual.factor_entropies)
    return Score(
        metric="mig",
        score=float(per_factor.mean()),
        parts={"per_factor": per_factor, **mutual.parts()},
        settings=settings_of(codes, bins, binning, as_published),
    )


def gaps(information: Float64, factor_entropies: Float64) -> Float64:
    """What the best code of each factor knows more than the second best, over the factor's entropy.

    `information` is float64 of shape (C, K) and `factor_entropies`, all above 0, of shape (K,), in
    the same unit; gives float64 of shape (K,). Their mean is the MIG of such a matrix.
    """
    ranked = np.sort(information, axis=0)
    second = ranked[-2] if len(ranked) > 1 else 0.0
    return np.asarray((ranked[-1] - second) / factor_entropies)


def dcimig(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "equal-width",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The share of the factors' entropy that disentangled codes hold, 0 to 1, higher is better.

    A factor that no code knows best costs its share of the entropy. Redundant codes, and entangled
    codes beside disentangled ones, cost nothing: only the best code of each factor counts. Mutual
    information, bins and their faults are those of `mig`; the paper states no bins. Raises
    MetricError: see `mutual_information`.

    Parameters
    ----------
    codes : real numbers, shape (n, C). A code that takes one value only knows no factor.
    factors : real numbers, shape (n, K), none of them constant. Of a single factor, a code's next
        best is nothing, 0 nats.
    bins, binning : see `discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : taken so that all metrics are called alike; the authors released no code, and
        this is the paper's definition either way.

    Returns
    -------
    Score with the parts
        per_code : each code's gap over the entropy of the factor that it knows best, (C,).
        per_factor : what each factor is credited with over its entropy, (K,). The score is their
            mean, weighted by the entropies.
        gaps : each code's gap, nats, (C,): D_i in the paper.
        best_factor : number of the factor that each code knows best, (C,), of equals the first; NaN
            for a code that knows none.
        best_code : number of the code that each factor is credited with, (K,), of equals the first;
            NaN for a factor that no code knows best.
        mutual_information (C, K), code_entropies, factor_entropies : nats.
    """
    mutual = mutual_information(codes, factors, bins=bins, binning=binning)
    credit = assign_credit(mutual.matrix, mutual.factor_entropies)
    return Score(
        metric="dcimig",
        score=credit.score,
        parts={
            "per_code": credit.per_code,
            "per_factor": credit.per_factor,
            "gaps": credit.gaps,
            "best_factor": credit.best_factor,
            "best_code": credit.best_code,
            **mutual.parts(),
        },
        settings=settings_of(codes, bins, binning, as_published=False)
        | {"as_published": as_published},
    )


@dataclass(frozen=True, slots=True, eq=False)
class Credit:
    """The parts of the same names in `dcimig`, float64, and the score."""

    score: float
    per_code: Float64
    per_factor: Float64
    gaps: Float64
    best_factor: Float64
    best_code: Float64


def assign_credit(information: Float64, factor_entropies: Float64) -> Credit:
    """DCIMIG of a matrix.

    `information` is float64 of shape (C, K), not negative, and `factor_entropies`, all above 0, of
    shape (K,), in the same unit, in which `gaps` come out.
    """
    ranked = np.sort(information, axis=1)
    gaps = ranked[:, -1] - (ranked[:, -2] if information.shape[1] > 1 else 0.0)
    best_factor = np.where(ranked[:, -1] > 0, information.argmax(axis=1), np.nan)
    best_code = np.full(len(factor_entropies), np.nan)
    credit = np.zeros(len(factor_entropies))
    for factor in range(len(factor_entropies)):
        known_best = np.flatnonzero(best_factor == factor)
        if len(known_best):
            best_code[factor] = known_best[gaps[known_best].argmax()]
            credit[factor] = gaps[known_best].max()
    return Credit(
        score=float(credit.sum() / factor_entropies.sum()),
        per_code=gaps / factor_entropies[information.argmax(axis=1)],
        per_factor=credit / factor_entropies,
        gaps=gaps,
        best_factor=best_factor,
        best_code=best_code,
    )


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

    Mutual information, bins and their faults are those of `mig`. Raises MetricError: see
    `mutual_information`.

    Parameters
    ----------
    codes : real numbers, shape (n, C).
    factors : real numbers, shape (n, K), none of them constant. Of a single factor, every code that
        shares anything scores 1: it has no information on anything else.
    bins, binning : see `discretise`.
    seed : taken so that all metrics are called alike; nothing is drawn.
    as_published : taken so that all metrics are called alike. The released code (of Locatello et
        al., 2019) parts from this only in what has no meaning: a factor of more than `bins` values
        is not binned there but has as many classes, and one factor gives 0 / 0.

    Returns
    -------
    Score with the parts `per_code` (C,), whose plain mean is the score; `mutual_information`
    (C, K), `code_entropies` and `factor_entropies`, in nats.
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
