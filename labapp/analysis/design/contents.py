"""The default analyses in the report, in the table of statistics, and as files.

The figure of a study's outcomes: the cells of its declared factors, with intervals.

It is drawn of the values that the analyses are of, and says what the table of cells says: one panel
per outcome, and one a combination of levels if there are more than two factors.

analysis.R: a script in R that makes the default analyses again and compares every number.

What is the same for all is `recompute.R`; before it stands what each analysis is of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from labapp.analysis.column import Column, ends_of, number, text, whole
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.analyses import (
    TRIALS_LOGISTIC,
    TRIALS_MIXED,
    VALUES,
    VARIANCE,
    Analysis,
    StudyAnalyses,
    analyse,
    back,
)
from labapp.analysis.design.anova import CONTRAST, EQUIVALENCE
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor, Floats, plain_name
from labapp.analysis.design.reviewing import Review, declared_outcomes, review, review_sections
from labapp.analysis.design.sections import DOCX, TEX, sections, tex, write_docx
from labapp.analysis.design.sources import POSITION, STIMULUS, UNDECLARED
from labapp.analysis.reliability import (
    RELIABILITY,
    RELIABILITY_TABLE,
    Reliability,
    reliability,
    reliability_rows,
)
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables, build_frame
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.analysis.wording import name_factor
from labapp.base.figure_style import ACCENT, INK, SECONDARY, SERIES, panels_across, points_of, style
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import SAID, ReportFigure, shorten_names
from labapp.base.report.labels import labelled
from labapp.base.report.listing import sentence
from labapp.base.report.page import Html, say
from labapp.study.design import MODEL

SCRIPT = "analysis.R"


def script(studies: Iterable[StudyAnalyses], scales: Iterable[Reliability] = ()) -> str:
    """The whole script; empty if nothing was analysed."""
    chosen = [results for results in studies if results.analyses]
    checked = list(dict.fromkeys(_scale(scale) for scale in scales if not scale.why))
    if not chosen and not checked:
        return ""
    if checked:
        checked.insert(0, _r("scales.R"))
    return "\n".join([_r("recompute.R"), *(_study(of) for of in chosen), *checked, _END])


def _r(name: str) -> str:
    return files("labapp.analysis.design").joinpath(name).read_text(encoding="utf-8")


def _scale(scale: Reliability) -> str:
    fields = {
        "study": _text(str(scale.about["study"])),
        "instrument": _text(str(scale.about["instrument"])),
        "version": _text(str(scale.about["instrument_version"])),
        "score": _text(str(scale.about["score"])),
        "cells": _texts(scale.cells),
    }
    return f"check_scale(list({', '.join(f'{name} = {value}' for name, value in fields.items())}))"


_END = """
# Tests that have a p, and that nothing above recomputes.
p_values <- unlist(seen)
left <- printed[!is.na(printed$p) & !printed$p %in% p_values, ]
if (nrow(left)) {
  cat("Not recomputed:\\n")
  print(left[c("analysis", "quantity", "kind", "test", "p")], row.names = FALSE)
}
off <- results[!results$equal, ]
if (nrow(off)) print(off, row.names = FALSE)
cat(sprintf("%d numbers compared, %d off\\n", nrow(results), nrow(off)))
write.csv(results, file.path(folder, "analysis-R.csv"), row.names = FALSE)
if (nrow(off) || !nrow(results)) quit(status = 1)
"""


def _study(results: StudyAnalyses) -> str:
    plan = results.declaration.analysis
    method = "BH" if plan.correction == "fdr" else plan.correction
    lines = [
        f"## Study {results.study}",
        f"METHOD <- {_text(method)}",
        f"PRIOR <- {plan.bayes_prior_width!r}",
    ]
    for analysis in results.analyses:
        lines += [f"# {analysis.outcome.name} ({analysis.outcome.group})", _call(analysis)]
    numbers = ", ".join(str(analysis.number) for analysis in results.analyses)
    families = f"list(c({numbers}))" if plan.family == "all" else f"c({numbers})"
    lines.append(f'for (k in {families}) for (kind in c("contrast", "equivalence"))')
    lines.append("  check_family(printed[printed$kind == kind & printed$analysis %in% k, ])")
    return "\n".join(lines)


def _call(analysis: Analysis) -> str:
    layout = analysis.outcome.layout
    models = {model.name: model for model in analysis.beside}
    random = _random(models[TRIALS_MIXED].remarks) if TRIALS_MIXED in models else ""
    trials = "logistic" if TRIALS_LOGISTIC in models else "mixed" if random else "none"
    fields = {
        "id": str(analysis.number),
        "quantity": _text(analysis.outcome.name),
        "factors": _texts([factor.name for factor in layout.factors]),
        "levels": f"list({', '.join(_texts(factor.levels) for factor in layout.factors)})",
        "within": f"c({', '.join(['logical()', *(_flag(f.within) for f in layout.factors)])})",
        "measured": _texts([factor.name for factor in layout.factors if factor.measured]),
        "covariates": _texts(layout.covariates),
        "model": _text(analysis.main.name),
        "transform": _text(analysis.transform or "none"),
        "complete": _flag(VARIANCE in models),
        "trials": _text(trials),
        "random": _text(random),
        "criterion": _criterion(analysis.main.criterion),
        "trials_criterion": _criterion(
            models[TRIALS_MIXED].criterion if TRIALS_MIXED in models else None
        ),
        "plain": 'function(names) sub("^factor_", "", names)',
        "contrasts": _contrasts(analysis),
    }
    inner = ",\n  ".join(f"{name} = {value}" for name, value in fields.items())
    return f"analyse(list(\n  {inner}))"


def _criterion(value: float | None) -> str:
    return "NA" if value is None else repr(value)


def _random(remarks: Sequence[str]) -> str:
    """The random effects of a formula, from what is said of the fit."""
    told = next((text for text in remarks if text.startswith("random effects ")), "")
    return " + ".join(told.removeprefix("random effects ").split(", "))


def _contrasts(analysis: Analysis) -> str:
    made = []
    for comparison, row in zip(analysis.comparisons, analysis.select(CONTRAST), strict=False):
        if row.difference is None:
            continue
        weights = ", ".join(
            f"`{factor}` = {_format_weights(levels)}"
            for factor, levels in comparison.weights.items()
        )
        raw = any(map(analysis.is_raw, analysis.select(EQUIVALENCE, contrast=row.contrast)))
        made.append(
            f"list(name = {_text(row.contrast)}, factors = {_text(row.factors)}, "
            f"direction = {_text(row.direction)}, "
            f"untransformed = {_flag(raw)}, weights = list({weights}))"
        )
    if len(made) < 2:
        return f"list({', '.join(made)})"
    inner = ",\n    ".join(made)
    return f"list(\n    {inner})"


def _format_weights(levels: Mapping[str, float]) -> str:
    pairs = ", ".join(f"{_text(level)} = {weight!r}" for level, weight in levels.items())
    return f"c({pairs})"


def _texts(texts: Iterable[str]) -> str:
    return f"c({', '.join(map(_text, texts))})"


def _text(text: str) -> str:
    """A literal of R: its escapes are those of JSON, but for the slash and surrogates."""
    return json.dumps(text, ensure_ascii=False)


def _flag(flag: bool) -> str:
    return "TRUE" if flag else "FALSE"


VALUES_TABLE = "analysed_values"
LEVELS = 8
COVARIATES = 20
"""Columns for the levels of factors, and for covariates, in the table of values: `design.measured`
has no more."""

ANALYSED_VALUES = (
    text("study", "id of the study"),
    whole("analysis", "number of the default analysis, as in the table statistics"),
    text("quantity", "the outcome"),
    text("rows", "cells: one value per participant and cell; trials: one per trial"),
    text("participant", "label of the participant (a pseudonym)"),
    text("stimulus", "for trials: what was shown"),
    whole("position", "place at which the participant met the cell, from 1"),
    *(
        text(f"level_{at}", f"level of factor {at} of the analysis; its name is in analysis.R")
        for at in range(1, LEVELS + 1)
    ),
    *(
        number(f"covariate_{at}", f"covariate {at} of the analysis; its name is in analysis.R")
        for at in range(1, COVARIATES + 1)
    ),
    number("value", "the value that was analysed, after the transform"),
)
"""What every default analysis was made of, so that others can make it again."""


DEFINITIONS = {
    "Analyses according to the design": (
        "Participants' means per cell. If every participant has a value in every cell, the test "
        "is an analysis of variance with type III sums of squares and, within participants, also "
        "with the Greenhouse-Geisser correction. Otherwise, it is a linear mixed model with a "
        "random intercept for each participant (REML, Satterthwaite's degrees of freedom). "
        "Intervals are 95 % intervals, but 90 % intervals for eta squared, whose F test has one "
        "side, and for equivalence; those of standardised effects come from noncentral "
        "distributions, and that of generalised eta squared is computed from that of partial eta "
        "squared. d_z is the estimated difference divided by the standard deviation of the "
        "participants' own differences, pooled within groups if there are several; Hedges' g is "
        "divided by the standard deviation within groups."
    )
}


@dataclass(frozen=True)
class DefaultFindings:
    """The analyses of all studies, by study, the reliability of their scales, and what a reviewer
    asks for besides."""

    studies: Mapping[str, StudyAnalyses]
    scales: Mapping[str, Sequence[Reliability]] = field(default_factory=dict)
    reviews: Mapping[str, Review] = field(default_factory=dict)

    @cached_property
    def drawn(self) -> Mapping[str, ReportFigure]:
        """The figure of the outcomes of each study that has one; drawn once for page and files.
        matplotlib is loaded here."""

        return self._draw(outcomes_figure, "outcomes")

    @cached_property
    def residuals(self) -> Mapping[str, ReportFigure]:
        """The figure of the residuals of each study that has one."""
        return self._draw(residuals_figure, "residuals")

    def _draw(
        self, draw: Callable[[StudyAnalyses, str], ReportFigure | None], name: str
    ) -> Mapping[str, ReportFigure]:
        name = name if len(self.studies) == 1 else f"{{}}-{name}"
        drawn = {of: draw(results, name.format(of)) for of, results in self.studies.items()}
        return {study: figure for study, figure in drawn.items() if figure is not None}


class DefaultAnalyses(TaskReport[DefaultFindings]):
    """What every study has, by the design that it declares or that its rows show."""

    definitions = DEFINITIONS
    files = (SCRIPT, TEX, DOCX)
    tables: ClassVar[Mapping[str, tuple[Column, ...]]] = {
        VALUES_TABLE: ANALYSED_VALUES,
        RELIABILITY_TABLE: RELIABILITY,
    }

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> DefaultFindings:
        """Every outcome of every study."""
        studies: dict[str, StudyAnalyses] = {}
        scales: dict[str, Sequence[Reliability]] = {}
        reviews: dict[str, Review] = {}
        number = 1
        for study in sorted({str(study) for study in counted.participants["study"]}):
            own, declaration = counted.of_study(study), read_declaration(counted, study)
            results = analyse(own, declaration, number)
            scales[study] = tuple(reliability(own, declaration))
            number += len(results.analyses)
            studies[study] = results
            reviews[study] = review(results, own)
        return DefaultFindings(studies, scales, reviews)

    def statistics(self, findings: DefaultFindings) -> Iterable[Mapping[str, Any]]:
        """The rows of every study."""
        for results in findings.studies.values():
            yield from (row.row() for row in results.rows)
        for reviewed in findings.reviews.values():
            yield from (row.row() for row in reviewed.rows)

    def frames(self, findings: DefaultFindings) -> Mapping[str, pd.DataFrame]:
        """The values that were analysed, and the reliability of scales."""
        made = [row for results in findings.studies.values() for row in values(results)]
        scales = [row for known in findings.scales.values() for row in reliability_rows(known)]
        return {
            VALUES_TABLE: build_frame(made, ANALYSED_VALUES),
            RELIABILITY_TABLE: build_frame(scales, RELIABILITY),
        }

    def write(self, findings: DefaultFindings, folder: Path) -> None:
        """The script in R, and the tables for papers. Raises OSError."""
        studies = [results for results in findings.studies.values() if results.analyses]
        scales = [scale for known in findings.scales.values() for scale in known]
        if made := script(studies, scales):
            (folder / SCRIPT).write_text(made, encoding="utf-8")
        if not studies:
            return
        (folder / TEX).write_text(tex(studies), encoding="utf-8")
        write_docx(studies, folder / DOCX)

    def sections(self, study: ReportedStudy, findings: DefaultFindings) -> Iterator[Html]:
        """The analyses of one study, with the figure of its outcomes."""
        if results := findings.studies.get(study.name):
            figure = findings.drawn.get(study.name)
            shown = () if figure is None else (figure.html(study.anchor),)
            yield from sections(results, f"{study.anchor}-analyses", shown)
            residuals = findings.residuals.get(study.name)
            plots = () if residuals is None else (residuals.html(study.anchor),)
            yield from review_sections(results, findings.reviews[study.name], plots)

    def plates(self, counted: Tables, findings: DefaultFindings) -> Iterable[ReportFigure]:
        """The figures of each study's outcomes and of their residuals."""
        return (*findings.drawn.values(), *findings.residuals.values())


