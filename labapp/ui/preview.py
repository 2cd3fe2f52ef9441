"""A study as participants will see it, without a participant: nothing is kept of it.

It is the real window over a real session, in a temporary folder that goes with the preview. Where
the moderator jumps to a part, the session stands as though all parts before it were done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QListWidget

from labapp.errors import LabappError, SessionError, UsageError
from labapp.plugins.part import PlannedPart
from labapp.session import opening
from labapp.session.opening import OpenSession
from labapp.session.outputs import could_be_asked
from labapp.simulation.decoders import Decoders
from labapp.study import conditions
from labapp.study.loading import LoadedStudy
from labapp.ui.bridge import Bridge
from labapp.ui.participant.window import WINDOWED, ParticipantWindow
from labapp.ui.scheduler import QtScheduler
from labapp.ui.strings import strings_of

PATIENCE_S = 60.0
"""How long a screen may take: models are loaded and pictures painted for it."""
THUMB, GAP, COLUMNS, CAPTION = 320, 16, 4, 24
"""Of the contact sheet, in pixels."""


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
        page = f", page {self.page + 1} of {self.pages}" if self.pages > 1 else ""
        return f"{self.index + 1}  {self.part.title}{page}"

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
        self._bridge = Bridge(self.runner)
        loaded = opened.loaded
        self.window = ParticipantWindow(
            self._bridge,
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

    def show(self, place: Place) -> None:
        """Jump to a screen. Raises SessionError where it does not come."""
        self.runner.preview(place.index, place.page)
        until = monotonic() + PATIENCE_S
        while not self._stands(place):
            if monotonic() > until:
                raise SessionError(
                    f"The screen of {place.part.id!r} does not come.",
                    safe="A preview keeps nothing.",
                    todo="`labapp studies check` tells more of the study.",
                )
            QApplication.processEvents()
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
    with TemporaryDirectory(prefix="labapp-preview-", ignore_cleanup_errors=True) as folder:
        drawn = drawn_cells(loaded, condition)
        around = replace(
            Decoders().surroundings(loaded, label, drawn, None, Path(folder) / "private"),
            make_scheduler=QtScheduler,
            no_sound="a preview",
            outputs_of=could_be_asked,
            outlasts_power=False,
        )
        opened = opening.create(loaded, label, around, data=Path(folder) / "data", allotted=drawn)
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


def show_preview(preview: Preview) -> QListWidget:
    """The window, and beside it the list of screens, in which any can be chosen."""
    screens = QListWidget()
    screens.setWindowTitle(preview.opened.loaded.study.title)
    screens.addItems([place.title for place in preview.places])
    screens.currentRowChanged.connect(lambda row: preview.show(preview.places[row]))
    screens.resize(320, WINDOWED[1])
    preview.window.open_on(windowed=True)
    screens.show()
    screens.setCurrentRow(0)
    return screens
