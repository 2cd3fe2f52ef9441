"""The example package, installed once for its tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.few_drawn import few_drawn
from tests.helpers.installed import EXAMPLE, build, on_path
from tests.helpers.nightly import EVERYTHING
from tests.helpers.recipes import Recipe
from tests.helpers.undrawn import undrawn
from tests.ui.conftest import _nothing_left, open_room, open_window

__all__ = ["_nothing_left", "few_drawn", "open_room", "open_window", "undrawn"]


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example package is installed: at night from its wheel."""
    folder = tmp_path_factory.mktemp("example")
    if EVERYTHING:
        return build(EXAMPLE, folder)
    shutil.copytree(EXAMPLE, folder / EXAMPLE.name)
    return Recipe("", folder, lambda arguments: "").install(EXAMPLE.name)


@pytest.fixture
def example(example_site: Path) -> Iterator[None]:
    """The example package is installed."""
    with on_path(example_site):
        yield


@pytest.fixture(scope="session")
def simulated(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The first session of the example's study by each strategy, for tests that only read it;
    next to that of "understanding" lies a second one."""
    folder = tmp_path_factory.mktemp("simulated")
    sessions = {"random": 1, "understanding": 2, "forgetful": 1}
    with on_path(example_site):
        return {
            strategy: simulate_study("counterfactual-choice", count, strategy, folder / strategy)[0]
            for strategy, count in sessions.items()
        }
