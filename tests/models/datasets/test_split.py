"""Dividing rows: whole, disjoint, and the same for ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.split import ArrayRows, chunks, divide


@given(
    st.integers(2, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1))),
    st.integers(0, 2**32),
)
def test_every_row_is_on_one_side(sizes: tuple[int, int], seed: int) -> None:
    count, held_out = sizes
    train, held = divide(count, held_out, seed)
    assert len(held) == held_out
    assert sorted([*train.tolist(), *held.tolist()]) == list(range(count))
    assert (np.diff(held) > 0).all()
    assert (np.diff(train) > 0).all()


def test_the_seed_decides() -> None:
    assert np.array_equal(divide(100, 10, 3)[1], divide(100, 10, 3)[1])
    assert not np.array_equal(divide(100, 10, 3)[1], divide(100, 10, 4)[1])
    # Written down once: numpy must not change it, for models were trained on such divisions.
    assert divide(12, 4, 0)[1].tolist() == [1, 2, 3, 11]


@pytest.mark.parametrize("held_out", [-1, 0, 10, 11])
def test_nothing_on_one_side_is_refused(held_out: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 9"):
        divide(10, held_out, 0)


def test_chunks_go_through_all_rows_once() -> None:
    assert [part.tolist() for part in chunks(5, 2)] == [[0, 1], [2, 3], [4]]
    assert list(chunks(0)) == []


def test_arrays_give_rows_by_number() -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = ArrayRows(x, x.astype(np.float64)[:, :1])
    assert len(rows) == 3
    assert rows.instances(np.array([2, 0])).tolist() == [[4, 5], [0, 1]]
    assert rows.factors(np.array([1])).tolist() == [[2]]
