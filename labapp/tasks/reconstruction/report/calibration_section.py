"""The report's section on calibrations: which epsilon and T the marks suggest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labapp.analysis.calibration import Suggestion
from labapp.analysis.tables import Tables
from labapp.report.formats import decimal
from labapp.report.listing import NONE
from labapp.report.page import Html, heading, paragraph, table, two_lines
from labapp.tasks.reconstruction.report.calibration import suggestions


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
