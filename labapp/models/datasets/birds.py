"""Twenty invented species of birds: five genera, each with the four combinations of two marks; and
pictures of them by row number, painted when they are asked for.

Genera differ in colour and build and are told apart at once. Within a genus only two local marks
decide: a species differs from two of its sisters in one of them and from the third in both. Most
marks decide in two genera, so that a part learned in one can mislead in another. Classes as
combinations of parts are the idea of FunnyBirds (Hesse et al. 2023).

A picture is drawn from four numbers: seed, part, species, number in the part. So no picture of one
part is in another, and taking more rows of a part leaves the first ones as they were. The species
decides the marks, and in two genera it makes a tint of the belly more likely; nothing else depends
on it. Parameters were chosen by trial trainings, in which a small network erred on every fifth to
tenth picture after 24 to 32 training pictures of each species.

The size changes only how finely a picture is drawn: a network at 96 pixels and a participant at 384
see the same bird in the same light. Only the grain is drawn for the pixels of each size.

Units are hundredths of the picture's width, y down; the bird itself is in its own units, facing
right, the origin in its body. Colours are hue (degrees), saturation and value until they are
painted. Parts are numbered in the order in which they are painted: of two parts at a pixel, the one
with the higher number is visible. A mark that a bird does not have, such as a crest, is still made
without colour, because it has a place that a leaf can hide.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.painter import (
    UNITS,
    Affine,
    Colour,
    Draws,
    Gradient,
    Outline,
    Shape,
    box,
    ellipse,
    extents,
    grain,
    label_map,
    paint,
    rotate_about,
)
from labapp.models.datasets.split import PARTS, Float32, Float64, Int64, PartName, Split, part_sizes


class FieldMark(IntEnum):
    """A local mark that a bird has in one of two ways, 0 or 1."""

    CREST = 0
    PATTERN = 1
    BEAK = 2
    TAIL = 3
    RING = 4
    BAND = 5


STATES: dict[FieldMark, tuple[str, str]] = {
    FieldMark.CREST: ("no crest", "crest"),
    FieldMark.PATTERN: ("wing bars", "wing spots"),
    FieldMark.BEAK: ("straight beak", "hooked beak"),
    FieldMark.TAIL: ("square tail", "forked tail"),
    FieldMark.RING: ("no eye ring", "eye ring"),
    FieldMark.BAND: ("no breast band", "breast band"),
}
"""What the two ways are called."""
Marks = tuple[int, int, int, int, int, int]
"""The ways of all six marks, by `FieldMark`."""


@dataclass(frozen=True, slots=True)
class Genus:
    """What four sister species share.

    Attributes
    ----------
    deciding : the two marks that tell them apart.
    constant : all six marks; those of the deciding two are replaced.
    plumage, belly : hue (degrees), saturation and value.
    tail, girth : multiply the tail's length and the body's height.
    tinted : the sister whose belly tint is a weak and misleading hint, or None.
    """

    name: str
    deciding: tuple[FieldMark, FieldMark]
    constant: Marks
    plumage: tuple[float, float, float]
    belly: tuple[float, float]
    tail: float
    girth: float
    names: tuple[str, str, str, str]
    tinted: int | None = None


GENERA: tuple[Genus, ...] = (
    Genus(
        "lorrin", (FieldMark.CREST, FieldMark.PATTERN),
        (0, 0, 0, 0, 0, 0), (206, 0.52, 0.62), (0.24, 0.92),
        0.95, 1.0, ("Ashby's lorrin", "Calder's lorrin", "Denham's lorrin", "Ellory's lorrin"),
    ),
    Genus(
        "tamber", (FieldMark.BEAK, FieldMark.TAIL),
        (1, 1, 0, 0, 0, 0), (27, 0.58, 0.50), (0.34, 0.80),
        1.0, 1.0, ("Farrow's tamber", "Garrick's tamber", "Hollis's tamber", "Iredale's tamber"),
        tinted=2,
    ),
    Genus(
        "verdick", (FieldMark.PATTERN, FieldMark.RING),
        (0, 0, 0, 1, 0, 0), (84, 0.50, 0.52), (0.30, 0.88),
        1.05, 0.94, ("Jessop's verdick", "Kemble's verdick", "Lowry's verdick", "Marlow's verdick"),
    ),
    Genus(
        "rossel", (FieldMark.TAIL, FieldMark.CREST),
        (0, 1, 1, 0, 1, 0), (352, 0.60, 0.58), (0.22, 0.84),
        0.95, 1.06, ("Norcott's rossel", "Orton's rossel", "Pelham's rossel", "Quarry's rossel"),
    ),
    Genus(
        "umbrin", (FieldMark.BAND, FieldMark.BEAK),
        (0, 0, 0, 0, 0, 0), (272, 0.24, 0.46), (0.12, 0.90),
        1.0, 0.97, ("Radnor's umbrin", "Selwyn's umbrin", "Tolland's umbrin", "Usher's umbrin"),
        tinted=1,
    ),
)  # fmt: skip

SISTERS = 4
SPECIES = len(GENERA) * SISTERS


def genus_of(species: int) -> int:
    """Number of the genus of a species, both from 0. ValueError: there is no such species."""
    if not 0 <= species < SPECIES:
        raise ValueError(f"species must be between 0 and {SPECIES - 1}, found {species}")
    return species // SISTERS


def marks_of(species: int) -> Marks:
    """The six marks of a species; sisters count through the ways of the deciding two."""
    genus = GENERA[genus_of(species)]
    marks = list(genus.constant)
    first, second = genus.deciding
    marks[first], marks[second] = divmod(species % SISTERS, 2)
    a, b, c, d, e, f = marks
    return a, b, c, d, e, f


def name_of(species: int) -> str:
    """Its invented name."""
    return GENERA[genus_of(species)].names[species % SISTERS]


def guide(species: int) -> tuple[str, str]:
    """The two deciding marks of a species in words, as a field guide names them."""
    marks = marks_of(species)
    first, second = GENERA[genus_of(species)].deciding
    return STATES[first][marks[first]], STATES[second][marks[second]]


@dataclass(frozen=True, slots=True)
class BirdPose:
    """Where the bird is, in units of the picture, and how its parts stand, in its own units."""

    x: float
    y: float
    degrees: float
    scale: float
    aspect: float
    mirrored: bool
    head: tuple[float, float]
    wing_degrees: float
    tail_length: float
    beak_length: float
    crest_height: float


@dataclass(frozen=True, slots=True)
class Plumage:
    """Hue (degrees), saturation and value of body, belly and beak; leg hue; the tint or not."""

    body: tuple[float, float, float]
    belly: tuple[float, float, float]
    beak: tuple[float, float, float]
    leg_hue: float
    tinted: bool


@dataclass(frozen=True, slots=True)
class BirdLight:
    """Gain, gain per channel, share of light lost across the picture, direction, noise (SD)."""

    gain: float
    cast: tuple[float, float, float]
    shading: float
    degrees: float
    noise: float


@dataclass(frozen=True, slots=True)
class Blot:
    """A translucent ellipse behind the bird: centre, half-axes, turn, colour (HSV), opacity."""

    x: float
    y: float
    rx: float
    ry: float
    degrees: float
    colour: tuple[float, float, float]
    alpha: float


@dataclass(frozen=True, slots=True)
class Ground:
    """The two colours (HSV) of the background, the direction they blend in, and its blots."""

    first: tuple[float, float, float]
    last: tuple[float, float, float]
    degrees: float
    blots: tuple[Blot, ...]
    branch_slope: float
    branch_width: float
    branch_value: float


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf over the place of a mark: offset from it, turn, colour (HSV)."""

    over: FieldMark
    dx: float
    dy: float
    degrees: float
    colour: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Bird:
    """One picture: the species, its marks and how strongly each is developed, and all chance."""

    species: int
    marks: Marks
    strength: tuple[float, float, float, float, float, float]
    pose: BirdPose
    plumage: Plumage
    light: BirdLight
    ground: Ground
    leaves: tuple[Leaf, ...]
    noise_seed: tuple[int, ...]

    @property
    def genus(self) -> int:
        return genus_of(self.species)


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
    """The parameters of one picture. Raises ValueError: no such species, part or number."""
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
        pose=BirdPose(
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
        ),
        plumage=_plumage(draws, species),
        light=BirdLight(
            gain=draws.uniform(0.7, 1.1),
            cast=(draws.uniform(0.89, 1.11), draws.uniform(0.89, 1.11), draws.uniform(0.89, 1.11)),
            shading=draws.uniform(0, 0.45),
            degrees=draws.uniform(0, 360),
            noise=draws.uniform(0.01, 0.04),
        ),
        ground=_ground(draws),
        leaves=_leaves(draws, occlusion),
        noise_seed=(*entropy, 1),
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


