"""The timeline in its card, as a window has it."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.replay.timeline import Timeline
from labapp.ui.theme import Palette


class TimelineCard(QFrame):
    """The timeline in its card, with what a hand can do there."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.timeline = Timeline(palette)
        layout = bits.column(
            self, theme.SPACE_XS, (theme.SPACE_M, theme.SPACE_S, theme.SPACE_XS, theme.SPACE_XS)
        )
        head = QHBoxLayout()
        head.addWidget(bits.label(tr("TIMELINE"), "section"))
        head.addStretch(1)
        self.hint = bits.ElidedLabel(tr("wheel zooms, drag moves, click plays"), "secondary")
        head.addWidget(self.hint)
        head.addSpacing(theme.SPACE_S)
        layout.addLayout(head)
        layout.addWidget(self.timeline, 1)
