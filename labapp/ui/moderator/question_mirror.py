"""The mirror of a single-dimension question: its picture, the examples beside it, the answer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.representations.space import Discrete, LatentSpace
from labapp.session.runner import Runner
from labapp.tasks.single_dimension.pictures import Examples
from labapp.tasks.single_dimension.plan import REGIMES, SingleDimensionPart
from labapp.tasks.single_dimension.state import Question
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.participant.picture_panel import view_of
from labapp.ui.participant.single_dimension import headings, value_name
from labapp.ui.theme import Palette
from labapp.ui.widgets.example_sheet import ExampleSheet
from labapp.ui.widgets.pictures import ImageView
from labapp.ui.widgets.series import SeriesView

SIDE = 200.0
REGIME_WORDS = {"low": N_("Low"), "medium": N_("Medium"), "high": N_("High")}
FACTS_WIDTH = 200


class QuestionMirror(QWidget):
    """What the participant sees and says; the right choice is told to the moderator at once."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._part: SingleDimensionPart | None = None
        self._shown: Examples | None = None
        self.picture: ImageView | SeriesView | None = None
        self.sheet: ExampleSheet | None = None
        self.asked = bits.label("", "")
        self.facts = bits.label("", "secondary", wrap=True)
        self._left = QVBoxLayout()
        self._left.setSpacing(theme.SPACE_S)
        self._left.addWidget(self.asked)
        self._left.addWidget(self.facts)
        self._left.addStretch(1)
        self.facts.setFixedWidth(FACTS_WIDTH)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_L)
        self._row.addLayout(self._left)
        self._row.addStretch(1)

    def show_question(self, part: SingleDimensionPart, question: Question, runner: Runner) -> None:
        """Bring what changed up to date."""
        examples = runner.pictures
        if examples is None or examples.question is None:
            return
        if part is not self._part or self.picture is None or self.sheet is None:
            self._begin(part, examples)
        assert self.picture is not None
        assert self.sheet is not None
        if examples is not self._shown:
            self._shown = examples
            self.picture.show_picture(examples.question)
            self.sheet.show_rows(examples.rows, over(part, question))
            self._fit()
        bits.set_text(self.asked, tr("Dial {number}", number=question.dimension + 1))
        bits.set_text(self.facts, "\n".join(facts_of(part, question)))

    def _begin(self, part: SingleDimensionPart, examples: Examples) -> None:
        """Another stage: perhaps other pictures."""
        assert examples.question is not None
        for old in (self.picture, self.sheet):
            if old is not None:
                old.hide()
                old.deleteLater()
        self._part, self._shown = part, None
        asked = tr("The picture asked about")
        self.picture = view_of(part.display, examples.question, self._palette, asked, improved=True)
        self.sheet = ExampleSheet(part.display, part.visualisation, self._palette, tr("Examples"))
        self._left.insertWidget(0, self.picture)
        self._row.insertWidget(1, self.sheet, 0, Qt.AlignmentFlag.AlignTop)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.picture is None or self.sheet is None:
            return
        self.picture.set_side(self.picture.side_for(min(SIDE, self.height() / 2)))
        self.sheet.fit(self.width() - FACTS_WIDTH - theme.SPACE_L, self.height())


def over(part: SingleDimensionPart, question: Question) -> tuple[str, ...]:
    """What stands over the examples, in the moderator's language."""
    space = LatentSpace.from_json(part.dimensions)
    dimension = space.dimensions[question.dimension]
    if isinstance(dimension, Discrete):
        names = tuple(value_name(index) for index in range(dimension.k))
    else:
        names = tuple(tr(REGIME_WORDS[regime]) for regime in REGIMES)
    return headings(part.visualisation, names, space, question.dimension)


def facts_of(part: SingleDimensionPart, question: Question) -> list[str]:
    """What is right and what was answered, a line each."""
    space = LatentSpace.from_json(part.dimensions)

    def named(choice: int | None) -> str:
        if choice is None:
            return "–"
        if isinstance(space.dimensions[question.dimension], Discrete):
            return value_name(choice)
        return tr(REGIME_WORDS[REGIMES[choice]])

    told = {None: "", True: " ✓", False: " ✗"}[question.right]
    rated = {item: question.ratings.get(item, "–") for item in ("confidence", "understanding")}
    lines = [
        tr("Right: {answer}", answer=named(question.correct)),
        tr("Chosen: {answer}", answer=named(question.choice) + told),
        tr("Confident: {points} of 5", points=rated["confidence"]),
        tr("Dial makes sense: {points} of 5", points=rated["understanding"]),
    ]
    if question.resamples:
        lines.append(tr("Other examples: {times} ×", times=question.resamples))
    return lines
