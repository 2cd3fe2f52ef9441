"""One face to pixels: drawn flat, shaded softly, then under its light and with its grain.

What recipes and cards need of faces is read without scipy, which is loaded by painting alone.
"""

from __future__ import annotations

import math

import numpy as np

from labapp.models.datasets.draws import grain
from labapp.models.datasets.faces import head
from labapp.models.datasets.faces.head import EYES_Y
from labapp.models.datasets.faces.parameters import Face
from labapp.models.datasets.faces.strokes import between, curve, grey, mirror, ring, stroke, through
from labapp.models.datasets.outlines import Affine, Gradient, Shape, ellipse, turned
from labapp.models.datasets.painter import UNITS, paint
from labapp.models.datasets.split import Float32

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
        *head.behind(identity),
        Shape(head.outline(identity), grey(identity.skin)),
        *head.beard(identity),
        *features(face),
        *head.hair(identity),
    ]
    light = face.light
    ground = Gradient((0, 0), (UNITS, UNITS), grey(light.ground), grey(light.ground_end))
    even = Gradient((0, 0), (0, UNITS), grey(NEUTRAL), grey(NEUTRAL))
    flat = _painted(drawn, move, ground, size)
    shade: Float32 = ndimage.gaussian_filter(
        _painted(_shadows(face), move, even, size), SOFT * size
    )
    skin = [Shape(outline, grey(1)) for outline in (head.outline(identity), head.neck(identity))]
    on_skin = _painted(skin, move, Gradient((0, 0), (0, UNITS), grey(0), grey(0)), size)
    shaded: Float32 = flat * (1 + (shade / np.float32(NEUTRAL) - 1) * on_skin)
    return _lit(shaded, face)


def placement(face: Face) -> Affine:
    """The map from the face's units to those of the picture."""
    pose, scale = face.pose, face.pose.scale * FILL
    place = Affine(1, 0, 0, 1, pose.x, pose.y)
    return place.after(turned(pose.degrees)).after(Affine(scale, 0, 0, scale, 0, 0))


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


def _lit(drawn: Float32, face: Face) -> Float32:
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
