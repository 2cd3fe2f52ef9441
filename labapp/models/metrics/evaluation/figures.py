"""Heat maps of the matrices behind scores, codes downwards and factors across, as in Figure 2 of
paper 000 and Figures 3 and 4 of paper 002.

matplotlib is slow to load: nothing imports this module before a figure is due.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from labapp.base.figure_style import PALETTES, SECONDARY, STYLE, USUAL_PALETTE
from labapp.base.report import kit
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.registry import METRICS, OF_CONCEPTS

if TYPE_CHECKING:
    from labapp.models.metrics.evaluation.scores import MetricOutcome

SHADES = LinearSegmentedColormap.from_list(
    "shades", ["#FFFFFF", PALETTES[USUAL_PALETTE].accent, "#0B2A66"]
)
NOTHING = "#F0F2F4"
DPI = 144
CELL_IN = (0.52, 0.34)
"""Width and height of a cell with its number; smaller cells have none, and a bar of colours."""
SMALL_CELL_IN = 0.16
MOST_NUMBERS = 16
"""With more rows or columns, cells are too small for numbers."""
LONGEST = 14
"""Letters of a column's name; a longer one is cut."""
LETTER_IN = 0.095
"""Width of a letter of a panel's title."""
PANEL_IN = 2.4
ACROSS = 3
"""Panels side by side."""
BESIDE = ("share", "code_to_factor", "factor_to_code")
"""Parts that say again, in another way, what a metric's own matrix says: not in the overview."""
UNITS = {
    "mutual_information": "mutual information, nats",
    "predictability": "accuracy, or R² of measurements",
    "mean_difference": "mean difference, factor fixed",
    "r4": "geometric mean of R² both ways",
    "purity": "area under the ROC curve",
    "niching": "size of the correlation",
    "accuracy": "accuracy",
    "correlations": "size of the correlation",
}
"""What the numbers of a part are, if its name does not say it."""
WHITE = {"purity": 0.5}
"""The number at which a part is white, chance, if that is not 0."""


@dataclass(slots=True)
class Panel:
    """One matrix: `matrix`, float64 of shape (C, K); the metrics whose part it is; its name."""

    name: str
    matrix: Float64
    scores: list[Score] = field(default_factory=list)

    def title(self, letters: int) -> str:
        """The metrics with their scores, in lines of so many letters."""
        told = [f"{METRICS[score.metric].label}\u00a0{score.score:.2f}" for score in self.scores]
        return "\n".join(textwrap.wrap(", ".join(told), letters))


def panels(outcomes: Sequence[MetricOutcome], codes: int, factors: int) -> list[Panel]:
    """Every part of shape (codes, factors); one that several metrics share is one panel."""
    result: list[Panel] = []
    for score in (outcome.score for outcome in outcomes if outcome.score is not None):
        for name, part in score.parts.items():
            matrix = np.asarray(part, dtype=np.float64)
            if matrix.shape != (codes, factors) or name in OF_CONCEPTS:
                continue
            for panel in result:
                if panel.name == name and np.array_equal(panel.matrix, matrix, equal_nan=True):
                    panel.scores.append(score)
                    break
            else:
                result.append(Panel(name, matrix, [score]))
    return result


def draw(shown: Sequence[Panel], codes: Sequence[str], factors: Sequence[str]) -> Figure:
    """Panels in rows of `ACROSS`; codes and factors: the names of rows and columns."""
    numbers = max(len(codes), len(factors)) <= MOST_NUMBERS
    width, height = CELL_IN if numbers else (SMALL_CELL_IN, SMALL_CELL_IN)
    across = min(ACROSS, len(shown))
    longest = 0.09 * min(LONGEST, max(map(len, factors)))
    wide = max(PANEL_IN, width * len(factors) + 1.2 + (0 if numbers else 0.7))
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(
            len(shown), across, height * len(codes) + 0.8 + longest, width_in=across * wide
        )
        for ax, panel in zip(axes, shown, strict=True):
            _panel(figure, ax, panel, codes, factors, numbers=numbers, wide=wide)
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As SVG and PNG; never over anything (FileExistsError)."""
    paths = [folder / f"{name}.{ending}" for ending in ("svg", "png")]
    FigureCanvasAgg(figure)
    with mpl.rc_context(STYLE):
        for path in paths:
            kind = path.suffix.removeprefix(".")
            facts = {"Date": None} if kind == "svg" else {"Software": None}
            with path.open("xb") as file:
                figure.savefig(file, format=kind, dpi=DPI, metadata=facts)
    return paths


def _panel(
    figure: Figure,
    ax: Axes,
    panel: Panel,
    codes: Sequence[str],
    factors: Sequence[str],
    *,
    numbers: bool,
    wide: float,
) -> None:
    known = panel.matrix[np.isfinite(panel.matrix)]
    white = WHITE.get(panel.name, 0.0)
    low = float(known.min(initial=white))
    high = float(known.max(initial=white))
    if high == low:
        high = low + 1.0
    # Counts have no decimals.
    decimals = 0 if high > 1 and (known == np.rint(known)).all() else 2

    def format_value(value: float) -> str:
        return f"{round(value, 2) + 0.0:.{decimals}f}"

    number = format_value if numbers else None
    _name(ax, codes, factors)
    # The metric is bold; what the matrix holds stands under it.
    ax.set_title(f"{panel.title(int(wide / LETTER_IN))}\n", fontsize=9, linespacing=1.3)
    unit = ax.annotate(
        UNITS.get(panel.name, panel.name.replace("_", " ")),
        (0, 1),
        (0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8,
        color=SECONDARY,
    )
    # Its line is the title's empty one; over a narrow map it may reach over what is beside it.
    unit.set_in_layout(False)
    drawn = kit.heat_map(ax, panel.matrix, SHADES, (low, high), number)
    ax.set_facecolor(NOTHING)
    if not numbers:
        figure.colorbar(drawn, ax=ax, fraction=0.05, pad=0.02).ax.tick_params(labelsize=7)


def _name(ax: Axes, codes: Sequence[str], factors: Sequence[str]) -> None:
    small = 8 if max(len(codes), len(factors)) <= MOST_NUMBERS else 6
    across = [_cut(name) for name in factors]
    upright = max(map(len, across)) > 4
    ax.set_xticks(range(len(across)), across, rotation=90 if upright else 0, fontsize=small)
    ax.set_yticks(range(len(codes)), [_cut(name) for name in codes], fontsize=small)
    for spine in ax.spines.values():
        spine.set_visible(True)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
