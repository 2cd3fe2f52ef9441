"""What a simulated participant does in one part of a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from labapp.record.events.commands import Command, Next
from labapp.study.plugins.part import PlannedPart

if TYPE_CHECKING:
    from labapp.session.runner import Runner
    from labapp.session.simulation.person import Experience, Pace, ParticipantTraits

Options = Mapping[str, Any]
"""The options that a person sets for simulated participants, by the task's name."""
NO_OPTIONS: Options = MappingProxyType({})
P = TypeVar("P", bound=PlannedPart)
DEVICE = "simulated"
"""With which a simulated participant turns dials and presses buttons."""
TrialKey = tuple[str, int, int]
"""Part, trial and attempt."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and how long it takes first. waits: look (at the pictures) or think."""

    command: Command
    waits: str = "think"


class SimulatedParticipant(Protocol):
    """Who goes through the plan: one person, whose strategy and pace stay the same.

    Attributes
    ----------
    runner : the session: its state, its pictures, its clock.
    strategy : what it goes by (`labapp.session.simulation.names`); `careless` guesses wherever it
    is asked. goes_by, careless
        The strategy of one who is careless beside, and whether it is.
    seed : of its draws; a purpose follows, see `labapp.study.conditions.generator`.
    rng : numpy.random.Generator
        For what need not be the same again in a session that is driven otherwise.
    person, pace
        How well it sees, and how fast it is.
    language : the study's, in which it writes.
    paints : whether there is no screen that tells when something is painted, so that it does.
    experience : by id of a stage how that went, which questionnaires ask about.
    memory : dict
        What a task remembers over its parts; the task chooses the keys, which begin with its name.
    options : what was set for a task in this simulation, by the task's name.
    thinks_aloud : whether it says what it thinks.
    """

    runner: Runner
    strategy: str
    goes_by: str
    careless: bool
    seed: tuple[int, *tuple[str, ...]]
    rng: np.random.Generator
    person: ParticipantTraits
    pace: Pace
    language: str
    paints: bool
    experience: dict[str, Experience]
    memory: dict[tuple[str, ...], Any]
    options: Options
    thinks_aloud: bool

    def send(self, command: Command, then_s: float, *, moving: bool = False) -> None:
        """Send a command, and act again after some seconds (a little more or less). moving: a hand
        on its way, which does not wait until what it has done is drawn."""
        ...

    def lasts(self, seconds: float) -> float:
        """A random duration in seconds around the given one."""
        ...

    def later(self, seconds: float) -> None:
        """Act again after some seconds (a little more or less)."""
        ...

    def after(self, seconds: float) -> None:
        """Act again after exactly these seconds."""
        ...

    def at(self, session_ns: int) -> None:
        """Act again at a moment of session time, or immediately if it has passed."""
        ...

    def think_aloud(self, thought: str, what: str = "") -> bool:
        """Say a thought, if this participant thinks aloud; nothing waits for it.

        Parameters
        ----------
        thought : one of `labapp.session.simulation.person`.
        what : what the thought is about, if its words have a place for it.

        Returns
        -------
        Whether it was said: a participant who still has much to say skips it.
        """
        ...

    def go_through(self, trial: TrialKey, steps: Iterator[Step]) -> None:
        """Take the next step of a trial. steps: all of them, used where it is a new trial."""
        ...

    def consent(self) -> None:
        """Sign what is asked for."""
        ...


class Actor(ABC, Generic[P]):
    """One part, as a simulated participant goes through it."""

    def __init__(self, part: P, participant: SimulatedParticipant) -> None:
        self.part = part
        self.participant = participant

    @property
    def state(self) -> Any:
        """The state of the part."""
        return self.participant.runner.state.part_state

    @abstractmethod
    def act(self) -> None:
        """Do the next thing that a participant would do, and say when to act again."""


class Reader(Actor[PlannedPart]):
    """Reads, and goes on."""

    def act(self) -> None:
        self.participant.send(Next(), self.participant.pace.read_s)


class Answerer(Actor[P]):
    """Answers questions that come one after the other."""

    @abstractmethod
    def steps(self, question: Any) -> Iterator[Step]:
        """The steps from the appearance of a question to its end."""

    def act(self) -> None:
        question = self.state.trial
        if question is None or question.started_ns is None or question.outcome is not None:
            self.participant.later(self.participant.pace.stride_s)
            return
        key = (self.part.id, question.number, question.attempt)
        self.participant.go_through(key, self.steps(question))
