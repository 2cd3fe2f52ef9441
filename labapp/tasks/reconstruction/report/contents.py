"""What the report has of reconstruction, with and without a target (paper 000). What the marks and
times of calibrations suggest is worked out in `labapp.analysis.calibration`.

Also the figure of the alignment over time, with a small panel for each question, as SVG text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import isclose
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import pts_to_poststep
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from labapp.analysis.by_task import metrics_by_model
from labapp.analysis.calibration import Suggestion, separation, skip_after_s
from labapp.analysis.columns import Metric
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.figure_style import (
    ACCENT,
    INK,
    SECONDARY,
    figure_width,
    panels_across,
    points_of,
    style,
)
from labapp.base.report import kit
from labapp.base.report.drawing import Drawing, svg_of
from labapp.base.report.listing import NONE
from labapp.base.report.page import Html, decimal, heading, paragraph, table, two_lines
from labapp.models.representations.card import dataset_of
from labapp.tasks.reconstruction.plan import CALIBRATION, TASK
from labapp.tasks.reconstruction.report.labels import sections
from labapp.tasks.reconstruction.report.labels.sheet import (
    LABEL_TABLES,
    Found,
    check_files,
    find,
    frames,
)

if TYPE_CHECKING:
    import pandas as pd

    from labapp.base.report.drawing import ReportFigure


DEFINITIONS = {
    "Completion rate": (
        "Solved questions / planned questions of the stage. A question that the time limit kept "
        "from being asked is not completed. Where the moderator skipped the stage, or it has no "
        "end, only the questions that count are the denominator."
    ),
    "Response time": (
        "Seconds from the appearance of the pictures to the click on Next or Skip, as the mean of "
        "the stage's questions that ended so. The moment of alignment is in the table trials."
    ),
    "Active time": (
        "As response time, but a stretch without any activity counts for at most the stage's "
        "inactivity limit (3 s unless the study says otherwise); the count of the "
        "application of Ross et al. 2021 is in the column active_s_as_published."
    ),
    "Calibration": (
        "Questions without a target, in which the participant marks “far away” and “close enough”; "
        "the alignment at each mark is in the table marks. They have no completion rate; marks of "
        "questions that do not count are left out."
    ),
    "Slide distance": (
        "Total movement of the dials in full slider widths, mean a question; a change of a "
        "discrete dimension counts 1."
    ),
    "Error AUC": (
        "Integral over time of the squared difference between own picture and target, summed over "
        "all questions of the stage, not averaged; constant between snapshots, idle time included. "
        "“Sum” adds the squared differences over the pixels (sum of squares × s, the unit of the "
        "tables of Ross et al. 2021); “mean” averages them (mean of squares × s, as their text "
        "says)."
    ),
    "Snapshots": (
        "Derived from the recorded movements: one at the start of the question, one when a dial "
        "has changed and at least 100 ms have passed, at once when the active dial or the "
        "direction changes, one at the alignment and one at the end of the question."
    ),
    "Names of dials": (
        "The last name of each dial in a stage, of sessions that count; one that was taken away "
        "again is none. Coverage: participants who named the dial / participants who met the "
        "model. Consistent: every rater says that the name agrees with another participant's. "
        "Kappa is over the names beside which another participant's stands. Effect of a dial: "
        "mean distance of the study, over held-out instances, between the pictures at its 5th and "
        "95th percentile (of a choice, between all pairs of values), as a share of the model's "
        "strongest dial; below 5 % it has little effect, a threshold of ours. All of it is in the "
        "tables label_names, label_dials, label_models and label_agreement."
    ),
}


class ReconstructionReport(TaskReport[Found]):
    """Its findings are the names of dials."""

    def suggested(self, counted: Tables) -> Sequence[Suggestion]:
        return suggestions(counted.trials, counted.marks)

    activities: ClassVar = {
        TASK: "reconstructed target pictures by turning dials",
        CALIBRATION: "turned dials without a target mark and said when they were far away and when "
        "close enough",
    }
    tasks = (TASK, CALIBRATION)
    definitions = DEFINITIONS
    tables = LABEL_TABLES
    files = sections.NAMES

    def check_ratings(self, ratings: Sequence[Path]) -> None:
        check_files(ratings)

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> Found:
        return find(counted, ratings)

    def frames(self, findings: Found) -> Mapping[str, pd.DataFrame]:
        return frames(findings)

    def sections(self, study: ReportedStudy, findings: Found) -> Iterator[Html]:
        yield from metrics_by_model(study, CALIBRATION, CALIBRATION_METRICS)
        yield from calibration(study.counted, study.anchor)
        yield from courses(study.tables, study.anchor)
        yield from sections.of_study(study.name, findings)

    def methods(self, study: ReportedStudy, findings: Found) -> Iterator[str]:
        """By which distances the models' pictures were compared, where these differ."""
        dials = study.tables.small()["dials"]
        own = dials[dials["study"] == study.name].drop_duplicates(["model", "distance"])
        if own["distance"].nunique() < 2:
            return
        by = own.groupby("distance", sort=True)["model"].agg(", ".join)
        told = "; ".join(f"{distance}: {models}" for distance, models in by.items())
        yield (
            f"Whether a question was solved was decided by a distance of its own for some models "
            f"({told}), and so a difference between these models in completion rate or response "
            "time may be one between the distances."
        )

    def plates(self, counted: Tables, findings: Found) -> Sequence[ReportFigure]:
        return [plate for drawn in findings.drawn.values() for plate in drawn]

    def write(self, findings: Found, folder: Path) -> None:
        sections.write(findings, folder)

    def defined(self, counted: Tables, findings: Found) -> Mapping[str, str]:
        there = {"Calibration": not counted.marks.empty, "Names of dials": bool(findings.models)}
        return {name: text for name, text in DEFINITIONS.items() if there.get(name, True)}

    def asked(self, trials: pd.DataFrame) -> str:
        """The alignment that solved a question, where questions are solved."""
        targets = sorted({float(target) for target in trials["target_alignment"].dropna()})
        if not targets:
            return ""
        percents = " and ".join(map(_percent, targets))
        return f"; a question was solved at an alignment of {percents} %"


