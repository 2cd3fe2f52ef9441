"""The greedy alignment of codes to concepts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64
from labapp.models.metrics.ois import align, greedy
from tests.helpers.sample import examples


def noisy(seed: int, rows: int = 500) -> tuple[Float64, Float64]:
    """Three concepts and a noisy code of each."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, 3)) > 0.5).astype(float)
    return truth + 0.3 * rng.normal(size=truth.shape), truth


def test_the_greatest_area_is_matched_first() -> None:
    # Concept 0 is best told from code 1, which however tells concept 1 better still.
    areas = np.array([[0.8, 0.5], [0.9, 0.95], [0.6, 0.7]])
    assert greedy(areas).tolist() == [0, 1]
    # Greedy, not best in total: 0.95 + 0.5 is less than 0.9 + 0.94.
    assert greedy(np.array([[0.95, 0.94], [0.9, 0.5]])).tolist() == [0, 1]


def test_of_equal_areas_the_first_codes_first_concept_counts() -> None:
    assert greedy(np.full((4, 3), 0.5)).tolist() == [0, 1, 2]
    assert greedy(np.array([[0.5, 0.9], [0.9, 0.9]])).tolist() == [1, 0]


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), codes=st.integers(1, 8), concepts=st.integers(1, 8))
def test_order_of_codes_and_concepts_goes_with_the_alignment(
    seed: int, codes: int, concepts: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = max(codes, concepts)
    areas = rng.random((codes, concepts))
    found = greedy(areas)
    assert len(set(found.tolist())) == concepts
    c, k = rng.permutation(codes), rng.permutation(concepts)
    assert np.array_equal(c[greedy(areas[c][:, k])], found[k])


@pytest.mark.parametrize("as_published", [False, True])
def test_shuffled_codes_are_put_back(as_published: bool) -> None:
    codes, truth = noisy(0, rows=1500)
    rng = np.random.default_rng(1)
    among = np.hstack([codes, rng.normal(size=(len(codes), 3)), np.ones((len(codes), 1))])
    shuffle = rng.permutation(7)
    found = align(among[:, shuffle], truth, as_published=as_published)
    assert shuffle[found.order].tolist() == [0, 1, 2]
    assert found.predictability.shape == (7, 3)
    constant = int(np.flatnonzero(shuffle == 6)[0])
    assert (found.predictability[constant] == 0.5).all()
    assert found.settings["batch"] == (512 if as_published else 128)


def test_codes_of_several_numbers() -> None:
    codes, truth = noisy(2, rows=1500)
    noise = np.random.default_rng(3).normal(size=codes.shape)
    vectors = np.stack([noise, codes], axis=2)[:, [2, 0, 1]]
    assert align(vectors, truth).order.tolist() == [1, 2, 0]


def test_signs_and_copies_of_codes_move_no_concept_to_another_code() -> None:
    codes, truth = noisy(5, rows=700)
    assert align(codes * [-1, 1, -1], truth).order.tolist() == [0, 1, 2]
    copied = align(np.hstack([codes, codes]), truth).order
    assert (copied % 3).tolist() == [0, 1, 2]


def test_one_code_and_one_concept() -> None:
    codes, truth = noisy(6)
    assert align(codes[:, :1], truth[:, :1]).order.tolist() == [0]
    assert align(codes, truth[:, 1:2]).order.tolist() == [1]


def test_refusals() -> None:
    codes, truth = noisy(4)
    with pytest.raises(MetricError, match="2 codes for 3 concepts") as refused:
        align(codes[:, :2], truth)
    assert refused.value.todo
    with pytest.raises(MetricError, match="the seed is -1"):
        align(codes, truth, seed=-1)
    with pytest.raises(MetricError, match="in one row only"):
        align(codes, codes)
