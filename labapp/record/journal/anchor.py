"""The anchor of a data folder: `anchor.jsonl`, which says what every file beside the sessions held.

Annotations and the logs beside sessions are files of lines that are only added to. Each line holds
the hash of all bytes above it (`prev`), so that a changed or removed line shows. What a chain alone
cannot show is an end that was cut off, a file that is gone, or a chain that was computed again. So
the anchor, one file for a whole data folder, keeps how long each file was and its hash at that
length. It also keeps every redacted stretch, so that a redaction outlasts the file it was written
to, and it is chained itself.

Lines that an older labapp wrote have no `prev`. They are read as before, and are covered from the
first line that has one.
"""

from __future__ import annotations

import errno
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from labapp.base import access, durable
from labapp.base.clock import utc_text
from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.journal.layout import (
    ANNOTATIONS,
    BACKUPS,
    COMMENTS,
    DECISIONS,
    EXPORTS,
    MERGED,
    PACK,
    WITHDRAWN,
)

ANCHOR = "anchor.jsonl"
LOGS = (BACKUPS, DECISIONS, COMMENTS, EXPORTS, MERGED, WITHDRAWN)
"""Files of lines beside a study's sessions that are not annotations."""
PREV = "prev"
"""Key of a line: the hash of all bytes above it."""
LARGEST = 256 * files.MIB

HEAD, LOCKED, REWRITING, GONE = "head", "locked", "rewriting", "gone"
REDACTED, UNREDACTED, ACCEPTED = "redacted", "unredacted", "accepted"

BEYOND = (
    "changes by someone who edits a file and the anchor together and recomputes all hashes, or "
    "who restores both from a backup of the same day. Keep a copy of the anchor outside the "
    "data folder"
)
"""What the anchor cannot show, since no key seals it."""


def head_of(content: bytes) -> str:
    """The hash of a file's bytes, as lines and anchors have it."""
    return short(hashlib.sha256(content))


def short(digest: Any) -> str:
    """A hash that goes on, as lines and anchors have it."""
    return str(digest.hexdigest()[:32])


def anchor_of(study: Path) -> Path:
    """The anchor that a study's files are in: that of its data folder. A pack is one of its own."""
    study = study.absolute()
    return (study if files.is_file(study / PACK) else study.parent) / ANCHOR


def study_of(path: Path) -> Path | None:
    """The study's folder of a file of annotations or a log; None for any other file."""
    path = path.absolute()
    for folder in path.parents:
        if folder.name == ANNOTATIONS:
            return folder.parent
    return path.parent if path.name in LOGS else None


def name_in(study: Path, path: Path) -> str:
    """What a file is called in the anchor."""
    return path.absolute().relative_to(study.absolute().parent).as_posix()


@contextmanager
def _lock_anchor(study: Path) -> Iterator[Path]:
    """The anchor, to which nobody else writes. Raises OSError."""
    path = anchor_of(study)
    place = path.with_name(f".{ANCHOR}.lock")
    # Everybody who may write in the folder may take it.
    lock = FileLock(place, timeout=10.0, mode=access.file_mode(), poll_interval=0.005)
    try:
        lock.acquire()
    except Timeout as error:
        raise OSError(errno.EBUSY, "another program is using it", str(path)) from error
    try:
        yield path
    finally:
        lock.release()


def add_line(path: Path, entry: Mapping[str, Any]) -> None:
    """Add an object to a log beside the sessions of a study, chained and anchored; on the disk
    before it returns. Raises OSError."""
    study = path.absolute().parent
    with _lock_anchor(study) as anchor:
        _add(path, entry)
        content = files.content(path, LARGEST)
        _add(anchor, _head(study, path, content, HEAD))


def _add(path: Path, entry: Mapping[str, Any]) -> None:
    content = files.content(path, LARGEST) if files.exists(path) else b""
    if content and not content.endswith(b"\n"):
        content += b"\n"  # as `durable.add_line` ends what a crash cut off
    durable.add_line(path, {**entry, PREV: head_of(content)})


