"""The figures of an analysis, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.outside import open_outside
from labapp.ui.researcher.scrolled import Scrolled

MOST_FIGURES = 12


class Picture(QLabel):
    """A figure as wide as there is room, in its own proportions, never larger than it is. A click
    (or Enter) opens it at its full size; unopened tells where it is if nothing does."""

    unopened = Signal(str)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.setProperty("role", "figure")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._full = QPixmap(str(path))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(path.stem.replace("-", " "))
        self.setToolTip(path.name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ratio = self.devicePixelRatioF()
        width = min(round(self.contentsRect().width() * ratio), self._full.width())
        if self._full.isNull() or self.pixmap().width() == width:
            return
        shown = self._full.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        shown.setDevicePixelRatio(ratio)
        self.setPixmap(shown)
        self.setFixedHeight(round(shown.height() / ratio) + 2 * theme.RING)

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.pos()):
            self._open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open()
        else:
            event.ignore()

    def _open(self) -> None:
        open_outside(self._path, self.unopened.emit)


class FiguresView(Scrolled):
    """All figures of an analysis, or the first of many. unopened: see `Picture`."""

    unopened = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("Figures"))
        # A bar that comes and goes would change the width, and with it the height of the figures,
        # and so whether there is a bar: without end.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    def show_figures(self, paths: Sequence[Path]) -> None:
        """Pictures in the order given."""
        layout = self.begin()
        for path in paths[:MOST_FIGURES]:
            picture = Picture(path)
            picture.unopened.connect(self.unopened)
            layout.addWidget(picture)
        if len(paths) > MOST_FIGURES:
            more = tr("More figures are in the report.")
            layout.addWidget(bits.label(more, "secondary", wrap=True))
        layout.addStretch(1)
