"""Regressors that also say how much each input mattered, for DCI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor

Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fitted:
    """`importance`, float64 of shape (inputs,), not negative; `predict` maps float64 (n, inputs)
    to (n,)."""

    importance: Float64
    predict: Callable[[Float64], Float64]


Regressor = Callable[[Float64, Float64, int], Fitted]
"""Fits float64 inputs (n, inputs) to a target (n,), given a seed. Both come with mean 0 and SD 1
(columns that do not vary: 0)."""


def gradient_boosting(inputs: Float64, target: Float64, seed: int) -> Fitted:
    """scikit-learn's defaults: 100 trees of depth 3, learning rate 0.1, squared error.

    Importance is the impurity that splits on the input removed, adding up to 1; all 0 where no
    tree found a split.
    """
    model = GradientBoostingRegressor(random_state=seed).fit(inputs, target)
    return Fitted(np.asarray(model.feature_importances_, dtype=np.float64), model.predict)


REGRESSORS: dict[str, Regressor] = {"gradient-boosting": gradient_boosting}
