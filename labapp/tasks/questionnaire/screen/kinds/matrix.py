"""A matrix on the screen: a row for each thing that is rated, under the words of the scale."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from labapp.study.instruments.kinds.matrix import Matrix
from labapp.tasks.questionnaire.screen.kinds.view import MARK_WIDTH, TABLE_WORDS_WIDTH, ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import AnchorRow, Look, Scale

LEAST_WORDS = 200


class MatrixView(ItemView):
    """The words of the item above its rows; each row is one stop of Tab, and takes arrow keys and
    digits like a rating."""

    def __init__(self, item: Matrix, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words, wide=True)
        self._value: dict[str, int] = {}
        self.heads = AnchorRow(item.points, item.anchors(), palette, over=True)
        self.rows: dict[str, Scale] = {}
        self.labels = []
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_XXL)
        grid.setVerticalSpacing(theme.SPACE_XS)
        grid.setColumnStretch(1, 1)
        grid.setContentsMargins(MARK_WIDTH, 0, 0, 0)
        grid.addWidget(self.heads, 0, 1)
        look = Look(
            numbered=item.numbered and bool(item.numbers),
            digits=not item.ticks,
            first=item.first,
            even=bool(item.labels),
            ticks=item.ticks,
        )
        parts = {part.id: part for part in item.parts()}
        for number, row in enumerate(item.shown(), start=1):
            part = parts[item.part_id(row.id)]
            label = controls.make_label(row.text, wrap=True)
            scale = Scale(item.points, palette, look, part.text, item.anchors())
            scale.chosen.connect(
                lambda index, _device, name=row.id: self._rate(name, index + item.first)
            )
            self.rows[row.id] = scale
            self.labels.append(label)
            grid.addWidget(label, number, 0)
            grid.addWidget(scale, number, 1)
        self._first = item.first
        self.row_layout.setDirection(QBoxLayout.Direction.TopToBottom)
        self.row_layout.setSpacing(theme.SPACE_S)
        self.row_layout.addLayout(grid)

    def _rate(self, row: str, number: int) -> None:
        self.answered.emit({**self._value, row: number})

    def show_value(self, value: Any) -> None:
        self._value = dict(value or {})
        for row, scale in self.rows.items():
            number = self._value.get(row)
            scale.show_index(None if number is None else number - self._first)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The words of the rows as wide as those over the scale leave room for."""
        super().resizeEvent(event)
        room = self.width() - MARK_WIDTH - theme.SPACE_XXL - self.heads.needed_width()
        for label in self.labels:
            label.setFixedWidth(max(LEAST_WORDS, min(TABLE_WORDS_WIDTH, room)))

    def entrance(self) -> QWidget:
        open_rows = (scale for row, scale in self.rows.items() if row not in self._value)
        return next(open_rows, next(iter(self.rows.values())))
