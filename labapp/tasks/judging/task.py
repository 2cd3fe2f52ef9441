"""The tasks that judge explanations as a task type: the introduction to a method, the warm-up with
fruits, and the stages.

In the warm-up with fruits, before the studies of a tree of prototypes, the tree asks for the
colour: red leads to Fruit C, green to the count (less than three: A, greater than three: B; of
exactly three it says nothing, as published, and no exercise has three green fruits), yellow to the
shape (round: D, skinny: E). Source: paper 003, appendix C and figure A6.

As published, the first mistake is chosen from colour, count and shape each time, also from the one
that the model's way does not meet. The published 86.5 % are of the question whether the prediction
is right.

Also which words of the participant's window belong to which of these tasks, for translations, and
when a photo or an exercise can be judged: at once, since its pictures are files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from labapp.record.events import Event, Payload, UnstampedEvent
from labapp.record.events.commands import Command
from labapp.record.events.registry import Pauses
from labapp.session.simulation.names import READS_EXPLANATIONS
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.machine import PagesMachine, PagesState, PartMachine, limit_words
from labapp.study.plugins.part import PlannedPart
from labapp.study.plugins.pictures import PartPictures, PictureContext, QuestionPictures
from labapp.study.plugins.registry import MachineContext, TaskType, Values, Words
from labapp.study.results import list_results
from labapp.tasks.judging import machine, performance
from labapp.tasks.judging.events import TREE, CloseDescription, OpenDescription, PhotoJudged
from labapp.tasks.judging.machine import JudgingState
from labapp.tasks.judging.plan import Exercise, JudgingPart, JudgingTask, MethodPart, WarmUpPart
from labapp.tasks.judging.planner import (
    JudgingStages,
    MethodItem,
    WarmUpItem,
    allocate_photos,
    method_near,
)

SCREENS: dict[JudgingTask, str] = {
    "heatmap-distinction": "labapp.tasks.judging.screen.description:HeatmapScreen",
    "prototype-distinction": "labapp.tasks.judging.screen.photos:PrototypeDistinctionScreen",
    "prototype-agreement": "labapp.tasks.judging.screen.photos:PrototypeAgreementScreen",
    "path-distinction": "labapp.tasks.judging.screen.photos:PathDistinctionScreen",
    "path-agreement": "labapp.tasks.judging.screen.photos:PathAgreementScreen",
    "path-first-step": "labapp.tasks.judging.screen.photos:FirstStepScreen",
}
"""The screen of a stage; the introduction to its method previews it."""
AnyPart = JudgingPart | MethodPart | WarmUpPart


class Judging(TaskType[AnyPart]):
    name = "judging"
    own_words = ("judging_*",)
    parts = (MethodPart, WarmUpPart, JudgingPart)
    actors: ClassVar = {
        MethodPart: "labapp.tasks.judging.simulated:MethodReader",
        WarmUpPart: "labapp.tasks.judging.simulated:ExplanationJudge",
        JudgingPart: "labapp.tasks.judging.simulated:ExplanationJudge",
    }
    moderator = "labapp.tasks.judging.moderator:JudgingWords"
    asks_again = True
    shown = ("photo.shown",)
    bids = ("labapp.tasks.judging.bids:JUDGING", "labapp.tasks.judging.bids:WARM_UP")
    instructs = ("method", "warm_up")
    records = "labapp.tasks.judging.records:JudgingRecords"
    report = "labapp.tasks.judging.report.contents:REPORT"
    items = (MethodItem, WarmUpItem)
    stages = (JudgingStages,)
    strategies = READS_EXPLANATIONS

    placeholders = performance.PLACEHOLDERS
    scored = ("photo.judged",)

    def shows_word(self, item: JudgingStages | MethodItem | WarmUpItem, key: str) -> bool:
        own = None
        if isinstance(item, JudgingStages):
            own = item.task.partition("-")[0]
        elif isinstance(item, WarmUpItem):
            own = "warm-up"
        return _find_only_kind(key.removeprefix("judging_")) in (None, own)

    def results(self, item: JudgingStages | MethodItem | WarmUpItem) -> frozenset[str]:
        if isinstance(item, MethodItem):
            return frozenset()
        return list_results(item.adaptive if isinstance(item, JudgingStages) else None)

    def score(self, payload: PhotoJudged) -> Mapping[str, bool]:
        return performance.scores(payload)

    achieves = MappingProxyType(
        {
            "photos": "photos whose explanations were judged, practice not counted",
            "above_chance": "number of photos answered correctly minus the number expected "
            "from guessing (at least 0), added up over the questions that have a right answer",
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
                yield fruits(planner.new_id("warm-up"), document)
            case JudgingStages():
                yield from self._stage(item, scope, place, planner)

    def _stage(
        self, stages: JudgingStages, scope: Scope, place: int, planner: Planner
    ) -> Iterator[PlannedPart]:
        judged = allocate_photos(place, planner)
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
        return allocate_photos(place, planner).values

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
                return "labapp.tasks.judging.screen.description:MethodScreen"
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
                most = "" if part.adaptive is None else "at most "
                return f"{most}{part.trials} photos, {part.task}, {of}{limit_words(part)}"

    def values(self, part: AnyPart, result: Any, words: Words) -> dict[str, str]:
        if not isinstance(part, JudgingPart) or not result.performance.photos:
            return {}

        def say(number: int, rating: int) -> str:
            answer = re.sub(r"</?[a-z]+>", "", words(f"judging_agreement_{rating}"))
            return words("judging_own_answer", number=number, answer=answer)

        return performance.values(part, result.performance, result.answers, say)


TASK = Judging()


@dataclass(frozen=True, slots=True)
class MethodState(PagesState):
    """description: `tree` while the picture of the whole tree is open."""

    description: str = ""


@dataclass(frozen=True)
class MethodMachine(PagesMachine[MethodState]):
    part: MethodPart

    def initial(self, pauses: Pauses) -> MethodState:
        return MethodState()

    def closing(self, state: MethodState) -> Sequence[Payload]:
        return machine.close_description(state.description)

    def decide(self, state: MethodState, command: Command, now_ns: int) -> Sequence[UnstampedEvent]:
        if state.outcome is not None:
            return ()
        if isinstance(command, OpenDescription | CloseDescription):
            offered = (TREE,) if self.part.explained.tree else ()
            payloads = machine.decide_description(offered, state.description, command)
            return [UnstampedEvent(payload, self.part.id) for payload in payloads]
        return self.turn(state, command)

    def apply(self, state: MethodState, event: Event, payload: Payload) -> MethodState:
        state = replace(state, description=machine.after_description(state.description, payload))
        return super().apply(state, event, payload)


def fruits(part_id: str, document: str) -> WarmUpPart:
    """The exercises with fruits. Pictures are named by colour, shape and number of the fruits."""

    worked, *exercises = (
        Exercise(
            id=f"exercise-{number}",
            picture=picture,
            steps=steps,
            prediction=prediction,
            truth=truth,
            first_wrong=first_wrong,
            attributes=("colour", "count", "shape"),
        )
        for number, (picture, steps, prediction, truth, first_wrong) in enumerate(
            (
                ("yellow-skinny-3", ("colour_yellow", "shape_skinny"), "E", "E", None),
                ("yellow-round-4", ("colour_green", "count_many"), "B", "D", 1),
                ("green-round-2", ("colour_green", "count_few"), "A", "A", None),
            )
        )
    )
    return WarmUpPart(
        id=part_id, title="Warm-up", document=document, worked=worked, exercises=tuple(exercises)
    )


_AMONG: Mapping[str, tuple[str, ...]] = {
    "warm-up": (
        "attribute_*", "example", "exercise_of", "feedback_*", "fruit*", "missing_mistake",
        "missing_verdict", "none", "path_marked", "q_decision", "q_mistake", "q_verdict",
        "reason_*", "step_*_*", "submit", "verdict_*", "warm_up",
    ),
    "heatmap": (
        "bar_*", "cold_*", "heatmap", "hot_*", "missing_output", "q_distinction", "q_output*",
        "scale_text_*", "this_is",
    ),
    "prototype": (
        "all_from", "class", "each_from*", "missing_species",
        "q_class", "q_pairs", "q_species", "rated", "shuffled", "sorted",
    ),
    "path": (
        "absent", "agree_with_all", "compared_to", "decision", "final_steps", "first_steps",
        "if_*", "keys_two", "leads_to", "missing_first_step", "missing_q*", "predicted", "present",
        "q1", "q2_*", "q3_*", "q_first_step", "step", "step_column", "tree", "tree_*", "close_tree",
    ),
}  # fmt: skip
"""By kind the words, behind `judging_`, that its screens alone show; all others are of all."""


@cache
def _find_only_kind(word: str) -> str | None:
    """The kind whose screens alone show a word; asked for each whenever a window opens."""
    kinds = (kind for kind, among in _AMONG.items() if any(fnmatchcase(word, a) for a in among))
    return next(kinds, None)


class PhotoPictures(QuestionPictures[JudgingPart | WarmUpPart]):
    """The first exercise of a warm-up comes behind pages that explain it: its screen says when it
    is there."""

    def due(self, state: JudgingState) -> Command | None:
        first = state.trial is not None and state.trial.number == 1
        return None if first and isinstance(self.part, WarmUpPart) else super().due(state)
