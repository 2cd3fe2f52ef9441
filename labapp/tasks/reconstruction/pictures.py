"""The pictures of a trial and of the tutorial's boxes, and the tutorial's machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from labapp.models.representations.decoding import Array, compare, decode_one
from labapp.models.representations.space import LatentSpace
from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command
from labapp.record.events.durations import Pauses
from labapp.study.plugins.pages import PagesMachine, PagesState
from labapp.study.plugins.pictures import PartPictures, PictureContext, Session
from labapp.tasks.reconstruction.events import (
    Decoded,
    MoveTutorialDial,
    Presented,
    TutorialDialMoved,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart
from labapp.tasks.reconstruction.state import StageState, Trial


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the participant sees: own picture and target, float32 arrays of the model's shape."""

    own: Array
    target: Array


class TrialPictures(PartPictures[ReconstructionPart]):
    shown: Pictures | None

    def __init__(self, part: ReconstructionPart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._session: Session | None = None
        self._requested_seq = -1
        self._of: tuple[int, int, int] | None = None

    def follow(self, session: Session) -> None:
        self._session = session
        trial = self._trial()
        if trial is None:
            self.shown, self._of = None, None
            return
        key = (trial.number, trial.attempt, trial.redrawn)
        decoder = self.context.decoders[self.part.model]
        if key != self._of:
            own, target = decode_one(decoder, trial.z_shown), decode_one(decoder, trial.z_target)
            self.shown = Pictures(own, target)
            self._of = key
            self._requested_seq = trial.decoded_seq
        elif trial.solved and trial.z_seq != trial.decoded_seq:
            # Locked at the z that was decoded, which may be older than the last movement.
            assert self.shown is not None
            self.shown = Pictures(decode_one(decoder, trial.z), self.shown.target)

    def ready(self, state: StageState) -> bool:
        return state.trial is not None and self.shown is not None

    def due(self, state: StageState) -> Command | None:
        trial = self._trial()
        if trial is None or self.shown is None:
            return None
        if trial.started_ns is None:
            measures = compare(self.part.distance, self.shown.own, self.shown.target)
            return Presented(measures.alignment, measures.error_sum, measures.error_mean)
        if trial.running and trial.z_seq > max(trial.decoded_seq, self._requested_seq):
            return self._decode(trial, self.shown.target)
        return None

    def _trial(self) -> Trial | None:
        state: StageState | None = None if self._session is None else self._session.part_state
        return None if state is None else state.trial

    def _decode(self, trial: Trial, target: Array) -> Command | None:
        """Decode the present dial state now, or ask the worker to."""
        part = self.part
        decoder = self.context.decoders[part.model]
        z, z_seq = trial.z, trial.z_seq
        self._requested_seq = z_seq

        def decode() -> tuple[Array, Decoded]:
            own = decode_one(decoder, z)
            m = compare(part.distance, own, target)
            return own, Decoded(z_seq, z, m.alignment, m.error_sum, m.error_mean)

        if part.model not in self.context.slow:
            own, done = decode()
            self.shown = Pictures(own, target)
            return done

        def job() -> Callable[[], None]:
            own, done = decode()
            return lambda: self._decoded(target, own, done)

        self.context.request(job)
        return None

    def _decoded(self, target: Array, own: Array, done: Decoded) -> None:
        """The worker is done. What came too late (the trial is solved or over) is dropped."""
        trial = self._trial()
        if trial is None or self.shown is None or self.shown.target is not target:
            return
        assert self._session is not None
        if self._session.pauses.held:
            self._requested_seq = trial.decoded_seq  # asked for again when the pause is over
        elif trial.running:
            self.shown = Pictures(own, target)
            self.context.came(done)


class BoxPictures(PartPictures[TutorialPart]):
    shown: tuple[Array, ...] | None

    def __init__(self, part: TutorialPart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._of: tuple[tuple[float, ...], ...] = ((),) * len(part.boxes)

    def follow(self, session: Session) -> None:
        state: TutorialState = session.part_state
        shown: Sequence[Array | None] = self.shown or (None,) * len(self.part.boxes)
        boxes = zip(self.part.boxes, shown, self._of, state.dials, strict=True)
        self.shown = tuple(
            decode_one(self.context.decoders[box.model], dials)
            if picture is None or dials != of
            else picture
            for box, picture, of, dials in boxes
        )
        self._of = state.dials

    def ready(self, state: TutorialState) -> bool:
        return self.shown is not None


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
            dials = [list(z) for z in state.dials]
            dials[payload.box][payload.dimension] = payload.value
            return dataclasses.replace(state, dials=tuple(map(tuple, dials)))
        return super().apply(state, event, payload)
