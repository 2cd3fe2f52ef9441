"""The switches of a model's concepts: off, as the model has it, or on, with the model's belief as a
bar below.

How long a picture stays: a thin bar and the seconds that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON, is_predicted_on
from labapp.models.stimuli.manifest import Concept
from labapp.ui import theme
from labapp.ui.participant.screen import DialControl
from labapp.ui.strings import Strings
from labapp.ui.widgets.choice import COMMANDS, Choice
from labapp.ui.widgets.controls import Picture, PlainLabel
from labapp.ui.widgets.painting import (
    brush,
    color,
    draw_focus_ring,
    equip,
    metrics,
    pen,
    restyle,
    write_with,
)
from labapp.ui.widgets.segments import find_wrapped_width, paint_frame

HEIGHT = theme.TOUCH_HEIGHT
LEAST_WIDTH, LONG_WORD = 72, 90
"""Logical pixels of an option; a longer word of the model's is written small."""


class SwitchMeasures(NamedTuple):
    """Logical pixels of a switch: of its words, and of the bar below it."""

    words: int
    bar: int
    gap: int
    knob: float

    @property
    def high(self) -> int:
        """Of all of it, down."""
        return HEIGHT + 2 + self.gap + 2 * round(self.knob)


MEASURES = {
    False: SwitchMeasures(theme.BODY_PX, 6, 5, 5.0),
    True: SwitchMeasures(theme.SECONDARY_PX, 4, 1, 3.0),
}
"""By whether room is tight. Then words are small and never bold, and what the middle option means
stands once above all switches."""
SET_MARK = "✓"
MIDDLE = 1
"""The place of the option that leaves a concept to the model; the words stand left and right."""
SETS = {Qt.Key.Key_Left: 0, Qt.Key.Key_Right: 2}
"""The keys that set a switch, and the place of the option that each chooses."""
_ROWS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class ConceptSwitch(Choice):
    """One concept. chosen(place, device): the hand wants another of its `states`; left_for(step):
    it goes to the switch above (-1) or below (1).

    The left and right arrow keys set what is written on that side, 0 gives it back to the model:
    each key means one state, whatever the switch stands at, so that no state is passed on the way
    to another.
    """

    left_for = Signal(int)
    first_digit = None

    def __init__(self, concept: Concept, words: Strings, palette: theme.Palette) -> None:
        super().__init__(palette, concept.name)
        self._concept = concept
        self.states = (OFF, AS_IT_IS, ON) if concept.right == "on" else (ON, AS_IT_IS, OFF)
        self._caption = words("concept_as_model")
        self._words = words
        self._belief = 0.5
        self._pending = False
        self._widths = (LEAST_WIDTH,) * len(self.states)
        self._tight = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._words_of = {OFF: concept.off, ON: concept.on}
        self.show_options([self._words_of.get(state, self._caption) for state in self.states])
        self.show_index(MIDDLE)

    def needed_widths(self, tight: bool) -> tuple[int, ...]:
        """Logical pixels that each of its options needs, a long word in two lines."""
        words, px = [self._words_of[state] for state in self.states[::2]], MEASURES[tight].words
        left, right = (
            find_wrapped_width(f"{SET_MARK} {word}", 2, px, bold=not tight) for word in words
        )
        caption = metrics(theme.SECONDARY_PX).horizontalAdvance(self._caption)
        if tight:
            model = max(caption, *(find_wrapped_width(word, 2, px, bold=False) for word in words))
        else:
            sizes = [(word, self._model_px(word)) for word in words]
            model = max(caption, *(metrics(px, bold=True).horizontalAdvance(w) for w, px in sizes))
        room = 2 * theme.SPACE_XS + (2 if tight else theme.SPACE_S)
        return tuple(max(LEAST_WIDTH, ceil(wide) + room) for wide in (left, model, right))

    def set_form(self, tight: bool, widths: Sequence[int]) -> None:
        """Make the options so many logical pixels wide."""
        self._tight, self._widths = tight, tuple(widths)
        self.setFixedSize(self.sizeHint())
        self.place_options()
        self.update()

    @staticmethod
    def _model_px(word: str) -> int:
        """How large a word stands under the caption."""
        long = metrics(bold=True).horizontalAdvance(word) > LONG_WORD
        return theme.SECONDARY_PX if long else theme.BODY_PX

    @property
    def model_word(self) -> str:
        return self._concept.on if is_predicted_on(self._belief) else self._concept.off

    def show_belief(self, belief: float) -> None:
        """Show how sure the model is, from 0 (off) to 1 (on)."""
        self._belief = belief
        sure = round(100 * max(belief, 1 - belief))
        text = self._words("concept_model_sees", word=self.model_word, percent=sure)
        self.options[MIDDLE].setAccessibleName(text)
        self.update()

    def show_state(self, state: int, *, pending: bool) -> None:
        """Show what it is set to; pending: it was chosen, and is not shown yet."""
        self.show_index(self.states.index(state))
        if pending != self._pending:
            self._pending = pending
            self.update()

    def middle_x(self, state: float) -> float:
        """Where the middle of a state is, in logical pixels of the widget."""
        return self.box(self.states.index(round(state))).center().x()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        pressed = not event.modifiers() & COMMANDS and not event.isAutoRepeat()
        if pressed and key in _ROWS:
            self.left_for.emit(_ROWS[key])
        elif pressed and not self.locked and (key in SETS or event.text() == "0"):
            self.ask(SETS.get(key, MIDDLE), "keyboard")
        else:
            event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(sum(self._widths) + 2, MEASURES[self._tight].high)

    def box(self, index: int) -> QRectF:
        return QRectF(1 + sum(self._widths[:index]), 1, self._widths[index], HEIGHT)

    def paint(self, painter: QPainter) -> None:
        p = self._colors
        frame = QRectF(0, 0, self.width(), HEIGHT + 2)
        paint_frame(painter, frame, p, p.card)
        for index in range(1, len(self.states)):
            painter.setPen(pen(p.hairline))
            painter.drawLine(self.box(index).topLeft(), self.box(index).bottomLeft())
        for index in range(len(self.states)):
            self._paint_option(painter, index)
        self._paint_belief(painter, MEASURES[self._tight], frame.bottom())
        if self.hasFocus():
            draw_focus_ring(painter, frame, theme.RADIUS, p.accent)

    def _paint_option(self, painter: QPainter, index: int) -> None:
        p, box, on = self._colors, self.box(index), index == self.index
        if on or index == self._hover:
            dashed = on and self._pending
            tone = p.accent if on else p.track
            painter.setPen(pen(tone, 2.0 if dashed else 1.4, dashed=dashed))
            painter.setBrush(brush(p.accent_soft if on else p.card))
            painter.drawRoundedRect(box.adjusted(2, 2, -2, -2), theme.RADIUS - 2, theme.RADIUS - 2)
        centre = Qt.AlignmentFlag.AlignCenter
        tone = p.accent if on else p.secondary if self.locked else p.ink
        if index == MIDDLE and not self._tight:
            upper, lower = box.adjusted(0, 4, 0, -box.height() / 2), box.adjusted(0, 20, 0, -2)
            write_with(painter, color(p.accent if on else p.secondary), theme.SECONDARY_PX)
            painter.drawText(upper, centre, self._caption)
            write_with(painter, color(tone), self._model_px(self.model_word), on)
            painter.drawText(lower, centre, self.model_word)
            return
        word = self._words_of.get(self.states[index], self.model_word)
        write_with(painter, color(tone), MEASURES[self._tight].words, bold=on and not self._tight)
        text = f"{SET_MARK} {word}" if on and index != MIDDLE else word
        inside = box.adjusted(theme.SPACE_XS, 0, -theme.SPACE_XS, 0)
        painter.drawText(inside, centre | Qt.TextFlag.TextWordWrap, text)

    def _paint_belief(self, painter: QPainter, measures: SwitchMeasures, below: float) -> None:
        """A bar from the middle, where the model is unsure, to the side of what it sees."""
        p, high, knob = self._colors, measures.bar, measures.knob
        y = below + measures.gap + knob
        left, middle, right = (self.box(place).center().x() for place in range(len(self.states)))
        half = min(middle - left, right - middle)
        track = QRectF(middle - half, y - high / 2, 2 * half, high)
        equip(painter, Qt.PenStyle.NoPen, brush(p.track))
        painter.drawRoundedRect(track, high / 2, high / 2)
        tone = p.accent if self.index == MIDDLE else p.secondary
        share = self._belief if self.states[-1] == ON else 1 - self._belief
        at = track.left() + share * track.width()
        filled = QRectF(min(middle, at), track.top(), abs(at - middle), high)
        painter.fillRect(filled, brush(tone))
        painter.fillRect(QRectF(middle - 0.5, y - knob, 1, 2 * knob), brush(p.secondary))
        equip(painter, Qt.PenStyle.NoPen, brush(tone))
        painter.drawEllipse(QPointF(at, y), knob, knob)


