"""The single-dimension tutorial: pages of text, the last one with the pictures of one dial."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent

from labapp.representations.space import LatentSpace
from labapp.tasks.single_dimension.plan import ExamplePart
from labapp.tasks.single_dimension.screen.questions import ExampleSheet, choice_words, headings
from labapp.ui import theme
from labapp.ui.participant.pages import PagedScreen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.markdown import text_width


class ExampleScreen(PagedScreen):
    def __init__(self, session: SessionView, part: ExamplePart) -> None:
        examples = session.pictures
        assert examples is not None  # the window makes a screen when they are there
        values = {"dial": str(part.dimension + 1)}
        super().__init__(session, part, session.pages(part.document, values))
        words = session.words
        self.sheet = ExampleSheet(
            part.display, part.visualisation, session.palette, words("examples"), part.chart
        )
        space = LatentSpace.from_json(part.dimensions)
        texts = choice_words(words, space, part.dimension)
        over = headings(part.visualisation, texts, space, part.dimension)
        self.sheet.show_rows(examples.rows, over)
        column = self.column(text_width())
        column.addStretch(1)
        column.addWidget(self.text)
        column.addSpacing(theme.SPACE_L)
        column.addWidget(self.sheet, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.height() - 2 * theme.SPACE_XL - self.text.sizeHint().height() - theme.SPACE_L
        self.sheet.fit(min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH), room)

    def page_turned(self) -> None:
        self.sheet.setVisible(self.on_last_page)
        self._fit()
        self.set_column_width(max(text_width(), self.sheet.width() if self.on_last_page else 0))
