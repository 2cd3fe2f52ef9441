"""The dial of a continuous dimension: a slider whose every step can be reached.

Dragging is coarse, Shift+drag fine, arrow keys move one step and Page keys ten, Home and End go to
the limits. A click in the track moves the handle there, as sliders on the web do. There are no
numbers (they would bias) and the wheel does nothing unless the dial has the focus.

As published, a dial is what a slider on a web page is: no fine dragging and no wheel, and a Page
key moves a tenth of the range.

Also the thin bar on top and the bar at the bottom, in the same place on every screen, and series as
charts, with a dashed line at 0 and the band of allowed disagreement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, floor, log10
from typing import Literal

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from labapp.models.representations.distance import TOLERANCE
from labapp.models.representations.space import PUBLISHED_CHART, Chart, Continuous, Display
from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, PlainLabel, announce
from labapp.ui.widgets.painting import Array, brush, color, device_of, equip, pen, restyle, smooth
from labapp.ui.widgets.segments import ImageView, StimulusView

HANDLE_R = 10.0
RING_R = 14.0
TRACK_H = 6.0
PAGE_STEPS = 10
PUBLISHED_PAGES = 10
"""As published, so many Page keys go from one limit to the other, as in common browsers."""
EVEN = 1e-6
"""Steps by which a limit may miss a whole number of them."""
FINE_PX_PER_STEP = 2.0
"""Shift+drag: at most one step in so many pixels, whatever the range."""
WHEEL_NOTCH = 120

_STEP_KEYS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}
_PAGE_KEYS = {Qt.Key.Key_PageUp: 1, Qt.Key.Key_PageDown: -1}
_END_KEYS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_ALLOWED = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


def moves_dial(event: QKeyEvent) -> bool:
    """Whether a key is one of those that move a dial."""
    key, held = Qt.Key(event.key()), event.modifiers() & ~_ALLOWED
    return not held and (key in _STEP_KEYS or key in _PAGE_KEYS or key in _END_KEYS)


@dataclass(slots=True)
class _Drag:
    """Where the pointer took hold: values are unrounded, x in pixels."""

    x: float
    value: float
    fine: bool
    device: str


class DialSlider(QAbstractSlider):
    """moved(value, device): the hand asks for a value (on its step); selected(device): it took hold
    of the dial. device: mouse, touch, keyboard or wheel.

    The handle follows the hand at once; `show_value` sets what the session says. improved: with
    fine dragging, fine Page keys and the wheel (False: as published). said: a number as the
    participant's language writes it. To Qt, and so to a screen reader, the value is a number of
    steps; the value itself is its description.
    """

    moved = Signal(float, str)
    selected = Signal(str)

    def __init__(
        self,
        dimension: Continuous,
        palette: theme.Palette,
        *,
        improved: bool = True,
        text_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        self.dimension = dimension
        self._improved = improved
        self._colors = palette
        self._said = text_of
        self._digits = max(0, ceil(-log10(dimension.step) - EVEN))
        self.shown = dimension.snap(dimension.low)  # what the handle shows
        self._start: float | None = None
        self.locked = False
        self._drag: _Drag | None = None
        self._announced = False
        self._hover = False
        self._wheel = 0
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setOrientation(Qt.Orientation.Horizontal)
        step = dimension.step
        self.setRange(floor(dimension.low / step + EVEN), ceil(dimension.high / step - EVEN))
        self.setPageStep(max(1, round(self._page() / step)))
        self._follow()
        self.valueChanged.connect(self._on_step)

    def show_value(self, value: float) -> None:
        """Put the handle where the session says."""
        if value != self.shown:
            self.shown = value
            self._follow()
            self.update()

    def _follow(self) -> None:
        """Tell Qt, and people who use a screen reader, what the handle shows."""
        self.setValue(round(self.shown / self.dimension.step))
        self.setAccessibleDescription(self._said(f"{self.shown:.{self._digits}f}"))

    def _on_step(self, steps: int) -> None:
        """Qt's value is another one: by what is shown, or by a screen reader."""
        if not self.locked and steps != round(self.shown / self.dimension.step):
            self._ask(steps * self.dimension.step, "keyboard")

    def set_start(self, value: float | None) -> None:
        """The light tick at the starting value; None for none."""
        if value != self._start:
            self._start = value
            self.update()

    def set_locked(self, locked: bool) -> None:
        """A locked dial looks locked, takes no input and is left out by Tab."""
        if locked == self.locked:
            return
        self.locked = locked
        self._drag = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if locked else Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor if locked else Qt.CursorShape.PointingHandCursor)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, theme.TARGET_HEIGHT)

    def handle_x(self, value: float) -> float:
        """Centre of the handle at a value, in the widget's pixels."""
        d = self.dimension
        return RING_R + (value - d.low) / (d.high - d.low) * self._span()

    def _span(self) -> float:
        """Pixels between the handle's places at the two limits; it never leaves the track."""
        return max(1.0, self.width() - 2 * RING_R)

    def _per_px(self, fine: bool) -> float:
        d = self.dimension
        coarse = (d.high - d.low) / self._span()
        return min(d.step / FINE_PX_PER_STEP, coarse / 2) if fine else coarse

    def _is_fine(self, event: QMouseEvent) -> bool:
        return self._improved and bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)

    def _inside(self, value: float) -> float:
        return min(max(value, self.dimension.low), self.dimension.high)

    def _page(self) -> float:
        d = self.dimension
        if self._improved:
            return PAGE_STEPS * d.step
        return max(d.step, (d.high - d.low) / PUBLISHED_PAGES)

    def _ask(self, value: float, device: str) -> None:
        snapped = self.dimension.snap(value)
        if snapped == self.shown:
            return
        self.shown = snapped
        self._follow()
        self.update()
        self.moved.emit(snapped, device)

    def _announce(self, device: str) -> None:
        self._announced = True
        self.selected.emit(device)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.locked or event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        device, x, fine = device_of(event), event.position().x(), self._is_fine(event)
        self._announce(device)
        on_handle = abs(x - self.handle_x(self.shown)) <= RING_R
        value = self.shown
        if not (on_handle or fine):
            value = self._inside(self.dimension.low + (x - RING_R) * self._per_px(fine=False))
        self._drag = _Drag(x, value, fine, device)
        self._ask(value, device)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        drag = self._drag
        if drag is None or self.locked:
            return
        x, fine = event.position().x(), self._is_fine(event)
        if fine != drag.fine:
            # Shift was pressed or let go: go on from here, so that the handle does not jump.
            here = drag.value + (x - drag.x) * self._per_px(drag.fine)
            drag.x, drag.value, drag.fine = x, self._inside(here), fine
        self._ask(drag.value + (x - drag.x) * self._per_px(fine), drag.device)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._drag is not None:
            self._drag = None
            self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        d, key = self.dimension, Qt.Key(event.key())
        if self.locked or not moves_dial(event):
            event.ignore()
            return
        if key in _STEP_KEYS:
            wanted = self.shown + _STEP_KEYS[key] * d.step
        elif key in _PAGE_KEYS:
            wanted = self.shown + _PAGE_KEYS[key] * self._page()
        else:
            wanted = d.low if key == Qt.Key.Key_Home else d.high
        if not self._announced:
            self._announce("keyboard")
        self._ask(wanted, "keyboard")

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self._improved or not self.hasFocus() or self.locked:
            event.ignore()
            return
        self._wheel += event.angleDelta().y() or event.angleDelta().x()
        notches = int(self._wheel / WHEEL_NOTCH)
        self._wheel -= notches * WHEEL_NOTCH
        if notches:
            self._ask(self.shown + notches * self.dimension.step, "wheel")
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in _TAB_REASONS:
            self._announce("keyboard")
        self._wheel = 0
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._announced = False
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        middle = self.height() / 2
        painter = smooth(self)
        painter.fillRect(self.rect(), brush(p.ground))
        equip(painter, Qt.PenStyle.NoPen, brush(p.track))
        track = QRectF(
            RING_R - HANDLE_R, middle - TRACK_H / 2, self._span() + 2 * HANDLE_R, TRACK_H
        )
        painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        if self._start is not None:
            x = round(self.handle_x(self._start)) + 0.5
            painter.setPen(pen(p.secondary, 1.0))
            painter.drawLine(QPointF(x, middle + 9), QPointF(x, middle + 15))
        centre = QPointF(self.handle_x(self.shown), middle)
        if self.locked:
            equip(painter, pen(p.hairline, 2.0), brush(p.secondary))
            painter.drawEllipse(centre, HANDLE_R - 3, HANDLE_R - 3)
            painter.end()
            return
        if self.hasFocus() or self._hover:
            painter.setPen(pen(p.accent, 2.0) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft))
            painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
        equip(painter, pen(p.accent, 2.0), brush(p.accent if self._drag is not None else p.card))
        painter.drawEllipse(centre, HANDLE_R - 2, HANDLE_R - 2)
        painter.end()


