"""How much CPU time each test and each shared fixture takes, a line of JSON each.

    LABAPP_TESTS_CPU=/tmp/cpu.jsonl make test
    python -m tests.helpers.cpu_time /tmp/cpu.jsonl     # prints the slowest, writes seconds.json

LABAPP_TESTS_CPU=FILE appends to a file: {"test": …, "s": [set up, call, take down], "used": shared
fixtures}, {"fixture": …, "s": …} and, for a whole process, {"process": …, "s": …, "collected": …}.
Processes that a test starts and waits for count. LABAPP_TESTS_CPU_MOST=SECONDS leaves out the cases
of a test function that has taken as much, {"test": …, "left": true}, to record a long suite sooner.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
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


def seconds_of(paths: Sequence[Path]) -> dict[str, float]:
    """Seconds by test function of what was recorded; those of cases that were left out are those of
    its other cases on average."""
    taken: dict[str, list[float]] = defaultdict(list)
    left: dict[str, int] = defaultdict(int)
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if name := row.get("test", "").partition("[")[0]:
                if row.get("left"):
                    left[name] += 1
                else:
                    taken[name].append(row["s"][-1])
    return {name: sum(each) * (1 + left[name] / len(each)) for name, each in sorted(taken.items())}


def main(paths: Sequence[Path]) -> None:
    """Print the slowest test functions, and write the seconds of each file for `--parts`; of files
    that were not recorded what is known stays."""
    from tests.helpers.parts import SECONDS

    functions = seconds_of(paths)
    print(f"{sum(functions.values()):.0f} s in {len(functions)} test functions")
    for name in sorted(functions, key=functions.__getitem__, reverse=True)[:20]:
        print(f"{functions[name]:8.1f} {name}")
    files: dict[str, float] = defaultdict(float)
    for name, took in functions.items():
        files[name.partition("::")[0].removeprefix("tests/")] += took
    known = json.loads(SECONDS.read_text("utf-8")) if SECONDS.is_file() else {}
    known |= {file: round(took, 1) for file, took in files.items()}
    known = {file: took for file, took in known.items() if (SECONDS.parent / file).is_file()}
    SECONDS.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
