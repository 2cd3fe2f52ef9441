"""Everything that the sessions that count say, of all studies: computed once for report, tables and
figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from labapp.analysis.judging import comparisons as judging
from labapp.analysis.judging.columns import STATISTICS
from labapp.analysis.labels import results as labels
from labapp.analysis.labels.columns import LABEL_TABLES
from labapp.analysis.labels.frames import frames as label_frames
from labapp.analysis.tables import Tables, typed
from labapp.analysis.unmasking import findings as unmasking
from labapp.analysis.unmasking.results import Found
from labapp.analysis.unmasking.statistics import rows as unmasked_rows

STATISTICS_TABLE = "statistics"
DERIVED = {STATISTICS_TABLE: STATISTICS, **LABEL_TABLES}
"""Columns of the tables that are computed from the others, by name."""


@dataclass(frozen=True)
class Findings:
    """judged: of judged explanations; unmasked: of masked pictures, a group each; labels: of names
    given to dials."""

    judged: judging.Findings
    unmasked: tuple[Found, ...]
    labels: labels.Found


def findings(counted: Tables, ratings: Sequence[Path] = ()) -> Findings:
    """counted: `Tables.included()`; ratings: files of raters, see `labels.ratings.read_ratings`."""
    return Findings(
        judging.findings(counted), unmasking.findings(counted), labels.find(counted, ratings)
    )


def statistics(found: Findings) -> pd.DataFrame:
    """The table of statistics: judged explanations by item, then masked pictures by group."""
    judged = sorted(found.judged.all, key=lambda one: one.of.item)
    unmasked = (row for one in found.unmasked for row in unmasked_rows(one))
    return typed([*(one.row() for one in judged), *unmasked], STATISTICS)


def derived(found: Findings) -> dict[str, pd.DataFrame]:
    """The tables that are computed from the others, by name."""
    return {STATISTICS_TABLE: statistics(found), **label_frames(found.labels)}
