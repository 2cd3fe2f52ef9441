"""The bar above the replay: whose session it is, in a few words what is to be known of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QFrame, QWidget

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.widgets.buttons import Button

MOST_CHIP_PX = 220
CHIP_EDGE_PX = 6
TRYING_MS = 2500
"""So long it takes at most until a loudspeaker is open, or is not."""


class Header(QFrame):
    """The title, chips, and on the right what is added to it."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.title = bits.label(title, "brand")
        self._chips: list[Chip] = []
        self._row = bits.row(self, theme.SPACE_S, (theme.SPACE_L, theme.SPACE_S) * 2)
        self._row.addWidget(self.title)
        self._row.addStretch(1)
        self.set_low(False)

    @property
    def chips(self) -> list[str]:
        """The texts of the chips."""
        return [chip.full() for chip in self._chips]

    def set_chips(self, texts: Sequence[str]) -> None:
        """Show these chips instead of those that are there."""
        if list(texts) == self.chips:
            return
        for chip in self._chips:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [Chip(text) for text in texts]
        for place, chip in enumerate(self._chips, start=1):
            self._row.insertWidget(place, chip)

    def set_low(self, low: bool) -> None:
        """Whether it is as low as can be."""
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._row.setContentsMargins(theme.SPACE_L, edge, theme.SPACE_L, edge)
        self.setMinimumHeight(theme.TARGET_HEIGHT + 2 * edge)

    def add(self, widget: QWidget) -> None:
        """Put something on the right."""
        self._row.addWidget(widget)


class Chip(bits.ElidedLabel):
    """A few words in a frame; shortened where there is no room."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "pill")
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Preferred)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        wide = self.fontMetrics().horizontalAdvance(self.full()) + 2 * theme.SPACE_S + CHIP_EDGE_PX
        return QSize(min(wide, MOST_CHIP_PX), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.SPACE_XXL, super().minimumSizeHint().height())


def without_sound(why: str) -> str:
    """What is told where no loudspeaker is open, in the language that is spoken."""
    safe = tr("The replay goes on by the computer’s clock, without sound.")
    todo = tr("Plug in a loudspeaker or choose one in the system’s sound settings, then try again.")
    return f"{why} {safe} {todo}"


class Notices(QFrame):
    """Sentences on what cannot be shown, until they are put away; in a low window one line of them,
    until more is asked for.

    Signals
    -------
    again_pressed()
        What went wrong is to be tried again.
    """

    again_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._low = False
        self.setProperty("role", "band")
        self.setProperty("tone", "warn")
        self.text = bits.label(role="secondary", wrap=True)
        self.line = bits.ElidedLabel(role="secondary")
        self.again = Button(tr("Try again"), "compact")
        self.again.hide()
        self._trying = QTimer(self)
        self._trying.setSingleShot(True)
        self._trying.setInterval(TRYING_MS)
        self.more = Button(tr("More"), "compact")
        self.more.setCheckable(True)
        self.away = Button(tr("Hide"), "compact")
        self._row = bits.row(self, theme.SPACE_M)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.line, 1)
        for button in (self.again, self.more, self.away):
            self._row.addWidget(button)
        self.more.toggled.connect(self._fold)
        self.away.clicked.connect(self.hide)
        self.again.clicked.connect(self._try)
        self._trying.timeout.connect(lambda: self.again.setEnabled(True))
        self._fold()
        self.hide()

    def set_sentences(self, sentences: Sequence[str], *, can_try: bool = False) -> None:
        """Show these; nothing where there are none. can_try: whether something of it can be tried
        again."""
        self.again.setVisible(can_try)
        bits.set_text(self.text, " ".join(dict.fromkeys(sentences)))
        self.line.set_full(self.text.text())
        self.setVisible(bool(sentences))

    def set_low(self, low: bool) -> None:
        """Whether there is room for one line alone."""
        self._low = low
        self._fold()

    def _try(self) -> None:
        self.again.setEnabled(False)  # until it is known what came of it
        self._trying.start()
        self.again_pressed.emit()

    def _fold(self) -> None:
        folded = self._low and not self.more.isChecked()
        self.line.setVisible(folded)
        self.text.setVisible(not folded)
        self.more.setVisible(self._low)
        self.more.setText(tr("Less") if self.more.isChecked() else tr("More"))
        edge = 0 if self._low else theme.SPACE_XS
        self._row.setContentsMargins(theme.SPACE_M, edge, theme.SPACE_M if edge else 0, edge)
