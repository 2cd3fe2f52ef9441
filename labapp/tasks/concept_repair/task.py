"""Concept repair as a task type: its examples and practice, its stages and the grid behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, ClassVar

from labapp.session.simulation.names import REPAIRS_CONCEPTS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import PartMachine, TextMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures, PictureContext, QuestionPictures
from labapp.study.plugins.registry import MachineContext, TaskTest, TaskType, Values
from labapp.tasks.concept_repair.machine import ConceptGridTask, ConceptRepairTask
from labapp.tasks.concept_repair.plan import ConceptGridPart, ConceptRepairPart
from labapp.tasks.concept_repair.planner import (
    ConceptExamplesPart,
    ConceptRepairStages,
    examples_of,
    repairing_at,
)

_OVER_MODELS = (
    "Step 1: a linear mixed model (REML) of the values of participants and models, with models and "
    "the order in which they were met as fixed effects and an intercept of each participant, gives "
    "an estimate for each model. Step 2: the estimates are regressed on {predictor}, in standard "
    "deviations of the models; t with the number of models less two as degrees of freedom, "
    "two-sided. Fewer than 12 models are not tested."
)
_HOLM = " Holm's correction over the primary tests."
_PURITY = (
    "OIS in common coordinates, the mean of ten metric seeds, whose reliability over the models is "
    "reported and must be .9 or more"
)
_SENSITIVITY = (
    "d' of forecasts that the answer moves, in changes that leak (the rule card says that it "
    "stays, and it moves) against changes after which it stays as the card says; half a trial is "
    "added to each count"
)
TESTS = MappingProxyType(
    {
        "leak_sensitivity": TaskTest(
            _SENSITIVITY,
            _OVER_MODELS.format(predictor=_PURITY)
            + f"{_HOLM} Smallest slope that matters: 0.3; equivalence by the 90 % interval.",
        ),
        "card_trust": TaskTest(
            "log odds of right forecasts in changes that the rule card foretells: the answer moves "
            "as it says, or stays as it says; half a trial is added to each count",
            _OVER_MODELS.format(predictor=_PURITY)
            + f"{_HOLM} Smallest slope that matters: 0.5; equivalence by the 90 % interval.",
        ),
        "leak_sensitivity_by_leak_rate": TaskTest(
            _SENSITIVITY,
            _OVER_MODELS.format(
                predictor="the model's share of leaks among changes after which the card says that "
                "the answer stays"
            ),
        ),
        "leak_sensitivity_by_accuracy": TaskTest(
            _SENSITIVITY, _OVER_MODELS.format(predictor="the model's accuracy of classes")
        ),
        "natural_rates": TaskTest(
            "right forecasts, the three types of changes weighted to the model's natural rates, "
            "less what reading the rule card would score so",
            _OVER_MODELS.format(predictor=_PURITY),
        ),
    }
)
"""As `labapp.tasks.concept_repair.report.forecasts` carries them out."""

Part = ConceptRepairPart | ConceptGridPart | ConceptExamplesPart


class ConceptRepair(TaskType[Part]):
    name = "concept-repair"
    own_words = ("concept_*",)
    parts = (ConceptRepairPart, ConceptGridPart, ConceptExamplesPart)
    screens: ClassVar = {
        ConceptRepairPart: "labapp.tasks.concept_repair.screen.repair:RepairScreen",
        ConceptGridPart: "labapp.tasks.concept_repair.screen.repair:GridScreen",
        ConceptExamplesPart: "labapp.tasks.concept_repair.screen.repair:ExamplesScreen",
    }
    actors: ClassVar = {
        ConceptRepairPart: "labapp.tasks.concept_repair.simulated:Repairing",
        ConceptGridPart: "labapp.tasks.concept_repair.simulated:Ticking",
        ConceptExamplesPart: "labapp.study.plugins.simulated:Reader",
    }
    stages = (ConceptRepairStages,)
    moderator = "labapp.tasks.concept_repair.moderator:ConceptWords"
    codebook = "concept-repair"
    blinds = True
    asks_again = True
    shown = ("concepts.shown", "grid.shown")
    records = "labapp.tasks.concept_repair.records:ConceptRepairRecords"
    told_elsewhere = ("answer.picked",)  # the forecast that counts is in `answer.foretold`
    report = "labapp.tasks.concept_repair.report.contents:REPORT"
    bids = ("labapp.tasks.concept_repair.bids:REPAIR", "labapp.tasks.concept_repair.bids:GRID")
    strategies = REPAIRS_CONCEPTS
    tests = TESTS
    mixture = MappingProxyType({"careful": 0.4, "learner": 0.2, "stubborn": 0.2, "misled": 0.2})

    placeholders = MappingProxyType(
        {
            "pictures": "how many pictures the participant goes through",
            "concepts": "the names of the concepts, with commas between them",
            "concept_count": "how many concepts there are",
            "class_count": "how many classes the model tells apart",
            "seconds": "seconds after which a picture is left; empty where there is no limit",
            "practice_pictures": "how many pictures the practice has; empty without practice",
        }
    )

    def plan(
        self, item: ConceptRepairStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PlannedPart]:
        """The examples, the practice, the stage and the grid."""
        at = planner.next_stage()
        repairing = repairing_at(place, planner)
        shared = repairing.repaired
        planner.chose(stimuli=shared.stimuli, sets=shared.set, manifests=shared.manifest_sha256)
        values = repairing.values()
        if item.practice is not None:
            document = planner.text(item.practice.text, scope)
            yield planner.before_practice(document, "Before the practice", values)
            if item.examples:
                yield examples_of(place, planner, *at)
            yield repairing.practice_part(planner.new_id("practice"), *at)
        elif item.examples:
            yield examples_of(place, planner, *at)
        part = repairing.part(*at)
        yield planner.before_stage(item.intro, scope, values)
        yield part
        if item.grid:
            yield repairing.grid(*at)
        yield from planner.ask_after(item, part.id, part.id, place)

    def values_around(
        self, stages: ConceptRepairStages, scope: Scope, place: int, planner: Planner
    ) -> Values:
        return repairing_at(place, planner).values()

    def machine(self, part: Part, index: int, context: MachineContext) -> PartMachine[Any]:
        if isinstance(part, ConceptExamplesPart):
            return TextMachine(part, index, 1)
        if isinstance(part, ConceptGridPart):
            return ConceptGridTask(part, index)
        return ConceptRepairTask(part, index)

    def pictures(self, part: Part, context: PictureContext) -> PartPictures[Any]:
        if isinstance(part, ConceptExamplesPart):
            return super().pictures(part, context)
        return QuestionPictures(part, context)  # files, there at once

    def summary(self, part: Part) -> str:
        if isinstance(part, ConceptExamplesPart):
            return f"two pictures of each of {len(part.examples)} concepts"
        count = len(part.repaired.concepts)
        if isinstance(part, ConceptGridPart):
            return f"a grid of {count} x {count} concepts"
        limit = part.item_limit_s
        at_most = "" if limit is None else f", at most {limit:g} s each"
        foretold = sum(item.foresee for item in part.items)
        foretells = f", {foretold} of them foretold" if foretold else ""
        if part.withheld:
            foretells += ", answers withheld"
        return (
            f"{part.trials} pictures with {count} concepts ({part.instruction}){foretells}{at_most}"
        )

    def rules(self, part: Part) -> str:
        """How many pictures of which type, which the participant is not told."""
        if not isinstance(part, ConceptRepairPart) or part.role == "practice":
            return self.summary(part)
        rules = part.repaired.rules
        kinds = Counter(
            "natural"
            if item.sample == "natural"
            else str(item.item or (item.withheld and item.change_type(rules)) or "as drawn")
            for item in part.items
        )
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        return f"{self.summary(part)}; by type {listed}; ended by Done, Give up or its limit"


TASK = ConceptRepair()
