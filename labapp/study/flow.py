"""What a study file may say in `flow`: its items, from consent to debrief.

The registry of task types knows which items and which stages there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Annotated, Any, ClassVar, Self, Union

import numpy as np
from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter, model_validator

from labapp.base.documents import OpenUnion, Path_, Strict, one_of
from labapp.study.conditions import Scope
from labapp.study.design import Interrupts
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


class Interruption(Strict):
    """Items between two rounds, such as an attention check; never after the last round. Either
    `every` or `times` says where.

    Attributes
    ----------
    flow : the items of each interruption.
    every : it comes after so many rounds, and again after as many more.
    first : the round after which it comes first (default: `every`).
    times : how many interruptions there are, each after another round that is drawn at random for
        each participant.
    """

    flow: tuple[InnerItem, ...] = Field(min_length=1, max_length=100)
    every: int | None = Field(default=None, ge=1, le=100)
    first: int | None = Field(default=None, ge=1, le=100)
    times: int | None = Field(default=None, ge=1, le=100)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.every is None) == (self.times is None):
            raise ValueError("either 'every' or 'times', and not both")
        if self.first is not None and self.every is None:
            raise ValueError("'first' needs 'every'; the rounds of 'times' are drawn at random")
        return self

    def after(self, rounds: int, random: np.random.Generator) -> frozenset[int]:
        """The rounds after which it comes, from 1."""
        between = range(1, rounds)
        if self.times is None:
            return frozenset(between[(self.first or self.every or 1) - 1 :: self.every])
        drawn = random.permutation(len(between)) + 1
        return frozenset(int(number) for number in drawn[: self.times])


class EachItem(Item):
    """A part of the flow that is gone through once for every drawn cell, or level of a factor
    within participants, with its variables.

    Attributes
    ----------
    each : the drawn variable or the factor.
    flow : the items of each round.
    interrupt : items that come between some of the rounds.
    """

    key: ClassVar[str] = "each"
    each: str
    flow: tuple[InnerItem, ...] = Field(min_length=1, max_length=100)
    interrupt: Interruption | None = None

    def inside(self) -> tuple[Item, ...]:
        return self.flow

    def interrupts(self) -> tuple[Item, ...]:
        return () if self.interrupt is None else self.interrupt.flow

    def interrupted_after(self, rounds: int, random: np.random.Generator) -> frozenset[int]:
        return frozenset() if self.interrupt is None else self.interrupt.after(rounds, random)

    def interruption_faults(self, rounds: int) -> Iterator[tuple[Path_, str]]:
        times = None if self.interrupt is None else self.interrupt.times
        if times is not None and times >= rounds:
            what = f"found {times}; allowed: fewer than the {rounds} rounds of {self.each}"
            yield ("interrupt", "times"), what

    def goes_through(self) -> str:
        return self.each

    def with_stages(self, changed: Callable[[TaskStages], TaskStages]) -> Self:
        changes: dict[str, Any] = {"flow": tuple(i.with_stages(changed) for i in self.flow)}
        if self.interrupt is not None:
            inner = tuple(i.with_stages(changed) for i in self.interrupt.flow)
            changes["interrupt"] = self.interrupt.model_copy(update={"flow": inner})
        return self.model_copy(update=changes)


def walk_items(flow: Sequence[Item]) -> Iterator[tuple[Path_, Item]]:
    """Every item and where it stands, those inside `each` after it."""
    for index, item in enumerate(flow):
        yield ("flow", index), item
        for key, items in (((), item.inside()), (("interrupt",), item.interrupts())):
            for place, inner in walk_items(items):
                yield ("flow", index, *key, *place), inner


def items_of(flow: Sequence[Item]) -> Iterator[Item]:
    """Every item, those inside `each` after it."""
    return (item for _, item in walk_items(flow))


def items_of_tasks(flow: Sequence[Item]) -> Iterator[Item]:
    """Every item that is of a task type, which `each` itself is not."""
    return (item for item in items_of(flow) if not item.inside())


def rules_in_words(flow: Sequence[Item]) -> Iterator[tuple[str, ...]]:
    """The rules of its stages and practices that choose levels."""
    for item in items_of(flow):
        for owner in (item, item.task_stages()):
            if (rule := getattr(owner, "adaptive", None)) is not None:
                yield rule.words


def list_interrupts(flow: Sequence[Item]) -> Iterator[Interrupts]:
    """What comes between the rounds of its parts."""
    for item in items_of(flow):
        own: Interruption | None = getattr(item, "interrupt", None)
        if own is not None:
            asked = dict.fromkeys(name for each in own.flow for name in each.instruments())
            yield Interrupts(
                each=item.goes_through() or "",
                asked=tuple(asked),
                every=own.every,
                first=own.first,
                times=own.times,
            )


def task_tests(flow: Sequence[Item]) -> dict[str, registry.TaskTest]:
    """By name the tests of the tasks of a flow, which hypotheses can name."""
    kinds = dict.fromkeys(registry.task_type_of_item(item) for item in items_of_tasks(flow))
    return {name: test for kind in kinds for name, test in kind.tests.items()}


def blinds(flow: Sequence[Item]) -> bool:
    """Whether moderators are blind unless they say otherwise, because a task asks for it."""
    return any(registry.task_type_of_item(item).blinds for item in items_of_tasks(flow))


def unroll(
    flow: Sequence[Item],
    scope: Scope,
    turns: Mapping[str, Sequence[Scope]],
    random: np.random.Generator | None = None,
) -> Iterator[tuple[Item, Scope]]:
    """The items one participant goes through, with the variables at each; those that depend on an
    answer among them.

    Parameters
    ----------
    scope : the variables that hold in the whole flow.
    turns : by what `each` goes through, its values in the participant's order.
    random : draws the rounds after which random interruptions come, see `Interruption`. Without it,
        each round is followed by what may follow it in the order of some participant: for checks of
        all that can be met.
    """
    for item in flow:
        if settle(item.only_if, scope) is False:
            continue
        if not (repeated := item.inside()):
            yield item, scope
            continue
        rounds = turns.get(item.goes_through() or "", ())
        interrupted = None if random is None else item.interrupted_after(len(rounds), random)
        for number, turn in enumerate(rounds, start=1):
            yield from unroll(repeated, scope | turn, turns, random)
            if interrupted is None or number in interrupted:
                yield from unroll(item.interrupts(), scope | turn, turns, random)
