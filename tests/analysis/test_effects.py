"""Effects and their intervals, against scipy's noncentral distributions and published examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import effectsize_smd

from labapp.analysis import inference
from labapp.analysis.design import anova


def samples(n: int, m: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, n), rng.normal(0, 2, m)


@given(st.floats(-30, 30), st.integers(1, 200))
def test_ends_of_the_interval_of_a_t_have_their_shares(t: float, df: int) -> None:
    low, high = inference.t_interval(t, df)
    assert low is not None
    assert high is not None
    assert low < t < high
    t = t if abs(t) > 1e-9 else 0.0
    assert stats.nct.cdf(t, df, low) == pytest.approx(0.975, abs=1e-6)
    assert stats.nct.cdf(t, df, high) == pytest.approx(0.025, abs=1e-6)


@given(st.floats(0, 500), st.integers(1, 13), st.integers(2, 300))
def test_ends_of_the_interval_of_an_f_have_their_shares(f: float, df: int, error: int) -> None:
    low, high = inference.f_interval(f, df, error)
    assert low is not None
    assert high is not None
    assert 0 <= low <= high
    for end, share in ((low, 0.975), (high, 0.025)):
        if end > 0:
            assert stats.ncf.cdf(f, df, error, end) == pytest.approx(share, abs=1e-6)
        else:
            assert stats.f.cdf(f, df, error) <= share + 1e-9


def test_g_is_that_of_statsmodels() -> None:
    one, other = samples(12, 7)
    found = inference.hedges_g(one, other)
    assert found is not None
    expected, _ = effectsize_smd(
        one.mean(), one.std(ddof=1), one.size, other.mean(), other.std(ddof=1), other.size
    )
    # It has the approximate factor 1 - 3 / (4 N - 9), ours the exact one.
    assert found.value == pytest.approx(expected, rel=2e-3)
    t = stats.ttest_ind(one, other).statistic
    assert found.name == "Hedges' g"
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    scale = np.sqrt(12 * 7 / 19)
    exact = found.value / (t / scale)
    assert stats.nct.cdf(t, 17, found.low / exact * scale) == pytest.approx(0.975, abs=1e-6)


def test_d_z_and_its_interval_go_with_the_paired_t() -> None:
    one, other = samples(9, 9)
    apart = one - other
    found = inference.d_z(apart)
    t = stats.ttest_rel(one, other).statistic
    assert found is not None
    assert found.value == pytest.approx(t / 3)
    assert found.low is not None
    assert stats.nct.cdf(t, 8, found.low * 3) == pytest.approx(0.975, abs=1e-6)
    turned = inference.d_z(-apart)
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((-(found.high or 0), -found.low))


def test_an_interval_of_eta_squared_as_published() -> None:
    """Smithson (2001, Educational and Psychological Measurement 61, p. 619): F(3, 20) is not
    printed with data here; the definition: noncentrality / (noncentrality + df + df_error + 1)."""
    # Squares of 30 between three groups of ten and of 50 within them.
    within = np.tile([1.0, -1.0], 5) * np.sqrt(50 / 30)
    values = np.concatenate([within + np.sqrt(1.5) * mean for mean in (-1, 0, 1)])
    model = anova.of_one_factor(values, np.repeat([0, 1, 2], 10))
    assert not isinstance(model, str)
    (term,) = model.terms()
    assert (term.squares, term.error) == pytest.approx((30, 50))
    eta = term.plain
    assert eta.effect == pytest.approx(30 / 80)
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(eta.effect)
    for end, share in ((eta.effect_low, 0.975), (eta.effect_high, 0.025)):
        assert end is not None
        noncentral = end / (1 - end) * 30
        f = term.plain.statistic
        assert stats.ncf.cdf(f, 2, 27, noncentral) == pytest.approx(share, abs=1e-6)


def test_partial_and_generalised_eta_squared_of_the_squares() -> None:
    values = np.random.default_rng(0).normal(size=(8, 3)) + np.arange(8)[:, None]
    model = anova.of_one_factor(values)
    assert not isinstance(model, str)
    (term,) = model.terms()
    f = term.plain.statistic
    assert f is not None
    assert term.plain.effect_name == "partial eta squared"
    assert term.plain.effect == pytest.approx(2 * f / (2 * f + 14))
    whole = np.square(values - values.mean()).sum()
    assert term.generalised is not None
    assert term.generalised.effect == pytest.approx(term.squares / whole)
    assert term.squares / whole < (term.plain.effect or 0.0)


def test_no_effect_of_what_does_not_vary() -> None:
    same = np.full(5, 1.0)
    assert inference.hedges_g(same, same + 1) is None
    assert inference.hedges_g(same[:1], same) is None
    assert inference.d_z(same) is None
    assert inference.d_z(same[:1]) is None
