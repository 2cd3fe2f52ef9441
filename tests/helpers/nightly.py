"""Which tests `make test` leaves to `make nightly`: those that tests/nightly.yaml lists.

LABAPP_TESTS_ALL=1 runs all of them. So does naming a test: `pytest tests/x.py::test_y`.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

Thing = TypeVar("Thing")

EVERYTHING = os.environ.get("LABAPP_TESTS_ALL") == "1"
LIST = Path(__file__).parents[1] / "nightly.yaml"
ROOT = LIST.parents[1]

_LEFT: pytest.StashKey[int] = pytest.StashKey()
_WORKERS: pytest.StashKey[set[int]] = pytest.StashKey()


@dataclass(frozen=True)
class Entry:
    """Some tests of one file that `make test` leaves out.

    Parameters
    ----------
    file
        Path of the test file from the top of the checkout.
    tests
        Names of the test functions.
    why
        What takes so long.
    keep
        Cases of a parametrised test that `make test` runs all the same: their ids, or how many,
        spread evenly over all.
    stays
        Tests in `make test` of the same mechanism: their names in this file, or their files and
        names.
    """

    file: str
    tests: tuple[str, ...]
    why: str
    keep: tuple[str, ...] | int = ()
    stays: tuple[str, ...] = ()


@functools.cache
def entries() -> tuple[Entry, ...]:
    """The list in tests/nightly.yaml, in its order."""
    with LIST.open(encoding="utf-8") as stream:
        read: dict[str, list[dict[str, Any]]] = yaml.load(stream, yaml.CSafeLoader)
    found = []
    for file, rows in read.items():
        for row in rows:
            keep = row.pop("keep", [])
            if not isinstance(keep, int):
                keep = tuple(str(case) for case in keep)
            lists = {key: tuple(row.pop(key, ())) for key in ("tests", "stays")}
            found.append(Entry(file, keep=keep, **lists, **row))
    return tuple(found)


def sample(everything: Sequence[Thing], few: Sequence[Thing]) -> Sequence[Thing]:
    """`everything` where LABAPP_TESTS_ALL is 1, else `few` of it."""
    assert set(few) <= set(everything)
    return everything if EVERYTHING else few


def kept(cases: Sequence[str], keep: tuple[str, ...] | int) -> set[int]:
    """The places in `cases` of those that `make test` runs."""
    if isinstance(keep, int):
        return {round((place + 0.5) * len(cases) / keep - 0.5) for place in range(keep)}
    return {place for place, case in enumerate(cases) if case in keep}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labapp")
    group.addoption("--everything", action="store_true", help="run what is left to nightly, too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[_LEFT] = 0
    if EVERYTHING or config.getoption("--everything"):
        return
    listed = {(entry.file, name): entry for entry in entries() for name in entry.tests}
    files = {file for file, _ in listed}
    named = {argument.partition("[")[0] for argument in config.args if "::" in argument}
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        file = item.nodeid.partition("::")[0]
        if file in files and isinstance(item, pytest.Function):
            if item.nodeid.partition("[")[0] in named:
                continue
            cases[file, item.originalname].append(item)
    left: set[pytest.Item] = set()
    for key, same in cases.items():
        if key in listed:
            stay = kept([case_of(item) for item in same], listed[key].keep)
            left |= {item for place, item in enumerate(same) if place not in stay}
    if left:
        config.stash[_LEFT] = len(left)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def case_of(item: pytest.Item) -> str:
    """The id of the parameters of a test, empty where it has none."""
    called = getattr(item, "callspec", None)
    return "" if called is None else str(called.id)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_to_nightly"] = session.config.stash.get(_LEFT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker collects all tests, so each has left out the same."""
    left = getattr(node, "workeroutput", {}).get("left_to_nightly", 0)
    node.config.stash[_LEFT] = max(left, node.config.stash.get(_LEFT, 0))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left = config.stash.get(_LEFT, 0)
    if left:
        terminalreporter.write_line(f"{left} tests are left to `make nightly` (tests/nightly.yaml)")
