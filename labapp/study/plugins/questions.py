"""Stages of questions that are asked one after the other: the state and the rules of all of them.

A question is drawn, shown, answered and left by *Next*. What it asks, what answers there are and
when one is final, a task says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Begin, Command, Next, ShowQuestion, SkipStage, Tick
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import LevelChosen, TrialEnded
from labapp.study.adaptive.tracks import Tracking, Tracks
from labapp.study.plugins import machine

ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is asked, or was. A task adds what it asks and what was answered.

    Attributes
    ----------
    number, attempt : its number in the stage, and the attempt at the stage, both from 1.
    started_ns : working time at which it was on the screen; None before.
    outcome : how it ended; None before.
    """

    number: int
    attempt: int = 1
    started_ns: int | None = None
    outcome: str | None = None


Q = TypeVar("Q", bound=Question)


@dataclass(frozen=True, slots=True)
class QuestionsState(Generic[Q]):
    """A stage so far. All its times are working time (without pauses), in nanoseconds.

    Attributes
    ----------
    trial : Question or None
        The present question; None before the first.
    outcomes : of the questions that are over.
    rights : of each of these, whether its answer was right.
    tracking : how far the tracks of an adaptive stage have come; None before the first question.
    stage_started_ns : when the first question was on the screen.
    outcome : how the stage ended; None before.
    attempt : at the whole stage, from 1.
    highest : the highest attempt so far of any question; a single one is asked again where the
        study wants that.
    """

    pauses: Pauses
    trial: Q | None = None
    outcomes: tuple[str, ...] = ()
    stage_started_ns: int | None = None
    outcome: str | None = None
    attempt: int = 1
    highest: int = 1
    rights: tuple[bool, ...] = ()
    tracking: Tracking | None = None

    def again(self, attempt: int) -> Self:
        """The stage from its beginning."""
        return type(self)(self.pauses, attempt=attempt, highest=attempt)


S = TypeVar("S", bound=QuestionsState[Any])


