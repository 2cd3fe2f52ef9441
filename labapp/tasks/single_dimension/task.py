"""The single-dimension task as a task type: its tutorial, practice and stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from labapp.session.simulation.names import TURNS_DIALS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import PartMachine, TextMachine, limit_words
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PictureContext
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.representations import stages_of_models
from labapp.study.results import list_results
from labapp.tasks.single_dimension import planner as planning
from labapp.tasks.single_dimension.events import AnswerGiven
from labapp.tasks.single_dimension.machine import ExamplePictures, SingleDimensionTask
from labapp.tasks.single_dimension.plan import ExamplePart, SingleDimensionPart
from labapp.tasks.single_dimension.planner import (
    SingleDimensionPractice,
    SingleDimensionStages,
    SingleDimensionTutorial,
)


class SingleDimension(TaskType[SingleDimensionPart | ExamplePart]):
    name = "single-dimension"
    own_words = (
        "single_*",
        "choice_*",
        "dial",
        "examples",
        "missing_*",
        "more_examples",
        "practice_feedback",
        "rate_*",
        "rating_*",
        "task_text_think_aloud",
        "this_picture",
    )
    parts = (ExamplePart, SingleDimensionPart)
    screens: ClassVar = {
        SingleDimensionPart: "labapp.tasks.single_dimension.screen:SingleDimensionScreen",
        ExamplePart: "labapp.tasks.single_dimension.screen:ExampleScreen",
    }
    actors: ClassVar = {
        SingleDimensionPart: "labapp.tasks.single_dimension.simulated:Matcher",
        ExamplePart: "labapp.study.plugins.simulated:Reader",
    }
    moderator = "labapp.tasks.single_dimension.moderator:SingleDimensionWords"
    asks_again = True
    shown = ("question.shown",)
    bids = ("labapp.tasks.single_dimension.bids:FILES",)
    instructs = ("example",)
    records = "labapp.tasks.single_dimension.records:SingleDimensionRecords"
    report = "labapp.tasks.single_dimension.report:REPORT"
    items = (SingleDimensionTutorial, SingleDimensionPractice)
    stages = (SingleDimensionStages,)
    strategies = TURNS_DIALS
    fills_in = ("dial",)
    placeholders = MappingProxyType(
        {
            "dial": "the name of the dial that the example is about",
            "trials": "how many questions the stage, or the practice, has",
            "times": "how many questions the stage asks about each dial",
            "feedback": (
                "a sentence that the right choice is shown after each answer; empty where it is not"
            ),
        }
    )

    scored = ("answer.given",)

    def results(
        self, item: SingleDimensionTutorial | SingleDimensionPractice | SingleDimensionStages
    ) -> frozenset[str]:
        if isinstance(item, SingleDimensionTutorial):
            return frozenset()
        return list_results(item.adaptive)

    def score(self, payload: AnswerGiven) -> Mapping[str, bool] | None:
        return {"correct": True} if payload.correct else None

    achieves = MappingProxyType(
        {
            "practice_asked": "single-dimension questions of the practice; empty without them",
            "practice_correct": "of these, answered correctly",
            "correct": "single-dimension questions answered correctly, practice not counted",
        }
    )

    def achieved(
        self, part: SingleDimensionPart | ExamplePart, trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, int]:
        if not isinstance(part, SingleDimensionPart):
            return {}
        if part.role == "stage":
            return {"correct": len(trials)}
        if part.adaptive is not None:  # who is right at the end answered wrongly before
            return {}
        return {"practice_asked": part.trials, "practice_correct": len(trials)}

    def plan(
        self,
        item: SingleDimensionTutorial | SingleDimensionPractice | SingleDimensionStages,
        scope: Scope,
        place: int,
        planner: Planner,
    ) -> Iterator[PlannedPart]:
        match item:
            case SingleDimensionTutorial():
                document = planner.text(item.texts()[0], scope)
                yield planning.tutorial(planner, planner.new_id("tutorial"), document, item)
            case SingleDimensionPractice():
                yield from planning.practice(planner, item, scope)
            case SingleDimensionStages():
                make = partial(planning.stage, planner, item)
                times = {"times": str(item.questions_per_dimension)}
                told = {} if times.keys() & item.unfilled else times
                yield from stages_of_models(item, scope, place, planner, make, lambda part: told)

    def machine(
        self, part: SingleDimensionPart | ExamplePart, index: int, context: MachineContext
    ) -> PartMachine[Any]:
        if isinstance(part, ExamplePart):
            return TextMachine(part, index, context.pages(part.document))
        decoder = context.decoders.get(part.model)
        return SingleDimensionTask(
            part,
            index,
            part.space,
            context.latents(part.model),
            {} if decoder is None else decoder.percentiles,
            context.planned.seed,
            context.planned.participant,
        )

    def pictures(
        self, part: SingleDimensionPart | ExamplePart, context: PictureContext
    ) -> ExamplePictures:
        return ExamplePictures(part, context)

    def summary(self, part: SingleDimensionPart | ExamplePart) -> str:
        if isinstance(part, ExamplePart):
            return ""
        what = "practice questions" if part.role == "practice" else "questions"
        asked = f"{part.trials} single-dimension {what}, {part.visualisation}"
        if part.adaptive is not None:
            asked = f"at most {asked} ({part.adaptive.words})"
        return f"{asked}{limit_words(part)}"


TASK = SingleDimension()
