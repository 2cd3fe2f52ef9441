"""A traversal sheet as a PNG file, in the style of the report's figures.

matplotlib is slow to load: nothing imports this module before a sheet is to be drawn.
"""

from __future__ import annotations

import io
import math
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.base.figure_style import ACCENT, HAIRLINE, INK, SECONDARY, STYLE
from labapp.models.representations.sheets import (
    Cell,
    SheetLayout,
    SheetSizes,
    TraversalSheet,
    lay_out,
    limits,
)
from labapp.models.representations.space import Chart

DPI = 144
PX = 72 / DPI
"""Points in a pixel: sizes of texts and lines on a sheet are given in pixels."""
MARGIN, HEAD, LINE = 32, 96, 22
TITLE_PX, BODY_PX, SMALL_PX = 24, 18, 16
LABEL, LABEL_GAP = 152, 16
LEAST_SIDE = 56
"""Pictures are magnified by a whole number to about so many pixels."""
CHART = (84, 64)
AXIS = "#8B949E"
FRAME = 0xDC
"""The hairline round a picture, which may be white itself."""


def draw(sheet: TraversalSheet) -> bytes:
    """The sheet as a PNG file; the same bytes for the same sheet on the same installation."""
    stream = io.BytesIO()
    figure_of(sheet).savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def figure_of(sheet: TraversalSheet) -> Figure:
    """The sheet as a figure. One coordinate of its axes is one pixel, y downwards."""
    measures, layout = sheet_layout(sheet)
    width = round(layout.width) + 2 * MARGIN
    height = round(layout.height) + HEAD + 2 * MARGIN
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_axis_off()
        _write_head(ax, sheet, layout.states, width)
        _write_labels(ax, layout, measures.cell_height)
        if sheet.display == "series":
            for cell in layout.cells:
                _draw_chart(ax, cell, sheet.chart)
        else:
            pixels = np.full((height, width, 3), 255, np.uint8)
            for cell in layout.cells:
                _put_picture(pixels, cell)
            # As large as the figure, in its own colours: neither resampled nor mapped.
            ax.imshow(pixels, extent=(0, width, height, 0), zorder=0)
        ax.set_xlim(0, width)
        ax.set_ylim(height, 0)
    return figure


def write(sheet: TraversalSheet, path: Path) -> Path:
    """Draw a sheet into a new file. Raises ModelError: the name does not end in .png, there is
    another file of this name (the same sheet is left as it is), or the disk refuses."""
    if path.suffix.lower() != ".png":
        raise ModelError(
            f"A sheet is a PNG file, but the name {path} does not end in .png.",
            todo="Use --out to give a file name that ends in .png.",
        )
    content = draw(sheet)
    try:
        if path.exists():
            if path.is_file() and path.read_bytes() == content:
                return path
            raise ModelError(
                f"{path} already exists and is not this sheet.",
                safe="It was not touched.",
                todo="Move it away, or use --out to choose another file.",
            )
        with path.open("xb") as stream:
            stream.write(content)
    except OSError as error:
        raise ModelError(
            f"The sheet {path} could not be written: {error.strerror}.",
            safe="Nothing is wrong with the model, and nothing else was written.",
            todo="Use --out to choose a file in a folder to which you may write.",
        ) from error
    return path


def sheet_layout(sheet: TraversalSheet) -> tuple[SheetSizes, SheetLayout]:
    """The sizes of a sheet's parts and their layout, below MARGIN and HEAD."""
    if sheet.display == "series":
        width, height = CHART
    else:
        rows, columns = sheet.rows[0].instances.shape[2:4]
        times = _magnification(columns)
        width, height = columns * times, rows * times
    measures = SheetSizes(
        label=LABEL, cell_width=width, cell_height=height, marks=28, gap=4, group=28, row=14
    )
    return measures, lay_out(sheet, measures)


def _magnification(pixels: int) -> int:
    return max(1, -(-LEAST_SIDE // pixels))


def _write_head(ax: Axes, sheet: TraversalSheet, states: int, width: int) -> None:
    room = width - 2 * MARGIN
    _write(ax, MARGIN, MARGIN, sheet.model, TITLE_PX, weight="bold", room=room)
    _write(ax, MARGIN, MARGIN + 32, sheet.title, BODY_PX, room=room)
    _write(ax, MARGIN, MARGIN + 58, sheet.about(states), SMALL_PX, color=SECONDARY, room=room)


def _write_labels(ax: Axes, layout: SheetLayout, cell_height: float) -> None:
    for mark in layout.marks:
        x, y = MARGIN + mark.x, MARGIN + HEAD + mark.y
        _write(ax, x, y, mark.text, SMALL_PX, color=SECONDARY, align="center")
    room = LABEL - LABEL_GAP
    for y, row in layout.labels:
        top = MARGIN + HEAD + y + (cell_height - 2 * LINE) / 2
        _write(ax, MARGIN, top, row.dimension.name, BODY_PX, weight="bold", room=room)
        labels = limits(row.dimension)
        _write(ax, MARGIN, top + LINE, labels, SMALL_PX, color=SECONDARY, room=room)


def _write(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    px: int,
    *,
    color: str = INK,
    weight: str = "normal",
    align: str = "left",
    room: float = math.inf,
) -> None:
    """Write a line; what is wider than `room` is cut and ends in an ellipsis."""
    written = ax.text(x, y, text, fontsize=px * PX, color=color, fontweight=weight, ha=align)
    written.set_verticalalignment("top")
    written.set_parse_math(False)
    while (width := written.get_window_extent().width) > room:
        text = text[: min(len(text) - 1, int(len(text) * room / width))].rstrip()
        written.set_text(f"{text}…")


def _put_picture(pixels: NDArray[np.uint8], cell: Cell) -> None:
    picture = np.clip(np.rint(cell.instance * 255), 0, 255).astype(np.uint8)
    times = _magnification(picture.shape[1])
    picture = picture.repeat(times, axis=0).repeat(times, axis=1)
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    picture = np.pad(picture, ((1, 1), (1, 1), (0, 0)), constant_values=FRAME)
    top, left = round(cell.y) + MARGIN + HEAD - 1, round(cell.x) + MARGIN - 1
    pixels[top : top + picture.shape[0], left : left + picture.shape[1]] = picture


def _draw_chart(ax: Axes, cell: Cell, chart: Chart) -> None:
    width, height = CHART
    left, top = cell.x + MARGIN, cell.y + MARGIN + HEAD
    frame = Rectangle((left, top), width, height, fill=False, edgecolor=HAIRLINE, linewidth=PX)
    ax.add_patch(frame)
    middle = top + height / 2
    if chart.zero is not None:
        at = middle - chart.zero * height / 2
        ax.plot([left, left + width], [at, at], color=AXIS, linewidth=PX, linestyle=(0, (4, 3)))
    x = np.linspace(left, left + width, cell.instance.size)
    y = middle - chart.above_middle(cell.instance, height / 2)
    (line,) = ax.plot(x, y, color=ACCENT, linewidth=2 * PX)
    line.set_clip_path(frame)  # what is beyond the chart is cut off, as on the screen
