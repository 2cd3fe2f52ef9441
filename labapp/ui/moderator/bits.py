"""Small pieces that the moderator's windows share.

Also their style sheet (the theme's, and what only they use), and a combo box with a drawn arrow and
values besides its texts.

Tables whose rows are read and chosen; cells are made when they are painted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QTableView,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.theme import Palette
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import NOTE_LIMIT, Limit, PlainLabel
from labapp.ui.widgets.controls import hairline as hairline
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.painting import equip, metrics, restyle, smooth, write_with

ICON_PX = 20
STEPS = 1000
"""Of a bar of progress."""
column, fill, row, label, Gap = (
    controls.column,
    controls.fill,
    controls.row,
    controls.make_label,
    controls.Gap,
)
set_property = restyle


def set_text(label: QLabel | QAbstractButton, text: str, tone: str | None = None) -> None:
    """Set a text, and its tone, only when it is another: setting it lays out again."""
    if tone is not None:
        set_property(label, "tone", tone)
    if label.text() != text:
        label.setText(text)


def start_one() -> str:
    """What to do where there is no session."""
    return tr("sessions.start_on_page", page=tr("tab.new_session"))


def readable(words: QLabel) -> QHBoxLayout:
    """Words in lines of at most 70 characters, however wide the window is."""
    words.setMaximumWidth(text_width())
    return fill(row(None, 0), (words, 100), 1)


def limit(field: QLineEdit | QPlainTextEdit, longest: int = NOTE_LIMIT) -> None:
    """Take so many characters and no more, and say so."""
    Limit(field, longest, tr("field.too_long", n=number(f"{longest:,}")))


class Card(QFrame):
    """A card, headed by its title; body: what is in it, one below the other."""

    def __init__(
        self,
        title: str = "",
        spacing: int = theme.SPACE_M,
        margins: controls.Margins = theme.SPACE_XL,
    ) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.body = column(self, spacing, margins)
        if title:
            self.body.addWidget(label(title, "title"))


def ask_new_path(parent: QWidget, title: str, name: str, kinds: str = "") -> Path | None:
    """Where something new is to lie, None if nobody wants it. The writer refuses what is there
    already, so nothing is asked about that.

    name: what it is called in the home folder at first; kinds: of files, as Qt's dialogs write
    them.
    """
    asked = QFileDialog.Option.DontConfirmOverwrite
    path, _ = QFileDialog.getSaveFileName(parent, title, str(Path.home() / name), kinds, "", asked)
    return Path(path) if path else None


def ask_path(parent: QWidget, title: str, kinds: str = "") -> str:
    """The file that somebody chooses, beginning in the home folder; empty if nobody does."""
    return QFileDialog.getOpenFileName(parent, title, str(Path.home()), kinds)[0]


class WorkBar(QProgressBar):
    """How far a command is. name: for who hears the screen."""

    def __init__(self, name: str) -> None:
        super().__init__(textVisible=False)
        self.setAccessibleName(name)
        self.setFixedHeight(theme.SPACE_S)

    def set_share(self, share: float | None) -> None:
        """How much is done, 0 to 1; None if nobody knows."""
        self.setRange(0, 0 if share is None else STEPS)
        self.setValue(round((share or 0) * STEPS))


def line_edit(name: str, placeholder: str = "", longest: int = NOTE_LIMIT) -> QLineEdit:
    """A field of one line. name: for who hears the screen."""
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setPlaceholderText(placeholder)
    limit(field, longest)
    return field


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
        right, room = Qt.TextElideMode.ElideRight, max(0, self.contentsRect().width())
        shown = self.fontMetrics().elidedText(self._full, right, room)
        set_text(self, shown)
        self.setToolTip(self._full if shown != self._full else "")


STROKES: Mapping[str, Sequence[Sequence[tuple[float, float]]]] = {
    "ok": (((0.3, 0.52), (0.44, 0.66), (0.7, 0.36)),),
    "done": (((0.3, 0.52), (0.44, 0.66), (0.7, 0.36)),),
    "warn": (((0.5, 0.27), (0.5, 0.55)),),
    "missing": (((0.35, 0.35), (0.65, 0.65)), ((0.65, 0.35), (0.35, 0.65))),
    "left_out": (((0.3, 0.5), (0.7, 0.5)),),
    "skipped": (((0.25, 0.3), (0.48, 0.5), (0.25, 0.7)), ((0.52, 0.3), (0.75, 0.5), (0.52, 0.7))),
}


class StatusIcon(QWidget):
    """A round mark: ok (check), warn (exclamation), missing (cross), busy (dots), todo (ring),
    current (triangle), skipped (arrow), left_out (dash). Shape and colour both tell; the word is
    next to it."""

    def __init__(self, palette: Palette, state: str = "busy", px: int = ICON_PX) -> None:
        super().__init__()
        self._palette, self.state = palette, state
        self.setFixedSize(px, px)

    def set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(ICON_PX, ICON_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        paint_status(painter, self._palette, self.state, QRectF(self.rect()))


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
        equip(painter, QPen(ring, side * 0.08), Qt.BrushStyle.NoBrush)
        thin = side * 0.05
        painter.drawEllipse(round_box.adjusted(thin, thin, -thin, -thin))
        equip(painter, Qt.PenStyle.NoPen, colour)
        if state == "busy":
            for x in (0.3, 0.5, 0.7):
                painter.drawEllipse(_at(box, x, 0.5), side * 0.055, side * 0.055)
        return
    ink = colour
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if state not in ("skipped", "left_out"):
        ink = palette.color("card")
        painter.setBrush(colour)
        painter.drawEllipse(round_box)
    pen = QPen(ink, side * 0.11)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    for line in STROKES.get(state, ()):
        painter.drawPolyline(QPolygonF([_at(box, x, y) for x, y in line]))
    if state == "warn":
        painter.drawPoint(_at(box, 0.5, 0.72))
    if state == "current":
        painter.setBrush(ink)
        triangle = [_at(box, x, y) for x, y in ((0.42, 0.34), (0.66, 0.5), (0.42, 0.66))]
        painter.setPen(QPen(ink, side * 0.05))
        painter.drawPolygon(QPolygonF(triangle))


def _at(box: QRectF, x: float, y: float) -> QPointF:
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height())


def stylesheet(p: Palette) -> str:
    """For the home (light) and the console (dark)."""
    return (
        theme.stylesheet(p)
        + f"""
    QLabel[role="field"] {{ color: {p.secondary}; }}
    QLabel[role="brand"] {{ font-size: 17px; font-weight: 700; }}
    QLabel[role="section"] {{
        font-size: 12px; font-weight: 700; color: {p.secondary}; letter-spacing: 1px;
    }}
    QLabel[role="clock"] {{ font-size: {theme.TITLE_PX}px; font-weight: 600; }}
    QLabel[role="state"] {{ font-weight: 600; font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="fact"] {{ font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="card-number"] {{ font-size: 160px; font-weight: 700; color: {p.accent}; }}
    QLabel[role="figure"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QLabel[role="figure"]:focus {{ border-color: {p.accent}; }}
    QLabel[role="clip"] {{ font-size: 11px; font-weight: 700;
        color: {p.secondary}; padding: 0 4px; border: 1px solid {p.hairline};
        border-radius: 4px; }}
    QLabel[role="caption"] {{ font-size: 12px; color: {p.secondary}; }}
    QLabel[role="clip"][tone="alarm"] {{ color: {p.alarm}; border-color: {p.alarm}; }}
    QLabel[tone="good"] {{ color: {p.good}; }}
    QLabel[tone="warn"] {{ color: {p.warn}; }}
    QLabel[tone="alarm"] {{ color: {p.alarm}; }}
    QFrame[role="bar"] {{ background: {p.card}; border: none;
        border-bottom: 1px solid {p.hairline}; }}
    QFrame[role="band"] {{ background: {p.card}; border: 1px solid {p.hairline};
        border-radius: {theme.RADIUS}px; }}
    QFrame[role="band"][tone="warn"] {{ border: 1px solid {p.warn}; }}
    QFrame[role="band"][tone="alarm"] {{ border: 1px solid {p.alarm}; }}
    QPushButton[role="tab"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0; padding: 0 {theme.SPACE_S}px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px; min-height: 52px;
    }}
    QPushButton[role="tab"]:hover {{ color: {p.ink}; }}
    QPushButton[role="tab"]:checked {{ color: {p.accent}; border-bottom: 2px solid {p.accent}; }}
    QPushButton[role="tab"]:focus {{ color: {p.accent}; background: {p.accent_soft}; }}
    QPushButton[role="page-tab"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0; padding: 0 {theme.SPACE_XS}px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px; font-weight: 600; min-height: 30px;
    }}
    QPushButton[role="page-tab"]:hover {{ color: {p.ink}; }}
    QPushButton[role="page-tab"]:checked {{ color: {p.ink};
        border-bottom: 2px solid {p.accent}; }}
    QPushButton[role="page-tab"]:focus {{ background: {p.accent_soft}; }}
    QPushButton[role="compact"] {{
        padding: {theme.SPACE_XS}px {theme.SPACE_M}px; min-height: 22px;
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="compact"]:focus {{ padding: 3px 11px; }}
    QPushButton[role="chip"] {{
        background: transparent; border: 1px solid transparent; border-radius: 6px;
        padding: 2px {theme.SPACE_S}px; min-height: 24px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="chip"]:hover {{ color: {p.ink}; }}
    QPushButton[role="chip"]:focus {{ border: 1px solid {p.accent}; padding: 2px 8px; }}
    QPushButton[role="pill"] {{
        background: transparent; border: 1px solid {p.hairline}; border-radius: 6px;
        padding: 2px {theme.SPACE_S}px; min-height: 22px; color: {p.secondary};
        font-size: {theme.SECONDARY_PX}px;
    }}
    QPushButton[role="pill"]:hover {{ color: {p.ink}; border-color: {p.accent}; }}
    QPushButton[role="pill"]:checked {{ color: {p.accent}; border-color: {p.accent};
        background: {p.accent_soft}; }}
    QPushButton[role="pill"]:focus {{ border: 1px solid {p.accent}; padding: 2px 8px; }}
    QLabel[role="pill"] {{ color: {p.secondary}; border: 1px solid {p.hairline};
        border-radius: 6px; padding: 2px {theme.SPACE_S}px; font-size: {theme.SECONDARY_PX}px; }}
    QLabel[role="pill"][tone="warn"] {{ color: {p.warn}; border-color: {p.warn}; }}
    QLabel[role="key"] {{ font-size: {theme.SECONDARY_PX}px; font-weight: 600; }}
    QFrame[role="sheet"] {{ background: {p.card}; border: 1px solid {p.secondary};
        border-radius: {theme.RADIUS}px; }}
    QFrame[role="foot"] {{ background: {p.card}; border: none;
        border-top: 1px solid {p.hairline}; }}
    QSplitter::handle {{ background: transparent; }}
    QPushButton[role="flag"] {{
        text-align: left; padding: 2px {theme.SPACE_S}px; min-height: 26px;
        font-size: {theme.SECONDARY_PX}px; border-radius: 6px;
    }}
    QPushButton[role="flag"]:focus {{ padding: 1px 7px; }}
    QPushButton[role="prompt"] {{
        text-align: left; color: {p.warn}; border: 1px solid {p.warn};
        padding: {theme.SPACE_XS}px {theme.SPACE_M}px; font-size: {theme.BODY_PX - 1}px;
    }}
    QPushButton[role="prompt"]:focus {{ padding: 3px 11px; border: 2px solid {p.accent}; }}
    QPushButton[role="danger"] {{ color: {p.alarm}; border-color: {p.alarm}; }}
    QPushButton:pressed {{ background: {p.accent_soft}; }}
    QComboBox {{ padding-right: 0; }}
    QComboBox::drop-down {{ border: none; width: 26px; subcontrol-position: center right; }}
    QComboBox::down-arrow {{ image: none; }}
    QComboBox QAbstractItemView {{
        background: {p.card}; border: 1px solid {p.hairline}; outline: none; padding: 4px;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink};
    }}
    QComboBox QAbstractItemView::item {{ min-height: {theme.TARGET_HEIGHT}px; }}
    QCheckBox {{ spacing: {theme.SPACE_S}px; min-height: {theme.TARGET_HEIGHT}px;
        font-size: {theme.SECONDARY_PX}px; color: {p.secondary}; }}
    QCheckBox:focus {{ color: {p.accent}; }}
    QTableView {{
        background: transparent; border: none; gridline-color: transparent; outline: none;
        font-size: {theme.SECONDARY_PX + 1}px;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink};
    }}
    QTableView::item {{ border-bottom: 1px solid {p.hairline}; padding: 0 {theme.SPACE_XS}px; }}
    QHeaderView {{ background: transparent; border: none; }}
    QHeaderView::section {{
        background: transparent; border: none; border-bottom: 1px solid {p.hairline};
        color: {p.secondary}; font-size: {theme.SECONDARY_PX}px; text-align: left;
        padding: {theme.SPACE_XS}px 7px;
    }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QScrollArea[role="page"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QScrollArea[role="page"]:focus {{ border-color: {p.accent}; }}
    QListWidget, QTreeWidget {{ background: transparent; border: none; outline: none;
        selection-background-color: {p.accent_soft}; selection-color: {p.ink}; }}
    QAbstractItemView[role="choice"] {{ border: {theme.RING}px solid transparent;
        border-radius: {theme.RADIUS}px; }}
    QAbstractItemView[role="choice"]:focus {{ border-color: {p.accent}; }}
    QAbstractItemView[role="choice"]::item {{ padding: {theme.SPACE_S}px; }}
    QListWidget[role="fine"] {{ font-size: {theme.SECONDARY_PX}px; }}
    QListWidget[role="fine"]::item {{ padding: {theme.SPACE_XS}px 0; }}
    QScrollBar:vertical {{ background: transparent; width: 8px; margin: 0; }}
    QScrollBar::handle:vertical {{ background: {p.hairline}; border-radius: 4px;
        min-height: 24px; }}
    QScrollArea[role="page"] QScrollBar:vertical {{ width: {8 + theme.SPACE_S}px; }}
    QScrollArea[role="page"] QScrollBar::handle:vertical {{ margin-left: {theme.SPACE_S}px; }}
    QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0; }}
    QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent; }}
    """
    )


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
        with QSignalBlocker(self):
            if known != list(choices):
                self.clear()
                for text, value in choices:
                    self.addItem(text, value)
            values = [value for _, value in choices]
            self.setCurrentIndex(values.index(current) if current in values else -1)
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
        self._paint_arrow(painter)

    def _paint_arrow(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._arrow)
        x, y = self.width() - 17.0, self.height() / 2 + 0.5
        corners = ((x - 4.5, y - 2.2), (x, y + 2.2), (x + 4.5, y - 2.2))
        painter.drawPolyline([QPointF(*corner) for corner in corners])


class Described(NamedTuple):
    """What a list says of a choice: under which heading it stands, a line about it, and what is at
    its right end."""

    group: str
    line: str
    end: str = ""


_VALUE, _LINE, _END, _HEADING = (Qt.ItemDataRole.UserRole + n for n in range(4))
_TITLE_PX, _ENTRY_PX, _HEADING_PX = 22, 46, 30
_WIDEST, _HIGHEST = 660, 460


class _Entries(QStyledItemDelegate):
    """A title with its line below it; headings in between."""

    def __init__(self, palette: Palette, parent: QListWidget) -> None:
        super().__init__(parent)
        self._palette = palette

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, _HEADING_PX if index.data(_HEADING) else _ENTRY_PX)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        box = QRectF(option.rect)
        middle = Qt.AlignmentFlag.AlignVCenter
        inside = box.adjusted(theme.SPACE_M, 0, -theme.SPACE_M, 0)
        if index.data(_HEADING):
            write_with(painter, self._palette.color("secondary"), theme.SECONDARY_PX, True)
            painter.drawText(inside, middle, str(index.data()))
            return
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, self._palette.color("accent_soft"))
        end = str(index.data(_END) or "")
        write_with(painter, self._palette.color("secondary"), theme.SECONDARY_PX)
        line = QRectF(inside.left(), box.top() + 4, inside.width(), _TITLE_PX - 2)
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, end)
        for px, role, ink, top in (
            (theme.BODY_PX, Qt.ItemDataRole.DisplayRole, "ink", 4.0),
            (theme.SECONDARY_PX, _LINE, "secondary", float(_TITLE_PX)),
        ):
            line = QRectF(inside.left(), box.top() + top, inside.width(), _TITLE_PX - 2)
            text = metrics(px).elidedText(
                str(index.data(role) or ""), Qt.TextElideMode.ElideRight, inside.width()
            )
            write_with(painter, self._palette.color(ink), px)
            painter.drawText(line, middle, text)


class _Finder(QFrame):
    """The list of a `FindingCombo`, with a field to search it. picked(value)."""

    picked = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__(None, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.search = line_edit(tr("button.search"), tr("button.search"))
        self.list = QListWidget()
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Entries(palette, self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        fill(column(self, theme.SPACE_S, theme.SPACE_S), self.search, self.list)
        self.search.textChanged.connect(self._search)
        self.list.itemClicked.connect(self._pick)

    def offer(self, choices: Sequence[tuple[str, Any, Described]], current: Any) -> None:
        """Show these, a heading above each group, in the order of the choices."""
        self.list.clear()
        self.search.clear()
        groups = dict.fromkeys(described.group for _, _, described in choices)
        for group in groups:
            heading = QListWidgetItem(group)
            heading.setData(_HEADING, True)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(heading)
            for text, value, described in choices:
                if described.group == group:
                    entry = QListWidgetItem(text)
                    entry.setData(_VALUE, value)
                    entry.setData(_LINE, described.line)
                    entry.setData(_END, described.end)
                    entry.setToolTip("\n".join(filter(None, (text, *described[1:]))))
                    self.list.addItem(entry)
                    if value == current:
                        self.list.setCurrentItem(entry)

    @property
    def shown(self) -> list[QListWidgetItem]:
        """The entries that the search leaves."""
        every = (self.list.item(row) for row in range(self.list.count()))
        return [item for item in every if not item.data(_HEADING) and not item.isHidden()]

    def _search(self, text: str) -> None:
        words = text.casefold().split()
        heading: QListWidgetItem | None = None
        for place in range(self.list.count()):
            item = self.list.item(place)
            if item.data(_HEADING):
                heading = item
                heading.setHidden(True)
                continue
            about = f"{item.text()} {item.data(_LINE)} {item.data(_VALUE)}".casefold()
            item.setHidden(not all(word in about for word in words))
            if heading is not None and not item.isHidden():
                heading.setHidden(False)
        if (shown := self.shown) and self.list.currentItem() not in shown:
            self.list.setCurrentItem(shown[0])
            self.list.scrollToTop()

    def _pick(self, item: QListWidgetItem | None) -> None:
        if item is not None and not item.data(_HEADING) and not item.isHidden():
            self.hide()
            self.picked.emit(item.data(_VALUE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shown = event.key(), self.shown
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pick(self.list.currentItem())
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and shown:
            current = self.list.currentItem()
            at = shown.index(current) if current in shown else -1
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.setCurrentItem(shown[max(0, min(len(shown) - 1, at + step))])
        else:
            super().keyPressEvent(event)


class FindingCombo(Combo):
    """A combo box whose list is grouped, describes each choice and can be searched. A text that is
    too long for one line takes more.

    describe : what is said of a value; asked when the list is opened. groups : the headings in
    their order.
    """

    def __init__(self, palette: Palette, name: str) -> None:
        super().__init__(palette, name)
        self.describe: Callable[[Any], Described] = lambda value: Described("", "")
        self.groups: Sequence[str] = ()
        self.finder = _Finder(palette)
        self.finder.picked.connect(self._on_pick)

    def set_choices(self, choices: Sequence[tuple[str, Any]], current: Any) -> None:
        super().set_choices(choices, current)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fonts, room = self.fontMetrics(), self.width() - TEXT_MARGIN
        wraps = int(Qt.TextFlag.TextWordWrap)
        needed = fonts.boundingRect(QRect(0, 0, room, 1000), wraps, self.currentText()).height()
        more = max(0, needed - fonts.height())
        self.setFixedHeight(theme.TARGET_HEIGHT + more)

    def showPopup(self) -> None:
        choices = [(self.itemText(i), self.itemData(i)) for i in range(self.count())]
        offered = [(text, value, self.describe(value)) for text, value in choices]
        order = {group: place for place, group in enumerate(self.groups)}
        offered.sort(key=lambda choice: order.get(choice[2].group, len(order)))
        styled: QWidget | None = self
        while styled is not None and not styled.styleSheet():
            styled = styled.parentWidget()
        self.finder.setStyleSheet("" if styled is None else styled.styleSheet())
        self.finder.offer(offered, self.currentData())
        room = self.screen().availableGeometry()
        width = min(max(self.width(), _WIDEST), room.width())
        below = self.mapToGlobal(QPoint(0, self.height()))
        height = min(_HIGHEST, max(200, room.bottom() - below.y()))
        x = max(room.left(), min(below.x(), room.right() - width))
        y = max(room.top(), min(below.y(), room.bottom() - height))
        self.finder.setGeometry(x, y, width, height)
        self.finder.show()
        self.finder.search.setFocus()

    def _on_pick(self, value: Any) -> None:
        values = [self.itemData(place) for place in range(self.count())]
        if value in values:
            index = values.index(value)
            self.setCurrentIndex(index)
            self._fit()
            self.activated.emit(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.height() <= theme.TARGET_HEIGHT:
            super().paintEvent(event)
            return
        text = self.currentText()
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.setPen(option.palette.text().color())
        inside = QRectF(12, 0, self.width() - TEXT_MARGIN, self.height())
        wraps = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(inside, wraps, text)
        self._paint_arrow(painter)


Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_HEADED = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
Row = TypeVar("Row")


class RowModel(QAbstractTableModel, Generic[Row]):
    """Things as rows.

    Attributes
    ----------
    names : tuple of str
        Of the columns, in English.
    rows : what is shown, in its order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = tuple(names)
        self.rows: list[Row] = []

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these instead."""
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def cell(self, row: Row, column: int, role: int) -> Any:
        """What a role of Qt's is in a cell: its text, its tool tip, a colour; None for nothing."""
        raise NotImplementedError

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role in _HEADED:
            return tr(self.names[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.rows):
            return None
        return self.cell(self.rows[index.row()], index.column(), role)


LEAST_TABLE = 104
"""Logical pixels of a heading and two rows."""


class Headings(QHeaderView):
    """Of columns, which can be sorted by. They keep no more room than their arrow takes: Qt keeps a
    square of a heading's height in each."""

    def sectionSizeFromContents(self, place: int) -> QSize:
        size = super().sectionSizeFromContents(place)
        return size - QSize(size.height() // 2 if self.isSortIndicatorShown() else 0, 0)


class RowTable(QTableView):
    """A table of whole rows, as wide as there is room. chosen(): other rows are selected;
    picked(int): Enter was pressed on the row, counted from 0, or it was clicked: twice, or once
    where `by_one_click` says so."""

    chosen = Signal()
    picked = Signal(int)

    def __init__(
        self,
        model: RowModel[Any],
        name: str,
        row_px: int,
        wide: Sequence[int],
        *,
        by_one_click: bool = False,
    ) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(row_px)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = Headings(Qt.Orientation.Horizontal)
        self.setHorizontalHeader(header)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        # The width of what can be seen: measuring thousands of cells would take the thread.
        header.setResizeContentsPrecision(0)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for place in wide:
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit())
        click = self.clicked if by_one_click else self.doubleClicked
        click.connect(lambda index: self.picked.emit(index.row()))

    def sizeHint(self) -> QSize:
        """It takes what others leave it; a page scrolls only where that is less than this."""
        return QSize(super().sizeHint().width(), LEAST_TABLE)

    def selected_row(self) -> int | None:
        """The place of the first selected row, None if there is none."""
        rows = self.selectionModel().selectedRows()
        return min(index.row() for index in rows) if rows else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            if (row := self.selected_row()) is not None:
                self.picked.emit(row)
            return
        super().keyPressEvent(event)
