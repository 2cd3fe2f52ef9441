"""Decisions of the single-dimension task.

A question is answered by a choice and two ratings; handing them in tells the right choice, and Next
leads on. Nothing can be changed once it was handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.events import Body, Draft, Event
from labapp.events.commands import (
    Begin,
    Choose,
    Command,
    HandIn,
    Next,
    Rate,
    ShowMoreExamples,
    ShowQuestion,
    SkipStage,
    Tick,
)
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartEnded
from labapp.events.single_dimension import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionShown,
    RatingMade,
)
from labapp.events.trials import StageTimeExpired, TrialEnded
from labapp.representations.space import LatentSpace
from labapp.study.single_dimension import SingleDimensionPart, choices
from labapp.tasks.single_dimension.fold import apply_event
from labapp.tasks.single_dimension.sampling import Percentiles, draw_examples, draw_question
from labapp.tasks.single_dimension.state import POINTS, RATINGS, Question, SingleState

NS = 1_000_000_000
ANSWERED = "answered"


@dataclass(frozen=True)
class SingleDimensionTask:
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
        if state.outcome is not None or state.pauses.paused:
            return False
        return state.trial is None or state.trial.outcome is not None

    def next_deadline(self, state: SingleState) -> int | None:
        limit = self._limit_ns(state)
        if limit is None or state.outcome is not None or state.pauses.paused:
            return None
        return limit + state.pauses.total_ns

    def _limit_ns(self, state: SingleState) -> int | None:
        """Working time at which the stage's time limit is reached."""
        if self.part.time_limit_s is None or state.stage_started_ns is None:
            return None
        return state.stage_started_ns + round(self.part.time_limit_s * NS)

    def choices(self, question: Question) -> int:
        """How many choices a question has."""
        return choices(self.space, question.dimension)

    def decide(self, state: SingleState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        if isinstance(command, SkipStage):
            return self._end_stage(state, "stage_skipped", "skipped")
        if isinstance(command, Begin):
            return self._begin(state)
        question = state.trial
        if question is None:
            return ()
        match command:
            case Tick():
                return self._tick(state, now_ns)
            case ShowQuestion() if question.started_ns is None and question.outcome is None:
                return (self._draft(question, QuestionShown()),)
            case Next() if question.answered:
                return self._leave(state, question)
        return self._answer(question, command) if question.open else ()

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
        return (self._draft(question, body),)

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
        )
        return ExamplesRedrawn(number, rows)

    def _draft(self, question: Question, body: Body) -> Draft:
        return Draft(body, self.part.id, question.number, question.attempt)

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
        )
        return (Draft(drawn, self.part.id, number, 1),)

    def _tick(self, state: SingleState, now_ns: int) -> Sequence[Draft]:
        limit = self._limit_ns(state)
        if limit is None or state.pauses.paused or state.pauses.working_ns(now_ns) < limit:
            return ()
        expired = Draft(StageTimeExpired(self.part.time_limit_s or 0.0), self.part.id)
        return (expired, *self._end_stage(state, "time_expired", "time_expired"))

    def _leave(self, state: SingleState, question: Question) -> Sequence[Draft]:
        drafts = [self._draft(question, TrialEnded(ANSWERED))]
        if len(state.outcomes) + 1 >= self.part.trials:
            drafts.append(Draft(PartEnded(self.index, "completed"), self.part.id))
        return drafts

    def _end_stage(self, state: SingleState, trial_outcome: str, outcome: str) -> Sequence[Draft]:
        """End the part; a question that was handed in but not left counts as answered."""
        drafts = []
        if state.trial is not None and state.trial.outcome is None:
            own = ANSWERED if state.trial.answered else trial_outcome
            drafts.append(self._draft(state.trial, TrialEnded(own)))
        drafts.append(Draft(PartEnded(self.index, outcome), self.part.id))
        return drafts

    def apply(self, state: SingleState, event: Event, body: Body) -> SingleState:
        return apply_event(self.part.id, state, event, body)
