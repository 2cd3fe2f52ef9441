"""Faces by row number, painted when they are asked for: rows go through the classes in turn.

A picture is drawn from four numbers: seed, part, class, number in the part. So no face of one part
is in another, and taking more rows of a part leaves the first ones as they were. The class decides
the direction of the five actions of the face. In training pictures it also makes two cues more
likely that have nothing to do with the expression: glasses and dark hair. A model that takes them
for signs of anger errs where they mislead.

One face to pixels: drawn flat, shaded softly, then under its light and with its grain.

What recipes and cards need of faces is read without scipy, which is loaded by painting alone.

Head, hair and clothes, in the face's units: the origin between eyes and mouth, y down. Lines of
uneven width and other outlines that faces are drawn with.

Everything that one picture of a face is made of, as plain numbers.

Units are hundredths of the picture's width; y points down. Greys run from 0, black, to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from labapp.models.datasets.painter import (
    UNITS,
    Affine,
    Colour,
    Draws,
    Gradient,
    Outline,
    Shape,
    average_blocks,
    ellipse,
    grain,
    paint,
    rotate_about,
)
from labapp.models.datasets.split import PARTS, Float32, Int64, PartName, part_sizes

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
class FacePose:
    """Where the head is in the picture, and its turn in the plane."""

    x: float
    y: float
    degrees: float
    scale: float


@dataclass(frozen=True, slots=True)
class FaceLight:
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
    pose: FacePose
    light: FaceLight
    noise_seed: tuple[int, ...]


SIZE = 96
"""Width and height of a picture, in pixels."""
FILL = 1.16
"""How much larger than its units a face is drawn."""
SOFT = 0.022
"""SD of the blur of shadows, as a share of the picture's width."""
NEUTRAL = 0.75
"""The grey in the layer of shadows that leaves the drawing as it is."""
GAIN = 1.12
"""Gain of the light at its brightest."""
COARSE = (12, 30)
"""Points across the picture that the unevenness of the skin is drawn at."""


def picture(face: Face, size: int = SIZE) -> Float32:
    """The face in its light: float32 0 to 1, shape (size, size). Raises ValueError: no size."""
    from scipy import ndimage

    move = placement(face)
    identity = face.identity
    drawn = [
        *behind(identity),
        Shape(head_outline(identity), grey(identity.skin)),
        *beard(identity),
        *features(face),
        *hair(identity),
    ]
    light = face.light
    ground = Gradient((0, 0), (UNITS, UNITS), grey(light.ground), grey(light.ground_end))
    even = Gradient((0, 0), (0, UNITS), grey(NEUTRAL), grey(NEUTRAL))
    flat = _painted(drawn, move, ground, size)
    shade: Float32 = ndimage.gaussian_filter(
        _painted(_shadows(face), move, even, size), SOFT * size
    )
    skin = [Shape(outline, grey(1)) for outline in (head_outline(identity), neck(identity))]
    on_skin = _painted(skin, move, Gradient((0, 0), (0, UNITS), grey(0), grey(0)), size)
    shaded: Float32 = flat * (1 + (shade / np.float32(NEUTRAL) - 1) * on_skin)
    return _light_drawing(shaded, face)


def placement(face: Face) -> Affine:
    """The map from the face's units to those of the picture."""
    pose, scale = face.pose, face.pose.scale * FILL
    place = Affine(1, 0, 0, 1, pose.x, pose.y)
    return place.after(rotate_about(pose.degrees)).after(Affine(scale, 0, 0, scale, 0, 0))


def _painted(shapes: list[Shape], move: Affine, ground: Gradient, size: int) -> Float32:
    moved = [Shape(move.outline(s.outline), s.colour, s.label, s.alpha) for s in shapes]
    return np.asarray(paint(moved, ground, size)[0])


