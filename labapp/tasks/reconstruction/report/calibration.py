"""What the marks and times of calibrations suggest, see `labapp.analysis.calibration`."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from labapp.analysis.calibration import Suggestion, separation, skip_after_s
from labapp.representations.card import dataset_of
from labapp.tasks.reconstruction.plan import CALIBRATION

if TYPE_CHECKING:  # slow to load, and the folds do without it
    import pandas as pd

MARKED = "marked"
"""The outcome of a question that was left once both were marked."""


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
        done = done[done["outcome"] == MARKED]
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