def values(results: StudyAnalyses) -> Iterator[Row]:
    """The rows of the table of values."""
    for analysis in results.analyses:
        layout = analysis.outcome.layout
        for kind, frame in (("cells", analysis.frame), ("trials", analysis.trials)):
            if frame is None:
                continue
            about = {
                "study": results.study,
                "analysis": analysis.number,
                "quantity": analysis.outcome.name,
                "rows": kind,
            }
            yield from (about | row for row in _values(frame, layout.factors, layout.covariates))


def _values(frame: Any, factors: Iterable[Factor], covariates: Iterable[str]) -> Iterator[Row]:
    names = {factor.name: f"level_{at}" for at, factor in enumerate(factors, start=1)}
    names |= {name: f"covariate_{at}" for at, name in enumerate(covariates, start=1)}
    names |= {PARTICIPANT: "participant", VALUE: "value"}
    names |= {name: name for name in (STIMULUS, POSITION) if name in frame}
    own = frame[list(names)].rename(columns=names)
    yield from (
        {str(name): None if value != value else value for name, value in row.items()}
        for row in own.to_dict("records")
    )


REPORT = DefaultAnalyses()


ACROSS, HEIGHT_IN, MARGIN_IN = 3, 2.1, 0.75
"""Panels beside each other in a figure of 10 inches; height of an axis; inches beside it."""
WIDTH = 0.64
"""Of all cells at one place of an axis, where the next place is 1 away."""
COLOURS = (ACCENT, INK, SECONDARY, *SERIES)
CAPTION = (
    "Mean of the participants in each cell, with its 95 % interval (t, separately for each "
    f"cell). Dots are participants, if a cell has up to {kit.POINTS_UP_TO} of them and the values "
    "do not come in steps."
)
TRANSFORMED = "Transformed values are averaged as analysed and shown in the outcome's unit."
JOINED = "Lines join means of the same participants."
CONTINUED = "An arrowhead at the edge means that the interval continues."


