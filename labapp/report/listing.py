"""Rows of tables as the report lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.report.formats import decimal
from labapp.report.page import Html, joined, paragraph, table, two_lines

SHOWN_ROWS = 150
"""A list in the report has at most so many rows; the tables beside it hold the others."""
NONE = "–"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain values, None where a value is missing."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def limited(
    names: Sequence[object], rows: Sequence[Sequence[object]], numeric: Iterable[int] = ()
) -> Html:
    """A table of the first rows, with a word on how many are left."""
    shown = table(names, rows[:SHOWN_ROWS], numeric=numeric)
    if len(rows) <= SHOWN_ROWS:
        return shown
    left = f"{len(rows) - SHOWN_ROWS} more rows are in the tables beside this page."
    return joined([shown, paragraph(left, "quiet")])


def spread(values: NDArray[np.float64], decimals: int) -> object:
    """Mean and sample standard deviation, below them the median and n."""
    if values.size == 0:
        return NONE
    mean = decimal(values.mean(), decimals)
    if values.size == 1:
        return two_lines(mean, "n = 1")
    sd = decimal(values.std(ddof=1), decimals, like=values.mean())
    median = decimal(float(np.median(values)), decimals)
    return two_lines(f"{mean} ± {sd}", f"median {median}, n = {values.size}")
