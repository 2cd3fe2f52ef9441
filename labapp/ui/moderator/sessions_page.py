"""The page of all sessions: found, looked at, gone on with, remarked on, excluded, withdrawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from labapp.journal.sessions import SessionSummary
from labapp.session.deciding import LONGEST
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.session_table import STARTED, WIDE, Column, SessionTable, label_text
from labapp.ui.replay_process import menu_of, replayable
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.flow import FlowLayout

SEARCH_WIDTH = 240


def _remark(line: SessionSummary) -> str:
    return " · ".join(reversed(line.comments)).replace("\n", " ")


REMARK = Column(N_("Remark"), _remark, tip=lambda line: "\n".join(line.comments), wide=True)


class WithdrawLine(QWidget):
    """Asks in place what becomes of the data of who withdraws. answered(delete); left(): nobody
    withdraws after all. *Cancel* has the keyboard: nothing is deleted by one Enter."""

    answered = Signal(bool)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = bits.label(role="strong", wrap=True)
        self.cancel = Button(tr("Cancel"))
        self.keep = Button(tr("Withdraw, keep the data"))
        self.delete = Button(tr("Withdraw, delete the data"))
        self.delete.setProperty("role", "danger")
        column = bits.column(self, theme.SPACE_S)
        column.addLayout(bits.readable(self.text))
        answers = bits.row(None, theme.SPACE_S)
        answers.addStretch(1)
        for button in (self.cancel, self.keep, self.delete):
            answers.addWidget(button)
        column.addLayout(answers)
        self.cancel.clicked.connect(self.left)
        self.keep.clicked.connect(lambda: self.answered.emit(False))
        self.delete.clicked.connect(lambda: self.answered.emit(True))

    def ask(self, line: SessionSummary) -> None:
        """Ask about a session."""
        text = tr(
            "{id} ({study}) withdraws. Keep the data, or delete them for good?",
            id=label_text(line),
            study=line.study,
        )
        if line.exported:
            text += " " + tr("Bundles that were exported are not touched.")
        bits.set_text(self.text, text)
        self.show()
        self.cancel.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)


class DecisionLine(QWidget):
    """Asks in place why a session is excluded, counts all the same, or is moved between the study
    and its pilots. answered(str: reason); left(): nothing is decided."""

    answered = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._needed = True
        self.text = bits.label(role="strong", wrap=True)
        self.reason = QLineEdit()
        bits.limit(self.reason, LONGEST)
        self.cancel = Button(tr("Cancel"))
        self.decide = Button("")
        column = bits.column(self, theme.SPACE_S)
        column.addLayout(bits.readable(self.text))
        answers = bits.row(None, theme.SPACE_S)
        answers.addWidget(self.reason, 1)
        answers.addWidget(self.cancel)
        answers.addWidget(self.decide)
        column.addLayout(answers)
        self.cancel.clicked.connect(self.left)
        self.decide.clicked.connect(self._answer)
        self.reason.returnPressed.connect(self._answer)
        self.reason.textChanged.connect(self._changed)

    def ask(self, line: SessionSummary, exclude: bool) -> None:
        """Ask about a session; exclude: whether it is to be excluded."""
        self._needed = exclude  # a reason
        told = (
            tr("{id} ({study}) is left out of the analysis. Its data stay. Why?")
            if exclude
            else tr("{id} ({study}) counts in the analysis, whatever the rules say. Why?")
        )
        self._ask(line, told, tr("Exclude") if exclude else tr("Include"))

    def ask_move(self, line: SessionSummary) -> None:
        """Ask why a pilot is moved into the study, or back."""
        self._needed = True
        told = (
            tr("{id} ({study}) was a pilot. It counts in the study from now on. Why?")
            if line.pilot
            else tr("{id} ({study}) becomes a pilot again and counts nowhere. Why?")
        )
        self._ask(line, told, tr("Move"))

    def _ask(self, line: SessionSummary, told: str, decide: str) -> None:
        bits.set_text(self.text, told.format(id=label_text(line), study=line.study))
        placeholder = tr("Reason") if self._needed else tr("Reason, if any")
        self.reason.setPlaceholderText(placeholder)
        self.reason.setAccessibleName(placeholder)
        self.reason.clear()
        self.decide.setText(decide)
        self._changed()
        self.show()
        self.reason.setFocus()

    def _changed(self) -> None:
        self.decide.setEnabled(bool(self.reason.text().strip()) or not self._needed)

    def _answer(self) -> None:
        if self.decide.isEnabled():
            self.answered.emit(self.reason.text().strip())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)


class SessionsPage(QFrame):
    """replay_requested(Path), resume_requested(Path), folder_requested(Path),
    withdraw_requested(Path, bool: delete), decided(Path, bool: included, str: reason),
    moved(Path, bool: into the study, str: reason), remarked(Path, str): what is to be done with the
    selected session. A remark stays in its field until the code that saves it clears the field."""

    replay_requested = Signal(object)
    resume_requested = Signal(object)
    folder_requested = Signal(object)
    withdraw_requested = Signal(object, bool)
    remarked = Signal(object, str)
    decided = Signal(object, bool, str)
    moved = Signal(object, bool, str)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._forbidden: frozenset[Path] = frozenset()
        self._whole = False
        self._said = ""
        self._chosen: Path | None = None
        self._asked: SessionSummary | None = None
        self._moves = False
        self.setProperty("role", "card")
        self.table = SessionTable(palette, wide=True, more=(REMARK,))
        header = self.table.horizontalHeader()
        header.setSortIndicator(WIDE.index(STARTED), Qt.SortOrder.DescendingOrder)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search"))
        self.search.setAccessibleName(tr("Search sessions"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedWidth(SEARCH_WIDTH)
        self.count = bits.label(role="secondary")
        self.about = bits.label(role="secondary", wrap=True)
        self.remark = QLineEdit()
        self.remark.setPlaceholderText(tr("Remark on this session, Enter keeps it"))
        self.remark.setAccessibleName(tr("Remark"))
        bits.limit(self.remark)
        self.replay = Button(tr("Replay"))
        self.folder = Button(tr("Open folder"))
        self.exclude = Button(tr("Exclude…"))
        self.move_ = Button(tr("Move into the study…"))
        self.withdraw = Button(tr("Withdraw…"))
        self.resume = Button(tr("Recover and resume"))
        self.asking = WithdrawLine()
        self.deciding = DecisionLine()
        layout = bits.column(self, theme.SPACE_M, theme.SPACE_L)
        head = QHBoxLayout()
        head.addWidget(bits.label(tr("Sessions"), "title"))
        head.addWidget(self.count, 1)
        head.addWidget(self.search)
        layout.addLayout(head)
        layout.addWidget(self.table, 1)
        layout.addLayout(bits.readable(self.about))
        self._foot = QWidget()
        foot = bits.column(self._foot, theme.SPACE_S)
        foot.addWidget(self.remark)
        buttons = FlowLayout(theme.SPACE_S, theme.SPACE_S)
        self.buttons = (
            *(self.replay, self.folder, self.exclude, self.move_, self.withdraw, self.resume),
        )
        for button in self.buttons:
            buttons.addWidget(button)
        foot.addLayout(buttons)
        layout.addWidget(self._foot)
        for question in (self.asking, self.deciding):
            layout.addWidget(question)
            question.hide()
            question.left.connect(self._stop_asking)
        self.search.textChanged.connect(self._search)
        self.table.chosen.connect(self._selected)
        self.table.opened.connect(self._open)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.replay.clicked.connect(lambda: self._emit(self.replay_requested))
        self.folder.clicked.connect(lambda: self._emit(self.folder_requested))
        self.resume.clicked.connect(lambda: self._emit(self.resume_requested))
        self.withdraw.clicked.connect(self._ask)
        self.exclude.clicked.connect(self._ask_why)
        self.move_.clicked.connect(self._ask_move)
        self.deciding.answered.connect(self._decided)
        self.asking.answered.connect(self._answered)
        self.remark.returnPressed.connect(self._remarked)
        self._selected()

    def set_lines(
        self,
        lines: Sequence[SessionSummary],
        forbidden: Collection[Path] = (),
        *,
        whole: bool = True,
    ) -> None:
        """Every session, newest first; forbidden: those that their study does not let go on; whole:
        all were read."""
        before = (self.table.lines, self._forbidden, self._whole)
        if (tuple(lines), forbidden, whole) == before:
            return
        self._whole = whole
        self._forbidden = frozenset(forbidden)
        self.table.set_lines(lines)
        self._count()
        asked = self._asked
        if asked is not None and asked.path not in {line.path for line in lines}:
            self._stop_asking()
        self._selected()

    def say(self, text: str) -> None:
        """Tell something below the table until another session is selected."""
        self._said = text
        bits.set_text(self.about, text)

    def _count(self) -> None:
        shown, of = len(self.table.sessions.rows), len(self.table.lines)
        text = tr("{n} of {of}", n=shown, of=of) if shown != of else str(of)
        bits.set_text(self.count, text if of else "")

    def _search(self, text: str) -> None:
        self.table.search(text)
        self._count()

    def _selected(self) -> None:
        line = self.table.selected()
        if line is not None and line.path != self._chosen:
            self._chosen, self._said = line.path, ""
        forbidden = line is not None and line.path in self._forbidden
        over = line is not None and line.state != "running" and not line.withdrawn
        self.resume.setEnabled(over and line.state == "interrupted" and not forbidden)  # type: ignore[union-attr]
        undeleted = line is not None and line.withdrawn == "delete"
        self.withdraw.setEnabled(over or undeleted)
        self.exclude.setEnabled(over and line.state != "damaged")  # type: ignore[union-attr]
        counts = line is None or _counts(line)
        self.exclude.setText(tr("Exclude…") if counts else tr("Include…"))
        # Only what was recorded as a pilot is ever moved.
        self.move_.setVisible(line is not None and (line.pilot or bool(line.moved)))
        self.move_.setEnabled(over and line.state != "damaged")  # type: ignore[union-attr]
        into = line is None or line.pilot
        self.move_.setText(tr("Move into the study…") if into else tr("Move to the pilots…"))
        self.folder.setEnabled(line is not None)
        self.replay.setEnabled(replayable(line))
        self.remark.setEnabled(line is not None)
        if self._asked is not None and (line is None or line.path != self._asked.path):
            self._stop_asking()
        if line is None:
            text = self._hint()
        elif forbidden:
            text = tr("Its study does not allow it to be resumed: {path}", path=line.path)
        else:
            text = "\n".join((*_decision(line), *line.comments, str(line.path)))
        bits.set_text(self.about, self._said or text)

    def _hint(self) -> str:
        """What to do where no session is chosen."""
        if self.table.lines:
            return tr(
                "Choose a session to replay or resume it, to remark on it or open its folder."
            )
        if not self._whole:
            return tr("Checking …")
        return bits.start_one()

    def _open(self, line: SessionSummary) -> None:
        if replayable(line):
            self.replay_requested.emit(line.path)
        else:
            self.say(tr("{id} withdrew: the session is not replayed.", id=label_text(line)))

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the session that the pointer, or else the selection, is on."""
        if self.table.selected() is not None:
            menu_of(self.table.viewport(), place, self.buttons)

    def _emit(self, signal: object) -> None:
        line = self.table.selected()
        if line is not None:
            signal.emit(line.path)  # type: ignore[attr-defined]

    def _remarked(self) -> None:
        line, text = self.table.selected(), self.remark.text().strip()
        if line is not None and text:
            self.remarked.emit(line.path, text)

    def _ask(self) -> None:
        self._asked = self.table.selected()
        if self._asked is not None:
            self._foot.hide()
            self.asking.ask(self._asked)

    def _stop_asking(self) -> None:
        self._asked = None
        self.asking.hide()
        self.deciding.hide()
        self._foot.show()
        self.table.setFocus()

    def _answered(self, delete: bool) -> None:
        asked = self._asked
        self._stop_asking()
        if asked is not None:
            self.withdraw_requested.emit(asked.path, delete)

    def _ask_move(self) -> None:
        self._asked, self._moves = self.table.selected(), True
        if self._asked is not None:
            self._foot.hide()
            self.deciding.ask_move(self._asked)

    def _ask_why(self) -> None:
        self._asked, self._moves = self.table.selected(), False
        if self._asked is not None:
            self._foot.hide()
            self.deciding.ask(self._asked, _counts(self._asked))

    def _decided(self, reason: str) -> None:
        asked = self._asked
        self._stop_asking()
        if asked is None:
            return
        if self._moves:
            self.moved.emit(asked.path, asked.pilot, reason)
        else:
            self.decided.emit(asked.path, not _counts(asked), reason)


def _counts(line: SessionSummary) -> bool:
    """Whether a session counts, by the decision about it or else by the rules."""
    return line.decision == "included" if line.decision else not line.not_counted


def _decision(line: SessionSummary) -> tuple[str, ...]:
    """What was decided by hand, and why; or the rules for which a session does not count."""
    moved: tuple[str, ...] = ()
    if line.moved:
        where = tr("Moved to the pilots") if line.pilot else tr("Moved into the study")
        moved = (f"{where}: {line.moved}",)
    if not line.decision:
        rules = ", ".join(map(wording.not_counted, line.not_counted))
        return (*moved, *((tr("Does not count: {why}", why=rules),) if rules else ()))
    excluded = line.decision == "excluded"
    told = tr("Excluded by hand") if excluded else tr("Included by hand")
    return (*moved, ": ".join(filter(None, (told, line.decision_reason))))
