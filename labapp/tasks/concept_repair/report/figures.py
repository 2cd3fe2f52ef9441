"""The figures of concept repair: people against the purity of models, and beside figure 5 of paper
001."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from labapp.analysis.bootstrap import Interval, interval, weights
from labapp.base.figure_style import ACCENT, INK, SECONDARY, SERIES, points_of, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure, shorten_names
from labapp.base.report.page import count
from labapp.tasks.concept_repair.report.forecast_section import OUTCOMES
from labapp.tasks.concept_repair.report.forecasts import PURITY, TESTS, UNITS, fitted_line
from labapp.tasks.concept_repair.report.measures import (
    BUILT_IN,
    LEAST_MODELS,
    MATCHED,
    MEASURES,
    MODEL,
    OIS,
    PERSON,
    SAMPLES,
)

if TYPE_CHECKING:
    from labapp.tasks.concept_repair.report.hypotheses import RepairResults

HEIGHT_IN = 3.2
ACROSS = 3
FULL = 100.0
BINS = 6
"""Most groups of pairs or changes of about the same size, of which shares are drawn."""
INTERVALS = "Vertical lines: 95 % intervals, bootstrap over participants."
LOOKS = (
    ("correct_in_order", "fixed order", INK, "-", "o"),
    ("correct_any", "all sets of this size", SECONDARY, "--", "s"),
    ("correct_wrong_first", "wrong ones first", SERIES[0], ":", "^"),
)
"""Of models alone: column, words, colour, line and mark."""


def plates(results: RepairResults) -> list[ReportFigure]:
    """Every figure for which there are values."""
    withheld = results.forecasts is not None
    makers = (declared_slopes,) if withheld else (by_purity, by_deviation, curves)
    with mpl.rc_context(style()):
        made = [drawn for make in makers if (drawn := make(results)) is not None]
    # Where a program took part, and no person, it says so: a figure goes around alone.
    programs = results.simulated == results.participants
    people = count(results.participants, "simulated participant" if programs else "participant")
    for drawn in made:
        drawn.figure.set_label(f"{drawn.label} · {results.study}: {people}")
    return [replace(drawn, name=f"concept-repair-{drawn.name}") for drawn in made]


def declared_slopes(results: RepairResults) -> ReportFigure | None:
    """The tests of forecasts on OIS that a study declares, one point per model."""
    forecasts = results.forecasts
    if forecasts is None or PURITY not in forecasts.models:
        return None
    x = forecasts.models[PURITY].to_numpy(np.float64)
    panels = [
        (OUTCOMES[test.outcome], UNITS[test.outcome].removesuffix(" per SD"), estimates)
        for test in (TESTS[each.test or ""] for each in forecasts.declared)
        if test.predictor == PURITY
        and test.outcome in forecasts.people
        and (estimates := forecasts.estimates(test.outcome)) is not None
    ]
    if len(x) < LEAST_MODELS or not panels:
        return None
    figure, axes = kit.panels(len(panels), ACROSS, HEIGHT_IN)
    for ax, (title, unit, y) in zip(axes, panels, strict=True):
        if (line := fitted_line(y, x)) is not None:
            along, middle, half = line
            ax.fill_between(along, middle - half, middle + half, color=ACCENT, alpha=0.15, lw=0)
            ax.plot(along, middle, color=ACCENT, linewidth=1.2)
        kit.points(ax, x, y, color=INK)
        ax.set_title(title)
        ax.set_xlabel("OIS, common coordinates")
        ax.set_ylabel(unit)
        kit.grid(ax)
    return ReportFigure(
        "forecasts",
        figure,
        "The declared tests of OIS, one point per model",
        "Points: each model's estimate, adjusted for participants and order. Line: the regression "
        "that is tested; area: its pointwise 95 % confidence band.",
    )


def by_purity(results: RepairResults) -> ReportFigure | None:
    """Human measures on OIS, one point per model."""
    known = results.models.known
    measures = [name for name in results.measures if MEASURES[name].rises or name == "success"]
    if OIS not in known or known[OIS].notna().sum() < 2 or not measures:
        return None
    figure, panels = kit.panels(len(measures), ACROSS, HEIGHT_IN)
    spread = float(np.ptp(known[OIS].dropna().to_numpy(float)))
    for ax, name in zip(panels, measures, strict=True):
        measure = MEASURES[name]
        factor = FULL if measure.share else 1.0
        for sample, colour, mark, beside in _samples(results):
            shift = beside * spread
            means = results.models.means(name, sample).merge(known[["name", OIS]], on="name")
            means = means[means["n"] > 0]
            x = means[OIS].to_numpy(float) + shift
            kit.vertical_interval(ax, x, means["low"] * factor, means["high"] * factor, colour)
            kit.points(ax, x, means["mean"] * factor, mark, color=colour, label=sample)
        ax.set_title(measure.title)
        ax.set_xlabel("OIS of the model")
        ax.set_ylabel("%" if measure.share else measure.unit)
        kit.grid(ax)
    if len(results.samples) > 1:
        panels[0].legend(fontsize=points_of(8), frameon=False)
    return ReportFigure(
        "purity",
        figure,
        "What people did, by the impurity of the model",
        f"One point per model, mean over participants. {INTERVALS} There are too few models to "
        "draw a line through them.",
    )


def _samples(results: RepairResults) -> list[tuple[str, str, str, float]]:
    """The samples that were shown, each with its colour, mark and shift along the axis, a part of
    how far models lie apart: no more than that a mark can be told from another below it."""
    looks = ((INK, "o", 0.0), (ACCENT, "s", 0.012), (SECONDARY, "^", -0.012))
    return [
        (sample, *look)
        for sample, look in zip(SAMPLES, looks, strict=True)
        if sample in results.samples
    ]


def by_deviation(results: RepairResults) -> ReportFigure | None:
    """H2: wrong foretelling by the deviation of the concept that was set, ticks by that of the
    pair."""
    foretold = results.rows.foretold()
    foretold = foretold[foretold["deviation_mean"].notna()]
    grids = results.rows.grids[results.rows.grids["deviation"].notna()]
    wrong = ~foretold["foretold_correct"].astype(bool)
    foretold = foretold.assign(x=foretold["deviation_mean"], hit=wrong)
    grids = grids.assign(x=grids["deviation"].abs(), hit=grids["ticked"].astype(bool))
    panels = [
        (title, x, y, rows)
        for title, x, y, rows in (
            ("Forecast wrongly", "mean |deviation| of the concept set", "% of answers", foretold),
            ("Pairs ticked", "|deviation| of the pair", "% of pairs", grids),
        )
        if len(rows)
    ]
    if not panels:
        return None
    figure, axes = kit.panels(len(panels), 2, HEIGHT_IN)
    for ax, (title, x, y, rows) in zip(axes, panels, strict=True):
        _draw_binned(ax, rows)
        ax.set_title(title)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
    return ReportFigure(
        "deviation",
        figure,
        "Wrong forecasts and ticks, by deviation in the purity matrix",
        "Each point is a group of answers or pairs, at the group's mean deviation; groups are of "
        "similar size. "
        f"{INTERVALS}",
    )


def _draw_binned(ax: Axes, rows: pd.DataFrame) -> None:
    """Shares of `hit` in groups along `x`, each with its interval and number."""
    few = rows["x"].nunique() <= BINS
    groups = rows["x"] if few else pd.qcut(rows["x"], BINS, labels=False, duplicates="drop")
    for _, own in rows.groupby(groups, sort=True):
        share = _share(own, "hit")
        x, y = float(own["x"].mean()), FULL * float(share.value)
        kit.vertical_interval(ax, x, share.low * FULL, share.high * FULL)
        kit.points(ax, x, y, color=INK)
        number, size = f"{len(own):,}", points_of(7.5)
        ax.annotate(number, (x, y), (5, 3), textcoords="offset points", fontsize=size)
    ax.set_ylim(-3, 103)
    kit.grid(ax)


def _share(rows: pd.DataFrame, column: str) -> Interval:
    """How many of the rows have a column, by a bootstrap over participants."""
    by = rows.groupby(list(PERSON), sort=True)[column].agg(["sum", "count"]).astype(float)
    hits, n = by["sum"].to_numpy(), by["count"].to_numpy()
    drawing = weights(len(by))
    drawn = (drawing @ hits) / np.maximum(drawing @ n, 1) if len(drawing) else np.empty((0,))
    return interval(hits.sum() / n.sum(), drawn)


def curves(results: RepairResults) -> ReportFigure | None:
    """Beside figure 5 of paper 001: the class by concepts that are set, models alone and people."""
    repairs = results.rows.repairs
    repairs = repairs[(repairs["instruction"] != "foresight") & (repairs["sample"] == MATCHED)]
    alone = results.curves[results.curves["sample"] == MATCHED]
    alone = alone[~alone["item"].isin(BUILT_IN)]  # as for people
    if repairs.empty or alone.empty:
        return None
    known = results.models.known
    figure, panels = kit.panels(len(known), ACROSS, HEIGHT_IN, sharey=True)
    names, models = shorten_names(known["name"].tolist()), known[[*MODEL]].itertuples(index=False)
    for ax, name, model in zip(panels, names, models, strict=True):
        _curve(ax, _of(alone, model), _of(repairs, model))
        ax.set_title(name, fontsize=points_of(9))
        ax.set_xlabel("concepts set")
        kit.grid(ax)
    panels[0].set_ylabel("% of pictures with the right class")
    panels[0].legend(fontsize=points_of(7.5), frameon=False, loc="lower right")
    return ReportFigure(
        "curves",
        figure,
        "Right class by number of concepts set (compared with figure 5 of paper 001)",
        "Lines: the models alone, with concepts set to their true values. Dots: people, "
        "regardless of what they set, by the number of concepts set when they left the picture; "
        f"the figures are numbers of pictures. Only pictures chosen to be repaired or left "
        f"alone. {INTERVALS}",
    )


def _of(frame: pd.DataFrame, model: tuple[str, ...]) -> pd.DataFrame:
    same = np.ones(len(frame), dtype=bool)
    for column, value in zip(MODEL, model, strict=True):
        same &= (frame[column] == value).to_numpy(bool)
    return frame[same]


def _curve(ax: Axes, alone: pd.DataFrame, repairs: pd.DataFrame) -> None:
    for column, words, colour, line, mark in LOOKS:
        means = alone.groupby("n_set")[column].apply(lambda some: float(some.astype(float).mean()))
        ax.plot(
            means.index.to_numpy(float),
            FULL * means.to_numpy(float),
            line,
            marker=mark,
            markersize=3.5,
            linewidth=1.1,
            color=colour,
            label=words,
        )
    label: str | None = "people"
    for n_set in sorted(repairs["n_set_end"].astype(int).unique()):
        own = repairs[repairs["n_set_end"] == n_set]
        share = _share(own, "correct_end")
        x, y = n_set + 0.08, FULL * float(share.value)
        kit.vertical_interval(ax, x, share.low * FULL, share.high * FULL, ACCENT)
        kit.points(ax, x, y, color=ACCENT, markersize=6, label=label)
        ax.annotate(
            f"{len(own):,}", (x, y), (5, -9), textcoords="offset points", fontsize=points_of(7)
        )
        label = None
    ax.set_ylim(-3, 103)
    ax.set_xticks(sorted(alone["n_set"].astype(int).unique()))
