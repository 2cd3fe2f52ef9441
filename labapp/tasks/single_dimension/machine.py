"""Decisions of the single-dimension task.

A question is answered by a choice and two ratings; handing them in tells the right choice, and Next
leads on. Without feedback handing in leads on itself. Nothing can be changed once it was handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labapp.events import Payload, UnstampedEvent
from labapp.events.commands import Command, HandIn
from labapp.events.durations import Pauses
from labapp.plugins import stage
from labapp.plugins.questions import ANSWERED, QuestionsMachine
from labapp.representations.space import LatentSpace
from labapp.tasks.single_dimension.commands import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    RatingMade,
)
from labapp.tasks.single_dimension.plan import SingleDimensionPart, choices
from labapp.tasks.single_dimension.sampling import Percentiles, draw_examples, draw_question
from labapp.tasks.single_dimension.state import POINTS, RATINGS, Question, SingleState


@dataclass(frozen=True)
class SingleDimensionTask(QuestionsMachine[SingleState, Question]):
    """A stage of questions about the dials of one representation.

    sample, percentiles: see `sampling.draw_question`; seed and participant: for the draws; index:
    the part's place in the plan.
    """

    shown = QuestionShown

    part: SingleDimensionPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    percentiles: Percentiles
    seed: int
    participant: str

    def initial(self, pauses: Pauses) -> SingleState:
        return SingleState(pauses)

    def choices(self, question: Question) -> int:
        """How many choices a question has."""
        return choices(self.space, question.dimension)

    def decide(self, state: SingleState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        events = super().decide(state, command, now_ns)
        if isinstance(command, HandIn) and events and state.trial and not self.part.feedback:
            left = stage.leave_question(self.part, self.index, state, state.trial, ANSWERED)
            return (*events, *left)
        return events

    def draw(self, number: int, attempt: int) -> QuestionDrawn:
        return draw_question(
            self.part,
            self.space,
            self.sample,
            self.percentiles,
            self.seed,
            self.participant,
            number,
            attempt,
        )

    def drawn(self, payload: Payload, number: int, attempt: int) -> Question | None:
        if not isinstance(payload, QuestionDrawn):
            return None
        return Question(
            number=number,
            attempt=attempt,
            dimension=payload.dimension,
            z=payload.z,
            correct=payload.correct,
            bounds=payload.bounds,
            examples=payload.examples,
        )

    def answered(self, question: Question) -> bool:
        return question.answered

    def answer(self, question: Question, command: Command) -> Sequence[Payload]:
        if not question.open:
            return ()
        match command:
            case Choose(choice, device) if choice != question.choice:
                if 0 <= choice < self.choices(question):
                    return (ChoiceMade(choice, device),)
            case Rate(item, value, device) if value != question.ratings.get(item):
                if item in RATINGS and 1 <= value <= POINTS:
                    return (RatingMade(item, value, device),)
            case ShowMoreExamples():
                return (self._other_examples(question),)
            case HandIn() if question.choice is not None and not question.missing:
                confidence, understanding = (question.ratings[item] for item in RATINGS)
                right = question.choice == question.correct
                return (AnswerGiven(question.choice, right, confidence, understanding),)
        return ()

    def _other_examples(self, question: Question) -> ExamplesRedrawn:
        number = question.resamples + 1
        rows = draw_examples(
            self.part,
            self.space,
            self.sample,
            question.bounds,
            self.seed,
            self.participant,
            question.number,
            number,
            question.attempt,
        )
        return ExamplesRedrawn(number, rows)

    def after(self, question: Question, payload: Payload) -> Question:
        match payload:
            case ExamplesRedrawn():
                return replace(question, resamples=payload.number, examples=payload.examples)
            case ChoiceMade():
                return replace(question, choice=payload.choice)
            case RatingMade():
                return replace(question, ratings={**question.ratings, payload.item: payload.value})
            case AnswerGiven():
                return replace(question, right=payload.correct)
        return question
