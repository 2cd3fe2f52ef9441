"""Below the header: a line for each alarm, with what to do, or that all is well."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.state.alarms import Alarm
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

HEIGHT = 36
MOST = 4
"""Alarms that are shown before the others are asked for."""
ICON_PX = 16
TWICE_S = 0.8
"""A second click so soon is meant for the line that has just moved away."""


class _Chip(QFrame):
    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.key = ""
        self.icon = bits.StatusIcon(palette, "warn", ICON_PX)
        self.text = bits.label(role="secondary", wrap=True)
        self.dismiss = Button(tr("Dismiss"))
        self.dismiss.setProperty("role", "chip")
        self.dismiss.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = bits.row(self, theme.SPACE_S, (theme.SPACE_M, 0, theme.SPACE_XS, 0))
        row.addWidget(self.icon)
        row.addWidget(self.text, 1)
        row.addWidget(self.dismiss)

    def show_alarm(self, alarm: Alarm) -> None:
        self.key = alarm.key
        loud = alarm.severity == "alarm"
        self.icon.set_state("missing" if loud else "warn")
        bits.set_property(self, "tone", alarm.severity)
        bits.set_property(self.text, "tone", alarm.severity)
        bits.set_text(self.text, alarm.sentence)
        self.dismiss.setAccessibleName(tr("Dismiss: {alarm}", alarm=alarm.sentence))


KEYBOARD: dict[str, str] = {
    "waiting": N_("The participant gets the keyboard once all keys are released."),
    "writing": N_("You have the keyboard, not the participant. Enter saves, Esc gives it back."),
    "asking": N_("You have the keyboard until you answer or close the question (Esc)."),
    "front": N_("The participant has neither view nor keyboard. Ctrl+Shift+M gives both back."),
    "console": N_("The participant has no keyboard."),
    "refused": N_("The system keeps the keyboard here: click into the participant’s window."),
    "elsewhere": N_("Another program has the keyboard: click into the participant’s window."),
}
"""What is said of the keyboard by where it is (`labapp.ui.keyboard.Standing`)."""


class _KeyboardChip(QFrame):
    """Says that the participant has no keyboard; back: gives it."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setProperty("tone", "warn")
        self.text = bits.label(role="secondary", wrap=True)
        self.text.setProperty("tone", "warn")
        self.back = Button(tr("Give back"))
        self.back.setProperty("role", "chip")
        self.back.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = bits.row(self, theme.SPACE_S, (theme.SPACE_M, 0, theme.SPACE_XS, 0))
        row.addWidget(bits.StatusIcon(palette, "warn", ICON_PX))
        row.addWidget(self.text, 1)
        row.addWidget(self.back)


class AlarmBar(QWidget):
    """dismissed(key): the moderator has seen an alarm; keyboard_back(): gives the participant the
    keyboard."""

    dismissed = Signal(str)
    keyboard_back = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._alarms: Sequence[Alarm] = ()
        self._all = False
        self._dismissed_s = 0.0
        self._palette = palette
        self.chips: list[_Chip] = []
        self.more = Button()
        self.more.setProperty("role", "chip")
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.clicked.connect(self._show_all)
        self.well = QWidget()
        calm = bits.row(self.well, theme.SPACE_S, (theme.SPACE_M, 0, 0, 0))
        calm.addWidget(bits.StatusIcon(palette, "ok", ICON_PX))
        calm.addWidget(bits.label(tr("All is well"), "secondary"))
        calm.addStretch(1)
        self._lines = bits.column(self, theme.SPACE_XS)
        self.keyboard = _KeyboardChip(palette)
        self.keyboard.back.clicked.connect(self.keyboard_back)
        self.keyboard.hide()
        for line in (self.well, self.keyboard):
            self._lines.addWidget(line)
        self._lines.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.hide()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As high as its lines are at this width: no end of a sentence is lost."""
        height = 0
        for line in (self.well, self.keyboard, *self.chips, self.more):
            if not line.isHidden():
                layout = line.layout()
                asks = line.sizeHint().height()
                if layout is not None and layout.hasHeightForWidth():
                    asks = layout.heightForWidth(self.width()) + 2 * theme.SPACE_XS
                line.setFixedHeight(max(HEIGHT, asks))
                height += line.height() + (self._lines.spacing() if height else 0)
        self.setFixedHeight(max(HEIGHT, height))

    def show_keyboard(self, where: str) -> None:
        """Say where the keyboard is, unless the participant has it."""
        text = KEYBOARD.get(where, "")
        if text:
            bits.set_text(self.keyboard.text, tr(text))
        self.keyboard.back.setVisible(where not in ("waiting", "refused"))
        self.keyboard.setVisible(bool(text))
        self._show_well()
        self._fit()

    def _show_well(self) -> None:
        self.well.setVisible(not self._alarms and self.keyboard.isHidden())

    def show_alarms(self, alarms: Sequence[Alarm]) -> None:
        """One line each, the gravest first; those beyond the first few are counted, and shown when
        asked for."""
        self._alarms = tuple(alarms)
        self._show_well()
        shown = self._alarms if self._all else self._alarms[:MOST]
        while len(self.chips) < len(shown):
            chip = _Chip(self._palette)
            chip.dismiss.clicked.connect(lambda _=False, chip=chip: self._dismiss(chip))
            self._lines.insertWidget(self._lines.count() - 1, chip)
            self.chips.append(chip)
        for index, chip in enumerate(self.chips):
            chip.setVisible(index < len(shown))
            if index < len(shown):
                chip.show_alarm(shown[index])
        hidden = len(self._alarms) - len(shown)
        self._all &= len(self._alarms) > MOST
        self.more.setVisible(bool(hidden))
        self.more.setText(tr("and {n} more", n=hidden))
        self._fit()

    def _show_all(self) -> None:
        self._all = True
        self.show_alarms(self._alarms)

    def _dismiss(self, chip: _Chip) -> None:
        now_s = time.monotonic()
        if now_s - self._dismissed_s > TWICE_S:
            self._dismissed_s = now_s
            self.dismissed.emit(chip.key)
