"""What one task leaves in one session: a fold over the events of its parts, its attempts at
questions, and its rows of tables.

A task type names its class of records (`TaskType.records`). The walk over the events and all that
is the same in every task are in `labapp.analysis.rows`.

The parts of a session's plan, and one walk over its events, which hands each to the task that it
belongs to.

Nothing that happened in a part is passed over: an event that the task of its part does not know, or
that belongs to no part, is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from inspect import isfunction
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from labapp.analysis.column import FILLED, Column, Getter, along, cells
from labapp.analysis.tracks import TrackRecord
from labapp.base import discovery
from labapp.base.clock import NS
from labapp.base.errors import RecordError, SetupError
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    PartEnded,
    PartLeftOut,
    PartRestarted,
    PartSkipped,
    PartStarted,
)
from labapp.record.events.registry import KINDS as PAUSES
from labapp.record.events.registry import Pauses
from labapp.record.events.trials import LevelChosen, TrackEnded, TrialEnded
from labapp.study.adaptive.tracks import THRESHOLD, FollowedTracks
from labapp.study.design import Missing
from labapp.study.instruments import Instrument
from labapp.study.plugins import registry
from labapp.study.plugins.part import (
    PlannedPart,
    Questionnaire,
    Snapshot,
    TrialsPart,
    stages_of,
    with_trials,
)
from labapp.study.plugins.registry import TaskType

if TYPE_CHECKING:
    from labapp.study.plugins.registry import TaskType


Row = dict[str, Any]
Columns = tuple[Column, ...]

Key = tuple[str, int, int]
"""Stage, number of the question, attempt."""

INTERRUPTED = "interrupted"
"""The outcome of an attempt whose end was never recorded, or was broken off by a pause."""
BEGAN_AGAIN = "its stage began again"
REPEATED = "repeated in a later attempt"


class Attempt:
    """One attempt, while its events come in and after.

    Times are in ns, working time but for those that say session; None if the thing did not
    happen. superseded: why another attempt counts instead; track, level: what a rule chose, None
    if none did.
    """

    part: TrialsPart
    trial: int
    attempt: int
    started_session_ns: int | None = None
    started_ns: int | None = None
    ended_session_ns: int | None = None
    outcome: str | None = None
    superseded: str | None = None
    track: int | None = None
    level: float | None = None

    def __init__(self, key: Key) -> None:
        self.key = key
        self.trial, self.attempt = key[1:]

    def take(self, event: Event, payload: Payload, working: int) -> None:
        """Take in an event of this attempt at working time `working` in ns."""

    def end(self, outcome: str, t_ns: int) -> None:
        """Its end was recorded, at a session time; the answer may have ended it before."""
        if self.outcome is None:
            self.outcome = outcome
        if self.ended_session_ns is None:
            self.ended_session_ns = t_ns

    @property
    def complete(self) -> bool:
        """Whether all was said that makes it count, whatever ended it."""
        return False

    @property
    def solved(self) -> bool | None:
        """Whether its target was reached; None if it has none."""
        return None

    @property
    def correct(self) -> bool | None:
        """Whether its answer was right; None without one, or if none is right."""
        return None

    @property
    def counts_right(self) -> bool | None:
        """Whether its answer was right for the rule of an adaptive stage; None for an answer that
        says nothing, such as "I don't know"."""
        return self.correct

    @property
    def response_s(self) -> float | None:
        """Working time from its appearance to the participant's answer, or to the click that left
        it; None if neither happened."""
        return None

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count in the stage's metrics."""
        if self.superseded is not None:
            return self.superseded
        if self.started_ns is None:
            return "never shown"
        if self.complete:
            return None
        if self.outcome in (None, INTERRUPTED):
            return "interrupted before its end"
        if self.outcome == "stage_skipped":
            return "cut off when the moderator skipped the stage"
        return None

    @property
    def ended_by(self) -> str:
        """Its outcome; `INTERRUPTED` if none was recorded."""
        return self.outcome or INTERRUPTED

    @property
    def excluded(self) -> bool:
        """Whether it does not count in the stage's metrics."""
        return self.excluded_because is not None

    @property
    def started_session_s(self) -> float | None:
        """Session time of its appearance."""
        return None if self.started_session_ns is None else self.started_session_ns / NS

    @property
    def planned_session_s(self) -> float | None:
        """Session time at which it appeared, or was to appear; None if nobody knows."""
        return self.started_session_s

    def since_start(self, working: int | None) -> float | None:
        """Seconds from its appearance."""
        if working is None or self.started_ns is None:
            return None
        return (working - self.started_ns) / NS


