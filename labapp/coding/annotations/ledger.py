"""Files of lines that are only ever added to: what was done to a session's annotations, in order.

A line is in the file when `append` returns, and outlasts a power cut at most 250 ms later. What a
crash cut off at the end is passed over and told of; anything else that is not as it was written is
refused with its line.

Lines of a file of annotations: how they are written, read, checked and merged; without a file.

A line is canonical JSON, `{"body", "kind", "prev", "seq", "sum", "utc", "v"}`. `sum` is the
beginning of the SHA-256 of the line without it, so that a changed byte shows. `prev` is that of all
bytes of the file above it, so that a changed, removed or added line shows. Lines of older versions,
and those in bundles and packs, have no `prev`.

A file of annotations that is open for work: every change is a line, also taking it back.

What a file holds is a fold over its lines. Undoing appends the opposite, so that the history is
complete and nothing is ever lost.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import orjson
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from labapp.base import durable, leftovers
from labapp.base.clock import utc_text
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.reading.values import LINES, PROBLEMS, json_value
from labapp.record.journal import anchor
from labapp.record.journal.anchor import PREV, Chain, short

LONGEST = 256 * 1024
"""Bytes of a line."""
SUM = 16
"""Hexadecimal digits of a line's checksum."""
_KEYS = frozenset({"body", "kind", "seq", "sum", "utc", "v"})
_CHAINED = _KEYS | {PREV}


class Line(NamedTuple):
    """What was done, and when.

    Attributes
    ----------
    seq : number of the line in its file, from 1 without holes.
    utc : when it was written; never before that of a line before it.
    kind : what was done, such as `mark.put`.
    """

    seq: int
    utc: str
    kind: str
    v: int
    body: Mapping[str, Any]


