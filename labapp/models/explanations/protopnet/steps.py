"""The steps of a ProtoPNet's training: its loss, the fit of the last layer, and pruning.

Loss (Chen et al. 2019, section 2.2): besides the right class, every picture should have a patch
near a prototype of its class (cluster) and none near a prototype of another (separation).

Last layer: the published training runs it through the network for many epochs. With everything
below it frozen the similarities do not change, so the same convex problem is solved here in
seconds, on similarities computed once. Where the classes can be told apart without error it has no
minimum: weights grow, and some prototypes come to speak against their own class. So the weights of
the own class are held near the values that the small steps of the published training leave.

Pruning (Chen et al. 2019, supplement, section S8): a prototype is removed if fewer than 3 of its 6
nearest training patches, at most one from each picture, are from its own class, because it is then
a patch of background; or if it is a copy of another.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from labapp.models.explanations.protopnet.network import OWN

CLUSTER, SEPARATION, OFF_CLASS = 0.8, 0.08, 1e-4
"""Weights of the terms of the loss, as published."""
SPARSE, HELD = 1e-3, 1e-3
"""Weights of the penalties of the last layer: on the absolute weights of other classes (ten times
the published value) and on the squared distance of own weights from 1 (not published)."""
NEIGHBOURS, OWN_AT_LEAST = 6, 3


@dataclass(frozen=True, slots=True)
class LossTerms:
    """The loss of a batch and its parts, each a scalar."""

    loss: Tensor
    cross_entropy: Tensor
    cluster: Tensor
    separation: Tensor


def cluster(nearest: Tensor, owners: Tensor, labels: Tensor) -> Tensor:
    """Mean over pictures of the smallest distance to a prototype of the picture's class. `nearest`:
    (n, P) smallest squared distances; `owners`: (P,) and labels : (n,) classes."""
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
) -> LossTerms:
    """The whole loss: cross-entropy + 0.8 cluster - 0.08 separation + 1e-4 off-class weights."""
    entropy = functional.cross_entropy(logits, labels)
    near, far = cluster(nearest, owners, labels), separation(nearest, owners, labels)
    loss = entropy + CLUSTER * near - SEPARATION * far + OFF_CLASS * off_class(weights, owners)
    return LossTerms(loss, entropy, near, far)


def fit_last_layer(
    similarities: Tensor, labels: Tensor, weights: Tensor, owners: Tensor, *, steps: int = 100
) -> Tensor:
    """Weights that minimise cross-entropy and the two penalties.

    Parameters
    ----------
    similarities : (n, P); labels : (n,) classes.
    weights : (classes, P), where to begin; owners : (P,) classes of the prototypes.
    steps : iterations of L-BFGS at most.

    Returns
    -------
    New weights, (classes, P).
    """
    fitted = weights.detach().clone().requires_grad_()
    own = torch.arange(len(owners))
    solver = torch.optim.LBFGS([fitted], max_iter=steps, line_search_fn="strong_wolfe")

    @torch.enable_grad()
    def loss() -> Tensor:
        solver.zero_grad()
        value = functional.cross_entropy(similarities @ fitted.T, labels)
        value = value + SPARSE * off_class(fitted, owners)
        value = value + HELD * (fitted[owners, own] - OWN).square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(loss)  # type: ignore[no-untyped-call]
    return fitted.detach()


def duplicates(prototypes: Tensor, owners: Tensor) -> Tensor:
    """True for a prototype (P, D) of which an earlier one of its class is a copy, (P,)."""
    same = (prototypes[:, None] == prototypes[None]).all(2) & (owners[:, None] == owners[None])
    return torch.tril(same, diagonal=-1).any(1)


def misplaced(
    nearest: Tensor,
    labels: Tensor,
    owners: Tensor,
    *,
    neighbours: int = NEIGHBOURS,
    at_least: int = OWN_AT_LEAST,
) -> Tensor:
    """True for a prototype with too few of its own class among the nearest pictures, (P,).
    `nearest`: (n, P) smallest distance of each training picture; `labels`: (n,); `owners`: (P,)."""
    closest = nearest.topk(min(neighbours, len(nearest)), dim=0, largest=False).indices
    own = (labels[closest] == owners[None, :]).sum(0)
    return own < at_least


def staying(
    nearest: Tensor,
    labels: Tensor,
    prototypes: Tensor,
    owners: Tensor,
    at_least: int = OWN_AT_LEAST,
) -> Tensor:
    """True for the prototypes that stay, (P,).

    Every class keeps at least its best-placed prototype: a class without any has no reasons.
    """
    gone = misplaced(nearest, labels, owners, at_least=at_least) | duplicates(prototypes, owners)
    for owner in sorted(set(owners.tolist())):
        mine = (owners == owner).nonzero()[:, 0]
        if gone[mine].all():
            own = nearest[labels == owner][:, mine].amin(0)
            gone[mine[own.argmin()]] = False
    return ~gone
