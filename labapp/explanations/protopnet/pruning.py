"""Which prototypes stay: none twice, and none whose neighbourhood is mostly other classes.

After Chen et al. 2019 (supplement, section S8): a prototype goes if fewer than 3 of its 6 nearest
training patches, at most one a picture, are from its own class. It is then a patch of background.
"""

from __future__ import annotations

import torch
from torch import Tensor

NEIGHBOURS, OWN_AT_LEAST = 6, 3


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

    nearest : (n, P) smallest distance of each training picture; labels : (n,); owners : (P,).
    """
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