def supersede(attempts: Mapping[Key, Attempt], counts: Mapping[str | None, int]) -> None:
    """Mark the attempts instead of which a later one counts; counts: stage -> the first attempt
    that counts, if the stage began again."""
    latest = {(stage, trial): number for stage, trial, number in attempts}
    for (stage, trial, number), attempt in attempts.items():
        if number < counts.get(stage, 1):
            attempt.superseded = BEGAN_AGAIN
        elif number != latest[stage, trial]:
            attempt.superseded = REPEATED


class Traced(Protocol):
    """An attempt with snapshots, for the table of these."""

    @property
    def part(self) -> TrialsPart: ...
    @property
    def trial(self) -> int: ...
    @property
    def attempt(self) -> int: ...
    @property
    def snapshots(self) -> Sequence[Snapshot]: ...


@dataclass(frozen=True, eq=False)
class TaskTables:
    """The columns that a task brings.

    Attributes
    ----------
    own : by name, the columns of tables of its own. Columns of `labapp.analysis.column.FILLED` in
        them are filled in for every task alike.
    rows : by name of a table of its own, what its rows are about, from the task's records.
    row_is : by name of a table of its own, what a row is, in words: `an attempt at a photo`.
    added : by table, and there by the shared column behind which they stand, columns that it adds.
    shared : by table the cells that it gives to shared columns, by their names: each a getter or a
        path, as in `labapp.analysis.column.Column`.
    words : what shared columns say of its trials, by the name in braces there (as in
        `labapp.analysis.columns`): `tasks_with_dials`, `tasks`, `durations`.
    outcomes : by outcome of its trials, of what or by whom, in words; empty if that goes without
        saying.
    distinct : by table of its own that says the same in every session, the columns that tell rows
        apart.
    """

    own: Mapping[str, Columns] = field(default_factory=dict)
    rows: Mapping[str, Callable[[Any], Iterable[Any]]] = field(default_factory=dict)
    added: Mapping[str, Mapping[str, Columns]] = field(default_factory=dict)
    shared: Mapping[str, Mapping[str, Getter | str]] = field(default_factory=dict)
    distinct: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    row_is: Mapping[str, str] = field(default_factory=dict)

    def columns(self, table: str) -> Columns:
        """The columns that it adds to a shared table."""
        return tuple(chain.from_iterable(self.added.get(table, {}).values()))

    def cells(self, table: str, subject: Any) -> Row:
        """What it gives to a row of a shared table."""
        shared = self.shared.get(table, {}).items()
        return {
            **{name: get(subject) for name, get in shared if callable(get)},
            **{name: along(get)(subject) for name, get in shared if isinstance(get, str)},
            **cells(chain.from_iterable(self.added.get(table, {}).values()), subject),
        }


@dataclass(frozen=True, slots=True)
class Ran:
    """What is known of a stage besides its attempts. outcome: None without an end; keyboard_away:
    attempts during which the participant's keyboard was away; missing: what the study declares of
    what is missing."""

    outcome: str | None
    keyboard_away: Set[Key]
    missing: Missing


P = TypeVar("P", bound=TrialsPart)
A = TypeVar("A", bound=Attempt)


