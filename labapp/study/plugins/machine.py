"""What a part's state machine is.

`decide` answers a command with unstamped events, `apply` folds an event into the state. Neither
reads a clock, a file or hidden state; randomness is drawn inside `decide` from a fresh seeded
generator and its result goes into the event.

What stages of questions share: the time limit, and how a question or the stage is left.

A stage's times are working time (without pauses) in ns. `achieved` is the outcome that the present
question has earned already ("solved", "answered"), or None: whatever ends the stage, it keeps it.

Texts of several pages that are read and left: what every part of that kind shares.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import msgspec

from labapp.base.clock import NS
from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Back, Command, Next, SkipStage
from labapp.record.events.lifecycle import PageTurned, PartEnded
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import StageTimeExpired, TrialEnded
from labapp.study.adaptive.tracks import Tracking
from labapp.study.plugins.part import PlannedPart, TrialsPart

S = TypeVar("S")
Value = str | int | float | bool

LATE_NS = 300_000_000
"""A picture that is due for so long and not on the screen is not coming: its window is covered,
say, or the participant is asked whether to leave."""


class _DataclassFields:
    """Lets `dataclasses.replace` take states, too."""

    def __get__(self, state: object, cls: type[State]) -> dict[str, dataclasses.Field[Any]]:
        return _fields_of(cls.__struct_fields__)


@cache
def _fields_of(names: tuple[str, ...]) -> dict[str, dataclasses.Field[Any]]:
    made: Any = dataclasses.make_dataclass("State", names)
    fields: dict[str, dataclasses.Field[Any]] = made.__dataclass_fields__
    return fields


class State(msgspec.Struct, frozen=True):
    """Base of states that every event changes: `msgspec.structs.replace` takes a twentieth of the
    time that `dataclasses.replace` takes for a dataclass. A task may have either."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    else:
        __dataclass_fields__ = _DataclassFields()


