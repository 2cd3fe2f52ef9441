"""Rows that compare a region of a photo with a prototype: pictures side by side, and a rating.

Also answers as cards, of which the right one is told at the end, and classes as tabs.

The steps of a tree's path, and below them steps whose decision is the participant's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsOpacityEffect,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QSpacerItem,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.painting import (
    brush,
    color,
    draw_focus_ring,
    equip,
    font,
    metrics,
    pen,
    restyle,
    write_with,
)
from labapp.ui.widgets.photo_view import Box, Enlarger, PhotoView
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
class RowContent:
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
        words = [self.step, self.joint, self.last]
        return sum(word + GAP for word in words if word) + 3 * GAP


class RowView(QWidget):
    """rated(value, device): the hand wants this rating of the row, from 1, perhaps once more."""

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
        row = controls.row(self, GAP)
        if columns.step:
            self.step.setFixedWidth(widths.step)
            row.addWidget(self.step)
        self.joint.setFixedWidth(widths.joint)
        controls.fill(row, self.views[PHOTO], self.views[REGION], self.joint)
        controls.fill(row, self.views[PROTOTYPE], self.views[PROTOTYPE_PHOTO])
        if columns.ratings:
            self.rating = Segments(
                columns.ratings, palette, f"{columns.rating}, {name}", each=POINT_WIDTH
            )
            self.rating.wanted.connect(lambda index, device: self.rated.emit(index + 1, device))
        if columns.last:
            row.addWidget(self._last(columns, widths))
        row.addStretch(1)

    def _last(self, columns: Columns, widths: Widths) -> QWidget:
        cell = QWidget()
        cell.setFixedWidth(widths.last)
        down = controls.fill(controls.column(cell, theme.SPACE_S), 1)
        if columns.decision:
            down.addWidget(self.decision)
        if self.rating is not None:
            down.addLayout(controls.fill(controls.row(None, 0), self.mark, self.rating, 1))
        down.addStretch(1)
        return cell

    def show_row(self, row: RowContent) -> None:
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
        self._list = controls.fill(controls.column(self._inner, GAP), 1)
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
        controls.fill(controls.column(self, theme.SPACE_S), self._head, (self.area, 1))

    def _make_head(self) -> QWidget:
        columns, widths = self._columns, self.widths
        head = QWidget()
        row = controls.row(head, GAP)
        self._over: list[QLabel] = []

        def add(text: str, width: int = 0) -> QLabel:
            label = controls.make_label(text, "heading")
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

    def show_rows(self, rows: Sequence[RowContent]) -> None:
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
        return next((row for row in self.shown if row.rating and row.rating.hasFocus()), None)

    def focus_on(self, place: int) -> bool:
        """Give the keyboard to the row at a place, from 1; False if there is none."""
        rating = self.rows[place - 1].rating if 1 <= place <= self._count else None
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
        heads = self._head.findChildren(QLabel)
        self._head.setFixedHeight(max(head.heightForWidth(head.minimumWidth()) for head in heads))


HEIGHT = theme.TARGET_HEIGHT + 6
MOST_WIDTH = 128.0
ROOMY = 56.0
"""A narrower answer is written small, with its mark close by."""
RIGHT_MARK, WRONG_MARK = "✓", "✗"
TAB_HEIGHT = 48
LINE = 3
DONE, MISSING = "✓", "▸"


class AnswerRow(Choice):
    """Answers in words, or letters, which are keys then.

    `show_right` locks the row and marks the right answer and, where it is another one, the chosen.
    """

    def __init__(self, palette: theme.Palette, name: str) -> None:
        super().__init__(palette, name)
        self._texts: tuple[str, ...] = ()
        self._right: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_texts(self, texts: Sequence[str]) -> None:
        """What can be answered."""
        if self._texts != tuple(texts):
            self._texts = tuple(texts)
            self.show_options(texts)

    def show_right(self, right: int | None) -> None:
        """Tell the right answer; None opens the row for the next question."""
        if right != self._right:
            self._right = right
            self.set_locked(right is not None)
            self.update()

    def place_of(self, typed: str) -> int | None:
        if typed and typed.upper() in self._texts:
            return self._texts.index(typed.upper())
        return super().place_of(typed)

    def sizeHint(self) -> QSize:
        return QSize(round(MOST_WIDTH * 3), HEIGHT)

    def box(self, index: int) -> QRectF:
        count = max(len(self._texts), 1)
        gap = theme.SPACE_S if count <= 5 else theme.SPACE_XS
        wide = min((self.width() - (count - 1) * gap) / count, MOST_WIDTH)
        return QRectF(index * (wide + gap), 0, wide, HEIGHT)

    def paint(self, painter: QPainter) -> None:
        for index, text in enumerate(self._texts):
            self._paint_answer(painter, index, text)
        if self.hasFocus() and not self.locked:
            whole = self.box(0).united(self.box(len(self._texts) - 1))
            draw_focus_ring(painter, whole, theme.RADIUS, self._colors.accent)

    def _paint_answer(self, painter: QPainter, index: int, text: str) -> None:
        p = self._colors
        box = self.box(index).adjusted(3, 3, -3, -3)
        on, right = index == self.index, index == self._right
        roomy = box.width() >= ROOMY
        tone, ground = (p.accent, p.accent_soft) if on else (p.hairline, p.card)
        if self.locked and (on or right):
            tone = p.good if right else p.alarm
            text = f"{RIGHT_MARK if right else WRONG_MARK}{' ' if roomy else ''}{text}"
        equip(painter, pen(tone, 2.0 if on or right else 1.0), brush(ground))
        painter.drawRoundedRect(box, theme.RADIUS - 2, theme.RADIUS - 2)
        px = theme.BODY_PX if roomy else theme.SECONDARY_PX
        write_with(painter, color(p.ink if tone == p.hairline else tone), px, bold=on or right)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


class ClassTabs(Choice):
    """The classes whose rows can be looked at, each with how many rows are rated. opened(option):
    the hand wants to look at this class, from 1.

    name: what the tabs are. said: a tab in words, of its name, how many rows are rated and of how
    many.
    """

    opened = Signal(int)

    def __init__(
        self,
        names: Sequence[str],
        palette: theme.Palette,
        name: str,
        text_of: Callable[[str, int, int], str],
    ) -> None:
        super().__init__(palette, name)
        self._names, self._said = tuple(names), text_of
        self._counts: tuple[tuple[int, int], ...] = ((0, 0),) * len(names)
        self._marked: tuple[bool, ...] = (False,) * len(names)
        self.setFixedHeight(TAB_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_options(names)
        self.chosen.connect(lambda index, _device: self.opened.emit(index + 1))

    def show_state(
        self, option: int, counts: Sequence[tuple[int, int]], marked: Sequence[bool]
    ) -> None:
        """The class that is looked at; of each how many rows are rated, of how many, and whether to
        mark it as one that lacks some."""
        self._counts, self._marked = tuple(counts), tuple(marked)
        for tab, name, count in zip(self.options, self._names, counts, strict=False):
            tab.setAccessibleName(self._said(name, *count))
        self.show_index(option - 1)
        self.update()

    def sizeHint(self) -> QSize:
        widest = max(metrics(bold=True).horizontalAdvance(name) for name in self._names)
        return QSize(round(widest + 2 * theme.SPACE_M) * len(self._names), TAB_HEIGHT)

    def box(self, index: int) -> QRectF:
        wide = self.width() / len(self._names)
        return QRectF(index * wide, 0, wide, TAB_HEIGHT)

    def pressed_by(self, key: Qt.Key) -> int | None:
        return None

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        painter.fillRect(QRectF(0, TAB_HEIGHT - 1, self.width(), 1), brush(p.hairline))
        for index in range(len(self._counts)):
            self._paint_tab(painter, index)
        if self.hasFocus():
            ring = self.box(self._at).adjusted(1, 1, -1, -1)
            draw_focus_ring(painter, ring, theme.RADIUS, p.accent)

    def _paint_tab(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index == self.index
        done, of = self._counts[index]
        if on or index == self._hover:
            equip(painter, Qt.PenStyle.NoPen, brush(p.accent_soft if on else p.track))
            painter.drawRoundedRect(box.adjusted(2, 2, -2, -LINE), theme.RADIUS, theme.RADIUS)
        if on:
            line = QRectF(box.left(), TAB_HEIGHT - LINE, box.width(), LINE)
            painter.fillRect(line, brush(p.accent))
        write_with(painter, color(p.accent if on else p.ink), bold=on)
        upper = QRectF(box.left(), 5, box.width(), 20)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, self._names[index])
        whole, lacks = done == of, self._marked[index]
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.good if whole else p.warn if lacks else p.secondary))
        mark = f"{DONE} " if whole else f"{MISSING} " if lacks else ""
        lower = QRectF(box.left(), 24, box.width(), 18)
        painter.drawText(lower, Qt.AlignmentFlag.AlignCenter, f"{mark}{done} / {of}")


FAINT = 0.35
"""How strong a step is drawn that is not on the way any more."""


class OpenStep(QWidget):
    """A step that waits for a decision: its question beside the options, and its row.

    answered(place, device): the hand wants this option, from 1.
    """

    answered = Signal(int, str)

    def __init__(
        self,
        number: int,
        texts: tuple[str, ...],
        options: tuple[str, ...],
        columns: Columns,
        widths: Widths,
        palette: theme.Palette,
    ) -> None:
        super().__init__()
        self.row = RowView(number, columns, widths, palette)
        self.choice = Segments(options, palette, " ".join(texts), lines=2)
        self.choice.chosen.connect(lambda index, device: self.answered.emit(index + 1, device))
        self.mark = MissingMark()
        labels = [PlainLabel(text) for text in texts]
        labels[-1].setProperty("role", "strong")
        layout = controls.column(None, theme.SPACE_XS)
        for label in labels:
            label.setWordWrap(True)
            layout.addWidget(label)
        self._effect = QGraphicsOpacityEffect(self)
        self._effect.setOpacity(FAINT)
        self._effect.setEnabled(False)
        self.setGraphicsEffect(self._effect)
        asked = controls.fill(controls.row(None, 0), self.mark, (layout, 1))
        controls.fill(asked, controls.Gap(theme.SPACE_M), self.choice)
        controls.fill(
            controls.column(self, theme.SPACE_S, (0, theme.SPACE_S, 0, theme.SPACE_S)),
            asked,
            self.row,
        )

    def show_answer(self, place: int | None, *, open_: bool, faint: bool) -> None:
        """Show what the session says, from 1. open_: it can be answered; faint: it is not on the
        way that was taken."""
        self.choice.show_index(None if place is None else place - 1)
        if self.choice.isEnabled() != open_:
            self.choice.setEnabled(open_)
        if self._effect.isEnabled() != faint:
            self._effect.setEnabled(faint)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by a mark in room kept for it, that the decision is missing."""
        self.mark.mark(missing)


