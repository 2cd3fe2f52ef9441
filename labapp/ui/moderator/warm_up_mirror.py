"""The mirror of the warm-up: the fruits, how the tree judges them, and the answers so far.

While the participant reads how it works, it has the example that is worked already.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.plan import Exercise, Question, WarmUpPart
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.judging_mirror import AGREED, ASKED
from labapp.ui.moderator.rows_mirror import marked
from labapp.ui.theme import Palette
from labapp.ui.widgets.fruits import FruitPicture

PICTURE_WIDTH = 300
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


class WarmUpMirror(QWidget):
    """The exercise that is on the participant's screen."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.fruits = FruitPicture(palette, tr("Fruits"), PICTURE_WIDTH)
        self.headline = bits.label("", "title")
        self.told = bits.label("", "", wrap=True)
        self.answers = bits.label("", "secondary", wrap=True)
        self.done = bits.label("", "strong", wrap=True)
        facts = QVBoxLayout()
        facts.setSpacing(theme.SPACE_M)
        for label in (self.headline, self.told, self.answers, self.done):
            facts.addWidget(label)
        facts.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, theme.SPACE_S, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(self.fruits, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(facts, 1)

    def show_trial(self, part: WarmUpPart, trial: PhotoTrial) -> None:
        """Bring what changed up to date."""
        reads = trial.started_ns is None
        exercise = part.worked if reads else part.exercises[trial.number - 1]
        self.fruits.show_fruits(exercise.picture)
        head = tr("Reads how it works") if reads else tr("Exercise {number}", number=trial.number)
        bits.set_text(self.headline, head)
        bits.set_text(self.told, "\n".join(truth_of(exercise)))
        bits.set_text(self.answers, "" if reads else "\n".join(answers_of(exercise, trial)))
        self._show_done(trial)

    def _show_done(self, trial: PhotoTrial) -> None:
        """Whether it is handed in, and what the participant is told then."""
        if trial.right is None:
            bits.set_text(self.done, "")
            return
        right = all(trial.right.values())
        bits.set_property(self.done, "tone", "good" if right else "alarm")
        said = tr("Handed in: right.") if right else tr("Handed in: not right.")
        bits.set_text(self.done, said)


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