def _percent(share: float) -> str:
    value = 100 * share
    return decimal(value, 0 if isclose(value, round(value), abs_tol=1e-9) else 1)


REPORT = ReconstructionReport()


SHOWN_SESSIONS = 12
"""Small multiples are drawn for so many sessions of a study; the tables hold the others."""
SHOWN_QUESTIONS = 130
"""They are drawn for fewer sessions where these have more questions than this together: a panel
takes some 20 ms to draw."""


def courses(tables: Tables, anchor: str) -> Iterator[Html]:
    """Small multiples of the alignment, a figure a session."""
    chosen = (tables.trials["role"] == "stage") & tables.trials["task"].isin([TASK, CALIBRATION])
    trials = tables.trials[chosen]
    groups = list(trials.groupby(["participant", "session"], sort=False))
    if not groups:
        return

    yield heading(3, "Alignment over time, question by question")
    yield paragraph(
        "Dashed: the alignment asked for. Dot: solved; diamond: marked; cross: skipped; square: "
        "cut off. The time axis is the same along a row.",
        "quiet",
    )
    ends = accumulate(len(own) for _, own in groups)
    n = max(1, min(SHOWN_SESSIONS, sum(end <= SHOWN_QUESTIONS for end in ends)))
    for number, ((participant, session), own) in enumerate(groups[:n]):
        study = str(own["study"].iloc[0])
        taken = tables.snapshots_of(study, str(participant), str(session))
        drawing = alignment(own, taken, f"{anchor}-q{number}")
        who = f"Participant {participant}, session {session}"
        yield drawing.html(who, f". {who}")
    if len(groups) > n:
        yield paragraph(f"{len(groups) - n} more sessions are in the table snapshots.", "quiet")