def _shadows(face: Face) -> list[Shape]:
    """Where skin turns away from the light, and where it catches it; blurred when it is used."""
    identity, expression = face.identity, face.expression
    w, h, s = identity.width, identity.height, identity.side
    nose, mouth = EYES_Y + identity.nose, mouth_y(face)
    dark, light = grey(0.2), grey(1.0)
    cross, glad = angry(expression.cheeks), happy(expression.cheeks)
    frown = angry(expression.brows)
    half = [
        Shape(ellipse(w, 0.05 * h, 0.22 * w, 0.8 * h), dark, 0, 0.42),
        Shape(ellipse(0.8 * w, 0.55 * h, 0.22 * w, 0.3 * h, 25), dark, 0, 0.25),
        Shape(
            ellipse(identity.eyes, EYES_Y - 2.6, 1.2 * identity.eye, 3.0),
            dark,
            0,
            0.28 + 0.25 * frown,
        ),
        Shape(ellipse(identity.eyes, EYES_Y + 4.2, 0.9 * identity.eye, 1.4), dark, 0, 0.2),
        Shape(ellipse(0.52 * w, nose - 3.5 - 2 * glad, 5.5, 4), light, 0, 0.25 + 0.5 * glad),
        Shape(ellipse(0.56 * w, nose + 3.5 - glad, 4.5, 1.8, -25), dark, 0, 0.1 + 0.35 * glad),
    ]
    bridge = curve(
        (2.3 * s, EYES_Y - 3), (2.0 * s, nose - 6), (0.9 * identity.nostrils * s, nose - 1)
    )
    return [
        Shape(ellipse(0, 1.16 * h, 0.75 * w, 0.26 * h), dark, 0, 0.42),
        *half,
        *mirror(half),
        Shape(ellipse(-0.1 * s * w, -0.42 * h, 0.45 * w, 0.14 * h), light, 0, 0.35),
        Shape(stroke(bridge, 2.0, 2.6, 2.6), dark, 0, 0.45),
        Shape(ellipse(-0.6 * s, nose - 4, 1.3, 4.5), light, 0, 0.6),
        Shape(ellipse(0, nose + 2.0, 0.9 * identity.nostrils, 1.3), dark, 0, 0.45),
        Shape(ellipse(0, EYES_Y - identity.brow_height + 2, 2.6, 3.2), dark, 0, 0.1 + 0.45 * cross),
        Shape(ellipse(0, mouth + 6, 0.5 * identity.mouth, 1.7), dark, 0, 0.35),
        Shape(ellipse(0, 0.88 * h, 0.24 * w, 3.2), light, 0, 0.4),
    ]


def _light_drawing(drawn: Float32, face: Face) -> Float32:
    """A drawing with uneven skin, under its light, a little out of focus and with grain."""
    from scipy import ndimage

    size, light = len(drawn), face.light
    at = ((np.arange(size, dtype=np.float32) + 0.5) / size - 0.5) / np.float32(math.sqrt(2))
    angle = math.radians(light.degrees)
    across = at[None, :] * np.float32(math.cos(angle)) + at[:, None] * np.float32(math.sin(angle))
    lit = drawn * (GAIN - np.float32(light.shading) * (np.float32(0.5) + across))
    for number, points in enumerate(COARSE):
        coarse = grain((*face.noise_seed, number), points * points).reshape(points, points)
        lit = lit + np.float32(light.texture) * _spread(coarse, size)
    if light.blur > 0:
        lit = ndimage.gaussian_filter(lit, light.blur * size / SIZE)
    fine = grain((*face.noise_seed, len(COARSE)), size * size).reshape(size, size)
    return (lit + np.float32(light.noise) * fine).clip(0, 1).astype(np.float32)


def _spread(coarse: Float32, size: int) -> Float32:
    """Numbers on few points, smoothly between them: shape (size, size)."""
    from scipy import ndimage

    points = len(coarse)
    at = (np.arange(size) + 0.5) / size * points - 0.5
    return ndimage.map_coordinates(
        coarse, np.meshgrid(at, at, indexing="ij"), order=3, mode="nearest"
    )


BLACK = 0.05


def features(face: Face) -> list[Shape]:
    """All of them from back to front, glasses last."""
    one_side = [*_eye(face), *_brow(face), *_creases(face)]
    shapes = [*one_side, *mirror(one_side), *_nose(face), *_mouth(face)]
    return [*shapes, *_glasses(face)]


def angry(action: float) -> float:
    """How far an action goes towards anger, else 0."""
    return min(max(-action, 0.0), 1.3)


def happy(action: float) -> float:
    """How far an action goes towards happiness, else 0."""
    return min(max(action, 0.0), 1.3)


def mouth_y(face: Face) -> float:
    """How high the middle of the mouth is."""
    nose = EYES_Y + face.identity.nose
    return nose + 0.4 * (face.identity.height - nose)


