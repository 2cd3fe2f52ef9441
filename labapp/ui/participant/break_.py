"""A break: a text, and a button that leads on once the least time is over."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from labapp.clock import NS
from labapp.events.commands import Next
from labapp.study.plan import BreakPart
from labapp.ui.participant.screen import Screen, Setting
from labapp.ui.widgets.bars import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView, text_width

LOOK_MS = 500


class BreakScreen(Screen):
    """Its text in a column; Continue comes when the participant may go on."""

    def __init__(self, setting: Setting, part: BreakPart) -> None:
        super().__init__(setting, part)
        self._part = part
        self._over = False
        self.text = MarkdownView()
        column = self.column(text_width())
        column.addStretch(1)
        column.addWidget(self.text, 100)
        column.addStretch(2)
        self.text.show_text("\n\n".join(setting.pages(part.document, {})))
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(LOOK_MS)

    def render_state(self) -> None:
        self._look()

    def _look(self) -> None:
        runner = self.setting.runner
        began = runner.state.records[runner.state.index].started_ns or 0
        if self._over or runner.clock.now_ns() - began < round(self._part.at_least_s * NS):
            return
        self._over = True
        self._timer.stop()
        self.wish = "right"
        self.altered.emit()

    def head(self) -> Head:
        return Head(self.setting.words("break"))

    def foot(self) -> Foot:
        return Foot(right=self.setting.words("continue") if self._over else "")

    def right(self) -> None:
        if self._over:
            self.setting.runner.send(Next())

    def entrance(self) -> QWidget | None:
        return self.text if self.text.focusPolicy() else None
