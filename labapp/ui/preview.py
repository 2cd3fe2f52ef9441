"""A study as participants will see it, without a participant: nothing is kept of it.

It is the real window over a real session, in a temporary folder that goes with the preview. Where
the moderator jumps to a part, the session stands as though all parts before it were done.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QImage, QKeySequence, QPainter, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from labapp import leftovers
from labapp.errors import LabappError, SessionError, UsageError
from labapp.plugins.part import PlannedPart
from labapp.session import opening
from labapp.session.masked_predictions import check_predictable
from labapp.session.opening import OpenSession
from labapp.simulation.decoders import Decoders
from labapp.study import conditions
from labapp.study.loading import LoadedStudy
from labapp.ui import theme
from labapp.ui.bridge import Bridge
from labapp.ui.language import tr
from labapp.ui.moderator import bits, style, wording
from labapp.ui.participant.window import WINDOWED, ParticipantWindow
from labapp.ui.scheduler import QtScheduler
from labapp.ui.strings import strings_of
from labapp.ui.widgets.buttons import Button

PATIENCE_S = 60.0
"""How long a screen may take: models are loaded and pictures painted for it."""
SETTLES = 4
"""Rounds of events until a layout that follows another one has come to rest."""
THUMB, GAP, COLUMNS, CAPTION = 320, 16, 4, 24
"""Of the contact sheet, in pixels."""
SIDE = 300
"""Width of the list of screens, in logical pixels."""
SIGNAL_MS = 200


@dataclass(frozen=True)
class Place:
    """One screen of a preview.

    Attributes
    ----------
    index, page : int
        Part of the plan and page of it, both from 0.
    pages : int
        How many pages the part has.
    part : PlannedPart
        The part.
    """

    index: int
    page: int
    pages: int
    part: PlannedPart

    @property
    def title(self) -> str:
        """As lists name it."""
        title = wording.part_title(self.part.title)
        if self.pages > 1:
            title = tr("{part}, page {n} of {of}", part=title, n=self.page + 1, of=self.pages)
        number = f"{self.index + 1}".rjust(2, "\N{FIGURE SPACE}")
        return f"{number}  {title}"

    @property
    def file(self) -> str:
        """The name of its picture."""
        page = f"-{self.page + 1}" if self.pages > 1 else ""
        return f"{self.index + 1:02d}-{self.part.id}{page}.png"


def drawn_cells(loaded: LoadedStudy, condition: str | None) -> tuple[str, ...]:
    """The cells of a condition, or of the first one. Raises UsageError for an unknown condition."""
    cells = conditions.cells_of(loaded.study.assignment)
    if cells is None:
        if condition is None:
            return ()
        raise UsageError(
            f"The study {loaded.study.id!r} draws no conditions.", todo="Leave --condition out."
        )
    names = list(cells[1].cells)
    chosen = names if condition is None else condition.split(",")
    unknown = [name for name in chosen if name not in names]
    if unknown or (condition is not None and len(chosen) != cells[1].draw):
        number = cells[1].draw
        raise UsageError(
            f"{condition!r} names no condition of {loaded.study.id!r}: "
            f"{number} of {', '.join(names)} {'is' if number == 1 else 'are'} drawn.",
            todo="Name as many of them, with commas between.",
        )
    return tuple(chosen[: cells[1].draw])


class Preview:
    """The window on one participant's plan."""

    def __init__(self, opened: OpenSession) -> None:
        self.opened = opened
        self.runner = opened.runner
        self.bridge = Bridge(self.runner)
        loaded = opened.loaded
        self.window = ParticipantWindow(
            self.bridge,
            loaded,
            strings_of(loaded),
            loaded.study.presentation,
            lambda name, drawing, uses: opened.give_consent(name, drawing, uses),
        )
        tasks = self.runner.machine.tasks
        self.places = tuple(
            Place(index, page, task.page_count(), part)
            for index, (part, task) in enumerate(zip(self.runner.machine.parts, tasks, strict=True))
            for page in range(task.page_count())
        )

    @property
    def place(self) -> Place | None:
        """The screen that is shown; None before the first and behind the last."""
        state = self.runner.state
        if not state.running:
            return None
        page = self.runner.machine.tasks[state.index].page(state.part_state)
        return next(
            place for place in self.places if (place.index, place.page) == (state.index, page)
        )

    def jump(self, place: Place) -> None:
        """Go to a screen, which comes as soon as its pictures are there."""
        self.runner.preview(place.index, place.page)

    def show(self, place: Place) -> None:
        """Go to a screen and wait for it. Raises SessionError where it does not come."""
        self.jump(place)
        until = monotonic() + PATIENCE_S
        while not self._stands(place):
            if monotonic() > until:
                raise SessionError(
                    f"The screen of {place.part.id!r} does not come.",
                    safe="A preview keeps nothing.",
                    todo="`labapp studies check` tells more of the study.",
                )
            QApplication.processEvents()
        for _ in range(SETTLES):
            QApplication.processEvents()

    def _stands(self, place: Place) -> bool:
        screen = self.window.screen_shown
        rests = place.part.rests
        return (
            screen is not None
            and screen.planned is place.part
            and (rests or not self.window.covered)
        )

    def picture(self, place: Place) -> QImage:
        """A screen as a picture, at the window's size."""
        self.show(place)
        return self.window.grab().toImage()


@contextmanager
def opened_preview(
    loaded: LoadedStudy, participant: str | None, condition: str | None
) -> Iterator[Preview]:
    """A preview, and nothing left of it behind."""
    label = participant or loaded.study.participants.label(1)
    prefix = leftovers.prefix("preview")
    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        drawn = drawn_cells(loaded, condition)
        dependencies = replace(
            Decoders().dependencies(loaded, label, drawn, None, Path(folder) / "private"),
            make_scheduler=QtScheduler,
            no_sound="a preview",
            predict_masked=check_predictable,
            fsync_on_commit=False,
        )
        opened = opening.create(
            loaded, label, dependencies, data=Path(folder) / "data", cells=drawn
        )
        try:
            preview = Preview(opened)
            opened.begin()
            yield preview
            preview.window.close_for_good()
            preview.window.deleteLater()
        finally:
            opened.close("a preview")


