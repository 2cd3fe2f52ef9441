"""Words that the figures and the sections of the unmasking study share."""

from __future__ import annotations

import pandas as pd

from labapp.analysis.formats import count
from labapp.analysis.unmasking.results import Group

INTERVAL = (
    "Vertical lines: 95 % intervals, percentile bootstrap over participants (ours: the paper does "
    "not say what its error bars are)."
)
OVER_IMAGES = "Vertical lines: 95 % intervals, percentile bootstrap over images (ours)."


def of_people(group: Group) -> str:
    """62 participants, 18,600 annotations."""
    return f"{count(group.participants, 'participant')}, {labelled(len(group.annotations))}"


def labelled(n: int) -> str:
    """1,860 annotations."""
    return f"{n:,} annotation{'' if n == 1 else 's'}"


def images(n: int) -> str:
    """10 images."""
    return count(n, "image")


def annotations_of(counts: pd.Series[int]) -> str:
    """How many stand behind each value of a line: n = 620, or n = 12 to 620."""
    known = counts.dropna()
    if known.empty:
        return "n = 0"
    least, most = int(known.min()), int(known.max())
    return f"n = {least:,}" if least == most else f"n = {least:,} to {most:,}"