class TaskRecords(ABC, Generic[P, A]):
    """A fold over one session's events of the parts of one task.

    Parameters
    ----------
    parts : its stages and practices by id, in the plan's order.
    """

    tables: ClassVar[TaskTables] = TaskTables()
    begins: ClassVar[str]
    """The kind of event that an attempt begins with."""
    kinds: ClassVar[frozenset[str]]
    """The kinds of events of its parts that it takes besides that and the ends of trials. One that
    no function of its own or of its attempts mentions is an error as it is loaded; so is, in an
    analysis, an event that neither it takes nor the task type names (`TaskType.told_elsewhere`)."""
    achieved: ClassVar[str] = "answered"
    """How a trial ends that was answered."""
    of_session: ClassVar[frozenset[str]] = frozenset()
    """The kinds of events of no part that it takes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if lacking := next(_lacking(cls), ""):
            raise TypeError(f"{cls.__module__}.{cls.__name__}: {lacking}")

    def __init__(self, parts: Mapping[str, P]) -> None:
        self.parts = parts
        self.by_key: dict[Key, A] = {}
        self._counts: dict[str | None, int] = {}  # the attempt that counts where a stage began anew
        self.followed = {
            name: FollowedTracks(part.adaptive)
            for name, part in parts.items()
            if part.adaptive is not None
        }

    @abstractmethod
    def begin(self, part: P, key: Key, event: Event, payload: Any) -> A:
        """The attempt that an event begins. Raises RecordError if the plan lacks it."""

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        """Take in an event of one of its parts, of one of its kinds, at a working time."""
        attempt = self.by_key.get(event[7:10])  # type: ignore[arg-type] # of thousands
        if attempt is not None and event.kind != self.begins:
            attempt.take(event, payload, working_ns)
            if isinstance(payload, TrialEnded):
                attempt.end(payload.outcome, event.t_ns)
        elif isinstance(payload, PartRestarted):
            self._counts[event.part_id] = payload.attempt
        elif event.kind == self.begins and (key := key_of(event)) is not None:
            self.by_key[key] = self.begin(self.parts[key[0]], key, event, payload)
        elif payload.of_trial:
            raise RecordError(
                f"Event {event.seq} of this session ({event.kind}) belongs to a trial that never "
                "began, so it would be missing from all tables.",
                safe="The session is untouched, and nothing was left out silently.",
                todo="Check it with `labapp sessions verify`, and leave it out until it is "
                "repaired.",
            )
        if (followed := self.followed.get(event.part_id or "")) is not None:
            self._follow(followed, event, payload)

    def _follow(self, followed: FollowedTracks, event: Event, payload: Payload) -> None:
        """Take in what an event says of the tracks of its part."""
        key, chosen = key_of(event), followed.state.chosen
        match payload:
            case PartRestarted():
                followed.begin()
            case LevelChosen() | TrackEnded():
                followed.decide(payload, event.seq)
            case TrialEnded(outcome=outcome) if outcome == self.achieved and key is not None:
                followed.answer(self.by_key[key].counts_right)
            case _ if event.kind == self.begins and key is not None and chosen is not None:
                self.by_key[key].track, self.by_key[key].level = chosen.track, chosen.value

    def walk_tracks(self) -> Iterator[TrackRecord]:
        """The tracks of its adaptive parts, as their plans list them."""
        for name, followed in self.followed.items():
            for number_of in range(1, len(followed.state.tracks) + 1):
                yield TrackRecord(self.parts[name], followed, number_of)

    def find_results(self, part: P) -> Mapping[str, str | float | None]:
        """What came out of the tracks of a stage, by column; nothing if it is not adaptive."""
        if (followed := self.followed.get(part.id)) is None:
            return {}
        tracks, state = followed.tracks, followed.state
        known = [tracks.find_threshold(track) for track in state.tracks]
        if any(each is not None and not tracks.scale.include(each.x) for each in known):
            return tracks.results(state) | {THRESHOLD: None}
        return tracks.results(state) | {"threshold_se": tracks.average(known)[1]}

    def take_of_session(self, payload: Payload) -> None:
        """Take in an event of no part."""
        return

    def end(self, working_ns: int) -> None:
        """Nothing more comes; working_ns: working time at the session's last event."""
        supersede(self.by_key, self._counts)

    def doubts(self) -> Iterator[str]:
        """What of the record contradicts the plan though it is in the tables, for
        `labapp sessions verify`: the first decision of each part that is not its rule's; those
        behind it follow from it."""
        return (f"{name}: {each.doubts[0]}" for name, each in self.followed.items() if each.doubts)

    @property
    def attempts(self) -> Sequence[A]:
        """Every attempt at every trial, in the order they were drawn."""
        return list(self.by_key.values())

    def trial_row(self, attempt: A) -> Row:
        """What an attempt adds to the table of trials, except for what every task adds."""
        return self.tables.cells("trials", attempt)

    def stage(self, part: P, attempts: Sequence[A], ran: Ran) -> Any:
        """What the columns of the table of stages are taken from; attempts: all of this stage."""
        return attempts

    def stage_row(self, part: P, attempts: Sequence[A], ran: Ran) -> Row:
        """What a stage adds to the table of stages, except for what every task adds; attempts: all
        of this stage."""
        return self.tables.cells("stages", self.stage(part, attempts, ran))

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        """The rows of the tables of its own."""
        own = self.tables.own
        return {
            name: map(partial(cells, own[name]), subjects(self))
            for name, subjects in self.tables.rows.items()
        }

    def participant_row(self) -> Row:
        """What it gives to the table of participants."""
        return self.tables.cells("participants", self)

    def traced(self) -> Sequence[Traced]:
        """Its attempts with snapshots, for the table of snapshots."""
        return ()


