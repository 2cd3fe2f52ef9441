"""The test files that a change asks for, as `make test SINCE=REF` runs them.

    python -m tests.since REF

Prints them, and on the error stream what each changed file asked for. tests/executed.json knows
what each used when all were recorded last (`python -m tests.executed`, in `make nightly`):

* a test file that was changed or never recorded runs, and tests/test_*.py, which look at the whole;
* where functions of a module have other bodies and nothing else is different, those run that
  executed one of its functions; for any other change those that loaded it;
* of a text, those that read it, and of one that is new, those that listed its folder.

All run where none of this tells: a module that nobody recorded, an image, weights, pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import PurePosixPath

from tests.executed import ROOT, git, load, wanted
from tests.helpers.marking.labapp_marks import Function

TEXTS = {".css", ".csv", ".html", ".js", ".json", ".jsonl", ".md", ".mo", ".po", ".srt", ".svg",
         ".tsv", ".txt", ".yaml", ".yml"}  # fmt: skip
"""Of files read by libraries in other languages nothing is recorded: all tests run for those."""


def outside(text: str, package: bool) -> list[str]:
    """What a module has outside of its functions and imports; those of a package count.

    >>> outside("import os\n\ndef f(): return 1", package=False)
    []
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, Function):
            node.body, node.returns = [], None
    unseen = Function if package else Function | ast.Import | ast.ImportFrom
    return [
        ast.dump(statement)
        for statement in tree.body
        if not isinstance(statement, unseen) or getattr(statement, "decorator_list", [])
    ]


def asked(
    path: str, before: str | None, now: str | None, used: Mapping[str, set[str]]
) -> tuple[set[str] | None, str]:
    """The test files that a changed file asks for and why, None for all of them.

    Parameters
    ----------
    before, now
        Its text; None where it was or is not there.
    used
        What each test file used when it was recorded.
    """

    def those(*names: str) -> set[str]:
        return {test for test, its in used.items() if its.intersection(names)}

    if re.fullmatch(r"tests/(.*/)?test_\w+\.py", path):
        return those(path) | {path}, "a test"
    if path.endswith(".py"):
        package = path.endswith("/__init__.py")
        if before is not None and now is not None:
            executed = those(f"{path}()")
            if executed and outside(before, package) == outside(now, package):
                return executed, "they execute it"
        return those(path, f"{path}()") or None, "they load it"
    if PurePosixPath(path).suffix not in TEXTS:
        return None, ""
    readers = those(path)
    if before is None or now is None:
        folders = (f"{folder}/" for folder in PurePosixPath(path).parents)
        readers |= those(next((folder for folder in folders if those(folder)), ""))
    return readers or None, "they read it"


def changed(ref: str) -> list[str]:
    """The files that differ from those of a commit, also those that git does not know yet."""
    differ = git("diff", "--name-only", "--no-renames", "-z", ref, "--")
    unknown = git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*differ.split("\0"), *unknown.split("\0")} - {""})


def main(ref: str) -> int:
    used = load()
    every = set(wanted(["tests"]))
    new = every - set(used)
    run = {test for test in every if test.count("/") == 1} | new
    lines = [f"{len(new)} were never recorded"] if new else []
    for path in changed(ref):
        shown = subprocess.run(["git", "show", f"{ref}:{path}"], cwd=ROOT, capture_output=True)
        before = None if shown.returncode else shown.stdout.decode("utf-8", "replace")
        now = ROOT / path
        tests, why = asked(
            path, before, now.read_text("utf-8", "replace") if now.is_file() else None, used
        )
        if tests is None:
            lines.append(f"all for {path}: nobody is known to use it")
        else:
            lines.append(f"{len(tests & every)} for {path}: {why}")
        run |= every if tests is None else tests & every
    print(*lines, f"{len(run)} of {len(every)} test files run", sep="\n", file=sys.stderr)
    print("tests" if run == every else "\n".join(sorted(run)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
