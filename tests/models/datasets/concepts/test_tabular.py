"""TabularToy: its formula by hand, its concepts and its correlations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labapp.models.datasets.concepts.rows import ConceptRows, inputs, tabular_toy
from labapp.models.datasets.split import Float64


def factors(rows: ConceptRows) -> Float64:
    return rows.factors(np.arange(len(rows)))


def test_inputs_by_hand() -> None:
    found = inputs(np.array([[0.0, math.pi / 2, -1.0]]))
    expected = [
        0.0, 1.0, 1.0 + math.pi / 2, math.pi / 2,
        math.sin(-1.0) - 1.0, math.cos(-1.0) - 1.0, math.pi**2 / 4 + 1.0,
    ]  # fmt: skip
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], expected, atol=1e-6)


def test_concepts_are_signs_and_the_task_their_majority() -> None:
    split = tabular_toy(0.0)
    assert (len(split.train), len(split.test)) == (2_000, 1_000)
    for part in (split.train, split.test):
        rows = np.arange(len(part))
        np.testing.assert_array_equal(part.concepts(rows), factors(part) > 0)
        np.testing.assert_array_equal(part.labels(rows), (factors(part) > 0).sum(axis=1) > 1)
        np.testing.assert_array_equal(part.instances(rows), inputs(factors(part)))


@pytest.mark.parametrize("delta", [0.0, 0.25, 0.75, 1.0])
def test_latents_are_normal_and_correlate_with_delta(delta: float) -> None:
    z = factors(tabular_toy(delta, train=40_000, test=1).train)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(np.cov(z.T), delta + (1 - delta) * np.eye(3), atol=0.03)
    # A fourth moment of 3: normal, not merely scaled.
    np.testing.assert_allclose((z**4).mean(axis=0), 3, atol=0.2)


def test_equal_seeds_equal_rows() -> None:
    first, again, other = (factors(tabular_toy(0.5, seed=seed).test) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan])
def test_no_other_correlation(delta: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        tabular_toy(delta)


def test_no_empty_part() -> None:
    with pytest.raises(ValueError, match="need a row"):
        tabular_toy(0.0, train=0)
