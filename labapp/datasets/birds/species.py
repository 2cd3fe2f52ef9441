"""Twenty invented species of birds: five genera, each with the four combinations of two marks.

Genera differ in colour and build and are told apart at once. Within a genus only two local marks
decide: a species differs from two of its sisters in one of them and from the third in both. Most
marks decide in two genera, so that a part learned in one can mislead in another. Classes as
combinations of parts are the idea of FunnyBirds (Hesse et al. 2023).

Everything that one picture of a bird is made of, as plain numbers.

Units are hundredths of the picture's width; y points down. Colours are hue (degrees), saturation
and value until they are painted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


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
        raise ValueError(f"species must lie between 0 and {SPECIES - 1}, found {species}")
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
class Pose:
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
class Light:
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
    pose: Pose
    plumage: Plumage
    light: Light
    ground: Ground
    leaves: tuple[Leaf, ...]
    noise_seed: tuple[int, ...]

    @property
    def genus(self) -> int:
        return genus_of(self.species)
