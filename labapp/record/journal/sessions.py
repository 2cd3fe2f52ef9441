"""The list of sessions under a data root.

The list of sessions, cached: a session whose files did not change is not read again.

A session is read again where size or time of its journal's files changed. For one that is not over,
the lock is checked as well. The logs beside a study's sessions (exports, withdrawals,
comments, decisions) are read once a study, again if they changed.

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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from labapp import __version__
from labapp.base import access, leftovers, resources
from labapp.base.clock import utc_text
from labapp.base.errors import RecordError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.base.resources import twin_of
from labapp.record.events.lifecycle import ParticipantSimulated, SessionPlanned
from labapp.record.journal import anchor
from labapp.record.journal.decisions import (
    Decision,
    Move,
    Withdrawal,
    comment_problems,
    comments,
    decision_problems,
    decisions,
    list_withdrawals,
    moves,
    of_person,
    tags,
    withdrawal_of,
    withdrawal_problems,
)
from labapp.record.journal.layout import (
    COMMENTS,
    DECISIONS,
    EXPORTS,
    JOURNAL,
    WITHDRAWN,
    FolderName,
)
from labapp.record.journal.read import extent, is_locked, payloads, read_rows, readable
from labapp.record.journal.record import brief_kinds, outline

ListedState = Literal["complete", "ended_early", "interrupted", "running", "damaged"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the list.

    id: name of the session folder; length_s: working time (without pauses and gaps) in s;
    blind: whether the console hid the representations from the beginning, None if the journal
    does not say; unblinded_s: session time in s from which it named them all the same;
    not_counted: the rules of the study for which a session that came to its end does not count;
    lost_s: seconds of sound filled with silence; sound: whether there is any; exported: paths of
    the bundles made of it, as logged; withdrawn: keep or delete if the participant withdrew, and
    what is to become of the data; decision: excluded or included if that was decided by hand,
    and decision_reason why; pilot: whether it is a trial run, kept apart from the study; moved: why
    it was moved from the pilots into the study, or back, empty if it never was; phase: of the
    study, empty if it has none; tags: words that people gave it; simulated: whether a program
    took part, not a person; comments: the moderator's, oldest first; problem: why it is damaged.
    """

    id: str
    path: Path
    study: str
    participant: str
    session: str
    started: str
    state: ListedState
    length_s: float = 0.0
    events: int = 0
    sound: bool = False
    lost_s: float = 0.0
    blind: bool | None = None
    unblinded_s: float | None = None
    not_counted: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    withdrawn: str = ""
    decision: str = ""
    decision_reason: str = ""
    pilot: bool = False
    moved: str = ""
    phase: str = ""
    tags: tuple[str, ...] = ()
    simulated: bool = False
    comments: tuple[str, ...] = ()
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints; None instead of empty text."""
        return {key: None if value == "" else value for key, value in asdict(self).items()}


def list_sessions(data_root: Path) -> list[SessionSummary]:
    """Every session under the data root, by study and start; other folders are passed over.

    A damaged session is listed as such. Reads only a few rows of each journal, and only of those
    that were written to since they were last listed.
    """

    lines = {line.path: line for line in SessionIndex(data_root).read()}
    folders = (folder for study in study_folders(data_root) for folder in sessions_in(study))
    return [lines[folder] for folder in folders if folder in lines]


def list_problems(data_root: Path) -> list[str]:
    """What is wrong with the lists beside the sessions, of withdrawals, exports, remarks and
    decisions, one line per problem; a damaged list does not affect the others."""
    result = []
    for study in _children(data_root):
        result += [
            *withdrawal_problems(study),
            *export_problems(study),
            *comment_problems(study),
            *decision_problems(study),
        ]
    return result


def study_folders(data_root: Path) -> list[Path]:
    """The folders under the data root, in which studies keep their sessions."""
    return _children(data_root)


def sessions_in(study: Path) -> list[Path]:
    """The session folders of a study, by their start."""
    sessions = [child for child in _children(study) if FolderName.parse(child.name)]
    return sorted(sessions, key=lambda path: (path.name.rsplit("_", 1)[-1], path.name))


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if files.is_folder(child))
    except OSError:
        # Not a folder, or one of somebody else's: nothing of ours is listed from it.
        return []


def summary(folder: Path) -> SessionSummary:
    """The line of one session folder."""
    line = summarise_recorded(folder)
    exported = exports_of(folder)
    try:
        withdrawn = withdrawal_of(folder, line.withdrawn, listed=True)
    except RecordError as error:
        return replace(line, state="damaged", problem=error.what, exported=exported)
    own = comments(folder.parent).get(folder.name, ())
    decision = decisions(folder.parent).get(folder.name)
    line = replace(line, exported=exported, withdrawn=withdrawn, comments=own)
    move = moves(folder.parent).get(folder.name)
    return apply_decision(line, decision, move, tags(folder.parent).get(folder.name, ()))


def apply_decision(
    line: SessionSummary,
    decision: Decision | None,
    move: Move | None = None,
    words: tuple[str, ...] = (),
) -> SessionSummary:
    """A session's line with the decision that was made by hand, and its tags."""
    line = replace(line, tags=words) if words != line.tags else line
    if decision is not None:
        line = replace(line, decision=decision.verdict, decision_reason=decision.reason)
    if move is not None:
        line = replace(line, pilot=move.pilot, moved=move.reason)
    return line