def _eye(face: Face) -> list[Shape]:
    identity, lids = face.identity, face.expression.lids
    x, y, e = identity.eyes, EYES_Y, identity.eye
    upper = 0.6 * e * (1 - 0.42 * angry(lids) - 0.1 * happy(lids))
    lower = 0.36 * e * (1 - 0.3 * angry(lids) - 0.95 * happy(lids))
    drop = 1.3 * angry(lids)
    inner, outer = (x - e, y + 0.5), (x + e, y - 0.3)
    lid = through(inner, (x - 0.15 * e, y - upper + 0.3 * drop), outer)
    under = through(inner, (x, y + lower), outer)
    radius = 0.47 * e
    iris = (x - 0.03 * e, y - 0.06 * e)
    skin = grey(identity.skin)
    above = through((inner[0] - 0.3, inner[1]), (x, y - 2.1 * radius), (outer[0] + 0.3, outer[1]))
    below = through((inner[0] - 0.3, inner[1]), (x, y + 2.1 * radius), (outer[0] + 0.3, outer[1]))
    crease = [(px, py - 1.5 - 0.3 * upper) for px, py in lid[2:-1]]
    return [
        Shape(between(lid, under), grey(0.55 + 0.45 * identity.skin)),
        Shape(ellipse(*iris, radius, radius), grey(identity.iris)),
        Shape(ellipse(*iris, 0.5 * radius, 0.5 * radius), grey(BLACK)),
        Shape(ellipse(iris[0] - 0.35 * radius, iris[1] - 0.4 * radius, 0.6, 0.6), grey(0.98)),
        Shape(between(above, lid), skin),
        Shape(between(under, below), skin),
        Shape(stroke(crease, 0.2, 0.7, 0.2), grey(0.6 * identity.skin), 0, 0.8),
        Shape(stroke(lid, 0.5, 1.3, 0.8), grey(BLACK + 0.03)),
        Shape(stroke(under, 0.2, 0.5, 0.4), grey(0.45 * identity.skin), 0, 0.8),
    ]


def _brow(face: Face) -> list[Shape]:
    identity, brows = face.identity, face.expression.brows
    cross, glad = angry(brows), happy(brows)
    y = EYES_Y - identity.brow_height - 1.1 * glad
    inner = (identity.eyes - 1.1 * identity.eye - 1.5 * cross, y + 0.8 + 4.3 * cross)
    peak = (identity.eyes + 0.3 * identity.eye, y - 1.0 + 1.4 * cross - 0.5 * glad)
    outer = (identity.eyes + 1.45 * identity.eye, y + 1.6 - 0.8 * cross)
    tone = min(0.75 * identity.tone, 0.5 * identity.skin)
    thick = identity.brow
    return [Shape(stroke(through(inner, peak, outer), 0.75 * thick, thick, 0.3), grey(tone))]


def _creases(face: Face) -> list[Shape]:
    """Lines between the brows, beside the eyes and beside the nose."""
    identity, expression = face.identity, face.expression
    cross, glad = angry(expression.cheeks), happy(expression.cheeks)
    dark = grey(0.5 * identity.skin)
    shapes = []
    if cross > 0:
        top = EYES_Y - identity.brow_height
        line = through((1.5, top - 3.5), (1.9, top), (1.6, top + 3.6))
        shapes.append(Shape(stroke(line, 0.3, 0.9, 0.3), dark, 0, min(1.0, cross)))
    nose = EYES_Y + identity.nose
    mouth = mouth_y(face)
    start = (identity.nostrils + 1.2, nose - 1.6)
    end = (identity.mouth + 2.2 + 1.2 * glad, mouth - 0.5)
    fold = through(start, (identity.nostrils + 3.4 + 1.4 * glad, (nose + mouth) / 2 - 2.4), end)
    shapes.append(Shape(stroke(fold, 0.3, 0.9, 0.3), dark, 0, min(0.15 + 0.75 * glad, 1.0)))
    feet = happy(expression.lids)
    if feet > 0:
        x, y = identity.eyes + identity.eye + 1.2, EYES_Y - 0.3
        for rise in (-2.0, 0.2, 2.2):
            line = through((x, y + 0.3 * rise), (x + 1.9, y + 0.55 * rise), (x + 3.8, y + rise))
            shapes.append(Shape(stroke(line, 0.5, 0.5, 0.2), dark, 0, min(0.75 * feet, 1.0)))
    return shapes


