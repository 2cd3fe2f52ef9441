"""The live mirror of what the participant sees: the participant's own screens, only read and made
small, beside what a moderator has to know of them.

Also the column beside the participant's screen in the console: what its task says about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QStackedWidget, QWidget

from labapp.base import discovery
from labapp.record.events.commands import Command
from labapp.ui import theme
from labapp.ui.keyboard import leave_focus_to_fields
from labapp.ui.language import tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.console import ConsoleState
from labapp.ui.moderator.wording import Fact, words_of
from labapp.ui.participant.view import SessionView
from labapp.ui.participant.window import USUAL, WindowPicture
from labapp.ui.theme import Palette

FACTS_WIDTH, NARROW_FACTS = 260, 180
"""Logical pixels of the numbers next to the screen: usually, and in a narrow console. Where they
would leave the screen less room than below it, they stand below it."""
FACTS_HEIGHT = 96
WIDEST = 16_777_215
"""Qt's QWIDGETSIZE_MAX."""


class ScreenMirror(QWidget):
    """The picture of the participant's window, as large as there is room for."""

    def __init__(self, session: SessionView) -> None:
        super().__init__()
        self._session = replace(session.only_read(), withholds=True)
        self.picture: WindowPicture | None = None
        self._pixmap: QPixmap | None = None
        self._size = QSize()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 90)
        self.setAccessibleName(tr("mirror.screen"))

    def follow(self) -> None:
        """Draw the session as it is now."""
        if self.picture is None:
            self.picture = WindowPicture(self._session)
        self.picture.follow()
        self._draw()

    def _draw(self) -> None:
        if self.picture is not None and self.isVisible():
            self._pixmap = self.picture.draw(self.size(), self.devicePixelRatioF())
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._pixmap is None:
            return
        wide = self._pixmap.deviceIndependentSize().width()
        QPainter(self).drawPixmap(QPoint(round((self.width() - wide) / 2), 0), self._pixmap)

    @property
    def shape(self) -> float:
        """The participant's window's width by its height."""
        size = USUAL if self.picture is None else self.picture.window.size()
        return size.width() / max(size.height(), 1)

    @property
    def rests(self) -> bool:
        """Whether another look would show the same, while nothing changes."""
        return self.picture is None or not self.picture.looks_left

    def close_picture(self) -> None:
        """Let the window in the picture go."""
        if self.picture is not None:
            self.picture.close()
            self.picture = None


class MirrorPanel(bits.Card):
    """The card of the mirror: the participant's screen, or what the moderator leads.

    session: as the participant's window has it; send: takes the moderator's commands; blind:
    whether veiled facts are left out.
    """

    def __init__(
        self,
        palette: Palette,
        session: SessionView,
        console: ConsoleState,
        send: SendCommand,
        *,
        blind: bool = False,
    ) -> None:
        around = (theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        super().__init__("", theme.SPACE_S, around)
        self._session, self._console, self._blind = session, console, blind
        self._palette, self._send = palette, send
        self._panels: dict[str, PartPanel] = {}
        self.shown = ScreenMirror(session)
        self.facts = FactsColumn(palette, console)
        self.title = bits.ElidedLabel("", "secondary")
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._front = QWidget()
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._front)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_M)
        bits.fill(self._row, (self.shown, 1), self.facts)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._front)
        head = QHBoxLayout()
        bits.fill(head, bits.label(tr("mirror.view"), "section"), (self.title, 1))
        bits.fill(self.body, head, (self.stack, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Put the numbers where they leave the participant's screen the most room."""
        room, shape = self.stack.size(), self.shown.shape
        facts = max(NARROW_FACTS, min(FACTS_WIDTH, room.width() // 3))
        across = room.width() - facts - theme.SPACE_M
        down = room.height() - FACTS_HEIGHT - theme.SPACE_M
        beside = min(across, room.height() * shape) >= min(room.width(), down * shape)
        self.facts.lie_flat(not beside)
        direction = QBoxLayout.Direction
        self._row.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
        if beside:
            spare = room.width() - round(room.height() * shape) - theme.SPACE_M
            # Shares, not a fixed width: that would keep the panel from becoming narrower.
            wide = max(facts, spare)
            self.facts.setMinimumWidth(facts)
            self.facts.setMaximumWidth(wide)
            self._row.setStretch(0, room.width() - theme.SPACE_M - wide)
            self._row.setStretch(1, wide)
            self.facts.setMaximumHeight(WIDEST)
            self.facts.setMinimumHeight(0)
        else:
            self.facts.setMinimumWidth(0)
            self.facts.setMaximumWidth(WIDEST)
            self.facts.setFixedHeight(FACTS_HEIGHT)

    def unblind(self) -> None:
        """Show veiled facts from here on."""
        self._blind = False

    def show_session(self) -> None:
        """Called when the session's state or pictures changed."""
        session, part = self._session, self._session.part
        where = "" if part is None or session.cover() is not None else words_of(part).panel
        if part is not None and where:
            panel = self.panel(where)
            panel.show_panel(part, session, self._console)
            self.title.set_full(wording.part_title(part.title))
            self.stack.setCurrentWidget(panel)
            return
        self.stack.setCurrentWidget(self._front)
        self.show_facts()
        self.shown.follow()

    def panel(self, where: str) -> PartPanel:
        """The panel of a task, made when it is first shown."""
        if where not in self._panels:
            panel = discovery.load(where)(self._palette, self._send)
            self._panels[where] = panel
            self.stack.addWidget(panel)
        return self._panels[where]

    def show_facts(self) -> None:
        """Bring what stands beside the screen up to date."""
        session, part = self._session, self._session.part
        if (covered := why_covered(session)) or part is None:
            self.facts.show_facts(covered)
            self.facts.widget_of("")
            self.title.set_full("" if part is None else wording.part_title(part.title))
            return
        words = words_of(part)
        facts = words.beside(part, session, self._console)
        self.facts.show_facts([fact for fact in facts if not (fact.veiled and self._blind)])
        if (widget := self.facts.widget_of(words.beside_widget)) is not None:
            widget.show_beside(part, session, self._console)
        self.title.set_full(words.place(part, session.task, session.part_state))


def why_covered(session: SessionView) -> list[Fact]:
    """Why the participant has a quiet page on the screen; nothing if there is none."""
    state, part = session.source.state, session.part
    if session.finished:
        data = tr("mirror.kept")
        if state.withdrawal == "delete":
            data = tr("mirror.not_kept")
        return [Fact(tr("mirror.over"), "strong"), Fact(data)]
    if part is not None and part.rests:
        return []
    if session.takes_back:
        text = tr("mirror.skipped")
        return [Fact(tr("mirror.skipped_title"), "strong"), Fact(text)]
    if state.pending is not None:
        text = tr("mirror.quiet_until_skipped")
        return [Fact(tr("mirror.skipped_title"), "strong"), Fact(text)]
    if state.pauses.paused:
        text = tr("mirror.quiet_until_continued")
        return [Fact(tr("state.paused"), "strong"), Fact(text)]
    if part is None or not session.ready:
        text = tr("mirror.preparing")
        return [Fact(tr("mirror.moment"), "strong"), Fact(text)]
    return []


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
        self._column = bits.fill(bits.column(None, theme.SPACE_S), self.labels[0])
        bits.fill(self._both, self._column, 1)

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
                bits.set_text(label, fact.text, fact.tone)
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
