"""Sinelines: the formula by hand, the prior by its moments, the division by its seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labapp.models.datasets import sinelines
from tests.helpers.sample import examples

factor = st.floats(-5, 5)


def one(*z: float) -> NDArray[np.float32]:
    return sinelines.series(np.array([z])).reshape(64)


def test_times_run_from_minus_3_2_to_3_1() -> None:
    assert sinelines.TIMES.shape == (64,)
    assert sinelines.TIMES[0] == -3.2
    assert sinelines.TIMES[32] == 0
    assert sinelines.TIMES[-1] == 3.1
    np.testing.assert_allclose(np.diff(sinelines.TIMES), 0.1)


def test_a_line_alone() -> None:
    x = one(0.5, 2, 0, 3, 1)
    assert x[0] == np.float32(0.4)
    assert x[32] == 2
    assert x[63] == np.float32(3.55)


def test_a_wave_alone() -> None:
    x = one(0, 0, 2, math.pi, math.pi / 2)
    assert x[32] == 2  # sin(pi / 2)
    assert x[42] == -2  # t = 1: sin(3 pi / 2)
    assert abs(x[37]) < 1e-6  # t = 0.5: sin(pi)


@examples(60)
@given(z=st.tuples(factor, factor, factor, factor, factor))
def test_every_point_is_the_formula(z: tuple[float, float, float, float, float]) -> None:
    slope, intercept, amplitude, frequency, phase = z
    for index, value in enumerate(one(*z)):
        t = (index - 32) / 10
        exact = slope * t + intercept + amplitude * math.sin(frequency * t + phase)
        assert value == pytest.approx(exact, rel=1e-6, abs=1e-5)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(n, 5\)"):
        sinelines.series(np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("column", "distribution"),
    [
        (0, stats.uniform(-1, 2)),
        (1, stats.norm()),
        (2, stats.expon()),
        (3, stats.expon()),
        (4, stats.uniform(0, 2 * math.pi)),
    ],
)
def test_each_factor_follows_its_prior(column: int, distribution: object) -> None:
    draws = sinelines.draw_factors(20_000, seed=11)[:, column]
    result = stats.kstest(draws, distribution.cdf)  # type: ignore[attr-defined]
    assert result.pvalue > 0.01


def test_factors_are_independent() -> None:
    correlation = stats.spearmanr(sinelines.draw_factors(20_000, seed=11)).statistic
    assert np.abs(correlation - np.eye(5)).max() < 0.03


def test_dial_states_are_rounded_then_clamped() -> None:
    z = sinelines.to_dials(np.array([[-1.7, 4.004, 0.004, 12.0, 6.2832], [0.125, -9, 1, 2.006, 3]]))
    np.testing.assert_allclose(z, [[-1, 4, 0, 10, 6.28], [0.12, -4, 1, 2.01, 3]], rtol=1e-6)


def test_prior_states_lie_on_the_dials() -> None:
    z = sinelines.sample_prior(5_000, seed=0).astype(np.float64)
    low, high = np.array(sinelines.LIMITS).T
    assert (z >= low - 1e-6).all()
    assert (z <= high + 1e-6).all()
    assert np.abs(z * 100 - (z * 100).round()).max() < 1e-3


def test_the_division_is_the_same_for_ever() -> None:
    data = sinelines.split(count=50_000, held_out=5_000, seed=0)
    assert (len(data.train), len(data.held)) == (45_000, 5_000)
    # Written down when the shipped models were trained: another value means other data.
    np.testing.assert_allclose(data.train.factors(np.array([0]))[0], FIRST_TRAINED, rtol=1e-12)
    np.testing.assert_allclose(data.held.factors(np.array([-1]))[0], LAST_HELD_OUT, rtol=1e-12)


def test_series_and_factors_belong_together_and_parts_do_not_overlap() -> None:
    data = sinelines.split(count=300, held_out=30, seed=5)
    for rows in (data.held, data.train):
        every = np.arange(len(rows))
        assert np.array_equal(sinelines.series(rows.factors(every)), rows.instances(every))
    held, train = data.held.factors(np.arange(30)), data.train.factors(np.arange(270))
    assert not set(held[:, 0]) & set(train[:, 0])


@pytest.mark.parametrize("held_out", [0, 10, 11])
def test_a_division_that_leaves_nothing_is_refused(held_out: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 9"):
        sinelines.split(count=10, held_out=held_out, seed=0)


FIRST_TRAINED = [
    0.2739233746429086,
    0.6768018096439974,
    0.04183659648833745,
    0.016665740712559645,
    5.109927617709579,
]
LAST_HELD_OUT = [
    -0.6870779075474673,
    -0.19521494478515244,
    0.08000953316577013,
    0.11343156358186389,
    1.5896730807376582,
]
