"""What the moderator's windows say of the tasks that judge explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from labapp.plugins.machine import PartMachine
from labapp.plugins.part import PlannedPart
from labapp.tasks.judging import answers, exercises
from labapp.tasks.judging.plan import JudgingPart, WarmUpPart
from labapp.tasks.judging.state import JudgingState, PhotoTrial
from labapp.ui.language import tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


class JudgingWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        return method_and_set(part) if isinstance(part, JudgingPart) else ""

    def facts(self, parts: Sequence[PlannedPart]) -> str:
        return "".join(facts_judged(part) for part in parts if isinstance(part, JudgingPart))

    def noun(self, part: PlannedPart, number: int) -> str:
        if isinstance(part, WarmUpPart):
            return tr("Exercise {number}", number=number)
        return tr("Photo {number}", number=number)

    def place(self, part: PlannedPart, machine: PartMachine[Any], state: Any) -> str:
        place = super().place(part, machine, state)
        if isinstance(state, JudgingState) and state.description:
            return tr("{place} · reads the description", place=place)
        return place

    def beside(
        self, part: PlannedPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        state = session.part_state
        trial = state.trial if isinstance(state, JudgingState) else None
        if trial is not None and isinstance(part, JudgingPart):
            photo = part.photos[trial.number - 1]
            if part.task == "prototype-distinction":
                name = answers.named(part, photo, photo.options[trial.option - 1])
                yield Fact(tr("Looking at: {name}", name=name), "strong")
            for line in answers.truth_of(part, photo):
                yield Fact(line, veiled=True)
            for line in answers.answers_of(part, photo, trial):
                yield Fact(line, "secondary")
        elif trial is not None and isinstance(part, WarmUpPart):
            yield from of_exercise(part, trial)
        else:
            yield from super().beside(part, session, console)


def of_exercise(part: WarmUpPart, trial: PhotoTrial) -> Iterator[Fact]:
    """What is true of an exercise of the warm-up and what is answered; while the participant reads
    how it works, of the one that is worked already."""
    reads = trial.started_ns is None
    exercise = part.worked if reads else part.exercises[trial.number - 1]
    head = tr("Reads how it works") if reads else tr("Exercise {number}", number=trial.number)
    yield Fact(head, "strong")
    for line in exercises.truth_of(exercise):
        yield Fact(line, veiled=True)
    for line in () if reads else exercises.answers_of(exercise, trial):
        yield Fact(line, "secondary")
    if trial.right is not None:
        right = all(trial.right.values())
        text = tr("Handed in: right.") if right else tr("Handed in: not right.")
        yield Fact(text, "strong", "good" if right else "alarm")


def method_and_set(part: JudgingPart) -> str:
    """What a stage that judges explanations is about."""
    return tr("{method}, set {number}", method=part.explained.method, number=part.set)


def facts_judged(part: JudgingPart) -> str:
    """What is known of a stage that judges explanations, in one line."""
    explained = part.explained
    facts = [
        tr("stimulus set {id}", id=explained.stimuli),
        tr("{n} photos", n=len(part.photos)),
        tr("the model is right in {percent}", percent=wording.percent(explained.accuracy / 100)),
    ]
    if explained.colour_map:
        facts.append(tr("colours: {name}", name=explained.colour_map))
    if part.labels:
        facts.append(tr("the true class is told"))
    return "  ·  ".join(facts)
