"""Which rows depend on which: the rule of paper 001, A.6, counted out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.concepts.rows import binary, correlated
from labapp.models.datasets.split import Int64
from tests.helpers.sample import examples

SIZES = (3, 6, 8, 5)


def grid() -> Int64:
    return np.stack(np.unravel_index(np.arange(np.prod(SIZES)), SIZES), axis=1).astype(np.int64)


def test_without_correlations_only_every_other_value_is_kept() -> None:
    indices = grid()
    kept = indices[correlated(SIZES, 0, 0).keeps(indices, np.zeros(len(indices), np.int64))]
    assert [sorted(set(column.tolist())) for column in kept.T] == [
        [0, 1, 2], [0, 2, 4], [0, 2, 4, 6], [0, 2, 4],
    ]  # fmt: skip
    assert len(kept) == 3 * 3 * 4 * 3


@examples(20)
@given(seed=st.integers(0, 2**32), correlations=st.integers(1, 3), decides=st.integers(0, 1))
def test_each_value_allows_half_of_the_next_from_its_quarters(
    seed: int, correlations: int, decides: int
) -> None:
    indices = grid()
    rule = correlated(SIZES, correlations, seed)
    kept = indices[rule.keeps(indices, np.full(len(indices), decides))]
    for i in range(correlations):
        later = SIZES[i + 1]
        for value in set(kept[:, i].tolist()):
            found = set(kept[kept[:, i] == value, i + 1].tolist())
            assert len(found) == later // 2
            quarters = 3 * later // 4
            low = 0 if decides else later - quarters
            assert found <= set(range(low, low + quarters))
    for i in range(correlations + 1, len(SIZES)):
        assert set(kept[:, i].tolist()) == set(range(0, SIZES[i], 2))


def test_one_more_correlation_keeps_those_before() -> None:
    fewer, more = correlated(SIZES, 2, 7), correlated(SIZES, 3, 7)
    for a, b in zip(fewer.allowed, more.allowed, strict=False):
        np.testing.assert_array_equal(a, b)
    other = correlated(SIZES, 3, 8)
    assert any((a != b).any() for a, b in zip(more.allowed, other.allowed, strict=True))


@pytest.mark.parametrize("correlations", [-1, 4])
def test_as_many_correlations_as_there_are_neighbours(correlations: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 3"):
        correlated(SIZES, correlations, 0)


def test_binary_numbers() -> None:
    one, two, three = (np.array(digits) for digits in ([0, 1, 1], [1, 0, 1], [0, 0, 1]))
    np.testing.assert_array_equal(binary(one, two, three), [2, 4, 7])
