"""One bird to pixels, to a map of its parts, and to how much of each mark can be seen.

The size changes only how finely a picture is drawn: a network at 96 pixels and a participant at 384
see the same bird in the same light. Only the grain is drawn for the pixels of each size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.birds.shapes import FEET, SITES, BodyPart, places, rgb, shapes
from labapp.datasets.birds.species import GENERA, Bird, FieldMark, Light
from labapp.datasets.draws import grain
from labapp.datasets.outlines import Affine, Gradient, Shape, box, ellipse, turned
from labapp.datasets.painter import UNITS, extents, label_map, paint
from labapp.datasets.split import Float32, Float64

LEAF = (12.0, 6.5)
"""Half-axes of a leaf, in the bird's units."""
MEASURED = 210
MARGIN = 20.0
"""Side in pixels of the map on which visibility is counted, and its margin beyond the picture: so
visibility does not depend on the size of the picture."""


def picture(bird: Bird, size: int) -> Float32:
    """The bird in its light: float32 0 to 1, shape (3, size, size).

    Raises ValueError where `size` is not positive.
    """
    scene = list(_blots(bird)) + _scene(bird)
    return _lit(paint(scene, _gradient(bird), size), bird.light, bird.noise_seed)


def part_map(bird: Bird, size: int) -> NDArray[np.uint8]:
    """What is seen at each pixel, by `BodyPart`: uint8, shape (size, size)."""
    return label_map(_scene(bird), size)


def mark_places(bird: Bird, size: int) -> NDArray[np.bool_]:
    """Where each mark is, or would be if the bird had it, whatever covers it.

    bool, shape (6, size, size), by `FieldMark`.
    """
    there = extents(_scene(bird), size)
    return np.stack([(there >> SITES[mark]) & 1 == 1 for mark in FieldMark])


def visibility(bird: Bird) -> Float64:
    """Share of each mark's place that is neither covered nor outside the picture.

    A mark that is absent counts where it would have been. What covers: leaves, and parts of the
    bird that lie over it. float64 from 0 to 1, shape (6,), by `FieldMark`.
    """
    scene = _scene(bird)
    seen = label_map(scene, MEASURED, margin=MARGIN)
    there = extents(scene, MEASURED, margin=MARGIN)
    edge = round(MARGIN * MEASURED / (UNITS + 2 * MARGIN))
    inside = np.zeros(seen.shape, bool)
    inside[edge:-edge, edge:-edge] = True
    shares = np.empty(len(FieldMark))
    for mark in FieldMark:
        part = SITES[mark]
        place = (there >> part) & 1 == 1
        shares[mark] = (place & inside & (seen <= part)).sum() / max(place.sum(), 1)
    return shares


def deciding_visibility(bird: Bird) -> float:
    """The smaller visibility of the two marks that tell the species from its sisters."""
    shares = visibility(bird)
    return float(min(shares[mark] for mark in GENERA[bird.genus].deciding))


def placement(bird: Bird) -> Affine:
    """The map from the bird's units to those of the picture."""
    pose = bird.pose
    side = -pose.scale if pose.mirrored else pose.scale
    height = pose.scale * pose.aspect * GENERA[bird.genus].girth
    place = Affine(1, 0, 0, 1, pose.x, pose.y)
    return place.after(turned(pose.degrees)).after(Affine(side, 0, 0, height, 0, 0))


def _scene(bird: Bird) -> list[Shape]:
    """Branch, bird and leaves, in units of the picture."""
    move = placement(bird)
    ground = bird.ground
    branch = turned(ground.branch_slope, (0, FEET)).outline(
        box(-140, FEET - 0.3, 280, ground.branch_width)
    )
    where = places(bird)
    own = [Shape(branch, rgb(25, 0.45, ground.branch_value), BodyPart.BRANCH), *shapes(bird)]
    for leaf in bird.leaves:
        x, y = where[leaf.over]
        x, y = x + leaf.dx, y + leaf.dy
        hue, saturation, value = leaf.colour
        tip = turned(leaf.degrees, (x, y))
        blade = tip.outline(
            ((x - LEAF[0], y), (x - 3, y - 2 * LEAF[1], x + LEAF[0], y),
             (x - 3, y + 2 * LEAF[1], x - LEAF[0], y))
        )  # fmt: skip
        rib = tip.outline(box(x - LEAF[0], y - 0.35, 1.7 * LEAF[0], 0.7))
        own += [
            Shape(blade, rgb(hue, saturation, value), BodyPart.LEAF),
            Shape(rib, rgb(hue, saturation, value * 0.75), BodyPart.LEAF),
        ]
    return [Shape(move.outline(s.outline), s.colour, s.label, s.alpha) for s in own]


def _blots(bird: Bird) -> Iterator[Shape]:
    for blot in bird.ground.blots:
        outline = ellipse(blot.x, blot.y, blot.rx, blot.ry, blot.degrees)
        yield Shape(outline, rgb(*blot.colour), alpha=blot.alpha)


def _gradient(bird: Bird) -> Gradient:
    ground = bird.ground
    angle, half = math.radians(ground.degrees), UNITS / 2
    dx, dy = half * math.cos(angle), half * math.sin(angle)
    return Gradient(
        (half - dx, half - dy), (half + dx, half + dy), rgb(*ground.first), rgb(*ground.last)
    )


def _lit(flat: Float32, light: Light, seed: tuple[int, ...]) -> Float32:
    """A painted picture under its light, with noise; limited to 0 and 1."""
    size = flat.shape[-1]
    at = ((np.arange(size, dtype=np.float32) + 0.5) / size - 0.5) / np.float32(math.sqrt(2))
    angle = math.radians(light.degrees)
    across = at[None, :] * np.float32(math.cos(angle)) + at[:, None] * np.float32(math.sin(angle))
    shade = 1 - np.float32(light.shading) * (np.float32(0.5) + across)
    gain = np.array(light.cast, np.float32) * np.float32(light.gain)
    lit: Float32 = flat * gain[:, None, None] * shade
    lit += np.float32(light.noise) * grain(seed, flat.size).reshape(flat.shape)
    return lit.clip(0, 1)
