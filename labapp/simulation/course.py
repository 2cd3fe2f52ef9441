"""A study as simulated participants go through it, moment by moment: what a preview shows of it.

One of them does as it is told (`names.ORACLE`), the other guesses and gives up, so that both what
is said to somebody who was right and to somebody who was not comes up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labapp.errors import LabappError
from labapp.events import Event, payload_of
from labapp.events.durations import Pauses
from labapp.events.lifecycle import PartStarted, SessionPaused
from labapp.journal.layout import JOURNAL
from labapp.session.machine import PartRecord, SessionMachine, SessionState
from labapp.session.opening import SessionDependencies
from labapp.session.verified_events import read_verified_events
from labapp.simulation.headless import simulate
from labapp.simulation.names import ORACLE
from labapp.study.loading import LoadedStudy


@dataclass(frozen=True)
class Moment:
    """A session at a moment at which the participant sees something.

    Attributes
    ----------
    state
        Of the session.
    t_ns : session time.
    after : the kind of event that led to it.
    page, trial : the page, from 0, and the number of the trial, from 1; 0 where there is none.
    begins : whether it is how a trial comes up, and not what came of something that was done.
    """

    state: SessionState
    t_ns: int
    after: str
    page: int = 0
    trial: int = 0
    begins: bool = False


Kind = tuple[int, str, tuple[bool, ...]]
"""A part, a kind of event, and what such an event said yes or no to."""


class Course:
    """What simulated participants came to.

    Attributes
    ----------
    places : how each page of each part comes up, by their numbers from 0.
    pause, end : Moment or None
        The first screen in a pause, and the end of the session; None where nobody got so far.
    problem : why nobody got to the end.
    """

    def __init__(self, machine: SessionMachine) -> None:
        self.machine = machine
        self.places: dict[tuple[int, int], Moment] = {}
        self.pause: Moment | None = None
        self.end: Moment | None = None
        self.problem: LabappError | None = None
        self._before: dict[int, SessionState] = {}
        self._trials: dict[tuple[int, int], Moment | None] = {}
        self._after: dict[Kind, Moment | None] = {}

    @property
    def moments(self) -> list[Moment]:
        """What comes up inside of the parts, by part, page, trial and time: each trial, and once a
        part what each kind of event led to."""
        seen = (*self._trials.values(), *self._after.values())
        moments = [moment for moment in seen if moment is not None]
        return sorted(moments, key=lambda moment: (*_place(moment), moment.t_ns))

    def take(self, events: Sequence[Event]) -> None:
        """Take in what happened in a session. What lasts no time is not seen, unless it is a skip
        that could be taken back."""
        state, known, led = self.machine.initial(), frozenset(self._after), events[0]
        for event, following in zip(events, (*events[1:], None), strict=True):
            payload = payload_of(event)
            if isinstance(payload, PartStarted):
                self._before.setdefault(payload.index, state)
            state = self.machine.apply(state, event, payload)
            led = event if event.part_id is not None else led
            lasts = following is None or following.t_ns > event.t_ns
            if state.running and (lasts or state.pending is not None):
                self._see(state, led, known)
            elif state.ended is not None and self.end is None:
                self.end = Moment(state, event.t_ns, event.kind)

    def _see(self, state: SessionState, event: Event, known: frozenset[Kind]) -> None:
        """Keep what was not seen yet. Of what happens often, such as an answer, it is the last time
        of the first page and trial. known: the kinds of another session."""
        index, task = state.index, self.machine.tasks[state.index]
        trial, page = task.trial(state.part_state), task.page(state.part_state)
        moment = Moment(state, event.t_ns, event.kind, page, 0 if trial is None else trial[0])
        kind = (index, event.kind, tuple(yes_or_no(event.payload)))
        waits = task.due_ns(state.part_state) is not None or state.pending is not None
        if not waits and (index, page) not in self.places:
            self.places[index, page] = moment
            self._trials.setdefault((index, moment.trial))
            self._after.setdefault(kind)
        elif not waits and (index, moment.trial) not in self._trials:
            self._trials[index, moment.trial] = replace(moment, begins=True)
            self._after.setdefault(kind)
        elif kind not in self._after:
            self._after[kind] = moment
        elif kind not in known and (before := self._after[kind]) is not None:
            self._after[kind] = moment if _place(before) == _place(moment) else before
        if self.pause is None and self.places:
            pauses = Pauses(0, event.t_ns, frozenset({"pause"}))
            self.pause = Moment(replace(state, pauses=pauses), event.t_ns, SessionPaused.kind)

    def before(self, index: int) -> SessionState:
        """The session as a part is about to begin, with what came of those before it; of what
        nobody did, it is as though it had been done."""
        initial = self.machine.initial()
        reached = max((at for at in self._before if at <= index), default=None)
        state = initial if reached is None else self._before[reached]
        done = PartRecord(0, 0, "completed")
        records = [record if record.outcome else done for record in state.records[:index]]
        return replace(
            state,
            segment=1,
            index=index - 1,
            part_state=None,
            pauses=Pauses(),
            records=(*records, *initial.records[index:]),
        )


def _place(moment: Moment) -> tuple[int, int, int]:
    return moment.state.index, moment.page, moment.trial


def yes_or_no(payload: Mapping[str, Any]) -> Iterator[bool]:
    """What an event says yes or no to, each of its fields once."""
    for value in payload.values():
        if isinstance(value, bool):
            yield value
        elif isinstance(value, Mapping) and value:
            told = [each for each in value.values() if isinstance(each, bool)]
            yield from [all(told)] if told else []


def course_of(
    machine: SessionMachine,
    loaded: LoadedStudy,
    participant: str,
    dependencies: SessionDependencies,
    cells: Sequence[str],
    folder: Path,
) -> Course:
    """Let simulated participants go through a study.

    Parameters
    ----------
    machine
        Of the plan that the participant has.
    participant : the label.
    dependencies
        As a session needs them.
    cells : the conditions that are drawn, see `labapp.session.opening.create`.
    folder : pathlib.Path
        Where the sessions are made; nobody reads them afterwards.
    """
    course = Course(machine)
    for careless in (False, True):
        data = folder / ("careless" if careless else ORACLE)
        try:
            simulate(
                loaded,
                participant,
                dependencies,
                data=data,
                strategy=ORACLE,
                careless=careless,
                cells=cells,
            )
        except LabappError as error:
            course.problem = error
        for journal in data.rglob(JOURNAL):
            course.take(read_verified_events(journal.parent))
    return course