def _lacking(records: type[TaskRecords[Any, Any]]) -> Iterator[str]:
    """What the columns of a task's tables lack so that its records can fill them."""
    tables, own = records.tables, TaskRecords.own_rows
    for name, columns in tables.own.items():
        if name in tables.rows:
            yield from _without_getter(name, columns)
        elif records.own_rows is own:
            yield f"nothing says what the rows of its table {name!r} are about (`rows`)"
    for name in tables.rows.keys() - tables.own.keys():
        yield f"it has no table {name!r} of its own"
    fills: Mapping[str, bool] = {
        "trials": records.trial_row is TaskRecords.trial_row,
        "stages": records.stage_row is TaskRecords.stage_row,
        "participants": records.participant_row is TaskRecords.participant_row,
    }
    for name, filled in fills.items():
        if filled:
            yield from _without_getter(name, tables.columns(name))


def _without_getter(table: str, columns: Columns) -> Iterator[str]:
    for column in columns:
        if not callable(column.get) and column.name not in FILLED:
            yield f"nothing says where the column {column.name!r} of {table!r} comes from (`get`)"


def never_handled(records: type[TaskRecords[Any, Any]]) -> set[str]:
    """The kinds in `kinds` and `of_session` that no function of the records mentions. Their events
    would be dropped without a word.

    A kind is mentioned by its class or by its name. The functions are those of the class,
    and whatever they use of the same package, such as the attempts they make.
    """
    own = [known for known in records.__mro__ if TaskRecords in known.__mro__[1:]]
    homes = {_home(known.__module__) for known in own}
    seen: set[int] = set()
    mentioned: set[str] = set()
    waiting: list[Any] = list(own)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            mentioned.add(thing)
        elif isinstance(thing, Mapping):
            waiting += [*thing, *thing.values()]
        elif isinstance(thing, tuple | list | Set):
            waiting += thing
        elif isinstance(thing, type) and issubclass(thing, Payload):
            mentioned.add(getattr(thing, "kind", ""))
        elif isinstance(thing, type):
            waiting += _functions(
                known for known in thing.__mro__ if _home(known.__module__) in homes
            )
        elif isfunction(thing) and _home(thing.__module__) in homes:
            waiting += _find_used_values(thing)
    return {*records.kinds, *records.of_session} - mentioned


def _home(module: str) -> str:
    """The package of a module; of one of labapp's own its folder."""
    package, _, within = module.partition(".")
    return module.rpartition(".")[0] if within and __name__.startswith(f"{package}.") else package


def _functions(classes: Iterable[type]) -> Iterator[FunctionType]:
    for known in classes:
        for value in vars(known).values():
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if isfunction(function):
                yield function


