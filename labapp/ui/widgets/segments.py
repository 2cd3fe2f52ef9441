"""Options as joined segments, in a row or one below the other, and a question with its options.

Also stimulus views: pictures magnified by a whole number of device pixels, and what they share.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from itertools import combinations
from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QImage,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.widgets import controls, painting
from labapp.ui.widgets.choice import Choice
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.painting import (
    Array,
    Pixels,
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
from labapp.ui.widgets.photo_view import scale_image

HEIGHT = theme.TARGET_HEIGHT + 4
LINE = 18
"""Logical pixels from line to line of an option that takes several."""
PAD = 8
LINES_MOST = 3
MARKS = re.compile(r"</?[iu]>")
ROUND_WIDTH = 28
"""Room of the round mark of options that stand one below the other."""
MISSING, MISSING_WIDTH = "▸", 14
"""The mark of a missing answer, and the room kept for it."""


def strip_marks(text: str) -> str:
    """An option without its marks."""
    return MARKS.sub("", text)


def format_marks(text: str) -> str:
    """An option as HTML in which its marks alone count: any other tag is text."""
    return re.sub(r"&lt;(/?[iu])&gt;", r"<\1>", html.escape(text, quote=False))


class Segments(Choice):
    """Options that are looked over before one is taken. They may name italics and underlining
    (`<i>`, `<u>`).

    each: logical pixels of a segment; None: as wide as its words in as many lines as `lines`. px:
    of the type.
    """

    looked_over = True

    def __init__(
        self,
        texts: Sequence[str],
        palette: theme.Palette,
        name: str,
        *,
        upright: bool = False,
        each: int | None = None,
        lines: int = 1,
        px: int = theme.BODY_PX,
    ) -> None:
        super().__init__(palette, name)
        self._upright, self._each, self._lines_wanted, self._px = upright, each, lines, px
        self.texts: tuple[str, ...] = ()
        self._laid_out: list[tuple[QTextDocument, QTextDocument]] = []
        self._widths: list[int] = []
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_texts(texts)

    def show_texts(self, texts: Sequence[str]) -> None:
        """What can be chosen."""
        if tuple(texts) == self.texts:
            return
        self.texts = tuple(texts)
        self._laid_out = [
            (self._words(text, bold=False), self._words(text, bold=True)) for text in texts
        ]
        self._widths = self._measure()
        self._high = max(HEIGHT, self._lines() * LINE + theme.SPACE_M)
        # Before the size, which places the options: there may be fewer by now.
        self.show_options([strip_marks(text) for text in texts])
        self.setFixedSize(self.sizeHint())

    def _words(self, text: str, *, bold: bool) -> QTextDocument:
        """An option, laid out: static text would lose its underlining."""
        words = QTextDocument(self)
        words.setDocumentMargin(0)
        words.setDefaultFont(font(self._px, bold=bold))
        side = Qt.AlignmentFlag.AlignLeft if self._upright else Qt.AlignmentFlag.AlignHCenter
        option = QTextOption(side)
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        words.setDefaultTextOption(option)
        words.setHtml(format_marks(text))
        return words

    def _measure(self) -> list[int]:
        texts = [strip_marks(text) for text in self.texts]
        measure = metrics(self._px, bold=True)
        whole = [ceil(measure.horizontalAdvance(text)) for text in texts]
        if self._upright:
            widest = max(self._each or 0, *(wide + 2 * PAD + ROUND_WIDTH for wide in whole))
            return [widest] * len(texts)
        if self._each is not None:
            return [self._each] * len(texts)
        lines, px = self._lines_wanted, self._px
        return [max(HEIGHT, find_wrapped_width(text, lines, px) + 2 * PAD) for text in texts]

    def _lines(self) -> int:
        needed = 1
        for (_, strong), wide in zip(self._laid_out, self._widths, strict=True):
            strong.setTextWidth(wide - 2 * PAD - (ROUND_WIDTH if self._upright else 0))
            needed = max(needed, round(strong.size().height() / metrics(self._px).lineSpacing()))
        return min(needed, LINES_MOST)

    def sizeHint(self) -> QSize:
        if self._upright:
            return QSize(self._widths[0] + 2, self._high * len(self.texts) + 2)
        return QSize(sum(self._widths) + 2, self._high + 2)

    def box(self, index: int) -> QRectF:
        if self._upright:
            return QRectF(1, 1 + index * self._high, self._widths[0], self._high)
        return QRectF(1 + sum(self._widths[:index]), 1, self._widths[index], self._high)

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        paint_frame(painter, QRectF(self.rect()), p, p.card if self.isEnabled() else p.ground)
        for index in range(1, len(self.texts)):
            box = self.box(index)
            painter.setPen(pen(p.hairline))
            end = box.topRight() if self._upright else box.bottomLeft()
            painter.drawLine(box.topLeft(), end)
        for index in range(len(self.texts)):
            self._paint_option(painter, index)
        if self.hasFocus():
            # Inside the frame: which option the keys are at.
            inner = self.box(self._at).adjusted(2, 2, -2, -2)
            draw_focus_ring(painter, inner, theme.RADIUS - 2, p.accent)

    def _paint_option(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index == self.index
        able = self.isEnabled()
        if on or index == self._hover:
            painter.setPen(pen(p.accent if on else p.track, 1.4) if able else pen(p.secondary))
            painter.setBrush(brush(p.accent_soft if on and able else p.card))
            inner = box.adjusted(2, 2, -2, -2)
            painter.drawRoundedRect(inner, theme.RADIUS - 2, theme.RADIUS - 2)
        left = box.left() + PAD
        if self._upright:
            self._paint_round(painter, QPointF(box.left() + PAD + 8, box.center().y()), on=on)
            left += ROUND_WIDTH
        words = self._laid_out[index][on]
        words.setTextWidth(box.right() - left - PAD)
        context = QAbstractTextDocumentLayout.PaintContext()
        tone = p.secondary if not able else p.accent if on else p.ink
        context.palette.setColor(QPalette.ColorRole.Text, color(tone))
        painter.save()
        painter.translate(left, box.center().y() - words.size().height() / 2)
        words.documentLayout().draw(painter, context)
        painter.restore()

    def _paint_round(self, painter: QPainter, at: QPointF, *, on: bool) -> None:
        p = self._colors
        strong = p.accent if self.isEnabled() else p.secondary
        equip(painter, pen(strong if on else p.secondary, 1.4), brush(strong if on else p.card))
        painter.drawEllipse(at, 8.0, 8.0)
        if on:
            equip(painter, Qt.PenStyle.NoPen, brush(p.on_accent))
            painter.drawEllipse(at, 3.5, 3.5)


class Views(Choice):
    """A choice between views, equally wide; the first is shown at first. changed(index): the hand
    asks for another one. Space and Enter go to the next one."""

    changed = Signal(int)
    first_digit = None

    def __init__(self, texts: Sequence[str], palette: theme.Palette, name: str) -> None:
        super().__init__(palette, name)
        self._texts = tuple(texts)
        widths = [metrics(bold=True).horizontalAdvance(text) for text in texts]
        self._each = round(max(widths)) + 2 * theme.SPACE_L
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_options(texts)
        self.show_index(0)
        self.chosen.connect(self._turn)

    def _turn(self, index: int) -> None:
        self.show_index(index)
        self.changed.emit(index)

    def sizeHint(self) -> QSize:
        return QSize(self._each * len(self._texts) + 2, theme.TARGET_HEIGHT + 2)

    def pressed_by(self, key: Qt.Key) -> int:
        return (self._at + 1) % len(self._texts)

    def box(self, index: int) -> QRectF:
        return QRectF(1 + index * self._each, 1, self._each, theme.TARGET_HEIGHT)

    def paint(self, painter: QPainter) -> None:
        p, whole = self._colors, QRectF(self.rect())
        paint_frame(painter, whole, p, p.card)
        for index, text in enumerate(self._texts):
            box, on = self.box(index), index == self.index
            if on:
                equip(painter, pen(p.accent), brush(p.accent_soft))
                inner = box.adjusted(1.5, 1.5, -1.5, -1.5)
                painter.drawRoundedRect(inner, theme.RADIUS - 2, theme.RADIUS - 2)
            write_with(painter, color(p.accent if on else p.ink), bold=on)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        if self.hasFocus():
            draw_focus_ring(painter, whole, theme.RADIUS, p.accent)


def paint_frame(painter: QPainter, whole: QRectF, p: theme.Palette, ground: str) -> None:
    """The frame round joined segments."""
    equip(painter, pen(p.hairline), brush(ground))
    painter.drawRoundedRect(whole.adjusted(0.5, 0.5, -0.5, -0.5), theme.RADIUS, theme.RADIUS)


def find_wrapped_width(text: str, lines: int, px: int, *, bold: bool = True) -> int:
    """Logical pixels that a text needs in at most so many lines, broken at its spaces."""
    measure, words = metrics(px, bold), text.split()
    parts = (" ".join(words[a:b]) for a, b in combinations(range(len(words) + 1), 2))
    for wide in sorted({ceil(measure.horizontalAdvance(part)) for part in parts}):
        used, line = 1, ""
        for word in words:
            longer = f"{line} {word}".strip()
            if measure.horizontalAdvance(longer) <= wide:
                line = longer
            else:
                used, line = used + 1, word
                if measure.horizontalAdvance(word) > wide:
                    used = lines + 1
        if used <= lines:
            return wide + 2
    return 0


class MissingMark(QLabel):
    """The mark of a missing answer, in room kept for it. mark(missing, label): show it or not, and
    the label in its tone."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(MISSING_WIDTH)
        self.setProperty("tone", "warn")

    @property
    def missing(self) -> bool:
        """Whether an answer is marked as missing."""
        return bool(self.text())

    def mark(self, missing: bool, label: QLabel | None = None) -> None:
        """Show the mark or not, and a label in its tone."""
        if missing == self.missing:
            return
        self.setText(MISSING if missing else "")
        if label is not None:
            restyle(label, "tone", "warn" if missing else "")


