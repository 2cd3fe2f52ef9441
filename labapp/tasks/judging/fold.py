"""Folding events into the state of a stage that judges explanations, or of the warm-up. Total: an
event that does not concern the stage leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

from labapp.events import Body, Event
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.tasks.judging import description
from labapp.tasks.judging.events import (
    JudgementMade,
    PerformanceComputed,
    PhotoDrawn,
    PhotoJudged,
    PhotoShown,
    SpeciesOpened,
)
from labapp.tasks.judging.state import JudgingState, PhotoTrial


def apply_event(stage: str, state: JudgingState, event: Event, body: Body) -> JudgingState:
    """The state after an event of the session (pauses too); stage: id of the part."""
    pauses = state.pauses.apply(event)
    if pauses is not state.pauses:
        return replace(state, pauses=pauses)
    if event.stage != stage:
        return state
    state = replace(state, description=description.after(state.description, body))
    match body:
        case PhotoDrawn():
            return replace(state, trial=PhotoTrial(event.trial or 1, event.attempt or 1))
        case PerformanceComputed():
            return replace(state, performance=body)
        case PartEnded():
            return replace(state, outcome=body.outcome)
    trial = state.trial
    if trial is None:
        return state
    working = pauses.working_ns(event.t_ns)
    match body:
        case TrialEnded():
            state = replace(state, outcomes=(*state.outcomes, body.outcome))
        case PhotoShown() if state.stage_started_ns is None:
            state = replace(state, stage_started_ns=working)
        case PhotoJudged():
            state = replace(state, judged={**state.judged, trial.number: dict(body.answers)})
    return replace(state, trial=_apply(trial, body, working))


def _apply(trial: PhotoTrial, body: Body, working: int) -> PhotoTrial:
    """The photo after an event of its own, at working time `working` in ns."""
    match body:
        case PhotoShown():
            return replace(trial, started_ns=working)
        case JudgementMade(value=None):
            left = {name: value for name, value in trial.answers.items() if name != body.question}
            return replace(trial, answers=left)
        case JudgementMade(value=int(value)):
            return replace(trial, answers={**trial.answers, body.question: value})
        case SpeciesOpened():
            return replace(trial, option=body.option)
        case PhotoJudged():
            return replace(trial, answers=dict(body.answers), right=dict(body.right))
        case TrialEnded():
            return replace(trial, outcome=body.outcome)
    return trial