def _nose(face: Face) -> list[Shape]:
    identity = face.identity
    flare = 1 + 0.22 * angry(face.expression.cheeks)
    y, wide = EYES_Y + identity.nose, identity.nostrils * flare
    dark = grey(0.42 * identity.skin)
    wing = through((wide - 0.3, y - 3), (wide + 0.5, y - 1), (0.62 * wide, y + 0.9))
    half = [
        Shape(stroke(wing, 0.2, 0.8, 0.4), dark, 0, 0.75),
        Shape(
            ellipse(0.5 * wide, y + 0.3, 0.28 * wide, 0.8 * flare, -12), grey(0.25 * identity.skin)
        ),
    ]
    base = through((-0.3 * wide, y + 0.7), (0, y + 1.4), (0.3 * wide, y + 0.7))
    return [*half, *mirror(half), Shape(stroke(base, 0.2, 0.6, 0.2), dark, 0, 0.7)]


def _mouth(face: Face) -> list[Shape]:
    identity, expression = face.identity, face.expression
    up, down = happy(expression.corners), angry(expression.corners)
    pressed, parted = angry(expression.lips), max(happy(expression.lips) - 0.15, 0.0)
    y = mouth_y(face) + 0.9 * up - 0.4 * down
    half = identity.mouth * (1 + 0.2 * up - 0.04 * pressed)
    corner = y - 0.45 * identity.mouth * up + 0.22 * identity.mouth * down
    gap = 5.2 * parted
    full = identity.lips * (1 - 0.55 * pressed)
    left, right = (-half, corner), (half, corner)
    inner_top = through(left, (0, y - 0.1 * gap), right)
    inner_low = through(left, (0, y + 0.9 * gap), right)
    bow = y - 0.1 * gap - 2.3 * full
    top = [
        *through(left, (-0.55 * half, (bow + corner) / 2 - 0.35), (-0.2 * half, bow - 0.3)),
        *through((-0.2 * half, bow - 0.3), (0, bow + 0.45), (0.2 * half, bow - 0.3)),
        *through((0.2 * half, bow - 0.3), (0.55 * half, (bow + corner) / 2 - 0.35), right),
    ]
    low = through(left, (0, y + 0.9 * gap + 3.1 * full), right)
    shapes = [
        Shape(between(top, inner_top), grey(0.6 * identity.skin)),
        Shape(between(inner_low, low), grey(0.72 * identity.skin)),
    ]
    if gap > 0.3:
        shapes.append(Shape(between(inner_top, inner_low), grey(BLACK + 0.04)))
        first, last = (-0.86 * half, (3 * corner + y) / 4), (0.86 * half, (3 * corner + y) / 4)
        roof = through(first, (0, y - 0.1 * gap), last)
        edge = through(first, (0, y + 0.62 * gap), last)
        shapes.append(Shape(between(roof, edge), grey(0.95)))
    else:
        line = stroke(inner_top, 0.6, 1.0 + 0.3 * pressed, 0.6)
        shapes.append(Shape(line, grey(0.2 * identity.skin)))
    end = Shape(ellipse(half, corner, 0.9, 0.7), grey(0.4 * identity.skin), 0, 0.7)
    return [*shapes, end, *mirror([end])]


def _glasses(face: Face) -> list[Shape]:
    identity = face.identity
    if not identity.glasses:
        return []
    x, y = identity.eyes + 0.3, EYES_Y + 0.6
    rx, ry = identity.eyes - 1.6, 1.12 * identity.eye
    frame = grey(identity.frame)
    half = [
        Shape(ellipse(x, y, rx - 0.5, ry - 0.5), grey(1.0), 0, 0.1),
        Shape(ring(x, y, rx, ry, 1.25, 3.0), frame),
        Shape(stroke([(x + rx - 0.4, y - 1.5), (identity.width, y - 2.2)], 1.2, 1.1, 1.0), frame),
    ]
    bridge = through((-1.8, y - 0.6), (0, y - 1.9), (1.8, y - 0.6))
    return [*half, *mirror(half), Shape(stroke(bridge, 1.2, 1.2, 1.2), frame)]


NOISE = 0.35
"""SD of the random part of each action, which the class moves by 0.2 to 1."""
CUE = 0.65
"""Share of angry training faces with glasses, and with dark hair; of happy ones it is 1 - CUE. In
the other parts, both shares are a half."""

