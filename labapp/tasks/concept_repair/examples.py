"""The examples before the practice: of every concept a picture with it and one without, which are
shown nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar, Literal

from pydantic import Field

from labapp.base.documents import Strict
from labapp.base.errors import LabappError
from labapp.models.stimuli import check, pictures
from labapp.models.stimuli.manifest import Concept
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.plugins.item import Item
from labapp.study.plugins.part import PlannedPart, StimuliRef
from labapp.study.stimulus_stages import IncompatibleStimuliError, check_kind, fitting, set_of
from labapp.tasks.concept_repair.plan import TASK
from labapp.tasks.concept_repair.study import ConceptRepairStages


class PlannedExample(Strict):
    """A concept in two pictures. off, on: their names in the set; others: in how many other
    concepts they differ; differing: what these are called (empty in plans of earlier versions)."""

    concept: Concept
    off: str
    on: str
    others: int = Field(ge=0)
    differing: tuple[str, ...] = ()


class ConceptExamplesPart(PlannedPart):
    """The examples of one stage's concepts. number, of: of that stage, among how many."""

    introduces: ClassVar[bool] = True
    part: Literal["concept_examples"] = "concept_examples"
    number: int
    of: int
    stimuli: str
    manifest_sha256: str
    examples: tuple[PlannedExample, ...] = Field(min_length=1)

    def stage_place(self) -> tuple[int, int]:
        return self.number, self.of

    def stimulus_sets(self) -> Iterator[StimuliRef]:
        yield StimuliRef(self.manifest_sha256, self.stimuli)

    def stored_pictures(self) -> Iterator[str]:
        for example in self.examples:
            yield from (example.off, example.on)


def examples_of(place: int, planner: Planner, number: int, of: int) -> ConceptExamplesPart:
    """The examples before the stage at a place of the flow.

    Raises StudyError where the set has no pictures to tell a concept by.
    """
    item, scope = planner.flow[place]
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    with fitting(stages, planner):
        stimuli, _ = set_of(stages, scope, planner)
        pairs = _pairs_at(item, scope, planner)
    language = planner.study.language
    concepts = [known.in_language(language) for known in stimuli.manifest.concepts]
    return ConceptExamplesPart(
        id=planner.new_id("practice-examples"),
        title="Examples of the concepts",
        number=number,
        of=of,
        stimuli=stimuli.id,
        manifest_sha256=stimuli.sha256,
        examples=tuple(
            PlannedExample(
                concept=concepts[pair.concept],
                off=pair.off.photo,
                on=pair.on.photo,
                others=len(pair.differing),
                differing=tuple(concepts[place].name for place in pair.differing),
            )
            for pair in pairs
        ),
    )


def reserved_pictures(planner: Planner) -> frozenset[str]:
    """What the pictures show that this participant sees as examples, before whatever stage
    (`labapp.models.stimuli.pictures.identity_of`): none of them is a picture of any stage or
    practice. What is wrong with the examples of a stage is said by `examples_of`, when it is
    planned."""
    key = (TASK, "reserved")
    if key not in planner.memory:
        shown: set[str] = set()
        for _, item, scope in planner.in_all_sessions(ConceptRepairStages):
            stages = item.task_stages()
            if isinstance(stages, ConceptRepairStages) and stages.examples:
                with suppress(IncompatibleStimuliError, LabappError):
                    names = check.reserved(_pairs_at(item, scope, planner))
                    folder = set_of(stages, scope, planner)[0].folder
                    shown |= {pictures.identity_of(folder, name) for name in names}
        planner.memory[key] = frozenset(shown)
    reserved: frozenset[str] = planner.memory[key]
    return reserved


def _pairs_at(item: Item, scope: Scope, planner: Planner) -> tuple[check.ReferencePair, ...]:
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    stimuli, number = set_of(stages, scope, planner)
    check_kind(stimuli, TASK, "interventions")
    try:
        return check.reference_pairs(stimuli.manifest, number)
    except ValueError as error:
        raise IncompatibleStimuliError(
            "examples",
            f"examples of the stimulus set {stimuli.id} cannot be chosen: {error}",
            "Leave `examples` out, or name another stimulus set.",
        ) from error
