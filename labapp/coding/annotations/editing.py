"""A file of annotations that is open for work: every change is a line, also taking it back.

What a file holds is a fold over its lines. Undoing appends the opposite, so that the history is
complete and nothing is ever lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.ledger import Ledger, Line

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
    opened : what was said when it was opened last: of which session it is, and who works on it.
    """

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
    if not 0 <= t0_ns <= t1_ns < 2**62:
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


TOGETHER = timedelta(microseconds=20)
"""Lines that were written within this time of each other were one change."""
MOST_STEPS = 1000
"""Lines at the end of a file that can be taken back once it is opened again."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change that can be taken back: its lines, those that take it back, and when it was made.
    Nothing takes it back where somebody else changed the same since."""

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
                raise ValueError(f"a newer labapp wrote it ({line.kind}, version {line.v})")
            fold.apply(line)
        except ValueError as error:
            raise AnnotationError(
                f"{place}, line {line.seq} ({line.kind}) cannot be read: {error}.",
                safe="It was only read; nothing was changed.",
                todo="Update labapp where a newer one wrote it; else put back a copy of the file.",
            ) from error


def _goes_on(before: Line, line: Line) -> bool:
    """Whether a line was written in one go with the one before it."""
    apart = datetime.fromisoformat(line.utc) - datetime.fromisoformat(before.utc)
    return apart <= TOGETHER


class EditedFile:
    """A file that is open for work; a base.

    What its own person did last can be taken back, also where that was in another window or on
    another day: the file itself says what was done. Not beyond what settles it, such as freezing
    units, finishing a coding or redacting, and nothing that somebody else changed since.

    Attributes
    ----------
    path : the file.
    remark : str
        What a crash had cut off at its end, in words; empty where nothing was.
    """

    OPENED: ClassVar[str]
    """The kind of line that says who opened the file."""
    who = ""
    """Whose changes can be taken back once the file is opened again; nobody's where it is empty."""

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
        self._undo: list[Step] = []
        self._redo: list[Step] = []
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
                    steps[: touched[-1] + 1] = [Step([], [], steps[touched[-1]].utc)]
            return
        if why in ("undo", "redo"):
            source, target = self._undo, self._redo
            if why == "redo":
                source, target = target, source
            if source:
                step = source.pop()
                target.append(Step(step.inverse, step.entries, batch[-1][0].utc))
            return
        inverse = [entry for _, back in reversed(batch) for entry in back]
        if inverse:
            self._undo.append(Step(entries, inverse, batch[-1][0].utc))
            self._redo.clear()

    def _inverse(self, kind: str, body: Mapping[str, Any]) -> Sequence[Entry] | None:
        """The lines that take a line back that is not folded yet; None where nothing before it can
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
        """Take back what was done last; False where nothing was. Raises AnnotationError."""
        return self._step(self._undo, self._redo, "undo")

    def redo(self) -> bool:
        """Do again what was taken back last; False where nothing was. Raises AnnotationError."""
        return self._step(self._redo, self._undo, "redo")

    def _step(self, source: list[Step], target: list[Step], why: str) -> bool:
        if not source:
            return False
        self._refuse_locked()
        step = source[-1]
        if not step.inverse:
            source.pop()
            return False
        lines = self._append([(kind, {**body, WHY: why}) for kind, body in step.inverse])
        source.pop()
        target.append(Step(step.inverse, step.entries, lines[-1].utc))
        return True

    def _do(self, entries: list[Entry], inverse: list[Entry]) -> list[Line]:
        """Write lines that belong together. inverse: the lines that take them back."""
        self._refuse_locked()
        lines = self._append(entries)
        self._undo.append(Step(entries, inverse, lines[-1].utc))
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

    def __exit__(self, *raised: object) -> None:
        self.close()
