"""Coverage of each dial as a figure: which dials people could name, and which do little."""

from __future__ import annotations

from itertools import groupby

import matplotlib as mpl
from matplotlib.axes import Axes

from labapp.base.figure_style import ACCENT, HAIRLINE, INK, SECONDARY, points_of, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure, add_heading
from labapp.tasks.reconstruction.report.labels.sheet import (
    COVERED,
    DialEffects,
    LabelledModel,
    LabelResults,
    coverage,
)

SIDE_BY_SIDE = 3
"""Models in one row of panels; fewer leave room, so that letters are always of one size."""


def plates(result: LabelResults) -> list[ReportFigure]:
    """A figure for each study with names and number of sliders, in the order of the tables."""
    return [plate for study in result.studies for plate in of_study(study, result)]


def of_study(study: str, result: LabelResults) -> list[ReportFigure]:
    models = result.of_study(study)
    return [
        _plate(f"labels-{study}-{sliders}", list(some), result)
        for sliders, some in groupby(models, key=lambda pair: pair[0].sliders)
    ]


def _plate(
    name: str, models: list[tuple[LabelledModel, DialEffects]], result: LabelResults
) -> ReportFigure:
    dials = max(len(model.dials) for model, _ in models)
    with mpl.rc_context(style()):
        height = 0.85 + 0.26 * dials
        figure, axes = kit.panels(len(models), SIDE_BY_SIDE, height, more_in=0.25)
        for ax, (model, effects) in zip(axes, models, strict=True):
            _panel(ax, model, effects, result)
            ax.set_ylim(dials - 0.4, -0.6)  # a bar is as thick in every panel
        people = frozenset[str]().union(*(model.met for model, _ in models))
        programs = frozenset[str]().union(*(model.programs for model, _ in models))
        study = models[0][0].study
        add_heading(figure, "Coverage of each slider", study, len(people), len(programs))
    shown = ", ".join(model.model for model, _ in models)
    agreed = "; in brackets: names that every rater calls consistent" if result.ratings else ""
    hatched = any(effect.little for _, effects in models for effect in effects.of)
    return ReportFigure(
        name,
        figure,
        f"Coverage of each slider: {shown}",
        "Share and number of participants who named each slider, out of those who saw the model (n)"
        f"{agreed}. Dashed: {COVERED:.0%}."
        + " Grey, hatched and marked *: sliders with little effect."
        * hatched,
    )


def _panel(ax: Axes, model: LabelledModel, effects: DialEffects, result: LabelResults) -> None:
    little = [effect.little for effect in effects.of] or [False] * len(model.dials)
    ax.axvline(100 * COVERED, color=SECONDARY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    for place, (dial, faint) in enumerate(zip(model.dials, little, strict=True)):
        share = 100 * coverage(model, dial)
        ax.barh(
            place,
            share,
            height=0.68,
            color=HAIRLINE if faint else ACCENT,
            edgecolor=SECONDARY if faint else ACCENT,
            hatch="////" if faint else None,
            linewidth=0.6,
        )
        agreed = result.n_consistent(dial)
        text = str(len(dial.people)) + (f" ({agreed} ✓)" if agreed else "")
        ax.annotate(
            text,
            (share, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=points_of(8),
            color=SECONDARY if faint else INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
    names = [f"{dial.title}{' *' * faint}" for dial, faint in zip(model.dials, little, strict=True)]
    ax.set_yticks(range(len(names)), names)
    for tick, faint in zip(ax.get_yticklabels(), little, strict=True):
        tick.set_color(SECONDARY if faint else INK)
    ax.set_xlim(0, 125)  # room for the numbers at the end of a full bar
    ax.set_xticks([0, 20, 40, 60, 80, 100])
    ax.set_xlabel("participants who named the slider, %")
    ax.tick_params(axis="y", length=0)
    ax.set_title(f"{model.model}, n = {len(model.met)}")
