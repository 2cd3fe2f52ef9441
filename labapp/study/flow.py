"""What a study file may say in `flow`: its items, from consent to debrief.

The registry of task types knows which items and which stages there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Annotated, Any, ClassVar, Self, Union

from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter

from labapp.base.documents import OpenUnion, Path_, one_of
from labapp.study.conditions import Scope
from labapp.study.plugins import registry
from labapp.study.plugins.item import Item, TaskStages
from labapp.study.when import settle


@cache
def _stages() -> TypeAdapter[TaskStages]:
    return TypeAdapter(one_of("task", registry.stages_classes()))


AnyStages = Annotated[TaskStages, OpenUnion(registry.stages_classes, _stages)]
"""Stages of any task, told apart by `task`."""


class StagesItem(Item):
    """The stages of a task.

    Attributes
    ----------
    stages : which task, with its settings.
    """

    key: ClassVar[str] = "stages"
    stages: AnyStages

    def texts(self) -> tuple[str, ...]:
        return self.stages.texts()

    def instruments(self) -> tuple[str, ...]:
        return self.stages.after

    def stimulus_sets(self) -> tuple[str, ...]:
        return self.stages.stimulus_sets()

    def task_stages(self) -> TaskStages:
        return self.stages

    def with_stages(self, changed: Callable[[TaskStages], TaskStages]) -> Self:
        return self.model_copy(update={"stages": changed(self.stages)})


def _kinds(*, inside: bool) -> dict[str, list[type[Item]]]:
    """The classes of items by their key; inside: of those that can stand inside `each`."""
    kinds: dict[str, list[type[Item]]] = {}
    classes: tuple[type[Item], ...] = (*registry.item_classes(), StagesItem, EachItem)
    for item_class in classes:
        if not (inside and (item_class.first_only or item_class.last_only)):
            kinds.setdefault(item_class.key, []).append(item_class)
    return kinds


@cache
def _union(*, inside: bool) -> TypeAdapter[Item]:
    def key_of(item: Any) -> str:
        """The kind of an item: the one of its keys that names a kind, else a key that does not."""
        if isinstance(item, BaseModel):
            return str(getattr(item, "key", ""))
        keys = [str(key) for key in item] if isinstance(item, dict) else []
        every = _kinds(inside=False)
        return next((key for key in ("each", *every) if key in keys), next(iter(keys), "nothing"))

    kinds = _kinds(inside=inside).items()
    members = tuple(Annotated[one_of(key, classes), Tag(key)] for key, classes in kinds)
    union: Any = Annotated[Union[members], Discriminator(key_of)]  # noqa: UP007
    return TypeAdapter(union)


def _open_union(*, inside: bool) -> OpenUnion:
    return OpenUnion(
        lambda: tuple(chain.from_iterable(_kinds(inside=inside).values())),
        partial(_union, inside=inside),
    )


InnerItem = Annotated[Item, _open_union(inside=True)]
"""An item inside `each`."""
FlowItem = Annotated[Item, _open_union(inside=False)]
"""An item of a flow."""


class EachItem(Item):
    """A part of the flow that is gone through once for every drawn cell, or level of a factor
    within participants, with its variables.

    Attributes
    ----------
    each : the drawn variable or the factor.
    flow : the items of each round.
    """

    key: ClassVar[str] = "each"
    each: str
    flow: tuple[InnerItem, ...] = Field(min_length=1, max_length=100)

    def inside(self) -> tuple[Item, ...]:
        return self.flow

    def goes_through(self) -> str:
        return self.each

    def with_stages(self, changed: Callable[[TaskStages], TaskStages]) -> Self:
        return self.model_copy(update={"flow": tuple(i.with_stages(changed) for i in self.flow)})


def walk_items(flow: Sequence[Item]) -> Iterator[tuple[Path_, Item]]:
    """Every item and where it stands, those inside `each` after it."""
    for index, item in enumerate(flow):
        yield ("flow", index), item
        yield from ((("flow", index, *place), inner) for place, inner in walk_items(item.inside()))


def items_of(flow: Sequence[Item]) -> Iterator[Item]:
    """Every item, those inside `each` after it."""
    return (item for _, item in walk_items(flow))


def items_of_tasks(flow: Sequence[Item]) -> Iterator[Item]:
    """Every item that is of a task type, which `each` itself is not."""
    return (item for item in items_of(flow) if not item.inside())


def task_tests(flow: Sequence[Item]) -> dict[str, registry.TaskTest]:
    """By name the tests of the tasks of a flow, which hypotheses can name."""
    kinds = dict.fromkeys(registry.task_type_of_item(item) for item in items_of_tasks(flow))
    return {name: test for kind in kinds for name, test in kind.tests.items()}


def blinds(flow: Sequence[Item]) -> bool:
    """Whether moderators are blind unless they say otherwise, because a task asks for it."""
    return any(registry.task_type_of_item(item).blinds for item in items_of_tasks(flow))


def unroll(
    flow: Sequence[Item], scope: Scope, turns: Mapping[str, Sequence[Scope]]
) -> Iterator[tuple[Item, Scope]]:
    """The items one participant goes through, with the variables at each; those that depend on an
    answer among them.

    Parameters
    ----------
    scope : the variables that hold in the whole flow.
    turns : by what `each` goes through, its values in the participant's order.
    """
    for item in flow:
        if settle(item.only_if, scope) is False:
            continue
        if not (repeated := item.inside()):
            yield item, scope
            continue
        for turn in turns.get(item.goes_through() or "", ()):
            yield from unroll(repeated, scope | turn, turns)
