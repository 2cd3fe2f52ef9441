"""Which code and which files each test file uses: what `make test SINCE=` and the mutants ask.

    python -m tests.executed [--jobs 3] [--keep] [tests/ui tests/base/test_x.py]

Each test file is run in a process of its own, in a copy of the checkout, and what it executes is
marked (tests/helpers/marking), in the processes it starts as well. What each did is kept in
`build/executed`, so that a run that was stopped goes on with --keep. At the end tests/executed.json
says of each test file which modules it loaded ("labapp/x.py"), of which it executed a function
("labapp/x.py()"), and what else it read.
"""

from __future__ import annotations

import argparse
import ast
import base64
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.marking.labapp_marks import functions
from tests.helpers.nightly import EVERYTHING
from tests.helpers.parts import SECONDS, in_order

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests/executed.json"
ROWS = ROOT / "build/executed"
FINE = (0, 5)
"""What pytest says where all passed, and where all are left to the night."""
MARKED = ("labapp", "tests", "scripts", "benchmarks", "examples")
"""The folders whose modules are marked, tests and what pytest reads itself aside."""


def git(*arguments: str) -> str:
    """What git prints; what goes wrong it says itself."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


@contextmanager
def scratch() -> Iterator[Path]:
    """A copy of the checkout as it is now, whose `.venv` has this interpreter's packages and takes
    labapp from the copy."""
    with tempfile.TemporaryDirectory(prefix="labapp-copy-") as name:
        copy = Path(name).resolve() / "labapp"
        for line in git("ls-files", "-co", "--exclude-standard", "-z").split("\0"):
            if line and (ROOT / line).is_file():
                (copy / line).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / line, copy / line)
        venv.create(copy / ".venv", symlinks=True)
        packages = next((copy / ".venv/lib").glob("python*/site-packages"))
        theirs = next(Path(part) for part in sys.path if part.endswith("site-packages"))
        (packages / "copy.pth").write_text(
            f"{copy}\n{theirs}\n{copy}/tests/helpers/marking\nimport labapp_marks\n"
        )
        for program in (Path(sys.prefix) / "bin").iterdir():
            if not (copy / ".venv/bin" / program.name).exists():
                (copy / ".venv/bin" / program.name).symlink_to(program)
        yield copy


@functools.cache
def listed(root: Path) -> dict[str, list[str]]:
    """The functions of each module that is marked, by its path."""
    return {
        path.relative_to(root).as_posix(): [*dict(functions(ast.parse(path.read_bytes())))]
        for folder in MARKED
        for path in sorted((root / folder).rglob("*.py"))
        if not path.name.startswith("test_") and path.name != "conftest.py"
    }


def pytest(copy: Path, arguments: Sequence[str], **more: str) -> subprocess.Popen[bytes]:
    """Start pytest in a copy, in a group of processes of its own."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1", **more}
    return subprocess.Popen(
        [copy / ".venv/bin/python", "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
         "--no-header", *arguments],
        cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def record(copy: Path, within: Path, test: str) -> dict[str, Any]:
    """Run a test file, and tell what it executed and read."""
    folder = within / test.replace("/", "+")
    folder.mkdir()
    modules = listed(copy)
    (folder / "marks").write_bytes(bytes(sum(len(names) + 1 for names in modules.values())))
    (folder / "opened").touch()
    began = time.monotonic()
    running = pytest(copy, [test], LABAPP_EXECUTED=str(folder))
    output = running.communicate()[0].decode("utf-8", "replace")
    seconds = round(time.monotonic() - began, 1)
    marks = (folder / "marks").read_bytes()
    ran, at = {}, 0
    for path, names in modules.items():
        if marks[at]:
            ran[path] = [name for place, name in enumerate(names, at + 1) if marks[place]]
        at += len(names) + 1
    # Names below a folder that is open are not told apart from those below the current one.
    lines = os.fsdecode((folder / "opened").read_bytes()).splitlines()
    opened = {path for path in {*lines} - {test} if (copy / path).exists()}
    opened = {path for path in opened if (copy / path).is_dir() == path.endswith("/")}
    status = running.returncode
    print(f"{seconds:7.1f} s {test}{'' if status in FINE else output}", flush=True)
    return {
        "test": test,
        "status": status,
        "seconds": seconds,
        "everything": EVERYTHING,
        "opened": [*opened],
        "ran": ran,
    }


def place(test: str) -> Path:
    return ROWS / f"{test.replace('/', '+')}.json"


def rows() -> dict[str, dict[str, Any]]:
    """What is kept of each test file that was recorded and is still there."""
    found = (json.loads(path.read_text("utf-8")) for path in sorted(ROWS.glob("*.json")))
    return {row["test"]: row for row in found if (ROOT / row["test"]).is_file()}


def things(row: dict[str, Any]) -> set[str]:
    """What a test file uses, by names: see the top of this module."""
    read = {path for path in row["opened"] if path.endswith(".py")}
    ran = {f"{path}()" for path, names in row["ran"].items() if names}
    return {*row["ran"], *row["opened"], *ran, *(f"{path}()" for path in read)}


def load(table: Path = TABLE) -> dict[str, set[str]]:
    """What each test file used when it was recorded last."""
    if not table.is_file():
        return {}
    read = json.loads(table.read_text("utf-8"))
    found = {}
    for test, packed in read["tests"].items():
        bits = int.from_bytes(zlib.decompress(base64.b85decode(packed)), "little")
        found[test] = {name for place, name in enumerate(read["used"]) if bits >> place & 1}
    return found


def store(used: dict[str, set[str]], table: Path = TABLE) -> None:
    """Write what each test file used, a line each."""
    names = sorted(set().union(*used.values()))
    packed = {}
    for test in sorted(used):
        bits = sum(1 << place for place, name in enumerate(names) if name in used[test])
        data = bits.to_bytes(len(names) // 8 + 1, "little")
        packed[test] = base64.b85encode(zlib.compress(data, 9)).decode()
    table.write_text(json.dumps({"used": names, "tests": packed}, indent=0) + "\n", "utf-8")


def wanted(given: Iterable[str]) -> list[str]:
    paths = [(ROOT / name).resolve() for name in given]
    files = [file for path in paths for file in (in_order(path) if path.is_dir() else [path])]
    return [file.relative_to(ROOT).as_posix() for file in files]


def record_all(files: Sequence[str], jobs: int) -> None:
    """Record test files, so many at a time."""
    with scratch() as copy, tempfile.TemporaryDirectory(prefix="labapp-marks-") as name:
        numbers, at = {}, 0
        for path, names in listed(copy).items():
            numbers[path] = at
            at += len(names) + 1
        (Path(name) / "code").mkdir()
        (Path(name) / "numbers.json").write_text(
            json.dumps({"root": str(copy), "numbers": numbers})
        )

        def one(test: str) -> None:
            new = place(test).with_suffix(".new")
            new.write_text(json.dumps(record(copy, Path(name), test)), "utf-8")
            new.replace(place(test))

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, files))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.executed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("paths", nargs="*", default=["tests"])
    given = parser.parse_args()
    ROWS.mkdir(parents=True, exist_ok=True)
    every = wanted(given.paths)
    there = rows() if given.keep else {}
    files = [test for test in every if test not in there]
    for test in files:
        place(test).unlink(missing_ok=True)
    # The quick ones first: most of the code is known when a run is stopped.
    took = json.loads(SECONDS.read_text("utf-8"))
    files.sort(key=lambda test: took.get(test.removeprefix("tests/"), 0.0))
    if files:
        record_all(files, given.jobs)
    found = rows()
    known = {test: used for test, used in load().items() if (ROOT / test).is_file()}
    store(known | {test: things(row) for test, row in found.items()})
    failed = [test for test in every if found[test]["status"] not in FINE]
    print(*(f"failed: {test}" for test in failed), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
