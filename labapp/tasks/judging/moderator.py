"""What the moderator's windows say of the tasks that judge explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.judging import answers
from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.answers import AGREED, ASKED, marked
from labapp.tasks.judging.plan import Exercise, JudgingPart, Question, WarmUpPart
from labapp.tasks.judging.state import JudgingState, PhotoTrial
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import Fact, PartWords

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


class JudgingWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        if not isinstance(part, JudgingPart):
            return ""
        return tr("{method}, set {number}", method=part.explained.method, number=part.set)

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
    for line in truth_of(exercise):
        yield Fact(line, veiled=True)
    for line in () if reads else answers_of(exercise, trial):
        yield Fact(line, "secondary")
    if trial.right is not None:
        right = all(trial.right.values())
        text = tr("Handed in: right.") if right else tr("Handed in: not right.")
        yield Fact(text, "strong", "good" if right else "alarm")


def facts_judged(part: JudgingPart) -> str:
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


QUESTIONS = {
    judging.VERDICT: N_("The prediction is"),
    judging.AGREEMENT: ASKED[judging.AGREEMENT],
    judging.MISTAKE: N_("First mistake"),
}
"""Questions as the moderator reads them."""
VERDICTS = {judging.WRONG: N_("wrong"), judging.RIGHT: N_("right")}
WORDS = {
    "colour": N_("colour"),
    "count": N_("number"),
    "shape": N_("shape"),
    "colour_green": N_("green"),
    "colour_red": N_("red"),
    "colour_yellow": N_("yellow"),
    "count_few": N_("at most 3"),
    "count_many": N_("more than 3"),
    "shape_round": N_("round"),
    "shape_skinny": N_("skinny"),
}
"""Attributes and steps of the fruit decision tree."""


def truth_of(exercise: Exercise) -> list[str]:
    """What is correct, what the model predicts, and by which steps."""
    wrong = "" if exercise.first_wrong is None else tr(" (wrong)")
    lines = [
        tr("Correct: {name}", name=tr("Fruit {letter}", letter=exercise.truth)),
        tr("Predicted: {name}", name=tr("Fruit {letter}", letter=exercise.prediction)) + wrong,
        tr("Steps: {steps}", steps=" → ".join(tr(WORDS[step]) for step in exercise.steps)),
    ]
    if exercise.first_wrong is not None:
        lines.append(tr("First wrong step: {number}", number=exercise.first_wrong))
    return lines


def answers_of(exercise: Exercise, trial: PhotoTrial) -> list[str]:
    return [
        f"{tr(QUESTIONS[question.id])}: "
        + _said(exercise, question, trial.answers.get(question.id))
        for question in judging.exercise_questions(exercise)
    ]


def _said(exercise: Exercise, question: Question, value: int | None) -> str:
    """An answer in words, with a mark where it can be right or wrong."""
    if value is None:
        return "–"
    if question.id == judging.VERDICT:
        text = tr(VERDICTS[value])
    elif question.id == judging.AGREEMENT:
        text = tr(AGREED[value])
    else:
        none = value == question.last
        text = tr("there is none") if none else tr(WORDS[exercise.asked[value - 1]])
    return marked(text, value, question.right)
