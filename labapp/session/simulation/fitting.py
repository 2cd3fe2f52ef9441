"""Whether a strategy of simulated participants can do a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labapp.base.errors import UsageError
from labapp.coding.annotations.simulated import USUAL
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.strategies import SHARES, members
from labapp.study.flow import items_of_tasks
from labapp.study.plugins import registry
from labapp.study.plugins.registry import TaskType
from labapp.study.schema import Study


def check_fits(strategy: str, study: Study) -> None:
    """Refuse a strategy that cannot do a part of the study, or a mixture with such a one.

    Raises UsageError, also for a name that no task knows.
    """
    tasks = _tasks_with_strategies(study)
    able = _able(tasks)
    for member in members(strategy):
        if member not in every_strategy():
            raise _make_strategy_error(
                f"No task has a strategy {member!r} for simulated participants.", able
            )
        for task in tasks:
            if member not in task.strategies:
                raise _make_strategy_error(
                    f"A simulated participant with the strategy {member!r} cannot do the study "
                    f"{study.id!r}, because its task {task.name!r} does not have that strategy.",
                    able,
                )


def usual_strategy(study: Study) -> str:
    """The strategy of participants for whom none is named: the first of the first task's that the
    other tasks know, too. Raises UsageError if there is none."""
    tasks = _tasks_with_strategies(study)
    able = _able(tasks)
    usual = next(
        (
            name
            for task in tasks[:1] or registry.task_types()
            for name in task.strategies
            if name in able
        ),
        None,
    )
    if usual is None:
        raise _make_strategy_error(
            f"No simulated participant can do all tasks of the study {study.id!r}.", able
        )
    return usual


def _tasks_with_strategies(study: Study) -> list[TaskType[Any]]:
    tasks = dict.fromkeys(registry.task_type_of_item(item) for item in items_of_tasks(study.flow))
    return [task for task in tasks if task.strategies]


def _able(tasks: Sequence[TaskType[Any]]) -> list[str]:
    """The strategies that all these tasks know."""
    return [name for name in every_strategy() if all(name in task.strategies for task in tasks)]


def usual_shares(study: Study) -> Mapping[str, float]:
    """The usual shares of the strategies in a study: those of the first task that has some of its
    own, else `labapp.session.simulation.strategies.SHARES`."""
    tasks = (registry.task_type_of_item(item) for item in items_of_tasks(study.flow))
    return next((task.mixture for task in tasks if task.mixture), SHARES)


def codebooks_of_tasks(study: Study) -> tuple[str, ...]:
    """The shipped codebooks with the codes of what simulated participants say in a study."""
    tasks = (registry.task_type_of_item(item) for item in items_of_tasks(study.flow))
    return tuple(dict.fromkeys(task.codebook for task in tasks if task.strategies)) or (USUAL,)


def every_strategy() -> dict[str, str]:
    """How participants go about it, by the names of the strategies of all tasks; the shipped tasks'
    first."""
    tasks: tuple[TaskType[Any], ...] = registry.task_types()
    return {name: words for task in reversed(tasks) for name, words in task.strategies.items()}


def _make_strategy_error(what: str, able: list[str]) -> UsageError:
    offered = ", ".join(sorted(name for name in able if name != ORACLE))
    return UsageError(
        what,
        safe="No session was begun.",
        todo=f"Use one of these strategies: {offered or 'none'}.",
    )
