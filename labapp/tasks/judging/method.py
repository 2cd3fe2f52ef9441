"""The introduction to a method: a text, from which the picture of the whole tree can be opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.events import Event, Payload, UnstampedEvent
from labapp.events.commands import Command
from labapp.events.durations import Pauses
from labapp.plugins.pages import PagesMachine, PagesState
from labapp.tasks.judging import description
from labapp.tasks.judging.commands import CloseDescription, OpenDescription
from labapp.tasks.judging.events import TREE
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

    def closing(self, state: MethodState) -> Sequence[Payload]:
        return description.closed(state.description)

    def decide(self, state: MethodState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        if isinstance(command, OpenDescription | CloseDescription):
            offered = (TREE,) if self.part.explained.tree else ()
            payloads = description.toggled(offered, state.description, command)
            return [UnstampedEvent(payload, self.part.id) for payload in payloads]
        return self.turn(state, command)

    def apply(self, state: MethodState, event: Event, payload: Payload) -> MethodState:
        state = replace(state, description=description.after(state.description, payload))
        return super().apply(state, event, payload)
