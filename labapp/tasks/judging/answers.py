"""What a moderator reads of a photo that is judged: what is true, and what is answered.

What the model predicts and what is correct is for the moderator's eyes alone.
"""

from __future__ import annotations

from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.plan import JudgingPart, PlannedPhoto, Question
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui.language import N_, tr

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


def named(part: JudgingPart, photo: PlannedPhoto, text: str) -> str:
    """A class by its place among the options, where it has one, and its name."""
    name = part.explained.names.get(text, text)
    return f"{photo.options.index(text) + 1} · {name}" if text in photo.options else name


def truth_of(part: JudgingPart, photo: PlannedPhoto) -> list[str]:
    """What is correct and what the model predicts."""
    wrong = "" if photo.correct else tr("task.wrong_mark")
    lines = [
        tr("task.correct", name=named(part, photo, photo.truth)),
        tr("task.predicted", name=named(part, photo, photo.prediction)) + wrong,
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
            text = _said(question, trial.answers.get(question.id), photo)
            lines.append(f"{tr(ASKED[question.id])}: {text}")
    return lines


def _said(question: Question, value: int | None, photo: PlannedPhoto) -> str:
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
    return marked(text, value, question.right)


def marked(text: str, value: int, right: int | None) -> str:
    """An answer with a mark where it can be right or wrong."""
    return text if right is None else f"{text} {'✓' if value == right else '✗'}"
