"""The line below the header: alarms, or that all is well. It always takes the same room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.state.alarms import Alarm
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

HEIGHT = 36
MOST = 3
ICON_PX = 16


class _Chip(QFrame):
    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.key = ""
        self.icon = bits.StatusIcon(palette, "warn", ICON_PX)
        self.text = bits.ElidedLabel(role="secondary")
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
        self.text.set_full(alarm.sentence)
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
        self.text = bits.ElidedLabel(role="secondary")
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
        self.setFixedHeight(HEIGHT)
        self._alarms = False
        self.chips = [_Chip(palette) for _ in range(MOST)]
        self.more = bits.label(role="secondary")
        self.well = QWidget()
        calm = bits.row(self.well, theme.SPACE_S, (theme.SPACE_M, 0, 0, 0))
        calm.addWidget(bits.StatusIcon(palette, "ok", ICON_PX))
        calm.addWidget(bits.label(tr("All is well"), "secondary"))
        calm.addStretch(1)
        row = bits.row(self, theme.SPACE_S)
        row.addWidget(self.well, 1)
        self.keyboard = _KeyboardChip(palette)
        self.keyboard.back.clicked.connect(self.keyboard_back)
        self.keyboard.hide()
        row.addWidget(self.keyboard, 1)
        for chip in self.chips:
            chip.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
            chip.dismiss.clicked.connect(lambda _=False, chip=chip: self.dismissed.emit(chip.key))
            row.addWidget(chip, 1)
            chip.hide()
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignVCenter)
        self.more.hide()

    def show_keyboard(self, where: str) -> None:
        """Say where the keyboard is, unless the participant has it."""
        text = KEYBOARD.get(where, "")
        if text:
            self.keyboard.text.set_full(tr(text))
        self.keyboard.back.setVisible(where not in ("waiting", "refused"))
        self.keyboard.setVisible(bool(text))
        self._show_well()

    def _show_well(self) -> None:
        self.well.setVisible(not self._alarms and self.keyboard.isHidden())

    def show_alarms(self, alarms: Sequence[Alarm]) -> None:
        """The gravest first; those without room are counted."""
        self._alarms = bool(alarms)
        self._show_well()
        for index, chip in enumerate(self.chips):
            chip.setVisible(index < len(alarms))
            if index < len(alarms):
                chip.show_alarm(alarms[index])
        hidden = alarms[MOST:]
        self.more.setVisible(bool(hidden))
        bits.set_text(self.more, tr("and {n} more", n=len(hidden)))
        self.more.setToolTip("\n".join(alarm.sentence for alarm in hidden))
