"""What a part's state machine is.

`decide` answers a command with unstamped events, `apply` folds an event into the state. Neither
reads a clock, a file or hidden state; randomness is drawn inside `decide` from a fresh seeded
generator and its result goes into the event.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command
from labapp.record.events.event import Pauses

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
        """What the command leads to at session time now_ns; nothing if it is not possible now."""

    @abstractmethod
    def apply(self, state: S, event: Event, payload: Payload) -> S:
        """The state after an event and its payload. The first event is the part's own
        `part.started`."""

    def next_deadline(self, state: S) -> int | None:
        """Session time in ns at which a Tick may lead to something, if nothing else happens."""
        return None

    def due_ns(self, state: S) -> int | None:
        """Session time in ns at which a stimulus is to appear that is measured by that moment:
        nothing else is drawn then. None for nothing."""
        return None

    def wants_begin(self, state: S) -> bool:
        """Whether the runner should send Begin now (the part, or its next trial, is due)."""
        return False

    def trial(self, state: S) -> tuple[int, int] | None:
        """Number and attempt of the present trial, both from 1; None where there is none."""
        return None

    def restarted(self, state: S, attempt: int) -> S:
        """The state at the beginning of a further attempt at the whole stage. Only stages of trials
        begin again."""
        return state

    def attempt(self, state: S) -> int:
        """The highest attempt so far, after which a stage that begins again counts on."""
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
        """Where in the part somebody stands, for messages, such as `page 2`; empty for nowhere in
        particular."""
        return ""

    def asked_again(self, state: S) -> Sequence[Payload]:
        """What ends the attempt at the question on the screen so that it is asked again, in a study
        that repeats questions in which the program stood still; nothing where no answer is awaited.
        A task that has it says so (`TaskType.asks_again`)."""
        return ()

    def closing(self, state: S) -> Sequence[Payload]:
        """What is to be written down before the part is left for good or begins again."""
        return ()

    def answers(self, state: S) -> Mapping[str, tuple[Value, ...]]:
        """What later parts can depend on once it is over, by names that say where it is from."""
        return {}

    def told(self, state: S, answers: Mapping[str, tuple[Value, ...]]) -> S:
        """The state at its beginning, with what the parts before it left in `answers`."""
        return state

    def without_stages(self, state: S, skipped: Collection[int]) -> S:
        """The state at its beginning, where stages of these numbers were skipped."""
        return state

    def result(self, state: S) -> Any:
        """What texts behind the part may speak of, see `TaskType.values`; None for nothing."""
        return None
