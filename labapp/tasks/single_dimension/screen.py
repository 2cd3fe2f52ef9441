"""The single-dimension screen: the question on the left, what its dial does on the right; and the
tutorial, whose last page shows the pictures of one dial.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.models.representations.space import (
    PUBLISHED_CHART,
    Chart,
    Discrete,
    Display,
    LatentSpace,
)
from labapp.study.stages import Visualisation
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from labapp.tasks.single_dimension.machine import POINTS, RATINGS, Examples
from labapp.tasks.single_dimension.plan import (
    STEPS,
    ExamplePart,
    SingleDimensionPart,
    choices,
    shape_of,
    value_name,
)
from labapp.ui import theme
from labapp.ui.participant.screen import PagedScreen, QuestionScreen, say
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls, painting
from labapp.ui.widgets.choice import AnchorRow, Look, Scale
from labapp.ui.widgets.controls import Button, Picture, PlainLabel
from labapp.ui.widgets.dial import view_of
from labapp.ui.widgets.markdown import text_width
from labapp.ui.widgets.painting import Array, Pixels, brush, color, draw_chart, metrics, write_with
from labapp.ui.widgets.row_view import AnswerRow
from labapp.ui.widgets.segments import magnification, shrink_to_fit, too_large

WIDTH = 1360
"""Wider than other screens: seven pictures beside the question at twice their size."""
LEFT_WIDTH = 384
PICTURE_MOST, LEAST_PICTURE = 320.0, 128.0
RIGHT_LEAST = 640
CHOICES = ("choice_low", "choice_medium", "choice_high")
RATED = {"confidence": "rate_confidence", "understanding": "rate_understanding"}
POINT_WORDS = ("rating_1", "rating_2", "rating_3", "rating_4", "rating_5")
HELP = {"traversals": "single_help_traversals", "exemplars": "single_help_exemplars"}
MISSING = {
    "choice": "missing_choice",
    "confidence": "missing_confidence",
    "understanding": "missing_understanding",
}


def choice_words(words: Strings, space: LatentSpace, dimension: int) -> tuple[str, ...]:
    """The choices of a question: Low, Medium, High; of a discrete dial a letter a value."""
    if not isinstance(space.dimensions[dimension], Discrete):
        return tuple(words(key) for key in CHOICES)
    return tuple(value_name(index) for index in range(choices(space, dimension)))


def headings(
    visualisation: Visualisation, words: tuple[str, ...], space: LatentSpace, dimension: int
) -> tuple[str, ...]:
    """What stands over the columns of a traversal, or over the bins."""
    if visualisation == "exemplars" or isinstance(space.dimensions[dimension], Discrete):
        return words
    return (words[0], *("" for _ in range(STEPS - 2)), words[-1])


class AgreementRating(QWidget):
    """A statement and how far one agrees; each of the five points has its words."""

    def __init__(self, words: Strings, palette: theme.Palette, text: str) -> None:
        super().__init__()
        self._text = text
        points = {place: words(key) for place, key in enumerate(POINT_WORDS)}
        self.label = PlainLabel(text)
        self.row = Scale(POINTS, palette, Look(digits=True, even=True), text, points)
        self.anchors = AnchorRow(POINTS, points, palette)
        controls.fill(controls.column(self, 0), self.label, self.row, self.anchors)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and mark, that this statement still needs an answer."""
        say(self.label, f"▸ {self._text}" if missing else self._text, "warn" if missing else "")


