"""The rule card: the names that the model can say, what each can be told by, and how probable the
model finds it; or, while that is hidden, a choice of what it will say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter

from labapp.stimuli.manifest import Concept
from labapp.tasks.concept_repair.plan import PlannedClass
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen
from labapp.ui.widgets.segments import broken_width

MOST_HEIGHT = 52
"""Logical pixels of a row: what a finger needs, and a little more."""
BAR_HEIGHT, STRIP_HEIGHT = 12, 3
LEAST_BAR, GOOD_BAR, ARROW_WIDTH = 48, 112, 16
ROUND_WIDTH = {1: 18, 2: 24}
"""By the lines of a row."""
BOX_HEIGHT = 9
"""Of the box that stands for a switch."""
BETWEEN = theme.SPACE_M
"""Logical pixels between two columns of names."""
CHANGED = 0.01
"""From which difference on a bar that is now longer or shorter is marked by an arrow."""
HIGHER, LOWER = "▲", "▼"
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Form:
    """How the card is laid out.

    Attributes
    ----------
    boxes : whether what a name can be told by is drawn, a box for each switch with a mark on the
        side on which the switch stands then; else it is written in words.
    lines : of a row: 2 for the name above what it can be told by, 1 for all in a line.
    columns : of names.
    """

    boxes: bool
    lines: int
    columns: int

    @property
    def least_row(self) -> int:
        """The fewest logical pixels of a row whose words can be read."""
        return 34 if self.lines == 2 else 17

    @property
    def px(self) -> int:
        """How large its names are."""
        return theme.BODY_PX if self.lines == 2 else theme.SECONDARY_PX

    @property
    def bold(self) -> bool:
        """Whether names are bold: in one line there is no room for that."""
        return self.lines == 2

    @property
    def box_step(self) -> int:
        """From one box to the next; there is nothing between the last third of it and the next."""
        return 22 if self.lines == 2 else 16

    @property
    def stacked(self) -> bool:
        """Whether the bars are in the second line, below the percentages."""
        return self.boxes and self.lines == 2


WORDS = Form(boxes=False, lines=2, columns=1)
BOXES = tuple(
    Form(boxes=True, lines=lines, columns=columns) for lines, columns in ((2, 1), (2, 2), (1, 1))
)
"""The forms, each for less room than the one before."""


def _side(known: PlannedClass, concept: Concept) -> str | None:
    """On which side of a concept's switch the word stands that fits a class; None for either."""
    on = known.concepts.get(concept.id)
    if on is None:
        return None
    return "right" if on == (concept.right == "on") else "left"


