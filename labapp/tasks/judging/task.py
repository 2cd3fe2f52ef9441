"""The tasks that judge explanations as a task type: the introduction to a method, the warm-up with
fruits, and the stages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from labapp.plugins.machine import PartMachine
from labapp.plugins.part import PlannedPart
from labapp.plugins.pictures import PartPictures, PictureContext
from labapp.plugins.simulated import Actor, SimulatedParticipant
from labapp.plugins.stage import limit_words
from labapp.plugins.task_type import MachineContext, TaskType, Values, Words
from labapp.simulation.names import READS_EXPLANATIONS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.tasks.judging import machine, performance, warm_up, words
from labapp.tasks.judging.events import PhotoJudged
from labapp.tasks.judging.method import MethodMachine
from labapp.tasks.judging.pictures import PhotoPictures
from labapp.tasks.judging.plan import JudgingPart, JudgingTask, MethodPart, WarmUpPart
from labapp.tasks.judging.planner import judged_at, method_near
from labapp.tasks.judging.study import JudgingStages, MethodItem, WarmUpItem

SCREENS: dict[JudgingTask, str] = {
    "heatmap-distinction": "labapp.tasks.judging.screen.heatmaps:HeatmapScreen",
    "prototype-distinction": "labapp.tasks.judging.screen.prototypes:PrototypeDistinctionScreen",
    "prototype-agreement": "labapp.tasks.judging.screen.prototypes:PrototypeAgreementScreen",
    "path-distinction": "labapp.tasks.judging.screen.paths:PathDistinctionScreen",
    "path-agreement": "labapp.tasks.judging.screen.paths:PathAgreementScreen",
    "path-first-step": "labapp.tasks.judging.screen.paths:FirstStepScreen",
}
"""The screen of a stage; the introduction to its method previews it."""
MARKS_OF_TEXT = re.compile(r"</?[a-z]+>")
AnyPart = JudgingPart | MethodPart | WarmUpPart


class Judging(TaskType[AnyPart]):
    name = "judging"
    own_words = ("judging_*",)
    parts = (MethodPart, WarmUpPart, JudgingPart)
    moderator = "labapp.tasks.judging.moderator:JudgingWords"
    asks_again = True
    shown = ("photo.shown",)
    bids = ("labapp.tasks.judging.bids:JUDGING", "labapp.tasks.judging.bids:WARM_UP")
    kept_text = "labapp.tasks.judging.bids:KEPT_TEXT"
    instructs = ("method", "warm_up")
    records = "labapp.tasks.judging.records:JudgingRecords"
    report = "labapp.tasks.judging.report.contents:REPORT"
    items = (MethodItem, WarmUpItem)
    stages = (JudgingStages,)
    strategies = READS_EXPLANATIONS

    placeholders = performance.PLACEHOLDERS

    scored = ("photo.judged",)

    def shows_word(self, item: JudgingStages | MethodItem | WarmUpItem, key: str) -> bool:
        if isinstance(item, JudgingStages):
            return words.of_stage(item.task, key)
        return words.of_warm_up(key) if isinstance(item, WarmUpItem) else words.of_all(key)

    def score(self, payload: PhotoJudged) -> Mapping[str, bool]:
        return performance.scores(payload)

    achieves = MappingProxyType(
        {
            "photos": "photos whose explanations were judged, practice not counted",
            "above_chance": "photos answered rightly beyond the number that guessing gets right, "
            "of each question that has a right answer, none where it is less; added up",
        }
    )

    def achieved(
        self, part: AnyPart, trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, Fraction | int]:
        if not isinstance(part, JudgingPart):
            return {}
        above = performance.above_chance(part, list(trials.values()))
        return {"photos": len(trials), "above_chance": above}

    def plan(
        self,
        item: MethodItem | WarmUpItem | JudgingStages,
        scope: Scope,
        place: int,
        planner: Planner,
    ) -> Iterator[PlannedPart]:
        match item:
            case MethodItem():
                judged = method_near(item, scope, place, planner)
                document = planner.text(item.method, scope)
                yield judged.method(planner.new_id("method"), document)
            case WarmUpItem():
                document = planner.text(item.texts()[0], scope)
                yield warm_up.fruits(planner.new_id("warm-up"), document)
            case JudgingStages():
                yield from self._stage(item, scope, place, planner)

    def _stage(
        self, stages: JudgingStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PlannedPart]:
        judged = judged_at(place, planner)
        number, of = planner.next_stage()
        shown = judged.explained
        planner.chose(stimuli=shown.stimuli, sets=judged.set, manifests=shown.manifest_sha256)
        part = judged.stage(number, of, planner.text(stages.description, scope))
        limit = stages.time_limit_min
        told = judged.values | {"per_above_chance": planner.amounts()["per_above_chance"]}
        if limit is not None:
            told["minutes"] = f"{limit:g}"
        yield planner.before_stage(stages.intro, scope, told)
        yield part
        yield from planner.ask_after(stages, part.id, part.id, place)

    def values_around(
        self, stages: JudgingStages, scope: Scope, place: int, planner: Planner
    ) -> Values:
        return judged_at(place, planner).values

    value_names = (*performance.ACHIEVED, "photos")

    def machine(self, part: AnyPart, index: int, context: MachineContext) -> PartMachine[Any]:
        planned = context.planned
        match part:
            case MethodPart():
                return MethodMachine(part, index, context.pages(part.document))
            case WarmUpPart():
                return machine.WarmUpTask(part, index)
            case JudgingPart():
                return machine.JudgingTask(
                    part, index, planned.seed, planned.study, planned.participant
                )

    def pictures(self, part: AnyPart, context: PictureContext) -> PartPictures[Any]:
        if isinstance(part, MethodPart):
            return super().pictures(part, context)
        return PhotoPictures(part, context)

    def screen(self, part: AnyPart) -> str:
        match part:
            case MethodPart():
                return "labapp.tasks.judging.screen.method:MethodScreen"
            case WarmUpPart():
                return "labapp.tasks.judging.screen.warm_up:WarmUpScreen"
            case JudgingPart():
                return SCREENS[part.task]

    def summary(self, part: AnyPart) -> str:
        match part:
            case MethodPart():
                return ""
            case WarmUpPart():
                return f"{part.trials} exercises"
            case JudgingPart():
                of = f"set {part.set} of {part.explained.stimuli}"
                return f"{part.trials} photos, {part.task}, {of}{limit_words(part)}"

    def values(self, part: AnyPart, result: Any, words: Words) -> dict[str, str]:
        if not isinstance(part, JudgingPart) or not result.performance.photos:
            return {}

        def say(number: int, rating: int) -> str:
            answer = MARKS_OF_TEXT.sub("", words(f"judging_agreement_{rating}"))
            return words("judging_own_answer", number=number, answer=answer)

        return performance.values(part, result.performance, result.answers, say)

    def simulate(self, part: AnyPart, participant: SimulatedParticipant) -> Actor[Any]:
        from labapp.tasks.judging.simulated import Judge, MethodReader

        if isinstance(part, MethodPart):
            return MethodReader(part, participant)
        return Judge(part, participant)


TASK = Judging()
