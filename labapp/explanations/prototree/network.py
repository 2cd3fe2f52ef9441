"""A soft decision tree over prototypes: every leaf is reached, some more probably than others.

After Nauta et al. 2021, "Neural prototype trees for interpretable fine-grained image recognition",
section 3: the probability that a prototype is present is exp(-d), d its L2 distance (not squared)
to the nearest patch; a leaf's share is the product along its way, and the prediction the mean of
the leaves' class distributions weighted with their shares.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from labapp.errors import ModelError
from labapp.explanations.backbones import CHANNELS, ResidualBackbone
from labapp.explanations.patches import PrototypeNetwork, squared_distances
from labapp.explanations.prototree.tree import PrunedTree, complete, prune

HALF = math.log(2)
"""Below this distance a prototype is more likely present than absent."""
SMALLEST = 1e-14
"""Added to squared distances, so that the root has a gradient at none."""


class ProtoTree(PrototypeNetwork):
    """Backbone, a 1 × 1 convolution with sigmoid, the prototypes of a tree and its leaves.

    The tree begins complete. Pruning leaves everything in its place, so that a network has its
    shapes from the recipe alone: `telling` is 0 for a leaf that is gone, and `absent` and `present`
    (leaves, inner), 1 where a way passes a node so, skip nodes that are gone. `sources` (inner, 3)
    are the training row, map row and map column of each prototype, -1 before they are known.

    Parameters
    ----------
    depth : questions on every way before pruning; classes : how many there are.
    width : D, channels of the map that prototypes are compared with.
    field : pixels that a position of the map sees.
    """

    leaf_scores: Tensor
    epoch_scores: Tensor
    telling: Tensor
    absent: Tensor
    present: Tensor
    sources: Tensor

    def __init__(self, depth: int, classes: int, width: int, field: Literal[33, 49] = 33) -> None:
        whole = complete(depth)
        inner, leaves = len(whole.inner), len(whole.leaves)
        backbone = ResidualBackbone(field)
        add_on = nn.Sequential(nn.Conv2d(CHANNELS, width, 1, bias=False), nn.Sigmoid())
        super().__init__(backbone, add_on, torch.empty(inner, width).normal_(0.5, 0.1))
        self.whole = whole
        self.register_buffer("leaf_scores", torch.zeros(leaves, classes))
        self.register_buffer("epoch_scores", torch.zeros(leaves, classes))
        self.register_buffer("telling", torch.ones(leaves))
        absent, present = self.whole.ways()
        self.register_buffer("absent", torch.from_numpy(absent).float())
        self.register_buffer("present", torch.from_numpy(present).float())
        self.register_buffer("sources", torch.full((inner, 3), -1.0))

    def pruned(self) -> PrunedTree:
        """The tree as it is now, and which prototypes and leaves of the complete one it has."""
        return prune(self.whole, self.telling.numpy()[:, None], 0.5)

    def prune(self, threshold: float) -> None:
        """Remove every subtree whose leaves all say no class with more than `threshold`.

        Raises ModelError where fewer than two leaves would remain.
        """
        telling = (self.leaf_distributions().amax(1) > threshold) & self.telling.bool()
        if telling.sum() < 2:
            raise ModelError(
                f"Of {len(telling)} leaves, {int(telling.sum())} say a class with more than "
                f"{threshold}: no tree remains after pruning.",
                safe="Nothing was pruned.",
                todo="Let the tree grow longer, or lower `threshold` in the recipe.",
            )
        self.keep(telling)

    def keep(self, telling: Tensor) -> None:
        """Remove every leaf that is not `telling`, (leaves,), and what leads to none any more."""
        self.telling.copy_(telling)
        left = self.pruned()
        for passed, way in zip((self.absent, self.present), left.tree.ways(), strict=True):
            passed.zero_()
            passed[np.ix_(left.leaves, left.inner)] = torch.from_numpy(way).float()

    def stretch(self, factor: float) -> None:
        """Make distances on the map larger by about this factor."""
        convolution = self.add_on[0]
        assert isinstance(convolution, nn.Conv2d)
        convolution.weight.mul_(factor)

    def leaf_distributions(self) -> Tensor:
        """Class probabilities of every leaf, (leaves, classes)."""
        return self.leaf_scores.softmax(1)

    def nearest(self, pictures: Tensor) -> Tensor:
        """Smallest distance of each picture to each prototype, (n, inner)."""
        return root(self.squared_distances(pictures)).amin((2, 3))

    def shares(self, nearest: Tensor) -> Tensor:
        """Probability of the way to each leaf, (n, leaves), from the smallest distances."""
        absent, present = self.absent.to(nearest.dtype), self.present.to(nearest.dtype)
        return leaf_shares(nearest, absent, present) * self.telling

    def soft(self, nearest: Tensor) -> Tensor:
        """Class probabilities over all ways, (n, classes), from the smallest distances."""
        return self.shares(nearest) @ self.leaf_distributions().to(nearest.dtype)

    def forward(self, pictures: Tensor) -> Tensor:
        """Class probabilities of the one leaf that the likelier answers lead to, (n, classes).

        It is what the explanation shows, and so it is the prediction.
        """
        leaf = greedy(self.nearest(pictures), self.absent, self.present, self.telling)
        return self.leaf_distributions()[leaf]


def root(squared: Tensor) -> Tensor:
    """Distances from squared distances, with a gradient also at 0."""
    return (squared + SMALLEST).sqrt()


def distances(latent: Tensor, prototypes: Tensor) -> Tensor:
    """L2 distance of every position of (n, D, h, w) to every prototype of (P, D): (n, P, h, w)."""
    return root(squared_distances(latent, prototypes))


def leaf_shares(distance: Tensor, absent: Tensor, present: Tensor) -> Tensor:
    """Probabilities of the ways, from the smallest distance to each prototype.

    distance : (n, inner), above 0; absent, present : (leaves, inner), 1 where a way passes the
    node so. Returns (n, leaves); each row sums to 1.
    """
    # log(1 - exp(-d)) without the loss of digits that 1 - exp(-d) has near 0.
    not_there = torch.log(-torch.expm1(-distance))
    return torch.exp(not_there @ absent.T - distance @ present.T)


def greedy(distance: Tensor, absent: Tensor, present: Tensor, telling: Tensor) -> Tensor:
    """The leaf at the end of the likelier answers, (n,).

    distance, absent, present : as for `leaf_shares`; telling : (leaves,), 0 for one that is gone.
    """
    there = (distance < HALF).to(absent.dtype)
    # The leaf whose way no answer contradicts; of leaves that are gone none is one.
    against = there @ absent.T + (1 - there) @ present.T + (1 - telling)
    return against.argmin(1)
