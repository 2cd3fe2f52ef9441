"""Concept repair as a task type: its examples and practice, its stages and the grid behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from labapp.session.simulation.names import REPAIRS_CONCEPTS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import PartMachine, TextMachine
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures, PictureContext, QuestionPictures
from labapp.study.plugins.registry import MachineContext, TaskType, Values
from labapp.study.plugins.simulated import Actor, Reader, SimulatedParticipant
from labapp.tasks.concept_repair.machine import ConceptGridTask, ConceptRepairTask
from labapp.tasks.concept_repair.plan import ConceptGridPart, ConceptRepairPart
from labapp.tasks.concept_repair.planner import (
    ConceptExamplesPart,
    ConceptRepairStages,
    examples_of,
    repairing_at,
)

Part = ConceptRepairPart | ConceptGridPart | ConceptExamplesPart


class ConceptRepair(TaskType[Part]):
    name = "concept-repair"
    own_words = ("concept_*",)
    parts = (ConceptRepairPart, ConceptGridPart, ConceptExamplesPart)
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

    def screen(self, part: Part) -> str:
        if isinstance(part, ConceptGridPart):
            return "labapp.tasks.concept_repair.screen.repair:GridScreen"
        if isinstance(part, ConceptExamplesPart):
            return "labapp.tasks.concept_repair.screen.repair:ExamplesScreen"
        return "labapp.tasks.concept_repair.screen.repair:RepairScreen"

    def simulate(self, part: Part, participant: SimulatedParticipant) -> Actor[Any]:
        from labapp.tasks.concept_repair.simulated import Repairing, Ticking

        if isinstance(part, ConceptGridPart):
            return Ticking(part, participant)
        if isinstance(part, ConceptExamplesPart):
            return Reader(part, participant)
        return Repairing(part, participant)

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
        return (
            f"{part.trials} pictures with {count} concepts ({part.instruction}){foretells}{at_most}"
        )

    def rules(self, part: Part) -> str:
        """How many pictures of which type, which the participant is not told."""
        if not isinstance(part, ConceptRepairPart) or part.role == "practice":
            return self.summary(part)
        kinds = Counter(
            "natural" if item.sample == "natural" else str(item.item) for item in part.items
        )
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        return f"{self.summary(part)}; by type {listed}; ended by Done, Give up or its limit"


TASK = ConceptRepair()
