"""A page of the researcher's that scrolls up and down."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.moderator import bits

LEAST_HEIGHT = 72


class Scrolled(bits.Scrolling):
    """name: what it holds, for who hears the screen."""

    def __init__(self, name: str) -> None:
        super().__init__(QWidget(), LEAST_HEIGHT)
        self.setProperty("role", "page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)

    def begin(self) -> QVBoxLayout:
        """An empty page in place of what was there."""
        page = self._inside = QWidget()
        layout = bits.column(page, theme.SPACE_L, (0, 0, theme.SPACE_S, 0))
        self.setWidget(page)
        return layout
