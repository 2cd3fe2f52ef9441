"""A slider on the screen."""

from __future__ import annotations

from math import ceil
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from labapp.record.events.look import SCALED
from labapp.study.instruments import Slider
from labapp.tasks.questionnaire.screen.kinds.view import ItemView
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.painting import (
    brush,
    color,
    draw_focus_ring,
    equip,
    metrics,
    pen,
    restyle,
    smooth,
    write_with,
)


class SliderView(ItemView):
    """A slider, and over it in words where it stands, or that it has no answer yet."""

    def __init__(self, item: Slider, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        low, high, self._start = item.places()
        self._said, self._unit = words, item.unit
        self._key = "selected_accuracy" if item.about == "accuracy" else "selected_value"
        self.selected = controls.make_label(role="secondary", wrap=True)
        self._tells = True
        self._numbers = item.numbers
        unit = item.unit if item.numbers else None
        self.slider = NumberSlider(low, high, self._start, unit, palette)
        self.slider.setAccessibleName(item.title)
        self.selected.setFixedHeight(ceil(metrics(bold=True).height()))
        self.slider.moved.connect(lambda value: self._say(value, touched=True))
        self.slider.given.connect(lambda value: self.answered.emit(_make_touched(value)))
        right = controls.fill(controls.column(None, theme.SPACE_XS), self.selected, self.slider)
        self._ends = self._read = ""
        if (ends := item.ends) is not None:
            self._ends = f"{ends.low} – {ends.high}. "
            low_end, high_end = (
                controls.make_label(text, "secondary", wrap=True) for text in (ends.low, ends.high)
            )
            low_end.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            high_end.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            below = controls.row(None, theme.SPACE_XL)
            controls.fill(right, controls.fill(below, (low_end, 1), (high_end, 1)))
        # All of it stays together, also where a picture beside it leaves more room.
        right.insertStretch(0, 1)
        right.addStretch(1)
        self.row_layout.addLayout(right, 1)
        self.show_value(None)

    def show_as(self, *, published: bool, layout: int) -> None:
        self._tells = layout >= SCALED
        self.slider.show_start(published or not self._tells)
        self._say(self.slider.value(), touched=self.slider.touched)

    def show_value(self, value: Any) -> None:
        number, touched = (value["value"], value["touched"]) if value else (self._start, False)
        self.slider.show_value(number, touched=touched)
        self._say(self.slider.value(), touched=self.slider.touched)

    def _say(self, number: int, *, touched: bool) -> None:
        text = self._said(self._key, value=number, unit=self._unit)
        if self._tells and not touched:
            none = self._said("slider_unanswered")
            stands = f"{number}\N{NO-BREAK SPACE}{self._unit} · "  # nothing is selected yet
            text = f"{stands}{none}" if self.slider.has_handle and self._numbers else none
        shown = "" if touched and not self._numbers else text
        if (self.selected.text(), self._read) != (shown, text):
            self.selected.setText(shown)
            self._read = text
            self.slider.setAccessibleDescription(f"{self._ends}{text}")
        restyle(self.selected, "role", "strong" if touched else "secondary")

    def uncommitted(self) -> Any:
        return _make_touched(self.slider.value()) if self.slider.held else None

    def entrance(self) -> QWidget:
        return self.slider


def _make_touched(value: int) -> dict[str, Any]:
    return {"value": value, "touched": True}


HANDLE_R = 10.0
RING_R = 14.0
TRACK_H = 6.0
GAP = 8.0
"""Between the ends of the line and their numbers."""
PAGE = 10

_STEPS = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: PAGE,
    Qt.Key.Key_PageDown: -PAGE,
}


