"""Remarks on sessions that are over: `comments.jsonl`, beside a study's session folders.

A finished journal is not written to, so that what is remarked later is kept here: a line a remark,
only ever added. Where a participant withdraws and wants the data deleted, so are the remarks.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labapp.clock import utc_text
from labapp.errors import DataFolderError
from labapp.reading import files
from labapp.reading.values import json_value
from labapp.records.layout import COMMENTS

LARGEST = 16 * files.MIB
"""Bytes of the remarks on a study."""


def comments(study: Path) -> dict[str, tuple[str, ...]]:
    """The remarks on each session of a study, oldest first, by the names of their folders. Lines
    that cannot be read are passed over: they are no data, and verify does not rest on them."""
    found: dict[str, tuple[str, ...]] = {}
    for _, entry in _lines(study):
        if entry is not None:
            name = entry["session"]
            found[name] = (*found.get(name, ()), entry["text"])
    return found


def add_comment(session: Path, text: str) -> None:
    """Add a remark on the session in this folder, on the disk. Raises DataFolderError."""
    line = {"utc": utc_text(datetime.now(UTC)), "session": session.name, "text": text}
    path = session.parent / COMMENTS
    try:
        with path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _refused(path, error) from error


def forget_comments(session: Path) -> int:
    """Remove the remarks on a session; how many there were. Raises DataFolderError."""
    lines = list(_lines(session.parent))
    left = [line for line, entry in lines if entry is None or entry["session"] != session.name]
    if len(left) == len(lines):
        return 0
    path = session.parent / COMMENTS
    draft = path.with_name(f".{COMMENTS}-{uuid.uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.writelines(line + b"\n" for line in left)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise _refused(path, error) from error
    return len(lines) - len(left)


def _lines(study: Path) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
    """The lines that are not empty, and what each says; None for one that is none of ours."""
    path = study / COMMENTS
    try:
        content = files.content(path, LARGEST) if files.exists(path) else b""
    except OSError:
        return
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = json_value(line.decode("utf-8", "replace"))
        except ValueError:
            entry = None
        ours = isinstance(entry, dict) and all(
            isinstance(entry.get(name), str) for name in ("session", "text")
        )
        yield line, entry if ours else None


def _refused(path: Path, error: OSError) -> DataFolderError:
    return DataFolderError(
        f"The remark could not be kept in {path} ({error.strerror or error}).",
        safe="The sessions and the remarks before it are as they were.",
        todo="Make room, or see that you may write there.",
    )
