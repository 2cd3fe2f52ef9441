"""Tables and their cells as the report lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.base.report.page import Html, decimal, details, joined, paragraph, table, two_lines

FOLDED_FROM = 20
"""A list of more rows is folded away: nobody has to go past it."""
SHOWN_ROWS = 150
"""Most rows of a list in the report; the tables saved beside it have all."""
NONE = "–"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain values; None where a value is missing."""
    names = [str(name) for name in frame.columns]
    missing = frame.isna().to_numpy().T.tolist()  # at once: a column each takes ten times as long
    columns = [
        [
            None if gone else value.item() if isinstance(value, np.generic) else value
            for value, gone in zip(column.tolist(), gaps, strict=True)
        ]
        for (_, column), gaps in zip(frame.items(), missing, strict=True)
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def limited(
    names: Sequence[object],
    rows: Sequence[Sequence[object]],
    numeric: Iterable[int] = (),
    most: int | None = SHOWN_ROWS,
) -> Html:
    """A table of the first rows, and how many more there are; folded away where they are many.
    most: so many rows; None: all, in a place that is folded already."""
    shown = table(names, rows[:most], numeric=numeric)
    if most is None or len(rows) < FOLDED_FROM:
        return shown
    if len(rows) > most:
        left = f"{len(rows) - most} more rows are in the tables beside this page."
        shown = joined([shown, paragraph(left, "quiet")])
    return details(f"The list of {len(rows)} entries", shown)


def spread(values: NDArray[np.float64], decimals: int) -> object:
    """A cell with mean and sample standard deviation, and below them the median and n."""
    if values.size == 0:
        return NONE
    mean = decimal(values.mean(), decimals)
    if values.size == 1:
        return two_lines(mean, "n = 1")
    sd = decimal(values.std(ddof=1), decimals, like=values.mean())
    median = decimal(float(np.median(values)), decimals)
    return two_lines(f"{mean} ± {sd}", f"median {median}, n = {values.size}")
