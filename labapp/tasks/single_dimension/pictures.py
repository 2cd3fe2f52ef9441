"""The pictures of a single-dimension question, and of its tutorial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labapp.models.representations.decoding import Array, decode_one, decode_rows
from labapp.record.events.commands import Command
from labapp.study.plugins.pictures import DecodedPictures, Session
from labapp.tasks.single_dimension.plan import ExamplePart, Rows, SingleDimensionPart, Z
from labapp.tasks.single_dimension.state import SingleState


@dataclass(frozen=True, slots=True)
class Examples:
    """Pictures beside a single-dimension question: float32, shape (rows, columns, *shape).
    question is the picture asked about, None in the tutorial."""

    rows: Array
    question: Array | None = None


class ExamplePictures(DecodedPictures[SingleDimensionPart | ExamplePart]):
    """The question's picture is decoded once, the examples beside it when others are asked for."""

    shown: Examples | None

    def follow(self, session: Session) -> None:
        if isinstance(self.part, ExamplePart):
            self._show((0,), self.part.examples, None)
            return
        state: SingleState = session.part_state
        if (question := state.trial) is not None:
            key = (question.number, question.attempt, question.resamples)
            self._show(key, question.examples, question.z)

    def due(self, state: Any) -> Command | None:
        return None if isinstance(self.part, ExamplePart) else super().due(state)

    def _show(self, key: tuple[int, ...], rows: Rows, z: Z | None) -> None:
        decoder, before = self.context.decoders[self.part.model], self.shown
        same = self._of is not None and self._of[:-1] == key[:-1]

        def decode() -> Examples:
            if same and before is not None:  # other examples beside the same question
                return Examples(decode_rows(decoder, rows), before.question)
            return Examples(
                decode_rows(decoder, rows), None if z is None else decode_one(decoder, z)
            )

        self.show(key, decode)
