"""An item on the screen: its words on the left, its answer on the right.

A slider for a whole number, with its value beside it.

Until it is touched it has no handle: a click puts one there, and the first arrow key puts it where
the slider begins. Where a handle is shown from the start (`show_start`) it is hollow and its line
grey until the hand moves it, or says that it stands where it should (a click on the handle, Space
or Enter). Arrow keys move one, Page keys ten, Home and End go to the ends.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from labapp.discovery import load
from labapp.events.look import SCALED
from labapp.study.instruments import Choice, Choices, Item, Rating, Slider, Written
from labapp.study.instruments.items import DESCRIBED_LONGEST
from labapp.study.instruments.kinds import ITEM_KINDS, kind_of
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.option_list import OptionList
from labapp.ui.widgets.painting import brush, color, draw_focus_ring, font, metrics, pen, restyle
from labapp.ui.widgets.scale import AnchorRow, Look, Scale
from labapp.ui.widgets.textfield import TextField

WORDS_WIDTH = 340
TABLE_WORDS_WIDTH = 520
PAIR_WIDTH = 300
DESCRIBED_WIDTH = 320
MARK = "▸"


class ItemWords(QWidget):
    """The words of an item; marked, in room kept for it, while an answer to it is missing."""

    def __init__(self, item: Item, optional: str, width: int) -> None:
        super().__init__()
        self._head = _label(item.name or item.text, "strong" if item.name else "")
        self._mark = _mark()
        more = [item.text] if item.name and item.text else []
        more += [optional] if optional else []
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._head)
        for line in more:
            words.addWidget(_label(line, "secondary"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        self.setFixedWidth(width)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and a mark, that this item still needs an answer."""
        _show_mark(self._mark, self._head, missing)


