"""The rows a participant has before them, small enough to be seen at once: what each compares, what
the model decided there, and what was answered so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.plan import JudgingPart, PlannedPhoto, PlannedRow
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import bits
from labapp.ui.theme import Palette
from labapp.ui.widgets.photo_view import PhotoView

LEAST_SIDE, MOST_SIDE = 24, 150
TEXT_WIDTH = 108
MOST_COLUMNS = 4
THREE_LINES = 52
"""A row that is lower has its words in two lines, in logical pixels."""
STEPS = {judging.ABSENT: N_("absent"), judging.PRESENT: N_("present")}


@dataclass(frozen=True, slots=True)
class Cell:
    """A row as it stands: its title, a line each of what the model says and of the answer."""

    title: str
    lines: tuple[str, ...]
    row: PlannedRow


def cells_of(part: JudgingPart, photo: PlannedPhoto, trial: PhotoTrial) -> list[Cell]:
    """The rows on the participant's screen, in the order they stand there."""
    if part.task == "prototype-distinction":
        shown: Sequence[int] = photo.rows_of(trial.option)
    else:
        shown = range(1, len(photo.rows) + 1)
    path = judging.KIND_OF[part.task] == "path"
    cells = []
    for place, of in enumerate(shown, start=1):
        row = photo.rows[of - 1]
        title = tr("Step {number}", number=place) if path else tr("Row {number}", number=place)
        said = [_decision(part, row)] if path else []
        if part.task == "path-first-step":
            said += [tr("disagrees here")] * (trial.answers.get(judging.FIRST_STEP) == of)
        elif part.task != "path-distinction":
            value = trial.answers.get(judging.SIMILARITY.format(of))
            said.append(tr("rated {value}", value="–" if value is None else value))
        cells.append(Cell(title, tuple(said), row))
    return cells + _open_steps(photo, trial)


def _decision(part: JudgingPart, row: PlannedRow) -> str:
    """What the model decided, with its similarity where the participant is told it."""
    said = tr(STEPS[judging.PRESENT if row.present else judging.ABSENT])
    if part.task != "path-first-step" or row.similarity is None:
        return said
    return f"{said} {number(f'{row.similarity:.2f}')}"


def _open_steps(photo: PlannedPhoto, trial: PhotoTrial) -> list[Cell]:
    """The final steps that the participant decides, where there are any."""
    final = photo.final
    if final is None:
        return []
    asked = {one.id: one for one in judging.questions("path-distinction", photo)}
    open_steps = (
        (judging.FIRST, final.first, tr("to decide")),
        (judging.AFTER_ABSENT, final.absent, tr("if absent")),
        (judging.AFTER_PRESENT, final.present, tr("if present")),
    )
    cells = []
    for place, (name, row, when) in enumerate(open_steps, start=len(photo.rows) + 1):
        value = trial.answers.get(name)
        said = "–" if value is None else marked(tr(STEPS[value]), value, asked[name].right)
        cells.append(Cell(tr("Step {number}", number=place), (when, said), row))
    return cells


def marked(text: str, value: int, right: int | None) -> str:
    """An answer with a mark where it can be right or wrong."""
    return text if right is None else f"{text} {'✓' if value == right else '✗'}"


class CellView(QWidget):
    """A row: region and prototype, and its words beside them."""

    def __init__(self, palette: Palette, parent: QWidget) -> None:
        super().__init__(parent)
        self._cell: Cell | None = None
        self._low = False
        self.views = (PhotoView(palette), PhotoView(palette))
        self.title = bits.ElidedLabel("", "strong")
        self.lines = (bits.ElidedLabel("", "caption"), bits.ElidedLabel("", "caption"))
        words = QVBoxLayout()
        words.setContentsMargins(theme.SPACE_XS, 0, 0, 0)
        words.setSpacing(0)
        words.addStretch(1)
        for label in (self.title, *self.lines):
            words.addWidget(label)
        words.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for view in self.views:
            row.addWidget(view)
        row.addLayout(words, 1)

    def show_words(self, cell: Cell) -> None:
        """Show what is said of the row now."""
        self._cell = cell
        self._say()

    def set_size(self, side: int) -> None:
        """Take pictures of so many logical pixels, and as much height."""
        for view in self.views:
            view.set_side(side)
        if self._low != (side < THREE_LINES):
            self._low = not self._low
            self._say()

    def _say(self) -> None:
        if self._cell is None:
            return
        said = (" · ".join(self._cell.lines),) if self._low else self._cell.lines
        self.title.set_full(self._cell.title)
        for place, label in enumerate(self.lines):
            text = said[place] if place < len(said) else ""
            label.set_full(text)
            label.setVisible(bool(text))

    def show_pictures(self, cell: Cell, photo: PlannedPhoto, images: Images | None) -> None:
        names = (
            tr("Part of the photo, {row}", row=cell.title),
            tr("Prototype, {row}", row=cell.title),
        )
        row = None if images is None else images.row(photo, cell.row)
        pictures = (None, None) if row is None else (row.region, row.prototype)
        for view, name, picture in zip(self.views, names, pictures, strict=True):
            view.setAccessibleName(name)
            view.show_picture(picture)


class RowsMirror(QWidget):
    """Rows in as many columns as make their pictures largest; nothing scrolls."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._rows: list[PlannedRow] = []
        self.cells: list[CellView] = []

    @property
    def shown(self) -> list[CellView]:
        """The rows that are shown."""
        return self.cells[: len(self._rows)]

    def show_cells(self, cells: Sequence[Cell], photo: PlannedPhoto, images: Images | None) -> None:
        """Bring what changed up to date; pictures only where these are other rows."""
        rows = [cell.row for cell in cells]
        # The rows of a plan are never copied: identity is enough, and cheaper than comparing them.
        other = list(map(id, rows)) != list(map(id, self._rows))
        if other:
            self._rows = rows
            while len(self.cells) < len(rows):
                self.cells.append(CellView(self._palette, self))
            for place, view in enumerate(self.cells):
                view.setVisible(place < len(rows))
        for view, cell in zip(self.shown, cells, strict=True):
            view.show_words(cell)
            if other:
                view.show_pictures(cell, photo, images)
        if other:
            self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Columns are read downwards, one after the other."""
        if not self._rows:
            return
        count, gap = len(self._rows), theme.SPACE_S
        sides = {n: self._side(n) for n in range(1, min(count, MOST_COLUMNS) + 1)}
        columns = max(sides, key=lambda n: sides[n])
        side, down = max(LEAST_SIDE, sides[columns]), ceil(count / columns)
        wide = (self.width() + gap) // columns - gap
        for place, view in enumerate(self.shown):
            across, below = divmod(place, down)
            view.set_size(side)
            view.setGeometry(across * (wide + gap), below * (side + gap), wide, side)

    def _side(self, columns: int) -> int:
        """Logical pixels of a picture with so many columns."""
        gap, down = theme.SPACE_S, ceil(len(self._rows) / columns)
        wide = (self.width() + gap) / columns - gap - TEXT_WIDTH - 2 * theme.SPACE_XS
        high = (self.height() + gap) / down - gap
        return floor(min(wide / 2, high, MOST_SIDE))
