"""Which items of a questionnaire are asked, and what of its conditions and checks cannot be meant.

An item with `only_if` is asked where each name in it has one of its values: an item before it in
the same questionnaire by its id, an item of an earlier questionnaire as `questionnaire.item`, or a
variable of the study. What was answered in an item that is not asked does not count, also where it
decides whether another one is asked.

Items that ask to choose: one of several options, or any number of them. The kinds of items that
questionnaires can have: the shipped ones, and those of packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, field_validator

from labapp.base.discovery import Catalogue
from labapp.base.documents import WORD, OpenUnion, Path_, Strict, refuse_again
from labapp.study.conditions import Value, as_tuple, matches
from labapp.study.instruments.items import (
    DESCRIBED_LONGEST,
    REMARK,
    Item,
    Scale,
    Slider,
    SomeWords,
    Statement,
    Written,
    clean_text,
)
from labapp.study.plugins.bids import Column

if TYPE_CHECKING:
    import numpy as np

    from labapp.study.instruments.instrument import Instrument


Known = Mapping[str, Value | tuple[Value, ...]]
"""What conditions can name: variables of the study, and answers as `Item.values` has them."""


class AskedItems(NamedTuple):
    """The ids of the items that are asked; known: with the answers to them."""

    ids: frozenset[str]
    known: Known

    def awaited(self, page: Sequence[Item]) -> frozenset[str]:
        """The items of a page that are not asked, and may be after another answer on the same page:
        room is kept for them, so that nothing moves under the hand."""
        here = {item.id for item in page}
        ids: set[str] = set()
        for item in page:
            inside = item.only_if.keys() & here
            outside = {name: item.only_if[name] for name in item.only_if if name not in inside}
            reached = bool(inside) and inside <= self.ids | ids
            if item.id not in self.ids and reached and matches(outside, self.known):
                ids.add(item.id)
        return frozenset(ids)


def select_asked(items: Sequence[Item], answers: Mapping[str, Any], known: Known) -> AskedItems:
    """Which items are asked.

    items: in their order; answers: as stored, also those to items that are not asked any more;
    known: variables, and answers in earlier questionnaires.
    """
    scope = dict(known)
    ids = set()
    for item in items:
        if matches(item.only_if, scope):
            ids.add(item.id)
            scope[item.id] = item.values(answers.get(item.id))
    return AskedItems(frozenset(ids), scope)


def own_name(instrument: str, item: str) -> str:
    """What conditions of later questionnaires call an item."""
    return f"{instrument}.{item}"


def is_outside(name: str) -> bool:
    """Whether a condition names an item of another questionnaire."""
    return "." in name


def is_withheld(instruments: Mapping[str, Instrument], instrument: str, item_id: str) -> bool:
    """Whether a de-identified copy leaves out the answers to an item, and whether it was asked: its
    answers tell who somebody is, or those that decide whether it is asked do. Raises KeyError for
    an item that is not known."""
    item = instruments[instrument].item(item_id)
    if item.withheld:
        return True
    own = {other.id for other in instruments[instrument].items}
    for name in item.only_if:
        of, dot, alone = name.partition(".")
        deciding = (of, alone) if dot else (instrument, name)
        if not dot and name not in own:
            continue  # a variable of the study
        if deciding[0] not in instruments or is_withheld(instruments, *deciding):
            return True
    return False


def faults(instrument: Instrument) -> Iterator[tuple[Path_, str]]:
    """What can be told of the conditions and checks of a questionnaire without a study: where it
    stands, and what is wrong."""
    for index, item in enumerate(instrument.items):
        for name, wanted in item.only_if.items():
            at: Path_ = ("items", index, "only_if", name)
            for what in _impossible(instrument, index, name, as_tuple(wanted)):
                yield at, what
        if item.right is not None:
            for what in _no_check(instrument, item):
                yield ("items", index, "check"), what


def _impossible(
    instrument: Instrument, index: int, name: str, wanted: tuple[Value, ...]
) -> Iterator[str]:
    """Why a condition that an item has never holds, or does not say what is meant."""
    places = {item.id: place for place, item in enumerate(instrument.items)}
    of, dot, alone = name.partition(".")
    if dot and of == instrument.id:
        yield f"an item of the same questionnaire is named by its id alone: {alone}"
    elif (place := places.get(name)) is None:
        return  # a variable, or an item of another questionnaire: a study says whether it is there
    elif place >= index:
        yield (
            f"{name} is asked after it; name an item that stands above it"
            if place > index
            else "it depends on itself; name an item that stands above it"
        )
    elif instrument.order == "shuffled":
        yield (
            f"{name} may be asked after it, for the items are shuffled: say `order: fixed`, or ask "
            "it in a questionnaire of its own, before this one"
        )
    else:
        decider = instrument.items[place]
        yield from never(name, decider, wanted)
        before = requirements(instrument, place)
        own = instrument.items[index].only_if
        for other in sorted(before.keys() & own.keys()):
            if not before[other] & frozenset(as_tuple(own[other])):
                yield (
                    f"{name} is asked only where {other} is "
                    f"{_either(tuple(before[other]))}, and this item only where it is "
                    f"{_either(as_tuple(own[other]))}: it is never asked"
                )


def never(name: str, decider: Item, wanted: tuple[Value, ...]) -> Iterator[str]:
    """Why an item never has the answers that a condition names."""
    if decider.repeat is not None:
        yield f"{name} is asked once for each stage; name an item that is asked once"
    elif (possible := decider.possible()) is None:
        yield f"what {name} is answered cannot be listed; name a rating, a slider or a choice"
    elif not wanted:
        yield "no value, so that it never holds"
    for value in wanted if decider.repeat is None else ():
        if possible is not None and not among(value, possible):
            yield f"{name} is never {value!r}; it is one of: {_format_values(possible)}"


def among(value: Value, possible: tuple[Value, ...]) -> bool:
    """Whether a value is one of those that are possible; true is no 1."""
    return any(value == other and type(value) is type(other) for other in possible)


def requirements(instrument: Instrument, index: int) -> dict[str, frozenset[Value]]:
    """By name the values of which one must be there for an item to be asked, those for the items
    that decide about it among them. Of what can have several values at once nothing follows."""
    items = {item.id: place for place, item in enumerate(instrument.items)}
    required: dict[str, frozenset[Value]] = {}
    for name, wanted in instrument.items[index].only_if.items():
        place = items.get(name)
        several = place is not None and instrument.items[place].several
        if not several and not is_outside(name):
            required[name] = required.get(name, frozenset(as_tuple(wanted))) & set(as_tuple(wanted))
        if place is not None and place < index:
            for other, values in requirements(instrument, place).items():
                required[other] = required.get(other, values) & values
    return required


def _no_check(instrument: Instrument, item: Item) -> Iterator[str]:
    """Why an item cannot be the attention check that it is declared to be."""
    possible = item.possible()
    right = as_tuple(item.right)
    if possible is None or not right:
        yield "an attention check needs a right answer: make it a rating, a slider or a choice"
        return
    for value in right:
        if not among(value, possible):
            yield f"{value!r} is no answer to it; it is one of: {_format_values(possible)}"
    if not item.required:
        yield "an attention check must be answered: leave out `required: false`"
    scores = instrument.scores if isinstance(instrument.scores, dict) else {}
    for name, score in scores.items():
        if item.id in score.needs:
            yield f"an attention check is in no score, and it is in {name}; leave it out there"


def _format_values(values: tuple[Value, ...]) -> str:
    shown = [repr(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:3], "…", shown[-1]])


def _either(values: tuple[Value, ...]) -> str:
    return " or ".join(sorted(map(repr, values)))


class Option(Strict):
    """One of the answers to choose from.

    Attributes
    ----------
    id : its name in tables: small letters, digits and _; `yes` and `no` stand in quotes.
    text : what the participant reads.
    describe : whether it takes a text in one's own words.
    alone : whether taking it takes the others away.
    """

    id: str = Field(pattern=WORD)
    text: SomeWords
    describe: bool = False
    alone: bool = False


def _with_shared_options(schema: dict[str, Any]) -> None:
    """In a file an option may be the id of one that the instrument shares."""
    options = schema["properties"]["options"]
    options["items"] = {"anyOf": [options["items"], {"type": "string"}]}


class _Choosing(Item):
    """What asks to choose.

    Attributes
    ----------
    options : the answers to choose from, or the id of options that the questionnaire shares.
    """

    own_words = frozenset({"chosen"})
    more: ClassVar[Mapping[str, str]] = {"described": "In their own words"}
    model_config = ConfigDict(json_schema_extra=_with_shared_options)

    options: tuple[Option, ...] = Field(min_length=2, max_length=40)

    @field_validator("options")
    @classmethod
    def _distinct(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        ids = [option.id for option in options]
        refuse_again(ids, key=("id",))
        if sum(option.describe for option in options) > 1:
            raise ValueError("one option to describe at most")
        return options

    def answer_words(self) -> dict[str, str]:
        return {option.id: option.text for option in self.options}

    def offered(self) -> tuple[str, ...]:
        return tuple(option.id for option in self.options)

    @property
    def title(self) -> str:
        return self.name or self.text or " / ".join(option.text for option in self.options)

    def check(self, value: Any) -> dict[str, Any]:
        """The options in their order, and the description where one of them takes one. A tuple,
        as events give lists back: a session folded again is then equal to the live one."""
        if not isinstance(value, Mapping) or set(value) - {"chosen", "described"}:
            raise ValueError(f"{self.id}: {value!r} is not a choice")
        wanted, described = value.get("chosen"), value.get("described", "")
        known = {option.id: option for option in self.options}
        if (
            not isinstance(wanted, Sequence)
            or isinstance(wanted, str)
            or any(not isinstance(option, str) or option not in known for option in wanted)
        ):
            raise ValueError(f"{self.id}: {wanted!r} are not among {', '.join(known)}")
        chosen = [option for option in self.options if option.id in wanted]
        if len(chosen) > 1 and (not self.several or any(option.alone for option in chosen)):
            raise ValueError(f"{self.id}: {wanted!r} do not go together")
        checked: dict[str, Any] = {"chosen": tuple(option.id for option in chosen)}
        if any(option.describe for option in chosen):
            checked["described"] = clean_text(described, DESCRIBED_LONGEST, lines=False)
        return checked

    def values(self, value: Any) -> tuple[Value, ...]:
        return tuple(value["chosen"]) if value is not None else ()

    def answer_of(self, values: tuple[Value, ...]) -> Any:
        return self.check({"chosen": values if self.several else values[:1]})

    def answered(self, value: Any) -> bool:
        return value is not None and bool(value["chosen"])

    def said(self, value: Any) -> str:
        words = self.answer_words()
        listed = ", ".join(words[option] for option in value["chosen"])
        return f"{listed}: {value['described']}" if value.get("described") else listed

    @classmethod
    def cells(cls, value: Any) -> dict[str, Any]:
        """The options as one cell."""
        described = {"described": value["described"]} if "described" in value else {}
        return {"": ";".join(value["chosen"]), **described}

    def simulate(self, rng: np.random.Generator, leaning: float | None) -> dict[str, Any]:
        first = self.options[int(rng.integers(len(self.options)))]
        chosen = [first]
        if self.several and not first.alone and rng.random() < 0.3:
            others = [option for option in self.options if option is not first and not option.alone]
            chosen += others[: int(rng.integers(len(others) + 1))]
        value: dict[str, Any] = {"chosen": [option.id for option in chosen]}
        if any(option.describe for option in chosen):
            value["described"] = REMARK
        return self.check(value)


class Choice(_Choosing):
    """One of several options."""

    kind: Literal["choice"]

    def one_of(self) -> tuple[str, ...]:
        return self.offered()

    def column(self, where: str) -> Column:
        return Column("", f"{self.title} ({where})", levels=self.answer_words())


class Choices(_Choosing):
    """Any number of several options."""

    several: ClassVar[bool] = True

    kind: Literal["choices"]

    def right_cells(self) -> tuple[Value, ...]:
        right = as_tuple(self.right)
        return (self.cells(self.answer_of(right))[""],) if right else ()

    def column(self, where: str) -> Column:
        levels = ", ".join(f"{option.id} = {option.text}" for option in self.options)
        chosen = "all that were chosen, with ; between them"
        return Column("", f"{self.title} ({where}; {chosen}; {levels})")


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of items. A package brings one by an entry point of the group `labapp.items` that
    names such an object; questionnaires then ask such items like shipped ones.

    Attributes
    ----------
    name : what `kind:` of an item says.
    item : type
        What a questionnaire says of such an item, how its answers are checked, what tables have of
        them, and how they are simulated: a class derived from `labapp.study.instruments.items.Item`
        with `kind: Literal[name]`. Its docstring says what is asked.
    view : what a participant sees and answers, as `module:Class` of a
        `labapp.tasks.questionnaire.screen.ItemView` that is made of the item, the
        words of the screens and the palette. It is loaded with the windows alone.
    """

    name: str
    item: type[Item]
    view: str


