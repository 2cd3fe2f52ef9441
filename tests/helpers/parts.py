"""`--parts` with `-n`: each worker collects a part of the test files alone, and runs it.

pytest-xdist lets every worker import and collect every test file: half a CPU minute each. Here the
files, in their order, are cut into as many parts as there are workers, of about the same time by
tests/seconds.json; `python -m tests.helpers.cpu_time` writes that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import EachScheduling
from xdist.workermanage import WorkerController, parse_tx_spec_config

TESTS = Path(__file__).parents[1]
SECONDS = TESTS / "seconds.json"
UNKNOWN = 0.01
"""Seconds a line of a file that was never recorded."""
IMPORT = 0.05
"""Seconds to import a file."""

_SESSION: pytest.StashKey[pytest.Session] = pytest.StashKey()
_PARTS: pytest.StashKey[dict[str, int]] = pytest.StashKey()
_MINE: pytest.StashKey[frozenset[Path] | None] = pytest.StashKey()


def in_order(folder: Path) -> list[Path]:
    """The test files below a folder, as pytest collects them."""
    found: list[Path] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.is_dir():
            found += in_order(path)
        elif path.name.startswith("test_") and path.suffix == ".py":
            found.append(path)
    return found


def cut(seconds: Sequence[float], parts: int) -> list[int]:
    """The part of each of some neighbours, so that each part takes about the same time.

    >>> cut([1, 1, 1, 3], 2)
    [0, 0, 0, 1]
    """
    whole = sum(seconds) or 1.0
    before, found = 0.0, []
    for took in seconds:
        found.append(min(parts - 1, int((before + took / 2) / whole * parts)))
        before += took
    return found


def parts_of(arguments: Sequence[str], parts: int) -> list[frozenset[Path]]:
    """The test files among what pytest was asked for, cut into parts."""
    files: list[Path] = []
    for argument in arguments:
        path = Path(argument.partition("::")[0]).resolve()
        files += in_order(path) if path.is_dir() else [path]
    known: dict[str, float] = json.loads(SECONDS.read_text("utf-8")) if SECONDS.is_file() else {}
    names = [os.path.relpath(path, TESTS).replace(os.sep, "/") for path in files]
    seconds = [
        known[name] if name in known else UNKNOWN * path.read_bytes().count(b"\n")
        for name, path in zip(names, files, strict=True)
    ]
    where = cut([took + IMPORT for took in seconds], parts)
    return [
        frozenset(path for path, at in zip(files, where, strict=True) if at == part)
        for part in range(parts)
    ]


class Parts(EachScheduling):
    """Each worker runs all that it has collected; where one dies, another goes on with its part."""

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        if not self.collection_is_completed:
            super().add_node_collection(node, collection)
            return
        for dead in list(self._removed2pending):
            if dead.workerinput["part"] == node.workerinput["part"]:
                self.node2collection[node] = list(collection)
                self.node2pending[node] = self._removed2pending.pop(dead)
                return

    def schedule(self) -> None:
        # So many there are for the percentage that is shown.
        session = self.config.stash[_SESSION]
        session.testscollected = sum(map(len, self.node2collection.values()))
        super().schedule()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labapp")
    group.addoption("--parts", action="store_true", help="each worker collects its part alone")


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_SESSION] = session


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Parts | None:
    return Parts(config, log) if config.getoption("--parts") else None


def pytest_configure_node(node: WorkerController) -> None:
    """A worker that comes for one that has died takes its part."""
    config = node.config
    if config.getoption("--parts"):
        parts = config.stash.setdefault(_PARTS, {})
        free = set(range(len(parse_tx_spec_config(config)))) - set(parts.values())
        parts[node.gateway.id] = min(free)
        node.workerinput["part"] = parts[node.gateway.id]


def pytest_testnodedown(node: WorkerController) -> None:
    node.config.stash.get(_PARTS, {}).pop(node.gateway.id, None)


def mine(config: pytest.Config) -> frozenset[Path] | None:
    """The test files of this worker; None where it takes all."""
    if _MINE not in config.stash:
        given = getattr(config, "workerinput", {})
        files = None
        if "part" in given:
            files = parts_of(config.args, given["workercount"])[given["part"]]
        config.stash[_MINE] = files
    return config.stash[_MINE]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    files = mine(config)
    if files is None or collection_path.suffix != ".py" or collection_path in files:
        return None
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file that was asked for by its name is never ignored."""
    if (files := mine(config)) is not None:
        items[:] = [item for item in items if item.path in files]
