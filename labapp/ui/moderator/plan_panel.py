"""The plan with ticks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolTip, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.plan import PlanView
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import font, metrics

ROW_PX = 32
ICON_PX = 16
MOST_ROWS = 9
FEWEST_ROWS = 4
STATES = {
    "todo": N_("to come"),
    "current": N_("now"),
    "done": N_("done"),
    "skipped": N_("skipped"),
}


class PlanList(QWidget):
    """Painted rows; what stands in a row is one `PlanView`."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self.views: tuple[PlanView, ...] = ()
        self._seen: tuple[tuple[str, str, str, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(200, ROW_PX * max(1, len(self.views)))

    def show_views(self, views: Sequence[PlanView]) -> None:
        """Repaints only when something a person can see changed."""
        if len(views) != len(self.views):
            self.updateGeometry()
        self.views = tuple(views)
        seen = tuple(
            (view.row.detail, view.state, view.progress, self._time(view)) for view in views
        )
        if seen != self._seen:
            self._seen = seen
            self.setAccessibleName("; ".join(self._spoken(view) for view in views))
            self.update()

    def _time(self, view: PlanView) -> str:
        return "" if view.working_ns is None else wording.short_time(view.working_ns)

    def _spoken(self, view: PlanView) -> str:
        return " ".join(
            x
            for x in (wording.part_title(view.row.title), tr(STATES[view.state]), view.progress)
            if x
        )

    def _has_room(self, view: PlanView, room: float) -> bool:
        """Whether a row can show its time beside its whole title; that tells stages apart."""
        small = metrics(theme.SECONDARY_PX)
        title = metrics(theme.BODY_PX - 1, view.state == "current")
        bold = metrics(theme.SECONDARY_PX, True)
        words = title.horizontalAdvance(wording.part_title(view.row.title))
        told = small.horizontalAdvance(self._time(view)) + bold.horizontalAdvance(view.progress)
        gaps = 4 * theme.SPACE_S + theme.SPACE_M + ICON_PX
        return words + told + gaps <= room

    def tip(self, y: float) -> str:
        """The whole title and detail of the row at a height, which has no room for both."""
        index = int(y // ROW_PX)
        if not 0 <= index < len(self.views):
            return ""
        row = self.views[index].row
        return "\n".join(filter(None, (wording.part_title(row.title), row.detail)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip(event.pos().y()), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, view in enumerate(self.views):
            self._paint_row(painter, view, QRectF(0, index * ROW_PX, self.width(), ROW_PX))

    def _paint_row(self, painter: QPainter, view: PlanView, box: QRectF) -> None:
        p = self._palette
        current, todo = view.state == "current", view.state == "todo"
        if current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(p.color("accent_soft"))
            painter.drawRoundedRect(box, theme.RADIUS, theme.RADIUS)
        inset = theme.SPACE_S
        icon = QRectF(inset, box.center().y() - ICON_PX / 2, ICON_PX, ICON_PX)
        bits.paint_status(painter, p, view.state, icon)
        ink = p.color("secondary" if todo else "ink")
        right = box.right() - inset
        small = theme.SECONDARY_PX
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font(small))
        painter.setPen(p.color("secondary"))
        if (time := self._time(view)) and self._has_room(view, box.width()):
            width = metrics(small).horizontalAdvance(time)
            where = QRectF(right - width, box.top(), width, ROW_PX)
            painter.drawText(where, middle | Qt.AlignmentFlag.AlignRight, time)
            right = where.left() - theme.SPACE_S
        if view.progress:
            width = metrics(small, True).horizontalAdvance(view.progress)
            painter.setFont(font(small, True))
            painter.setPen(p.color("accent" if current else "warn"))
            where = QRectF(right - width, box.top(), width, ROW_PX)
            painter.drawText(where, middle | Qt.AlignmentFlag.AlignRight, view.progress)
            right = where.left() - theme.SPACE_S
        left = icon.right() + theme.SPACE_M
        title = wording.part_title(view.row.title)
        painter.setFont(font(theme.BODY_PX - 1, current))
        painter.setPen(ink)
        fm = metrics(theme.BODY_PX - 1, current)
        room = QRectF(left, box.top(), right - left, ROW_PX)
        painter.drawText(
            room, middle, fm.elidedText(title, Qt.TextElideMode.ElideRight, right - left)
        )
        if view.row.detail:
            left += fm.horizontalAdvance(title) + theme.SPACE_S
            small_fm = metrics(small)
            detail = small_fm.elidedText(
                view.row.detail, Qt.TextElideMode.ElideMiddle, max(0.0, right - left)
            )
            if len(detail) > 1:  # an ellipsis alone says nothing
                painter.setFont(font(small))
                painter.setPen(p.color("secondary"))
                painter.drawText(QRectF(left, box.top(), right - left, ROW_PX), middle, detail)


class PlanPanel(QFrame):
    """The list in its card; a long plan scrolls to where it is."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.list = PlanList(palette)
        self._area = bits.Scrolling(self.list)
        layout = bits.column(
            self, theme.SPACE_XS, (theme.SPACE_S, theme.SPACE_M, theme.SPACE_S, theme.SPACE_S)
        )
        title = bits.label(tr("PLAN"), "section")
        title.setContentsMargins(theme.SPACE_S, 0, 0, 0)
        layout.addWidget(title)
        layout.addWidget(self._area)
        self._current = -1

    def show_views(self, views: Sequence[PlanView]) -> None:
        rows = min(len(views), MOST_ROWS)
        if self._area.maximumHeight() != rows * ROW_PX:
            # It gives way to what is written below it.
            self._area.setMaximumHeight(rows * ROW_PX)
            self._area.setMinimumHeight(min(rows, FEWEST_ROWS) * ROW_PX)
        self.list.show_views(views)
        current = next((i for i, view in enumerate(views) if view.state == "current"), -1)
        if current not in (-1, self._current):
            self._current = current
            self._area.ensureVisible(0, current * ROW_PX + ROW_PX // 2, 0, 2 * ROW_PX)
