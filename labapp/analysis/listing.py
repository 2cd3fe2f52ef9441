"""Rows of tables as the report lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from labapp.analysis.page import Html, paragraph, table

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
    return Html(shown + paragraph(left, "quiet"))
