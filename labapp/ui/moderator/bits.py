"""Small pieces that the moderator's windows share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.theme import Palette
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.limit import NOTE_LIMIT, Limit
from labapp.ui.widgets.markdown import text_width

Box = TypeVar("Box", bound=QBoxLayout)
ICON_PX = 20


def set_text(label: QLabel, text: str) -> None:
    """Set a label's text only when it is another: setting it lays out anew."""
    if label.text() != text:
        label.setText(text)


def set_property(widget: QWidget, name: str, value: str) -> None:
    """Set a dynamic property that the style sheet looks at, and restyle only when it changed."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def label(text: str = "", role: str = "", *, wrap: bool = False, tone: str = "") -> QLabel:
    """A label with a role of the style sheet; its text is always plain."""
    made = PlainLabel(text)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if tone:
        made.setProperty("tone", tone)
    return made


def start_one() -> str:
    """What to do where there is no session."""
    return tr("No session yet: start one on the page “{page}”.", page=tr("New session"))


Margins = int | tuple[int, int, int, int]
"""Logical pixels around what is laid out: left, top, right and bottom, or the same all around."""


def row(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QHBoxLayout:
    """Widgets beside each other, in a widget or in another layout."""
    return _spaced(QHBoxLayout() if parent is None else QHBoxLayout(parent), spacing, margins)


def column(parent: QWidget | None, spacing: int, margins: Margins = 0) -> QVBoxLayout:
    """Widgets below each other, in a widget or in another layout."""
    return _spaced(QVBoxLayout() if parent is None else QVBoxLayout(parent), spacing, margins)


def _spaced(layout: Box, spacing: int, margins: Margins) -> Box:
    layout.setContentsMargins(*([margins] * 4 if isinstance(margins, int) else margins))
    layout.setSpacing(spacing)
    return layout


def readable(words: QLabel) -> QHBoxLayout:
    """Words in lines of at most 70 characters, however wide the window is."""
    words.setMaximumWidth(text_width())
    made = row(None, 0)
    made.addWidget(words, 100)
    made.addStretch(1)
    return made


def limit(field: QLineEdit | QPlainTextEdit, longest: int = NOTE_LIMIT) -> None:
    """Take so many characters and no more, and say so."""
    words = tr(
        "Only {n} characters fit here; what came after them was not taken.",
        n=number(f"{longest:,}"),
    )
    Limit(field, longest, words)


def card(title: str = "", *, role: str = "title", margin: int = theme.SPACE_XL) -> QFrame:
    """A card with a vertical layout, headed by its title."""
    frame = QFrame()
    frame.setProperty("role", "card")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(theme.SPACE_M)
    if title:
        layout.addWidget(label(title, role))
    return frame


def ask_new_path(parent: QWidget, title: str, name: str, kinds: str = "") -> Path | None:
    """Where something new is to lie, None where nobody wants it. Whoever writes it refuses what is
    there already, so nothing is asked about that.

    name: what it is called in the home folder at first; kinds: of files, as Qt's dialogs write
    them.
    """
    asked = QFileDialog.Option.DontConfirmOverwrite
    path, _ = QFileDialog.getSaveFileName(parent, title, str(Path.home() / name), kinds, "", asked)
    return Path(path) if path else None


def hairline() -> QFrame:
    """A line between rows."""
    line = QFrame()
    line.setProperty("role", "hairline")
    line.setFixedHeight(1)
    return line


def turn_pages(tabs: Sequence[QAbstractButton], turn: Callable[[int], object]) -> None:
    """Let one of the tabs be checked at a time, the first to begin with; turn: is told the place of
    the one that was pressed.

    Qt's own exclusive buttons are one stop of the Tab key, and arrow keys go on from there, which
    ours leave alone: nobody would come to the others by the keyboard.
    """

    def choose(chosen: int) -> None:
        for place, tab in enumerate(tabs):
            tab.setChecked(place == chosen)
        turn(chosen)

    for place, tab in enumerate(tabs):
        tab.setCheckable(True)
        tab.setChecked(place == 0)
        tab.clicked.connect(lambda _=False, place=place: choose(place))


class Scrolling(QScrollArea):
    """Scrolls down where there is less room than its content needs; never sideways, because it is
    at least as wide as that. least: the height that it asks for, in logical pixels, where it is to
    take what others leave; otherwise it asks for that of its content."""

    def __init__(self, inside: QWidget, least: int = 0) -> None:
        super().__init__()
        self._inside, self._least = inside, least
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inside)

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        return QSize(self._inside.minimumSizeHint().width() + bar, self._least)

    def sizeHint(self) -> QSize:
        wanted = self._inside.sizeHint().expandedTo(self.minimumSizeHint())
        return QSize(wanted.width(), self._least) if self._least else wanted

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self._inside:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class ElidedLabel(PlainLabel):
    """A one-line label that shortens its text with an ellipsis; the tool tip has all of it."""

    def __init__(self, text: str = "", role: str = "") -> None:
        super().__init__()
        self._full = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if role:
            self.setProperty("role", role)
        self.set_full(text)

    def full(self) -> str:
        """The whole text."""
        return self._full

    def set_full(self, text: str) -> None:
        """Show a text, shortened to the width there is."""
        if text != self._full:
            self._full = text
            self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(
            self._full, Qt.TextElideMode.ElideRight, max(0, self.contentsRect().width())
        )
        set_text(self, shown)
        self.setToolTip(self._full if shown != self._full else "")


class StatusIcon(QWidget):
    """A round mark: ok (check), warn (exclamation), missing (cross), busy (dots), todo (ring),
    current (triangle), skipped (arrow). Shape and colour both tell; the word stands beside it."""

    def __init__(self, palette: Palette, state: str = "busy", px: int = ICON_PX) -> None:
        super().__init__()
        self._palette = palette
        self._state = state
        self.setFixedSize(px, px)

    @property
    def state(self) -> str:
        return self._state

    def set_state(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(ICON_PX, ICON_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_status(painter, self._palette, self._state, QRectF(self.rect()))


def paint_status(painter: QPainter, palette: Palette, state: str, box: QRectF) -> None:
    """Paint the mark of `StatusIcon` into a square box."""
    tones = {"ok": "good", "done": "good", "warn": "warn", "missing": "alarm", "current": "accent"}
    colour = palette.color(tones.get(state, "secondary"))
    side = box.width()
    round_box = box.adjusted(1, 1, -1, -1)
    painter.setPen(Qt.PenStyle.NoPen)
    if state in ("todo", "busy"):
        ring = QColor(colour)
        ring.setAlphaF(0.6)
        painter.setPen(QPen(ring, side * 0.08))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(
            round_box.adjusted(side * 0.05, side * 0.05, -side * 0.05, -side * 0.05)
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if state == "busy":
            for x in (0.3, 0.5, 0.7):
                painter.drawEllipse(_at(box, x, 0.5), side * 0.055, side * 0.055)
        return
    painter.setBrush(colour)
    if state == "skipped":
        painter.setBrush(Qt.BrushStyle.NoBrush)
    else:
        painter.drawEllipse(round_box)
    ink = palette.color("card") if state != "skipped" else colour
    pen = QPen(ink, side * 0.11)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    for line in _strokes(state):
        painter.drawPolyline(QPolygonF([_at(box, x, y) for x, y in line]))
    if state == "warn":
        painter.drawPoint(_at(box, 0.5, 0.72))
    if state == "current":
        painter.setBrush(ink)
        triangle = [_at(box, x, y) for x, y in ((0.42, 0.34), (0.66, 0.5), (0.42, 0.66))]
        painter.setPen(QPen(ink, side * 0.05))
        painter.drawPolygon(QPolygonF(triangle))


def _strokes(state: str) -> Sequence[Sequence[tuple[float, float]]]:
    return {
        "ok": (((0.3, 0.52), (0.44, 0.66), (0.7, 0.36)),),
        "done": (((0.3, 0.52), (0.44, 0.66), (0.7, 0.36)),),
        "warn": (((0.5, 0.27), (0.5, 0.55)),),
        "missing": (((0.35, 0.35), (0.65, 0.65)), ((0.65, 0.35), (0.35, 0.65))),
        "skipped": (
            ((0.25, 0.3), (0.48, 0.5), (0.25, 0.7)),
            ((0.52, 0.3), (0.75, 0.5), (0.52, 0.7)),
        ),
    }.get(state, ())


def _at(box: QRectF, x: float, y: float) -> QPointF:
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height())
