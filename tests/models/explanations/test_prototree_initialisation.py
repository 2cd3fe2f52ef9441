"""The key that a tree begins as."""

import numpy as np

from labapp.models.explanations.prototree import initial_key

GENUS = np.repeat([0, 1, 2], 4)
"""Of twelve species."""


def near(bits: list[np.ndarray], noise: float = 0.0) -> np.ndarray:
    """Distances to a patch for each of these properties: near where it is there."""
    random = np.random.default_rng(0)
    there = np.stack(bits, 1)
    return np.where(there, 0.2, 1.0) + noise * random.random(there.shape)


def test_genera_are_asked_for_first_and_then_both_marks() -> None:
    species = np.tile(np.arange(12), 10)
    genus = GENUS[species]
    sister = species % 4
    properties = [genus == 0, genus == 1, genus == 2, sister >= 2, sister % 2 == 1]
    found = initial_key(near(properties, 0.1), species, genus, 5)
    assert found.candidates[0] < 3
    # Every leaf is one species', but for the few that stand between two quantiles.
    ends = found.counts[found.telling]
    assert (ends.max(1) >= 0.8 * ends.sum(1)).all()
    assert found.counts.sum() == len(species)
    assert found.telling.sum() == 12
    # Four leaves side by side are four sisters.
    four = found.counts.reshape(-1, 4, 12)[found.telling.reshape(-1, 4).all(1)]
    assert len(four) == 3
    for leaves in four:
        assert set(GENUS[leaves.argmax(1)]) == {GENUS[leaves[0].argmax()]}
        assert len(set(leaves.argmax(1))) == 4


def test_a_question_is_the_one_that_divides_best() -> None:
    species = np.tile(np.arange(4), 25)
    random = np.random.default_rng(1)
    distances = random.random((100, 6))
    distances[:, 4] = np.where(species >= 2, 0.3, 0.9) + 0.01 * random.random(100)
    distances[:, 2] = np.where(species % 2 == 0, 0.1, 0.5) + 0.01 * random.random(100)
    found = initial_key(distances, species, np.zeros(100, int), 2)
    assert {int(found.candidates[0]), int(found.candidates[1])} == {2, 4}
    assert found.candidates[1] == found.candidates[2]
    assert 0.1 < found.thresholds[0] < 0.95
    assert sorted(found.counts.argmax(1)) == [0, 1, 2, 3]
    assert (found.counts.max(1) >= 23).all()


def test_where_no_picture_comes_nothing_breaks() -> None:
    found = initial_key(np.ones((6, 2)), np.array([0, 0, 0, 1, 1, 1]), np.zeros(6, int), 4)
    assert found.counts.sum() == 6
    assert np.isfinite(found.counts).all()
