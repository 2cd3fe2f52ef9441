"""A soft decision tree over prototypes: every leaf is reached, some more probably than others.

After Nauta et al. 2021, "Neural prototype trees for interpretable fine-grained image recognition",
section 3: the probability that a prototype is present is exp(-d), d its L2 distance (not squared)
to the nearest patch; a leaf's share is the product along its way, and the prediction the mean of
the leaves' class distributions weighted with their shares.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from labapp.explanations.patches import squared_distances
from labapp.explanations.prototree.tree import Tree

SMALLEST = 1e-14
"""Added to squared distances, so that the root has a gradient at none."""


class ProtoTree(nn.Module):
    """Backbone, a 1 × 1 convolution with sigmoid, the prototypes of a tree and its leaves.

    Parameters
    ----------
    backbone : from pictures (n, 3, s, s) to maps (n, `channels`, h, w).
    tree : the tree; can be replaced by a pruned one with `keep`.
    classes : how many classes there are.
    width : D, channels of the map that prototypes are compared with.
    """

    leaf_scores: Tensor
    absent: Tensor
    present: Tensor

    def __init__(
        self, backbone: nn.Module, channels: int, tree: Tree, classes: int, width: int
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.add_on = nn.Sequential(nn.Conv2d(channels, width, 1, bias=False), nn.Sigmoid())
        self.prototypes = nn.Parameter(torch.empty(len(tree.inner), width).normal_(0.5, 0.1))
        self.register_buffer("leaf_scores", torch.zeros(len(tree.leaves), classes))
        self._set(tree)

    def _set(self, tree: Tree) -> None:
        self.tree = tree
        absent, present = tree.ways()
        device = self.leaf_scores.device
        self.register_buffer("absent", torch.from_numpy(absent).float().to(device), False)
        self.register_buffer("present", torch.from_numpy(present).float().to(device), False)

    def latent(self, pictures: Tensor) -> Tensor:
        """(n, 3, s, s) normalised pictures to (n, D, h, w)."""
        found: Tensor = self.add_on(self.backbone(pictures))
        return found

    def leaf_distributions(self) -> Tensor:
        """Class probabilities of every leaf, (leaves, classes)."""
        return self.leaf_scores.softmax(1)

    def shares(self, pictures: Tensor) -> Tensor:
        """Probability of the way to each leaf, (n, leaves)."""
        distance = distances(self.latent(pictures), self.prototypes).amin((2, 3))
        return leaf_shares(distance, self.absent, self.present)

    def forward(self, pictures: Tensor) -> Tensor:
        """Class probabilities, (n, classes)."""
        return self.shares(pictures) @ self.leaf_distributions()

    def keep(self, tree: Tree, inner: Tensor, leaves: Tensor) -> None:
        """Take a pruned tree: the chosen prototypes and leaves, by their old numbers, in order."""
        self.prototypes = nn.Parameter(self.prototypes.detach()[inner].clone())
        self.leaf_scores = self.leaf_scores[leaves].clone()
        self._set(tree)


def distances(latent: Tensor, prototypes: Tensor) -> Tensor:
    """L2 distance of every cell of (n, D, h, w) to every prototype of (P, D): (n, P, h, w)."""
    return (squared_distances(latent, prototypes) + SMALLEST).sqrt()


def leaf_shares(distance: Tensor, absent: Tensor, present: Tensor) -> Tensor:
    """Probabilities of the ways, from the smallest distance to each prototype.

    distance : (n, inner), above 0; absent, present : (leaves, inner), 1 where a way passes the
    node so. Returns (n, leaves); each row sums to 1.
    """
    # log(1 - exp(-d)) without the loss of digits that 1 - exp(-d) has near 0.
    not_there = torch.log(-torch.expm1(-distance))
    return torch.exp(not_there @ absent.T - distance @ present.T)
