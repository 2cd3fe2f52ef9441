"""Traversal sheets: what each dial of a model does, at a few states of the others. Their numbers
and layout, without any drawing: `labapp models show` draws them as a PNG file (sheet_figure.py) and
the moderator's study view as widgets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labapp.models.datasets.split import Float32
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.space import (
    PUBLISHED_CHART,
    Chart,
    Continuous,
    Dimension,
    Display,
)

STATES = 3
"""States of the sample that a dial is turned at."""
STEPS = 7
"""Linear steps of a continuous dial from Low to High (paper 000, 4.5)."""
MOST_PIXELS = 128
"""Larger pictures are made smaller for a sheet, by a whole number."""
SEED = 0
"""Which states are drawn; fixed, so that a model has one sheet."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """One row of a sheet: a dial turned from end to end, at one state after another. `values`: what
    the dial is set to, column by column; indices of a discrete one. `instances`: float32, shape
    (states, len(values), *shape of an instance); pictures of more than `MOST_PIXELS` a side are
    made smaller."""

    dimension: Dimension
    values: tuple[float, ...]
    instances: Float32


@dataclass(frozen=True, slots=True)
class TraversalSheet:
    """All dials of a model. sampling: where its states come from, as on the card."""

    model: str
    title: str
    display: Display
    sampling: str
    rows: tuple[Traversal, ...]
    chart: Chart = PUBLISHED_CHART

    def about(self, states: int) -> str:
        """What a drawing shows that has room for so many states, as one sentence."""
        drawn = "the prior" if self.sampling == "prior" else "the held-out sample"
        words = {1: "one state", 2: "two states", 3: "three states"}
        at = words.get(states, f"{states} states")
        return (
            f"Each row moves one slider and leaves the others unchanged, at {at} drawn from "
            f"{drawn}."
        ) + (f" {self.axis()}" if self.display == "series" else "")

    def axis(self) -> str:
        """The limits of its charts, as a sentence."""
        low, high = (brief(value) for value in self.chart)
        return f"Charts: y from {low} to {high}."


def traversals(decoder: LoadedDecoder, states: int = STATES, steps: int = STEPS) -> TraversalSheet:
    """The sheet of a model, the same at each call.

    A continuous dial goes in linear steps from the middle of its 1st to 5th percentiles (Low) to
    that of its 95th to 99th (High), each value on the dial's own step; a discrete one through its
    values, at fewer states where more would make the row longer, and through values evenly spaced
    if there are more than a row holds.

    Parameters
    ----------
    states : how many states of `decoder.latents` to turn the dials at; the same for every dial.
    steps : columns of a continuous dial, 2 or more.
    """
    columns = states * steps
    drawn = np.random.default_rng(SEED).permutation(len(decoder.latents))[:states]
    base = [decoder.space.snap([float(v) for v in decoder.latents[row]]) for row in drawn]
    rows = []
    for index, dimension in enumerate(decoder.space.dimensions):
        if isinstance(dimension, Continuous):
            values = _linear(decoder, index, dimension, steps)
        else:
            number = min(dimension.k, columns)
            values = tuple(map(float, np.linspace(0, dimension.k - 1, number).round().astype(int)))
        fitting = base[: max(1, columns // len(values))]
        rows.append(Traversal(dimension, values, _decode_turned(decoder, fitting, index, values)))
    return TraversalSheet(
        model=decoder.id,
        title=decoder.card.title,
        display=decoder.card.display,
        sampling=decoder.card.sampling,
        chart=decoder.card.chart or PUBLISHED_CHART,
        rows=tuple(rows),
    )


def _linear(
    decoder: LoadedDecoder, index: int, dimension: Continuous, steps: int
) -> tuple[float, ...]:
    at = {name: float(values[index]) for name, values in decoder.percentiles.items()}
    low, high = (at[1] + at[5]) / 2, (at[95] + at[99]) / 2
    return tuple(dimension.snap(float(value)) for value in np.linspace(low, high, steps))


def _decode_turned(
    decoder: LoadedDecoder, base: list[tuple[float, ...]], index: int, values: tuple[float, ...]
) -> Float32:
    """Instances with dial `index` at each value, decoded as one batch."""
    z = np.stack(
        [
            decoder.space.encode((*state[:index], value, *state[index + 1 :]))
            for state in base
            for value in values
        ]
    )
    x = decoder.decode(z)
    if x.ndim > 2:
        x = _smaller(x)
    return x.reshape(len(base), len(values), *x.shape[1:])


def _smaller(x: Float32) -> Float32:
    """Pictures (n, rows, columns, ...) of at most `MOST_PIXELS` a side: means of square blocks. A
    rest that fills no block is left out."""
    times = -(-max(x.shape[1:3]) // MOST_PIXELS)
    if times == 1:
        return x
    rows, columns = (side // times for side in x.shape[1:3])
    blocks = x[:, : rows * times, : columns * times].reshape(
        len(x), rows, times, columns, times, *x.shape[3:]
    )
    return np.asarray(blocks.mean(axis=(2, 4), dtype=np.float32))


def limits(dimension: Dimension) -> str:
    """What a dial can be set to, in few characters."""
    if isinstance(dimension, Continuous):
        return f"{brief(dimension.low)} … {brief(dimension.high)}"
    return f"{dimension.k} values"


def brief(value: float) -> str:
    """A limit in few characters."""
    return (f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}").replace("-", "−")


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
    """Where everything on a sheet is. `states` fit; `labels` are at the top edge of each row."""

    states: int
    width: float
    height: float
    marks: tuple[ColumnLabel, ...]
    labels: tuple[tuple[float, Traversal], ...]
    cells: tuple[Cell, ...]


def lay_out(sheet: TraversalSheet, measures: SheetSizes, room: float = math.inf) -> SheetLayout:
    """Rows below each other, states side by side; marks above the first row of a kind. `room`:
    width that is not exceeded if that can be: states that do not fit are left out, except the
    first."""
    m = measures
    marks: list[ColumnLabel] = []
    labels: list[tuple[float, Traversal]] = []
    cells: list[Cell] = []
    y, marked, right, most = 0.0, "", m.label, 1
    for row in sheet.rows:
        kind = "continuous" if isinstance(row.dimension, Continuous) else f"{row.values}"
        there = len(row.instances)
        states = max(n for n in range(1, there + 1) if n == 1 or _right(row, m, n) <= room)
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