SIZE = 96
"""Width and height of what a network sees, in pixels."""
FACTORS: tuple[str, ...] = (
    "species",
    "genus",
    *(mark.name.lower() for mark in FieldMark),
    *(f"{mark.name.lower()}_visible" for mark in FieldMark),
)
"""Species and genus from 0, the way of each mark (0 or 1), its share that can be seen (0 to 1)."""


@dataclass(frozen=True, slots=True)
class BirdRows:
    """`per_species` pictures of each species of one part; row i is of species i modulo 20."""

    part: PartName
    per_species: int
    seed: int
    size: int = SIZE
    occlusion: float = OCCLUSION

    def __len__(self) -> int:
        return self.per_species * SPECIES

    def bird(self, row: int) -> Bird:
        """What the picture of a row is made of. IndexError: there is no such row."""
        if not 0 <= row < len(self):
            raise IndexError(f"row must be between 0 and {len(self) - 1}, found {row}")
        number, species = divmod(int(row), SPECIES)
        return bird(self.seed, self.part, species, number, occlusion=self.occlusion)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 3, size, size)."""
        pictures = np.empty((len(rows), 3, self.size, self.size), np.float32)
        for i, row in enumerate(rows):
            pictures[i] = picture(self.bird(row), self.size)
        return pictures

    def factors(self, rows: Int64) -> Float64:
        """The `FACTORS` of the rows, float64, shape (n, 14)."""
        values = np.empty((len(rows), len(FACTORS)))
        for i, row in enumerate(rows):
            bird = self.bird(row)
            values[i] = (bird.species, bird.genus, *bird.marks, *visibility(bird))
        return values

    def labels(self, rows: Int64) -> Int64:
        """Species of the rows, from 0, without painting anything: int64, shape (n,)."""
        return np.asarray(rows, np.int64) % SPECIES


@dataclass(frozen=True, slots=True)
class Birds:
    """The three parts of a data set of birds."""

    train: BirdRows
    validation: BirdRows
    test: BirdRows

    def split(self, held: PartName = "test") -> Split:
        """Training pictures against those of another part, as the other data sets have it."""
        rows = {"train": self.train, "validation": self.validation, "test": self.test}[held]
        return Split(train=self.train, held=rows, factor_names=FACTORS, generative=False)


def birds(
    *,
    seed: int,
    train: int = 28,
    validation: int = 20,
    test: int = 100,
    size: int = SIZE,
    occlusion: float = OCCLUSION,
) -> Birds:
    """A data set with these numbers of pictures of each species in its parts. Raises ValueError
    if a part would be empty or the seed is negative."""
    counts = part_sizes(train, validation, test, seed=seed, of="species")

    def part(name: PartName) -> BirdRows:
        return BirdRows(name, counts[name], seed, size, occlusion)

    return Birds(part("train"), part("validation"), part("test"))


LEAF = (12.0, 6.5)
"""Half-axes of a leaf, in the bird's units."""
MEASURED = 210
MARGIN = 20.0
"""Side in pixels of the map on which visibility is counted, and its margin beyond the picture: so
visibility does not depend on the size of the picture."""


