"""Small faults put into labapp on purpose, each of which some test must find.

    python -m tests.mutants --draw            # as many as are missing of 200, from a fixed seed
    python -m tests.mutants [--minutes 60]    # runs those without a verdict; --again: all of them
    python -m tests.mutants --files 0         # … with every test file that executes the function

tests/mutants.jsonl is the table, a mutant a line. One is known by its module, function,
expression and which of several equal ones it is, so it stays the same when lines move. Where a
module or function has another name now, `labapp.base.former_names` or the table's "moved" says so
("labapp/x.py" or "labapp/x.py::f" to its new name, null where it was deleted); without either it
is looked for in the function of that name in any one other module.

Each runs in a copy of the checkout, with the test files that `python -m tests.executed` saw
execute its function, the most specific first. `first` is its first verdict, `now` the last:
"test" (what `make test` runs kills it), "nightly" (only what is left to `make nightly` does) or
"survived", which needs a `why`. The command fails, as tests/test_mutants.py does, where one that
was killed survives, and where more than 5 % of those that `make test` killed are left to the night.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import functools
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from labapp.base.former_names import name_now
from tests.executed import FINE, ROOT, pytest, rows, scratch
from tests.helpers.marking.labapp_marks import Function, functions
from tests.helpers.nightly import entries

TABLE = ROOT / "tests/mutants.jsonl"
HOW_MANY = 200
SEED = 43
MOVED_ALLOWED = 0.05
MOST_BYTES = 6 * 1024**3
SLOWER = 6.0
"""A mutant may take this many times as long as its tests did when they were recorded."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
NO_SWAP = ("isinstance", "issubclass", "hasattr", "getattr", "setattr")
"""Swapped arguments of these fail wherever they are executed."""


@dataclass
class Mutant:
    """One fault: its place, what is there, what is put there, and what became of it."""

    module: str
    function: str
    kind: str
    before: str
    after: str
    nth: int = 0
    first: str = ""
    now: str = ""
    by: str = ""
    files: str = ""
    why: str = ""

    def like(self, other: Mutant) -> bool:
        """Whether it is the same fault of a function."""
        names = ("kind", "before", "after", "nth")
        return all(getattr(self, name) == getattr(other, name) for name in names)


def changed(node: ast.AST) -> tuple[str, ast.AST] | None:
    """The kind of fault that a node can have, and the node with it; the first argument alone is
    ever swapped with the second."""
    other: Any = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            other.ops = [COMPARED[type(op)]()]
            return "comparison", other
        case ast.BoolOp():
            other.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
            return "boolean", other
        case ast.UnaryOp(op=ast.Not()):
            return "boolean", other.operand
        case ast.BinOp() if type(node.op) in COMPUTED:
            other.op = COMPUTED[type(node.op)]()
            return "arithmetic", other
        case ast.Constant(value=bool(value)):
            return "constant", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            return "constant", ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            return "constant", ast.Constant(value * 2 if value else 1.0)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            return "return", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            return "removed", ast.Pass()
        case ast.Call(args=[first, second, *_]) if ast.unparse(node.func) not in NO_SWAP:
            starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            if not starred and ast.unparse(first) != ast.unparse(second):
                other.args[:2] = other.args[1::-1]
                return "swapped", other
    return None


def faults(module: str, name: str, function: Function) -> Iterator[tuple[Mutant, ast.AST]]:
    """Every fault that a function can have, with the node that it replaces; of functions within it
    none, and none in annotations, decorators, default values and formatted text (whose places
    Python 3.11 does not tell)."""
    times: Counter[tuple[str, str]] = Counter()

    def walk(node: ast.AST) -> Iterator[tuple[Mutant, ast.AST]]:
        if isinstance(node, Function | ast.ClassDef | ast.JoinedStr):
            return
        if (found := changed(node)) is not None:
            kind, other = found
            before, after = ast.unparse(node), ast.unparse(other)
            yield Mutant(module, name, kind, before, after, times[kind, before]), node
            times[kind, before] += 1
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from walk(child)

    for statement in function.body:
        yield from walk(statement)


