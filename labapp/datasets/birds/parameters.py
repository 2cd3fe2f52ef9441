"""Everything that one picture of a bird is made of, as plain numbers.

Units are hundredths of the picture's width; y points down. Colours are hue (degrees), saturation
and value until they are painted.
"""

from __future__ import annotations

from dataclasses import dataclass

from labapp.datasets.birds.species import FieldMark, Marks, genus_of


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
