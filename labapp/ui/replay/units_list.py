"""The list of units: time, speaker, words and codes; thousands of them scroll at once.

Rows are drawn when they are seen. Their heights are summed once, so that finding the row at a pixel
is a search in a sorted array. The words of the current unit are edited in place.

Also the rows of the list: what they show, how their words wrap, and how they are drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QPlainTextEdit, QWidget

from labapp.coding.annotations.model import Unit
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.painting import color, equip, font, metrics, pen, smooth, write_with

LEAST_HEIGHT = 120
AHEAD = 2
"""So many rows below the current one stay in sight."""


class UnitEditor(QPlainTextEdit):
    """The words of a unit while they are typed.

    Signals
    -------
    committed(int) : what stands there is to be saved; then 1 goes on to the next unit, 0 stays.
    left() : back to coding; what stands there is saved.
    play_toggled(), again() : Tab and Shift+Tab: play or pause, play the unit from its beginning.
    """

    committed = Signal(int)
    left = Signal()
    play_toggled = Signal()
    again = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("replay.unit_words"))
        self.setFont(font(TEXT_PX))
        # As close as the words of the list, so that they hardly move when they are typed.
        self.setStyleSheet(f"padding: 0 {theme.SPACE_XS}px; min-height: 0; font-size: {TEXT_PX}px;")
        self.document().setDocumentMargin(2)
        bits.limit(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if key == Qt.Key.Key_Tab:
            self.play_toggled.emit()
        elif key == Qt.Key.Key_Backtab:
            self.again.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.committed.emit(1)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif control and key == Qt.Key.Key_Up:
            self.committed.emit(-1)
        elif control and key == Qt.Key.Key_Down:
            self.committed.emit(1)
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, next_: bool) -> bool:
        return False  # Tab plays and pauses

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() in (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.TabFocusReason):
            self.left.emit()


class UnitsList(QAbstractScrollArea):
    """Units in order of time, the current one in a frame.

    Signals
    -------
    chosen(str) : a unit was clicked: its id.
    edited(str, str) : a unit has other words, or its words were read: its id and these.
    edit_moved(int) : the words of the next (1) or previous (-1) unit are to be edited.
    overtaken(str) : other words came for a unit while somebody types its words, which stay.
    play_toggled(), again() : keys of the player, pressed while words are typed.
    """

    chosen = Signal(str)
    edited = Signal(str, str)
    edit_moved = Signal(int)
    overtaken = Signal(str)
    play_toggled = Signal()
    again = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self.rows: list[UnitRow] = []
        self._places: dict[str, int] = {}
        self._heights: list[int] = []
        self._bottoms: list[int] = []
        self._width = 0
        self.current: str | None = None
        """The id of the current unit."""
        self.editing: str | None = None
        """The id of the unit whose words are edited."""
        self._pad = PAD
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("word.units"))
        self.setMinimumHeight(LEAST_HEIGHT)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.verticalScrollBar().setSingleStep(LINE_PX)
        self.empty = PlainLabel(parent=self.viewport())
        self.empty.setProperty("role", "secondary")
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.editor = UnitEditor(self.viewport())
        self.editor.hide()
        self.editor.committed.connect(self._commit_and_move)
        self.editor.left.connect(self.end_edit)
        self.editor.play_toggled.connect(self.play_toggled)
        self.editor.again.connect(self.again)
        self.editor.document().contentsChanged.connect(self._place_editor)

    # --- what is shown ----------------------------------------------------------------------------

    def set_dense(self, dense: bool) -> None:
        """Whether rows are closer to each other, as in a low window."""
        pad = DENSE_PAD if dense else PAD
        if pad != self._pad:
            self._pad = pad
            self._measure()

    def seen(self) -> list[str]:
        """The ids of the units whose rows are wholly in sight."""
        high = self.viewport().height()
        boxes = ((row.unit.id, self._rect(place)) for place, row in enumerate(self.rows))
        return [unit for unit, box in boxes if box.top() >= 0 and box.bottom() < high]

    def set_rows(self, rows: Sequence[UnitRow], none: str = "") -> None:
        """Show these rows; none: what is said where there are none."""
        before = self._text_of(self.editing)
        self.rows = list(rows)
        self._places = {row.unit.id: place for place, row in enumerate(self.rows)}
        self.empty.setText(none)
        self.empty.setVisible(not self.rows)
        if self.editing is not None and self.editing not in self._places:
            if (typed := self._read_editor()) != before:
                self.edited.emit(self.editing, typed)  # into the history, with the unit gone
            self._close_editor()
        self._meet(before)
        self._measure()

    def update_rows(self, rows: Mapping[str, UnitRow]) -> None:
        """Show these rows instead of those of the same units."""
        grown, before = False, self._text_of(self.editing)
        for unit, row in rows.items():
            place = self._places.get(unit)
            if place is None or self.rows[place] == row:
                continue
            self.rows[place] = row
            height = row_height(row, self._width, self._pad)
            if height != self._heights[place]:
                self._heights[place], grown = height, True
            self.viewport().update(self._rect(place))
        self._meet(before)
        if grown:
            self._sum()

    def _text_of(self, unit: str | None) -> str:
        place = self._places.get(unit or "")
        return "" if place is None else self.rows[place].text

    def _meet(self, before: str) -> None:
        """The words that are edited were written elsewhere meanwhile: who has typed nothing sees
        those, and what somebody typed stays. before: as they were."""
        now = self._text_of(self.editing)
        if self.editing is None or now == before:
            return
        if self._read_editor() == before:
            self.editor.setPlainText(now)
            self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        else:
            self.overtaken.emit(self.editing)

    def set_current(self, unit: str | None) -> None:
        """Put the frame round a unit and bring it into sight."""
        if unit != self.current:
            for known in (self.current, unit):
                if known in self._places:
                    self.viewport().update(self._rect(self._places[known]))
            self.current = unit
        if unit in self._places:
            self._bring(self._places[unit])

    # --- editing ----------------------------------------------------------------------------------

    def edit(self, unit: str) -> bool:
        """Let the words of a unit be typed; False if there is no such row."""
        place = self._places.get(unit)
        if place is None or self.rows[place].veiled:
            return False
        self._save_edit()
        self.set_current(unit)
        self.editing = unit
        self.editor.setPlainText(self.rows[place].text)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self._place_editor()
        self.editor.show()
        self._place_editor()  # it knows its lines by its width
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def end_edit(self) -> None:
        """Save what was typed and go back to coding."""
        if self.editing is None:
            return
        self._save_edit()
        self._close_editor()

    def _commit_and_move(self, step: int) -> None:
        self._save_edit(step > 0)
        self.edit_moved.emit(step)

    def _save_edit(self, read: bool = False) -> None:
        """Tell what was typed; read: also where it is what stood there, which was read then."""
        unit = self.editing
        if unit is None or unit not in self._places:
            return
        text = self._read_editor()
        if read or text != self.rows[self._places[unit]].text:
            self.edited.emit(unit, text)

    def _read_editor(self) -> str:
        return " ".join(self.editor.toPlainText().split())

    def _close_editor(self) -> None:
        self.editing = None
        had = self.editor.hasFocus()
        self.editor.hide()
        if had:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_editor(self) -> None:
        if self.editing not in self._places:
            return
        box = self._rect(self._places[self.editing])
        left = box.left() + PAD + TIME_WIDTH + LETTER_WIDTH - 6
        width = int(text_width(box.width())) + GAP + 6
        lines = max(1, self.editor.document().size().height())
        height = max(box.height() - 2, int(lines * self.editor.fontMetrics().lineSpacing()) + 10)
        self.editor.setGeometry(left, box.top() + 1, width, height)

    # --- heights ----------------------------------------------------------------------------------

    def _measure(self) -> None:
        self._width = self.viewport().width()
        self._heights = [row_height(row, self._width, self._pad) for row in self.rows]
        self._sum()

    def _sum(self) -> None:
        self._bottoms = list(accumulate(self._heights))
        bar = self.verticalScrollBar()
        total = self._bottoms[-1] if self._bottoms else 0
        bar.setRange(0, max(0, total - self.viewport().height()))
        bar.setPageStep(self.viewport().height())
        self.viewport().update()
        self._place_editor()

    def _top(self, place: int) -> int:
        return self._bottoms[place - 1] if place else 0

    def _rect(self, place: int) -> QRect:
        top = self._top(place) - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self._heights[place])

    def _place_at(self, y: int) -> int | None:
        place = bisect_right(self._bottoms, y + self.verticalScrollBar().value())
        return place if place < len(self.rows) else None

    def _bring(self, place: int) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = self._top(place)
        last = min(len(self.rows) - 1, place + AHEAD)
        bottom = min(self._bottoms[last], top + height)
        if top < bar.value():
            bar.setValue(self._top(max(0, place - 1)))
        elif bottom > bar.value() + height:
            bar.setValue(max(min(bottom - height, top), 0))

    # --- what Qt asks -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.empty.setGeometry(self.viewport().rect())
        if self.viewport().width() != self._width:
            self._measure()
        else:
            self._sum()
        if self.current in self._places:
            self._bring(self._places[self.current])

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()
        self._place_editor()

    def sizeHint(self) -> QSize:
        return QSize(380, 360)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self.viewport())
        place = self._place_at(event.rect().top())
        while place is not None and place < len(self.rows):
            box = self._rect(place)
            if box.top() > event.rect().bottom():
                break
            row = self.rows[place]
            current = row.unit.id == self.current
            paint_row(painter, QRectF(box), row, self._palette, current=current, pad=self._pad)
            place += 1
        if self.hasFocus():
            equip(painter, color(self._palette.accent), Qt.BrushStyle.NoBrush)
            inside = QRectF(self.viewport().rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(inside, theme.RADIUS, theme.RADIUS)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(int(event.position().y()))
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self.chosen.emit(self.rows[place].unit.id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(int(event.position().y()))
        if place is not None:
            self.edit(self.rows[place].unit.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the window's keys; the scroll bar would take some of them


TEXT_PX = theme.BODY_PX - 1
CHIP_PX = 11
LINE_PX = 20
DENSE_PAD = 3
"""Above and below what stands in a row, where there is little room."""
CHIP_HEIGHT, CHIP_GAP = 18, 3
PAD = 6
GAP = theme.SPACE_S
TIME_WIDTH = 46
LETTER_WIDTH = 14
LEAST_TEXT = 90
CHIPS_SHARE = 0.32
"""Of a row's width the chips take so much at most."""
LETTERS = {"participant": "P", "moderator": "M", "other": "O"}
"""Who speaks, as a letter before the words."""
NO_CODE = "–"
VEILED = "· · ·"
MEMO = " ✎"


