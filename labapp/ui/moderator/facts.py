"""The column beside the participant's screen in the console: what its task says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QWidget

from labapp import discovery
from labapp.events.commands import Command
from labapp.ui import theme
from labapp.ui.keyboard import leave_focus_to_fields
from labapp.ui.moderator import bits
from labapp.ui.moderator.part_words import Fact
from labapp.ui.theme import Palette

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


SendCommand = Callable[[Command], None]


class Beside:
    """A task's own widget below the lines; mixed with the widget that it is."""

    def show_beside(self, part: Any, session: SessionView, console: ConsoleState) -> None:
        """Bring it in step with the session; called on every change and about once a second."""


class PartPanel(QWidget):
    """A task's own panel in the place of the mirror, for a part that the moderator leads.

    palette: its colours; send: takes a command of the moderator.
    """

    def __init__(self, palette: Palette, send: SendCommand) -> None:
        super().__init__()
        self.send = send

    def show_panel(self, part: Any, session: SessionView, console: ConsoleState) -> None:
        """Bring it in step with the session; called on every change and about once a second."""
        raise NotImplementedError


class FactsColumn(bits.Scrolling):
    """Lines, and below them the widget that a task may have."""

    def __init__(self, palette: Palette, console: ConsoleState) -> None:
        inside = QWidget()
        super().__init__(inside)
        self._palette = palette
        self._console = console
        self._widgets: dict[str, Any] = {}
        self._flat = False
        self.labels = [bits.label("", "", wrap=True)]
        self._both = QBoxLayout(QBoxLayout.Direction.TopToBottom, inside)
        self._both.setContentsMargins(0, 0, theme.SPACE_S, 0)
        self._both.setSpacing(theme.SPACE_S)
        self._column = bits.column(None, theme.SPACE_S)
        self._column.addWidget(self.labels[0])
        self._both.addLayout(self._column)
        self._both.addStretch(1)

    def lie_flat(self, flat: bool) -> None:
        """Let the widget stand next to the lines, not below them, where there is little height."""
        direction = QBoxLayout.Direction
        self._both.setDirection(direction.LeftToRight if flat else direction.TopToBottom)
        self._both.setStretch(0, int(flat))
        top = Qt.AlignmentFlag.AlignTop if flat else Qt.AlignmentFlag(0)
        self._both.setAlignment(self._column, top)
        self._both.setStretch(self._both.count() - 1, int(not flat))
        for widget in self._widgets.values():
            self._both.setStretchFactor(widget, int(flat))
        self._flat = flat

    @property
    def text(self) -> str:
        """All lines that are to be seen."""
        return "\n".join(label.text() for label in self.labels if not label.isHidden())

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these lines and no others."""
        while len(self.labels) < len(facts):
            self.labels.append(bits.label("", "", wrap=True))
            self._column.addWidget(self.labels[-1])
        for place, label in enumerate(self.labels):
            there = place < len(facts)
            if there:
                fact = facts[place]
                bits.set_property(label, "role", fact.role)
                bits.set_property(label, "tone", fact.tone)
                bits.set_text(label, fact.text)
            if label.isHidden() == there:
                label.setVisible(there)

    def widget_of(self, where: str) -> Beside | None:
        """The widget by this name, and no other one to be seen; made when it is first asked for."""
        if where and where not in self._widgets:
            made = discovery.load(where)(self._palette, self._console)
            self._widgets[where] = made
            self._both.insertWidget(self._both.count() - 1, made, int(self._flat))
            leave_focus_to_fields(self)
        for name, widget in self._widgets.items():
            if widget.isHidden() == (name == where):
                widget.setVisible(name == where)
        return self._widgets.get(where)
