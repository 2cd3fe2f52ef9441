"""A data folder on a disk that can be filled up and emptied again: a real one where the machine
lets us mount it, else SQLite's answer for a full disk put in its mouth."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labapp.record.journal import write as journal


@dataclass
class SmallDisk:
    """path: a folder on it; real: whether it is a disk of its own."""

    path: Path
    real: bool
    full: bool = False

    def fill(self) -> None:
        self.full = True
        if not self.real:
            return
        with (self.path / "filler").open("ab", buffering=0) as filler:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while filler.write(b"\0" * size) == size:
                        pass
                except OSError:
                    continue

    def make_room(self) -> None:
        self.full = False
        (self.path / "filler").unlink(missing_ok=True)


class _Connection(sqlite3.Connection):
    """Says what SQLite says on a full disk, while it is full."""

    disk: SmallDisk

    def executemany(self, sql: str, rows: Any, /) -> sqlite3.Cursor:
        if self.disk.full:
            raise sqlite3.OperationalError("database or disk is full")
        return super().executemany(sql, rows)


@contextmanager
def small_disk(folder: Path, patch: pytest.MonkeyPatch, size: str = "1m") -> Iterator[SmallDisk]:
    """A disk of 1 MB mounted at `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "linux" and os.geteuid() == 0:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "labapp-test", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            try:
                yield SmallDisk(folder, real=True)
            finally:
                subprocess.run(["umount", "-l", str(folder)], check=True)
            return
    disk = SmallDisk(folder, real=False)
    connection = type("Connection", (_Connection,), {"disk": disk})
    patch.setattr(
        journal.sqlite3,
        "connect",
        lambda *a, _connect=sqlite3.connect, **k: _connect(*a, factory=connection, **k),
    )
    yield disk
