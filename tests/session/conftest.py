from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.disks import SmallDisk, small_disk


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Every thread of a session ends with it."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 5
    while left := [t.name for t in set(threading.enumerate()) - before if t.is_alive()]:
        assert time.monotonic() < deadline, f"left running: {left}"
        time.sleep(0.02)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", monkeypatch) as made:
        yield made
