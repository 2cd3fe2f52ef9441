"""dSprites(lambda): five binary concepts of dSprites' factors, and eight classes made of them.

Paper 001, A.6. By its rule a task has 46,080 of the 737,280 pictures whatever lambda is, of which
36,864 are trained on; the paper speaks of about 32,000. Its released code departs from its text:
every fourth rotation where lambda is below 2, classes from [c2 c3] and [c4 c5] with positions below
15, and a correlation of factors i and i + 1 decided by concept i in place of concept 1, positions
drawn from 20 in place of 24 values. `reading="released"` does so too, with 23,040 pictures where
lambda is 0; the figures of the paper rest on that. What is not copied: of hearts, the released code
compares shapes with the allowed scales, a slip.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from labapp.base.reading import files as opened
from labapp.models.datasets import dsprites
from labapp.models.datasets.concepts.rows import (
    ChangedRows,
    ConceptRows,
    ConceptSplit,
    ConceptWords,
    Origin,
    Reading,
    UInt8,
    Words,
    binary,
    check_reading,
    divide,
    generator,
    make_correlation_rule,
    order,
    rules_of,
)
from labapp.models.datasets.dsprites import draw_large
from labapp.models.datasets.split import Float32, Float64, Int64, Rows

BELOW = (2, 3, 20, 16, 16)
"""Concept i is 1 if the number of factor i's value is below this."""
CONCEPTS = ("square or ellipse", "small", "turned by less than half", "left", "top")
CLASSES = 8
MOST = len(BELOW) - 1
"""The most correlations there can be."""
RELEASED_STEPS = (
    (1, 2, 4, 2, 2), (1, 1, 4, 2, 2), (1, 1, 2, 2, 2), (1, 1, 2, 1, 2), (1, 1, 2, 1, 1),
)  # fmt: skip
"""By lambda, the values of each factor that the released code keeps: every so many."""
RELEASED_HALVES = (None, None, None, (20, 16), (20, 16))
"""Of each factor: of how many lower or upper values how many are allowed, if that is not half of
three quarters."""
RELEASED_BELOW = (2, 3, 20, 15, 15)
"""As `BELOW`, for the label of the released code; its concepts are those of `BELOW`."""
WORDS = (
    ConceptWords(
        "shape", "Shape", "heart", "no heart", {"de": Words("Form", "Herz", "kein Herz")}, "off"
    ),
    ConceptWords("size", "Size", "large", "small", {"de": Words("Größe", "groß", "klein")}, "off"),
    ConceptWords(
        "rotation", "Rotation", "half a turn or more", "less than half a turn",
        {"de": Words("Drehung", "halb oder mehr", "weniger als halb")}, "off",
    ),
    ConceptWords("side", "Side", "right", "left", {"de": Words("Seite", "rechts", "links")}, "off"),
    ConceptWords("height", "Height", "bottom", "top", {"de": Words("Höhe", "unten", "oben")}),
)  # fmt: skip
FOUR = (1, 3, 4, 0)
"""The factors of the task without rotation, in the order of its concepts."""
UNCLEAR = {1: (0.65, 0.85), 3: (0.3, 0.7), 4: (0.3, 0.7)}
"""By factor, values that are too near to where its concept ends for people to tell it by eye: the
two middle sizes, and centres in the middle fifth of a picture's width or height (positions run from
a quarter to three quarters of it)."""
BACKGROUND, CORRUPTED = 0.1, 0.75
"""A spurious background is this times the label, on this share of the training pictures (A.8)."""


def concepts(indices: Int64) -> Int64:
    """Of numbers of factor values, shape (n, 5): 0 or 1, int64, shape (n, 5)."""
    return (indices < np.array(BELOW)).astype(np.int64)


def labels(c: Int64) -> Int64:
    """Of concepts, shape (n, 5): [c2 c4] in binary where c1 is 1, else 4 + [c3 c5]; int64, (n,)."""
    c1, c2, c3, c4, c5 = c.T
    return np.where(c1 == 1, binary(c2, c4), 4 + binary(c3, c5))


def label_as_released(indices: Int64) -> Int64:
    """Of numbers of factor values, shape (n, 5), as the released code has them: [c2 c3] where c1 is
    1, else 4 + [c4 c5]; int64, (n,)."""
    return _label_by_concepts((indices < np.array(RELEASED_BELOW)).astype(np.int64))


def _label_by_concepts(c: Int64) -> Int64:
    c1, c2, c3, c4, c5 = c.T
    return np.where(c1 == 1, binary(c2, c3), 4 + binary(c4, c5))


