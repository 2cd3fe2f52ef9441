"""DCIMIG: how much information about the factors is in codes that inform about one factor alone.

Sepliarskaia, Kiseleva and de Rijke (paper 002, 4.1). The gap of a code is its mutual information
with its best factor minus that with its second best. Each factor gets the largest gap among the
codes whose best factor it is. The score is the sum of these gaps over the sum of the entropies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labapp.models.datasets.split import Float64
from labapp.models.metrics.information import BINS, Binning, mutual_information, settings_of
from labapp.models.metrics.inputs import Score


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
    information, bins and their faults are those of `mig.mig`; the paper states no bins.

    Parameters
    ----------
    codes : real numbers, shape (n, C). A code that takes one value only knows no factor.
    factors : real numbers, shape (n, K), none of them constant. Of a single factor, a code's next
        best is nothing, 0 nats.
    bins, binning : see `binning.discretise`.
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

    Raises
    ------
    MetricError : see `information.mutual_information`.
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
