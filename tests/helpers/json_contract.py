"""What docs/guide/json.md promises of the JSON of commands, and whether a value keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from labapp.base import console

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "json.md"
WORDS_OF_VALUES = {"yes", "no", "true", "false", "True", "False", "None", "nan", "NaN", "inf"}
"""Texts that stand for a value that JSON has itself."""
FIELD = re.compile(r"(\()?`(\w+)` ([^()]+?)(\))?")
SEEN: set[tuple[str, str]] = set()
"""Commands and objects with the fields that were printed since the tests began."""


class Field(NamedTuple):
    """A field of the page: its type, and whether it is there in some cases only."""

    type: str
    sometimes: bool


@dataclass(frozen=True)
class Promise:
    """A line of the page. fields: None for a card, which may have any."""

    listed: bool
    fields: dict[str, Field] | None
    owners: dict[str, str]

    def broken(self, value: Any, command: str) -> Iterator[str]:
        """In what a value is not as promised."""
        if isinstance(value, list) != self.listed:
            yield "a list or none"
            return
        for row in value if self.listed else [value]:
            yield from _rows_faults(row, self.fields, self.owners, "")
            if isinstance(row, dict):
                SEEN.update((self.owners.get(key) or command, key) for key in row)


def _fields(cell: str) -> tuple[dict[str, Field], dict[str, str]]:
    """The fields of a cell; and which of them an object of the second table brings."""
    fields: dict[str, Field] = {}
    owners: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        if name := re.fullmatch(r"\*([\w ]+)\*", part):
            fields |= objects()[name[1]]
            owners |= dict.fromkeys(objects()[name[1]], name[1])
            continue
        match = FIELD.fullmatch(part)
        assert match is not None, part
        fields[match[2]] = Field(match[3], match[1] is not None)
    return fields, owners


def _tables() -> tuple[list[list[str]], list[list[str]]]:
    fields, _, inside = PAGE.read_text("utf-8").partition("## Fields")[2].partition("## Objects")
    return _cells(fields), _cells(inside)


def _cells(text: str) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@cache
def objects() -> dict[str, dict[str, Field]]:
    """The second table: fields by the name of an object."""
    return {name: _fields(cell)[0] for name, cell in _tables()[1]}


@cache
def promises() -> dict[str, list[Promise]]:
    """By the name of a command."""
    result: dict[str, list[Promise]] = {}
    for command, prints, cell in _tables()[0]:
        name = re.match(r"`([\w -]+)`", command)
        assert name is not None, command
        assert prints in ("list", "object", "card"), command
        fields, owners = _fields(cell)
        promise = Promise(prints == "list", None if prints == "card" else fields, owners)
        result.setdefault(name[1], []).append(promise)
    return result


def promised() -> set[tuple[str, str]]:
    """Every field of the page with its command or object."""
    own = {
        (command, key)
        for command, lines in promises().items()
        for line in lines
        for key in line.fields or ()
        if key not in line.owners
    }
    return own | {(name, key) for name, fields in objects().items() for key in fields}


def _rows_faults(
    row: Any, fields: dict[str, Field] | None, owners: dict[str, str], at: str
) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"{at}: no object"
        return
    if fields is None:
        return
    yield from (f"{at}.{key}: not on the page" for key in row.keys() - fields.keys())
    for key, field in fields.items():
        if key in row:
            yield from _faults(row[key], field.type, f"{at}.{key}")
        elif not field.sometimes:
            yield f"{at}.{key}: missing"


def _faults(value: Any, kind: str, at: str) -> Iterator[str]:
    """In what a value is not of a type."""
    if kind.endswith(" or null") and value is None:
        return
    if inner := re.fullmatch(r"(list|map) of (.+)", kind):
        # `or null` belongs to what is in a list, unless the list itself is null.
        container = list if inner[1] == "list" else dict
        if not isinstance(value, container):
            yield f"{at}: {value!r} is no {inner[1]}"
            return
        for each in value.values() if isinstance(value, dict) else value:
            yield from _faults(each, inner[2], f"{at}[]")
        return
    kind = kind.removesuffix(" or null")
    if name := re.fullmatch(r"\*([\w ]+)\*", kind):
        yield from _rows_faults(value, objects()[name[1]], {}, at)
        if isinstance(value, dict):
            SEEN.update((name[1], key) for key in value)
        return
    types: dict[str, tuple[type, ...]] = {
        "text": (str,), "boolean": (bool,), "object": (dict,),
        "integer": (int,), "number": (int, float),
    }  # fmt: skip
    if not isinstance(value, types[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{at}: {value!r} is no {kind}"


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


def faults(command: str, value: Any) -> list[str]:
    """In what a printed value differs from the page: from the line that it comes nearest to."""
    lines = [line for name, of in promises().items() if name.endswith(command) for line in of]
    assert lines, command
    return min(([*line.broken(value, command)] for line in lines), key=len)


def checking(say_json: Callable[[Any], None]) -> Callable[[Any], None]:
    """`say_json`, which first sees whether the command that prints keeps what is promised of it."""

    def said(value: Any) -> None:
        vendored = find_spec("typer._click")  # typer has click in itself, or beside it
        click = import_module("typer._click.globals" if vendored else "click")
        plain, context = console.plain(value), click.get_current_context(silent=True)
        if context is not None and "properties" not in plain:  # a schema promises nothing here
            command = " ".join(context.command_path.split()[1:])
            assert not list(words_for_values(plain)), command
            assert not (broken := faults(command, plain)), (command, broken)
        say_json(value)

    return said
