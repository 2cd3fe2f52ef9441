"""DCI: disentanglement, completeness and informativeness (Eastwood and Williams, 2018).

Each factor is predicted from all codes; the importances of the codes in those predictions form a
matrix P (C, K). A code is disentangled when its row of P rests on one factor; a factor is captured
completely when its column rests on one code (paper 002, 3.1.3).

Regressors that also say how much each input mattered, for DCI.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.model_selection import train_test_split

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import Score, check_inputs, check_rows, check_seed, refusal

TREES = 10
DEPTHS = range(3, 13)
DEPTH_SHARE = 1 / 9
"""Of the training rows; a tenth of all if a tenth is held out for the test."""
ALPHA = 0.02
TOLERANCE = 1e-8
"""So that the order of the codes does not show in the weights."""
SWEEPS = 100_000
"""Enough but for codes that repeat each other almost. How those share a weight is settled last and
matters to no prediction: they are left as they then are."""


@dataclass(frozen=True, slots=True)
class FittedRegressor:
    """`importance`, float64 (inputs,), not negative; `predict` maps (n, inputs) to (n,)."""

    importance: Float64
    predict: Callable[[Float64], Float64]


Regressor = Callable[[Float64, Float64, int], FittedRegressor]
"""Fits float64 inputs (n, inputs) to a target (n,), given a seed. Both come with mean 0 and SD 1
over all rows (columns that do not vary: 0), of which these are some."""


def gradient_boosting(inputs: Float64, target: Float64, seed: int) -> FittedRegressor:
    """scikit-learn's defaults: 100 trees of depth 3, learning rate 0.1, squared error.

    Importance is the impurity that splits on the input removed, adding up to 1; all 0 if no
    tree found a split.
    """
    model = GradientBoostingRegressor(random_state=seed).fit(inputs, target)
    return FittedRegressor(np.asarray(model.feature_importances_, dtype=np.float64), model.predict)


def random_forest(inputs: Float64, target: Float64, seed: int) -> FittedRegressor:
    """10 trees, as Eastwood and Williams (2018) have them. Their depth, 3 to 12, is the one with
    the least squared error on a ninth of the rows that is kept from the trees, the least depth
    among equals.

    Importance as in `gradient_boosting`.
    """
    grow, choose = train_test_split(
        np.arange(len(target)), test_size=DEPTH_SHARE, random_state=seed
    )
    best, least = None, np.inf
    for depth in DEPTHS:
        model = RandomForestRegressor(TREES, max_depth=depth, random_state=seed)
        model.fit(inputs[grow], target[grow])
        error = float(np.square(model.predict(inputs[choose]) - target[choose]).mean())
        if error < least:
            best, least = model, error
    assert best is not None  # a squared error is below infinity
    return FittedRegressor(np.asarray(best.feature_importances_, dtype=np.float64), best.predict)


def lasso(inputs: Float64, target: Float64, seed: int) -> FittedRegressor:
    """Linear regression with the penalty of 0.02 on absolute weights that Eastwood and Williams
    (2018) set. Inputs and target are standardised by these rows, on which the weights depend.

    Importance is the absolute weight. It knows linear relations only. The seed changes nothing.
    """
    centre, scale = inputs.mean(axis=0), _spread(inputs)
    middle, unit = float(target.mean()), float(_spread(target))
    model = Lasso(alpha=ALPHA, precompute=True, tol=TOLERANCE, max_iter=SWEEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((inputs - centre) / scale, (target - middle) / unit)

    def predict(others: Float64) -> Float64:
        return np.asarray(model.predict((others - centre) / scale)) * unit + middle

    return FittedRegressor(np.abs(np.asarray(model.coef_, dtype=np.float64)), predict)


def standardise(table: Float64) -> Float64:
    """Columns with mean 0 and SD 1; 0 if a column does not vary.

    In exact arithmetic trees, and R^2, are the same without. scikit-learn's trees, however, work in
    float32, take inputs less than 1e-7 apart as equal and a target whose variance is below 2e-16 as
    learnt: the unit of a code would decide its score.
    """
    low, high = table.min(axis=0), table.max(axis=0)
    # First to 0 to 1, because the SD of a column of tiny numbers underflows.
    scaled = (table - low) / np.where(low < high, high - low, 1.0)
    spread = np.where(low < high, scaled.std(axis=0), 1.0)
    return np.asarray((scaled - scaled.mean(axis=0)) / spread)


def r2(target: Float64, predicted: Float64) -> float:
    """The share of the target's variance that is predicted; NaN if the target does not vary."""
    if target.min() == target.max():
        return float("nan")
    spread = np.square(target - target.mean()).sum()
    return float(1.0 - np.square(target - predicted).sum() / spread)


def _spread(table: Float64) -> Float64:
    return np.asarray(np.where(table.min(axis=0) < table.max(axis=0), table.std(axis=0), 1.0))


REGRESSORS: dict[str, Regressor] = {
    "gradient-boosting": gradient_boosting,
    "random-forest": random_forest,
    "lasso": lasso,
}


_refuse = partial(refusal, "DCI cannot be computed")

TEST_SHARE = 0.1
LEAST_ROWS = 20
"""With fewer, the held-out tenth is a single row, on which no prediction can be measured."""


