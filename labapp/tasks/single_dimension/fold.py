"""Folding events into the state of a single-dimension stage. Total: an event that does not concern
the stage leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

from labapp.events import Body, Event
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    RatingMade,
)
from labapp.tasks.single_dimension.state import Question, SingleState


def apply_event(stage: str, state: SingleState, event: Event, body: Body) -> SingleState:
    """The state after an event of the session (pauses too); stage: id of the part."""
    pauses = state.pauses.apply(event)
    if pauses is not state.pauses:
        return replace(state, pauses=pauses)
    if event.stage != stage:
        return state
    match body:
        case QuestionDrawn():
            return replace(
                state,
                trial=Question(
                    number=event.trial or 1,
                    attempt=event.attempt or 1,
                    dimension=body.dimension,
                    z=body.z,
                    correct=body.correct,
                    bounds=body.bounds,
                    examples=body.examples,
                ),
            )
        case PartEnded():
            return replace(state, outcome=body.outcome)
    question = state.trial
    if question is None:
        return state
    working = pauses.working_ns(event.t_ns)
    if isinstance(body, TrialEnded):
        state = replace(state, outcomes=(*state.outcomes, body.outcome))
    if isinstance(body, QuestionShown) and state.stage_started_ns is None:
        state = replace(state, stage_started_ns=working)
    return replace(state, trial=_apply(question, body, working))


def _apply(question: Question, body: Body, working: int) -> Question:
    """The question after an event of its own, at working time `working` in ns."""
    match body:
        case QuestionShown():
            return replace(question, started_ns=working)
        case ExamplesRedrawn():
            return replace(question, resamples=body.number, examples=body.examples)
        case ChoiceMade():
            return replace(question, choice=body.choice)
        case RatingMade():
            return replace(question, ratings={**question.ratings, body.item: body.value})
        case AnswerGiven():
            return replace(question, right=body.correct)
        case TrialEnded():
            return replace(question, outcome=body.outcome)
    return question