class NumberSlider(QAbstractSlider):
    """A slider for a whole number.

    moved(value): the handle follows the hand; given(value): the hand set it there, or left it there
    on purpose, and let go. unit stands behind the numbers at both ends, and without one there are
    none; touched: whether it looks touched.

    Until it is touched it has no handle: a click puts one there, and the first arrow key puts it
    where the slider begins. Where a handle is shown from the start (`show_start`) it is hollow and
    its line grey until the hand moves it, or says that it stands where it should (a click on the
    handle, Space or Enter). Arrow keys move one, Page keys ten, Home and End go to the ends.
    """

    moved = Signal(int)
    given = Signal(int)

    def __init__(
        self,
        low: int,
        high: int,
        start: int,
        unit: str | None,
        palette: theme.Palette,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._ends = [
            "" if unit is None else f"{value}\N{NO-BREAK SPACE}{unit}" for value in (low, high)
        ]
        self._sides = [
            ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(words)) + GAP for words in self._ends
        ]
        self._colors = palette
        self.touched = False
        self._starts = False
        self._held: tuple[float, int] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(low, high)
        self.setPageStep(PAGE)
        self._shown = start
        self.setValue(start)
        self.valueChanged.connect(self._on_value_change)

    def _on_value_change(self, value: int) -> None:
        """Qt's value is another one: by what is shown, or by a screen reader."""
        if value != self._shown:
            self._ask(value)

    def _put(self, value: int) -> None:
        self._shown = value
        self.setValue(value)

    def show_start(self, shown: bool) -> None:
        """Say whether a handle is shown before anybody touches it."""
        self._starts = shown
        self.update()

    @property
    def has_handle(self) -> bool:
        return self.touched or self._starts

    @property
    def held(self) -> bool:
        """Whether the hand is dragging it: its value is not given yet."""
        return self._held is not None

    def show_value(self, value: int, *, touched: bool) -> None:
        """Show what the session says; not under the hand."""
        if self._held is None and (value, touched) != (self._shown, self.touched):
            self.touched = touched
            self._put(value)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def handle_x(self, value: int) -> float:
        """Centre of the handle at a value, in the widget's pixels."""
        share = (value - self.minimum()) / max(self.maximum() - self.minimum(), 1)
        return self._sides[0] + RING_R + share * self._span()

    def _span(self) -> float:
        return max(1.0, self.width() - sum(self._sides) - 2 * RING_R)

    def _move(self, value: int) -> None:
        self.touched = True
        self._put(min(max(value, self.minimum()), self.maximum()))
        self.update()
        self.moved.emit(self._shown)

    def _ask(self, value: int) -> None:
        before = (self._shown, self.touched)
        self._move(value)
        if before != (self._shown, self.touched):
            self.given.emit(self._shown)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        if not self.has_handle or abs(x - self.handle_x(self._shown)) > RING_R:
            share = (x - self._sides[0] - RING_R) / self._span()
            self._move(self.minimum() + round(share * (self.maximum() - self.minimum())))
        self._held = (x, self._shown)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is None:
            return
        x, value = self._held
        moved = round((event.position().x() - x) / self._span() * (self.maximum() - self.minimum()))
        if value + moved != self._shown:
            self._move(value + moved)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._held is not None:
            self._held = None
            self._move(self._shown)
            self.given.emit(self._shown)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held:
            event.ignore()
        elif key in _STEPS:
            self._ask(self._shown + (_STEPS[key] if self.has_handle else 0))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._ask(self.minimum() if key == Qt.Key.Key_Home else self.maximum())
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.has_handle:
            self._ask(self._shown)
        else:
            event.ignore()

    def focusInEvent(self, event: object) -> None:
        self.update()

    def focusOutEvent(self, event: object) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        middle = theme.TARGET_HEIGHT / 2
        painter = smooth(self)
        painter.fillRect(self.rect(), brush(p.ground))
        equip(painter, Qt.PenStyle.NoPen, brush(p.track))
        left, x = self.handle_x(self.minimum()) - HANDLE_R, self.handle_x(self._shown)
        track = QRectF(left, middle - TRACK_H / 2, self._span() + 2 * HANDLE_R, TRACK_H)
        painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        if self.touched:
            painter.setBrush(brush(p.accent))
            track.setRight(x)
            painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        centre = QPointF(x, middle)
        if self.has_handle:
            if self.hasFocus():
                equip(painter, pen(p.accent, theme.RING), brush(p.accent_soft))
                painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
            painter.setPen(pen(p.accent if self.touched else p.secondary, 2.0))
            painter.setBrush(brush(p.accent if self.touched else p.card))
            painter.drawEllipse(centre, HANDLE_R - 2, HANDLE_R - 2)
        elif self.hasFocus():
            draw_focus_ring(painter, track.adjusted(-2, -4, 2, 4), theme.RADIUS, p.accent)
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        for words, side in zip(self._ends, sides, strict=True):
            painter.drawText(QRectF(self.rect()), side | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()
