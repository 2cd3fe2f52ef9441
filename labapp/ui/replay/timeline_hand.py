"""What mouse, wheel and keys do in a timeline."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from labapp.clock import NS
from labapp.ui.replay.timeline_voice import Edge

if TYPE_CHECKING:
    from labapp.ui.replay.timeline import Timeline

SLOP_PX = 4
"""A press that moves less is a click."""
LEAST_UNIT_NS = NS // 20
ZOOM_STEP = 1.25
NOTCH = 120
PAN_SHARE = 0.8


class Drag(Enum):
    """What a held button does."""

    PRESS, PAN, EDGE, SELECT, SCRUB, FRAME = (auto() for _ in range(6))


class Hand:
    """The state of a drag, and what comes of it."""

    def __init__(self, timeline: Timeline) -> None:
        self._line = timeline
        self._drag: Drag | None = None
        self._from = QPointF()
        self._last = QPointF()
        self._edge: Edge | None = None
        self._anchor_ns = 0

    @property
    def busy(self) -> bool:
        """Whether a button is held."""
        return self._drag is not None

    def press(self, event: QMouseEvent) -> None:
        """A button goes down."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        line, where = self._line, event.position()
        self._from = self._last = where
        self._anchor_ns = line.scale.t(where.x())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        in_voice = line.voice_rect().contains(where)
        self._edge = self._edge_at(where) if in_voice and not shift else None
        if line.strip_rect().adjusted(0, -4, 0, 4).contains(where):
            self._drag = Drag.FRAME
            self._centre(where.x())
        elif where.x() < line.scale.x0:
            self._drag = None
        elif line.axis_rect().contains(where):
            self._drag = Drag.SCRUB
            line.scrubbed.emit(self._anchor_ns)
        elif self._edge is not None:
            self._drag = Drag.EDGE
        elif shift and in_voice:
            self._drag = Drag.SELECT
        else:
            self._drag = Drag.PRESS

    def move(self, event: QMouseEvent) -> None:
        """The pointer moves, a button held or not."""
        line, where = self._line, event.position()
        t_ns = line.scale.t(where.x())
        far = abs(where.x() - self._from.x()) >= SLOP_PX
        if self._drag is Drag.PRESS and far:
            self._drag = Drag.PAN
            self._last = self._from
        match self._drag:
            case Drag.PAN:
                line.pan(self._last.x() - where.x())
            case Drag.EDGE if self._edge is not None and (far or line.moved_edge is not None):
                line.moved_edge = (*self._edge[:2], self._kept_apart(self._edge, t_ns))
                line.update()
            case Drag.SELECT:
                line.set_selection(min(self._anchor_ns, t_ns), max(self._anchor_ns, t_ns))
            case Drag.SCRUB:
                line.scrubbed.emit(t_ns)
            case Drag.FRAME:
                self._centre(where.x())
            case _:
                pass
        self._last = where
        self._show_cursor(where)

    def release(self, event: QMouseEvent) -> None:
        """A button goes up."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        line, drag = self._line, self._drag
        self._drag = None
        t_ns = line.scale.t(event.position().x())
        match drag:
            case Drag.PRESS | Drag.SCRUB:
                line.seeked.emit(t_ns)
            case Drag.EDGE if line.moved_edge is not None:
                moved, line.moved_edge = line.moved_edge, None
                line.boundary_moved.emit(*moved)
                line.update()
            case Drag.EDGE:
                line.seeked.emit(t_ns)
            case Drag.SELECT if line.selection is not None:
                begin, end = line.selection
                if end > begin:
                    line.selected.emit(begin, end)
            case Drag.SELECT:
                line.seeked.emit(t_ns)
            case _:
                pass
        self._edge = None
        self._show_cursor(event.position())

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; sideways, or with Shift, move; over the titles, scroll the rows."""
        line, turned = self._line, event.angleDelta()
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        event.accept()
        if event.position().x() < line.scale.x0:
            line.scroll_rows(round(-turned.y() / NOTCH))
        elif abs(turned.x()) > abs(turned.y()):
            line.pan(-turned.x())
        elif shift:
            line.pan(-turned.y())
        elif turned.y():
            line.zoom(ZOOM_STEP ** (turned.y() / NOTCH), event.position().x())

    def key(self, event: QKeyEvent) -> bool:
        """What a key does here; False where the window is to have it: letters are codes, arrows go
        from unit to unit."""
        line = self._line
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal if control:
                line.zoom(ZOOM_STEP)
            case Qt.Key.Key_Minus if control:
                line.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_0 if control:
                line.show_all()
            case Qt.Key.Key_PageDown:
                line.pan(PAN_SHARE * line.scale.width)
            case Qt.Key.Key_PageUp:
                line.pan(-PAN_SHARE * line.scale.width)
            case Qt.Key.Key_Home:
                line.pan(-(line.scale.end_ns - line.scale.begin_ns) / line.scale.ns_per_px)
            case Qt.Key.Key_End:
                line.pan((line.scale.end_ns - line.scale.begin_ns) / line.scale.ns_per_px)
            case Qt.Key.Key_Escape if line.selection is not None:
                line.set_selection(None)
            case _:
                return False
        event.accept()
        return True

    def _centre(self, x: float) -> None:
        line = self._line
        left = line.strip_t(x) - line.scale.span_ns / 2
        line.scale.left_ns = left
        line.pan(0)

    def _edge_at(self, where: QPointF) -> Edge | None:
        line = self._line
        if not line.editable or not line.voice_rect().contains(where):
            return None
        return line.voice.edge_at(line.scale, where.x(), line.current_unit)

    def _kept_apart(self, edge: Edge, t_ns: int) -> int:
        """A time for an edge at which the unit still lasts a moment."""
        unit = self._line.voice.unit(edge.unit)
        if unit is None:
            return t_ns
        if edge.which == "begin":
            return min(t_ns, unit.t1_ns - LEAST_UNIT_NS)
        return max(t_ns, unit.t0_ns + LEAST_UNIT_NS)

    def _show_cursor(self, where: QPointF) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self._drag is Drag.PAN:
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._drag is Drag.EDGE or (self._drag is None and self._edge_at(where) is not None):
            shape = Qt.CursorShape.SizeHorCursor
        elif self._drag is Drag.SELECT:
            shape = Qt.CursorShape.IBeamCursor
        if self._line.cursor().shape() != shape:
            self._line.setCursor(shape)
