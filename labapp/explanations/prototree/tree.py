"""The shape of a decision tree, without its weights: children of nodes, and paths to leaves.

Inner nodes ask for a prototype; "absent" goes to the first child, "present" to the second. Nodes
are numbered from the root, parents before children.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Children of each node, int64, shape (nodes, 2): absent, present; -1 twice at a leaf.

    Inner nodes and leaves are besides numbered among themselves, in the order of the nodes:
    prototype i belongs to the i-th inner node, distribution j to the j-th leaf.
    """

    children: Int64

    @property
    def inner(self) -> Int64:
        """Nodes that ask, ascending."""
        return np.flatnonzero(self.children[:, 0] >= 0)

    @property
    def leaves(self) -> Int64:
        """Nodes that answer, ascending."""
        return np.flatnonzero(self.children[:, 0] < 0)

    @property
    def parents(self) -> Int64:
        """The node above each, -1 at the root."""
        above = np.full(len(self.children), -1, np.int64)
        for node in self.inner:
            above[self.children[node]] = node
        return above

    @property
    def depth(self) -> int:
        """Questions on the longest way to a leaf."""
        absent, present = self.ways()
        return int((absent | present).sum(1).max())

    def ways(self) -> tuple[Bool, Bool]:
        """For each leaf the inner nodes passed as absent and as present: each (leaves, inner)."""
        above, number = self.parents, {int(node): i for i, node in enumerate(self.inner)}
        ways = np.zeros((2, len(self.leaves), len(number)), bool)
        for j, leaf in enumerate(self.leaves):
            node = int(leaf)
            while above[node] >= 0:
                parent = int(above[node])
                ways[int(self.children[parent, 1] == node), j, number[parent]] = True
                node = parent
        return ways[0], ways[1]

    def below(self, node: int) -> Int64:
        """Leaves under a node (itself, if it is one), as numbers among the leaves, ascending."""
        number = {int(leaf): j for j, leaf in enumerate(self.leaves)}
        leaves, ahead = [], [int(node)]
        while ahead:
            at = ahead.pop()
            if at in number:
                leaves.append(number[at])
            else:
                ahead += [int(child) for child in self.children[at]]
        return np.sort(np.array(leaves, np.int64))


def complete(depth: int) -> DecisionTree:
    """The tree in which every way has `depth` questions. ValueError: not at least one."""
    if depth < 1:
        raise ValueError(f"depth must be at least 1, found {depth}")
    inner = 2**depth - 1
    children = np.full((2 * inner + 1, 2), -1, np.int64)
    children[:inner] = 2 * np.arange(inner)[:, None] + (1, 2)
    return DecisionTree(children)


@dataclass(frozen=True, slots=True)
class PrunedTree:
    """A smaller tree, and which inner nodes and leaves of the old one are in it, in its order."""

    tree: DecisionTree
    inner: Int64
    leaves: Int64


def prune(tree: DecisionTree, distributions: NDArray[np.floating], threshold: float) -> PrunedTree:
    """Remove every subtree none of whose leaves says a class with more than `threshold`.

    What remains of a node that loses one child takes the node's place. After Nauta et al. 2021,
    section 3.4. distributions : (leaves, classes).

    Raises ValueError where nothing would remain.
    """
    telling = distributions.max(1) > threshold
    if not telling.any():
        raise ValueError(f"no leaf says a class with more than {threshold}")

    def kept(node: int) -> int:
        """What stands in the place of a node, -1 if nothing does."""
        if tree.children[node, 0] < 0:
            return node if telling[np.searchsorted(tree.leaves, node)] else -1
        absent, present = (kept(int(child)) for child in tree.children[node])
        if absent >= 0 and present >= 0:
            replaced[node] = (absent, present)
            return node
        return max(absent, present)

    replaced: dict[int, tuple[int, int]] = {}
    order = [kept(0)]
    children: list[tuple[int, int]] = []
    for node in order:  # grows while it is gone through: breadth first
        if node in replaced:
            children.append((len(order), len(order) + 1))
            order += replaced[node]
        else:
            children.append((-1, -1))
    smaller = DecisionTree(np.array(children, np.int64))
    old = np.array(order)
    return PrunedTree(
        smaller,
        np.searchsorted(tree.inner, old[smaller.inner]),
        np.searchsorted(tree.leaves, old[smaller.leaves]),
    )
