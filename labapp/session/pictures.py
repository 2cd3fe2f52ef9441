"""The pictures on the participant's screen, kept in step with the session's state.

A fast decoder decodes at once, in the runner's thread. A slow one decodes movements, and the many
pictures of a single-dimension question, in the worker: the dials never wait for it, and such a
question begins when its pictures are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labapp.events.commands import Command, Decoded, Presented, ShowQuestion
from labapp.session.decoding import (
    Array,
    Decoder,
    DecodeWorker,
    compare,
    decode_one,
    decode_rows,
)
from labapp.session.machine import SessionState
from labapp.study.judging import WarmUpPart
from labapp.study.plan import PlannedPart, ReconstructionPart, TrialsPart, TutorialPart
from labapp.study.single_dimension import ExamplePart, Rows, SingleDimensionPart, Z
from labapp.tasks.judging.state import JudgingState
from labapp.tasks.reconstruction.state import StageState, Trial
from labapp.tasks.single_dimension.state import SingleState


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the participant sees: own picture and target, float32 arrays of the model's shape."""

    own: Array
    target: Array


@dataclass(frozen=True, slots=True)
class Examples:
    """Pictures beside a single-dimension question: float32, shape (rows, columns, *shape).
    question is the picture asked about, None in the tutorial."""

    rows: Array
    question: Array | None = None


