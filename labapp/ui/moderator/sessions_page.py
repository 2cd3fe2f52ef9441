"""The page of all sessions: found, looked at, gone on with, remarked on, excluded, withdrawn.

The table of recorded sessions can be sorted by any column, as people count, and searched. Also the
home's card where study, participant and session are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QLocale, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLabel, QLineEdit, QWidget

from labapp.base.naming import natural
from labapp.record.journal.sessions import SessionSummary
from labapp.session.withdrawal import LONGEST
from labapp.study.people import Visits
from labapp.study.plugins.part import PlannedPart, stages_of
from labapp.study.schema import Participants
from labapp.ui import theme
from labapp.ui.language import N_, counted, tr
from labapp.ui.moderator import bits, checklist, wording
from labapp.ui.moderator.bits import Combo, Described, FindingCombo, RowModel, RowTable
from labapp.ui.moderator.checklist import (
    ChecklistRow,
    StudyChoice,
    length_text,
    state_text,
    voice_text,
)
from labapp.ui.moderator.wording import words_of
from labapp.ui.researcher.job import menu_of, replayable
from labapp.ui.theme import Palette
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, FlowLayout


@dataclass(frozen=True)
class SessionColumn:
    """A column of a table of sessions.

    name: of its header, in English; text: of a cell; key: what it is sorted by, its text where
    there is none; tone: of the text, a name in the palette or empty; tip: the tool tip, the text
    where there is none; wide: takes the room that is left; filled: shown only if a session has
    a text.
    """

    name: str
    text: Callable[[SessionSummary], str]
    key: Callable[[SessionSummary], Any] | None = None
    tone: Callable[[SessionSummary], str] = lambda line: ""
    tip: Callable[[SessionSummary], str] | None = None
    wide: bool = False
    filled: bool = False

    def sort_key(self, line: SessionSummary) -> Any:
        return self.key(line) if self.key is not None else natural(self.text(line))


class SessionModel(RowModel[SessionSummary]):
    """rows: those that are shown, in their order; all_lines: as they were given."""

    def __init__(self, columns: Sequence[SessionColumn], palette: Palette) -> None:
        super().__init__([column.name for column in columns])
        self.columns = tuple(columns)
        self.all_lines: tuple[SessionSummary, ...] = ()
        self._palette = palette
        self._sorted: tuple[int, bool] | None = None
        self._wanted = ""
        self._texts: dict[int, tuple[SessionSummary, str]] = {}

    def set_lines(self, lines: Sequence[SessionSummary]) -> None:
        """Show these instead, sorted and searched as those before."""
        self.all_lines = tuple(lines)
        self._texts.clear()
        self._arrange()

    def search(self, text: str) -> None:
        """Show only those in which every word of the text is; empty for all."""
        self._wanted = text
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By a column; -1: as they were given."""
        down = order == Qt.SortOrder.DescendingOrder
        self._sorted = (column, down) if 0 <= column < len(self.columns) else None
        self._arrange()

    def _arrange(self) -> None:
        words = self._wanted.casefold().split()
        lines = list(self.all_lines)
        if words:
            lines = [line for line in lines if all(word in self._text(line) for word in words)]
        if self._sorted is not None:
            column, down = self._sorted
            lines.sort(key=self.columns[column].sort_key, reverse=down)
        self.set_rows(lines)

    def _text(self, line: SessionSummary) -> str:
        """What a search looks at: all cells of a row, and the folder's name."""
        known = self._texts.get(id(line))
        if known is None:
            cells = (column.text(line) for column in self.columns)
            known = self._texts[id(line)] = (line, "\n".join((line.id, *cells)).casefold())
        return known[1]

    def cell(self, row: SessionSummary, column: int, role: int) -> Any:
        of = self.columns[column]
        if role == Qt.ItemDataRole.DisplayRole:
            return of.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return of.tip(row) if of.tip is not None else row.problem or of.text(row)
        if role == Qt.ItemDataRole.ForegroundRole and (tone := of.tone(row)):
            return QColor(getattr(self._palette, tone))
        return None


ROW_PX = 36
LEAST_COLUMN_PX = 64
SIGNS = {"complete": "✓", "ended_early": "■", "interrupted": "!", "running": "▶", "damaged": "✕"}
TONES = {"complete": "good", "interrupted": "warn", "damaged": "alarm"}


