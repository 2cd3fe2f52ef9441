"""Heatmaps in colour, over the photo they belong to.

As in their authors' code, GradCAM is shown as half photo and half colour, and BagNet as colours
that the photo's edges darken by a quarter. All heatmaps of a photo are on one scale already, so
none is rescaled here by itself.
"""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from labapp.resources import assets
from labapp.stimuli.manifest import ColourMap, Scale
from labapp.stimuli.pictures import UInt8

Float32 = NDArray[np.float32]

EDGE_ALPHA = 0.25
GRAIN = 2.5
"""Medians of a picture's gradient that grain alone seldom exceeds: one pixel in 76 where it is
evenly spread both ways (a Rayleigh distribution)."""


@lru_cache(maxsize=1)
def _tables() -> dict[str, UInt8]:
    tables = json.loads((assets() / "colour_maps.json").read_text("utf-8"))
    return {
        name: np.frombuffer(bytes.fromhex("".join(rows)), np.uint8).reshape(256, 3)
        for name, rows in tables.items()
    }


def table(colour_map: ColourMap) -> UInt8:
    """The colours of 0 to 255: uint8, shape (256, 3). 128 is 0 of a signed heatmap."""
    return _tables()[colour_map]


def overlay(photo: UInt8, heat: UInt8, scale: Scale, colour_map: ColourMap) -> UInt8:
    """A photo and one of its heatmaps as one picture: uint8, shape of `photo`.

    Parameters
    ----------
    photo : shape (height, width, 3).
    heat : shape (h, w) or (h, w, 3), of any size; grey unless `scale` is "ready".
    scale : "positive": 0 to 255 is 0 to 1; "signed": -1 to 1; "ready": `heat` is what is shown.
    """
    height, width = photo.shape[:2]
    if scale == "ready":
        return _as_bytes(enlarged(heat.astype(np.float32), height, width))
    grey = heat if heat.ndim == 2 else heat[..., 0]
    values = enlarged(grey.astype(np.float32), height, width)
    colours: UInt8 = table(colour_map).take(_as_bytes(values), axis=0)
    if scale == "positive":
        return _mean(photo, colours)
    alpha = EDGE_ALPHA * edges(photo)[..., None]
    return _as_bytes((1 - alpha) * colours)


def _mean(first: UInt8, second: UInt8) -> UInt8:
    """Half and half, rounded to the even number."""
    total = first.astype(np.uint16) + second
    half: UInt8 = ((total >> 1) + ((total & 3) == 3)).astype(np.uint8)
    return half


def enlarged(values: Float32, height: int, width: int) -> Float32:
    """Values between those of a coarser grid, bilinear; the grid's cells cover the picture.

    values : shape (h, w) or (h, w, c). float32, shape (height, width) or (height, width, c).
    """
    return _along(_along(values, height, 0), width, 1)


def _along(values: Float32, pixels: int, axis: int) -> Float32:
    """Values between those of the cells along one axis, so many of them.

    Not a product of matrices: on a busy machine its threads wait 100 ms for each other.
    """
    cells = values.shape[axis]
    at = ((np.arange(pixels) + 0.5) * cells / pixels - 0.5).clip(0, cells - 1)
    low = np.minimum(at.astype(np.intp), max(cells - 2, 0))
    shape = [1] * values.ndim
    shape[axis] = pixels
    share = (at - low).astype(np.float32).reshape(shape)
    here, next_ = values.take(low, axis), values.take(np.minimum(low + 1, cells - 1), axis)
    out: Float32 = (1 - share) * here + share * next_
    return out


def edges(photo: UInt8) -> Float32:
    """How much of an edge each pixel is: float32 0 to 1, shape (height, width).

    Sobel's gradient of the smoothed grey picture; the strongest twentieth counts in full, and what
    the grain of the picture comes to (`GRAIN`) for nothing: it would darken a heatmap all over.
    """
    red, green, blue = (photo[..., n].astype(np.float32) for n in range(3))
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    for _ in range(2):
        grey = _smoothed(grey)
    padded = np.pad(grey, 1, mode="edge")
    across = padded[:, 2:] - padded[:, :-2]
    across = across[:-2] + 2 * across[1:-1] + across[2:]
    down = padded[2:] - padded[:-2]
    down = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    strength = np.hypot(across, down)
    ranks = [round(share * (strength.size - 1)) for share in (0.5, 0.95)]
    median, strong = np.partition(strength, ranks, axis=None)[ranks].tolist()
    grain = GRAIN * median
    full = max(strong, 2 * grain)
    if full <= 0:
        return np.zeros_like(strength)
    out: Float32 = ((strength - grain) / (full - grain)).clip(0, 1)
    return out


def _smoothed(grey: Float32) -> Float32:
    """Each pixel with its neighbours, 1 : 2 : 1 both ways."""
    padded = np.pad(grey, 1, mode="edge")
    across = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    out: Float32 = (across[:-2] + 2 * across[1:-1] + across[2:]) / 16
    return out


def _as_bytes(values: Float32) -> UInt8:
    whole: UInt8 = np.rint(values).clip(0, 255).astype(np.uint8)
    return whole
