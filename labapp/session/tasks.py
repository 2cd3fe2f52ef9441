"""The state machine of a planned session: a task for each part of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labapp.events.lifecycle import SessionPlanned
from labapp.representations.space import LatentSpace
from labapp.session.decoding import Decoder
from labapp.session.machine import SessionMachine
from labapp.study import plan, texts
from labapp.study.judging import JudgingPart, MethodPart, WarmUpPart
from labapp.study.loading import LoadedStudy
from labapp.study.plan import (
    BreakPart,
    ConsentPart,
    InterviewPart,
    PagesPart,
    PlannedPart,
    QuestionnairePart,
    ReconstructionPart,
    TutorialPart,
)
from labapp.study.single_dimension import ExamplePart, SingleDimensionPart
from labapp.study.unmasking import UnmaskingPart
from labapp.tasks.base import Task
from labapp.tasks.interview import InterviewTask
from labapp.tasks.judging.task import JudgingTask, WarmUpTask
from labapp.tasks.pages import ConsentTask, PagesTask
from labapp.tasks.questionnaire import QuestionnaireTask
from labapp.tasks.reconstruction.task import ReconstructionTask
from labapp.tasks.single_dimension.task import SingleDimensionTask
from labapp.tasks.unmasking.task import UnmaskingTask


def machine_of(
    loaded: LoadedStudy, planned: SessionPlanned, decoders: Mapping[str, Decoder]
) -> SessionMachine:
    """The state machine of a planned session."""
    parts = plan.parts_of(planned)
    tasks = [_task(loaded, planned, part, index, decoders) for index, part in enumerate(parts)]
    study = loaded.study
    return SessionMachine(
        parts,
        tasks,
        dict(study.flags),
        study.inclusion,
        study.incentive,
        restarts=study.when_interrupted == "restart_stage",
        takes_back=planned.presentation != "as_published",
    )


def _task(
    loaded: LoadedStudy,
    planned: SessionPlanned,
    part: PlannedPart,
    index: int,
    decoders: Mapping[str, Decoder],
) -> Task[Any]:
    match part:
        case ConsentPart():
            return ConsentTask(part, index)
        case PagesPart() | ExamplePart() | BreakPart() | MethodPart():
            return PagesTask(part, index, len(texts.pages(loaded.text(part.document))))
        case TutorialPart():
            return PagesTask(
                part,
                index,
                len(texts.pages(loaded.text(part.document))),
                tuple(LatentSpace.from_json(box.dimensions) for box in part.boxes),
            )
        case InterviewPart():
            return InterviewTask(part, index)
        case WarmUpPart():
            return WarmUpTask(part, index)
        case JudgingPart():
            return JudgingTask(part, index, planned.seed, planned.study, planned.participant)
        case UnmaskingPart():
            return UnmaskingTask(part, index)
        case QuestionnairePart():
            return QuestionnaireTask(part, index, loaded.instruments[part.instrument])
        case ReconstructionPart():
            return ReconstructionTask(
                part,
                index,
                LatentSpace.from_json(part.dimensions),
                decoders[part.model].latents if part.model in decoders else None,
                planned.seed,
                planned.participant,
            )
        case SingleDimensionPart():
            known = decoders.get(part.model)
            return SingleDimensionTask(
                part,
                index,
                LatentSpace.from_json(part.dimensions),
                known.latents if known else None,
                known.percentiles if known else {},
                planned.seed,
                planned.participant,
            )
