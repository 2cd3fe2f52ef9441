"""Alpha and omega against R (psych 2.x, factanal) on R's own data, and against what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize

from labapp.analysis.reliability import (
    Matrix,
    alpha,
    alphas_if_dropped,
    item_rest,
    omega,
    one_factor,
)
from tests.helpers.sample import examples

_NUMBERS = """
43 51 30 39 61 92 45 63 64 51 54 63 73 47 71 70 68 69 76 86 48 61 63 45 47 54 84 35
81 78 56 66 71 83 47 43 55 49 44 54 49 34 58 67 42 56 66 68 35 71 75 50 55 70 66 41
72 82 72 67 71 83 31 67 61 45 47 62 80 41 64 53 53 58 58 67 34 67 60 47 39 59 74 41
69 62 57 42 55 63 25 68 83 83 45 59 77 35 77 77 54 72 79 77 46 81 90 50 72 60 54 36
74 85 64 69 79 79 63 65 60 65 75 55 80 60 65 70 46 57 75 85 46 50 58 68 54 64 78 52
50 40 33 34 43 64 33 64 61 52 62 66 80 41 53 66 52 50 63 80 37 40 37 42 58 50 57 49
63 54 42 48 66 75 33 66 77 66 63 88 76 72 78 75 58 74 80 78 49 48 57 44 45 51 83 38
85 85 71 71 77 74 55 82 82 39 59 64 78 39
"""
ATTITUDE = np.array(_NUMBERS.split(), dtype=float).reshape(30, 7)
"""`attitude` of R: seven shares of favourable answers in 30 departments (Chatterjee and Price)."""


def test_alpha_is_that_of_psych() -> None:
    """psych::alpha(attitude): closed forms."""
    found = alpha(ATTITUDE)
    assert found.value == pytest.approx(0.843142769565, abs=1e-8)
    assert (found.low, found.high) == (
        pytest.approx(0.7393757, abs=5e-8),
        pytest.approx(0.9157731, abs=5e-8),
    )
    assert alphas_if_dropped(ATTITUDE) == pytest.approx(
        [0.809760206309, 0.796917457274, 0.827847765939, 0.803030975023, 0.795386574198,
         0.863872311446, 0.840464868265], abs=1e-8,
    )  # fmt: skip
    assert item_rest(ATTITUDE) == pytest.approx(
        [0.671262057224, 0.742109710222, 0.560711111480, 0.714445498134, 0.786275593834,
         0.265034339197, 0.460810549468], abs=1e-8,
    )  # fmt: skip


def test_omega_is_that_of_factanal_and_psych() -> None:
    """factanal(attitude, 1) and psych::fa(attitude, 1, fm = "ml"); omega of the raw items from
    factanal, of standardised ones psych::omega(attitude, 1, fm = "ml")$omega.tot."""
    found = omega(ATTITUDE)
    assert found.value == pytest.approx(0.856326792898, abs=1e-4)
    psych = [0.852477611320, 0.902238263313, 0.592706101054, 0.730699091943, 0.764994952485,
             0.246093054617, 0.377847920053]  # fmt: skip
    assert found.loadings == pytest.approx(psych, abs=1e-4)
    correlations = np.corrcoef(ATTITUDE, rowvar=False)
    _, own, converged = one_factor(correlations)
    assert converged
    assert 1 - own.sum() / correlations.sum() == pytest.approx(0.848156187752, abs=1e-4)


def test_no_other_factor_is_more_likely() -> None:
    """The likelihood written out, minimised over loadings and own variances by another method."""
    correlations = np.corrcoef(ATTITUDE, rowvar=False)

    def misfit(parameters: Matrix) -> float:
        loadings, own = parameters[:7], np.exp(parameters[7:])
        model = np.outer(loadings, loadings) + np.diag(own)
        told = np.linalg.slogdet(model)[1] - np.linalg.slogdet(correlations)[1]
        return float(told + np.trace(np.linalg.solve(model, correlations)) - 7)

    loadings, own, _ = one_factor(correlations)
    ours = misfit(np.concatenate([loadings, np.log(own)]))
    other = optimize.minimize(misfit, np.concatenate([np.full(7, 0.5), np.log(np.full(7, 0.5))]))
    assert ours <= other.fun + 1e-8
    assert other.x[:7] == pytest.approx(loadings, abs=1e-3)


def scale(n: int, k: int, seed: int) -> Matrix:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, 1)) + rng.normal(size=(n, k))
    return np.asarray(np.clip(np.round(4 + made), 1, 7), dtype=np.float64)


@pytest.mark.parametrize(
    ("rows", "why_alpha", "why_omega"),
    [
        (scale(4, 5, 1), "fewer than 5 people", "fewer than 5 people"),
        (np.column_stack([scale(20, 4, 2), np.full(20, 3.0)]), "the same answer", "same answer"),
        (np.column_stack([scale(20, 1, 3), 8 - scale(20, 1, 3)]), "do not go together", "3 items"),
        (scale(30, 2, 4), "", "fewer than 3 items"),
        (scale(6, 6, 5), "", "too few people"),
        (np.column_stack([scale(30, 3, 6)] * 2), "", "follow from others"),
        (scale(30, 1, 7), "one item", "one item"),
    ],
)
def test_what_cannot_be_said_is_told_with_the_reason(
    rows: Matrix, why_alpha: str, why_omega: str
) -> None:
    found, of_factor = alpha(rows), omega(rows)
    assert (found.value is None) == bool(why_alpha)
    assert why_alpha in found.why
    assert of_factor.value is None
    assert why_omega in of_factor.why


def test_an_item_that_goes_against_the_others_is_told() -> None:
    rows = scale(60, 5, 8)
    rows[:, 2] = 8 - rows[:, 2]
    assert "should be reversed" in omega(rows).why
    rows[:, 2] = 8 - rows[:, 2]
    assert omega(rows).why == ""


def test_a_factor_that_explains_an_item_wholly_gives_no_number() -> None:
    rng = np.random.default_rng(3)
    factor = rng.normal(size=200)
    noise = rng.normal(size=(200, 2))
    rows = np.column_stack([factor, factor[:, None] + 0.8 * noise])
    rows[:, 1:] -= 0.5 * noise.mean(axis=1, keepdims=True)
    found = omega(rows)
    assert found.value is None
    assert "Heywood" in found.why


@examples(40)
@given(arrays(np.float64, (12, 4), elements=st.integers(1, 7).map(float)))
def test_what_must_hold_of_any_answers(rows: Matrix) -> None:
    found = alpha(rows)
    assert (found.value is None) == bool(found.why)
    if found.value is not None:
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high <= 1
        moved = alpha(3 * rows[:, ::-1] + 2)
        assert moved.value == pytest.approx(found.value)
    of_factor = omega(rows)
    if of_factor.value is not None:
        assert 0 <= of_factor.value < 1
        assert omega(8 - rows).value == pytest.approx(of_factor.value, abs=1e-4)
