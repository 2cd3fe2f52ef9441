"""Texts and the debrief as a task type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labapp.study.conditions import Scope
from labapp.study.parts import PagesPart
from labapp.study.planner import Planner
from labapp.study.plugins.pages import TextMachine
from labapp.study.plugins.simulated import Actor, Reader, SimulatedParticipant
from labapp.study.plugins.task_type import MachineContext, TaskType
from labapp.tasks.pages.study import DebriefItem, TextItem


class Pages(TaskType[PagesPart]):
    name = "pages"
    parts = (PagesPart,)
    items = (TextItem, DebriefItem)
    instructs = ("text",)

    def plan(
        self, item: TextItem | DebriefItem, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PagesPart]:
        document = planner.text(item.texts()[0], scope)
        if isinstance(item, DebriefItem):
            yield PagesPart(part="debrief", id="debrief", title="Debrief", document=document)
            return
        yield PagesPart(
            part="text",
            id=planner.new_id("text", numbered=True),
            title="Text",
            document=document,
            values=planner.values_near(place, ahead=True),
        )

    def machine(self, part: PagesPart, index: int, context: MachineContext) -> TextMachine:
        return TextMachine(part, index, context.pages(part.document))

    def screen(self, part: PagesPart) -> str:
        return "labapp.tasks.pages.screen:PagesScreen"

    def simulate(self, part: PagesPart, participant: SimulatedParticipant) -> Actor[Any]:
        return Reader(part, participant)


TASK = Pages()