class QuestionRow(QWidget):
    """A question and its options. answered(place, device): the hand wants the option at this place,
    from 1.

    mark_missing tells, by tone and a mark in room kept for it, that an answer is missing. strong:
    the question is a main one; what else there is, is of `Segments`.
    """

    answered = Signal(int, str)

    def __init__(
        self,
        text: str,
        options: Sequence[str],
        palette: theme.Palette,
        *,
        strong: bool = False,
        upright: bool = False,
        each: int | None = None,
        lines: int = 1,
        px: int = theme.BODY_PX,
    ) -> None:
        super().__init__()
        self.mark = MissingMark()
        self.label = controls.make_label(text, wrap=True)
        if strong:
            self.label.setProperty("role", "strong")
        self.choice = Segments(
            options, palette, text, upright=upright, each=each, lines=lines, px=px
        )
        self.choice.chosen.connect(lambda index, device: self.answered.emit(index + 1, device))
        words = controls.row(None, 0)
        controls.fill(words, (self.mark, Qt.AlignmentFlag.AlignTop), (self.label, 1))
        below = QHBoxLayout()
        below.addSpacing(MISSING_WIDTH)
        controls.fill(below, self.choice, 1)
        layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        controls.fill(layout, words, below)

    @property
    def needed_width(self) -> int:
        """Logical pixels that its options need, below the question."""
        return MISSING_WIDTH + self.choice.width()

    @property
    def missing(self) -> bool:
        """Whether it is marked as not answered."""
        return self.mark.missing

    def show_answer(self, place: int | None) -> None:
        """Show what the session says, from 1; None: nothing is answered."""
        self.choice.show_index(None if place is None else place - 1)

    def mark_missing(self, missing: bool) -> None:
        """Tell, by tone and mark, that this still needs an answer."""
        self.mark.mark(missing, self.label)

    def entrance(self) -> QWidget:
        """What takes the focus."""
        return self.choice


