"""The task types: those that are shipped, and those that installed packages bring.

A study, a plan or a journal is read with all of them; nothing of this is asked for by commands that
read none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from labapp.base import discovery
from labapp.base.discovery import Catalogue, load
from labapp.base.errors import BundleError, RecordError, SessionError
from labapp.record.events import registry as kinds
from labapp.record.events.registry import kept
from labapp.study.plugins.bids import CourseRow, TaskFiles
from labapp.study.plugins.item import Item, TaskStages
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.task_type import TaskType


def _shipped() -> Iterator[TaskType[Any]]:
    return (load(f"labapp.tasks.{name}.task:TASK") for name in discovery.TASKS)


def _taken(task_type: TaskType[Any], others: Sequence[TaskType[Any]]) -> str:
    """Why a task cannot be used beside others; empty where it can."""
    taken = {kind for known in others for kind in _kinds(known)}
    kinds = sorted(kind for kind in _kinds(task_type) if kind in taken)
    if kinds:
        return f"parts of the kind {kinds[0]!r} are there already"
    for key, values in _told_by(task_type):
        for known, theirs in (told for other in others for told in _told_by(other)):
            both = sorted(values & theirs)
            if key == known and (both or not values or not theirs):
                what = f"{key}: {both[0]}" if both else key
                return f"studies can say {what!r} already"
    return ""


def _told_by(task_type: TaskType[Any]) -> Iterator[tuple[str, frozenset[str]]]:
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
    discovery.TASK_GROUP, "a task", TaskType, _shipped, _taken
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
    """The classes of the items of a flow, but for stages and `each`."""
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
    """The task type that an item of a flow is of."""
    return _by_class()[type(item.task_stages() or item)]


def value_names() -> tuple[str, ...]:
    """The names of all that texts may say of how parts before them went."""
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


def planned_part(row: Mapping[str, Any]) -> PlannedPart:
    """A part from its row in the plan of a session, of whatever version.

    Raises SessionError for a kind that nobody knows, RecordError where the row does not fit.
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
            todo="Open it with the version of labapp that recorded it, and with its packages.",
        ) from error


def known_parts(plan: Sequence[Mapping[str, Any]]) -> tuple[PlannedPart, ...]:
    """The parts of a plan whose kinds are known, for checks beside the one that names the others.
    Raises RecordError where a row does not fit."""
    return tuple(planned_part(row) for row in plan if knows(str(row.get("part"))))


def task_type_of(part: PlannedPart) -> TaskType[Any]:
    """The task type that a part is of. Raises SessionError where nobody knows its kind."""
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
    """What a bundle has of the tasks. Raises BundleError where a package's cannot be loaded, or two
    would write the same files."""
    known: dict[str, tuple[TaskFiles, str]] = {}
    for task_type in task_types():
        for where in task_type.bids:
            files = _loaded(task_type, where)
            if files.label in known:
                raise BundleError(
                    f"The task types {known[files.label][1]!r} and {task_type.name!r} both call "
                    f"their BIDS files task-{files.label}.",
                    todo="Uninstall the package of one of them, or ask its authors to rename its "
                    "files.",
                )
            known[files.label] = (files, task_type.name)
    return tuple(files for files, _ in known.values())


@cache
def course_rows() -> dict[str, CourseRow]:
    """By kind of event what tasks have in a bundle's timeline of the session. Raises BundleError
    where a package's cannot be loaded."""
    rows = (row for known in task_types() if known.course for row in _loaded(known, known.course))
    return {row.kind: row for row in rows}


@cache
def kept_text() -> dict[str, frozenset[str]]:
    """By kind of event the fields whose text a de-identified copy keeps: as they declare, and as
    tasks of packages say apart from them. Raises BundleError where a package's cannot be loaded."""
    fields = {name: kept(payload) for name, payload in kinds.registered().items()}
    for known in task_types():
        for kind, names in _loaded(known, known.kept_text).items() if known.kept_text else ():
            fields[kind] = fields.get(kind, frozenset()) | frozenset(names)
    return fields


def _loaded(task_type: TaskType[Any], where: str) -> Any:
    try:
        return load(where)
    except Exception as error:
        raise BundleError(
            f"The BIDS files of the task type {task_type.name!r} cannot be loaded from {where}: "
            f"{type(error).__name__}: {error}.",
            todo="Install a version of its package that fits this labapp.",
        ) from error


@cache
def instructing() -> frozenset[str]:
    """The kinds of parts whose texts say what is to be done."""
    return frozenset(kind for known in task_types() for kind in known.instructs)


@cache
def achievements() -> dict[str, str]:
    """What participants can achieve, by name, each in words."""
    return {name: words for known in task_types() for name, words in known.achieves.items()}


@cache
def scored() -> dict[str, Callable[[Any], Mapping[str, Any] | None]]:
    """By kind of event, what it says that a trial came to."""
    return {kind: known.score for known in task_types() for kind in known.scored}


def _of_kind(kind: str) -> tuple[TaskType[Any], type[PlannedPart]]:
    try:
        return _by_kind()[kind]
    except KeyError as error:
        raise SessionError(
            f"Neither labapp nor an installed package knows parts of the kind {kind!r}.",
            safe="What was recorded is untouched.",
            todo="Install the package that brings it, or open the session with the version of "
            "labapp that made it.",
        ) from error
