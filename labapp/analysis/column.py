"""A column of the analysis' tables: its name, type, unit and meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "integer", "number", "boolean", "numbers"]
"""numbers: one number a dimension, in the order of the dials."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    unit: str = ""


def text(name: str, meaning: str) -> Column:
    return Column(name, "text", meaning)


def whole(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "integer", meaning, unit)


def number(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "number", meaning, unit)


def seconds(name: str, meaning: str) -> Column:
    return Column(name, "number", meaning, "s")


def yes(name: str, meaning: str) -> Column:
    return Column(name, "boolean", meaning)


def each(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "numbers", meaning, unit)
