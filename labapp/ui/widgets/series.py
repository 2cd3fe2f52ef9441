"""Series as charts: a dashed line at 0, and the band of allowed disagreement."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from labapp.representations.display import PUBLISHED_CHART, Chart, Display
from labapp.representations.distance import TOLERANCE
from labapp.ui import theme
from labapp.ui.widgets.composing import Array
from labapp.ui.widgets.painting import brush, color, pen
from labapp.ui.widgets.pictures import ImageView, StimulusView

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
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(palette, name, parent)
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
        painter = QPainter(ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = float(self.width()), float(self.height())
        painter.save()
        painter.setClipRect(QRectF(1, 1, width - 2, height - 2))
        if self._target is not None and self._band:
            upper = self.points(self._target + np.float32(TOLERANCE))
            lower = self.points(self._target - np.float32(TOLERANCE))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(theme.SERIES_BAND))
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
        painter.setPen(pen(self._colors.hairline))
        painter.setBrush(Qt.BrushStyle.NoBrush)
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