def _head(study: Path, path: Path, content: bytes, what: str, **facts: Any) -> dict[str, Any]:
    return _entry(
        name_in(study, path),
        what,
        bytes=len(content),
        lines=content.count(b"\n"),
        head=head_of(content),
        **facts,
    )


def _entry(name: str, what: str, **facts: Any) -> dict[str, Any]:
    return {"utc": utc_text(datetime.now(UTC)), "file": name, "what": what, **facts}


def note_head(
    path: Path, length: int, lines: int, head: str, what: str = HEAD, **facts: Any
) -> None:
    """Write down what a file holds now. what: `HEAD`, or `LOCKED` with its round. Nothing is
    written for a file that is no study's. Raises OSError."""
    if (study := study_of(path)) is not None:
        with _lock_anchor(study) as anchor:
            held = {"bytes": length, "lines": lines, "head": head}
            _add(anchor, _entry(name_in(study, path), what, **held, **facts))


def note_file(path: Path) -> None:
    """Write down what a file holds now; see `note_head`."""
    content = files.content(path, LARGEST)
    note_head(path, len(content), content.count(b"\n"), head_of(content))


@contextmanager
def rewriting(path: Path, content: bytes, why: str) -> Iterator[None]:
    """Replace a file by other content within the block: the anchor says before that it will be so,
    and afterwards that it is. Raises OSError."""
    study = study_of(path)
    if study is None:
        yield
        return
    with _lock_anchor(study) as anchor:
        before = {"before": wrong} if (wrong := _problem(study, path)) else {}
        _add(anchor, _head(study, path, content, REWRITING, why=why, **before))
        yield
        _add(anchor, _head(study, path, content, HEAD))


def _problem(study: Path, path: Path) -> str:
    """What is wrong with a file as it is; empty if nothing is."""
    name = name_in(study, path)
    known: dict[str, _Known] = defaultdict(_Known)
    for entry in _read(study).entries:
        _take(known, str(entry["file"]), entry)
    return _compare(path, known[name])[0] if name in known else ""


def note_gone(study: Path, path: Path, why: str) -> None:
    """Write down that a file, or all in a folder, is about to be deleted. Raises OSError."""
    name = name_in(study, path) + ("/" if files.is_folder(path) else "")
    if any(_within(str(known["file"]), name) for known in entries(study)):
        with _lock_anchor(study) as anchor:
            _add(anchor, _entry(name, GONE, why=why))


def carry(session: Path, goal: Path) -> None:
    """Take what the anchor says of a session's annotations along to another data folder, redacted
    stretches and locks included, before they move there. Raises OSError, RecordError."""
    study, arrives = session.absolute().parent, goal.absolute().parent
    if anchor_of(study) == anchor_of(arrives):
        return
    known, there = _present(study, session.name), _present(arrives, session.name)
    with _lock_anchor(arrives) as anchor:
        for entry in known:
            if entry not in there:
                _add(anchor, entry)
    note_gone(study, study / ANNOTATIONS / session.name, f"moved to {arrives.parent.name}")


def _present(study: Path, session: str) -> list[dict[str, Any]]:
    """What an anchor says of a session's annotations since they were last gone from there."""
    top, present = f"{study.name}/{ANNOTATIONS}/{session}/", list[dict[str, Any]]()
    for entry in entries(study):
        if not str(entry["file"]).startswith(top):
            continue
        if entry["what"] == GONE and entry["file"] == top:
            present.clear()
        else:
            present.append({key: value for key, value in entry.items() if key != PREV})
    return present


def note_redaction(session: Path, redaction: Mapping[str, Any], *, taken_back: bool) -> None:
    """Write down that a stretch of a session is redacted, or is not any more. Raises OSError."""
    session = session.absolute()
    if not taken_back and dict(redaction) in redactions(session):
        return
    name = f"{session.parent.name}/{ANNOTATIONS}/{session.name}/"
    what = UNREDACTED if taken_back else REDACTED
    with _lock_anchor(session.parent) as anchor:
        _add(anchor, _entry(name, what, redaction=dict(redaction)))


