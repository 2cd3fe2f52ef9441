"""What the console's top line asks: why the session was paused, at which later part it continues,
and whether a stage is to be skipped, the session ended or the representations named. It asks in the
line: nothing ever covers the session.

While one of them is open, the moderator has the keyboard (`labapp.ui.keyboard`), and Escape leaves
it. None of their answers has the focus by itself. An answer that destroys something comes up away
from the button that was just clicked, and takes no click at first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from labapp.events.commands import Command, EndSession, SkipStage, Unblind
from labapp.ui import theme
from labapp.ui.keyboard import PURPOSE
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.widgets.buttons import Button

REASON_LEAST, REASON_WIDTH = 140, 168
ARMED_MS = 1000
"""What destroys something takes no click for so long after it came up."""


class Arming(QTimer):
    """Keeps buttons switched off for a moment after they came up, so that no click meant for
    something else reaches them."""

    def __init__(self, buttons: QWidget) -> None:
        super().__init__(buttons)
        self._buttons = buttons
        self.setSingleShot(True)
        self.timeout.connect(lambda: buttons.setEnabled(True))

    def begin(self) -> None:
        """The buttons come up now."""
        self._buttons.setEnabled(not ARMED_MS)
        self.start(ARMED_MS)


class Asking(QWidget):
    """What the line asks while it is open. left(): nobody answers."""

    left = Signal()

    def take_key(self, event: QKeyEvent) -> bool:
        """Escape leaves. False for any other key."""
        if event.key() != Qt.Key.Key_Escape:
            return False
        self.left.emit()
        return True


class Reasons(Asking):
    """Why the session is paused: one click each. chosen(reason); left(): nobody says; cancelled():
    the pause is taken back."""

    chosen = Signal(str)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.typed = QLineEdit()
        self.typed.setPlaceholderText(tr("Why? Enter saves it"))
        self.typed.setAccessibleName(tr("Reason of the pause"))
        self.typed.setFixedWidth(REASON_WIDTH)
        bits.limit(self.typed)
        self.typed.setProperty(PURPOSE, "reason")
        self.typed.returnPressed.connect(self.choose)
        self.buttons: list[Button] = []
        row = bits.row(self, theme.SPACE_XS, (0, 0, 0, theme.SPACE_XS))
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
        self.no = Button(tr("Cancel"), "compact")
        self.no.setToolTip(tr("Takes the pause back: the session continues"))
        self.no.clicked.connect(self.cancelled)
        row.addWidget(self.no)

    def open(self) -> None:
        """Ask again."""
        self.typed.clear()
        self.typed.hide()
        for button in self.buttons:
            button.show()

    def choose(self) -> None:
        """Take what was typed as the reason, if anything was."""
        if reason := self.typed.text().strip():
            self.chosen.emit(reason)
        else:
            self.left.emit()

    def _ask(self) -> None:
        for button in self.buttons:
            button.hide()
        self.typed.show()
        self.typed.setFocus()


@dataclass(frozen=True)
class _Answer:
    """then: what is sent, or the next question."""

    text: str
    then: Command | Callable[[], None]


class SkipLine(Asking):
    """A part that is being skipped, and for how long that can be taken back. left(): it is."""

    def __init__(self) -> None:
        super().__init__()
        self.text = bits.label(role="strong")
        self.back = Button(tr("Take back"))
        self.back.clicked.connect(self.left)
        row = bits.row(self, theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(self.text)
        row.addWidget(self.back, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_left(self, part: str, seconds: int, to: str = "") -> None:
        """Say what is skipped, or to what the session skips, and in how many seconds."""
        text = tr("Skipping “{part}” in {seconds} s", part=part, seconds=seconds)
        if to:
            text = tr("Continuing at “{part}” in {seconds} s", part=to, seconds=seconds)
        bits.set_text(self.text, text)


class Questions(Asking):
    """Whether to skip, to end or to unblind, one question after the other. decided(command);
    left(): none of them.

    participant, folder: whose data would be deleted, and where they are. debriefs: says whether the
    debriefing can be shown at an early end; the moderator then chooses.
    """

    decided = Signal(object)

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
        self._words = QWidget()
        words = bits.column(self._words, 0)
        words.addStretch(1)
        words.addWidget(self.question)
        words.addWidget(self.detail)
        words.addWidget(self.debrief)
        words.addStretch(1)
        self.answers, self._leaving = QWidget(), QWidget()
        for group, widgets in (
            (self.answers, (self.yes, self.other)),
            (self._leaving, (self.reason, self.no)),
        ):
            row = bits.row(group, theme.SPACE_S)
            for widget in widgets:
                row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(1, 1)
        self._placed: tuple[bool, bool] | None = None
        self._on_left = True
        self._arming = Arming(self.answers)
        self._fit()
        self.yes.clicked.connect(lambda: self._answer(0))
        self.other.clicked.connect(lambda: self._answer(1))
        self.no.clicked.connect(self.left)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The answers at one end, the way out at the other, and the question between them, or above
        them where there is no room."""
        groups = (self.answers, self._leaving)
        asked = self.question.sizeHint().width() + sum(g.sizeHint().width() for g in groups)
        narrow = asked + 2 * theme.SPACE_L > self.width()
        if (narrow, self._on_left) == self._placed:
            return
        self._placed = narrow, self._on_left
        left, right = groups if self._on_left else groups[::-1]
        for widget in (left, self._words, right):
            self._grid.removeWidget(widget)
        ends = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        middle = Qt.AlignmentFlag.AlignVCenter
        row = 1 if narrow else 0
        self._grid.addWidget(self._words, 0, *((0, 1, 3) if narrow else (1, 1, 1)))
        self._grid.addWidget(left, row, 0, ends[0] | middle)
        self._grid.addWidget(right, row, 2, ends[1] | middle)

    def come_up(self, *, on_left: bool) -> None:
        """Put the answers at the left end or at the right one."""
        self._on_left = on_left
        self._fit()

    def ask_skip(self, title: str, skip: SkipStage, contents: str = "") -> None:
        """Whether to skip a stage or another part; contents: what is left out with it."""
        self._ask(
            tr("Skip “{part}”?", part=title),
            _Answer(tr("Skip it"), skip),
            detail=tr("Left out: {what}.", what=contents) if contents else "",
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
        self._arming.begin()
        self._fit()

    def _answer(self, place: int) -> None:
        then = self._answers[place].then
        if not isinstance(then, Command):
            # The next answers come up at the other end.
            self.come_up(on_left=not self._on_left)
            then()
            return
        typed = self.reason.text().strip()
        if isinstance(then, EndSession):
            shown = self.debrief.isChecked()
            then = EndSession(typed or then.reason, then.withdrawal, shown)
        self.decided.emit(then)


ROW_PX, ROWS = 26, 5


class ContinueAt(Asking):
    """Asks at which later part of the plan the session continues, by clicks. decided(SkipStage);
    left(): it goes on as it was.

    Like every question of the line it has the keyboard while it is open, and Escape leaves it.
    *Continue there* comes up below the line, away from every button of it, and takes no click until
    a part is clicked.
    """

    decided = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._contents: Callable[[int], str] = str
        self._index = 0
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Continue at…"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFixedHeight(ROW_PX * ROWS)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.detail = bits.label(role="caption", wrap=True)
        self.cancel = Button(tr("Don’t skip"))
        self.go = Button(tr("Continue there"))
        row = bits.row(self, theme.SPACE_M)
        row.addWidget(self.list, 3)
        answers = bits.column(None, theme.SPACE_XS)
        answers.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignRight)
        answers.addWidget(self.detail, 1)
        answers.addWidget(self.go, 0, Qt.AlignmentFlag.AlignRight)
        row.addLayout(answers, 2)
        self.list.itemSelectionChanged.connect(self._chosen)
        self.cancel.clicked.connect(self.left)
        self.go.clicked.connect(self._answer)

    def ask(
        self, index: int, places: Sequence[tuple[str, int]], contents: Callable[[int], str]
    ) -> None:
        """Offer parts by their titles and places in the plan. index: the part that runs; contents:
        what is left out on the way to a place."""
        self._index, self._contents = index, contents
        with QSignalBlocker(self.list):
            self.list.clear()
            for title, place in places:
                item = QListWidgetItem(title)
                item.setData(Qt.ItemDataRole.UserRole, place)
                item.setSizeHint(QSize(0, ROW_PX))
                self.list.addItem(item)
        self._chosen()

    @property
    def place(self) -> int | None:
        """The place in the plan of the part that is chosen."""
        chosen = self.list.selectedItems()
        return int(chosen[0].data(Qt.ItemDataRole.UserRole)) if chosen else None

    def _chosen(self) -> None:
        self.go.setEnabled(self.place is not None)
        self.list.scrollToItem(self.list.currentItem())
        text = tr("Click the part to continue at. Everything before it is left out.")
        if self.place is not None:
            text = tr("Left out: {what}.", what=self._contents(self.place))
        bits.set_text(self.detail, text)

    def _answer(self) -> None:
        if self.place is not None:
            self.decided.emit(SkipStage(self._index, self.place))
