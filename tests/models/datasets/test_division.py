"""Dividing rows, and averaging areas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.folder import Shares, divide_rows
from labapp.models.datasets.painter import average_blocks
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


HERE = Path("pictures")


@given(
    st.lists(st.integers(3, 40), min_size=2, max_size=4),
    st.floats(0.05, 0.45),
    st.floats(0.05, 0.45),
    st.integers(0, 1000),
)
def test_single_pictures_are_divided_to_the_picture(
    counts: list[int], validation: float, test: float, seed: int
) -> None:
    labels = [k for k, count in enumerate(counts) for _ in range(count)]
    groups = [str(row) for row in range(len(labels))]
    names = [f"class {k}" for k in range(len(counts))]
    parts = divide_rows(labels, groups, names, Shares(validation, test), seed, HERE)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(labels)))
    for share, rows in zip((validation, test), parts[1:], strict=True):
        held = np.bincount(np.array(labels)[rows], minlength=len(counts))
        assert (held >= 1).all()
        assert (np.abs(held - share * np.array(counts)) <= 1).all()


@given(st.integers(15, 60), st.integers(0, 1000))
def test_groups_stay_together_and_shares_nearly_hold(persons: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    labels, groups = [], []
    for person in range(persons):
        for label in (0, 1):
            take = int(random.integers(1, 4))
            labels += [label] * take
            groups += [str(person)] * take
    parts = divide_rows(labels, groups, ("a", "b"), Shares(0.2, 0.25), seed, HERE)
    of = [{groups[row] for row in rows} for rows in parts]
    assert not of[0] & of[1] | of[0] & of[2] | of[1] & of[2]
    assert set.union(*of) == set(groups)
    whole = np.bincount(labels)
    for share, rows in zip((0.2, 0.25), parts[1:], strict=True):
        held = np.bincount(np.array(labels)[rows], minlength=2)
        assert (np.abs(held - share * whole) <= 4).all()
    again = divide_rows(labels, groups, ("a", "b"), Shares(0.2, 0.25), seed, HERE)
    assert all((one == other).all() for one, other in zip(parts, again, strict=True))


def test_two_pixels_become_one_and_three_become_two() -> None:
    halves = np.array([[[[0, 100], [20, 200]]]], np.uint8)
    assert average_blocks(halves, 1).tolist() == [[[[80]]]]
    # Each of two covers one and a half of three: (a + b / 2) / 1.5.
    row = np.broadcast_to(np.array([30, 60, 90], np.uint8), (1, 1, 3, 3))
    assert average_blocks(row, 2)[0, 0].tolist() == [[40, 80], [40, 80]]


@given(st.integers(1, 24), st.integers(0, 23), st.integers(0, 10**6))
def test_the_mean_stays_and_nothing_leaves_its_range(side: int, less: int, seed: int) -> None:
    size = max(side - less, 1)
    picture = np.random.default_rng(seed).integers(0, 256, (2, 3, side, side), np.uint8)
    made = average_blocks(picture, size)
    assert made.shape == (2, 3, size, size)
    assert made.min() >= picture.min()
    assert made.max() <= picture.max()
    assert np.abs(made.mean((2, 3)) - picture.mean((2, 3))).max() <= 0.5 + 1e-9
    if size == side:
        np.testing.assert_array_equal(made, picture)


@pytest.mark.parametrize("size", [0, 9])
def test_more_pixels_than_there_are_cannot_be_made(size: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 8"):
        average_blocks(np.zeros((1, 1, 8, 8), np.uint8), size)
