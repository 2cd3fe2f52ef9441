"""A picture of a whole tree of prototypes, from the root at the left to the species at the right.

It has no words, so that it is the same in every language: a green line with a tick leads on where
the prototype is present, a grey one with a cross where it is absent; a leaf has the number that its
species has in the study.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from labapp.explanations.prototree.tree import DecisionTree

ROW, COLUMN, MARGIN = 44, 190, 30
"""Pixels from leaf to leaf, from question to question, and around all."""
CROP, LEAF = 76, 17
"""Side of a prototype's picture, and radius of a leaf, in pixels."""
INK, ABSENT, PRESENT = "#222222", "#8a8a8a", "#1a7f4b"


@dataclass(frozen=True, slots=True)
class _Point:
    x: int
    y: int


def draw_tree(
    tree: DecisionTree, crops: Mapping[int, Image.Image], species: Sequence[int]
) -> bytes:
    """The tree as PNG with 256 colours.

    Parameters
    ----------
    crops : a picture of the prototype of each inner node.
    species : of each leaf, from 0, in the order of the leaves; shown counted from 1.
    """
    places = _places(tree)
    width = max(place.x for place in places.values()) + LEAF + MARGIN
    height = max(place.y for place in places.values()) + LEAF + MARGIN
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for node in tree.inner.tolist():
        for child, present in zip(tree.children[node].tolist(), (False, True), strict=True):
            _line(draw, places[node], places[child], present)
    for node in tree.inner.tolist():
        at = places[node]
        crop = crops[node].resize((CROP, CROP), Image.Resampling.LANCZOS)
        image.paste(crop, (at.x - CROP // 2, at.y - CROP // 2))
        box = (at.x - CROP // 2 - 1, at.y - CROP // 2 - 1, at.x + CROP // 2, at.y + CROP // 2)
        draw.rectangle(box, outline=INK, width=1)
    font = ImageFont.load_default(18)
    for node, number in zip(tree.leaves.tolist(), species, strict=True):
        at = places[node]
        draw.ellipse((at.x - LEAF, at.y - LEAF, at.x + LEAF, at.y + LEAF), "white", INK, 2)
        draw.text((at.x, at.y), str(number + 1), INK, font, anchor="mm")
    out = io.BytesIO()
    image.quantize(256).save(out, "PNG", optimize=True)
    return out.getvalue()


def _places(tree: DecisionTree) -> dict[int, _Point]:
    """The middle of every node: leaves one below the other, a question between its answers."""
    depth = {0: 0}
    for node in tree.inner.tolist():
        for child in tree.children[node].tolist():
            depth[child] = depth[node] + 1
    order: list[int] = []
    ahead = [0]
    while ahead:
        node = ahead.pop()
        order.append(node)
        if tree.children[node, 0] >= 0:
            absent, present = tree.children[node].tolist()
            ahead += [present, absent]
    leaves = [node for node in order if tree.children[node, 0] < 0]
    y = {node: place * ROW for place, node in enumerate(leaves)}
    for node in reversed(tree.inner.tolist()):
        absent, present = tree.children[node].tolist()
        y[node] = (y[absent] + y[present]) // 2
    left = MARGIN + CROP // 2
    return {node: _Point(left + COLUMN * depth[node], MARGIN + CROP // 2 + y[node]) for node in y}


def _line(draw: ImageDraw.ImageDraw, start: _Point, end: _Point, present: bool) -> None:
    """From a question to what follows, its sign in the middle."""
    colour = PRESENT if present else ABSENT
    x = start.x + COLUMN // 2 + 12
    draw.line([(start.x, start.y), (x, end.y), (end.x, end.y)], colour, 3)
    m = (x + 14, end.y)
    draw.ellipse((m[0] - 9, m[1] - 9, m[0] + 9, m[1] + 9), "white", colour, 2)
    if present:
        draw.line([(m[0] - 4, m[1]), (m[0] - 1, m[1] + 4), (m[0] + 5, m[1] - 4)], colour, 2)
    else:
        draw.line([(m[0] - 4, m[1] - 4), (m[0] + 4, m[1] + 4)], colour, 2)
        draw.line([(m[0] - 4, m[1] + 4), (m[0] + 4, m[1] - 4)], colour, 2)
