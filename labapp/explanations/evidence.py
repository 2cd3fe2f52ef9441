"""Where prototypes begin: at what the plain classifier goes by, not anywhere.

A network that sees 49 pixels from every position can tell a bird from the grass beside it, and
prototypes that begin at random end up there: two thirds of those pushed lay off the bird. Begun
where the plain classifier's linear head finds most evidence for a species, they stay on it.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHARE = 0.1
"""Of a picture's positions, those with the most evidence that are candidates."""


def strongest(features: Tensor, head: Tensor, labels: Tensor) -> Tensor:
    """The positions that speak most for a picture's own class.

    features : the map that `head` averages, (n, C, h, w); head : its weights, (classes, C).
    Returns numbers of positions, h * w in a row, int64, shape (n, a tenth of h * w).
    """
    evidence = torch.einsum("nc,nchw->nhw", head[labels], features).flatten(1)
    return evidence.topk(max(1, round(SHARE * evidence.shape[1])), dim=1).indices


def first_prototypes(
    latent: Tensor, chosen: Tensor, labels: Tensor, classes: int, each: int, *, seed: int
) -> Tensor:
    """Centres of the clusters that the chosen patches of each class fall into.

    latent : (n, D, h, w), what prototypes are compared with; chosen : (n, k) positions.
    Returns (classes * each, D), those of a class together.
    """
    from sklearn.cluster import KMeans  # a second to import, and only learning needs it

    at = chosen[:, None, :].expand(-1, latent.shape[1], -1)
    patches = latent.flatten(2).gather(2, at).transpose(1, 2).double().numpy()
    result = []
    for class_ in range(classes):
        own = patches[labels.numpy() == class_].reshape(-1, latent.shape[1])
        clusters = KMeans(each, n_init=3, random_state=seed).fit(own)
        result.append(torch.from_numpy(clusters.cluster_centers_))
    return torch.cat(result)
