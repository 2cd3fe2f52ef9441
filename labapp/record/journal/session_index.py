"""The list of sessions, cached: a session whose files did not change is not read again.

A session is read anew where size or time of its journal's files changed. For one that is not over,
the lock is checked as well. The logs beside a study's sessions (exports, withdrawals,
comments, decisions) are read once a study, again where they changed.

What was read of sessions is kept in a file of the user's cache, which the home and the command line
share. It is the user's alone to read, and names no participant: a session is known there by a hash
of where its folder is.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from labapp import __version__
from labapp.base import access, leftovers, resources
from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.base.resources import twin_of
from labapp.record.journal.comments import comments
from labapp.record.journal.decisions import Decision, Move, decisions, moves
from labapp.record.journal.layout import COMMENTS, DECISIONS, EXPORTS, JOURNAL, WITHDRAWN
from labapp.record.journal.lock import held
from labapp.record.journal.sessions import (
    ListedState,
    SessionSummary,
    begun_line,
    bundles,
    decided,
    recorded,
    sessions_in,
    study_folders,
    summary,
)
from labapp.record.journal.withdrawn import Withdrawal, listed, of_person

SETTLED_NS = 2_000_000_000
"""The coarsest resolution of a file system's times."""

_Stamp = tuple[tuple[int, ...] | None, ...]
LARGEST = 32 * files.MIB
"""Bytes of the cache: some 300 a session."""
_KEPT: dict[str, tuple[type, ...]] = {
    "study": (str,),
    "state": (str,),
    "length_s": (float, int),
    "events": (int,),
    "sound": (bool,),
    "lost_s": (float, int),
    "blind": (bool, type(None)),
    "unblinded_s": (float, int, type(None)),
    "not_counted": (list,),
    "withdrawn": (str,),
    "pilot": (bool,),
}
"""What the cache keeps of a line; the rest is in the folder's name, or in the logs beside it."""


@dataclass(frozen=True)
class _CachedSession:
    """own: by the session's folder alone; line: with what the logs say."""

    stamp: _Stamp
    own: SessionSummary
    line: SessionSummary


@dataclass(frozen=True)
class _Place:
    """A session's folder, and the files whose size and time are looked at; as text, for they are
    looked at thousands of times."""

    folder: Path
    files: tuple[str, str]

    @classmethod
    def of(cls, folder: Path) -> _Place:
        return cls(folder, (f"{folder}/{JOURNAL}", f"{folder}/{JOURNAL}-wal"))


@dataclass(frozen=True)
class _Study:
    """written: when something came into the study's folder or went; settled: so long before it was
    looked at that nothing can have come in the same moment, unseen."""

    written: int
    settled: bool
    places: tuple[_Place, ...]


@dataclass(frozen=True)
class _Logs:
    stamp: _Stamp
    exported: dict[str, tuple[str, ...]]
    comments: dict[str, tuple[str, ...]]
    withdrawn: dict[str, Withdrawal] | None
    decisions: dict[str, Decision]
    moves: dict[str, Move]


class SessionIndex:
    """The sessions under a data root. For one thread at a time."""

    def __init__(self, data_root: Path) -> None:
        self.data_root = data_root
        self._cache: _Cache | None = None
        self._known: dict[Path, _CachedSession] = {}
        self._logs: dict[Path, _Logs] = {}
        self._studies: dict[Path, _Study] = {}
        self._order: list[_Place] = []

    def read(
        self, progress: Callable[[Callable[[], list[SessionSummary]]], None] | None = None
    ) -> list[SessionSummary]:
        """Every session, newest first. A line that did not change is the same object as before.

        progress: is called after each one that had to be read, with what gives those so far; what
        it raises ends the reading.
        """
        logs: dict[Path, _Logs] = {}
        known: dict[Path, _CachedSession] = {}
        self._cache = self._cache or _Cache(self.data_root)
        try:
            for place in self._newest_first():
                folder = place.folder
                study = folder.parent
                if study not in logs:
                    logs[study] = self._logs_of(study)
                before = self._known.get(folder)
                known[folder] = self._line(place, before, logs[study])
                if progress is not None and known[folder] is not before:
                    progress(lambda: [entry.line for entry in known.values()])
        except BaseException:
            known = self._known | known  # what was read is not read again
            raise
        finally:
            self._known, self._logs = known, logs
        self._cache.keep({folder: (entry.stamp, entry.own) for folder, entry in known.items()})
        return [entry.line for entry in known.values()]

    def _newest_first(self) -> list[_Place]:
        """The session folders; a study in which nothing came or went is not listed again."""
        studies: dict[Path, _Study] = {}
        for study in study_folders(self.data_root):
            before = self._studies.get(study)
            try:
                written = study.stat().st_mtime_ns
            except OSError:  # it went away since it was listed
                continue
            if before is None or not before.settled or before.written != written:
                settled = time.time_ns() - written > SETTLED_NS
                places = tuple(_Place.of(folder) for folder in sessions_in(study))
                before = _Study(written, settled, places)
            studies[study] = before
        if studies != self._studies:
            self._studies = studies
            every = (place for study in studies.values() for place in study.places)
            self._order = sorted(
                every,
                key=lambda place: (place.folder.name.rsplit("_", 1)[-1], str(place.folder)),
                reverse=True,
            )
        return self._order

    def _line(self, place: _Place, before: _CachedSession | None, logs: _Logs) -> _CachedSession:
        folder = place.folder
        stamp = _stamp(*place.files)
        if before is None or before.stamp != stamp or _stirs(before.own, folder):
            own = (
                None
                if before is not None or self._cache is None
                else self._cache.line(place, stamp)
            )
            if own is None or _stirs(own, folder):
                own = recorded(folder)
        else:
            own = before.own
        line = _with_logs(own, folder, logs)
        if before is not None and (before.stamp, before.line) == (stamp, line):
            return before
        return _CachedSession(stamp, own, line)

    def _logs_of(self, study: Path) -> _Logs:
        logs = [f"{study}/{log}" for log in (EXPORTS, WITHDRAWN, COMMENTS, DECISIONS)]
        stamp = _stamp(*logs, f"{twin_of(study)}/{EXPORTS}")
        before = self._logs.get(study)
        if before is not None and before.stamp == stamp:
            return before
        try:
            withdrawn = listed(study)
        except RecordError:
            withdrawn = None
        by_hand = decisions(study), moves(study)
        return _Logs(stamp, bundles(study), comments(study), withdrawn, *by_hand)


