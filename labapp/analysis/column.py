"""A column of the analysis' tables: its name, type, unit and meaning; and those that most have."""

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
