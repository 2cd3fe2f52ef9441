"""The logistic regression of trials has the numbers of another implementation."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.genmod.cov_struct import Independence
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from labapp.analysis.design.logistic import fit


@pytest.mark.parametrize("seed", range(5))
def test_coefficients_and_covariance_are_those_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(12), rng.integers(3, 9, 12))
    x = np.column_stack([np.ones(people.size), rng.normal(size=(people.size, 2))])
    odds = x @ (0.3, 0.8, -0.5) + rng.normal(size=12)[people]
    y = (rng.random(people.size) < 1 / (1 + np.exp(-odds))).astype(float)
    fitted = fit(y, x, people)
    assert fitted is not None
    model = GEE(y, x, people, family=Binomial(), cov_struct=Independence())
    other = model.fit(maxiter=200, ctol=1e-10, cov_type="bias_reduced")
    np.testing.assert_allclose(fitted[0], other.params, rtol=0, atol=1e-8)
    np.testing.assert_allclose(fitted[1], other.cov_params(), rtol=0, atol=1e-8)


def test_what_separates_the_answers_has_no_fit() -> None:
    people = np.repeat(np.arange(4), 5)
    x = np.column_stack([np.ones(20), np.arange(20.0)])
    assert fit((x[:, 1] > 9).astype(float), x, people) is None
    assert fit(np.ones(20), np.column_stack([x, x[:, 1]]), people) is None
