"""An instrument: its items, how they are ordered, paged and scored.

The questionnaires that are known by their id: the shipped ones, and those of other packages.

Scores of questionnaires, as their files declare them: `scores: {trust: {mean: [a, b]}}`.

A score whose answers are not all there is absent, never guessed and never NaN; a study may say how
many items of a scale are enough (`missing.scale_items`). What a plan keeps is the declaration with
the numbers that its items have (`Score`), so that a journal can be scored without the
questionnaire.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from labapp.base import resources
from labapp.base.discovery import Catalogue
from labapp.base.documents import (
    SLUG,
    WORD,
    Located,
    Path_,
    Problem,
    Strict,
    faults_at,
    format_path,
    make_document_error,
    read_yaml,
    refuse_again,
)
from labapp.base.errors import RecordError, StudyError
from labapp.base.naming import NotReserved
from labapp.study import when
from labapp.study.conditions import OrderByGroup, Value
from labapp.study.instruments import asking, dont_know
from labapp.study.instruments.items import USUAL, Bounds, Item, Listed, Option, SomeWords, Words
from labapp.study.instruments.kinds import ITEM_KINDS, AnyItem, kind_of
from labapp.study.partial import read_partly
from labapp.study.plugins import texts

Answers = Mapping[str, Any]
"""The answers of one questionnaire that were given, by item."""
AS_ANSWERED = "as-answered"
"""In place of declarations: every rating is a score of its own, in its own numbers."""
OLD_NAMES = ("seq", "nasa-tlx", "nasa-tlx-weights", "sus", "ueq-s")
"""What `scoring` of older files and journals can be besides: a shipped questionnaire, whose
declarations hold."""
Names = tuple[Annotated[str, Field(pattern=WORD)], ...]


REVERSE_UNKNOWN = "reverse contains {!r}, which is not one of its ratings"


class Score(Strict):
    """One score: the mean or the sum of ratings, how often an option was chosen, a weighted mean of
    other scores, or the result of a package's rule. Exactly one of these is given.

    Attributes
    ----------
    mean : the ids of items with numbers, such as ratings, whose mean is taken; all must have the
        same lowest and highest number. The id of a matrix means all its rows.
    sum : the ids of such items, whose numbers are added up.
    reverse : those of them that are reverse-scored: the highest number counts as the lowest.
    start : what the lowest number counts as (default: itself).
    times : what the mean or sum is multiplied by.
    chosen : the option to count.
    among : the choice items in which it is counted (default: all of the questionnaire).
    weighted : for each score of this questionnaire, the score that is its weight, from this
        questionnaire or from another one that asks about the same stage or, failing that, the whole
        session.
    rule : a rule from a package (`rules.ScoringRule`).
    items : the ids of the items from which the rule computes its score.
    settings : further settings of the rule.
    meaning : the meaning of its ends.
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
    numbers: tuple[int | float, int | float] | None = None
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
            raise ValueError("items and settings only together with rule")
        if self.rule is not None and (self.rule not in RULES or self.rule in RULES.shipped):
            brought = ", ".join(RULES.brought) or "none"
            raise ValueError(
                f"rule: a rule of an installed package (here {brought}), but {self.rule!r} is "
                f"not one of them. {RULES.left_out()}".strip()
            )
        # Of a matrix, whose id stands for its rows, one row can be reversed.
        known = tuple(f"{item}_" for item in self.ratings)
        if other := [
            item for item in self.reverse if item not in self.ratings and not item.startswith(known)
        ]:
            raise ValueError(REVERSE_UNKNOWN.format(other[0]))
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
    def ends(self) -> Bounds:
        """The lowest and the highest number of its ratings, as they count."""
        assert self.numbers is not None
        low, high = self.numbers
        moved = 0 if self.start is None else self.start - low
        return low + moved, high + moved

    def numbers_in(self, answers: Answers) -> list[float]:
        """Its ratings that were given, as they count: those that are reversed the other way
        round."""
        low, high = self.numbers or (0, 0)
        moved = 0 if self.start is None else self.start - low
        return [
            (low + high - answers[item] if item in self.reverse else answers[item]) + moved
            for item in self.ratings
            if item in answers
        ]

    def of_parts(self, parts: Mapping[str, Names]) -> Score:
        """With their parts in place of items that have several. parts: by the ids of those."""
        update = {
            key: tuple(name for item in named for name in parts.get(item, (item,)))
            for key in ("mean", "sum", "reverse", "items")
            if parts.keys() & set(named := getattr(self, key))
        }
        return self.model_copy(update=update) if update else self

    def answered(self, answers: Answers) -> int:
        """How many of the items that it needs were answered."""
        return sum(item in answers for item in self.needs)

    def enough(self, at_least: int | None) -> int:
        """How many of its items must be answered. at_least: so many of a mean or a sum, as a study
        may say; a scale with fewer items needs all of them, as does every other score."""
        scale = at_least is not None and bool(self.mean or self.sum)
        return min(at_least or 0, len(self.needs)) if scale else len(self.needs)

    def of(self, answers: Answers, at_least: int | None = None) -> float | None:
        """The score; None if too few of its items were answered, or where it weighs scores.

        A mean is taken over the existing answers. A sum is that mean times the number of items:
        each missing answer counts as the mean of the person's own others, as in the half-scale rule
        of Fairclough and Cella (1996). at_least: see `enough`.
        """
        if self.answered(answers) < self.enough(at_least):
            return None
        return make_score(self.rule_name, self, Given(answers))

    def weigh(self, scores: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
        """A weighted mean of scores; None if one of them or of the weights is missing."""
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


def resolve_scoring(scoring: Any) -> Mapping[str, Score] | Literal["as-answered"] | None:
    """The declarations that `scoring` of a part of a plan stands for; None if it has no scores.

    An older plan has a name there, which stands for the shipped questionnaire that has taken its
    place. Raises ValueError for what is neither.
    """
    if scoring is None or scoring == AS_ANSWERED:
        return None if scoring is None else "as-answered"
    if isinstance(scoring, str):
        if scoring not in OLD_NAMES:
            raise ValueError(f"the scoring {scoring!r} is unknown here")
        return of_name(scoring)
    try:
        scores: Mapping[str, Score] = _SCORES.validate_python(scoring)
    except ValidationError as error:
        raise ValueError(f"its scores cannot be read: {error.errors()[0]['msg']}") from error
    return scores


@cache
def of_name(scoring: str) -> Mapping[str, Score]:
    """The shipped declarations that a name of older files and journals stands for."""
    shipped = _shipped_instrument(scoring)
    assert shipped is not None
    assert isinstance(shipped.scores, dict)
    return shipped.scores


def once_a_stage(instrument: str, items: Any) -> tuple[str, ...]:
    """The items of a shipped questionnaire that an older plan asks once for each stage; items: as
    that plan has their ids."""
    if not isinstance(items, list | tuple) or not items:
        return ()
    shipped = _shipped_instrument(instrument)
    repeated = () if shipped is None else (item.id for item in shipped.items if item.repeat)
    return tuple(base for base in repeated if f"{base}_1" in items)


@cache
def _shipped_instrument(instrument: str) -> Instrument | None:
    """A shipped questionnaire by its id; None if there is none."""
    from labapp.base import resources

    folder = resources.assets() / "instruments"
    names = {path.stem: path for path in folder.glob("*.yaml")}
    path = names.get(instrument)
    return None if path is None else Instrument.parse(path, path.read_bytes())


@dataclass(frozen=True, slots=True)
class Given:
    """What a score is made of.

    Attributes
    ----------
    answers : the answers of one questionnaire that were given, by item, or by part of an item: its
        number, or the answer as it is stored where it is none.
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
    limits : `(score) -> (low, high)`, for ratings with the same numbers; None if it has none.
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


def _score_chosen(score: Score, given: Given) -> float | None:
    answers = [given.answers[item] for item in score.among]
    chosen = [(each,) if isinstance(each, str) else each["chosen"] for each in answers]
    if not all(len(options) == 1 for options in chosen):
        return None
    return float([options[0] for options in chosen].count(score.chosen))


def _score_weighted(score: Score, given: Given) -> float | None:
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
    ScoringRule("chosen", _score_chosen, "How often an option was chosen."),
    ScoringRule("weighted", _score_weighted, "A mean of other scores, weighted by further ones."),
)


def _rule_problem(rule: ScoringRule, others: Sequence[ScoringRule]) -> str:
    """Why a rule cannot be used; empty if it can."""
    return "" if rule.description.strip() else "it has no description"


RULES: Catalogue[ScoringRule] = Catalogue(
    "labapp.scores", "a scoring rule", ScoringRule, lambda: _ALL, _rule_problem
)


def make_score(name: str, score: Score, given: Given) -> float | None:
    """What a rule makes of what was given; None for no score.

    Raises RecordError if the rule of a package fails, or makes what is no number.
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
            todo="Report this to the authors of the package.",
        )
    return number


