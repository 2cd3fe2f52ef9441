"""The example package, built and installed once for its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.installed import EXAMPLE, build, on_path
from tests.ui.conftest import _nothing_left, open_room, open_window

__all__ = ["_nothing_left", "open_room", "open_window"]


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example package is installed."""
    return build(EXAMPLE, tmp_path_factory.mktemp("example"))


@pytest.fixture
def example(example_site: Path) -> Iterator[None]:
    """The example package is installed."""
    with on_path(example_site):
        yield
