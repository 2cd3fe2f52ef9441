"""By how many days the dates of each participant are moved in de-identified copies.

Drawn once for a participant of a study and kept in the private folder, so that a later copy agrees
with an earlier one; no bundle says it. The moved dates lie in the years 1905 to 1915: BIDS asks for
1925 or earlier, so that nobody takes them for true ones (specification, "Common principles").
"""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

from labapp import access
from labapp.errors import BundleError, DataFolderError

YEARS = (1905, 1915)
"""Where a session of the day on which a participant's days are drawn comes to lie: between the
first of January of one and the last of December of the other."""

_SCHEMA = "CREATE TABLE IF NOT EXISTS shift (participant TEXT PRIMARY KEY, days INTEGER) STRICT"


def days_of(private: Path, study: str, participant: str) -> int:
    """By how many days the dates of a participant are moved back; drawn where that is not known.

    Raises BundleError when it cannot be read or kept, DataFolderError when others could read it.
    """
    path = private / f"{study}.sqlite"
    access.refuse_wide(private)
    access.refuse_wide(path)
    try:
        access.own_private(private, path)
        with closing(sqlite3.connect(path, timeout=10.0)) as connection, connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(_SCHEMA)
            # Of two exports at once the first one's draw counts.
            connection.execute("INSERT OR IGNORE INTO shift VALUES (?, ?)", (participant, _drawn()))
            ((days,),) = connection.execute(
                "SELECT days FROM shift WHERE participant = ?", (participant,)
            )
    except (OSError, sqlite3.Error) as error:
        raise BundleError(
            f"The number of days by which the dates of {participant} are moved cannot be "
            f"written to {path} ({error}).",
            safe="No bundle was made.",
            todo="See that you may write there, or choose another folder (--private).",
        ) from error
    return int(days)


def forget(private: Path, study: str, participant: str) -> None:
    """Remove what is kept of a participant. Raises DataFolderError when that is not possible."""
    path = private / f"{study}.sqlite"
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute(_SCHEMA)
            connection.execute("DELETE FROM shift WHERE participant = ?", (participant,))
    except sqlite3.Error as error:
        raise DataFolderError(
            f"What is kept of {participant} could not be removed from {path} ({error}).",
            safe="It is still there, readable to you only.",
            todo="Withdraw the session again; that goes on where it stopped.",
        ) from error


def _drawn() -> int:
    first, last = date(YEARS[0], 1, 1), date(YEARS[1], 12, 31)
    days = (datetime.now(UTC).date() - last).days
    return days + secrets.randbelow((last - first).days + 1)