def picture(bird: Bird, size: int) -> Float32:
    """The bird in its light: float32 0 to 1, shape (3, size, size). Raises ValueError: no size."""
    scene = list(_blots(bird)) + _scene(bird)
    return _light_picture(paint(scene, _gradient(bird), size), bird.light, bird.noise_seed)


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
    return place.after(rotate_about(pose.degrees)).after(Affine(side, 0, 0, height, 0, 0))


def _scene(bird: Bird) -> list[Shape]:
    """Branch, bird and leaves, in units of the picture."""
    move = placement(bird)
    ground = bird.ground
    branch = rotate_about(ground.branch_slope, (0, FEET)).outline(
        box(-140, FEET - 0.3, 280, ground.branch_width)
    )
    where = places(bird)
    own = [Shape(branch, rgb(25, 0.45, ground.branch_value), BodyPart.BRANCH), *shapes(bird)]
    for leaf in bird.leaves:
        x, y = where[leaf.over]
        x, y = x + leaf.dx, y + leaf.dy
        hue, saturation, value = leaf.colour
        tip = rotate_about(leaf.degrees, (x, y))
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


def _light_picture(flat: Float32, light: BirdLight, seed: tuple[int, ...]) -> Float32:
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


class BodyPart(IntEnum):
    """Labels of the part map, in painting order."""

    NONE = 0
    BRANCH = 1
    LEG = 2
    TAIL = 3
    BODY = 4
    HEAD = 5
    BELLY = 6
    BAND = 7
    WING = 8
    PATTERN = 9
    CREST = 10
    BEAK = 11
    EYE = 12
    LEAF = 13


