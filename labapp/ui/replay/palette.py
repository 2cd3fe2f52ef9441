"""The palette: the codebook's tiers and codes with their keys, and what the focused code means.

Below stand the facts of the current unit; they say nothing of how its question ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.coding.annotations.codebook import Code, Codebook, Tier
from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.moderator import bits
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import color, equip, font, metrics, pen, smooth, write_with

ROW_PX, HEAD_PX, BAND_ROW_PX = 28, 30, 26
CAP_PX = 22
DOT_PX = 10
SECTION_PX, NAME_PX = 12, theme.BODY_PX - 1
LEAST_WIDTH = 190
BESIDE_NAME_PX = 70
"""Of a code in a band: key, dot, and the gaps between these, name, count and the next code."""
WIDEST_COUNT = "00"
BELOW_PX = 116
"""Of facts and definition below the codes."""
MOST_BAND_ROWS, MOST_LOW_ROWS = 5, 3
"""So many rows a band has, and in a low window, before names are cut short; what then has no room
is scrolled to."""
SHORT_NAMES_PX = (150, 110, 80, 40)


@dataclass(frozen=True, slots=True)
class _PaletteRow:
    """A row of the palette: a tier's head where there is no code."""

    tier: Tier
    code: Code | None
    left: int
    top: int
    width: int
    height: int


def how(tier: Tier) -> str:
    """How codes of a tier are given, in words."""
    if tier.values:
        return tr("palette.digit_a_unit") if tier.on == "units" else tr("palette.digit")
    if tier.on == "spans":
        return tr("palette.spans")
    return tr("palette.one_a_unit") if tier.exclusive else tr("palette.several_a_unit")