def redactions(session: Path) -> list[dict[str, Any]]:
    """The redacted stretches of a session, as the anchor has them. Raises RecordError."""
    session = session.absolute()
    name = f"{session.parent.name}/{ANNOTATIONS}/{session.name}/"
    stretches: dict[str, list[dict[str, Any]]] = {}
    for entry in _read(session.parent).sought:
        redaction = entry.get("redaction")
        if entry["file"] != name or not isinstance(redaction, dict):
            continue
        if entry["what"] == UNREDACTED:
            stretches.pop(str(redaction.get("id")), None)
        else:
            # A stretch that was made longer or moved: both count until it is taken back.
            stretches.setdefault(str(redaction.get("id")), []).append(redaction)
    return [redaction for each in stretches.values() for redaction in each]


def read_locked_rounds(path: Path) -> set[str]:
    """The rounds that were locked in a rater's file. Raises RecordError."""
    if (study := study_of(path)) is None:
        return set()
    name, locked = name_in(study, path), set()
    for entry in _read(study).sought:
        if entry["what"] == LOCKED and entry["file"] == name:
            locked.add(str(entry.get("round", "")))
        elif entry["what"] == GONE and _within(name, str(entry["file"])):
            locked.clear()
    return locked


def entries(study: Path) -> list[dict[str, Any]]:
    """The lines of the anchor that a study is in, those of other studies too; damaged ones are left
    out, and `check` names them. Raises RecordError."""
    return _read(study).entries


class _Anchor(NamedTuple):
    """What an anchor holds. sought: the entries about redactions and locks."""

    entries: list[dict[str, Any]]
    sought: list[dict[str, Any]]
    problems: list[str]
    lines: int
    head: str


def _read(study: Path) -> _Anchor:
    path = anchor_of(study)
    try:
        status = path.stat()
    except FileNotFoundError:
        return _Anchor([], [], [], 0, "")
    except OSError as error:
        raise _unreadable(path, error) from error
    return _parse_anchor(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=4)
def _parse_anchor(path: Path, *_: int) -> _Anchor:
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise _unreadable(path, error) from error
    read, problems, _begins = _read_log(content)
    parsed = [entry for entry in read if isinstance(entry.get("file"), str) and "what" in entry]
    return _Anchor(
        parsed,
        [entry for entry in parsed if entry["what"] in (REDACTED, UNREDACTED, LOCKED, GONE)],
        [f"{path.name}, {problem}" for problem in problems],
        content.count(b"\n"),
        head_of(content),
    )


def _unreadable(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"{path} cannot be read ({error.strerror or error}), but it records what was redacted.",
        safe="No sound or text was released.",
        todo="Make it readable, or restore a copy of it.",
    )


def split(content: bytes) -> list[bytes]:
    """The lines of a file with their ends; the last one may have none."""
    *whole, last = content.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


class Chain:
    """Follows the lines of a file, each of which holds the hash of all that is above it.

    Attributes
    ----------
    begins : int
        The line from which on all above is covered; 0 if no line is chained.
    """

    def __init__(self) -> None:
        self.begins = 0
        self._above = hashlib.sha256()
        self._number = 0
        self._broken = False

    def follow(self, line: bytes, prev: str | None) -> str:
        """Take the next line, with its end, and say what is wrong with the chain there.

        Parameters
        ----------
        line : with its end.
        prev : the hash that the line holds; empty if it has none, None if it cannot be read.

        Returns
        -------
        In words; empty if nothing is wrong, or the reason is a break further up.
        """
        self._number += 1
        problem = ""
        if prev and prev != short(self._above) and not self._broken:
            self._broken = True  # the lines below differ for the same reason
            problem = "something above it was changed, removed or added"
        elif prev == "" and self.begins:
            problem = (
                "it is not part of the hash chain above it, so it was added by hand or by an "
                "older version of labapp"
            )
        if prev and not self.begins:
            self.begins = self._number
        self._above.update(line)
        return problem