class AnswerCard(Choice):
    """The names in their order, a row each, and where something is foretold a last row for "the
    same as now". chosen(place, device): the hand wants the answer in a row, from 0.

    Where the bars were before the last change is drawn as a line at their former end, as long as
    that is the last change.

    Attributes
    ----------
    shares, former : tuple of float
        How probable the names are, and were before the last change; empty before there was one.
    """

    first_digit = None

    def __init__(
        self,
        classes: Sequence[PlannedClass],
        concepts: Sequence[Concept],
        words: Strings,
        palette: theme.Palette,
        *,
        foretells: bool,
    ) -> None:
        super().__init__(palette, words("concept_answers"))
        self._classes, self._words, self._foretells = tuple(classes), words, foretells
        self.shares: tuple[float, ...] = ()
        self.former: tuple[float, ...] = ()
        self._hidden = False
        self._same = ""
        self._sides = [[_side(known, concept) for concept in concepts] for known in classes]
        self._form, self._row = WORDS, WORDS.least_row
        names = [known.name for known in classes]
        self.show_options([*names, words("concept_same", name="")] if foretells else names)
        self.set_locked(True)

    @property
    def forms(self) -> tuple[Form, ...]:
        """How it can be laid out, the best first: boxes only where classes say what makes them."""
        known = any(side is not None for sides in self._sides for side in sides)
        return (WORDS, *BOXES) if known else (WORDS,)

    @property
    def form(self) -> Form:
        """How it is laid out."""
        return self._form

    def rows(self, form: Form) -> int:
        """How many names stand below each other."""
        return ceil(len(self.options) / form.columns)

    def _percent_width(self, form: Form) -> int:
        return ceil(metrics(form.px, form.bold).horizontalAdvance(self._percent(1.0)))

    def _name_width(self, form: Form) -> int:
        of = metrics(form.px, form.bold)
        return ceil(max(of.horizontalAdvance(known.name) for known in self._classes))

    def _marks_width(self, form: Form) -> int:
        if form.boxes:
            return form.box_step * len(self._sides[0])
        of = metrics(theme.SECONDARY_PX)
        return ceil(max(of.horizontalAdvance(known.marks) for known in self._classes))

    def _bar_left(self, form: Form) -> int:
        """Where bars begin, from the left edge of a column."""
        name, marks = self._name_width(form), self._marks_width(form)
        if form.lines == 1:
            return self._left_of(form) + name + marks + 2 * theme.SPACE_XS
        return self._left_of(form) + (marks if form.stacked else max(name, marks)) + theme.SPACE_S

    def _bar_right(self, form: Form) -> int:
        """Where bars end, from the right edge of a column. In one line a bar is a strip below its
        percentage."""
        if form.lines == 1:
            return 1
        return ARROW_WIDTH + (0 if form.stacked else theme.SPACE_S + self._percent_width(form))

    def _left_of(self, form: Form) -> int:
        """Where names begin, beside the round that is picked."""
        return ROUND_WIDTH[form.lines] if self._foretells else theme.SPACE_XS * form.lines

    def needed_width(self, form: Form, bar: int = LEAST_BAR) -> int:
        """Logical pixels that names, marks and bars of that length need."""
        if form.lines == 1:
            bar = max(bar, self._percent_width(form) + theme.SPACE_S)
        wide = self._bar_left(form) + bar + self._bar_right(form)
        if form.stacked:
            name = self._left_of(form) + self._name_width(form) + theme.SPACE_S
            wide = max(wide, name + self._percent_width(form) + theme.SPACE_XS)
        if self._foretells:
            longest = max((self._same_text(known.name) for known in self._classes), key=len)
            same = broken_width(longest, form.lines, form.px, bold=form.bold)
            wide = max(wide, self._left_of(form) + same + theme.SPACE_XS)
        return form.columns * wide + (form.columns - 1) * BETWEEN + 2

    def _same_text(self, name: str) -> str:
        return self._words("concept_same", name=name)

    @staticmethod
    def head_height(form: Form) -> int:
        """Logical pixels of the switches' numbers above the boxes."""
        return ceil(metrics(theme.SECONDARY_PX).height()) if form.boxes else 0

    def needed_height(self, form: Form, row: int = 0) -> int:
        """Logical pixels down, with rows of so many, or of as few as can be."""
        return self.head_height(form) + self.rows(form) * (row or form.least_row) + 2

    def set_form(self, form: Form, wide: int, row: int) -> None:
        """Take so much room across, with rows of so many logical pixels."""
        self._form, self._row = form, row
        self.setFixedSize(wide, self.needed_height(form, row))
        self.place_options()
        self.update()

    def show_answer(
        self, now: Sequence[float], before: Sequence[float], *, hidden: bool, same: str
    ) -> None:
        """Show the probabilities. before: those before the last change, empty for none; hidden: no
        bars, but a choice; same: the answer as it is now, in words."""
        shown = (tuple(now), tuple(before), hidden, same)
        if shown == (self.shares, self.former, self._hidden, self._same):
            return
        self.shares, self.former, self._hidden, self._same = shown
        for place, known in enumerate(self._classes):
            text = f"{known.name}: {known.marks}" if known.marks else known.name
            if not hidden:
                text = f"{text}, {self._percent(now[place])}"
            self.options[place].setAccessibleName(text)
        if self._foretells:
            self.options[-1].setAccessibleName(self._same_text(same))
        self.update()

    def _percent(self, share: float) -> str:
        return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"

    def sizeHint(self) -> QSize:
        return QSize(self.needed_width(self._form), self.needed_height(self._form, self._row))

    def box(self, index: int) -> QRectF:
        form = self._form
        column, row = divmod(index, self.rows(form))
        wide = (self.width() - 2 - (form.columns - 1) * BETWEEN) / form.columns
        top = 1 + self.head_height(form) + row * self._row
        return QRectF(1 + column * (wide + BETWEEN), top, wide, self._row)

    def paint(self, painter: QPainter) -> None:
        if self._form.boxes:
            self._paint_head(painter)
        p = self._colors
        best = max(range(len(self.shares)), key=self.shares.__getitem__, default=None)
        for index in range(len(self._classes)):
            box = self.box(index)
            strong = index == (self.index if self._hidden else best)
            self._paint_ground(painter, index, box, strong=strong)
            self._paint_name(painter, box, index, strong=strong)
            if not self._hidden and self.shares:
                self._paint_bar(painter, box, index, strong=strong)
        if self._hidden:
            index, box = len(self._classes), self.box(len(self._classes))
            self._paint_ground(painter, index, box, strong=index == self.index)
            painter.setFont(font(self._form.px, bold=self._form.bold and index == self.index))
            painter.setPen(color(p.ink))
            text = self._same_text(self._same)
            inside = box.adjusted(self._left_of(self._form), 0, 0, 0)
            painter.drawText(inside, _LEFT | Qt.TextFlag.TextWordWrap, text)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)

    def _paint_ground(self, painter: QPainter, index: int, box: QRectF, *, strong: bool) -> None:
        p = self._colors
        painter.setPen(pen(p.hairline))
        if index % self.rows(self._form):
            painter.drawLine(box.topLeft(), box.topRight())
        if strong or index == self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(brush(p.accent_soft if strong else p.track))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), theme.RADIUS - 2, theme.RADIUS - 2)
        if self._hidden:
            at = QPointF(box.left() + ROUND_WIDTH[self._form.lines] / 2, box.center().y())
            painter.setPen(pen(p.accent if strong else p.secondary, 1.4))
            painter.setBrush(brush(p.accent if strong else p.card))
            painter.drawEllipse(at, 7.0, 7.0)
            if strong:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(brush(p.on_accent))
                painter.drawEllipse(at, 3.0, 3.0)

    def _boxes_left(self, box: QRectF) -> float:
        form = self._form
        name = self._name_width(form) + theme.SPACE_XS if form.lines == 1 else 0
        return box.left() + self._left_of(form) + name

    def _paint_head(self, painter: QPainter) -> None:
        """The numbers of the switches above their boxes."""
        form = self._form
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(self._colors.secondary))
        high, wide = self.head_height(form), form.box_step * 2 / 3
        for first in range(0, len(self._classes), self.rows(form)):
            left = self._boxes_left(self.box(first))
            for place in range(len(self._sides[0])):
                at = QRectF(left + place * form.box_step, 0, wide, high)
                painter.drawText(at, Qt.AlignmentFlag.AlignCenter, str(place + 1))

    def _paint_name(self, painter: QPainter, box: QRectF, index: int, *, strong: bool) -> None:
        p, form, known = self._colors, self._form, self._classes[index]
        upper = box.adjusted(self._left_of(form), 0, -theme.SPACE_XS, 0)
        lower = QRectF(upper)
        if form.lines == 2 and (known.marks or form.boxes):
            half = box.height() / 2
            upper.adjust(0, 1, 0, 3 - half)
            lower.adjust(0, half - 1, 0, -2)
        painter.setFont(font(form.px, form.bold))
        painter.setPen(color(p.accent if strong else p.ink))
        painter.drawText(upper, _LEFT, known.name)
        if form.boxes:
            middle = lower.center().y() if form.lines == 2 else box.center().y()
            self._paint_boxes(painter, self._boxes_left(box), middle, self._sides[index])
            return
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
        painter.drawText(lower, _LEFT, known.marks)

    def _paint_boxes(
        self, painter: QPainter, left: float, middle: float, sides: Sequence[str | None]
    ) -> None:
        """For each switch a box, marked on the side on which it stands; a dot where that is
        open."""
        p, step = self._colors, self._form.box_step
        wide, top = step * 2 / 3, middle - BOX_HEIGHT / 2
        for place, side in enumerate(sides):
            box = QRectF(left + place * step, top, wide, BOX_HEIGHT)
            painter.setPen(Qt.PenStyle.NoPen)
            if side is None:
                painter.setBrush(brush(p.secondary))
                painter.drawEllipse(box.center(), 1.5, 1.5)
                continue
            painter.fillRect(box, brush(p.track))
            half = (wide / 2, 0) if side == "right" else (0, -wide / 2)
            mark = box.adjusted(half[0], 0, half[1], 0)
            painter.fillRect(mark, brush(p.ink))

    def _paint_bar(self, painter: QPainter, box: QRectF, index: int, *, strong: bool) -> None:
        p, form, share = self._colors, self._form, self.shares[index]
        left = box.left() + self._bar_left(form)
        wide = box.right() - self._bar_right(form) - left
        half, under = box.height() / 2, form.lines == 1
        lower = box.adjusted(0, half - 1, 0, -2) if form.stacked else box
        upper = box.adjusted(0, 1, 0, 3 - half) if form.stacked else box
        high = STRIP_HEIGHT if under else BAR_HEIGHT
        top = box.bottom() - STRIP_HEIGHT - 1 if under else lower.center().y() - high / 2
        painter.fillRect(QRectF(left, top, wide, high), brush(p.track))
        filled = QRectF(left, top, max(share * wide, 1.0), high)
        painter.fillRect(filled, brush(p.accent if strong else p.secondary))
        changed = self.former[index] if self.former else share
        arrow = ""
        if abs(changed - share) >= CHANGED:
            arrow = HIGHER if share > changed else LOWER
            at, over = left + changed * wide, 1 if under else 4
            painter.fillRect(QRectF(at - 1, top - over, 2, high + 2 * over), brush(p.ink))
        painter.setFont(font(form.px, form.bold and strong))
        painter.setPen(color(p.accent if strong else p.ink))
        percent = upper.adjusted(0, 0, -theme.SPACE_XS, -STRIP_HEIGHT if under else 0)
        painter.drawText(percent, _RIGHT, self._percent(share))
        if not under:
            painter.setFont(font(theme.SECONDARY_PX - 2))
            painter.setPen(color(p.secondary))
            at_bar = QRectF(left + wide, lower.top(), ARROW_WIDTH, lower.height())
            painter.drawText(at_bar, Qt.AlignmentFlag.AlignCenter, arrow)
