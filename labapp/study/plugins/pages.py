"""Texts of several pages that are read and left: what every part of that kind shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Back, Command, Next, SkipStage
from labapp.record.events.event import Pauses
from labapp.record.events.lifecycle import PageTurned, PartEnded
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart


@dataclass(frozen=True, slots=True)
class PagesState:
    """page: the one on the screen, from 0."""

    page: int = 0
    outcome: str | None = None


S = TypeVar("S", bound=PagesState)


@dataclass(frozen=True)
class PagesMachine(PartMachine[S]):
    """The machine of a text; one with more than text derives from it.

    index: the part's place in the plan; pages: how many the text has.
    """

    part: PlannedPart
    index: int
    pages: int

    def turn(self, state: S, command: Command) -> Sequence[UnstampedEvent]:
        """What turning a page leads to, and leaving the last one."""
        match command:
            case Next() if state.page + 1 < self.pages:
                return (UnstampedEvent(PageTurned(state.page + 1), self.part.id),)
            case Next():
                return self._end(state, "completed")
            case Back() if state.page > 0:
                return (UnstampedEvent(PageTurned(state.page - 1), self.part.id),)
            case SkipStage():
                return self._end(state, "skipped")
        return ()

    def page_count(self) -> int:
        return self.pages

    def page(self, state: S) -> int:
        return state.page

    def at_page(self, state: S, page: int) -> S:
        return replace(state, page=page)

    def place(self, state: S) -> str:
        return f"page {state.page + 1}"

    def decide(self, state: S, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        return () if state.outcome is not None else self.turn(state, command)

    def _end(self, state: S, outcome: str) -> Sequence[UnstampedEvent]:
        payloads = (*self.closing(state), PartEnded(self.index, outcome))
        return [UnstampedEvent(payload, self.part.id) for payload in payloads]

    def apply(self, state: S, event: Event, payload: Payload) -> S:
        match payload:
            case PageTurned():
                return replace(state, page=payload.page)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state


class TextMachine(PagesMachine[PagesState]):
    """A text and nothing else."""

    def initial(self, pauses: Pauses) -> PagesState:
        return PagesState()
