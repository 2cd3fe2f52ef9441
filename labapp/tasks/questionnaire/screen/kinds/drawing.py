"""A drawing on a picture on the screen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QBoxLayout, QWidget

from labapp.study.instruments.items import Picture as StudyMedia
from labapp.study.instruments.kinds.drawing import Drawing, Point, simplify
from labapp.tasks.questionnaire.screen.kinds.view import (
    MARK_WIDTH,
    WIDEST_PICTURE,
    ItemView,
    Pictures,
)
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, FlowLayout, Picture, announce
from labapp.ui.widgets.painting import brush, draw_focus_ring, equip, pen, smooth
from labapp.ui.widgets.study_picture import SizedPicture

ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
STEP, WIDE_STEP = 1.0, 5.0
"""Percent of the picture that an arrow key goes, without Shift and with it."""
LINE, DOT = 3.0, 4.0
CROSS = 9


class Board(SizedPicture, Picture):
    """The picture with the strokes. A hand draws while it holds the button or the finger down. With
    the keyboard, arrow keys move a pen, Space lowers and lifts it, and Backspace takes the last
    stroke back.

    drawn(stroke): a stroke is finished; taken_back: the last one is not wanted."""

    drawn = Signal(object)
    taken_back = Signal()

    def __init__(self, item: Drawing, words: Strings, palette: theme.Palette) -> None:
        super().__init__()
        self._words, self._colors, self._most = words, palette, item.strokes
        self.strokes: list[list[Point]] = []
        self._under_way: list[Point] = []
        self._pen = (50.0, 50.0)
        self._pen_shown = self._pen_down = False
        self._alt = ""
        self.setAccessibleName(item.title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.hold_picture(None, None, WIDEST_PICTURE)
        self._describe()

    def show_picture(self, content: bytes, picture: StudyMedia) -> None:
        self.hold_picture(content, picture.width, WIDEST_PICTURE)
        self._alt = picture.alt
        self._describe()

    def show_strokes(self, strokes: list[list[Point]]) -> None:
        self.strokes = strokes
        self._describe()
        self.update()

    @property
    def is_full(self) -> bool:
        return len(self.strokes) >= self._most

    def stroke_under_way(self) -> object:
        """The stroke that the keyboard has begun; None if the pen is up."""
        return simplify(self._under_way) if self._pen_down else None

    def _describe(self) -> None:
        count = self._words("item_drawing_count", n=len(self.strokes), most=self._most)
        self.setAccessibleDescription(" ".join(filter(None, (self._alt, count))))

    def _point(self, at: QPointF) -> Point:
        box = self.picture_box()
        share = (100 * at.x() / box.width(), 100 * at.y() / box.height())
        return tuple(min(max(number, 0.0), 100.0) for number in share)  # type: ignore[return-value]

    def _place(self, point: Point) -> QPointF:
        box = self.picture_box()
        return QPointF(point[0] * box.width() / 100, point[1] * box.height() / 100)

    def _finish(self) -> None:
        stroke, self._under_way = self._under_way, []
        self.update()
        if stroke and not self.is_full:
            self.drawn.emit(simplify(stroke))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._lift()
        self._pen_shown = False
        self._under_way = [] if self.is_full else [self._point(event.position())]
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._under_way and not self._pen_down:
            self._under_way.append(self._point(event.position()))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self._pen_down:
            self._finish()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def _lift(self) -> None:
        if self._pen_down:
            self._pen_down = False
            self._finish()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, words = Qt.Key(event.key()), self._words
        shift = Qt.KeyboardModifier.ShiftModifier
        others = event.modifiers() & ~(shift | Qt.KeyboardModifier.KeypadModifier)
        if others or (key not in ARROWS and event.modifiers() & shift):
            event.ignore()
            return
        if key in ARROWS:
            by = WIDE_STEP if event.modifiers() & shift else STEP
            moved = zip(self._pen, ARROWS[key], strict=True)
            x, y = (min(max(at + by * step, 0.0), 100.0) for at, step in moved)
            self._pen = (x, y)
            if self._pen_down:
                self._under_way.append(self._pen)
            announce(self, words("item_drawing_pen", x=round(x), y=round(y)))
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.isAutoRepeat():
                return
            if self._pen_down:
                self._lift()
                announce(self, words("item_drawing_up"))
            elif not self.is_full:
                self._pen_down, self._under_way = True, [self._pen]
                announce(self, words("item_drawing_down"))
        elif key == Qt.Key.Key_Backspace and not self._pen_down:
            self.taken_back.emit()
        else:
            event.ignore()
            return
        self._pen_shown = True
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        tabs = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self._pen_shown = self._pen_shown or event.reason() in tabs
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._lift()
        self._pen_shown = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p, painter = self._colors, smooth(self)
        painter.fillRect(self.picture_box(), brush(p.track))
        self.draw_picture(painter)
        for stroke in (*self.strokes, self._under_way):
            self._draw_stroke(painter, [self._place(point) for point in stroke])
        if self.hasFocus():
            draw_focus_ring(painter, self.picture_box(), 0, p.accent)
            if self._pen_shown:
                x, y = self._place(self._pen).toTuple()
                for width, tone in ((4.0, p.card), (1.6, p.accent if self._pen_down else p.ink)):
                    painter.setPen(pen(tone, width))
                    painter.drawLine(QPointF(x - CROSS, y), QPointF(x + CROSS, y))
                    painter.drawLine(QPointF(x, y - CROSS), QPointF(x, y + CROSS))
        painter.end()

    def _draw_stroke(self, painter: QPainter, points: list[QPointF]) -> None:
        """White below the line: it is seen on any picture."""
        for more, tone in ((3.0, "#ffffff"), (0.0, theme.LIGHT.accent)):
            equip(painter, pen(tone, LINE + more), brush(tone))
            if len(points) == 1:
                painter.drawEllipse(points[0], DOT + more / 2 - LINE / 2, DOT + more / 2 - LINE / 2)
            else:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPolyline(QPolygonF(points))


class DrawingView(ItemView):
    def __init__(self, item: Drawing, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words, wide=True)
        self.drawing, self._words = item, words
        self.board = Board(item, words, palette)
        self.board.drawn.connect(lambda stroke: self._give([*self.board.strokes, stroke]))
        self.board.taken_back.connect(self._take_back)
        self.note = controls.make_label(role="secondary", wrap=True)
        self.back = Button(words("item_drawing_back"), pressed=self._take_back)
        self.clear = Button(words("item_drawing_clear"), pressed=self._clear)
        buttons = FlowLayout(theme.SPACE_S, theme.SPACE_XS, None, [self.back, self.clear])
        self.row_layout.setDirection(QBoxLayout.Direction.TopToBottom)
        self.row_layout.setSpacing(theme.SPACE_S)
        indented = controls.column(None, theme.SPACE_S, (MARK_WIDTH, 0, 0, 0))
        controls.fill(indented, self.board, self.note, buttons)
        self.row_layout.addLayout(indented)
        self.show_value(None)

    def _give(self, strokes: list[Any]) -> None:
        self.answered.emit({"strokes": strokes})

    def _clear(self) -> None:
        if self.board.strokes:
            self._give([])

    def _take_back(self) -> None:
        if self.board.strokes:
            self._give(self.board.strokes[:-1])

    def show_pictures(self, pictures: Pictures) -> None:
        media = self.drawing.media
        if (content := pictures(media.file)) is not None:
            self.board.show_picture(content, media)

    def show_value(self, value: Any) -> None:
        strokes = [] if value is None else list(value["strokes"])
        self.board.show_strokes(strokes)
        count = self._words("item_drawing_count", n=len(strokes), most=self.drawing.strokes)
        self.note.setText(f"{count} · {self._words('item_drawing_how')}")

    def uncommitted(self) -> Any:
        stroke = self.board.stroke_under_way()
        return None if stroke is None else {"strokes": [*self.board.strokes, stroke]}

    def entrance(self) -> QWidget:
        return self.board
