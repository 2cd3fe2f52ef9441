"""Wald's chi-square of the mixed model against R and statsmodels, and where there is none."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from labapp.analysis.design import mixed
from labapp.analysis.design.mixed import wald
from labapp.analysis.inference import FEW, SAME, Matrix


def gaps(n: int, spread: float = 1.0, seed: int = 2) -> Matrix:
    rng = np.random.default_rng(seed)
    values = spread * rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) + np.arange(3)
    values[rng.random((n, 3)) < 0.15] = np.nan
    return 1000 * values + 5000


@pytest.mark.parametrize(("n", "of_lme4"), [(8, 7.696680351), (20, 27.24586379)])
def test_the_test_is_that_of_lme4_and_near_that_of_statsmodels(n: int, of_lme4: float) -> None:
    """lme4 of R 4: with m <- lmer(y ~ factor(m) + (1 | p)), b <- fixef(m)[-1] and V the covariance
    of b, b' V^-1 b. statsmodels takes V from numerical second derivatives."""
    values = gaps(n)
    outcome = wald(values)
    person, model = np.nonzero(np.isfinite(values))
    frame = pd.DataFrame({"y": values[person, model], "m": model, "p": person})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.mixedlm("y ~ C(m)", frame, groups=frame["p"]).fit()
    test = fit.wald_test_terms(scalar=True).table.loc["C(m)"]
    assert fit.converged
    assert outcome.statistic == pytest.approx(of_lme4, rel=1e-6)
    assert outcome.statistic == pytest.approx(float(test["statistic"]), rel=5e-3)
    assert outcome.p == pytest.approx(float(test["pvalue"]), rel=2e-2)
    assert (outcome.df, outcome.why) == (2, "")


def test_participants_that_do_not_differ_are_said_not_to() -> None:
    values = np.random.default_rng(5).normal(size=(12, 3))
    values[0, 0] = np.nan
    outcome = wald(values)
    assert outcome.why == "singular: (1 | participant) estimated as 0"
    assert outcome.p is not None


def test_thousands_of_participants_are_no_matter_of_time() -> None:
    assert wald(gaps(2050)).p == pytest.approx(0, abs=1e-9)


def test_what_cannot_be_fitted_says_why() -> None:
    assert wald(np.array([[1.0, np.nan], [np.nan, 2.0]])).why == FEW
    flat = np.tile([1.0, 2.0, 3.0], (6, 1))
    flat[0, 0] = np.nan
    assert wald(flat).why == SAME


def test_a_fit_that_did_not_arrive_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed._Deviance, "best", lambda self: (np.ones(1), False))
    outcome = wald(gaps(8))
    assert (outcome.p, outcome.why) == (None, mixed.FAILED)