TOP_HEIGHT = 48
BOTTOM_HEIGHT = 68
DOT_R = 4.5
DOT_PITCH = 15.0
MOST_DOTS = 24
BUTTON_WIDTH = 180


@dataclass(frozen=True, slots=True)
class Head:
    """What the top bar says. done and of count questions or pages; of = 0 for none. help: what the
    button says that opens a description; empty for none."""

    stage: str = ""
    question: str = ""
    done: int = 0
    of: int = 0
    help: str = ""


@dataclass(frozen=True, slots=True)
class Foot:
    """What the bottom bar offers; an empty text leaves the place free.

    enabled: whether the right button can be pressed. ready: False if it looks unready although
    it can be pressed to be told what is missing. note: said between the buttons; warn: in the
    warning tone. leaves: the left button leaves a question or the study, so that the focus comes to
    it last, and never by itself.
    """

    left: str = ""
    right: str = ""
    enabled: bool = True
    ready: bool = True
    note: str = ""
    warn: bool = False
    leaves: bool = False


class Dots(QWidget):
    """Progress as dots: full for what is done and what is on the screen."""

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._done, self._of = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_progress(self, done: int, of: int) -> None:
        if (done, of) != (self._done, self._of):
            self._done, self._of = done, of if of <= MOST_DOTS else 0
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self._of * DOT_PITCH), 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        painter = smooth(self)
        for index in range(self._of):
            full = index < self._done
            painter.setPen(pen(p.accent if full else p.secondary, 1.2))
            painter.setBrush(brush(p.accent if full else p.card))
            centre = QPointF(DOT_PITCH * index + DOT_PITCH / 2, self.height() / 2)
            painter.drawEllipse(centre, DOT_R, DOT_R)


