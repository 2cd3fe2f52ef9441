"""Breaks as a task type, and their part of a study file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from labapp.study.conditions import Scope
from labapp.study.plan import BreakPart
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.tasks.resting.machine import BreakMachine


class BreakItem(Item):
    """A break, which counts in no duration.

    Attributes
    ----------
    break_ : the file of its text.
    at_least_s : seconds during which only the moderator can continue.
    """

    key: ClassVar[str] = "break"
    break_: str = Field(alias="break")
    at_least_s: float = Field(default=0.0, ge=0, le=3600)

    def texts(self) -> tuple[str, ...]:
        return (self.break_,)


class Resting(TaskType[BreakPart]):
    name = "break"
    own_words = ("break*",)
    parts = (BreakPart,)
    screens = "labapp.tasks.resting.screen:BreakScreen"
    actors = "labapp.study.plugins.simulated:Reader"
    moderator = "labapp.tasks.resting.moderator:BreakWords"
    items = (BreakItem,)

    def plan(
        self, item: BreakItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[BreakPart]:
        yield planner.rest(item.break_, item.at_least_s, scope)

    def machine(self, part: BreakPart, index: int, context: MachineContext) -> BreakMachine:
        return BreakMachine(part, index)


TASK = Resting()
