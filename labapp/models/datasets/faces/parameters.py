"""Everything that one picture of a face is made of, as plain numbers.

Units are hundredths of the picture's width; y points down. Greys run from 0, black, to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

CLASSES = ("anger", "happiness")
"""What the classes are called, by their number."""


class Hair(IntEnum):
    """How the hair is worn."""

    SHORT = 0
    PARTED = 1
    LONG = 2
    CURLY = 3
    RECEDING = 4


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose face it is, as far as the expression does not matter.

    Attributes
    ----------
    width, height : half-axes of the head.
    jaw : width of the jaw as a share of the head's.
    eyes : half the distance of the eyes.
    eye : half the width of one.
    nose : its length.
    nostrils : half its width.
    mouth : half its width at rest.
    lips : how full they are.
    brow : thickness of the brows, `brow_height` above the eyes.
    skin, tone, cloth : greys of skin, hair and clothes.
    beard : how dark it is, 0 for none.
    """

    width: float
    height: float
    jaw: float
    chin: float
    ears: float
    eyes: float
    eye: float
    iris: float
    nose: float
    nostrils: float
    mouth: float
    lips: float
    brow: float
    brow_height: float
    hair: Hair
    hairline: float
    side: float
    skin: float
    tone: float
    dark: bool
    cloth: float
    beard: float
    glasses: bool
    frame: float


@dataclass(frozen=True, slots=True)
class Expression:
    """How far five actions go, about -1 (anger) to 1 (happiness), each by itself.

    Attributes
    ----------
    brows : lowered and drawn together, or at rest and a little raised.
    lids : narrowed from above, or the lower ones pushed up, with creases beside the eyes.
    cheeks : lines between the brows and wide nostrils, or raised cheeks with folds beside the nose.
    corners : of the mouth, down or up.
    lips : pressed, or parted with teeth.
    """

    brows: float
    lids: float
    cheeks: float
    corners: float
    lips: float


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the head is in the picture, and its turn in the plane."""

    x: float
    y: float
    degrees: float
    scale: float


@dataclass(frozen=True, slots=True)
class Light:
    """The light on a face, and what the camera adds.

    Attributes
    ----------
    shading : share of light lost across the picture, in the direction `degrees`.
    ground, ground_end : greys of the background.
    noise : SD of the grain.
    texture : SD of the unevenness of the skin.
    blur : SD in pixels of 96.
    """

    shading: float
    degrees: float
    ground: float
    ground_end: float
    noise: float
    texture: float
    blur: float


@dataclass(frozen=True, slots=True)
class Face:
    """One picture: the class, the face, how it looks, and all chance."""

    label: int
    identity: Identity
    expression: Expression
    pose: Pose
    light: Light
    noise_seed: tuple[int, ...]