class RecordingMark(QWidget):
    """A red disc while sound is recorded, a hollow one while not; the word stands beside it."""

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._on = False
        self.setFixedSize(14, 14)

    def show_on(self, on: bool) -> None:
        self._on = on
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        mark = self._colors.alarm if self._on else self._colors.secondary
        equip(painter, pen(mark, 1.4), brush(mark if self._on else self._colors.card))
        painter.drawEllipse(QRectF(2, 2, 10, 10))


class _Bar(QWidget):
    """A card-coloured bar with a hairline towards the content."""

    def __init__(self, palette: theme.Palette, *, towards: Literal["top", "bottom"]) -> None:
        super().__init__()
        self._colors = palette
        self._towards = towards

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(self._colors.card))
        line = 0 if self._towards == "top" else self.height() - 1
        painter.fillRect(0, line, self.width(), 1, brush(self._colors.hairline))


class TopBar(_Bar):
    """Where one is, and whether sound is recorded; nothing else, but for what can be opened at any
    time: help_pressed."""

    help_pressed = Signal()

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__(palette, towards="bottom")
        self.setFixedHeight(TOP_HEIGHT)
        self._stage, self._question, self._recording = PlainLabel(), PlainLabel(), PlainLabel()
        for label in (self._stage, self._question, self._recording):
            label.setProperty("role", "secondary")
        self._dots = Dots(palette)
        self._mark = RecordingMark(palette)
        row = controls.row(None, theme.SPACE_XL, (theme.SPACE_XXL, 0, theme.SPACE_XXL, 0))
        controls.fill(row, self._stage, self._question, self._dots)
        self.help = Button(role="link", pressed=self.help_pressed)
        self.help.hide()
        self.keyboard = controls.make_label(role="secondary")
        self.keyboard.hide()
        controls.fill(row, 1, self.keyboard, self.help, self._mark)
        controls.fill(row, controls.Gap(theme.SPACE_S - theme.SPACE_XL), self._recording)
        self.setLayout(row)
        self._head = Head()

    def show_head(self, head: Head) -> None:
        if head == self._head:
            return
        self._head = head
        self._stage.setText(head.stage)
        self._stage.setVisible(bool(head.stage))
        self._question.setText(head.question)
        self._question.setVisible(bool(head.question))
        self._dots.show_progress(head.done, head.of)
        self.help.setText(head.help)
        if self.help.hasFocus() and not head.help:
            self.help.clearFocus()
        self.help.setVisible(bool(head.help))

    def hide_help(self) -> None:
        """Offer nothing to open, until the next head is shown."""
        self.show_head(replace(self._head, help=""))

    def show_keyboard(self, text: str) -> None:
        """Say that the keyboard is away; nothing for empty words."""
        self.keyboard.setText(text)
        self.keyboard.setVisible(bool(text))

    def show_recording(self, on: bool, text: str) -> None:
        self._mark.show_on(on)
        self._recording.setText(text)


