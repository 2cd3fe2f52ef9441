"""Published ratings."""

from __future__ import annotations

FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
"""Ratings by category of ten subjects by fourteen raters."""

KRIPPENDORFF = [
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
]  # fmt: skip
"""Krippendorff 2011, section C: four observers, twelve units."""

WIKIPEDIA = [
    ". . . . . 3 4 1 2 1 1 3 3 . 3", "1 . 2 1 3 3 4 3 . . . . . . .",
    ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
]  # fmt: skip
"""Of the article on Krippendorff's alpha: three coders, fifteen units."""

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
"""Shrout and Fleiss 1979, Table 2: six targets by four judges."""


def from_lines(lines: list[str]) -> list[list[int | None]]:
    """By unit what each rater gave."""
    by_rater = [[None if cell == "." else int(cell) for cell in line.split()] for line in lines]
    return [list(unit) for unit in zip(*by_rater, strict=True)]


def from_table(table: list[list[int]]) -> list[list[int]]:
    """The units of two raters that a confusion table counts."""
    return [
        [first, second]
        for first, row in enumerate(table)
        for second, times in enumerate(row)
        for _ in range(times)
    ]


def from_counts(counts: list[list[int]]) -> list[list[int]]:
    """Of each unit the ratings by category."""
    return [[at for at, times in enumerate(row) for _ in range(times)] for row in counts]