LEAST_SIDE = 320
"""Pictures are at least so many logical pixels wide where the window allows it."""


def magnification(pixels: int, side: float, ratio: float) -> int:
    """The largest whole number of device pixels a picture pixel can take in `side` logical
    pixels on a screen with this pixel ratio; at least 1."""
    return max(1, math.floor(side * ratio / pixels + 1e-6))


def picture_side(pixels: int, side: float, ratio: float) -> float:
    """Logical pixels that a picture of so many pixels takes when it is given `side`."""
    return pixels * magnification(pixels, side, ratio) / ratio


def too_large(pixels: int, side: float, ratio: float) -> bool:
    """Whether so many picture pixels have not a device pixel each in `side` logical pixels."""
    return pixels > math.floor(side * ratio + 1e-6)


def shrink_to_fit(image: QImage, where: QRectF, widget: QWidget) -> QImage:
    """The picture as it is drawn at this place of a widget: itself, or, where it has more pixels
    than its place, made smaller by their means."""
    size = _device_size(where, widget)
    return image if size.width() >= image.width() else scale_image(image, size)


def _device_size(where: QRectF, widget: QWidget) -> QSize:
    return (where.size() * widget.devicePixelRatioF()).toSize()


SMALLEST_SIDE = 96.0
"""Logical pixels of a picture that can be drawn at any size, where there is no room for it."""


