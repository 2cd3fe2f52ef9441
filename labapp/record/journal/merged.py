"""Answers that another tool asked and that were merged into a study, in a log beside its sessions.

A line says what one file has of one session, with where it comes from and what its columns are, so
that it can be read alone: a session that is moved takes its lines along, and a withdrawal removes
them. Of several lines on a session and a survey the last one counts; one without values says that
a later file has nothing of the session any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from labapp.base import durable
from labapp.base.errors import DataFolderError, RecordError
from labapp.base.reading import files
from labapp.record.journal import anchor
from labapp.record.journal.decisions import LARGEST, comment_lines
from labapp.record.journal.layout import MERGED

Kind = Literal["text", "integer", "number", "boolean"]
Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class MergedColumn:
    """A column of a file whose answers were merged.

    Attributes
    ----------
    name : in tables.
    kind : of its values.
    header : what the file calls it.
    label : what it means, as far as the file says; empty if it does not.
    values : what its numbers stand for, by the number as a text.
    shared : whether de-identified copies keep it.
    """

    name: str
    kind: Kind
    header: str
    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    shared: bool = False

    @property
    def meaning(self) -> str:
        """For people: the label, or the header of the file."""
        return self.label or self.header

    @property
    def is_numeric(self) -> bool:
        """Whether its answers are numbers, which `values` can name."""
        return _TYPES[self.kind] is not str


@dataclass(frozen=True, slots=True)
class Merged:
    """What one survey has of a session.

    Attributes
    ----------
    survey : what the survey is called in the study.
    file, sha256 : the file that was merged; row : the line of it that has the answers.
    utc, by : when it was merged, and by whom.
    columns : of the answers.
    answers : by name of a column; a missing answer is None.
    """

    survey: str
    file: str
    sha256: str
    row: int
    utc: str
    by: str
    columns: tuple[MergedColumn, ...]
    answers: Mapping[str, Value]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "columns": [asdict(column) for column in self.columns]}

    @classmethod
    def of(cls, entry: Any) -> Merged:
        """What a line, or a bundle, says. Raises ValueError if it says no such thing."""
        try:
            merged = msgspec.convert(entry, cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"it does not state what was answered and where ({error})") from error
        answers = {column.name: merged.answers.get(column.name) for column in merged.columns}
        for column in merged.columns:
            answer = answers[column.name]
            if answer is not None and not isinstance(answer, _TYPES[column.kind]):
                raise ValueError(f"the answer in {column.name} is not of the kind {column.kind}")
        return replace(merged, answers=answers)

    def deidentified(self) -> Merged:
        """As a de-identified copy has it: only shared columns, nothing about file or people."""
        kept = tuple(column for column in self.columns if column.shared)
        answers = {column.name: self.answers[column.name] for column in kept}
        return replace(
            self, file="", sha256="", row=0, utc="", by="", columns=kept, answers=answers
        )


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def of_session(folder: Path) -> tuple[Merged, ...]:
    """What was merged of the session in a folder, by the names of the surveys. Raises
    RecordError."""
    merged = of_study(folder.parent).get(folder.name, {})
    return tuple(merged[survey] for survey in sorted(merged))


def of_study(study: Path) -> Mapping[str, Mapping[str, Merged]]:
    """By folder of a session and survey what was merged. Raises RecordError if the log, or a
    line of it, cannot be read."""
    path = study / MERGED
    if not files.exists(path):
        return {}
    stated = path.stat()
    return _of_study(study, stated.st_mtime_ns, stated.st_size, stated.st_ino)


@lru_cache(maxsize=8)
def _of_study(study: Path, *stamp: int) -> Mapping[str, Mapping[str, Merged]]:
    """The log as it was at a time and size of the file: an analysis asks once a session."""
    path = study / MERGED
    try:
        lines = comment_lines(study, MERGED)
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read ({error.strerror or error}). It contains the answers that "
            "were merged into this study.",
            safe="It was only read; nothing was changed.",
            todo="Make sure that you may read it, or restore a copy of it.",
        ) from error
    merged: dict[str, dict[str, Merged]] = {}
    for number, (_, entry) in enumerate(lines, start=1):
        try:
            if entry is None:
                raise ValueError("it is damaged")
            own = merged.setdefault(entry["session"], {})
            if entry.get("answers", 0) is None:
                own.pop(str(entry.get("survey")), None)
            else:
                read = Merged.of(entry)
                own[read.survey] = read
        except ValueError as error:
            raise RecordError(
                f"{path}, line {number}: {error}.",
                safe="It was only read; nothing was changed.",
                todo="Restore a copy of the file, or remove the line and merge the survey's "
                "file again: labapp participants merge.",
            ) from error
    return merged


def add(study: Path, given: Mapping[str, Merged], gone: Sequence[str], survey: str) -> None:
    """Write down what a file has of sessions, by the names of their folders, and of which it has
    nothing any more; all lines at once, on the disk before it returns. Raises DataFolderError."""
    path = study / MERGED
    entries = [{"session": name, "text": "", **merged.to_json()} for name, merged in given.items()]
    entries += [{"session": name, "text": "", "survey": survey, "answers": None} for name in gone]
    try:
        content = files.content(path, LARGEST) if files.exists(path) else b""
        if content and not content.endswith(b"\n"):
            content += b"\n"
        for entry in entries:
            chained = {**entry, anchor.PREV: anchor.head_of(content)}
            content += json.dumps(chained, ensure_ascii=False).encode() + b"\n"
        if len(content) > LARGEST:
            raise OSError(f"it would have more than {LARGEST:,} bytes")
        with anchor.rewriting(path, content, "merge"):
            durable.replace(path, content)
    except OSError as error:
        raise DataFolderError(
            f"The answers could not be saved in {path} ({error.strerror or error}).",
            safe="The sessions and answers that were merged before are unchanged.",
            todo="Free some space, or make sure that you may write there.",
        ) from error
