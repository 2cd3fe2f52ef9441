"""Counterfactual choice as one object, which the package's entry point names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from labapp.session.simulation.names import TURNS_DIALS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import limit_words
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PictureContext
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.plugins.simulated import Actor, SimulatedParticipant
from labapp.study.representations import stages_of_models
from labapp_counterfactual.events import CounterfactualAnswered
from labapp_counterfactual.machine import CounterfactualMachine
from labapp_counterfactual.pictures import ChoicePictures
from labapp_counterfactual.plan import CounterfactualPart, stage
from labapp_counterfactual.study import CounterfactualStages


class CounterfactualChoice(TaskType[CounterfactualPart]):
    name = "counterfactual-choice"
    own_words = ("this_picture",)
    parts = (CounterfactualPart,)
    stages = (CounterfactualStages,)
    strategies: ClassVar[Mapping[str, str]] = {
        **TURNS_DIALS,
        "forgetful": "remembers what the last answer showed, and nothing before it",
    }
    moderator = "labapp_counterfactual.moderator:CounterfactualWords"
    words = "texts/{language}/counterfactual-choice.yaml"
    asks_again = True
    shown = ("counterfactual.shown",)
    records = "labapp_counterfactual.records:CounterfactualRecords"
    report = "labapp_counterfactual.report:REPORT"
    bids = ("labapp_counterfactual.bids:FILES",)
    scored = ("counterfactual.answered",)

    def plan(
        self, item: CounterfactualStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PlannedPart]:
        make, settings = partial(stage, planner, item), {"candidates": str(item.candidates)}
        return stages_of_models(item, scope, place, planner, make, lambda part: settings)

    def machine(
        self, part: CounterfactualPart, index: int, context: MachineContext
    ) -> CounterfactualMachine:
        return CounterfactualMachine(
            part,
            index,
            part.space,
            context.latents(part.model),
            context.planned.seed,
            context.planned.participant,
        )

    def pictures(self, part: CounterfactualPart, context: PictureContext) -> ChoicePictures:
        return ChoicePictures(part, context)

    def screen(self, part: CounterfactualPart) -> str:
        return "labapp_counterfactual.screen:CounterfactualScreen"

    def simulate(self, part: CounterfactualPart, participant: SimulatedParticipant) -> Actor[Any]:
        from labapp_counterfactual.simulated import Chooser

        return Chooser(part, participant)

    def summary(self, part: CounterfactualPart) -> str:
        asked = f"{part.trials} questions with {part.candidates} candidates each"
        return f"{asked}{limit_words(part)}"

    def score(self, payload: CounterfactualAnswered) -> Mapping[str, bool] | None:
        return {"correct": True} if payload.correct else None

    def achieved(
        self, row: Mapping[str, Any], trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, int]:
        return {"correct": len(trials)}


TASK = CounterfactualChoice()
