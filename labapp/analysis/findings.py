"""Everything that the sessions that count say, of all studies: computed once for report, tables and
figures."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labapp.analysis.judging import comparisons as judging
from labapp.analysis.judging.columns import STATISTICS
from labapp.analysis.tables import Tables, typed
from labapp.analysis.unmasking import findings as unmasking
from labapp.analysis.unmasking.results import Found
from labapp.analysis.unmasking.statistics import rows as unmasked_rows


@dataclass(frozen=True)
class Findings:
    """judged: of judged explanations; unmasked: of masked pictures, a group each."""

    judged: judging.Findings
    unmasked: tuple[Found, ...]


def findings(counted: Tables) -> Findings:
    """counted: `Tables.included()`."""
    return Findings(judging.findings(counted), unmasking.findings(counted))


def statistics(found: Findings) -> pd.DataFrame:
    """The table of statistics: judged explanations by item, then masked pictures by group."""
    judged = sorted(found.judged.all, key=lambda one: one.of.item)
    unmasked = (row for one in found.unmasked for row in unmasked_rows(one))
    return typed([*(one.row() for one in judged), *unmasked], STATISTICS)
