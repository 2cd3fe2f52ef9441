"""A column of the analysis' tables: its name, type, unit, meaning and where its cells come from.

Here, too, are the columns that most tables have.

Columns need no privacy marks: tables of a de-identified copy are made from its events, which no
longer contain what was withheld.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import cleandoc, isfunction
from itertools import chain
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "integer", "number", "boolean", "numbers"]
"""numbers: one number per dimension, in the order of the dials."""


Getter = Callable[[Any], Any]
"""Gives a cell, from what its row is about."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    get : its cell, from what the row is about, or the path to it from there, such as `part.model`;
        None if the cell comes from elsewhere.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    get: Getter | str | None = None


def text(name: str, meaning: str, get: Getter | str | None = None) -> Column:
    return Column(name, "text", meaning, "", get)


def whole(name: str, meaning: str, unit: str = "", get: Getter | str | None = None) -> Column:
    return Column(name, "integer", meaning, unit, get)


def number(name: str, meaning: str, unit: str = "", get: Getter | str | None = None) -> Column:
    return Column(name, "number", meaning, unit, get)


def seconds(name: str, meaning: str, get: Getter | str | None = None) -> Column:
    return Column(name, "number", meaning, "s", get)


class Moment(str):
    """The path to a working time in ns, whose cell is the seconds from the attempt's appearance."""

    __slots__ = ()


def since_start(name: str, meaning: str) -> Column:
    """Seconds from the appearance of an attempt until the working time of that name in ns."""
    return seconds(name, meaning, Moment(name.removesuffix("_s") + "_ns"))


def yes(name: str, meaning: str, get: Getter | str | None = None) -> Column:
    return Column(name, "boolean", meaning, "", get)


def each(name: str, meaning: str, unit: str = "", get: Getter | str | None = None) -> Column:
    return Column(name, "numbers", meaning, unit, get)


_KINDS: dict[str, Callable[..., Column]] = {
    "text": text,
    "whole": whole,
    "number": number,
    "seconds": seconds,
    "yes": yes,
    "each": each,
}
_LINE = re.compile(r"(?P<kind>\w+) (?P<name>\w+)(?: \[(?P<unit>.+?)\])?: (?P<meaning>.+)")


def columns_in(described: str) -> Iterator[Column]:
    """Columns described by lines such as `number speed [m/s]: how fast it was`.

    A line begins with what makes the column: text, whole, number, seconds, yes or each. A longer
    meaning continues in indented lines. Raises TypeError for a line that describes no column.
    """
    for line in re.sub(r"\n\s+", " ", cleandoc(described)).splitlines():
        if (match := _LINE.fullmatch(line)) is None or match["kind"] not in _KINDS:
            raise TypeError(f"this describes no column: {line}")
        unit = [match["unit"]] if match["unit"] else []
        yield _KINDS[match["kind"]](match["name"], match["meaning"], *unit)


def of(
    subject: type, /, *columns: Column, via: tuple[str, ...] = (), **getters: Getter | str
) -> tuple[Column, ...]:
    """Give each column its getter, for rows about a class. A column without one uses the attribute
    of its name, of the class or of the first path in `via` that has it.

    Parameters
    ----------
    via : paths from the subject to things with attributes of that name. Where there is nothing on
        the way, the cell is empty.
    getters : by name of a column, its getter, as `Column.get`.

    Raises
    ------
    TypeError : a column has no such attribute, or a getter has no column.
    """
    if strange := sorted(getters.keys() - {column.name for column in columns}):
        raise TypeError(f"there is a getter for {strange[0]!r}, and no such column")
    # By path the names that all classes declare, or set as an object of theirs is made.
    steps = {
        path: set[str].intersection(*map(_names, _follow(subject, path))) for path in ("", *via)
    }

    def bound(column: Column) -> Column:
        path = getters.get(column.name, column.get or column.name)
        if callable(path):
            return replace(column, get=path)
        for step, names in steps.items():
            if path.partition(".")[0] in names:
                get = along(f"{step}.{path}" if step else path)
                return replace(column, get=_seconds_to(get) if isinstance(path, Moment) else get)
        if path == column.name and path in FILLED:
            return column
        raise TypeError(f"{subject.__name__} has no {path!r} for the column {column.name!r}")

    return tuple(map(bound, columns))


def along(path: str) -> Getter:
    """A getter that follows a path of attributes; None if one on the way is None."""
    if "." not in path:
        return attrgetter(path)
    names = path.split(".")

    def get(row: Any) -> Any:
        for name in names:
            if row is None:
                return None
            row = getattr(row, name)
        return row

    return get


def _seconds_to(moment: Getter) -> Getter:
    return lambda row: row.since_start(moment(row))


def _follow(subject: type, path: str) -> tuple[type, ...]:
    """The classes of what a path leads to from something of a class."""
    classes: tuple[type, ...] = (subject,)
    for name in filter(None, path.split(".")):
        classes = tuple(chain.from_iterable(_classes(known, name) for known in classes))
    return classes


def _classes(subject: type, name: str) -> tuple[type, ...]:
    known = getattr(subject, name, None)
    hint = get_type_hints(known.fget)["return"] if isinstance(known, property) else None
    hint = hint or get_type_hints(subject)[name]
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(kind for kind in kinds if kind is not NoneType)


def _names(known: type) -> set[str]:
    made = (base.__dict__["__init__"] for base in known.__mro__ if "__init__" in base.__dict__)
    steps = chain.from_iterable(map(dis.get_instructions, filter(isfunction, made)))
    set_by_init = {step.argval for step in steps if step.opname == "STORE_ATTR"}
    return {*dir(known), *set_by_init}.union(*map(inspect.get_annotations, known.__mro__))


def through(path: str, *columns: Column) -> tuple[Column, ...]:
    """Columns about something, for rows that have it; path: to it, such as `question`."""
    step = attrgetter(path)

    def by_way_of(get: Getter) -> Getter:
        return lambda row: get(step(row))

    return tuple(
        replace(column, get=by_way_of(column.get)) if callable(column.get) else column
        for column in columns
    )


def cells(columns: Iterable[Column], subject: Any) -> dict[str, Any]:
    """The values of a row, except for columns filled elsewhere."""
    row = {}
    for column in columns:
        get = column.get
        if callable(get) and get is not elsewhere:
            cell = get(subject)
            row[column.name] = list(cell) if isinstance(cell, tuple) else cell
    return row


WHO = (
    text("study", "id of the study"),
    text("participant", "label of the participant (a pseudonym)"),
    text("session", "label of the session"),
)
WHERE = (
    text("stage", "id of the plan's part", lambda row: row.part.id),
    whole(
        "stage_number",
        "place of the stage among the stages (of the practice: 1)",
        get=lambda row: row.part.number,
    ),
)
TRIAL = (
    whole("trial", "number of the question in its stage, from 1"),
    whole("attempt", "attempt at the question, from 1"),
)
INCLUDED = yes("included", "the session counts, see the table participants")
STALLED = seconds(
    "stalled_s",
    "how long the computer froze or slept while the question was open; other times of the "
    "question leave it out, unless the study keeps it (stalls)",
)


def elsewhere(row: Any) -> None:
    """The getter of a column whose cells come from elsewhere, such as from tasks."""


FILLED = frozenset({*(column.name for column in WHO), INCLUDED.name, STALLED.name, "keyboard_away"})
"""The columns that are filled in for the rows of every table."""


def range_unit(rows: pd.DataFrame) -> str:
    """The unit of a score with a least and a greatest value, as `1-7`; empty if its rows have no
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
