"""The report's section on attention checks: how often each was passed, over everybody who was
asked, also whoever is not included for it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from labapp.analysis.questionnaires import FAILED, PASSED
from labapp.base.report.page import Html, Verbatim, heading, table


def is_check(answers: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of the table of answers are attention checks."""
    return answers["check"].notna()


def attention(answers: pd.DataFrame) -> Iterator[Html]:
    """A row a check. answers: of a study's sessions."""
    checks = answers[is_check(answers)]
    if checks.empty:
        return
    rows = []
    for (instrument, item), some in checks.groupby(["instrument", "item"], sort=False):
        sessions = some[["participant", "session"]].drop_duplicates()
        failed = some[some["check"] == FAILED][["participant", "session"]].drop_duplicates()
        passed = int((some["check"] == PASSED).sum())
        named = Verbatim(instrument), Verbatim(item)
        rows.append((*named, passed, len(some) - passed, len(failed), len(sessions)))
    yield heading(3, "Attention checks")
    yield table(
        ("Instrument", "Item", "Passed", "Failed", "Sessions that failed it", "Sessions asked"),
        rows,
        numeric=(2, 3, 4, 5),
        caption="Of all sessions, also those that are not included. A check is in no score.",
    )
