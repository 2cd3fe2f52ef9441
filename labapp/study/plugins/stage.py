"""What stages of questions share: the time limit, and how a question or the stage is left.

A stage's times are working time (without pauses) in ns. `achieved` is the outcome that the present
question has earned already ("solved", "answered"), or None: whatever ends the stage, it keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from labapp.base.clock import NS
from labapp.record.events import Payload, UnstampedEvent
from labapp.record.events.event import Pauses
from labapp.record.events.lifecycle import PartEnded
from labapp.record.events.trials import StageTimeExpired, TrialEnded
from labapp.study.plugins.machine import PartMachine

if TYPE_CHECKING:
    from labapp.study.plugins.part import TrialsPart

INTERRUPTED = "interrupted"
"""How an attempt at a question ends that is asked again. It does not count as one of the stage's
questions."""


class Asked(Protocol):
    """A question that is asked, or was."""

    @property
    def number(self) -> int: ...
    @property
    def attempt(self) -> int: ...
    @property
    def outcome(self) -> str | None: ...


class Stage(Protocol):
    """The state of a stage of trials. attempt: at the whole stage, from 1."""

    @property
    def pauses(self) -> Pauses: ...
    @property
    def trial(self) -> Asked | None: ...
    @property
    def outcomes(self) -> tuple[str, ...]: ...
    @property
    def stage_started_ns(self) -> int | None: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def attempt(self) -> int: ...

    def again(self, attempt: int) -> Self:
        """The stage from its beginning, as this attempt."""
        ...


S = TypeVar("S", bound=Stage)


class StageMachine(PartMachine[S]):
    """The machine of a part that consists of trials."""

    __slots__ = ()

    def trial(self, state: S) -> tuple[int, int] | None:
        return None if state.trial is None else (state.trial.number, state.trial.attempt)

    def attempt(self, state: S) -> int:
        return state.attempt

    def place(self, state: S) -> str:
        return "" if state.trial is None else f"question {state.trial.number}"

    def restarted(self, state: S, attempt: int) -> S:
        return state.again(attempt)


def unstamped(part: TrialsPart, question: Asked, payload: Payload) -> UnstampedEvent:
    """Something that happens in a question."""
    return UnstampedEvent(payload, part.id, question.number, question.attempt)


def next_attempt(stage: Stage, highest: int) -> tuple[int, int]:
    """Number and attempt of the question that is drawn next: the same one again where the last
    attempt at it was interrupted. highest: attempt so far of any question."""
    last = stage.trial
    again = last is not None and last.outcome == INTERRUPTED
    return len(stage.outcomes) + 1, highest + 1 if again else stage.attempt


def limit_words(part: TrialsPart) -> str:
    """The time limit behind a part's summary; empty where there is none."""
    return "" if part.time_limit_s is None else f", at most {part.time_limit_s / 60:g} minutes"


def limit_ns(part: TrialsPart, stage: Stage) -> int | None:
    """Working time at which the stage's time limit is reached; None where there is none yet."""
    if part.time_limit_s is None or stage.stage_started_ns is None:
        return None
    return stage.stage_started_ns + round(part.time_limit_s * NS)


def next_deadline(stage: Stage, *due_ns: int | None) -> int | None:
    """Session time in ns of the first of what is due, given in working time."""
    due = [at for at in due_ns if at is not None]
    if not due or stage.outcome is not None or stage.pauses.held:
        return None
    return min(due) + stage.pauses.total_ns


def leave_question(
    part: TrialsPart, index: int, stage: Stage, question: Asked, outcome: str
) -> Sequence[UnstampedEvent]:
    """End the present question, and the stage with its last one."""
    events = [unstamped(part, question, TrialEnded(outcome))]
    if len(stage.outcomes) + 1 >= part.trials:
        events.append(UnstampedEvent(PartEnded(index, "completed"), part.id))
    return events


def skip_stage(
    part: TrialsPart, index: int, stage: Stage, achieved: str | None
) -> Sequence[UnstampedEvent]:
    """The moderator ends the stage."""
    return _end(part, index, stage, achieved or "stage_skipped", "skipped")


def time_is_up(
    part: TrialsPart, index: int, stage: Stage, achieved: str | None, working_ns: int
) -> Sequence[UnstampedEvent]:
    """End the stage if its time limit is reached; nothing before, and nothing in a pause."""
    limit = limit_ns(part, stage)
    if limit is None or stage.pauses.held or working_ns < limit:
        return ()
    expired = UnstampedEvent(StageTimeExpired(part.time_limit_s or 0.0), part.id)
    return (expired, *_end(part, index, stage, achieved or "time_expired", "time_expired"))


def _end(
    part: TrialsPart, index: int, stage: Stage, of_question: str, of_stage: str
) -> Sequence[UnstampedEvent]:
    ended = UnstampedEvent(PartEnded(index, of_stage), part.id)
    if stage.trial is None or stage.trial.outcome is not None:
        return (ended,)
    return (unstamped(part, stage.trial, TrialEnded(of_question)), ended)
