"""The pictures of a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labapp.plugins.pictures import PictureContext, QuestionPictures, Session
from labapp.representations.decoding import Array, decode_rows
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.state import Question


@dataclass(frozen=True, slots=True)
class Choice:
    """query: float32, of the model's shape; candidates: float32, shape (candidates, *shape)."""

    query: Array
    candidates: Array


class ChoicePictures(QuestionPictures[CounterfactualPart]):
    """Decoded once a question."""

    shown: Choice | None

    def __init__(self, part: CounterfactualPart, context: PictureContext) -> None:
        super().__init__(part, context)
        self._of: tuple[int, int] | None = None

    def follow(self, session: Session) -> None:
        question: Question | None = session.part_state.trial
        if question is None or (question.number, question.attempt) == self._of:
            return
        key = self._of = (question.number, question.attempt)
        self.shown = None
        decoder = self.context.decoders[self.part.model]

        def decode() -> Choice:
            pictures = decode_rows(decoder, ((question.query, *question.candidates),))[0]
            return Choice(pictures[0], pictures[1:])

        if self.part.model not in self.context.slow:
            self.shown = decode()
            return

        def job() -> Callable[[], None]:
            choice = decode()
            return lambda: self._decoded(key, choice)

        self.context.request(job)

    def _decoded(self, key: tuple[int, int], choice: Choice) -> None:
        """The worker is done; the question may be over meanwhile."""
        if key == self._of:
            self.shown = choice
            self.context.came(None)

    def ready(self, state: Any) -> bool:
        return super().ready(state) and self.shown is not None