@dataclass(frozen=True, slots=True)
class CodeChip:
    """A code on a unit.

    Attributes
    ----------
    colour : `#rrggbb`; empty for what is no code of the codebook, which is shown without a ground.
    foreign : whether another rater gave it: only its edge is coloured.
    old : whether it was given by another version of the codebook.
    """

    text: str
    colour: str
    memo: bool = False
    foreign: bool = False
    old: bool = False


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit as the list shows it.

    doubtful: the places of words of which a recogniser was not sure; veiled: whether it has not
    been heard yet, and its words are not shown.
    """

    unit: Unit
    time: str
    text: str = ""
    chips: tuple[CodeChip, ...] = ()
    doubtful: frozenset[int] = frozenset()
    veiled: bool = False

    @property
    def shown(self) -> str:
        return VEILED if self.veiled else self.text


@lru_cache(maxsize=50_000)
def _advance(word: str) -> float:
    return metrics(TEXT_PX).horizontalAdvance(word)


def wrap(words: Sequence[str], width: float) -> list[tuple[int, int]]:
    """The lines of a text, each as the half-open stretch of its words; at least one line."""
    space = _advance(" ")
    lines: list[tuple[int, int]] = []
    begin, used = 0, 0.0
    for place, word in enumerate(words):
        needed = _advance(word)
        if place > begin and used + space + needed > width:
            lines.append((begin, place))
            begin, used = place, needed
        else:
            used += needed + (space if place > begin else 0.0)
    lines.append((begin, len(words)))
    return lines


def chip_text(chip: CodeChip, width: float) -> str:
    """What stands in a chip: cut short where there is no room."""
    text = chip.text + (MEMO if chip.memo else "")
    return metrics(CHIP_PX, True).elidedText(text, Qt.TextElideMode.ElideRight, width)


def chips_width(width: float) -> float:
    """How wide the column of chips is in a row of that width."""
    return max(64.0, min(150.0, width * CHIPS_SHARE))


def chip_lines(chips: Sequence[CodeChip], width: float) -> list[list[tuple[CodeChip, float]]]:
    """Chips with their widths, in lines that are set from the right."""
    lines: list[list[tuple[CodeChip, float]]] = [[]]
    used = 0.0
    for chip in chips:
        text = chip_text(chip, width - 12)
        own = metrics(CHIP_PX, True).horizontalAdvance(text) + 12
        if lines[-1] and used + own + CHIP_GAP > width:
            lines.append([])
            used = 0.0
        lines[-1].append((chip, own))
        used += own + CHIP_GAP
    return lines


def text_width(width: float) -> float:
    """How much of a row's width its words have."""
    taken = PAD + TIME_WIDTH + LETTER_WIDTH + GAP + chips_width(width) + PAD
    return max(LEAST_TEXT, width - taken)


