"""What was made of sound once and can be made again: kept in the cache, by the SHA-256 of what it
was made of. What is damaged there is as good as not there."""

from __future__ import annotations

import hashlib
import uuid
from contextlib import suppress
from pathlib import Path

from labapp import leftovers, resources
from labapp.reading import files

_DIGEST = 32


def place(kind: str, name: str) -> Path:
    """Where something of a kind is kept; kind: a folder of the cache."""
    return resources.cache_root() / kind / name


def get(path: Path, largest: int) -> bytes | None:
    """What was put there; None where that is nothing, damaged or of more than `largest` bytes."""
    try:
        content = files.content(path, largest + _DIGEST)
    except OSError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def put(path: Path, body: bytes) -> None:
    """Keep something, as a whole or not at all. A cache that cannot be written to is done
    without."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(leftovers.prefix_in(path.parent, "draft") + uuid.uuid4().hex)
        try:
            draft.write_bytes(body + hashlib.sha256(body).digest())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def drop(path: Path) -> None:
    """Take something away, if it is there. Raises OSError where it cannot be removed."""
    path.unlink(missing_ok=True)
