"""The shape of a session folder and of its journal, shared by the writer and every reader.

Files of a record, whether they lie in a folder or in a zip archive.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from labapp.base.errors import RecordError, UsageError
from labapp.base.reading import archives, files

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
BACKUPS = "backups.jsonl"
"""Log of the copies that were made of a study's sessions, beside its session folders."""
DECISIONS = "decisions.jsonl"
"""Who of a study was excluded or included by hand, beside its session folders."""
WITHDRAWN = "withdrawn.jsonl"
"""The withdrawn sessions of a study, beside its session folders."""
COMMENTS = "comments.jsonl"
"""What was remarked on the sessions of a study after their end, beside their folders."""
MERGED = "merged.jsonl"
"""Answers that another tool asked and that were merged into a study, beside its session folders."""
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
FLAC_BUNDLE_VERSION = 2
"""Of a bundle with sound as FLAC, which earlier versions of labapp would not find."""
DATES_MOVED = "moved"
"""What a bundled session says of its dates if they are not the true ones."""

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
    """Names in a session's study folder that may be the study file itself, since texts and
    instruments are in folders of their own."""
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
            f"{path} is inside {where}, where only the session itself is kept.",
            todo="Name a place outside it.",
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
                f"The name of the folder {self} does not contain a time.",
                todo="Change the folder's name back to what it was, or move it away.",
            ) from error

    @property
    def bids(self) -> str:
        """The BIDS folder of the session, `sub-P01/ses-1`."""
        return f"sub-{self.participant}/ses-{self.session}"


class Tree(Protocol):
    """Names are relative, with forward slashes."""

    def names(self) -> list[str]:
        """Every file, sorted."""
        ...

    def folders(self, pattern: str) -> list[str]:
        """The folders that hold something and match, part for part, a pattern such as `a/b-*/*`;
        sorted."""
        ...

    def has(self, name: str) -> bool: ...

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A binary stream to use with `with`. Raises RecordError."""
        ...

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        """A whole file of at most `largest` bytes. Raises RecordError."""
        ...

    def size(self, name: str) -> int: ...

    def below(self, prefix: str) -> Tree:
        """The tree of the folder `prefix`."""
        ...


@dataclass(frozen=True)
class FolderTree:
    """A folder on disk."""

    path: Path

    def names(self) -> list[str]:
        try:
            return files.below(self.path) if files.is_folder(self.path) else []
        except OSError as error:
            raise _unreadable(str(self.path), error) from error

    def folders(self, pattern: str) -> list[str]:
        folders = (p for p in self.path.glob(pattern) if p.is_dir() and any(p.glob("*")))
        return sorted(p.relative_to(self.path).as_posix() for p in folders)

    def has(self, name: str) -> bool:
        return files.is_file(self.path / name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        path = self._own(name)
        try:
            stream = files.open_file(path, follow=False)
        except OSError as error:
            raise _unreadable(str(path), error) from error
        with stream:
            yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        try:
            return files.content(self._own(name), largest, follow=False)
        except OSError as error:
            raise _unreadable(str(self.path / name), error) from error

    def size(self, name: str) -> int:
        return self._own(name).stat().st_size

    def _own(self, name: str) -> Path:
        """The path of a file. Raises RecordError for one outside the folder: a journal names the
        files of its session, and may be somebody else's work."""
        if name.startswith(("/", "\\")) or ".." in PurePosixPath(name).parts or "\0" in name:
            raise _unreadable(name, ValueError("it is not in the session's folder"))
        return self.path / name

    def below(self, prefix: str) -> FolderTree:
        return FolderTree(self.path / prefix)


@dataclass(frozen=True)
class ZipTree:
    """A folder inside a zip archive. prefix: empty, or ends with a slash."""

    path: Path
    prefix: str = ""

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with archives.archive(self.path) as archive:
                yield archive
        except (OSError, ValueError) as error:
            raise _unreadable(str(self.path), error) from error

    def names(self) -> list[str]:
        with self._archive() as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
        return sorted(
            name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix)
        )

    def folders(self, pattern: str) -> list[str]:
        depth = pattern.count("/") + 1
        split = (name.split("/") for name in self.names())
        above = {"/".join(parts[:depth]) for parts in split if len(parts) > depth}
        return sorted(folder for folder in above if PurePosixPath(folder).match(pattern))

    def has(self, name: str) -> bool:
        with self._archive() as archive:
            return self.prefix + name in archive.namelist()

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._archive() as archive:
            if self.prefix + name not in archive.NameToInfo:
                absent = FileNotFoundError("it is not there")
                raise _unreadable(f"{self.path}: {name}", absent) from absent
            with archives.member(archive, self.prefix + name) as stream:
                yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        with self.open(name) as stream:
            return files.within(stream, largest)

    def size(self, name: str) -> int:
        with self._archive() as archive:
            return archive.getinfo(self.prefix + name).file_size

    def below(self, prefix: str) -> ZipTree:
        return replace(self, prefix=f"{self.prefix}{prefix.strip('/')}/")


def _unreadable(place: str, error: Exception) -> RecordError:
    return RecordError(
        f"{place} cannot be read ({error}).",
        safe="It was only read; nothing was changed.",
        todo="Check that it exists and is complete.",
    )