def summarise_recorded(folder: Path) -> SessionSummary:
    """As `summary`, from the session's own folder only: without what the logs beside it say of
    exports and withdrawals."""
    name = _name(folder)
    known = _read_folder_name(folder, name)
    try:
        known["started"] = utc_text(name.started)
        with readable(folder.name):
            return SessionSummary(**known | _facts(folder))
    except RecordError as error:
        return SessionSummary(**known, state="damaged", problem=error.what)


def line_from_facts(folder: Path, facts: dict[str, Any]) -> SessionSummary:
    """The line of a session folder of which these facts were read before."""
    name = _name(folder)
    return SessionSummary(
        **_read_folder_name(folder, name) | {"started": utc_text(name.started)} | facts
    )


def _name(folder: Path) -> FolderName:
    name = FolderName.parse(folder.name)
    if name is None:
        raise ValueError(f"{folder} is not a session folder")
    return name


def _read_folder_name(folder: Path, name: FolderName) -> dict[str, Any]:
    """What a session folder's name and place say."""
    return {
        "id": folder.name,
        "path": folder,
        "study": folder.parent.name,
        "participant": name.participant,
        "session": name.session,
        "started": "",
    }


def _facts(folder: Path) -> dict[str, Any]:
    running = is_locked(folder)
    events, last_ns = extent(folder)
    rows = read_rows(folder, (*brief_kinds(), ParticipantSimulated.kind))
    planned = next(payloads(rows[:1]), (None, None))[1]
    if not isinstance(planned, SessionPlanned):
        raise RecordError("The journal does not begin with the session's plan.")
    summary = outline(rows, last_ns)
    name = _name(folder)
    if (planned.participant, planned.session) != (name.participant, name.session):
        who = {"participant": planned.participant, "session": planned.session}
        raise RecordError(Message("renamed", folder=folder.name, **who))
    return {
        "study": planned.study,
        "state": "running" if running and summary.state == "interrupted" else summary.state,
        "length_s": summary.working_ns / 1e9,
        "events": events,
        "sound": bool(summary.audio),
        "lost_s": summary.lost_s,
        "blind": summary.blind,
        "unblinded_s": None if summary.unblinded_ns is None else summary.unblinded_ns / 1e9,
        "not_counted": summary.not_counted,
        "withdrawn": summary.withdrawal,
        "pilot": planned.pilot,
        "phase": planned.phase,
        "simulated": any(row.kind == ParticipantSimulated.kind for row in rows),
    }


BEGUN, DONE, GIVEN_UP = "begun", "done", "given up"
"""States of an export in the log; lines without one are of older versions, and done."""


def exports_of(folder: Path) -> tuple[str, ...]:
    """Bundles made of a session, from the log beside it; foreign lines are passed over."""
    return bundles(folder.parent).get(folder.name, ())


