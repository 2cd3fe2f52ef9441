"""A break: the participant goes on after its least time, the moderator at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labapp.base.clock import NS
from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command, Next, SkipStage
from labapp.record.events.lifecycle import PartEnded, PartStarted
from labapp.record.events.registry import Pauses
from labapp.study.plan import BreakPart
from labapp.study.plugins.machine import PartMachine


@dataclass(frozen=True, slots=True)
class BreakState:
    """began_ns: session time of its beginning, in nanoseconds."""

    began_ns: int = 0
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class BreakMachine(PartMachine[BreakState]):
    """The session pauses meanwhile, see `PlannedPart.rests`. index: the place in the plan."""

    part: BreakPart
    index: int

    def initial(self, pauses: Pauses) -> BreakState:
        return BreakState()

    def decide(self, state: BreakState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case Next() if now_ns - state.began_ns >= round(self.part.at_least_s * NS):
                return (UnstampedEvent(PartEnded(self.index, "completed"), self.part.id),)
            case SkipStage():
                return (UnstampedEvent(PartEnded(self.index, "skipped"), self.part.id),)
        return ()

    def apply(self, state: BreakState, event: Event, payload: Payload) -> BreakState:
        match payload:
            case PartStarted():
                return replace(state, began_ns=event.t_ns)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state