VIEWS = "labapp.tasks.questionnaire.screen.questionnaire"
_ALL = (
    ItemKind("scale", Scale, f"{VIEWS}:RatingView"),
    ItemKind("statement", Statement, f"{VIEWS}:RatingView"),
    ItemKind("slider", Slider, f"{VIEWS}:SliderView"),
    ItemKind("choice", Choice, f"{VIEWS}:ChoiceView"),
    ItemKind("choices", Choices, f"{VIEWS}:ChoiceView"),
    ItemKind("written", Written, f"{VIEWS}:WrittenView"),
)


def _problem(kind: ItemKind, others: Sequence[ItemKind]) -> str:
    """Why a kind cannot be used; empty where it can."""
    item: Any = kind.item
    if not issubclass(item, Item):
        return f"{item.__name__} derives from no Item"
    if "kind" not in item.model_fields or get_args(item.model_fields["kind"].annotation) != (
        kind.name,
    ):
        return f"{item.__name__} has no `kind: Literal[{kind.name!r}]`"
    if not (item.__dict__.get("__doc__") or "").strip():
        return f"{item.__name__} has no docstring that says what is asked"
    for method in ("check", "simulate"):
        if getattr(item, method) is getattr(Item, method):
            return f"{item.__name__} has no `{method}`"
    return "" if ":" in kind.view else f"its view is {kind.view!r}, and not module:Class"