def outcomes_figure(results: StudyAnalyses, name: str = "outcomes") -> ReportFigure | None:
    """The declared outcomes of a study by its factors; None if there are none of either. name:
    of its files."""
    analyses = [
        analysis
        for analysis in results.shown.analyses
        if analysis.outcome.role != UNDECLARED and factors_of(analysis)
    ]
    shown = [(analysis, panel) for analysis in analyses for panel in panels_of(analysis)]
    if not shown:
        return None
    across = panels_across(min(ACROSS, len(shown)))
    with mpl.rc_context(style()):
        figure, axes = kit.panels(len(shown), min(ACROSS, len(shown)), HEIGHT_IN + 0.8)
        room = figure.get_figwidth() / across - MARGIN_IN
        for ax, (analysis, levels) in zip(axes, shown, strict=True):
            _panel(ax, analysis, levels, room, _colours(analyses))
        _legend(figure, analyses)
    factors = dict.fromkeys(
        plain_name(factor.name) for analysis in analyses for factor in factors_of(analysis)
    )
    label = f"Outcomes by {', '.join(factors)}"
    figure.set_label(label)
    caption = [CAPTION]
    if any(analysis.transform for analysis in analyses):
        caption.insert(1, TRANSFORMED)
    if any(factors_of(analysis)[0].within for analysis in analyses):
        caption.append(JOINED)
    return ReportFigure(name, figure, label, " ".join([*caption, CONTINUED]))


