"""The rules by which scores are made: the shipped ones, and those of packages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labapp.discovery import Catalogue
from labapp.errors import RecordError

if TYPE_CHECKING:
    from labapp.study.instruments.scoring import Score


@dataclass(frozen=True, slots=True)
class Given:
    """What a score is made of.

    Attributes
    ----------
    answers : the answers of one questionnaire that were given, by item, as they are stored.
    scores, weights : mapping of str to float
        Other scores of the questionnaire, and of the one with the weights; empty at first.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """A rule that makes one number of answers. A package brings one by an entry point of the group
    `labapp.scores` that names such an object; a questionnaire then declares
    `{rule: <name>, items: [...], settings: {...}}`.

    Attributes
    ----------
    name : what `rule:` says.
    function : `(score, given) -> float or None`: score is the declaration, with its `items` and
        `settings`, and `score.numbers_in(given.answers)` has its ratings as they count. It is asked
        where all the items are answered. None says that there is no score.
    description : what it makes, in a sentence.
    limits : `(score) -> (low, high)`, for ratings with the same numbers; None where it has none.
    """

    name: str
    function: Callable[[Score, Given], float | None]
    description: str
    limits: Callable[[Score], tuple[float, float]] | None = None


def _mean(score: Score, given: Given) -> float:
    numbers = score.numbers_in(given.answers)
    # A whole number is multiplied before it is divided: 5 x the sum of six gradations is exact.
    return float(score.times * sum(numbers) / len(numbers))


def _sum(score: Score, given: Given) -> float:
    numbers = score.numbers_in(given.answers)
    return float(score.times * (sum(numbers) * len(score.sum) / len(numbers)))


def _chosen(score: Score, given: Given) -> float | None:
    chosen = [given.answers[item]["chosen"] for item in score.among]
    if not all(len(options) == 1 for options in chosen):
        return None
    return float([options[0] for options in chosen].count(score.chosen))


def _weighted(score: Score, given: Given) -> float | None:
    if not score.weighted.keys() <= given.scores.keys():
        return None
    if not set(score.weighted.values()) <= given.weights.keys():
        return None
    total = whole = 0.0
    for name, weight in score.weighted.items():
        total += given.weights[weight] * given.scores[name]
        whole += given.weights[weight]
    return total / whole if whole else None


_ALL = (
    ScoringRule(
        "mean",
        _mean,
        "The mean of ratings with the same numbers.",
        lambda score: (score.times * score.ends[0], score.times * score.ends[1]),
    ),
    ScoringRule(
        "sum",
        _sum,
        "The sum of ratings with the same numbers.",
        lambda score: (
            score.times * len(score.sum) * score.ends[0],
            score.times * len(score.sum) * score.ends[1],
        ),
    ),
    ScoringRule("chosen", _chosen, "How often an option was chosen."),
    ScoringRule("weighted", _weighted, "A mean of other scores, weighted by further ones."),
)


def _problem(rule: ScoringRule, others: Sequence[ScoringRule]) -> str:
    """Why a rule cannot be used; empty where it can."""
    return "" if rule.description.strip() else "it has no description"


RULES: Catalogue[ScoringRule] = Catalogue(
    "labapp.scores", "a scoring rule", ScoringRule, lambda: _ALL, _problem
)


def make_score(name: str, score: Score, given: Given) -> float | None:
    """What a rule makes of what was given; None for no score.

    Raises RecordError where the rule of a package fails, or makes what is no number.
    """
    rule = RULES[name]
    if name in RULES.shipped:
        return rule.function(score, given)
    try:
        value = rule.function(score, given)
        if value is None:
            return None
        number = float(value)
        why = "" if math.isfinite(number) else f"it makes {number}"
    except Exception as error:  # noqa: BLE001 (whatever a stranger's rule does)
        why = f"{type(error).__name__}: {error}"
    if why:
        raise RecordError(
            f"The scoring rule {name!r} of {RULES.package(name)} failed: {why}.",
            safe="What was recorded is untouched.",
            todo="Ask the authors of the package to mend it.",
        )
    return number
