"""The interview: what it is about, that sound is still recorded, and how to stop it. The moderator
asks and ends it; nothing here can be pressed by accident."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from labapp.tasks.interview.machine import InterviewPart
from labapp.ui import theme
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head, RecordingMark
from labapp.ui.widgets.markdown import text_width


class InterviewScreen(Screen):
    """The study's text, and below it the card that says whether the voice is recorded."""

    def __init__(self, session: SessionView, part: InterviewPart) -> None:
        super().__init__(session, part)
        self.text = self.text_view()
        self.text.show_text("\n\n".join(session.pages(part.document, {})))
        self.mark = RecordingMark(session.palette)
        self.announcement, self.how = PlainLabel(), PlainLabel()
        self.announcement.setProperty("role", "heading")
        self.how.setProperty("role", "secondary")
        self.how.setWordWrap(True)
        self._recorded: bool | None = None
        card = QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(*(theme.SPACE_L,) * 4)
        inside.setSpacing(theme.SPACE_S)
        line = controls.fill(controls.row(None, theme.SPACE_S), self.mark, (self.announcement, 1))
        controls.fill(inside, line, self.how)
        controls.fill(
            self.column(text_width()), 1, (self.text, 100), controls.Gap(theme.SPACE_XL), card, 2
        )
        self.render_state()

    def render_state(self) -> None:
        recorded = self.session.recorded
        if recorded == self._recorded:
            return
        self._recorded = recorded
        words = self.session.words
        self.mark.show_on(recorded)
        self.announcement.setText(
            words("interview_recorded" if recorded else "interview_unrecorded")
        )
        self.how.setText(words("interview_stop" if recorded else "interview_stop_unrecorded"))

    def head(self) -> Head:
        return Head(self.session.words("interview"))

    def foot(self) -> Foot:
        return Foot(note=self.session.words("interview_foot"))

    def entrance(self) -> QWidget | None:
        return self.text if self.text.focusPolicy() else None