class LineProblem(NamedTuple):
    """What is wrong with a line. line: its number in the file, from 1."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Lines:
    """What is read of a file.

    Attributes
    ----------
    lines : in their order, up to the first that is damaged.
    problems : of lines that are not as they were written.
    torn : what a crash cut off at the end, in words; empty if nothing is.
    ended : whether the last of them ends with a line's end.
    breaks : tuple of Problem
        Where the chain is broken: every line is as it was written, but not all that was above it.
    chained_from : the first line that is chained, which covers those above it; 0 if none is.
    """

    lines: tuple[Line, ...] = ()
    problems: tuple[LineProblem, ...] = ()
    torn: str = ""
    length: int = 0
    ended: bool = True
    breaks: tuple[LineProblem, ...] = ()
    chained_from: int = 0


def encode(line: Line, prev: str = "") -> bytes:
    """A line as its file has it, with its checksum and without the line's end. prev: the hash of
    what is above it in the file, if the line is chained. Raises AnnotationError: a text of it
    holds half a character, a number is too large, or it is too long."""
    fields = line._asdict()
    if prev:
        fields[PREV] = prev
    try:
        content = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
        fields["sum"] = hashlib.sha256(content).hexdigest()[:SUM]
        content = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise AnnotationError(
            f"This cannot be stored ({error}).", todo="Write it in other words."
        ) from error
    if len(content) > LONGEST:
        raise AnnotationError(
            f"This has {len(content)} bytes, but a line can have at most {LONGEST}.",
            todo="Write less, or split it.",
        )
    return content


def decode(raw: bytes) -> Line:
    """A line of a file. Raises ValueError, in words, if it is not as it was written."""
    return _decode_line(raw)[0]


def _decode_line(raw: bytes) -> tuple[Line, str]:
    """A line and what it says of those above it; empty if it is not chained."""
    if len(raw) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} bytes")
    try:
        fields = json_value(raw)
    except ValueError as error:
        raise ValueError(f"it is damaged ({error})") from error
    if not isinstance(fields, dict) or fields.keys() not in (_KEYS, _CHAINED):
        raise ValueError("it is damaged: its keys are not those of a line")
    stored, prev = fields.pop("sum"), fields.pop(PREV, "")
    line = Line(**fields)
    types = (int, str, str, int, dict)
    typed = all(type(value) is kind for value, kind in zip(line, types, strict=True))
    if not typed or not isinstance(prev, str):
        raise ValueError("it is damaged: a value has the wrong type")
    try:
        content = encode(line, prev)
    except AnnotationError as error:
        raise ValueError(f"it is damaged ({error.what})") from error
    if content != raw:
        same = json_value(content)["sum"] == stored
        how = "is written otherwise" if same else "was changed, because its checksum does not match"
        raise ValueError(f"it {how}")
    return line, prev


def parse(content: bytes) -> Lines:
    """The lines in the bytes of a file; nothing is raised for what is damaged. After `PROBLEMS`
    damaged lines, the rest is not looked at."""
    if content.count(b"\n") > LINES:
        what = f"the file has more than {LINES:,} lines, and no more are read"
        return Lines((), (LineProblem(LINES + 1, what),), "", len(content), ended=True)
    *whole, last = content.split(b"\n")
    ended = not last or not _is_line(last)
    if not ended:
        whole, last = [*whole, last], b""
    lines: list[Line] = []
    problems: list[LineProblem] = []
    breaks: list[LineProblem] = []
    expected, utc, chain = 1, "", Chain()
    for number, raw in enumerate(whole, start=1):
        try:
            line, prev = _decode_line(raw)
        except ValueError as error:
            problems.append(LineProblem(number, str(error)))
            expected += 1
            chain.follow(raw + b"\n", None)
            if len(problems) == PROBLEMS and (left := len(whole) - number):
                what = f"{left:,} lines from here on were not checked, because too many are damaged"
                problems.append(LineProblem(number + 1, what))
                break
            continue
        if problem := chain.follow(raw + b"\n", prev):
            breaks.append(LineProblem(number, problem))
        if line.seq != expected:
            what = f"it has the number {line.seq}, but {expected} was expected"
            problems.append(LineProblem(number, what))
        elif line.utc < utc:
            problems.append(LineProblem(number, "it was written before the line above it"))
        expected, utc = line.seq + 1, line.utc
        if not problems:
            lines.append(line)
    torn = ""
    if last:
        torn = f"The last line was cut off by a crash and is left out ({len(last)} bytes)."
    length = len(content) - len(last)
    return Lines(tuple(lines), tuple(problems), torn, length, ended, tuple(breaks), chain.begins)


def _is_line(raw: bytes) -> bool:
    try:
        decode(raw)
    except ValueError:
        return False
    return True


def require_whole(lines: Lines, place: str) -> Lines:
    """The lines of a file without damage. Raises AnnotationError with the first damaged line."""
    if not lines.problems:
        return lines
    more = f" {len(lines.problems) - 1} more are damaged." if len(lines.problems) > 1 else ""
    raise AnnotationError(
        f"{place}, {lines.problems[0]}.{more}",
        safe="It was only read; nothing was changed.",
        todo="Restore a copy of the file, or of the line. *Files*, *Check files* on the Coding "
        "page (`labapp code verify`) lists every damaged line.",
    )


def merge_lines(first: Sequence[Line], second: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of two files of one rater as those of one, whichever comes first.

    What both have counts once; the rest stands in the order of time, so that a third file may come
    before or after them, too.
    """
    contents = {
        (line.utc, line.kind, line.v, orjson.dumps(line.body, option=orjson.OPT_SORT_KEYS)): line
        for line in (*first, *second)
    }
    ordered = (contents[key] for key in sorted(contents))
    return tuple(line._replace(seq=number) for number, line in enumerate(ordered, start=1))


def as_bytes(lines: Iterable[Line], *, chained: bool = False) -> bytes:
    """A file of these lines, numbered again. chained: whether each holds the hash of those above
    it. Raises AnnotationError as `encode`."""
    above, parts = hashlib.sha256(), list[bytes]()
    for number, line in enumerate(lines, start=1):
        content = encode(line._replace(seq=number), short(above) if chained else "") + b"\n"
        above.update(content)
        parts.append(content)
    return b"".join(parts)