class BottomBar(_Bar):
    """Skip, Back or a way out on the left, the way on on the right."""

    left_pressed = Signal()
    right_pressed = Signal()

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__(palette, towards="top")
        self.setFixedHeight(BOTTOM_HEIGHT)
        self.left = Button(role="quiet", pressed=self.left_pressed)
        self.left.setProperty("side", "left")
        self.right = Button(role="primary", pressed=self.right_pressed)
        self.note = PlainLabel()
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.note.setWordWrap(True)
        self.note.setProperty("role", "secondary")
        row = controls.row(None, theme.SPACE_XL, (theme.SPACE_L, 0, theme.SPACE_XXL, 0))
        for button in (self.left, self.right):
            button.setMinimumWidth(BUTTON_WIDTH)
            button.setFixedHeight(theme.TARGET_HEIGHT + theme.SPACE_S)
            policy = button.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            button.setSizePolicy(policy)
            button.hide()
        controls.fill(row, self.left, (self.note, 1), self.right)
        self.setLayout(row)
        self.foot = Foot()

    def show_foot(self, foot: Foot) -> None:
        if foot == self.foot:
            return
        before, self.foot = self.foot, foot
        for button, text in ((self.left, foot.left), (self.right, foot.right)):
            if text and button.text() != text:
                button.setText(text)
            usable = bool(text) and (foot.enabled or button is self.left)
            if button.hasFocus() and not usable:
                button.clearFocus()  # else Qt would move the focus on to some dial
            button.setVisible(bool(text))
        self.right.setEnabled(foot.enabled)
        restyle(self.right, "unready", not foot.ready)
        if before.note != foot.note:
            self.note.setText(foot.note)
        if foot.warn and (before.warn, before.note) != (True, foot.note):
            announce(self.note, foot.note, urgent=True)
        restyle(self.note, "tone", "warn" if foot.warn else "")


LINE_PX = 2.4
AXIS_PX = 1.0
PUBLISHED_OPACITY = 0.5


