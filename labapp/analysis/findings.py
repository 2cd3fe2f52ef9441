"""Everything that the sessions that count say, of all studies: computed once for report, tables and
figures."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.analysis.judging import comparisons as judging
from labapp.analysis.tables import Tables
from labapp.analysis.unmasking import findings as unmasking
from labapp.analysis.unmasking.results import Found


@dataclass(frozen=True)
class Findings:
    """judged: of judged explanations; unmasked: of masked pictures, a group each."""

    judged: judging.Findings
    unmasked: tuple[Found, ...]


def findings(counted: Tables) -> Findings:
    """counted: `Tables.included()`."""
    return Findings(judging.findings(counted), unmasking.findings(counted))