class PathList(RowList):
    """Steps of a path under one head, and below them the open ones, each under a heading.

    Where nothing is rated in the path the list itself takes the keyboard, so that it can be
    scrolled.
    """

    def __init__(
        self,
        columns: Columns,
        palette: theme.Palette,
        enlarger: Enlarger | None = None,
        *,
        headings: tuple[str, str] = ("", ""),
        open_steps: Sequence[tuple[str, ...]] = (),
        options: tuple[str, ...] = (),
    ) -> None:
        super().__init__(columns, palette, enlarger)
        self.open: list[OpenStep] = []
        self.headings = [PlainLabel(heading) for heading in headings]
        place = self._list.count()
        for at, heading in zip((0, place), self.headings, strict=True):
            heading.setProperty("role", "title")
            heading.setMargin(theme.SPACE_XS)
            heading.setWordWrap(True)
            if not heading.text():
                heading.hide()
            self._list.insertWidget(at, heading)
        for number, texts in enumerate(open_steps, start=1):
            step = OpenStep(number, texts, options, columns, self.widths, palette)
            step.choice.entered.connect(lambda step=step: self.bring(step))
            if enlarger is not None:
                for at, view in enumerate(step.row.views):
                    enlarger.watch(view, view.accessibleName(), whole=at in CUT_OUT)
            self.open.append(step)
            self._list.insertWidget(place + number, step)
        if not columns.ratings:
            self.take_keyboard()

    def _add(self) -> None:
        """Another row; the rows come after the first heading."""
        self._list.removeWidget(self.headings[0])
        super()._add()
        self._list.insertWidget(0, self.headings[0])

    def show_open(self, rows: Sequence[RowContent]) -> None:
        """Show the pictures of the open steps."""
        for step, row in zip(self.open, rows, strict=True):
            step.row.show_row(row)

    def mark_step(self, place: int | None) -> None:
        """Mark a step, from 1, and bring it into sight; None, or a place behind the last: none."""
        for number, view in enumerate(self.shown, start=1):
            here = number == place
            if (view.step.property("tone") == "warn") != here:
                font = view.step.font()
                font.setUnderline(here)  # not by colour alone
                view.step.setFont(font)
                restyle(view.step, "tone", "warn" if here else "")
                if here:
                    self.bring(view)

    def near(self) -> Sequence[PhotoView]:
        """The pictures of the step that has the keyboard, else of the first that is in sight."""
        opened = next((step.row for step in self.open if step.choice.hasFocus()), None)
        row = opened or self.row_with_focus() or next(filter(self._is_visible, self.shown), None)
        return row.views if row is not None else ()

    def _is_visible(self, row: RowView) -> bool:
        return row.mapTo(self.area.viewport(), QPoint(0, 0)).y() >= 0

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)
        for step in self.open:
            step.row.set_side(self._side())
