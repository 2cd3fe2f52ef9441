"""A worked example: a text beside a photo and its explanation, drawn as the task draws it.

The screen of heatmap-distinction: a photo and four heatmaps beside it, two questions. The bar that
says what the colours of heatmaps mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import floor

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from labapp.models.stimuli import masking
from labapp.tasks.judging.plan import (
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    ExplainedModel,
    JudgingPart,
    JudgingTask,
    PlannedPhoto,
    Question,
)
from labapp.tasks.judging.screen.paths import path_columns, path_rows
from labapp.tasks.judging.screen.photos import (
    CONFIDENCES,
    WIDEST,
    JudgingScreen,
    columns,
    filled,
    heatmap,
    label,
    row_of,
)
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.controls import Picture, PlainLabel
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.painting import pen
from labapp.ui.widgets.path_view import PathList
from labapp.ui.widgets.photo_view import PhotoView, image_of
from labapp.ui.widgets.row_view import RowList
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

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
        filled(left, theme.SPACE_S, (self.text, 50), self.enlarger, 1)
        left.setAlignment(self.enlarger, Qt.AlignmentFlag.AlignLeft)
        filled(QHBoxLayout(self), theme.SPACE_XL, self._left, (self.explanation, 1))

    def minimumSizeHint(self) -> QSize:
        """With the smallest photo, however large it is now: a page that has become smaller would
        not get the room to make it smaller."""
        right = self.explanation.minimumSizeHint()
        left = self.text.height_for(LEFT_LEAST) + LEAST_PHOTO
        left += self.enlarger.overhead + 2 * theme.SPACE_S
        return QSize(LEFT_LEAST + theme.SPACE_XL + right.width(), max(left, right.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        left = max(LEFT_LEAST, floor(self.width() * self._share))
        self._left.setFixedWidth(left)
        high = self.height() - self.text.height_for(min(left, self.text.maximumWidth()))
        high -= self.enlarger.overhead + 2 * theme.SPACE_S
        self.enlarger.set_side(max(LEAST_PHOTO, min(left, high, LARGEST_PHOTO)))

    def entrance(self) -> QWidget | None:
        return self.explanation.area if isinstance(self.explanation, RowList) else None


def rows_of(
    session: SessionView, images: Images, task: JudgingTask, photo: PlannedPhoto, enlarger: Enlarger
) -> RowList:
    """The rows that led to the prediction: nothing is rated, and the keyboard can scroll them."""
    if task.startswith("path"):
        similarity = task == "path-first-step"
        path = path_columns(session, similarity=similarity)
        made: RowList = PathList(path, session.palette, enlarger)
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
        super().resizeEvent(event)
        high = self.height() - self._beside()
        side = floor(min((self.width() - GAP) / ACROSS, high / self._rows, LARGEST_PHOTO))
        for place in self.places:
            place.view.set_side(max(side, LEAST_PHOTO))


ACROSS = 2
"""Heatmaps beside each other; the photo and the place for enlarging stand on their left."""
ANSWERS_LEAST = 460
LARGEST = 520.0
POINT_WIDTH = 56
QUESTIONS = {OUTPUT: "judging_q_output", DISTINCTION: "judging_q_distinction"}
SURE = {OUTPUT: OUTPUT_CONFIDENCE, DISTINCTION: DISTINCTION_CONFIDENCE}
MISSING = {
    OUTPUT: "judging_missing_output",
    OUTPUT_CONFIDENCE: "judging_missing_confidence",
    DISTINCTION: "judging_missing_distinction",
    DISTINCTION_CONFIDENCE: "judging_missing_confidence",
}


class Captioned(QWidget):
    """A picture with a word below it."""

    def __init__(self, caption: str, name: str, role: str, palette: theme.Palette) -> None:
        super().__init__()
        self.view = PhotoView(palette, name)
        self.caption = PlainLabel(caption)
        self.caption.setProperty("role", role)
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = filled(QVBoxLayout(self), theme.SPACE_XS, self.view, self.caption)
        column.setAlignment(self.view, Qt.AlignmentFlag.AlignHCenter)


def colour_bar(session: SessionView, explained: ExplainedModel) -> HeatmapBar | None:
    """What the colours mean; none where a set brings its own colours."""
    words = session.words
    if not explained.colour_map:
        return None
    low, high, middle = words("judging_bar_positive_low"), words("judging_bar_positive_high"), ""
    if explained.scale == "signed":
        low, high = words("judging_bar_signed_low"), words("judging_bar_signed_high")
        middle = words("judging_bar_signed_middle")
    table, remark = masking.table(explained.colour_map), words("judging_bar_same")
    return HeatmapBar(table, session.palette, low, high, middle=middle, remark=remark)


class HeatmapScreen(JudgingScreen):
    """Pictures on the left, questions on the right. Nothing scrolls."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part)
        words, palette = session.words, session.palette
        of = max(len(photo.options) for photo in part.photos)
        self.photo_place = Captioned(words("judging_photo"), words("judging_photo"), "", palette)
        self.heatmaps = [
            Captioned(f"{n}", words("judging_heatmap", number=n), "strong", palette)
            for n in range(1, of + 1)
        ]
        for place in (self.photo_place, *self.heatmaps):
            self.enlarger.watch(place.view, place.view.accessibleName())
        self.label, self.marks = label("", "title"), label("", "secondary")
        self._told = ((part.labels, self.label), (bool(part.explained.marks), self.marks))
        for there, line in self._told:
            if not there:
                line.hide()
        numbers = [f"{n}" for n in range(1, of + 1)]
        labels = [words(key) for key in CONFIDENCES]
        for name, sure in SURE.items():
            main = words(QUESTIONS[name])
            self.ask(name, QuestionRow(main, numbers, palette, strong=True, each=POINT_WIDTH))
            row = QuestionRow(
                words("judging_q_confidence"), labels, palette, lines=2, px=theme.SECONDARY_PX
            )
            row.choice.setAccessibleName(f"{main} {words('judging_q_confidence')}")
            self.ask(sure, row)
        self._bar = colour_bar(session, part.explained)
        self._lay_out()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(theme.SPACE_S)
        grid.addWidget(self.photo_place, 0, 0)
        grid.addWidget(self.enlarger, 1, 0)
        for index, place in enumerate(self.heatmaps):
            grid.addWidget(place, index // ACROSS, 1 + index % ACROSS)
        if self._bar is not None:
            grid.addWidget(self._bar, grid.rowCount(), 1, 1, ACROSS)
        left = filled(QVBoxLayout(), theme.SPACE_XS, 1, self.label, self.marks)
        left.addSpacing(theme.SPACE_S if self.part.labels else 0)
        left.addLayout(grid)
        left.addStretch(1)
        answers = QWidget()
        self._wide = max(ANSWERS_LEAST, self.asked_width)
        answers.setFixedWidth(self._wide)
        output = (self.asked[OUTPUT], self.asked[OUTPUT_CONFIDENCE])
        right = filled(QVBoxLayout(answers), theme.SPACE_M, 1, *output)
        if self.part.explained.scale == "signed":
            # Its heatmaps are what the model decides by (paper 003: BagNet).
            recall = self.session.words(
                "judging_q_output_recall",
                method=self.part.explained.method,
                hot=self.part.values.get("hot", ""),
            )
            right.addWidget(_secondary(recall))
        right.addSpacing(theme.SPACE_L)
        right.addWidget(self.asked[DISTINCTION])
        right.addWidget(self.asked[DISTINCTION_CONFIDENCE])
        right.addSpacing(theme.SPACE_S)
        keys = self.session.words("judging_keys_choose", last=len(self.heatmaps))
        right.addWidget(_secondary(keys))
        right.addStretch(1)
        self.column(WIDEST).addLayout(filled(QHBoxLayout(), theme.SPACE_XXL, 1, left, answers, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Pictures as large as there is room for, all of one size."""
        rows = -(-len(self.heatmaps) // ACROSS)
        wide = min(self.width() - 2 * theme.SPACE_XL, WIDEST) - self._wide - theme.SPACE_XXL
        side = floor(min((wide - ACROSS * GAP) / (1 + ACROSS), LARGEST))
        high = self.height() - 2 * theme.SPACE_XL - rows * self.enlarger.overhead
        high -= (rows - 1) * theme.SPACE_S
        if self._bar is not None:
            high -= self._bar.sizeHint().height() + theme.SPACE_S
        if self.part.labels:
            lines = [line for there, line in self._told if there]
            high -= sum(line.heightForWidth(wide) + theme.SPACE_XS for line in lines)
            high -= theme.SPACE_S
        side = max(min(side, floor(high / rows)), 96)
        for place in (self.photo_place, *self.heatmaps):
            place.view.set_side(side)
        self.enlarger.set_side(side)
        for line in (self.label, self.marks):
            line.setFixedWidth((1 + ACROSS) * side + ACROSS * GAP)

    def show_photo(self, photo: PlannedPhoto) -> None:
        explained, words = self.part.explained, self.session.words
        self.photo_place.view.show_picture(self.images.image(photo.photo))
        heats = [heatmap(self.images, photo.photo, heat, explained) for heat in photo.heatmaps]
        for place, heat in zip_longest(self.heatmaps, heats):
            place.view.show_picture(heat)
        if self.part.labels:
            name, marks = explained.names[photo.truth], explained.marks.get(photo.truth, "")
            self.label.setText(words("judging_this_is", name=name))
            self.marks.setText(f"{name}: {marks}" if marks else "")
        self._fit()

    def missing_words(self, missing: Sequence[Question]) -> list[str]:
        texts = (self.session.words(MISSING[question.id]) for question in missing)
        return list(dict.fromkeys(texts))


def _secondary(text: str) -> QLabel:
    made = label(text, "secondary")
    made.setIndent(MISSING_WIDTH)
    return made


class ColourStrip(QWidget):
    """The colours from least to most."""

    def __init__(self, table: NDArray[np.uint8], palette: theme.Palette) -> None:
        super().__init__()
        self._colors = palette
        self._image: QImage = image_of(table[np.newaxis, :, :])
        self.setFixedHeight(14)
        self.setMinimumWidth(120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawImage(QRectF(self.rect()), self._image)
        painter.setPen(pen(self._colors.secondary))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()


class HeatmapBar(Picture):
    """The colours, below them what their ends (and their middle) mean, and a remark.

    table: uint8 (256, 3), from least to most.
    """

    def __init__(
        self,
        table: NDArray[np.uint8],
        palette: theme.Palette,
        low: str,
        high: str,
        *,
        middle: str,
        remark: str,
    ) -> None:
        super().__init__()
        listed = " – ".join(text for text in (low, middle, high) if text)
        self.setAccessibleName(f"{listed}. {remark}")
        words = QHBoxLayout()
        words.setSpacing(theme.SPACE_S)
        # The remark stands where the middle has no words of its own, else below.
        for text, side in (
            (low, Qt.AlignmentFlag.AlignLeft),
            (middle or remark, Qt.AlignmentFlag.AlignHCenter),
            (high, Qt.AlignmentFlag.AlignRight),
        ):
            line = PlainLabel(text)
            line.setProperty("role", "secondary")
            line.setAlignment(side)
            words.addWidget(line, 1)
        column = filled(QVBoxLayout(self), theme.SPACE_XS, ColourStrip(table, palette), words)
        if middle:
            below = PlainLabel(remark)
            below.setProperty("role", "secondary")
            below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(below)
