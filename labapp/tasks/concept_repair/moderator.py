"""What the moderator's windows say of concept repair.

What a moderator reads beside a picture whose concepts are set: what is done, and for those who
are not blind, what is true of it and what the switch that was just used also tells.

Nothing of what the participant makes of the model is asked before the end of a stage: such a
question would teach what to look for. What is worth a question then is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from labapp.base.clock import NS
from labapp.models.stimuli.interventions import AS_IT_IS, ON
from labapp.record.events import Event
from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.concept_repair.machine import ConceptRepairTask
from labapp.tasks.concept_repair.plan import (
    SAME,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedItem,
    Repair,
    Repaired,
    RepairState,
)
from labapp.ui.language import N_, N_all, number, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.console import Fold, WorkTime
from labapp.ui.moderator.wording import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


INSTRUCTIONS = N_all("concepts.instruction", "repair", "audit", "foresight")


class ConceptWords(PartWords[PlannedPart]):
    marks = {"concept.set": "answer", "concept.undone": "answer"}  # noqa: RUF012 (nobody changes it)
    fold = "labapp.tasks.concept_repair.moderator:Updates"

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


TYPES = {
    "repair": N_("concepts.kind.repair"),
    "control": N_("concepts.kind.control"),
    "trap": N_("concepts.kind.trap"),
    "unrepairable": N_("concepts.kind.unrepairable"),
    None: N_("concepts.kind.none"),
}
"""What corrections do to a picture."""
NOTABLE, MOST = 0.05, 3
"""From which deviation on a side of a switch is told, and of how many at most."""


@dataclass(frozen=True, slots=True)
class Update:
    """A change that was foretold and came otherwise.

    picture: its number in the stage; concept: from 0; to: what it was set to; foretold, came:
    classes.
    """

    picture: int
    concept: int
    to: int
    foretold: str
    came: str


class Updates(Fold):
    """unexpected: by part, the changes after which the model said something else than the
    participant had foretold."""

    def __init__(self) -> None:
        self.unexpected: dict[str, list[Update]] = {}
        self._foretold: str | None = None

    def apply(self, event: Event, work: WorkTime) -> bool:
        """The mirror shows a change with the session's next state, and not before."""
        if event.kind == "answer.foretold":
            self._foretold = str(event.payload["answer"])
        elif event.kind == "concept.set" and self._foretold is not None:
            change = event.payload
            foretold = str(change["answer_before"]) if self._foretold == SAME else self._foretold
            self._foretold = None
            came = str(change["answer_after"])
            if foretold != came:
                update = Update(
                    event.trial or 0, int(change["concept"]), int(change["to"]), foretold, came
                )
                known = self.unexpected.setdefault(event.part_id or "", [])
                if update not in known:  # before the stage began again, and then
                    known.append(update)
        return False


def of_picture(part: ConceptRepairPart, session: SessionView, updates: Updates) -> Iterator[Fact]:
    """The lines beside a picture."""
    state, task = session.part_state, session.task
    trial = state.trial if isinstance(state, RepairState) else None
    if trial is None or not isinstance(task, ConceptRepairTask):
        return
    repaired = part.repaired
    doing = tr("concepts.sets_concepts")
    if trial.phase == "over":
        doing = tr("concepts.picture_over")
    elif trial.pending is not None:
        change = state_words(repaired, trial.pending.concept, trial.pending.to)
        doing = tr("concepts.foretells", change=change)
    elif part.instruction == "foresight":  # nothing is set there, but what the plan sets
        doing = tr("concepts.sees_answer")
    yield Fact(doing, "strong")
    limit = task.limit_ns(state)
    if limit is not None:
        left_s = (limit - state.pauses.working_ns(session.clock.now_ns())) / NS
        minutes, seconds = divmod(max(0, ceil(left_s)), 60)
        yield Fact(tr("concepts.time_left", time=f"{minutes}:{seconds:02d}"), "secondary")
    yield Fact(tr("concepts.changes_standing", n=len(trial.history)), "secondary")
    if part.instruction == "audit" and trial.unset:
        names = ", ".join(repaired.concepts[place].name for place in trial.unset)
        yield Fact(tr("concepts.unconfirmed", names=names), "secondary")
    yield from _truth(part, part.items[trial.number - 1], trial)
    if trial.history:
        yield from _side(repaired, trial)
    if unexpected := updates.unexpected.get(part.id):
        yield Fact(tr("concepts.misforetold", n=len(unexpected)), "secondary")
    yield Fact(tr("concepts.ask_after_stage"), "secondary")