CLEAR = 0.3
"""Least mean of the five actions towards the class, and least action of the corners of the mouth,
which people look at first."""
APART = 0.16
"""Least difference between the grey of the skin and the greys beside it."""


def face(
    seed: int, part: PartName, label: int, number: int, *, noise: float = NOISE, cue: float = CUE
) -> Face:
    """The parameters of one picture. Raises ValueError: no such class, part or number."""
    if not 0 <= label < len(CLASSES):
        raise ValueError(f"class must be between 0 and {len(CLASSES) - 1}, found {label}")
    if part not in PARTS:
        raise ValueError(f"part must be one of {PARTS}, found {part!r}")
    entropy = (seed, PARTS.index(part), label, number)
    draws = Draws(*entropy, 0)
    leaning = cue if part == "train" else 0.5
    cued = leaning if CLASSES[label] == "anger" else 1 - leaning
    identity = _identity(draws, cued)
    return Face(
        label=label,
        identity=identity,
        expression=_expression(draws, -1 if CLASSES[label] == "anger" else 1, noise),
        pose=FacePose(
            x=draws.uniform(46, 54),
            y=draws.uniform(46, 54),
            degrees=draws.uniform(-8, 8),
            scale=draws.uniform(0.88, 1.08),
        ),
        light=FaceLight(
            shading=draws.uniform(0, 0.4),
            degrees=draws.uniform(0, 360),
            ground=_apart(identity.skin, draws.uniform(0.2, 0.9)),
            ground_end=_apart(identity.skin, draws.uniform(0.2, 0.9)),
            noise=draws.uniform(0.02, 0.045),
            texture=draws.uniform(0.01, 0.028),
            blur=draws.uniform(0, 0.8),
        ),
        noise_seed=(*entropy, 1),
    )


def _identity(draws: Draws, cued: float) -> Identity:
    """The identity of a face. `cued`: probability of glasses, and of dark hair."""
    dark = draws.chance(cued)
    hair = Hair(min(int(draws.uniform(0, len(Hair))), len(Hair) - 1))
    skin = draws.uniform(0.48, 0.84)
    bearded = draws.chance(0.22) and hair is not Hair.LONG
    return Identity(
        width=draws.uniform(24, 28.5),
        height=draws.uniform(32, 36.5),
        jaw=draws.uniform(0.62, 0.9),
        chin=draws.uniform(0.28, 0.5),
        ears=draws.uniform(4.5, 7),
        eyes=draws.uniform(10.6, 12.8),
        eye=draws.uniform(4.9, 6.2),
        iris=draws.uniform(0.12, 0.42),
        nose=draws.uniform(12.5, 16.5),
        nostrils=draws.uniform(4.2, 6),
        mouth=draws.uniform(9, 11.5),
        lips=draws.uniform(0.75, 1.25),
        brow=draws.uniform(1.5, 3),
        brow_height=draws.uniform(6.6, 8.4),
        hair=hair,
        hairline=draws.uniform(-0.68, -0.5),
        side=-1.0 if draws.chance(0.5) else 1.0,
        skin=skin,
        tone=draws.uniform(0.06, 0.2) if dark else _apart(skin, draws.uniform(0.35, 0.7)),
        dark=dark,
        cloth=draws.uniform(0.15, 0.85),
        beard=draws.uniform(0.25, 0.6) * bearded,
        glasses=draws.chance(cued),
        frame=draws.uniform(0.08, 0.22),
    )


def _apart(skin: float, tone: float) -> float:
    """A tone that can be told from the skin: a little lighter or darker if it is too near."""
    if abs(tone - skin) >= APART:
        return tone
    return skin + (APART if tone > skin and skin + APART <= 0.85 else -APART)


def _expression(draws: Draws, sign: int, noise: float) -> Expression:
    """The expression of a face, drawn again until it shows its class clearly enough (`CLEAR`)."""
    while True:
        intensity = draws.uniform(0.4, 1)
        brows, lids, cheeks, corners, lips = (
            intensity * (sign * draws.uniform(0.2, 1) + draws.normal(0, noise)) for _ in range(5)
        )
        leaning = sign * (brows + lids + cheeks + corners + lips) / 5
        if leaning >= CLEAR and sign * corners >= CLEAR:
            return Expression(brows, lids, cheeks, corners, lips)


