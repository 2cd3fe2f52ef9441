"""Head, hair and clothes, in the face's units: the origin between eyes and mouth, y down."""

from __future__ import annotations

import math

from labapp.models.datasets.faces.parameters import Hair, Identity
from labapp.models.datasets.faces.strokes import (
    Point,
    between,
    curve,
    grey,
    mirror,
    stroke,
    through,
)
from labapp.models.datasets.outlines import Outline, Shape, ellipse

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


def outline(identity: Identity, grown: float = 1.0) -> Outline:
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
