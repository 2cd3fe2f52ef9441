"""The card's numbers on made-up answers, and where made-up peaks point."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.birds import (
    GENERA,
    SITES,
    BirdRows,
    BodyPart,
    FieldMark,
    deciding_visibility,
    mark_places,
    part_map,
)
from labapp.models.explanations import evaluation
from labapp.models.explanations.package import VISIBLE
from labapp.models.explanations.photos import Photos

ROWS = BirdRows("test", 6, seed=4, size=48)


def photos() -> Photos[BirdRows]:
    """All 120 rows, without pictures."""
    return Photos(ROWS, np.zeros((120, 3, 1, 1), np.uint8), ROWS.labels(np.arange(120)))


def test_the_numbers_are_those_counted_by_hand() -> None:
    some = photos()
    predicted = some.species.copy()
    inside = np.arange(0, 120, 4)  # the first sister of each genus, taken for the second
    predicted[inside] += 1
    predicted[3] = 19  # across genera
    found = evaluation.bird_test(some, predicted)
    assert found.errors == 31
    assert found.accuracy == pytest.approx(89 / 120, abs=1e-4)
    assert found.genus_accuracy == pytest.approx(119 / 120, abs=1e-4)
    assert found.usable == 30
    assert found.inside_genus == pytest.approx(30 / 31, abs=1e-4)
    assert found.recall[0] == 0
    assert found.recall[3] == pytest.approx(5 / 6, abs=1e-4)
    assert found.recall[1] == 1
    assert found.hits == [100 - 26, 20 - 5]
    seen = [deciding_visibility(ROWS.bird(int(row))) >= VISIBLE for row in inside]
    assert found.decidable == pytest.approx(np.mean(seen), abs=1e-4)


def test_a_classifier_without_errors_has_nothing_usable() -> None:
    found = evaluation.bird_test(photos(), photos().species)
    assert (found.accuracy, found.errors, found.usable, found.decidable) == (1, 0, 0, 0)


def middle(there: np.ndarray) -> tuple[float, float]:
    """A pixel that is there, about in the middle of all."""
    at = np.argwhere(there)
    y, x = at[np.abs(at - at.mean(0)).sum(1).argmin()]
    return float(y), float(x)


def test_peaks_on_marks_point_and_those_in_a_corner_do_not() -> None:
    birds = [ROWS.bird(row) for row in range(40)]
    on_mark = [middle(mark_places(bird, 96)[GENERA[bird.genus].deciding[0]]) for bird in birds]
    found = evaluation.pointing(np.array(on_mark, np.float32), birds, 96)
    assert found.on_mark == 1
    assert found.pictures == 40
    assert 0.03 < found.by_chance < 0.3
    corner = evaluation.pointing(np.full((40, 2), 95, np.float32), birds, 96)
    assert corner.on_mark == 0
    assert corner.on_bird == 0
    bodies = [middle(part_map(bird, 96) == BodyPart.BODY) for bird in birds]
    assert evaluation.pointing(np.array(bodies, np.float32), birds, 96).on_bird == 1


def test_marks_that_are_seen_lie_in_their_places() -> None:
    for bird in (ROWS.bird(row) for row in range(20)):
        parts, places = part_map(bird, 96), mark_places(bird, 96)
        assert places.shape == (6, 96, 96)
        for mark in FieldMark:
            assert places[mark].any(), "the place of an absent mark is known too"
            assert not ((parts == SITES[mark]) & ~places[mark]).any()


def test_peaks_are_where_positions_look() -> None:
    maps = np.zeros((2, 12, 12), np.float32)
    maps[0, 3, 11] = maps[1, 0, 5] = 1
    assert evaluation.peaks(maps, 8).tolist() == [[24, 88], [0, 40]]


def test_sisters_with_the_same_map_agree_wholly() -> None:
    random = np.random.default_rng(0)
    maps = random.random((3, 20, 4, 4), dtype=np.float32)
    species = np.array([0, 6, 19])
    assert abs(evaluation.sisters(maps, species)) < 0.5
    maps[:] = maps[:, :1]
    assert evaluation.sisters(maps, species) == pytest.approx(1)
    maps[0, :4] = 0
    assert evaluation.sisters(maps, species) == pytest.approx(2 / 3, abs=1e-4)


def test_classes_without_genera_are_counted_by_hand() -> None:
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    predicted = np.array([0, 0, 0, 1, 1, 1, 0, 0])
    found = evaluation.class_test(labels, predicted, ("a", "b", "c"))
    assert found.confusion == [[3, 1, 0], [1, 2, 0], [1, 0, 0]]
    assert (found.pictures, found.errors, found.hits) == (8, 3, [5])
    assert found.accuracy == 0.625
    a, b, c = found.classes.values()
    assert (a.precision, a.recall, a.support) == (0.6, 0.75, 4)
    assert a.f1 == pytest.approx(2 * 0.6 * 0.75 / 1.35, abs=1e-4)
    assert (b.precision, b.recall, b.support) == (0.6667, 0.6667, 3)
    assert (c.precision, c.recall, c.f1, c.support) == (0, 0, 0, 1), "never named: no division"
    assert found.average.recall == found.accuracy
    assert found.average.precision == pytest.approx((4 * 0.6 + 3 * 2 / 3) / 8, abs=1e-4)
    assert found.average.support == 8
