"""Rows that compare a region of a photo with a prototype: pictures side by side, and a rating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.photo_view import Box, PhotoView
from labapp.ui.widgets.segments import MISSING_WIDTH, MissingMark, Segments

PHOTO, REGION, PROTOTYPE, PROTOTYPE_PHOTO = range(4)
CUT_OUT = (REGION, PROTOTYPE)
GAP = theme.SPACE_M
POINT_WIDTH = 38
STEP_WIDTH, DECISION_WIDTH = 60, 96
SCROLL_WIDTH = 16
LEAST_SIDE, MOST_SIDE = 72, 260


@dataclass(frozen=True, slots=True)
class Columns:
    """What a list of rows has, in words: the four pictures' headings, what stands between region
    and prototype (such as "looks like"), headings of what is optional: the step on the left, the
    model's decision, the rating, with the options of it; names of a row for who hears the screen,
    with `{number}`. Decision and rating share a column: one stands over the other."""

    photo: str
    region: str
    joint: str
    prototype: str
    prototype_photo: str
    row: str
    step: str = ""
    decision: str = ""
    rating: str = ""
    ratings: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, str, str, str]:
        return (self.photo, self.region, self.prototype, self.prototype_photo)

    @property
    def last(self) -> str:
        """The heading of decision and rating."""
        return " · ".join(part for part in (self.decision, self.rating) if part)


@dataclass(frozen=True, slots=True)
class Row:
    """A row's pictures and words. step, decision: where the list has these columns."""

    photo: QImage
    photo_box: Box | None
    region: QImage
    prototype: QImage
    prototype_photo: QImage
    prototype_box: Box | None
    step: str = ""
    decision: str = ""


@dataclass(slots=True)
class Widths:
    """Logical pixels of a list's columns; the rows and their head share them."""

    step: int = 0
    joint: int = 72
    last: int = 0

    def side_for(self, width: float) -> int:
        """How wide each of the four pictures can be."""
        return max(LEAST_SIDE, min(floor((width - self._words()) / 4), MOST_SIDE))

    def least(self) -> int:
        """The width with the smallest pictures."""
        return self._words() + 4 * LEAST_SIDE

    def _words(self) -> int:
        """What words and gaps take."""
        words = [self.step, self.joint, self.last]
        return sum(word + GAP for word in words if word) + 3 * GAP