def row_height(row: UnitRow, width: float, pad: int = PAD) -> int:
    """How many pixels a row needs; pad: above and below what stands in it."""
    lines = len(wrap(row.shown.split(), text_width(width)))
    chips = len(chip_lines(row.chips, chips_width(width))) if len(row.chips) > 1 else 1
    return max(lines * LINE_PX, chips * (CHIP_HEIGHT + CHIP_GAP)) + 2 * pad


def readable_on(ground: str) -> str:
    """Black or white, whichever can be read on a colour (by WCAG's relative luminance)."""
    value = QColor(ground)
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value.redF(), value.greenF(), value.blueF())
    ]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    white = 1.05 / (luminance + 0.05)
    return "#FFFFFF" if white >= 4.5 or white >= (luminance + 0.05) / 0.05 else "#1F2328"


def paint_row(
    painter: QPainter, box: QRectF, row: UnitRow, p: Palette, *, current: bool, pad: int = PAD
) -> None:
    if current:
        inside = box.adjusted(1, 1, -1, -1)
        equip(painter, pen(p.accent, 2.0), color(p.accent_soft))
        painter.drawRoundedRect(inside, theme.RADIUS, theme.RADIUS)
    top, left = box.top() + pad, box.left() + PAD
    write_with(painter, color(p.secondary), theme.SECONDARY_PX)
    middle = int(Qt.AlignmentFlag.AlignVCenter)
    painter.drawText(QRectF(left + 2, top, TIME_WIDTH, LINE_PX), middle, row.time)
    left += TIME_WIDTH
    painter.setFont(font(CHIP_PX, True))
    letter = LETTERS[row.unit.speaker]
    painter.drawText(QRectF(left, top, LETTER_WIDTH, LINE_PX), middle, letter)
    left += LETTER_WIDTH
    _paint_words(painter, left, top, row, text_width(box.width()), p)
    _paint_chips(painter, box.adjusted(0, pad, 0, -pad), row, p)


