"""The linear mixed model against statsmodels' own formula, and where there is none."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.regression import mixed_linear_model

from labapp.analysis import mixed_means
from labapp.analysis.inference import FEW, SAME
from labapp.analysis.mixed_means import mixed
from labapp.analysis.variance import Matrix


def gaps(n: int, spread: float = 1.0, seed: int = 2) -> Matrix:
    rng = np.random.default_rng(seed)
    values = spread * rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) + np.arange(3)
    values[rng.random((n, 3)) < 0.15] = np.nan
    return 1000 * values + 5000


@pytest.mark.parametrize("n", [8, 20])
def test_the_test_is_that_of_the_formula(n: int) -> None:
    values = gaps(n)
    found = mixed(values)
    person, model = np.nonzero(np.isfinite(values))
    frame = pd.DataFrame({"y": values[person, model], "m": model, "p": person})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.mixedlm("y ~ C(m)", frame, groups=frame["p"]).fit()
    test = fit.wald_test_terms(scalar=True).table.loc["C(m)"]
    assert fit.converged
    assert found.statistic == pytest.approx(float(test["statistic"]), rel=1e-3)
    assert found.p == pytest.approx(float(test["pvalue"]), rel=1e-2)
    assert (found.df, found.why) == (2, "")


def test_participants_that_do_not_differ_are_said_not_to() -> None:
    values = np.random.default_rng(5).normal(size=(12, 3))
    values[0, 0] = np.nan
    found = mixed(values)
    assert found.why == mixed_means.NO_VARIANCE
    assert found.p is not None


def test_what_cannot_be_fitted_says_why() -> None:
    one = np.array([[1.0, np.nan], [np.nan, 2.0]])
    assert mixed(one).why == FEW
    assert mixed(np.array([[1.0, np.nan], [2.0, np.nan]])).why == mixed_means.FEW_CONDITIONS
    flat = np.tile([1.0, 2.0, 3.0], (6, 1))
    flat[0, 0] = np.nan
    assert mixed(flat).why == SAME
    assert mixed(gaps(mixed_means.MOST + 50)).why == mixed_means.MANY


@pytest.mark.parametrize("fault", ["converged", "singular"])
def test_a_fit_that_did_not_arrive_has_no_value(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def fit(self: Any, **_: Any) -> Any:
        if fault == "singular":
            raise np.linalg.LinAlgError
        params, covariance = np.ones(3), np.eye(4)
        return SimpleNamespace(fe_params=params, cov_params=lambda: covariance, converged=False)

    monkeypatch.setattr(mixed_linear_model.MixedLM, "fit", fit)
    found = mixed(gaps(8))
    assert (found.p, found.why) == (None, mixed_means.FAILED)
