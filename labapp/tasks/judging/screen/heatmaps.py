"""The screen of heatmap-distinction: a photo and four heatmaps beside it, two questions."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from labapp.stimuli import colour
from labapp.tasks.judging.plan import (
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    ExplainedModel,
    JudgingPart,
    PlannedPhoto,
    Question,
)
from labapp.tasks.judging.screen.photos import CONFIDENCES, WIDEST, JudgingScreen
from labapp.tasks.judging.screen.pictures import heatmap
from labapp.ui import theme
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.heatmap_bar import HeatmapBar
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

ACROSS = 2
"""Heatmaps beside each other; the photo and the place for enlarging stand on their left."""
ANSWERS_LEAST = 460
GAP = theme.SPACE_M
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.view, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.caption)


def colour_bar(session: SessionView, explained: ExplainedModel) -> HeatmapBar | None:
    """What the colours mean; none where a set brings its own colours."""
    words = session.words
    if not explained.colour_map:
        return None
    signed = explained.scale == "signed"
    if signed:
        ends = words("judging_bar_signed_low"), words("judging_bar_signed_high")
    else:
        ends = words("judging_bar_positive_low"), words("judging_bar_positive_high")
    return HeatmapBar(
        colour.table(explained.colour_map),
        session.palette,
        *ends,
        middle=words("judging_bar_signed_middle") if signed else "",
        remark=words("judging_bar_same"),
    )


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
        self.label, self.marks = PlainLabel(), PlainLabel()
        self.label.setProperty("role", "title")
        self.marks.setProperty("role", "secondary")
        self._told = ((part.labels, self.label), (bool(part.explained.marks), self.marks))
        for there, line in self._told:
            line.setWordWrap(True)
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
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_XS)
        left.addStretch(1)
        left.addWidget(self.label)
        left.addWidget(self.marks)
        left.addSpacing(theme.SPACE_S if self.part.labels else 0)
        left.addLayout(grid)
        left.addStretch(1)
        answers = QWidget()
        self._wide = max(ANSWERS_LEAST, self.asked_width)
        answers.setFixedWidth(self._wide)
        right = QVBoxLayout(answers)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(theme.SPACE_M)
        right.addStretch(1)
        right.addWidget(self.asked[OUTPUT])
        right.addWidget(self.asked[OUTPUT_CONFIDENCE])
        if recall := self._recall():
            right.addWidget(recall)
        right.addSpacing(theme.SPACE_L)
        right.addWidget(self.asked[DISTINCTION])
        right.addWidget(self.asked[DISTINCTION_CONFIDENCE])
        right.addSpacing(theme.SPACE_S)
        right.addWidget(
            _secondary(self.session.words("judging_keys_choose", last=len(self.heatmaps)))
        )
        right.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XXL)
        row.addStretch(1)
        row.addLayout(left)
        row.addWidget(answers)
        row.addStretch(1)
        self.column(WIDEST).addLayout(row)

    def _recall(self) -> QLabel | None:
        """How the model decides, where its heatmaps are what it decides by (paper 003: BagNet)."""
        if self.part.explained.scale != "signed":
            return None
        values = self.part.values
        return _secondary(
            self.session.words(
                "judging_q_output_recall",
                method=self.part.explained.method,
                hot=values.get("hot", ""),
            )
        )

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
        for index, place in enumerate(self.heatmaps):
            there = index < len(photo.heatmaps)
            heat = photo.heatmaps[index] if there else None
            place.view.show_picture(
                None if heat is None else heatmap(self.images, photo.photo, heat, explained)
            )
        if self.part.labels:
            name, marks = explained.names[photo.truth], explained.marks.get(photo.truth, "")
            self.label.setText(words("judging_this_is", name=name))
            self.marks.setText(f"{name}: {marks}" if marks else "")
        self._fit()

    def missing_words(self, missing: Sequence[Question]) -> list[str]:
        texts = (self.session.words(MISSING[question.id]) for question in missing)
        return list(dict.fromkeys(texts))


def _secondary(text: str) -> QLabel:
    made = PlainLabel(text)
    made.setProperty("role", "secondary")
    made.setWordWrap(True)
    made.setIndent(MISSING_WIDTH)
    return made