def next_utc(last: str) -> str:
    """Now, and later than the last line's time also if the clock was set back."""
    now = utc_text(datetime.now(UTC))
    return now if now > last else after(last)


def after(utc: str) -> str:
    """The next time that a line can have; lines of one change are so close to each other."""
    return utc_text(datetime.fromisoformat(utc) + timedelta(microseconds=1))


SYNC_S = 0.15
"""Pause between two syncs; with the sync itself nothing waits longer than 250 ms."""
ANCHOR_S = 30.0
"""How long lines of an open file are not in the anchor, see `labapp.record.journal.anchor`."""
LARGEST = 64 * files.MIB
"""Bytes of a file. A mark has some three hundred."""
_CLOSE_S = 10.0
Rewritten = tuple[Iterable[Line], tuple[str, Mapping[str, Any]]]
"""What is left of a file's lines, and kind and body of the line that says what was taken out."""


def read(path: Path) -> Lines:
    """The lines of a file; none if it is not there. Raises AnnotationError: it cannot be read,
    or a line of it is damaged."""
    return require_whole(parse(content_of(path)), str(path))


def content_of(path: Path) -> bytes:
    """The bytes of a file of lines; none if it is not there. Raises AnnotationError."""
    try:
        return files.content(path, LARGEST) if files.exists(path) else b""
    except OSError as error:
        raise AnnotationError(
            f"{path} cannot be read ({error.strerror or error}).",
            safe="It was only read; nothing was changed.",
            todo="Check that it exists, that you may read it, and that it is the right file.",
        ) from error


@dataclass(frozen=True)
class HeldFile:
    """A file of lines that nobody else writes to, to be replaced whole; see `lock_file`."""

    path: Path
    lines: tuple[Line, ...]

    def replace(self, lines: Iterable[Line]) -> None:
        """Write other lines in the place of these, at once. Raises AnnotationError; the file is as
        it was then."""
        replace_file(self.path, as_bytes(lines, chained=True), "rewritten")


@contextmanager
def lock_file(path: Path) -> Iterator[HeldFile]:
    """Lock a file of lines that is read and then replaced: nobody can write to it in between.
    Raises AnnotationsBusy: it is open in another window; AnnotationError: it cannot be read, or a
    line of it is damaged."""
    _make_folder(path)
    lock = _acquire_lock(path)
    try:
        yield HeldFile(path, read(path).lines)
    finally:
        lock.release()


def rewrite(path: Path, change: Callable[[Sequence[Line]], Rewritten | None]) -> None:
    """Replace a file, which nobody may have open, by some of its lines, and say in a last line that
    this was done. change: gives what is left of the lines, in order, and kind and body of the line
    that says what was taken out and why; None if nothing is to be taken out. Raises
    AnnotationsBusy and AnnotationError; the file is as it was then."""
    with lock_file(path) as file:
        if (rewritten := change(file.lines)) is None:
            return
        left, (kind, body) = list(rewritten[0]), rewritten[1]
        utc = next_utc(left[-1].utc if left else "")
        file.replace([*left, Line(0, utc, kind, 1, body)])


