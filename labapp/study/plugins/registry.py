"""The task types: those that are shipped, and those that installed packages bring.

A study, a plan or a journal is read with all of them; nothing of this is asked for by commands that
read none.

A task as one thing: `TaskType` says everything that labapp knows of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import ValidationError

from labapp.base import discovery
from labapp.base.discovery import Catalogue, load
from labapp.base.errors import BundleError, RecordError, SessionError
from labapp.record.events import registry as kinds
from labapp.record.events.registry import kept_fields
from labapp.study.plugins.bids import ADAPTIVE, CourseRow, TaskFiles
from labapp.study.plugins.item import Item, TaskStages
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures, PictureContext
from labapp.study.plugins.simulated import Actor, SimulatedParticipant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labapp.models.representations.decoding import Decoder
    from labapp.record.events.lifecycle import SessionPlanned
    from labapp.study.conditions import Scope
    from labapp.study.loading import LoadedStudy
    from labapp.study.planner import Planner


P = TypeVar("P", bound=PlannedPart)

Values = dict[str, str]
"""The values for texts, by their name in braces."""
Words = Callable[..., str]
"""The words of the participant's window: a key, and the values for its names in braces."""


@dataclass(frozen=True)
class TaskTest:
    """A test that a study can declare as a hypothesis, and its report carries out.

    Attributes
    ----------
    measure : what is measured, for a registration.
    method : how it is tested, in sentences.
    """

    measure: str
    method: str


@dataclass(frozen=True)
class MachineContext:
    """What a part's machine may know besides the part.

    Attributes
    ----------
    loaded : the study with its texts and instruments.
    planned : study, participant and seed of the session.
    decoders : by model id; empty if nobody decodes (replay, analysis).
    """

    loaded: LoadedStudy
    planned: SessionPlanned
    decoders: Mapping[str, Decoder]

    def latents(self, model: str) -> NDArray[np.float32] | None:
        """The held-out sample of a model, shape (rows, dimensions); None if nobody decodes."""
        decoder = self.decoders.get(model)
        return None if decoder is None else decoder.latents

    def pages(self, document: str) -> int:
        """How many pages a text of the study has."""
        from labapp.study.plugins import texts

        return len(texts.pages(self.loaded.text(document)))


