"""Files of a record, whether they lie in a folder or in a zip archive."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from labapp.base.errors import RecordError
from labapp.base.reading import archives, files


class Tree(Protocol):
    """Names are relative, with forward slashes."""

    def names(self) -> list[str]:
        """Every file, sorted."""
        ...

    def folders(self, pattern: str) -> list[str]:
        """The folders that hold something and match, part for part, a pattern such as `a/b-*/*`;
        sorted."""
        ...

    def has(self, name: str) -> bool: ...

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """A binary stream to use with `with`. Raises RecordError."""
        ...

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        """A whole file of at most `largest` bytes. Raises RecordError."""
        ...

    def size(self, name: str) -> int: ...

    def below(self, prefix: str) -> Tree:
        """The tree of the folder `prefix`."""
        ...


@dataclass(frozen=True)
class FolderTree:
    """A folder on disk."""

    path: Path

    def names(self) -> list[str]:
        try:
            return files.below(self.path) if files.is_folder(self.path) else []
        except OSError as error:
            raise _unreadable(str(self.path), error) from error

    def folders(self, pattern: str) -> list[str]:
        folders = (p for p in self.path.glob(pattern) if p.is_dir() and any(p.glob("*")))
        return sorted(p.relative_to(self.path).as_posix() for p in folders)

    def has(self, name: str) -> bool:
        return files.is_file(self.path / name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        path = self._own(name)
        try:
            stream = files.open_file(path, follow=False)
        except OSError as error:
            raise _unreadable(str(path), error) from error
        with stream:
            yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        try:
            return files.content(self._own(name), largest, follow=False)
        except OSError as error:
            raise _unreadable(str(self.path / name), error) from error

    def size(self, name: str) -> int:
        return self._own(name).stat().st_size

    def _own(self, name: str) -> Path:
        """The path of a file. Raises RecordError for one outside the folder: a journal names the
        files of its session, and may be somebody else's work."""
        if name.startswith(("/", "\\")) or ".." in PurePosixPath(name).parts or "\0" in name:
            raise _unreadable(name, ValueError("it does not lie in the session's folder"))
        return self.path / name

    def below(self, prefix: str) -> FolderTree:
        return FolderTree(self.path / prefix)


@dataclass(frozen=True)
class ZipTree:
    """A folder inside a zip archive. prefix: empty, or ends with a slash."""

    path: Path
    prefix: str = ""

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with archives.archive(self.path) as archive:
                yield archive
        except (OSError, ValueError) as error:
            raise _unreadable(str(self.path), error) from error

    def names(self) -> list[str]:
        with self._archive() as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
        return sorted(
            name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix)
        )

    def folders(self, pattern: str) -> list[str]:
        depth = pattern.count("/") + 1
        split = (name.split("/") for name in self.names())
        above = {"/".join(parts[:depth]) for parts in split if len(parts) > depth}
        return sorted(folder for folder in above if PurePosixPath(folder).match(pattern))

    def has(self, name: str) -> bool:
        with self._archive() as archive:
            return self.prefix + name in archive.namelist()

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._archive() as archive:
            if self.prefix + name not in archive.NameToInfo:
                absent = FileNotFoundError("it is not there")
                raise _unreadable(f"{self.path}: {name}", absent) from absent
            with archives.member(archive, self.prefix + name) as stream:
                yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        with self.open(name) as stream:
            return files.within(stream, largest)

    def size(self, name: str) -> int:
        with self._archive() as archive:
            return archive.getinfo(self.prefix + name).file_size

    def below(self, prefix: str) -> ZipTree:
        return replace(self, prefix=f"{self.prefix}{prefix.strip('/')}/")


def _unreadable(place: str, error: Exception) -> RecordError:
    return RecordError(
        f"{place} cannot be read ({error}).",
        safe="It was only read; nothing was changed.",
        todo="Check that it is there and whole.",
    )
