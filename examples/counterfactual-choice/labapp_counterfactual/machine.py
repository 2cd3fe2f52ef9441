"""What each wish leads to, and how what happened changes the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labapp.events import Body, Draft, Event
from labapp.events.commands import Begin, Command, Next, SkipStage, Tick
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.plugins import stage
from labapp.representations.space import Discrete, LatentSpace
from labapp.study.assignment import attempt_at, generator
from labapp.study.sampling import draw_state
from labapp_counterfactual.commands import (
    ChooseCandidate,
    HandInChoice,
    RateConfidence,
    ShowCandidates,
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

ANSWERED = "answered"
LEAST_CHANGE = 0.3
"""Share of a continuous dial's whole way by which a candidate's differs at least."""


@dataclass(frozen=True)
class CounterfactualMachine(stage.StageMachine[CounterfactualState]):
    """A stage of questions.

    index: the part's place in the plan; sample: held-out representation, shape (rows, dimensions),
    needed by sampling `held_out`; seed, participant: for the draws.
    """

    part: CounterfactualPart
    index: int
    space: LatentSpace
    sample: NDArray[np.float32] | None
    seed: int
    participant: str

    def initial(self, pauses: Pauses) -> CounterfactualState:
        return CounterfactualState(pauses)

    def wants_begin(self, state: CounterfactualState) -> bool:
        if state.outcome is not None or state.pauses.held:
            return False
        return state.trial is None or state.trial.outcome is not None

    def next_deadline(self, state: CounterfactualState) -> int | None:
        return stage.next_deadline(state, stage.limit_ns(self.part, state))

    def decide(self, state: CounterfactualState, command: Command, now_ns: int) -> Sequence[Draft]:
        question = state.trial
        if state.outcome is not None:
            return ()
        achieved = ANSWERED if question is not None and question.answered else None
        match command:
            case SkipStage():
                return stage.skip_stage(self.part, self.index, state, achieved)
            case Begin() if self.wants_begin(state):
                return (self._draw(state),)
            case Tick():
                working = state.pauses.working_ns(now_ns)
                return stage.time_is_up(self.part, self.index, state, achieved, working)
        if question is None or state.pauses.held:
            return ()
        if isinstance(command, Next) and question.answered:
            return stage.leave_question(self.part, self.index, state, question, ANSWERED)
        body = self._answer(question, command)
        return () if body is None else (stage.draft(self.part, question, body),)

    def _answer(self, question: Question, command: Command) -> Body | None:
        """What happens in a question; None for nothing."""
        if question.started_ns is None and question.outcome is None:
            return CounterfactualShown() if isinstance(command, ShowCandidates) else None
        if not question.open:
            return None
        match command:
            case ChooseCandidate(choice, device) if choice != question.choice:
                if 0 <= choice < len(question.candidates):
                    return CandidateChosen(choice, device)
            case RateConfidence(confidence, device) if confidence != question.confidence:
                if 1 <= confidence <= POINTS:
                    return ConfidenceRated(confidence, device)
            case HandInChoice():
                choice, confidence = question.choice, question.confidence
                if choice is not None and confidence is not None:
                    right = choice == question.correct
                    return CounterfactualAnswered(choice, right, confidence)
        return None

    def _draw(self, state: CounterfactualState) -> Draft:
        """The next question. Its draws are the same whenever it is drawn again."""
        number = len(state.outcomes) + 1
        at = attempt_at(self.part.id, state.attempt)
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
        drawn = CounterfactualDrawn(
            dimension, query, candidates, tuple(changed), changed.index(dimension)
        )
        return Draft(drawn, self.part.id, number, state.attempt)

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

    def apply(self, state: CounterfactualState, event: Event, body: Body) -> CounterfactualState:
        pauses = state.pauses.apply(event)
        if pauses is not state.pauses:
            return replace(state, pauses=pauses)
        if event.stage != self.part.id:
            return state
        match body:
            case CounterfactualDrawn():
                question = Question(
                    event.trial or 1,
                    event.attempt or 1,
                    body.dimension,
                    body.query,
                    body.candidates,
                    body.correct,
                )
                return replace(state, trial=question)
            case PartEnded():
                return replace(state, outcome=body.outcome)
        if state.trial is None:
            return state
        working = pauses.working_ns(event.t_ns)
        if isinstance(body, CounterfactualShown) and state.stage_started_ns is None:
            state = replace(state, stage_started_ns=working)
        if isinstance(body, TrialEnded):
            state = replace(state, outcomes=(*state.outcomes, body.outcome))
        return replace(state, trial=_after(state.trial, body, working))


def _after(question: Question, body: Body, working: int) -> Question:
    """The question after an event of its own, at working time `working` in ns."""
    match body:
        case CounterfactualShown():
            return replace(question, started_ns=working)
        case CandidateChosen():
            return replace(question, choice=body.choice)
        case ConfidenceRated():
            return replace(question, confidence=body.confidence)
        case CounterfactualAnswered():
            return replace(question, right=body.correct)
        case TrialEnded():
            return replace(question, outcome=body.outcome)
    return question
