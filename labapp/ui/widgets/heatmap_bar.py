"""The bar that says what the colours of heatmaps mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.widgets.heard import Picture
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import pen
from labapp.ui.widgets.photo_view import image_of

HEIGHT = 14
LEAST_WIDTH = 120


class ColourStrip(QWidget):
    """The colours from least to most."""

    def __init__(self, table: NDArray[np.uint8], palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._image: QImage = image_of(table[np.newaxis, :, :])
        self.setFixedHeight(HEIGHT)
        self.setMinimumWidth(LEAST_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawImage(QRectF(self.rect()), self._image)
        painter.setPen(pen(self._colors.secondary))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()


class HeatmapBar(Picture):
    """The colours, below them what their ends (and their middle) mean, and a remark.

    table: uint8 (256, 3), from least to most.
    """

    def __init__(
        self,
        table: NDArray[np.uint8],
        palette: theme.Palette,
        low: str,
        high: str,
        *,
        middle: str = "",
        remark: str = "",
    ) -> None:
        super().__init__()
        listed = " – ".join(text for text in (low, middle, high) if text)
        self.setAccessibleName(f"{listed}. {remark}")
        words = QHBoxLayout()
        words.setSpacing(theme.SPACE_S)
        sides = (
            Qt.AlignmentFlag.AlignLeft,
            Qt.AlignmentFlag.AlignHCenter,
            Qt.AlignmentFlag.AlignRight,
        )
        # The remark stands where the middle has no words of its own, else below.
        for text, side in zip((low, middle or remark, high), sides, strict=True):
            label = PlainLabel(text)
            label.setProperty("role", "secondary")
            label.setAlignment(side)
            words.addWidget(label, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(ColourStrip(table, palette))
        column.addLayout(words)
        if middle and remark:
            below = PlainLabel(remark)
            below.setProperty("role", "secondary")
            below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(below)
