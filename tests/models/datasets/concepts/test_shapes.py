"""3dshapes(lambda): concepts and classes by hand, sizes, and pictures that show their factors."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.concepts import shapes as module
from labapp.models.datasets.concepts.shapes import (
    CLASSES,
    COUNT,
    MOST,
    RenderedShapes,
    concepts,
    grid_factors,
    grid_indices,
    label_as_released,
    labels,
    shapes,
)  # fmt: skip


def test_the_grid_is_that_of_the_published_file() -> None:
    assert COUNT == 480_000
    rows = np.array([0, 14, 15, COUNT - 1])
    np.testing.assert_array_equal(
        grid_indices(rows)[:, 3:], [[0, 0, 0], [0, 0, 14], [0, 1, 0], [7, 3, 14]]
    )
    np.testing.assert_allclose(grid_factors(rows)[-1], [0.9, 0.9, 0.9, 1.25, 3, 30])
    np.testing.assert_allclose(grid_factors(rows)[0], [0, 0, 0, 0.75, 0, -30])


def test_concepts_and_classes_by_hand() -> None:
    indices = np.array([[4, 5, 0, 3, 1, 6], [0, 0, 9, 4, 1, 7], [9, 9, 9, 3, 2, 7]])
    c = concepts(indices)
    np.testing.assert_array_equal(c, [[1, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0]])
    np.testing.assert_array_equal(labels(c), [5, 6, 10])


# Paper 001, A.6: about 16,000. The shape's concept decides about the shape itself, which leaves
# more rows than half where the quarters and the concept agree.
@pytest.mark.parametrize("correlations", range(MOST + 1))
def test_sizes_and_classes(correlations: int) -> None:
    split = shapes(correlations)
    count = len(split.train) + len(split.test)
    if correlations < 4:
        assert count == 16_000
    else:
        assert 14_000 <= count <= 22_000
    assert set(split.train.labels_of.tolist()) == set(range(CLASSES))
    assert split.origin == "rendered"
    correlation = np.corrcoef(split.train.concepts_of.T) - np.eye(6)
    if correlations == 0:
        assert np.abs(correlation).max() < 0.04
    else:
        assert np.abs(correlation).max() > 0.1


def test_pictures_show_their_hues_and_are_drawn_alike_in_any_batch() -> None:
    # Red floor, green walls, blue sphere, seen from the front at full size.
    row = np.ravel_multi_index((0, 3, 7, 7, 2, 7), module.SIZES)
    rows = RenderedShapes(np.array([row, 0, row], dtype=np.int64))
    x = rows.instances(np.array([0, 1, 2]))
    assert x.shape == (3, 3, 64, 64)
    assert x.dtype == np.float32
    np.testing.assert_array_equal(x[0], x[2])
    np.testing.assert_array_equal(rows.instances(np.array([2])), x[2:])
    np.testing.assert_allclose(x * 255, np.rint(x * 255), atol=1e-4)
    brightest = x[0].argmax(axis=0)
    assert brightest[60, 5] == brightest[60, 58] == 0
    assert brightest[3, 5] == brightest[3, 58] == 1
    assert brightest[32, 32] == 2


def test_the_released_reading() -> None:
    split = shapes(0, reading="released")
    assert len(split.train) + len(split.test) == 16_000
    assert split.name == "3dshapes(0), released reading"
    assert set(split.train.labels_of.tolist()) == set(range(CLASSES))
    factors = split.train.factors(np.arange(len(split.train)))
    assert [len(np.unique(column)) for column in factors.T] == [5, 5, 5, 8, 4, 4]
    c = np.array([[1, 0, 1, 1, 0, 1], [0, 1, 1, 0, 1, 1]])
    np.testing.assert_array_equal(label_as_released(c), [2, 4 + 5])
    # Every concept decides about the factor after it.
    every = [shapes(MOST, seed=seed, reading="released").train.concepts_of for seed in range(3)]
    found = np.mean([np.abs(np.diag(np.corrcoef(of.T), 1)) for of in every], axis=0)
    # 5/7 less 2/7 of hues, 4/6 less 2/6 of scales, 2/3 less 1/3 of shapes, 7/9 less 1/9 of
    # orientations: before chance in which values are drawn.
    np.testing.assert_allclose(found, [0.43, 0.43, 0.33, 0.33, 0.67], atol=0.12)
    with pytest.raises(ValueError, match="text or released"):
        shapes(0, reading="other")  # type: ignore[arg-type]


def test_a_wrong_number_of_correlations() -> None:
    with pytest.raises(ValueError, match="between 0 and 5"):
        shapes(6)


def test_nobody_has_to_tell_green_from_blue_or_half_a_view() -> None:
    """Clear rows are far from where a concept ends, on both sides of it."""
    split = shapes()
    rows = np.arange(len(split.test))
    factors, concepts = split.test.factors(rows), split.test.concepts(rows)
    clear = split.clear(factors)
    assert 0.1 < clear.mean() < 0.5
    far = factors[clear]
    for hue in range(3):
        assert not np.any(np.isclose(far[:, hue], 0.4) | np.isclose(far[:, hue], 0.5))
    assert np.abs(far[:, 3] - 1).min() > 0.1
    assert np.abs(far[:, 5]).min() > 10
    assert np.all(concepts[clear].min(axis=0) == 0)
    assert np.all(concepts[clear].max(axis=0) == 1)
