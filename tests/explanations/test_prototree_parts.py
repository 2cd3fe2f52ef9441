"""The pieces of a ProtoTree, each against its definition."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from labapp.explanations.prototree import leaves
from labapp.explanations.prototree.network import ProtoTree, distances, leaf_shares
from labapp.explanations.prototree.tree import Tree, complete, prune


def grown(seed: int, inner: int) -> Tree:
    """A random tree with so many inner nodes, breadth first."""
    random = np.random.default_rng(seed)
    below: dict[int, tuple[int, int]] = {}
    open_ends, count = [0], 1
    for _ in range(inner):
        node = open_ends.pop(int(random.integers(len(open_ends))))
        below[node] = (count, count + 1)
        open_ends += [count, count + 1]
        count += 2
    children = np.full((count, 2), -1, np.int64)
    for node, two in below.items():
        children[node] = two
    return Tree(children)


@given(st.integers(0, 10**6), st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_the_ways_to_the_leaves_sum_to_one(seed: int, inner: int) -> None:
    tree = grown(seed, inner)
    absent, present = (torch.from_numpy(way).double() for way in tree.ways())
    distance = torch.from_numpy(np.random.default_rng(seed).gamma(1, 2, (5, inner))) + 1e-7
    shares = leaf_shares(distance, absent, present)
    torch.testing.assert_close(shares.sum(1), torch.ones(5, dtype=torch.float64))
    assert (shares >= 0).all()


def test_a_way_is_the_product_of_its_decisions() -> None:
    tree = complete(2)
    absent, present = (torch.from_numpy(way).double() for way in tree.ways())
    p = torch.tensor([[0.2, 0.7, 0.4]], dtype=torch.float64)
    shares = leaf_shares(-p.log(), absent, present)
    expected = [[0.8 * 0.3, 0.8 * 0.7, 0.2 * 0.6, 0.2 * 0.4]]
    torch.testing.assert_close(shares, torch.tensor(expected, dtype=torch.float64))


def test_distances_are_not_squared() -> None:
    near = distances(torch.zeros(1, 2, 1, 1), torch.tensor([[3.0, 4.0]]))
    assert near.item() == pytest.approx(5)


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_a_complete_tree_has_all_its_leaves_at_its_depth(depth: int) -> None:
    tree = complete(depth)
    absent, present = tree.ways()
    assert (len(tree.inner), len(tree.leaves)) == (2**depth - 1, 2**depth)
    assert ((absent | present).sum(1) == depth).all()
    assert tree.depth == depth
    assert tree.below(0).tolist() == list(range(2**depth))
    with pytest.raises(ValueError, match="depth"):
        complete(0)


def test_the_update_of_the_leaves_is_that_of_a_slow_reference() -> None:
    random = np.random.default_rng(4)
    scores, start = random.random((4, 3)) * 2, random.random((4, 3)) * 5
    shares = random.dirichlet(np.ones(4), 6)
    labels = random.integers(0, 3, 6)
    expected = np.maximum(scores - start / 5, 0)
    said = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    for n, label in enumerate(labels):
        predicted = sum(shares[n, j] * said[j, label] for j in range(4))
        for j in range(4):
            expected[j, label] += shares[n, j] * said[j, label] / predicted
    found = leaves.updated(
        *(torch.from_numpy(values) for values in (scores, start, shares, labels)), batches=5
    )
    np.testing.assert_allclose(found.numpy(), expected)


def test_pruning_puts_what_remains_in_the_place_of_its_parent() -> None:
    """Leaves 3 4 | 5 6 under 1 | 2: leaf 3 says nothing, so leaf 4 stands where 1 stood."""
    said = np.array([[0.5, 0.5], [0.1, 0.9], [0.9, 0.1], [0.2, 0.8]])
    found = prune(complete(2), said, 0.5)
    assert found.tree.children.tolist() == [[1, 2], [-1, -1], [3, 4], [-1, -1], [-1, -1]]
    assert found.inner.tolist() == [0, 2]
    assert found.leaves.tolist() == [1, 2, 3]


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=50, deadline=None)
def test_pruning_keeps_every_leaf_that_tells_and_its_way(seed: int, inner: int) -> None:
    tree = grown(seed, inner)
    random = np.random.default_rng(seed)
    said = random.dirichlet(np.full(4, 0.3), len(tree.leaves))
    said[random.random(len(said)) < 0.4] = 0.25
    if (said.max(1) <= 0.3).all():
        with pytest.raises(ValueError):
            prune(tree, said, 0.3)
        return
    found = prune(tree, said, 0.3)
    assert sorted(found.leaves) == np.flatnonzero(said.max(1) > 0.3).tolist()
    # Whatever is still asked on the way to a leaf was asked before, with the same answer.
    for old, new in zip(tree.ways(), found.tree.ways(), strict=True):
        assert not (new & ~old[np.ix_(found.leaves, found.inner)]).any()
    # A tree with so many leaves asks one question fewer.
    assert len(found.tree.inner) == len(found.leaves) - 1
    above = found.tree.parents
    assert (above[1:] < np.arange(1, len(above))).all()


def test_a_pruned_network_says_what_its_remaining_leaves_say() -> None:
    torch.manual_seed(5)
    network = ProtoTree(nn.Conv2d(3, 8, 4, 4), 8, complete(3), 4, 6).eval()
    network.leaf_scores.copy_(torch.rand(8, 4) * 6)
    network.leaf_scores[[1, 2, 6]] = 0
    before = network.leaf_distributions()
    found = prune(network.tree, before.numpy(), 0.3)
    network.keep(found.tree, torch.from_numpy(found.inner), torch.from_numpy(found.leaves))
    torch.testing.assert_close(network.leaf_distributions(), before[found.leaves])
    with torch.no_grad():
        said = network(torch.rand(3, 3, 16, 16))
    torch.testing.assert_close(said.sum(1), torch.ones(3))
    assert sorted(found.leaves) == [0, 3, 4, 5, 7]
