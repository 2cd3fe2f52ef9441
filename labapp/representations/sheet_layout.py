"""The layout of a traversal sheet, in a file and on the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labapp.representations.sheets import Float32, Traversal, TraversalSheet
from labapp.representations.space import Continuous


@dataclass(frozen=True, slots=True)
class SheetSizes:
    """Sizes in pixels.

    Attributes
    ----------
    label : width of the column of the dials' names.
    cell_width, cell_height : of an instance.
    marks : height of the labels above the columns.
    gap, group, row : space between cells, between states, and between rows.
    """

    label: float
    cell_width: float
    cell_height: float
    marks: float
    gap: float
    group: float
    row: float


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """A label above a column: x of its middle, y of its top."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """An instance, with its left and top edge."""

    x: float
    y: float
    instance: Float32


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """Where everything on a sheet is.

    states : number of states that fit. labels : top edge of each row.
    """

    states: int
    width: float
    height: float
    marks: tuple[ColumnLabel, ...]
    labels: tuple[tuple[float, Traversal], ...]
    cells: tuple[Cell, ...]


def lay_out(sheet: TraversalSheet, measures: SheetSizes, room: float = math.inf) -> SheetLayout:
    """Rows below each other, states side by side; marks above the first row of a kind.

    room : width that is not exceeded where that can be: states that do not fit are left out, but
        for the first.
    """
    m = measures
    marks: list[ColumnLabel] = []
    labels: list[tuple[float, Traversal]] = []
    cells: list[Cell] = []
    y, marked, right, most = 0.0, "", m.label, 1
    for row in sheet.rows:
        kind = _kind(row)
        states = _states(row, m, room)
        most = max(most, states)
        if kind != marked:
            y += m.row if marked else 0.0
            for state in range(states):
                marks += [
                    ColumnLabel(_x(row, m, state, column) + m.cell_width / 2, y, text)
                    for column, text in _marks(row).items()
                ]
            y += m.marks
            marked = kind
        labels.append((y, row))
        for state, instances in enumerate(row.instances[:states]):
            for column, instance in enumerate(instances):
                cells.append(Cell(_x(row, m, state, column), y, instance))
        right = max(right, _right(row, m, states))
        y += m.cell_height + m.row
    return SheetLayout(most, right, y - m.row, tuple(marks), tuple(labels), tuple(cells))


def _kind(row: Traversal) -> str:
    """Rows of one kind share their marks."""
    return "continuous" if isinstance(row.dimension, Continuous) else f"{row.values}"


def _states(row: Traversal, m: SheetSizes, room: float) -> int:
    """How many states of a row fit, at least one."""
    there = len(row.instances)
    return max(n for n in range(1, there + 1) if n == 1 or _right(row, m, n) <= room)


def _right(row: Traversal, m: SheetSizes, states: int) -> float:
    return _x(row, m, states - 1, len(row.values) - 1) + m.cell_width


def _marks(row: Traversal) -> dict[int, str]:
    """What stands above the columns, by column; the values of a discrete dial count from 1."""
    last = len(row.values) - 1
    if not isinstance(row.dimension, Continuous):
        return {column: f"{value + 1:.0f}" for column, value in enumerate(row.values)}
    return {0: "Low", last: "High"} | ({last // 2: "Medium"} if last % 2 == 0 else {})


def _x(row: Traversal, m: SheetSizes, state: int, column: int) -> float:
    own = len(row.values)
    group = own * (m.cell_width + m.gap) - m.gap + m.group
    return m.label + state * group + column * (m.cell_width + m.gap)
