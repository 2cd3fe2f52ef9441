"""What a moderator reads of a masked picture: what it is of, and the answers so far.

What is correct and what the model predicts is shown only to the moderator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from labapp.study.plugins.part import PlannedPart
from labapp.tasks.unmasking.moderator import Stimuli
from labapp.tasks.unmasking.plan import StimulusTrial, UnmaskingPart, UnmaskingState
from labapp.ui import theme
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.mirror import Beside
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.painting import draw_focus_ring, metrics, smooth, write_with

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


Mark = Literal["right", "wrong", "unsure", "current", "todo"]

WORDS: dict[Mark, str] = {
    "right": N_("task.right"),
    "wrong": N_("task.wrong"),
    "unsure": N_("task.unsure"),
    "current": N_("state.now"),
    "todo": N_("state.to_come"),
}
ICONS: dict[Mark, str] = {"right": "ok", "wrong": "missing", "current": "current", "todo": "todo"}
"""States of `bits.paint_status`; what is unsure is a question mark."""
CELL_PX, CELL_HIGH_PX, ICON_PX = 44, 48, 20
NEWEST = 15
"""How many earlier answers of a track are shown."""


@dataclass(frozen=True, slots=True)
class MaskCell:
    """percent: of the pixels that are shown."""

    percent: float
    mark: Mark

    @property
    def told(self) -> str:
        return number(f"{self.percent:g}\N{NO-BREAK SPACE}%")


class Masks(Picture, Beside):
    """The masks of the present sequence: as many cells beside each other as there is room for, the
    rest below them."""

    def __init__(self, palette: Palette, console: ConsoleState) -> None:
        super().__init__()
        self._palette = palette
        self.cells: tuple[MaskCell, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_cells(self, cells: Sequence[MaskCell]) -> None:
        """Repaints only what changed."""
        if tuple(cells) == self.cells:
            return
        if len(cells) != len(self.cells):
            self.updateGeometry()
        self.cells = tuple(cells)
        self.setAccessibleName("; ".join(f"{cell.told} {tr(WORDS[cell.mark])}" for cell in cells))
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return CELL_HIGH_PX * ceil(max(len(self.cells), 1) / self._across(width))

    def sizeHint(self) -> QSize:
        return QSize(CELL_PX * max(len(self.cells), 1), CELL_HIGH_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(CELL_PX, CELL_HIGH_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def _across(self, width: int) -> int:
        """Cells beside each other: rows of equal length look better than a full and a short one."""
        most = max(1, floor(width / CELL_PX))
        rows = ceil(max(len(self.cells), 1) / most)
        return ceil(max(len(self.cells), 1) / rows)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        across = self._across(self.width())
        for place, cell in enumerate(self.cells):
            row, column = divmod(place, across)
            self._paint(painter, cell, QRectF(column * CELL_PX, row * CELL_HIGH_PX, CELL_PX, 1))

    def _paint(self, painter: QPainter, cell: MaskCell, box: QRectF) -> None:
        p, now = self._palette, cell.mark == "current"
        write_with(painter, p.color("ink" if now else "secondary"), theme.SECONDARY_PX, now)
        words = QRectF(box.left(), box.top(), CELL_PX, metrics(theme.SECONDARY_PX).height())
        painter.drawText(words, Qt.AlignmentFlag.AlignCenter, cell.told)
        left = box.left() + (CELL_PX - ICON_PX) / 2
        icon = QRectF(left, words.bottom() + theme.SPACE_XS, ICON_PX, ICON_PX)
        if cell.mark in ICONS:
            bits.paint_status(painter, p, ICONS[cell.mark], icon)
            return
        inside = icon.adjusted(1, 1, -1, -1)
        draw_focus_ring(painter, inside, inside.width() / 2, p.warn)
        write_with(painter, p.color("warn"), theme.SECONDARY_PX, True)
        painter.drawText(icon, Qt.AlignmentFlag.AlignCenter, "?")

    def show_beside(self, part: PlannedPart, session: SessionView, console: ConsoleState) -> None:
        state = session.part_state
        if not isinstance(part, UnmaskingPart) or not isinstance(state, UnmaskingState):
            return
        if (trial := state.trial) is not None:
            stimuli = console.fold(Stimuli)
            if part.adaptive is not None:
                self.show_cells(_track_cells(part, trial, stimuli))
                return
            number_of, at = part.at(trial.number)
            sequence, first = part.sequences[number_of - 1], trial.number - at
            cells = [
                MaskCell(mask.percent, _mark(part, first + place, trial, stimuli))
                for place, mask in enumerate(sequence.masks, start=1)
            ]
            self.show_cells(cells)


def _track_cells(part: UnmaskingPart, trial: StimulusTrial, stimuli: Stimuli) -> list[MaskCell]:
    """The newest stimuli of the present track, with their answers."""
    track = stimuli.tracks.get((part.id, trial.number))
    before = [
        (number, stimuli.responses[place].mask)
        for place, of in stimuli.tracks.items()
        if of == track and place in stimuli.responses
        for number in [place[1]]
        if place[0] == part.id and number != trial.number
    ]
    shown = [*sorted(before)[-NEWEST:], (trial.number, trial.mask)]
    percents = part.unmasked.percents
    return [
        MaskCell(percents[mask - 1], _mark(part, number, trial, stimuli)) for number, mask in shown
    ]


def _mark(part: UnmaskingPart, number_of: int, trial: StimulusTrial, stimuli: Stimuli) -> Mark:
    if number_of == trial.number and trial.response is None:
        return "current"
    given = stimuli.responses.get((part.id, number_of))
    if given is None:
        return "todo"
    right = part.is_right(given.sequence, given.response)
    return "unsure" if right is None else "right" if right else "wrong"
