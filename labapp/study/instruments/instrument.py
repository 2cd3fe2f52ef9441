"""An instrument: its items, how they are ordered, paged and scored.

The questionnaires that are known by their id: the shipped ones, and those of other packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from labapp.base import resources
from labapp.base.discovery import Catalogue
from labapp.base.documents import (
    SLUG,
    Located,
    Path_,
    Problem,
    Strict,
    dotted,
    faults_at,
    read_yaml,
    refuse_again,
    refused,
)
from labapp.base.errors import StudyError
from labapp.base.naming import NotReserved
from labapp.study.conditions import Value
from labapp.study.instruments import asking
from labapp.study.instruments.asking import ITEM_KINDS, AnyItem, Option, kind_of
from labapp.study.instruments.items import USUAL, SomeWords, Words
from labapp.study.instruments.scoring import AS_ANSWERED, OLD_NAMES, RULES, Score, Scores, of_name
from labapp.study.partial import read_partly
from labapp.study.plugins import texts


class SharedScale(Strict):
    """What the statements of an instrument share.

    Attributes
    ----------
    points : how many points the scale has.
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


class Instrument(Strict):
    """A questionnaire.

    Attributes
    ----------
    id : its name, which is that of its file too.
    version : a whole number from 1. Raise it when the questionnaire changes.
    title : what stands above it; like all words a text, or texts by language: `{en: …, de: …}`.
    instruction : what stands above its items.
    source : where it is from.
    scoring : what older files say instead of `scores`: the name of a shipped questionnaire, whose
        scores it has as far as it has their items.
    scores : by name how its scores are made, or `as-answered`: each rating is a score of its own.
    order : of its items: `fixed` as listed, or `shuffled` for each participant.
    per_page : items a page where they do not all fit one screen.
    scale : what its statements share.
    options : answers that several items share; these name them by id.
    items : what is asked.
    """

    id: Annotated[str, NotReserved] = Field(pattern=SLUG)
    version: int = Field(ge=1, lt=2**31)
    title: SomeWords
    instruction: Words = ""
    source: str
    scoring: str | None = None
    scores: Scores | None = None
    order: Literal["fixed", "shuffled"] = "fixed"
    per_page: int | None = Field(default=None, ge=1)
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
        clashes: dict[Path_, str] = {
            (index, "id"): f"{item_id!r} belongs to {base!r}, which repeats"
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
                raise ValueError("scores alone; scoring is what older files say instead")
            if self.scoring not in (*OLD_NAMES, AS_ANSWERED):
                raise ValueError(f"scoring: one of {', '.join((*OLD_NAMES, AS_ANSWERED))}")
            scores = self._of_name(self.scoring)
        if isinstance(scores, dict):
            unread = (info.context or {}).get(_WRITTEN, frozenset()) - {i.id for i in self.items}
            numbered: dict[str, Score] = {}
            wrong: dict[str, str] = {}
            for name, score in scores.items():
                if unread & {*score.needs} or wrong.keys() & score.weighted.keys():
                    continue
                try:
                    numbered[name] = self._numbered(name, score, numbered)
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

    def _numbered(self, name: str, score: Score, before: Mapping[str, Score]) -> Score:
        """A score with the numbers of its ratings and its limits."""
        if score.weighted:
            if unknown := [other for other in score.weighted if other not in before]:
                raise ValueError(
                    f"scores: {name} weighs {unknown[0]!r}, which is no score above it"
                )
            ends = [before[other] for other in score.weighted]
            lows, highs = [end.low or 0.0 for end in ends], [end.high or 0.0 for end in ends]
            return score.model_copy(update={"low": min(lows), "high": max(highs)})
        if score.chosen:
            every = tuple(
                item.id for item in self.items if item.one_of() is not None and item.right is None
            )
            among = score.among or every
            options = [option for item in among for option in self._options(name, item)]
            if score.chosen not in options:
                raise ValueError(f"scores: {name} counts {score.chosen!r}, which is no option")
            count = float(options.count(score.chosen))
            return score.model_copy(update={"among": among, "low": 0.0, "high": count})
        if score.rule is not None and not self._are_ratings(name, score):
            return score
        numbers: tuple[int, int] | None = None
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
        items = [item for item in self.items if item.id in score.items and not item.repeat]
        if unknown := set(score.items) - {item.id for item in items}:
            raise ValueError(f"scores: {name} needs an item {min(unknown)!r} that is asked once")
        numbers = {item.numbers_rated() for item in items}
        alike = len(numbers) == 1 and None not in numbers
        if not alike and (score.reverse or score.start is not None):
            raise ValueError(f"scores: {name} needs ratings with the same numbers, to be reversed")
        return alike

    def _rating(self, name: str, item_id: str, numbers: tuple[int, int] | None) -> tuple[int, int]:
        """The lowest and highest number of a rating, which must be those of the others."""
        item = next((item for item in self.items if item.id == item_id), None)
        rated = None if item is None or item.repeat else item.numbers_rated()
        if rated is None:
            raise ValueError(f"scores: {name} needs a rating {item_id!r} that is asked once")
        if numbers is not None and numbers != rated:
            points = numbers[1] - numbers[0] + 1
            raise ValueError(
                f"scores: {name} needs a rating {item_id!r} of {points} points from {numbers[0]}"
            )
        return rated

    def _options(self, name: str, item_id: str) -> list[str]:
        """The ids of the options of a choice."""
        item = next((item for item in self.items if item.id == item_id), None)
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

    def item_ids(self, stages: int) -> tuple[str, ...]:
        """The ids as listed, in a study of so many stages.

        Raises StudyError where nothing is left to ask.
        """
        ids: list[str] = []
        for item in self.items:
            if item.repeat:
                ids += [f"{item.id}_{number + 1}" for number in range(stages)]
            else:
                ids.append(item.id)
        if not ids:
            raise StudyError(
                f"The questionnaire {self.id!r} asks about each stage, and the study has none.",
                todo="Leave it out of the study, or give the study stages.",
            )
        return tuple(ids)

    def realised(
        self, item_ids: Sequence[str], values: Mapping[str, str] | None = None
    ) -> Instrument:
        """With these items in this order, all where none is named. values: of the part, which fill
        the instruction; with an `accuracy` among them sliders about it get their places.

        Raises KeyError.
        """
        items = tuple(self.item(item_id) for item_id in item_ids) if item_ids else self.items
        values = values or {}
        if (accuracy := values.get("accuracy")) is not None:
            items = tuple(item.placed(float(accuracy)) for item in items)
        instruction = texts.fill(self.instruction, values)
        return self.model_copy(update={"items": items, "instruction": instruction})

    @property
    def about_person(self) -> bool:
        """Whether it asks who the participant is: the answers to one of its questions that offers
        answers are declared to tell. A report tells of such an instrument in counts alone."""
        return any(item.identifying and item.offers_answers for item in self.items)

    @property
    def pages(self) -> tuple[tuple[AnyItem, ...], ...]:
        """The items of each page."""
        size = self.per_page or len(self.items)
        return tuple(self.items[at : at + size] for at in range(0, len(self.items), size))

    def asked(self, answers: Mapping[str, Any], known: asking.Known) -> asking.Asked:
        """Which of its items are asked; see `labapp.study.instruments.asking`."""
        return asking.asked(self.items, answers, known)

    def variables(self) -> tuple[str, ...]:
        """The variables of a study that its conditions name."""
        own = {item.id for item in self.items}
        names = dict.fromkeys(name for item in self.items for name in item.only_if)
        return tuple(name for name in names if name not in own and not asking.is_outside(name))

    def checks(self, item_ids: Sequence[str]) -> dict[str, tuple[Value, ...]]:
        """Those of these items that are attention checks, with the cells of the answers that pass
        them."""
        items = ((item_id, self.item(item_id)) for item_id in item_ids)
        return {item_id: item.right_cells() for item_id, item in items if item.right is not None}

    def given(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """The answers that say something, in the order in which they were given."""
        return {
            answer: value for answer, value in answers.items() if self.item(answer).answered(value)
        }

    @property
    def about_accuracy(self) -> bool:
        """Whether it needs the accuracy of an explained model."""
        return any(item.about_accuracy for item in self.items)

    def untouched(self) -> dict[str, Any]:
        """What is submitted of items that stand somewhere and that nobody touched."""
        return {item.id: item.untouched() for item in self.items if item.always_answered}

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
                problems.append(Problem(located.line(at), dotted(at), what))
        if problems:
            errors.append(refused(path, sorted(problems), "instrument"))
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


def _shipped() -> Iterator[Questionnaire]:
    files = sorted((resources.assets() / "instruments").glob("*.yaml"))
    return (Questionnaire(file.stem, file) for file in files)


def _problem(questionnaire: Questionnaire, others: Sequence[Questionnaire]) -> str:
    """Why a questionnaire cannot be used; empty where it can."""
    file = questionnaire.file
    if file.name != f"{questionnaire.name}.yaml":
        return f"its file is called {file.name}, and not {questionnaire.name}.yaml"
    return "" if file.is_file() else f"its file {file} is not there"


QUESTIONNAIRES: Catalogue[Questionnaire] = Catalogue(
    "labapp.instruments", "a questionnaire", Questionnaire, _shipped, _problem
)