class TaskType(ABC, Generic[P]):
    """One task, or another kind of part such as a questionnaire; P is the type of its parts.

    An instance is found by its entry point (group `labapp.tasks`) or, if shipped, by the table in
    `labapp.study.plugins.registry`. Whatever takes long to import is imported inside the methods.
    """

    name: ClassVar[str]
    """What the task is called in study files, tables and file names."""
    parts: ClassVar[tuple[type[PlannedPart], ...]]
    """The classes of its planned parts."""
    screens: ClassVar[str | Mapping[type[PlannedPart], str]] = ""
    """Where the participant's screen of its parts is, as `module:Class`, or of each class of parts;
    the screen's class is called with a view of the session (`labapp.ui.participant.view`) and the
    part. `screen` may choose it by more than the class."""
    actors: ClassVar[str | Mapping[type[PlannedPart], str]] = ""
    """Likewise the `labapp.study.plugins.simulated.Actor` by which a simulated participant goes
    through a part; empty if it cannot be simulated."""
    items: ClassVar[tuple[type[Item], ...]] = ()
    """The classes of its items in a study's flow."""
    stages: ClassVar[tuple[type[TaskStages], ...]] = ()
    """The classes of what a study may say of its stages, each with a Literal `task` of its own."""
    strategies: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The strategies that simulated participants can have in it, by name, each with how they go
    about it; `simulate` gets the name. Empty if all of them do the same."""

    words: ClassVar[str] = ""
    """Name of the file with the words of its screens, with `{language}` in it, such as
    `texts/{language}/my-task.yaml`; empty if those of `participant.yaml` are enough. It is found
    like any text of a study: beside the study, then in labapp's `assets`, then in the folder
    `assets` beside the module that the package's entry point names."""
    own_words: ClassVar[tuple[str, ...]] = ()
    """The words of `participant.yaml` that studies without it do not show: keys, or beginnings of
    keys with `*` behind them. A word that no task names is shown in any study."""
    moderator: ClassVar[str] = ""
    """Where the words of the moderator's windows for its parts are, as `module:Class` of a
    `labapp.ui.moderator.wording.PartWords`; empty for those that fit any part."""
    shown: ClassVar[tuple[str, ...]] = ()
    """The kinds of events with which a trial of it comes onto the screen."""
    bids: ClassVar[tuple[str, ...]] = ()
    """Where the files are that a bundle has of its trials, each as `module:OBJECT` of a
    `labapp.study.plugins.bids.TaskFiles`. Without them no session with its trials can be
    exported."""
    course: ClassVar[str] = ""
    """Where the rows are that its events outside of trials have in a bundle's timeline of the
    session, as `module:OBJECT` of several `labapp.study.plugins.bids.CourseRow`; empty for none."""
    kept_text: ClassVar[str] = ""
    """Where it says which texts of its events a de-identified copy keeps, as `module:OBJECT` of the
    names of fields by kind of event. For packages written for 0.1.
    In new events, annotate the fields with `labapp.record.events.registry.Word`."""
    mixture: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """Usual shares of its strategies, by name, adding up to 1; empty for those of
    `labapp.session.simulation.strategies`."""
    codebook: ClassVar[str] = "think-aloud"
    """The shipped codebook with the codes of what simulated participants say in it."""
    blinds: ClassVar[bool] = False
    """Whether moderators are blind in a study with it unless they say otherwise: what they know of
    its models could guide the participant."""
    asks_again: ClassVar[bool] = False
    """Whether a question of its trials can be asked again after the computer stood still, see
    `PartMachine.asked_again`."""
    instructs: ClassVar[tuple[str, ...]] = ()
    """The kinds of its parts whose texts say what is to be done."""
    scored: ClassVar[tuple[str, ...]] = ()
    """The kinds of events that `score` is asked about."""

    records: ClassVar[str] = ""
    """Where the records of its parts are, which give the rows of tables, as `module:Class` of a
    `labapp.analysis.task_records.TaskRecords`; empty for parts without trials."""
    report: ClassVar[str] = ""
    """Where it is what the report has of it, as `module:OBJECT` of a
    `labapp.analysis.task_report.TaskReport`; loaded when a report is written. Without one the
    report counts its trials and gives mean, sd, median and n of the numbers in its tables."""
    told_elsewhere: ClassVar[tuple[str, ...]] = ()
    """The kinds of its events that its records do not handle: the tables of all tasks (answers,
    notes, participants) tell of them, or none needs them. Any other kind that no records take is an
    error in an analysis, and one in their `kinds` that they do not handle as they are loaded."""

    tests: ClassVar[Mapping[str, TaskTest]] = MappingProxyType({})
    """The tests by which studies may declare hypotheses (`test` of a hypothesis), by name."""

    def shows_word(self, item: Any, key: str) -> bool:
        """Whether an item of a flow can lead to a screen with this one of `own_words`.

        item : one of `items`, or of `stages`.
        """
        return True

    def score(self, payload: Any) -> Mapping[str, Any] | None:
        """The result of an event's trial, under names chosen by the task, which are passed to
        `achieved`; None for nothing."""
        return None

    def results(self, item: Any) -> frozenset[str]:
        """What conditions of later items can name of an item, of `labapp.study.results`; nothing
        if no answer is right.

        item : one of `items`, or of `stages`.
        """
        return frozenset()

    achieves: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What `achieved` can add to, by name, each in words for tables and bundles."""

    def achieved(
        self, part: P, trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, Fraction | int]:
        """What a part adds to a participant's achievements (`labapp.study.inclusion.Achieved`).
        trials: the results of trials that have an outcome, by number.
        """
        return {}

    @abstractmethod
    def plan(self, item: Any, scope: Scope, place: int, planner: Planner) -> Iterator[PlannedPart]:
        """The parts that an item of the flow leads to for one participant.

        Parameters
        ----------
        item : Item or TaskStages
            One of `items`, or of `stages`.
        scope : variables of the study's assignment, as they are for this participant.
        place : where the item is in the participant's flow, from 0.
        planner : who it is for, and what is shared by all parts: ids, texts, questionnaires.
        """

    def values_around(self, stages: Any, scope: Scope, place: int, planner: Planner) -> Values:
        """Values that texts and questionnaires near stages can use in braces."""
        return {}

    @abstractmethod
    def machine(self, part: P, index: int, context: MachineContext) -> PartMachine[Any]:
        """The state machine of a part; index: its place in the plan, from 0."""

    def screen(self, part: P) -> str:
        """Where the participant's screen of a part is, as `module:Class`. Raises LookupError if
        the task names none."""
        if where := _of_part(self.screens, part):
            return where
        raise LookupError(f"the task type {self.name!r} names no screen for {type(part).__name__}")

    def pictures(self, part: P, context: PictureContext) -> PartPictures[Any]:
        """The pictures of a part while it runs; none unless the task has its own."""
        return PartPictures(part, context)

    def simulate(self, part: P, participant: SimulatedParticipant) -> Actor[Any] | None:
        """How a simulated participant goes through a part; None if that cannot be simulated,
        which ends a simulation with an error that says so."""
        where = _of_part(self.actors, part)
        actor: Actor[Any] | None = load(where)(part, participant) if where else None
        return actor

    def summary(self, part: P) -> str:
        """What a part consists of, for `labapp studies show`; empty for nothing more."""
        return ""

    def rules(self, part: P) -> str:
        """The rules for the trials of a part, for a registration: what counts as solved, what can
        be skipped and when, and what ends it. By default, the summary of the part."""
        return self.summary(part)

    def line(self, part: P) -> str:
        """A part in the list of `labapp studies show`."""
        summary = self.summary(part)
        return f"{part.title}: {summary}" if summary else part.title

    def values(self, part: P, result: Any, words: Words) -> dict[str, str]:
        """Values about the outcome of a part that later texts can use in braces.

        result: what its machine's `result` gave. Empty if there is nothing to say.
        """
        return {}

    fills_in: ClassVar[tuple[str, ...]] = ()
    """Names in braces that its screens fill in in the texts of its parts, besides those that the
    part holds."""
    value_names: ClassVar[tuple[str, ...]] = ()
    """The names in `values`, which stand for nothing before the part was done."""
    placeholders: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What each name stands for that its texts, or those around its stages, can say in braces: of
    `values_around`, of the values of its parts, of `fills_in` and of `value_names`. The reference
    of the documentation shows it."""


