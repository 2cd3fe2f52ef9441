"""Regressors that also say how much each input mattered, for DCI."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.model_selection import train_test_split

from labapp.models.datasets.split import Float64

TREES = 10
DEPTHS = range(3, 13)
DEPTH_SHARE = 1 / 9
"""Of the training rows; a tenth of all where a tenth is held out for the test."""
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

    Importance is the impurity that splits on the input removed, adding up to 1; all 0 where no
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
    """Columns with mean 0 and SD 1; 0 where a column does not vary.

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
    """The share of the target's variance that is predicted; NaN where the target does not vary."""
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
