"""The home's checklist with the controls that make its rows green, and Start."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from labapp.audio.devices import Device
from labapp.audio.recorder import Level
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.checklist import LSL, ORDER, PICTURES, Readiness, Row, ScreenChoice
from labapp.ui.moderator.combo import Combo
from labapp.ui.moderator.level_bars import LevelBars
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.painting import metrics

TITLES = {
    "microphone": N_("Microphone"),
    "screen": N_("Participant’s screen"),
    "decoders": N_("Models"),
    PICTURES: N_("Pictures"),
    "disk": N_("Disk"),
    "consent": N_("Consent text"),
    LSL: N_("LSL"),
}
TITLE_WIDTH, NARROW_WIDTH, LEAST_HEIGHT = 116, 420, 120
TONES = {"ok": "", "warn": "warn", "missing": "alarm", "busy": ""}


class RowView(QWidget):
    """Icon, title and finding; on the right the row's control, and below them its choice. In a
    narrow row the finding comes below the title.
    """

    def __init__(
        self,
        palette: Palette,
        title: str,
        control: QWidget | None = None,
        choice: QWidget | None = None,
    ) -> None:
        super().__init__()
        self.icon = bits.StatusIcon(palette)
        self.text = bits.label(wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.name = bits.label(title, "strong", wrap=True)
        self._control, self._choice = control, choice
        self._narrow: bool | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, theme.SPACE_S, 0, theme.SPACE_S)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._grid.setColumnStretch(2, 1)
        self._arrange(narrow=False)

    def minimumSizeHint(self) -> QSize:
        """As wide as it must be while it is narrow: what it is arranged like now keeps no column
        of the page from giving way."""
        icon, between = self.icon.sizeHint().width(), theme.SPACE_M
        control = 0 if self._control is None else between + self._control.sizeHint().width()
        choice = 0 if self._choice is None else self._choice.minimumSizeHint().width()
        width = icon + between + max(TITLE_WIDTH + control, choice)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(narrow=self.width() < NARROW_WIDTH)

    def _arrange(self, *, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        top, line = Qt.AlignmentFlag.AlignTop, int(narrow)
        self.name.setMinimumWidth(TITLE_WIDTH)
        self.name.setMaximumWidth(self.width() if narrow else TITLE_WIDTH)
        self._grid.addWidget(self.icon, 0, 0, 2, 1, top)
        self._grid.addWidget(self.name, 0, 1, 1 if narrow else 2, 1, top)
        self._grid.addWidget(self.text, line, 1 if narrow else 2, 1, 3 if narrow else 1, top)
        if self._control is not None:
            aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            self._grid.addWidget(self._control, 0, 3, aligned)
        if self._choice is not None:
            self._grid.addWidget(self._choice, line + 1, 1 if narrow else 2, 1, 3 if narrow else 2)

    def show_row(self, row: Row) -> None:
        self.icon.set_state(row.state)
        bits.set_property(self.text, "tone", TONES[row.state])
        bits.set_text(self.text, row.text)


class ReadyCard(QFrame):
    """audio_device_changed(spec or None), screen_changed(name), show_cards, read_consent, start."""

    audio_device_changed = Signal(object)
    screen_changed = Signal(str)
    show_cards = Signal()
    read_consent = Signal()
    start = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.device = Combo(palette, tr("Microphone"))
        self.bars = LevelBars(palette, 16, QSize(72, 24))
        self.bars.setFixedWidth(72)
        self.screen_choice = Combo(palette, tr("Participant’s screen"))
        self.cards = Button(tr("Show numbers"))
        self.cards.setToolTip(tr("Show a number on each screen for a few seconds"))
        self.read = Button(tr("Read"))
        self.read.setAccessibleName(tr("Read the consent text"))
        self.why = bits.label(role="secondary", wrap=True)
        self.start_button = Button(tr("Start session"))
        self.start_button.setProperty("role", "primary")
        self.start_button.setMinimumHeight(44)
        self.start_button.setMinimumWidth(150)
        for button in (self.cards, self.read):
            button.setProperty("role", "link")
        controls = {
            "microphone": (self.bars, self.device),
            "screen": (self.cards, self.screen_choice),
            "consent": (self.read, None),
        }
        self.rows = {
            key: RowView(palette, tr(title), *controls.get(key, ()))
            for key, title in TITLES.items()
        }

        layout = bits.column(self, 0, theme.SPACE_XL)
        layout.addWidget(bits.label(tr("Ready?"), "title"))
        layout.addSpacing(theme.SPACE_XS)
        checked = QWidget()
        column = bits.column(checked, 0)
        for index, key in enumerate(ORDER):
            if index:
                column.addWidget(bits.hairline())
            column.addWidget(self.rows[key])
            if key == "decoders":
                self._above_pictures = bits.hairline()
                column.addWidget(self._above_pictures)
                column.addWidget(self.rows[PICTURES])
        self._above_lsl = bits.hairline()
        column.addWidget(self._above_lsl)
        column.addWidget(self.rows[LSL])
        column.addStretch(1)
        layout.addWidget(bits.Scrolling(checked, LEAST_HEIGHT), 1)  # Start stays in sight below it
        self._above_pictures.hide()
        self.rows[PICTURES].hide()
        self._above_lsl.hide()
        self.rows[LSL].hide()
        # What the microphone hears changes all the time; the rows below must not move with it.
        self.rows["microphone"].text.setMinimumHeight(2 * ceil(metrics().lineSpacing()))
        layout.addWidget(bits.hairline())
        layout.addSpacing(theme.SPACE_L)
        foot = bits.row(None, theme.SPACE_L)
        foot.addWidget(self.why, 1)
        foot.addWidget(self.start_button)
        layout.addLayout(foot)

        self.device.activated.connect(
            lambda index: self.audio_device_changed.emit(self.device.itemData(index))
        )
        self.screen_choice.activated.connect(
            lambda index: self.screen_changed.emit(str(self.screen_choice.itemData(index)))
        )
        self.cards.clicked.connect(self.show_cards)
        self.read.clicked.connect(self.read_consent)
        self.start_button.clicked.connect(self.start)

    def set_audio(self, policy: str, devices: Sequence[Device] | None, current: str | None) -> None:
        """policy: the study's `recording.audio`; without sound is a choice where it allows it;
        devices: None before they were looked for."""
        choices: list[tuple[str, str | None]] = []
        if policy != "off":
            choices = [(f"{d.label} · {d.host_api}", d.spec) for d in devices or ()]
        if devices is None:
            choices = [(tr("Checking …"), None)]
        elif policy != "required":
            choices.append((tr("Off: record without sound"), None))
        elif not choices:
            choices.append((tr("No microphone was found"), None))
        self.device.set_choices(choices, current)
        self.device.setVisible(policy != "off")
        self.bars.setVisible(policy != "off" and current is not None)

    def set_screens(self, screens: Sequence[ScreenChoice], chosen: str | None) -> None:
        self.screen_choice.set_choices([(s.label, s.name) for s in screens], chosen)

    def set_level(self, level: Level | None) -> None:
        """What the microphone hears now; None: nothing listens."""
        self.bars.set_peaks(level.envelope if level else ())

    def set_rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.key in self.rows:
                self.rows[row.key].show_row(row)
                self.rows[row.key].setVisible(bool(row.text))
        # Studies have decoders, pictures, or both.
        both = not (self.rows["decoders"].isHidden() or self.rows[PICTURES].isHidden())
        self._above_pictures.setVisible(both)
        self._above_lsl.setVisible(not self.rows[LSL].isHidden())

    def set_readiness(self, verdict: Readiness, *, starting: bool) -> None:
        """starting: the session is being opened; Start waits."""
        self.start_button.setEnabled(verdict.ready and not starting)
        self.start_button.setText(tr("Starting …") if starting else tr("Start session"))
        bits.set_text(self.why, tr("Opening the session.") if starting else verdict.why)
