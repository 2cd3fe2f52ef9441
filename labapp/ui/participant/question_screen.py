"""What the screens of questions share that are handed in, and may then be told right or wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from labapp.events.commands import HandIn, Next
from labapp.plugins.part import TrialsPart
from labapp.ui.participant.screen import Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.cards import RIGHT_MARK, WRONG_MARK
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import restyle


class QuestionScreen(Screen):
    """One stage of questions, which come and go in it without anything being made anew.

    Its questions have `number`, `attempt`, `right` (None before they are handed in) and `missing`,
    the names of what is still to be given. A task lays out its widgets, gives `feedback` a place,
    and begins `render_state` with `follow_question`.
    """

    missing_words: ClassVar[Mapping[str, str]]
    """By name of what can be missing the key of its words."""

    def __init__(self, session: SessionView, part: TrialsPart, *, tells: bool = True) -> None:
        super().__init__(session, part)
        self.tells = tells
        """Whether the participant is told if an answer was right."""
        self.feedback = PlainLabel()
        self.feedback.setWordWrap(True)
        # Room for two lines from the start: nothing shifts when feedback appears.
        self.feedback.setFixedHeight(2 * self.feedback.fontMetrics().lineSpacing())
        self._trials: int = part.trials
        self._stage = stage_words(session, part)
        self._question: tuple[int, int] | None = None
        self._heard = False

    @property
    def question(self) -> Any:
        """The question on the screen; None before the first."""
        return getattr(self.state, "trial", None)

    @property
    def told(self) -> bool:
        """Whether it is said on the screen if the answer was right."""
        question = self.question
        return self.tells and question is not None and question.right is not None

    def field(self, name: str) -> QWidget:
        """What takes the focus where something is missing."""
        raise NotImplementedError

    def follow_question(self) -> None:
        """Begin anew where another question came."""
        question = self.question
        key = (question.number, question.attempt)
        if key != self._question:
            self._question = key
            self.reminded = self._heard = False
            self.wish = "content"

    def show_feedback(self, answer: str) -> None:
        """Say whether the answer was right, once it is told. answer: the right one, in words."""
        if not self.told:
            say(self.feedback, "")
            return
        right = self.question.right
        text = self.session.words("feedback_right" if right else "feedback_wrong", answer=answer)
        mark = RIGHT_MARK if right else WRONG_MARK
        say(self.feedback, f"{mark} {text}", "good" if right else "alarm")
        if not self._heard:
            self._heard = True
            self.tell(self.feedback.text())
            self.wish = "right"

    def head(self) -> Head:
        question, of = self.question, self._trials
        number = question.number if question else 1
        text = self.session.words("question_of", number=number, of=of)
        return Head(self._stage, text, number, of)

    def foot(self) -> Foot:
        words, question = self.session.words, self.question
        hand_in = words("hand_in" if self.tells else "hand_in_untold")
        if question is None or question.right is not None:
            if not self.tells:
                return Foot(right=hand_in, enabled=False)
            return Foot(right=words("next_question"), enabled=question is not None)
        missing = ", ".join(words(self.missing_words[name]) for name in question.missing)
        return Foot(
            right=hand_in,
            ready=not missing,
            note=words("answer_missing", items=missing) if missing else "",
            warn=bool(missing) and self.reminded,
        )

    def right(self) -> None:
        question = self.question
        if question is None:
            return
        if question.right is not None:
            self.send(Next())
        elif not question.missing:
            self.send(HandIn())
        else:
            self.reminded = True
            self.render_state()
            self.altered.emit()
            self.field(question.missing[0]).setFocus(Qt.FocusReason.OtherFocusReason)


def say(label: QLabel, text: str, tone: str = "") -> None:
    """Words and tone, where they are others than before."""
    if label.text() != text:
        label.setText(text)
    restyle(label, "tone", tone)