def dci(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    regressor: str = "gradient-boosting",
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Disentanglement as the score, with completeness and informativeness among the parts.

    The same under any order, sign and unit of the codes, but for ties that the trees break by
    chance; importance that several equal codes share is divided among them by chance too. Raises
    MetricError: see `inputs.check_inputs`; fewer than 20 rows; an unknown regressor; a seed outside
    its range; or nothing to predict varies among the training or the test rows.

    Parameters
    ----------
    codes : real numbers, shape (n, C), n at least 20. A code that takes one value only has no
        importance and so no weight.
    factors : real numbers, shape (n, K), none of them constant.
    regressor : "gradient-boosting" (the default, so that numbers can be compared), or one of the
        two of Eastwood and Williams: "random-forest", or "lasso", which knows linear relations
        only. See `REGRESSORS` for how each is set up.
    seed : of the random division into 90 % training and 10 % test rows and of the regressor,
        0 to 2^32 - 1.
    as_published : as the released code behind papers 000 and 001, which exchanges codes and
        factors: each *code* is predicted from all factors. What it calls disentanglement, the
        score, is then the concentration of each *factor's* importance on one code, weighted by the
        factors' importance: in kind a completeness. What it calls completeness is the
        concentration of each code on one factor, weighted likewise, and its informativeness says
        how well factors explain codes. Codes that mix factors without sharing any lower the
        default score and not this one.

    Returns
    -------
    Score with the parts
        disentanglement : the score again: mean of `per_code`, weighted by the codes' shares of P.
        completeness : plain mean of `per_factor`.
        informativeness_train, informativeness_test : mean R^2 over the factors, on training and
            test rows; at most 1, below 0 if a guess at the mean would be better. Factors that
            do not vary among those rows are left out. (Eastwood and Williams state a factor's
            normalised root mean squared error, sqrt(1 - R^2), where lower is better.)
        informativeness : the same as informativeness_test.
        per_code : each code's 1 - entropy of its row of P, base K. 0 for a code without
            importance; 1 for any other if there is only one factor, for nothing is mixed.
        per_factor : each factor's 1 - entropy of its column, base C, with the same two rules.
        importance : P, (C, K).
        r2_train, r2_test : R^2 of each factor (K,); NaN if it does not vary among those rows.
    As published: disentanglement is the weighted mean of `per_factor`, completeness the weighted
    mean of `per_code`, each row of `importance` says what a code was predicted from, and the R^2
    are those of the codes (C,).
    """
    c, f = check_inputs(codes, factors)
    check_rows(len(c), LEAST_ROWS)
    check_seed(seed)
    if regressor not in REGRESSORS:
        raise _refuse(f"the regressor is {regressor!r}", f"Allowed: {', '.join(REGRESSORS)}.")
    train, test = train_test_split(np.arange(len(c)), test_size=TEST_SHARE, random_state=seed)
    inputs, targets = (f, c) if as_published else (c, f)
    importance, r2_train, r2_test = _predict(
        standardise(inputs), standardise(targets), train, test, REGRESSORS[regressor], seed
    )
    if as_published:
        importance = importance.T
        score = disentanglement(importance.T)
        completeness = disentanglement(importance)
    else:
        score = disentanglement(importance)
        completeness = float(concentration(importance.T).mean())
    informativeness = _mean_of_defined(r2_test, "test")
    return Score(
        metric="dci",
        score=score,
        parts={
            "disentanglement": score,
            "completeness": completeness,
            "informativeness": informativeness,
            "informativeness_train": _mean_of_defined(r2_train, "training"),
            "informativeness_test": informativeness,
            "per_code": concentration(importance),
            "per_factor": concentration(importance.T),
            "importance": importance,
            "r2_train": r2_train,
            "r2_test": r2_test,
        },
        settings={
            "regressor": regressor,
            "inputs": "factors" if as_published else "codes",
            "targets": "codes" if as_published else "factors",
            "test_share": TEST_SHARE,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "scikit_learn": sklearn.__version__,
        },
    )


def concentration(importance: Float64) -> Float64:
    """1 - entropy of each row, to the base of the number of columns; shape (rows,), 0 to 1.

    A row of zeros rests on nothing: 0. Where there is one column, any other row rests on it: 1.
    """
    totals = importance.sum(axis=1)
    values = np.zeros(len(importance))
    for index in np.flatnonzero(totals > 0):
        shares = importance[index] / totals[index]
        shares = shares[shares > 0]
        entropy = -float((shares * np.log(shares)).sum())
        values[index] = 1.0 - entropy / np.log(max(importance.shape[1], 2))
    return values.clip(0.0, 1.0)


def disentanglement(importance: Float64) -> float:
    """Mean concentration of the rows of an importance matrix, weighted by their sums (paper 002,
    equation 3); 0 if all importance is 0."""
    weights = importance.sum(axis=1)
    total = float(weights.sum())
    return float(concentration(importance) @ weights) / total if total > 0 else 0.0


def _predict(
    inputs: Float64, targets: Float64, train: Int64, test: Int64, fit: Regressor, seed: int
) -> tuple[Float64, Float64, Float64]:
    """Importance (inputs, targets), and R^2 (targets,) on training and on test rows."""
    importance = np.zeros((inputs.shape[1], targets.shape[1]))
    r2_train, r2_test = np.zeros(targets.shape[1]), np.zeros(targets.shape[1])
    for index, target in enumerate(targets.T):
        predicted = np.full(len(target), target[train[0]])
        # A target with one value among the training rows is that value, whatever the inputs are.
        if (target[train] != target[train[0]]).any():
            fitted = fit(inputs[train], target[train], seed)
            importance[:, index] = fitted.importance
            predicted = fitted.predict(inputs)
        r2_train[index] = r2(target[train], predicted[train])
        r2_test[index] = r2(target[test], predicted[test])
    return importance, r2_train, r2_test


def _mean_of_defined(r2: Float64, rows: str) -> float:
    defined = r2[~np.isnan(r2)]
    if not len(defined):
        raise _refuse(
            f"nothing that is to be predicted varies among the {rows} rows",
            "Give more rows, or another seed.",
        )
    return float(defined.mean())
