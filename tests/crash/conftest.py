"""Sessions that are killed are on a real disk, as those of a lab are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on the disk, whatever pytest's own folders are on."""
    with tempfile.TemporaryDirectory(prefix="labapp-crash-") as folder:
        yield Path(folder)