def _find_used_values(function: FunctionType) -> Iterator[Any]:
    """The texts in a function, and what its names stand for in its module or in others there."""
    for code in _codes(function.__code__):
        yield from (value for value in code.co_consts if isinstance(value, str | tuple | frozenset))
        there = [
            function.__globals__[name] for name in code.co_names if name in function.__globals__
        ]
        yield from there
        for module in there:
            if isinstance(module, ModuleType):
                yield from (vars(module)[name] for name in code.co_names if name in vars(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def not_planned(event: Event, what: str) -> RecordError:
    """The error for an event of something that the plan does not have; what: it says of it."""
    return RecordError(
        f"Event {event.seq} of this session {what}, which its plan does not have.",
        safe="The session is untouched.",
        todo="Check it with `labapp sessions verify`, and leave it out until it is repaired.",
    )


def older_ways(task_type: TaskType[Any]) -> Iterator[str]:
    """What a package's task still does in a way that the next version will not support, each with
    what to change."""
    records = records_class(task_type)
    for name in ("trial_row", "stage_row", "own_rows", "participant_row"):
        if records is not None and getattr(records, name) is not getattr(TaskRecords, name):
            yield (
                f"`{records.__name__}.{name}` fills columns: let each column say where its cells "
                "come from (`labapp.analysis.column.of`)"
            )
    if task_type.kept_text:
        yield "`kept_text`: annotate those fields with `labapp.record.events.registry.Word`"
    if any(discovery.load(where).trial_columns is not None for where in task_type.bids):
        yield "`trial_columns`: say with `left_out` which columns a bundle does not have"


def key_of(event: Event) -> Key | None:
    """The attempt that an event is of; None if it is of none."""
    if event.part_id is None or event.trial is None or event.attempt is None:
        return None
    return event.part_id, event.trial, event.attempt


def records_class(task_type: TaskType[Any]) -> type[TaskRecords[Any, Any]] | None:
    """The records of a task type; None for one whose parts have no trials. Raises SetupError
    if they drop a kind of event that they claim."""
    return _load(task_type.records, task_type.told_elsewhere) if task_type.records else None


@cache
def _load(where: str, told_elsewhere: tuple[str, ...]) -> type[TaskRecords[Any, Any]]:
    loaded: type[TaskRecords[Any, Any]] = discovery.load(where)
    if dropped := never_handled(loaded) - {*told_elsewhere}:
        raise SetupError(
            f"No function of {where} handles {min(dropped)!r}, which its `kinds` names, so these "
            "events would be missing from all tables.",
            safe="Nothing was read or written.",
            todo="Add a `case` for it to `take`. If no table needs it, name it in the task type's "
            "`told_elsewhere`.",
        )
    return loaded


SHARED = frozenset(
    each.kind for each in (PartStarted, PartRestarted, PartEnded, PartSkipped, PartLeftOut)
)
"""Kinds of events that every part has, even if no table of a task needs them."""
VOCABULARY = "labapp.record.events."
"""Kinds that are defined here and that no task claims are of any part."""


@dataclass(frozen=True)
class Parts:
    """The parts of a plan by their ids, in the plan's order."""

    planned: Mapping[str, PlannedPart]

    @classmethod
    def of(cls, plan: Sequence[Mapping[str, Any]]) -> Parts:
        """From the rows of `session.planned`.

        Raises RecordError for a row that does not fit, SessionError for a kind of part that nobody
        knows.
        """
        return cls({part.id: part for part in map(registry.read_part, plan)})

    @cached_property
    def with_trials(self) -> Mapping[str, TrialsPart]:
        """The stages and practices of every task."""
        return {part.id: part for part in with_trials(self.planned.values())}

    @cached_property
    def stages(self) -> Mapping[int, Sequence[TrialsPart]]:
        """The blocks of each stage, by its number."""
        return stages_of(self.planned.values())

    @cached_property
    def questionnaires(self) -> Mapping[str, Questionnaire]:
        """What those parts ask that are questionnaires."""
        asked = ((part.id, part.questionnaire()) for part in self.planned.values())
        return {part_id: known for part_id, known in asked if known is not None}

    def asked(self, instruments: Mapping[str, Instrument]) -> list[Instrument]:
        """The plan's questionnaires among these, each once."""
        names = dict.fromkeys(known.instrument for known in self.questionnaires.values())
        return [instruments[name] for name in names if name in instruments]


def walk(
    events: Iterable[tuple[Event, Payload]], parts: Parts
) -> tuple[TaskRecords[Any, Any], ...]:
    """What each task of a plan left in a session, in the order of the task types.

    Raises RecordError for an event that no task of its part knows.
    """
    tasks = []
    for task_type in registry.task_types():
        own = {
            part_id: part
            for part_id, part in parts.with_trials.items()
            if registry.task_type_of(part) is task_type
        }
        if own and (records := records_class(task_type)) is not None:
            tasks.append(records(own))
    follow(events, tasks, parts)
    return tuple(tasks)


def follow(
    events: Iterable[tuple[Event, Payload]], tasks: Sequence[TaskRecords[Any, Any]], parts: Parts
) -> None:
    """Hand every event to the records of its part."""
    claimed = _map_claims(registry.task_types())
    told = {kind for known in registry.task_types() for kind in known.told_elsewhere}
    of_session = {kind for task in tasks for kind in task.of_session}
    taking = {
        part_id: (task, _collect_kinds(type(task))) for task in tasks for part_id in task.parts
    }
    none: tuple[None, frozenset[str]] = (None, frozenset())
    pauses = Pauses()
    last_ns = 0
    for event, payload in events:
        kind = event.kind
        last_ns = event.t_ns
        task, kinds = taking.get(event.part_id, none) if event.part_id is not None else none
        if task is not None and kind in kinds:
            task.take(event, payload, pauses.working_ns(last_ns))
        elif kind in PAUSES:
            pauses = pauses.apply(event)
        elif kind in of_session and event.part_id is None:
            for other in tasks:
                if kind in other.of_session:
                    other.take_of_session(payload)
        elif kind not in SHARED and (
            kind in claimed or not type(payload).__module__.startswith(VOCABULARY)
        ):
            elsewhere = kind in told and not payload.of_trial
            _check(event, parts, claimed.get(kind, frozenset()), elsewhere)
    for task in tasks:
        task.end(pauses.working_ns(last_ns))


@lru_cache(maxsize=64)
def _collect_kinds(records: type[TaskRecords[Any, Any]]) -> frozenset[str]:
    decisions = {LevelChosen.kind, TrackEnded.kind}
    return records.kinds | {records.begins, PartRestarted.kind, TrialEnded.kind} | decisions


@lru_cache(maxsize=4)
def _map_claims(task_types: tuple[TaskType[Any], ...]) -> Mapping[str, frozenset[str]]:
    """By kind of event, the names of the task types that it is of."""
    claimed: dict[str, set[str]] = {}
    for task_type in task_types:
        records = records_class(task_type)
        kinds = set(task_type.told_elsewhere)
        if records is not None:
            kinds |= _collect_kinds(records)
        for kind in kinds - SHARED:
            claimed.setdefault(kind, set()).add(task_type.name)
    return {kind: frozenset(names) for kind, names in claimed.items()}


def _check(event: Event, parts: Parts, names: frozenset[str], told: bool) -> None:
    """Raise RecordError unless the event belongs to the task of its part or is handled elsewhere.

    names: of the task types that such an event is of; told: tables of all tasks tell of it, in
    whatever part it stands.
    """
    part = parts.planned.get(event.part_id or "")
    if part is not None:
        task = registry.task_type_of(part).name
        if told or task in names:
            return
        where = f"in the part {event.part_id!r}, whose task {task!r} knows no such events"
    elif event.part_id is not None:
        where = f"in the part {event.part_id!r}, which the plan does not have"
    else:
        where = "in no part"
    raise RecordError(
        f"Event {event.seq} of this session ({event.kind}) was recorded {where}, so it would be "
        "missing from all tables.",
        safe="The session is untouched, and nothing was left out silently.",
        todo="Install the version of labapp, or of the package that brings the task, with which "
        "the session was recorded.",
    )
