"""What changes no metric of binned codes: order, sign, unit and origin, and with bins of equal
frequency any map that keeps the order of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.metrics.information import Binning, dcimig, mi, mig, modularity
from labapp.models.metrics.inputs import Score
from tests.helpers.sample import examples
from tests.models.metrics.made import BINNINGS, array, mixed, seeds

Metric = Callable[..., Score]
metrics = pytest.mark.parametrize("metric", [mi, mig, dcimig, modularity])
several = examples(30)


@metrics
@several
@given(seed=seeds, binning=st.sampled_from(BINNINGS))
def test_order_of_codes_factors_and_rows_changes_nothing(
    metric: Metric, seed: int, binning: Binning
) -> None:
    codes, factors = mixed(seed)
    whole = metric(codes, factors, binning=binning)
    rng = np.random.default_rng(seed)
    rows, c, f = rng.permutation(200), rng.permutation(4), rng.permutation(3)
    moved = metric(codes[rows][:, c], factors[rows][:, f], binning=binning)
    assert 0 <= moved.score <= 1 + 1e-12
    assert moved.score == pytest.approx(whole.score, abs=1e-12)
    orders = {"per_code": c, "per_factor": f, "mutual_information": np.ix_(c, f)}
    for name in orders.keys() & whole.parts.keys():
        np.testing.assert_allclose(array(moved, name), array(whole, name)[orders[name]], atol=1e-12)


@metrics
@several
@given(seed=seeds, unit=st.floats(1e-6, 1e6), shift=st.floats(-10, 10))
def test_sign_unit_and_origin_of_a_code_change_nothing(
    metric: Metric, seed: int, unit: float, shift: float
) -> None:
    codes, factors = mixed(seed)
    score = metric(codes, factors).score
    assert metric(codes * [-1, 1, -1, 1], factors).score == pytest.approx(score, abs=1e-9)
    assert metric(codes * unit + shift, factors).score == pytest.approx(score, abs=1e-9)


@metrics
@several
@given(seed=seeds)
def test_equal_frequency_bins_keep_the_promise_of_monotone_maps(metric: Metric, seed: int) -> None:
    codes, factors = mixed(seed)
    score = metric(codes, factors, binning="equal-frequency").score
    for mapped in (np.exp(codes), codes**15, np.arctan(codes)):
        assert metric(mapped, factors, binning="equal-frequency").score == score
    # Rows at a cut change sides when all is turned over; 200 rows fill 20 bins without a rest.
    turned = metric(-codes, factors, binning="equal-frequency").score
    assert turned == pytest.approx(score, abs=1e-12)