def calibration(tables: Tables, anchor: str) -> Iterator[Html]:
    """Nothing where no question of a calibration was asked. anchor: prefix of the page's ids."""
    suggested = suggestions(tables.trials, tables.marks)
    if not suggested:
        return
    yield heading(3, "Calibration: how near is near enough")
    yield paragraph(
        "Suggested target alignment: the value that best separates the alignments marked “far "
        "away” from those marked “close enough”, the middle between the two neighbouring marks; "
        "epsilon is 1 minus it. Separation: balanced accuracy, the mean of the share of far marks "
        "below it and the share of close marks above it (50 % is chance). T: the multiple of 5 s "
        "nearest to twice the median active time of the questions in which both were marked; "
        "active time is what the count before Skip counts.",
        "quiet",
    )
    yield table(
        (
            "Data set",
            two_lines("Far away", "n, median"),
            two_lines("Close enough", "n, median"),
            two_lines("Target alignment", "%, interval"),
            two_lines("Epsilon", "0–1"),
            two_lines("Separation", "%"),
            two_lines("Questions", "n"),
            two_lines("Active time", "s, median"),
            two_lines("Duration", "s, median"),
            two_lines("T", "s"),
        ),
        [_row(suggestion) for suggestion in suggested],
        numeric=range(1, 10),
    )
    if shown := [suggestion for suggestion in suggested if suggestion.far or suggestion.close]:
        drawing = marks(shown, f"{anchor}-marks")
        yield drawing.html(
            "One point a mark, over all participants. Line: the suggested target alignment; grey: "
            "the interval of which it is the middle.",
        )


def _row(suggestion: Suggestion) -> tuple[object, ...]:
    best = suggestion.separation
    target: object = NONE
    if best is not None:
        interval = f"{decimal(best.low * 100, 1)} to {decimal(best.high * 100, 1)}"
        target = two_lines(decimal(best.target * 100, 1), interval)
    return (
        suggestion.dataset,
        _marks(suggestion.far),
        _marks(suggestion.close),
        target,
        NONE if best is None else decimal(best.epsilon, 3),
        NONE if best is None else decimal(best.balanced_accuracy * 100, 0),
        suggestion.questions,
        NONE if suggestion.median_active_s is None else decimal(suggestion.median_active_s, 1),
        NONE if suggestion.median_duration_s is None else decimal(suggestion.median_duration_s, 1),
        NONE if suggestion.skip_after_s is None else suggestion.skip_after_s,
    )


def _marks(alignments: tuple[float, ...]) -> object:
    if not alignments:
        return 0
    middle = float(np.median(alignments)) * 100
    return two_lines(len(alignments), f"{decimal(middle, 1)} %")


def suggestions(trials: pd.DataFrame, marks: pd.DataFrame) -> list[Suggestion]:
    """By data set, from the tables of trials and marks; only what is not excluded counts.

    The times are those of questions left once both were marked: a skipped one says nothing of how
    long it takes.
    """
    counted = trials[(trials["task"] == CALIBRATION) & ~trials["excluded"]]
    marks = marks[~marks["excluded"]]
    result = []
    for dataset in sorted({dataset_of(model) for model in [*counted["model"], *marks["model"]]}):
        own = marks[marks["model"].map(dataset_of) == dataset]
        far, close = (
            tuple(own.loc[own["mark"] == mark, "alignment"].astype(float))
            for mark in ("far", "close")
        )
        done = counted[counted["model"].map(dataset_of) == dataset]
        done = done[done["outcome"] == "marked"]  # left once both were
        active, lasted = (list(done[name].astype(float)) for name in ("active_s", "duration_s"))
        result.append(
            Suggestion(
                dataset,
                far,
                close,
                separation(far, close),
                len(done),
                median(active) if active else None,
                median(lasted) if lasted else None,
                skip_after_s(active),
            )
        )
    return result


