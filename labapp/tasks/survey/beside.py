"""The moderator's panel while the participant is at a survey of another tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout

from labapp.tasks.survey.events import EndSurvey
from labapp.tasks.survey.machine import SurveyPart, SurveyState
from labapp.tasks.survey.moderator import WAYS
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.mirror import PartPanel, SendCommand
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView


class SurveyPanel(PartPanel):
    """That the participant is at the survey, for how long, and the button that continues."""

    def __init__(self, palette: Palette, send: SendCommand) -> None:
        super().__init__(palette, send)
        self.headline = bits.label(tr("survey.at_it"), "title", wrap=True)
        self.way = bits.label("", "", wrap=True)
        self.opened = bits.label("", "", wrap=True)
        self.how = bits.label(tr("survey.how_on"), "secondary", wrap=True)
        self.since = bits.label("", "number")
        self.end = Button(tr("survey.continue"), pressed=lambda: self.send(EndSurvey()))
        self.end.setProperty("role", "primary")
        self.end.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        head = QHBoxLayout()
        bits.fill(head, (self.headline, 1), self.end)
        layout = bits.fill(bits.column(self, theme.SPACE_S, (0, theme.SPACE_S, 0, 0)), head)
        for label in (self.since, self.way, self.opened, self.how):
            layout.addWidget(label)
        layout.addStretch(1)

    def show_panel(self, part: SurveyPart, session: SessionView, console: ConsoleState) -> None:
        state: SurveyState = session.part_state
        began = session.record.started_ns or 0
        lasted = wording.short_time(session.clock.now_ns() - began)
        bits.set_text(self.since, tr("survey.since", time=lasted))
        bits.set_text(self.way, tr(WAYS[part.open_with]))
        told, tone = "", ""
        if state.failed:
            told, tone = tr("survey.not_opened"), "alarm"
        elif state.opened:
            told = tr("survey.was_opened")
        elif part.open_with == "button":
            told = tr("survey.not_yet_opened")
        bits.set_text(self.opened, told, tone)
        self.opened.setVisible(bool(told))