def state_words(repaired: Repaired, concept: int, to: int) -> str:
    """What a concept is set to: "size → small"."""
    known = repaired.concepts[concept]
    if to == AS_IT_IS:
        return f"{known.name} → {tr('concepts.as_model')}"
    return f"{known.name} → {known.on if to == ON else known.off}"


def _truth(part: ConceptRepairPart, item: PlannedItem, trial: Repair) -> Iterator[Fact]:
    repaired, wrong = part.repaired, set(item.wrong())
    yield Fact(tr("task.correct", name=repaired.class_(item.truth).name), veiled=True)
    right = trial.answer == item.truth
    answer = repaired.class_(trial.answer).name
    text = tr("concepts.model_says", name=answer) + ("" if right else tr("task.wrong_mark"))
    yield Fact(text, "", "good" if right else "alarm", veiled=True)
    words = [
        f"{known.on if there else known.off}{' ✗' if place in wrong else ''}"
        for place, (known, there) in enumerate(zip(repaired.concepts, item.concepts, strict=True))
    ]
    yield Fact(tr("concepts.true", words=", ".join(words)), veiled=True)
    if wrong:
        names = ", ".join(repaired.concepts[place].name for place in sorted(wrong))
        yield Fact(tr("concepts.wrong_in_model", names=names), veiled=True)
    if part.role == "stage":
        kind = tr(TYPES[item.item])
        yield Fact(tr("concepts.picture_kind", id=item.photo, kind=kind), veiled=True)


def _side(repaired: Repaired, trial: Repair) -> Iterator[Fact]:
    """What the switch that was just used also tells, and did."""
    last = trial.history[-1]
    notable = [
        (place, deviation)
        for place in range(len(repaired.concepts))
        if place != last.concept
        and (deviation := repaired.deviation(last.concept, place)) is not None
        and abs(deviation) >= NOTABLE
    ]
    notable.sort(key=lambda pair: -abs(pair[1]))
    name = repaired.concepts[last.concept].name
    for place, deviation in notable[:MOST]:
        values = {"concept": name, "other": repaired.concepts[place].name}
        values["size"] = number(f"{abs(deviation):.2f}")
        above = tr("concepts.tells_above", **values)
        below = tr("concepts.tells_below", **values)
        yield Fact(above if deviation > 0 else below, veiled=True)
    for place in repaired.side_effects(last.concept, last.answer, trial.answer):
        other = repaired.concepts[place].name
        yield Fact(tr("concepts.setting_changed", concept=name, other=other), veiled=True)


def after_stage(part: ConceptGridPart, updates: Updates) -> Iterator[Fact]:
    """The lines beside the grid: what to ask now that the stage is over."""
    yield Fact(tr("concepts.tells_which_switch"), "strong")
    yield Fact(tr("concepts.ask_after_grid"), "secondary")
    for update in updates.unexpected.get(part.about, [])[:MOST]:
        change = state_words(part.repaired, update.concept, update.to)
        told = tr(
            "concepts.ask_why",
            number=update.picture,
            change=change,
            foretold=part.repaired.class_(update.foretold).name,
            came=part.repaired.class_(update.came).name,
        )
        yield Fact(told)
    yield Fact(tr("concepts.ask_how"))
    yield Fact(tr("concepts.ask_distrust"))