def _paint_words(
    painter: QPainter, left: float, top: float, row: UnitRow, width: float, p: Palette
) -> None:
    quiet = row.veiled or row.unit.speaker != "participant"
    write_with(painter, color(p.secondary if quiet else p.ink), TEXT_PX)
    words = row.shown.split()
    flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
    for number, (begin, end) in enumerate(wrap(words, width)):
        y = top + number * LINE_PX
        line = " ".join(words[begin:end])
        painter.drawText(QRectF(left, y, width, LINE_PX), flags, line)
        if row.veiled or not row.doubtful:
            continue
        for place in range(begin, end):
            if place in row.doubtful:
                x = left + metrics(TEXT_PX).horizontalAdvance(
                    "".join(f"{word} " for word in words[begin:place])
                )
                dots = QPen(color(p.warn), 1.5, Qt.PenStyle.DotLine)
                painter.setPen(dots)
                base = y + LINE_PX - 2
                painter.drawLine(QPointF(x, base), QPointF(x + _advance(words[place]), base))
                painter.setPen(color(p.ink))


def _paint_chips(painter: QPainter, box: QRectF, row: UnitRow, p: Palette) -> None:
    right = box.right() - PAD - 2
    top = box.top() + (LINE_PX - CHIP_HEIGHT) / 2
    width = chips_width(box.width())
    if not row.chips:
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        place = QRectF(right - width, box.top(), width, LINE_PX)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, int(flags), NO_CODE)
        return
    for line in chip_lines(row.chips, width):
        x = right - sum(own for _, own in line) - CHIP_GAP * (len(line) - 1)
        for chip, own in line:
            paint_chip(painter, QRectF(x, top, own, CHIP_HEIGHT), chip, p)
            x += own + CHIP_GAP
        top += CHIP_HEIGHT + CHIP_GAP


def paint_chip(painter: QPainter, box: QRectF, chip: CodeChip, p: Palette) -> None:
    painter.setFont(font(CHIP_PX, True))
    solid = bool(chip.colour) and not chip.foreign
    edge = chip.colour or p.hairline
    painter.setPen(pen(edge, 1.0, dashed=chip.old))
    painter.setBrush(color(chip.colour) if solid and not chip.old else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
    ink = readable_on(chip.colour) if solid and not chip.old else p.secondary
    painter.setPen(color(ink))
    flags = int(Qt.AlignmentFlag.AlignCenter)
    painter.drawText(box, flags, chip_text(chip, box.width() - 10))
