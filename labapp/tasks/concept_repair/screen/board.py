"""Where everything on the screen of concept repair stands. The picture runs against time, so that
nothing of it may need to be scrolled to: what there is is measured, and the best of several
arrangements that fits into the window is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QWidget

from labapp.tasks.concept_repair.plan import ConceptRepairPart
from labapp.tasks.concept_repair.screen.answers import GOOD_BAR, MOST_HEIGHT, AnswerCard, Form
from labapp.tasks.concept_repair.screen.switches import SwitchPanel
from labapp.tasks.concept_repair.screen.time_left import TimeLeft
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import restyle
from labapp.ui.widgets.photo_view import PhotoView

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

    @property
    def gap(self) -> int:
        """Between the columns."""
        return _GAP[self.tight]


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
        self.picture, self.time = PhotoView(palette, words("concept_picture")), time
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
        timed = (time,) if time is not None else ()
        for widget in (self.picture, *timed, self.switches, self.undo, self.card, *self.sure):
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
        self._place(self._arranged(self.width(), self.height()))

    def _arranged(self, wide: int, high: int) -> Arrangement:
        """The best arrangement that fits; for less room than any needs, the least."""
        for least in (round(GOOD_SHARE * wide), self._least_picture):
            for form in self.card.forms:
                for tight in (False, True):
                    arrangement = self._fitted(form, tight, wide, high)
                    if arrangement.fits and arrangement.side >= least:
                        return arrangement
        return arrangement

    def _fitted(self, form: Form, tight: bool, wide: int, high: int) -> Arrangement:
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
        """Put everything in its place."""
        self._placed = plan
        tight, gap = plan.tight, plan.gap
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
        self._place_picture(plan, x, y)
        self._place_switches(plan, QRect(x + plan.side + gap, y, middle, 0), between)
        self._place_card(plan, QRect(x + wide + gap, top if tight else y, plan.card, 0), row)
        if tight:
            self._place_buttons(x + wide, top)
        self.show_buttons(self._foretelling)

    def _place_top(self, place: QRect, tight: bool) -> int:
        """Title and instruction; returns where what is below them begins."""
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

    def _place_picture(self, plan: Arrangement, x: int, y: int) -> None:
        self.picture.set_side(plan.side)
        self.picture.setGeometry(x, y, plan.side, plan.side)
        if self.time is not None:
            self.time.setGeometry(x, y + plan.side + _S, plan.side, self.time.height())

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
    """Logical pixels above and below."""
    return theme.SPACE_XS if tight else theme.SPACE_XL


def _text_height(text: str, px: int, wide: int, *, bold: bool = False) -> int:
    metrics = QFontMetrics(theme.font(px, bold=bold))
    return metrics.boundingRect(QRect(0, 0, wide, 1000), _WRAPPED, text).height() + 2
