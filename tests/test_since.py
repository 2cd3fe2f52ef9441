"""What a changed file asks for (`make test SINCE=`), and how what test files use is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.executed import load, store
from tests.helpers.marking import labapp_marks
from tests.since import asked, outside

MODULE = '''"""A module."""

from __future__ import annotations

class Outer:
    @property
    def value(self): return lambda: 1

    @value.setter
    def value(self, new):
        """Sets."""
        def inner(): yield new
        list(inner())

def never(): ...
'''
STARTS_ANOTHER = r"""
import os, subprocess, sys
import module
open("read.txt").close()
open("odd\udcff", "w").close()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"])
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    os.listdir(".")
else:
    module.Outer().value = 3
    os.kill(os.getpid(), 9)
"""


def test_a_process_that_is_killed_has_said_what_it_executed(tmp_path: Path) -> None:
    """Also that of its child, and which files were read; its bytecode is kept apart."""
    for name, text in {"module.py": MODULE, "starts.py": STARTS_ANOTHER, "read.txt": ""}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "all" / "code").mkdir(parents=True)
    (tmp_path / "all" / "one").mkdir()
    (tmp_path / "all" / "one" / "marks").write_bytes(bytes(8))
    (tmp_path / "all" / "one" / "opened").touch()
    numbers = {"root": str(tmp_path), "numbers": {"module.py": 2}}
    (tmp_path / "all" / "numbers.json").write_text(json.dumps(numbers))
    marking = Path(labapp_marks.__file__)
    # As the .pth file does in the copy that is recorded.
    (tmp_path / "sitecustomize.py").write_text("import labapp_marks")
    environment = {
        "PYTHONPATH": f"{marking.parent}:{tmp_path}",
        "LABAPP_EXECUTED": str(tmp_path / "all" / "one"),
    }
    subprocess.run(
        [sys.executable, "starts.py"], cwd=tmp_path, env=os.environ | environment, check=True
    )
    # The module, no getter, the setter and what is in it, and not what is never called.
    assert [*(tmp_path / "all/one/marks").read_bytes()] == [0, 0, 1, 0, 1, 1, 0, 0]
    assert b"read.txt" in (tmp_path / "all/one/opened").read_bytes().splitlines()
    assert not [*tmp_path.glob("__pycache__/module*")]


def test_functions_of_one_name_are_told_apart() -> None:
    names = [name for name, _ in labapp_marks.functions(labapp_marks.ast.parse(MODULE))]
    assert names == ["Outer.value", "Outer.value#2", "Outer.value.inner", "never"]


def test_what_was_recorded_is_read_again(tmp_path: Path) -> None:
    used = {"tests/test_a.py": {"labapp/a.py", "labapp/a.py()"}, "tests/test_b.py": {"docs/a.md"}}
    store(used, tmp_path / "table.json")
    assert load(tmp_path / "table.json") == used


USED = {
    "tests/test_runs.py": {"labapp/a.py", "labapp/a.py()", "docs/", "tests/helpers/h.py"},
    "tests/test_loads.py": {"labapp/a.py", "docs/", "docs/a.md", "assets/"},
}
BEFORE = "LIMIT = 1\n\nclass A:\n    def f(self, x: int = 1) -> int:\n        return x\n"
RUNS, LOADS = USED


@pytest.mark.parametrize(
    ("path", "before", "now", "expected"),
    [
        ("labapp/a.py", BEFORE, BEFORE.replace("return x", "return -x"), {RUNS}),
        ("labapp/a.py", BEFORE, f"import os\n{BEFORE}\ndef new(): ...", {RUNS}),
        ("labapp/a.py", BEFORE, BEFORE.replace("LIMIT = 1", "LIMIT = 2"), {RUNS, LOADS}),
        ("labapp/a.py", BEFORE, f"{BEFORE}\n    def __eq__(self, other): ...", {RUNS, LOADS}),
        ("labapp/a.py", BEFORE, f"{BEFORE}\n@register\ndef new(): ...", {RUNS, LOADS}),
        ("labapp/a.py", BEFORE, None, {RUNS, LOADS}),
        ("labapp/new.py", None, BEFORE, None),
        ("tests/helpers/h.py", BEFORE, BEFORE.replace("1", "2"), {RUNS}),
        ("tests/helpers/unknown.py", BEFORE, BEFORE, None),
        ("tests/ui/test_new.py", None, "", {"tests/ui/test_new.py"}),
        ("docs/a.md", "a", "b", {LOADS}),
        ("docs/guide/new.md", None, "b", {RUNS, LOADS}),
        ("assets/new.yaml", None, "b", {LOADS}),
        ("assets/unread.yaml", "a", "b", None),
        ("assets/picture.png", "a", "b", None),
        ("pyproject.toml", "a", "b", None),
    ],
)
def test_what_a_changed_file_asks_for(
    path: str, before: str | None, now: str | None, expected: set[str] | None
) -> None:
    assert asked(path, before, now, USED)[0] == expected


def test_imports_of_a_package_are_seen_outside() -> None:
    assert outside("from a import b", package=True) != outside("from c import b", package=True)
    assert outside("from a import b", package=False) == outside("from c import b", package=False)
