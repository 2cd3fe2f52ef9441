"""The pictures of a question."""

from __future__ import annotations

from dataclasses import dataclass

from labapp.models.representations.decoding import Array, decode_rows
from labapp.study.plugins.pictures import DecodedPictures, Session
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.state import Question


@dataclass(frozen=True, slots=True)
class Choice:
    """query: float32, of the model's shape; candidates: float32, shape (candidates, *shape)."""

    query: Array
    candidates: Array


class ChoicePictures(DecodedPictures[CounterfactualPart]):
    """Decoded once a question."""

    def follow(self, session: Session) -> None:
        question: Question | None = session.part_state.trial
        if question is None:
            return
        decoder = self.context.decoders[self.part.model]

        def decode() -> Choice:
            pictures = decode_rows(decoder, ((question.query, *question.candidates),))[0]
            return Choice(pictures[0], pictures[1:])

        self.show((question.attempt, question.number, 0), decode)
