"""The table of statistics as a reader filters it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def of_task(path: Path) -> pd.DataFrame:
    """The rows of tasks and published studies, without those of analyses according to the
    design."""
    rows = pd.read_csv(path)
    return rows[rows["kind"].isna()].infer_objects()
