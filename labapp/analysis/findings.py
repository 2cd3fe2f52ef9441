"""The tables that are worked out from the others, of all studies."""

from __future__ import annotations

import pandas as pd

from labapp.analysis.statistics_columns import STATISTICS
from labapp.analysis.tables import typed
from labapp.analysis.task_records import Columns
from labapp.analysis.task_report import Findings, reports

STATISTICS_TABLE = "statistics"


def derived_columns() -> dict[str, Columns]:
    """Their columns, by name."""
    own = {name: columns for report in reports() for name, columns in report.tables.items()}
    return {STATISTICS_TABLE: STATISTICS, **own}


def statistics(findings: Findings) -> pd.DataFrame:
    """The table of statistics, by task, those of published studies last."""
    rows = [
        dict(row) for report, results in findings.of.items() for row in report.statistics(results)
    ]
    return typed(rows, STATISTICS)


def derived(findings: Findings) -> dict[str, pd.DataFrame]:
    """The tables, by name."""
    frames = {STATISTICS_TABLE: statistics(findings)}
    for report, results in findings.of.items():
        frames.update(report.frames(results))
    return frames
