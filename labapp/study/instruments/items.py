"""The kinds of items: ratings, choices and written answers, told apart by `kind`. Packages bring
further ones (`labapp.study.instruments.asking`).

What an answer looks like in events and tables: a rating is its number; a written answer its text;
a choice is `{"chosen": [ids of options], "described": text}`, where `described` stands only beside
the chosen option that is described in one's own words. Ids do not depend on the language.

Words in several languages: a text, or a mapping language -> text of which one is taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from labapp.base.documents import WORD, Strict
from labapp.study.conditions import OnlyIf, Value, as_tuple
from labapp.study.plugins.bids import Column

if TYPE_CHECKING:
    import numpy as np


LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
USUAL = "en"
"""The language where none is asked for."""


def _in_language(value: Any, info: ValidationInfo) -> Any:
    """The text in the language of the validation's context (key `language`)."""
    if not isinstance(value, dict):
        return value
    if wrong := [key for key in value if not LANGUAGE.fullmatch(str(key))]:
        raise ValueError(f"a text, or texts by language like 'en'; {wrong[0]!r} is no language")
    context = info.context or {}
    language, fallback = context.get("language", USUAL), context.get("fallback")
    if language not in value and fallback in value:
        language = fallback
        if (fell_back := context.get("fell_back")) is not None:
            fell_back.append(value[fallback])
    if language not in value:
        there = ", ".join(sorted(value)) or "none"
        raise ValueError(f"a text in the study's language {language!r}; there is: {there}")
    return value[language]


_SCHEMA = {
    "anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]
}

Words = Annotated[str, BeforeValidator(_in_language), WithJsonSchema(_SCHEMA)]
"""A text as the participant sees it; may be empty."""

SomeWords = Annotated[
    str, Field(min_length=1), BeforeValidator(_in_language), WithJsonSchema(_SCHEMA)
]
"""A text that must say something."""


MOST_CIRCLES = 11
"""A scale with more points is drawn as a line with ticks."""
REMARK = "Simulated remark"
DESCRIBED_LONGEST = 200
"""Characters of what is written beside an option. The field takes no more and says so."""


class Item(Strict):
    """What every item has. A kind derives from this; with `check` and `simulate` it is whole.

    Attributes
    ----------
    kind : what kind of item it is; without it a `scale`.
    id : its name in tables: small letters, digits and _.
    name : a short heading above the words, and what the item is called where something is said
        about it.
    text : the question or statement; like all words a text, or texts by language: `{en: …, de: …}`.
    required : whether the participant must answer to go on.
    repeat : `stages` asks the item once for each stage of the study, with `{stage}` in its words
        and `_1`, `_2` … behind its id.
    identifying : whether its answers tell who somebody is, and are left out of de-identified
        copies. Where that is not said they are taken to tell it, unless they are ratings.
    only_if : for whom it is asked: items above it by id, items of earlier questionnaires as
        `questionnaire.item`, and variables of the study's design or assignment, each with the
        answer or value, or the list of them, for which it is asked: `{used: often}`.
    right : makes it an attention check, which is told as passed or failed and is in no score: its
        right answer, or the list of right ones; of `choices` all that are to be chosen.
    """

    own_words: ClassVar[frozenset[str]] = frozenset()
    """The cells of an answer whose text is the questionnaire's, or declared to tell nobody: a
    de-identified copy keeps it where the answer is kept."""
    more: ClassVar[Mapping[str, str]] = {}
    """What an answer holds besides its value: the names of further cells, and what each says."""
    offers_answers: ClassVar[bool] = True
    """Whether it offers answers, instead of a field to write in."""
    shares_scale: ClassVar[bool] = False
    """Whether the scale of its instrument is its own where it names none."""
    several: ClassVar[bool] = False
    """Whether an answer can have several of its possible values at once."""
    always_answered: ClassVar[bool] = False
    """Whether it stands somewhere before anybody touches it: where is kept, and is no answer."""

    id: str = Field(pattern=WORD)
    name: Words = ""
    text: Words = ""
    required: bool = True
    repeat: Literal["stages"] | None = None
    identifying: bool | None = None
    only_if: OnlyIf = Field(default_factory=dict)
    right: tuple[Value, ...] | Value | None = Field(default=None, alias="check")

    def values(self, value: Any) -> tuple[Value, ...]:
        """A stored answer as conditions name it; nothing where it says nothing."""
        return (self.cells(value)[""],) if self.answered(value) else ()

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        """The answer, as stored, that is told by these values of `possible`."""
        raise NotImplementedError

    def right_cells(self) -> tuple[Value, ...]:
        """What tables have of the answers that pass it as a check; nothing where it is none."""
        return as_tuple(self.right)

    def numbers_rated(self) -> tuple[int, int] | None:
        """The lowest and the highest number of a rating; None for any other item."""
        return None

    def one_of(self) -> tuple[str, ...] | None:
        """The ids of its options, of which one can be chosen; None where that is not so."""
        return None

    def bounds(self) -> tuple[int, int] | None:
        """The lowest and the highest number that can be answered; None where no number is."""
        return self.numbers_rated()

    def offered(self) -> tuple[str, ...]:
        """The ids of the options that can be chosen; none where there are none."""
        return ()

    def answer_words(self) -> dict[str, str]:
        """What stands at its numbers or beside its options, by number or id."""
        return {}

    def possible(self) -> tuple[Value, ...] | None:
        """What it can be answered with, as conditions and checks name it: numbers, or the ids of
        options; None where that cannot be listed."""
        if (bounds := self.bounds()) is not None:
            return tuple(range(bounds[0], bounds[1] + 1))
        return self.offered() or None

    @property
    def withheld(self) -> bool:
        """Whether a de-identified copy leaves its answers out."""
        return self.numbers_rated() is None if self.identifying is None else self.identifying

    @property
    def title(self) -> str:
        """What the item is called."""
        return self.name or self.text

    def check(self, value: Any) -> Any:
        """The answer as stored. Raises ValueError for a value that is no answer to the item."""
        raise NotImplementedError

    def answered(self, value: Any) -> bool:
        """Whether a stored value says something; an answer that was taken back does not."""
        return value is not None

    def said(self, value: Any) -> str:
        """A stored answer in words, for people."""
        return str(value)

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        """A stored answer as tables have it: a number or a text under the empty name, and those of
        `more`."""
        return {"": value}

    def column(self, where: str) -> Column:
        """Its column in a bundle, without a name; where: what was asked about, in which session."""
        return Column("", f"{self.title} ({where})")

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> Any:
        """A simulated participant's answer, as stored; leaning: see
        `labapp.tasks.questionnaire.simulated`."""
        raise NotImplementedError

    def untouched(self) -> Any:
        """What is kept where nobody touched it, for the record; None for nothing."""
        return None

    @property
    def about_accuracy(self) -> bool:
        """Whether it needs the accuracy of an explained model."""
        return False

    def placed(self, accuracy: float) -> Self:
        """The item where an explained model has this accuracy, in percent."""
        return self


