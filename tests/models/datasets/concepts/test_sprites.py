"""dSprites(lambda), TabularToy and marked birds: concepts and classes by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import DatasetError
from labapp.models.datasets import dsprites
from labapp.models.datasets.concepts.rows import ConceptRows, ConceptSplit, inputs, tabular_toy
from labapp.models.datasets.concepts.sprites import (
    CLASSES,
    MOST,
    concepts,
    corrupt_backgrounds,
    four_labels,
    four_sprites,
    label_as_released,
    labels,
    sprites,
    spurious,
)
from labapp.models.datasets.split import Float64
from tests.helpers.sample import EVERYTHING


@pytest.fixture(scope="module")
def plain() -> ConceptSplit:
    return sprites(0)


def test_concepts_and_classes_by_hand() -> None:
    indices = np.array([[0, 0, 0, 0, 0], [1, 2, 19, 15, 15], [1, 3, 20, 16, 16], [2, 5, 39, 31, 0]])
    c = concepts(indices)
    np.testing.assert_array_equal(c, [[1] * 5, [1] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]])
    np.testing.assert_array_equal(labels(c), [3, 3, 0, 5])
    # Square, large, turned, left: [c2 c4] = [0 1]; heart, turned little, bottom: 4 + [1 0].
    np.testing.assert_array_equal(labels(np.array([[1, 0, 0, 1, 0], [0, 1, 1, 1, 0]])), [1, 6])


@pytest.mark.parametrize("correlations", range(MOST + 1))
def test_every_task_is_as_large_and_has_all_classes(correlations: int) -> None:
    split = sprites(correlations)
    assert (len(split.train), len(split.test)) == (36_864, 9_216)
    assert set(split.test.labels_of.tolist()) == set(range(CLASSES))
    assert split.origin == "rendered"
    assert split.name == f"dSprites({correlations})"
    correlation = np.corrcoef(split.train.concepts_of.T) - np.eye(5)
    neighbours = np.abs(np.diag(correlation, 1))
    if correlations == 0:
        assert np.abs(correlation).max() < 0.03
    else:  # c1 decides for every factor, and so each depends on it
        assert np.abs(correlation[0, 1 : 1 + correlations]).min() > 0.05
        assert neighbours[0] > 0.2


def test_rows_show_what_they_say(plain: ConceptSplit) -> None:
    rows = np.array([0, 40, 9_215])
    factors = plain.test.factors(rows)
    np.testing.assert_array_equal(plain.test.instances(rows), dsprites.pictures(factors))
    np.testing.assert_array_equal(plain.test.concepts(rows)[:, 0], factors[:, 0] < 2.5)
    np.testing.assert_array_equal(plain.test.concepts(rows)[:, 3], factors[:, 3] < 15.5 / 31)


def test_no_row_is_in_both_parts_and_a_seed_divides_alike(plain: ConceptSplit) -> None:
    def kinds(split: ConceptSplit) -> list[set[tuple[float, ...]]]:
        parts = (split.train, split.test)
        return [{tuple(f) for f in p.factors(np.arange(len(p))).tolist()} for p in parts]

    train, test = kinds(plain)
    assert not train & test
    assert kinds(sprites(0)) == [train, test]
    assert kinds(sprites(0, seed=1))[1] != test


def test_a_spurious_background_is_a_tenth_of_the_label_on_three_quarters(
    plain: ConceptSplit,
) -> None:
    changed = spurious(plain)
    step, near = (9, 0.03) if EVERYTHING else (31, 0.05)
    rows = np.arange(0, 36_864, step)
    before, after = plain.train.instances(rows), changed.train.instances(rows)
    label = changed.train.labels(rows)
    background = after.min(axis=(1, 2))
    seen = background > 0
    np.testing.assert_allclose(background[seen], 0.1 * label[seen], rtol=1e-6)
    # Label 0 has a black background either way.
    assert seen[label > 0].mean() == pytest.approx(0.75, abs=near)
    np.testing.assert_array_equal(after == 1, before == 1)
    np.testing.assert_array_equal(after[~seen], before[~seen])
    assert changed.test is plain.test
    np.testing.assert_array_equal(changed.train.concepts_of, plain.train.concepts_of)


def test_the_released_reading() -> None:
    split = sprites(0, reading="released")
    assert (len(split.train), len(split.test)) == (18_432, 4_608)
    assert split.name == "dSprites(0), released reading"
    # Square, large, turned by less than half: [c2 c3] = [0 1]; heart at x 15: 4 + [0 1].
    indices = np.array([[0, 3, 0, 20, 20], [2, 0, 0, 15, 0], [2, 0, 0, 14, 0]])
    np.testing.assert_array_equal(label_as_released(indices), [1, 5, 7])
    np.testing.assert_array_equal(concepts(indices)[:, 3], [0, 1, 1])
    # Every fourth of 40 rotations.
    turned = split.train.factors(np.arange(len(split.train)))[:, 2]
    assert len(np.unique(turned)) == 10
    with pytest.raises(ValueError, match="text or released"):
        sprites(0, reading="other")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="between 0 and 4"):
        sprites(5, reading="released")


def test_neighbours_depend_on_each_other_as_in_the_released_code() -> None:
    found = np.mean([neighbours(sprites(MOST, seed=s, reading="released")) for s in range(3)], 0)
    # Of 16 positions from the lower 20, 0.8 are below 16, of those from the upper 20, 0.2.
    np.testing.assert_allclose(found, [0.32, 0.33, 0.60, 0.60], atol=0.06)
    by_text = np.mean([neighbours(sprites(MOST, seed=s)) for s in range(3)], 0)
    np.testing.assert_allclose(by_text, [0.32, 0.16, 0.07, 0.09], atol=0.06)
    # Of hearts, as of the others, all sizes are there: the slip of the released code is not.
    split = sprites(MOST, reading="released")
    factors = split.train.factors(np.arange(len(split.train)))
    assert len(np.unique(factors[factors[:, 0] == factors[:, 0].max(), 1])) == 3
    assert set(split.test.labels_of.tolist()) == set(range(CLASSES))


def neighbours(split: ConceptSplit) -> list[float]:
    return np.abs(np.diag(np.corrcoef(split.train.concepts_of.T), 1)).tolist()


def test_a_corrupted_test_part_is_as_a_corrupted_training_part(plain: ConceptSplit) -> None:
    changed = corrupt_backgrounds(plain.test, seed=3)
    rows = np.arange(0, len(changed), 5)
    background = changed.instances(rows).min(axis=(1, 2))
    label = changed.labels(rows)
    np.testing.assert_allclose(background[background > 0], 0.1 * label[background > 0], rtol=1e-6)
    assert (background > 0)[label > 0].mean() == pytest.approx(0.75, abs=0.04)


def test_four_concepts_leave_rotation_out_and_let_it_vary() -> None:
    split = four_sprites()
    assert split.concept_names == ("small", "left", "top", "square or ellipse")
    assert (len(split.train), len(split.test), split.classes) == (18_432, 4_608, 8)
    factors = split.test.factors(np.arange(len(split.test)))
    assert len(np.unique(factors[:, 2])) == 10
    shape, scale, _, x, y = factors.T
    seen = np.stack([scale < 0.75, x < 0.5, y < 0.5, shape < 2.5], axis=1)
    np.testing.assert_array_equal(split.test.concepts_of, seen)
    # A small ellipse on the right: [1 0]; a heart on the left below: 4 + [1 0].
    concepts_of = np.array([[1, 0, 1, 1], [0, 1, 0, 0]])
    np.testing.assert_array_equal(four_labels(concepts_of), [2, 6])
    assert set(split.test.labels_of.tolist()) == set(range(8))


def test_wrong_requests(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="between 0 and 4"):
        sprites(5)
    with pytest.raises(DatasetError, match="There is no"):
        sprites(0, official=tmp_path / dsprites.OFFICIAL)


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
