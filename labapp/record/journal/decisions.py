"""Who was excluded from a study, or counted all the same, by hand, which pilots were moved into it
or back, and the tags of sessions: `decisions.jsonl`, beside its session folders.

A finished journal is not written to, so that the decision is kept here with its reason: a line a
decision, only ever added. The last one on a session counts. A line that a crash cut off decides
nothing; `decision_problems` tells of it.

Remarks on sessions that are over: `comments.jsonl`, beside a study's session folders.

A finished journal is not written to, so that what is remarked later is kept here: a line a remark,
only ever added. Where a participant withdraws and wants the data deleted, so are the remarks, also
what a crash left of one.

Who withdrew from a study: `withdrawn.jsonl`, beside its session folders.

A finished journal is not written to, and a deleted one is no more, so that a withdrawal is kept
here: one line per session, which keeps the participant's label taken. Who withdrew has withdrawn
with all sessions, whichever of them the lines name (`of_person`). A folder whose name begins with
`.withdrawn-` is one whose deletion was interrupted; it counts as withdrawn too.

A damaged line forgets nobody: if it still names a session, that session counts as withdrawn,
its data not to be used; if it names none, it is not known who withdrew, and `withdrawals` says
so instead of giving an answer. A line that a crash cut off counts for nothing once it stands
whole in a later one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.base import durable
from labapp.base.clock import utc_text
from labapp.base.errors import DataFolderError, RecordError
from labapp.base.naming import NO_PHASE, SIMULATED
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal import anchor
from labapp.record.journal.layout import COMMENTS, DECISIONS, FOLDER, LEAVING, WITHDRAWN, FolderName


@dataclass(frozen=True, slots=True)
class Decision:
    """included: whether the session counts, whatever the rules say; reason: why, in words; utc:
    when it was decided, empty in a copy whose dates are moved."""

    included: bool
    reason: str
    utc: str = ""

    @property
    def verdict(self) -> str:
        """What was decided, as tables have it."""
        return "included" if self.included else "excluded"

    def to_json(self) -> dict[str, Any]:
        return {"utc": self.utc, "included": self.included, "text": self.reason}

    @classmethod
    def of(cls, entry: object) -> Decision | None:
        """What a line, or a bundle, says; None if it says no decision."""
        if not isinstance(entry, dict) or not isinstance(entry.get("included"), bool):
            return None
        return cls(entry["included"], str(entry.get("text", "")), str(entry.get("utc", "")))


@dataclass(frozen=True, slots=True)
class Move:
    """A session was moved. pilot: to the pilots, which are kept apart, else into the study; reason:
    why, in words; utc: when, empty in a copy whose dates are moved."""

    pilot: bool
    reason: str
    utc: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"utc": self.utc, "pilot": self.pilot, "text": self.reason}

    @classmethod
    def of(cls, entry: object) -> Move | None:
        """What a line, or a bundle, says; None if it says no move."""
        if not isinstance(entry, dict) or not isinstance(entry.get("pilot"), bool):
            return None
        return cls(entry["pilot"], str(entry.get("text", "")), str(entry.get("utc", "")))


@dataclass(frozen=True, slots=True)
class Tags:
    """All words by which people find a session from now on. utc: since when, empty in a copy whose
    dates are moved."""

    words: tuple[str, ...]
    utc: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"utc": self.utc, "tags": list(self.words), "text": ""}

    @classmethod
    def of(cls, entry: object) -> Tags | None:
        """What a line, or a bundle, says; None if it says nothing of tags."""
        if not isinstance(entry, dict) or not isinstance(entry.get("tags"), list):
            return None
        return cls(tuple(map(str, entry["tags"])), str(entry.get("utc", "")))


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sessions are used, by their tags and phases. only: those with any of these words, empty
    for all; without: but none with one of these."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def takes(self, phase: str, tags: Collection[str], simulated: bool) -> bool:
        """Whether a session is used. simulated: whether a program took part, not a person."""
        words = {*tags, phase or NO_PHASE, *[SIMULATED] * simulated}
        return (not self.only or not words.isdisjoint(self.only)) and words.isdisjoint(self.without)

    def __str__(self) -> str:
        """As options of a command."""
        return " ".join(
            [f"--only {word!r}" for word in self.only]
            + [f"--without {word!r}" for word in self.without]
        )


def decisions(study: Path) -> dict[str, Decision]:
    """The decision that counts on each session of a study, by the names of their folders."""
    read = ((entry["session"], Decision.of(entry)) for entry in _entries(study))
    return {name: decision for name, decision in read if decision is not None}


def moves(study: Path) -> dict[str, Move]:
    """The last move of each session that lies with a study or its pilots, by the names of their
    folders. A line counts if the session has arrived: one that did not is still where it was."""
    read = ((entry["session"], Move.of(entry)) for entry in _entries(study))
    return {name: move for name, move in read if move is not None}


def tags(study: Path) -> dict[str, tuple[str, ...]]:
    """The tags of each session of a study that has any, by the names of their folders."""
    read = ((entry["session"], Tags.of(entry)) for entry in _entries(study))
    return {name: entry.words for name, entry in read if entry is not None}


def is_pilot(session: Path, planned: SessionPlanned) -> bool:
    """Whether the session in this folder is a trial run, as it was recorded or moved since."""
    move = moves(session.parent).get(session.name)
    return planned.pilot if move is None else move.pilot


def _entries(study: Path) -> list[dict[str, Any]]:
    try:
        return [entry for _, entry in comment_lines(study, DECISIONS) if entry is not None]
    except OSError:
        return []  # `decision_problems` reports it


def note_move(session: Path, pilot: bool, reason: str) -> Move:
    """Write down that a session is moved to this folder, on the disk. Raises DataFolderError."""
    move = Move(pilot, reason, utc_text(datetime.now(UTC)))
    add(session, move.to_json())
    return move


def decide(session: Path, included: bool, reason: str) -> Decision:
    """Write a decision on the session in this folder, on the disk. Raises DataFolderError."""
    decision = Decision(included, reason, utc_text(datetime.now(UTC)))
    add(session, decision.to_json())
    return decision


def set_tags(session: Path, words: Collection[str]) -> None:
    """Write down all tags of the session in this folder, on the disk. Raises DataFolderError."""
    add(session, Tags(tuple(words), utc_text(datetime.now(UTC))).to_json())


def add(session: Path, line: Mapping[str, Any], log: str = DECISIONS) -> None:
    """Add a line about the session of this folder to a log beside it, on the disk. Raises
    DataFolderError."""
    path = session.parent / log
    try:
        anchor.add_line(path, {"session": session.name, **line})
    except OSError as error:
        raise DataFolderError(
            f"The decision could not be saved in {path} ({error.strerror or error}).",
            safe="The sessions and earlier decisions are unchanged.",
            todo="Free some space, or make sure that you may write there.",
        ) from error


def decision_problems(study: Path) -> list[str]:
    """What is wrong with the decisions on the sessions of a study, a line each, for people."""
    path = study / DECISIONS
    try:
        lines = comment_lines(study, DECISIONS)
    except OSError as error:
        why = error.strerror or error
        return [f"{path} cannot be read ({why}), so decisions made by hand are not known"]
    return [
        f"{path}, line {number}: damaged and therefore ignored"
        for number, (_, entry) in enumerate(lines, start=1)
        if Decision.of(entry) is None and Move.of(entry) is None and Tags.of(entry) is None
    ]


LARGEST = 16 * files.MIB
"""Bytes of the remarks on a study."""


def comments(study: Path) -> dict[str, tuple[str, ...]]:
    """The remarks on each session of a study, oldest first, by the names of their folders. What
    cannot be read is passed over, for it is no data; `comment_problems` reports it."""
    result: dict[str, tuple[str, ...]] = {}
    try:
        entries = comment_lines(study)
    except OSError:
        return {}
    for _, entry in entries:
        if entry is not None:
            name = entry["session"]
            result[name] = (*result.get(name, ()), entry["text"])
    return result


def add_comment(session: Path, text: str) -> None:
    """Add a remark on the session in this folder, on the disk. Raises DataFolderError."""
    line = {"utc": utc_text(datetime.now(UTC)), "session": session.name, "text": text}
    path = session.parent / COMMENTS
    try:
        anchor.add_line(path, line)
    except OSError as error:
        raise DataFolderError(
            f"The remark could not be saved in {path} ({error.strerror or error}).",
            safe="The sessions and earlier remarks are unchanged.",
            todo="Free some space, or make sure that you may write there.",
        ) from error


def forget_comments(session: Path, log: str = COMMENTS) -> int:
    """Remove the remarks on a session, or what another log of such lines says of it; how many there
    were. Raises DataFolderError."""
    path = session.parent / log
    try:
        for killed in path.parent.glob(f".{log}-*"):
            if session.name.encode() in files.content(killed, LARGEST):
                killed.unlink()
        entries = comment_lines(session.parent, log)
        # Of a line that is damaged, what is left of a remark on the session goes, too.
        left = [
            line
            for line, entry in entries
            if (entry["session"] != session.name if entry else session.name.encode() not in line)
        ]
        if len(left) == len(entries):
            return 0
        content = anchor.rechain_lines(b"".join(line + b"\n" for line in left))
        with anchor.rewriting(path, content, "withdrawal"):
            for killed in path.parent.glob(f".{log}-*"):  # nobody else is at work on one now
                killed.unlink(missing_ok=True)
            durable.replace(path, content)
    except OSError as error:
        raise DataFolderError(
            f"The remarks on {session.name} could not be removed from {path} "
            f"({error.strerror or error}).",
            safe="They are still there.",
            todo="Make sure that you may read and write that file, and withdraw the session "
            "again: it continues where it stopped.",
        ) from error
    return len(entries) - len(left)


def comment_problems(study: Path) -> list[str]:
    """What is wrong with the remarks on a study, a line each, for people."""
    path = study / COMMENTS
    try:
        entries = comment_lines(study)
    except OSError as error:
        return [f"{path} cannot be read ({error.strerror or error}), so no remarks are shown"]
    damaged = sum(entry is None for _, entry in entries)
    told = f"{path}: {damaged} damaged remarks of {len(entries)} are not shown"
    return [told] if damaged else []


def comment_lines(study: Path, log: str = COMMENTS) -> list[tuple[bytes, dict[str, Any] | None]]:
    """The lines that are not empty, and what each says of which session; None for one that is none
    of ours. Raises OSError if they cannot be read."""
    path = study / log
    content = files.content(path, LARGEST) if files.exists(path) else b""
    return [(line, _remark(line)) for line in content.split(b"\n") if line.strip()]


def _remark(line: bytes) -> dict[str, Any] | None:
    entry = anchor.entry_in(line.decode("utf-8", "replace")) or {}
    return entry if all(isinstance(entry.get(key), str) for key in ("session", "text")) else None


LARGEST_LIST = files.MIB
"""Bytes of the list. A withdrawal has two hundred."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """folder: name of the session folder; utc: when it was withdrawn, empty if that is not
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

    The last line on a session counts. Raises RecordError if the list cannot be read, or a line
    of it names no session.
    """
    result: dict[str, Withdrawal] = {}
    if files.is_folder(study):
        for child in study.iterdir():
            name = child.name.removeprefix(LEAVING)
            if name != child.name and (parsed := FolderName.parse(name)):
                result[name] = _assume_withdrawal(parsed)
    return result | _read_withdrawals(study)


def list_withdrawals(study: Path) -> dict[str, Withdrawal]:
    """As `withdrawals`, of the log alone, for a list that shows damaged lines elsewhere. Raises
    RecordError if it cannot be read at all."""
    return _read_withdrawals(study, listed=True)


def withdrawal_problems(study: Path) -> list[str]:
    """What is wrong with the list of a study, a line each, for people."""
    try:
        return [
            f"{study / WITHDRAWN}, line {number}: damaged; "
            + (f"{names} counts as withdrawn" if names else "it is not known who withdrew")
            for number, line, read in _lines(study)
            if _whole(line) is None
            for names in (", ".join(withdrawal.folder for withdrawal in read),)
        ]
    except RecordError as error:
        return [error.what]


def _read_withdrawals(study: Path, *, listed: bool = False) -> dict[str, Withdrawal]:
    result: dict[str, Withdrawal] = {}
    for number, _, read in _lines(study):
        if not read and not listed:
            raise RecordError(
                f"Line {number} of {study / WITHDRAWN} cannot be read. It records that somebody "
                "withdrew, but not who.",
                safe="It was only read; no data of the study were used.",
                todo="Correct the line from your own notes of who withdrew, or from a copy of "
                "the file. Remove it only if you are sure that it is about nobody.",
            )
        result |= {withdrawal.folder: withdrawal for withdrawal in read}
    return result


def _lines(study: Path) -> Iterator[tuple[int, str, tuple[Withdrawal, ...]]]:
    """The lines that are not empty: number, text, and whom each names."""
    path = study / WITHDRAWN
    if not files.exists(path):
        return
    try:
        text = files.content(path, LARGEST_LIST).decode("utf-8", "replace")
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read ({error.strerror}), so it is not known who withdrew.",
            safe="No data of the study were used.",
            todo="Make it readable, or restore a copy of it.",
        ) from error
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip() and not any(later.startswith(line) for later in lines[number:]):
            withdrawal = _whole(line)
            named = (FolderName(**match.groupdict()) for match in FOLDER.finditer(line))
            yield (
                number,
                line,
                (withdrawal,) if withdrawal else tuple(map(_assume_withdrawal, named)),
            )


def _assume_withdrawal(name: FolderName) -> Withdrawal:
    """The withdrawal of a person of whom nothing else is known: the data must not be used."""
    return Withdrawal(str(name), name.participant, name.session, "", False)


def withdrawal_of(folder: Path, text: str = "", *, listed: bool = False) -> str:
    """Keep, delete, or empty if nobody withdrew; said: what the journal's end says of it.

    listed: for a list, in which what is damaged is told by itself; else it raises RecordError.
    """
    try:
        return of_person(_read_withdrawals(folder.parent, listed=listed), folder.name) or text
    except RecordError:
        if not listed:
            raise
        return text


def of_person(left: Mapping[str, Withdrawal], folder: str) -> str:
    """Keep, delete, or empty if the participant of a session did not withdraw; left:
    withdrawals by session folder. What was said of the session itself counts before what was said
    of another one of the participant."""
    name = FolderName.parse(folder)
    own = left.get(folder)
    if own is not None:
        return "keep" if own.kept else "delete"
    theirs = [each for each in left.values() if name and each.participant == name.participant]
    return "" if not theirs else "keep" if all(each.kept for each in theirs) else "delete"


def _whole(line: str) -> Withdrawal | None:
    """What a line says; None if it is damaged."""
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
