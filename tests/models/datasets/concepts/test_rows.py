"""Parts of a task's rows: some drawn by chance, and some kept for validation."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.concepts.rows import drawn, part, tabular_toy, validation


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
    assert len(drawn(rows, 10, 0)) == 10
    np.testing.assert_array_equal(drawn(rows, 5_000, 0).labels_of, rows.labels_of)