class Ledger:
    """An open file of lines; one window at a time writes to it. torn: what a crash had cut off at
    its end, in words; it was taken away."""

    def __init__(self, path: Path, patience_s: float = 0.0) -> None:
        """Open a file, or make it. Raises AnnotationsBusy: another window holds it;
        AnnotationError: it cannot be read or written, or a line of it is damaged.

        Parameters
        ----------
        path : the file.
        patience_s : how long to wait for another program that holds it, in s.
        """
        self.path = path
        _make_folder(path)
        self._lock = _acquire_lock(path, patience_s)
        try:
            content = content_of(path)
            present = require_whole(parse(content), str(path))
            self.lines = list(present.lines)
            self.torn = present.torn
            self._length = self._anchored = present.length
            self._above = hashlib.sha256(content[: present.length])
            self._open(present)
        except BaseException:
            self._lock.release()
            raise
        self._guard = threading.Lock()
        self._wake = threading.Condition(self._guard)
        self._synced = self._length
        self._failure: OSError | None = None
        self._closing = False
        self._anchored_at = time.monotonic()
        self._thread: threading.Thread | None = None

    def _open(self, present: Lines) -> None:
        try:
            new = not files.exists(self.path)
            self._file = self.path.open("ab", buffering=0)
            try:
                if present.torn:
                    os.truncate(self._file.fileno(), self._length)
                if not present.ended:
                    self._length += self._file.write(b"\n") or 0
                    self._above.update(b"\n")
                os.fsync(self._file.fileno())
                if new:
                    durable.sync_folder(self.path.parent)
                    anchor.note_head(self.path, 0, 0, anchor.head_of(b""))
            except OSError:
                self._file.close()
                raise
        except OSError as error:
            raise unwritable(self.path, error) from error

    @property
    def saved(self) -> bool:
        """Whether all lines would outlast a power cut by now."""
        return self._synced == self._length

    @property
    def problem(self) -> str:
        """Why lines do not reach the disk, in words; empty while they do."""
        return "" if self._failure is None else str(self._failure.strerror or self._failure)

    def append(self, kind: str, body: Mapping[str, Any]) -> Line:
        """Add a line; see `append_all`."""
        return self.append_all([(kind, body)])[0]

    def append_all(self, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Line]:
        """Add lines that belong together: kinds with bodies. Raises AnnotationError: they cannot be
        stored or written; none of them is in the file then."""
        lines: list[Line] = []
        utc = next_utc(self.lines[-1].utc if self.lines else "")
        for seq, (kind, body) in enumerate(entries, start=len(self.lines) + 1):
            lines.append(Line(seq, utc, kind, 1, body))
            utc = after(utc)
        with self._guard:
            above, content = self._above.copy(), b""
            for line in lines:
                raw = encode(line, anchor.short(above)) + b"\n"
                above.update(raw)
                content += raw
            if self._closing:
                raise AnnotationError(f"{self.path} is closed.", todo="Open it again.")
            if self._failure is not None:
                raise unwritable(self.path, self._failure)
            if self._length + len(content) > LARGEST:
                raise unwritable(self.path, files.too_large(None, LARGEST))
            self._write(content)
            self._above = above
            self.lines += lines
            self._length += len(content)
            if self._thread is None:
                name = f"annotations-{self.path.stem}"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._wake.notify()
        return lines

    def _write(self, content: bytes) -> None:
        """All of the content, or nothing of it."""
        try:
            left = memoryview(content)
            while left:
                count = self._file.write(left)
                if not count:
                    raise OSError(errno.EIO, "nothing could be written")
                left = left[count:]
        except OSError as error:
            try:
                os.truncate(self._file.fileno(), self._length)
            except OSError as second:
                self._failure = second
            raise unwritable(self.path, error) from error

    def flush(self) -> None:
        """Make all lines outlast a power cut now. Raises AnnotationError."""
        self._sync()
        if self._failure is not None:
            raise unwritable(self.path, self._failure)

    def note_head(self, what: str = anchor.HEAD, **facts: Any) -> None:
        """Write down in the data folder's anchor what the file holds; what, facts: see
        `labapp.record.journal.anchor.note_head`. Raises AnnotationError."""
        self.flush()
        with self._guard:
            length, lines, head = self._length, len(self.lines), anchor.short(self._above)
        if what == anchor.HEAD and length == self._anchored:
            return
        try:
            anchor.note_head(self.path, length, lines, head, what, **facts)
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._anchored, self._anchored_at = length, time.monotonic()

    def close(self) -> None:
        """Make all lines durable and let others open the file. Raises AnnotationError."""
        with self._guard:
            if self._closing:
                return
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)
        try:
            self.note_head()
        finally:
            self._file.close()
            self._lock.release()

    def _run(self) -> None:
        while not self._closing:
            with self._wake:
                self._wake.wait_for(lambda: self._closing or not self.saved)
                self._wake.wait_for(lambda: self._closing, SYNC_S)
            if not self._closing:
                self._sync()
                if time.monotonic() - self._anchored_at > ANCHOR_S:
                    with suppress(AnnotationError):  # it is raised where the file is closed
                        self.note_head()

    def _sync(self) -> None:
        length = self._length
        if self._synced == length:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            self._failure = error
        else:
            self._synced = max(self._synced, length)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _make_folder(path: Path) -> None:
    """The folder of a file, with those above it, so that they outlast a power cut as it does."""
    missing = [folder for folder in path.parents if not files.exists(folder)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in missing:
            durable.sync_folder(folder.parent)
    except OSError as error:
        raise unwritable(path, error) from error


def _acquire_lock(path: Path, patience_s: float = 0.0) -> FileLock:
    place = path.with_name(f".{path.name}.lock")
    lock = FileLock(place, timeout=patience_s, thread_local=False, poll_interval=0.01)
    try:
        lock.acquire()
    except Timeout as error:
        raise AnnotationsBusy(
            Message("annotations_busy", file=str(path)), todo=Message("annotations_busy_todo")
        ) from error
    except OSError as error:
        raise unwritable(path, error) from error
    return lock


def replace_file(path: Path, content: bytes, why: str) -> None:
    """Replace a file of annotations, at once. Raises AnnotationError; the file is as it was."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with anchor.rewriting(path, content, why):
            durable.write(draft, content)
            draft.replace(path)
            durable.sync_folder(path.parent)
    except OSError as error:
        leftovers.drop(draft)
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> AnnotationError:
    """What is raised if a file of annotations cannot be written."""
    full = error.errno == errno.ENOSPC
    why = str(error.strerror or error)
    return AnnotationError(
        Message("annotations_disk_full", file=str(path))
        if full
        else Message("annotations_unwritable", file=str(path), why=why),
        safe=Message("annotations_safe"),
        todo=Message("disk_make_room") if full else Message("folder_see_rights"),
    )


VERSION = 1
"""Of every kind of line so far."""
WHY = "why"
"""Key of a body: what a line was written for, besides a change by hand: undo, redo, split …"""

IMPORTED = "imported"
"""Kind of a line: a file of another tool was brought in (its SHA-256, its format); and what the
changes that came of it were written for."""

Entry = tuple[str, Mapping[str, Any]]
"""A kind and a body: a line that is not written yet."""
Record_ = TypeVar("Record_")


class Fold(Protocol):
    """What a file of lines holds. opened: what was said when it was opened last: of which session
    it is, and who works on it."""

    opened: Mapping[str, Any]

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError, in words, for one that cannot be."""


def new_id() -> str:
    """An id that nothing else has."""
    return uuid.uuid4().hex[:16]


def body_of(record: Any) -> dict[str, Any]:
    """A record as the body of a line, which itself says when it was written."""
    return {key: value for key, value in asdict(record).items() if key != "utc"}


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
"""What reads a record, by its type."""


def record_from(kind: type[Record_], body: Mapping[str, Any]) -> Record_:
    """The record in a line's body. Raises ValueError if a field is missing or is something
    else."""
    try:
        adapter = _ADAPTERS.get(kind) or _ADAPTERS.setdefault(kind, TypeAdapter(kind))
        record: Record_ = adapter.validate_json(orjson.dumps(body), strict=True)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"its {place}: {first['msg']}") from invalid
    return record


