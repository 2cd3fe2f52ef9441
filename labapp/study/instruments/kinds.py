"""The kinds of items that questionnaires can have: the shipped ones, and those of packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args

from pydantic import Discriminator, Tag, TypeAdapter

from labapp.discovery import Catalogue
from labapp.plugins.open_union import OpenUnion
from labapp.study.instruments.choosing import Choice, Choices
from labapp.study.instruments.items import Item, Scale, Slider, Statement, Written


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
        `labapp.tasks.questionnaire.screen.items.ItemView` that is made of the item, the words of
        the screens and the palette. It is loaded with the windows alone.
    """

    name: str
    item: type[Item]
    view: str


VIEWS = "labapp.tasks.questionnaire.screen.items"
_ALL = (
    ItemKind("scale", Scale, f"{VIEWS}:RatingView"),
    ItemKind("statement", Statement, f"{VIEWS}:StatementView"),
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


def _answered_by(value: Any, kind: str) -> type[Item]:
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
    return {} if value is None else _answered_by(value, kind).cells(value)


def more_of(value: Any, kind: str = "") -> Mapping[str, str]:
    """What the further cells of a stored answer say."""
    return _answered_by(value, kind).more


def form_of(value: Any, kind: str = "") -> str | None:
    """What tables call an answer: a kind that a package brings by its name, a shipped one by the
    form of its answers."""
    if value is None or kind:
        return kind or None
    if isinstance(value, Mapping):
        return "slider" if "touched" in value else "choice"
    return "written" if isinstance(value, str) else "rating"