class Rating(Item):
    """A number from `first` in `points` steps of one, between two anchors; nothing preselected.
    Without a text the anchors are the item: two words, the scale between them.

    Attributes
    ----------
    points : how many points the scale has.
    first : the number of the first point, 0 or 1.
    low : the words at the lowest point.
    high : the words at the highest point.
    middle : the words at the middle, with an odd number of points.
    labels : words for every point, instead of low and high.
    look : numbered circles, or a line with ticks; by default circles up to 11 points.
    numbers : whether the numbers of the points are shown: those that are recorded, also where a
        score counts the item the other way round. By default circles have them that stand alone,
        and those in a table of statements have none. A line with ticks has them at its ends.
    """

    points: int = Field(ge=2, le=101)
    first: Literal[0, 1] = 1
    low: Words = ""
    high: Words = ""
    middle: Words = ""
    labels: tuple[SomeWords, ...] = ()
    look: Literal["circles", "ticks"] | None = None
    numbers: bool | None = None

    @model_validator(mode="after")
    def _anchored(self) -> Rating:
        if self.labels and len(self.labels) != self.points:
            raise ValueError(f"{self.points} labels, one a point; there are {len(self.labels)}")
        if not self.labels and not (self.low and self.high):
            raise ValueError("low and high, or a label for every point")
        if self.middle and (self.labels or self.points % 2 == 0):
            raise ValueError("a middle only for an odd number of points without labels")
        if self.look == "circles" and self.points > MOST_CIRCLES:
            raise ValueError(f"circles for at most {MOST_CIRCLES} points")
        return self

    @property
    def title(self) -> str:
        return self.name or self.text or " – ".join(self.ends())

    @property
    def last(self) -> int:
        return self.first + self.points - 1

    def numbers_rated(self) -> tuple[int, int]:
        return self.first, self.last

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return values[0]

    @property
    def ticks(self) -> bool:
        return self.look == "ticks" or self.points > MOST_CIRCLES

    @property
    def numbered(self) -> bool:
        """Whether the numbers of the points are shown."""
        return not self.ticks if self.numbers is None else self.numbers

    def anchors(self) -> dict[int, str]:
        """The words at places of the scale; places count from 0."""
        if self.labels:
            return dict(enumerate(self.labels))
        ends = {0: self.low, self.points - 1: self.high}
        return ends | ({self.points // 2: self.middle} if self.middle else {})

    def answer_words(self) -> dict[str, str]:
        return {str(self.first + place): words for place, words in self.anchors().items()}

    def ends(self) -> tuple[str, str]:
        """The words at both ends."""
        anchors = self.anchors()
        return anchors[0], anchors[self.points - 1]

    def check(self, value: Any) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not self.first <= value <= self.last:
            raise ValueError(f"{self.id}: {value!r} is not one of {self.first} to {self.last}")
        return int(value)

    def said(self, value: Any) -> str:
        return f"{value} of {self.last}" if self.first else f"{value} of 0 to {self.last}"

    def column(self, where: str) -> Column:
        low, high = self.ends()
        ends = f"{self.first} = {low}, {self.last} = {high}"
        words = f"{self.text or self.title} ({where}; {ends})"
        # BIDS takes Levels as the only values there are, so each number is one.
        levels: dict[str, str] = {}
        if not self.ticks:
            numbers = map(str, range(self.first, self.last + 1))
            levels = {number: number for number in numbers} | self.answer_words()
        return Column("", words, f"{self.first}-{self.last}", levels)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> int:
        if leaning is not None:
            return self.first + round(leaning * (self.points - 1))
        return int(rng.integers(self.first, self.last + 1))


class Scale(Rating):
    """A rating with anchors of its own."""

    kind: Literal["scale"] = "scale"


class Statement(Rating):
    """A rating on the scale that the instrument's statements share (its `scale`), drawn in one
    table with those beside it."""

    shares_scale: ClassVar[bool] = True
    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema["required"].remove("points")  # of the instrument
    )

    kind: Literal["statement"]
    text: SomeWords

    @property
    def numbered(self) -> bool:
        return bool(self.numbers)


class Slider(Item):
    """A whole number on a slider. Until it is moved or confirmed there is no answer to it, and it
    shows that; with `required: true` nobody can go on before.

    With `about: accuracy` it begins at the accuracy of the explained model in percent, and its low
    end lies 10 points or more below, at a multiple of 10 (after the released pages of paper 003).
    What is stored: `{"value": number, "touched": whether it was moved or confirmed}`. Where nobody
    touched it, the number is where it stood: it is in the journal, and tables have no value.

    Attributes
    ----------
    low : the number at its low end.
    high : the number at its high end.
    start : where it stands before it is touched; without it at its low end. Only studies with
        `presentation: as_published` show a handle there, since it draws answers towards it.
    about : `accuracy`: it begins at the accuracy of the explained model.
    unit : what stands behind its number.
    """

    more: ClassVar[Mapping[str, str]] = {"touched": "Whether it was moved or confirmed"}
    always_answered = True

    kind: Literal["slider"]
    text: SomeWords
    low: int = 0
    high: int = 100
    start: int | None = None
    about: Literal["accuracy"] | None = None
    unit: str = "%"
    required: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low >= self.high or not self.low <= (self.start or self.low) <= self.high:
            raise ValueError("a low end below the high end, and a start from one to the other")
        return self

    def places(self, accuracy: float | None = None) -> tuple[int, int, int]:
        """Its low end, its high end and where it begins; accuracy: of the explained model, in
        percent, where it asks about that."""
        if self.about != "accuracy" or accuracy is None:
            return self.low, self.high, self.low if self.start is None else self.start
        start = min(max(int(accuracy + 0.5), self.low), self.high)
        return max(self.low, (start - 10) // 10 * 10), self.high, start

    def bounds(self) -> tuple[int, int]:
        return self.low, self.high

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return {"value": values[0], "touched": True}

    @property
    def about_accuracy(self) -> bool:
        return self.about is not None

    def placed(self, accuracy: float) -> Self:
        low, high, start = self.places(accuracy)
        return self.model_copy(update={"low": low, "high": high, "start": start})

    def check(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or set(value) != {"value", "touched"}:
            raise ValueError(f"{self.id}: {value!r} is not an answer of a slider")
        number, touched = value["value"], value["touched"]
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole or not self.low <= number <= self.high or not isinstance(touched, bool):
            raise ValueError(f"{self.id}: {value!r} is not within {self.low} to {self.high}")
        return {"value": int(number), "touched": touched}

    def answered(self, value: Any) -> bool:
        return value is not None and bool(value["touched"])

    def said(self, value: Any) -> str:
        return f"{value['value']}{self.unit}" + ("" if value["touched"] else " (not touched)")

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        touched = value["touched"]
        return {"": value["value"] if touched else None, "touched": touched}

    def column(self, where: str) -> Column:
        return Column("", f"{self.title} ({where}; empty where nobody touched it)", self.unit)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, Any]:
        low, high, _ = self.places()
        return {"value": int(rng.integers(low, high + 1)), "touched": True}

    def untouched(self) -> dict[str, Any]:
        return {"value": self.places()[2], "touched": False}


class Written(Item):
    """A written answer.

    Attributes
    ----------
    lines : height of its field in lines.
    longest : characters at most.
    """

    own_words = frozenset({""})
    offers_answers: ClassVar[bool] = False

    kind: Literal["written"]
    text: SomeWords
    lines: int = Field(default=1, ge=1, le=12)
    longest: int = Field(default=2000, ge=1, le=20_000)

    def check(self, value: Any) -> str:
        return clean_text(value, self.longest, lines=self.lines > 1)

    def answered(self, value: Any) -> bool:
        return bool(value)

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> str:
        return self.check(f"{REMARK} {rng.integers(1000)}"[: self.longest])


def clean_text(value: Any, longest: int, *, lines: bool) -> str:
    """A written answer without blanks around it; what cannot be seen in it becomes a blank.

    Raises ValueError for what is no text, or too long.
    """
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError(f"not a text of at most {longest} characters")
    signs = "\n" if lines else ""
    return "".join(
        " " if sign not in signs and unicodedata.category(sign) in _UNSEEN else sign
        for sign in value
    ).strip()


_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, halves of characters, separators of lines."""
