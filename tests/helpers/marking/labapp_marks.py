"""Marks, in each process of a recorded test run, which functions of the checkout it executes.

Imported at the start of every process while `python -m tests.executed` records (by a .pth file),
and idle without $LABAPP_EXECUTED: a folder with `marks` (a byte for each module and function, which
all processes share, so that what was marked stays when one is killed), `opened` (the files and
folders that were read, a line each), and `../numbers.json`: the first mark of each module.

A module is changed as it is loaded: its first statement, and the first of each function, sets a
byte. That costs some 30 ns a call. Its bytecode is kept by itself, and never in `__pycache__`.
"""

# Every process that a test starts waits for this: it imports no more than it must.
# ruff: noqa: PTH100, PTH105, PTH110, PTH118, PTH120, PTH123

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import marshal
import mmap
import os
import sys
import tokenize
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

NAME = "__labapp_executed__"
Function = ast.FunctionDef | ast.AsyncFunctionDef
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


def marked(source: bytes, path: str, first: int) -> CodeType:
    """The code of a module that marks what runs, from a number on."""
    tree = ast.parse(source)
    nodes = [tree, *(function for _, function in functions(tree))]
    for number, node in enumerate(nodes, first):
        mark = ast.parse(f"{NAME}[{number}] = 1").body[0]
        at = 0
        while at < len(node.body) and (
            (at == 0 and ast.get_docstring(node, clean=False) is not None)
            or getattr(node.body[at], "module", "") == "__future__"
        ):
            at += 1
        for part in ast.walk(mark):
            if node is not tree and hasattr(part, "lineno"):
                part.lineno = part.end_lineno = node.body[0].lineno
        node.body.insert(at, mark)
    return compile(tree, path, "exec", dont_inherit=True)


def start(folder: str) -> None:
    """Mark what this process executes from here on, and write down what it reads."""
    above = os.path.dirname(folder)
    with open(os.path.join(above, "numbers.json"), encoding="utf-8") as stream:
        given = json.load(stream)
    with open(os.path.join(folder, "marks"), "r+b") as marks:
        setattr(builtins, NAME, mmap.mmap(marks.fileno(), 0))
    out = os.open(os.path.join(folder, "opened"), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    usual = SourceFileLoader.get_code
    root: str = given["root"] + os.sep
    seen: set[str] = set()

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        path = self.get_filename(name)
        first = given["numbers"].get(path.removeprefix(root))
        if first is None:
            return usual(self, name)
        read_before = path in seen
        seen.add(path)  # who loads it does not read it as a file
        source = self.get_data(path)
        if not read_before:
            seen.remove(path)
        key = hashlib.sha1(repr((path, first)).encode() + source).hexdigest()
        kept = os.path.join(above, "code", key)
        if os.path.exists(kept):
            code: CodeType = marshal.loads(self.get_data(kept))
            return code
        code = marked(source, path, first)
        with open(f"{kept}.{os.getpid()}", "wb") as stream:
            stream.write(marshal.dumps(code))
        os.replace(f"{kept}.{os.getpid()}", kept)
        return code

    def opened(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "os.scandir", "os.listdir") or not isinstance(arguments[0], str):
            return
        name = arguments[0]
        if name in seen or (
            # PySide6 looks up the source of every module that is imported.
            name.endswith(".py") and sys._getframe(1).f_code.co_filename == tokenize.__file__
        ):
            return
        seen.add(name)
        try:
            path = os.path.abspath(name)
        except FileNotFoundError:  # the current folder was removed
            return
        if path.startswith(root) and "__pycache__" not in path:
            path = path.removeprefix(root).replace(os.sep, "/")
            if not path.startswith(NO_DATA):
                os.write(out, os.fsencode(f"{path}{'' if event == 'open' else '/'}\n"))

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    sys.addaudithook(opened)


if __name__ == "labapp_marks" and os.environ.get("LABAPP_EXECUTED"):
    start(os.environ["LABAPP_EXECUTED"])