@functools.cache
def tree(path: Path) -> dict[str, Function]:
    return dict(functions(ast.parse(path.read_bytes())))


def draw(
    missing: int, known: Sequence[Mutant], recorded: dict[str, dict[str, Any]]
) -> list[Mutant]:
    """Draw mutants of functions that tests execute, so that each wing has its share of them by
    lines of code; of one function never two."""
    executed = {
        (path, name)
        for row in recorded.values()
        for path, names in row["ran"].items()
        for name in names
    } - {(row.module, row.function) for row in known}
    whole: Counter[str] = Counter()
    lines: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for module in sorted((ROOT / "labapp").glob("*/**/*.py")):
        path = module.relative_to(ROOT).as_posix()
        wing = path.split("/")[1]
        for name, node in tree(module).items():
            size = (node.end_lineno or 0) - node.body[0].lineno + 1
            whole[wing] += size
            if (path, name) in executed and any(faults(path, name, node)):
                lines[wing][path, name] = size
    have = Counter(row.module.split("/")[1] for row in known)
    share = {
        wing: (len(known) + missing) * whole[wing] / whole.total() - have[wing] for wing in lines
    }
    drawing = random.Random(f"{SEED} {len(known)}")
    found: list[Mutant] = []
    while len(found) < missing:
        wing = max(share, key=lambda wing: (share[wing], wing))
        share[wing] -= 1
        path, name = drawing.choices(list(lines[wing]), list(lines[wing].values()))[0]
        del lines[wing][path, name]
        of_kind = defaultdict(list)
        for mutant, _ in faults(path, name, tree(ROOT / path)[name]):
            of_kind[mutant.kind].append(mutant)
        found.append(drawing.choice(of_kind[drawing.choice(sorted(of_kind))]))
    return found


def follow(mutant: Mutant, moved: dict[str, str | None], root: Path = ROOT) -> Mutant | None:
    """The mutant under the names that its module and function have now, None where it is gone."""
    path, name = mutant.module, mutant.function
    if (now := name_now(path.removesuffix(".py").replace("/", "."))) is not None:
        path = f"{now.replace('.', '/')}.py"
    path = moved.get(path) or path
    to = moved.get(f"{path}::{name}", f"{path}::{name}")
    if to is None:
        return None
    path, _, name = to.partition("::")
    places = [path]
    if not (root / path).is_file() or name not in tree(root / path):
        every = (other.relative_to(root).as_posix() for other in (root / "labapp").rglob("*.py"))
        places = [other for other in every if name in tree(root / other)]
    found = [
        Mutant(**{**asdict(mutant), "module": place, "function": name})
        for place in places
        for other, _ in faults(place, name, tree(root / place)[name])
        if other.like(mutant)
    ]
    return found[0] if len(found) == 1 else None


def mutated(mutant: Mutant, source: bytes) -> bytes:
    """The text of a module with the fault."""
    listed = dict(functions(ast.parse(source)))
    node: Any = next(
        node
        for other, node in faults(mutant.module, mutant.function, listed[mutant.function])
        if other.like(mutant)
    )
    lines = source.splitlines(keepends=True)
    begins = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    ends = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    after = mutant.after if isinstance(node, ast.stmt) else f"({mutant.after})"
    return source[:begins] + after.encode() + source[ends:]


def tests_of(mutant: Mutant, recorded: dict[str, dict[str, Any]]) -> list[tuple[str, float]]:
    """The test files that execute the function and passed without the fault, with their seconds:
    what killed it last, then those of which the module is the largest part of what they execute."""
    found = [
        (-len(names) / sum(map(len, row["ran"].values())), test, row["seconds"])
        for test, row in recorded.items()
        if mutant.function in (names := row["ran"].get(mutant.module, ())) and row["status"] == 0
    ]
    killer = mutant.by.partition("::")[0]
    found.sort(key=lambda row: (row[1] != killer, row))
    return [(test, seconds) for _, test, seconds in found]


