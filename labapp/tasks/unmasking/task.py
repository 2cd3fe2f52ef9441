"""Unmasking as a task type: the example and the blocks of its stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from labapp.session.simulation.names import READS_EXPLANATIONS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.registry import MachineContext, TaskType, Values
from labapp.study.results import list_results
from labapp.tasks.unmasking.events import ResponseGiven
from labapp.tasks.unmasking.machine import UnmaskingTask
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.planner import UnmaskingStages, plan_unmasking, purpose_at, sequences_at


class Unmasking(TaskType[UnmaskingPart]):
    name = "unmasking"
    own_words = ("unmasking_*", "break*")
    parts = (UnmaskingPart,)
    screens = "labapp.tasks.unmasking.screen:UnmaskingScreen"
    actors = "labapp.tasks.unmasking.simulated:Observing"
    moderator = "labapp.tasks.unmasking.moderator:UnmaskingWords"
    asks_again = True
    shown = ("stimulus.shown",)
    bids = ("labapp.tasks.unmasking.bids:FILES",)
    records = "labapp.tasks.unmasking.records:UnmaskingRecords"
    report = "labapp.tasks.unmasking.report.contents:REPORT"
    stages = (UnmaskingStages,)
    strategies = READS_EXPLANATIONS

    placeholders = MappingProxyType(
        {
            "stimuli": "how many masked pictures the participant answers, at most where a rule "
            "chooses them",
            "sequences": "how many sequences they come in: one for each picture and method",
            "images": "how many pictures there are",
            "methods": "how many explanation methods there are",
            "masks": "how many masked pictures a sequence has",
            "question": "the question above the picture",
            "classes": "the names of the classes on the buttons, with commas between them",
        }
    )

    scored = ("response.given",)

    def shows_word(self, item: UnmaskingStages, key: str) -> bool:
        return item.breaks is not None or not key.startswith("break")

    def results(self, item: UnmaskingStages) -> frozenset[str]:
        return list_results(item.adaptive)

    def score(self, payload: ResponseGiven) -> Mapping[str, bool]:
        return {"answered": True}

    achieves = MappingProxyType(
        {"stimuli": "masked pictures that were answered, practice not counted"}
    )

    def achieved(
        self, part: UnmaskingPart, trials: Mapping[int, Mapping[str, Any]]
    ) -> Mapping[str, int]:
        return {"stimuli": len(trials)} if part.measures else {}

    def plan(
        self, item: UnmaskingStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PlannedPart]:
        at = planner.next_stage()
        showing = plan_unmasking(place, planner)
        shared = showing.unmasked
        planner.chose(stimuli=shared.stimuli, sets=shared.set, manifests=shared.manifest_sha256)
        told = self.values_around(item, scope, place, planner)
        if item.example is not None:
            part = showing.practice(planner.new_id("practice"), *at)
            if part is not None:
                document = planner.text(item.example, scope)
                yield planner.before_practice(document, "Before the example", told)
                yield part
        turns = purpose_at(place, planner, "turns")
        blocks = showing.blocks(sequences_at(place, planner), *at, turns)
        yield planner.before_stage(item.intro, scope, told)
        for number, part in enumerate(blocks):
            if number and item.breaks is not None:
                yield planner.rest(item.breaks.text, item.breaks.at_least_s, scope)
            yield part
        yield from planner.ask_after(item, f"stage-{at[0]}", blocks[-1].id, place)

    def values_around(
        self, stages: UnmaskingStages, scope: Scope, place: int, planner: Planner
    ) -> Values:
        return plan_unmasking(place, planner).values(planner.loaded.words)

    def machine(self, part: UnmaskingPart, index: int, context: MachineContext) -> UnmaskingTask:
        return UnmaskingTask(part, index)

    def summary(self, part: UnmaskingPart) -> str:
        if part.role == "practice":
            return f"{part.trials} masked pictures of one image"
        if (tracks := part.adaptive) is not None:
            pictures = f"at most {part.trials} masked pictures at {len(tracks.levels)} levels"
            of = f"set {part.unmasked.set} of {part.unmasked.stimuli}"
            return f"{pictures} ({tracks.words}), {of}"
        of = f"set {part.unmasked.set} of {part.unmasked.stimuli}"
        within = f"{len(part.sequences)} sequences of {len(part.unmasked.percents)} masks"
        return f"{part.trials} masked pictures ({within}), {of}"


TASK = Unmasking()