def _read_log(content: bytes) -> tuple[list[dict[str, Any]], list[str], int]:
    """The entries of a log, what is wrong with its chain, and the line from which it is covered."""
    chain, parsed, problems = Chain(), list[dict[str, Any]](), list[str]()
    for number, line in enumerate(split(content), start=1):
        entry = entry_in(line)
        prev = None if entry is None else str(entry.get(PREV, ""))
        if problem := chain.follow(line, prev):
            problems.append(f"line {number}: {problem}")
        if entry is not None:
            parsed.append(entry)
    return parsed, problems, chain.begins


def entry_in(line: bytes | str) -> dict[str, Any] | None:
    """The object in a line of a log; None if there is none."""
    try:
        entry = json_value(line) if line.strip() else None
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


@dataclass
class _Known:
    """What the anchor says of a file: how long it was, with which hash; and what it may be, too,
    while it is being rewritten."""

    heads: list[dict[str, Any]] = field(default_factory=list)
    pending: dict[str, Any] | None = None
    gone: bool = False


def check(
    study: Path, ours: Callable[[str], bool] = lambda name: True
) -> tuple[list[str], list[str]]:
    """Hold the files beside a study's sessions against the anchor.

    Parameters
    ----------
    study : the study's folder.
    ours : of a file's name below the study's folder, whether it is to be looked at.

    Returns
    -------
    What is missing or was changed, and what is worth knowing.
    """
    study = study.absolute()
    try:
        read = _read(study)
    except RecordError as error:
        return [error.what], []
    problems, remarks = list(read.problems), list[str]()
    top = f"{study.name}/"
    known: dict[str, _Known] = defaultdict(_Known)
    for entry in read.entries:
        name = str(entry["file"])
        if not name.startswith(top):
            continue
        short_name, day = name.removeprefix(top), _day(entry)
        if entry["what"] == ACCEPTED and entry.get("why"):
            remarks.append(f"{short_name}: accepted in its state of {day}: {entry['why']}")
        if before := entry.get("before"):
            remarks.append(f"{short_name}: when it was rewritten on {day}: {before}")
        _take(known, name, entry)
    for name, state in sorted(known.items()):
        short_name = name.removeprefix(top)
        if state.gone or not ours(short_name):
            continue
        problem, remark = _compare(study.parent / name, state)
        problems += [f"{short_name}: {problem}"] if problem else []
        remarks += [f"{short_name}: {remark}"] if remark else []
    for path in _find_chained_files(study):
        short_name = name_in(study, path).removeprefix(top)
        if top + short_name not in known and ours(short_name):
            problems.append(
                f"{short_name}: not recorded in {ANCHOR} of the data folder, which was deleted or "
                "cut short, or left behind when the study was copied here"
            )
    for path in (study / log for log in LOGS):
        if ours(path.name) and files.exists(path):
            more, begins = _log_problems(path)
            problems += more
            if begins > 1:
                remarks.append(f"{path.name}: evidence begins with line {begins}")
    return problems, remarks


def _take(known: dict[str, _Known], name: str, entry: dict[str, Any]) -> None:
    what = entry["what"]
    if what in (HEAD, LOCKED, ACCEPTED) and isinstance(entry.get("bytes"), int):
        state = known[name]
        if state.pending is not None or what == ACCEPTED:
            state.heads = []
        state.heads.append(entry)
        state.pending, state.gone = None, False
    elif what == REWRITING and isinstance(entry.get("bytes"), int):
        known[name].pending = entry
    elif what == GONE:
        for other in [other for other in known if _within(other, name)]:
            known[other] = _Known(gone=True)


def _within(name: str, place: str) -> bool:
    return name == place or (place.endswith("/") and name.startswith(place))


