"""What a simulated participant notices of a picture: where things are, how large, and their form.

People do not compare pictures pixel by pixel. A percept is a list of properties, each in units of
the noise with which it is seen, so that a difference of 1 is just about noticed and properties can
be weighed against each other (d', signal detection theory). The same properties are taken of every
picture, whatever made it. Sources of the noises: where two pictures beside each other are compared,
lengths and areas differ noticeably from about 5 % on (Weber fractions), places from about 2 % of
the picture; forms are compared roughly, cell by cell. Fixed before any study was simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labapp.session.simulation.view import Array

Float64 = NDArray[np.float64]

PLACE, SIZE, TINT, FORM = 0, 1, 2, 3
"""Kinds of properties: where something is, how large, how bright, and its form."""
KINDS = (PLACE, SIZE, TINT, FORM)

PLACE_SD = 0.02
"""Shares of the picture's side."""
SIZE_SD = 0.05
"""Natural logarithm of the extent."""
TINT_SD = 0.04
"""Brightness from 0 to 1."""
TILT_SD = 0.05
"""Of the direction in which something is stretched, from -1 to 1 (0.05: about 3 degrees of a thin
stroke)."""
CELL_SD = 0.1
"""Brightness of a cell of the form, and heights of a curve in tenths of what is shown."""

LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""What red, green and blue weigh in the lightness of a colour (ITU-R BT.601)."""
CELLS = 6
"""A form is seen as so many cells in each direction, laid around the thing itself."""
REACH = 2.2
"""How far those cells reach from its middle, in standard deviations of its extent."""
PARTS = 16
"""A curve's form is seen at so many places."""
FAINT = 0.02
"""Contrast below which nothing is seen."""

ACROSS, DOWN, EXTENT, GROUND, LIGHT, INK, STRETCH, SLANT = range(8)
"""Places of an image's properties; its cells come after them."""
HEIGHT, SLOPE, WAVES_HEIGHT, WAVES_CLOSENESS = range(4)
"""Likewise of a curve's; its course comes after them."""

IMAGE_KINDS = np.array([PLACE] * 2 + [SIZE] + [TINT] * 3 + [FORM] * (2 + CELLS * CELLS))
CURVE_KINDS = np.array([PLACE] * 2 + [SIZE] + [FORM] * (1 + PARTS))

COLOUR_KINDS = np.concatenate((IMAGE_KINDS, [TINT] * 4))
"""Of a picture in colour: those of its lightness, and behind them how reddish and how bluish the
thing and the ground are."""


def kinds_of(picture: Array) -> NDArray[np.int64]:
    """The kind of each property of a picture of this shape, int64."""
    return (CURVE_KINDS, IMAGE_KINDS, COLOUR_KINDS)[picture.squeeze().ndim - 1]


def properties(picture: Array) -> Float64:
    """What is to be noticed of a picture, without noise, in units of it: float64, shape (n,).

    picture: shape (points,) for a curve, (rows, columns) for an image, (rows, columns, 3) for one
    in colour, with further axes of length 1; in units of the screen (see `view`).
    """
    exact: Float64 = _properties(picture.squeeze()[None])[0]
    return exact


def _properties(pictures: Array) -> Float64:
    """As `properties`, of many. A curve alone takes ten times as long as one among many."""
    if pictures.ndim == 4:
        return np.stack([_measure_colours(picture) for picture in pictures])
    return _curves(pictures) if pictures.ndim == 2 else _images(pictures)


def _measure_colours(x: Array) -> Float64:
    """An image of its lightness, and two tints each of the thing and of the ground: how much redder
    than green, and how much bluer than light, they are."""
    light = x @ LUMA
    contrast = _apart(light[None])[1][0]
    tints = np.stack((x[..., 0] - x[..., 1], x[..., 2] - light), axis=-1).astype(np.float64)
    thing = contrast > FAINT
    rest = tints[~thing]
    of_ground = rest.mean(axis=0) if len(rest) else tints.mean(axis=(0, 1))
    of_thing = tints[thing].mean(axis=0) if thing.any() else of_ground
    return np.concatenate((_images(light[None])[0], of_thing / TINT_SD, of_ground / TINT_SD))


@lru_cache(maxsize=16)
def _grid(rows: int, columns: int) -> tuple[NDArray[np.int64], Float64, Float64]:
    """Of a flat picture: where its border is, and how far each pixel lies across and down."""
    at = np.arange(rows * columns).reshape(rows, columns)
    border = np.concatenate((at[0], at[-1], at[:, 0], at[:, -1]))
    down, across = np.divmod(at.ravel(), columns)
    return border, across / columns - 0.5, down / rows - 0.5


