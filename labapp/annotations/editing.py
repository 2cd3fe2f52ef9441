"""A file of annotations that is open for work: every change is a line, also taking it back.

What a file holds is a fold over its lines. Undoing appends the opposite, so that the history is
complete and nothing is ever lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from labapp.annotations.ledger import Ledger
from labapp.annotations.lines import Line
from labapp.errors import AnnotationError

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
    """What a file of lines holds.

    Attributes
    ----------
    opened : mapping
        What was said when it was opened last: of which session it is, and who works on it.
    """

    opened: Mapping[str, Any]

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError, in words, for one that cannot be."""
        ...


def new_id() -> str:
    """An id that nothing else has."""
    return uuid.uuid4().hex[:16]


def body_of(record: Any) -> dict[str, Any]:
    """A record as the body of a line."""
    return asdict(record)


_LATEST_NS = 2**62
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
"""What reads a record, by its type."""


def record_from(kind: type[Record_], body: Mapping[str, Any]) -> Record_:
    """The record in a line's body. Raises ValueError where a field is missing or is something
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
    if not 0 <= t0_ns <= t1_ns < _LATEST_NS:
        raise ValueError(f"it goes from {t0_ns} to {t1_ns} ns")


def text_in(body: Mapping[str, Any], key: str) -> str:
    """A text in a line's body. Raises ValueError where it is none."""
    value = body.get(key)
    if not isinstance(value, str):
        raise ValueError(f"its {key} is no text")
    return value


def switch_in(body: Mapping[str, Any], key: str) -> bool:
    """What is true or false in a line's body. Raises ValueError where it is neither."""
    value = body.get(key)
    if not isinstance(value, bool):
        raise ValueError(f"its {key} is neither true nor false")
    return value


def fold_lines(fold: Fold, lines: Iterable[Line], place: str) -> None:
    """Take in the lines of a file. Raises AnnotationError for one that cannot be."""
    for line in lines:
        try:
            if line.v != VERSION:
                raise ValueError(f"a newer labapp wrote it ({line.kind}, version {line.v})")
            fold.apply(line)
        except ValueError as error:
            raise AnnotationError(
                f"{place}, line {line.seq} ({line.kind}) cannot be read: {error}.",
                safe="It was only read; nothing was changed.",
                todo="Update labapp where a newer one wrote it; else put back a copy of the file.",
            ) from error


class EditedFile:
    """A file that is open for work; a base.

    Attributes
    ----------
    path : Path
        The file.
    remark : str
        What a crash had cut off at its end, in words; empty where nothing was.
    """

    OPENED: ClassVar[str]
    """The kind of line that says who opened the file."""

    def __init__(
        self,
        path: Path,
        fold: Fold,
        checked: Callable[[], None] | None = None,
        patience_s: float = 0.0,
    ) -> None:
        """Open the file and fold it. checked: looks at what it holds, and raises where it may not
        be gone on with; patience_s: see `Ledger`. Raises AnnotationError, AnnotationsBusy."""
        self.path = path
        self._fold = fold
        self._undo: list[tuple[list[Entry], list[Entry]]] = []
        self._redo: list[tuple[list[Entry], list[Entry]]] = []
        self._ledger = Ledger(path, patience_s)
        try:
            fold_lines(fold, self._ledger.lines, str(path))
            if checked is not None:
                checked()
        except BaseException:
            self._ledger.close()
            raise
        self.remark = self._ledger.torn

    def note_opened(self, body: Mapping[str, Any]) -> None:
        """Say of which session the file is and who works on it, where it does not say so yet."""
        if dict(self._fold.opened) != dict(body):
            self._append([(self.OPENED, body)])

    @property
    def saved(self) -> bool:
        """Whether everything would outlast a power cut by now."""
        return self._ledger.saved

    @property
    def problem(self) -> str:
        """Why changes do not reach the disk, in words; empty while they do."""
        return self._ledger.problem

    def undo(self) -> bool:
        """Take back what was done last since the file was opened; False where nothing was. Raises
        AnnotationError."""
        return self._step(self._undo, self._redo, "undo")

    def redo(self) -> bool:
        """Do again what was taken back last; False where nothing was. Raises AnnotationError."""
        return self._step(self._redo, self._undo, "redo")

    def take_steps(self, before: EditedFile, changed: Callable[[Entry], bool]) -> None:
        """Let what was done when the file was open before be taken back here, too.

        Parameters
        ----------
        before : EditedFile
            The same file, closed by now.
        changed : callable
            Whether somebody else changed since what a line is about; then a step is left alone.
        """
        for steps, others in ((self._undo, before._undo), (self._redo, before._redo)):
            for step in others:
                if any(changed(entry) for entries in step for entry in entries):
                    steps.clear()  # those before it rest upon it
                else:
                    steps.append(step)

    def _step(
        self,
        source: list[tuple[list[Entry], list[Entry]]],
        target: list[tuple[list[Entry], list[Entry]]],
        why: str,
    ) -> bool:
        if not source:
            return False
        self._refuse_locked()
        entries, inverse = source[-1]
        self._append([(kind, {**body, WHY: why}) for kind, body in inverse])
        source.pop()
        target.append((inverse, entries))
        return True

    def _do(self, entries: list[Entry], inverse: list[Entry]) -> list[Line]:
        """Write lines that belong together. inverse: the lines that take them back."""
        self._refuse_locked()
        lines = self._append(entries)
        self._undo.append((entries, inverse))
        self._redo.clear()
        return lines

    def _append(self, entries: list[Entry]) -> list[Line]:
        lines = self._ledger.append_all(entries)
        fold_lines(self._fold, lines, str(self.path))
        self._changed()
        return lines

    def _refuse_locked(self) -> None:
        """Raises AnnotationError where nothing may be changed any more; a hook."""

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
