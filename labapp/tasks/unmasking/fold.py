"""Folding events into the state of the unmasking task. Total: an event that does not concern the
part leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

from labapp.events import Event, Payload
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.state import INTERRUPTED, StimulusTrial, UnmaskingState


def apply_event(part: str, state: UnmaskingState, event: Event, payload: Payload) -> UnmaskingState:
    """The state after an event of the session (pauses too); part: id of the part."""
    pauses = state.pauses.apply(event)
    if pauses is not state.pauses:
        begins = pauses.held and not state.pauses.held
        state = replace(state, pauses=pauses)
        return _interrupted(state) if begins else state
    if event.part_id != part:
        return state
    match payload:
        case StimulusDrawn():
            attempt = event.attempt or 1
            drawn = StimulusTrial(event.trial or 1, attempt, payload.due_ns)
            return replace(state, trial=drawn, highest=max(state.highest, attempt))
        case PartEnded():
            return replace(state, outcome=payload.outcome)
    if (trial := state.trial) is None:
        return state
    match payload:
        case StimulusShown():
            started = state.stage_started_ns
            if started is None:
                started = pauses.working_ns(event.t_ns)
            trial = replace(trial, painted_ns=payload.painted_ns)
            return replace(state, trial=trial, stage_started_ns=started)
        case ResponseGiven():
            return replace(state, trial=replace(trial, response=payload.response))
        case TrialEnded():
            done = () if payload.outcome == INTERRUPTED else (payload.outcome,)
            trial = replace(trial, outcome=payload.outcome)
            return replace(state, trial=trial, outcomes=(*state.outcomes, *done))
    return state


def _interrupted(state: UnmaskingState) -> UnmaskingState:
    """A pause, or the end of the program, falls into the stimulus that waits for a response."""
    trial = state.trial
    if trial is None or trial.outcome is not None:
        return state
    return replace(state, trial=replace(trial, interrupted=True))