def _apart(x: Array) -> tuple[NDArray[np.floating], Array]:
    """The ground of each picture, and by how much each of its pixels differs from it."""
    border = x.reshape(len(x), -1)[:, _grid(*x.shape[1:])[0]]
    border.sort(axis=1)
    ground = border[:, border.shape[1] // 2]
    return ground, np.abs(x - ground[:, None, None])


def _images(x: Array) -> Float64:
    """Pictures (n, rows, columns) of a thing on a ground: the ground is what the border shows, the
    thing what differs from it."""
    n, rows, columns = x.shape
    ground, contrast = _apart(x)
    ground = ground.astype(np.float64)
    at = np.flatnonzero(contrast > FAINT)
    of, pixel = np.divmod(at, rows * columns)
    weight = contrast.ravel()[at].astype(np.float64)
    total = np.bincount(of, weight, n)
    there = total >= 1.0  # with less than one pixel, nothing is there
    divisor = np.where(there, total, 1.0)

    def mean(values: Float64 | Array) -> Float64:
        return np.bincount(of, weight * values, n) / divisor

    _, across, down = _grid(rows, columns)
    across, down = across[pixel], down[pixel]
    middle_x, middle_y = mean(across), mean(down)
    across -= middle_x[of]
    down -= middle_y[of]
    wide, high, slanted = mean(across**2), mean(down**2), mean(across * down)
    extent = wide + high + 1e-6
    cell = REACH * 2 * np.sqrt(extent / 2) / CELLS
    column = np.floor(across / cell[of] + CELLS / 2).astype(np.int64)
    row = np.floor(down / cell[of] + CELLS / 2).astype(np.int64)
    inside = (column >= 0) & (column < CELLS) & (row >= 0) & (row < CELLS)
    places = ((of * CELLS + row) * CELLS + column)[inside]
    cells = np.bincount(places, weight[inside], n * CELLS * CELLS).reshape(n, -1)
    cells = cells / np.maximum(cell * cell * rows * columns, 1.0)[:, None]
    seen = np.zeros((n, len(IMAGE_KINDS)))
    seen[:, : SLANT + 1] = np.stack(
        (
            *(middle_x / PLACE_SD, middle_y / PLACE_SD, 0.5 * np.log(extent) / SIZE_SD),
            *(ground / TINT_SD, mean(x.ravel()[at]) / TINT_SD, total / (rows * columns) / TINT_SD),
            *((wide - high) / extent / TILT_SD, 2 * slanted / extent / TILT_SD),
        ),
        axis=1,
    )
    seen[:, SLANT + 1 :] = cells / CELL_SD
    seen[~there, :GROUND] = seen[~there, LIGHT:] = 0.0
    return seen


@lru_cache(maxsize=16)
def _along(n: int) -> tuple[Float64, float]:
    """The places of a curve's points, and the sum of their squares."""
    t = np.linspace(-0.5, 0.5, n)
    return t, float(t @ t)


def _curves(y: Array) -> Float64:
    """Lines (rows, points) with waves on them: their height and slope, how high the waves are, how
    close together, and their course."""
    n = y.shape[1]
    t, squares = _along(n)
    height = np.add.reduce(y, axis=1) / n
    slope = y @ t / squares
    rest = y - height[:, None] - slope[:, None] * t
    amplitude = np.sqrt(np.add.reduce(rest * rest, axis=1) / n)
    steps = np.add.reduce(np.abs(rest[:, 1:] - rest[:, :-1]), axis=1) / (n - 1)
    turns = steps * n / (np.add.reduce(np.abs(rest), axis=1) / n + FAINT)
    course = rest[:, : n - n % PARTS].reshape(len(y), PARTS, -1)
    seen = np.empty((len(y), len(CURVE_KINDS)))
    seen[:, HEIGHT] = height.astype(np.float64) / PLACE_SD
    seen[:, SLOPE] = slope / PLACE_SD
    seen[:, WAVES_HEIGHT] = np.log(amplitude + FAINT) / SIZE_SD / 2
    seen[:, WAVES_CLOSENESS] = np.log1p(turns) / SIZE_SD / 2
    seen[:, WAVES_CLOSENESS + 1 :] = np.add.reduce(course, axis=2) / course.shape[2] / (CELL_SD / 2)
    return seen


class Glance(NamedTuple):
    """A picture that was looked at, and the noise with which it was seen."""

    picture: Array
    noise: Float64


def perceive_glances(glances: Sequence[Glance]) -> Float64:
    """The properties as seen at each glance, shape (glances, n)."""
    exact = _properties(np.stack([glance.picture.squeeze() for glance in glances]))
    return exact + np.stack([glance.noise for glance in glances])


@dataclass
class Eye:
    """Sees properties with noise of its own. noise: sd of a single glance, in their units."""

    rng: np.random.Generator
    noise: float = 1.0

    def look(self, picture: Array, glances: int = 1) -> Float64:
        """Properties as seen at one glance, or at several on end, which see better."""
        seen: Float64 = perceive_glances([self.glance(picture, glances)])[0]
        return seen

    def glance(self, picture: Array, glances: int = 1) -> Glance:
        """As `look`, for `perceive_glances`."""
        sd = self.noise / sqrt(glances)
        return Glance(picture, self.rng.normal(0.0, sd, len(kinds_of(picture))))

    def glances(self, pictures: Array) -> list[Glance]:
        """As `glance`, at each of several pictures, shape (n, *shape)."""
        noise = self.rng.normal(0.0, self.noise, (len(pictures), len(kinds_of(pictures[0]))))
        return [Glance(*seen) for seen in zip(pictures, noise, strict=True)]
