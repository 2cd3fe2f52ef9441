"""The palette: the codebook's tiers and codes with their keys, and what the focused code means.

Below stand the facts of the current unit; they say nothing of how its question ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from labapp.annotations.codebook import Code, Codebook, Tier
from labapp.ui import theme
from labapp.ui.language import number, tr
from labapp.ui.moderator import bits
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import color, font, metrics, pen

ROW_PX, HEAD_PX = 28, 30
CAP_PX = 22
DOT_PX = 10
SECTION_PX = 12
LEAST_WIDTH, COLUMN_WIDTH = 190, 176
BELOW_PX = 116
"""Of facts and definition: the codes have what is left."""


@dataclass(frozen=True, slots=True)
class _Line:
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
        return tr("A DIGIT A UNIT") if tier.on == "units" else tr("A DIGIT")
    if tier.on == "spans":
        return tr("PRESS, PRESS AGAIN")
    return tr("ONE A UNIT") if tier.exclusive else tr("SEVERAL A UNIT")


class CodeRows(QWidget):
    """Tiers and codes, drawn.

    Signals
    -------
    pressed(str) : a code was clicked: its id.
    tier_chosen(str) : a tier was clicked: its name.
    pointed(str) : the pointer is over a code, '' over none.
    """

    pressed = Signal(str)
    tier_chosen = Signal(str)
    pointed = Signal(str)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._lines: list[_Line] = []
        self._codebook: Codebook | None = None
        self._counts: Mapping[str, int] = {}
        self._active = ""
        self._given: frozenset[str] = frozenset()
        self._open: frozenset[str] = frozenset()
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Codes of this codebook"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_codebook(self, codebook: Codebook) -> None:
        """Show the codes of a codebook that are in use."""
        self._codebook = codebook
        self._arrange()

    def _arrange(self) -> None:
        """Tiers below each other; of a tier as many codes beside each other as there is room for,
        ordered downwards."""
        if self._codebook is None:
            return
        lines: list[_Line] = []
        top, width = 0, max(self.width(), LEAST_WIDTH)
        columns = max(1, width // COLUMN_WIDTH)
        for tier in self._codebook.tiers:
            lines.append(_Line(tier, None, 0, top, width, HEAD_PX))
            top += HEAD_PX
            codes = self._codebook.given(tier.name)
            rows = -(-len(codes) // columns)
            each = width // columns
            for place, code in enumerate(codes):
                column, row = divmod(place, rows)
                lines.append(_Line(tier, code, column * each, top + row * ROW_PX, each, ROW_PX))
            top += rows * ROW_PX
        self._lines = lines
        self.setFixedHeight(max(top, ROW_PX))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def set_state(
        self,
        counts: Mapping[str, int],
        active: str,
        given: frozenset[str],
        open_: frozenset[str],
    ) -> None:
        """Show how often codes were given, which tier takes keys, which codes the current unit has,
        and which spans have begun."""
        self._counts, self._active, self._given, self._open = counts, active, given, open_
        self.update()

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

    def _at(self, place: QPointF) -> _Line | None:
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
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in self._lines:
            box = QRectF(line.left, line.top, line.width, line.height)
            if line.code is None:
                self._paint_head(painter, box, line.tier)
            else:
                self._paint_code(painter, box, line.tier, line.code)

    def _paint_head(self, painter: QPainter, box: QRectF, tier: Tier) -> None:
        p = self._palette
        active = tier.name == self._active
        painter.setFont(font(SECTION_PX, True))
        painter.setPen(color(p.accent if active else p.secondary))
        low = int(Qt.AlignmentFlag.AlignVCenter)
        text = ("▸ " if active else "") + tier.title.upper()
        width = metrics(SECTION_PX, True).horizontalAdvance(text)
        painter.drawText(box, low, text)
        painter.setPen(color(p.secondary))
        painter.setFont(font(10, True))
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
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(soft)
            painter.drawRoundedRect(box.adjusted(0, 1, 0, -1), 5, 5)
        middle = box.center().y()
        cap = QRectF(box.left() + 5, middle - CAP_PX / 2, CAP_PX + 2, CAP_PX)
        painter.setPen(pen(p.accent if active else p.hairline))
        painter.setBrush(color(p.card))
        painter.drawRoundedRect(cap, 5, 5)
        painter.setPen(color(p.ink if active else p.secondary))
        painter.setFont(font(12, True))
        painter.drawText(cap, int(Qt.AlignmentFlag.AlignCenter), code.key.upper())
        dot = QRectF(cap.right() + 8, middle - DOT_PX / 2, DOT_PX, DOT_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color(code.colour))
        if code.kind == "point":
            painter.drawEllipse(dot)
        else:
            painter.drawRoundedRect(dot, 3, 3)
        count = "●" if code.id in self._open else number(f"{self._counts.get(code.id, 0):,}")
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.alarm if code.id in self._open else p.secondary))
        right = box.adjusted(0, 0, -6, 0)
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(right, flags, count)
        room = right.right() - metrics(theme.SECONDARY_PX).horizontalAdvance(count) - dot.right()
        painter.setFont(font(theme.BODY_PX - 1))
        painter.setPen(color(p.ink))
        name = metrics(theme.BODY_PX - 1).elidedText(
            code.name, Qt.TextElideMode.ElideRight, room - 18
        )
        place = QRectF(dot.right() + 8, box.top(), room, box.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), name)


class CodePalette(QWidget):
    """Codes above; the current unit's facts and the focused code's definition below."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._codes: dict[str, Code] = {}
        self._focused = ""
        self.rows = CodeRows(palette)
        self._scroll = bits.Scrolling(self.rows, ROW_PX * 4)
        self.unit_head = bits.label(tr("This unit").upper(), "section")
        self.facts = bits.label(role="secondary", wrap=True)
        self.code_head = bits.ElidedLabel(role="section")
        self.definition = bits.label(role="fact", wrap=True)
        below = QWidget()
        column = bits.column(below, theme.SPACE_XS)
        for widget in (self.unit_head, self.facts, self.code_head, self.definition):
            if widget is self.code_head:
                column.addSpacing(theme.SPACE_XS)
            column.addWidget(widget)
        column.addStretch(1)
        self._below = bits.Scrolling(below, BELOW_PX)
        self._layout: QVBoxLayout = bits.column(self, theme.SPACE_S)
        self._layout.addWidget(self._scroll, 1)
        self._layout.addWidget(self._below)
        self.rows.pointed.connect(self._show_definition)

    def part(self) -> QWidget:
        """Give away what stands below the codes, to be shown elsewhere."""
        self._layout.removeWidget(self._below)
        self._below.setMinimumHeight(0)
        return self._below

    def join(self) -> None:
        """Take back what was given away."""
        self._layout.addWidget(self._below)
        self._below.show()

    def set_codebook(self, codebook: Codebook) -> None:
        """Show the codes of a codebook."""
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

    def _show_definition(self, pointed: str) -> None:
        code = self._codes.get(pointed or self._focused)
        self.code_head.set_full("" if code is None else code.name.upper())
        bits.set_text(self.definition, "" if code is None else definition(code))


def definition(code: Code) -> str:
    """When a code is given, when not, and examples."""
    lines: list[str] = []
    parts: tuple[tuple[str, Callable[[], str]], ...] = (
        (code.when, lambda: code.when),
        (code.not_, lambda: tr("Not: {when}", when=code.not_)),
        ("".join(code.examples), lambda: " · ".join(f"“{text}”" for text in code.examples)),
    )
    lines.extend(text() for present, text in parts if present)
    return "\n".join(lines) or tr("It has no definition yet.")
