"""A combo box with a drawn arrow and values besides its texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
)

from labapp.ui import theme
from labapp.ui.theme import Palette

TEXT_MARGIN = 44
"""Pixels of a combo box that are not text."""


class Combo(QComboBox):
    """`activated` tells a choice of the person; `set_choices` tells nobody."""

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__()
        self._arrow = QPen(palette.color("secondary"), 1.6)
        self.setAccessibleName(name)
        self.setMinimumHeight(theme.TARGET_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)

    def set_choices(self, choices: Sequence[tuple[str, Any]], current: Any) -> None:
        """choices: (text, value); current: the value that is shown as chosen."""
        known = [(self.itemText(i), self.itemData(i)) for i in range(self.count())]
        self.blockSignals(True)
        if known != list(choices):
            self.clear()
            for text, value in choices:
                self.addItem(text, value)
        values = [value for _, value in choices]
        self.setCurrentIndex(values.index(current) if current in values else -1)
        self.blockSignals(False)
        self.setToolTip(self.currentText())

    def paintEvent(self, event: QPaintEvent) -> None:
        # Qt cuts a long text off under a style sheet; an ellipsis says that there is more.
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        room = self.width() - TEXT_MARGIN
        text = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        option.currentText = text
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._arrow)
        x, y = self.width() - 17.0, self.height() / 2 + 0.5
        painter.drawPolyline(
            QPolygonF([QPointF(x - 4.5, y - 2.2), QPointF(x, y + 2.2), QPointF(x + 4.5, y - 2.2)])
        )
