"""Figure A.1 of paper 001: how wide the helpers of OIS and NIS must be, and how long OIS's are
trained."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction.figure import (
    CONCEPTS,
    TASK,
    Measure,
    Reproduction,
    Row,
    spread_table,
)
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import Claim, below, over_seeds
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.models.concepts.recipe import SizeName

ROWS = (
    Row("Joint-CBM", Asked.of("dSprites(0)", "cbm")),
    Row("Joint-CBM-Logits", Asked.of("dSprites(0)", "cbm-logits")),
)
WIDTHS = (2, 4, 8, 16, 32, 64, 128)
EPOCHS = (25, 100, 400)
SETTLED = {"ois": 32, "nis": 16}
"""The width from which the paper finds scores near constant."""
NEAR = 0.05
"""How far scores that are near constant may lie apart."""
SAYS = (
    "OIS and NIS of a CBM and a CBM-Logits of dSprites(0), with helpers of 2 to 128 hidden units. "
    "Scores are close to constant from 32 units (OIS) and 16 (NIS) on. A picture without numbers "
    "to be had."
)
REMARK = (
    "Of all 4,608 test rows, models with the predictor of the paper and the released reading of "
    "the data. Ours besides: OIS with helpers that are trained for longer than 25 epochs, which "
    "shows how far a score is still on its way."
)


def width(metric: str, units: int) -> Measure:
    return Measure(
        f"{metric.upper()}, {units} hidden units", ("widths", metric, WIDTHS.index(units))
    )


def epochs(count: int) -> Measure:
    return Measure(f"OIS, {count} epochs", ("widths", "epochs", EPOCHS.index(count)))


def ranges(results: Results, row: Row, metric: str) -> list[float]:
    """Of each seed, how far the scores of the widths from the settled one on lie apart."""
    every = results.arrays(row.asked, "widths", metric)
    if not len(every):
        return []
    return list(np.ptp(every[:, WIDTHS.index(SETTLED[metric]) :], axis=1))


def claims(results: Results) -> list[Claim]:
    return [
        Claim(
            f"{metric.upper()} is close to constant from {units} hidden units on.",
            f"its scores from there on lie less than {NEAR} apart",
            tuple(below(row.name, over_seeds(ranges(results, row, metric)), NEAR) for row in ROWS),
        )
        for metric, units in SETTLED.items()
    ]


def body(results: Results) -> Sequence[str]:
    measures = [width(metric, units) for metric in SETTLED for units in WIDTHS]
    measures += [epochs(count) for count in EPOCHS]
    return [REMARK, spread_table(results, ROWS, (TASK, CONCEPTS, *measures))]


def draw(results: Results) -> dict[str, Figure]:
    shown = [row for row in ROWS if len(results.arrays(row.asked, "widths", "ois"))]
    if not shown:
        return {}
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(2, 2, 2.6, width_in=8.0)
        figure.set_label("OIS and NIS by the width of their helpers")
        for ax, metric in zip(axes, SETTLED, strict=True):
            for row, (line, mark), colour in zip(shown, kit.LINES, ("C0", "C1"), strict=False):
                every = results.arrays(row.asked, "widths", metric)
                ax.plot(
                    WIDTHS, every.mean(axis=0), line, marker=mark, color=colour, markersize=4,
                    label=row.name,
                )  # fmt: skip
                kit.vertical_interval(
                    ax, WIDTHS, every.min(axis=0), every.max(axis=0), colour=colour
                )
            ax.set_xscale("log", base=2)
            ax.set_xticks(WIDTHS, [str(units) for units in WIDTHS])
            ax.set_ylim(0, None)
            ax.set_title(metric.upper())
            ax.set_xlabel("hidden units of the helpers")
            kit.grid(ax)
        axes[0].legend(frameon=False)
    return {"figure-a1": figure}


def asked(size: SizeName) -> list[Asked]:
    return [row.asked for row in ROWS]


REPRODUCTION = Reproduction(
    "figure-a1",
    "Figure A.1: width of the helpers",
    SAYS,
    asked,
    body,
    claims,
    draw,
    frozenset({"widths"}),
)
