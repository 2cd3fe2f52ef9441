"""Two scales at once on the screen: a grid of squares, with the words of the scales around it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from labapp.study.instruments.kinds.grid import Grid
from labapp.tasks.questionnaire.screen.kinds.view import MARK_WIDTH, ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, pen

WIDTH = 306
"""Logical pixels of the squares together, where that leaves room for a finger in each."""
SIDE_WIDTH = 150
"""Logical pixels of the words on the left and on the right."""
CENTRED = Qt.AlignmentFlag.AlignCenter


class Squares(Choice):
    """Arrow keys go from one square to the next, beginning in the middle; Space takes it."""

    looked_over = True
    first_digit = None

    def __init__(self, item: Grid, words: Strings, palette: theme.Palette) -> None:
        super().__init__(palette, item.title)
        self.points = n = item.points
        keys = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)
        self.steps = dict(zip(keys, (-1, 1, -n, n), strict=True))
        self.begins_at = (n // 2) * n + n // 2
        self.side = max(theme.TARGET_HEIGHT, WIDTH // n)
        self.setFixedSize(n * self.side + 1, n * self.side + 1)
        names = {"across": item.across.title, "up": item.up.title, "of": n}
        self.show_options(
            [
                words("item_grid_place", x=column, y=row, **names)
                for row in range(n, 0, -1)
                for column in range(1, n + 1)
            ]
        )

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def index_at(self, column: int, row: int) -> int:
        """The square in a column, from the left, and a row, from below; both from 1."""
        return (self.points - row) * self.points + column - 1

    def place_at(self, index: int) -> tuple[int, int]:
        """The column and the row of a square, as `index_at` counts them."""
        row, column = divmod(index, self.points)
        return column + 1, self.points - row

    def _find_step(self, step: int) -> int:
        """An arrow key stops at the edges."""
        row, column = divmod(self._at, self.points)
        if abs(step) == 1:
            column = min(max(column + step, 0), self.points - 1)
        else:
            row = min(max(row + step // self.points, 0), self.points - 1)
        return row * self.points + column

    def box(self, index: int) -> QRectF:
        row, column = divmod(index, self.points)
        return QRectF(column * self.side, row * self.side, self.side, self.side)

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        on_top = []
        for index, option in enumerate(self.options):
            box = self.box(index).translated(0.5, 0.5)
            taken, strong = index == self.index, option is self.pointed
            painter.setPen(pen(p.secondary))
            painter.setBrush(brush(p.accent if taken else p.accent_soft if strong else p.card))
            painter.drawRect(box)
            if option.hasFocus():
                on_top.append((box, taken))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box, taken in on_top:
            painter.setPen(pen(p.on_accent if taken else p.accent, theme.RING))
            painter.drawRect(box.adjusted(3, 3, -3, -3))


class GridView(ItemView):
    def __init__(self, item: Grid, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words, wide=True)
        self.grid = item
        self.group = Squares(item, words, palette)
        self.group.chosen.connect(lambda index, _device: self._take(index))
        around = QGridLayout()
        around.setHorizontalSpacing(theme.SPACE_M)
        around.setVerticalSpacing(theme.SPACE_XS)
        around.addWidget(self.group, 1, 1)
        places = {(0, 1): item.up.high, (1, 2): item.across.high, (2, 1): item.up.low}
        places |= {(1, 0): item.across.low}
        corners = ((0, 0), (0, 2), (2, 0), (2, 2))
        places |= dict(zip(corners, item.corners, strict=False))
        for (row, column), text in places.items():
            label = controls.make_label(
                text, "secondary" if (row, column) in corners else "", wrap=True
            )
            label.setFixedWidth(self.group.minimumWidth() if column == 1 else SIDE_WIDTH)
            sides = (Qt.AlignmentFlag.AlignRight, CENTRED, Qt.AlignmentFlag.AlignLeft)
            heights = (Qt.AlignmentFlag.AlignBottom, CENTRED, Qt.AlignmentFlag.AlignTop)
            label.setAlignment(
                sides[column] & Qt.AlignmentFlag.AlignHorizontal_Mask
                | heights[row] & Qt.AlignmentFlag.AlignVertical_Mask
            )
            around.addWidget(label, row, column)
        indented = QHBoxLayout()
        indented.setContentsMargins(MARK_WIDTH, 0, 0, 0)
        controls.fill(indented, around, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.row_layout.setDirection(QBoxLayout.Direction.TopToBottom)
        self.row_layout.setSpacing(theme.SPACE_S)
        self.row_layout.addLayout(indented)

    def _take(self, index: int) -> None:
        places = zip(self.grid.axes(), self.group.place_at(index), strict=True)
        self.answered.emit(dict(places))

    def show_value(self, value: Any) -> None:
        place = [value[name] for name in self.grid.axes()] if value else None
        self.group.show_index(None if place is None else self.group.index_at(*place))

    def entrance(self) -> QWidget:
        return self.group.entrance()