def write_pictures(preview: Preview, out: Path) -> list[Path]:
    """Every screen as PNG in a folder that is not there yet, and a contact sheet of them.

    Raises UsageError where the folder is there, and LabappError where a screen does not come.
    """
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise UsageError(
            f"{out} exists already.", safe="Nothing was changed.", todo="Name another folder."
        ) from error
    window = preview.window
    window.resize(*WINDOWED)
    window.show()
    paths, images = [], []
    for place in preview.places:
        image = preview.picture(place)
        path = out / place.file
        if not image.save(str(path)):
            raise LabappError(
                f"{path} cannot be written.", todo="Make room, or name another place."
            )
        paths.append(path)
        images.append((image, place.title))
    sheet = out / "contact-sheet.png"
    contact_sheet(images).save(str(sheet))
    return [*paths, sheet]


def contact_sheet(images: Sequence[tuple[QImage, str]]) -> QImage:
    """All screens small, with their titles below them, in rows of four."""
    high = max(round(THUMB * image.height() / max(image.width(), 1)) for image, _ in images)
    rows = -(-len(images) // COLUMNS)
    columns = min(COLUMNS, len(images))
    width, height = columns * (THUMB + GAP) + GAP, rows * (high + CAPTION + GAP) + GAP
    sheet = QImage(width, height, QImage.Format.Format_RGB32)
    sheet.fill(QColor("#e9e9ec"))
    painter = QPainter(sheet)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    for number, (image, title) in enumerate(images):
        row, column = divmod(number, COLUMNS)
        at = QPoint(GAP + column * (THUMB + GAP), GAP + row * (high + CAPTION + GAP))
        small = QPixmap.fromImage(image).scaledToWidth(
            THUMB, Qt.TransformationMode.SmoothTransformation
        )
        painter.drawPixmap(at, small)
        caption = QRect(at.x(), at.y() + high, THUMB, CAPTION)
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, THUMB)
        painter.drawText(caption, Qt.AlignmentFlag.AlignVCenter, shown)
    painter.end()
    return sheet


class PreviewWindow(QWidget):
    """The participant's window, and beside it the list of screens: any can be chosen.

    Signals
    -------
    closed()
        The person closed it: the preview is over.
    """

    closed = Signal()

    def __init__(self, preview: Preview) -> None:
        super().__init__()
        self._preview = preview
        title = preview.opened.loaded.study.title
        self.setWindowTitle(tr("Preview: {study}", study=title))
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(style.stylesheet(theme.LIGHT))
        self.screens = QListWidget()
        self.screens.setProperty("role", "choice")
        self.screens.setAccessibleName(tr("Screens of the study"))
        self.screens.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for place in preview.places:
            item = QListWidgetItem(place.title)
            item.setToolTip(place.title)
            self.screens.addItem(item)
        self.screens.currentRowChanged.connect(self._jump)
        self.back, self.following = Button(tr("Back")), Button(tr("Next"))
        self.back.setShortcut(QKeySequence("Ctrl+PgUp"))
        self.following.setShortcut(QKeySequence("Ctrl+PgDown"))
        self.back.clicked.connect(lambda: self.screens.setCurrentRow(self.screens.currentRow() - 1))
        self.following.clicked.connect(
            lambda: self.screens.setCurrentRow(self.screens.currentRow() + 1)
        )
        buttons = QHBoxLayout()
        buttons.addWidget(self.back)
        buttons.addWidget(self.following)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(*[theme.SPACE_M] * 4)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(bits.label(tr("Nothing is recorded or kept."), "secondary", wrap=True))
        column.addWidget(self.screens, 1)
        column.addLayout(buttons)
        self.split = QSplitter()
        self.split.addWidget(side)
        self.split.addWidget(preview.window)
        self.split.setCollapsible(1, False)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([SIDE, WINDOWED[0]])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.split)
        preview.bridge.changed.connect(self._follow)
        self.screens.setCurrentRow(0)

    def open(self) -> None:
        """Show it, as large as a participant's window with the list beside it, where there is
        room."""
        room = QApplication.primaryScreen().availableGeometry()
        wide, high = SIDE + WINDOWED[0], WINDOWED[1]
        if wide > room.width() or high > room.height():
            self.setGeometry(room)
            self.showMaximized()
        else:
            self.resize(wide, high)
            self.show()
        self.screens.setFocus(Qt.FocusReason.OtherFocusReason)

    def _jump(self, row: int) -> None:
        place = self._preview.places[row]
        self.back.setEnabled(row > 0)
        self.following.setEnabled(row < len(self._preview.places) - 1)
        if place != self._preview.place:
            self._preview.jump(place)

    def _follow(self) -> None:
        """Mark the screen to which the window went by itself."""
        place = self._preview.place
        if place is not None and place != self._preview.places[self.screens.currentRow()]:
            self.screens.setCurrentRow(self._preview.places.index(place))

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()


def run_preview(preview: Preview) -> None:
    """Show a preview until its window is closed, or the program is asked to end."""
    app = QApplication.instance()
    assert app is not None
    window = PreviewWindow(preview)
    window.closed.connect(app.quit)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.close())
    # Python runs its signal handlers only when the event loop calls into Python.
    awake = QTimer(window)
    awake.timeout.connect(lambda: None)
    awake.start(SIGNAL_MS)
    window.open()
    app.exec()