def label_text(line: SessionSummary) -> str:
    """The participant, and the session where there may be several."""
    return line.participant + ("" if line.session == "1" else f" · {line.session}")


def _tells_not_counted(line: SessionSummary) -> bool:
    """Whether it came to its end, and does not count all the same."""
    if line.decision:
        return line.decision == "excluded"
    return line.state == "complete" and bool(line.not_counted)


def _state(line: SessionSummary) -> str:
    sign = SIGNS["ended_early" if _tells_not_counted(line) else line.state]
    return f"{sign}  {state_text(line)}"


def _state_tone(line: SessionSummary) -> str:
    return "warn" if _tells_not_counted(line) else TONES.get(line.state, "")


STUDY = SessionColumn(N_("tab.study"), lambda line: line.study, wide=True)
ID = SessionColumn(
    N_("sessions.column.id"), label_text, lambda line: natural(f"{line.participant} {line.session}")
)
STATE = SessionColumn(N_("sessions.column.state"), _state, tone=_state_tone)
STARTED = SessionColumn(
    N_("sessions.column.started"),
    lambda line: wording.local_time(line.started),
    lambda line: line.started,
)
LENGTH = SessionColumn(N_("sessions.column.length"), length_text, lambda line: line.length_s)
VOICE = SessionColumn(
    N_("sessions.column.voice"),
    voice_text,
    lambda line: (line.sound, -line.lost_s),
    lambda line: "warn" if line.lost_s > 0 else "",
)
NARROW = (ID, STATE, LENGTH, replace(VOICE, wide=True))
WIDE = (STUDY, ID, STATE, STARTED, LENGTH, VOICE)


class SessionView(RowTable):
    """A table that is read and whose rows are chosen, newest first until a header is clicked.

    chosen(): other rows are selected; opened(line): a row was clicked twice, or Enter pressed.
    """

    opened = Signal(object)

    def __init__(self, columns: Sequence[SessionColumn], name: str, palette: Palette) -> None:
        self.sessions = SessionModel(columns, palette)
        wide = [place for place, column in enumerate(columns) if column.wide]
        super().__init__(self.sessions, name, ROW_PX, wide)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setMinimumSectionSize(LEAST_COLUMN_PX)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorShown(True)
        header.sortIndicatorChanged.connect(self._sort)
        self.picked.connect(lambda row: self.opened.emit(self.sessions.rows[row]))

    @property
    def lines(self) -> tuple[SessionSummary, ...]:
        """All sessions, as they were given."""
        return self.sessions.all_lines

    def set_lines(self, lines: Sequence[SessionSummary]) -> None:
        """Show these sessions; what is selected, and where the table stands, stays so."""
        if tuple(lines) != self.sessions.all_lines:
            self.keeping(lambda: self.sessions.set_lines(lines))
        for place, column in enumerate(self.sessions.columns):
            if column.filled:
                self.setColumnHidden(place, not any(map(column.text, lines)))

    def search(self, text: str) -> None:
        """Show only the sessions that have every word of the text."""
        self.keeping(lambda: self.sessions.search(text))

    def selected_lines(self) -> list[SessionSummary]:
        """The sessions of the selected rows, in the table's order."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.sessions.rows[row] for row in rows if row < len(self.sessions.rows)]

    def selected(self) -> SessionSummary | None:
        """The session of the selected row."""
        return next(iter(self.selected_lines()), None)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self.keeping(lambda: self.sessions.sort(column, order))

    def keeping(self, change: Callable[[], None]) -> None:
        """Change what is shown; what is selected stays so where it is still shown, and so does the
        row from which the arrow keys go on."""
        chosen = {line.path for line in self.selected_lines()}
        row = self.currentIndex().row()
        current = self.sessions.rows[row].path if row >= 0 else None
        place = self.verticalScrollBar().value()
        model = self.selectionModel()
        blocked = model.blockSignals(True)
        change()
        last = len(self.sessions.columns) - 1
        selection = QItemSelection()
        for row, line in enumerate(self.sessions.rows) if chosen or current else ():
            if line.path in chosen:
                selection.select(self.sessions.index(row, 0), self.sessions.index(row, last))
            if line.path == current:
                cell = self.sessions.index(row, 0)
                model.setCurrentIndex(cell, QItemSelectionModel.SelectionFlag.NoUpdate)
        model.select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        model.blockSignals(blocked)
        self.verticalScrollBar().setValue(place)
        self.chosen.emit()


class SessionTable(SessionView):
    """wide: with study and start, for all sessions; narrow: those of one study."""

    def __init__(self, palette: Palette, *, wide: bool, more: Sequence[SessionColumn] = ()) -> None:
        super().__init__((*(WIDE if wide else NARROW), *more), tr("tab.sessions"), palette)


SEARCH_WIDTH = 240


def _tags(line: SessionSummary) -> str:
    simulated = tr("results.simulated") if line.simulated else ""
    return ", ".join(filter(None, (line.phase, simulated, *line.tags)))


TAGS = SessionColumn(N_("sessions.column.tags"), _tags, wide=True, filled=True)

REMARK = SessionColumn(
    N_("sessions.column.remark"),
    lambda line: " · ".join(reversed(line.comments)).replace("\n", " "),
    tip=lambda line: "\n".join(line.comments),
    wide=True,
    filled=True,
)


class _QuestionLine(QWidget):
    """Asks in place. left(): *Cancel* or Escape."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = bits.label(role="strong", wrap=True)
        self.cancel = Button(tr("button.cancel"), pressed=self.left)

    def place(self, *answers: controls.Item) -> None:
        """Put the answers below the question."""
        row = bits.fill(bits.row(None, theme.SPACE_S), *answers)
        bits.fill(bits.column(self, theme.SPACE_S), bits.readable(self.text), row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)


