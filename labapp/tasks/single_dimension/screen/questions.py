"""The single-dimension screen: the question on the left, what its dial does on the right."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.representations.space import Discrete, LatentSpace
from labapp.study.stages import Visualisation
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.pictures import Examples
from labapp.tasks.single_dimension.plan import (
    STEPS,
    SingleDimensionPart,
    choices,
    shape_of,
    value_name,
)
from labapp.tasks.single_dimension.screen.example_sheet import ExampleSheet
from labapp.tasks.single_dimension.state import POINTS, RATINGS, Question
from labapp.ui import theme
from labapp.ui.participant.question_screen import QuestionScreen, say
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.cards import AnswerRow
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.scale import AnchorRow, Look, Scale
from labapp.ui.widgets.series import view_of

WIDTH = 1360
"""Wider than other screens: seven pictures beside the question at twice their size."""
LEFT_WIDTH = 384
PICTURE_MOST = 320.0
RIGHT_LEAST = 640
CHOICES = ("choice_low", "choice_medium", "choice_high")
RATED = {"confidence": "rate_confidence", "understanding": "rate_understanding"}
POINT_WORDS = ("rating_1", "rating_2", "rating_3", "rating_4", "rating_5")
HELP = {"traversals": "single_help_traversals", "exemplars": "single_help_exemplars"}
MISSING = {
    "choice": "missing_choice",
    "confidence": "missing_confidence",
    "understanding": "missing_understanding",
}


def choice_words(words: Strings, space: LatentSpace, dimension: int) -> tuple[str, ...]:
    """The choices of a question: Low, Medium, High; of a discrete dial a letter a value."""
    if not isinstance(space.dimensions[dimension], Discrete):
        return tuple(words(key) for key in CHOICES)
    return tuple(value_name(index) for index in range(choices(space, dimension)))


def headings(
    visualisation: Visualisation, words: tuple[str, ...], space: LatentSpace, dimension: int
) -> tuple[str, ...]:
    """What stands over the columns of a traversal, or over the bins."""
    if visualisation == "exemplars" or isinstance(space.dimensions[dimension], Discrete):
        return words
    return (words[0], *("" for _ in range(STEPS - 2)), words[-1])


class Rating(QWidget):
    """A statement and how far one agrees; each of the five points has its words."""

    def __init__(self, words: Strings, palette: theme.Palette, text: str) -> None:
        super().__init__()
        self._text = text
        points = {place: words(key) for place, key in enumerate(POINT_WORDS)}
        self.label = PlainLabel(text)
        self.row = Scale(POINTS, palette, Look(digits=True, even=True), text, points)
        self.anchors = AnchorRow(POINTS, points, palette)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.label)
        column.addWidget(self.row)
        column.addWidget(self.anchors)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and mark, that this statement still needs an answer."""
        say(self.label, f"▸ {self._text}" if missing else self._text, "warn" if missing else "")


