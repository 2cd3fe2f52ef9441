"""What every item of a questionnaire has. The kinds of items are in
`labapp.study.instruments.kinds`, a module each.

Ids in answers do not depend on the language. Words in several languages: a text, or a mapping
language -> text of which one is taken.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)

from labapp.base.documents import WORD, Strict, refuse_again
from labapp.study.conditions import Value, as_tuple
from labapp.study.plugins.bids import Column
from labapp.study.when import Condition

PIPED = re.compile(r"\{answer:([\w.-]+)\}")
"""In the words of an item: the answer to an item before it."""
NO_ANSWER = "–"
"""What is filled in where none was given."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
USUAL = "en"
"""The language where none is asked for."""


def _in_language(value: Any, info: ValidationInfo) -> Any:
    """The text in the language of the validation's context (key `language`)."""
    if not isinstance(value, dict):
        return value
    if wrong := [key for key in value if not LANGUAGE.fullmatch(str(key))]:
        raise ValueError(f"a text, or texts by language like 'en'; {wrong[0]!r} is not a language")
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
LONGEST_LISTED = 1000
"""Of so many numbers each can be named; in a wider range only the ends are."""
REMARK = "Simulated remark"
TYPED_LONGEST = 40
"""Characters of a number or a date."""
DESCRIBED_LONGEST = 200
"""Characters of what is written beside an option. The field takes no more and says so."""

Bounds = tuple[float, float]
"""The lowest and the highest number of an answer; infinite where there is no limit."""


SOUNDS = frozenset({".wav", ".flac", ".ogg", ".mp3"})
"""Endings of files that hold sound."""
VIDEOS = frozenset({".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ogv"})
"""Endings of videos."""


def _name_alone(value: Any) -> Any:
    value = {"file": value} if isinstance(value, str) else value
    if len({_kind_of_file(name) == "picture" for name in _file_names(value)}) > 1:
        raise ValueError("pictures in all languages, or sounds and videos in all")
    return value


def _picture_alone(value: Any) -> Any:
    value = _name_alone(value)
    if _file_names(value) and (kind := _kind_of_media(value)) != "picture":
        raise ValueError(f"only a picture can be used here, and this file is a {kind}")
    return value


def _file_names(value: Any) -> list[str]:
    """The names of the file of a picture, sound or video: one, or one per language."""
    file = value.get("file") if isinstance(value, Mapping) else getattr(value, "file", None)
    names = file.values() if isinstance(file, Mapping) else (file,)
    return [name for name in names if isinstance(name, str)]


def _kind_of_file(name: str) -> str:
    ending = PurePosixPath(name).suffix.lower()
    return "video" if ending in VIDEOS else "sound" if ending in SOUNDS else "picture"


def _kind_of_media(value: Any) -> str:
    """That without a file has the keys of all kinds."""
    kinds = {_kind_of_file(name) for name in _file_names(value)}
    return next((kind for kind in ("video", "sound", "picture") if kind in kinds), "video")


def _with_name_alone(schema: dict[str, Any]) -> None:
    """In a file, a picture may be given by only the name of its file."""
    whole = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string"}, whole]


def check_cell(cells: Mapping[str, Any]) -> Value:
    """What a check compares of an answer's cells: its value, or those of its parts as JSON."""
    return cells.get("") if "" in cells else json.dumps(cells, sort_keys=True)  # type: ignore[return-value]


def _answer_alone(value: Any) -> Any:
    return value if isinstance(value, Mapping | Check) else {"right": value, "attempts": 0}


def _with_answer_alone(schema: dict[str, Any]) -> None:
    """In a file, an attention check is given by only its right answer."""
    whole = dict(schema)
    whole["properties"]["attempts"]["minimum"] = 1
    schema.clear()
    schema["anyOf"] = [whole["properties"]["right"], whole]


class Picture(Strict):
    """A picture that is shown with an item or an option. In a file it may be its name alone.

    Attributes
    ----------
    file : the path in the study's folder, such as `pictures/heatmap.png`: PNG, JPEG or WebP.
    alt : what it shows, for people who cannot see it.
    width : in logical pixels (default: the picture's own width), and never wider than there is room
        for.
    """

    model_config = ConfigDict(json_schema_extra=_with_name_alone)

    file: SomeWords
    alt: Words = ""
    width: int | None = Field(default=None, ge=16, le=2000)


