"""Bytes that are put away while many sessions are read, and read back where they are wanted."""

from __future__ import annotations

import io
import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from labapp import leftovers
from labapp.errors import DataFolderError

IN_MEMORY = 32 * 1024 * 1024
"""So many bytes are kept in memory; with more, all lie in a temporary file."""
_NAME = "bytes"


class Store:
    """Bytes that are put away and read back, here or in a process of this machine to which it is
    sent; that gets what is there by then, and the file goes with the store that made it."""

    def __init__(self) -> None:
        self._file: IO[bytes] = io.BytesIO()
        self._lock = threading.Lock()
        self._size = 0
        self._path: Path | None = None

    @property
    def in_file(self) -> bool:
        """Whether there was too much for the memory."""
        return self._path is not None

    def add(self, content: bytes) -> Place:
        """Put something away. Raises DataFolderError when there is no room for it."""
        with self._lock:
            try:
                if not self.in_file and self._size + len(content) > IN_MEMORY:
                    self._leave_memory()
                self._file.seek(self._size)
                self._file.write(content)
            except OSError as error:
                raise DataFolderError(
                    f"The folder for temporary files, {tempfile.gettempdir()}, cannot be written: "
                    f"{error.strerror or error}.",
                    safe="The sessions were only read.",
                    todo="Free some space there, or name another folder with TMPDIR.",
                ) from error
            place = Place(self, self._size, len(content))
            self._size += len(content)
            return place

    def read(self, start: int, size: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)

    def _leave_memory(self) -> None:
        folder = tempfile.mkdtemp(prefix=leftovers.prefix("store"))
        path = Path(folder) / _NAME
        held = self._file
        self._file = path.open("x+b")
        weakref.finalize(self, _let_go, self._file, folder)
        held.seek(0)
        shutil.copyfileobj(held, self._file)
        self._path = path

    def __getstate__(self) -> tuple[Path | None, bytes]:
        with self._lock:
            self._file.flush()
            if self._path is not None:
                return self._path, b""
            self._file.seek(0)
            return None, self._file.read()

    def __setstate__(self, state: tuple[Path | None, bytes]) -> None:
        self._path, content = state
        self._lock = threading.Lock()
        self._file = io.BytesIO(content) if self._path is None else self._path.open("rb")
        weakref.finalize(self, self._file.close)
        self._size = self._file.seek(0, io.SEEK_END)


def _let_go(file: IO[bytes], folder: str) -> None:
    file.close()
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Place:
    """Where some bytes lie."""

    store: Store = field(repr=False)
    start: int
    size: int

    def read(self) -> bytes:
        return self.store.read(self.start, self.size)
