"""What can be opened over a task at any time: the description of the method with its worked
examples, and the picture of the whole tree. The description may be the introduction itself (paper
003, 4: "can access the method explanation at any point during the task").

It covers what is on the screen, which stays as it is, and closes by its button and by Escape.

The introduction to a method: pages of text, some of them with a worked example, the task to try
out, or a button that opens the whole tree.

A page shows below or beside its text what it names like a picture: `![](correct)`,
`![](incorrect)`, `![](preview)` or `![](tree)`.

A worked example: a text beside a photo and its explanation, drawn as the task draws it.

The screen of heatmap-distinction: a photo and four heatmaps beside it, two questions. The bar that
says what the colours of heatmaps mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest
from math import floor

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from labapp.base import discovery
from labapp.models.stimuli import masked_pictures
from labapp.record.events.commands import Command
from labapp.record.events.registry import Pauses
from labapp.tasks.judging.events import TREE, Judge, OpenSpecies
from labapp.tasks.judging.machine import JudgingState, PhotoTrial, decide_answer, with_answer
from labapp.tasks.judging.plan import (
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    ExplainedModel,
    JudgingPart,
    JudgingTask,
    MethodPart,
    PhotoQuestion,
    PlannedPhoto,
    questions,
)
from labapp.tasks.judging.screen.photos import (
    CONFIDENCES,
    WIDEST,
    DescribedScreen,
    JudgingScreen,
    columns,
    heatmap,
    path_columns,
    path_rows,
    row_of,
)
from labapp.tasks.judging.task import SCREENS
from labapp.ui import theme
from labapp.ui.participant.screen import Opened, PagedScreen, PageStack, Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import COMMANDS
from labapp.ui.widgets.controls import Button, Picture
from labapp.ui.widgets.markdown import MarkdownView, text_width
from labapp.ui.widgets.painting import pen
from labapp.ui.widgets.photo_view import (
    FACTOR,
    KEYS,
    Enlarger,
    Images,
    PhotoView,
    ZoomView,
    image_of,
)
from labapp.ui.widgets.row_view import PathList, RowList
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow, Views

LEFT_LEAST, LEFT_SHARE = 440, {"heatmaps": 0.48, "prototypes": 0.33, "path": 0.33}
"""Of the width, for text and photo: heatmaps are as high as wide, and rows are wide."""
LARGEST_PHOTO, LEAST_PHOTO = 520, 120
GAP = theme.SPACE_M


class WorkedExample(QWidget):
    """The text and the photo on the left, the explanation on the right."""

    def __init__(
        self, screen: Screen, part: JudgingPart | MethodPart, photo: PlannedPhoto, text: str
    ) -> None:
        super().__init__()
        session, explained = screen.session, part.explained
        assert session.images is not None, "a session that explains pictures keeps them"
        words = session.words
        self.enlarger = Enlarger(
            session.palette,
            words("judging_zoom_hint"),
            lambda name: words("judging_enlarged", name=name),
        )
        self.enlarger.rest(session.images.image(photo.photo), None, words("judging_photo"))
        self.text = screen.text_view()
        self.text.show_text(text)
        self._share = LEFT_SHARE[explained.kind]
        self.explanation: Heatmaps | RowList
        if explained.kind == "heatmaps":
            self.explanation = Heatmaps(session, session.images, explained, photo, self.enlarger)
        else:
            self.explanation = rows_of(session, session.images, part.task, photo, self.enlarger)
        self._left = QWidget()
        left = controls.column(self._left, theme.SPACE_S)
        controls.fill(left, (self.text, 50), self.enlarger, 1)
        left.setAlignment(self.enlarger, Qt.AlignmentFlag.AlignLeft)
        controls.fill(controls.row(self, theme.SPACE_XL), self._left, (self.explanation, 1))

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
        self.caption = controls.make_label(caption, role)
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = controls.fill(controls.column(self, theme.SPACE_XS), self.view, self.caption)
        column.setAlignment(self.view, Qt.AlignmentFlag.AlignHCenter)


def colour_bar(session: SessionView, explained: ExplainedModel) -> HeatmapBar | None:
    """What the colours mean; none if a set brings its own colours."""
    words = session.words
    if not explained.colour_map:
        return None
    low, high, middle = words("judging_bar_positive_low"), words("judging_bar_positive_high"), ""
    if explained.scale == "signed":
        low, high = words("judging_bar_signed_low"), words("judging_bar_signed_high")
        middle = words("judging_bar_signed_middle")
    table, remark = masked_pictures.table(explained.colour_map), words("judging_bar_same")
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
        self.label, self.marks = (
            controls.make_label("", "title", wrap=True),
            controls.make_label("", "secondary", wrap=True),
        )
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
        left = controls.fill(controls.column(None, theme.SPACE_XS), 1, self.label, self.marks)
        controls.fill(left, controls.Gap(theme.SPACE_S if self.part.labels else 0), grid, 1)
        answers = QWidget()
        self._wide = max(ANSWERS_LEAST, self.asked_width)
        answers.setFixedWidth(self._wide)
        output = (self.asked[OUTPUT], self.asked[OUTPUT_CONFIDENCE])
        right = controls.fill(controls.column(answers, theme.SPACE_M), 1, *output)
        if self.part.explained.scale == "signed":
            # Its heatmaps are what the model decides by (paper 003: BagNet).
            recall = self.session.words(
                "judging_q_output_recall",
                method=self.part.explained.method,
                hot=self.part.values.get("hot", ""),
            )
            right.addWidget(_secondary(recall))
        controls.fill(right, controls.Gap(theme.SPACE_L), self.asked[DISTINCTION])
        controls.fill(right, self.asked[DISTINCTION_CONFIDENCE], controls.Gap(theme.SPACE_S))
        keys = self.session.words("judging_keys_choose", last=len(self.heatmaps))
        controls.fill(right, _secondary(keys), 1)
        self.column(WIDEST).addLayout(
            controls.fill(controls.row(None, theme.SPACE_XXL), 1, left, answers, 1)
        )

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

    def missing_words(self, missing: Sequence[PhotoQuestion]) -> list[str]:
        texts = (self.session.words(MISSING[question.id]) for question in missing)
        return list(dict.fromkeys(texts))


def _secondary(text: str) -> QLabel:
    made = controls.make_label(text, "secondary", wrap=True)
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
        words = controls.row(None, theme.SPACE_S)
        # The remark stands where the middle has no words of its own, else below.
        for text, side in (
            (low, Qt.AlignmentFlag.AlignLeft),
            (middle or remark, Qt.AlignmentFlag.AlignHCenter),
            (high, Qt.AlignmentFlag.AlignRight),
        ):
            line = controls.make_label(text, "secondary")
            line.setAlignment(side)
            words.addWidget(line, 1)
        column = controls.fill(
            controls.column(self, theme.SPACE_XS), ColourStrip(table, palette), words
        )
        if middle:
            below = controls.make_label(remark, "secondary")
            below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(below)


class Description(Opened):
    """The description of the method of a screen's part, or its whole tree."""

    def __init__(self, screen: DescribedScreen, part: JudgingPart | MethodPart) -> None:
        super().__init__()
        self._screen, self._part = screen, part
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.inside: DescriptionPages | WholeTree | None = None
        self._column = QVBoxLayout(self)

    @property
    def page_shown(self) -> int:
        return (self.inside.tabs.index or 0) if isinstance(self.inside, DescriptionPages) else 0

    def turn_to(self, page: int) -> None:
        if isinstance(self.inside, DescriptionPages) and page < len(self.inside.pages):
            self.inside.turn_to(page)

    def show_what(self, what: str) -> None:
        """Show the description, or the tree."""
        if self.what == what:
            return
        self.what = what
        closes = "judging_close_tree" if what == TREE else "judging_close_description"
        self.close_words = self._screen.session.words(closes)
        if self.inside is not None:
            self._column.removeWidget(self.inside)
            self.inside.hide()  # it goes a moment later, and would lie over the new one
            self.inside.deleteLater()
        part, tree = self._part, self._part.explained.tree
        if what == TREE and tree is not None:
            self.inside = WholeTree(self._screen.session, tree)
        else:
            assert isinstance(part, JudgingPart), "the introduction offers its tree alone"
            self.inside = DescriptionPages(self._screen, part)
            self.inside.tree.clicked.connect(self._screen.open_tree)
        self._column.addWidget(self.inside)

    key_places = (ZoomView,)

    def announces(self, event: QKeyEvent) -> bool:
        return not event.modifiers() & COMMANDS and event.key() in KEYS

    def entrance(self) -> QWidget | None:
        return None if self.inside is None else self.inside.entrance()

    def resizeEvent(self, event: object) -> None:
        side = max(theme.SPACE_XL, (self.width() - WIDEST) // 2)
        self._column.setContentsMargins(side, theme.SPACE_L, side, theme.SPACE_L)


class DescriptionPages(QWidget):
    """The description and the worked examples, one at a time."""

    def __init__(self, screen: Screen, part: JudgingPart) -> None:
        super().__init__()
        session, words = screen.session, screen.session.words
        told = [split_page(page) for page in session.pages(part.description, part.values)]
        text = "\n\n".join(text for text, shown in told if shown in ("", TREE))
        self.pages: list[Enterable] = [TextPage(screen.text_view(), text)]
        names = [words("judging_description")]
        for name, key in (
            ("correct", "judging_example_correct"),
            ("incorrect", "judging_example_incorrect"),
        ):
            if made := example_page(screen, part, name):
                self.pages.append(made)
                names.append(words(key))
        self.tabs = Views(names, session.palette, " / ".join(names))
        if len(names) == 1:
            self.tabs.hide()
        self.tabs.changed.connect(self.turn_to)
        self.tree = Button(words("judging_whole_tree"))
        if part.explained.tree is None:
            self.tree.hide()
        self.stack = PageStack()
        for page in self.pages:
            self.stack.addWidget(page)
        head = controls.fill(controls.row(None, theme.SPACE_L), self.tabs, self.tree, 1)
        controls.fill(controls.column(self, theme.SPACE_L), head, (self.stack, 1))

    def turn_to(self, page: int) -> None:
        """Show a page, from 0."""
        self.tabs.show_index(page)
        self.stack.setCurrentIndex(page)

    def entrance(self) -> QWidget | None:
        return self.tabs if not self.tabs.isHidden() else self.pages[0].entrance()


def example_page(screen: Screen, part: JudgingPart, name: str) -> WorkedExample | None:
    """A worked example as the introduction to the same stimuli has it; None if none does."""
    for other in screen.session.parts:
        if not isinstance(other, MethodPart) or other.explained.stimuli != part.explained.stimuli:
            continue
        photo = other.correct if name == "correct" else other.incorrect
        for page in screen.session.pages(other.document, other.values):
            text, shown = split_page(page)
            if shown == name and photo is not None:
                return WorkedExample(screen, part, photo, text)
    return None


class WholeTree(QWidget):
    """The picture of the whole tree, with buttons to zoom."""

    def __init__(self, session: SessionView, tree: str) -> None:
        super().__init__()
        assert session.images is not None, "a session that explains pictures keeps them"
        words = session.words
        self.view = ZoomView(session.palette, words("judging_tree"))
        self.view.show_picture(session.images.image(tree))
        self.larger, self.smaller = Button("+"), Button("−")
        self.whole = Button(words("judging_tree_fit"), pressed=self.view.fit)
        for button, name in (
            (self.larger, "judging_tree_larger"),
            (self.smaller, "judging_tree_smaller"),
        ):
            button.setAccessibleName(words(name))
            button.setToolTip(words(name))
        self.larger.clicked.connect(lambda: self.view.zoom(FACTOR))
        self.smaller.clicked.connect(lambda: self.view.zoom(1 / FACTOR))
        hint = controls.make_label(words("judging_tree_hint"), "secondary")
        row = controls.fill(
            controls.row(None, theme.SPACE_S), self.larger, self.smaller, self.whole
        )
        controls.fill(row, controls.Gap(theme.SPACE_M), (hint, 1))
        controls.fill(controls.column(self, theme.SPACE_M), row, (self.view, 1))

    def entrance(self) -> QWidget:
        return self.view


SHOWN = re.compile(r"!\[[^\]]*\]\((correct|incorrect|preview|tree)\)")


def split_page(page: str) -> tuple[str, str]:
    """The text of a page, and what it shows besides: empty for nothing."""
    match = SHOWN.search(page)
    return SHOWN.sub("", page).strip(), match[1] if match else ""


class TextPage(QWidget):
    """A text in a column of its own, and perhaps a button below it."""

    def __init__(self, view: MarkdownView, text: str, button: Button | None = None) -> None:
        super().__init__()
        self.text = view
        self.text.show_text(text)
        self.button = button
        column = controls.fill(controls.column(None, theme.SPACE_L), 1, (self.text, 100))
        if button is not None:
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(2)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        controls.fill(row, 1, (column, 100), 1)
        self.text.setMinimumWidth(min(text_width(), 600))

    def entrance(self) -> QWidget | None:
        return self.button or (self.text if self.text.focusPolicy() else None)


class PreviewPage(QWidget):
    """A text over the task's own screen."""

    def __init__(self, view: MarkdownView, text: str, screen: JudgingScreen) -> None:
        super().__init__()
        self.tried = screen
        self.text = view
        self.text.show_text(text)
        controls.fill(controls.column(self, theme.SPACE_M), self.text, (screen, 100))

    def entrance(self) -> QWidget | None:
        return self.tried.entrance()


class MethodScreen(DescribedScreen, PagedScreen):
    def __init__(self, session: SessionView, part: MethodPart) -> None:
        super().__init__(session, part, session.pages(part.document, part.values))
        self._part = part
        self._made: dict[int, QWidget] = {}
        self.stack = PageStack()
        self.column(WIDEST).addWidget(self.stack)

    @property
    def page(self) -> QWidget | None:
        """What is on the screen."""
        return self.stack.currentWidget()

    def page_turned(self) -> None:
        if self._page not in self._made:
            page = self._made[self._page] = self._page_of(self._pages[self._page])
            self.stack.addWidget(page)
        self.stack.setCurrentWidget(self._made[self._page])

    def _page_of(self, page: str) -> QWidget:
        text, shown = split_page(page)
        session, part = self.session, self._part
        examples = {"correct": part.correct, "incorrect": part.incorrect}
        if (photo := examples.get(shown)) is not None:
            return WorkedExample(self, part, photo, text)
        view = self.text_view()
        if shown == "preview" and (tried := rehearsal(session, part)):
            return PreviewPage(view, text, tried)
        if shown == TREE and part.explained.tree is not None:
            button = Button(session.words("judging_whole_tree"), pressed=self.open_tree)
            return TextPage(view, text, button)
        return TextPage(view, text)

    def entrance(self) -> QWidget | None:
        page = self.page
        return page.entrance() if isinstance(page, Enterable) else None


Enterable = TextPage | PreviewPage | WorkedExample


class SelfAnsweringScreen(JudgingScreen):
    """What a task's screen is mixed with, so that it answers to itself instead of the session."""

    rehearsed: JudgingState

    @property
    def state(self) -> JudgingState:
        return self.rehearsed

    def set_column_width(self, width: int) -> None:
        """As wide as the page it is in."""
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)

    def send(self, command: Command) -> None:
        trial = self.rehearsed.trial
        assert trial is not None
        if self.session.read_only:
            return
        match command:
            case Judge():
                for payload in decide_answer(questions(self.part.task, self.photo), trial, command):
                    trial = with_answer(trial, payload)
            case OpenSpecies(option):
                trial = replace(trial, option=option)
        self.rehearsed = replace(self.rehearsed, trial=trial)
        self.render_state()


def rehearsal(session: SessionView, part: MethodPart) -> JudgingScreen | None:
    """The screen of the part's task on its example; None if the set has none."""
    photo = part.correct
    if photo is None:
        return None
    if photo.final is not None:  # without the steps that are left to the participant
        first = photo.final.first.prototype
        steps = takewhile(lambda row: row.prototype != first, photo.rows)
        photo = photo.model_copy(update={"rows": tuple(steps)})
    stage = JudgingPart(
        id=part.id,
        title=part.title,
        number=1,
        of=1,
        task=part.task,
        explained=part.explained,
        set=1,
        labels=part.labels,
        photos=(photo,),
        description="",
        values=part.values,
        time_limit_s=None,
        think_aloud=False,
    )
    rehearsed = JudgingState(Pauses(), trial=PhotoTrial(1, started_ns=0))
    bases = (SelfAnsweringScreen, discovery.load(SCREENS[part.task]))
    made: JudgingScreen = type("Rehearsed", bases, {"rehearsed": rehearsed})(session, stage)
    made.planned = part  # the part that runs while it is tried out
    made.render_state()
    return made
