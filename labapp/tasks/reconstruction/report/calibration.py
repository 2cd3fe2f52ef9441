"""Choosing epsilon and T with people: what a calibration's marks and times say (paper 000, A.2.3).

A participant aligned without a target mark and marked "far away" and "close enough". Epsilon is the
distance that best separates the two, T a round number near twice the median time of a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from labapp.tasks.reconstruction.plan import CALIBRATION

if TYPE_CHECKING:  # slow to load, and the folds do without it
    import pandas as pd

MARKED = "marked"
"""The outcome of a question that was left once both were marked."""
STEP_S = 5
"""T is a multiple of so many seconds."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Where "far away" ends and "close enough" begins.

    Every alignment above `low` and up to `high`, two neighbouring marks, separates equally well;
    target is their middle. balanced_accuracy: mean of the share of far marks below and the share
    of close marks above it.
    """

    target: float
    low: float
    high: float
    balanced_accuracy: float

    @property
    def epsilon(self) -> float:
        """The distance that corresponds to the target alignment."""
        return 1.0 - self.target


def separation(far: Sequence[float], close: Sequence[float]) -> Separation | None:
    """The alignment that best separates marks "far" from marks "close", by balanced accuracy.

    Between equally good intervals the widest is taken, then the highest. None where one kind is
    missing, or where no alignment has the close marks above it more often than the far ones.
    """
    if not far or not close:
        return None
    a, b = np.sort(np.asarray(far, dtype=float)), np.sort(np.asarray(close, dtype=float))
    best: tuple[int, float, float] | None = None
    for low, high in pairwise(np.unique(np.concatenate([a, b])).tolist()):
        below = int(np.searchsorted(a, high))
        above = len(b) - int(np.searchsorted(b, high))
        # Balanced accuracy times 2 · n_far · n_close: whole numbers, so that ties are ties.
        score = below * len(b) + above * len(a)
        if best is None or (score, high - low, high) > (best[0], best[2] - best[1], best[2]):
            best = (score, low, high)
    if best is None or best[0] <= len(a) * len(b):
        return None
    score, low, high = best
    return Separation((low + high) / 2, low, high, score / (2 * len(a) * len(b)))


def skip_after_s(active_s: Sequence[float]) -> int | None:
    """T: the multiple of five seconds that is nearest to twice the median, at least five.

    active_s: active time of the questions, which is what the hidden count that T ends counts.
    """
    if not active_s:
        return None
    return max(STEP_S, STEP_S * int(2 * median(active_s) / STEP_S + 0.5))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What the calibrations on one data set suggest; far and close: alignments that count."""

    dataset: str
    far: tuple[float, ...]
    close: tuple[float, ...]
    separation: Separation | None
    questions: int
    median_active_s: float | None
    median_duration_s: float | None
    skip_after_s: int | None


def suggestions(trials: pd.DataFrame, marks: pd.DataFrame) -> list[Suggestion]:
    """By data set, from the tables of trials and marks; only what is not excluded counts.

    The times are those of questions left once both were marked: a skipped one says nothing of how
    long it takes.
    """
    counted = trials[(trials["task"] == CALIBRATION) & ~trials["excluded"]]
    marks = marks[~marks["excluded"]]
    result = []
    for dataset in sorted({_dataset(model) for model in [*counted["model"], *marks["model"]]}):
        own = marks[marks["model"].map(_dataset) == dataset]
        far, close = (
            tuple(own.loc[own["mark"] == mark, "alignment"].astype(float))
            for mark in ("far", "close")
        )
        done = counted[(counted["model"].map(_dataset) == dataset) & (counted["outcome"] == MARKED)]
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


def _dataset(model: str) -> str:
    return str(model).split("/", 1)[0]
