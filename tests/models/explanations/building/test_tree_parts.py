"""Where a way through a tree goes wrong, against going through all ways; and the tree's picture."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from labapp.models.explanations.building import prototypes
from labapp.models.explanations.building.prototypes import first_wrong
from labapp.models.explanations.prototree import TreeExplanation, complete
from tests.helpers.sample import examples

DEPTH = 3
TREE = complete(DEPTH)


def explanation(probabilities: list[float], leaf_species: list[int]) -> TreeExplanation:
    """One picture in a complete tree of three questions a way."""
    p = np.array([probabilities])
    node = 0
    while TREE.children[node, 0] >= 0:
        node = int(TREE.children[node, int(p[0, node] > 0.5)])
    leaf = int(np.searchsorted(TREE.leaves, node))
    return TreeExplanation(
        tree=TREE,
        distributions=np.eye(20, dtype=np.float32)[leaf_species],
        probabilities=p,
        cells=np.zeros((1, 7, 2), np.int64),
        leaf=np.array([leaf]),
        soft=np.zeros((1, 20)),
        share_error=0.0,
        shape=(12, 12),
    )


def lost_at(probabilities: list[float], leaf_species: list[int], truth: int) -> int | None:
    """The same by going through all answers that could still follow."""
    answers = []
    node = 0
    for _ in range(DEPTH):
        answers.append(int(probabilities[node] > 0.5))
        node = int(TREE.children[node, answers[-1]])
    for step in range(1, DEPTH + 1):
        reached = set()
        for rest in product((0, 1), repeat=DEPTH - step):
            leaf = int("".join(map(str, [*answers[:step], *rest])), 2)
            reached.add(leaf_species[leaf])
        if truth not in reached:
            return step
    return None


@examples(80)
@given(
    st.lists(st.floats(0.01, 0.99), min_size=7, max_size=7),
    st.lists(st.integers(0, 5), min_size=8, max_size=8),
    st.integers(0, 5),
)
def test_the_first_wrong_step_is_the_first_without_return(
    probabilities: list[float], leaf_species: list[int], truth: int
) -> None:
    found = first_wrong(explanation(probabilities, leaf_species), 0, truth)
    assert found == lost_at(probabilities, leaf_species, truth)


def test_a_way_to_the_true_species_has_no_wrong_step() -> None:
    found = explanation([0.9] * 7, list(range(8)))
    assert first_wrong(found, 0, 7) is None
    assert [first_wrong(found, 0, truth) for truth in (6, 5, 4, 3, 0)] == [3, 2, 2, 1, 1]


def test_a_tree_is_drawn_whole() -> None:
    colours = ["red", "lime", "blue", "cyan", "magenta", "yellow", "black"]
    crops = {
        node: Image.new("RGB", (30, 20), colour)
        for node, colour in zip(TREE.inner.tolist(), colours, strict=True)
    }
    picture = Image.open(io.BytesIO(prototypes.draw_tree(TREE, crops, list(range(8)))))
    assert picture.width == pytest.approx(DEPTH * prototypes.COLUMN + 120, abs=40)
    assert picture.height == pytest.approx(8 * prototypes.ROW + 60, abs=40)
    seen = {colour for _, colour in picture.convert("RGB").getcolors(100_000)}  # type: ignore[union-attr]
    for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 255, 255), (255, 0, 255)):
        assert colour in seen