def _compare(path: Path, state: _Known) -> tuple[str, str]:
    """A problem and a remark of a file; empty if there is none."""
    newest = max(state.heads, key=lambda head: int(head["bytes"]), default=state.pending)
    if newest is None:
        return "", ""
    try:
        content = files.content(path, LARGEST) if files.exists(path) else None
    except OSError as error:
        return f"it cannot be read ({error.strerror or error})", ""
    if content is None:
        return f"it no longer exists; it had {_lines(newest)} on {_day(newest)}", ""
    if state.pending is not None and _holds(content, [state.pending]) is None:
        return "", ""
    wrong = _holds(content, state.heads)
    if wrong is not None:
        there = content.count(b"\n")
        if len(content) < int(wrong["bytes"]) and there < int(wrong.get("lines", 0)):
            return (
                f"it had {_lines(wrong)} on {_day(wrong)}, but has {there} now, so its end was "
                "cut off or an older copy was put back"
            ), ""
        return f"its content of {_day(wrong)} was changed ({_lines(wrong)})", ""
    later = content.count(b"\n") - int(newest.get("lines", 0))
    if len(content) > int(newest["bytes"]) and later > 0:
        why = "the program was killed or is still running, or the anchor was cut short"
        return "", f"its last {later} lines are not in the anchor: {why}"
    return "", ""


def _holds(content: bytes, heads: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The longest head that the content does not have; None if it has all."""
    digest, at, wrong = hashlib.sha256(), 0, None
    for head in sorted(heads, key=lambda head: int(head["bytes"])):
        length = int(head["bytes"])
        digest.update(content[at:length])
        at = length
        if length > len(content) or short(digest) != head.get("head"):
            wrong = head
    return wrong


def _lines(head: Mapping[str, Any]) -> str:
    return "1 line" if head.get("lines") == 1 else f"{head.get('lines')} lines"


def _day(entry: Mapping[str, Any]) -> str:
    return str(entry.get("utc", ""))[:16].replace("T", " ")


def _log_problems(path: Path) -> tuple[list[str], int]:
    try:
        _, problems, begins = _read_log(files.content(path, LARGEST))
    except OSError as error:
        return [f"{path.name}: it cannot be read ({error.strerror or error})"], 0
    return [f"{path.name}, {problem}" for problem in problems], begins


def _find_chained_files(study: Path) -> Iterator[Path]:
    """The files beside a study's sessions that hold chained lines."""
    paths = [study / log for log in LOGS] + sorted((study / ANNOTATIONS).rglob("*.jsonl"))
    for path in paths:
        try:
            if files.is_file(path) and b'"prev":' in files.content(path, LARGEST):
                yield path
        except OSError:
            continue  # reading it reports the problem


def accept(study: Path, why: str) -> int:
    """Take all files of a study as they are now, for a reason that stays in the anchor; how many
    there were. Raises OSError."""
    study = study.absolute()
    books = sorted((study / ANNOTATIONS).glob("*/*.yaml"))
    paths = list(dict.fromkeys([*_find_chained_files(study), *books]))
    top = f"{study.name}/"
    with _lock_anchor(study) as anchor:
        here = {name_in(study, path) for path in paths}
        for name in sorted({str(e["file"]) for e in entries(study)} - here):
            ours = name.startswith(top) and not name.endswith("/")
            if ours and not (study.parent / name).exists():
                _add(anchor, _entry(name, GONE, why=why))
        for path in paths:
            _add(anchor, _head(study, path, files.content(path, LARGEST), ACCEPTED, why=why))
    return len(paths)


def summary(study: Path) -> str:
    """The length and the hash of the anchor, to be compared with what was written down before;
    empty if there is none. Raises RecordError."""
    read = _read(study)
    return f"{anchor_of(study)}: {read.lines} lines, {read.head}" if read.lines else ""


def rechain_lines(content: bytes) -> bytes:
    """The lines of a log with their chain computed again, after some were taken out."""
    result = b""
    for line in split(content):
        entry = entry_in(line)
        if entry is not None and PREV in entry:
            entry = {**entry, PREV: head_of(result)}
            line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        result += line
    return result