class SingleDimensionScreen(QuestionScreen):
    """One stage (or the practice); questions come and go in it without anything being rebuilt."""

    missing_words = MISSING

    def __init__(self, session: SessionView, part: SingleDimensionPart) -> None:
        super().__init__(session, part, tells=part.feedback)
        examples = session.pictures
        assert examples is not None  # the window makes a screen when they are there
        assert examples.question is not None
        self._part = part
        self._space = LatentSpace.from_json(part.dimensions)
        self._shapes = {
            shape_of(part.visualisation, self._space, dimension) for dimension in part.asked
        }
        self._shown: Examples | None = None
        words, palette = session.words, session.palette
        self.picture = view_of(
            part.display,
            examples.question,
            palette,
            words("this_picture"),
            improved=True,
            chart=part.chart,
        )
        self.answers = AnswerRow(palette, words("this_picture"))
        self.ratings = {
            item: AgreementRating(words, palette, words(RATED[item])) for item in RATINGS
        }
        self.sheet = ExampleSheet(
            part.display, part.visualisation, palette, words("examples"), part.chart
        )
        self.sheet.show_rows(examples.rows, ())
        self.more = Button(words("more_examples"), pressed=lambda: send(ShowMoreExamples()))
        self.title = controls.make_label(role="title", wrap=True)
        self.feeling = PlainLabel(words("single_feeling"))
        self._lay_out()
        send = self.send
        self.answers.chosen.connect(lambda index, device: send(Choose(index, device)))
        for item, rating in self.ratings.items():
            rating.row.chosen.connect(
                lambda index, device, item=item: send(Rate(item, index + 1, device))
            )

    def _lay_out(self) -> None:
        words = self.session.words
        text = words(HELP[self._part.visualisation])
        if self._part.think_aloud:
            text = f"{text} {words('task_text_think_aloud')}"
        help_text = controls.make_label(text, "secondary", wrap=True)
        self._left = QWidget()
        self._left.setFixedWidth(LEFT_WIDTH)
        left = controls.column(self._left, 0)
        controls.fill(left, self.title, controls.Gap(theme.SPACE_M))
        controls.fill(left, self.picture, controls.Gap(theme.SPACE_M), self.answers)
        controls.fill(left, controls.Gap(theme.SPACE_M), self.feeling, controls.Gap(theme.SPACE_S))
        for rating in self.ratings.values():
            controls.fill(left, rating, controls.Gap(theme.SPACE_S))
        controls.fill(left, self.feedback, 1)
        self.feedback.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._help = help_text
        above = controls.row(None, theme.SPACE_L)
        controls.fill(above, (help_text, 1), (self.more, Qt.AlignmentFlag.AlignBottom))
        self._right = QWidget()
        controls.fill(controls.column(self._right, theme.SPACE_S), above, self.sheet, 1)
        row = controls.fill(controls.row(None, theme.SPACE_XXL), 1, self._left, self._right, 1)
        controls.fill(self.column(WIDTH), 1, row, 2)

    def _fit(self) -> None:
        high = self.height() - 2 * theme.SPACE_XL
        others = (
            self.title.heightForWidth(LEFT_WIDTH)
            + self.answers.sizeHint().height()
            + sum(rating.sizeHint().height() + theme.SPACE_S for rating in self.ratings.values())
            + self.feeling.sizeHint().height()
            + self.feedback.height()
            + 3 * theme.SPACE_M
            + theme.SPACE_S
        )
        # As small as the smallest example it could not be compared with them; the screen scrolls.
        room = max(min(high - others - 2, PICTURE_MOST, LEFT_WIDTH - 2), LEAST_PICTURE)
        self.picture.set_side(self.picture.side_for(room))
        content = min(self.width() - 2 * theme.SPACE_XL, WIDTH)
        wide = content - LEFT_WIDTH - theme.SPACE_XXL
        least, button = min(RIGHT_LEAST, round(wide)), self.more.sizeHint()
        lines = self._help.heightForWidth(least - button.width() - theme.SPACE_L)
        self.sheet.fit(wide, high - max(button.height(), lines) - theme.SPACE_S)
        # As wide as the widest question of the stage: nothing shifts from one to the next.
        widest = max(self.sheet.width_of(*shape) for shape in self._shapes)
        self._right.setFixedWidth(max(widest, least))

    def render_state(self) -> None:
        question, examples = self.question, self.session.pictures
        if question is None or examples is None or examples.question is None:
            return
        words = self.session.words
        texts = choice_words(words, self._space, question.dimension)
        self.follow_question()
        told = self.told
        asked = "single_title" if self.session.improved else "single_title_as_published"
        title = words(asked, dial=question.dimension + 1)
        open_choice = self.reminded and question.choice is None
        # Before the pictures are fitted below it. No mark: another line would shift everything. The
        # foot says it in words too.
        say(self.title, title, "warn" if open_choice else "")
        if examples is not self._shown:
            self._shown = examples
            self.picture.show_picture(examples.question)
            over = headings(self._part.visualisation, texts, self._space, question.dimension)
            self.sheet.show_rows(examples.rows, over)
            self._fit()
        self.answers.show_texts(texts)
        self.answers.show_index(question.choice)
        self.answers.show_right(question.correct if told else None)
        for item, rating in self.ratings.items():
            value = question.ratings.get(item)
            rating.row.show_index(None if value is None else value - 1)
            rating.row.set_locked(told)
            rating.mark_missing(self.reminded and not told and value is None)
        if self.more.isEnabled() == told:
            self.more.setEnabled(not told)
        self.show_feedback(texts[question.correct])

    def field(self, name: str) -> QWidget:
        return self.answers if name == "choice" else self.ratings[name].row

    def entrance(self) -> QWidget:
        return self.answers


HEAD = 24
GAP, RIM = 2, 1
GROUP_GAP = theme.SPACE_L
SMALLEST_CELL = 64.0
"""Logical pixels of a picture that has more pixels than its place; smaller, it would show nothing,
and the window scrolls."""
CHART_MOST, CHART_RATIO = 168.0, 0.8