class WithdrawLine(_QuestionLine):
    """Asks what becomes of the data of who withdraws. answered(delete); left(): nobody withdraws
    after all. *Cancel* has the keyboard: nothing is deleted by one Enter."""

    answered = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.keep = Button(tr("sessions.withdraw_keep"), pressed=lambda: self.answered.emit(False))
        self.delete = Button(tr("sessions.withdraw_delete"), "danger")
        self.place(1, self.cancel, self.keep, self.delete)
        self.delete.clicked.connect(lambda: self.answered.emit(True))

    def ask(self, line: SessionSummary) -> None:
        """Ask about a session."""
        text = tr("sessions.withdraw_question", id=label_text(line), study=line.study)
        if line.exported:
            text += " " + tr("sessions.bundles_untouched")
        bits.set_text(self.text, text)
        self.show()
        self.cancel.setFocus()


class DecisionLine(_QuestionLine):
    """Asks why a session is excluded, counts all the same, or is moved between the study and its
    pilots; or which tags it has. answered(str: reason, or tags); left(): nothing is decided."""

    answered = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._needed = True
        self.reason = QLineEdit()
        bits.limit(self.reason, LONGEST)
        self.decide = Button(pressed=self._answer)
        self.place((self.reason, 1), self.cancel, self.decide)
        self.reason.returnPressed.connect(self._answer)
        self.reason.textChanged.connect(self._update_button)

    def ask(self, line: SessionSummary, exclude: bool) -> None:
        """Ask for the reason; exclude: whether the session will be excluded."""
        self._needed = exclude  # a reason
        asked = N_("sessions.exclude_question") if exclude else N_("sessions.include_question")
        self._ask(line, asked, tr("sessions.exclude") if exclude else tr("sessions.include"))

    def ask_move(self, line: SessionSummary) -> None:
        """Ask why a pilot is moved into the study, or back."""
        self._needed = True
        back = N_("sessions.into_pilots_question")
        asked = N_("sessions.into_study_question") if line.pilot else back
        self._ask(line, asked, tr("sessions.move"))

    def ask_tags(self, line: SessionSummary) -> None:
        """Ask for all tags of a session, with , between."""
        self._needed = False
        self._ask(
            line, N_("sessions.tags_question"), tr("sessions.tags_save"), tr("sessions.tags_hint")
        )
        self.reason.setText(", ".join(line.tags))

    def _ask(self, line: SessionSummary, asked: str, decide: str, placeholder: str = "") -> None:
        bits.set_text(self.text, tr(asked, id=label_text(line), study=line.study))
        needed = tr("word.reason") if self._needed else tr("word.reason_if_any")
        placeholder = placeholder or needed
        self.reason.setPlaceholderText(placeholder)
        self.reason.setAccessibleName(placeholder)
        self.reason.clear()
        self.decide.setText(decide)
        self._update_button()
        self.show()
        self.reason.setFocus()

    def _update_button(self) -> None:
        self.decide.setEnabled(bool(self.reason.text().strip()) or not self._needed)

    def _answer(self) -> None:
        if self.decide.isEnabled():
            self.answered.emit(self.reason.text().strip())


