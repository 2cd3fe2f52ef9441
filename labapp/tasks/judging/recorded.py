"""What the analysis needs of the parts of a plan that judge explanations, and of their photos.

Read from the rows of the session's first event like the other parts (`labapp.analysis.parts`). A
warm-up is such a part too: its exercises are photos without rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from labapp.tasks.judging.plan import Exercise

PART, WARM_UP_PART = "judging", "warm_up"
WARM_UP = "warm-up"
"""The task of a warm-up in the tables."""
TASKS = (
    "heatmap-distinction",
    "prototype-distinction",
    "prototype-agreement",
    "path-distinction",
    "path-agreement",
    "path-first-step",
)
"""The tasks of stages."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row as planned. similarity, rank and present: the model's; of: class of the prototype."""

    prototype: str
    of: str | None
    similarity: float | None
    rank: int | None
    present: bool | None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> JudgedRow:
        similarity, rank = row.get("similarity"), row.get("rank")
        return cls(
            prototype=str(row["prototype"]),
            of=row.get("of"),
            similarity=None if similarity is None else float(similarity),
            rank=None if rank is None else int(rank),
            present=row.get("present"),
        )


@dataclass(frozen=True, slots=True)
class JudgedPhoto:
    """A photo as planned. classes: of the four ends of the last two steps of a tree, absent-absent
    first; first_wrong: from 1; steps: how many were shown as decided. Of an exercise: which of the
    attributes to choose from is the first mistake, and how many these are."""

    id: str
    picture: str
    truth: str
    prediction: str
    options: tuple[str, ...] = ()
    rows: tuple[JudgedRow, ...] = ()
    classes: tuple[str, ...] = ()
    first_wrong: int | None = None
    steps: int | None = None
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.truth == self.prediction


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A stage that judges explanations, or a warm-up (role practice).

    model: id of the classifier, else of the stimulus set; accuracy: in percent, as the participant
    was told; set: 0 in a warm-up. photos: by their ids.
    """

    id: str
    role: str
    number: int
    task: str
    model: str
    method: str
    labels: bool
    invented: bool
    accuracy: float | None
    set: int
    photos: Mapping[str, JudgedPhoto]

    @property
    def trials(self) -> int:
        """Photos planned."""
        return len(self.photos)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> JudgedPart:
        """From a row of the plan. Raises KeyError, ValueError or TypeError."""
        if row["part"] == WARM_UP_PART:
            return _warm_up(row)
        explained = row["explained"]
        path = explained["kind"] == "path"
        photos = [_photo(photo, path) for photo in row["photos"]]
        return cls(
            id=str(row["id"]),
            role=str(row["role"]),
            number=int(row["number"]),
            task=str(row["task"]),
            model=str(explained["classifier"] or explained["stimuli"]),
            method=str(explained["method"]),
            labels=bool(row["labels"]),
            invented=bool(explained["invented"]),
            accuracy=float(explained["accuracy"]),
            set=int(row["set"]),
            photos={photo.id: photo for photo in photos},
        )


def _photo(row: Mapping[str, Any], path: bool) -> JudgedPhoto:
    final, wrong = row.get("final"), row.get("first_wrong")
    return JudgedPhoto(
        id=str(row["id"]),
        picture=str(row["photo"]),
        truth=str(row["truth"]),
        prediction=str(row["prediction"]),
        options=tuple(row["options"]),
        rows=tuple(JudgedRow.read(one) for one in row["rows"]),
        classes=() if final is None else tuple(final["classes"]),
        first_wrong=None if wrong is None else int(wrong),
        steps=len(row["rows"]) if path else None,
        facts=dict(row.get("facts", {})),
    )


def _warm_up(row: Mapping[str, Any]) -> JudgedPart:
    exercises = [
        JudgedPhoto(
            id=one.id,
            picture=one.picture,
            truth=one.truth,
            prediction=one.prediction,
            first_wrong=None if one.first_wrong is None else one.mistake,
            steps=len(one.asked),
        )
        for one in map(Exercise.model_validate, row["exercises"])
    ]
    return JudgedPart(
        id=str(row["id"]),
        role="practice",
        number=1,
        task=WARM_UP,
        model=WARM_UP,
        method="decision tree",
        labels=False,
        invented=False,
        accuracy=None,
        set=0,
        photos={one.id: one for one in exercises},
    )
