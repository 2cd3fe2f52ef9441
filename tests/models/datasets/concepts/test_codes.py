"""Codes of known purity, correlations of rows, and parts of a task's rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reproduction.hand_made import hand_made
from labapp.models.datasets.concepts.rows import (
    binary,
    draw_rows,
    make_correlation_rule,
    part,
    tabular_toy,
    validation,
)
from labapp.models.datasets.split import Int64
from tests.helpers.sample import examples


def test_the_paper_s_sizes_and_ranges() -> None:
    made = hand_made()
    assert made.concepts.shape == made.pure.shape == made.impure.shape == (3_000, 5)
    assert set(np.unique(made.concepts)) == {0.0, 1.0}
    for codes in (made.pure, made.impure):
        on = made.concepts == 1
        assert (codes[on].min(), codes[on].max()) == pytest.approx((0.95, 1.0), abs=0.005)
        assert (codes[~on].min(), codes[~on].max()) == pytest.approx((0.0, 0.05), abs=0.005)


def test_every_concept_can_be_read_from_any_impure_code() -> None:
    made = hand_made(seed=3)
    for j, code in enumerate(made.impure.T):
        concept = code > 0.5
        tile = np.floor((code - 0.95 * concept) / 0.05 * 16).astype(int)
        others = np.stack([(tile >> shift) & 1 for shift in (3, 2, 1, 0)], axis=1)
        np.testing.assert_array_equal(others, np.delete(made.concepts, j, axis=1))
        np.testing.assert_array_equal(concept, made.concepts[:, j])


def test_a_pure_code_tells_nothing_beyond_its_concept() -> None:
    made = hand_made(seed=4, covariance=0.0, rows=20_000)
    place = (made.pure - 0.95 * made.concepts) / 0.05
    np.testing.assert_allclose(np.corrcoef(place.T, made.concepts.T)[:5, 5:], 0, atol=0.03)


# The correlation of the signs of normal numbers is 2/pi arcsin of theirs: 0.161 for 0.25.
@pytest.mark.parametrize(("covariance", "of_signs"), [(0.0, 0.0), (0.25, 0.1609), (1.0, 1.0)])
def test_both_readings_of_the_covariance(covariance: float, of_signs: float) -> None:
    concepts = hand_made(covariance=covariance, rows=50_000).concepts
    off = np.corrcoef(concepts.T)[np.triu_indices(5, 1)]
    np.testing.assert_allclose(off, of_signs, atol=0.02)


def test_equal_seeds_equal_codes() -> None:
    first, again, other = (hand_made(seed=seed).impure for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("given", [{"rows": 0}, {"count": 0}, {"count": 21}, {"covariance": 1.5}])
def test_refused(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="found"):
        hand_made(**given)


SIZES = (3, 6, 8, 5)


def grid() -> Int64:
    return np.stack(np.unravel_index(np.arange(np.prod(SIZES)), SIZES), axis=1).astype(np.int64)


def test_without_correlations_only_every_other_value_is_kept() -> None:
    indices = grid()
    kept = indices[
        make_correlation_rule(SIZES, 0, 0).keeps(indices, np.zeros(len(indices), np.int64))
    ]
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
    rule = make_correlation_rule(SIZES, correlations, seed)
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
    fewer, more = make_correlation_rule(SIZES, 2, 7), make_correlation_rule(SIZES, 3, 7)
    for a, b in zip(fewer.allowed, more.allowed, strict=False):
        np.testing.assert_array_equal(a, b)
    other = make_correlation_rule(SIZES, 3, 8)
    assert any((a != b).any() for a, b in zip(more.allowed, other.allowed, strict=True))


@pytest.mark.parametrize("correlations", [-1, 4])
def test_as_many_correlations_as_there_are_neighbours(correlations: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 3"):
        make_correlation_rule(SIZES, correlations, 0)


def test_binary_numbers() -> None:
    one, two, three = (np.array(digits) for digits in ([0, 1, 1], [1, 0, 1], [0, 0, 1]))
    np.testing.assert_array_equal(binary(one, two, three), [2, 4, 7])


def test_validation_rows_are_a_tenth_by_the_seed() -> None:
    rows = tabular_toy(0.0).train
    train, held = validation(rows, seed=1)
    assert (len(train), len(held)) == (1_800, 200)
    together = np.concatenate([each.factors(np.arange(len(each))) for each in (train, held)])
    expected = rows.factors(np.arange(len(rows)))
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(expected, axis=0))
    np.testing.assert_array_equal(validation(rows, seed=1)[1].concepts_of, held.concepts_of)
    assert not np.array_equal(validation(rows, seed=2)[1].concepts_of, held.concepts_of)
    with pytest.raises(ValueError, match="held_out"):
        validation(rows, seed=1, share=0.0)


def test_parts_have_the_concepts_of_their_rows() -> None:
    rows = tabular_toy(0.0).train
    chosen = part(rows, np.array([5, 3]))
    np.testing.assert_array_equal(chosen.instances(np.array([1])), rows.instances(np.array([3])))
    np.testing.assert_array_equal(chosen.concepts(np.array([0, 1])), rows.concepts_of[[5, 3]])
    assert len(draw_rows(rows, 10, 0)) == 10
    np.testing.assert_array_equal(draw_rows(rows, 5_000, 0).labels_of, rows.labels_of)