CHOOSE = N_("sessions.choose")


class SessionsPage(bits.Card):
    """replay_requested(Path), resume_requested(Path), folder_requested(Path),
    withdraw_requested(Path, bool: delete), decided(Path, bool: included, str: reason),
    moved(Path, bool: into the study, str: reason), tagged(Path, list: add, list: remove),
    remarked(Path, str): what is to be done with the selected session. A remark stays in its field
    until the code that saves it clears the field."""

    replay_requested = Signal(object)
    resume_requested = Signal(object)
    folder_requested = Signal(object)
    withdraw_requested = Signal(object, bool)
    remarked = Signal(object, str)
    decided = Signal(object, bool, str)
    moved = Signal(object, bool, str)
    tagged = Signal(object, object, object)

    def __init__(self, palette: Palette) -> None:
        super().__init__(margins=theme.SPACE_L)
        self._forbidden: frozenset[Path] = frozenset()
        self._whole = False
        self._said = ""
        self._chosen: Path | None = None
        self._asked: SessionSummary | None = None
        self._asks: Literal["decision", "move", "tags"] = "decision"
        self.table = SessionTable(palette, wide=True, more=(TAGS, REMARK))
        header = self.table.horizontalHeader()
        header.setSortIndicator(WIDE.index(STARTED), Qt.SortOrder.DescendingOrder)
        self.search = QLineEdit(placeholderText=tr("button.search"), clearButtonEnabled=True)
        self.search.setAccessibleName(tr("sessions.search"))
        self.search.setFixedWidth(SEARCH_WIDTH)
        self.count = bits.label(role="secondary")
        self.about = bits.label(role="secondary", wrap=True)
        self.remark = bits.line_edit(tr("sessions.column.remark"), tr("sessions.remark_tip"))
        self.replay = Button(tr("button.replay"), pressed=lambda: self._emit(self.replay_requested))
        self.folder = Button(tr("button.open_folder"))
        self.exclude = Button(tr("sessions.exclude_ask"), pressed=self._ask_why)
        self.move_ = Button(tr("sessions.into_study_ask"), pressed=self._ask_move)
        self.tag = Button(tr("sessions.tags_ask"), pressed=self._ask_tags)
        self.withdraw = Button(tr("sessions.withdraw_ask"))
        self.resume = Button(tr("button.resume"), pressed=lambda: self._emit(self.resume_requested))
        self.asking = WithdrawLine()
        self.deciding = DecisionLine()
        head = QHBoxLayout()
        bits.fill(head, bits.label(tr("tab.sessions"), "title"), (self.count, 1), self.search)
        self._foot = QWidget()
        foot = bits.fill(bits.column(self._foot, theme.SPACE_S), self.remark)
        self.buttons = (
            *(self.replay, self.folder, self.tag),
            *(self.exclude, self.move_, self.withdraw, self.resume),
        )
        foot.addLayout(FlowLayout(theme.SPACE_S, theme.SPACE_S, widgets=self.buttons))
        bits.fill(self.body, head, (self.table, 1), bits.readable(self.about), self._foot)
        for question in (self.asking, self.deciding):
            self.body.addWidget(question)
            question.hide()
            question.left.connect(self._stop_asking)
        self.search.textChanged.connect(self._search)
        self.table.chosen.connect(self._show_selection)
        self.table.opened.connect(self._open)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.folder.clicked.connect(lambda: self._emit(self.folder_requested))
        self.withdraw.clicked.connect(lambda: self._ask(self.asking.ask))
        self.deciding.answered.connect(self._on_decision)
        self.asking.answered.connect(self._on_answer)
        self.remark.returnPressed.connect(self._save_remark)
        self._show_selection()

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
        self._show_selection()

    def say(self, text: str) -> None:
        """Tell something below the table until another session is selected."""
        self._said = text
        bits.set_text(self.about, text)

    def _count(self) -> None:
        shown, of = len(self.table.sessions.rows), len(self.table.lines)
        text = tr("word.n_of", n=shown, of=of) if shown != of else str(of)
        bits.set_text(self.count, text if of else "")

    def _search(self, text: str) -> None:
        self.table.search(text)
        self._count()

    def _show_selection(self) -> None:
        line = self.table.selected()
        if line is not None and line.path != self._chosen:
            self._chosen, self._said = line.path, ""
        forbidden = line is not None and line.path in self._forbidden
        state = "running" if line is None or line.withdrawn else line.state
        over = state != "running"
        self.resume.setEnabled(state == "interrupted" and not forbidden)
        self.withdraw.setEnabled(over or (line is not None and line.withdrawn == "delete"))
        self.exclude.setEnabled(over and state != "damaged")
        counts = line is None or _counts(line)
        self.exclude.setText(tr("sessions.exclude_ask") if counts else tr("sessions.include_ask"))
        # Only what was recorded as a pilot is ever moved.
        self.move_.setVisible(line is not None and (line.pilot or bool(line.moved)))
        self.move_.setEnabled(self.exclude.isEnabled())
        into = line is None or line.pilot
        self.move_.setText(
            tr("sessions.into_study_ask") if into else tr("sessions.into_pilots_ask")
        )
        self.folder.setEnabled(line is not None)
        self.tag.setEnabled(line is not None and not line.withdrawn)
        self.replay.setEnabled(replayable(line))
        self.remark.setEnabled(line is not None)
        if self._asked is not None and (line is None or line.path != self._asked.path):
            self._stop_asking()
        if line is None:
            text = self._hint()
        elif forbidden:
            text = tr("sessions.not_resumable", path=line.path)
        else:
            text = "\n".join((*_decision(line), *line.comments, str(line.path)))
        bits.set_text(self.about, self._said or text)

    def _hint(self) -> str:
        if self.table.lines:
            return tr(CHOOSE)
        return bits.start_one() if self._whole else tr("state.checking")

    def _open(self, line: SessionSummary) -> None:
        if replayable(line):
            self.replay_requested.emit(line.path)
        else:
            self.say(tr("sessions.withdrawn", id=label_text(line)))

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the session that the pointer, or else the selection, is on."""
        if self.table.selected() is not None:
            menu_of(self.table.viewport(), place, self.buttons)

    def _emit(self, signal: object) -> None:
        if (line := self.table.selected()) is not None:
            signal.emit(line.path)  # type: ignore[attr-defined]

    def _save_remark(self) -> None:
        line, text = self.table.selected(), self.remark.text().strip()
        if line is not None and text:
            self.remarked.emit(line.path, text)

    def _ask(self, ask: Callable[[SessionSummary], None]) -> None:
        self._asked = self.table.selected()
        if self._asked is not None:
            self._foot.hide()
            ask(self._asked)

    def _stop_asking(self) -> None:
        self._asked = None
        self.asking.hide()
        self.deciding.hide()
        self._foot.show()
        self.table.setFocus()

    def _on_answer(self, delete: bool) -> None:
        asked = self._asked
        self._stop_asking()
        if asked is not None:
            self.withdraw_requested.emit(asked.path, delete)

    def _ask_move(self) -> None:
        self._asks = "move"
        self._ask(self.deciding.ask_move)

    def _ask_tags(self) -> None:
        self._asks = "tags"
        self._ask(self.deciding.ask_tags)

    def _ask_why(self) -> None:
        self._asks = "decision"
        self._ask(lambda line: self.deciding.ask(line, _counts(line)))

    def _on_decision(self, reason: str) -> None:
        asked = self._asked
        self._stop_asking()
        if asked is None:
            return
        if self._asks == "move":
            self.moved.emit(asked.path, asked.pilot, reason)
        elif self._asks == "tags":
            now = [tag for part in reason.split(",") if (tag := " ".join(part.split()))]
            added = [tag for tag in now if tag not in asked.tags]
            removed = [tag for tag in asked.tags if tag not in now]
            if added or removed:
                self.tagged.emit(asked.path, added, removed)
        else:
            self.decided.emit(asked.path, not _counts(asked), reason)


def _counts(line: SessionSummary) -> bool:
    """Whether a session counts, by the decision about it or else by the rules."""
    return line.decision == "included" if line.decision else not line.not_counted


def _decision(line: SessionSummary) -> list[str]:
    """What was decided by hand, and why; or the rules for which a session does not count."""
    lines = []
    if line.moved:
        where = tr("sessions.moved_to_pilots") if line.pilot else tr("sessions.moved_to_study")
        lines.append(f"{where}: {line.moved}")
    if line.decision:
        excluded = line.decision == "excluded"
        told = tr("sessions.excluded") if excluded else tr("sessions.included")
        lines.append(": ".join(filter(None, (told, line.decision_reason))))
    elif rules := ", ".join(map(wording.not_counted, line.not_counted)):
        lines.append(tr("sessions.not_counted", why=rules))
    return lines


LABEL_WIDTH = 92
NO_BREAK = "\N{NO-BREAK SPACE}"


class SessionCard(bits.Card):
    """study_changed(id or path), participant_changed(participant, session),
    language_changed(code): the person chose."""

    study_changed = Signal(str)
    language_changed = Signal(str)
    participant_changed = Signal(str, str)

    def __init__(self, palette: Palette) -> None:
        super().__init__(tr("word.session"), theme.SPACE_L)
        self._participants = Participants()
        self._taken: Mapping[str, Sequence[str]] = {}
        self._refused: Mapping[str, str] = {}
        self._visits = checklist.ANY_VISIT
        self._drawn: Sequence[str] = ()
        self._label: Callable[[str], str] = str
        self._parts: Sequence[PlannedPart] = ()
        self._problem = ""
        self._proposed = ""
        self._pilots = False

        self.study = FindingCombo(palette, tr("tab.study"))
        self.study.setMinimumContentsLength(4)
        self.open_file = Button(tr("sessions.open_file"), pressed=self._choose_file)
        self.about = bits.label(role="secondary", wrap=True)
        self.study_note = bits.label(role="secondary", wrap=True)
        self.study_note.hide()
        self.participant = bits.line_edit(tr("word.participant"), longest=40)
        self.session = bits.line_edit(tr("sessions.label"), longest=20)
        self.session.setText("1")
        self.session.setFixedWidth(72)
        self.verdict = bits.label(role="secondary", wrap=True)
        self.order = bits.label(wrap=True)
        self.language = Combo(palette, tr("study.language"))
        self.language_name = self._name(tr("study.language"), self.language)
        self.blind = QCheckBox(tr("sessions.blind"))
        self.pilot = QCheckBox(tr("state.pilot"))
        self.pilot.setToolTip(tr("sessions.pilot_tip"))

        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_M)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._name(tr("tab.study"), self.study), 0, 0)
        grid.addWidget(self.study, 0, 1)
        left = Qt.AlignmentFlag.AlignLeft
        below = bits.column(None, theme.SPACE_XS)
        bits.fill(below, self.about, self.study_note, (self.open_file, left))
        grid.addLayout(below, 1, 1)
        grid.addWidget(self._name(tr("word.participant"), self.participant), 2, 0)
        which = self._name(tr("word.session"), self.session)
        who = bits.fill(bits.row(None, theme.SPACE_M), (self.participant, 1), which, self.session)
        grid.addLayout(who, 2, 1)
        grid.addWidget(self.verdict, 3, 1)
        grid.addWidget(self.language_name, 4, 0)
        grid.addWidget(self.language, 4, 1)
        grid.addWidget(self._name(tr("sessions.order")), 5, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.order, 5, 1)
        grid.addWidget(self.blind, 6, 1)
        grid.addWidget(self.pilot, 7, 1)
        self.set_languages((), "")
        self.body.addLayout(grid)

        self.study.activated.connect(lambda at: self.study_changed.emit(self.study.itemData(at)))
        language = self.language
        language.activated.connect(lambda at: self.language_changed.emit(language.itemData(at)))
        self.participant.textEdited.connect(self._participant_edited)
        self.session.textEdited.connect(self._participant_edited)
        self.blind.toggled.connect(self._show_order)
        self._show_verdict()

    def _name(self, text: str, buddy: object = None) -> QLabel:
        made = bits.label(text, "field")
        if isinstance(buddy, Combo | QLineEdit):
            made.setBuddy(buddy)
        return made

    def set_studies(self, choices: Sequence[StudyChoice], current: str) -> None:
        """The studies to choose from; current: the `study` of the one that is chosen."""
        self.study.set_choices([(c.title, c.study) for c in choices], current)

    def set_describe(self, describe: Callable[[str], Described], groups: Sequence[str]) -> None:
        """What the list of studies says of each, by its id or path; groups: its headings."""
        self.study.describe, self.study.groups = describe, groups

    def set_about(self, text: str) -> None:
        """A line about the chosen study."""
        bits.set_text(self.about, text)

    def set_participants(
        self,
        participants: Participants,
        taken: Mapping[str, Sequence[str]],
        refused: Mapping[str, str],
        *,
        pilot: bool = False,
        visits: Visits = checklist.ANY_VISIT,
    ) -> None:
        """How participants are named, which have sessions, and which may have none (see
        `session.folder.refused`); proposes the next free id unless the person typed one. pilot: all
        of this is of pilots; visits: the study's sessions."""
        self._participants, self._taken, self._refused = participants, taken, refused
        self._visits = visits
        untouched = self.participant.text() in ("", self._proposed) or pilot != self._pilots
        self._pilots = pilot
        self._proposed = participants.next_free([*taken, *refused], pilot=pilot)
        if untouched:
            self.participant.setText(self._proposed)
        self._show_verdict()

    def set_plan(
        self,
        parts: Sequence[PlannedPart],
        problem: str = "",
        drawn: Sequence[str] = (),
        label: Callable[[str], str] = str,
    ) -> None:
        """The plan realised for the participant; problem: why there is none; drawn: its conditions,
        which are only reserved when the session starts; label: puts the study's labels in the place
        of names."""
        self._parts, self._problem, self._drawn, self._label = parts, problem, drawn, label
        self._show_order()

    def participant_row(self) -> ChecklistRow:
        """Whether the typed participant can have this session."""
        return checklist.participant_row(
            self._participants,
            self._taken,
            self.participant.text().strip(),
            self.session_label,
            self._refused,
            pilot=self._pilots,
            visits=self._visits,
        )

    def plan_row(self) -> ChecklistRow:
        """Whether the study can be run for this participant."""
        if self._problem or not self._parts:
            return ChecklistRow("plan", "missing", self._problem or tr("sessions.no_study"))
        return ChecklistRow("plan", "ok", "")

    @property
    def session_label(self) -> str:
        return self.session.text().strip()

    def _choose_file(self) -> None:
        kinds = f"{tr('sessions.studies')} (*.yaml *.yml)"
        if path := bits.ask_path(self, tr("sessions.open_file_title"), kinds):
            self.choose_file(Path(path))

    def choose_file(self, path: Path) -> None:
        """Ask for a study file of the lab's own, which is then one more of the choices."""
        self.study_changed.emit(str(path))

    def set_languages(self, languages: Sequence[str], chosen: str) -> None:
        """The study's languages, by their own names; nothing is offered where there is one."""
        world = QLocale.Country.World  # without it English is American
        named = [
            (QLocale(QLocale(code).language(), world).nativeLanguageName(), code)
            for code in languages
        ]
        self.language.set_choices([(f"{name} ({code})", code) for name, code in named], chosen)
        for widget in (self.language_name, self.language):
            widget.setVisible(bool(languages))

    def set_study_note(self, text: str) -> None:
        """A line below the study; empty for none."""
        bits.set_text(self.study_note, text)
        self.study_note.setVisible(bool(text))

    def _participant_edited(self) -> None:
        self._show_verdict()
        self.participant_changed.emit(self.participant.text().strip(), self.session_label)

    def _show_verdict(self) -> None:
        row = self.participant_row()
        bits.set_text(self.verdict, row.text, "" if row.state == "ok" else "alarm")

    def _show_order(self) -> None:
        bits.set_property(self.order, "tone", "alarm" if self._problem else "")
        if self._problem:
            bits.set_text(self.order, self._problem)
            return
        # The blocks of a stage are one.
        stages = {number: blocks[-1] for number, blocks in stages_of(self._parts).items()}
        if self.blind.isChecked():
            text = counted(len(stages), "sessions.stages_hidden")
        else:
            text = "  →  ".join(
                f"{part.number}{NO_BREAK}{self._label(words_of(part).subject(part))}"
                for part in stages.values()
            )
            if self._drawn:
                drawn = ", ".join(map(self._label, self._drawn))
                text += "\n" + tr("sessions.drawn", conditions=drawn)
        bits.set_text(self.order, text or tr("sessions.no_stages"))
