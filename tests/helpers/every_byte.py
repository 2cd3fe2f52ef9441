"""Everything in what was made: files, members of archives, cells of packed tables, sounds."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import soundfile
from numpy.typing import NDArray


def contents(root: Path) -> Iterator[tuple[str, bytes]]:
    """A file, or everything below a folder, as bytes: also what lies packed in archives."""
    below = [root] if root.is_file() else sorted(root.rglob("*"))
    for path in below:
        if path.is_file():
            yield from _unpacked(str(path), path.read_bytes())


def _unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if content.startswith(b"PAR1"):
        yield f"{name} read", repr(pq.read_table(io.BytesIO(content)).to_pylist()).encode()
    elif zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from _unpacked(f"{name}: {member}", archive.read(member))


def spelled(word: str) -> tuple[bytes, ...]:
    """A word as the bytes that it can be in a file."""
    return word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be")


def sounds(root: Path) -> Iterator[tuple[str, NDArray[np.int16]]]:
    """Every sound in a file or below a folder, in archives, too, in which anything is heard."""
    for name, content in contents(root):
        if content[:4] == b"RIFF":
            samples = soundfile.read(io.BytesIO(content), dtype="int16")[0]
            if samples.any():
                yield name, samples
