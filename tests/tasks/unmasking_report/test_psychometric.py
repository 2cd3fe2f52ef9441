"""Fits of psychometric functions against scipy's optimiser, called on its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from labapp.models.stimuli.masked_pictures import sizes
from labapp.tasks.unmasking.report.fits import MOST_RATES, SLOPES, fit, share
from tests.helpers.nightly import EVERYTHING

PERCENTS = np.array(sizes())
X = np.log(PERCENTS)
Values = NDArray[np.float64]


def loss(at: Values, hits: Values, counts: Values) -> float:
    location, log_slope, guess, lapse = at
    p = guess + (1 - guess - lapse) * expit(np.exp(log_slope) * (X - location))
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return -float((hits * np.log(p) + (counts - hits) * np.log1p(-p)).sum())


def best(hits: Values, counts: Values, rates: tuple[float, float] | None = None) -> float:
    """The greatest log likelihood that scipy finds from many starts."""
    guess, lapse = (
        ((0.0, MOST_RATES[0]), (0.0, MOST_RATES[1])) if rates is None else ((r, r) for r in rates)
    )
    bounds = [(X.min() - 1.38, X.max() + 1.38), tuple(np.log(SLOPES)), guess, lapse]
    starts = [
        [location, slope, 0.05 if rates is None else rates[0], 0.02 if rates is None else rates[1]]
        for location in (2.0, 2.5, 3.2)
        for slope in (0.5, 1.4, 2.3)
    ]
    options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000}
    return -min(
        minimize(loss, start, (hits, counts), method="L-BFGS-B", bounds=bounds, options=options).fun
        for start in starts
    )


@pytest.mark.parametrize("people", [1, 5, 62])
def test_no_likelihood_is_greater_than_that_of_the_fit(people: int) -> None:
    rng = np.random.default_rng(people)
    truths = [(8.0, 3.0, 0.15, 0.01), (13.0, 4.0, 0.1, 0.02), (25.0, 6.0, 0.0, 0.0)]
    counts = np.full((len(truths), PERCENTS.size), 10.0 * people)
    hits = np.array([rng.binomial(10 * people, share(PERCENTS, *one)) for one in truths], float)
    found = fit(X, hits, counts)
    for row in range(len(truths)):
        assert found.log_likelihood[row] >= best(hits[row], counts[row]) - 1e-4
    assert (found.guess <= MOST_RATES[0]).all()
    assert (found.lapse <= MOST_RATES[1]).all()


def test_known_rates_are_kept() -> None:
    rng, many = np.random.default_rng(4), 8 if EVERYTHING else 2
    counts = np.full((many, PERCENTS.size), 10.0)
    hits = rng.binomial(10, share(PERCENTS, 13.0, 4.0, 0.1, 0.02), counts.shape).astype(float)
    rates = (np.full(many, 0.1), np.full(many, 0.02))
    found = fit(X, hits, counts, rates)
    assert found.guess == pytest.approx(rates[0])
    assert found.lapse == pytest.approx(rates[1])
    for row in range(many):
        theirs = best(hits[row], counts[row], (0.1, 0.02))
        assert found.log_likelihood[row] >= theirs - 1e-4


def test_without_noise_the_parameters_come_back() -> None:
    p = share(PERCENTS, 13.0, 4.0, 0.1, 0.02)
    found = fit(X, 1e6 * p[None], np.full((1, PERCENTS.size), 1e6))
    assert found.threshold[0] == pytest.approx(13.0, rel=1e-3)
    assert found.slope[0] == pytest.approx(4.0, rel=1e-3)
    assert found.guess[0] == pytest.approx(0.1, abs=1e-3)
    assert found.lapse[0] == pytest.approx(0.02, abs=1e-3)


def test_the_threshold_is_half_way_between_the_ends() -> None:
    assert float(share(13.0, 13.0, 4.0, 0.1, 0.02)) == pytest.approx(0.1 + 0.88 / 2)


def test_a_lapse_rate_beyond_its_bound_takes_another_bound() -> None:
    p = share(PERCENTS, 13.0, 4.0, 0.05, 0.25)
    counts = np.full((1, PERCENTS.size), 1e5)
    bound = fit(X, 1e5 * p[None], counts)
    free = fit(X, 1e5 * p[None], counts, most=(0.5, 0.5))
    assert bound.lapse[0] == pytest.approx(MOST_RATES[1], abs=1e-4)
    assert free.lapse[0] == pytest.approx(0.25, abs=1e-3)
    assert free.threshold[0] == pytest.approx(13.0, rel=1e-3)
