"""One face to pixels: drawn flat, shaded softly, then under its light and with its grain.

What recipes and cards need of faces is read without scipy, which is loaded by painting alone.
"""

from __future__ import annotations

import math

import numpy as np

from labapp.datasets.draws import grain
from labapp.datasets.faces import head
from labapp.datasets.faces.features import angry, features, happy, mouth_y
from labapp.datasets.faces.head import EYES_Y
from labapp.datasets.faces.parameters import Face
from labapp.datasets.faces.strokes import curve, grey, mirror, stroke
from labapp.datasets.outlines import Affine, Gradient, Shape, ellipse, turned
from labapp.datasets.painter import UNITS, paint
from labapp.datasets.split import Float32

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
    """The face in its light: float32 0 to 1, shape (size, size).

    Raises ValueError where `size` is not positive.
    """
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
    grey_of: Float32 = paint(moved, ground, size)[0]
    return grey_of


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
    pixels: Float32 = (lit + np.float32(light.noise) * fine).clip(0, 1).astype(np.float32)
    return pixels


def _spread(coarse: Float32, size: int) -> Float32:
    """Numbers on few points, smoothly between them: shape (size, size)."""
    from scipy import ndimage

    points = len(coarse)
    at = (np.arange(size) + 0.5) / size * points - 0.5
    spread: Float32 = ndimage.map_coordinates(
        coarse, np.meshgrid(at, at, indexing="ij"), order=3, mode="nearest"
    )
    return spread
