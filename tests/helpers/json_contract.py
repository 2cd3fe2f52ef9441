"""What docs/guide/json.md promises of the JSON of commands, and whether a value keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from labapp.base import console

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "json.md"
WORDS_OF_VALUES = {"yes", "no", "true", "false", "True", "False", "None", "nan", "NaN", "inf"}
"""Texts that stand for a value that JSON has itself."""


class Promise(NamedTuple):
    """A line of the page: a list or an object, its fields, and whether it has others too."""

    listed: bool
    single: bool
    needed: frozenset[str]
    known: frozenset[str]
    open: bool

    def kept(self, value: Any) -> bool:
        """Whether a value is as promised."""
        if isinstance(value, list) and not self.listed:
            return False
        if isinstance(value, dict) and not self.single:
            return False
        rows = value if isinstance(value, list) else [value]
        return all(
            self.needed <= row.keys() and (self.open or row.keys() <= self.known) for row in rows
        )


@cache
def promises() -> dict[str, list[Promise]]:
    """By the name of a command."""
    found: dict[str, list[Promise]] = {}
    for line in PAGE.read_text("utf-8").partition("## Fields")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or not (name := re.match(r"`([\w -]+)`", cells[0])):
            continue
        known = frozenset(re.findall(r"`(\w+)`", cells[2]))
        some = frozenset(re.findall(r"\(`(\w+)`\)", cells[2]))
        single, listed = "object" in cells[1], "list" in cells[1]
        promise = Promise(listed, single, known - some, known, "…" in cells[2])
        found.setdefault(name[1], []).append(promise)
    return found


def words_for_values(value: Any, at: str = "") -> Iterator[str]:
    """Where a text stands for a truth, a number or nothing."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from words_for_values(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from words_for_values(inner, at)
    elif value in WORDS_OF_VALUES and isinstance(value, str):
        yield f"{at}: {value!r}"


def checking(say_json: Callable[[Any], None]) -> Callable[[Any], None]:
    """`say_json`, which first sees whether the command that prints keeps what is promised of it."""

    def said(value: Any) -> None:
        vendored = find_spec("typer._click")  # typer has click in itself, or beside it
        click = import_module("typer._click.globals" if vendored else "click")
        plain, context = console.plain(value), click.get_current_context(silent=True)
        if context is not None and "properties" not in plain:  # a schema promises nothing here
            command = " ".join(context.command_path.split()[1:])
            own = (p for name, of in promises().items() if name.endswith(command) for p in of)
            assert not list(words_for_values(plain)), command
            assert any(each.kept(plain) for each in own), (command, plain)
        say_json(value)

    return said
