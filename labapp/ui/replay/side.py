"""The right of the window: the text, and panels beside it, or as tabs below it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QStackedWidget, QWidget

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.widgets.buttons import Button

PANEL_WIDTH = 236
"""Of the column of panels, in logical pixels."""
LEAST_TEXT = 260


class Card(QFrame):
    """A card with a heading on the left and a remark on the right of it."""

    def __init__(self, title: str, body: QWidget, remark: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.heading = bits.label(title.upper(), "section")
        self.remark = bits.ElidedLabel(remark, "section")
        self.remark.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._body = body
        layout = self._layout = bits.column(self, theme.SPACE_S)
        head = bits.row(None, theme.SPACE_S)
        head.addWidget(self.heading)
        head.addWidget(self.remark, 1)
        layout.addLayout(head)
        layout.addWidget(body, 1)
        self.set_low(False)

    def set_low(self, low: bool) -> None:
        """Whether there is little room: then it has no heading, and less round what it holds."""
        self.heading.setVisible(not low)
        self.remark.setVisible(not low)
        edge = theme.SPACE_XS if low else theme.SPACE_S
        self._layout.setContentsMargins(theme.SPACE_M, edge, theme.SPACE_M, edge)

    def set_remark(self, text: str) -> None:
        """Say something on the right of the heading."""
        self.remark.set_full(text.upper())

    @property
    def body(self) -> QWidget:
        """What the card holds."""
        return self._body

    def replace(self, title: str, body: QWidget) -> QWidget:
        """Hold something else; returns what it held."""
        before, self._body = self._body, body
        self._layout.replaceWidget(before, body)
        before.hide()
        before.setParent(None)
        self.heading.setText(title.upper())
        return before


class Side(QWidget):
    """The text, and panels: beside it where there is room, else as tabs below it.

    Attributes
    ----------
    text : Card
        The units with their text.
    """

    def __init__(self, text: QWidget) -> None:
        super().__init__()
        self.text = Card(tr("Said"), text)
        self._panels: list[tuple[str, QWidget]] = []
        self._cards: list[Card] = []
        self._wide: bool | None = None
        self._tabs: list[Button] = []
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.text)
        self._below = QFrame()
        self._below.setProperty("role", "card")
        below = bits.column(self._below, theme.SPACE_XS, (theme.SPACE_M, 0) + (theme.SPACE_M,) * 2)
        self._tab_row = bits.row(None, theme.SPACE_S)
        self._stack = QStackedWidget()
        below.addLayout(self._tab_row)
        below.addWidget(self._stack, 1)
        self.split.addWidget(self._below)
        self._beside = QWidget()
        self._column = bits.column(self._beside, theme.SPACE_M)
        self._beside.setFixedWidth(PANEL_WIDTH)
        row: QHBoxLayout = bits.row(self, theme.SPACE_M)
        row.addWidget(self.split, 1)
        row.addWidget(self._beside)
        self.split.setMinimumWidth(LEAST_TEXT)
        self.set_wide(True)

    @property
    def wide(self) -> bool:
        """Whether the panels stand beside the text."""
        return bool(self._wide)

    @property
    def panels(self) -> list[QWidget]:
        """The panels, in their order."""
        return [widget for _, widget in self._panels]

    def set_text(self, title: str, widget: QWidget) -> QWidget:
        """Show something else in the place of the text; returns what was there."""
        return self.text.replace(title, widget)

    def set_panels(self, panels: list[tuple[str, QWidget]]) -> None:
        """Show these panels, each with its title, instead of those that are there.

        Those that are not shown any more belong to the caller.
        """
        self._clear()
        for _, widget in self._panels:
            if widget not in [other for _, other in panels]:
                widget.setParent(None)
        self._panels = panels
        self._fill()

    def set_wide(self, wide: bool) -> None:
        """Whether there is room for the panels beside the text."""
        if wide != self._wide:
            self._clear()
            self._wide = wide
            self._fill()

    def show_panel(self, widget: QWidget) -> None:
        """Turn to a panel where they are tabs."""
        if not self._wide and widget in self.panels:
            self._tabs[self.panels.index(widget)].click()

    def _clear(self) -> None:
        """Take the panels out of wherever they are; they go on living."""
        for _, widget in self._panels:
            widget.hide()
            widget.setParent(self)
        for card in self._cards:
            card.setParent(None)
            card.deleteLater()
        for tab in self._tabs:
            self._tab_row.removeWidget(tab)
            tab.deleteLater()
        while self._tab_row.count():
            self._tab_row.takeAt(0)
        self._cards, self._tabs = [], []

    def _fill(self) -> None:
        self._beside.setVisible(bool(self._wide and self._panels))
        self._below.setVisible(bool(not self._wide and self._panels))
        for title, widget in self._panels:
            if self._wide:
                card = Card(title, widget)
                self._cards.append(card)
                self._column.addWidget(card, 1)
                widget.show()
            else:
                tab = Button(title, "page-tab")
                tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
                self._tabs.append(tab)
                self._tab_row.addWidget(tab)
                self._stack.addWidget(widget)
        if self._tabs:
            self._tab_row.addStretch(1)
            bits.turn_pages(self._tabs, self._stack.setCurrentIndex)
            self._stack.setCurrentIndex(0)
            self._panels[0][1].show()  # the stack leaves it as it was hidden
