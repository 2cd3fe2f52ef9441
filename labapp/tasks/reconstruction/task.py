"""Interactive reconstruction as a task type: its tutorial, practice, stages and calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from labapp.models.representations.space import LatentSpace
from labapp.session.simulation.names import TURNS_DIALS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import PartMachine, limit_words
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures, PictureContext
from labapp.study.plugins.registry import MachineContext, TaskType
from labapp.study.representations import stages_of_models
from labapp.study.results import list_results
from labapp.tasks.reconstruction import planner as planning
from labapp.tasks.reconstruction.events import TrialSolved
from labapp.tasks.reconstruction.machine import (
    BoxPictures,
    ReconstructionTask,
    TrialPictures,
    TutorialMachine,
)
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart
from labapp.tasks.reconstruction.planner import (
    ReconstructionPractice,
    ReconstructionTutorial,
    Stages,
)


class Reconstruction(TaskType[ReconstructionPart | TutorialPart]):
    name = "reconstruction"
    own_words = (
        "aligned",
        "alignment",
        "dial",
        "dial_help",
        "mark_*",
        "overlay*",
        "rename_help",
        "side_by_side",
        "skip",
        "target*",
        "task_*",
        "your_picture",
    )
    parts = (TutorialPart, ReconstructionPart)
    actors: ClassVar = {
        ReconstructionPart: "labapp.tasks.reconstruction.simulated:Reconstructor",
        TutorialPart: "labapp.tasks.reconstruction.simulated:TutorialPlayer",
    }
    moderator = "labapp.tasks.reconstruction.moderator:ReconstructionWords"
    asks_again = True
    shown = ("trial.started",)
    bids = ("labapp.tasks.reconstruction.bids:FILES",)
    course = "labapp.tasks.reconstruction.bids:COURSE"
    instructs = ("tutorial",)
    records = "labapp.tasks.reconstruction.records:ReconstructionRecords"
    report = "labapp.tasks.reconstruction.report.contents:REPORT"
    told_elsewhere = ("tutorial.dial_moved",)
    items = (ReconstructionTutorial, ReconstructionPractice)
    stages = (Stages,)
    strategies = TURNS_DIALS

    placeholders = MappingProxyType(
        {
            "target": "the alignment from which on a question is solved, in percent",
            "skip_after_s": "seconds after which a question can be skipped",
            "minutes": "the stage's time limit in minutes; only where it has one",
            "trials": "how many questions the stage, or the practice, has",
        }
    )

    scored = ("trial.solved",)

    def shows_word(
        self, item: ReconstructionTutorial | ReconstructionPractice | Stages, key: str
    ) -> bool:
        return not key.startswith("mark_") or (isinstance(item, Stages) and item.marks)

    def results(
        self, item: ReconstructionTutorial | ReconstructionPractice | Stages
    ) -> frozenset[str]:
        if isinstance(item, ReconstructionTutorial) or (isinstance(item, Stages) and item.marks):
            return frozenset()
        return list_results(None)

    def score(self, payload: TrialSolved) -> Mapping[str, bool]:
        return {"solved": True}

    achieves = MappingProxyType({"solved": "reconstruction questions solved, practice not counted"})

    def achieved(
        self, part: ReconstructionPart | TutorialPart, trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, int]:
        return {"solved": len(trials)} if part.measures else {}

    def plan(
        self,
        item: ReconstructionTutorial | ReconstructionPractice | Stages,
        scope: Scope,
        place: int,
        planner: Planner,
    ) -> Iterator[PlannedPart]:
        match item:
            case ReconstructionTutorial():
                document = planner.text(item.texts()[0], scope)
                yield planning.tutorial(planner, planner.new_id("tutorial"), document, item)
            case ReconstructionPractice():
                document = planner.text(item.texts()[0], scope)
                trials = {"trials": str(planning.practice_trials(item))}
                yield planner.before_practice(document, "Before practice", trials)
                yield planning.practice(planner, planner.new_id("practice"), item)
            case Stages():
                make = partial(planning.stage, planner, item)
                told = partial(planning.fill_introduction, stages=item)
                yield from stages_of_models(item, scope, place, planner, make, told)

    def machine(
        self, part: ReconstructionPart | TutorialPart, index: int, context: MachineContext
    ) -> PartMachine[Any]:
        if isinstance(part, TutorialPart):
            spaces = tuple(LatentSpace.from_json(box.dimensions) for box in part.boxes)
            return TutorialMachine(part, index, context.pages(part.document), spaces)
        return ReconstructionTask(
            part,
            index,
            part.space,
            context.latents(part.model),
            context.planned.seed,
            context.planned.participant,
        )

    def pictures(
        self, part: ReconstructionPart | TutorialPart, context: PictureContext
    ) -> PartPictures[Any]:
        if isinstance(part, TutorialPart):
            return BoxPictures(part, context)
        return TrialPictures(part, context)

    def screen(self, part: ReconstructionPart | TutorialPart) -> str:
        if isinstance(part, TutorialPart):
            return "labapp.tasks.reconstruction.screen.matching:TutorialScreen"
        if part.marks:
            return "labapp.tasks.reconstruction.screen.matching:CalibrationScreen"
        return "labapp.tasks.reconstruction.screen.matching:ReconstructionScreen"

    def summary(self, part: ReconstructionPart | TutorialPart) -> str:
        if isinstance(part, TutorialPart):
            return ""
        if part.marks:
            return f"{part.trials} pairs to mark, no target{limit_words(part)}"
        what = "practice questions" if part.role == "practice" else "questions"
        target = f"target {part.target_alignment * 100:g} %"
        return f"{part.trials} {what}, {target}{limit_words(part)}"

    def rules(self, part: ReconstructionPart | TutorialPart) -> str:
        if isinstance(part, TutorialPart):
            return ""
        skips = {
            "always": "at any time",
            "after": f"after {part.skip_after_s:g} s of active time",
            "never": "not at all",
        }
        solved = (
            "none is solved"
            if part.marks
            else f"solved from an alignment of {part.target_alignment * 100:g} % on"
        )
        return (
            f"{self.summary(part)}; {solved} (alignment by the distance {part.distance}); can be "
            f"skipped {skips[part.skip]}"
        )


TASK = Reconstruction()
