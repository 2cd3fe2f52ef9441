"""Remarks on sessions that are over: `comments.jsonl`, beside a study's session folders.

A finished journal is not written to, so that what is remarked later is kept here: a line a remark,
only ever added. Where a participant withdraws and wants the data deleted, so are the remarks, also
what a crash left of one.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.base import durable
from labapp.base.clock import utc_text
from labapp.base.errors import DataFolderError
from labapp.base.reading import files
from labapp.record.journal import anchor
from labapp.record.journal.layout import COMMENTS

LARGEST = 16 * files.MIB
"""Bytes of the remarks on a study."""


def comments(study: Path) -> dict[str, tuple[str, ...]]:
    """The remarks on each session of a study, oldest first, by the names of their folders. What
    cannot be read is passed over, for it is no data; `comment_problems` tells of it."""
    result: dict[str, tuple[str, ...]] = {}
    try:
        entries = lines(study)
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
            f"The remark could not be kept in {path} ({error.strerror or error}).",
            safe="The sessions and the remarks before it are as they were.",
            todo="Make room, or see that you may write there.",
        ) from error


def forget_comments(session: Path, log: str = COMMENTS) -> int:
    """Remove the remarks on a session, or what another log of such lines says of it; how many there
    were. Raises DataFolderError."""
    path = session.parent / log
    draft = path.with_name(f".{log}-{uuid.uuid4().hex}")
    try:
        for killed in path.parent.glob(f".{log}-*"):
            if session.name.encode() in files.content(killed, LARGEST):
                killed.unlink()
        entries = lines(session.parent, log)
        # Of a line that is damaged, what is left of a remark on the session goes, too.
        left = [
            line
            for line, entry in entries
            if (entry["session"] != session.name if entry else session.name.encode() not in line)
        ]
        if len(left) == len(entries):
            return 0
        content = anchor.rechained(b"".join(line + b"\n" for line in left))
        with anchor.rewriting(path, content, "withdrawal"):
            for killed in path.parent.glob(f".{log}-*"):  # nobody else is at work on one now
                killed.unlink(missing_ok=True)
            durable.write(draft, content)
            draft.replace(path)
            durable.sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise DataFolderError(
            f"The remarks on {session.name} could not be removed from {path} "
            f"({error.strerror or error}).",
            safe="They are still there.",
            todo="See that you may read and write that file, and withdraw the session again; that "
            "goes on where it stopped.",
        ) from error
    return len(entries) - len(left)


def comment_problems(study: Path) -> list[str]:
    """What is wrong with the remarks on a study, a line each, for people."""
    path = study / COMMENTS
    try:
        entries = lines(study)
    except OSError as error:
        return [f"{path} cannot be read ({error.strerror or error}): no remark is shown"]
    damaged = sum(entry is None for _, entry in entries)
    return [f"{path}: {damaged} damaged, not shown, of {len(entries)} remarks"] if damaged else []


def lines(study: Path, log: str = COMMENTS) -> list[tuple[bytes, dict[str, Any] | None]]:
    """The lines that are not empty, and what each says of which session; None for one that is none
    of ours. Raises OSError where they cannot be read."""
    path = study / log
    content = files.content(path, LARGEST) if files.exists(path) else b""
    return [(line, _remark(line)) for line in content.split(b"\n") if line.strip()]


def _remark(line: bytes) -> dict[str, Any] | None:
    entry = anchor.entry_in(line.decode("utf-8", "replace")) or {}
    return entry if all(isinstance(entry.get(key), str) for key in ("session", "text")) else None
