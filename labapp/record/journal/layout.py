"""The shape of a session folder and of its journal, shared by the writer and every reader."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labapp.base.errors import RecordError, UsageError

JOURNAL = "journal.sqlite"
AUDIO = "audio"
STUDY = "study"
STIMULI = "stimuli"
ENVIRONMENT = "environment.json"
LOCK = "session.lock"
CREATING = ".creating.lock"

SOURCEDATA = "sourcedata/labapp"
"""Where a bundle keeps what is not BIDS; one folder `sub-P01/ses-1/` a session."""
MANIFEST = "manifest.json"
SESSION = "session.json"
JOURNAL_PARQUET = "journal.parquet"
CLOCK_FIT = "audio/clock.json"
EXPORTS = "exports.jsonl"
"""Log of a study's exports, beside its session folders: a session is not touched after its end."""
DECISIONS = "decisions.jsonl"
"""Who of a study was excluded or included by hand, beside its session folders."""
WITHDRAWN = "withdrawn.jsonl"
"""The withdrawn sessions of a study, beside its session folders."""
COMMENTS = "comments.jsonl"
"""What was remarked on the sessions of a study after their end, beside their folders."""
ANNOTATIONS = "annotations"
"""What was said about the sessions of a study after their end, a folder a session and lists beside
them; in a bundle, the folder of a session's annotations within its own."""
ANNOTATION_FILES = frozenset(
    {"units.jsonl", "transcript.jsonl", "settlements.jsonl", "raters", "videos"}
)
"""What may lie in the folder of a session's annotations, beside hidden files of open windows."""
PACK = "pack.json"
"""What makes a folder a pack: whom it is for, and what is in it."""
LEAVING = ".withdrawn-"
"""Before the name of a session folder that is being deleted."""

MAKING = ".making-"
"""Before the name of a session folder that is being made: it has its own name once it holds the
session's first event."""

BUNDLE_VERSION = 1
DATES_MOVED = "moved"
"""What a bundled session says of its dates where they are not the true ones."""

SCHEMA_VERSION = 1

COLUMNS = (
    "seq",
    "segment",
    "t_ns",
    "utc",
    "source",
    "kind",
    "v",
    "stage",
    "trial",
    "attempt",
    "payload",
    "hash",
)

INTEGERS = frozenset({"seq", "segment", "t_ns", "v", "trial", "attempt"})
OPTIONAL = frozenset({"stage", "trial", "attempt"})
"""Columns that hold whole numbers, and those that may be empty."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    t_ns INTEGER NOT NULL,
    utc TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    v INTEGER NOT NULL,
    stage TEXT,
    trial INTEGER,
    attempt INTEGER,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
"""
"""meta holds schema_version; payload is canonical JSON; hash = sha256(previous hash + row)."""


def study_files_of(names: Iterable[str]) -> list[str]:
    """Of the names in a session's study folder, those that may be the study file itself: its texts
    and instruments lie in folders of their own."""
    return sorted(name for name in names if re.fullmatch(r"[^/]+\.ya?ml", name))


FOLDER = re.compile(
    r"sub-(?P<participant>[A-Za-z0-9]+)_ses-(?P<session>[A-Za-z0-9]+)_"
    r"(?P<utc>[0-9]{8}T[0-9]{6}Z)"
)


def refuse_inside(path: Path) -> None:
    """Refuse a place to write to that lies in a session's folder or among annotations, also by a
    link or a relative path: what is written there makes the session not whole.

    Raises UsageError.
    """
    place = path.resolve()
    for folder in (place, *place.parents):
        if _is_file(folder / JOURNAL):
            where = f"the folder of the session {folder.name}"
        elif folder.name == ANNOTATIONS and _holds_sessions(folder.parent):
            where = f"the annotations of the study {folder.parent.name}"
        else:
            continue
        raise UsageError(
            f"{path} lies in {where}, and only the session itself is kept there.",
            safe="Nothing was written.",
            todo="Name a place outside of it.",
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that may not be looked into; writing there fails by itself
        return False


def _holds_sessions(study: Path) -> bool:
    try:
        return any(FOLDER.fullmatch(child.name) for child in study.iterdir())
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class FolderName:
    """The name of a session folder, `sub-P01_ses-1_20260102T030405Z`."""

    participant: str
    session: str
    utc: str

    def __str__(self) -> str:
        return f"sub-{self.participant}_ses-{self.session}_{self.utc}"

    @classmethod
    def parse(cls, name: str) -> FolderName | None:
        """None when the name is not a session folder's."""
        match = FOLDER.fullmatch(name)
        return cls(**match.groupdict()) if match else None

    @property
    def started(self) -> datetime:
        """When the session was made. Raises RecordError for a name with a time that never was."""
        try:
            return datetime.strptime(self.utc, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError as error:
            raise RecordError(
                f"The name of the folder {self} holds no time.",
                todo="Give the folder its name back, or move it away.",
            ) from error

    @property
    def bids(self) -> str:
        """The BIDS folder of the session, `sub-P01/ses-1`."""
        return f"sub-{self.participant}/ses-{self.session}"
