"""What the bundle knows of each task: its part of the plan, its files and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.analysis.judging.parts import PART as JUDGING_PART
from labapp.analysis.judging.parts import WARM_UP, WARM_UP_PART
from labapp.analysis.unmasking.parts import PART as UNMASKING_PART
from labapp.bundle.codebook import (
    ANNOTATION_COLUMNS,
    JUDGEMENT_COLUMNS,
    SINGLE_TRIAL_COLUMNS,
    TRIAL_COLUMNS,
)
from labapp.bundle.task_timeline import (
    JUDGING_COLUMNS,
    JUDGING_KIND_TYPES,
    KIND_TYPES,
    SINGLE_COLUMNS,
    SINGLE_KIND_TYPES,
    TASK_COLUMNS,
    UNMASKING_COLUMNS,
)
from labapp.bundle.tsv import Column
from labapp.bundle.unmasking import UNMASKING_KIND_TYPES
from labapp.records.record import Record
from labapp.tasks.judging.events import PhotoDrawn, PhotoShown
from labapp.tasks.reconstruction.events import TrialDrawn, TrialStarted
from labapp.tasks.single_dimension.events import QuestionDrawn, QuestionShown
from labapp.tasks.unmasking.events import StimulusDrawn, StimulusShown

_PAPER = (
    "(Ross, Chen, Hang, Glassman and Doshi-Velez, Evaluating the Interpretability of Generative "
    "Models by Interactive Reconstruction, 2021)."
)
_HIVE = (
    "(Kim, Meister, Ramaswamy, Fong and Russakovsky, HIVE: Evaluating the Human Interpretability "
    "of Visual Explanations, 2022)."
)
_PSYCHOPHYSICS = (
    "(Biessmann and Refiano, A psychophysics approach for quantitative comparison of interpretable "
    "computer vision models, 2019)."
)


@dataclass(frozen=True)
class TaskFiles:
    """part: its kind in the plan; name, label: of the task, and as BIDS writes it in file names;
    drawn, shown: kinds of the events that make a question; kinds: type of row by kind of event;
    table: the analysis' table that _beh.tsv is taken from."""

    part: str
    name: str
    label: str
    description: str
    trial_columns: tuple[Column, ...]
    event_columns: tuple[Column, ...]
    kinds: Mapping[str, str]
    drawn: str
    shown: str
    table: str = "trials"

    def models(self, record: Record) -> dict[str, str]:
        """Id of the representation by id of the stage, of this task's stages of a session."""
        rows: tuple[Mapping[str, Any], ...] = record.planned.plan
        return {row["id"]: _model(row) for row in rows if row["part"] == self.part}


def _model(row: Mapping[str, Any]) -> str:
    """What a stage is about: the representation, or what is explained."""
    if "model" in row:
        return str(row["model"])
    explained = row.get("explained") or row.get("unmasked")
    return str(explained["classifier"] or explained["stimuli"]) if explained else WARM_UP


RECONSTRUCTION = TaskFiles(
    part="reconstruction",
    name="reconstruction",
    label="reconstruction",
    description="Interactive reconstruction: the participant moves the dials of a representation "
    f"until its picture is aligned with a target picture {_PAPER}",
    trial_columns=TRIAL_COLUMNS,
    event_columns=TASK_COLUMNS,
    kinds=KIND_TYPES,
    drawn=TrialDrawn.kind,
    shown=TrialStarted.kind,
)
SINGLE_DIMENSION = TaskFiles(
    part="single_dimension",
    name="single-dimension",
    label="singledimension",
    description="Single-dimension task: the participant says how one dial of a representation is "
    f"set in a picture, beside traversals or exemplars of that dial {_PAPER}",
    trial_columns=SINGLE_TRIAL_COLUMNS,
    event_columns=SINGLE_COLUMNS,
    kinds=SINGLE_KIND_TYPES,
    drawn=QuestionDrawn.kind,
    shown=QuestionShown.kind,
)
_JUDGED: dict[str, Any] = {
    "trial_columns": JUDGEMENT_COLUMNS,
    "event_columns": JUDGING_COLUMNS,
    "kinds": JUDGING_KIND_TYPES,
    "drawn": PhotoDrawn.kind,
    "shown": PhotoShown.kind,
    "table": "judgements",
}
JUDGING = TaskFiles(
    part=JUDGING_PART,
    name="judging explanations",
    label="judging",
    description="The participant judges explanations of a classifier's predictions: which class it "
    f"predicts, which is correct, whether it is right, how similar its prototypes are {_HIVE}",
    **_JUDGED,
)
WARMING_UP = TaskFiles(
    part=WARM_UP_PART,
    name="warm-up with a decision tree",
    label="warmup",
    description="Exercises before explanations are judged: is the prediction of a small decision "
    f"tree right, and what is the first mistake about {_HIVE}",
    **_JUDGED,
)
UNMASKING = TaskFiles(
    part=UNMASKING_PART,
    name="unmasking",
    label="unmasking",
    description="The participant says which class a picture shows of which only the pixels that an "
    "explanation of a classifier's prediction ranks highest are to be seen, more and more of them "
    f"{_PSYCHOPHYSICS}",
    trial_columns=ANNOTATION_COLUMNS,
    event_columns=UNMASKING_COLUMNS,
    kinds=UNMASKING_KIND_TYPES,
    drawn=StimulusDrawn.kind,
    shown=StimulusShown.kind,
    table="annotations",
)
TASKS = (RECONSTRUCTION, SINGLE_DIMENSION, JUDGING, WARMING_UP, UNMASKING)


def tasks_of(record: Record) -> list[TaskFiles]:
    """The tasks of a session's plan."""
    return [task for task in TASKS if task.models(record)]
