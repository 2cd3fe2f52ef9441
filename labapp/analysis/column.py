"""A column of the analysis' tables: its name, type, unit and meaning; and those that most have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

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


WHO = (
    text("study", "id of the study"),
    text("participant", "label of the participant (a pseudonym)"),
    text("session", "label of the session"),
)
WHERE = (
    text("stage", "id of the plan's part"),
    whole("stage_number", "place of the stage among the stages (of the practice: 1)"),
)
TRIAL = (
    whole("trial", "number of the question in its stage, from 1"),
    whole("attempt", "attempt at the question, from 1"),
)
INCLUDED = yes("included", "the session counts, see the table participants")

STALLED = seconds(
    "stalled_s",
    "how long the computer stood still or slept while the question was open; other times of the "
    "question leave it out, unless the study keeps it (stalls)",
)


def range_unit(rows: pd.DataFrame) -> str:
    """The unit of a score with a least and a greatest value, as `1-7`; empty where its rows have no
    such, or several. rows: with the columns `low` and `high`."""
    ends = rows[["low", "high"]].dropna().drop_duplicates()
    if len(ends) != 1:
        return ""
    low, high = ends.iloc[0]
    return f"{low:g}-{high:g}" if low >= 0 else f"{low:g} to {high:g}"


def ends_of(unit: str) -> tuple[float, float] | None:
    """The least and the greatest value that a unit says; None for one that says none."""
    number = r"-?\d+(?:\.\d+)?"
    ends = re.fullmatch(rf"({number})(?:-| to )({number})", unit)
    if ends is not None:
        return float(ends[1]), float(ends[2])
    return (0.0, 100.0) if unit == "%" else None
