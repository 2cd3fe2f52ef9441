"""What the report has of reconstruction, with and without a target (paper 000). What the marks and
times of calibrations suggest is worked out in `labapp.analysis.calibration`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import isclose
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from labapp.analysis.by_task import metrics_by_model
from labapp.analysis.calibration import Suggestion, separation, skip_after_s
from labapp.analysis.columns import Metric
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.listing import NONE
from labapp.base.report.page import Html, decimal, heading, paragraph, table, two_lines
from labapp.models.representations.card import dataset_of
from labapp.tasks.reconstruction.plan import CALIBRATION, TASK
from labapp.tasks.reconstruction.report.labels.sections import NAMES, of_study, write
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
    files = NAMES

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
        yield from of_study(study.name, findings)

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
        write(findings, folder)

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
    from labapp.tasks.reconstruction.report.figures_alignment import alignment

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
        from labapp.tasks.reconstruction.report.figures_alignment import marks

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
