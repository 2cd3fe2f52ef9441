"""Decisions of the unmasking task (paper 004, section 3.5).

A stimulus is drawn, the screen says when it painted it, one response answers it for good, and the
next one is drawn at once: it is due after the blank. Nothing runs out of time. What a pause, the
end of the program or another window interrupts is shown again from its beginning, as a further
attempt at the same stimulus: its reaction time would be none. In an adaptive stage a rule chooses
the mask by the answers so far, and the decision is an event before the stimulus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Begin, Command, SkipStage
from labapp.record.events.lifecycle import PartEnded, ProgramStalled
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import LevelChosen, TrialEnded
from labapp.study.adaptive.tracks import Tracking
from labapp.study.plugins import machine
from labapp.study.plugins.machine import INTERRUPTED, Value
from labapp.tasks.unmasking.events import (
    Respond,
    ResponseGiven,
    StimulusDrawn,
    StimulusHidden,
    StimulusPainted,
    StimulusShown,
)
from labapp.tasks.unmasking.plan import ANSWERED, StimulusTrial, UnmaskingPart, UnmaskingState

MS = 1_000_000


@dataclass(frozen=True)
class UnmaskingTask(machine.StageMachine[UnmaskingState]):
    """A block of stimuli, or the example. index: the part's place in the plan."""

    part: UnmaskingPart
    index: int

    def initial(self, pauses: Pauses) -> UnmaskingState:
        return UnmaskingState(pauses, tracking=self._begin_tracks())

    def restarted(self, state: UnmaskingState, attempt: int) -> UnmaskingState:
        return replace(state.again(attempt), tracking=self._begin_tracks())

    def _begin_tracks(self) -> Tracking | None:
        return None if self.part.adaptive is None else self.part.adaptive.begin()

    def wants_begin(self, state: UnmaskingState) -> bool:
        if state.outcome is not None or state.pauses.held:
            return False
        trial = state.trial
        return trial is None or trial.interrupted or trial.outcome is not None

    def due_ns(self, state: UnmaskingState) -> int | None:
        return None if state.trial is None or not state.trial.due else state.trial.due_ns

    def decide(
        self, state: UnmaskingState, command: Command, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        match command:
            case SkipStage():
                return machine.skip_stage(self.part, self.index, state, None)
            case Begin():
                return self._begin(state, now_ns)
        trial = state.trial
        match command:
            case StimulusPainted() if trial is not None and trial.due:
                return self._decide_painted(trial, command, now_ns)
            case StimulusHidden() if trial is not None and trial.outcome is None:
                return (machine.unstamped(self.part, trial, TrialEnded(INTERRUPTED)),)
            case Respond() if trial is not None and trial.open:
                return self._respond(state, trial, command, now_ns)
        return ()

    def _begin(self, state: UnmaskingState, now_ns: int) -> Sequence[UnstampedEvent]:
        if not self.wants_begin(state):
            return ()
        trial, events = state.trial, []
        again = trial is not None and (trial.interrupted or trial.outcome == INTERRUPTED)
        if trial is not None and trial.outcome is None:
            events.append(machine.unstamped(self.part, trial, TrialEnded(INTERRUPTED)))
        number = len(state.outcomes) + 1
        attempt = state.highest + 1 if again else state.base
        adaptive, tracking = self.part.adaptive, state.tracking
        if adaptive is None or tracking is None:
            at, mask = self.part.at(number)
        else:
            chosen = adaptive.choose(tracking)
            if chosen is None:  # every track is over, and the part with the last of them
                return ()
            at, mask = chosen.item, chosen.level
            if tracking.chosen is None:  # an interrupted stimulus was chosen already
                events.append(UnstampedEvent(chosen, self.part.id, number, attempt))
        sequence = self.part.sequences[at - 1]
        drawn = StimulusDrawn(
            sequence=at,
            mask=mask,
            image=sequence.image,
            method=sequence.method,
            percent=sequence.masks[mask - 1].percent,
            truth=sequence.truth,
            prediction=sequence.prediction,
            # There is nothing before the first stimulus that a blank would part it from.
            due_ns=now_ns + (0 if trial is None else self.part.blank_ms * MS),
        )
        return (*events, UnstampedEvent(drawn, self.part.id, number, attempt))

    def _decide_painted(
        self, trial: StimulusTrial, command: StimulusPainted, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        """The screen says when it painted the stimulus. A frame from before it was drawn is of the
        stimulus before: what the window system confirms can come late."""
        painted = min(command.painted_ns, now_ns)
        if painted < trial.due_ns - self.part.blank_ms * MS:
            return ()
        shown = StimulusShown(
            painted, command.shown_by, command.refresh_ms, command.side_px, command.too_small
        )
        return (machine.unstamped(self.part, trial, shown),)

    def _respond(
        self, state: UnmaskingState, trial: StimulusTrial, command: Respond, now_ns: int
    ) -> Sequence[UnstampedEvent]:
        """A press from before the stimulus was painted was meant for the one before."""
        input_ns = min(command.input_ns, now_ns)
        known = 0 <= command.response < len(self.part.buttons)
        if trial.painted_ns is None or input_ns < trial.painted_ns or not known:
            return ()
        given = ResponseGiven(command.response, command.device, input_ns, command.timed_by)
        given_now = machine.unstamped(self.part, trial, given)
        if state.tracking is None:
            left = machine.leave_question(self.part, self.index, state, trial, ANSWERED)
            return (given_now, *left)
        right = self.part.is_right(trial.sequence, command.response)
        left = machine.leave_adaptive(self.part, self.index, state.tracking, trial, ANSWERED, right)
        return (given_now, *left)

    def _is_right(self, trial: StimulusTrial) -> bool | None:
        given = trial.response
        return None if given is None else self.part.is_right(trial.sequence, given)

    def rights(self, state: UnmaskingState) -> Sequence[bool]:
        return state.rights

    def results(self, state: UnmaskingState) -> Mapping[str, Value]:
        if self.part.adaptive is None or state.tracking is None:
            return {}
        return self.part.adaptive.results(state.tracking)

    def apply(self, state: UnmaskingState, event: Event, payload: Payload) -> UnmaskingState:
        if isinstance(payload, ProgramStalled):
            state = replace(state, pauses=state.pauses.apply(event))
            return _interrupt(state) if payload.left_out else state
        pauses = state.pauses.apply(event)
        if pauses is not state.pauses:
            begins = pauses.held and not state.pauses.held
            state = replace(state, pauses=pauses)
            return _interrupt(state) if begins else state
        if event.part_id != self.part.id:
            return state
        match payload:
            case StimulusDrawn():
                attempt, at, mask = event.attempt or 1, payload.sequence, payload.mask
                drawn = StimulusTrial(event.trial or 1, attempt, payload.due_ns, at, mask)
                return replace(state, trial=drawn, highest=max(state.highest, attempt))
            case LevelChosen() if state.tracking is not None and self.part.adaptive is not None:
                return replace(state, tracking=self.part.adaptive.apply(state.tracking, payload))
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
                tracking, adaptive = state.tracking, self.part.adaptive
                if adaptive is not None and tracking is not None and payload.outcome == ANSWERED:
                    after = adaptive.answer(tracking, self._is_right(trial))
                    state = replace(state, tracking=after)
                rights = state.rights + tuple(self._is_right(trial) is True for _ in done)
                state = replace(state, outcomes=(*state.outcomes, *done), rights=rights)
                return replace(state, trial=replace(trial, outcome=payload.outcome))
        return state


def _interrupt(state: UnmaskingState) -> UnmaskingState:
    """A pause, or the end of the program, falls into the stimulus that waits for a response."""
    trial = state.trial
    if trial is None or trial.outcome is not None:
        return state
    return replace(state, trial=replace(trial, interrupted=True))
