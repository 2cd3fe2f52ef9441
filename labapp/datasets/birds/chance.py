"""The parameters of one picture, drawn from four numbers: seed, part, species, number in the part.

The species decides the marks, and in two genera it makes a tint of the belly more likely; nothing
else depends on it. The numbers were chosen by trial trainings, in which a small network erred on
every fifth to tenth picture after 24 to 32 training pictures of each species.
"""

from __future__ import annotations

import math

from labapp.datasets.birds.species import (
    GENERA,
    SISTERS,
    Bird,
    Blot,
    FieldMark,
    Ground,
    Leaf,
    Light,
    Plumage,
    Pose,
    genus_of,
    marks_of,
)
from labapp.datasets.draws import Draws
from labapp.datasets.split import PARTS, PartName

OCCLUSION = 0.05
"""How likely a leaf lies over each of the six places where marks are."""
TINTED = 0.3
"""Correlation of the belly's tint with the one sister it hints at."""
_SHARE = 1 / SISTERS
_GAP = TINTED * 0.5 / math.sqrt(_SHARE * (1 - _SHARE))
"""How much likelier the tint is in that sister, for half of all bellies to be tinted."""


def bird(
    seed: int, part: PartName, species: int, number: int, *, occlusion: float = OCCLUSION
) -> Bird:
    """The parameters of one picture.

    Raises ValueError where there is no such species or part, or a number is negative.
    """
    marks = marks_of(species)
    if part not in PARTS:
        raise ValueError(f"part must be one of {PARTS}, found {part!r}")
    entropy = (seed, PARTS.index(part), species, number)
    draws = Draws(*entropy, 0)
    s = [draws.uniform(0.3, 1.0) for _ in FieldMark]
    return Bird(
        species=species,
        marks=marks,
        strength=(s[0], s[1], s[2], s[3], s[4], s[5]),
        pose=_pose(draws),
        plumage=_plumage(draws, species),
        light=_light(draws),
        ground=_ground(draws),
        leaves=_leaves(draws, occlusion),
        noise_seed=(*entropy, 1),
    )


def _pose(draws: Draws) -> Pose:
    return Pose(
        x=draws.uniform(45, 55),
        y=draws.uniform(47, 57),
        degrees=draws.normal(0, 10),
        scale=draws.uniform(0.78, 1.02),
        aspect=draws.uniform(0.9, 1.1),
        mirrored=draws.chance(0.5),
        head=(20 + draws.normal(0, 1.2), -18 + draws.normal(0, 1.8)),
        wing_degrees=draws.normal(-4, 7),
        tail_length=0.875 * draws.uniform(0.85, 1.2),
        beak_length=draws.uniform(0.9, 1.15),
        crest_height=draws.uniform(9.5, 15),
    )


def _plumage(draws: Draws, species: int) -> Plumage:
    genus = GENERA[genus_of(species)]
    hue, saturation, value = genus.plumage
    share = 0.5
    if genus.tinted is not None:
        hinted = species % SISTERS == genus.tinted
        share += _GAP * ((1 - _SHARE) if hinted else -_SHARE)
    body = (
        hue + draws.normal(0, 8),
        saturation * (1 + draws.normal(0, 0.15)),
        value * (1 + draws.normal(0, 0.12)),
    )
    tinted = draws.chance(share)
    pale, bright = genus.belly
    belly = (
        (52.0 if tinted else 18.0) + draws.normal(0, 5),
        pale * (1 + draws.normal(0, 0.15)),
        bright * (1 + draws.normal(0, 0.06)),
    )
    beak = (draws.uniform(28, 52), draws.uniform(0.65, 0.85), draws.uniform(0.8, 0.95))
    return Plumage(body, belly, beak, draws.uniform(0, 60), tinted)


def _light(draws: Draws) -> Light:
    return Light(
        gain=draws.uniform(0.7, 1.1),
        cast=(draws.uniform(0.89, 1.11), draws.uniform(0.89, 1.11), draws.uniform(0.89, 1.11)),
        shading=draws.uniform(0, 0.45),
        degrees=draws.uniform(0, 360),
        noise=draws.uniform(0.01, 0.04),
    )


SKY, GRASS, SAND = (195.0, 240.0), (75.0, 150.0), (15.0, 55.0)


def _hue(draws: Draws) -> float:
    """A hue of sky, grass or sand."""
    low, high = (SKY, GRASS, SAND)[min(int(draws.uniform(0, 3)), 2)]
    return draws.uniform(low, high)


def _ground(draws: Draws) -> Ground:
    first = (_hue(draws), draws.uniform(0.15, 0.5), draws.uniform(0.55, 0.95))
    last = (_hue(draws), draws.uniform(0.15, 0.5), draws.uniform(0.4, 0.85))
    degrees = draws.normal(90, 25)
    blots = tuple(_blot(draws) for _ in range(4 + min(int(draws.uniform(0, 11)), 10)))
    slope = draws.normal(0, 5)
    width, value = draws.uniform(2.4, 4.0), draws.uniform(0.2, 0.42)
    return Ground(first, last, degrees, blots, slope, width, value)


def _blot(draws: Draws) -> Blot:
    long, slim = draws.uniform(2.5, 7), draws.uniform(0.25, 1)
    return Blot(
        x=draws.uniform(0, 100),
        y=draws.uniform(0, 100),
        rx=long,
        ry=long * slim,
        degrees=draws.uniform(0, 180),
        colour=(_hue(draws), draws.uniform(0.1, 0.5), draws.uniform(0.3, 0.95)),
        alpha=draws.uniform(0.2, 0.6),
    )


def _leaves(draws: Draws, occlusion: float) -> tuple[Leaf, ...]:
    """Leaves over marks. Random numbers are drawn for every mark, with a leaf or without, so that
    the occlusion changes no other leaf."""
    leaves = []
    for mark in FieldMark:
        there = draws.chance(occlusion)
        leaf = Leaf(
            over=mark,
            dx=draws.normal(0, 2),
            dy=draws.normal(0, 2),
            degrees=draws.uniform(0, 360),
            colour=(draws.uniform(85, 140), draws.uniform(0.45, 0.7), draws.uniform(0.3, 0.6)),
        )
        if there:
            leaves.append(leaf)
    return tuple(leaves)