SITES: dict[FieldMark, BodyPart] = {
    FieldMark.CREST: BodyPart.CREST,
    FieldMark.PATTERN: BodyPart.PATTERN,
    FieldMark.BEAK: BodyPart.BEAK,
    FieldMark.TAIL: BodyPart.TAIL,
    FieldMark.RING: BodyPart.EYE,
    FieldMark.BAND: BodyPart.BAND,
}
"""The part that shows each mark."""
DARK: Colour = (0.07, 0.06, 0.07)
WHITE: Colour = (0.97, 0.96, 0.93)
FEET = 28.0
"""How far below the origin the bird stands."""


def rgb(hue: float, saturation: float, value: float) -> Colour:
    """The colour of a hue in degrees; saturation and value are limited to 0 and 1."""
    return colorsys.hsv_to_rgb(
        hue % 360 / 360, min(max(saturation, 0.0), 1.0), min(max(value, 0.0), 1.0)
    )


def mix(first: Colour, last: Colour, share: float) -> Colour:
    """`share` of the last colour in the first."""
    r, g, b = (
        channel + (other - channel) * share for channel, other in zip(first, last, strict=True)
    )
    return r, g, b


def places(bird: Bird) -> dict[FieldMark, tuple[float, float]]:
    """Where each mark is, in the bird's units: the middle of what a leaf would hide."""
    hx, hy = bird.pose.head
    return {
        FieldMark.CREST: (hx - 8, hy - 14),
        FieldMark.PATTERN: (-5, 0),
        FieldMark.BEAK: (hx + 15, hy),
        FieldMark.TAIL: (-38 * _tail_length(bird), 10),
        FieldMark.RING: (hx + 3, hy - 1),
        FieldMark.BAND: (19, 0),
    }


def shapes(bird: Bird) -> list[Shape]:
    """The bird from back to front, without leaves."""
    hue, saturation, value = bird.plumage.body
    body = rgb(hue, saturation, value)
    wing = rgb(hue, saturation * 1.1, value * 0.6)
    return [
        *_legs(bird),
        _tail(bird, rgb(hue, saturation * 1.1, value * 0.68)),
        *_body(bird, body),
        _band(bird),
        *_wing(bird, wing),
        _crest(bird, rgb(hue, saturation * 1.1, value * 0.72)),
        _beak(bird),
        *_eye(bird),
    ]


def _tail_length(bird: Bird) -> float:
    return bird.pose.tail_length * GENERA[bird.genus].tail


def _legs(bird: Bird) -> list[Shape]:
    colour = rgb(bird.plumage.leg_hue, 0.5, 0.5)
    return [Shape(box(x, 13, 1.5, FEET - 13), colour, BodyPart.LEG) for x in (-1.0, 6.5)]


def _tail(bird: Bird, colour: Colour) -> Shape:
    end = _tail_length(bird)
    outline: Outline
    if bird.marks[FieldMark.TAIL]:
        fork = 12 * bird.strength[FieldMark.TAIL]
        spread = 0.45 * (fork - 9)
        outline = (
            (-22, 2), (-48 * end, 2 - spread), (-48 * end + fork, 10), (-48 * end, 19 + spread),
            (-18, 14),
        )  # fmt: skip
    else:
        outline = (-22, 1), (-46 * end, 5), (-46 * end, 15), (-18, 14)
    return Shape(outline, colour, BodyPart.TAIL)


