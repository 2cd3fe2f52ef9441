"""A break: a text, and a button that leads on once the least time is over; until then its place
says how long that takes."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from labapp.base.clock import NS
from labapp.record.events.commands import Next
from labapp.study.plan import BreakPart
from labapp.ui import theme
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets import controls
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import text_width

LOOK_MS = 250


class BreakScreen(Screen):
    """Its text in a column; Continue can be pressed when the participant may go on."""

    def __init__(self, session: SessionView, part: BreakPart) -> None:
        super().__init__(session, part)
        self._part = part
        self._left_s = ceil(part.at_least_s)
        self.text = self.text_view()
        self.sound = controls.make_label(role="secondary", wrap=True)
        column = self.column(text_width())
        controls.fill(column, 1, (self.text, 100), controls.Gap(theme.SPACE_L), self.sound, 2)
        self.text.show_text("\n\n".join(session.pages(part.document, {})))
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        if not session.read_only:
            self._timer.start(LOOK_MS)

    def render_state(self) -> None:
        self.sound.setText(self.session.break_words())
        self._look()

    def _look(self) -> None:
        """Say how long is left; give the button the focus when that is over."""
        began = self.session.record.started_ns or 0
        left = round(self._part.at_least_s * NS) - (self.session.clock.now_ns() - began)
        left_s = max(0, ceil(left / NS))
        if left_s == 0 and self._timer.isActive():
            self._timer.stop()
            self.wish = "right"
        elif left_s == self._left_s:
            return
        self._left_s = left_s
        self.altered.emit()

    def head(self) -> Head:
        return Head(self.session.words("break"))

    def foot(self) -> Foot:
        words, (minutes, seconds) = self.session.words, divmod(self._left_s, 60)
        waits = words("break_wait", time=f"{minutes}:{seconds:02d}") if self._left_s else ""
        return Foot(right=words("continue"), enabled=not waits, note=waits)

    def right(self) -> None:
        self.send(Next())

    def entrance(self) -> QWidget | None:
        return self.text if self.text.focusPolicy() else None
