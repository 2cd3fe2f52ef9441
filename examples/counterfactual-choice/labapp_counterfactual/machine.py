"""What each wish leads to, and how what happened changes the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.space import Discrete, LatentSpace
from labapp.record.events import Payload
from labapp.record.events.commands import Command, HandIn
from labapp.record.events.registry import Pauses
from labapp.study.conditions import attempt_at, draw_state, generator
from labapp.study.plugins.questions import QuestionsMachine
from labapp_counterfactual.commands import (
    ChooseCandidate,
    RateConfidence,
)
from labapp_counterfactual.events import (
    CandidateChosen,
    ConfidenceRated,
    CounterfactualAnswered,
    CounterfactualDrawn,
    CounterfactualShown,
)
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.state import POINTS, CounterfactualState, Question

LEAST_CHANGE = 0.3
"""Share of a continuous dial's whole way by which a candidate's differs at least."""


@dataclass(frozen=True)
class CounterfactualMachine(QuestionsMachine[CounterfactualState, Question]):
    """A stage of questions.

    index: the part's place in the plan; sample: held-out representation, shape (rows, dimensions),
    needed by sampling `held_out`; seed, participant: for the draws.
    """

    shown = CounterfactualShown

    part: CounterfactualPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    seed: int
    participant: str

    def initial(self, pauses: Pauses) -> CounterfactualState:
        return CounterfactualState(pauses)

    def draw(self, number: int, attempt: int) -> CounterfactualDrawn:
        """Its draws are the same whenever it is drawn again."""
        at = attempt_at(self.part.id, attempt)
        rng = generator(self.seed, self.participant, at, number, "counterfactual")
        dimension = self.part.asked[number - 1]
        query = draw_state(self.part.sampling, self.part.model, self.space, self.sample, rng)
        others = [other for other in range(len(self.space)) if other != dimension]
        changed = [dimension, *rng.permutation(others)[: self.part.candidates - 1].tolist()]
        changed = [changed[place] for place in rng.permutation(len(changed))]
        candidates = tuple(
            (*query[:dial], self._other_value(dial, query[dial], rng), *query[dial + 1 :])
            for dial in changed
        )
        return CounterfactualDrawn(
            dimension, query, candidates, tuple(changed), changed.index(dimension)
        )

    def _other_value(self, dial: int, value: float, rng: np.random.Generator) -> float:
        """A value of a dial that is clearly another one."""
        dimension = self.space.dimensions[dial]
        if isinstance(dimension, Discrete):
            return float((int(value) + int(rng.integers(1, dimension.k))) % dimension.k)
        least = LEAST_CHANGE * (dimension.high - dimension.low)
        below = max(value - least - dimension.low, 0.0)
        above = max(dimension.high - value - least, 0.0)
        way = float(rng.uniform(0.0, below + above))
        return dimension.snap(dimension.low + way if way < below else value + least + way - below)

    def drawn(self, payload: Payload, number: int, attempt: int) -> Question | None:
        if not isinstance(payload, CounterfactualDrawn):
            return None
        return Question(
            number=number,
            attempt=attempt,
            dimension=payload.dimension,
            query=payload.query,
            candidates=payload.candidates,
            correct=payload.correct,
        )

    def answered(self, question: Question) -> bool:
        return question.answered

    def answer(self, question: Question, command: Command) -> Sequence[Payload]:
        if not question.open:
            return ()
        match command:
            case ChooseCandidate(choice, device) if choice != question.choice:
                if 0 <= choice < len(question.candidates):
                    return (CandidateChosen(choice, device),)
            case RateConfidence(confidence, device) if confidence != question.confidence:
                if 1 <= confidence <= POINTS:
                    return (ConfidenceRated(confidence, device),)
            case HandIn():
                choice, confidence = question.choice, question.confidence
                if choice is not None and confidence is not None:
                    right = choice == question.correct
                    return (CounterfactualAnswered(choice, right, confidence),)
        return ()

    def after(self, question: Question, payload: Payload) -> Question:
        match payload:
            case CandidateChosen():
                return replace(question, choice=payload.choice)
            case ConfidenceRated():
                return replace(question, confidence=payload.confidence)
            case CounterfactualAnswered():
                return replace(question, right=payload.correct)
        return question