class SwitchPanel(QWidget):
    """The switches of all concepts, one below the other. wanted(concept, to, device): the hand
    wants a concept, from 0, set to a state."""

    wanted = Signal(int, int, str)

    def __init__(
        self, concepts: Sequence[Concept], words: Strings, palette: theme.Palette, *, ticks: bool
    ) -> None:
        """ticks: whether it is marked which concepts were set, as all of them are to be."""
        super().__init__()
        self._ticks = ticks
        self.switches = [ConceptSwitch(concept, words, palette) for concept in concepts]
        self.numbers = [PlainLabel(f"{number}") for number in range(1, len(concepts) + 1)]
        self.names = [PlainLabel(concept.name) for concept in concepts]
        self.caption = PlainLabel(words("concept_as_model"), self)
        self.caption.setProperty("role", "secondary")
        self.caption.setAlignment(Qt.AlignmentFlag.AlignCenter)
        digits = [metrics(theme.SECONDARY_PX).horizontalAdvance(f"{mark}8") for mark in "▸✓"]
        self._number_width = ceil(max(digits)) + 2
        middle = Qt.AlignmentFlag.AlignVCenter
        for row, switch in enumerate(self.switches):
            number, name = self.numbers[row], self.names[row]
            number.setProperty("role", "secondary")
            number.setAlignment(middle | Qt.AlignmentFlag.AlignRight)
            name.setAlignment(middle | Qt.AlignmentFlag.AlignLeft)
            for widget in (number, name, switch):
                widget.setParent(self)
            switch.chosen.connect(
                lambda place, device, row=row, states=switch.states: self.wanted.emit(
                    row, states[place], device
                )
            )
            switch.left_for.connect(lambda step, row=row: self.go_to(row + step))

    def _option_widths(self, tight: bool) -> list[int]:
        needed = (switch.needed_widths(tight) for switch in self.switches)
        return [max(column) for column in zip(*needed, strict=True)]

    def _name_width(self, tight: bool) -> int:
        texts = [name.text() for name in self.names]
        if tight:
            return max(
                find_wrapped_width(text, 2, theme.SECONDARY_PX, bold=False) for text in texts
            )
        return ceil(max(map(metrics().horizontalAdvance, texts))) + 2

    def needed_width(self, tight: bool) -> int:
        gap = theme.SPACE_XS if tight else theme.SPACE_S
        names = self._number_width + self._name_width(tight) + 2 * gap
        return names + sum(self._option_widths(tight)) + 2

    def needed_height(self, tight: bool, gap: int) -> int:
        """Logical pixels down, with so many between two switches."""
        rows = len(self.switches) * (MEASURES[tight].high + gap) - gap
        return rows + self._head_height(tight)

    @staticmethod
    def _head_height(tight: bool) -> int:
        return ceil(metrics(theme.SECONDARY_PX).height()) if tight else 0

    def set_form(self, tight: bool, gap: int) -> None:
        """Take the room that it needs, with so many logical pixels between two switches."""
        widths, high = self._option_widths(tight), MEASURES[tight].high
        self.setFixedSize(self.needed_width(tight), self.needed_height(tight, gap))
        left, y = self.width() - sum(widths) - 2, self._head_height(tight)
        self.caption.setVisible(tight)
        self.caption.setGeometry(left + 1 + widths[0], 0, widths[1], y)
        gap_across = theme.SPACE_XS if tight else theme.SPACE_S
        beside = self._number_width + gap_across
        for number, name, switch in zip(self.numbers, self.names, self.switches, strict=True):
            restyle(name, "role", "secondary" if tight else "")
            name.setWordWrap(tight)
            number.setGeometry(0, y, self._number_width, HEIGHT + 2)
            name.setGeometry(beside, y, left - beside - gap_across, HEIGHT + 2)
            switch.set_form(tight, widths)
            switch.move(left, y)
            y += high + gap

    def go_to(self, concept: int) -> None:
        """Bring the focus to a switch, where there is one that can be set."""
        if 0 <= concept < len(self.switches) and not self.switches[concept].locked:
            self.switches[concept].setFocus(Qt.FocusReason.OtherFocusReason)

    def show_states(
        self, states: Sequence[int], pending: tuple[int, int] | None, *, locked: bool, remind: bool
    ) -> None:
        """Show what is set. pending: the concept that is chosen and to what; locked: nothing can be
        set now; remind: what is not set is marked as missing."""
        for concept, (switch, state) in enumerate(zip(self.switches, states, strict=True)):
            chosen = pending is not None and pending[0] == concept
            switch.set_locked(locked)
            switch.show_state(pending[1] if pending and chosen else state, pending=chosen)
            if self._ticks:
                mark = SET_MARK if state != AS_IT_IS else "▸" if remind else ""
                text = f"{mark}{concept + 1}"
                if self.numbers[concept].text() != text:
                    self.numbers[concept].setText(text)

    def controls(self) -> dict[int, DialControl]:
        """See `Screen.dial_controls`; a concept's value is its state."""
        return {i: DialControl(made, made.middle_x) for i, made in enumerate(self.switches)}