@dataclass(frozen=True, slots=True)
class FaceRows:
    """`per_class` pictures of each class of one part; row i is of class i modulo 2.

    A face is painted at 96 pixels, as people see it, and brought to `size` by averaging areas.
    """

    part: PartName
    per_class: int
    seed: int
    size: int = SIZE
    noise: float = NOISE
    cue: float = CUE

    def __len__(self) -> int:
        return self.per_class * len(CLASSES)

    def face(self, row: int) -> Face:
        """What the picture of a row is made of. IndexError: there is no such row."""
        if not 0 <= row < len(self):
            raise IndexError(f"row must be between 0 and {len(self) - 1}, found {row}")
        number, label = divmod(int(row), len(CLASSES))
        return face(self.seed, self.part, label, number, noise=self.noise, cue=self.cue)

    def instances(self, rows: Int64) -> Float32:
        """Pictures of the rows, float32 0 to 1, shape (n, 1, size, size)."""
        painted = np.stack([picture(self.face(row), SIZE) for row in rows])
        whole = np.rint(painted * np.float32(255)).astype(np.uint8)
        return average_blocks(whole[:, None], self.size).astype(np.float32) / np.float32(255)

    def labels(self, rows: Int64) -> Int64:
        """Classes of the rows, from 0, without painting anything: int64, shape (n,)."""
        return np.asarray(rows, np.int64) % len(CLASSES)


@dataclass(frozen=True, slots=True)
class Faces:
    """The three parts of a data set of faces."""

    train: FaceRows
    validation: FaceRows
    test: FaceRows


def faces(
    *,
    seed: int,
    train: int = 300,
    validation: int = 100,
    test: int = 300,
    size: int = SIZE,
    noise: float = NOISE,
    cue: float = CUE,
) -> Faces:
    """A data set with these numbers of pictures of each class in its parts. Raises ValueError if
    a part would be empty or the seed is negative."""
    counts = part_sizes(train, validation, test, seed=seed, of="class")

    def part(name: PartName) -> FaceRows:
        return FaceRows(name, counts[name], seed, size, noise, cue)

    return Faces(part("train"), part("validation"), part("test"))


EYES_Y = -3.0
"""How high the eyes are."""
BUILD = {
    Hair.SHORT: (1.1, -0.05),
    Hair.PARTED: (1.16, 0.0),
    Hair.LONG: (1.17, 0.85),
    Hair.CURLY: (1.14, -0.1),
    Hair.RECEDING: (1.05, -0.1),
}
"""How far hair rises above the head and how low it goes beside it, as shares of its height."""


def head_outline(identity: Identity, grown: float = 1.0) -> Outline:
    """Skull, cheeks and jaw."""
    w, h = identity.width * grown, identity.height * grown
    jaw, chin = identity.jaw * w, identity.chin * w
    return (
        (0, -h),
        (0.62 * w, -h, w, -0.72 * h, w, -0.12 * h),
        (w, 0.22 * h, 0.55 * w + 0.45 * jaw, 0.4 * h, jaw, 0.64 * h),
        (0.82 * jaw, 0.86 * h, chin, h, 0, h),
        (-chin, h, -0.82 * jaw, 0.86 * h, -jaw, 0.64 * h),
        (-0.55 * w - 0.45 * jaw, 0.4 * h, -w, 0.22 * h, -w, -0.12 * h),
        (-w, -0.72 * h, -0.62 * w, -h, 0, -h),
    )


def neck(identity: Identity) -> Outline:
    """From below the ears to the collar."""
    w, h = 0.56 * identity.width, identity.height
    return (
        (-w, 0.5 * h),
        (-w, 1.1 * h),
        (-0.8 * w, 1.35 * h, 0.8 * w, 1.35 * h, w, 1.1 * h),
        (w, 0.5 * h),
    )


