"""A worked example: a text beside a photo and its explanation, drawn as the task draws it."""

from __future__ import annotations

from math import floor

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.judging.plan import ExplainedModel, JudgingTask, PlannedPhoto
from labapp.tasks.judging.screen.heatmaps import ACROSS, Captioned, colour_bar
from labapp.tasks.judging.screen.paths import path_columns, path_rows
from labapp.tasks.judging.screen.photos import columns
from labapp.tasks.judging.screen.pictures import heatmap, row_of
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.path_view import PathList
from labapp.ui.widgets.row_view import RowList

LEFT_LEAST, LEFT_SHARE = 440, {"heatmaps": 0.48, "prototypes": 0.33, "path": 0.33}
"""Of the width, for text and photo: heatmaps are as high as wide, and rows are wide."""
LARGEST_PHOTO, LEAST_PHOTO = 520, 120
GAP = theme.SPACE_M


class WorkedExample(QWidget):
    """The text and the photo on the left, the explanation on the right."""

    def __init__(
        self,
        session: SessionView,
        task: JudgingTask,
        explained: ExplainedModel,
        photo: PlannedPhoto,
        text: str,
    ) -> None:
        super().__init__()
        assert session.images is not None, "a session that explains pictures keeps them"
        words = session.words
        self.enlarger = Enlarger(
            session.palette,
            words("judging_zoom_hint"),
            lambda name: words("judging_enlarged", name=name),
        )
        self.enlarger.rest(session.images.image(photo.photo), None, words("judging_photo"))
        self.text = MarkdownView()
        self.text.show_text(text)
        self._share = LEFT_SHARE[explained.kind]
        self.explanation: Heatmaps | RowList
        if explained.kind == "heatmaps":
            self.explanation = Heatmaps(session, session.images, explained, photo, self.enlarger)
        else:
            self.explanation = rows_of(session, session.images, task, photo, self.enlarger)
        self._left = QWidget()
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(theme.SPACE_S)
        left.addWidget(self.text, 50)
        left.addWidget(self.enlarger, 0, Qt.AlignmentFlag.AlignLeft)
        left.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XL)
        row.addWidget(self._left)
        row.addWidget(self.explanation, 1)

    def minimumSizeHint(self) -> QSize:
        """With the smallest photo, however large it is now: a page that has become smaller would
        not get the room to make it smaller."""
        right = self.explanation.minimumSizeHint()
        left = self.text.height_for(LEFT_LEAST) + LEAST_PHOTO
        left += self.enlarger.overhead + 2 * theme.SPACE_S
        return QSize(LEFT_LEAST + theme.SPACE_XL + right.width(), max(left, right.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The photo as large as the text leaves room for."""
        super().resizeEvent(event)
        left = max(LEFT_LEAST, floor(self.width() * self._share))
        self._left.setFixedWidth(left)
        high = self.height() - self.text.height_for(min(left, self.text.maximumWidth()))
        high -= self.enlarger.overhead + 2 * theme.SPACE_S
        self.enlarger.set_side(max(LEAST_PHOTO, min(left, high, LARGEST_PHOTO)))

    def entrance(self) -> QWidget | None:
        """What takes the keyboard: what can be scrolled."""
        return self.explanation.area if isinstance(self.explanation, RowList) else None


def rows_of(
    session: SessionView, images: Images, task: JudgingTask, photo: PlannedPhoto, enlarger: Enlarger
) -> RowList:
    """The rows that led to the prediction: nothing is rated, and the keyboard can scroll them."""
    if task.startswith("path"):
        similarity = task == "path-first-step"
        made: RowList = PathList(
            path_columns(session.words, similarity=similarity), session.palette, enlarger
        )
        made.show_rows(path_rows(session.words, images, photo, similarity=similarity))
        return made
    made = RowList(columns(session, rating=False), session.palette, enlarger)
    planned = [row for row in photo.rows if row.of == photo.prediction]
    made.show_rows([row_of(images, photo, row) for row in planned])
    made.take_keyboard()
    return made


class Heatmaps(QWidget):
    """The heatmaps of a photo with the names of their classes, and what the colours mean."""

    def __init__(
        self,
        session: SessionView,
        images: Images,
        explained: ExplainedModel,
        photo: PlannedPhoto,
        enlarger: Enlarger,
    ) -> None:
        super().__init__()
        self.places = []
        for option, heat in zip(photo.options, photo.heatmaps, strict=True):
            name = explained.names[option]
            told = {
                (True, True): "judging_is_both",
                (True, False): "judging_is_predicted",
                (False, True): "judging_is_correct",
            }.get((option == photo.prediction, option == photo.truth))
            caption = f"{name}\n{session.words(told) if told else ''}"
            place = Captioned(caption, name, "strong" if told else "", session.palette)
            place.view.show_picture(heatmap(images, photo.photo, heat, explained))
            enlarger.watch(place.view, name)
            self.places.append(place)
        self._bar = colour_bar(session, explained)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(theme.SPACE_S)
        for index, place in enumerate(self.places):
            grid.addWidget(place, index // ACROSS, index % ACROSS)
        if self._bar is not None:
            grid.addWidget(self._bar, grid.rowCount(), 0, 1, ACROSS)
        grid.setColumnStretch(ACROSS, 1)
        grid.setRowStretch(grid.rowCount(), 1)

    @property
    def _rows(self) -> int:
        return -(-len(self.places) // ACROSS)

    def _beside(self) -> int:
        """Logical pixels of the height that are no picture."""
        caption = self.places[0].caption.sizeHint().height() + theme.SPACE_XS + theme.SPACE_S
        bar = 0 if self._bar is None else self._bar.sizeHint().height() + theme.SPACE_S
        return self._rows * caption + bar

    def minimumSizeHint(self) -> QSize:
        """With the smallest pictures, however large they are now."""
        high = self._rows * LEAST_PHOTO + self._beside()
        return QSize(ACROSS * LEAST_PHOTO + (ACROSS - 1) * GAP, high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Pictures as large as there is room for, all of one size."""
        super().resizeEvent(event)
        high = self.height() - self._beside()
        side = floor(min((self.width() - GAP) / ACROSS, high / self._rows, LARGEST_PHOTO))
        for place in self.places:
            place.view.set_side(max(side, LEAST_PHOTO))
