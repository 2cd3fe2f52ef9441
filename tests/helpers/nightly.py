"""Which tests `make test` leaves to `make nightly`: those that tests/nightly.yaml lists.

LABAPP_TESTS_ALL=1 runs all of them. So does naming a test: `pytest tests/x.py::test_y`.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Collection, Sequence
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
    leave
        Cases of a parametrised test that alone are left out, where they are few: their ids.
    stays
        Tests in `make test` of the same mechanism: their names in this file, or their files and
        names.
    """

    file: str
    tests: tuple[str, ...]
    why: str
    keep: tuple[str, ...] | int = ()
    leave: tuple[str, ...] = ()
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
            lists = {key: tuple(row.pop(key, ())) for key in ("tests", "leave", "stays")}
            found.append(Entry(file, keep=keep, **lists, **row))
    return tuple(found)


def sample(everything: Sequence[Thing], few: Sequence[Thing]) -> Sequence[Thing]:
    """`everything` where LABAPP_TESTS_ALL is 1, else `few` of it."""
    assert set(few) <= set(everything)
    return everything if EVERYTHING else few


def examples(many: int) -> int:
    """How many examples a property is tried with: of those that `make nightly` tries a third."""
    return many if EVERYTHING else max(1, many // 3)


def kept(cases: Sequence[str], keep: tuple[str, ...] | int) -> set[int]:
    """The places in `cases` of those that `make test` runs."""
    if isinstance(keep, int):
        return {round((place + 0.5) * len(cases) / keep - 0.5) for place in range(keep)}
    return {place for place, case in enumerate(cases) if case in keep}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("labapp")
    group.addoption("--everything", action="store_true", help="run what is left to nightly, too")


def left_out(
    tests: Sequence[tuple[str, str]], listed: Sequence[Entry], named: Collection[str] = ()
) -> set[int]:
    """Which of some tests `make test` leaves out.

    Parameters
    ----------
    tests
        File and function of each, `tests/x.py::test_y`, and the id of its parameters.
    named
        Functions that were asked for by name, of which none is left out.
    """
    of_test = {f"{entry.file}::{name}": entry for entry in listed for name in entry.tests}
    cases: dict[str, list[int]] = defaultdict(list)
    for place, (test, _) in enumerate(tests):
        if test in of_test and test not in named:
            cases[test].append(place)
    left: set[int] = set()
    for test, places in cases.items():
        entry = of_test[test]
        ids = [tests[place][1] for place in places]
        cases_named = {*entry.leave, *(entry.keep if isinstance(entry.keep, tuple) else ())}
        if unknown := cases_named - set(ids):
            raise pytest.UsageError(f"{LIST.name}: {test} has no case {sorted(unknown)}")
        stay = kept(ids, entry.keep)
        if entry.leave:
            stay = {at for at, case in enumerate(ids) if case not in entry.leave}
        left |= {place for at, place in enumerate(places) if at not in stay}
    return left


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[_LEFT] = 0
    if EVERYTHING or config.getoption("--everything"):
        return
    named = {argument.partition("[")[0] for argument in config.args if "::" in argument}
    tests = [(item.nodeid.partition("[")[0], case_of(item)) for item in items]
    left = left_out(tests, entries(), named)
    if left:
        config.stash[_LEFT] = len(left)
        config.hook.pytest_deselected(items=[items[place] for place in sorted(left)])
        items[:] = [item for place, item in enumerate(items) if place not in left]


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
    """With --parts each worker leaves out some; else each collects all and leaves out the same."""
    left = getattr(node, "workeroutput", {}).get("left_to_nightly", 0)
    others = node.config.stash.get(_LEFT, 0)
    parted = node.config.getoption("--parts")
    node.config.stash[_LEFT] = left + others if parted else max(left, others)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left = config.stash.get(_LEFT, 0)
    if left:
        terminalreporter.write_line(f"{left} tests are left to `make nightly` (tests/nightly.yaml)")
