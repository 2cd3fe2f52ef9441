"""The initial tree: like the key in a field guide, genus first, then the marks of the species.

In a soft tree that starts at random, the last two steps seldom decide between sister species, and
often between the same four species of four genera. So the tree is initialised with a hard decision
tree on the distances of pictures to patches that the plain classifier relies on. Training changes
it from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import Float64, Int64

PURE = 0.9
"""Share of one genus among a node's pictures from which on the questions are about species."""
THRESHOLDS = np.linspace(0.04, 0.96, 47)
"""Quantiles of the distances at which a question may divide the pictures."""
LAST = 2
"""Number of last steps that decide between species."""


@dataclass(frozen=True, slots=True)
class DecisionKey:
    """Of a complete tree: `candidates` (inner,) asked at each inner node, and the distance below
    which it divides, `thresholds` (inner,), NaN where nothing is asked; `counts` (leaves, classes)
    of pictures that end at a leaf; `telling` (leaves,), false where no way leads."""

    candidates: Int64
    thresholds: Float64
    counts: Float64
    telling: NDArray[np.bool_]


def key(distances: Float64, species: Int64, genus: Int64, depth: int) -> DecisionKey:
    """A decision tree in at most `depth` questions, the last two between species.

    Parameters
    ----------
    distances : smallest distance of each picture to each candidate, (n, candidates).
    species, genus : of each picture, from 0, (n,).
    depth : 2 or more.
    """
    inner, classes = 2**depth - 1, int(species.max()) + 1
    result = DecisionKey(
        np.zeros(inner, np.int64),
        np.full(inner, np.nan),
        np.zeros((inner + 1, classes)),
        np.ones(inner + 1, bool),
    )

    def grow(node: int, level: int, rows: Int64) -> None:
        if level == depth:
            np.add.at(result.counts[node - inner], species[rows], 1)
            return
        between_species = level >= depth - LAST
        # Where there is no picture, there is one genus at most.
        pure = not len(rows) or np.bincount(genus[rows]).max() / len(rows) >= PURE
        if pure and not between_species:
            count = 2 ** (depth - level - 1)
            first = (2 * node + 2) * count - 1 - inner  # of the leaves below the first child
            result.telling[first : first + count] = False
            grow(2 * node + 2, level + 1, rows)
            return
        labels = (species if between_species else genus)[rows]
        candidate, threshold = _question(distances[rows], labels)
        result.candidates[node], result.thresholds[node] = candidate, threshold
        near = distances[rows, candidate] < threshold
        grow(2 * node + 1, level + 1, rows[~near])
        grow(2 * node + 2, level + 1, rows[near])

    grow(0, 0, np.arange(len(species)))
    return result


def _question(distances: Float64, labels: Int64) -> tuple[int, float]:
    """The candidate and distance that leave the least entropy of the labels on both sides."""
    if len(labels) < 2:
        return 0, np.inf
    limits = np.quantile(distances, THRESHOLDS, axis=0)  # (thresholds, candidates)
    near = (distances[None] < limits[:, None]).astype(float)  # (thresholds, n, candidates)
    each = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("tnc,nk->tck", near, each, optimize=True)
    outside = each.sum(0) - inside
    left = _entropy(inside) + _entropy(outside)
    threshold, candidate = np.unravel_index(int(left.argmin()), left.shape)
    return int(candidate), float(limits[threshold, candidate])


def _entropy(counts: Float64) -> Float64:
    """Entropy of labels times how many they are, over the last axis of counts."""
    total = counts.sum(-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(counts * logs).sum(-1))
