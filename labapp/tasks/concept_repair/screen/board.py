"""Where everything on the screen of concept repair stands. The picture runs against time, so that
nothing of it may need to be scrolled to: what there is is measured, and the best of several
arrangements that fits into the window is taken.

The rule card: the names that the model can say, what each can be told by, and how probable the
model finds it; or, while that is hidden, a choice of what it will say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import QWidget

from labapp.models.stimuli.manifest import Concept
from labapp.tasks.concept_repair.plan import ConceptRepairPart, PlannedClass
from labapp.tasks.concept_repair.screen.switches import SwitchPanel, TimeLeft
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.controls import Button, PlainLabel
from labapp.ui.widgets.painting import (
    brush,
    color,
    draw_focus_ring,
    equip,
    font,
    metrics,
    pen,
    restyle,
    write_with,
)
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.segments import find_wrapped_width

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
        self.form, self._row = WORDS, WORDS.least_row
        names = [known.name for known in classes]
        self.show_options([*names, words("concept_same", name="")] if foretells else names)
        self.set_locked(True)

    @property
    def forms(self) -> tuple[Form, ...]:
        """Possible layouts, the best first; boxes only if classes state which concepts define
        them."""
        known = any(side is not None for sides in self._sides for side in sides)
        return (WORDS, *BOXES) if known else (WORDS,)

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
        """From the left edge of a column."""
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
            same = find_wrapped_width(longest, form.lines, form.px, bold=form.bold)
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
        """Use the given width, and rows of the given height, in logical pixels."""
        self.form, self._row = form, row
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
        return QSize(self.needed_width(self.form), self.needed_height(self.form, self._row))

    def box(self, index: int) -> QRectF:
        form = self.form
        column, row = divmod(index, self.rows(form))
        wide = (self.width() - 2 - (form.columns - 1) * BETWEEN) / form.columns
        top = 1 + self.head_height(form) + row * self._row
        return QRectF(1 + column * (wide + BETWEEN), top, wide, self._row)

    def paint(self, painter: QPainter) -> None:
        if self.form.boxes:
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
            painter.setFont(font(self.form.px, bold=self.form.bold and index == self.index))
            painter.setPen(color(p.ink))
            text = self._same_text(self._same)
            inside = box.adjusted(self._left_of(self.form), 0, 0, 0)
            painter.drawText(inside, _LEFT | Qt.TextFlag.TextWordWrap, text)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), theme.RADIUS, p.accent)

    def _paint_ground(self, painter: QPainter, index: int, box: QRectF, *, strong: bool) -> None:
        p = self._colors
        painter.setPen(pen(p.hairline))
        if index % self.rows(self.form):
            painter.drawLine(box.topLeft(), box.topRight())
        if strong or index == self._hover:
            equip(painter, Qt.PenStyle.NoPen, brush(p.accent_soft if strong else p.track))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), theme.RADIUS - 2, theme.RADIUS - 2)
        if self._hidden:
            at = QPointF(box.left() + ROUND_WIDTH[self.form.lines] / 2, box.center().y())
            painter.setPen(pen(p.accent if strong else p.secondary, 1.4))
            painter.setBrush(brush(p.accent if strong else p.card))
            painter.drawEllipse(at, 7.0, 7.0)
            if strong:
                equip(painter, Qt.PenStyle.NoPen, brush(p.on_accent))
                painter.drawEllipse(at, 3.0, 3.0)

    def _boxes_left(self, box: QRectF) -> float:
        form = self.form
        name = self._name_width(form) + theme.SPACE_XS if form.lines == 1 else 0
        return box.left() + self._left_of(form) + name

    def _paint_head(self, painter: QPainter) -> None:
        """The numbers of the switches above their boxes."""
        form = self.form
        write_with(painter, color(self._colors.secondary), theme.SECONDARY_PX)
        high, wide = self.head_height(form), form.box_step * 2 / 3
        for first in range(0, len(self._classes), self.rows(form)):
            left = self._boxes_left(self.box(first))
            for place in range(len(self._sides[0])):
                at = QRectF(left + place * form.box_step, 0, wide, high)
                painter.drawText(at, Qt.AlignmentFlag.AlignCenter, str(place + 1))

    def _paint_name(self, painter: QPainter, box: QRectF, index: int, *, strong: bool) -> None:
        p, form, known = self._colors, self.form, self._classes[index]
        upper = box.adjusted(self._left_of(form), 0, -theme.SPACE_XS, 0)
        lower = QRectF(upper)
        if form.lines == 2 and (known.marks or form.boxes):
            half = box.height() / 2
            upper.adjust(0, 1, 0, 3 - half)
            lower.adjust(0, half - 1, 0, -2)
        write_with(painter, color(p.accent if strong else p.ink), form.px, form.bold)
        painter.drawText(upper, _LEFT, known.name)
        if form.boxes:
            middle = lower.center().y() if form.lines == 2 else box.center().y()
            self._paint_boxes(painter, self._boxes_left(box), middle, self._sides[index])
            return
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        painter.drawText(lower, _LEFT, known.marks)

    def _paint_boxes(
        self, painter: QPainter, left: float, middle: float, sides: Sequence[str | None]
    ) -> None:
        """For each switch a box, marked on the side on which it stands; a dot where that is
        open."""
        p, step = self._colors, self.form.box_step
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
        p, form, share = self._colors, self.form, self.shares[index]
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
        write_with(painter, color(p.accent if strong else p.ink), form.px, form.bold and strong)
        percent = upper.adjusted(0, 0, -theme.SPACE_XS, -STRIP_HEIGHT if under else 0)
        painter.drawText(percent, _RIGHT, self._percent(share))
        if not under:
            write_with(painter, color(p.secondary), theme.SECONDARY_PX - 2)
            at_bar = QRectF(left + wide, lower.top(), ARROW_WIDTH, lower.height())
            painter.drawText(at_bar, Qt.AlignmentFlag.AlignCenter, arrow)


ROOMY = 900
"""In a narrower window the instruction, which was read before, gives its room to what is looked at
all the time."""
LEAST_GAP, MOST_GAP = {False: theme.SPACE_XS, True: 0}, theme.SPACE_XL
"""Logical pixels between two switches, the least by whether room is tight."""
LEAST_PICTURE, LARGE_PICTURE, MOST_PICTURE = 160, 320, 560
"""Logical pixels a side: what must be, what long bars are given up for, and what is enough."""
GOOD_SHARE = 0.22
"""Of the width, for the picture: words in full are given up for it."""
MOST_CARD = 440
TITLE_ROLES = {theme.TITLE_PX: "title", theme.BODY_PX: "strong", theme.SECONDARY_PX: "caption"}
_GAP = {False: theme.SPACE_XL, True: theme.SPACE_S}
"""Between the columns, by whether room is tight."""
_SIDES = {False: theme.SPACE_XL, True: theme.SPACE_XS}
"""Left and right of them."""
_S, _BUTTON = theme.SPACE_S, theme.TOUCH_HEIGHT
_WRAPPED = int(Qt.TextFlag.TextWordWrap)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One way to stand, in logical pixels.

    Attributes
    ----------
    form : of the card.
    tight : whether words are small, and the card stands beside title and buttons, not below them.
    side, card : of the picture, and of the card across.
    top, room : the height of title and instruction, and what they leave of it.
    card_room : the height that there is for the card and what belongs to it.
    fits : whether switches and card are in view.
    """

    form: Form
    tight: bool
    side: int
    card: int
    top: int
    room: int
    card_room: int
    fits: bool


