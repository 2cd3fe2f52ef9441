"""What the analysis needs of a plan: the stages and practices of every task, and questionnaires.

Read from the rows of the session's first event, so that a later change of the study schema cannot
make an old session unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labapp.analysis.task_records import RecordedPart, records_class
from labapp.errors import RecordError
from labapp.plugins import registry
from labapp.plugins.task_type import TaskType
from labapp.study.parts import QuestionnairePart as PlannedQuestionnaire


@dataclass(frozen=True, slots=True)
class QuestionnairePart:
    """about: the id of the stage it asks about, None for the whole session. scoring: name of the
    scoring function; a plan that says nothing of scoring is older, and its one instrument with a
    score was named like its function."""

    id: str
    instrument: str
    about: str | None
    scoring: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> QuestionnairePart:
        """From a row of the plan. Raises KeyError."""
        return cls(
            str(row["id"]),
            str(row["instrument"]),
            None if row["about"] is None else str(row["about"]),
            row.get("scoring", row["instrument"]),
        )


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a plan by id, in the plan's order.

    represented: the stages and practices of every task; task_types: of every part.
    """

    represented: Mapping[str, RecordedPart]
    questionnaires: Mapping[str, QuestionnairePart]
    task_types: Mapping[str, TaskType[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Sequence[Mapping[str, Any]]) -> Parts:
        """From the rows of `session.planned`.

        Raises RecordError when a row lacks something; SessionError for a kind of part that nobody
        knows.
        """
        represented: dict[str, RecordedPart] = {}
        questionnaires: dict[str, QuestionnairePart] = {}
        task_types: dict[str, TaskType[Any]] = {}
        for index, row in enumerate(plan):
            try:
                kind, part_id = str(row["part"]), str(row["id"])
                task_types[part_id] = task_type = registry.task_type_of_kind(kind)
                records = records_class(task_type)
                part = None if records is None else records.part(row)
                if part is not None:
                    represented[part_id] = part
                if issubclass(registry.part_class(kind), PlannedQuestionnaire):
                    questionnaires[part_id] = QuestionnairePart.of(row)
            except (KeyError, ValueError, TypeError) as error:
                raise RecordError(
                    f"Part {index + 1} of this session's plan cannot be read: "
                    f"{type(error).__name__}: {error}.",
                    safe="The session is untouched.",
                    todo="Analyse it with the version of labapp that recorded it.",
                ) from error
        return cls(represented, questionnaires, task_types)