class SharedScale(Strict):
    """What the statements of an instrument share.

    Attributes
    ----------
    points : the number of points of the scale.
    first : the number of the first point, 0 or 1.
    low : the words at its lowest point.
    high : the words at its highest point.
    middle : the words at its middle, with an odd number of points.
    labels : words for every point, instead of low and high.
    numbers : whether the numbers of the points are shown under the circles, so that an item can ask
        to choose one; by default not.
    """

    points: int = Field(ge=2, le=101)
    first: Literal[0, 1] = 1
    low: Words = ""
    high: Words = ""
    middle: Words = ""
    labels: tuple[SomeWords, ...] = ()
    numbers: bool | None = None


class Sample(Strict):
    """Items of which each participant is asked only some.

    Attributes
    ----------
    draw : how many are drawn at random for each participant; the plan records which.
    of : the ids of the items that are drawn from.
    """

    draw: int = Field(ge=1)
    of: Names = Field(min_length=2)

    @model_validator(mode="after")
    def _leaves_some_out(self) -> Sample:
        if len(set(self.of)) < len(self.of):
            raise ValueError("each item once in `of`")
        if self.draw >= len(self.of):
            raise ValueError(f"a draw of fewer than the {len(self.of)} items")
        return self


class Instrument(Strict):
    """A questionnaire.

    Attributes
    ----------
    id : its name, which is also the name of its file.
    version : a whole number from 1. Increase it when the questionnaire changes.
    title : the heading above it; like all words, a text, or texts by language: `{en: …, de: …}`.
    instruction : the text above its items.
    source : its source.
    scoring : what older files say instead of `scores`: the name of a shipped questionnaire, whose
        scores it has as far as it has their items.
    scores : by name how its scores are made, or `as-answered`: each rating is a score of its own.
    order : of its items: `fixed` as listed, `shuffled` for each participant, or by group:
        `{by: hint, orders: {with: [a, b], without: [b, a]}}`.
    per_page : items per page if they do not all fit on one screen.
    samples : items of which each participant is asked only some, drawn at random.
    minimum_s : the minimum time for each page, in seconds.
    advance : whether the next page appears by itself once every item of a page is answered; only
        for items with one-click answers.
    scale : the scale that its statements share.
    options : answers that several items share and refer to by id.
    items : what is asked.
    """

    id: Annotated[str, NotReserved] = Field(pattern=SLUG)
    version: int = Field(ge=1, lt=2**31)
    title: SomeWords
    instruction: Words = ""
    source: str
    scoring: str | None = None
    scores: Scores | None = None
    order: Annotated[
        Annotated[Literal["fixed", "shuffled"], Tag("alike")]
        | Annotated[OrderByGroup, Tag("group")],
        Discriminator(lambda order: "alike" if isinstance(order, str) else "group"),
    ] = "fixed"
    per_page: int | None = Field(default=None, ge=1)
    samples: tuple[Sample, ...] = ()
    minimum_s: float = Field(default=0.0, ge=0, le=600)
    advance: bool = False
    scale: SharedScale | None = None
    options: tuple[Option, ...] = ()
    items: tuple[AnyItem, ...] = Field(min_length=1, max_length=500)

    @model_validator(mode="before")
    @classmethod
    def _share(cls, value: Any) -> Any:
        """Give the items what they share, so that each stands on its own."""
        if not isinstance(value, dict) or not isinstance(value.get("items"), list):
            return value
        return value | {"items": [_with_shared(item, value) for item in value["items"]]}

    @field_validator("items")
    @classmethod
    def _unique(cls, items: tuple[AnyItem, ...]) -> tuple[AnyItem, ...]:
        ids = [item.id for item in items]
        refuse_again(ids, key=("id",))
        owners = {part.id: item.id for item in items for part in item.parts() if part is not item}
        if both := owners.keys() & set(ids):
            again = min(both)
            place: Path_ = (ids.index(again), "id")
            raise faults_at({place: f"{again!r} is also the id of a part of {owners[again]!r}"})
        clashes: dict[Path_, str] = {
            (index, "id"): f"{item_id!r} belongs to {base!r}, which is repeated"
            for base in (item.id for item in items if item.repeat)
            for index, item_id in enumerate(ids)
            if re.fullmatch(rf"{base}_[0-9]+", item_id)
        }
        if clashes:
            raise faults_at(clashes)
        return items

    @model_validator(mode="after")
    def _declares(self, info: ValidationInfo) -> Instrument:
        """Give the scores the numbers of their items. Refuses what could not be scored, each score
        with its place; what may follow from an item that could not be read is passed over."""
        scores = self.scores
        if self.scoring is not None:
            if scores is not None:
                raise ValueError("only scores; scoring is the older key with the same purpose")
            if self.scoring not in (*OLD_NAMES, AS_ANSWERED):
                raise ValueError(f"scoring: one of {', '.join((*OLD_NAMES, AS_ANSWERED))}")
            scores = self._of_name(self.scoring)
        if isinstance(scores, dict):
            known = {*self.parts(), *(item.id for item in self.items)}
            unread = (info.context or {}).get(_WRITTEN, frozenset()) - known
            several = {
                item.id: tuple(part.id for part in item.parts())
                for item in self.items
                if item.parts() != (item,)
            }
            scores = {name: score.of_parts(several) for name, score in scores.items()}
            numbered: dict[str, Score] = {}
            wrong: dict[str, str] = {}
            for name, score in scores.items():
                if unread & {*score.needs} or wrong.keys() & score.weighted.keys():
                    continue
                try:
                    numbered[name] = self._number_score(name, score, numbered)
                except ValueError as error:
                    wrong[name] = str(error).removeprefix("scores: ")
            if wrong:
                raise faults_at({("scores", name): what for name, what in wrong.items()})
            scores = numbered
        object.__setattr__(self, "scores", scores)
        return self

    def _of_name(self, scoring: str) -> Scores | None:
        """What a name in an older file stands for. Refuses items that are not those of the shipped
        questionnaire: they would be scored wrongly. Items may be left out."""
        if scoring == AS_ANSWERED:
            return "as-answered"
        ids = {item.id for item in self.items}
        scores: dict[str, Score] = {}
        for name, score in of_name(scoring).items():
            if not set(score.needs) <= ids or not score.weighted.keys() <= scores.keys():
                for item in self.items:
                    if item.id in score.ratings:
                        self._rating(name, item.id, score.numbers)
                continue
            for item_id in score.ratings:
                self._rating(name, item_id, score.numbers)
            scores[name] = score
        return scores or None

    def _number_score(self, name: str, score: Score, before: Mapping[str, Score]) -> Score:
        """A score with the numbers of its ratings and its limits."""
        if other := [item for item in score.reverse if item not in score.ratings]:
            raise ValueError(REVERSE_UNKNOWN.format(other[0]))
        if score.weighted:
            if unknown := [other for other in score.weighted if other not in before]:
                raise ValueError(
                    f"scores: {name} weights {unknown[0]!r}, which is not a score above it"
                )
            ends = [before[other] for other in score.weighted]
            lows, highs = [end.low or 0.0 for end in ends], [end.high or 0.0 for end in ends]
            return score.model_copy(update={"low": min(lows), "high": max(highs)})
        if score.chosen:
            every = tuple(
                item_id
                for item_id, item in self.parts().items()
                if item.one_of() is not None and item.right is None
            )
            among = score.among or every
            options = [option for item in among for option in self._options(name, item)]
            if score.chosen not in options:
                raise ValueError(f"scores: {name} counts {score.chosen!r}, which is not an option")
            count = float(options.count(score.chosen))
            return score.model_copy(update={"among": among, "low": 0.0, "high": count})
        if score.rule is not None and not self._are_ratings(name, score):
            return score
        numbers: Bounds | None = None
        for item in score.ratings:
            numbers = self._rating(name, item, numbers)
        numbered = score.model_copy(update={"numbers": numbers})
        if (limits := RULES[score.rule_name].limits) is None:
            return numbered
        low, high = limits(numbered)
        return numbered.model_copy(update={"low": float(low), "high": float(high)})

    def _are_ratings(self, name: str, score: Score) -> bool:
        """Whether a package's rule is about ratings with the same numbers, which can be reversed
        and moved. Refuses items that are not asked once."""
        items = [
            item for item in self.parts().values() if item.id in score.items and not item.repeat
        ]
        if unknown := set(score.items) - {item.id for item in items}:
            raise ValueError(f"scores: {name} needs an item {min(unknown)!r} that is asked once")
        numbers = {item.bounds() for item in items}
        alike = len(numbers) == 1 and None not in numbers
        if not alike and (score.reverse or score.start is not None):
            raise ValueError(f"scores: {name} needs ratings with the same numbers, to be reversed")
        return alike

    def _rating(self, name: str, item_id: str, numbers: Bounds | None) -> Bounds:
        """The lowest and highest number of a rating, which must be those of the others."""
        item = self.parts().get(item_id)
        rated = None if item is None or item.repeat else item.bounds()
        if rated is None:
            raise ValueError(f"scores: {name} needs a rating {item_id!r} that is asked once")
        if math.inf in map(abs, rated):
            raise ValueError(f"scores: {name} needs the lowest and highest number of {item_id!r}")
        if numbers is not None and numbers != rated:
            points = numbers[1] - numbers[0] + 1
            raise ValueError(
                f"scores: {name} needs a rating {item_id!r} of {points} points from {numbers[0]}"
            )
        return rated

    def _options(self, name: str, item_id: str) -> list[str]:
        """The ids of the options of a choice."""
        item = self.parts().get(item_id)
        options = None if item is None or item.repeat else item.one_of()
        if options is None:
            raise ValueError(f"scores: {name} needs a choice {item_id!r} that is asked once")
        return list(options)

    def planned_scores(self) -> str | dict[str, Any] | None:
        """What a plan keeps of the scores, so that a journal can be scored without the file."""
        if self.scoring is not None or not isinstance(self.scores, dict):
            return self.scoring or (AS_ANSWERED if self.scores else None)
        return {
            name: score.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            for name, score in self.scores.items()
        }

    def item(self, item_id: str) -> AnyItem:
        """An item; one that is repeated is found by its id with the number of the stage.

        Raises KeyError for an unknown item.
        """
        base, _, number = item_id.rpartition("_")
        for item in self.items:
            if item.id == item_id:
                return item
            if item.repeat and item.id == base and number.isdigit():
                words = {
                    name: getattr(item, name).replace("{stage}", number)
                    for name in ("name", "text")
                }
                return item.model_copy(update={"id": item_id, "repeat": None, **words})
        raise KeyError(item_id)

    def parts(self) -> dict[str, Item]:
        """The items as tables have them, by their ids: of one with several values its parts."""
        return {part.id: part for item in self.items for part in item.parts()}

    def part(self, part_id: str) -> Item:
        """An item, or a part of one, by its id; of one that is repeated with the number of the
        stage. Raises KeyError for an unknown one."""
        with suppress(KeyError):
            return self.item(part_id)
        owners = (item for item in self.items if part_id.startswith(f"{item.id}_"))
        for owner in owners:
            number = part_id.removeprefix(f"{owner.id}_").partition("_")[0]
            repeated = owner.repeat and number.isdigit()
            item = self.item(f"{owner.id}_{number}") if repeated else owner
            for part in item.parts():
                if part.id == part_id:
                    return part
        raise KeyError(part_id)

    def item_ids(self, stages: int) -> tuple[str, ...]:
        """The ids as listed, in a study with this number of stages.

        Raises StudyError if nothing is left to ask.
        """
        ids: list[str] = []
        for item in self.items:
            if item.repeat:
                ids += [f"{item.id}_{number + 1}" for number in range(stages)]
            else:
                ids.append(item.id)
        if not ids:
            raise StudyError(
                f"The questionnaire {self.id!r} asks about each stage, but the study has no "
                "stages.",
                todo="Remove it from the study, or add stages to the study.",
            )
        return tuple(ids)

    def sampled(
        self, item_ids: Sequence[str], shuffle: Callable[[Sequence[str], str], Sequence[str]]
    ) -> tuple[str, ...]:
        """Those of these items that a participant is asked. shuffle: orders ids for a sample, which
        has its number."""
        left_out = {
            item_id
            for number, sample in enumerate(self.samples, start=1)
            for item_id in shuffle(sample.of, str(number))[sample.draw :]
        }
        return tuple(item_id for item_id in item_ids if item_id not in left_out)

    def realise(
        self,
        item_ids: Sequence[str],
        values: Mapping[str, str] | None = None,
        orders: Mapping[str, Sequence[str]] | None = None,
    ) -> Instrument:
        """With these items in this order, all where none is named. values: of the part, which fill
        the instruction; with an `accuracy` among them sliders about it get their places; orders: of
        options and rows, by item.

        Raises KeyError.
        """
        items = tuple(self.item(item_id) for item_id in item_ids) if item_ids else self.items
        orders = orders or {}
        items = tuple(
            item.in_order(orders[item.id])
            if isinstance(item, Listed) and item.id in orders
            else item
            for item in items
        )
        values = values or {}
        if (accuracy := values.get("accuracy")) is not None:
            items = tuple(item.placed(float(accuracy)) for item in items)
        instruction = texts.fill(self.instruction, values)
        return self.model_copy(update={"items": items, "instruction": instruction})

    @property
    def about_person(self) -> bool:
        """Whether it asks who the participant is: the answers to one of its questions that offers
        answers are declared to tell. A report shows only counts for such an instrument."""
        return any(item.identifying and item.offers_answers for item in self.items)

    @property
    def pages(self) -> tuple[tuple[AnyItem, ...], ...]:
        """The items of each page."""
        size = self.per_page or len(self.items)
        return tuple(self.items[at : at + size] for at in range(0, len(self.items), size))

    def asked(self, answers: Mapping[str, Any], known: when.Known) -> asking.AskedItems:
        """Which of its items are asked; see `labapp.study.instruments.asking`."""
        return asking.select_asked(self.items, answers, known)

    def variables(self) -> tuple[str, ...]:
        """The variables of a study that its conditions name."""
        own = {item.id for item in self.items}
        named = dict.fromkeys(name for item in self.items for name in when.names(item.only_if))
        if isinstance(self.order, OrderByGroup):
            named[self.order.by] = None
        return tuple(name for name in named if name not in own and not when.is_answer(name))

    def checks(self, item_ids: Sequence[str]) -> dict[str, tuple[Value, ...]]:
        """Those of these items that are attention checks, with the cells of the answers that pass
        them."""
        items = ((item_id, self.item(item_id)) for item_id in item_ids)
        return {item_id: item.right_cells() for item_id, item in items if item.right is not None}

    def given(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """The answers that say something, in the order in which they were given."""
        return {
            answer: value
            for answer, value in answers.items()
            if dont_know.answered(self.item(answer), value)
        }

    @property
    def about_accuracy(self) -> bool:
        """Whether it needs the accuracy of an explained model."""
        return any(item.about_accuracy for item in self.items)

    def untouched(self) -> dict[str, Any]:
        """What is submitted of items that stand somewhere and that nobody touched."""
        return {item.id: item.untouched() for item in self.items if item.always_answered}

    def orders(
        self, item_ids: Sequence[str], shuffle: Callable[[Sequence[str], str], Sequence[str]]
    ) -> dict[str, tuple[str, ...]]:
        """The orders of the options and rows of those items that shuffle them, by their ids.
        shuffle: orders ids for an item."""
        items = ((item_id, self.item(item_id)) for item_id in item_ids)
        return {
            item_id: item.shuffled(lambda ids, of=item_id: shuffle(ids, of))  # type: ignore[misc]
            for item_id, item in items
            if isinstance(item, Listed) and item.shuffle
        }

    def kinds(self, item_ids: Sequence[str]) -> dict[str, str]:
        """The kinds of its items, by their ids."""
        return {item_id: kind_of(self.item(item_id)) for item_id in item_ids}

    @property
    def rules(self) -> dict[str, str]:
        """The rules of its scores, by their names."""
        scores = self.scores if isinstance(self.scores, dict) else {}
        return {name: score.rule_name for name, score in scores.items()}

    @classmethod
    def parse(
        cls,
        path: Path,
        content: bytes,
        language: str = USUAL,
        fallback: str | None = None,
        fell_back: list[str] | None = None,
    ) -> Instrument:
        """Check an instrument file and take its words in a language, or else in the fallback.
        fell_back: gets the words for which that was so.

        Raises StudyError with line, key, found, allowed; also for a language it does not have.
        """
        located, errors = read_yaml(path, content)
        if located is None:
            raise StudyError.together(errors)
        context = {"language": language, "fallback": fallback, "fell_back": fell_back}
        partial = read_partly(cls, located, _STAND_INS, {**context, _WRITTEN: _ids_in(located)})
        problems = list(partial.problems)
        if partial.model is not None:
            for place, what in asking.faults(partial.model):
                at = partial.origin.get(place, place)
                problems.append(Problem(located.line(at), format_path(at), what))
        if problems:
            errors.append(make_document_error(path, sorted(problems), "instrument"))
        if errors:
            raise StudyError.together(errors)
        assert partial.model is not None  # what cannot be read at all has problems
        return partial.model


_WRITTEN = "written"
"""In the context of a validation: the ids of all items of the file, of those that could not be read
too."""
_STAND_INS = {"id": "unnamed", "title": "-", "version": 1, "source": "-"}


def _ids_in(located: Located) -> frozenset[str]:
    items = located.value.get("items")
    items = items if isinstance(items, list) else []
    return frozenset(str(item["id"]) for item in items if isinstance(item, dict) and "id" in item)


def _with_shared(item: Any, instrument: Mapping[str, Any]) -> Any:
    """An item of the file with the shared scale, or with the shared options it names."""
    if not isinstance(item, dict):
        return item
    scale, options = instrument.get("scale"), instrument.get("options")
    kind = ITEM_KINDS.get(str(item.get("kind")))
    if kind is not None and kind.item.shares_scale and isinstance(scale, dict):
        return scale | item
    if isinstance(item.get("options"), list) and isinstance(options, list):
        known = {option.get("id"): option for option in options if isinstance(option, dict)}
        named = [
            known.get(option, option) if isinstance(option, str) else option
            for option in item["options"]
        ]
        return item | {"options": named}
    return item


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """A questionnaire. A package brings one by an entry point of the group `labapp.instruments`
    that names such an object; studies then ask it like a shipped one.

    Attributes
    ----------
    name : its id, which its file says too.
    file : its YAML file, called like it; see `labapp.study.instruments.instrument.Instrument`.
    """

    name: str
    file: Path


def _find_shipped() -> Iterator[Questionnaire]:
    files = sorted((resources.assets() / "instruments").glob("*.yaml"))
    return (Questionnaire(file.stem, file) for file in files)


def _problem(questionnaire: Questionnaire, others: Sequence[Questionnaire]) -> str:
    """Why a questionnaire cannot be used; empty if it can."""
    file = questionnaire.file
    if file.name != f"{questionnaire.name}.yaml":
        return f"its file is called {file.name} instead of {questionnaire.name}.yaml"
    return "" if file.is_file() else f"its file {file} does not exist"


QUESTIONNAIRES: Catalogue[Questionnaire] = Catalogue(
    "labapp.instruments", "a questionnaire", Questionnaire, _find_shipped, _problem
)
