"""The recommended epsilon: near enough that hardly anybody gets there without understanding.

Paper 000 (3.1, A.2.3) takes the alignment that best separates what people call far away from what
they call close enough; where calibrations were made, that is done here. Without them a rule of our
own is applied to simulated participants, see `RULE`: what counts as solved must not be reached by
trying, and should otherwise ask as little as possible, so that those who understand reach it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.analysis.calibration import Separation, Suggestion, separation
from labapp.planning.pairs import Pairs
from labapp.planning.people import BEST
from labapp.representations.distance import ALIGNMENT_SLACK

if TYPE_CHECKING:
    import pandas as pd

UNDERSTANDS = ("understanding",)
TRIES = ("ascent", "random")
"""Strategies that get anywhere without knowing what a dial does; `partial` is in between and in
neither."""
CHANCE, STUMBLES = 0.05, 0.1
"""At most so many of the sampled pairs may be aligned from the start, and so many of the questions
of those who only try may be solved."""
GRID = range(5, 100, 5)
"""Target alignments that are looked at, in per cent; beyond, precision is asked for, no insight."""
RULE = (
    f"The lowest round target alignment that at most {STUMBLES * 100:g} % of the questions of "
    "simulated participants who only try (ascent and random) come up to, and that at most "
    f"{CHANCE * 100:g} % of the sampled pairs of start and target have from the start; epsilon is "
    "1 minus it. No target above 95 % is recommended. Nobody is stopped at a target while this is "
    "found out. Lower, and success would be stumbled upon; higher, and those who understand would "
    "miss it for want of precision. Beside it stands the value that separates the best alignments "
    "of those who understand from those of people who only try, by balanced accuracy, as a "
    "calibration with people would be separated."
)
HARDLY = 0.25
"""Below this difference between the shares of understood and stumbled-upon questions the target
hardly tells the two apart."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """The threshold of one model, or of all models of a data set (model None).

    Attributes
    ----------
    reached : best alignments by strategy.
    separated : where those who understand and those who try are told apart best, None where one
        kind is missing or nothing does.
    floor : the alignment that 95 % of the pairs fall short of.
    target : recommended.
    source : calibration, simulation, chance (of the pairs, where nobody only tries or chance asks
        for more).
    present : the study's own.
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
        return reaching(values, wanted) if values.size else None

    def by_chance(self, target: float | None = None) -> float:
        """Of the pairs that have a target alignment from the start."""
        return reaching(self.pairs, self.target if target is None else target)


def reaching(values: Floats, target: float) -> float:
    """Share of alignments that count as the target's."""
    return float(np.mean(values >= target - ALIGNMENT_SLACK))


def pooled(reached: Mapping[str, Floats], strategies: Sequence[str]) -> Floats:
    samples = [reached[name] for name in strategies if name in reached]
    return np.concatenate(samples) if samples else np.empty(0)


def thresholds(
    every: Sequence[Pairs], questions: pd.DataFrame, calibrated: Sequence[Suggestion] = ()
) -> list[Threshold]:
    """By data set, the data set as a whole first, then its models.

    questions: of `People`, simulated with a target out of reach; calibrated: what calibration
    sessions suggest, which holds for the data set and all its models.
    """
    result = []
    for dataset in dict.fromkeys(pairs.dataset for pairs in every):
        own = [pairs for pairs in every if pairs.dataset == dataset]
        some = questions[questions["dataset"] == dataset]
        separation = next((c.separation for c in calibrated if c.dataset == dataset), None)
        together = np.concatenate([pairs.alignments for pairs in own])
        present = own[0].target_alignment
        result.append(_threshold(dataset, None, present, together, some, separation))
        result += [
            _threshold(
                dataset,
                pairs.model,
                pairs.target_alignment,
                pairs.alignments,
                some[some["model"] == pairs.model],
                separation,
            )
            for pairs in own
        ]
    return result


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
    target, source = recommended(pairs, tried, calibrated)
    return Threshold(dataset, model, present, low, separated, target, source, reached, pairs)


def recommended(
    pairs: Floats, tried: Floats, calibrated: Separation | None = None
) -> tuple[float, str]:
    """The target alignment and what it rests on. tried: best alignments of those who only try."""
    if calibrated is not None:
        return _round_in(calibrated), "calibration"
    by_chance = _lowest(pairs, CHANCE)
    by_trying = _lowest(tried, STUMBLES) if tried.size else 0
    source = "simulation" if by_trying >= by_chance else "chance"
    return max(by_chance, by_trying) / 100, source


def _lowest(values: Floats, most: float) -> int:
    """The lowest target of the grid that at most such a share reaches; its end where none is."""
    percents = (percent for percent in GRID if reaching(values, percent / 100) <= most)
    return next(percents, GRID[-1])


def _round_in(gap: Separation) -> float:
    """A round number in the interval of which a separation is the middle: above `low`, at most
    `high`."""
    for step in (5, 1):
        middle = round(gap.target * 100 / step) * step
        for percent in (middle, middle + step, middle - step):
            if gap.low * 100 < percent <= gap.high * 100:
                return percent / 100
    return round(gap.target, 3)