class Board(QWidget):
    """The widgets of the screen, in the order in which they are read.

    titles: everything that the title can say; instruction: what stands below it.
    """

    def __init__(
        self,
        part: ConceptRepairPart,
        words: Strings,
        palette: theme.Palette,
        time: TimeLeft | None,
        titles: Sequence[str],
        instruction: str,
    ) -> None:
        super().__init__()
        self._titles, self._instruction = tuple(titles), instruction
        self._given = part.instruction == "foresight"
        self._foretells = any(item.foresee for item in part.items)
        repaired = part.repaired
        last = len(repaired.concepts)
        names = [words("concept_says", name=known.name) for known in repaired.classes]
        self._says = (*names, *([words("concept_will_say")] if self._foretells else ()))
        self._keys_text = "" if self._given else words("concept_keys", last=last)
        self._boxes_text = words("concept_boxes", last=last)
        self.title, self.help_text = PlainLabel("", self), PlainLabel(instruction, self)
        self.picture, self.time = PhotoView(palette, words("concept_picture"), squares=True), time
        self.switches = SwitchPanel(
            repaired.concepts, words, palette, ticks=part.instruction == "audit"
        )
        self.undo, self.keys = Button(words("concept_undo")), PlainLabel("", self)
        self.says = PlainLabel("", self)
        self.card = AnswerCard(
            repaired.classes, repaired.concepts, words, palette, foretells=self._foretells
        )
        self.sure = [Button(words("concept_sure")), Button(words("concept_unsure"))]
        restyle(self.title, "role", "title")
        restyle(self.says, "role", "strong")
        for label in (self.help_text, self.keys):
            label.setProperty("role", "secondary")
        for label in (self.title, self.help_text, self.keys):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        for button in (self.undo, *self.sure):
            button.setProperty("touch", True)
            button.hide()
        for widget in (self.picture, time, self.switches, self.undo, self.card, *self.sure):
            if widget is not None:
                widget.setParent(self)
        self._placed: Arrangement | None = None
        self._foretelling = False

    def show_buttons(self, foretelling: bool) -> None:
        """Show what takes back a change, or what says how sure somebody is of what will be said."""
        self._foretelling = foretelling
        shared = self._placed is not None and self._placed.tight
        self.undo.setVisible(not self._given and not (foretelling and shared))
        for button in self.sure:
            button.setVisible(foretelling)

    def minimumSizeHint(self) -> QSize:
        return self._least

    @cached_property
    def _least(self) -> QSize:
        """What the arrangement for the least room needs."""
        form, gap = self.card.forms[-1], _GAP[True]
        left = self._least_picture + gap + self.switches.needed_width(True)
        below = max(
            self._least_picture + self._below_picture,
            self.switches.needed_height(True, LEAST_GAP[True]),
        )
        high = max(
            self._top_height(left, True) + theme.SPACE_XS + below,
            self._around_card(True) + self.card.needed_height(form),
        )
        wide = left + gap + self._card_width(form, True) + 2 * _SIDES[True]
        return QSize(wide, high + 2 * _margin(True))

    @property
    def _least_picture(self) -> int:
        """Logical pixels a side: what must be, and what the time below it needs."""
        return max(LEAST_PICTURE, 0 if self.time is None else self.time.needed_width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(self._find_arrangement(self.width(), self.height()))

    def _find_arrangement(self, wide: int, high: int) -> Arrangement:
        """The best arrangement that fits; for less room than any needs, the least."""
        for least in (round(GOOD_SHARE * wide), self._least_picture):
            for form in self.card.forms:
                for tight in (False, True):
                    arrangement = self._fit_arrangement(form, tight, wide, high)
                    if arrangement.fits and arrangement.side >= least:
                        return arrangement
        return arrangement

    def _fit_arrangement(self, form: Form, tight: bool, wide: int, high: int) -> Arrangement:
        """One arrangement, with a picture as large as there is room for beside the others."""
        gap = _GAP[tight]
        switches = self.switches.needed_width(tight)
        across = wide - 2 * _SIDES[tight] - switches - 2 * gap
        least = self._card_width(form, tight)
        good = max(self.card.needed_width(form, GOOD_BAR), least)
        inner, top = high - 2 * _margin(tight), 0
        for _ in range(3):  # a narrower block has a higher title, and that leaves less room
            room = inner - top - (theme.SPACE_XS if tight else _S)
            side = max(across - good, min(across - least, LARGE_PICTURE))
            side = min(side, MOST_PICTURE, room - self._below_picture)
            card = max(min(across - side, max(MOST_CARD, good)), least)
            left = side + gap + switches
            top = max(top, self._top_height(left if tight else left + gap + card, tight))
        middle = self.switches.needed_height(tight, LEAST_GAP[tight])
        middle += self._below_switches(form, tight)
        card_room = inner if tight else room
        fits = middle <= room and side >= self._least_picture
        for _ in range(2 * (tight and form.boxes)):  # what boxes mean stands below the picture
            legend = _text_height(self._boxes_text, theme.SECONDARY_PX, side) + _S
            side = min(side, room - self._below_picture - legend)
        fits &= self._around_card(tight) + self.card.needed_height(form) <= card_room
        side = max(side, self._least_picture)
        return Arrangement(form, tight, side, card, top, room, card_room, fits)

    @property
    def _below_picture(self) -> int:
        return 0 if self.time is None else self.time.height() + _S

    def _card_width(self, form: Form, tight: bool) -> int:
        least = max(self.card.needed_width(form), self._says_width)
        if not self._foretells or tight:
            return least
        return max(least, sum(button.sizeHint().width() for button in self.sure) + _S)

    @cached_property
    def _says_width(self) -> int:
        """Logical pixels of everything that can stand above the card."""
        of = QFontMetrics(theme.font(theme.BODY_PX, bold=True))
        return max(map(of.horizontalAdvance, self._says)) + 2

    def _around_card(self, tight: bool) -> int:
        """Logical pixels above and below the card, of what belongs to it."""
        above = self.says.sizeHint().height() + theme.SPACE_XS
        return above if tight or not self._foretells else above + _S + _BUTTON

    def _below_switches(self, form: Form, tight: bool) -> int:
        if tight:
            return 0
        keys = self._keys_height(form, self.switches.needed_width(tight))
        return keys + _S + (0 if self._given else _BUTTON + _S)

    def _keys_of(self, form: Form) -> str:
        texts = (self._boxes_text if form.boxes else "", self._keys_text)
        return "\n".join(filter(None, texts))

    def _keys_height(self, form: Form, wide: int) -> int:
        return _text_height(self._keys_of(form), theme.SECONDARY_PX, wide)

    @property
    def _beside_title(self) -> int:
        """Logical pixels that buttons take beside the title, where they stand there."""
        sure = sum(button.sizeHint().width() for button in self.sure) + _S
        undo = self.undo.sizeHint().width()
        wide = max(sure * self._foretells, undo * (not self._given))
        return wide + theme.SPACE_M if wide else 0

    def _title_px(self, wide: int, tight: bool) -> int:
        """How large the title is. In little room it is no higher than the buttons beside it."""
        sizes = (theme.TITLE_PX, theme.BODY_PX, theme.SECONDARY_PX)
        for px in sizes if tight else ():
            if self._title_height(px, wide) <= _BUTTON:
                return px
        return sizes[-1] if tight else sizes[0]

    def _title_height(self, px: int, wide: int) -> int:
        return max(_text_height(text, px, wide, bold=True) for text in self._titles)

    def _top_height(self, wide: int, tight: bool) -> int:
        if tight:
            wide -= self._beside_title
            return max(self._title_height(self._title_px(wide, tight), wide), _BUTTON)
        title = self._title_height(theme.TITLE_PX, wide)
        if self.width() < ROOMY:
            return title
        return title + theme.SPACE_XS + _text_height(self._instruction, theme.SECONDARY_PX, wide)

    def _place(self, plan: Arrangement) -> None:
        self._placed = plan
        tight, gap = plan.tight, _GAP[plan.tight]
        middle = self.switches.needed_width(tight)
        block = plan.side + middle + plan.card + 2 * gap
        spread = len(self.switches.switches) - 1
        below = self._below_switches(plan.form, tight)
        free = plan.room - below - self.switches.needed_height(tight, 0)
        if tight and free >= (keys := self._keys_height(plan.form, middle) + _S):
            free -= keys
        between = min(max(free // max(spread, 1), LEAST_GAP[tight]), MOST_GAP)
        head = self.card.head_height(plan.form) + 2
        free = plan.card_room - self._around_card(tight) - head
        row = min(max(free // self.card.rows(plan.form), plan.form.least_row), MOST_HEIGHT)
        used = max(
            plan.side + self._below_picture,
            self.switches.needed_height(tight, between) + below,
            self._around_card(tight) + self.card.needed_height(plan.form, row),
        )
        x = max(0, (self.width() - block) // 2)
        top = _margin(tight) + (0 if tight else max(0, plan.room - used) // 3)
        wide = plan.side + gap + middle
        place = QRect(x, top, wide if tight else block, plan.top)
        y = self._place_top(place, tight)
        self.picture.set_side(plan.side)
        self.picture.setGeometry(x, y, plan.side, plan.side)
        if self.time is not None:
            self.time.setGeometry(x, y + plan.side + _S, plan.side, self.time.height())
        self._place_switches(plan, QRect(x + plan.side + gap, y, middle, 0), between)
        self._place_card(plan, QRect(x + wide + gap, top if tight else y, plan.card, 0), row)
        if tight:
            self._place_buttons(x + wide, top)
        self.show_buttons(self._foretelling)

    def _place_top(self, place: QRect, tight: bool) -> int:
        title = QRect(place)
        if tight:
            title.setWidth(place.width() - self._beside_title)
        px = self._title_px(title.width(), tight)
        restyle(self.title, "role", TITLE_ROLES[px])
        high = self._title_height(px, title.width())
        title.setHeight(high)
        self.title.setGeometry(title)
        helped = not tight and self.width() >= ROOMY
        self.help_text.setVisible(helped)
        self.help_text.setGeometry(place.adjusted(0, high + theme.SPACE_XS, 0, 0))
        return place.y() + place.height() + (theme.SPACE_XS if tight else _S)

    def _place_keys(self, plan: Arrangement, places: Sequence[QRect], bottom: int) -> None:
        """What the keys and boxes mean, or in less room the boxes, in the first place where there
        is room; else nothing."""
        self.keys.hide()
        texts = self._keys_of(plan.form), self._boxes_text if plan.form.boxes else ""
        for text, place in product(filter(None, texts), places):
            place.setHeight(_text_height(text, theme.SECONDARY_PX, place.width()))
            if place.y() + place.height() <= bottom:
                if self.keys.text() != text:
                    self.keys.setText(text)
                self.keys.setGeometry(place)
                self.keys.show()
                return

    def _place_switches(self, plan: Arrangement, place: QRect, between: int) -> None:
        self.switches.set_form(plan.tight, between)
        self.switches.move(place.topLeft())
        y = place.y() + self.switches.height() + _S
        if not plan.tight and not self._given:
            wide = self.undo.sizeHint().width()
            self.undo.setGeometry(place.right() + 1 - wide, y, wide, _BUTTON)
            y += _BUTTON + _S
        below = QRect(place.x(), y, place.width(), 0)
        beside = QRect(
            self.picture.x(), place.y() + plan.side + self._below_picture + _S, plan.side, 0
        )
        self._place_keys(plan, (below, beside), self.height() - _margin(plan.tight))

    def _place_card(self, plan: Arrangement, place: QRect, row: int) -> None:
        says = self.says.sizeHint().height()
        self.says.setGeometry(place.x(), place.y(), place.width(), says)
        self.card.set_form(plan.form, place.width(), row)
        self.card.move(place.x(), place.y() + says + theme.SPACE_XS)
        if not plan.tight:
            y = self.card.geometry().bottom() + 1 + _S
            wide = (place.width() - _S) // 2
            for number, button in enumerate(self.sure):
                button.setGeometry(place.x() + number * (wide + _S), y, wide, _BUTTON)

    def _place_buttons(self, right: int, y: int) -> None:
        """The buttons beside the title: one place for those that are never seen together."""
        wide = self.undo.sizeHint().width()
        self.undo.setGeometry(right - wide, y, wide, _BUTTON)
        for button in reversed(self.sure):
            wide = button.sizeHint().width()
            button.setGeometry(right - wide, y, wide, _BUTTON)
            right -= wide + _S


def _margin(tight: bool) -> int:
    return theme.SPACE_XS if tight else theme.SPACE_XL


def _text_height(text: str, px: int, wide: int, *, bold: bool = False) -> int:
    metrics = QFontMetrics(theme.font(px, bold=bold))
    return metrics.boundingRect(QRect(0, 0, wide, 1000), _WRAPPED, text).height() + 2
