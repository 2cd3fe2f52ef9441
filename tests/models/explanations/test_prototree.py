"""The pieces of a ProtoTree, each against its definition."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import ModelError
from labapp.models.explanations import prototree
from labapp.models.explanations.prototree import (
    DecisionTree,
    ProtoTree,
    complete,
    distances,
    greedy,
    leaf_shares,
    prune,
)
from tests.helpers.sample import examples


def grown(seed: int, inner: int) -> DecisionTree:
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
    return DecisionTree(children)


@given(st.integers(0, 10**6), st.integers(1, 40))
@examples(50)
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
    found = prototree.update_leaves(
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
@examples(50)
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


def pruned_network() -> ProtoTree:
    """Depth 3; leaves 1, 2 and 6 of 8 say nothing and are gone."""
    torch.manual_seed(5)
    network = ProtoTree(3, 4, 6).eval()
    network.leaf_scores.copy_(torch.rand(8, 4) * 6)
    network.leaf_scores[[1, 2, 6]] = 0
    network.prune(0.3)
    return network


def test_a_pruned_network_still_shares_everything_among_its_leaves() -> None:
    network = pruned_network()
    left = network.make_pruned()
    assert sorted(left.leaves) == [0, 3, 4, 5, 7]
    with torch.no_grad():
        shares = network.shares(network.nearest(torch.rand(3, 3, 48, 48)))
    assert (shares[:, [1, 2, 6]] == 0).all()
    torch.testing.assert_close(shares.sum(1), torch.ones(3, dtype=torch.float64))


def test_a_pruned_network_comes_back_from_its_weights() -> None:
    network = pruned_network()
    again = ProtoTree(3, 4, 6).eval()
    again.load_state_dict(network.state_dict())
    pictures = torch.rand(4, 3, 48, 48)
    assert (
        again.make_pruned().tree.children.tolist() == network.make_pruned().tree.children.tolist()
    )
    with torch.no_grad():
        assert torch.equal(again(pictures), network(pictures))


@given(st.integers(0, 10**6))
@examples(40)
def test_the_greedy_leaf_is_where_a_walk_from_the_root_ends(seed: int) -> None:
    network = pruned_network()
    left = network.make_pruned()
    distance = torch.from_numpy(np.random.default_rng(seed).exponential(1, (6, 7)))
    found = greedy(distance, network.absent, network.present, network.telling)
    for near, leaf in zip(distance[:, left.inner].exp().reciprocal().numpy(), found, strict=True):
        node = 0
        while left.tree.children[node, 0] >= 0:
            question = left.tree.inner.tolist().index(node)
            node = left.tree.children[node, int(near[question] > 0.5)]
        assert left.leaves[left.tree.leaves.tolist().index(node)] == leaf


def test_a_tree_that_says_nothing_is_not_pruned_to_nothing() -> None:
    network = ProtoTree(3, 4, 6)
    with pytest.raises(ModelError, match="no tree remains"):
        network.prune(0.3)
    assert network.telling.all()
