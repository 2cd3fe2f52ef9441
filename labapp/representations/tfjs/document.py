"""The JSON files of a published package: parsed without trust, refused with what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from labapp.errors import ModelError
from labapp.training import files

LARGEST = 32 * 1024 * 1024
"""Bytes of a JSON file. The largest published one has a tenth of a megabyte."""

SHOWN = 4
"""Problems that are spelt out; the rest are counted."""

Value = TypeVar("Value")


def refuse(what: str, todo: str = "Take a fresh copy of the published package.") -> ModelError:
    """The error for a package that is not imported."""
    return ModelError(what, safe="Nothing was written.", todo=todo)


def listed(problems: list[str]) -> str:
    """The first problems, and how many more there are."""
    more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return "; ".join(problems[:SHOWN]) + more


def read(path: Path) -> bytes:
    """The bytes of a JSON file. Raises ModelError: missing, too large, a link out of its folder."""
    content = files.read_bytes(path)
    if len(content) > LARGEST:
        raise refuse(f"{path} has {len(content)} bytes; at most {LARGEST} are read.")
    return content


def parse(path: Path, content: bytes, adapter: TypeAdapter[Value]) -> Value:
    """What `content` holds; `path` names it in messages. Raises ModelError."""
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        problems = [
            f"{_dotted(detail['loc'])}{detail['msg'][0].lower()}{detail['msg'][1:]}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        raise refuse(f"{path} is not as TensorFlow.js packages are: {listed(problems)}.") from error


def _dotted(location: tuple[int | str, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"{text.removeprefix('.')}: " if text else ""
