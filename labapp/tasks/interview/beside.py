"""The moderator's panel of an interview: the guide, a key for each question, and the end.

A question is stamped with the moment it is asked, so that what is said can be found by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from labapp.study.plugins.part import PlannedPart
from labapp.tasks.interview.events import AskQuestion, EndInterview
from labapp.tasks.interview.moderator import key_of
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.mirror import PartPanel, SendCommand
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

if TYPE_CHECKING:
    from labapp.ui.moderator.state.console import ConsoleState
    from labapp.ui.participant.view import SessionView

KEY_WIDTH, ASKED_WIDTH, LEAST_WORDS = 108, 76, 120
RECORDED = N_("interview.recorded")
UNRECORDED = N_("interview.unrecorded")


class _Question(Button):
    """A question of the guide as one large button, over as many lines as its words need."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__()
        self.setProperty("role", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("interview.asked", question=text))
        key = key_of(number)
        stamps = N_("interview.stamp_by_key") if key else N_("interview.stamp_by_click")
        self.setToolTip(tr(stamps, key=tr("interview.key", number=number)))
        shown = tr("interview.key", number=number) if key else f"{number}"
        self.key = bits.label(shown, "caption")
        self.key.setFixedWidth(KEY_WIDTH)
        self.words = bits.label(text, wrap=True)
        self.asked = bits.label("", "caption")
        self.asked.setFixedWidth(ASKED_WIDTH)
        self.asked.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        for label in (self.key, self.words, self.asked):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        bits.fill(row, self.key, (self.words, 1), self.asked)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        gaps = 4 * theme.SPACE_S + KEY_WIDTH + ASKED_WIDTH
        needed = self.words.heightForWidth(max(LEAST_WORDS, width - gaps))
        return max(theme.TARGET_HEIGHT, needed + 2 * theme.SPACE_XS)

    def sizeHint(self) -> QSize:
        return QSize(400, self.heightForWidth(400))

    def minimumSizeHint(self) -> QSize:
        return QSize(KEY_WIDTH + ASKED_WIDTH + LEAST_WORDS, theme.TARGET_HEIGHT)


class InterviewPanel(PartPanel):
    """The questions of the guide, each with the time at which it was last asked."""

    def __init__(self, palette: Palette, send: SendCommand) -> None:
        super().__init__(palette, send)
        self._part: PlannedPart | None = None
        self.questions: list[_Question] = []
        self.headline = bits.label("", "title")
        self.text = bits.label("", "secondary", wrap=True)
        self.end = Button(tr("interview.end"), pressed=lambda: self.send(EndInterview()))
        self.end.setProperty("role", "primary")
        self.end.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._rows = bits.column(None, theme.SPACE_S)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, theme.SPACE_S, 0)
        bits.fill(column, self._rows, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        head = QHBoxLayout()
        bits.fill(head, (self.headline, 1), self.end)
        layout = bits.column(self, theme.SPACE_S, (0, theme.SPACE_S, 0, 0))
        bits.fill(layout, head, self.text, (area, 1))

    def show_panel(self, part: PlannedPart, session: SessionView, console: ConsoleState) -> None:
        self.show_guide(part, session.part_state, sound=session.recorded)
        # When each question was last asked in this part, in working time.
        last = {
            note.number: note.working_ns
            for note in console.notes
            if note.kind == "question" and note.text and note.stage == part.id
        }
        for number, question in enumerate(self.questions, start=1):
            at = last.get(number)
            bits.set_text(question.asked, "" if at is None else f"✓ {wording.short_time(at)}")

    def show_guide(self, part: PlannedPart, state: Any, *, sound: bool) -> None:
        """The guide, and how much of it was asked; sound: whether it is recorded."""
        if part is not self._part:
            self._part = part
            for question in self.questions:
                self._rows.removeWidget(question)
                question.hide()
                question.deleteLater()
            self.questions = [_Question(*each) for each in enumerate(part.guide(), start=1)]
            for number, question in enumerate(self.questions, start=1):
                question.clicked.connect(lambda _=False, n=number: self.send(AskQuestion(n)))
                self._rows.addWidget(question)
        n = len(part.guide())
        asked = len(set(state.asked))
        progress = tr("interview.progress", n=asked, all=n) if n else tr("part.interview")
        bits.set_text(self.headline, progress)
        bits.set_text(self.text, tr(RECORDED if sound else UNRECORDED))
