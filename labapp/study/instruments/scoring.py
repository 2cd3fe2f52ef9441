"""Scores of questionnaires, as their files declare them: `scores: {trust: {mean: [a, b]}}`.

A score whose answers are not all there is absent, never guessed and never NaN; a study may say how
many items of a scale are enough (`missing.scale_items`). What a plan keeps is the declaration with
the numbers that its items have (`Score`), so that a journal can be scored without the
questionnaire.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from labapp.base.discovery import Catalogue
from labapp.base.documents import WORD, Strict
from labapp.base.errors import RecordError

if TYPE_CHECKING:
    from labapp.study.instruments.instrument import Instrument


Answers = Mapping[str, Any]
"""The answers of one questionnaire that were given, by item."""
AS_ANSWERED = "as-answered"
"""In place of declarations: every rating is a score of its own, in its own numbers."""
OLD_NAMES = ("seq", "nasa-tlx", "nasa-tlx-weights", "sus", "ueq-s")
"""What `scoring` of older files and journals can be besides: a shipped questionnaire, whose
declarations hold."""
Names = tuple[Annotated[str, Field(pattern=WORD)], ...]


class Score(Strict):
    """One score: the mean or the sum of ratings, how often an option was chosen, a weighted mean of
    other scores, or what the rule of a package makes. Exactly one of these is said.

    Attributes
    ----------
    mean : ratings by the ids of their items, all with the same numbers, of which the mean is taken.
    sum : ratings by the ids of their items, all with the same numbers, which are added up.
    reverse : those among them that count the other way round: the highest number as the lowest.
    start : what the lowest number counts; by default itself.
    times : what the mean or sum is multiplied by.
    chosen : the option that is counted.
    among : in which choices of one option it is counted; by default in all of the questionnaire.
    weighted : by score of this questionnaire the score that is its weight; of this questionnaire or
        of another one that asks about the same stage, or else about the whole session.
    rule : a rule that a package brings (`rules.ScoringRule`).
    items : what the rule makes its score of, by the ids of the items.
    settings : what the rule is told besides.
    meaning : what its ends mean.
    numbers : the lowest and the highest number of its ratings; set by the questionnaire.
    low : its lower limit; set by the questionnaire.
    high : its upper limit; set by the questionnaire.
    """

    model_config = ConfigDict(populate_by_name=True)

    mean: Names = ()
    sum: Names = ()
    reverse: Names = ()
    start: int | None = Field(default=None, alias="from")
    times: float = Field(default=1.0, gt=0)
    chosen: str | None = None
    among: Names = ()
    weighted: dict[str, str] = Field(default_factory=dict)
    rule: str | None = None
    items: Names = ()
    settings: dict[str, bool | int | float | str] = Field(default_factory=dict)
    meaning: str = ""
    numbers: tuple[int, int] | None = None
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _one_rule(self) -> Score:
        rules = [self.mean, self.sum, self.chosen, self.weighted, self.rule]
        if len([rule for rule in rules if rule]) != 1 or (self.among and not self.chosen):
            raise ValueError(
                "one of mean, sum, chosen, weighted or rule, and `among` only with chosen"
            )
        if self.rule is None and (self.items or self.settings):
            raise ValueError("items and settings beside rule alone")
        if self.rule is not None and (self.rule not in RULES or self.rule in RULES.shipped):
            brought = ", ".join(RULES.brought) or "none"
            raise ValueError(
                f"rule: one that an installed package brings, here {brought}; {self.rule!r} is "
                f"none. {RULES.left_out()}".strip()
            )
        if other := [item for item in self.reverse if item not in self.ratings]:
            raise ValueError(f"reverse names {other[0]!r}, which is not among its ratings")
        return self

    @property
    def ratings(self) -> Names:
        """The ratings that it is made of; of a package's rule its items, which may be others."""
        return self.mean or self.sum or self.items

    @property
    def needs(self) -> Names:
        """The items that it needs."""
        return self.ratings or self.among

    @property
    def rule_name(self) -> str:
        """The rule that makes it."""
        return self.rule or next(name for name in RULES.shipped if getattr(self, name))

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest number of its ratings, as they count."""
        assert self.numbers is not None
        low, high = self.numbers
        moved = 0 if self.start is None else self.start - low
        return low + moved, high + moved

    def numbers_in(self, answers: Answers) -> list[int]:
        """Its ratings that were given, as they count: those that are reversed the other way
        round."""
        low, high = self.numbers or (0, 0)
        moved = 0 if self.start is None else self.start - low
        return [
            (low + high - answers[item] if item in self.reverse else answers[item]) + moved
            for item in self.ratings
            if item in answers
        ]

    def answered(self, answers: Answers) -> int:
        """How many of the items that it needs were answered."""
        return sum(item in answers for item in self.needs)

    def enough(self, at_least: int | None) -> int:
        """How many of its items must be answered. at_least: so many of a mean or a sum, as a study
        may say; a scale with fewer items needs all of them, as does every other score."""
        scale = at_least is not None and bool(self.mean or self.sum)
        return min(at_least or 0, len(self.needs)) if scale else len(self.needs)

    def of(self, answers: Answers, at_least: int | None = None) -> float | None:
        """The score; None where too few of its items were answered, or where it weighs scores.

        A mean is that of the answers that are there. A sum is that mean times the number of items:
        each missing answer counts as the mean of the person's own others, as in the half-scale rule
        of Fairclough and Cella (1996). at_least: see `enough`.
        """
        if self.answered(answers) < self.enough(at_least):
            return None
        return make_score(self.rule_name, self, Given(answers))

    def weighed(self, scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
        """A weighted mean of scores; None where one of them or of the weights is missing."""
        given = Given(scores=scores, weights=weights)
        return make_score(self.rule_name, self, given) if self.weighted else None


Declared = Annotated[dict[Annotated[str, Field(pattern=WORD)], Score], Field(min_length=1)]
Scores = Declared | Literal["as-answered"]
"""What a questionnaire declares, by the names of its scores."""
_SCORES: TypeAdapter[Any] = TypeAdapter(Scores)


def as_answered(answers: Answers) -> dict[str, float]:
    """Ratings as they are: a score an item, in the item's own numbers."""
    return {
        item: float(value)
        for item, value in answers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def declared(scoring: Any) -> Mapping[str, Score] | Literal["as-answered"] | None:
    """The declarations that `scoring` of a part of a plan stands for; None where it has no scores.

    An older plan has a name there, which stands for the shipped questionnaire that has taken its
    place. Raises ValueError for what is neither.
    """
    if scoring is None or scoring == AS_ANSWERED:
        return None if scoring is None else "as-answered"
    if isinstance(scoring, str):
        if scoring not in OLD_NAMES:
            raise ValueError(f"nobody here knows the scoring {scoring!r}")
        return of_name(scoring)
    try:
        scores: Mapping[str, Score] = _SCORES.validate_python(scoring)
    except ValidationError as error:
        raise ValueError(f"its scores cannot be read: {error.errors()[0]['msg']}") from error
    return scores


@cache
def of_name(scoring: str) -> Mapping[str, Score]:
    """The shipped declarations that a name of older files and journals stands for."""
    shipped = _shipped(scoring)
    assert shipped is not None
    assert isinstance(shipped.scores, dict)
    return shipped.scores


def once_a_stage(instrument: str, items: Any) -> tuple[str, ...]:
    """The items of a shipped questionnaire that an older plan asks once for each stage; items: as
    that plan has their ids."""
    if not isinstance(items, list | tuple) or not items:
        return ()
    shipped = _shipped(instrument)
    repeated = () if shipped is None else (item.id for item in shipped.items if item.repeat)
    return tuple(base for base in repeated if f"{base}_1" in items)


@cache
def _shipped(instrument: str) -> Instrument | None:
    """A shipped questionnaire by its id; None where there is none."""
    from labapp.base import resources
    from labapp.study.instruments.instrument import Instrument

    folder = resources.assets() / "instruments"
    names = {path.stem: path for path in folder.glob("*.yaml")}
    path = names.get(instrument)
    return None if path is None else Instrument.parse(path, path.read_bytes())


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
