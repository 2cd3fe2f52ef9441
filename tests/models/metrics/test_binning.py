"""Bins: by hand, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labapp.base.errors import MetricError
from labapp.models.metrics.information import Binning, discretise
from tests.models.metrics.made import BINNINGS, Float64, seeds

columns = arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e6, 1e6))


def test_equal_widths_by_hand() -> None:
    # Cuts at 0.25, 0.5, 0.75: a value on a cut belongs above it, the greatest value below the end.
    column = np.array([0.0, 0.24, 0.25, 0.5, 0.74, 0.75, 1.0])
    assert discretise(column, bins=4).tolist() == [0, 0, 1, 2, 2, 3, 3]


def test_equal_frequencies_by_hand() -> None:
    column = np.array([1000.0, -5.0, 0.0, 0.1, 0.2, 7.0, 30.0, -90.0])
    assert discretise(column, 4, "equal-frequency").tolist() == [3, 0, 1, 1, 2, 2, 3, 0]


def test_equal_values_are_never_parted() -> None:
    column = np.array([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0])
    assert discretise(column, 4, "equal-frequency").tolist() == [0, 2, 2, 2, 2, 2, 2, 3]


@pytest.mark.parametrize("binning", BINNINGS)
def test_a_constant_column_is_one_bin(binning: Binning) -> None:
    assert len(set(discretise(np.full(9, 3.7), 20, binning).tolist())) == 1


@settings(deadline=None)
@given(column=columns, bins=st.integers(2, 30), binning=st.sampled_from(BINNINGS))
def test_bins_follow_the_order_of_the_values(column: Float64, bins: int, binning: Binning) -> None:
    found = discretise(column, bins, binning)
    assert found.min() >= 0
    assert found.max() <= bins - 1
    order = np.argsort(column, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert ((np.diff(column[order]) > 0) | (np.diff(found[order]) == 0)).all()
    if column.min() < column.max():
        assert found[column.argmin()] < found[column.argmax()]


@given(seed=seeds, count=st.integers(20, 400))
def test_equal_frequency_bins_differ_by_a_row_at_most(seed: int, count: int) -> None:
    column = np.random.default_rng(seed).normal(size=count)
    filled = np.bincount(discretise(column, 20, "equal-frequency"), minlength=20)
    assert filled.max() - filled.min() <= 1


@given(column=columns)
def test_equal_frequency_bins_stay_under_increasing_maps(column: Float64) -> None:
    ranks = np.unique(column, return_inverse=True)[1].astype(np.float64)
    for mapped in (ranks, np.exp(ranks / 10)):
        assert np.array_equal(
            discretise(mapped, 20, "equal-frequency"), discretise(column, 20, "equal-frequency")
        )


@pytest.mark.parametrize(("bins", "binning"), [(1, "equal-width"), (20, "equal-hope")])
def test_impossible_bins_are_refused(bins: int, binning: Binning) -> None:
    with pytest.raises(MetricError, match=r"bins is 1|'equal-hope'"):
        discretise(np.arange(5.0), bins, binning)
