"""The bird itself, in its own units: facing right, the origin in its body, y down.

Parts are numbered in the order in which they are painted: of two parts at a pixel, the one with the
higher number is visible. A mark that a bird does not have, such as a crest, is still made without
colour, because it has a place that a leaf can hide.
"""

from __future__ import annotations

import colorsys
from enum import IntEnum

from labapp.datasets.birds.species import GENERA, Bird, FieldMark
from labapp.datasets.outlines import Colour, Outline, Shape, box, ellipse, turned


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
    turn = turned(bird.pose.wing_degrees, (-4, 2))
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
