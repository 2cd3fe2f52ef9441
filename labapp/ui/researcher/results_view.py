"""The results of a study so far: its means, and the figures of the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent, QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import bits
from labapp.ui.researcher.results import Line, Results

TITLES = {
    "completion_rate": N_("Completion rate"),
    "response_time_s": N_("Response time"),
    "slide_distance": N_("Slide distance"),
    "error_auc_sum": N_("Error AUC, sum"),
    "error_auc_mean": N_("Error AUC, mean"),
    "seq": N_("Difficulty (SEQ)"),
    "correctness_rate": N_("Correctness"),
    "confidence": N_("Confidence"),
    "understanding": N_("Dial makes sense"),
    "post_quiz_difficulty": N_("Difficulty (after the quiz)"),
    "mental_demand": N_("Mental demand"),
    "physical_demand": N_("Physical demand"),
    "temporal_demand": N_("Temporal demand"),
    "performance": N_("Performance"),
    "effort": N_("Effort"),
    "frustration": N_("Frustration"),
    "raw_tlx": N_("Raw TLX"),
    "weighted_tlx": N_("Weighted TLX"),
    "systematic_plan": N_("Had a systematic plan"),
    "random_experimenting": N_("Experimented at random"),
    "understood_dimensions": N_("Understood the dimensions"),
}
"""Titles of the metrics of stages, by their columns; other quantities are written in words."""
UNITS = (
    N_("% of questions"),
    N_("s a question"),
    N_("slider widths a question"),
    N_("sum of squares × s, a stage"),
    N_("mean of squares × s, a stage"),
    N_("1 very easy – 7 very difficult"),
    N_("0 perfect – 100 failure"),
)
"""Their units, where these have words."""
HEADINGS = (N_("Of"), "n", N_("Mean ± sd"), N_("Median"))
DECIMALS = ((100, 0), (10, 1), (1, 2))
"""So many decimals from such a size on; 3 below."""
WIDTHS = (theme.SPACE_XXL, 3 * theme.SPACE_XXXL, theme.SPACE_XXXL + theme.SPACE_L)
"""Least widths of the columns of numbers, so that they stand below each other."""
MOST_FIGURES = 12


def value(size: float | None, like: float | None = None) -> str:
    """A number with as many decimals as it needs to be compared; like: the number whose decimals
    are to be used (a mean's, for its standard deviation)."""
    if size is None:
        return "–"
    deciding = abs(size if like is None else like) or abs(size)
    decimals = next((some for limit, some in DECIMALS if deciding >= limit), 3) if deciding else 0
    return number(f"{size:,.{decimals}f}").replace("-", "−")


def spread(line: Line) -> str:
    """Mean and sample standard deviation."""
    return (
        value(line.mean) if line.sd is None else f"{value(line.mean)} ± {value(line.sd, line.mean)}"
    )


class Picture(QLabel):
    """A figure as wide as there is room, in its own proportions, never larger than it is. A click
    (or Enter) opens it at its full size."""

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
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path)))


class ResultsView(QScrollArea):
    """Means by measure, then figures; scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "page")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Results so far"))
        self.show_text("")

    def show_text(self, text: str) -> None:
        """A sentence in place of results."""
        page, layout = self._page()
        layout.addWidget(bits.label(text, "secondary", wrap=True))
        layout.addStretch(1)
        self.setWidget(page)

    def show_results(self, results: Results, study: str) -> None:
        """The means of a study and all figures."""
        page, layout = self._page()
        lines = [line for line in results.lines if study in line.study.split(" + ")]
        for group, own in groupby(lines, key=lambda line: line.group):
            if group:
                layout.addWidget(bits.label(group, "heading", wrap=True))
            for (quantity, unit), some in groupby(own, key=lambda one: (one.quantity, one.unit)):
                layout.addWidget(_measure(quantity, unit, list(some)))
        if not lines:
            layout.addWidget(
                bits.label(tr("No session counts yet, or none asked a question."), wrap=True)
            )
        for path in results.figures[:MOST_FIGURES]:
            layout.addWidget(Picture(path))
        if len(results.figures) > MOST_FIGURES:
            more = tr("More figures are in the report.")
            layout.addWidget(bits.label(more, "secondary", wrap=True))
        layout.addStretch(1)
        self.setWidget(page)

    def _page(self) -> tuple[QWidget, QVBoxLayout]:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, theme.SPACE_S, 0)
        layout.setSpacing(theme.SPACE_L)
        return page, layout


def _measure(quantity: str, unit: str, lines: Sequence[Line]) -> QWidget:
    """One measure: a row for each model."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.SPACE_L)
    grid.setVerticalSpacing(theme.SPACE_XS)
    grid.setColumnStretch(0, 1)
    for column, width in enumerate(WIDTHS, start=1):
        grid.setColumnMinimumWidth(column, width)
    title = tr(TITLES[quantity]) if quantity in TITLES else quantity
    grid.addWidget(bits.label(title, "strong", wrap=True), 0, 0)
    unit = tr(unit) if unit in UNITS else unit
    grid.addWidget(_right(bits.label(unit, "secondary", wrap=True)), 0, 1, 1, 3)
    for column, text in enumerate(HEADINGS):
        head = bits.label(text if text == "n" else tr(text), "caption")
        grid.addWidget(head if column == 0 else _right(head), 1, column)
    for row, line in enumerate(lines, start=2):
        grid.addWidget(bits.ElidedLabel(line.of or tr("all")), row, 0)
        for column, text in enumerate((str(line.n), spread(line), value(line.median)), start=1):
            grid.addWidget(_right(bits.label(text)), row, column)
    return box


def _right(label: QLabel) -> QLabel:
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label
