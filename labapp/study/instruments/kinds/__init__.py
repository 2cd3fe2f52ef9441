"""The kinds of items that questionnaires can have: the shipped ones, and those of packages.

A kind is a module here, which says what a questionnaire states of such an item, how answers are
checked, stored, simulated and put into tables, and a view of the same name in the folder of the
questionnaire's screen. It is used once it has an entry below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args

from pydantic import Discriminator, Tag, TypeAdapter

from labapp.base.discovery import Catalogue
from labapp.base.documents import OpenUnion
from labapp.study.instruments.dont_know import DONT_KNOW, is_about_knowing
from labapp.study.instruments.items import Item
from labapp.study.instruments.kinds.best_worst import BestWorst
from labapp.study.instruments.kinds.choice import Choice, Choices
from labapp.study.instruments.kinds.constant_sum import ConstantSum
from labapp.study.instruments.kinds.date import Date
from labapp.study.instruments.kinds.drawing import Drawing
from labapp.study.instruments.kinds.dropdown import Dropdown
from labapp.study.instruments.kinds.grid import Grid
from labapp.study.instruments.kinds.matrix import Matrix
from labapp.study.instruments.kinds.number import Number
from labapp.study.instruments.kinds.ranking import Ranking
from labapp.study.instruments.kinds.rating import Scale, Statement
from labapp.study.instruments.kinds.region import RegionChoice
from labapp.study.instruments.kinds.slider import Slider
from labapp.study.instruments.kinds.written import Written


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
        `labapp.tasks.questionnaire.screen.kinds.view.ItemView` that is made of the item, the
        words of the screens and the palette. It is loaded with the windows alone.
    form : what tables call its answers where they are recognised by their form, as in journals that
        do not name the kind; without it `name`, and the plan names the kind of each such item.
    figure : what the report draws of its answers, besides the numbers and options, as
        `module:function`: `(axes, answers, parts)` draws rows of the table of answers into a
        panel of matplotlib's and gives back the caption; parts: the rows of the table of items.
    words : keys of the participant's words that only items of such kinds show, or patterns such as
        `item_search*`: a translation of a study without them needs none of these.
    """

    name: str
    item: type[Item]
    view: str
    form: str = ""
    figure: str = ""
    words: tuple[str, ...] = ()


_TYPED = ("item_unread", "item_from*", "item_up_to")
VIEWS = "labapp.tasks.questionnaire.screen.kinds"
FIGURES = "labapp.analysis.planes"
_ALL = (
    ItemKind("scale", Scale, f"{VIEWS}.rating:RatingView", "rating"),
    ItemKind("statement", Statement, f"{VIEWS}.rating:RatingView", "rating"),
    ItemKind("slider", Slider, f"{VIEWS}.slider:SliderView", "slider", words=("slider_*",)),
    ItemKind("choice", Choice, f"{VIEWS}.choice:ChoiceView", "choice"),
    ItemKind("choices", Choices, f"{VIEWS}.choice:ChoiceView", "choice"),
    ItemKind("written", Written, f"{VIEWS}.written:WrittenView", "written"),
    ItemKind(
        "number", Number, f"{VIEWS}.typed:NumberView", words=("item_number", "item_whole", *_TYPED)
    ),
    ItemKind("matrix", Matrix, f"{VIEWS}.matrix:MatrixView"),
    ItemKind(
        "ranking", Ranking, f"{VIEWS}.ranking:RankingView", words=("item_ranking", "item_place")
    ),
    ItemKind(
        "dropdown", Dropdown, f"{VIEWS}.dropdown:DropdownView", "choice", words=("item_search*",)
    ),
    ItemKind(
        "constant_sum", ConstantSum, f"{VIEWS}.constant_sum:ConstantSumView", words=("item_sum_*",)
    ),
    ItemKind("best_worst", BestWorst, f"{VIEWS}.best_worst:BestWorstView"),
    ItemKind("date", Date, f"{VIEWS}.typed:DateView", words=("item_date*", *_TYPED)),
    ItemKind("region", RegionChoice, f"{VIEWS}.region:RegionView", "choice"),
    ItemKind(
        "grid",
        Grid,
        f"{VIEWS}.grid:GridView",
        figure=f"{FIGURES}:count_squares",
        words=("item_grid_*",),
    ),
    ItemKind(
        "drawing",
        Drawing,
        f"{VIEWS}.drawing:DrawingView",
        figure=f"{FIGURES}:draw_strokes",
        words=("item_drawing_*",),
    ),
)


def _problem(kind: ItemKind, others: Sequence[ItemKind]) -> str:
    """Why a kind cannot be used; empty if it can."""
    item: Any = kind.item
    if not issubclass(item, Item):
        return f"{item.__name__} is not derived from Item"
    if "kind" not in item.model_fields or get_args(item.model_fields["kind"].annotation) != (
        kind.name,
    ):
        return f"{item.__name__} has no `kind: Literal[{kind.name!r}]`"
    if not (item.__dict__.get("__doc__") or "").strip():
        return f"{item.__name__} has no docstring that explains what is asked"
    for method in ("check", "simulate"):
        if getattr(item, method) is getattr(Item, method):
            return f"{item.__name__} has no `{method}`"
    return "" if ":" in kind.view else f"its view is {kind.view!r} instead of module:Class"


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


def form_of(value: Any, kind: str = "") -> str | None:
    """What tables call an answer. kind: of its item, where the plan names it."""
    if value is None or kind:
        named = ITEM_KINDS.get(kind)
        return (named and named.form) or kind or None
    if isinstance(value, Mapping):
        return "slider" if "touched" in value else "choice"
    return "written" if isinstance(value, str) else "rating"


def _find_item_class(value: Any, kind: str) -> type[Item]:
    """The class of the items that an answer is to."""
    form = form_of(value, kind)
    return next((each.item for each in ITEM_KINDS.values() if form in (each.form, each.name)), Item)


def cells_of(value: Any, kind: str = "") -> dict[str, Any]:
    """A stored answer as tables have it (`Item.cells`), also where its questionnaire is not there.

    kind: of its item, where the plan names it.
    """
    if is_about_knowing(value):
        names = value[DONT_KNOW]
        return dict.fromkeys(names if isinstance(names, list | tuple) else ("",))
    return {} if value is None else _find_item_class(value, kind).cells(value)


def more_of(value: Any, kind: str = "") -> Mapping[str, str]:
    """What the further cells of a stored answer say."""
    return _find_item_class(value, kind).more


def by_parts(item: str, value: Any, kind: str = "") -> dict[str, Any]:
    """A stored answer as scores count it, by the ids of its parts; as numbers, if it has any.
    What says nothing, as a slider that nobody touched, is left out.

    item: the id of its item; kind: where the plan names it.
    """
    if is_about_knowing(value):
        return {}
    cells = cells_of(value, kind)
    if "" not in cells:
        return {f"{item}_{name}": content for name, content in cells.items()}
    number = cells[""]
    if number is None:
        return {}
    counts = isinstance(number, int | float) and (not kind or kind in ITEM_KINDS.shipped)
    return {item: number if counts else value}
