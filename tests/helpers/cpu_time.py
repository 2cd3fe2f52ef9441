"""How much CPU time each test and each shared fixture takes, a line of JSON each.

LABAPP_TESTS_CPU=FILE appends to a file: {"test": …, "s": [set up, call, take down], "used": shared
fixtures}, {"fixture": …, "s": …} and, for a whole process, {"process": …, "s": …, "collected": …}.
Processes that a test starts and waits for count. LABAPP_TESTS_CPU_MOST=SECONDS leaves out the cases
of a test function that has taken as much, {"test": …, "left": true}, to record a long suite sooner.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

FILE = os.environ.get("LABAPP_TESTS_CPU", "")
MOST = float(os.environ.get("LABAPP_TESTS_CPU_MOST", "inf"))

_taken: dict[str, float] = defaultdict(float)
_parts: dict[str, list[float]] = defaultdict(list)
_collected: list[float] = []


def now() -> float:
    """CPU seconds of this process and of those that it started and waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def write(row: dict[str, Any]) -> None:
    with open(FILE, "a", encoding="utf-8") as stream:  # noqa: PTH123  (a line at a time, whole)
        stream.write(json.dumps(row) + "\n")


def pytest_collection_finish() -> None:
    _collected.append(now())


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Iterator[None]:
    before = now()
    try:
        return (yield)
    finally:
        if fixturedef.scope != "function" and (took := now() - before) > 0.02:
            name = f"{fixturedef.baseid}::{fixturedef.argname}"
            param = getattr(request, "param", None)
            write({"fixture": name, "param": str(param)[:80], "s": round(took, 3)})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = now()
    try:
        return (yield)
    finally:
        name = item.nodeid.partition("[")[0]
        whole = now() - before
        parts = _parts.pop(item.nodeid, [])
        if parts:
            _taken[name] += parts[1] if len(parts) > 1 else whole
            used = [
                f"{found.baseid}::{found.argname}"
                for found in item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
                for found in found[-1:]
                if found.scope != "function"
            ]
            row = {"test": item.nodeid, "s": [round(part, 4) for part in (*parts, whole)]}
            write({**row, "used": used})


def _timed(item: pytest.Item) -> Iterator[None]:
    before = now()
    try:
        return (yield)
    finally:
        _parts[item.nodeid].append(now() - before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    if _taken[item.nodeid.partition("[")[0]] > MOST:
        write({"test": item.nodeid, "left": True})
        pytest.skip("recorded often enough")
    return (yield from _timed(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    return (yield from _timed(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    return (yield from _timed(item))


def pytest_unconfigure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    write({"process": worker, "s": round(now(), 2), "collected": [round(s, 2) for s in _collected]})
