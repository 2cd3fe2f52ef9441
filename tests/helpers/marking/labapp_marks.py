"""Marks, in each process of a recorded test run, which functions of the checkout it executes.

Imported at the start of every process while `python -m tests.executed` records (by a .pth file),
and idle without $LABAPP_EXECUTED: a folder with `marks` (a byte for each module and function, which
all processes share, so that what was marked stays when one is killed), `opened` (the files and
folders that were read, a line each), and `../numbers.json`: of each module the number of its first
mark and how many it has.

A module is changed as it is loaded: its first statement, and the first of each function, sets a
byte. That costs some 30 ns a call. Its bytecode is kept by itself, and never in `__pycache__`.
"""

# Every process that a test starts waits for this: it imports no more than it must.
# ruff: noqa: PTH100, PTH105, PTH110, PTH118, PTH120, PTH123

from __future__ import annotations

import ast
import builtins
import hashlib
import marshal
import mmap
import os
import sys
import tokenize
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

NAME = "__labapp_executed__"
Function = ast.FunctionDef | ast.AsyncFunctionDef
LISTED = ("open", "os.scandir", "os.listdir")
NO_DATA = (".venv/", ".git/", "build/", ".hypothesis/", ".mypy_cache/")


def functions(tree: ast.Module) -> list[tuple[str, Function]]:
    """Every function of a module with its qualified name; `#2` follows the second of a name."""
    found: list[tuple[str, Function]] = []
    times: dict[str, int] = {}

    def walk(node: ast.AST, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = within
            if isinstance(child, Function | ast.ClassDef):
                name = inner = f"{within}{child.name}"
                if isinstance(child, Function):
                    times[name] = times.get(name, 0) + 1
                    found.append((name if times[name] == 1 else f"{name}#{times[name]}", child))
                inner += "."
            walk(child, inner)

    walk(tree, "")
    return found


def marked(source: bytes, path: str, first: int, count: int) -> CodeType | None:
    """The code of a module that marks what runs; None for another than was numbered."""
    tree = ast.parse(source)
    listed = functions(tree)
    if len(listed) + 1 != count:
        return None
    for number, node in enumerate([tree, *(function for _, function in listed)], first):
        at = 0
        if ast.get_docstring(node, clean=False) is not None:
            at = 1
        while at < len(node.body) and (
            isinstance(node.body[at], ast.ImportFrom) and node.body[at].module == "__future__"
        ):
            at += 1
        mark = ast.parse(f"{NAME}[{number}] = 1").body[0]
        beside = node.body[min(at, len(node.body) - 1)] if node.body else None
        for part in ast.walk(mark):
            if hasattr(part, "lineno"):
                part.lineno = part.end_lineno = getattr(beside, "lineno", 1)
        node.body.insert(at, mark)
    return compile(tree, path, "exec", dont_inherit=True)


class Loader(SourceFileLoader):
    """Loads a module of the checkout with its marks."""

    at: tuple[int, int]
    folder: str

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        Opened.importing += 1
        try:
            source = self.get_data(path)
            key = hashlib.sha1(repr((path, self.at)).encode() + source).hexdigest()
            kept = os.path.join(self.folder, "code", key)
            if os.path.exists(kept):
                return marshal.loads(self.get_data(kept))
            code = marked(source, path, *self.at)
            if code is None:
                return super().get_code(fullname)
            with open(f"{kept}.{os.getpid()}", "wb") as stream:
                stream.write(marshal.dumps(code))
            os.replace(f"{kept}.{os.getpid()}", kept)
            return code
        finally:
            Opened.importing -= 1


class Finder:
    """Finds the modules that were numbered, and leaves all others to those who come after it."""

    def __init__(self, folder: str, numbers: dict[str, tuple[int, int]]) -> None:
        self.folder = folder
        self.numbers = numbers

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.numbers:
            return None
        Opened.importing += 1
        spec = PathFinder.find_spec(name, path, target)
        Opened.importing -= 1
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = loader = Loader(spec.loader.name, spec.loader.path)
            loader.at, loader.folder = self.numbers[name], self.folder
        return spec


class Opened:
    """Writes down each file and folder of the checkout that is read, once."""

    importing = 0

    def __init__(self, folder: str, root: str) -> None:
        self.root = root + os.sep
        self.seen: set[str] = set()
        self.out = os.open(
            os.path.join(folder, "opened"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        )

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if (
            event not in LISTED
            or Opened.importing
            or not isinstance(arguments[0], str | os.PathLike)
        ):
            return
        name = os.fspath(arguments[0])
        if not isinstance(name, str) or name in self.seen:
            return
        if name.endswith(".py") and sys._getframe(1).f_code.co_filename == tokenize.__file__:
            return  # PySide6 looks up the source of every module that is imported
        self.seen.add(name)
        path = os.path.abspath(name)
        if path.startswith(self.root) and "__pycache__" not in path:
            path = path.removeprefix(self.root).replace(os.sep, "/")
            if not path.startswith(NO_DATA):
                os.write(self.out, f"{path}{'' if event == 'open' else '/'}\n".encode())


def start(folder: str) -> None:
    """Mark what this process executes from here on."""
    import json

    above = os.path.dirname(folder)
    with open(os.path.join(above, "numbers.json"), encoding="utf-8") as stream:
        given = json.load(stream)
    with open(os.path.join(folder, "marks"), "r+b") as marks:
        setattr(builtins, NAME, mmap.mmap(marks.fileno(), 0))
    sys.meta_path.insert(0, Finder(above, given["numbers"]))
    sys.addaudithook(Opened(folder, given["root"]))


if __name__ == "labapp_marks" and os.environ.get("LABAPP_EXECUTED"):
    start(os.environ["LABAPP_EXECUTED"])