RESIDUALS_READ = (
    "Left: residuals of the participants who have a value in every cell, in standard "
    "deviations, against the quantiles of a normal distribution; normal residuals lie on the "
    "line. Right: residuals against fitted values; if the points fan out, the spread grows with "
    "the fitted value. The area of a point shows how many participants have it."
)
SHARES_READ = (
    "Shares have few different values, and less spread near 0 % and 100 %, which the analysis of "
    "variance does not take into account."
)
BY_TRIALS = "The logistic regression of the trials does."


def residuals_figure(results: StudyAnalyses, name: str = "residuals") -> ReportFigure | None:
    """Normal quantiles, and residuals by fitted values, of every declared outcome; None if there
    is none. name: of its files."""
    shown = [
        (analysis, analysis.complete)
        for analysis in declared_outcomes(results)
        if analysis.complete is not None and np.ptp(analysis.complete.residuals()) > 0
    ]
    if not shown:
        return None
    with mpl.rc_context(style()):
        figure, axes = kit.panels(2 * len(shown), 2, HEIGHT_IN)
        for place, (analysis, model) in enumerate(shown):
            # A share is in percent here, as everywhere on the page.
            unit = 1 if analysis.shown is analysis else 100
            residuals, fitted = unit * model.residuals(), unit * model.fitted()
            (at, ordered), (slope, middle, _) = scipy.stats.probplot(
                residuals / residuals.std(ddof=1)
            )
            quantiles, spread = axes[2 * place : 2 * place + 2]
            kit.points(quantiles, at, ordered, markersize=3, color=INK)
            ends = np.array([at[0], at[-1]])
            quantiles.plot(ends, slope * ends + middle, color=ACCENT, linewidth=1.0)
            quantiles.set_xlabel("Normal quantile")
            quantiles.set_ylabel("Residual (SD)")
            size = unit * model.wide.size
            alike = np.round(np.array([fitted, residuals]) / size, 9)
            alike, n = np.unique(alike, axis=1, return_counts=True)
            for many in np.unique(n):
                x, y = size * alike[:, n == many]
                kit.points(spread, x, y, markersize=3 * many**0.5, color=INK)
            spread.axhline(0.0, color=ACCENT, linewidth=1.0)
            spread.set_xlabel(_title_fitted(analysis.shown)).set_label(SAID)
            spread.set_ylabel("Residual")
            for ax in (quantiles, spread):
                kit.grid(ax)
                title = ax.set_title(analysis.outcome.label, fontsize=points_of(8.5), loc="left")
                title.set_label(SAID)
    label = "Residuals of the declared outcomes"
    figure.set_label(label)
    caption, shares = [RESIDUALS_READ], [each for each, _ in shown if each.shown is not each]
    if shares:
        caption.append(SHARES_READ)
    if any(model.name == TRIALS_LOGISTIC for each in shares for model in each.beside):
        caption.append(BY_TRIALS)
    return ReportFigure(name, figure, label, " ".join(caption))