class StimulusView(Picture):
    """Base of the views. painted: called at the end of each paintEvent, inside it."""

    def __init__(self, palette: theme.Palette, name: str) -> None:
        super().__init__()
        self.painted: Callable[[], None] | None = None
        self._colors = palette
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def side_for(self, side: float) -> float:
        """The logical pixels it would fill when given `side`, at the screen's pixel ratio. A window
        may have no room at all; then it scrolls."""
        return max(SMALLEST_SIDE, math.floor(side))

    def set_side(self, side: float) -> None:
        """Take a square of so many logical pixels, and a hairline round it."""
        whole = math.ceil(side) + 2
        if self.width() != whole or self.height() != whole:
            self.setFixedSize(QSize(whole, whole))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint(painter)
        painter.end()
        if self.painted is not None:
            self.painted()

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError


class ImageView(StimulusView):
    """One picture, or two as an overlay.

    shape: rows and columns of the pictures. binary: pictures are shown rounded. two_hues: how an
    overlay tells own from target (False: 50 % transparency, as published).
    """

    def __init__(
        self,
        shape: tuple[int, int],
        palette: theme.Palette,
        name: str,
        *,
        binary: bool,
        two_hues: bool,
    ) -> None:
        super().__init__(palette, name)
        rows, columns = shape
        self._binary = binary
        self._two_hues = two_hues
        # What is shown, 0xffRRGGBB.
        self.pixels: Pixels = np.full((rows, columns), 0xFF808080, dtype=np.uint32)
        self._small: QImage | None = None
        # The image looks at the array's memory: showing a picture allocates nothing.
        form = QImage.Format.Format_RGB32
        self._image = QImage(self.pixels.data, columns, rows, 4 * columns, form)

    def side_for(self, side: float) -> float:
        pixels, ratio = max(self.pixels.shape), self.devicePixelRatioF()
        if too_large(pixels, max(side, SMALLEST_SIDE), ratio):
            return super().side_for(side)
        return picture_side(pixels, side, ratio)

    def show_picture(self, picture: Array) -> None:
        """Show one picture, float32 of the view's shape."""
        if self._binary:
            painting.binary(picture, self.pixels)
        else:
            painting.plain(picture, self.pixels)
        self._on_change()

    def show_overlay(self, own: Array, target: Array) -> None:
        """Show two pictures in one."""
        if self._binary:
            own, target = painting.round_to_binary(own), painting.round_to_binary(target)
        compose = painting.two_hues if self._two_hues else painting.half_and_half
        compose(own, target, self.pixels)
        self._on_change()

    def _on_change(self) -> None:
        self._small = None
        self.update()

    def target_rect(self) -> QRectF:
        """Where the picture is drawn, in logical pixels, on whole device pixels of the window."""
        ratio = self.devicePixelRatioF()
        rows, columns = self.pixels.shape
        most = max(rows, columns)
        room = min(self.width() - 2, self.height() - 2)
        small = too_large(most, room, ratio)
        factor = room * ratio / most if small else magnification(most, room, ratio)
        wide, high = max(1, round(columns * factor)), max(1, round(rows * factor))
        return painting.centre_on_pixels(self, wide, high)

    def paint(self, painter: QPainter) -> None:
        where = self.target_rect()
        painter.fillRect(self.rect(), brush(self._colors.hairline))
        painter.drawImage(where, self._fitting(where))

    def _fitting(self, where: QRectF) -> QImage:
        if self._small is None or self._small.size() != _device_size(where, self):
            self._small = shrink_to_fit(self._image, where, self)
        return self._small
