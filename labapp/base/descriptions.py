"""What the keys of a document say, from the models that read it: for JSON Schemas, which editors
show beside a file, and for the reference pages.

A key is described by its `Field(description=…)`, else by the `Attributes` of the docstring of its
model or of one that this derives from.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

_HEADING = re.compile(r"(?m)^Attributes\n-{3,}\n")
_ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.*)")


@cache
def summary(model: type) -> str:
    """The description of a model or another class, without its keys."""
    return _HEADING.split(inspect.cleandoc(model.__dict__.get("__doc__") or ""))[0].strip()


@cache
def attributes(described: type) -> Mapping[str, str]:
    """What a class and those that it derives from say of their attributes."""
    listed: dict[str, str] = {}
    for base in reversed(described.__mro__):
        listed |= dict(_read_attributes(base.__dict__.get("__doc__") or ""))
    return {name: _sentence(words) for name, words in listed.items()}


def keys(model: type[BaseModel]) -> dict[str, str]:
    """What each key of a model says, by the name it has in a file; "" for one without a word."""
    listed = attributes(model)
    return {
        field.alias or name: _sentence(field.description or listed.get(name, ""))
        for name, field in model.model_fields.items()
    }


def describe(model: type[BaseModel], schema: dict[str, Any]) -> None:
    """Put the descriptions of a model and of its keys into its JSON Schema."""
    if "properties" not in schema:
        return
    if text := summary(model):
        schema["description"] = text
    for key, description in keys(model).items():
        if description and key in schema["properties"]:
            schema["properties"][key]["description"] = description


def _read_attributes(docstring: str) -> Iterator[tuple[str, str]]:
    """The entries of a docstring's list of attributes; an indented line continues the entry
    above."""
    parts = _HEADING.split(inspect.cleandoc(docstring), maxsplit=1)
    names: list[str] = []
    words: list[str] = []
    for line in parts[1].splitlines() if len(parts) > 1 else []:
        if line.startswith(" "):
            words.append(line.strip())
            continue
        yield from ((name, " ".join(words)) for name in names)
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            return
        names, words = entry[1].split(", "), [entry[2]]
    yield from ((name, " ".join(words)) for name in names)


def _sentence(text: str) -> str:
    """With a capital, if it begins with a word."""
    return text[:1].upper() + text[1:]
