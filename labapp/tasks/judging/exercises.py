"""What a moderator reads of an exercise of the warm-up: what is true, and what is answered."""

from __future__ import annotations

from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.answers import AGREED, ASKED, marked
from labapp.tasks.judging.plan import Exercise, Question
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui.language import N_, tr

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
    """The answers so far, a line each."""
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
        text = (
            tr(WORDS[exercise.asked[value - 1]]) if value < question.last else tr("there is none")
        )
    return marked(text, value, question.right)