class Shown:
    """What is on show: pictures and examples are None where the part has none, or none yet; boxes
    are empty then.

    slow: ids of models that decode in the worker; post: calls a function in the runner's thread;
    came(command): the worker is done, and this follows (None: other pictures, nothing to ask).
    """

    def __init__(
        self,
        decoders: Mapping[str, Decoder],
        slow: frozenset[str],
        post: Callable[[Callable[[], None]], None],
        came: Callable[[Command | None], None],
    ) -> None:
        self.pictures: Pictures | None = None
        self.boxes: tuple[Array, ...] = ()
        self.examples: Examples | None = None
        self.decoders = decoders
        self.slow = slow
        self._post = post
        self._came = came
        self._worker: DecodeWorker | None = None
        self._part: PlannedPart | None = None
        self._state: SessionState | None = None
        self._requested_seq = -1
        self._pictures_of: tuple[int, int, int] | None = None
        self._examples_of: tuple[int, ...] | None = None

    def follow(self, part: PlannedPart | None, state: SessionState) -> None:
        """Bring the pictures in step with the state (a new question, a resumed one, a tutorial)."""
        self._part, self._state = part, state
        stage, trial = self._trial()
        if stage is not None and trial is not None:
            self._follow_trial(stage, trial)
        else:
            self.pictures, self._pictures_of = None, None
        if isinstance(part, TutorialPart):
            self.boxes = tuple(
                decode_one(self.decoders[box.model], dials)
                for box, dials in zip(part.boxes, state.part_state.dials, strict=True)
            )
        else:
            self.boxes = ()
        self._follow_examples()

    @property
    def ready(self) -> bool:
        """Whether there is something to show of the present part: its question was drawn, and its
        pictures are there. A screen or a mirror of a part is made when it is, not before: a
        resumed session, for one, has a part long before it has pictures."""
        part, state = self._part, self._state.part_state if self._state is not None else None
        if part is None:
            return False
        if isinstance(part, TrialsPart) and (state is None or state.trial is None):
            return False
        if isinstance(part, ReconstructionPart):
            return self.pictures is not None
        if isinstance(part, SingleDimensionPart | ExamplePart):
            return self.examples is not None
        return not isinstance(part, TutorialPart) or len(self.boxes) == len(part.boxes)

    def due(self) -> Command | None:
        """What the pictures ask of a session that is not paused: to begin a question whose pictures
        are there, or to take in the picture of a movement. The pictures of a photo to judge are
        files: they are there at once. The first exercise of a warm-up comes behind pages that
        explain it: the screen says when it is there."""
        part, state = self._part, self._state.part_state if self._state is not None else None
        if isinstance(state, JudgingState):
            photo = state.trial
            if photo is None or photo.started_ns is not None or state.outcome is not None:
                return None
            explained = isinstance(part, WarmUpPart) and photo.number == 1
            return None if explained else ShowQuestion()
        if isinstance(part, SingleDimensionPart) and isinstance(state, SingleState):
            waits = state.trial is not None and state.trial.started_ns is None
            return ShowQuestion() if waits and self.examples is not None else None
        stage, trial = self._trial()
        if stage is None or trial is None or self.pictures is None:
            return None
        if trial.started_ns is None:
            measures = compare(stage.distance, self.pictures.own, self.pictures.target)
            return Presented(measures.alignment, measures.error_sum, measures.error_mean)
        if trial.running and trial.z_seq > max(trial.decoded_seq, self._requested_seq):
            return self._decode(stage, trial)
        return None

    def close(self) -> None:
        """Join the worker."""
        if self._worker is not None:
            self._worker.close()

    def _trial(self) -> tuple[ReconstructionPart | None, Trial | None]:
        state = self._state.part_state if self._state is not None else None
        if isinstance(self._part, ReconstructionPart) and isinstance(state, StageState):
            return self._part, state.trial
        return None, None

    def _follow_trial(self, part: ReconstructionPart, trial: Trial) -> None:
        assert self._state is not None
        key = (self._state.index, trial.number, trial.attempt)
        decoder = self.decoders[part.model]
        if key != self._pictures_of:
            self.pictures = Pictures(
                decode_one(decoder, trial.z), decode_one(decoder, trial.z_target)
            )
            self._pictures_of = key
            self._requested_seq = trial.decoded_seq
        elif trial.solved and trial.z_seq != trial.decoded_seq:
            # Locked at the z that was decoded, which may be older than the last movement.
            assert self.pictures is not None
            self.pictures = Pictures(decode_one(decoder, trial.z), self.pictures.target)

    def _decode(self, part: ReconstructionPart, trial: Trial) -> Command | None:
        """Decode the present dial state now, or ask the worker to."""
        decoder = self.decoders[part.model]
        assert self.pictures is not None
        target, z, z_seq = self.pictures.target, trial.z, trial.z_seq
        self._requested_seq = z_seq

        def decode() -> tuple[Array, Decoded]:
            own = decode_one(decoder, z)
            m = compare(part.distance, own, target)
            return own, Decoded(z_seq, z, m.alignment, m.error_sum, m.error_mean)

        if part.model not in self.slow:
            own, done = decode()
            self.pictures = Pictures(own, target)
            return done

        def job() -> Callable[[], None]:
            own, done = decode()
            return lambda: self._decoded(target, own, done)

        self._request(job)
        return None

    def _decoded(self, target: Array, own: Array, done: Decoded) -> None:
        """The worker is done. What came too late (the question is solved or over) is dropped."""
        _, trial = self._trial()
        if trial is None or self.pictures is None or self.pictures.target is not target:
            return
        assert self._state is not None
        if self._state.pauses.held:
            self._requested_seq = trial.decoded_seq  # asked for again when the pause is over
        elif trial.running:
            self.pictures = Pictures(own, target)
            self._came(done)

    def _follow_examples(self) -> None:
        """Decode the pictures of a single-dimension question, or of its tutorial, when they are
        others than those asked for last."""
        part, state = self._part, self._state
        assert state is not None
        if isinstance(part, SingleDimensionPart) and isinstance(state.part_state, SingleState):
            question = state.part_state.trial
            if question is not None:
                which = (state.index, question.number, question.attempt)
                key = (*which, question.resamples)
                self._show_examples(part.model, key, question.examples, question.z)
        elif isinstance(part, ExamplePart):
            self._show_examples(part.model, (state.index, 0), part.examples, None)
        else:
            self.examples, self._examples_of = None, None

    def _show_examples(self, model: str, key: tuple[int, ...], rows: Rows, z: Z | None) -> None:
        """key: what the pictures are of; all but its last number say which question."""
        if key == self._examples_of:
            return
        same = self._examples_of is not None and self._examples_of[:-1] == key[:-1]
        if not same:
            self.examples = None
        self._examples_of = key
        decoder, known = self.decoders[model], self.examples

        def decode() -> Examples:
            if known is not None:  # other examples beside the same question
                return Examples(decode_rows(decoder, rows), known.question)
            asked = None if z is None else decode_one(decoder, z)
            return Examples(decode_rows(decoder, rows), asked)

        if model not in self.slow:
            self.examples = decode()
            return

        def job() -> Callable[[], None]:
            made = decode()
            return lambda: self._decoded_examples(key, made)

        self._request(job)

    def _decoded_examples(self, key: tuple[int, ...], made: Examples) -> None:
        """The worker is done; the question may be over meanwhile, or ask for other examples."""
        if key == self._examples_of:
            self.examples = made
            self._came(None)

    def _request(self, job: Callable[[], Callable[[], None]]) -> None:
        if self._worker is None:
            self._worker = DecodeWorker(self._post)
        self._worker.request(job)
