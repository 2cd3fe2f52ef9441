"""All keys, laid over the window: it is only looked at, and the keys go on working below it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.replay.keys import ACTIONS, KeyMap
from labapp.ui.widgets.buttons import Button

TITLES = {"replay": N_("Replay"), "code": N_("Coding"), "text": N_("Words")}
COLUMN_WIDTH = 330
"""Logical pixels of a column of keys."""
MARGIN = theme.SPACE_XL
HEAD_PX = 90
"""What the card needs besides the keys."""


class KeySheet(QFrame):
    """A card over the window with every key and what it does."""

    def __init__(self, window: QWidget, keys: KeyMap) -> None:
        super().__init__(window)
        self._columns = 0
        self._keys = keys
        self._coding = False
        self.setProperty("role", "sheet")
        self.setAccessibleName(tr("All keys"))
        layout = bits.column(self, theme.SPACE_M, theme.SPACE_L)
        head = bits.row(None, theme.SPACE_M)
        head.addWidget(bits.label(tr("All keys"), "title"), 1)
        self.leave = Button(tr("Close"), "compact")
        self.leave.clicked.connect(self.hide)
        head.addWidget(self.leave)
        layout.addLayout(head)
        self._inside = QWidget()
        self._grid = QGridLayout(self._inside)
        self._grid.setContentsMargins(0, 0, theme.SPACE_M, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        layout.addWidget(bits.Scrolling(self._inside, 120), 1)
        window.installEventFilter(self)
        self.hide()

    def set_coding(self, coding: bool) -> None:
        """Show the keys of coding, too."""
        self._coding, self._columns = coding, 0
        if self.isVisible():
            self._place()

    def toggle(self) -> None:
        """Show it, or hide it."""
        if self.isVisible():
            self.hide()
            return
        self._place()
        self.show()
        self.raise_()

    def _rows(self) -> list[tuple[str, str]]:
        """Keys and what they do; without keys a heading."""
        rows: list[tuple[str, str]] = []
        sections = ("code", "text", "replay") if self._coding else ("replay",)
        for section in sections:
            actions = {
                action: words
                for action, words in ACTIONS[section].items()
                if self._keys.keys(action)
            }
            if actions and self._coding:
                rows.append(("", tr(TITLES[section])))
            for action, words in actions.items():
                texts = [stroke.text() for stroke in self._keys.keys(action)]
                rows.append(("   ".join(texts), tr(words)))
        return rows

    def _fill(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        rows = self._rows()
        high = -(-len(rows) // columns)
        for place, (keys, words) in enumerate(rows):
            column, row = divmod(place, high)
            if not keys:
                self._grid.addWidget(bits.label(words, "section"), row, column * 2, 1, 2)
                continue
            self._grid.addWidget(bits.label(keys, "key"), row, column * 2)
            self._grid.addWidget(bits.label(words, "fact", wrap=True), row, column * 2 + 1)
        for column in range(columns):
            self._grid.setColumnStretch(column * 2 + 1, 1)

    def _place(self) -> None:
        window = self.parentWidget()
        assert window is not None
        room = window.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        self._fill(max(1, min(3, room.width() // COLUMN_WIDTH)))
        height = self._inside.sizeHint().height() + HEAD_PX
        room.setHeight(min(room.height(), height))
        self.setGeometry(room)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent() and self.isVisible():
            self._place()
        return False
