"""Decisions of the single-dimension task.

A question is answered by a choice and two ratings; handing them in tells the right choice, and Next
leads on. Without feedback handing in leads on itself. Nothing can be changed once it was handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.events import Body, Draft, Event
from labapp.events.commands import Begin, Command, HandIn, Next, ShowQuestion, SkipStage, Tick
from labapp.events.durations import Pauses
from labapp.plugins import stage
from labapp.representations.space import LatentSpace
from labapp.tasks.single_dimension.commands import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionShown,
    RatingMade,
)
from labapp.tasks.single_dimension.fold import apply_event
from labapp.tasks.single_dimension.plan import SingleDimensionPart, choices
from labapp.tasks.single_dimension.sampling import Percentiles, draw_examples, draw_question
from labapp.tasks.single_dimension.state import POINTS, RATINGS, Question, SingleState

ANSWERED = "answered"


@dataclass(frozen=True)
class SingleDimensionTask(stage.StageMachine[SingleState]):
    """A stage of questions about the dials of one representation.

    sample, percentiles: see `sampling.draw_question`; seed and participant: for the draws; index:
    the part's place in the plan.
    """

    part: SingleDimensionPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    percentiles: Percentiles
    seed: int
    participant: str

    def initial(self, pauses: Pauses) -> SingleState:
        return SingleState(pauses)

    def wants_begin(self, state: SingleState) -> bool:
        if state.outcome is not None or state.pauses.held:
            return False
        return state.trial is None or state.trial.outcome is not None

    def next_deadline(self, state: SingleState) -> int | None:
        return stage.next_deadline(state, stage.limit_ns(self.part, state))

    def choices(self, question: Question) -> int:
        """How many choices a question has."""
        return choices(self.space, question.dimension)

    def decide(self, state: SingleState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        if isinstance(command, SkipStage):
            return stage.skip_stage(self.part, self.index, state, self._achieved(state))
        if isinstance(command, Begin):
            return self._begin(state)
        question = state.trial
        if question is None:
            return ()
        match command:
            case Tick():
                working = state.pauses.working_ns(now_ns)
                achieved = self._achieved(state)
                return stage.time_is_up(self.part, self.index, state, achieved, working)
            case ShowQuestion() if question.started_ns is None and question.outcome is None:
                return (stage.draft(self.part, question, QuestionShown()),)
            case Next() if question.answered:
                return stage.leave_question(self.part, self.index, state, question, ANSWERED)
        if not question.open:
            return ()
        drafts = self._answer(question, command)
        if isinstance(command, HandIn) and drafts and not self.part.feedback:
            left = stage.leave_question(self.part, self.index, state, question, ANSWERED)
            return (*drafts, *left)
        return drafts

    def _answer(self, question: Question, command: Command) -> Sequence[Draft]:
        """What an open question is answered with."""
        body: Body
        match command:
            case Choose(choice, device) if choice != question.choice:
                if not 0 <= choice < self.choices(question):
                    return ()
                body = ChoiceMade(choice, device)
            case Rate(item, value, device) if value != question.ratings.get(item):
                if item not in RATINGS or not 1 <= value <= POINTS:
                    return ()
                body = RatingMade(item, value, device)
            case ShowMoreExamples():
                body = self._other_examples(question)
            case HandIn() if question.choice is not None and not question.missing:
                confidence, understanding = (question.ratings[item] for item in RATINGS)
                right = question.choice == question.correct
                body = AnswerGiven(question.choice, right, confidence, understanding)
            case _:
                return ()
        return (stage.draft(self.part, question, body),)

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

    def _begin(self, state: SingleState) -> Sequence[Draft]:
        if not self.wants_begin(state):
            return ()
        number = len(state.outcomes) + 1
        drawn = draw_question(
            self.part,
            self.space,
            self.sample,
            self.percentiles,
            self.seed,
            self.participant,
            number,
            state.attempt,
        )
        return (Draft(drawn, self.part.id, number, state.attempt),)

    def _achieved(self, state: SingleState) -> str | None:
        return ANSWERED if state.trial is not None and state.trial.answered else None

    def apply(self, state: SingleState, event: Event, body: Body) -> SingleState:
        return apply_event(self.part.id, state, event, body)
