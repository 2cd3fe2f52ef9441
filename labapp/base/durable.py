"""Writing so that it outlasts a power cut: it is on the disk before a call returns."""

from __future__ import annotations

import errno
import json
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def write(path: Path, content: bytes) -> None:
    """Write a whole file; its name lasts once the folder is synced. Raises OSError."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, content: bytes) -> None:
    """Write a whole file over the one of that name, or nothing of it. Raises OSError."""
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        write(draft, content)
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink()


NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What drives without hard links answer."""


class NotConfirmedError(OSError):
    """A file or folder has its name and is whole, but the disk did not confirm that it outlasts a
    power cut."""


def take_name(draft: Path, path: Path) -> None:
    """Give a file or folder that is on the disk its name, over nothing.

    Raises FileExistsError if something has that name, and nothing else has happened then;
    NotConfirmedError once it has its name; OSError for every other failure.
    """
    if draft.is_dir():
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "something is there already")
        draft.rename(path)
    else:
        try:
            os.link(draft, path)  # unlike a rename, never over what came there meanwhile
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            if os.path.lexists(path):  # a drive without links
                raise FileExistsError(errno.EEXIST, "something is there already") from error
            draft.rename(path)
        else:
            with suppress(OSError):
                draft.unlink()
    try:
        sync_folder(path.parent)
    except OSError as error:
        why = f"the disk did not confirm it: {error.strerror or error}"
        raise NotConfirmedError(error.errno, why) from error


def sync_file(path: Path) -> None:
    """Make what another library wrote to a file durable. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make new names in a folder durable, if the system can: Windows cannot, and some drives of
    others neither. Raises OSError."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def add_line(path: Path, entry: Mapping[str, Any]) -> None:
    """Add an object to a log of lines of JSON, behind whatever a crash cut off. Raises OSError.

    A file name in it whose bytes are no text comes back from the JSON as it was.
    """
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    with path.open("ab+") as file:
        new = file.seek(0, os.SEEK_END) == 0
        if not new:
            file.seek(-1, os.SEEK_END)
        cut = not new and file.read(1) != b"\n"
        file.write(b"\n" * cut + line)
        file.flush()
        os.fsync(file.fileno())
    if new:
        sync_folder(path.parent)
