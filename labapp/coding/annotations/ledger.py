"""Files of lines that are only ever added to: what was done to a session's annotations, in order.

A line is in the file when `append` returns, and outlasts a power cut at most 250 ms later. What a
crash cut off at the end is passed over and told of; anything else that is not as it was written is
refused with its line.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from labapp.base import durable, leftovers
from labapp.base.errors import AnnotationError, AnnotationsBusy
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.coding.annotations.lines import (
    Line,
    Lines,
    after,
    as_bytes,
    checked,
    encode,
    next_utc,
    parse,
)
from labapp.record.journal import anchor

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
    """The lines of a file; none where it is not there.

    Raises
    ------
    AnnotationError : it cannot be read, or a line of it is damaged.
    """
    return checked(parse(content_of(path)), str(path))


def content_of(path: Path) -> bytes:
    """The bytes of a file of lines; none where it is not there. Raises AnnotationError."""
    try:
        return files.content(path, LARGEST) if files.exists(path) else b""
    except OSError as error:
        raise AnnotationError(
            f"{path} cannot be read ({error.strerror or error}).",
            safe="It was only read; nothing was changed.",
            todo="Check that it is there, that you may read it, and that it is the right file.",
        ) from error


@dataclass(frozen=True)
class HeldFile:
    """A file of lines that nobody else writes to, to be replaced whole; see `held`."""

    path: Path
    lines: tuple[Line, ...]

    def replace(self, lines: Iterable[Line]) -> None:
        """Write other lines in the place of these, at once. Raises AnnotationError; the file is as
        it was then."""
        replace_file(self.path, as_bytes(lines, chained=True), "rewritten")


@contextmanager
def held(path: Path) -> Iterator[HeldFile]:
    """A file of lines that is read and then replaced: nobody can write to it in between.

    Raises
    ------
    AnnotationsBusy : it is open in another window.
    AnnotationError : it cannot be read, or a line of it is damaged.
    """
    _make_folder(path)
    lock = _locked(path)
    try:
        yield HeldFile(path, read(path).lines)
    finally:
        lock.release()


def rewrite(path: Path, change: Callable[[Sequence[Line]], Rewritten | None]) -> None:
    """Replace a file, which nobody may have open, by some of its lines, and say in a last line that
    this was done. change: gives what is left of the lines, in order, and kind and body of the line
    that says what was taken out and why; None where nothing is to be taken out. Raises
    AnnotationsBusy and AnnotationError; the file is as it was then."""
    with held(path) as file:
        if (rewritten := change(file.lines)) is None:
            return
        left, (kind, body) = list(rewritten[0]), rewritten[1]
        utc = next_utc(left[-1].utc if left else "")
        file.replace([*left, Line(0, utc, kind, 1, body)])


class Ledger:
    """An open file of lines; one window at a time writes to it. torn: what a crash had cut off at
    its end, in words; it was taken away."""

    def __init__(self, path: Path, patience_s: float = 0.0) -> None:
        """Open a file, or make it.

        Parameters
        ----------
        path : the file.
        patience_s : how long to wait for another program that holds it, in s.

        Raises
        ------
        AnnotationsBusy : another window holds it.
        AnnotationError : it cannot be read or written, or a line of it is damaged.
        """
        self.path = path
        _make_folder(path)
        self._lock = _locked(path, patience_s)
        try:
            content = content_of(path)
            present = checked(parse(content), str(path))
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
        """Add lines that belong together: kinds with bodies.

        Raises
        ------
        AnnotationError : they cannot be stored or written; none of them is in the file then.
        """
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


def _locked(path: Path, patience_s: float = 0.0) -> FileLock:
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
    """What is raised where a file of annotations cannot be written."""
    full = error.errno == errno.ENOSPC
    why = str(error.strerror or error)
    return AnnotationError(
        Message("annotations_disk_full", file=str(path))
        if full
        else Message("annotations_unwritable", file=str(path), why=why),
        safe=Message("annotations_safe"),
        todo=Message("disk_make_room") if full else Message("folder_see_rights"),
    )