BAR_HEIGHT = 4
LOOK_MS = 250


class TimeLeft(Picture):
    """The time is asked for when it is painted, so that a picture of it is right at any moment.

    left_s: gives the seconds that are left, None before the time runs; limit_s: of them all; ticks:
    whether it follows the clock by itself, which where it is only read nobody needs.
    """

    def __init__(
        self,
        left_s: Callable[[], float | None],
        limit_s: float,
        words: Strings,
        palette: theme.Palette,
        *,
        ticks: bool,
    ) -> None:
        super().__init__()
        self._left_s, self._limit_s, self._words = left_s, limit_s, words
        self._colors = palette
        self._ticks = ticks
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.update)
        self.setAccessibleName(words("concept_time"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(self.sizeHint().height())

    @property
    def text(self) -> str:
        return self._text_of(ceil(self._share() * self._limit_s))

    @property
    def needed_width(self) -> int:
        text = self._text_of(ceil(self._limit_s))
        return ceil(metrics(theme.SECONDARY_PX).horizontalAdvance(text)) + 2

    def _text_of(self, left_s: int) -> str:
        minutes, seconds = divmod(left_s, 60)
        return self._words("concept_time_left", time=f"{minutes}:{seconds:02d}")

    def _share(self) -> float:
        """How much of the time is left, 0 to 1."""
        left_s = self._left_s()
        return 1.0 if left_s is None else min(max(left_s / self._limit_s, 0.0), 1.0)

    def sizeHint(self) -> QSize:
        return QSize(160, BAR_HEIGHT + theme.SPACE_XS + ceil(metrics(theme.SECONDARY_PX).height()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._ticks:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        p, share, text = self._colors, self._share(), self.text
        if self.accessibleDescription() != text:
            self.setAccessibleDescription(text)
        painter = QPainter(self)
        painter.fillRect(QRectF(0, 0, self.width(), BAR_HEIGHT), brush(p.track))
        painter.fillRect(QRectF(0, 0, share * self.width(), BAR_HEIGHT), brush(p.secondary))
        write_with(painter, color(p.secondary), theme.SECONDARY_PX)
        below = QRectF(self.rect()).adjusted(0, BAR_HEIGHT + theme.SPACE_XS, 0, 0)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