def bundles(study: Path) -> dict[str, tuple[str, ...]]:
    """Bundles made of each session of a study, by the names of their folders."""
    result: dict[str, tuple[str, ...]] = {}
    # A session may have been exported before it was moved from the pilots, or to them.
    for entry in filter(_was_bundle_made, (*exports(study), *exports(twin_of(study)))):
        for name in dict.fromkeys(map(str, entry["sessions"])):
            result[name] = (*result.get(name, ()), str(entry.get("bundle", "")))
    return result


def find_exported(study: Path) -> list[FolderName]:
    """The sessions of a study that were exported, also those whose folders are gone."""
    made = (entry for entry in exports(study) if _was_bundle_made(entry))
    names = (str(name) for entry in made for name in entry["sessions"])
    return [name for name in map(FolderName.parse, dict.fromkeys(names)) if name is not None]


def exports(study: Path) -> list[dict[str, Any]]:
    """The last that the log says of each export of a study, in the order they began. What cannot be
    read is passed over; `export_problems` tells of it."""
    last: dict[str, dict[str, Any]] = {}
    try:
        lines = _exports(study)
    except OSError:
        return []
    for number, entry in lines:
        if entry is not None:
            last[str(entry.get("export", number))] = entry
    return list(last.values())


def export_problems(study: Path) -> list[str]:
    """What is wrong with the log of a study's exports, a line each, for people."""
    path = study / EXPORTS
    try:
        lines = _exports(study)
    except OSError as error:
        return [Message("exports_unreadable", file=str(path), error=str(error.strerror or error))]
    return [
        Message("exports_damaged", file=str(path), number=number)
        for number, entry in lines
        if entry is None
    ]


def _was_bundle_made(entry: dict[str, Any]) -> bool:
    """Whether there is, or was, a bundle. One whose program was killed after it had put the bundle
    in its place said no more of it."""
    state = entry.get("state", DONE)
    return bool(state == DONE or (state == BEGUN and there(entry.get("bundle"))))


def there(path: object) -> bool:
    """Whether there is something at a path that a log says."""
    try:
        return Path(str(path)).exists()
    except (OSError, ValueError):
        return False


def _exports(study: Path) -> list[tuple[int, dict[str, Any] | None]]:
    """The lines of the log of exports that are not empty, by number; None for a damaged one. Raises
    OSError if it cannot be read."""
    path = study / EXPORTS
    text = files.content(path).decode("utf-8", "replace") if files.exists(path) else ""
    lines = enumerate(text.split("\n"), start=1)
    entries = [(number, anchor.entry_in(line)) for number, line in lines if line.strip()]
    return [
        (number, entry if entry and isinstance(entry.get("sessions"), list) else None)
        for number, entry in entries
    ]


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
    "phase": (str,),
    "simulated": (bool,),
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
    tags: dict[str, tuple[str, ...]]


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
                own = summarise_recorded(folder)
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
            withdrawn = list_withdrawals(study)
        except RecordError:
            withdrawn = None
        by_hand = decisions(study), moves(study), tags(study)
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
        return line_from_facts(place.folder, fields | {"not_counted": tuple(fields["not_counted"])})

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
    return line.state == "interrupted" and is_locked(folder)


def _with_logs(own: SessionSummary, folder: Path, logs: _Logs) -> SessionSummary:
    if logs.withdrawn is None:
        return summary(folder)  # which says what is wrong with the log
    exported = logs.exported.get(folder.name, ())
    withdrawn = of_person(logs.withdrawn, folder.name) or own.withdrawn
    comments = logs.comments.get(folder.name, ())
    if (exported, withdrawn, comments) != (own.exported, own.withdrawn, own.comments):
        own = replace(own, exported=exported, withdrawn=withdrawn, comments=comments)
    name = folder.name
    by_hand = logs.decisions.get(name), logs.moves.get(name), logs.tags.get(name, ())
    return apply_decision(own, *by_hand)


def _stamp(*paths: str) -> _Stamp:
    return tuple(map(_read_file_stamp, paths))


def _read_file_stamp(path: str) -> tuple[int, ...] | None:
    """Size of a file, and the times at which its content and anything of it were changed; None
    if there is none. A copy that was put in its place can have the first two, not the third."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - called thousands of times, and this is quicker
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
