"""The participant's screen: a picture, the candidates below it, and the answer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.participant.screen import QuestionScreen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.choice import Look, Scale
from labapp.ui.widgets.dial import view_of
from labapp.ui.widgets.row_view import AnswerRow
from labapp_counterfactual.commands import ChooseCandidate, RateConfidence
from labapp_counterfactual.pictures import Choice
from labapp_counterfactual.plan import CounterfactualPart
from labapp_counterfactual.state import POINTS

MOST_SIDE, LEAST_SIDE = 240.0, 64.0
"""Of a picture, in logical pixels."""
ANSWER_WIDTH, CONFIDENCE_WIDTH = 104, 416
"""Of an answer, and of the whole scale, in logical pixels."""
LETTERS = "ABCDEFGH"
MISSING = {
    "choice": "counterfactual_missing_choice",
    "confidence": "counterfactual_missing_confidence",
}


class Candidate(QWidget):
    """A picture that can be taken, with its letter above it. pressed: by the mouse."""

    pressed = Signal()

    def __init__(self, picture: QWidget, letter: str) -> None:
        super().__init__()
        self.letter = QLabel(letter)
        self.letter.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.letter)
        column.addWidget(picture, 0, Qt.AlignmentFlag.AlignHCenter)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()


class CounterfactualScreen(QuestionScreen):
    """One stage."""

    missing_words = MISSING

    def __init__(self, session: SessionView, part: CounterfactualPart) -> None:
        super().__init__(session, part)
        self._part = part
        self._shown: Choice | None = None
        words, palette = session.words, session.palette
        first: Choice = session.pictures  # there, or the window would not make a screen
        letters = LETTERS[: part.candidates]
        self.query, *self.pictures = (
            view_of(part.display, picture, palette, name, improved=True)
            for picture, name in zip(
                (first.query, *first.candidates),
                (words("this_picture"), *letters),
                strict=True,
            )
        )
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self.candidates = [
            Candidate(picture, letter)
            for picture, letter in zip(self.pictures, letters, strict=True)
        ]
        self.answers = AnswerRow(palette, words("this_picture"))
        self.answers.show_texts(tuple(letters))
        self.confidence_label = QLabel(words("counterfactual_confidence"))
        self.confidence_label.setWordWrap(True)
        self.confidence = Scale(
            POINTS,
            palette,
            Look(digits=True, numbered=True, first=1),
            words("counterfactual_confidence"),
        )
        self._lay_out()
        self.answers.chosen.connect(lambda place, device: self.send(ChooseCandidate(place, device)))
        self.confidence.chosen.connect(
            lambda place, device: self.send(RateConfidence(place + 1, device))
        )
        for place, candidate in enumerate(self.candidates):
            candidate.pressed.connect(
                lambda place=place: self.send(ChooseCandidate(place, "mouse"))
            )

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_L)
        row.addStretch(1)
        for candidate in self.candidates:
            row.addWidget(candidate)
        row.addStretch(1)
        column = self.column()
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.title)
        column.addWidget(self.query, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(row)
        middle = Qt.AlignmentFlag.AlignHCenter
        self.answers.setFixedWidth(ANSWER_WIDTH * len(self.candidates))
        self.confidence_label.setAlignment(middle)
        self.confidence.setFixedWidth(CONFIDENCE_WIDTH)
        column.addWidget(self.answers, 0, middle)
        column.addWidget(self.confidence_label)
        column.addWidget(self.confidence, 0, middle)
        column.addWidget(self.feedback)
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Pictures as large as height and width allow: two rows of them, beside each other."""
        count = self._part.candidates
        content = min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH)
        labels = (self.title, self.confidence_label)
        others = (
            sum(label.heightForWidth(content) for label in labels)
            + self.answers.sizeHint().height()
            + self.confidence.sizeHint().height()
            + self.feedback.height()
            + self.candidates[0].letter.sizeHint().height()
            + 8 * theme.SPACE_S
        )
        high = (self.height() - 2 * theme.SPACE_XL - others) / 2
        wide = (content - (count - 1) * theme.SPACE_L) / count
        side = max(min(high, wide, MOST_SIDE), LEAST_SIDE)
        for picture in (self.query, *self.pictures):
            picture.set_side(picture.side_for(side))

    def render_state(self) -> None:
        question, shown = self.question, self.session.pictures
        if question is None or shown is None:
            return
        self.follow_question()
        words, known = self.session.words, self.told
        self.title.setText(words("counterfactual_title", dial=question.dimension + 1))
        if shown is not self._shown:
            self._shown = shown
            self.query.show_picture(shown.query)
            for view, picture in zip(self.pictures, shown.candidates, strict=True):
                view.show_picture(picture)
            self._fit()
        self.answers.show_index(question.choice)
        self.answers.show_right(question.correct if known else None)
        rated = question.confidence
        self.confidence.show_index(None if rated is None else rated - 1)
        self.confidence.set_locked(known)
        self.show_feedback(LETTERS[question.correct])

    def field(self, name: str) -> QWidget:
        return self.answers if name == "choice" else self.confidence

    def entrance(self) -> QWidget:
        return self.answers
