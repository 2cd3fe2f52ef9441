"""A page of the researcher's that scrolls up and down."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.moderator import bits


class Scrolled(QScrollArea):
    """name: what it holds, for who hears the screen."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("role", "page")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)

    def begin(self) -> QVBoxLayout:
        """An empty page in place of what was there."""
        page = QWidget()
        layout = bits.column(page, theme.SPACE_L, (0, 0, theme.SPACE_S, 0))
        self.setWidget(page)
        return layout