@dataclass(frozen=True)
class QuestionsMachine(machine.StageMachine[S], Generic[S, Q]):
    """The rules of such a stage.

    Attributes
    ----------
    part
        The planned stage.
    index : its place in the plan, from 0.
    """

    shown: ClassVar[type[Payload]]
    """The event that a question is on the screen, which has no fields."""
    achieved: ClassVar[str] = ANSWERED
    """How a question ends that was answered."""

    part: Any
    index: int

    @abstractmethod
    def draw(self, number: int, attempt: int) -> Payload:
        """The event that creates a question. number, attempt: as in `Question`."""

    def draw_chosen(self, number: int, attempt: int, chosen: LevelChosen) -> Payload:
        """The same in an adaptive stage, where a rule chose the level and what is asked."""
        return self.draw(chosen.item, attempt)

    @abstractmethod
    def drawn(self, payload: Payload, number: int, attempt: int) -> Q | None:
        """The question that such an event makes; None for any other event."""

    @abstractmethod
    def answer(self, question: Q, command: Command) -> Sequence[Payload]:
        """The events that a command causes during a question; none if it is not possible now."""

    @abstractmethod
    def after(self, question: Q, payload: Payload) -> Q:
        """The question after what `answer` led to."""

    @abstractmethod
    def answered(self, question: Q) -> bool:
        """Whether *Next* can be clicked."""

    def right(self, question: Q) -> bool | None:
        """Whether the answer to a question is right; None without one, or if none is right."""
        return None

    def rights(self, state: S) -> Sequence[bool]:
        return state.rights

    def attempt(self, state: S) -> int:
        return max(state.attempt, state.highest)

    def asked_again(self, state: S) -> Sequence[Payload]:
        question: Q | None = state.trial
        if state.outcome is not None or question is None or question.outcome is not None:
            return ()
        waits = question.started_ns is not None and not self.answered(question)
        return (*self.closing(state), TrialEnded(machine.INTERRUPTED)) if waits else ()

    def next_deadline(self, state: S) -> int | None:
        return machine.next_deadline(state, machine.limit_ns(self.part, state))

    def wants_begin(self, state: S) -> bool:
        if state.outcome is not None or state.pauses.held:
            return False
        return state.trial is None or state.trial.outcome is not None

    def decide(self, state: S, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        question: Q | None = state.trial
        answered = question is not None and question.outcome is None and self.answered(question)
        achieved = self.achieved if answered else None
        match command:
            case SkipStage():
                return machine.skip_stage(self.part, self.index, state, achieved)
            case Tick():
                working_ns = state.pauses.working_ns(now_ns)
                return machine.time_is_up(self.part, self.index, state, achieved, working_ns)
            case Begin() if self.wants_begin(state):
                return self._begin(state)
        if question is None or question.outcome is not None:
            return ()
        if isinstance(command, Next) and answered:
            return self.leave(state, question)
        if question.started_ns is not None:
            payloads = self.answer(question, command)
        else:
            payloads = (self.shown(),) if isinstance(command, ShowQuestion) else ()
        return [machine.unstamped(self.part, question, payload) for payload in payloads]

    def _begin(self, state: S) -> Sequence[UnstampedEvent]:
        number, attempt = machine.next_attempt(state, state.highest)
        if (tracking := self._tracking(state)) is None:
            drawn = self.draw(number, attempt)
            return (UnstampedEvent(drawn, self.part.id, number, attempt),)
        if (chosen := self.part.adaptive.choose(tracking)) is None:
            return ()  # every track is over, and the part with the last of them
        drawn = self.draw_chosen(number, attempt, chosen)
        # Of a question that is asked again, the level was chosen already.
        payloads = (drawn,) if tracking.chosen is not None else (chosen, drawn)
        return [UnstampedEvent(payload, self.part.id, number, attempt) for payload in payloads]

    def leave(self, state: S, question: Q) -> Sequence[UnstampedEvent]:
        """The end of a question that was answered, as it is after that; with the last one the end
        of the stage."""
        if (tracking := self._tracking(state)) is None:
            return machine.leave_question(self.part, self.index, state, question, self.achieved)
        right = self.right(question)
        return machine.leave_adaptive(
            self.part, self.index, tracking, question, self.achieved, right
        )

    def _tracking(self, state: S) -> Tracking | None:
        adaptive: Tracks | None = self.part.adaptive
        if adaptive is None or state.tracking is not None:
            return state.tracking
        return adaptive.begin()

    def results(self, state: S) -> Mapping[str, machine.Value]:
        tracking = self._tracking(state)
        return {} if tracking is None else self.part.adaptive.results(tracking)

    def apply(self, state: S, event: Event, payload: Payload) -> S:
        pauses = state.pauses.apply(event)
        if pauses is not state.pauses:
            return replace(state, pauses=pauses)
        if event.part_id != self.part.id:
            return state
        if isinstance(payload, PartEnded):
            return replace(state, outcome=payload.outcome)
        if isinstance(payload, LevelChosen):
            tracking = self._tracking(state)
            assert tracking is not None
            return replace(state, tracking=self.part.adaptive.apply(tracking, payload))
        number, attempt = event.trial or 1, event.attempt or 1
        question: Q | None = self.drawn(payload, number, attempt)
        if question is not None:
            return replace(state, trial=question, highest=max(state.highest, attempt))
        question = state.trial
        if question is None:
            return state
        if isinstance(payload, TrialEnded):
            tracking = self._tracking(state)
            if tracking is not None and payload.outcome == self.achieved:
                tracking = self.part.adaptive.answer(tracking, self.right(question))
                state = replace(state, tracking=tracking)
            if payload.outcome != machine.INTERRUPTED:
                rights = (*state.rights, self.right(question) is True)
                state = replace(state, outcomes=(*state.outcomes, payload.outcome), rights=rights)
            return replace(state, trial=replace(question, outcome=payload.outcome))
        if isinstance(payload, self.shown):
            working_ns = pauses.working_ns(event.t_ns)
            if state.stage_started_ns is None:
                state = replace(state, stage_started_ns=working_ns)
            return replace(state, trial=replace(question, started_ns=working_ns))
        return replace(state, trial=self.after(question, payload))
