"""Rows of the list of units: what stands in them, how their words wrap, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from labapp.annotations.model import Unit
from labapp.ui import theme
from labapp.ui.theme import Palette
from labapp.ui.widgets.painting import color, font, metrics, pen

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
class Chip:
    """A code on a unit.

    Attributes
    ----------
    text : the code's name.
    colour : `#rrggbb`; empty for what is no code of the codebook, which is shown without a ground.
    memo : whether there is a memo on it.
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

    Attributes
    ----------
    unit : with its times and speaker.
    time : of its beginning, as it is shown.
    text : its words.
    chips : its codes.
    doubtful : the places of words of which a recogniser was not sure.
    veiled : whether it has not been heard yet, and its words are not shown.
    """

    unit: Unit
    time: str
    text: str = ""
    chips: tuple[Chip, ...] = ()
    doubtful: frozenset[int] = frozenset()
    veiled: bool = False

    @property
    def shown(self) -> str:
        """The words that are shown."""
        return VEILED if self.veiled else self.text


@lru_cache(maxsize=50_000)
def _advance(word: str, px: int) -> float:
    return metrics(px).horizontalAdvance(word)


def wrap(words: Sequence[str], width: float, px: int = TEXT_PX) -> list[tuple[int, int]]:
    """The lines of a text, each as the half-open stretch of its words; at least one line."""
    space = _advance(" ", px)
    lines: list[tuple[int, int]] = []
    begin, used = 0, 0.0
    for place, word in enumerate(words):
        needed = _advance(word, px)
        if place > begin and used + space + needed > width:
            lines.append((begin, place))
            begin, used = place, needed
        else:
            used += needed + (space if place > begin else 0.0)
    lines.append((begin, len(words)))
    return lines


def chip_text(chip: Chip, width: float) -> str:
    """What stands in a chip: cut short where there is no room."""
    text = chip.text + (MEMO if chip.memo else "")
    return metrics(CHIP_PX, True).elidedText(text, Qt.TextElideMode.ElideRight, width)


def chips_width(width: float) -> float:
    """How wide the column of chips is in a row of that width."""
    return max(64.0, min(150.0, width * CHIPS_SHARE))


def chip_lines(chips: Sequence[Chip], width: float) -> list[list[tuple[Chip, float]]]:
    """Chips with their widths, in lines that are set from the right."""
    lines: list[list[tuple[Chip, float]]] = [[]]
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
    """Draw a row into its box."""
    if current:
        inside = box.adjusted(1, 1, -1, -1)
        painter.setPen(pen(p.accent, 2.0))
        painter.setBrush(color(p.accent_soft))
        painter.drawRoundedRect(inside, theme.RADIUS, theme.RADIUS)
    top, left = box.top() + pad, box.left() + PAD
    painter.setFont(font(theme.SECONDARY_PX))
    painter.setPen(color(p.secondary))
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
    painter.setFont(font(TEXT_PX))
    painter.setPen(color(p.secondary if quiet else p.ink))
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
                painter.drawLine(
                    QPointF(x, base), QPointF(x + _advance(words[place], TEXT_PX), base)
                )
                painter.setPen(color(p.ink))


def _paint_chips(painter: QPainter, box: QRectF, row: UnitRow, p: Palette) -> None:
    right = box.right() - PAD - 2
    top = box.top() + (LINE_PX - CHIP_HEIGHT) / 2
    width = chips_width(box.width())
    if not row.chips:
        painter.setFont(font(theme.SECONDARY_PX))
        painter.setPen(color(p.secondary))
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


def paint_chip(painter: QPainter, box: QRectF, chip: Chip, p: Palette) -> None:
    """Draw a chip into its box."""
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
