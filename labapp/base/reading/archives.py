"""Zip archives from outside: looked through before anything is unpacked.

A zip of a few kilobytes can unpack to gigabytes, can name files outside the folder it is for, and
can list one name twice with two contents. None of these is what labapp writes.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from labapp.base.reading import files

ENTRIES = 200_000
DIRECTORY = 64 * files.MIB
"""Most bytes of the list of entries, which is read as a whole."""
FREE = 64 * files.MIB
"""Bytes that any entry may unpack to, however small it is packed."""
RATIO = 200
"""Bytes that one packed byte may unpack to, beyond `FREE`."""
LONGEST_NAME = 255
"""Bytes of a file's or folder's name, as file systems have it."""

_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, struct.error,
)  # fmt: skip
"""What the standard library raises at a damaged file of an archive; RuntimeError and
NotImplementedError: encrypted, or packed by an unknown method."""
_NO_LIST = (*_BROKEN, ValueError, LookupError, OverflowError, MemoryError)
"""... and besides at a damaged list of entries."""


@contextmanager
def archive(path: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """A zip archive, its list of entries measured before it is read.

    Raises OSError (see `files.open_file`) and ValueError; the latter also for what goes wrong
    inside the `with` because the archive is damaged.
    """
    stream = files.open_file(path) if isinstance(path, Path) else path
    with stream:
        try:
            _refuse_directory(stream)
            listed = zipfile.ZipFile(stream)
        except _NO_LIST as error:
            raise ValueError(str(error) or type(error).__name__) from error
        try:
            with listed:
                yield listed
        except _BROKEN as error:
            raise ValueError(str(error) or type(error).__name__) from error


def take_backslashes(opened: zipfile.ZipFile) -> None:
    """Read the backslashes that some programs for Windows write into names as slashes."""
    for entry in opened.infolist():
        entry.filename = entry.filename.replace("\\", "/")
    opened.NameToInfo = {entry.filename: entry for entry in opened.infolist()}


def refuse_entries(opened: zipfile.ZipFile) -> None:
    """Raises ValueError for an archive that must not be unpacked, because of the names of its
    entries or because of how much they would unpack to."""
    entries = opened.infolist()
    names = [entry.filename for entry in entries]
    for name in names:
        if why := _bad_name(name):
            raise ValueError(f"the name {_short(name)} {why}")
    if twice := _first_twice(names):
        raise ValueError(f"the name {_short(twice)} occurs twice")
    if twice := _first_twice([name.casefold() for name in names]):
        raise ValueError(f"two names differ only in upper and lower case: {_short(twice)}")
    for entry in entries:
        refuse_bomb(entry)
    assert opened.fp is not None
    if sum(entry.compress_size for entry in entries) > opened.fp.seek(0, os.SEEK_END):
        raise ValueError("its files overlap: together they are larger than the archive")


def refuse_bomb(entry: zipfile.ZipInfo) -> None:
    """Raises ValueError for an entry that is packed more tightly than real files are, or by a
    method of which the unpacked size is not known beforehand."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(
            f"{_short(entry.filename)} is compressed with a method that labapp cannot read"
        )
    if entry.file_size > max(FREE, RATIO * entry.compress_size):
        raise ValueError(
            f"{_short(entry.filename)} would unpack from {entry.compress_size} to "
            f"{entry.file_size} bytes"
        )


@contextmanager
def member(opened: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """A file of the archive, to be read. Raises KeyError if there is none, and ValueError."""
    entry = opened.getinfo(name)
    refuse_bomb(entry)
    with opened.open(entry) as stream:
        yield stream


def _bad_name(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not name or name.startswith(("/", "\\")) or ":" in (parts[0] if parts else ""):
        return "is not below the archive's folder"
    if ".." in parts:
        return "leads out of the archive's folder"
    if "\\" in name:
        return "contains a backslash, but folders in an archive are separated by /"
    if any(ord(letter) < 32 for letter in name):
        return "holds a control character"
    if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in parts):
        return f"has a part that is longer than {LONGEST_NAME} bytes"
    return ""


def _first_twice(names: list[str]) -> str:
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), "")  # type: ignore[func-returns-value]


def _short(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "…")


_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")


def _refuse_directory(stream: IO[bytes]) -> None:
    """Raises ValueError if the list of entries is missing, or too long to be read."""
    end = stream.seek(0, os.SEEK_END)
    start = max(0, end - _END.size - 0xFFFF)
    stream.seek(start)
    tail = stream.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise ValueError("it is not a complete zip archive")
    _, _, _, _, count, size, _, _ = _END.unpack_from(tail, at)
    located = tail[max(0, at - _LOCATOR.size) : at]
    if len(located) == _LOCATOR.size and located.startswith(b"PK\6\7"):
        stream.seek(min(_LOCATOR.unpack(located)[2], end))
        record = stream.read(_END_64.size)
        if len(record) == _END_64.size and record.startswith(b"PK\6\6"):
            count, size = _END_64.unpack(record)[7:9]
    if count > ENTRIES or size > DIRECTORY:
        raise ValueError(f"it lists {count} files in {size} bytes; at most {ENTRIES} are read")
    stream.seek(0)