def killed(copied: Path, tests: Sequence[tuple[str, float]], **more: str) -> str:
    """The test that fails, empty where all pass."""
    limit = 60 + SLOWER * sum(seconds for _, seconds in tests)
    running = pytest(copied, ["-x", *(test for test, _ in tests)], **more)
    try:
        output = running.communicate(timeout=limit)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return f"{tests[0][0]}::(more than {limit:.0f} s)"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    if running.returncode in FINE:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (tests/[^\s\[]+)", output, re.MULTILINE)
    return failed[1] if failed else tests[0][0]


def judge(mutant: Mutant, copied: Path, recorded: dict[str, dict[str, Any]], most: int) -> None:
    """Put the fault into the copy, run the tests, and take it out again. One that some of the test
    files let pass survives only when all have run."""
    every = tests_of(mutant, recorded)
    # What was killed once is asked of all of them, before it is said to survive.
    tests = every[:most] if most and mutant.first in ("", "survived") else every
    files = f"{len(tests)} of {len(every)}"
    nightly = {entry.file for entry in entries()}
    left = [test for test in tests if test[0] in nightly]
    # How long tests take that are left to the night is known where they were recorded as well.
    whole = all(recorded[test].get("everything") for test, _ in left)
    mutant.files, mutant.by = files, ""
    mutant.now = "survived" if whole and tests == every else ""
    path = copied / mutant.module
    source, stat = path.read_bytes(), path.stat()
    Path(cache_from_source(str(path))).unlink(missing_ok=True)
    path.write_bytes(mutated(mutant, source))
    try:
        if tests and (by := killed(copied, tests)):
            mutant.by, mutant.now = by, "test"
        elif left and whole and (by := killed(copied, left, LABAPP_TESTS_ALL="1")):
            mutant.by, mutant.now = by, "nightly"
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
    mutant.first = mutant.first or mutant.now


def broken(mutants: Sequence[Mutant]) -> list[str]:
    """What the table may not say."""
    found = [
        f"{row.module} {row.function}: {row.before!r} was killed by make {row.first} and survives"
        for row in mutants
        if row.first in ("test", "nightly") and row.now == "survived"
    ]
    quick = [row for row in mutants if row.first == "test"]
    later = sum(row.now == "nightly" for row in quick)
    if later > MOVED_ALLOWED * len(quick):
        found.append(f"{later} of {len(quick)} that make test killed are left to make nightly")
    return found


def read(table: Path = TABLE) -> tuple[dict[str, str | None], list[Mutant]]:
    """The new names of what moved, and the mutants."""
    lines = table.read_text("utf-8").splitlines() if table.is_file() else ["{}"]
    moved, *mutants = map(json.loads, lines)
    return moved, [Mutant(**row) for row in mutants]


def write(moved: dict[str, str | None], mutants: Sequence[Mutant], table: Path = TABLE) -> None:
    rows = [moved, *map(asdict, mutants)]
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--draw", type=int, nargs="?", const=HOW_MANY)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--files", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    recorded = rows()
    moved, known = read()
    mutants = [(row, follow(row, moved)) for row in known]
    lost = [row for row, now in mutants if now is None]
    here = [now for _, now in mutants if now is not None]
    for row in lost:
        print(f"gone: {row.module} {row.function}: {row.before!r}")
    if given.draw:
        here += draw(given.draw - len(here), here, recorded)
        write(moved | {f"{row.module}::{row.function}": None for row in lost}, here)
        return 0
    # A fault may make something grow without an end.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    with scratch() as copied:
        for row in here:
            tried = row.now or (row.files and given.files)
            if (tried and not given.again) or time.monotonic() > until:
                continue
            judge(row, copied, recorded, given.files)
            write(moved, here + lost)
            print(f"{row.now or 'open'} {row.by} ({row.files}): {row.module} {row.function}"
                  f" {row.before!r} -> {row.after!r}", flush=True)  # fmt: skip
    print(Counter(row.now or "open" for row in here), *broken(here), sep="\n")
    return 1 if lost or broken(here) else 0


if __name__ == "__main__":
    sys.exit(main())
