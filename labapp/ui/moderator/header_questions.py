"""What the console's top line asks before it acts: why a pause is made, and whether a stage is to
be skipped, the session ended or the representations named. It asks in the line: nothing ever covers
the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QLineEdit, QWidget

from labapp.events.commands import Command, EndSession, SkipStage, Unblind
from labapp.ui import theme
from labapp.ui.keyboard import PURPOSE
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.widgets.buttons import Button

REASON_LEAST, REASON_WIDTH = 140, 168


class Reasons(QWidget):
    """Why the session pauses: one click each. chosen(reason); left(): no pause after all."""

    chosen = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.typed = QLineEdit()
        self.typed.setPlaceholderText(tr("Why? Enter pauses"))
        self.typed.setAccessibleName(tr("Reason of the pause"))
        self.typed.setFixedWidth(REASON_WIDTH)
        bits.limit(self.typed)
        self.typed.setProperty(PURPOSE, "reason")
        self.typed.returnPressed.connect(self.choose)
        self.buttons: list[Button] = []
        row = bits.row(self, theme.SPACE_XS)
        row.addStretch(1)
        row.addWidget(bits.label(tr("Why?"), "strong"))
        for text in (*wording.PAUSE_REASONS.values(), N_("Other…")):
            button = Button(tr(text), "compact")
            self.buttons.append(button)
            row.addWidget(button)
        for reason, button in zip(wording.PAUSE_REASONS, self.buttons, strict=False):
            button.clicked.connect(lambda _=False, reason=reason: self.chosen.emit(reason))
        self.buttons[-1].clicked.connect(self._ask)
        row.addWidget(self.typed)
        self.typed.hide()
        self.no = Button(tr("No pause"), "compact")
        self.no.clicked.connect(self.left)
        row.addWidget(self.no)

    def open(self) -> None:
        """Ask anew."""
        self.typed.clear()
        self.typed.hide()
        for button in self.buttons:
            button.show()

    def choose(self) -> None:
        """Pause now, for what was typed so far if anything."""
        self.chosen.emit(self.typed.text().strip() or wording.PAUSED)

    def _ask(self) -> None:
        for button in self.buttons:
            button.hide()
        self.typed.show()
        self.typed.setFocus()

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape leaves. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.left.emit()
        return True


@dataclass(frozen=True)
class _Answer:
    """then: what is sent, or the next question."""

    text: str
    then: Command | Callable[[], None]


class SkipLine(QWidget):
    """A part that is being skipped, and for how long that can be taken back. taken_back(): it was
    asked for."""

    taken_back = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = bits.label(role="strong")
        self.back = Button(tr("Take back"))
        self.back.clicked.connect(self.taken_back)
        row = bits.row(self, theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(self.text)
        row.addWidget(self.back, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_left(self, title: str, seconds: int) -> None:
        """Say which part is skipped, and in how many seconds."""
        part = wording.part_title(title)
        bits.set_text(self.text, tr("Skipping “{part}” in {seconds} s", part=part, seconds=seconds))

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape takes back. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.taken_back.emit()
        return True


class Questions(QWidget):
    """Whether to skip, to end or to unblind, one question after the other. decided(command);
    left(): none of them.

    participant, folder: whose data would be deleted, and where they are. debriefs: says whether the
    debriefing can be shown at an early end; the moderator then chooses.
    """

    decided = Signal(object)
    left = Signal()

    def __init__(self, participant: str, folder: str) -> None:
        super().__init__()
        self._participant, self._folder = participant, folder
        self._answers: Sequence[_Answer] = ()
        self.question = bits.label(role="strong")
        self.detail = bits.label(role="caption", wrap=True)
        self.reason = QLineEdit()
        self.reason.setPlaceholderText(tr("Reason, if any"))
        self.reason.setAccessibleName(tr("Reason"))
        self.reason.setMinimumWidth(REASON_LEAST)
        self.reason.setMaximumWidth(REASON_WIDTH)
        bits.limit(self.reason)
        self.reason.setProperty(PURPOSE, "reason")
        self.debrief = QCheckBox(tr("Show the debriefing"))
        self.debriefs: Callable[[], bool] = lambda: False
        self.yes, self.other, self.no = Button(), Button(), Button()
        words = bits.column(None, 0)
        words.addStretch(1)
        words.addWidget(self.question)
        words.addWidget(self.detail)
        words.addWidget(self.debrief)
        words.addStretch(1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_S)
        self._row.addLayout(words, 1)
        self._answering = bits.row(None, theme.SPACE_S)
        self._row.addLayout(self._answering)
        for widget in (self.reason, self.yes, self.other, self.no):
            self._answering.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.yes.clicked.connect(lambda: self._answer(0))
        self.other.clicked.connect(lambda: self._answer(1))
        self.no.clicked.connect(self.left)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The answers come below the question where there is no room beside it."""
        beside = self.question.sizeHint().width() + self._answering.sizeHint().width()
        narrow = beside + theme.SPACE_S > self.width()
        way = QBoxLayout.Direction
        self._row.setDirection(way.TopToBottom if narrow else way.LeftToRight)

    def ask_skip(self, title: str, index: int) -> None:
        """Whether to skip the rest of a part; index: its place in the plan."""
        self._ask(
            tr("Skip the rest of “{part}”?", part=wording.part_title(title)),
            _Answer(tr("Skip it"), SkipStage(index)),
            no=tr("Don’t skip"),
        )

    def ask_unblind(self) -> None:
        """Whether the representations are to be named from now on."""
        self._ask(
            tr("Name the representations from now on?"),
            _Answer(tr("Name them"), Unblind()),
            detail=tr("The session records when; it cannot be taken back."),
            no=tr("Stay blind"),
        )

    def ask_end(self) -> None:
        """How to end the session."""
        self.reason.clear()
        self.debrief.setChecked(True)
        self._ask(
            tr("End the session?"),
            _Answer(tr("End early, keep the data"), EndSession(wording.ENDED)),
            _Answer(tr("Participant withdraws…"), self._ask_withdrawal),
            reason=True,
        )

    def _ask_withdrawal(self) -> None:
        self._ask(
            tr("What should happen to the data?"),
            _Answer(tr("Keep the data"), EndSession(wording.WITHDREW, "keep")),
            _Answer(tr("Delete the data…"), self._ask_deletion),
            detail=tr("{id} withdraws from the study.", id=self._participant),
        )

    def _ask_deletion(self) -> None:
        self._ask(
            tr("Delete the data?"),
            _Answer(tr("Delete all of it"), EndSession(wording.WITHDREW, "delete")),
            detail=tr(
                "This deletes the folder {folder} with sound and answers, and the name or "
                "signature. Only a note remains that {id} withdrew, and when.",
                folder=self._folder,
                id=self._participant,
            ),
        )

    def _ask(
        self,
        question: str,
        *answers: _Answer,
        detail: str = "",
        reason: bool = False,
        no: str = "",
    ) -> None:
        self.no.setText(no or tr("Don’t end"))
        self._answers = answers
        bits.set_text(self.question, question)
        bits.set_text(self.detail, detail)
        self.detail.setVisible(bool(detail))
        self.reason.setVisible(reason)
        ends = any(isinstance(answer.then, EndSession) for answer in answers)
        self.debrief.setVisible(ends and self.debriefs())
        for button, answer in zip((self.yes, self.other), answers, strict=False):
            button.setText(answer.text)
            keeps = isinstance(answer.then, EndSession) and answer.then.withdrawal == "keep"
            grave = isinstance(answer.then, Command) and not keeps
            bits.set_property(button, "role", "danger" if grave else "")
        self.other.setVisible(len(answers) > 1)
        self._fit()

    def _answer(self, place: int) -> None:
        then = self._answers[place].then
        if not isinstance(then, Command):
            then()
            return
        typed = self.reason.text().strip()
        if isinstance(then, EndSession):
            shown = self.debrief.isChecked()
            then = EndSession(typed or then.reason, then.withdrawal, shown)
        self.decided.emit(then)

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape leaves. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.left.emit()
        return True
