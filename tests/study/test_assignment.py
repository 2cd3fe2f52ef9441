"""Seeded orders and draws."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.study.conditions import balanced_rows, counterbalanced, generator, shuffled


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("seed", [0, 20261120])
def test_every_block_of_participants_is_balanced(n: int, seed: int) -> None:
    items = tuple("abcdef"[:n])
    rows = len(balanced_rows(n))
    assert rows == (n if n % 2 == 0 else 2 * n)
    for block in range(3):
        orders = [
            counterbalanced(items, seed, "study", block * rows + place + 1) for place in range(rows)
        ]
        assert all(sorted(order) == sorted(items) for order in orders)
        places = Counter((place, item) for order in orders for place, item in enumerate(order))
        assert set(places.values()) == {rows // n}
        follows = Counter(pair for order in orders for pair in pairwise(order))
        assert len(follows) == n * (n - 1)
        assert set(follows.values()) == {rows // n}


def test_one_condition_is_its_own_order() -> None:
    assert counterbalanced(("a",), 1, "study", 5) == ("a",)


def test_blocks_are_shuffled_apart() -> None:
    orders = [
        tuple(counterbalanced("abcd", 3, "study", n) for n in range(k, k + 4)) for k in (1, 5)
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert (
        len({tuple(counterbalanced("abcd", s, "study", n) for n in range(1, 5)) for s in range(9)})
        > 1
    )


purposes = st.lists(st.one_of(st.integers(), st.text()), max_size=4)


@given(st.integers(0, 2**63 - 1), purposes)
def test_equal_purposes_draw_equally(seed: int, purpose: list[str | int]) -> None:
    first, second = generator(seed, *purpose), generator(seed, *purpose)
    assert np.array_equal(first.integers(0, 1 << 62, 5), second.integers(0, 1 << 62, 5))
    assert shuffled(range(8), seed, *purpose) == shuffled(range(8), seed, *purpose)


@given(st.integers(0, 2**62), purposes, purposes)
def test_other_purposes_draw_otherwise(
    seed: int, one: list[str | int], other: list[str | int]
) -> None:
    if [(type(p), p) for p in one] == [(type(p), p) for p in other]:
        other = [*other, "more"]
    a, b = generator(seed, *one), generator(seed, *other)
    same = np.array_equal(a.integers(0, 1 << 62, 4), b.integers(0, 1 << 62, 4))
    # Only a NUL inside a text could make two purposes one; study ids and labels hold none.
    assert not same or any("\0" in str(p) for p in [*one, *other])


def test_a_draw_is_the_same_on_every_machine() -> None:
    assert generator(7, "P01", "stage-1", 1, "pair").integers(0, 1000, 4).tolist() == [
        239,
        203,
        4,
        612,
    ]
