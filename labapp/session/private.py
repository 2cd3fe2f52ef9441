"""Names and signatures, apart from every session: `<private>/<study>.sqlite`, mode 0600.

Nothing in here is ever read by an export. A journal only says that consent to a text with a given
hash was given.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from labapp.base import access, leftovers
from labapp.base.errors import DataFolderError
from labapp.base.messages import Message
from labapp.record.events.lifecycle import SessionPlanned

_SCHEMA = """
CREATE TABLE IF NOT EXISTS consent (
    participant TEXT NOT NULL,
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    utc TEXT NOT NULL,
    document_sha256 TEXT NOT NULL,
    drawing TEXT NOT NULL DEFAULT ''
) STRICT
"""


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table, or give one that an older version made the columns it lacks."""
    connection.execute(_SCHEMA)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(consent)")}
    if "drawing" not in columns:
        connection.execute("ALTER TABLE consent ADD COLUMN drawing TEXT NOT NULL DEFAULT ''")


@dataclass(frozen=True, slots=True)
class Consent:
    """A consent record: the pseudonym (participant) beside the typed name or the drawn signature.

    drawing: the signature's strokes as JSON, each a list of points [x, y] with x from 0 to 1 and y
    in the same unit; empty if none was drawn.
    """

    participant: str
    session: str
    name: str
    utc: str
    document_sha256: str
    drawing: str = ""


def book_of(study: str, *, pilot: bool) -> str:
    """The name under which signatures of a study are kept: those of pilots apart, for a pilot's
    P01 and the study's own are two people."""
    return f"{study}.pilot" if pilot else study


def book_of_planned(planned: SessionPlanned) -> str:
    """The same of a session."""
    return book_of(planned.study, pilot=planned.pilot)


def table_of(private: Path, study: str) -> Path:
    """The file with the private table of a study. Raises DataFolderError if others could read
    it, or its folder."""
    path = private / f"{study}.sqlite"
    access.refuse_wide(private)
    access.refuse_wide(path)
    return path


def check_private(private: Path, study: str) -> None:
    """Prove that consent to this study can be stored: before anybody sits there and has signed.

    Raises DataFolderError when it cannot, or when others could read it; nothing is left behind but
    the folder itself.
    """
    path = table_of(private, study)
    probe = private / f".labapp-probe-{uuid.uuid4().hex}"
    try:
        private.mkdir(parents=True, exist_ok=True, mode=0o700)
        leftovers.clear(private, leftovers.PROBE)
        try:
            probe.write_bytes(b"labapp")
        finally:
            with suppress(OSError):
                probe.unlink()
        if path.exists():
            with closing(sqlite3.connect(path, timeout=1.0)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                _prepare(connection)
                connection.rollback()
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DataFolderError(
            Message("consent_not_stored", folder=str(private), why=why),
            safe="No session was started, and nothing was changed.",
            todo="Choose a folder for private records to which you may write (--private or "
            "$LABAPP_PRIVATE).",
        ) from error


def store_consent(private: Path, study: str, consent: Consent) -> Path:
    """Add a record and return the table's path; committed before it returns.

    Raises DataFolderError when it cannot be stored, or when others could read it; the session must
    not go on then.
    """
    path = table_of(private, study)
    try:
        access.own_private(private, path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA synchronous=FULL")
            _prepare(connection)
            connection.execute(
                "INSERT INTO consent (participant, session, name, utc, document_sha256, drawing)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                astuple(consent),
            )
    except (OSError, sqlite3.Error) as error:
        raise DataFolderError(
            f"The consent could not be stored in {path} ({error}).",
            safe="The session is safe; the participant's name was not written anywhere.",
            todo="Choose another folder for private records (--private) and start again.",
        ) from error
    return path


def consents(private: Path, study: str) -> list[Consent]:
    """All records of a study, in the order they were given."""
    path = private / f"{study}.sqlite"
    if not path.is_file():
        return []
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        # A table that an older version made may lack the last columns.
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM consent ORDER BY rowid").fetchall()
    return [Consent(**dict(row)) for row in rows]


def forget_consent(private: Path, study: str, participant: str, session: str) -> int:
    """Remove the signed consent to one session, its bytes too; returns how many records there were.

    Raises DataFolderError when that is not possible.
    """
    path = private / f"{study}.sqlite"
    with removing(path, f"The consent of {participant}") as connection:
        if connection is None:
            return 0
        _prepare(connection)  # a program killed before its first record leaves none
        return connection.execute(
            "DELETE FROM consent WHERE participant = ? AND session = ?", (participant, session)
        ).rowcount


@contextmanager
def removing(path: Path, what: str) -> Iterator[sqlite3.Connection | None]:
    """A private table from which rows are removed, their bytes too; None if it is not there.
    what: the rows, for the error. Raises DataFolderError when they cannot be removed."""
    if not path.is_file():
        yield None
        return
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            yield connection
    except sqlite3.Error as error:
        raise DataFolderError(
            f"{what} could not be removed from {path} ({error}).",
            safe="It still exists, and only you can read it.",
            todo="Withdraw the session again. The withdrawal continues where it stopped.",
        ) from error
