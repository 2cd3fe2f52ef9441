"""The screen of the examples: every concept in two pictures, with its words below them, and what
else in them differs."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from labapp.record.events.commands import Next
from labapp.tasks.concept_repair.examples import ConceptExamplesPart, PlannedExample
from labapp.ui import theme
from labapp.ui.participant.screen import Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.painting import metrics
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.segments import broken_width

WIDTH = 1440
"""Wider than other screens, as the task is: its pictures are looked at closely."""
LEAST_SIDE, MOST_SIDE = 96, 320
"""Logical pixels of a picture; with less the window scrolls, for nothing runs against time here."""
BETWEEN = theme.SPACE_S
GAP = theme.SPACE_XL
"""Logical pixels between the two pictures of a concept, and from one concept to the next."""
WORD_LINES = 2
OTHER_LINES = 2
"""Below a pair, for what else differs in it, on a page where something does."""


class Example(QWidget):
    """One concept: its name, and its two pictures with their words."""

    def __init__(self, session: SessionView, example: PlannedExample) -> None:
        super().__init__()
        images, concept = session.images, example.concept
        assert images is not None, "a session that shows pictures keeps them"
        self.name = PlainLabel(concept.name, self)
        self.name.setProperty("role", "strong")
        self.pictures, self.words = [], []
        shown = [(example.off, concept.off), (example.on, concept.on)]
        for ref, word in shown if concept.right == "on" else reversed(shown):
            told = session.words("concept_example", concept=concept.name, word=word)
            picture, label = PhotoView(session.palette, told), PlainLabel(word, self)
            picture.setParent(self)
            picture.show_picture(images.image(ref))
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
            self.pictures.append(picture)
            self.words.append(label)
        others = ", ".join(example.differing)
        self.others = PlainLabel(
            session.words("concept_example_others", items=others) if others else "", self
        )
        self.others.setProperty("role", "secondary")
        self.others.setWordWrap(True)

    def place(self, side: int, lines: int, others: int) -> None:
        """Show pictures of so many logical pixels, with words in so many lines, and in `others`
        lines what else differs."""
        line = _line()
        self.setFixedSize(2 * side + BETWEEN, side + beside(lines + others))
        high = others * line
        self.others.setGeometry(0, self.height() - high, self.width(), high)
        self.others.setVisible(bool(others))
        self.name.setGeometry(0, 0, self.width(), line)
        top = line + theme.SPACE_XS
        for place, (picture, label) in enumerate(zip(self.pictures, self.words, strict=True)):
            x = place * (side + BETWEEN)
            picture.set_side(side)
            picture.setGeometry(x, top, side, side)
            below = top + side + theme.SPACE_XS
            label.setGeometry(QRect(x, below, side, self.height() - below - high))


def _line() -> int:
    return ceil(metrics(bold=True).height()) + 1


def beside(lines: int) -> int:
    """Logical pixels of an example's height that are no picture."""
    return (1 + lines) * _line() + 2 * theme.SPACE_XS


class Sheet(NamedTuple):
    """How examples stand: so many in a row, with pictures of `side` logical pixels and words in so
    many lines."""

    columns: int
    side: int
    lines: int


class ExampleSheet(QWidget):
    """All concepts, in as many columns as make their pictures largest."""

    def __init__(self, session: SessionView, examples: tuple[PlannedExample, ...]) -> None:
        super().__init__()
        self.examples = [Example(session, example) for example in examples]
        for example in self.examples:
            example.setParent(self)
        self._others = OTHER_LINES * any(bool(each.others.text()) for each in self.examples)

    def _needed_side(self, lines: int) -> int:
        """Logical pixels that all words need below their pictures, in so many lines."""
        texts = [label.text() for example in self.examples for label in example.words]
        widths = (broken_width(text, lines, theme.BODY_PX, bold=False) for text in texts)
        return max(LEAST_SIDE, *widths)

    def _side(self, columns: int, lines: int, wide: int, high: int) -> int:
        rows = ceil(len(self.examples) / columns)
        across = ((wide + GAP) // columns - GAP - BETWEEN) // 2
        down = (high + theme.SPACE_L) // rows - theme.SPACE_L - beside(lines + self._others)
        return min(across, down, MOST_SIDE)

    def arranged(self, wide: int, high: int) -> Sheet:
        """The columns whose pictures are largest; where none are large enough, as many columns as
        the width allows."""
        for lines in range(1, WORD_LINES + 1):
            sheets = [
                Sheet(columns, self._side(columns, lines, wide, high), lines)
                for columns in range(1, len(self.examples) + 1)
            ]
            best = max(sheets, key=lambda sheet: sheet.side)
            if best.side >= self._needed_side(lines):
                return best
        return self._least(wide)

    def _least(self, wide: int) -> Sheet:
        side = self._needed_side(WORD_LINES)
        columns = max(1, (wide + GAP) // (2 * side + BETWEEN + GAP))
        lines = 1 if side >= self._needed_side(1) else WORD_LINES
        return Sheet(min(columns, len(self.examples)), side, lines)

    def minimumSizeHint(self) -> QSize:
        least = self._least(self.width())
        rows = ceil(len(self.examples) / least.columns)
        high = rows * (least.side + beside(least.lines + self._others) + theme.SPACE_L)
        high -= theme.SPACE_L
        return QSize(2 * least.side + BETWEEN, high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()  # another width has another least height
        sheet = self.arranged(self.width(), self.height())
        wide = sheet.columns * (2 * sheet.side + BETWEEN + GAP) - GAP
        left = max(0, (self.width() - wide) // 2)
        for place, example in enumerate(self.examples):
            row, column = divmod(place, sheet.columns)
            example.place(sheet.side, sheet.lines, self._others)
            x = left + column * (example.width() + GAP)
            example.move(x, row * (example.height() + theme.SPACE_L))


class ExamplesScreen(Screen):
    """What the words mean, in pictures that come nowhere else."""

    def __init__(self, session: SessionView, part: ConceptExamplesPart) -> None:
        super().__init__(session, part)
        words = session.words
        alike = not any(example.others for example in part.examples)
        self.title = PlainLabel(words("concept_examples_title"))
        self.title.setProperty("role", "title")
        self.text = PlainLabel(words("concept_examples_alike" if alike else "concept_examples"))
        for label in (self.title, self.text):
            label.setWordWrap(True)
        self.sheet = ExampleSheet(session, part.examples)
        self._stage = stage_words(session, part)
        column = self.column(WIDTH)
        column.addWidget(self.title)
        column.addSpacing(theme.SPACE_XS)
        column.addWidget(self.text)
        column.addSpacing(theme.SPACE_M)
        column.addWidget(self.sheet, 1)

    def set_column_width(self, width: int) -> None:
        """Little above and below, so that pictures are large."""
        super().set_column_width(width)
        column = self.layout()
        assert column is not None
        sides = column.contentsMargins()
        column.setContentsMargins(sides.left(), theme.SPACE_S, sides.right(), theme.SPACE_S)

    def head(self) -> Head:
        return Head(self._stage)

    def foot(self) -> Foot:
        return Foot(right=self.session.words("continue"))

    def right(self) -> None:
        self.send(Next())
