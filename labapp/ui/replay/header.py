"""The bar above the replay: whose session it is, in a few words what is to be known of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QWidget

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.widgets.buttons import Button

MOST_CHIP_PX = 220
CHIP_EDGE_PX = 6


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
        self.setMinimumHeight(48)

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


class Notices(QFrame):
    """Sentences on what cannot be shown, until they are put away.

    Signals
    -------
    hidden()
        They were put away.
    """

    hidden = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setProperty("tone", "warn")
        self.text = bits.label(role="secondary", wrap=True)
        self.away = Button(tr("Hide"), "compact")
        row = bits.row(self, theme.SPACE_M, (theme.SPACE_M, theme.SPACE_XS) * 2)
        row.addWidget(self.text, 1)
        row.addWidget(self.away)
        self.away.clicked.connect(self._put_away)
        self.hide()

    def set_sentences(self, sentences: Sequence[str]) -> None:
        """Show these; nothing where there are none."""
        bits.set_text(self.text, " ".join(dict.fromkeys(sentences)))
        self.setVisible(bool(sentences))

    def _put_away(self) -> None:
        self.hide()
        self.hidden.emit()