class SeriesView(StimulusView):
    """Own series, target series, or both over one another.

    chart: its limits. band: whether the band within which points agree is drawn round a target.
    two_styles: in an overlay the target's line is dashed and lies under the own one (False: both
    plain at 50 % opacity, as published).
    """

    def __init__(
        self,
        palette: theme.Palette,
        name: str,
        *,
        two_styles: bool,
        chart: Chart | None = None,
        band: bool = True,
    ) -> None:
        super().__init__(palette, name)
        self._two_styles = two_styles
        self._chart = chart or PUBLISHED_CHART
        self._band = band
        self._own: Array | None = None
        self._target: Array | None = None
        self._ground: QPixmap | None = None

    def show_picture(self, picture: Array) -> None:
        """Show the own series, float32 of shape (points,)."""
        self._own = picture
        self.update()

    def show_target(self, target: Array | None) -> None:
        """Show the target with its band; drawn once and kept."""
        self._target = target
        self._ground = None
        self.update()

    def show_overlay(self, own: Array, target: Array) -> None:
        if target is not self._target:
            self.show_target(target)
        self.show_picture(own)

    def points(self, series: Array) -> list[QPointF]:
        """A series in the widget's pixels; far outside the chart it is cut off."""
        x = np.linspace(1.0, self.width() - 1.0, series.size)
        half = self.height() / 2
        y = half - self._chart.above_middle(series, half - 1)
        return [QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]

    def paint(self, painter: QPainter) -> None:
        ratio = self.devicePixelRatioF()
        size = self.size() * ratio
        if self._ground is None or self._ground.size() != size:
            self._ground = self._draw_ground(ratio)
        painter.drawPixmap(0, 0, self._ground)
        if self._own is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(QRectF(1, 1, self.width() - 2, self.height() - 2))
        if self._target is not None and not self._two_styles:
            painter.setOpacity(PUBLISHED_OPACITY)
        painter.setPen(pen(theme.SERIES_OWN, LINE_PX))
        painter.drawPolyline(self.points(self._own))

    def _draw_ground(self, ratio: float) -> QPixmap:
        """Everything that stays while the dials move."""
        ground = QPixmap(self.size() * ratio)
        ground.setDevicePixelRatio(ratio)
        ground.fill(color(theme.SERIES_GROUND))
        painter = smooth(ground)
        width, height = float(self.width()), float(self.height())
        painter.save()
        painter.setClipRect(QRectF(1, 1, width - 2, height - 2))
        if self._target is not None and self._band:
            upper = self.points(self._target + np.float32(TOLERANCE))
            lower = self.points(self._target - np.float32(TOLERANCE))
            equip(painter, Qt.PenStyle.NoPen, brush(theme.SERIES_BAND))
            painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
        if (zero := self._chart.zero) is not None:
            y = height / 2 - zero * (height / 2 - 1)
            painter.setPen(pen(theme.SERIES_AXIS, AXIS_PX, dashed=True))
            painter.drawLine(QPointF(1, y), QPointF(width - 1, y))
        if self._target is not None:
            if not self._two_styles:
                painter.setOpacity(PUBLISHED_OPACITY)
            painter.setPen(pen(theme.SERIES_TARGET, LINE_PX, dashed=self._two_styles))
            painter.drawPolyline(self.points(self._target))
        painter.restore()
        equip(painter, pen(self._colors.hairline), Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(0.5, 0.5, width - 1, height - 1))
        painter.end()
        return ground


def view_of(
    display: Display,
    picture: Array,
    palette: theme.Palette,
    name: str,
    *,
    improved: bool,
    chart: Chart | None = None,
    band: bool = True,
) -> ImageView | SeriesView:
    """The view for pictures of this kind. chart, band: of a series."""
    if display == "series":
        return SeriesView(palette, name, two_styles=improved, chart=chart, band=band)
    rows, columns = picture.shape[:2]
    return ImageView(
        (rows, columns), palette, name, binary=display == "binary_image", two_hues=improved
    )