def in_order(t0_ns: int, t1_ns: int) -> None:
    """Raises ValueError for times that no session has: below 0, or an end before the beginning."""
    if not 0 <= t0_ns <= t1_ns < 2**62:
        raise ValueError(f"it goes from {t0_ns} to {t1_ns} ns")


def text_in(body: Mapping[str, Any], key: str) -> str:
    """A text in a line's body. Raises ValueError if it is none."""
    value = body.get(key)
    if not isinstance(value, str):
        raise ValueError(f"its {key} is not text")
    return value


def switch_in(body: Mapping[str, Any], key: str) -> bool:
    """What is true or false in a line's body. Raises ValueError if it is neither."""
    value = body.get(key)
    if not isinstance(value, bool):
        raise ValueError(f"its {key} is neither true nor false")
    return value


TOGETHER = timedelta(microseconds=20)
"""Lines that were written within this time of each other were one change."""
MOST_STEPS = 1000
"""Lines at the end of a file that can be taken back once it is opened again."""


@dataclass(frozen=True, slots=True)
class UndoStep:
    """A change that can be taken back: its lines, those that take it back, and when it was made.
    Nothing takes it back if somebody else changed the same since."""

    entries: list[Entry]
    inverse: list[Entry]
    utc: str


def about(body: Mapping[str, Any]) -> str:
    """What a line is about: the id of a mark, a unit or a proposal, or the unit of a text."""
    return str(body.get("id", body.get("unit", body.get("about", ""))))