class Sound(Strict):
    """A sound that is played with an item, by a button. In a file it may be its name alone.

    Attributes
    ----------
    file : the path in the study's folder, such as `sounds/alarm.wav`: WAV, FLAC, Ogg or MP3.
    alt : its name, for people who use a screen reader.
    plays : how often it can be played (default: as often as the participant likes). A pause does
        not count.
    heard : whether it must be heard to its end before the item can be answered.
    """

    model_config = ConfigDict(json_schema_extra=_with_name_alone)

    file: SomeWords
    alt: Words = ""
    plays: int | None = Field(default=None, ge=1, le=100)
    heard: bool = False


class Video(Sound):
    """A video that is played with an item, by a button. In a file it may be its name alone.

    Attributes
    ----------
    file : the path in the study's folder, such as `videos/robot.mp4`: MP4, MOV, Matroska, WebM,
        AVI, MPEG or Ogg. The extra `video` is needed to play it.
    width : in logical pixels (default: the video's own width), and never wider than there is room
        for.
    """

    width: int | None = Field(default=None, ge=16, le=2000)


class Ends(Strict):
    """Words at the two ends of a scale.

    Attributes
    ----------
    low : the words at its lowest point.
    high : the words at its highest point.
    """

    low: SomeWords
    high: SomeWords


PictureMedia = Annotated[Picture, BeforeValidator(_picture_alone)]
"""A picture, where nothing else can be."""
Media = Annotated[
    Annotated[Picture, Tag("picture")]
    | Annotated[Sound, Tag("sound")]
    | Annotated[Video, Tag("video")],
    Discriminator(_kind_of_media),
    BeforeValidator(_name_alone),
]
"""A picture, a sound or a video, by the ending of its file."""


class Check(Strict):
    """A check of an item. In a file, an attention check is only its right answer, and the
    participant does not see that it is a check. With more keys it is a comprehension check: the
    answer is judged when the participant continues, a wrong answer can be changed while attempts
    are left, and right answers can then no longer be changed.

    Attributes
    ----------
    right : the right answer, or the list of right ones; for `choices`, all options that must be
        chosen; for an item with several parts, the value of each: `{apple: 1, pear: 2}`.
    attempts : how often the participant may answer; 1 by default.
    feedback : what is shown after a wrong answer, such as where to find the right one.
    repeat : whether a wrong answer, while attempts are left, leads back to the first page of the
        questionnaire, so that the participant reads its text again.
    failed : what happens after the last wrong answer: the session continues (`go_on`) or ends
        (`end`). To leave participants who failed out of the analysis, use `failed_checks_above` in
        a rule of `exclude`.
    """

    model_config = ConfigDict(json_schema_extra=_with_answer_alone)

    right: tuple[Value | dict[str, Value], ...] | Value | dict[str, Value]
    attempts: int = Field(default=1, ge=0, le=20)
    feedback: Words = ""
    repeat: bool = False
    failed: Literal["go_on", "end"] = "go_on"


Checked = Annotated[Check, BeforeValidator(_answer_alone)]


class Option(Strict):
    """One of the answers to choose from.

    Attributes
    ----------
    id : its name in tables: lower-case letters, digits and _; `yes` and `no` are written in quotes.
    text : what the participant reads.
    describe : whether participants can add their own words.
    alone : whether choosing it deselects all others.
    media : a picture, sound or video that comes with it.
    """

    id: str = Field(pattern=WORD)
    text: SomeWords
    describe: bool = False
    alone: bool = False
    media: Media | None = None


def _distinct(options: tuple[Option, ...]) -> tuple[Option, ...]:
    refuse_again([option.id for option in options], key=("id",))
    if taking := [option.id for option in options if option.describe or option.alone]:
        raise ValueError(f"only id and text of {taking[0]}; describe and alone are of choices")
    return options


