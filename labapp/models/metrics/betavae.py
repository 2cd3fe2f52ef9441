"""BetaVAE: whether a linear classifier can tell which factor a batch of pairs shares.

Higgins et al. (2017), as printed in paper 002, 3.1.1. (The paper says linear regressor; what
predicts one of K factors is a classifier, and the released code has one.)
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import Score, check_count, generator, refusal
from labapp.models.metrics.sampling import InstanceSource, Sampler, fixed_factors, instance_source

_refuse = partial(refusal, "BetaVAE cannot be computed")

BATCH = 64
POINTS = 10_000
TEST_POINTS = 5_000
ITERATIONS = 10_000
LARGEST_PUBLISHED = 1e30
"""Liblinear refuses more."""


def betavae(
    codes: ArrayLike | None = None,
    factors: ArrayLike | None = None,
    *,
    sampler: Sampler | None = None,
    batch: int = BATCH,
    points: int = POINTS,
    test_points: int = TEST_POINTS,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Accuracy of a linear classifier of factors, 0 to 1, higher is better; 1/K by chance.

    For each point a factor is drawn, and a batch of pairs of instances that share it; the point is
    the mean of |difference| of each code over the pairs, its class the factor. A linear classifier
    learns from `points` of them and is scored on `test_points` others.

    The paper does not say which classifier. Here it is multinomial logistic regression with the
    penalty of the released code (L2, C = 1). Each column of the points is first divided by its SD
    over the training points, which is not published: the units of the codes would otherwise decide
    how much the penalty weighs.

    Codes that each mix two factors score nearly 1 (paper 002, Fact 3). A second copy of a code
    leaves the score (Fact 1 holds that it falls, but the classifier may use either). The same under
    any order, sign and unit of the codes, up to rounding; other monotone maps may change it.

    Returns a Score with the parts `accuracy_train` (on the points learnt from), `accuracy_test`
    (the score), `per_factor` (K,), the accuracy among the test points of each factor (NaN where
    none was drawn), and `mean_difference` (C, K), the mean of the points of each factor, in the
    codes' units (NaN likewise). With one factor there is nothing to confuse: 1. Raises MetricError:
    see `sampling.instance_source`; a number or a seed outside its range; as published, a code whose
    values are beyond 1e30 apart; or a classifier that does not converge.

    codes, factors : real numbers, shapes (n, C) and (n, K), no factor constant: the fixed-data
        variant, in which pairs are rows (see `sampling.RowSampler`). A code that takes one value
        only tells nothing.
    sampler : instead of both, makes instances of any factors (see `sampling.Sampler`).
    batch : pairs in a batch, at least 1. 64 as in the large study of Locatello et al. (2019); paper
        002 has 128.
    points, test_points : at least 1.
    seed : of all draws, 0 to 2^32 - 1.
    as_published : as the released code behind the published scores, which takes the points as they
        are, so that the penalty weighs by the codes' unit: codes of an SD of 0.001 are at chance
        however clean they are. It learns one classifier for each factor against the others by
        liblinear, which scikit-learn took until 0.21, and penalises their intercepts too.
    """
    for name, value in (("batch", batch), ("points", points), ("test_points", test_points)):
        check_count(name, value, 1)
    rng = generator(seed)
    drawn = instance_source(codes, factors, sampler, rng)
    learn, label = _points(drawn, points, batch, rng)
    test, truth = _points(drawn, test_points, batch, rng)
    largest = np.max(learn, axis=0, initial=0.0)
    if as_published:
        unit = np.ones_like(largest)
        if max(largest.max(), test.max()) > LARGEST_PUBLISHED:
            raise _refuse("codes differ by more than 1e30", "Give the codes in another unit.")
    else:
        # First to at most 1, because the SD of tiny numbers underflows.
        unit = np.where(largest > 0, largest, 1.0)
        spread = (learn / unit).std(axis=0)
        unit = unit * np.where(spread > 0, spread, 1.0)
    predict_learn, predict_test = _classify(learn / unit, label, test / unit, as_published, seed)
    right = predict_test == truth
    every = range(drawn.factor_count)
    return Score(
        metric="betavae",
        score=float(right.mean()),
        parts={
            "accuracy_train": float((predict_learn == label).mean()),
            "accuracy_test": float(right.mean()),
            "per_factor": np.stack([_mean(right[truth == k]) for k in every]),
            "mean_difference": np.stack([_mean(learn[label == k]) for k in every], axis=1),
        },
        settings={
            "sampler": drawn.name,
            "batch": batch,
            "points": points,
            "test_points": test_points,
            "classifier": "liblinear, one against the rest" if as_published else "multinomial",
            "points_standardised": not as_published,
            "seed": seed,
            "as_published": as_published,
            "rows": drawn.rows,
            "scikit_learn": sklearn.__version__,
        },
    )


def _points(
    drawn: InstanceSource, points: int, batch: int, rng: np.random.Generator
) -> tuple[Float64, Int64]:
    """Mean absolute differences (points, C) and which factor was shared (points,)."""
    differences, shared = [], fixed_factors(drawn.factor_count, points, batch, rng)
    for here in shared:
        first, second = drawn.pairs(here, batch, rng)
        differences.append(np.abs(first - second).mean(axis=1))
    return np.concatenate(differences), np.concatenate(shared)


def _classify(
    learn: Float64, label: Int64, test: Float64, as_published: bool, seed: int
) -> tuple[Int64, Int64]:
    """Predictions for the points learnt from and for the others."""
    if (label == label[0]).all():
        return label, np.full(len(test), label[0])
    if as_published:
        binary = LogisticRegression(solver="liblinear", max_iter=ITERATIONS, random_state=seed)
        model = OneVsRestClassifier(binary)
    else:
        # Newton's steps end at the optimum, so that units and order do not decide; for a handful of
        # codes they are also the fastest.
        model = LogisticRegression(solver="newton-cholesky", max_iter=ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(learn, label)
        except ConvergenceWarning as unsettled:
            raise _refuse(
                f"the classifier does not converge within {ITERATIONS} steps",
                "Give the codes in units in which their values are of size 1 or so.",
            ) from unsettled
    return model.predict(learn), model.predict(test)


def _mean(rows: Float64 | NDArray[np.bool_]) -> Float64:
    return np.asarray(rows.mean(axis=0)) if len(rows) else np.full(rows.shape[1:], np.nan)
