"""The pictures of a single-dimension question, and of its tutorial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labapp.events.commands import Command
from labapp.plugins.pictures import PictureContext, QuestionPictures, Session
from labapp.representations.decoding import Array, decode_one, decode_rows
from labapp.tasks.single_dimension.plan import ExamplePart, Rows, SingleDimensionPart, Z
from labapp.tasks.single_dimension.state import SingleState


@dataclass(frozen=True, slots=True)
class Examples:
    """Pictures beside a single-dimension question: float32, shape (rows, columns, *shape).
    question is the picture asked about, None in the tutorial."""

    rows: Array
    question: Array | None = None


class ExamplePictures(QuestionPictures[SingleDimensionPart | ExamplePart]):
    """Decoded when they are others than those asked for last."""

    shown: Examples | None

    def __init__(self, part: SingleDimensionPart | ExamplePart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._of: tuple[int, ...] | None = None

    def follow(self, session: Session) -> None:
        if isinstance(self.part, ExamplePart):
            self._show((0,), self.part.examples, None)
            return
        state: SingleState = session.part_state
        if (question := state.trial) is not None:
            key = (question.number, question.attempt, question.resamples)
            self._show(key, question.examples, question.z)

    def ready(self, state: Any) -> bool:
        return super().ready(state) and self.shown is not None

    def due(self, state: Any) -> Command | None:
        return None if isinstance(self.part, ExamplePart) else super().due(state)

    def _show(self, key: tuple[int, ...], rows: Rows, z: Z | None) -> None:
        """key: what the pictures are of; all but its last number say which question."""
        if key == self._of:
            return
        if self._of is None or self._of[:-1] != key[:-1]:
            self.shown = None
        self._of = key
        model = self.part.model
        decoder, known = self.context.decoders[model], self.shown

        def decode() -> Examples:
            if known is not None:  # other examples beside the same question
                return Examples(decode_rows(decoder, rows), known.question)
            asked = None if z is None else decode_one(decoder, z)
            return Examples(decode_rows(decoder, rows), asked)

        if model not in self.context.slow:
            self.shown = decode()
            return

        def job() -> Callable[[], None]:
            examples = decode()
            return lambda: self._decoded(key, examples)

        self.context.request(job)

    def _decoded(self, key: tuple[int, ...], examples: Examples) -> None:
        """The worker is done; the question may be over meanwhile, or ask for other examples."""
        if key == self._of:
            self.shown = examples
            self.context.came(None)