def _of_part(named: str | Mapping[type[PlannedPart], str], part: PlannedPart) -> str:
    return named if isinstance(named, str) else named.get(type(part), "")


def _load_shipped() -> Iterator[TaskType[Any]]:
    return (load(f"labapp.tasks.{name}.task:TASK") for name in discovery.TASKS)


def _explain_conflict(task_type: TaskType[Any], others: Sequence[TaskType[Any]]) -> str:
    """Why a task cannot be used beside others; empty if it can."""
    taken = {kind for known in others for kind in _kinds(known)}
    kinds = sorted(kind for kind in _kinds(task_type) if kind in taken)
    if kinds:
        return f"parts of the kind {kinds[0]!r} already exist"
    for key, values in _list_keys(task_type):
        for known, theirs in (told for other in others for told in _list_keys(other)):
            both = sorted(values & theirs)
            if key == known and (both or not values or not theirs):
                what = f"{key}: {both[0]}" if both else key
                return f"studies can say {what!r} already"
    return ""


def _list_keys(task_type: TaskType[Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """By which key, and which values of it, a study file names the items and stages of a task; no
    values where any can stand there."""
    for stages in task_type.stages:
        yield "task", frozenset(get_args(stages.model_fields["task"].annotation))
    for item in task_type.items:
        fields = {field.alias or name: field for name, field in item.model_fields.items()}
        allowed = fields[item.key].annotation
        literal = get_origin(allowed) is Literal
        yield item.key, frozenset(map(str, get_args(allowed))) if literal else frozenset()


TASKS: Catalogue[TaskType[Any]] = Catalogue(
    discovery.TASK_GROUP, "a task", TaskType, _load_shipped, _explain_conflict
)


@cache
def task_types() -> tuple[TaskType[Any], ...]:
    """Every task type, the shipped ones first. A package whose task type cannot be used is left
    out; `labapp plugins list` says why."""
    return tuple(TASKS.values())


def _kinds(task_type: TaskType[Any]) -> list[str]:
    """The kinds of the parts of a task."""
    return [kind for part in task_type.parts for kind in kinds_of(part)]


def item_classes() -> tuple[type[Item], ...]:
    """The classes of the items of a flow, except stages and `each`."""
    return tuple(item for task_type in task_types() for item in task_type.items)


def stages_classes() -> tuple[type[TaskStages], ...]:
    """The classes of what a study file may say of stages."""
    return tuple(stages for task_type in task_types() for stages in task_type.stages)


@cache
def _by_class() -> dict[type, TaskType[Any]]:
    return {
        known: task_type
        for task_type in task_types()
        for known in (*task_type.items, *task_type.stages)
    }


def task_type_of_item(item: Item) -> TaskType[Any]:
    """The task type to which an item of a flow belongs."""
    return _by_class()[type(item.task_stages() or item)]


def value_names() -> tuple[str, ...]:
    """The names of all values that texts can use about the outcomes of earlier parts."""
    return tuple(name for known in task_types() for name in known.value_names)


def kinds_of(part: type[PlannedPart]) -> tuple[str, ...]:
    """The kinds (values of `part`) that a class of parts stands for."""
    return get_args(part.model_fields["part"].annotation)


@cache
def _by_kind() -> dict[str, tuple[TaskType[Any], type[PlannedPart]]]:
    return {
        kind: (task_type, part)
        for task_type in task_types()
        for part in task_type.parts
        for kind in kinds_of(part)
    }


def part_kinds() -> tuple[str, ...]:
    """Every kind of part that is known."""
    return tuple(_by_kind())


def knows(kind: str) -> bool:
    """Whether labapp or an installed package has parts of a kind."""
    return kind in _by_kind()


def part_class(kind: str) -> type[PlannedPart]:
    """The class of the parts of a kind. Raises SessionError for one that nobody knows."""
    return _of_kind(kind)[1]


def read_part(row: Mapping[str, Any]) -> PlannedPart:
    """A part from its row in the plan of a session, of whatever version.

    Raises SessionError for a kind that nobody knows, RecordError if the row does not fit.
    """
    known = part_class(str(row.get("part")))
    try:
        return known.model_validate(known.migrated(row))
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        where = ".".join(map(str, (row.get("id"), *first["loc"])))
        more = f", and {len(others)} more" if others else ""
        raise RecordError(
            f"The plan of this session cannot be read: {where}: "
            f"{first['msg'].removeprefix('Value error, ').removesuffix('.')}{more}.",
            safe="The session is untouched.",
            todo="Open the session with the version of labapp that recorded it and with the "
            "same packages.",
        ) from error


def read_known_parts(plan: Sequence[Mapping[str, Any]]) -> tuple[PlannedPart, ...]:
    """The parts of a plan whose kinds are known, for checks beside the one that names the others.
    Raises RecordError if a row does not fit."""
    return tuple(read_part(row) for row in plan if knows(str(row.get("part"))))


def task_type_of(part: PlannedPart) -> TaskType[Any]:
    """The task type to which a part belongs. Raises SessionError if nobody knows its kind."""
    return _of_kind(part.part)[0]


def task_type_of_kind(kind: str) -> TaskType[Any]:
    """The task type whose parts have a kind. Raises SessionError for one that nobody knows."""
    return _of_kind(kind)[0]


@cache
def shown_kinds() -> frozenset[str]:
    """The kinds of events with which a trial comes onto the screen."""
    return frozenset(kind for known in task_types() for kind in known.shown)


@cache
def task_files() -> tuple[TaskFiles, ...]:
    """What a bundle has of the tasks. Raises BundleError if a package's cannot be loaded, or two
    would write the same files."""
    known: dict[str, tuple[TaskFiles, str]] = {}
    for task_type in task_types():
        for where in task_type.bids:
            files = _load_hook(task_type, where)
            if files.label in known:
                raise BundleError(
                    f"The task types {known[files.label][1]!r} and {task_type.name!r} both use "
                    f"task-{files.label} in the names of their BIDS files.",
                    todo="Uninstall the package of one of them, or ask its authors to rename its "
                    "files.",
                )
            known[files.label] = (files, task_type.name)
    return tuple(files for files, _ in known.values())


@cache
def course_rows() -> dict[str, CourseRow]:
    """The tasks' rows in a bundle's timeline of the session, by kind of event. Raises BundleError
    if a package's cannot be loaded."""
    rows = (
        row for known in task_types() if known.course for row in _load_hook(known, known.course)
    )
    return {row.kind: row for row in (*rows, *ADAPTIVE)}


@cache
def collect_kept_text() -> dict[str, frozenset[str]]:
    """The fields whose text a de-identified copy keeps, by kind of event: declared by the events,
    or separately by tasks of packages. Raises BundleError if a package's cannot be loaded."""
    fields = {name: kept_fields(payload) for name, payload in kinds.registered_kinds().items()}
    for known in task_types():
        for kind, names in _load_hook(known, known.kept_text).items() if known.kept_text else ():
            fields[kind] = fields.get(kind, frozenset()) | frozenset(names)
    return fields


def _load_hook(task_type: TaskType[Any], where: str) -> Any:
    try:
        return load(where)
    except Exception as error:
        raise BundleError(
            f"The BIDS files of the task type {task_type.name!r} cannot be loaded from {where}: "
            f"{type(error).__name__}: {error}.",
            todo="Install a version of its package that works with this version of labapp.",
        ) from error


@cache
def instructing() -> frozenset[str]:
    """The kinds of parts whose texts are instructions."""
    return frozenset(kind for known in task_types() for kind in known.instructs)


@cache
def achievements() -> dict[str, str]:
    """What participants can achieve, by name, each in words."""
    return {name: words for known in task_types() for name, words in known.achieves.items()}


@cache
def list_score_readers() -> dict[str, Callable[[Any], Mapping[str, Any] | None]]:
    """By kind of event, the function that reads the result of a trial from it."""
    return {kind: known.score for known in task_types() for kind in known.scored}


def _of_kind(kind: str) -> tuple[TaskType[Any], type[PlannedPart]]:
    try:
        return _by_kind()[kind]
    except KeyError as error:
        raise SessionError(
            f"Parts of the kind {kind!r} are unknown to labapp and to the installed packages.",
            safe="What was recorded is untouched.",
            todo="Install the package that adds this kind, or open the session with the "
            "version of labapp that recorded it.",
        ) from error
