"""Ratings on the screen: circles, or a line with ticks, with the words at their places."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from labapp.study.instruments import Rating, Statement
from labapp.tasks.questionnaire.screen.kinds.view import (
    TABLE_WORDS_WIDTH,
    WORDS_WIDTH,
    ItemView,
    make_mark,
    show_mark,
)
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import AnchorRow, Look, Scale


class RatingView(ItemView):
    """A scale; the head of their table has the anchors of statements, once."""

    def __init__(self, item: Rating, words: Strings, palette: theme.Palette) -> None:
        table = isinstance(item, Statement)
        super().__init__(item, words, TABLE_WORDS_WIDTH if table else WORDS_WIDTH)
        self.rating = item
        look = Look(
            numbered=item.numbered,
            digits=not item.ticks,
            first=item.first,
            even=bool(item.labels),
            ticks=item.ticks,
        )
        self.row = Scale(item.points, palette, look, item.title, item.anchors())
        self.row.chosen.connect(lambda index, _device: self.answered.emit(index + item.first))
        if table:
            self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
            self.row_layout.addWidget(self.row, 1)
        elif self.words is None:
            self._between(*item.ends())
        else:
            right = controls.column(None, theme.SPACE_XS)
            controls.fill(right, self.row, AnchorRow(item.points, item.anchors(), palette))
            self.row_layout.addLayout(right, 1)

    def _between(self, low: str, high: str) -> None:
        self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        sides = (Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft)
        self._mark = make_mark()
        self.row_layout.setSpacing(theme.SPACE_XL)
        self.row_layout.addWidget(self._mark)
        self.sides = [controls.make_label(words, wrap=True) for words in (low, high)]
        for label, side in zip(self.sides, sides, strict=True):
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        controls.fill(self.row_layout, (self.sides[0], 2), (self.row, 3), (self.sides[1], 2))

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        if self.words is None:
            show_mark(self._mark, self.sides[0], missing)

    def show_value(self, value: Any) -> None:
        self.row.show_index(None if value is None else value - self.rating.first)

    def entrance(self) -> QWidget:
        return self.row
