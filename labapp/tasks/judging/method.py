"""The introduction to a method: a text, from which the picture of the whole tree can be opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.events import Body, Draft, Event
from labapp.events.commands import Command
from labapp.events.durations import Pauses
from labapp.plugins.pages import PagesMachine, PagesState
from labapp.tasks.judging import description
from labapp.tasks.judging.commands import CloseDescription, OpenDescription
from labapp.tasks.judging.plan import MethodPart


@dataclass(frozen=True, slots=True)
class MethodState(PagesState):
    """description: `tree` while the picture of the whole tree is open."""

    description: str = ""


@dataclass(frozen=True)
class MethodMachine(PagesMachine[MethodState]):
    part: MethodPart

    def initial(self, pauses: Pauses) -> MethodState:
        return MethodState()

    def closing(self, state: MethodState) -> Sequence[Body]:
        return description.closed(state.description)

    def decide(self, state: MethodState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        if isinstance(command, OpenDescription | CloseDescription):
            offered = (description.TREE,) if self.part.explained.tree else ()
            bodies = description.toggled(offered, state.description, command)
            return [Draft(body, self.part.id) for body in bodies]
        return self.turn(state, command)

    def apply(self, state: MethodState, event: Event, body: Body) -> MethodState:
        state = replace(state, description=description.after(state.description, body))
        return super().apply(state, event, body)