SomeOptions = Annotated[
    tuple[Option, ...], Field(min_length=3, max_length=40), AfterValidator(_distinct)
]
Rows = Annotated[tuple[Option, ...], Field(min_length=1, max_length=40), AfterValidator(_distinct)]
"""Options of items that are no choice."""


class Item(Strict):
    """What every item has. A kind derives from this; with `check` and `simulate` it is complete.
    Tables have a column for its answer, or one for each of its `parts`.

    Attributes
    ----------
    kind : the kind of item (default: `scale`).
    id : its name in tables: lower-case letters, digits and _.
    name : a short heading above the words, and the item's name in messages.
    text : the question or statement; like all words a text, or texts by language: `{en: …, de: …}`.
        In name and text, `{answer:used}` inserts the answer to the item `used` on an earlier page,
        and `{answer:before.used}` one from an earlier questionnaire.
    media : a picture, sound or video that comes with it.
    required : whether the participant must answer before continuing.
    dont_know : the words of an answer below the others for people who cannot say, such as
        `{en: I don't know, de: Weiß ich nicht}`. It counts as answered and has no value.
    repeat : `stages` asks the item once for each stage of the study, with `{stage}` in its words
        and `_1`, `_2` … behind its id.
    identifying : whether its answers can identify a person, and are left out of de-identified
        copies (default: yes, except for ratings).
    tags : words of your own to find it by in the table of items, such as `[trust, reversed]`.
    only_if : who is asked: items above it by id, items of earlier questionnaires as
        `questionnaire.item`, and variables of the study's design or assignment, each with the
        answer or value (or a list of them) for which it is asked: `{used: often}`. Numbers have
        limits: `{age: {above: 17}}`. `any`, `all` (with lists) and `not` combine conditions.
    checked : makes it an attention check, which is passed or failed and not part of any score: its
        right answer, or a list of right ones; for `choices`, all that must be chosen. With
        `{right: …, attempts: …}` it is a comprehension check (`Check`).
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
    chooses: ClassVar[bool] = False
    """Whether tables have of its answers the options that were chosen."""
    rates: ClassVar[bool] = False
    """Whether its answers are numbers on a scale, which tell nobody who somebody is."""
    at_once: ClassVar[bool] = False
    """Whether one press answers it."""
    always_answered: ClassVar[bool] = False
    """Whether it stands somewhere before anybody touches it: where is kept, and is no answer."""

    id: str = Field(pattern=WORD)
    name: Words = ""
    text: Words = ""
    media: Media | None = None
    required: bool = True
    dont_know: Words = ""
    repeat: Literal["stages"] | None = None
    identifying: bool | None = None
    tags: tuple[Annotated[str, Field(pattern=WORD)], ...] = ()
    only_if: Condition = Field(default_factory=dict)
    checked: Checked | None = Field(default=None, alias="check")

    @property
    def piped(self) -> tuple[str, ...]:
        """The items whose answers are filled into its words, as conditions name them."""
        return tuple(dict.fromkeys(PIPED.findall(f"{self.name} {self.text}")))

    def with_answers(self, words: Mapping[str, str]) -> Self:
        """The item with answers in its words. words: by the names that are `piped`."""
        update = {
            key: PIPED.sub(lambda match: words[match.group(1)], getattr(self, key))
            for key in ("name", "text")
        }
        return self.model_copy(update=update)

    def in_words(self, values: tuple[Value, ...]) -> str:
        """What was answered, as `values` has it, for the words of another item."""
        words = self.answer_words() if self.offered() else {}
        words = {**words, "dont_know": self.dont_know} if self.dont_know else words
        return ", ".join(words.get(str(value), str(value)) for value in values) or NO_ANSWER

    @property
    def picture(self) -> Picture | None:
        """The picture that is shown with it."""
        return self.media if isinstance(self.media, Picture) else None

    @property
    def sound(self) -> Sound | None:
        """The sound or video that is played with it."""
        return self.media if isinstance(self.media, Sound) else None

    @property
    def sounds(self) -> dict[str, Sound]:
        """Its sound or video, under "", and those of its options or rows, by their ids."""
        own = {} if self.sound is None else {"": self.sound}
        return own | {
            option.id: option.media
            for option in self.options_or_rows
            if isinstance(option.media, Sound)
        }

    @property
    def options_or_rows(self) -> tuple[Option, ...]:
        """What it has a sound each of, where it has any."""
        return (*getattr(self, "options", ()), *getattr(self, "rows", ()))

    @property
    def right(self) -> Any:
        """The right answers of a check; None if it is none."""
        return None if self.checked is None else self.checked.right

    @property
    def comprehension(self) -> Check | None:
        """The comprehension check that it is; None if it is none."""
        return None if self.checked is None or not self.checked.attempts else self.checked

    def is_right(self, value: Any) -> bool:
        """Whether a stored answer passes the check."""
        return check_cell(self.cells(value)) in self.right_cells()

    def values(self, value: Any) -> tuple[Value, ...]:
        """A stored answer as conditions name it; nothing if it says nothing."""
        return (self.cells(value)[""],) if self.answered(value) else ()

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        """The answer, as stored, that is told by these values of `possible`."""
        return values[0]

    def right_cells(self) -> tuple[Value, ...]:
        """What tables have of the answers that pass it as a check; nothing if it is none."""
        return as_tuple(self.right)

    def one_of(self) -> tuple[str, ...] | None:
        """The ids of its options, of which one can be chosen; None if that is not so."""
        return None

    def bounds(self) -> Bounds | None:
        """The lowest and the highest number that can be answered; None if no number is."""
        return None

    @property
    def in_steps(self) -> bool:
        """Whether the numbers that can be answered are the whole numbers from the lowest to the
        highest."""
        return (bounds := self.bounds()) is not None and bounds[1] - bounds[0] <= LONGEST_LISTED

    def offered(self) -> tuple[str, ...]:
        """The ids of the options that can be chosen; none if there are none."""
        return ()

    def answer_words(self) -> dict[str, str]:
        """The labels of its numbers or options, by number or id."""
        return {}

    def possible(self) -> tuple[Value, ...] | None:
        """What it can be answered with, as conditions and checks name it: numbers, or the ids of
        options; None if that cannot be listed."""
        if (bounds := self.bounds()) is not None:
            numbers = range(int(bounds[0]), int(bounds[1]) + 1) if self.in_steps else ()
            return tuple(numbers) or None
        return self.offered() or None

    def parts(self) -> tuple[Item, ...]:
        """The items that its answer consists of: itself, or those of a `Compound`."""
        return (self,)

    def values_of_parts(self, value: Any) -> dict[str, tuple[Value, ...]]:
        """A stored answer as conditions name it, by the ids of the item and its parts."""
        return {self.id: self.values(value)}

    @property
    def withheld(self) -> bool:
        """Whether a de-identified copy leaves its answers out."""
        return not self.rates if self.identifying is None else self.identifying

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

    def is_missing(self, value: Any) -> bool:
        """Whether the participant cannot continue with this stored value; None for no answer."""
        return self.required and not self.answered(value)

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


class Listed(Item):
    """An item with options or rows.

    Attributes
    ----------
    shuffle : whether each participant sees them in a random order, which the plan records. Options
        that are `alone` or described in one's own words stay at the end.
    """

    pictured: ClassVar[bool] = True
    """Whether its view shows pictures of its options or rows."""

    shuffle: bool = False
    _order: tuple[str, ...] = PrivateAttr(default=())

    def listed(self) -> tuple[Option, ...]:
        """The options or rows, as the questionnaire lists them."""
        return tuple(getattr(self, "options", ()))

    def shown(self) -> tuple[Option, ...]:
        """The same, as the participant sees them."""
        known = {option.id: option for option in self.listed()}
        return tuple(known[name] for name in self._order) or self.listed()

    def in_order(self, ids: Sequence[str]) -> Self:
        """The item with its options or rows in an order. Raises ValueError for other ones."""
        if sorted(ids) != sorted(option.id for option in self.listed()):
            raise ValueError(f"{self.id}: {', '.join(ids)} do not match its list")
        copy = self.model_copy()
        copy._order = tuple(ids)
        return copy

    def shuffled(self, shuffle: Callable[[Sequence[str]], Sequence[str]]) -> tuple[str, ...]:
        """The ids in another order. shuffle: orders those that may stand anywhere."""
        last = [option.id for option in self.listed() if option.alone or option.describe]
        first = [option.id for option in self.listed() if option.id not in last]
        return (*shuffle(first), *last)


class Typed(Item):
    """An answer that is typed and then read. What cannot be read is kept as `{"typed": text}`: the
    field still shows it, and it is no answer."""

    offers_answers: ClassVar[bool] = False

    def read(self, typed: str) -> Any:
        """What a text says, as it is stored; None if it is no answer."""
        raise NotImplementedError

    def holds(self, value: Any) -> bool:
        """Whether a value is an answer as it is stored."""
        raise NotImplementedError

    def shown(self, value: Any) -> str:
        """An answer as the field shows it."""
        return str(value)

    def check(self, value: Any) -> Any:
        """The answer, or what was typed. Nothing typed is no answer."""
        if self.holds(value):
            return value
        if isinstance(value, Mapping) and set(value) == {"typed"}:
            value = value["typed"]
        typed = clean_text(value, TYPED_LONGEST, lines=False)
        read = self.read(typed)
        return {"typed": typed} if read is None else read

    def answered(self, value: Any) -> bool:
        return value is not None and not isinstance(value, Mapping)

    def is_missing(self, value: Any) -> bool:
        """What was typed must be put right, also where no answer is required."""
        wrong = isinstance(value, Mapping) and bool(value["typed"])
        return wrong or super().is_missing(value)

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        return {"": None if isinstance(value, Mapping) else value}


class Compound(Item):
    """An item whose answer consists of several values: `{id: value}`, each the answer to a part.

    Tables, codebook, conditions, scores and analyses have each part as an item by itself; its id
    is that of the item, `_` and the value's id.
    """

    can_be_right: ClassVar[bool] = True
    """Whether a check can compare its values with right ones."""

    def parts(self) -> tuple[Item, ...]:
        raise NotImplementedError

    def part_id(self, value_id: str) -> str:
        """The id of the part that a value of an answer belongs to."""
        return f"{self.id}_{value_id}"

    def as_part(self, item_class: type[P], value_id: str, words: str, **fields: Any) -> P:
        """A part, with what the item says for all of them."""
        text = f"{self.text} – {words}" if self.text else words
        shared = {name: getattr(self, name) for name in ("required", "repeat", "identifying")}
        part = item_class.model_validate(
            {"id": self.part_id(value_id), "text": text, "name": words, **shared, **fields}
        )
        return part.model_copy(update={"only_if": self.only_if})

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        return dict(value)

    def values(self, value: Any) -> tuple[Value, ...]:
        return ()

    def values_of_parts(self, value: Any) -> dict[str, tuple[Value, ...]]:
        cells = self.cells(value) if value is not None else {}
        values: dict[str, tuple[Value, ...]] = {part.id: () for part in self.parts()}
        given = {self.part_id(name): (content,) for name, content in cells.items()}
        return values | given | {self.id: ()}

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return self.check(values[0])

    def right_cells(self) -> tuple[Value, ...]:
        return tuple(check_cell(self.cells(self.check(value))) for value in as_tuple(self.right))

    def answered(self, value: Any) -> bool:
        return bool(value)

    def is_missing(self, value: Any) -> bool:
        """An answer that was begun must be completed, also where none is required."""
        return not self.complete(value) if self.answered(value) else self.required

    def complete(self, value: Any) -> bool:
        """Whether nothing is missing in a stored answer."""
        return len(self.cells(value)) == len(self.parts())

    def said(self, value: Any) -> str:
        cells = self.cells(value)
        names = {part.id: part.name for part in self.parts()}
        return ", ".join(f"{names[self.part_id(cell)]}: {cells[cell]}" for cell in cells)

    def take(self, value: Any, known: Iterable[str]) -> dict[str, Any]:
        """A value by the ids that are known, in their order. Raises ValueError for another one."""
        known = list(known)
        if not isinstance(value, Mapping) or not set(value) <= set(known):
            raise ValueError(f"{self.id}: {value!r} is not an answer about {', '.join(known)}")
        return {name: value[name] for name in known if name in value}


P = TypeVar("P", bound=Item)


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
