"""FactorVAE: the paper's generators, its edges and its invariances."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import MetricError
from labapp.models.metrics.sampling import factorvae
from tests.helpers.sample import examples
from tests.models.metrics.made import Float64, array, of_five_values, seeds

Generator = np.random.Generator
few = examples(8)
SMALL: dict[str, Any] = {"batch": 16, "points": 300, "test_points": 300}
WEIGHTS = np.array([[0.5, 0.4, 0.5], [0.4, 0.5, 0.5], [0.4, 0.4, 0.6]])


@dataclass(frozen=True)
class Normal:
    """Independent factors of mean 0 and SD 1."""

    count: int
    encode: Callable[[Float64], Float64]

    def factors(self, n: int, rng: Generator) -> Float64:
        return rng.normal(size=(n, self.count))

    def codes(self, factors: Float64, rng: Generator) -> Float64:
        return self.encode(factors)


@pytest.mark.parametrize("as_published", [False, True])
def test_fact_4_of_paper_002(as_published: bool) -> None:
    # Every code mixes all factors; printed as 1.
    sampler = Normal(3, lambda z: z @ WEIGHTS.T)
    found = factorvae(sampler=sampler, batch=128, as_published=as_published)
    assert found.score == 1
    votes = array(found, "votes")
    np.testing.assert_array_equal(votes, np.diag(np.diag(votes)))


def test_fact_1_of_paper_002_does_not_show() -> None:
    # (z1, z1, z2, z2), of which the paper says that the score is below 1.
    redundant = Normal(2, lambda z: z[:, [0, 0, 1, 1]])
    found = factorvae(sampler=redundant, batch=128, points=2_000, test_points=2_000)
    assert found.score == 1


def test_by_hand() -> None:
    # The only code is the first factor: every batch votes for it by that code, and the other
    # factor, for which half of them are drawn, is never told.
    factors = of_five_values(0)[1][:, :2]
    found = factorvae(factors[:, :1], factors, **SMALL)
    votes = array(found, "votes")
    assert votes.sum() == 300
    assert found.parts["accuracy_train"] == votes.max() / 300
    told = int(votes.argmax())
    assert array(found, "per_factor").tolist() == [1 - told, told]
    assert found.score == pytest.approx(0.5, abs=0.1)


def test_against_a_loop() -> None:
    # Points that another loop makes, one by one, from the same sampler.
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(3, 4))
    spread = (rng.normal(size=(10_000, 3)) @ mixing).std(axis=0, ddof=1)

    def table(count: int) -> Float64:
        found = np.zeros((4, 3))
        for factor in rng.integers(3, size=count):
            z = rng.normal(size=(8, 3))
            z[:, factor] = z[0, factor]
            found[np.argmin((z @ mixing / spread).var(axis=0, ddof=1)), factor] += 1
        return found

    votes, test = table(5_000), table(5_000)
    expected = test[np.arange(4), votes.argmax(axis=1)].sum() / 5_000
    found = factorvae(sampler=Normal(3, lambda z: z @ mixing), batch=8, points=5_000)
    assert 0.4 < expected < 0.95
    assert found.score == pytest.approx(expected, abs=0.03)
    np.testing.assert_allclose(array(found, "votes") / 5_000, votes / 5_000, atol=0.03)
    np.testing.assert_allclose(array(found, "sd"), spread, rtol=0.05)


def test_rows_come_near_the_sampler_that_they_were_drawn_from() -> None:
    mixing = np.array([[1.0, 0.9, 0.8], [0.8, 1.0, 0.9], [0.9, 0.8, 1.0]])
    sampler = Normal(3, lambda z: z @ mixing)
    rng = np.random.default_rng(0)
    factors = sampler.factors(5_000, rng)
    drawn = factorvae(sampler=sampler, batch=8, points=4_000)
    rows = factorvae(sampler.codes(factors, rng), factors, batch=8, points=4_000)
    assert 0.4 < drawn.score < 0.9
    assert rows.score == pytest.approx(drawn.score, abs=0.04)
    assert (drawn.settings["sampler"], drawn.settings["spread_rows"]) == ("given", 10_000)
    assert (rows.settings["sampler"], rows.settings["spread_rows"]) == ("rows", 5_000)


@few
@given(seed=seeds, as_published=st.booleans())
def test_parts_and_settings(seed: int, as_published: bool) -> None:
    found = factorvae(*of_five_values(seed), seed=seed, as_published=as_published, **SMALL)
    assert found.score == found.parts["accuracy_test"]
    assert 0 <= found.score <= 1
    shapes = {name: np.shape(part) for name, part in found.parts.items() if np.ndim(part)}
    assert shapes == {"per_factor": (3,), "votes": (4, 3), "sd": (4,), "active": (4,)}
    assert array(found, "votes").sum() == 300
    assert all(np.isfinite(part).all() for part in found.parts.values())
    assert found.settings["seed"] == seed
    assert found.settings["threshold"] == (0.05 if as_published else 0)
    again = factorvae(*of_five_values(seed), seed=seed, as_published=as_published, **SMALL)
    assert again.to_json() == found.to_json()


@few
@given(seed=seeds)
def test_order_sign_and_unit_of_codes_change_nothing(seed: int) -> None:
    codes, factors = of_five_values(seed)
    whole = factorvae(codes, factors, **SMALL)
    order = np.random.default_rng(seed).permutation(4)
    moved = factorvae(codes[:, order], factors, **SMALL)
    np.testing.assert_array_equal(array(moved, "votes"), array(whole, "votes")[order])
    for other in (codes * [-1, 1, -1, 1], codes * [2.0**-600, 1, 2.0**300, 0.5]):
        found = factorvae(other, factors, **SMALL)
        np.testing.assert_array_equal(array(found, "votes"), array(whole, "votes"))
        assert found.score == whole.score


@few
@given(seed=seeds)
def test_a_second_copy_or_a_constant_code_changes_nothing(seed: int) -> None:
    codes, factors = of_five_values(seed)
    score = factorvae(codes, factors, **SMALL).score
    assert factorvae(codes[:, [0, 1, 2, 3, 0]], factors, **SMALL).score == score
    for as_published in (False, True):
        constant = factorvae(
            np.hstack([np.full((300, 1), 3.1), codes]), factors, as_published=as_published, **SMALL
        )
        assert constant.score == score
        assert array(constant, "active").tolist() == [0, 1, 1, 1, 1]
        assert array(constant, "votes")[0].sum() == 0


def test_the_threshold_is_an_absolute_sd() -> None:
    factors = of_five_values(1)[1]
    small = factors * [1, 1, 0.01]  # the third has an SD of about 0.014
    assert factorvae(small, factors, **SMALL).score == 1
    published = factorvae(small, factors, as_published=True, **SMALL)
    assert array(published, "active").tolist() == [1, 1, 0]
    assert published.score == pytest.approx(2 / 3, abs=0.1)
    assert factorvae(small, factors, threshold=0.01, **SMALL).score == 1
    assert factorvae(small * 10, factors, as_published=True, **SMALL).score == 1


def test_no_active_code_scores_0() -> None:
    codes, factors = of_five_values(2)
    for found in (
        factorvae(codes, factors, threshold=100.0, **SMALL),
        factorvae(np.ones((300, 2)), factors, **SMALL),
        factorvae(sampler=Normal(3, lambda z: 0 * z), **SMALL),
    ):
        assert found.score == found.parts["accuracy_train"] == 0
        assert array(found, "per_factor").tolist() == [0, 0, 0]
        assert array(found, "votes").sum() == array(found, "active").sum() == 0


def test_one_factor_is_always_told() -> None:
    codes, factors = of_five_values(3)
    assert factorvae(codes, factors[:, :1], **SMALL).score == 1


def test_factors_that_no_point_was_drawn_for_are_undefined_parts() -> None:
    found = factorvae(*of_five_values(4), batch=4, points=1, test_points=1)
    assert np.isnan(array(found, "per_factor")).sum() == 2
    assert found.score in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": 1}, "batch is 1"),
        ({"points": 0}, "points is 0"),
        ({"test_points": 0}, "test_points is 0"),
        ({"spread_rows": 1}, "spread_rows is 1"),
        ({"threshold": -0.1}, "threshold is -0.1"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"seed": 2**32}, "seed is 4294967296"),
        ({"batch": 300}, "there are 300 rows, and a batch has 300"),
        ({"sampler": Normal(2, lambda z: z)}, "either codes and factors or a sampler"),
    ],
)
def test_impossible_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        factorvae(*of_five_values(0), **arguments)