def fold_lines(
    fold: Fold,
    lines: Iterable[Line],
    place: str,
    before: Callable[[Line], None] = lambda line: None,
) -> None:
    """Take in the lines of a file; before: told of each line while the fold does not have it yet.
    Raises AnnotationError for one that cannot be."""
    for line in lines:
        try:
            before(line)
            if line.v != VERSION:
                raise ValueError(
                    f"it was written by a newer version of labapp ({line.kind}, version {line.v})"
                )
            fold.apply(line)
        except ValueError as error:
            raise AnnotationError(
                f"{place}, line {line.seq} ({line.kind}) cannot be read: {error}.",
                safe="It was only read; nothing was changed.",
                todo="If it was written by a newer version of labapp, update labapp. If not, "
                "restore a copy of the file.",
            ) from error


def _goes_on(before: Line, line: Line) -> bool:
    """Whether a line was written in one go with the one before it."""
    apart = datetime.fromisoformat(line.utc) - datetime.fromisoformat(before.utc)
    return apart <= TOGETHER


class EditedFile:
    """A file that is open for work; a base.

    What its own person did last can be taken back, also if that was in another window or on
    another day: the file itself says what was done. Not beyond what settles it, such as freezing
    units, finishing a coding or redacting, and nothing that somebody else changed since.

    Attributes
    ----------
    path : the file.
    remark : str
        What a crash had cut off at its end, in words; empty if nothing was.
    """

    OPENED: ClassVar[str]
    """The kind of line that says who opened the file."""
    who = ""
    """Whose changes can be taken back once the file is opened again; nobody's if it is empty."""

    def __init__(
        self,
        path: Path,
        fold: Fold,
        checked: Callable[[], None] | None = None,
        patience_s: float = 0.0,
    ) -> None:
        """Open the file and fold it. checked: looks at what it holds, and raises if it may not
        be gone on with; patience_s: see `Ledger`. Raises AnnotationError, AnnotationsBusy."""
        self.path = path
        self._fold = fold
        self._undo: list[UndoStep] = []
        self._redo: list[UndoStep] = []
        self._ledger = Ledger(path, patience_s)
        try:
            self._read_steps()
            if checked is not None:
                checked()
        except BaseException:
            self._ledger.close()
            raise
        self.remark = self._ledger.torn

    def _read_steps(self) -> None:
        """Fold the file, and find out what of it can be taken back."""
        lines = self._ledger.lines
        if not self.who:
            fold_lines(self._fold, lines, str(self.path))
            return
        first = len(lines) - MOST_STEPS
        batch: list[tuple[Line, Sequence[Entry]]] = []
        opened_by = ""

        def take(line: Line) -> None:
            nonlocal opened_by
            if batch and (line.kind == self.OPENED or not _goes_on(batch[-1][0], line)):
                self._take_step(batch, opened_by == self.who)
                batch.clear()
            if line.kind == self.OPENED:
                if self._settles(line):
                    self._undo.clear()
                    self._redo.clear()
                opened_by = str(line.body.get("rater", line.body.get("by", "")))
                return
            inverse = self._inverse(line.kind, line.body) if line.seq > first else None
            if inverse is None:
                for done in (batch, self._undo, self._redo):
                    done.clear()
            else:
                batch.append((line, inverse))

        fold_lines(self._fold, lines, str(self.path), take)
        if batch:
            self._take_step(batch, opened_by == self.who)

    def _take_step(self, batch: Sequence[tuple[Line, Sequence[Entry]]], own: bool) -> None:
        """Take in lines that were one change."""
        entries: list[Entry] = [(line.kind, line.body) for line, _ in batch]
        why = batch[-1][0].body.get(WHY)
        if not own:
            ids = frozenset(about(body) for _, body in entries) - {""}
            for steps in (self._undo, self._redo):
                touched = [
                    place
                    for place, step in enumerate(steps)
                    if any(about(body) in ids for _, body in step.entries)
                ]
                if touched:  # those before it rest upon it
                    steps[: touched[-1] + 1] = [UndoStep([], [], steps[touched[-1]].utc)]
            return
        if why in ("undo", "redo"):
            source, target = self._undo, self._redo
            if why == "redo":
                source, target = target, source
            if source:
                step = source.pop()
                target.append(UndoStep(step.inverse, step.entries, batch[-1][0].utc))
            return
        inverse = [entry for _, back in reversed(batch) for entry in back]
        if inverse:
            self._undo.append(UndoStep(entries, inverse, batch[-1][0].utc))
            self._redo.clear()

    def _inverse(self, kind: str, body: Mapping[str, Any]) -> Sequence[Entry] | None:
        """The lines that take a line back that is not folded yet; None if nothing before it can
        be taken back any more; a hook."""
        return None

    def _settles(self, opened: Line) -> bool:
        """Whether nothing before this opening can be taken back any more; a hook."""
        return False

    def last_step(self, how: str) -> str:
        """When that was done which `undo` or `redo` would turn next; empty for nothing."""
        steps = self._undo if how == "undo" else self._redo
        return steps[-1].utc if steps else ""

    def note_opened(self, body: Mapping[str, Any]) -> None:
        """Say of which session the file is and who works on it, if it does not say so yet."""
        if dict(self._fold.opened) != dict(body):
            self._append([(self.OPENED, body)])

    @property
    def saved(self) -> bool:
        """Whether everything would outlast a power cut by now."""
        return self._ledger.saved

    @property
    def problem(self) -> str:
        """Why changes cannot be written to disk, in words; empty if they can."""
        return self._ledger.problem

    def undo(self) -> bool:
        """Take back what was done last; False if nothing was. Raises AnnotationError."""
        return self._step(self._undo, self._redo, "undo")

    def redo(self) -> bool:
        """Do again what was taken back last; False if nothing was. Raises AnnotationError."""
        return self._step(self._redo, self._undo, "redo")

    def _step(self, source: list[UndoStep], target: list[UndoStep], why: str) -> bool:
        if not source:
            return False
        self._refuse_locked()
        step = source[-1]
        if not step.inverse:
            source.pop()
            return False
        lines = self._append([(kind, {**body, WHY: why}) for kind, body in step.inverse])
        source.pop()
        target.append(UndoStep(step.inverse, step.entries, lines[-1].utc))
        return True

    def _do(self, entries: list[Entry], inverse: list[Entry]) -> list[Line]:
        """Write lines that belong together. inverse: the lines that take them back."""
        self._refuse_locked()
        lines = self._append(entries)
        self._undo.append(UndoStep(entries, inverse, lines[-1].utc))
        self._redo.clear()
        return lines

    def _append(self, entries: list[Entry]) -> list[Line]:
        lines = self._ledger.append_all(entries)
        fold_lines(self._fold, lines, str(self.path))
        self._changed()
        return lines

    def _refuse_locked(self) -> None:
        """Raises AnnotationError if nothing may be changed any more; a hook."""

    def _changed(self) -> None:
        """Called behind every change; a hook."""

    def flush(self) -> None:
        """Make everything outlast a power cut now. Raises AnnotationError."""
        self._ledger.flush()

    def close(self) -> None:
        """Make everything durable and let others open the file. Raises AnnotationError."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
