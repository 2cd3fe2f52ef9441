"""Where pairs and batches come from: by hand, by property, and what is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from labapp.base.errors import MetricError
from labapp.models.metrics.sampling import (
    CheckedSampler,
    Neighbours,
    RowSampler,
    fixed_factors,
    instance_source,
)
from tests.helpers.sample import examples
from tests.models.metrics.made import Float64, seeds


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@dataclass(frozen=True)
class Noisy:
    """Three factors, each a normal number; codes are these with a little noise of each draw."""

    noise: float = 0.0

    def factors(self, n: int, rng: np.random.Generator) -> Float64:
        return rng.normal(size=(n, 3))

    def codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        return factors + self.noise * rng.normal(size=factors.shape)


@dataclass(frozen=True)
class Fixed:
    """Gives what it was told to."""

    given_factors: ArrayLike
    given_codes: ArrayLike

    def factors(self, n: int, rng: np.random.Generator) -> Float64:
        return self.given_factors  # type: ignore[return-value]

    def codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        return self.given_codes  # type: ignore[return-value]


def test_pairs_of_a_sampler_share_the_factor_and_nothing_else() -> None:
    fixed = np.array([0, 2, 1, 1])
    first, second = CheckedSampler(Noisy(), rng()).pairs(fixed, 5, rng())
    assert first.shape == second.shape == (4, 5, 3)
    for point, factor in enumerate(fixed):
        same = first[point] == second[point]
        assert same[:, factor].all()
        assert not np.delete(same, factor, axis=1).any()
        assert len(np.unique(first[point][:, factor])) == 5  # each pair has a value of its own


def test_batches_of_a_sampler_have_one_value_of_the_factor() -> None:
    fixed = np.array([0, 2, 1, 1])
    found = CheckedSampler(Noisy(), rng()).batches(fixed, 5, rng())
    assert found.shape == (4, 5, 3)
    for point, factor in enumerate(fixed):
        distinct = [len(np.unique(column)) for column in found[point].T]
        assert distinct == [1 if column == factor else 5 for column in range(3)]
    assert found[2, 0, 1] != found[3, 0, 1]


def test_a_random_encoder_is_asked_for_each_member() -> None:
    first, second = CheckedSampler(Noisy(noise=0.1), rng()).pairs(np.array([1]), 4, rng())
    assert (first[0, :, 1] != second[0, :, 1]).all()
    np.testing.assert_allclose(first[0, :, 1], second[0, :, 1], atol=1)


def test_what_a_sampler_keeps_is_not_written_into() -> None:
    kept = np.arange(12.0).reshape(6, 2)

    class Keeps:
        def factors(self, n: int, rng: np.random.Generator) -> Float64:
            return kept[:n]

        def codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
            return factors

    CheckedSampler(Keeps(), rng()).batches(np.array([0, 1]), 3, rng())
    assert kept.tolist() == np.arange(12.0).reshape(6, 2).tolist()


@pytest.mark.parametrize(
    ("factors", "codes", "message"),
    [
        (np.zeros((3, 2)), np.zeros((2, 2)), "factors for 2 instances have shape (3, 2)"),
        (np.zeros(2), np.zeros((2, 2)), "factors for 2 instances have shape (2,)"),
        (np.zeros((2, 0)), np.zeros((2, 2)), "factors for 2 instances have shape (2, 0)"),
        (
            [["a"], ["b"]],
            np.zeros((2, 2)),
            "factors for 2 instances have shape (2, 1) and type <U1",
        ),
        (np.zeros((2, 2)), np.zeros((3, 1)), "codes for 2 instances have shape (3, 1)"),
        (np.zeros((2, 2)), np.full((2, 1), np.nan), "codes are not all finite"),
        (np.full((2, 2), np.inf), np.zeros((2, 2)), "factors are not all finite"),
    ],
)
def test_impossible_answers_of_a_sampler_are_refused(
    factors: ArrayLike, codes: ArrayLike, message: str
) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        CheckedSampler(Fixed(factors, codes), rng()).sample(2, rng())


def brute_force(column: Float64, row: int, size: int) -> set[int]:
    """Rows no further than the size-th nearest."""
    away = np.abs(column - column[row])
    return set(np.flatnonzero(away <= np.sort(away)[size - 1]).tolist())


@examples(60)
@given(
    column=st.lists(st.integers(-6, 6), min_size=2, max_size=25),
    size=st.integers(2, 25),
    seed=seeds,
)
def test_neighbours_are_the_nearest_rows_and_all_that_are_as_near(
    column: list[int], size: int, seed: int
) -> None:
    values, size = np.array(column, dtype=np.float64), min(size, len(column))
    found = Neighbours(values, size)
    rows = np.arange(len(values))
    for row, group in enumerate(found.groups(rows, rng(seed))):
        assert len(set(group.tolist())) == size
        assert set(group.tolist()) <= brute_force(values, row, size)
    draws = np.stack([found.partners(rows, rng(seed + draw)) for draw in range(5)])
    for row, partners in enumerate(draws.T):
        assert set(partners.tolist()) <= brute_force(values, row, size) - {row}


def test_every_neighbour_is_drawn() -> None:
    column = np.array([5.0, 1, 3, 1, 1, 4, 2])
    for size, row in ((2, 1), (2, 2), (4, 6), (3, 0)):
        found, near = Neighbours(column, size), brute_force(column, row, size)
        groups = found.groups(np.full(300, row), rng())
        assert set(groups.ravel().tolist()) == near
        partners = found.partners(np.full(300, row), rng())
        assert set(partners.tolist()) == near - {row}


def test_neighbours_of_distinct_values_by_hand() -> None:
    found = Neighbours(np.array([10.0, 0.0, 3.0, 4.0, 11.5]), 2)
    assert found.partners(np.arange(5), rng()).tolist() == [4, 2, 3, 2, 0]


def test_rows_share_the_value_where_there_are_enough() -> None:
    values = rng().integers(0, 3, (200, 2)).astype(np.float64)
    drawn = RowSampler(values, values)  # codes are the factors: what was drawn can be seen
    fixed = np.array([0, 1] * 10)
    first, second = drawn.pairs(fixed, 20, rng())
    batches = drawn.batches(fixed, 20, rng())
    for point, factor in enumerate(fixed):
        assert (first[point, :, factor] == second[point, :, factor]).all()
        assert (first[point, :, 1 - factor] != second[point, :, 1 - factor]).any()
        assert np.ptp(batches[point, :, factor]) == 0
        assert np.ptp(batches[point, :, 1 - factor]) > 0


def test_rows_take_the_nearest_where_values_do_not_repeat() -> None:
    values = rng().permutation(np.arange(100.0))[:, None]
    drawn = RowSampler(values, values)
    first, second = drawn.pairs(np.zeros(9, dtype=np.int64), 20, rng())
    assert (np.abs(first - second) == 1).all()
    for batch in drawn.batches(np.zeros(9, dtype=np.int64), 20, rng()):
        assert np.ptp(batch) in (19, 20)  # 20 where two rows are equally far
        assert len(np.unique(batch)) == 20


def test_a_batch_needs_more_rows_than_it_has() -> None:
    values = np.arange(20.0)[:, None]
    RowSampler(values, values).batches(np.array([0]), 19, rng())
    with pytest.raises(MetricError, match="there are 20 rows, and a batch has 20"):
        RowSampler(values, values).batches(np.array([0]), 20, rng())


def test_rows_or_a_sampler_are_asked_for_and_not_both() -> None:
    values = np.arange(20.0)[:, None]
    assert instance_source(values, values, None, rng()).name == "rows"
    assert instance_source(None, None, Noisy(), rng()).name == "given"
    for codes, sampler in ((values, Noisy()), (None, None)):
        with pytest.raises(MetricError, match="either codes and factors or a sampler"):
            instance_source(codes, codes, sampler, rng())
    with pytest.raises(MetricError, match="either codes and factors or a sampler"):
        instance_source(values, None, None, rng())


@given(points=st.integers(1, 5_000), batch=st.integers(1, 200_000))
def test_fixed_factors_come_in_portions_that_fit_into_memory(points: int, batch: int) -> None:
    found = fixed_factors(3, points, batch, rng())
    sizes = [len(portion) for portion in found]
    assert min(sizes) > 0
    assert max(sizes) * batch <= 2**16 or max(sizes) == 1
    # Which factors they are does not depend on how many are made at once.
    np.testing.assert_array_equal(np.concatenate(found), rng().integers(3, size=points))