def _title_fitted(analysis: Analysis) -> str:
    name = analysis.outcome.axis if not analysis.transform else analysis.unit
    return sentence("axis.fitted", name=say(name))


def factors_of(analysis: Analysis) -> list[Factor]:
    """The factors of a figure, in the order that it has them: across the axis, side by side, in
    panels of their own. Those within participants come first."""
    known = [factor for factor in analysis.outcome.layout.factors if len(factor.levels) > 1]
    return sorted(known, key=lambda factor: (not factor.within, factor.additive))


def panels_of(analysis: Analysis) -> list[dict[str, str]]:
    """The combinations of levels that have a panel; a single empty one for up to two factors."""
    more = factors_of(analysis)[2:]
    return [
        {factor.name: level for factor, level in zip(more, levels, strict=True)}
        for levels in product(*(factor.levels for factor in more))
    ]


def cell_of(analysis: Analysis, levels: dict[str, str]) -> tuple[Floats, Statistic]:
    """The values of the participants in the cell with these levels, as they are analysed, and the
    row of the table of statistics that is of them."""
    for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True):
        if all(cell.levels.get(name) == level for name, level in levels.items()):
            return cell.values, row
    return np.empty(0), Statistic()


def _panel(
    ax: Axes,
    analysis: Analysis,
    levels: dict[str, str],
    room: float,
    colours: Mapping[str, Mapping[str, int]],
) -> None:
    """One outcome. colours: see `_colours`; a panel with one factor has them, too, if its levels
    are side by side elsewhere."""
    first, *others = factors_of(analysis)
    series = others[0] if others else None
    names = series.levels if series is not None else ("",)
    step = WIDTH / max(len(names), 1)
    every: list[Floats] = []
    own_colours = colours.get(first.name, {}) if series is None and not first.within else {}
    for at, level in enumerate(first.levels if own_colours else ()):
        drawn = [cell_of(analysis, {**levels, first.name: level})]
        every += [values for values, _ in drawn]
        _series(ax, analysis, drawn, own_colours.get(level, at), at, step, joined=False)
    neutral = 0 if series is not None else max((len(own) for own in colours.values()), default=0)
    for place, level in enumerate(() if own_colours else names, start=neutral):
        at = place - neutral
        shift = (at - (len(names) - 1) / 2) * step
        own = {**levels, **({series.name: level} if series is not None else {})}
        drawn = [cell_of(analysis, {**own, first.name: each}) for each in first.levels]
        every += [values for values, _ in drawn]
        _series(ax, analysis, drawn, place, shift, step, joined=first.within)
    labels = list(map(labelled, first.levels))
    if first.name == MODEL:
        labels = shorten_names(labels)
    labels = [drawing.wrap(label, room / max(len(labels), 2)) for label in labels]
    kit.columns(ax, labels, beyond=0.55, fontsize=points_of(drawing.SMALL))
    kit.grid(ax)
    told = ", ".join(
        f"{labelled(plain_name(name))}: {labelled(level)}" for name, level in levels.items()
    )
    title = " · ".join(filter(None, (analysis.outcome.label, told)))
    ax.set_title(title, fontsize=points_of(8.5), loc="left").set_label(SAID)  # names alone
    ax.set_ylabel(drawing.wrap(analysis.outcome.axis, HEIGHT_IN)).set_label(SAID)
    ax.set_xlabel(name_factor(plain_name(first.name))).set_label(SAID)
    ends = ends_of(analysis.outcome.unit)
    low, high = ax.get_ylim() if ends is None else ends
    if ends is None and all((values >= 0).all() for values in every) and not analysis.transform:
        low = 0.0
    margin = 0.05 * (high - low)
    ax.set_ylim(low - (margin if low else 0.0), high + margin)