def _body(bird: Bird, colour: Colour) -> list[Shape]:
    hx, hy = bird.pose.head
    trunk: Outline = (
        (-25, 2),
        (-15, -9, -2, -8, hx - 10.4, hy + 1),
        (hx + 9.5, hy + 5),
        (29, -8, 31, 5, 20, 13),
        (12, 19.5, -9, 20, -18, 14),
    )
    return [
        Shape(trunk, colour, BodyPart.BODY),
        Shape(ellipse(hx, hy, 10.6, 10.4), colour, BodyPart.HEAD),
        Shape(ellipse(8.5, 9.2, 15, 8.2, -8), rgb(*bird.plumage.belly), BodyPart.BELLY),
    ]


def _band(bird: Bird) -> Shape:
    there = bool(bird.marks[FieldMark.BAND])
    h = 7 * bird.strength[FieldMark.BAND]
    outline: Outline = (11, -5), (24, 2, 27, -3), (26, h - 2), (20, 3 + h, 8, h - 3)
    return Shape(outline, rgb(18, 0.5, 0.16) if there else None, BodyPart.BAND)


DOTS = ((4.0, -3.5), (-4.5, -3.0), (-13.0, -0.5), (-5.5, 4.5), (3.5, 4.0))


def _wing(bird: Bird, colour: Colour) -> list[Shape]:
    turn = rotate_about(bird.pose.wing_degrees, (-4, 2))
    outline: Outline = (
        (9, -8.5), (14, 1, 7, 10, -6, 9.5), (-15, 9, -26, 5), (-20, -8, -13, -9),
    )  # fmt: skip
    marks: list[Outline]
    if bird.marks[FieldMark.PATTERN]:
        marks = [ellipse(x, y, 2.3, 2.3) for x, y in DOTS]
    else:
        marks = [box(x - 1.6, -7 + 1.5 * k, 3.2, 13 - 2 * k) for k, x in enumerate((-2, -11.5))]
    pale = mix(colour, rgb(48, 0.25, 0.95), bird.strength[FieldMark.PATTERN])
    return [
        Shape(turn.outline(outline), colour, BodyPart.WING),
        *(Shape(turn.outline(mark), pale, BodyPart.PATTERN) for mark in marks),
    ]


def _crest(bird: Bird, colour: Colour) -> Shape:
    hx, hy = bird.pose.head
    h, k = bird.strength[FieldMark.CREST] * bird.pose.crest_height, 1.12
    outline: Outline = (
        (hx - 8 * k, hy - 8 + 2),
        (hx - 12 * k, hy - 12 - h * 0.3, hx - 15 * k, hy - 12 - 0.8 * h),
        (hx + 2, hy - 10 - 0.6 * h, hx + 5 * k, hy - 9.5),
    )
    return Shape(outline, colour if bird.marks[FieldMark.CREST] else None, BodyPart.CREST)


def _beak(bird: Bird) -> Shape:
    hx, hy = bird.pose.head
    x, length = hx + 10, bird.pose.beak_length
    outline: Outline
    if bird.marks[FieldMark.BEAK]:
        e = bird.strength[FieldMark.BEAK]
        reach = (11 + 6 * e) * length
        outline = (
            (x, hy - 5),
            (x + reach, hy - 6, x + 0.93 * reach, hy + 1 + 12 * e),
            (x + 0.5 * reach, hy + 2, x, hy + 5),
        )
    else:
        outline = (x, hy - 4), (x + 11 * length, hy + 1), (x, hy + 5)
    return Shape(outline, rgb(*bird.plumage.beak), BodyPart.BEAK)


def _eye(bird: Bird) -> list[Shape]:
    hx, hy = bird.pose.head
    x, y, pupil = hx + 3, hy - 1, 2.6
    ring = ellipse(x, y, *[pupil + 3 * bird.strength[FieldMark.RING]] * 2)
    return [
        Shape(ring, WHITE if bird.marks[FieldMark.RING] else None, BodyPart.EYE),
        Shape(ellipse(x, y, pupil, pupil), DARK, BodyPart.EYE),
        Shape(ellipse(x + 0.9, y - 0.9, 0.7, 0.7), WHITE, BodyPart.EYE),
    ]
