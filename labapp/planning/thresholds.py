"""The recommended epsilon: what those who understand reach, and trial and error does not.

Paper 000 (3.1, A.2.3) takes the alignment that best separates what people call far away from what
they call close enough; where calibrations were made, that is done here. Without them our own rule
does the same with simulated participants: see `RULE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.analysis.calibration import Separation, Suggestion, separation
from labapp.planning.folding import BEST
from labapp.planning.pairs import Pairs

if TYPE_CHECKING:
    import pandas as pd

UNDERSTANDS = ("understanding",)
TRIES = ("ascent", "random")
"""Strategies that get anywhere without knowing what a dial does; `partial` is in between and in
neither."""
CHANCE = 0.05
"""At most so many of the sampled pairs may be aligned from the start."""
RULE = (
    "The target alignment that best separates the best alignments of simulated participants who "
    "understand the dials (understanding) from those of participants who only try (ascent and "
    "random), by balanced accuracy, with a target that nobody reaches; but at least the alignment "
    "that 95 % of the sampled pairs of start and target fall short of. Where several values "
    "separate equally well, the widest gap between two observed alignments is taken, and in it a "
    "multiple of 5 % if there is one, else its middle, to a whole per cent. Epsilon is 1 minus it."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """Of one model, or of all models of a data set (model None).

    reached: best alignments by strategy. separated: as simulated, None where one kind of strategy
    is missing or none separates them; floor: the alignment that 95 % of the pairs fall short of.
    target: recommended; source: calibration, simulation, chance (the floor alone). present: the
    study's own. Shares below are of the questions (understood, tried) or of the pairs (by_chance)
    that reach the recommended target.
    """

    dataset: str
    model: str | None
    present: float
    floor: float
    separated: Separation | None
    target: float
    source: str
    reached: Mapping[str, Floats]
    pairs: Floats

    @property
    def epsilon(self) -> float:
        """The distance of the target, 0-1."""
        return round(1.0 - self.target, 10)

    def share(self, strategies: Sequence[str], target: float | None = None) -> float | None:
        """Of the questions of these strategies that reach a target, by default the recommended."""
        values = pooled(self.reached, strategies)
        wanted = self.target if target is None else target
        return float(np.mean(values >= wanted)) if values.size else None

    def by_chance(self, target: float | None = None) -> float:
        return float(np.mean(self.pairs >= (self.target if target is None else target)))


def pooled(reached: Mapping[str, Floats], strategies: Sequence[str]) -> Floats:
    known = [reached[name] for name in strategies if name in reached]
    return np.concatenate(known) if known else np.empty(0)


def thresholds(
    every: Sequence[Pairs], questions: pd.DataFrame, calibrated: Sequence[Suggestion] = ()
) -> list[Threshold]:
    """By data set, the data set as a whole first, then its models.

    questions: of `People`, simulated with a target out of reach; calibrated: what calibration
    sessions suggest, which holds for the data set and all its models.
    """
    found = []
    for dataset in dict.fromkeys(pairs.dataset for pairs in every):
        own = [pairs for pairs in every if pairs.dataset == dataset]
        some = questions[questions["dataset"] == dataset]
        said = next((one.separation for one in calibrated if one.dataset == dataset), None)
        together = np.concatenate([pairs.alignments for pairs in own])
        present = own[0].target_alignment
        found.append(_threshold(dataset, None, present, together, some, said))
        found += [
            _threshold(
                dataset,
                pairs.model,
                pairs.target_alignment,
                pairs.alignments,
                some[some["model"] == pairs.model],
                said,
            )
            for pairs in own
        ]
    return found


def _threshold(
    dataset: str,
    model: str | None,
    present: float,
    pairs: Floats,
    questions: pd.DataFrame,
    calibrated: Separation | None,
) -> Threshold:
    reached = {
        str(name): some[BEST].dropna().to_numpy(np.float64)
        for name, some in questions.groupby("strategy", sort=False)
    }
    tried, understood = pooled(reached, TRIES), pooled(reached, UNDERSTANDS)
    separated = separation(tried.tolist(), understood.tolist())
    low = float(np.quantile(pairs, 1 - CHANCE, method="higher"))
    target, source = recommended(separated, low, calibrated)
    return Threshold(dataset, model, present, low, separated, target, source, reached, pairs)


def recommended(
    separated: Separation | None, low: float, calibrated: Separation | None = None
) -> tuple[float, str]:
    """The target alignment and what it rests on; low: the alignment that 95 % of pairs fall short
    of."""
    if calibrated is not None:
        return _round_in(calibrated), "calibration"
    above = (floor(low * 100 + 1e-9) + 1) / 100
    if separated is None:
        return min(above, 1.0), "chance"
    target = _round_in(separated)
    return (target, "simulation") if target >= low else (min(above, 1.0), "chance")


def _round_in(gap: Separation) -> float:
    """A round number in the interval of which a separation is the middle: above `low`, at most
    `high`."""
    for step in (5, 1):
        middle = round(gap.target * 100 / step) * step
        for percent in (middle, middle + step, middle - step):
            if gap.low * 100 < percent <= gap.high * 100:
                return percent / 100
    return round(gap.target, 3)
