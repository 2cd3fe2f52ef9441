"""What the moderator's windows say of the tasks that judge explanations.

What a moderator reads of a photo that is judged: what is true, and what is answered.

What the model predicts and what is correct is shown only to the moderator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from labapp.study.plugins.machine import PartMachine
from labapp.study.plugins.part import PlannedPart
from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.machine import JudgingState, PhotoTrial
from labapp.tasks.judging.plan import Exercise, JudgingPart, PhotoQuestion, PlannedPhoto, WarmUpPart
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.wording import Fact, PartWords, list_chosen

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


STEPS = {judging.ABSENT: N_("judging.step.absent"), judging.PRESENT: N_("judging.step.present")}
ASKED = {
    judging.OUTPUT: N_("judging.asked.output"),
    judging.OUTPUT_CONFIDENCE: N_("judging.asked.confidence"),
    judging.DISTINCTION: N_("judging.asked.distinction"),
    judging.DISTINCTION_CONFIDENCE: N_("judging.asked.confidence"),
    judging.AGREEMENT: N_("judging.asked.agreement"),
    judging.FIRST: N_("judging.asked.first"),
    judging.AFTER_ABSENT: N_("judging.asked.second"),
    judging.AFTER_PRESENT: N_("judging.asked.second"),
    judging.FIRST_STEP: N_("judging.asked.first_step"),
}
"""Questions as the moderator reads them."""
AGREED = {
    1: N_("judging.agreed.no_sure"),
    2: N_("judging.agreed.no_somewhat"),
    3: N_("judging.agreed.yes_somewhat"),
    4: N_("judging.agreed.yes_sure"),
}


def name_class(part: JudgingPart, photo: PlannedPhoto, text: str) -> str:
    """A class by its place among the options, where it has one, and its name."""
    name = part.explained.names.get(text, text)
    return f"{photo.options.index(text) + 1} · {name}" if text in photo.options else name


def truth_of(part: JudgingPart, photo: PlannedPhoto) -> list[str]:
    """What is correct and what the model predicts."""
    wrong = "" if photo.correct else tr("task.wrong_mark")
    lines = [
        tr("task.correct", name=name_class(part, photo, photo.truth)),
        tr("task.predicted", name=name_class(part, photo, photo.prediction)) + wrong,
    ]
    if part.task == "path-first-step" and photo.first_wrong is not None:
        lines.append(tr("task.first_wrong_step", number=photo.first_wrong))
    return lines


def answers_of(part: JudgingPart, photo: PlannedPhoto, trial: PhotoTrial) -> list[str]:
    """The answers so far, a line each; the ratings of rows as how many there are."""
    asked = judging.questions(part.task, photo)
    rows = [question for question in asked if question.row is not None]
    lines = []
    if rows:
        done = sum(question.id in trial.answers for question in rows)
        lines.append(tr("judging.rows_rated", done=done, all=len(rows)))
    for question in asked:
        if question.row is None and judging.applies(question, trial.answers):
            text = _answer_said(question, trial.answers.get(question.id), photo)
            lines.append(f"{tr(ASKED[question.id])}: {text}")
    return lines


def _answer_said(question: PhotoQuestion, value: int | None, photo: PlannedPhoto) -> str:
    """An answer in words, with a mark where it can be right or wrong."""
    if value is None:
        return "–"
    match question.id:
        case judging.OUTPUT_CONFIDENCE | judging.DISTINCTION_CONFIDENCE:
            text = tr("task.value_of_last", value=value, last=question.last)
        case judging.AGREEMENT:
            text = tr(AGREED[value])
        case judging.FIRST | judging.AFTER_ABSENT | judging.AFTER_PRESENT:
            text = tr(STEPS[value])
        case judging.FIRST_STEP if value > len(photo.rows):
            text = tr("judging.agrees_with_all")
        case _:
            text = str(value)
    return mark_answer(text, value, question.right)


def mark_answer(text: str, value: int, right: int | None) -> str:
    """An answer with a mark where it can be right or wrong."""
    return text if right is None else f"{text} {'✓' if value == right else '✗'}"


class JudgingWords(PartWords[PlannedPart]):
    def subject(self, part: PlannedPart) -> str:
        if not isinstance(part, JudgingPart):
            return ""
        return tr("judging.set", method=part.explained.method, number=part.set)

    def facts(self, parts: Sequence[PlannedPart]) -> str:
        return "".join(facts_judged(part) for part in parts if isinstance(part, JudgingPart))

    def noun(self, part: PlannedPart, number: int) -> str:
        if isinstance(part, WarmUpPart):
            return tr("judging.exercise", number=number)
        return tr("judging.photo", number=number)

    def place(self, part: PlannedPart, machine: PartMachine[Any], state: Any) -> str:
        place = super().place(part, machine, state)
        if isinstance(state, JudgingState) and state.description:
            return tr("judging.reads_description", place=place)
        return place

    def beside(
        self, part: PlannedPart, session: SessionView, console: ConsoleState
    ) -> Iterator[Fact]:
        state = session.part_state
        trial = state.trial if isinstance(state, JudgingState) else None
        if trial is not None and isinstance(part, JudgingPart):
            photo = part.photos[trial.number - 1]
            if part.task == "prototype-distinction":
                name = name_class(part, photo, photo.options[trial.option - 1])
                yield Fact(tr("judging.looking_at", name=name), "strong")
            for line in truth_of(part, photo):
                yield Fact(line, veiled=True)
            yield from list_chosen(part.adaptive, state.tracking)
            for line in answers_of(part, photo, trial):
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
    head = tr("judging.reads_method") if reads else tr("judging.exercise", number=trial.number)
    yield Fact(head, "strong")
    for line in exercise_truth(exercise):
        yield Fact(line, veiled=True)
    for line in () if reads else exercise_answers(exercise, trial):
        yield Fact(line, "secondary")
    if trial.right is not None:
        right = all(trial.right.values())
        text = tr("judging.exercise_right") if right else tr("judging.exercise_wrong")
        yield Fact(text, "strong", "good" if right else "alarm")


def facts_judged(part: JudgingPart) -> str:
    explained = part.explained
    facts = [
        tr("task.stimulus_set", id=explained.stimuli),
        tr("judging.photos", n=len(part.photos)),
        tr("task.model_right_in", percent=wording.percent(explained.accuracy / 100)),
    ]
    if explained.colour_map:
        facts.append(tr("judging.colours", name=explained.colour_map))
    if part.labels:
        facts.append(tr("judging.class_told"))
    return "  ·  ".join(facts)


QUESTIONS = {
    judging.VERDICT: N_("judging.exercise.verdict"),
    judging.AGREEMENT: ASKED[judging.AGREEMENT],
    judging.MISTAKE: N_("judging.exercise.mistake"),
}
"""Questions as the moderator reads them."""
VERDICTS = {judging.WRONG: N_("task.wrong"), judging.RIGHT: N_("task.right")}
WORDS = {
    "colour": N_("judging.node.colour"),
    "count": N_("judging.node.count"),
    "shape": N_("judging.node.shape"),
    "colour_green": N_("judging.node.green"),
    "colour_red": N_("judging.node.red"),
    "colour_yellow": N_("judging.node.yellow"),
    "count_few": N_("judging.node.few"),
    "count_many": N_("judging.node.many"),
    "shape_round": N_("judging.node.round"),
    "shape_skinny": N_("judging.node.skinny"),
}
"""Attributes and steps of the fruit decision tree."""


def exercise_truth(exercise: Exercise) -> list[str]:
    """What is correct, what the model predicts, and by which steps."""
    wrong = "" if exercise.first_wrong is None else tr("task.wrong_mark")
    lines = [
        tr("task.correct", name=tr("judging.fruit", letter=exercise.truth)),
        tr("task.predicted", name=tr("judging.fruit", letter=exercise.prediction)) + wrong,
        tr("judging.steps", steps=" → ".join(tr(WORDS[step]) for step in exercise.steps)),
    ]
    if exercise.first_wrong is not None:
        lines.append(tr("task.first_wrong_step", number=exercise.first_wrong))
    return lines


def exercise_answers(exercise: Exercise, trial: PhotoTrial) -> list[str]:
    return [
        f"{tr(QUESTIONS[question.id])}: "
        + _exercise_answer(exercise, question, trial.answers.get(question.id))
        for question in judging.exercise_questions(exercise)
    ]


def _exercise_answer(exercise: Exercise, question: PhotoQuestion, value: int | None) -> str:
    """An answer in words, with a mark where it can be right or wrong."""
    if value is None:
        return "–"
    if question.id == judging.VERDICT:
        text = tr(VERDICTS[value])
    elif question.id == judging.AGREEMENT:
        text = tr(AGREED[value])
    else:
        none = value == question.last
        text = tr("judging.exercise.none") if none else tr(WORDS[exercise.asked[value - 1]])
    return mark_answer(text, value, question.right)