ITEM_KINDS: Catalogue[ItemKind] = Catalogue(
    "labapp.items", "a kind of items", ItemKind, lambda: _ALL, _problem
)


def kind_of(value: Any) -> str:
    """The kind of an item, made or as its file has it."""
    if isinstance(value, Mapping):
        return str(value.get("kind", "scale"))
    return str(getattr(value, "kind", ""))


def item_classes() -> tuple[type[Item], ...]:
    """What a questionnaire can say of its items."""
    return tuple(kind.item for kind in ITEM_KINDS.values())


@cache
def _items() -> TypeAdapter[Any]:
    tagged = tuple(Annotated[kind.item, Tag(name)] for name, kind in ITEM_KINDS.items())
    union: Any = Annotated[Union[tagged], Discriminator(kind_of)]  # noqa: UP007
    return TypeAdapter(union)


AnyItem = Annotated[Item, OpenUnion(item_classes, _items)]
"""An item by its `kind`, a scale where none is said."""


def _find_item_class(value: Any, kind: str) -> type[Item]:
    """The class of items that an answer is to; of a shipped kind it is told by its form."""
    if kind:
        return ITEM_KINDS[kind].item
    if isinstance(value, Mapping):
        if "touched" in value:
            return Slider
        if isinstance(value.get("chosen"), list | tuple):
            return Choice
    return Item


def cells_of(value: Any, kind: str = "") -> dict[str, Any]:
    """A stored answer as tables have it (`Item.cells`), also where its questionnaire is not there.

    kind: of an item that a package brings.
    """
    return {} if value is None else _find_item_class(value, kind).cells(value)


def more_of(value: Any, kind: str = "") -> Mapping[str, str]:
    """What the further cells of a stored answer say."""
    return _find_item_class(value, kind).more


def form_of(value: Any, kind: str = "") -> str | None:
    """What tables call an answer: a kind that a package brings by its name, a shipped one by the
    form of its answers."""
    if value is None or kind:
        return kind or None
    if isinstance(value, Mapping):
        return "slider" if "touched" in value else "choice"
    return "written" if isinstance(value, str) else "rating"
