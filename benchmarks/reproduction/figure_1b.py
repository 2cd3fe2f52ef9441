"""Figure 1(b) and A.2 of paper 001: two bottlenecks of equal accuracy whose codes correlate
differently."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction.figure import (
    BOTTLENECK_PURITY,
    CONCEPTS,
    TASK,
    VIEW,
    Measure,
    Published,
    Reproduction,
    Row,
    spread_table,
)
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import Claim, above, difference, over_seeds, within
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.models.concepts.recipe import SizeName
from labapp.models.metrics.evaluation.figures import SHADES

LAYERS = {"encoder": (64, 64), "predictor": (32, 16)}
CBM = Row("CBM", Asked.of("TabularToy(0)", "cbm", **LAYERS))
LOGITS = Row("CBM-Logits", Asked.of("TabularToy(0)", "cbm-logits", **LAYERS))
ROWS = (CBM, LOGITS)
PAIRS = tuple(combinations(range(3), 2))
CORRELATIONS = {
    pair: Measure(
        f"\\|r\\| of codes {pair[0] + 1} and {pair[1] + 1}",
        ("scores", VIEW, "correlations", pair[0], pair[1]),
    )
    for pair in PAIRS
}
PUBLISHED: Published = {
    (row.name, CORRELATIONS[pair].name): printed
    for row, every in ((CBM, ("0.04", "0.02", "0.02")), (LOGITS, ("0.18", "0.38", "0.26")))
    for pair, printed in zip(PAIRS, every, strict=True)
}
SAYS = (
    "Two bottlenecks trained alike on TabularToy(0), whose three concepts are independent: "
    "encoder {64, 64}, predictor {32, 16}, one with probabilities in its bottleneck, one with "
    "logits. They have almost the same accuracies, the task's almost perfect, and the codes of "
    "CBM-Logits correlate with each other. One model of each."
)

REMARK = (
    "By seed, because the paper shows one model of each. The concepts' loss weighs 0.1: a seed in "
    "which the task is learnt through codes that each tell of several concepts stays there, with "
    "its task as accurate as any."
)


def mean_correlations(results: Results, row: Row) -> list[float]:
    """Of each seed, the mean |r| of two different codes."""
    every = zip(*(CORRELATIONS[pair].values(results, row) for pair in PAIRS), strict=True)
    return [float(np.mean(numbers)) for numbers in every]


def claims(results: Results) -> list[Claim]:
    cbm, logits = (mean_correlations(results, row) for row in ROWS)
    apart = [
        within(name, difference(*(measure.values(results, row) for row in ROWS)), 0.015)
        for name, measure in (("task", TASK), ("concepts", CONCEPTS))
    ]
    perfect = [above(row.name, over_seeds(TASK.values(results, row)), 0.95) for row in ROWS]
    return [
        Claim(
            "The codes of CBM-Logits correlate with each other, those of CBM hardly.",
            "mean \\|r\\| of CBM-Logits less 5 times that of CBM is above 0",
            (above("", difference(logits, [5 * value for value in cbm]), 0.0),),
        ),
        Claim(
            "Both have almost identical accuracies.",
            "they differ by less than 0.015",
            tuple(apart),
        ),
        Claim("The task's accuracy is almost perfect.", "above 0.95", tuple(perfect)),
    ]


def body(results: Results) -> Sequence[str]:
    measures = (*CORRELATIONS.values(), TASK, CONCEPTS, *BOTTLENECK_PURITY)
    return [REMARK, str(_by_seed(results)), spread_table(results, ROWS, measures, PUBLISHED)]


def _by_seed(results: Results) -> Table:
    table = Table(["model", "seed", "task accuracy, %", "concept accuracy, %", "mean \\|r\\|"])
    for row in ROWS:
        seeds = [str(result["seed"]) for result in results.of(row.asked)]
        columns = (TASK.values(results, row), CONCEPTS.values(results, row))
        correlations = mean_correlations(results, row)
        for seed, task, concepts, r in zip(seeds, *columns, correlations, strict=True):
            table.add(row.name, seed, f"{100 * task:.1f}", f"{100 * concepts:.1f}", f"{r:.3f}")
    return table


def draw(results: Results) -> dict[str, Figure]:
    shown = [row for row in ROWS if results.of(row.asked)]
    if not shown:
        return {}
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(shown), 2, 2.6, width_in=6.4)
        figure.set_label("Correlations of the codes of CBM and CBM-Logits")
        for ax, row in zip(axes, shown, strict=True):
            every = results.arrays(row.asked, "scores", row.view, "correlations")
            kit.heat_map(ax, every.mean(axis=0), SHADES, (0.0, 1.0), lambda r: f"{r:.2f}")
            ax.set_title(f"{row.name}: |r|, mean of {len(every)}")
            names = [f"code {i + 1}" for i in range(every.shape[1])]
            ax.set_xticks(range(len(names)), names)
            ax.set_yticks(range(len(names)), names)
            ax.set_aspect("equal")
    return {"figure-1b": figure}


def asked(size: SizeName) -> list[Asked]:
    return [row.asked for row in ROWS]


REPRODUCTION = Reproduction(
    "figure-1b", "Figure 1(b) and A.2: correlations of codes", SAYS, asked, body, claims, draw
)