def sprites(
    correlations: int = 0, *, seed: int = 0, official: Path | None = None, reading: Reading = "text"
) -> ConceptSplit:
    """The task, four fifths of its rows to train on. Raises ValueError: correlations outside 0 to
    4, or another reading. Raises DatasetError: `official` is missing, damaged, or not the published
    file.

    correlations : lambda, 0 to 4: as many factors depend on the one before.
    seed : of the values that are allowed, and of the division.
    official : the published file; its pictures take the place of drawn ones.
    """
    every = np.arange(dsprites.COUNT)
    indices = dsprites.grid_indices(every)
    check_reading(reading)
    annotated = concepts(indices)
    if reading == "text":
        rule = make_correlation_rule(dsprites.SIZES, correlations, seed)
        decides, classes = annotated[:, 0], labels(annotated)
    else:
        rule = make_correlation_rule(
            dsprites.SIZES,
            correlations,
            seed,
            steps=RELEASED_STEPS[max(0, min(correlations, MOST))],
            halves=RELEASED_HALVES,
        )
        decides, classes = annotated, label_as_released(indices)
    return _make_split(
        f"dSprites({correlations})" + (", released reading" if reading == "released" else ""),
        every[rule.keeps(indices, decides)],
        annotated,
        range(len(CONCEPTS)),
        classes,
        rules_of(labels if reading == "text" else _label_by_concepts, len(CONCEPTS)),
        seed,
        official,
    )


def four_labels(c: Int64) -> Int64:
    """Of the concepts small, left, top, square or ellipse, shape (n, 4): [c1 c2] in binary where c4
    is 1, else 4 + [c2 c3]; int64, (n,)."""
    small, left, top, angular = c.T
    return np.where(angular == 1, binary(small, left), 4 + binary(left, top))


def four_sprites(*, seed: int = 0, official: Path | None = None) -> ConceptSplit:
    """The pictures of dSprites(0) in the released reading with the four concepts that people can
    see: rotation varies, and is none of them. Eight classes, see `four_labels`.

    People cannot tell every picture's concepts: see `UNCLEAR`. Of the task with rotation nothing is
    said, because the half turn of a square or ellipse is not to be seen at all.

    Parameters, and errors, are those of `sprites`.
    """
    every = np.arange(dsprites.COUNT)
    indices = dsprites.grid_indices(every)
    rule = make_correlation_rule(dsprites.SIZES, 0, seed, steps=RELEASED_STEPS[0])
    annotated = concepts(indices)[:, FOUR]
    return _make_split(
        "dSprites, four concepts",
        every[rule.keeps(indices, np.zeros_like(every))],
        annotated,
        FOUR,
        four_labels(annotated),
        rules_of(four_labels, len(FOUR)),
        seed,
        official,
        UNCLEAR,
    )


def _make_split(
    name: str,
    kept: Int64,
    annotated: Int64,
    factors: Sequence[int],
    classes: Int64,
    rules: tuple[dict[int, int], ...],
    seed: int,
    official: Path | None,
    unclear: Mapping[int, tuple[float, float]] | None = None,
) -> ConceptSplit:
    """The task of the rows `kept` of the grid, whose concepts are those of some factors; concepts
    and classes are of all its rows."""
    train, test = divide(kept, seed)
    origin: Origin = "rendered"
    parts: tuple[Rows, Rows] = dsprites.RenderedSprites(train), dsprites.RenderedSprites(test)
    files: Mapping[str, str] = {}
    if official is not None:
        whole = dsprites.read(official)
        parts, origin = (whole.part(train), whole.part(test)), "official"
        with opened.open_file(official) as stream:
            files = {dsprites.OFFICIAL: hashlib.file_digest(stream, "sha256").hexdigest()}
    return ConceptSplit(
        name=name,
        train=ConceptRows(parts[0], annotated[train], classes[train]),
        test=ConceptRows(parts[1], annotated[test], classes[test]),
        factor_names=dsprites.NAMES,
        concept_names=tuple(CONCEPTS[factor] for factor in factors),
        classes=CLASSES,
        origin=origin,
        files=files,
        words=tuple(WORDS[factor] for factor in factors),
        rules=rules,
        draw=_draw_picture,
        unclear=unclear or {},
    )


def _draw_picture(factors: Float64, pixels: int) -> UInt8:
    white = np.rint(255 * draw_large(factors, pixels)).astype(np.uint8)
    return np.repeat(white[:, :, None], 3, axis=2)


def corrupt_backgrounds(rows: ConceptRows, *, seed: int = 0) -> ConceptRows:
    """The same rows with a background that reveals the label on three quarters of the pictures,
    drawn by `seed` (paper 001, A.8)."""
    count = len(rows)
    changed = np.zeros(count, dtype=np.bool_)
    changed[order(generator(seed, 2), count)[: round(CORRUPTED * count)]] = True
    brightness = np.where(changed, BACKGROUND * rows.labels_of, 0.0).astype(np.float32)

    def on_background(pictures: Float32, rows: Int64) -> Float32:
        return np.maximum(pictures, brightness[rows, None, None])

    return ConceptRows(ChangedRows(rows.rows, on_background), rows.concepts_of, rows.labels_of)


def spurious(split: ConceptSplit, *, seed: int = 0) -> ConceptSplit:
    """The same task, its training pictures `corrupt_backgrounds`; the test pictures stay as they
    are."""
    return replace(
        split,
        name=f"{split.name}, spurious background",
        train=corrupt_backgrounds(split.train, seed=seed),
    )
