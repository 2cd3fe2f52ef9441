"""What the analysis needs of a plan: the parts with questions and the questionnaires.

Read from the rows of the session's first event, so that a later change of the study schema cannot
make an old session unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labapp.analysis.judging.parts import PART as JUDGING
from labapp.analysis.judging.parts import WARM_UP_PART, JudgedPart
from labapp.analysis.single_dimension import PART as SINGLE
from labapp.analysis.single_dimension import SinglePart
from labapp.analysis.unmasking.parts import PART as UNMASKING
from labapp.analysis.unmasking.parts import UnmaskingPart
from labapp.errors import RecordError
from labapp.representations.space import Continuous, Discrete, LatentSpace

TASK = "reconstruction"
CALIBRATION = "calibration"
"""Reconstruction without a target, in which the participant marks: a task of its own in the tables,
for its questions are never solved and must not be pooled with others."""


@dataclass(frozen=True, slots=True)
class StagePart:
    """A stage (or the practice) of the reconstruction task.

    trials: questions planned; inactivity_s: seconds without activity after which active time
    pauses; target_alignment in 0..1, None in a calibration.
    """

    id: str
    role: str
    number: int
    model: str
    trials: int
    target_alignment: float | None
    inactivity_s: float
    space: LatentSpace

    @property
    def task(self) -> str:
        return CALIBRATION if self.target_alignment is None else TASK

    @property
    def discrete(self) -> frozenset[int]:
        """The discrete dimensions, counted from 0."""
        return frozenset(i for i, d in enumerate(self.space.dimensions) if isinstance(d, Discrete))

    def width(self, dimension: int) -> float | None:
        """Full width of a slider in its own unit; None for a discrete dimension."""
        found = self.space.dimensions[dimension]
        return found.high - found.low if isinstance(found, Continuous) else None


@dataclass(frozen=True, slots=True)
class QuestionnairePart:
    """about: the id of the stage it asks about, None for the whole session. scoring: name of the
    scoring function; a plan that says nothing of scoring is older, and its one instrument with a
    score was named like its function."""

    id: str
    instrument: str
    about: str | None
    scoring: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a plan by id, in the plan's order."""

    stages: Mapping[str, StagePart]
    questionnaires: Mapping[str, QuestionnairePart]
    singles: Mapping[str, SinglePart] = field(default_factory=dict)
    judged: Mapping[str, JudgedPart] = field(default_factory=dict)
    unmasked: Mapping[str, UnmaskingPart] = field(default_factory=dict)

    @property
    def represented(self) -> Mapping[str, StagePart | SinglePart | JudgedPart | UnmaskingPart]:
        """The stages and practices of every task that asks about a representation, or about the
        explanations of a classifier."""
        return {**self.stages, **self.singles, **self.judged, **self.unmasked}

    @classmethod
    def of(cls, plan: Sequence[Mapping[str, Any]]) -> Parts:
        """From the rows of `session.planned`. Raises RecordError when a row lacks something."""
        stages: dict[str, StagePart] = {}
        questionnaires: dict[str, QuestionnairePart] = {}
        singles: dict[str, SinglePart] = {}
        judged: dict[str, JudgedPart] = {}
        unmasked: dict[str, UnmaskingPart] = {}
        for index, row in enumerate(plan):
            try:
                if row["part"] == TASK:
                    stages[str(row["id"])] = _stage(row)
                elif row["part"] == SINGLE:
                    singles[str(row["id"])] = SinglePart.of(row)
                elif row["part"] in (JUDGING, WARM_UP_PART):
                    judged[str(row["id"])] = JudgedPart.of(row)
                elif row["part"] == UNMASKING:
                    unmasked[str(row["id"])] = UnmaskingPart.of(row)
                elif row["part"] == "questionnaire":
                    about = row["about"]
                    questionnaires[str(row["id"])] = QuestionnairePart(
                        str(row["id"]),
                        str(row["instrument"]),
                        None if about is None else str(about),
                        row.get("scoring", row["instrument"]),
                    )
            except (KeyError, ValueError, TypeError) as error:
                raise RecordError(
                    f"Part {index + 1} of this session's plan cannot be read: "
                    f"{type(error).__name__}: {error}.",
                    safe="The session is untouched.",
                    todo="Analyse it with the version of labapp that recorded it.",
                ) from error
        return cls(stages, questionnaires, singles, judged, unmasked)


def _stage(row: Mapping[str, Any]) -> StagePart:
    return StagePart(
        id=str(row["id"]),
        role=str(row["role"]),
        number=int(row["number"]),
        model=str(row["model"]),
        trials=int(row["trials"]),
        target_alignment=None if row.get("marks") else float(row["target_alignment"]),
        inactivity_s=float(row["inactivity_s"]),
        space=LatentSpace.from_json(row["dimensions"]),
    )
