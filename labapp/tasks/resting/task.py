"""Breaks as a task type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labapp.study.conditions import Scope
from labapp.study.parts import BreakPart
from labapp.study.planner import Planner
from labapp.study.plugins.simulated import Actor, Reader, SimulatedParticipant
from labapp.study.plugins.task_type import MachineContext, TaskType
from labapp.tasks.resting.machine import BreakMachine
from labapp.tasks.resting.study import BreakItem


class Resting(TaskType[BreakPart]):
    name = "break"
    own_words = ("break*",)
    parts = (BreakPart,)
    moderator = "labapp.tasks.resting.moderator:BreakWords"
    items = (BreakItem,)

    def plan(
        self, item: BreakItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[BreakPart]:
        yield planner.rest(item.break_, item.at_least_s, scope)

    def machine(self, part: BreakPart, index: int, context: MachineContext) -> BreakMachine:
        return BreakMachine(part, index)

    def screen(self, part: BreakPart) -> str:
        return "labapp.tasks.resting.screen:BreakScreen"

    def simulate(self, part: BreakPart, participant: SimulatedParticipant) -> Actor[Any]:
        return Reader(part, participant)


TASK = Resting()