class PartMachine(ABC, Generic[S]):
    """The state machine of one part of the plan; S is the type of its state."""

    __slots__ = ()

    @abstractmethod
    def initial(self, pauses: Pauses) -> S:
        """The state before anything happened in this part."""

    @abstractmethod
    def decide(self, state: S, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        """The events that a command causes at session time now_ns; none if it is not possible."""

    @abstractmethod
    def apply(self, state: S, event: Event, payload: Payload) -> S:
        """The state after an event and its payload. The first event is the part's own
        `part.started`."""

    def next_deadline(self, state: S) -> int | None:
        """Session time in ns at which a Tick may cause events, if nothing else happens before."""
        return None

    def due_ns(self, state: S) -> int | None:
        """Session time in ns at which a stimulus is to appear that is measured by that moment:
        nothing else is drawn then. None for nothing."""
        return None

    def wants_begin(self, state: S) -> bool:
        """Whether the runner should send Begin now (the part, or its next trial, is due)."""
        return False

    def trial(self, state: S) -> tuple[int, int] | None:
        """Number and attempt of the current trial, both from 1; None if there is none."""
        return None

    def restarted(self, state: S, attempt: int) -> S:
        """The state at the beginning of a further attempt at the whole stage. Only stages of trials
        begin again."""
        return state

    def attempt(self, state: S) -> int:
        """The highest attempt so far. A stage that begins again continues counting from it."""
        return 1

    def page_count(self) -> int:
        """How many pages it has, for a preview."""
        return 1

    def page(self, state: S) -> int:
        """The page on the screen, from 0."""
        return 0

    def at_page(self, state: S, page: int) -> S:
        """The state with another page on the screen, from 0, for a preview."""
        return state

    def place(self, state: S) -> str:
        """The participant's position in the part, for messages, such as `page 2`; may be empty."""
        return ""

    def asked_again(self, state: S) -> Sequence[Payload]:
        """What ends the attempt at the question on the screen so that it is asked again, in a study
        that repeats questions in which the program stood still; nothing if no answer is awaited.
        A task that has it says so (`TaskType.asks_again`)."""
        return ()

    def closing(self, state: S) -> Sequence[Payload]:
        """The events to record before the part ends or begins again."""
        return ()

    def answers(self, state: S) -> Mapping[str, tuple[Value, ...]]:
        """The results that later parts can depend on, by names that show their source."""
        return {}

    def rights(self, state: S) -> Sequence[bool]:
        """Of each of its questions that is over, whether it was answered rightly; empty if no
        answer is right."""
        return ()

    def results(self, state: S) -> Mapping[str, Value]:
        """What conditions can refer to in addition to the share of right answers, see
        `labapp.study.results`."""
        return {}

    def told(self, state: S, answers: Mapping[str, tuple[Value, ...]]) -> S:
        """The state at its beginning, given the `answers` of the parts before it."""
        return state

    def without_stages(self, state: S, skipped: Collection[int]) -> S:
        """The state at its beginning, if the stages with these numbers were skipped."""
        return state

    def result(self, state: S) -> Any:
        """What texts after the part may mention, see `TaskType.values`; None for nothing."""
        return None


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


StageState = TypeVar("StageState", bound=Stage)


class StageMachine(PartMachine[StageState]):
    """The machine of a part that consists of trials."""

    __slots__ = ()

    def trial(self, state: StageState) -> tuple[int, int] | None:
        return None if state.trial is None else (state.trial.number, state.trial.attempt)

    def attempt(self, state: StageState) -> int:
        return state.attempt

    def place(self, state: StageState) -> str:
        return "" if state.trial is None else f"question {state.trial.number}"

    def restarted(self, state: StageState, attempt: int) -> StageState:
        return state.again(attempt)


def unstamped(part: TrialsPart, question: Asked, payload: Payload) -> UnstampedEvent:
    """An event of a question that has no time stamp yet."""
    return UnstampedEvent(payload, part.id, question.number, question.attempt)


def next_attempt(stage: Stage, highest: int) -> tuple[int, int]:
    """Number and attempt of the question that is drawn next: the same question again if the last
    attempt at it was interrupted. highest: attempt so far of any question."""
    last = stage.trial
    again = last is not None and last.outcome == INTERRUPTED
    return len(stage.outcomes) + 1, highest + 1 if again else stage.attempt


def limit_words(part: TrialsPart) -> str:
    """The time limit to add to a part's summary; empty if there is none."""
    return "" if part.time_limit_s is None else f", at most {part.time_limit_s / 60:g} minutes"


def limit_ns(part: TrialsPart, stage: Stage) -> int | None:
    """Working time at which the stage's time limit is reached; None if there is none yet."""
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
    """End the current question, and the stage if this was its last question."""
    events = [unstamped(part, question, TrialEnded(outcome))]
    if len(stage.outcomes) + 1 >= part.trials:
        events.append(UnstampedEvent(PartEnded(index, "completed"), part.id))
    return events


def leave_adaptive(
    part: TrialsPart,
    index: int,
    before: Tracking,
    question: Asked,
    outcome: str,
    right: bool | None,
) -> Sequence[UnstampedEvent]:
    """End the current question of an adaptive part and, if it was the last, its track and the part.

    before: the tracks before the answer; right: whether it is right, None for "I don't know".
    """
    assert part.adaptive is not None
    after = part.adaptive.answer(before, right)
    events = [unstamped(part, question, TrialEnded(outcome))]
    if (ended := part.adaptive.end(before, after)) is not None:
        events.append(unstamped(part, question, ended))
    if after.over:
        ended_as = part.adaptive.find_outcome(after)
        events.append(UnstampedEvent(PartEnded(index, ended_as), part.id))
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


@dataclass(frozen=True, slots=True)
class PagesState:
    """page: the one on the screen, from 0."""

    page: int = 0
    outcome: str | None = None


Pages = TypeVar("Pages", bound=PagesState)


@dataclass(frozen=True)
class PagesMachine(PartMachine[Pages]):
    """The machine of a text; one with more than text derives from it.

    index: the part's place in the plan; pages: how many the text has.
    """

    part: PlannedPart
    index: int
    pages: int

    def turn(self, state: Pages, command: Command) -> Sequence[UnstampedEvent]:
        """The events when a page is turned or the last page is left."""
        match command:
            case Next() if state.page + 1 < self.pages:
                return (UnstampedEvent(PageTurned(state.page + 1), self.part.id),)
            case Next():
                return self._end(state, "completed")
            case Back() if state.page > 0:
                return (UnstampedEvent(PageTurned(state.page - 1), self.part.id),)
            case SkipStage():
                return self._end(state, "skipped")
        return ()

    def page_count(self) -> int:
        return self.pages

    def page(self, state: Pages) -> int:
        return state.page

    def at_page(self, state: Pages, page: int) -> Pages:
        return replace(state, page=page)

    def place(self, state: Pages) -> str:
        return f"page {state.page + 1}"

    def decide(self, state: Pages, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        return () if state.outcome is not None else self.turn(state, command)

    def _end(self, state: Pages, outcome: str) -> Sequence[UnstampedEvent]:
        payloads = (*self.closing(state), PartEnded(self.index, outcome))
        return [UnstampedEvent(payload, self.part.id) for payload in payloads]

    def apply(self, state: Pages, event: Event, payload: Payload) -> Pages:
        match payload:
            case PageTurned():
                return replace(state, page=payload.page)
            case PartEnded():
                return replace(state, outcome=payload.outcome)
        return state


class TextMachine(PagesMachine[PagesState]):
    """A text and nothing else."""

    def initial(self, pauses: Pauses) -> PagesState:
        return PagesState()