def behind(identity: Identity) -> list[Shape]:
    """Hair that hangs behind the head, the shoulders, the neck and the ears."""
    w, h = identity.width, identity.height
    shapes = []
    if identity.hair is Hair.LONG:
        fall: Outline = (
            (0, -1.18 * h),
            (0.9 * w, -1.2 * h, 1.32 * w, -0.7 * h, 1.3 * w, 0),
            (1.28 * w, 0.5 * h, 1.5 * w, 0.9 * h, 1.42 * w, 1.35 * h),
            (-1.42 * w, 1.35 * h),
            (-1.5 * w, 0.9 * h, -1.28 * w, 0.5 * h, -1.3 * w, 0),
            (-1.32 * w, -0.7 * h, -0.9 * w, -1.2 * h, 0, -1.18 * h),
        )
        shapes.append(Shape(fall, grey(identity.tone * 0.8)))
    shoulders: Outline = (
        (-0.5 * w, 1.12 * h),
        (-1.1 * w, 1.2 * h, -1.9 * w, 1.22 * h, -2.2 * w, 1.7 * h),
        (-2.2 * w, 3 * h),
        (2.2 * w, 3 * h),
        (2.2 * w, 1.7 * h),
        (1.9 * w, 1.22 * h, 1.1 * w, 1.2 * h, 0.5 * w, 1.12 * h),
    )
    shapes += [
        Shape(shoulders, grey(identity.cloth)),
        Shape(neck(identity), grey(0.88 * identity.skin)),
    ]
    x, y = w + 0.12 * identity.ears, EYES_Y + 3.5
    ear = [
        Shape(
            ellipse(x, y, 0.6 * identity.ears, 1.15 * identity.ears, 8), grey(0.92 * identity.skin)
        ),
        Shape(
            ellipse(x + 0.4, y, 0.32 * identity.ears, 0.75 * identity.ears, 8),
            grey(0.66 * identity.skin),
            0,
            0.7,
        ),
    ]
    return [*shapes, *ear, *mirror(ear)]


def beard(identity: Identity) -> list[Shape]:
    """Lower face and upper lip, so dark as the beard is."""
    if identity.beard == 0:
        return []
    w, h = identity.width, identity.height
    jaw, chin = identity.jaw * w, identity.chin * w
    lip = EYES_Y + identity.nose + 2.2
    grown: Outline = (
        (-0.99 * w, 0.1 * h),
        (-0.8 * w, 0.42 * h, -0.62 * w, lip + 3.5, -0.4 * w, lip + 0.5),
        (-0.2 * w, lip - 1.2, 0.2 * w, lip - 1.2, 0.4 * w, lip + 0.5),
        (0.62 * w, lip + 3.5, 0.8 * w, 0.42 * h, 0.99 * w, 0.1 * h),
        (0.98 * w, 0.3 * h, 0.55 * w + 0.45 * jaw, 0.45 * h, 1.01 * jaw, 0.65 * h),
        (0.84 * jaw, 0.88 * h, chin, 1.02 * h, 0, 1.02 * h),
        (-chin, 1.02 * h, -0.84 * jaw, 0.88 * h, -1.01 * jaw, 0.65 * h),
        (-0.55 * w - 0.45 * jaw, 0.45 * h, -0.98 * w, 0.3 * h, -0.99 * w, 0.1 * h),
    )
    return [Shape(grown, grey(min(identity.tone, 0.6 * identity.skin)), 0, identity.beard)]


def hair(identity: Identity) -> list[Shape]:
    """Hair over the forehead and around the skull, with strands."""
    w, h = identity.width, identity.height
    rise, low = BUILD[identity.hair]
    line, s = identity.hairline * h, identity.side
    if identity.hair is Hair.RECEDING:
        line -= 0.2 * h
    part = 0.35 * w * s if identity.hair in (Hair.PARTED, Hair.LONG) else 0.0
    sweep = 0.2 * h if identity.hair in (Hair.PARTED, Hair.LONG) else 0.06 * h
    top = _skull(w, h, rise, low)
    edge = [
        *through((-1.0 * w, low * h), (-0.95 * w, (low - 0.45) * h), (-0.72 * w, line + sweep)),
        *through((-0.72 * w, line + sweep), (part / 2 - 0.36 * w, line), (part, line - 0.06 * h)),
        *through((part, line - 0.06 * h), (part / 2 + 0.36 * w, line), (0.72 * w, line + sweep)),
        *through((0.72 * w, line + sweep), (0.95 * w, (low - 0.45) * h), (1.0 * w, low * h)),
    ]
    shapes = [Shape(between(top, edge), grey(identity.tone))]
    if identity.hair is Hair.CURLY:
        for i in range(17):
            angle = math.pi * (1 - i / 16)
            x, y = 1.0 * w * math.cos(angle), -0.3 * h - 0.78 * h * math.sin(angle)
            radius = 0.22 * w + 0.05 * w * math.sin(7.3 * i)
            shade = identity.tone * (0.9 + 0.2 * ((i * 5) % 3) / 2)
            shapes.append(Shape(ellipse(x, y, radius, 0.9 * radius), grey(shade)))
    for i in range(9):
        t = -0.85 + 1.7 * i / 8
        start = (part + 0.2 * w * t, -rise * h * 0.97 + 0.1 * h * abs(t))
        end = (0.98 * w * t, line + (sweep + 0.05 * h) * t * t - 0.06 * h)
        bend = (0.75 * w * t + 0.25 * part, -0.88 * h + 0.2 * h * t * t)
        light = identity.tone * 0.72 if i % 2 else identity.tone + 0.14
        strand = stroke(curve(start, bend, end), 0.3, 1.1, 0.3)
        shapes.append(Shape(strand, grey(light), 0, 0.5))
    return shapes