class ItemView(QWidget):
    """answered(value): the hand wants this answer. It shows what the session says."""

    answered = Signal(object)

    def __init__(self, item: Item, words: Strings, width: int = WORDS_WIDTH) -> None:
        super().__init__()
        self.item = item
        # Of a slider it is said beside it that it has no answer yet.
        optional = "" if item.required or item.always_answered else words("optional")
        bare = not item.name and not item.text
        self.words = None if bare else ItemWords(item, optional, width)
        self.row_layout = QHBoxLayout(self)
        self.row_layout.setContentsMargins(0, theme.SPACE_S, 0, theme.SPACE_S)
        self.row_layout.setSpacing(theme.SPACE_XXL)
        if self.words is not None:
            self.row_layout.addWidget(self.words, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_as(self, *, published: bool, layout: int) -> None:
        """Look as in a published study or improved, in a layout of `labapp.events.look`."""

    def show_value(self, value: Any) -> None:
        """Show the answer that the session has; None for none."""

    def mark_missing(self, missing: bool) -> None:
        if self.words is not None:
            self.words.mark_missing(missing)

    def uncommitted(self) -> Any:
        """The answer with what was typed and not kept yet; None where nothing was."""
        return None

    def entrance(self) -> QWidget:
        """What takes the focus."""
        raise NotImplementedError


class RatingView(ItemView):
    """table: its anchors stand in the head of the table, once."""

    def __init__(
        self, item: Rating, words: Strings, palette: theme.Palette, *, table: bool = False
    ) -> None:
        super().__init__(item, words, TABLE_WORDS_WIDTH if table else WORDS_WIDTH)
        self.rating = item
        even = bool(item.labels)
        look = Look(
            numbered=item.numbered,
            digits=not item.ticks,
            first=item.first,
            even=even,
            ticks=item.ticks,
        )
        low, high = item.ends()
        self.row = Scale(item.points, palette, look, item.title, item.anchors())
        self.row.chosen.connect(lambda index, _device: self.answered.emit(index + item.first))
        if table:
            self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
            self.row_layout.addWidget(self.row, 1)
        elif self.words is None:
            self._between(low, high)
        else:
            right = QVBoxLayout()
            right.setSpacing(theme.SPACE_XS)
            right.addWidget(self.row)
            right.addWidget(AnchorRow(item.points, item.anchors(), palette))
            self.row_layout.addLayout(right, 1)

    def _between(self, low: str, high: str) -> None:
        """The scale between its two words."""
        self.row_layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        sides = (Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft)
        self._mark = _mark()
        self.row_layout.setSpacing(theme.SPACE_XL)
        self.row_layout.addWidget(self._mark)
        self.sides = [_label(words, "") for words in (low, high)]
        for label, side in zip(self.sides, sides, strict=True):
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self.row_layout.addWidget(self.sides[0], 2)
        self.row_layout.addWidget(self.row, 3)
        self.row_layout.addWidget(self.sides[1], 2)

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        if self.words is None:
            _show_mark(self._mark, self.sides[0], missing)

    def show_value(self, value: Any) -> None:
        self.row.show_index(None if value is None else value - self.rating.first)

    def entrance(self) -> QWidget:
        return self.row


class StatementView(RatingView):
    """A row of a table of statements."""

    def __init__(self, item: Rating, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words, palette, table=True)


class ChoiceView(ItemView):
    """One or several options, one of them perhaps with a field to describe it."""

    def __init__(self, item: Choice | Choices, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.choice = item
        self._value: dict[str, Any] = {"chosen": ()}
        self._own = next((option.id for option in item.options if option.describe), None)
        self.field: TextField | None = None
        self.group = OptionList(
            [option.text for option in item.options],
            palette,
            item.title,
            several=item.several,
            least_width=PAIR_WIDTH if self.words is None else 0,
        )
        self.group.chosen.connect(lambda index, _device: self._asked(index))
        if self._own is not None:
            self.field = TextField(
                words("own_words"),
                longest=DESCRIBED_LONGEST,
                too_long=words("text_limit", n=DESCRIBED_LONGEST),
            )
            self.field.setFixedWidth(DESCRIBED_WIDTH)
            self.field.edit.setPlaceholderText(words("own_words"))
            self.field.committed.connect(lambda text: self._give(self._value["chosen"], text))
            policy = self.field.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            self.field.setSizePolicy(policy)
            self.field.hide()
            self.group.flow.addWidget(self.field)
        self._mark = _mark()
        if self.words is None:
            self.row_layout.setSpacing(0)
            self.row_layout.addWidget(self._mark)
        self.row_layout.addWidget(self.group, 1)

    def _asked(self, index: int) -> None:
        option = self.choice.options[index]
        before = [option for option in self.choice.options if option.id in self._value["chosen"]]
        if option in before:
            if not self.choice.several and self.choice.required:
                return
            after = [other for other in before if other is not option]
        elif not self.choice.several or option.alone:
            after = [option]
        else:
            after = [*(other for other in before if not other.alone), option]
        self._give(tuple(other.id for other in after), self._value.get("described", ""))
        if option.describe and self.field is not None and not self.field.isHidden():
            self.field.setFocus()

    def _give(self, chosen: tuple[str, ...], described: str) -> None:
        self.answered.emit(self._with(chosen, described))

    def _with(self, chosen: tuple[str, ...], described: str) -> dict[str, Any]:
        value: dict[str, Any] = {"chosen": chosen}
        if self._own in chosen:
            value["described"] = described
        return value

    def show_value(self, value: Any) -> None:
        self._value = dict(value) if value is not None else {"chosen": ()}
        chosen = self._value["chosen"]
        self.group.show_taken(
            [index for index, option in enumerate(self.choice.options) if option.id in chosen]
        )
        if self.field is not None:
            self.field.setVisible(self._own in chosen)
            self.field.show_text(self._value.get("described", ""))

    def mark_missing(self, missing: bool) -> None:
        super().mark_missing(missing)
        _show_mark(self._mark, self._mark, missing)

    def uncommitted(self) -> Any:
        text = (
            None if self.field is None or self.field.isHidden() else self.field.uncommitted_text()
        )
        return None if text is None else self._with(self._value["chosen"], text)

    def entrance(self) -> QWidget:
        return self.group.entrance()


class WrittenView(ItemView):
    def __init__(self, item: Written, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        self.field = TextField(
            item.title,
            lines=item.lines,
            longest=item.longest,
            too_long=words("text_limit", n=item.longest),
        )
        self.field.committed.connect(lambda text: self.answered.emit(text))
        self.row_layout.addWidget(self.field, 1)

    def show_value(self, value: Any) -> None:
        self.field.show_text(value or "")

    def uncommitted(self) -> Any:
        return self.field.uncommitted_text()

    def entrance(self) -> QWidget:
        return self.field.edit


class SliderView(ItemView):
    """A slider, and over it in words where it stands, or that it has no answer yet."""

    def __init__(self, item: Slider, words: Strings, palette: theme.Palette) -> None:
        super().__init__(item, words)
        low, high, self._start = item.places()
        self._said, self._unit = words, item.unit
        self._key = "selected_accuracy" if item.about == "accuracy" else "selected_value"
        self.selected = _label("", "secondary")
        self._tells = True
        self.slider = NumberSlider(low, high, self._start, item.unit, palette)
        self.slider.setAccessibleName(item.title)
        self.selected.setFixedHeight(ceil(metrics(bold=True).height()))
        self.slider.moved.connect(lambda value: self._say(value, touched=True))
        self.slider.given.connect(lambda value: self.answered.emit(_touched(value)))
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_XS)
        right.addWidget(self.selected)
        right.addWidget(self.slider)
        self.row_layout.addLayout(right, 1)
        self.show_value(None)

    def show_as(self, *, published: bool, layout: int) -> None:
        self._tells = layout >= SCALED
        self.slider.show_start(published or not self._tells)
        self._say(self.slider.value(), touched=self.slider.touched)

    def show_value(self, value: Any) -> None:
        number, touched = (value["value"], value["touched"]) if value else (self._start, False)
        self.slider.show_value(number, touched=touched)
        self._say(self.slider.value(), touched=self.slider.touched)

    def _say(self, number: int, *, touched: bool) -> None:
        text = self._said(self._key, value=number, unit=self._unit)
        if self._tells and not touched:
            none = self._said("slider_unanswered")
            stands = f"{number}\N{NO-BREAK SPACE}{self._unit} · "  # nothing is selected yet
            text = f"{stands}{none}" if self.slider.has_handle else none
        if self.selected.text() != text:
            self.selected.setText(text)
            self.slider.setAccessibleDescription(text)
        restyle(self.selected, "role", "strong" if touched else "secondary")

    def uncommitted(self) -> Any:
        return _touched(self.slider.value()) if self.slider.held else None

    def entrance(self) -> QWidget:
        return self.slider


def _touched(value: int) -> dict[str, Any]:
    return {"value": value, "touched": True}


def view_of(item: Item, words: Strings, palette: theme.Palette) -> ItemView:
    """The view of an item, as its kind has it."""
    view: ItemView = load(ITEM_KINDS[kind_of(item)].view)(item, words, palette)
    return view


def _label(words: str, role: str) -> QLabel:
    label = PlainLabel(words)
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label


def _mark() -> QLabel:
    """Room for the mark of a missing answer."""
    label = PlainLabel()
    label.setFixedWidth(theme.SPACE_L)
    return label


def _show_mark(mark: QLabel, words: QLabel, missing: bool) -> None:
    text = MARK if missing else ""
    if mark.text() == text:
        return
    mark.setText(text)
    for label in (mark, words):
        restyle(label, "tone", "warn" if missing else "")


HANDLE_R = 10.0
RING_R = 14.0
TRACK_H = 6.0
GAP = 8.0
"""Between the ends of the line and their numbers."""
PAGE = 10

_STEPS = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: PAGE,
    Qt.Key.Key_PageDown: -PAGE,
}
_CONFIRMS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class NumberSlider(QAbstractSlider):
    """moved(value): the handle follows the hand; given(value): the hand set it there, or left it
    there on purpose, and let go. unit stands behind the numbers at both ends."""

    moved = Signal(int)
    given = Signal(int)

    def __init__(
        self,
        low: int,
        high: int,
        start: int,
        unit: str,
        palette: theme.Palette,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._ends = [f"{value}\N{NO-BREAK SPACE}{unit}" for value in (low, high)]
        self._sides = [
            ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(words)) + GAP for words in self._ends
        ]
        self._colors = palette
        self._touched = False
        self._starts = False
        self._held: tuple[float, int] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(low, high)
        self.setPageStep(PAGE)
        self._shown = start
        self.setValue(start)
        self.valueChanged.connect(self._changed)

    def _changed(self, value: int) -> None:
        """Qt's value is another one: by what is shown, or by a screen reader."""
        if value != self._shown:
            self._ask(value)

    def _put(self, value: int) -> None:
        self._shown = value
        self.setValue(value)

    @property
    def touched(self) -> bool:
        """Whether it looks touched."""
        return self._touched

    def show_start(self, shown: bool) -> None:
        """Say whether a handle is shown before anybody touches it."""
        self._starts = shown
        self.update()

    @property
    def has_handle(self) -> bool:
        """Whether a handle is seen."""
        return self._touched or self._starts

    @property
    def held(self) -> bool:
        """Whether the hand is dragging it: its value is not given yet."""
        return self._held is not None

    def show_value(self, value: int, *, touched: bool) -> None:
        """Show what the session says; not under the hand."""
        if self._held is None and (value, touched) != (self._shown, self._touched):
            self._touched = touched
            self._put(value)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, theme.TARGET_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def handle_x(self, value: int) -> float:
        """Centre of the handle at a value, in the widget's pixels."""
        share = (value - self.minimum()) / max(self.maximum() - self.minimum(), 1)
        return self._sides[0] + RING_R + share * self._span()

    def _span(self) -> float:
        return max(1.0, self.width() - sum(self._sides) - 2 * RING_R)

    def _move(self, value: int) -> None:
        self._touched = True
        self._put(min(max(value, self.minimum()), self.maximum()))
        self.update()
        self.moved.emit(self._shown)

    def _ask(self, value: int) -> None:
        before = (self._shown, self._touched)
        self._move(value)
        if before != (self._shown, self._touched):
            self.given.emit(self._shown)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        if not self.has_handle or abs(x - self.handle_x(self._shown)) > RING_R:
            share = (x - self._sides[0] - RING_R) / self._span()
            self._move(self.minimum() + round(share * (self.maximum() - self.minimum())))
        self._held = (x, self._shown)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is None:
            return
        x, value = self._held
        moved = round((event.position().x() - x) / self._span() * (self.maximum() - self.minimum()))
        if value + moved != self._shown:
            self._move(value + moved)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._held is not None:
            self._held = None
            self._move(self._shown)
            self.given.emit(self._shown)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if held:
            event.ignore()
        elif key in _STEPS:
            self._ask(self._shown + (_STEPS[key] if self.has_handle else 0))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._ask(self.minimum() if key == Qt.Key.Key_Home else self.maximum())
        elif key in _CONFIRMS and self.has_handle:
            self._ask(self._shown)
        else:
            event.ignore()

    def focusInEvent(self, event: object) -> None:
        self.update()

    def focusOutEvent(self, event: object) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self._colors
        middle = theme.TARGET_HEIGHT / 2
        painter = QPainter(self)
        painter.fillRect(self.rect(), brush(p.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(p.track))
        left, x = self.handle_x(self.minimum()) - HANDLE_R, self.handle_x(self._shown)
        track = QRectF(left, middle - TRACK_H / 2, self._span() + 2 * HANDLE_R, TRACK_H)
        painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        if self._touched:
            painter.setBrush(brush(p.accent))
            track.setRight(x)
            painter.drawRoundedRect(track, TRACK_H / 2, TRACK_H / 2)
        centre = QPointF(x, middle)
        if not self.has_handle:
            self._paint_ends(painter)
            if self.hasFocus():
                draw_focus_ring(painter, track.adjusted(-2, -4, 2, 4), theme.RADIUS, p.accent)
            painter.end()
            return
        if self.hasFocus():
            painter.setPen(pen(p.accent, theme.RING))
            painter.setBrush(brush(p.accent_soft))
            painter.drawEllipse(centre, RING_R - 1, RING_R - 1)
        painter.setPen(pen(p.accent if self._touched else p.secondary, 2.0))
        painter.setBrush(brush(p.accent if self._touched else p.card))
        painter.drawEllipse(centre, HANDLE_R - 2, HANDLE_R - 2)
        self._paint_ends(painter)
        painter.end()

    def _paint_ends(self, painter: QPainter) -> None:
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(self._colors.secondary))
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        for words, side in zip(self._ends, sides, strict=True):
            painter.drawText(QRectF(self.rect()), side | Qt.AlignmentFlag.AlignVCenter, words)
