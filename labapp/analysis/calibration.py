"""What calibrations suggest: which alignment counts as reached, and when a question can be skipped.

Participants aligned without a target mark and marked "far away" and "close enough" (paper 000,
A.2.3). Epsilon is the distance that best separates the two, T a round number near twice the median
time of a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

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

    Between equally good intervals the widest is taken, then the highest. None if one kind is
    missing, or if no alignment has the close marks above it more often than the far ones.
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