class RowView(QWidget):
    """rated(value, device): the hand wants this rating of the row, from 1."""

    rated = Signal(int, str)

    def __init__(
        self, number: int, columns: Columns, widths: Widths, palette: theme.Palette
    ) -> None:
        super().__init__()
        self.number = number
        name = columns.row.format(number=number)
        self.views = [PhotoView(palette, f"{heading}, {name}") for heading in columns.headings]
        self.step, self.joint, self.decision = PlainLabel(), PlainLabel(columns.joint), PlainLabel()
        self.mark = MissingMark()
        self.rating: Segments | None = None
        for label, role in (
            (self.step, "strong"),
            (self.joint, "secondary"),
            (self.decision, "strong"),
        ):
            label.setProperty("role", role)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        if columns.step:
            self.step.setFixedWidth(widths.step)
            row.addWidget(self.step)
        self.joint.setFixedWidth(widths.joint)
        row.addWidget(self.views[PHOTO])
        row.addWidget(self.views[REGION])
        row.addWidget(self.joint)
        row.addWidget(self.views[PROTOTYPE])
        row.addWidget(self.views[PROTOTYPE_PHOTO])
        if columns.ratings:
            self.rating = Segments(
                columns.ratings, palette, f"{columns.rating}, {name}", each=POINT_WIDTH
            )
            self.rating.chosen.connect(lambda index, device: self.rated.emit(index + 1, device))
        if columns.last:
            row.addWidget(self._last(columns, widths))
        row.addStretch(1)

    def _last(self, columns: Columns, widths: Widths) -> QWidget:
        """Decision and rating, as far as there are."""
        cell = QWidget()
        cell.setFixedWidth(widths.last)
        down = QVBoxLayout(cell)
        down.setContentsMargins(0, 0, 0, 0)
        down.setSpacing(theme.SPACE_S)
        down.addStretch(1)
        if columns.decision:
            down.addWidget(self.decision)
        if self.rating is not None:
            rate = QHBoxLayout()
            rate.setSpacing(0)
            rate.addWidget(self.mark)
            rate.addWidget(self.rating)
            rate.addStretch(1)
            down.addLayout(rate)
        down.addStretch(1)
        return cell

    def show_row(self, row: Row) -> None:
        """Show other pictures; a rating of before is gone."""
        self.views[PHOTO].show_picture(row.photo, row.photo_box)
        self.views[REGION].show_picture(row.region)
        self.views[PROTOTYPE].show_picture(row.prototype)
        self.views[PROTOTYPE_PHOTO].show_picture(row.prototype_photo, row.prototype_box)
        self.step.setText(row.step)
        self.decision.setText(row.decision)

    def show_rating(self, value: int | None) -> None:
        """Show what the session says, from 1."""
        if self.rating is not None:
            self.rating.show_index(None if value is None else value - 1)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by a mark in room kept for it, that the rating is missing."""
        self.mark.mark(missing)

    def set_side(self, side: int) -> None:
        for view in self.views:
            view.set_side(side)
        self.setFixedHeight(side)


class RowList(QWidget):
    """Rows under one head; only the rows scroll.

    rated(place, value, device): of the row at a place of those shown, from 1.
    """

    rated = Signal(int, int, str)

    def __init__(
        self, columns: Columns, palette: theme.Palette, enlarger: Enlarger | None = None
    ) -> None:
        super().__init__()
        self._columns, self._colors, self._enlarger = columns, palette, enlarger
        rating = MISSING_WIDTH + len(columns.ratings) * POINT_WIDTH + 2 if columns.ratings else 0
        self.widths = Widths(
            step=STEP_WIDTH if columns.step else 0,
            last=max(rating, DECISION_WIDTH) if columns.decision else rating,
        )
        self.rows: list[RowView] = []
        self._count = 0
        self._frame = 0
        self._head = self._make_head()
        self._inner = QWidget()
        self._list = QVBoxLayout(self._inner)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(GAP)
        self._list.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidget(self._inner)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setAccessibleName(" · ".join(filter(None, (columns.step, *columns.headings))))
        for surface in (self._inner, self.area.viewport()):
            surface.setAutoFillBackground(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._head)
        column.addWidget(self.area, 1)

    def _make_head(self) -> QWidget:
        columns, widths = self._columns, self.widths
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        self._over: list[QLabel] = []

        def add(text: str, width: int = 0) -> QLabel:
            label = PlainLabel(text)
            label.setProperty("role", "heading")
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom)
            label.setWordWrap(True)
            if width:
                label.setFixedWidth(width)
            row.addWidget(label)
            return label

        if columns.step:
            add(columns.step, widths.step)
        self._over += [add(columns.photo), add(columns.region)]
        add("", widths.joint)
        self._over += [add(columns.prototype), add(columns.prototype_photo)]
        if columns.last:
            add(columns.last, widths.last)
        self._beside = QSpacerItem(SCROLL_WIDTH, 0)  # the rows have their bar there
        row.addItem(self._beside)
        row.addStretch(1)
        return head

    @property
    def shown(self) -> list[RowView]:
        """The rows that are shown."""
        return self.rows[: self._count]

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows, from the first one on."""
        while len(self.rows) < len(rows):
            self._add()
        self._count = len(rows)
        for place, view in enumerate(self.rows):
            view.setVisible(place < len(rows))
            if place < len(rows):
                view.show_row(rows[place])
        self.area.verticalScrollBar().setValue(0)

    def _add(self) -> None:
        number = len(self.rows) + 1
        view = RowView(number, self._columns, self.widths, self._colors)
        view.rated.connect(lambda value, device: self.rated.emit(number, value, device))
        view.set_side(self._side())
        if view.rating is not None:
            view.rating.entered.connect(lambda: self.bring(view))
        if self._enlarger is not None:
            for place, row in enumerate(view.views):
                self._enlarger.watch(row, row.accessibleName(), whole=place in CUT_OUT)
        self._list.insertWidget(len(self.rows), view)
        self.rows.append(view)

    def bring(self, widget: QWidget) -> None:
        """Bring a row into sight, since the focus came to it: the first one from its top, also
        where there is no room for all of it."""
        if [widget] == self.rows[:1]:
            self.area.verticalScrollBar().setValue(0)
        else:
            self.area.ensureWidgetVisible(widget, 0, GAP)

    def row_with_focus(self) -> RowView | None:
        """The row whose rating has the keyboard."""
        return next(
            (row for row in self.shown if row.rating is not None and row.rating.hasFocus()), None
        )

    def focus_on(self, place: int) -> bool:
        """Give the keyboard to the row at a place, from 1; False where there is none."""
        if not 1 <= place <= self._count:
            return False
        rating = self.rows[place - 1].rating
        if rating is not None:
            rating.setFocus(Qt.FocusReason.OtherFocusReason)
        return rating is not None

    def take_keyboard(self) -> None:
        """Let the list itself have the focus, so that keys scroll what nobody rates."""
        self._frame = theme.RING
        self._beside.changeSize(SCROLL_WIDTH + 2 * self._frame, 0)
        self.area.setProperty("role", "rows")
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _side(self) -> int:
        return self.widths.side_for(self.width() - SCROLL_WIDTH - 2 * self._frame)

    def minimumSizeHint(self) -> QSize:
        """With the smallest pictures, however large they are now: a list that has become smaller
        would not get the width to make them smaller."""
        width = self.widths.least() + SCROLL_WIDTH + 2 * self._frame
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: object) -> None:
        """Pictures as large as the width allows."""
        side = self._side()
        for view in self.rows:
            view.set_side(side)
        for label in self._over:
            label.setFixedWidth(side)
        labels = self._head.findChildren(QLabel)
        self._head.setFixedHeight(
            max(label.heightForWidth(label.minimumWidth()) for label in labels)
        )
