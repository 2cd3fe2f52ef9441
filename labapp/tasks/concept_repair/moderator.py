"""What the moderator's windows say of concept repair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.concept_repair.beside import Updates, after_stage, of_picture, state_words
from labapp.tasks.concept_repair.plan import ConceptGridPart, ConceptRepairPart
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

INSTRUCTIONS = {
    "repair": N_("concepts.instruction.repair"),
    "audit": N_("concepts.instruction.audit"),
    "foresight": N_("concepts.instruction.foresight"),
}


class ConceptWords(PartWords[PlannedPart]):
    marks = {"concept.set": "answer", "concept.undone": "answer"}  # noqa: RUF012 (nobody changes it)
    fold = "labapp.tasks.concept_repair.beside:Updates"

    def subject(self, part: PlannedPart) -> str:
        return part.model if isinstance(part, ConceptRepairPart | ConceptGridPart) else ""

    def progress(self, part: PlannedPart, machine: PartMachine[Any], state: Any) -> str:
        if isinstance(part, ConceptGridPart):
            return tr("concepts.grid")
        return super().progress(part, machine, state)

    def noun(self, part: PlannedPart, number: int) -> str:
        return tr("concepts.picture", number=number)

    def trial(self, part: PlannedPart, number: int) -> str:
        return (
            tr("concepts.grid_title")
            if isinstance(part, ConceptGridPart)
            else super().trial(part, number)
        )

    def facts(self, parts: Sequence[PlannedPart]) -> str:
        return "".join(facts_of(part) for part in parts if isinstance(part, ConceptRepairPart))

    def mark(self, part: PlannedPart, payload: Mapping[str, Any]) -> str:
        assert isinstance(part, ConceptRepairPart)
        return state_words(part.repaired, int(payload["concept"]), int(payload["to"]))

    def moved(self, part: PlannedPart, numbers: Sequence[int]) -> str:
        assert isinstance(part, ConceptRepairPart)
        return ", ".join(part.repaired.concepts[number].name for number in numbers)

    def lanes(self, part: PlannedPart) -> frozenset[str]:
        return frozenset({"answer"}) if isinstance(part, ConceptRepairPart) else frozenset()

    def beside(
        self, part: PlannedPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        updates = console.fold(Updates)
        if isinstance(part, ConceptRepairPart):
            yield from of_picture(part, session, updates)
        elif isinstance(part, ConceptGridPart):
            yield from after_stage(part, updates)


def facts_of(part: ConceptRepairPart) -> str:
    repaired = part.repaired
    accuracy = wording.percent(repaired.task_accuracy / 100)
    foretold = sum(item.foresee for item in part.items)
    facts = [
        tr("task.stimulus_set", id=repaired.stimuli),
        tr("concepts.pictures", n=part.trials),
        tr("concepts.concepts", n=len(repaired.concepts)),
        tr(INSTRUCTIONS[part.instruction]),
        tr("task.model_right_in", percent=accuracy),
    ]
    if foretold:
        facts.append(tr("concepts.foretold_in", n=foretold))
    if part.item_limit_s is not None:
        facts.append(tr("concepts.seconds_each", seconds=f"{part.item_limit_s:g}"))
    return "  ·  ".join(facts)
