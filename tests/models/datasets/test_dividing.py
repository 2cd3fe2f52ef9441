"""Whatever the groups, everything is in one part, and the shares are kept as nearly as can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.datasets.folder import Shares, divide_rows

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