METRICS = (
    Metric("completion_rate", "Completion rate", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s a question"),
    Metric("slide_distance", "Slide distance", "slider widths a question", decimals=2),
    Metric("error_auc_sum", "Error AUC, sum", "sum of squares × s, a stage", by_dataset=True),
    Metric(
        "error_auc_mean",
        "Error AUC, mean",
        "mean of squares × s, a stage",
        decimals=2,
        by_dataset=True,
    ),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""

CALIBRATION_METRICS = METRICS[1:]
"""A calibration has no questions that are completed."""


COLUMNS = 7
"""Panels side by side in a figure of 10 inches."""
ROW_IN, BETWEEN_IN, TITLE_IN, BELOW_IN = 1.5, 0.52, 0.24, 0.2
"""A row of small panels; what lies between two rows, of it the titles; and below the last row."""
LEFT_IN, BESIDE_IN, GAP_IN = 0.75, 0.12, 0.18
"""On the left of the first panel of a row; on the right of the last; and between two."""
TICK_IN, PAD_IN = 0.045, 0.09
"""Length of a tick, and from the axis to what is written there."""
POINTS = 80
"""A line of a small panel is thinned to about this many points."""
_MARKS = {"solved": "o", "marked": "D", "skipped": "X"}
_Line = NDArray[np.float64]


def alignment(trials: pd.DataFrame, snapshots: pd.DataFrame, name: str) -> Drawing:
    """Alignment over time, one small panel a question, each stage in rows of its own, of one
    session. trials, snapshots: that session's rows. The time axis is the same within a stage."""
    series = dict(list(snapshots.groupby(["stage", "trial", "attempt"])))
    rows: list[tuple[list[Row], float]] = []
    across = panels_across(COLUMNS)
    for _, stage in trials.groupby("stage_number", sort=True):
        ordered = stage.sort_values(["trial", "attempt"]).to_dict("records")
        panels = [{str(column): value for column, value in row.items()} for row in ordered]
        longest = max(1.0, *stage["duration_s"].fillna(0.0))
        rows += [(panels[at : at + across], longest) for at in range(0, len(panels), across)]
    columns = max(len(panels) for panels, _ in rows)
    with mpl.rc_context(style()):
        height = BELOW_IN + ROW_IN * len(rows)
        figure = Figure(figsize=(figure_width(), height))
        sheet = _Sheet(figure, (figure_width() - LEFT_IN - BESIDE_IN + GAP_IN) / columns - GAP_IN)
        for number, (panels, longest) in enumerate(rows):
            bottom = height - TITLE_IN - ROW_IN * number - sheet.height
            for column, trial in enumerate(panels):
                key = (trial["stage"], trial["trial"], trial["attempt"])
                left = LEFT_IN + column * (sheet.width + GAP_IN)
                sheet.panel(left, bottom, trial, series.get(key), longest)
            sheet.scale(bottom, f"{panels[0]['model']}\nalignment, %")
        sheet.draw()
        figure.supxlabel(
            "seconds since the pictures appeared", fontsize=points_of(9), y=0.06 / height
        )
        return Drawing(svg_of(figure, name), "Alignment over time, a panel for each question")


class _Sheet:
    """All panels in one system of coordinates, in inches from the lower left of the figure.

    Not an `Axes` each: with the axes, ticks, lines and labels of its own a panel takes ten times as
    long, and there are dozens.
    """

    def __init__(self, figure: Figure, width: float) -> None:
        self.width, self.height = width, ROW_IN - BETWEEN_IN
        self._ax: Axes = figure.add_axes((0, 0, 1, 1))
        self._ax.set_axis_off()
        self._ax.set_xlim(0, figure.get_figwidth())
        self._ax.set_ylim(0, figure.get_figheight())
        self._frames: list[_Line] = []
        self._targets: list[_Line] = []
        self._series: list[_Line] = []
        self._ends: dict[str, list[_Line]] = defaultdict(list)

    def panel(
        self, left: float, bottom: float, trial: Row, series: pd.DataFrame | None, longest: float
    ) -> None:
        """One question; longest: seconds at the right end of its time axis."""
        corner, size = np.array([left, bottom]), np.array([self.width, self.height])
        scale = size / (longest, 1.0)
        top_right = corner + size
        self._frames.append(np.array([(left, top_right[1]), corner, (top_right[0], bottom)]))
        for tick in MaxNLocator(nbins=3, integer=True).tick_values(0, longest):
            if 0 <= tick <= longest:
                x = left + tick * scale[0]
                self._frames.append(np.array([(x, bottom), (x, bottom - TICK_IN)]))
                self._write(x, bottom - PAD_IN, f"{tick:.0f}", ha="center", va="top")
        for share in (0.0, 0.5, 1.0):
            y = bottom + share * scale[1]
            self._frames.append(np.array([(left, y), (left - TICK_IN, y)]))
        if np.isfinite(target := trial["target_alignment"]):
            y = bottom + target * scale[1]
            self._targets.append(np.array([(left, y), (top_right[0], y)]))
        duration = trial["duration_s"]
        title = f"Q{trial['trial']} {trial['outcome']}".replace("_", " ")
        if series is not None and np.isfinite(duration):
            line = series[["t_s", "alignment"]].to_numpy(dtype=float)
            line = corner + scale * np.clip(line[_thinned(*line.T)], 0, (longest, 1.0))
            self._series.append(np.transpose(pts_to_poststep(*line.T)))
            self._ends[_MARKS.get(str(trial["outcome"]), "s")].append(line[-1])
            title += f", {duration:.0f} s"
        self._write(left, top_right[1] + PAD_IN, title, ha="left", va="baseline")

    def scale(self, bottom: float, title: str) -> None:
        for percent in (0, 50, 100):
            y = bottom + percent / 100 * self.height
            self._write(LEFT_IN - PAD_IN, y, str(percent), ha="right", va="center_baseline")
        middle = bottom + self.height / 2
        self._ax.text(LEFT_IN / 4, middle, title, rotation=90, ha="center", va="center", color=INK)

    def draw(self) -> None:
        targets = LineCollection(
            self._targets, colors=SECONDARY, linewidths=0.8, linestyles=[(0, (4, 3))]
        )
        self._ax.add_collection(targets, autolim=False)
        for lines, color, width in ((self._series, ACCENT, 1.3), (self._frames, SECONDARY, 0.8)):
            drawn = LineCollection(lines, colors=color, linewidths=width)
            self._ax.add_collection(drawn, autolim=False)
        for mark, ends in self._ends.items():
            self._ax.plot(*np.transpose(ends), mark, color=INK, markersize=5, zorder=3)

    def _write(self, x: float, y: float, text: str, *, ha: str, va: str) -> None:
        self._ax.text(x, y, text, ha=ha, va=va, fontsize=points_of(8), color=INK)


def _thinned(t: _Line, values: _Line) -> NDArray[np.intp]:
    """Indices that keep the line's shape at a panel's size: the lowest and highest of each of
    POINTS / 2 stretches of time, besides both ends."""
    if len(t) <= POINTS:
        return np.arange(len(t))
    stretch = np.minimum((t / max(t[-1], 1e-9) * (POINTS // 2)).astype(int), POINTS // 2 - 1)
    indices = {0, len(t) - 1}
    for number in np.unique(stretch):
        inside = np.flatnonzero(stretch == number)
        indices.add(int(inside[values[inside].argmin()]))
        indices.add(int(inside[values[inside].argmax()]))
    return np.array(sorted(indices))


def marks(suggestions: Sequence[Suggestion], name: str) -> Drawing:
    """The alignments marked far away and close enough, a strip a data set, with the alignment that
    separates them best."""
    with mpl.rc_context(style()):
        figure, axes = kit.panels(len(suggestions), 1, 1.3, more_in=0.5)
        for ax, result in zip(axes, suggestions, strict=True):
            if (best := result.separation) is not None:
                low, high = best.low * 100, best.high * 100
                ax.axvspan(low, high, color=kit.FACE, linewidth=0, zorder=0)
                ax.axvline(best.target * 100, color=INK, linewidth=1.8, zorder=1)
            for place, alignments in enumerate((result.close, result.far)):
                # Spread over the strip in a fixed order: marks at one alignment stay apart.
                shift = (np.arange(len(alignments)) * 0.618034 % 1.0 - 0.5) * 0.6
                face, mark = (ACCENT, "o") if place == 0 else ("white", "s")
                edge = {"markeredgecolor": ACCENT, "markeredgewidth": 0.9, "zorder": 2}
                percents = np.asarray(alignments) * 100
                kit.points(ax, percents, place + shift, mark, markerfacecolor=face, **edge)
            ax.set_title(result.dataset)
            ax.set_yticks([0, 1], ["close enough", "far away"])
            ax.set_ylim(-0.6, 1.6)
            ax.set_xlim(-1, 101)
            ax.tick_params(axis="y", length=0)
        figure.supxlabel("alignment, %", fontsize=points_of(9))
        names = ", ".join(suggestion.dataset for suggestion in suggestions)
        return Drawing(
            svg_of(figure, name), f"Alignments marked far away and close enough: {names}"
        )