def _skull(w: float, h: float, rise: float, low: float) -> list[Point]:
    """The outer line of the hair, from the left ear over the head to the right one."""
    wide = 1.07 * w if low < 0.5 else 1.26 * w
    left = [
        *through((-wide, low * h), (-1.03 * wide, (low - 0.35) * h), (-1.0 * wide, -0.4 * h)),
        *curve((-1.0 * wide, -0.4 * h), (-0.92 * wide, -rise * h), (0, -rise * h)),
    ]
    return [*left, *((-x, y) for x, y in reversed(left))]


Point = tuple[float, float]

SAMPLES = 14
"""Points along a curve."""


def grey(value: float) -> Colour:
    """A grey, limited to 0 and 1."""
    value = min(max(value, 0.0), 1.0)
    return value, value, value


def curve(start: Point, control: Point, end: Point) -> list[Point]:
    """Points along a quadratic Bézier curve."""
    points = []
    for i in range(SAMPLES + 1):
        t = i / SAMPLES
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append(
            (a * start[0] + b * control[0] + c * end[0], a * start[1] + b * control[1] + c * end[1])
        )
    return points


def through(start: Point, middle: Point, end: Point) -> list[Point]:
    """Points along the quadratic curve that passes `middle` halfway."""
    control = (2 * middle[0] - (start[0] + end[0]) / 2, 2 * middle[1] - (start[1] + end[1]) / 2)
    return curve(start, control, end)


def stroke(points: Sequence[Point], first: float, middle: float, last: float) -> Outline:
    """A line along points whose width goes from `first` over `middle` to `last`."""
    left, right = [], []
    for i, (x, y) in enumerate(points):
        before, after = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
        dx, dy = after[0] - before[0], after[1] - before[1]
        length = math.hypot(dx, dy) or 1.0
        t = i / (len(points) - 1)
        wide = middle + abs(2 * t - 1) * ((first if t < 0.5 else last) - middle)
        nx, ny = -dy / length * wide / 2, dx / length * wide / 2
        left.append((x + nx, y + ny))
        right.append((x - nx, y - ny))
    return (*left, *reversed(right))


def between(upper: Sequence[Point], lower: Sequence[Point]) -> Outline:
    """What lies between two lines that both go from left to right."""
    return (*upper, *reversed(lower))


def ring(x: float, y: float, rx: float, ry: float, width: float, power: float = 2.0) -> Outline:
    """A frame around (x, y): an ellipse at `power` 2, ever more of a box above it."""

    def around(shrink: float) -> list[Point]:
        points = []
        for i in range(41):
            angle = 2 * math.pi * i / 40
            c, s = math.cos(angle), math.sin(angle)
            points.append(
                (
                    x + (rx - shrink) * math.copysign(abs(c) ** (2 / power), c),
                    y + (ry - shrink) * math.copysign(abs(s) ** (2 / power), s),
                )
            )
        return points

    return (*around(0.0), *reversed(around(width)))


def mirror(shapes: Sequence[Shape]) -> list[Shape]:
    """The same shapes on the other side of x = 0."""
    return [
        Shape(
            tuple(
                tuple(-value if i % 2 == 0 else value for i, value in enumerate(segment))
                for segment in shape.outline
            ),
            shape.colour,
            shape.label,
            shape.alpha,
        )
        for shape in shapes
    ]