def _series(
    ax: Axes,
    analysis: Analysis,
    drawn: Sequence[tuple[Floats, Statistic]],
    place: int,
    shift: float,
    step: float,
    *,
    joined: bool,
) -> None:
    """The cells of one level beside those of others: dots, means and intervals."""
    colour, (line, mark) = COLOURS[place % len(COLOURS)], kit.LINES[place % len(kit.LINES)]
    at = np.arange(len(drawn)) + shift
    for x, (values, _) in zip(at, drawn, strict=True):
        steps = kit.steps_of(values[:, None]) if values.size else values
        if 0 < values.size <= kit.POINTS_UP_TO and not steps.size:
            own = [_own(analysis, value) for value in values]
            beside = x + kit.jitter(values.size, 0.3 * step)
            kit.points(ax, beside, own, markersize=3, color=colour, alpha=0.35, zorder=2)
    ends = np.array(
        [
            [_own(analysis, end, within=False) for end in (row.mean, row.low, row.high)]
            for _, row in drawn
        ]
    )
    kit.vertical_interval(ax, at, ends[:, 1], ends[:, 2], colour)
    look: dict[str, Any] = {"linestyle": line if joined else "", "color": colour, "marker": mark}
    look |= {"markersize": 5.5, "linewidth": 1.1, "markeredgecolor": "white", "zorder": 4}
    ax.plot(at, ends[:, 0], **look)


def _own(analysis: Analysis, value: float | None, *, within: bool = True) -> float:
    """A value in the outcome's unit; within its range if the unit is one, if that is asked."""
    if value is None:
        return np.nan
    own = back(float(value), analysis.transform)
    ends = ends_of(analysis.outcome.unit)
    return own if ends is None or not within else min(max(own, ends[0]), ends[1])


def _colours(analyses: Iterable[Analysis]) -> dict[str, dict[str, int]]:
    """By factor that has levels side by side in a panel the place of each level in `COLOURS`."""
    series = [factors_of(analysis)[1] for analysis in analyses if len(factors_of(analysis)) > 1]
    return {
        factor.name: {level: place for place, level in enumerate(factor.levels)}
        for factor in sorted(series, key=lambda factor: factor.name)
    }


def _legend(figure: Figure, analyses: Sequence[Analysis]) -> None:
    """What the marks beside each other stand for, if all outcomes have the same."""
    handles = []
    for factor, levels in _colours(analyses).items():
        name = name_factor(plain_name(factor))
        for level, place in levels.items():
            line, mark = kit.LINES[place % len(kit.LINES)]
            look: dict[str, Any] = {"linestyle": line, "marker": mark}
            # A label of its own says already of what it is a level.
            words = labelled(level) if labelled(level) != level else f"{name}: {level}"
            handles.append(Line2D([], [], color=COLOURS[place % len(COLOURS)], label=words, **look))
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=panels_across(4),
            fontsize=points_of(8), frameon=False,
        )  # fmt: skip
