"""The dials of a representation: a name and a control a row, in the order of the dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from labapp.models.representations.space import Discrete, LatentSpace
from labapp.tasks.reconstruction.machine import LABEL_LIMIT
from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import Look, Scale
from labapp.ui.widgets.controls import Limit, comes_back
from labapp.ui.widgets.dial import DialSlider
from labapp.ui.widgets.painting import brush, color, equip, metrics, pen, write_with

ROW_LEAST, ROW_MOST = 32, 48
PENCIL = 12.0
EDITABLE_WIDTH = 144
CHOICE_PITCH = 30.0


class DialName(QWidget):
    """A dial's name, renamed in place where that is allowed: a click or F2 opens it, Enter keeps,
    Escape puts the old name back. renamed(text): the hand asks for another name. too_long: what is
    said to who writes a longer name than there is room for."""

    renamed = Signal(str)
    closed = Signal()

    def __init__(
        self, text: str, palette: theme.Palette, *, editable: bool, width: int, too_long: str
    ) -> None:
        super().__init__()
        self._default = self.text = text
        self._colors = palette
        self._editable = editable
        self._too_long = too_long
        self.editor: QLineEdit | None = None  # while it is open
        self.setFixedWidth(width)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        if editable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_text(self, text: str | None) -> None:
        """The name the session knows; None for the dial's number."""
        shown = text or self._default
        if shown != self.text:
            self.text = shown
            self.setToolTip(shown if shown != self._default else "")
            self.update()

    @property
    def uncommitted_text(self) -> str | None:
        """The name that a hand is writing, where it is another than the one shown."""
        if self.editor is None or not self.editor.isModified():
            return None
        text = self.editor.text()
        return text if text != self.text else None

    def edit(self) -> None:
        if not self._editable or self.editor is not None:
            return
        edit = self.editor = QLineEdit(self.text, self)
        Limit(edit, LABEL_LIMIT, self._too_long)
        edit.setAccessibleName(self._default)
        edit.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # in Qt's own words
        edit.setGeometry(
            0, (self.height() - theme.TARGET_HEIGHT) // 2, self.width() - 2, theme.TARGET_HEIGHT
        )
        edit.setStyleSheet(f"padding: 0 {theme.SPACE_XS}px; min-height: 0px;")
        edit.installEventFilter(self)
        edit.returnPressed.connect(self._keep)
        edit.selectAll()
        edit.show()
        edit.setFocus()

    def _keep(self) -> None:
        if self.editor is not None:
            text = self.uncommitted_text
            self._close()
            if text is not None:
                self.renamed.emit(text)

    def _close(self) -> None:
        edit, self.editor = self.editor, None
        if edit is not None:
            edit.removeEventFilter(self)
            had_focus = edit.hasFocus()
            edit.clearFocus()  # else Qt would move the focus on to some dial
            edit.hide()
            edit.deleteLater()
            if had_focus:
                self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and not comes_back(event):
            self._keep()
        elif (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            self._close()
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.edit()

    def sizeHint(self) -> QSize:
        return QSize(self.width(), theme.TARGET_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = QPainter(self)
        write_with(painter, color(p.ink))
        room = self.width() - (PENCIL + 2 * theme.SPACE_S if self._editable else theme.SPACE_S)
        shown = metrics().elidedText(self.text, Qt.TextElideMode.ElideRight, room)
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, 0, room, self.height()), middle, shown)
        if self._editable:
            left = metrics().horizontalAdvance(shown) + theme.SPACE_S
            self._paint_pencil(painter, left, self.height() / 2)
        painter.end()

    def _paint_pencil(self, painter: QPainter, x: float, y: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        equip(painter, pen(self._colors.secondary, 1.2), brush(self._colors.ground))
        h = PENCIL / 2
        painter.drawPolygon(
            [
                QPointF(x, y + h),
                QPointF(x + 1, y + h - 4),
                QPointF(x + PENCIL - 4, y - h + 1),
                QPointF(x + PENCIL - 1, y - h + 4),
                QPointF(x + 4, y + h - 1),
            ]
        )
        painter.drawLine(QPointF(x + PENCIL - 6, y - h + 3), QPointF(x + PENCIL - 3, y - h + 6))


class DialRow(QWidget):
    def __init__(self, name: DialName, control: DialSlider | Scale) -> None:
        super().__init__()
        self.name = name
        self.control = control
        self.setMinimumHeight(ROW_LEAST)
        self.setMaximumHeight(ROW_MOST)
        row = controls.fill(controls.row(self, theme.SPACE_XS), name)
        row.addWidget(control, 1, Qt.AlignmentFlag.AlignVCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2:
            self.name.edit()
            return
        super().keyPressEvent(event)


class DialPanel(QWidget):
    """All dials of a space. moved(dimension, value, device), selected(dimension, device),
    renamed(dimension, text): what the hand asks for. number_words: the name of dial n (counted from
    1). improved, said: see DialSlider."""

    moved = Signal(int, float, str)
    selected = Signal(int, str)
    renamed = Signal(int, str)

    def __init__(
        self,
        space: LatentSpace,
        number_words: Callable[[int], str],
        palette: theme.Palette,
        *,
        editable: bool,
        improved: bool,
        too_long: str = "",
        text_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        names = [number_words(i + 1) for i in range(len(space))]
        widest = max(metrics().horizontalAdvance(name) for name in names)
        width = EDITABLE_WIDTH if editable else round(widest) + theme.SPACE_L
        column = controls.column(self, 0)
        self.rows: list[DialRow] = []
        for index, dimension in enumerate(space.dimensions):
            control: DialSlider | Scale
            if isinstance(dimension, Discrete):
                control = Scale(dimension.k, palette, Look(pitch=CHOICE_PITCH))
                control.chosen.connect(
                    lambda at, device, i=index: self.moved.emit(i, float(at), device)
                )
            else:
                control = DialSlider(dimension, palette, improved=improved, text_of=text_of)
                control.moved.connect(
                    lambda value, device, i=index: self.moved.emit(i, value, device)
                )
            control.selected.connect(lambda device, i=index: self.selected.emit(i, device))
            control.setAccessibleName(names[index])
            name = DialName(
                names[index], palette, editable=editable, width=width, too_long=too_long
            )
            name.renamed.connect(lambda text, i=index: self.renamed.emit(i, text))
            name.closed.connect(control.setFocus)
            row = DialRow(name, control)
            column.addWidget(row, 1)
            self.rows.append(row)
        self.setMaximumHeight(len(self.rows) * ROW_MOST)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), len(self.rows) * ROW_MOST)

    def set_starts(self, values: Sequence[float] | None) -> None:
        """Light ticks at the starting values of the sliders; None for none."""
        for index, row in enumerate(self.rows):
            if isinstance(row.control, DialSlider):
                row.control.set_start(None if values is None else values[index])

    def show_value(self, index: int, value: float) -> None:
        control = self.rows[index].control
        if isinstance(control, DialSlider):
            control.show_value(value)
        else:
            control.show_index(int(value))

    def show_names(self, labels: Sequence[str | None]) -> None:
        for row, label in zip(self.rows, labels, strict=True):
            row.name.show_text(label)
            row.control.setAccessibleName(row.name.text)

    def set_locked(self, locked: bool) -> None:
        for row in self.rows:
            row.control.set_locked(locked)
