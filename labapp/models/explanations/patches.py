"""Prototypes and the patches of pictures: how far they are from each other, which patch is nearest,
which patches prototypes are initialised with, and where in a picture a prototype is.

ProtoPNet pushes and ProtoTree projects its prototypes on the nearest patches of training pictures.
From then on a prototype is a patch of a known picture and can be shown.

Prototypes are initialised with patches for which the plain classifier's linear head finds most
evidence. A network that sees 49 pixels from every position can tell a bird from the grass beside
it: of prototypes that were initialised at random and pushed, two thirds lay off the bird.

A box is left, top, right, bottom as shares of the picture, 0 to 1, so that it fits the same bird
painted at any size. Position i of a network's map is centred on pixel i * stride, not on the middle
of an i-th cell; maps are enlarged accordingly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor, nn

from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.explanations.backbones import ResidualBackbone
from labapp.models.explanations.photos import Photos, as_input

CHUNK = 100
"""Pictures at a time."""
SHARE = 0.1
"""The share of a picture's positions, those with the most evidence, that are candidates."""


class PrototypeNetwork(nn.Module):
    """A network that compares the positions of a map with prototypes.

    Parameters
    ----------
    backbone : gives the map.
    add_on : layers between the backbone and the prototypes.
    prototypes : their first values, (P, D).
    """

    def __init__(
        self, backbone: ResidualBackbone, add_on: nn.Sequential, prototypes: Tensor
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.add_on = add_on
        self.prototypes = nn.Parameter(prototypes)

    def latent(self, pictures: Tensor) -> Tensor:
        """The map that is compared with prototypes, (n, D, h, w), of pictures (n, 3, s, s)."""
        latent: Tensor = self.add_on(self.backbone(pictures))
        return latent

    def squared_distances(self, pictures: Tensor) -> Tensor:
        """Squared distance of every position to every prototype, (n, P, h, w).

        float64 in evaluation mode: with float32, a patch would have a distance from itself.
        """
        latent: Tensor = self.latent(pictures)
        prototypes: Tensor = self.prototypes
        if not self.training:
            latent, prototypes = latent.double(), prototypes.double()
        return squared_distances(latent, prototypes)


def in_chunks(network: Callable[[Tensor], Tensor], photos: Photos[Any]) -> Iterator[Tensor]:
    """What a network gives for photos, `CHUNK` at a time."""
    for start in range(0, len(photos), CHUNK):
        yield network(as_input(photos.pictures[start : start + CHUNK]))


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

    rows : training rows, (P,); `cells`: row and column in the map, (P, 2); `vectors`: the patches
    themselves, (P, D), float64; `distances`: squared, from the prototypes before, (P,).
    """

    rows: Int64
    cells: Int64
    vectors: Tensor
    distances: Tensor


def nearest_patches(
    latents: Iterable[Tensor], labels: Tensor, prototypes: Tensor, allowed: Tensor
) -> Patches:
    """The nearest patch for each prototype among pictures of allowed classes. Raises ValueError
    if no picture is of a class allowed to some prototype.

    latents : maps in batches, each (b, D, h, w), in the order of the rows.
    labels : (n,), the class of each row.
    prototypes : (P, D).
    allowed : (P, classes), true where a prototype may take a patch of a picture of the class.

    Of equally near patches the first counts, by row and cell.
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


def strongest(features: Tensor, head: Tensor, labels: Tensor) -> Tensor:
    """The positions that speak most for a picture's own class.

    features : the map that `head` averages, (n, C, h, w); `head`: its weights, (classes, C).
    Returns numbers of positions, h * w in a row, int64, shape (n, a tenth of h * w).
    """
    evidence = torch.einsum("nc,nchw->nhw", head[labels], features).flatten(1)
    return evidence.topk(max(1, round(SHARE * evidence.shape[1])), dim=1).indices


def first_prototypes(
    latent: Tensor, chosen: Tensor, labels: Tensor, classes: int, each: int, *, seed: int
) -> Tensor:
    """Centres of the clusters of the chosen patches of each class.

    latent : (n, D, h, w), what prototypes are compared with; `chosen`: (n, k) positions.
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


PERCENTILE = 95.0
"""Percentile of a ProtoPNet's map above which a pixel belongs to the region (Chen et al. 2019,
section 2.3)."""
FAINT = 0.02
"""Value above which a pixel belongs to a cell, in an enlarged map that is 1 in that cell alone."""
COARSE = 7
"""Cells across the maps of the published ProtoTree (Nauta et al. 2021)."""
SHARPNESS = -0.75
"""The free constant of cubic interpolation (Keys 1981), as the usual picture libraries set it."""


def enlarge_maps(maps: NDArray[np.floating], size: int) -> Float32:
    """Maps (n, h, w) at the size of the picture they are of, bicubic: float32, (n, size, size)."""
    rows, columns = (_weights(size, positions) for positions in maps.shape[1:])
    return (rows @ maps.astype(np.float32) @ columns.T).astype(np.float32)


def around_peaks(maps: NDArray[np.floating], size: int) -> Float64:
    """Boxes around the brightest place of each map (n, h, w): float64, shape (n, 4).

    The published rule boxes the brightest 5 % of all pixels. On maps of 12 x 12 these are several
    places, and half the boxes span two thirds of the picture; so only what hangs together with the
    peak counts, and at least the peak's own cell.

    size : width and height, in pixels, of the picture that the maps are of.
    """
    large = enlarge_maps(maps, size)
    least = np.percentile(large, PERCENTILE, axis=(1, 2))
    flat = maps.reshape(len(maps), -1).argmax(1)
    height, width = maps.shape[1:]
    cells = np.stack(np.unravel_index(flat, (height, width)), 1)
    single = np.zeros((len(cells), height, width), np.float32)
    single[np.arange(len(cells)), cells[:, 0], cells[:, 1]] = 1
    regions = enlarge_maps(single, size) > FAINT
    for number, (y, x) in enumerate(cells):
        above = large[number] > least[number]
        places = np.asarray(ndimage.label(above)[0])
        regions[number] |= above & (places == places[y * size // height, x * size // width])
    return _around(regions)


def around_cells(cells: NDArray[np.integer], shape: tuple[int, int]) -> Float64:
    """Boxes around single cells (n, 2), rows and columns of maps of `shape`: float64, (n, 4).

    As wide as the published rule makes them, which enlarges a map that is 1 in the best cell: two
    cells, on its maps of 7 x 7. Two cells of a finer map would cut the parts of a bird to pieces.
    """
    middle = cells[:, ::-1] / np.array(shape[::-1])
    boxes = np.concatenate((middle - 1 / COARSE, middle + 1 / COARSE), axis=1)
    return boxes.clip(0, 1)


def _around(there: NDArray[np.bool_]) -> Float64:
    """The smallest boxes around what is true, (n, size, size), none of it empty."""
    size = there.shape[1]
    boxes = np.empty((len(there), 4))
    for at, axis in ((0, 1), (1, 2)):
        along = np.asarray(there.any(axis))
        boxes[:, at] = along.argmax(1) / size
        boxes[:, at + 2] = 1 - along[:, ::-1].argmax(1) / size
    return boxes


def _weights(size: int, positions: int) -> Float32:
    """How much each pixel takes from each position: shape (size, positions), rows sum to 1."""
    place = np.arange(size) * positions / size
    low = np.floor(place).astype(int)
    weights = np.zeros((size, positions), np.float32)
    for near in range(-1, 3):
        t, a = np.abs(place - (low + near)), SHARPNESS
        inside = (a + 2) * t**3 - (a + 3) * t**2 + 1
        outside = a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a
        share = np.where(t <= 1, inside, np.where(t < 2, outside, 0.0))
        # Beyond the edge the map goes on as it is at the edge.
        np.add.at(weights, (np.arange(size), (low + near).clip(0, positions - 1)), share)
    return weights