class SingleDimensionScreen(QuestionScreen):
    """One stage (or the practice); questions come and go in it without anything being rebuilt."""

    missing_words = MISSING

    def __init__(self, session: SessionView, part: SingleDimensionPart) -> None:
        super().__init__(session, part, tells=part.feedback)
        examples = session.pictures
        assert examples is not None  # the window makes a screen when they are there
        assert examples.question is not None
        self._part = part
        self._space = LatentSpace.from_json(part.dimensions)
        self._shapes = {
            shape_of(part.visualisation, self._space, dimension) for dimension in part.asked
        }
        self._shown: Examples | None = None
        words, palette = session.words, session.palette
        self.picture = view_of(
            part.display,
            examples.question,
            palette,
            words("this_picture"),
            improved=True,
            chart=part.chart,
        )
        self.answers = AnswerRow(palette, words("this_picture"))
        self.ratings = {item: Rating(words, palette, words(RATED[item])) for item in RATINGS}
        self.sheet = ExampleSheet(
            part.display, part.visualisation, palette, words("examples"), part.chart
        )
        self.sheet.show_rows(examples.rows, ())
        self.more = Button(words("more_examples"))
        self.title = PlainLabel()
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self.feeling = PlainLabel(words("single_feeling"))
        self._lay_out()
        send = self.send
        self.answers.chosen.connect(lambda index, device: send(Choose(index, device)))
        self.more.clicked.connect(lambda: send(ShowMoreExamples()))
        for item, rating in self.ratings.items():
            rating.row.chosen.connect(
                lambda index, device, item=item: send(Rate(item, index + 1, device))
            )

    def _lay_out(self) -> None:
        words = self.session.words
        text = words(HELP[self._part.visualisation])
        if self._part.think_aloud:
            text = f"{text} {words('task_text_think_aloud')}"
        help_text = PlainLabel(text)
        help_text.setWordWrap(True)
        help_text.setProperty("role", "secondary")
        self._left = QWidget()
        self._left.setFixedWidth(LEFT_WIDTH)
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(0)
        left.addWidget(self.title)
        left.addSpacing(theme.SPACE_M)
        left.addWidget(self.picture)
        left.addSpacing(theme.SPACE_M)
        left.addWidget(self.answers)
        left.addSpacing(theme.SPACE_M)
        left.addWidget(self.feeling)
        left.addSpacing(theme.SPACE_S)
        for rating in self.ratings.values():
            left.addWidget(rating)
            left.addSpacing(theme.SPACE_S)
        left.addWidget(self.feedback)
        left.addStretch(1)
        self.feedback.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._help = help_text
        above = QHBoxLayout()
        above.setSpacing(theme.SPACE_L)
        above.addWidget(help_text, 1)
        above.addWidget(self.more, 0, Qt.AlignmentFlag.AlignBottom)
        self._right = QWidget()
        right = QVBoxLayout(self._right)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(theme.SPACE_S)
        right.addLayout(above)
        right.addWidget(self.sheet)
        right.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XXL)
        row.addStretch(1)
        row.addWidget(self._left)
        row.addWidget(self._right)
        row.addStretch(1)
        column = self.column(WIDTH)
        column.addStretch(1)
        column.addLayout(row)
        column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Pictures as large as fits, on both sides."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        high = self.height() - 2 * theme.SPACE_XL
        others = (
            self.title.heightForWidth(LEFT_WIDTH)
            + self.answers.sizeHint().height()
            + sum(rating.sizeHint().height() + theme.SPACE_S for rating in self.ratings.values())
            + self.feeling.sizeHint().height()
            + self.feedback.height()
            + 3 * theme.SPACE_M
            + theme.SPACE_S
        )
        room = min(high - others - 2, PICTURE_MOST, LEFT_WIDTH - 2)
        self.picture.set_side(self.picture.side_for(room))
        content = min(self.width() - 2 * theme.SPACE_XL, WIDTH)
        wide = content - LEFT_WIDTH - theme.SPACE_XXL
        least, button = min(RIGHT_LEAST, round(wide)), self.more.sizeHint()
        lines = self._help.heightForWidth(least - button.width() - theme.SPACE_L)
        self.sheet.fit(wide, high - max(button.height(), lines) - theme.SPACE_S)
        # As wide as the widest question of the stage: nothing shifts from one to the next.
        widest = max(self.sheet.width_of(*shape) for shape in self._shapes)
        self._right.setFixedWidth(max(widest, least))

    def _words_of(self, question: Question) -> tuple[str, ...]:
        return choice_words(self.session.words, self._space, question.dimension)

    def render_state(self) -> None:
        question, examples = self.question, self.session.pictures
        if question is None or examples is None or examples.question is None:
            return
        words, texts = self.session.words, self._words_of(question)
        self.follow_question()
        told = self.told
        asked = "single_title" if self.session.improved else "single_title_as_published"
        title = words(asked, dial=question.dimension + 1)
        open_choice = self.reminded and question.choice is None
        # Before the pictures are fitted below it. No mark: another line would shift everything. The
        # foot says it in words too.
        say(self.title, title, "warn" if open_choice else "")
        if examples is not self._shown:
            self._shown = examples
            self.picture.show_picture(examples.question)
            over = headings(self._part.visualisation, texts, self._space, question.dimension)
            self.sheet.show_rows(examples.rows, over)
            self._fit()
        self.answers.show_texts(texts)
        self.answers.show_index(question.choice)
        self.answers.show_right(question.correct if told else None)
        for item, rating in self.ratings.items():
            value = question.ratings.get(item)
            rating.row.show_index(None if value is None else value - 1)
            rating.row.set_locked(told)
            rating.mark_missing(self.reminded and not told and value is None)
        if self.more.isEnabled() == told:
            self.more.setEnabled(not told)
        self.show_feedback(texts[question.correct])

    def field(self, name: str) -> QWidget:
        return self.answers if name == "choice" else self.ratings[name].row

    def entrance(self) -> QWidget:
        return self.answers
