"""Who withdrew from a study: `withdrawn.jsonl`, beside its session folders.

A finished journal is not written to, and a deleted one is no more, so that a withdrawal is kept
here: a line a session, which keeps the participant's label taken. Who withdrew has withdrawn with
all sessions, whichever of them the lines name (`of_person`). A folder whose name begins with
`.withdrawn-` is one whose deletion was interrupted; it counts as withdrawn too.

A damaged line forgets nobody: where it still names a session, that session counts as withdrawn,
its data not to be used; where it names none, nobody can tell who withdrew, and `withdrawals` says
so instead of giving an answer. A line that a crash cut off counts for nothing once it stands
whole in a later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.base.errors import RecordError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.journal.layout import FOLDER, LEAVING, WITHDRAWN, FolderName

LARGEST = files.MIB
"""Bytes of the list. A withdrawal has two hundred."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """folder: name of the session folder; utc: when it was withdrawn, empty where that is not
    known; kept: whether the participant lets the data be kept; cells: the conditions freed."""

    folder: str
    participant: str
    session: str
    utc: str
    kept: bool
    cells: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "session": self.folder,
            "utc": self.utc,
            "data": "kept" if self.kept else "deleted",
            "cells": list(self.cells),
        }


def withdrawals(study: Path) -> dict[str, Withdrawal]:
    """Withdrawals by session folder, from the study's folder under the data root.

    The last line on a session counts. Raises RecordError where the list cannot be read, or a line
    of it names no session.
    """
    result: dict[str, Withdrawal] = {}
    if files.is_folder(study):
        for child in study.iterdir():
            name = child.name.removeprefix(LEAVING)
            if name != child.name and (parsed := FolderName.parse(name)):
                result[name] = _deleted(parsed)
    return result | _written(study)


def listed(study: Path) -> dict[str, Withdrawal]:
    """As `withdrawals`, of the log alone, for a list that shows damaged lines elsewhere. Raises
    RecordError where it cannot be read at all."""
    return _written(study, listed=True)


def withdrawal_problems(study: Path) -> list[str]:
    """What is wrong with the list of a study, a line each, for people."""
    try:
        return [
            f"{study / WITHDRAWN}, line {number}: damaged; "
            + (f"{names} counts as withdrawn" if names else "nobody can tell who withdrew")
            for number, line, read in _lines(study)
            if _whole(line) is None
            for names in (", ".join(withdrawal.folder for withdrawal in read),)
        ]
    except RecordError as error:
        return [error.what]


def _written(study: Path, *, listed: bool = False) -> dict[str, Withdrawal]:
    result: dict[str, Withdrawal] = {}
    for number, _, read in _lines(study):
        if not read and not listed:
            raise RecordError(
                f"Line {number} of {study / WITHDRAWN} cannot be read: it says that somebody "
                "withdrew, and not who.",
                safe="It was only read; no data of the study were used.",
                todo="Correct the line from your own notes of who withdrew, or from a copy of the "
                "file; remove it only where you are sure that it names nobody.",
            )
        result |= {withdrawal.folder: withdrawal for withdrawal in read}
    return result


def _lines(study: Path) -> Iterator[tuple[int, str, tuple[Withdrawal, ...]]]:
    """The lines that are not empty: number, text, and whom each names."""
    path = study / WITHDRAWN
    if not files.exists(path):
        return
    try:
        text = files.content(path, LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read ({error.strerror}): nobody can tell who withdrew.",
            safe="No data of the study were used.",
            todo="Make it readable, or put back a copy of it.",
        ) from error
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() and not any(later.startswith(line) for later in lines[number:]):
            withdrawal = _whole(line)
            named = (FolderName(**match.groupdict()) for match in FOLDER.finditer(line))
            yield number, line, (withdrawal,) if withdrawal else tuple(map(_deleted, named))


def _deleted(name: FolderName) -> Withdrawal:
    """Of somebody of whom nothing more is known: the data are not to be used."""
    return Withdrawal(str(name), name.participant, name.session, "", False)


def withdrawal_of(folder: Path, text: str = "", *, listed: bool = False) -> str:
    """Keep, delete, or empty where nobody withdrew; said: what the journal's end says of it.

    listed: for a list, in which what is damaged is told by itself; else it raises RecordError.
    """
    try:
        return of_person(_written(folder.parent, listed=listed), folder.name) or text
    except RecordError:
        if not listed:
            raise
        return text


def of_person(left: Mapping[str, Withdrawal], folder: str) -> str:
    """Keep, delete, or empty where the participant of a session did not withdraw; left:
    withdrawals by session folder. What was said of the session itself counts before what was said
    of another one of the participant."""
    name = FolderName.parse(folder)
    own = left.get(folder)
    if own is not None:
        return "keep" if own.kept else "delete"
    theirs = [each for each in left.values() if name and each.participant == name.participant]
    return "" if not theirs else "keep" if all(each.kept for each in theirs) else "delete"


def _whole(line: str) -> Withdrawal | None:
    """What a line says; None where it is damaged."""
    try:
        entry = json_value(line)
        name = FolderName.parse(entry["session"])
        if name is None or entry["data"] not in ("kept", "deleted"):
            return None
        kept, cells = entry["data"] == "kept", tuple(map(str, entry["cells"]))
        who = name.participant, name.session
        return Withdrawal(str(name), *who, str(entry["utc"]), kept, cells)
    except (ValueError, KeyError, TypeError):
        return None
