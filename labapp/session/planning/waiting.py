"""T, after which a question may be skipped, and how long a session takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.calibration import Suggestion, skip_after_s
from labapp.session.planning.thresholds import Pairs, People

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
RULE = (
    "The multiple of 5 s that is nearest to twice the median active time of the solved questions, "
    "as participants of the mixture would solve them; active time is what the count before Skip "
    "counts."
)


@dataclass(frozen=True)
class Waiting:
    """The time after which a question of one data set may be skipped.

    Attributes
    ----------
    active_s : of the solved questions by strategy.
    median_s : of the mixture.
    skip_after_s : T, None where nothing was solved.
    source : calibration or simulation.
    present_s : the study's own, None where it never waits with the skip.
    """

    dataset: str
    present_s: float | None
    median_s: float | None
    skip_after_s: int | None
    source: str
    active_s: Mapping[str, Floats]
    solved: int


@dataclass(frozen=True, slots=True)
class Length:
    """Working time of a session in seconds, interviews left out, for nobody can say how long people
    talk: median and 90th percentile. strategy: None for the
    mixture; n: sessions."""

    strategy: str | None
    n: int
    median_s: float
    ninety_s: float


@dataclass(frozen=True, slots=True)
class Completion:
    """Share of the questions with one model that participants of a strategy (None: the mixture)
    solve: mean and standard deviation over n participants, 0-1."""

    strategy: str | None
    model: str
    n: int
    mean: float
    sd: float | None


def quantile(values: ArrayLike, weights: ArrayLike, share: float) -> float:
    """The least value up to which the weights make up a share of their sum; the middle between it
    and the next where they make up exactly that."""
    x, w = np.asarray(values, np.float64), np.asarray(weights, np.float64)
    x, w = x[w > 0], w[w > 0]
    order = np.argsort(x, kind="stable")
    x, up_to = x[order], np.cumsum(w[order]) / w.sum()
    at = int(np.searchsorted(up_to, share - 1e-12))
    if at + 1 < x.size and abs(up_to[at] - share) < 1e-12:
        return float((x[at] + x[at + 1]) / 2)
    return float(x[min(at, x.size - 1)])


def waiting(
    every: Sequence[Pairs], people: People, calibrated: Sequence[Suggestion] = ()
) -> list[Waiting]:
    """T by data set; calibrated: what calibration sessions suggest takes precedence."""
    import pandas as pd

    solved = people.questions[people.questions["outcome"] == "solved"]
    result = []
    for dataset in dict.fromkeys(pairs.dataset for pairs in every):
        own = solved[solved["dataset"] == dataset]
        by_strategy = {
            str(name): some["active_s"].to_numpy(np.float64)
            for name, some in own.groupby("strategy", sort=False)
        }
        questions = people.questions[people.questions["dataset"] == dataset]
        middle = None
        if len(own):
            # A strategy counts by what its participants solve: its share over its questions asked.
            each = pd.Series(people.shares) / questions.groupby("strategy").size()
            weights = own["strategy"].map(each)
            if weights.sum() > 0:
                middle = quantile(own["active_s"], weights, 0.5)
        measured = next((c for c in calibrated if c.dataset == dataset), None)
        source = "simulation"
        wait = None if middle is None else skip_after_s([middle])
        if measured is not None and measured.skip_after_s is not None:
            middle, wait = measured.median_active_s, measured.skip_after_s
            source = "calibration"
        present = next(pairs.skip_after_s for pairs in every if pairs.dataset == dataset)
        result.append(Waiting(dataset, present, middle, wait, source, by_strategy, len(own)))
    return result


def lengths(people: People) -> list[Length]:
    """Lengths of the sessions that came to an end: of the mixture, then of each strategy."""
    done = people.tables.participants
    done = done[done["complete"] & done["duration_s"].notna()]
    result = [_length(None, done, people)]
    for strategy in people.shares:
        own = done[done["participant"].map(people.strategies.get) == strategy]
        if len(own):
            result.append(_length(strategy, own, people))
    return result


def _length(strategy: str | None, sessions: pd.DataFrame, people: People) -> Length:
    seconds = (sessions["duration_s"] - sessions["interview_s"]).to_numpy(np.float64)
    weights = people.weights(list(sessions["participant"]))
    if strategy is not None:
        weights = np.ones(len(seconds))
    return Length(
        strategy, len(seconds), quantile(seconds, weights, 0.5), quantile(seconds, weights, 0.9)
    )


def completions(people: People) -> list[Completion]:
    """By model, the mixture first."""
    from labapp.analysis.task_report import in_order

    stages = people.tables.stages
    stages = stages[stages["completion_rate"].notna()]
    result = []
    for model in in_order(stages["model"]):
        own = stages[stages["model"] == model]
        rates = own["completion_rate"].to_numpy(np.float64)
        weights = people.weights(list(own["participant"]))
        mean = float(weights @ rates)
        sd = float(np.sqrt(weights @ np.square(rates - mean)))
        result.append(Completion(None, model, len(rates), mean, sd))
        strategies = own["participant"].map(people.strategies.get)
        for strategy in people.shares:
            some = rates[(strategies == strategy).to_numpy()]
            if some.size:
                spread = float(some.std(ddof=1)) if some.size > 1 else None
                result.append(Completion(strategy, model, some.size, float(some.mean()), spread))
    return result
