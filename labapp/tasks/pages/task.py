"""Texts and the debrief as a task type, and their part of a study file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from labapp.study.conditions import Scope
from labapp.study.plan import PagesPart
from labapp.study.planner import Planner
from labapp.study.plugins.item import EarlyDebrief, Item
from labapp.study.plugins.machine import TextMachine
from labapp.study.plugins.registry import MachineContext, TaskType


class TextItem(Item):
    """A text of one page or several, which is read; a line of three dashes begins a page.

    Attributes
    ----------
    text : its file, beside the study file or among the shipped texts; `{language}` is the study's.
    """

    key: ClassVar[str] = "text"
    text: str

    def texts(self) -> tuple[str, ...]:
        return (self.text,)


class DebriefItem(Item):
    """The text at the end, once everything is done.

    Attributes
    ----------
    debrief : its file.
    early : whether it is also shown when a session is ended early. `begun`: if a task has begun;
        `always`: even to people who refuse consent; `never`: no.
    """

    key: ClassVar[str] = "debrief"
    last_only: ClassVar[bool] = True
    debrief: str
    early: EarlyDebrief = "begun"

    def texts(self) -> tuple[str, ...]:
        return (self.debrief,)

    def shown_early(self) -> EarlyDebrief:
        return self.early


class Pages(TaskType[PagesPart]):
    name = "pages"
    parts = (PagesPart,)
    screens = "labapp.tasks.pages.screen:PagesScreen"
    actors = "labapp.study.plugins.simulated:Reader"
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


TASK = Pages()
