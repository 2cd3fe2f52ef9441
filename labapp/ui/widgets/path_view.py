"""The steps of a tree's path, and below them steps whose decision is the participant's."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import (
    QGraphicsOpacityEffect,
    QVBoxLayout,
    QWidget,
)

from labapp.ui import theme
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.painting import restyle
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.row_view import (
    CUT_OUT,
    Columns,
    Row,
    RowList,
    RowView,
    Widths,
)
from labapp.ui.widgets.segments import MissingMark, Segments

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
        layout = QVBoxLayout()
        layout.setSpacing(theme.SPACE_XS)
        for label in labels:
            label.setWordWrap(True)
            layout.addWidget(label)
        self._effect = QGraphicsOpacityEffect(self)
        self._effect.setOpacity(FAINT)
        self._effect.setEnabled(False)
        self.setGraphicsEffect(self._effect)
        asked = controls.fill(controls.row(None, 0), self.mark, (layout, 1))
        asked.addSpacing(theme.SPACE_M)
        asked.addWidget(self.choice)
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

    def show_open(self, rows: Sequence[Row]) -> None:
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
        row = opened or self.row_with_focus() or next(filter(self._seen, self.shown), None)
        return row.views if row is not None else ()

    def _seen(self, row: RowView) -> bool:
        return row.mapTo(self.area.viewport(), QPoint(0, 0)).y() >= 0

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)
        for step in self.open:
            step.row.set_side(self._side())