class _Cache:
    """The file in which the lines of a data root are kept. Whatever is wrong with it, sessions are
    read as if it were not there."""

    def __init__(self, data_root: Path) -> None:
        self._root = Path(os.path.abspath(data_root))  # noqa: PTH100 - no link is followed
        name = hashlib.sha256(os.fsencode(self._root)).hexdigest()[:24]
        self._path = resources.cache_root() / "sessions" / f"{name}.json"
        self._lines = self._read()

    def line(self, place: _Place, stamp: _Stamp) -> SessionSummary | None:
        """The line of a session whose files are as they were when it was read; else None."""
        entry = self._lines.get(_key(place.folder))
        if not isinstance(entry, list) or len(entry) != 2 or entry[0] != _plain(stamp):
            return None
        fields = entry[1]
        if not isinstance(fields, dict) or fields.keys() != _KEPT.keys():
            return None
        if not all(isinstance(fields[name], kinds) for name, kinds in _KEPT.items()):
            return None
        if fields["state"] not in get_args(ListedState) or not all(
            isinstance(rule, str) for rule in fields["not_counted"]
        ):
            return None
        return begun_line(place.folder, fields | {"not_counted": tuple(fields["not_counted"])})

    def keep(self, lines: dict[Path, tuple[_Stamp, SessionSummary]]) -> None:
        """Keep the lines of all sessions that are over and whole."""
        latest = time.time_ns() - SETTLED_NS
        kept: dict[str, Any] = {}
        for folder, (stamp, own) in lines.items():
            settled = all(part is None or max(part[1:]) < latest for part in stamp)
            if settled and own.problem is None and own.state not in ("running", "damaged"):
                fields = {name: getattr(own, name) for name in _KEPT}
                kept[_key(folder)] = [_plain(stamp), fields | {"not_counted": [*own.not_counted]}]
        if kept == self._lines:
            return
        self._lines = kept
        try:
            access.own_folder(self._path.parent)
            draft = self._path.with_name(leftovers.prefix_in(self._path.parent, "draft") + "list")
            leftovers.drop(draft)
            with access.create(draft) as file:
                file.write(json.dumps({"labapp": __version__, "sessions": kept}).encode())
            draft.replace(self._path)
        except OSError:
            return  # it is read again next time

    def _read(self) -> dict[str, Any]:
        try:
            cache = json_value(files.content(self._path, LARGEST))
        except (OSError, ValueError):
            return {}
        if not isinstance(cache, dict) or cache.get("labapp") != __version__:
            return {}
        lines = cache.get("sessions")
        return lines if isinstance(lines, dict) else {}


def _key(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def _plain(stamp: _Stamp) -> list[list[int] | None]:
    """As JSON gives it back."""
    return [None if part is None else list(part) for part in stamp]


def _stirs(line: SessionSummary, folder: Path) -> bool:
    """Whether a session whose files are as they were may have another state than before."""
    if line.state == "running":
        return True
    return line.state == "interrupted" and held(folder)


def _with_logs(own: SessionSummary, folder: Path, logs: _Logs) -> SessionSummary:
    if logs.withdrawn is None:
        return summary(folder)  # which says what is wrong with the log
    exported = logs.exported.get(folder.name, ())
    withdrawn = of_person(logs.withdrawn, folder.name) or own.withdrawn
    comments = logs.comments.get(folder.name, ())
    if (exported, withdrawn, comments) != (own.exported, own.withdrawn, own.comments):
        own = replace(own, exported=exported, withdrawn=withdrawn, comments=comments)
    return decided(own, logs.decisions.get(folder.name), logs.moves.get(folder.name))


def _stamp(*paths: str) -> _Stamp:
    return tuple(map(_written, paths))


def _written(path: str) -> tuple[int, ...] | None:
    """Size of a file, and the times at which its content and anything of it were changed; None
    where there is none. A copy that was put in its place can have the first two, not the third."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - called thousands of times, and this is quicker
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
