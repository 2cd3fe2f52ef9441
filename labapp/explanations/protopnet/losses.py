"""What a ProtoPNet is trained for, besides the right class: clusters of patches, far apart.

Every picture should hold a patch near to some prototype of its class (cluster) and none near to a
prototype of another (separation). Weights as published: Chen et al. 2019, section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

CLUSTER, SEPARATION, OFF_CLASS = 0.8, 0.08, 1e-4


@dataclass(frozen=True, slots=True)
class Terms:
    """The loss of a batch and its parts, each a scalar."""

    loss: Tensor
    cross_entropy: Tensor
    cluster: Tensor
    separation: Tensor


def cluster(nearest: Tensor, owners: Tensor, labels: Tensor) -> Tensor:
    """Mean over pictures of the smallest distance to a prototype of the picture's class.

    nearest : (n, P) smallest squared distances; owners : (P,) and labels : (n,) classes.
    """
    own = owners[None, :] == labels[:, None]
    return nearest.masked_fill(~own, torch.inf).amin(1).mean()


def separation(nearest: Tensor, owners: Tensor, labels: Tensor) -> Tensor:
    """Mean over pictures of the smallest distance to a prototype of another class."""
    own = owners[None, :] == labels[:, None]
    return nearest.masked_fill(own, torch.inf).amin(1).mean()


def off_class(weights: Tensor, owners: Tensor) -> Tensor:
    """Sum of the absolute weights (classes, P) between prototypes and classes not their own."""
    own = owners[None, :] == torch.arange(len(weights), device=owners.device)[:, None]
    return weights.masked_fill(own, 0).abs().sum()


def terms(
    logits: Tensor, nearest: Tensor, weights: Tensor, owners: Tensor, labels: Tensor
) -> Terms:
    """The whole loss: cross-entropy + 0.8 cluster - 0.08 separation + 1e-4 off-class weights."""
    entropy = functional.cross_entropy(logits, labels)
    near, far = cluster(nearest, owners, labels), separation(nearest, owners, labels)
    loss = entropy + CLUSTER * near - SEPARATION * far + OFF_CLASS * off_class(weights, owners)
    return Terms(loss, entropy, near, far)