@dataclass(frozen=True, slots=True)
class SheetGrid:
    """Cells of a sheet: `columns` a group, groups side by side."""

    groups: int
    columns: int
    rows: int

    @property
    def across(self) -> int:
        return self.groups * self.columns

    def gaps(self) -> tuple[float, float]:
        """Total space between cells, across and down, in logical pixels."""
        between = (self.groups - 1) * GROUP_GAP + self.groups * (self.columns - 1) * GAP
        return between, (self.rows - 1) * GAP

    def cell_in(self, width: float, height: float) -> tuple[float, float]:
        across, down = self.gaps()
        wide, high = width - across - 2 * RIM, height - HEAD - down - 2 * RIM
        return wide / self.across, high / self.rows


class ExampleSheet(Picture):
    """The pictures beside a question: a traversal, or bins of exemplars. They are magnified by a
    whole number of device pixels, the same for all of them and as large as the room allows; series
    are small charts."""

    def __init__(
        self,
        display: Display,
        visualisation: Visualisation,
        palette: theme.Palette,
        name: str,
        chart: Chart | None = None,
    ) -> None:
        super().__init__()
        self._display = display
        self._chart = chart or PUBLISHED_CHART
        self._visualisation = visualisation
        self._colors = palette
        self._rows: Array | None = None
        self._headings: tuple[str, ...] = ()
        self._images: list[QImage] = []
        self._drawn: dict[tuple[int, float, float], QImage] = {}
        self._grid = SheetGrid(1, 1, 1)
        self.cell = (0.0, 0.0)
        """Width and height of a picture in logical pixels."""
        self._room = (0.0, 0.0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def show_rows(self, rows: Array, headings: Sequence[str]) -> None:
        """Show pictures, float32 of shape (rows, columns, *shape of a picture). headings: over each
        column of a traversal (empty for none), or over each bin."""
        if rows is self._rows and tuple(headings) == self._headings:
            return
        other = self._rows is None or self._rows.shape != rows.shape
        self._rows, self._headings = rows, tuple(headings)
        self._drawn.clear()
        if self._display != "series":
            pictures = rows.reshape(-1, *rows.shape[2:])
            self._images = [
                _image(picture, binary=self._display == "binary_image") for picture in pictures
            ]
        if other:
            self.fit(*self._room)
        self.update()

    def fit(self, width: float, height: float) -> None:
        """Make the pictures as large as this room allows and take what they need."""
        self._room = (width, height)
        if self._rows is None or width <= 0 or height <= 0:
            return
        rows, columns = self._rows.shape[:2]
        self.cell, self._grid = self._find_grid(rows, columns)
        self.setFixedSize(self._measure_taken(self.cell, self._grid))
        self._drawn.clear()
        self.update()

    def width_of(self, rows: int, columns: int) -> int:
        """The space that a grid of pictures would take up in the area of the last `fit`."""
        return self._measure_taken(*self._find_grid(rows, columns)).width()

    def _find_grid(self, rows: int, columns: int) -> tuple[tuple[float, float], SheetGrid]:
        """The size of a picture and the first grid that makes it largest, of those that fit."""
        grids = [SheetGrid(rows, n, -(-columns // n)) for n in (2, 1, 4)]
        if self._visualisation == "traversals":
            grids = [SheetGrid(1, columns, rows)]

        def how_good(placed: tuple[tuple[float, float], SheetGrid]) -> tuple[bool, float]:
            taken, (wide, high) = self._measure_taken(*placed), self._room
            return taken.width() <= wide + 1 and taken.height() <= high + 1, placed[0][0]

        sized = [(self._fit_cell(grid.cell_in(*self._room)), grid) for grid in grids]
        return max(sized, key=how_good)

    @staticmethod
    def _measure_taken(cell: tuple[float, float], grid: SheetGrid) -> QSize:
        across, down = grid.gaps()
        return QSize(
            math.ceil(grid.across * cell[0] + across) + 2 * RIM,
            math.ceil(grid.rows * cell[1] + down + HEAD) + 2 * RIM,
        )

    def _fit_cell(self, room: tuple[float, float]) -> tuple[float, float]:
        assert self._rows is not None
        if self._display == "series":
            wide = math.floor(min(room[0], room[1] / CHART_RATIO, CHART_MOST))
            return max(wide, 1.0), max(math.floor(wide * CHART_RATIO), 1.0)
        ratio = self.devicePixelRatioF()
        high, wide = self._rows.shape[2:4]
        most = max(high, wide)
        if too_large(most, max(min(room), SMALLEST_CELL), ratio):
            factor = math.floor(max(min(room), SMALLEST_CELL) * ratio) / ratio / most
            return wide * factor, high * factor
        times = magnification(most, min(room), ratio) / ratio
        return wide * times, high * times

    def box(self, row: int, column: int) -> QRectF:
        grid, (wide, high) = self._grid, self.cell
        if self._visualisation == "traversals":
            across, down, group = column, row, 0
        else:
            group, (down, across) = row, divmod(column, grid.columns)
        step = grid.columns * wide + (grid.columns - 1) * GAP + GROUP_GAP
        left = RIM + group * step + across * (wide + GAP)
        return QRectF(left, RIM + HEAD + down * (high + GAP), wide, high)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._rows is None:
            return
        painter = QPainter(self)
        self._paint_headings(painter)
        columns, rim = self._rows.shape[1], brush(self._colors.hairline)
        for row in range(self._rows.shape[0]):
            for column in range(columns):
                box = self.box(row, column)
                if self._display == "series":
                    draw_chart(
                        painter, box, self._rows[row, column], self._chart, self._colors.hairline
                    )
                else:
                    where = self._on_pixels(box)
                    painter.fillRect(where.adjusted(-RIM, -RIM, RIM, RIM), rim)
                    painter.drawImage(where, self._image_at(row * columns + column, where))
        painter.end()

    def _image_at(self, number: int, where: QRectF) -> QImage:
        """A picture as it is drawn, made smaller once for each size of the cells."""
        key = (number, where.width(), self.devicePixelRatioF())
        if key not in self._drawn:
            self._drawn[key] = shrink_to_fit(self._images[number], where, self)
        return self._drawn[key]

    def _on_pixels(self, box: QRectF) -> QRectF:
        """Moved to whole device pixels of the window, so that the magnification stays whole."""
        ratio = self.devicePixelRatioF()
        origin = self.mapTo(self.window(), QPointF(0, 0))
        left = round((origin.x() + box.left()) * ratio) / ratio - origin.x()
        top = round((origin.y() + box.top()) * ratio) / ratio - origin.y()
        return QRectF(left, top, box.width(), box.height())

    def _paint_headings(self, painter: QPainter) -> None:
        write_with(painter, color(self._colors.ink), theme.SECONDARY_PX, bold=True)
        known = metrics(theme.SECONDARY_PX, True)
        bins = self._visualisation == "exemplars"
        for index, heading in enumerate(self._headings):
            first = self.box(index, 0) if bins else self.box(0, index)
            last = self.box(index, self._grid.columns - 1) if bins else first
            middle = (first.left() + last.right()) / 2
            wide = max(last.right() - first.left(), known.horizontalAdvance(heading) + 2)
            left = min(max(middle - wide / 2, 0.0), self.width() - wide)
            if abs(left + wide / 2 - middle) < 1:
                side = Qt.AlignmentFlag.AlignHCenter
            else:  # towards the edge that it was kept from crossing
                side = Qt.AlignmentFlag.AlignRight if left else Qt.AlignmentFlag.AlignLeft
            box = QRectF(left, 0, wide, HEAD - theme.SPACE_XS)
            painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, heading)


def _image(picture: Array, *, binary: bool) -> QImage:
    rows, columns = picture.shape[:2]
    pixels: Pixels = np.empty((rows, columns), dtype=np.uint32)
    (painting.binary if binary else painting.plain)(picture, pixels)
    return QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32).copy()


class ExampleScreen(PagedScreen):
    def __init__(self, session: SessionView, part: ExamplePart) -> None:
        examples = session.pictures
        assert examples is not None  # the window makes a screen when they are there
        values = {"dial": str(part.dimension + 1)}
        super().__init__(session, part, session.pages(part.document, values))
        words = session.words
        self.sheet = ExampleSheet(
            part.display, part.visualisation, session.palette, words("examples"), part.chart
        )
        space = LatentSpace.from_json(part.dimensions)
        texts = choice_words(words, space, part.dimension)
        over = headings(part.visualisation, texts, space, part.dimension)
        self.sheet.show_rows(examples.rows, over)
        column = controls.fill(self.column(text_width()), 1, self.text, controls.Gap(theme.SPACE_L))
        controls.fill(column, (self.sheet, Qt.AlignmentFlag.AlignLeft), 2)

    def _fit(self) -> None:
        room = self.height() - 2 * theme.SPACE_XL - self.text.sizeHint().height() - theme.SPACE_L
        self.sheet.fit(min(self.width() - 2 * theme.SPACE_XL, theme.CONTENT_WIDTH), room)

    def page_turned(self) -> None:
        self.sheet.setVisible(self.on_last_page)
        self._fit()
        self.set_column_width(max(text_width(), self.sheet.width() if self.on_last_page else 0))