class CodeRows(QWidget):
    """Tiers and codes, drawn: below each other, or as a band in which they follow each other as
    words do.

    Signals
    -------
    pressed(str) : a code was clicked: its id.
    tier_chosen(str) : a tier was clicked: its name.
    pointed(str) : the pointer is over a code, '' over none.
    arranged() : it has another height.
    """

    pressed = Signal(str)
    tier_chosen = Signal(str)
    pointed = Signal(str)
    arranged = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines: list[_PaletteRow] = []
        self._codebook: Codebook | None = None
        self._counts: Mapping[str, int] = {}
        self._active = ""
        self._given: frozenset[str] = frozenset()
        self._open: frozenset[str] = frozenset()
        self._most_rows = 0
        self.setMouseTracking(True)
        self.setAccessibleName(tr("palette.title"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_codebook(self, codebook: Codebook) -> None:
        self._codebook = codebook
        self._arrange()

    def set_band(self, most_rows: int) -> None:
        """Let codes follow each other in so many rows at most; 0: below each other."""
        if most_rows != self._most_rows:
            self._most_rows = most_rows
            self._arrange()

    def rows_at(self, width: int) -> int:
        """How many rows a band of that width has at least."""
        lines = self._rows(width, SHORT_NAMES_PX[-1])
        return max((line.top // BAND_ROW_PX + 1 for line in lines), default=0)

    @property
    def least_height(self) -> int:
        """So much of it is seen at once."""
        height = self.height()
        return min(height, self._most_rows * BAND_ROW_PX) if self._most_rows else height

    @property
    def column_height(self) -> int:
        """How high it is where codes stand below each other."""
        return sum(line.height for line in self._column(LEAST_WIDTH))

    def _arrange(self) -> None:
        width = max(self.width(), LEAST_WIDTH)
        if not self._most_rows:
            self._lines = self._column(width)
        for widest in (width, *SHORT_NAMES_PX) if self._most_rows else ():
            self._lines = self._rows(width, widest)
            if self._bottom <= self._most_rows * BAND_ROW_PX:
                break
        self.setFixedHeight(max(self._bottom, ROW_PX))
        self.update()
        self.arranged.emit()

    @property
    def _bottom(self) -> int:
        return max((line.top + line.height for line in self._lines), default=0)

    def _column(self, width: int) -> list[_PaletteRow]:
        lines: list[_PaletteRow] = []
        top = 0
        for tier, codes in self._tiers():
            lines.append(_PaletteRow(tier, None, 0, top, width, HEAD_PX))
            top += HEAD_PX
            for code in codes:
                lines.append(_PaletteRow(tier, code, 0, top, width, ROW_PX))
                top += ROW_PX
        return lines

    def _rows(self, width: int, widest_name: float) -> list[_PaletteRow]:
        """As many codes beside each other as there is room for; a tier's head stays with its first
        code."""
        lines: list[_PaletteRow] = []
        left = top = 0
        for tier, codes in self._tiers():
            head = int(metrics(SECTION_PX, True).horizontalAdvance(_head(tier, active=True)))
            head += theme.SPACE_S
            least = BESIDE_NAME_PX + metrics(theme.SECONDARY_PX).horizontalAdvance(WIDEST_COUNT)
            names = (metrics(NAME_PX).horizontalAdvance(code.name) + 1 for code in codes)
            widths = [min(int(least + min(name, widest_name)), width - head) for name in names]
            if left and left + head + (widths[0] if widths else 0) > width:
                left, top = 0, top + BAND_ROW_PX
            lines.append(_PaletteRow(tier, None, left, top, head, BAND_ROW_PX))
            left += head
            for place, (code, own) in enumerate(zip(codes, widths, strict=True)):
                if place and left + own > width:
                    left, top = 0, top + BAND_ROW_PX
                lines.append(_PaletteRow(tier, code, left, top, own, BAND_ROW_PX))
                left += own
            left += theme.SPACE_M
        return lines

    def _tiers(self) -> Iterator[tuple[Tier, Sequence[Code]]]:
        if self._codebook is not None:
            for tier in self._codebook.tiers:
                yield tier, self._codebook.given(tier.name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def set_state(
        self, counts: Mapping[str, int], active: str, given: frozenset[str], open_: frozenset[str]
    ) -> None:
        """Show how often codes were given, which tier takes keys, which codes the current unit has,
        and which spans have begun."""
        self._counts, self._active, self._given, self._open = counts, active, given, open_
        self.update()

    def outside(self, top: int, bottom: int) -> list[str]:
        """The ids of codes that are not wholly between two heights."""
        return [
            line.code.id
            for line in self._lines
            if line.code and not (top <= line.top and line.top + line.height <= bottom)
        ]

    def place_of(self, code: str) -> tuple[int, int] | None:
        """The top and height of a code's row, for scrolling to it."""
        for line in self._lines:
            if line.code is not None and line.code.id == code:
                return line.top, line.height
        return None

    def sizeHint(self) -> QSize:
        return QSize(LEAST_WIDTH, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_WIDTH, self.height())

    def _at(self, place: QPointF) -> _PaletteRow | None:
        for line in self._lines:
            if QRectF(line.left, line.top, line.width, line.height).contains(place):
                return line
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        line = self._at(event.position())
        if line is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if line.code is None:
            self.tier_chosen.emit(line.tier.name)
        else:
            self.pressed.emit(line.code.id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        line = self._at(event.position())
        self.pointed.emit(line.code.id if line is not None and line.code is not None else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        for line in self._lines:
            box = QRectF(line.left, line.top, line.width, line.height)
            if line.code is None:
                self._paint_head(painter, box, line.tier)
            else:
                self._paint_code(painter, box, line.tier, line.code)

    def _paint_head(self, painter: QPainter, box: QRectF, tier: Tier) -> None:
        p = self._palette
        active = tier.name == self._active
        write_with(painter, color(p.accent if active else p.secondary), SECTION_PX, True)
        low = int(Qt.AlignmentFlag.AlignVCenter)
        text = _head(tier, active=active)
        width = metrics(SECTION_PX, True).horizontalAdvance(text)
        painter.drawText(box, low, text)
        if self._most_rows:
            return
        write_with(painter, color(p.secondary), 10, True)
        room = max(0.0, box.width() - width - theme.SPACE_S)
        hint = metrics(10, True).elidedText(how(tier), Qt.TextElideMode.ElideRight, room)
        painter.drawText(box, low | int(Qt.AlignmentFlag.AlignRight), hint)

    def _paint_code(self, painter: QPainter, box: QRectF, tier: Tier, code: Code) -> None:
        p = self._palette
        active = tier.name == self._active
        if code.id in self._given or code.id in self._open:
            ground = color(code.colour)
            soft = color(p.card).toRgb()
            soft.setRedF(0.82 * soft.redF() + 0.18 * ground.redF())
            soft.setGreenF(0.82 * soft.greenF() + 0.18 * ground.greenF())
            soft.setBlueF(0.82 * soft.blueF() + 0.18 * ground.blueF())
            equip(painter, Qt.PenStyle.NoPen, soft)
            painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), 5, 5)
        middle = box.center().y()
        cap = QRectF(box.left() + 5, middle - CAP_PX / 2, CAP_PX + 2, CAP_PX)
        equip(painter, pen(p.accent if active else p.hairline), color(p.card))
        painter.drawRoundedRect(cap, 5, 5)
        write_with(painter, color(p.ink if active else p.secondary), 12, True)
        painter.drawText(cap, int(Qt.AlignmentFlag.AlignCenter), code.key.upper())
        dot = QRectF(cap.right() + 8, middle - DOT_PX / 2, DOT_PX, DOT_PX)
        equip(painter, Qt.PenStyle.NoPen, color(code.colour))
        if code.kind == "point":
            painter.drawEllipse(dot)
        else:
            painter.drawRoundedRect(dot, 3, 3)
        count = "●" if code.id in self._open else number(f"{self._counts.get(code.id, 0):,}")
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.alarm if code.id in self._open else p.secondary))
        right = box.right() - 6
        room = right - metrics(theme.SECONDARY_PX).horizontalAdvance(count) - dot.right() - 16
        name = metrics(NAME_PX).elidedText(code.name, Qt.TextElideMode.ElideRight, room)
        if self._most_rows:  # the count stands behind the name, as words do
            right = dot.right() + 14 + metrics(NAME_PX).horizontalAdvance(name)
            right += metrics(theme.SECONDARY_PX).horizontalAdvance(count)
        low = Qt.AlignmentFlag.AlignVCenter
        place = QRectF(box.left(), box.top(), right - box.left(), box.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | low), count)
        write_with(painter, color(p.ink), NAME_PX)
        place = QRectF(dot.right() + 8, box.top(), room, box.height())
        painter.drawText(place, int(low), name)


def _head(tier: Tier, *, active: bool) -> str:
    return ("▸ " if active else "") + tier.title.upper()


class CodePalette(QWidget):
    """Codes above; the current unit's facts and the focused code's definition below, of a band in
    one line."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._codes: dict[str, Code] = {}
        self._focused = ""
        self.rows = CodeRows(palette)
        self._scroll = bits.Scrolling(self.rows, ROW_PX)
        self.unit_head = bits.label(tr("palette.this_unit").upper(), "section")
        self.facts = bits.label(role="secondary", wrap=True)
        self.code_head = bits.ElidedLabel(role="section")
        self.definition = bits.label(role="fact", wrap=True)
        below = QWidget()
        column = bits.column(below, theme.SPACE_XS)
        bits.fill(column, self.unit_head, self.facts)
        column.addSpacing(theme.SPACE_XS)
        bits.fill(column, self.code_head, self.definition, 1)
        self._below = bits.Scrolling(below, BELOW_PX)
        self.line = bits.ElidedLabel(role="secondary")
        self.line.hide()
        bits.fill(bits.column(self, theme.SPACE_XS), (self._scroll, 1), self._below, self.line)
        self.rows.pointed.connect(self._show_definition)
        self.rows.arranged.connect(self._fit)

    @property
    def column_height(self) -> int:
        """How high it is with all codes below each other, nothing scrolled."""
        return self.rows.column_height + theme.SPACE_XS + BELOW_PX

    def hidden_codes(self) -> list[str]:
        """The ids of codes that have to be scrolled to."""
        top = self._scroll.verticalScrollBar().value()
        return self.rows.outside(top, top + self._scroll.viewport().height())

    def set_band(self, most_rows: int) -> None:
        """Be a band of so many rows at most, and a line about unit and code; 0: a column."""
        self._below.setVisible(not most_rows)
        self.line.setVisible(bool(most_rows))
        self.rows.set_band(most_rows)

    def _fit(self) -> None:
        """Other things give way: the codes are seen."""
        self._scroll.setMinimumHeight(self.rows.least_height)
        self._scroll.setMaximumHeight(self.rows.height())

    def set_codebook(self, codebook: Codebook) -> None:
        self._codes = {code.id: code for code in codebook.codes}
        self.rows.set_codebook(codebook)
        self._show_definition("")

    def set_focused(self, code: str) -> None:
        """Show the definition of a code, and bring its row into sight."""
        self._focused = code
        self._show_definition("")
        if (place := self.rows.place_of(code)) is not None:
            self._scroll.ensureVisible(0, place[0] + place[1] // 2, 0, place[1] // 2)

    def set_facts(self, text: str) -> None:
        """Say what is known of the current unit."""
        bits.set_text(self.facts, text)
        self._show_definition("")

    def _show_definition(self, pointed: str) -> None:
        code = self._codes.get(pointed or self._focused)
        self.code_head.set_full("" if code is None else code.name.upper())
        text = "" if code is None else definition(code)
        bits.set_text(self.definition, text)
        said = "" if code is None else f"{code.name}: {' · '.join(text.splitlines())}"
        # What the pointer rests on is wanted now; the facts are there again once it has gone.
        self.line.set_full("   ".join(filter(None, ("" if pointed else self.facts.text(), said))))


def definition(code: Code) -> str:
    """When a code is given, when not, and examples."""
    lines = [code.when] if code.when else []
    if code.not_:
        lines.append(tr("palette.not_when", when=code.not_))
    if any(code.examples):
        lines.append(" · ".join(f"“{text}”" for text in code.examples))
    return "\n".join(lines) or tr("palette.no_definition")
