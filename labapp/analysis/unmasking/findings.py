"""Everything that sessions of the unmasking study say, group by group."""

from __future__ import annotations

from labapp.analysis.tables import Tables
from labapp.analysis.unmasking.results import Found


def findings(counted: Tables) -> tuple[Found, ...]:
    """What each study with unmasked pictures among these sessions, which all count, says.

    counted: `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals.
    """
    raise NotImplementedError
