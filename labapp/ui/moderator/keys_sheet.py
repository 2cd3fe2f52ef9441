"""The list of a window's keys, over that window.

It is made of the shortcuts that the window has, each with its own words (`QShortcut.whatsThis`), so
that it always names the keys that work. It takes clicks and no key: the keyboard stays with the
person who has it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QMouseEvent, QShortcut
from PySide6.QtWidgets import QFrame, QGridLayout, QMainWindow, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits

KEY = "F1"
WIDTH = 560
"""In logical pixels, where the window has the room."""
NAMES = {"Ctrl": N_("key.ctrl"), "Shift": N_("key.shift")}


def name_key(sequence: QKeySequence) -> str:
    """A key as it is written on keyboards of the language that is spoken."""
    keys = sequence.toString(QKeySequence.SequenceFormat.PortableText).split("+")
    return "+".join(tr(NAMES[key]) if key in NAMES else key for key in keys)


class KeysSheet(QFrame):
    """Shown and put away by its key, and put away by a click."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window.centralWidget())
        self._window = window
        self.setProperty("role", "sheet")
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, theme.SPACE_S, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        around = (theme.SPACE_XL, theme.SPACE_L, theme.SPACE_XL, theme.SPACE_L)
        inside = QWidget()
        inside.setLayout(self._grid)
        self._area = bits.Scrolling(inside)
        self._title = bits.label(tr("keys.title"), "title")
        self._foot = bits.label(tr("keys.close", key=KEY), "secondary", wrap=True)
        bits.fill(
            bits.column(self, theme.SPACE_M, around), self._title, (self._area, 1), self._foot
        )
        self.hide()

    def toggle(self) -> None:
        """Show the list, or put it away."""
        if not self.isHidden():
            self.hide()
            return
        while (item := self._grid.takeAt(0)) is not None:
            if (line_part := item.widget()) is not None:
                line_part.deleteLater()
        for line, (key, text) in enumerate(self.lines()):
            self._grid.addWidget(bits.label(key, "key"), line, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(bits.label(text, wrap=True), line, 1)
        self._grid.setColumnStretch(1, 1)
        self.show()
        self.place()
        self.raise_()

    def lines(self) -> list[tuple[str, str]]:
        """Each key of the window, and what it does."""
        shortcuts = self._window.findChildren(QShortcut)
        return [(name_key(shortcut.key()), shortcut.whatsThis()) for shortcut in shortcuts]

    def place(self) -> None:
        """In the middle of the window, and inside it."""
        if self.isHidden():
            return
        room = (self._window.centralWidget() or self._window).size()
        gap = theme.SPACE_L
        width = min(WIDTH, room.width() - 2 * gap)
        inside = width - 2 * theme.SPACE_XL
        height = self._grid.totalHeightForWidth(inside) + self._foot.heightForWidth(inside)
        height += self._title.sizeHint().height() + 2 * (theme.SPACE_M + theme.SPACE_L)
        height = min(height, room.height() - 2 * gap)
        self.setFixedSize(width, height)
        self.move((room.width() - width) // 2, (room.height() - height) // 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hide()
