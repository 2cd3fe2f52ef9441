"""The tutorial of interactive reconstruction: a text with boxes whose dials can be turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from labapp.events import Event, Payload, UnstampedEvent
from labapp.events.commands import Command
from labapp.events.durations import Pauses
from labapp.plugins.pages import PagesMachine, PagesState
from labapp.representations.space import LatentSpace
from labapp.tasks.reconstruction.commands import MoveTutorialDial
from labapp.tasks.reconstruction.events import TutorialDialMoved
from labapp.tasks.reconstruction.plan import TutorialPart


@dataclass(frozen=True, slots=True)
class TutorialState(PagesState):
    """dials: the dial states of the boxes."""

    dials: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class TutorialMachine(PagesMachine[TutorialState]):
    """spaces: the latent space of each box."""

    part: TutorialPart
    spaces: tuple[LatentSpace, ...]

    def initial(self, pauses: Pauses) -> TutorialState:
        boxes = zip(self.part.boxes, self.spaces, strict=True)
        return TutorialState(dials=tuple(space.snap(box.start) for box, space in boxes))

    def decide(
        self, state: TutorialState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case MoveTutorialDial(box, dimension, value) if 0 <= box < len(self.spaces):
                dimensions = self.spaces[box].dimensions
                if not 0 <= dimension < len(dimensions) or not isfinite(value):
                    return ()
                snapped = dimensions[dimension].snap(value)
                if snapped == state.dials[box][dimension]:
                    return ()
                return (UnstampedEvent(TutorialDialMoved(box, dimension, snapped), self.part.id),)
        return self.turn(state, command)

    def apply(self, state: TutorialState, event: Event, payload: Payload) -> TutorialState:
        if isinstance(payload, TutorialDialMoved):
            z = list(state.dials[payload.box])
            z[payload.dimension] = payload.value
            dials = list(state.dials)
            dials[payload.box] = tuple(z)
            return replace(state, dials=tuple(dials))
        return super().apply(state, event, payload)
