"""Own picture and target, side by side or over one another."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from labapp.tasks.reconstruction.pictures import Pictures
from labapp.tasks.reconstruction.plan import ReconstructionPart
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.composing import Array
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import brush, pen
from labapp.ui.widgets.pictures import ImageView, StimulusView
from labapp.ui.widgets.segments import Views
from labapp.ui.widgets.series import SeriesView, view_of

GAP = theme.SPACE_M
CAPTION_HEIGHT = 28
OWN_HUE, TARGET_HUE = "#0080FF", "#FF7F00"
"""What two_hues gives for full white on black."""


class Swatch(QWidget):
    """The line or patch beside a word of the legend."""

    def __init__(self, mark: str, *, kind: str) -> None:
        super().__init__()
        self._mark, self._kind = mark, kind
        self.setFixedSize(26 if kind != "patch" else 14, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._kind == "patch":
            painter.fillRect(self.rect(), brush(self._mark))
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(pen(self._mark, 2.4, dashed=self._kind == "dashed"))
            painter.drawLine(0, 7, self.width(), 7)
        painter.end()


class PicturePanel(QWidget):
    """frame_painted: called at the end of the paintEvent of the view in front."""

    def __init__(
        self,
        part: ReconstructionPart,
        pictures: Pictures,
        words: Strings,
        palette: theme.Palette,
        *,
        improved: bool,
        frame_painted: Callable[[], None],
    ) -> None:
        super().__init__()
        self._overlay = False
        self._shown: Pictures | None = None
        self._target: Array | None = None

        def view(key: str) -> ImageView | SeriesView:
            return view_of(
                part.display,
                pictures.own,
                palette,
                words(key),
                improved=improved,
                chart=part.chart,
                band=part.tolerant,
            )

        self.own, self.target, self.both = view("your_picture"), view("target"), view("overlay")
        self.own.painted = self.both.painted = frame_painted
        self.toggle = Views(
            (words("side_by_side"), words("overlay")), palette, words("your_picture")
        )
        pair, single = QWidget(), QWidget()
        row = QHBoxLayout(pair)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        for picture, key in ((self.own, "your_picture"), (self.target, "target")):
            caption = PlainLabel(words(key))
            caption.setAlignment(Qt.AlignmentFlag.AlignCenter)
            row.addLayout(_captioned(picture, caption))
        middle = QHBoxLayout(single)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addStretch(1)
        middle.addLayout(_captioned(self.both, _legend(part, words, improved=improved)))
        middle.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(pair)
        self._stack.addWidget(single)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._stack)
        column.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignHCenter)

    @property
    def overlay(self) -> bool:
        return self._overlay

    @property
    def front(self) -> StimulusView:
        """The view that shows the own picture now."""
        return self.both if self._overlay else self.own

    def fit(self, side: float) -> float:
        """Give every picture at most `side` logical pixels; returns the panel's width, in which
        words and buttons have their room though the pictures may be smaller."""
        taken = self.own.side_for(side - 2)
        for view in (self.own, self.target, self.both):
            view.set_side(taken)
        pages = [self._stack.widget(place) for place in range(self._stack.count())]
        words = [page.minimumSizeHint().width() for page in pages if page is not None]
        width = max(2 * self.own.width() + GAP, self.toggle.sizeHint().width(), *words)
        self._stack.setFixedSize(width, self.own.height() + CAPTION_HEIGHT)
        return width

    def around(self) -> int:
        """Height of everything but the picture."""
        return CAPTION_HEIGHT + theme.SPACE_S + self.toggle.sizeHint().height() + 2

    def show_pictures(self, pictures: Pictures) -> None:
        if pictures is not self._shown:
            self._shown = pictures
            self._draw()

    def show_overlay(self, on: bool) -> None:
        self.toggle.show_index(int(on))
        if on != self._overlay:
            self._overlay = on
            self._draw()
            self._stack.setCurrentIndex(int(on))

    def _draw(self) -> None:
        """Bring the views in front up to date, and only them."""
        if self._shown is None:
            return
        if self._overlay:
            self.both.show_overlay(self._shown.own, self._shown.target)
            return
        self.own.show_picture(self._shown.own)
        if self._shown.target is not self._target:
            self._target = self._shown.target
            if isinstance(self.target, SeriesView):
                self.target.show_target(self._target)
            else:
                self.target.show_picture(self._target)


def _captioned(view: QWidget, caption: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(view, 0, Qt.AlignmentFlag.AlignHCenter)
    caption.setFixedHeight(CAPTION_HEIGHT)
    column.addWidget(caption)
    return column


def _legend(part: ReconstructionPart, words: Strings, *, improved: bool) -> QWidget:
    """What is what in the overlay, by mark and word."""
    if part.display == "series":
        marks = [
            ("overlay_legend_yours", theme.SERIES_OWN, "line"),
            ("overlay_legend_target", theme.SERIES_TARGET, "dashed" if improved else "line"),
        ]
        if part.tolerant:
            marks.append(("overlay_legend_band", theme.SERIES_BAND, "patch"))
    elif improved:
        marks = [
            ("overlay_legend_yours", OWN_HUE, "patch"),
            ("overlay_legend_target", TARGET_HUE, "patch"),
        ]
    else:
        marks = []
    legend = QWidget()
    row = QHBoxLayout(legend)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_S)
    row.addStretch(1)
    for key, mark, kind in marks:
        row.addWidget(Swatch(mark, kind=kind))
        words_label = PlainLabel(words(key))
        words_label.setProperty("role", "secondary")
        row.addWidget(words_label)
        row.addSpacing(theme.SPACE_S)
    row.addStretch(1)
    return legend
