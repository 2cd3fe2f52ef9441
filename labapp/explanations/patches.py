"""Prototypes against the places of pictures: how far, and which place of which picture is nearest.

ProtoPNet pushes and ProtoTree projects its prototypes on the nearest patches of training pictures.
From then on a prototype is a place in a known picture and can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Int64 = NDArray[np.int64]


def squared_distances(latent: Tensor, prototypes: Tensor) -> Tensor:
    """Squared L2 distance of every cell to every prototype, by expanding the square.

    Parameters
    ----------
    latent : (n, D, h, w). float64 where distances near 0 must be told apart.
    prototypes : (P, D), of the same type.

    Returns
    -------
    (n, P, h, w), never negative.
    """
    cross = torch.einsum("ndhw,pd->nphw", latent, prototypes)
    square = latent.square().sum(1, keepdim=True)
    own = prototypes.square().sum(1)[None, :, None, None]
    return (square - 2 * cross + own).clamp_min(0)


@dataclass(frozen=True, slots=True)
class Patches:
    """The nearest patch for each of P prototypes.

    rows : training rows, (P,); cells : row and column in the map, (P, 2); vectors : the patches
    themselves, (P, D), float64; distances : squared, from the prototypes before, (P,).
    """

    rows: Int64
    cells: Int64
    vectors: Tensor
    distances: Tensor


def nearest_patches(
    latents: Iterable[Tensor], labels: Tensor, prototypes: Tensor, allowed: Tensor
) -> Patches:
    """The nearest patch for each prototype among pictures of allowed classes.

    Parameters
    ----------
    latents : maps in batches, each (b, D, h, w), in the order of the rows.
    labels : (n,), the class of each row.
    prototypes : (P, D).
    allowed : (P, classes), true where a prototype may take a patch of a picture of the class.

    Returns
    -------
    The patches. Of equally near ones the first, by row and cell.

    Raises ValueError where no picture is of a class allowed to some prototype.
    """
    known = prototypes.double()
    count, width = known.shape
    best = torch.full((count,), torch.inf, dtype=torch.float64)
    rows = torch.full((count,), -1, dtype=torch.int64)
    cells = torch.zeros(count, 2, dtype=torch.int64)
    vectors = torch.zeros(count, width, dtype=torch.float64)
    start = 0
    for batch in latents:
        latent = batch.double()
        near = squared_distances(latent, known)
        n, _, _, across = near.shape
        open_to = allowed[:, labels[start : start + n]].T[:, :, None, None]
        near = near.masked_fill(~open_to, torch.inf).permute(1, 0, 2, 3).reshape(count, -1)
        smallest, where = near.min(1)
        better = smallest < best
        picture, cell = where // (near.shape[1] // n), where % (near.shape[1] // n)
        patch = latent.flatten(2)[picture, :, cell]
        best = torch.where(better, smallest, best)
        rows = torch.where(better, start + picture, rows)
        cells = torch.where(better[:, None], torch.stack((cell // across, cell % across), 1), cells)
        vectors = torch.where(better[:, None], patch, vectors)
        start += n
    if (rows < 0).any():
        raise ValueError("a prototype has no training picture of a class it may take")
    return Patches(rows.numpy(), cells.numpy(), vectors, best)
