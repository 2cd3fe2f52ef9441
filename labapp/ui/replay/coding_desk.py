"""Coding in the replay window: the list of units, the palette, and what every key does.

The window puts `said` where its text is and `palette` beside it, asks `commands` for what its keys
do, and `unclaimed` for the letters and digits.

The line below the units is for searching, memos, new codes and questions; there is never a dialog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from labapp.coding.annotations.codebook import Code, Codebook
from labapp.coding.annotations.model import Mark, Text, Unit
from labapp.ui import theme
from labapp.ui.language import counted, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.wording import format_time, short_time
from labapp.ui.replay.coding import Coding, CodingBar
from labapp.ui.replay.coding_state import NUDGE_NS, code_name
from labapp.ui.replay.palette import CodePalette
from labapp.ui.replay.units_list import UnitsList
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

SPEAKER_KEYS = {"p": "participant", "m": "moderator", "o": "other"}
MOST_MATCHES = 200
FIELD_WIDTH = 400
"""Of a question that stands over the window."""
WHILE_TYPING = frozenset(
    {"leave", "undo", "redo", "find", "play", "split", "begin_here", "end_here", "speaker"}
)
"""What keys do also while words are typed; all others that are no text do nothing then."""
Command = Callable[[], object]


class CodingDesk(QObject):
    """Puts a coding and its widgets together.

    Attributes
    ----------
    said : the list of units, with the line for questions below it.
    palette : the codes, and what is known of unit and code.
    bar : who codes, what is hidden, how far it is.

    Signals
    -------
    notice(str) : something to tell in a line.
    failed(LabappError) : something went wrong.
    """

    notice = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        coding: Coding,
        palette: Palette,
        parent: QObject | None = None,
        key_text: Callable[[str], str] = lambda action: "",
    ) -> None:
        super().__init__(parent)
        self._key = key_text
        self.coding = coding
        self.units = UnitsList(palette)
        self.palette = CodePalette(palette)
        self.bar = CodingBar(coding)
        self.field = CodingField()
        self.said = QWidget()
        self._column = bits.column(self.said, theme.SPACE_S)
        bits.fill(self._column, (self.units, 1), self.field)
        self.selection: Callable[[], tuple[int, int] | None] = lambda: None
        self._matches: list[TextMatch] = []
        self._over: QWidget | None = None
        self._connect()
        self.show_all()

    def _connect(self) -> None:
        coding = self.coding
        coding.units_changed.connect(self.show_all)
        coding.rows_changed.connect(self._show_rows)
        coding.current_changed.connect(self._show_current)
        coding.state_changed.connect(self._show_state)
        coding.said.connect(self.notice)
        coding.problem.connect(self.failed)
        self.units.chosen.connect(coding.go_to)
        self.units.edited.connect(coding.set_text)
        self.units.overtaken.connect(self._tell_of_others)
        self.units.edit_moved.connect(self._edit_next)
        self.units.play_toggled.connect(coding.toggle)
        self.units.again.connect(coding.again)
        self.palette.rows.pressed.connect(coding.give)
        self.palette.rows.tier_chosen.connect(coding.choose_tier)
        self.bar.done_pressed.connect(self.ask_done)
        self.bar.find_pressed.connect(self.find)
        self.field.left.connect(self._back)

    def float_field(self, window: QWidget | None) -> None:
        """Where there is little room, questions stand over the window instead of in the list."""
        asked = self.field.question is not None
        if window is not self._over:
            self._over = window
            if window is not None:
                self._column.removeWidget(self.field)
                self.field.setParent(window)
            else:
                self.field.setMinimumWidth(0)
                self.field.setMaximumWidth(self.said.maximumWidth())
                self._column.insertWidget(1, self.field)
            self.field.setVisible(asked)
        self.place_field()

    def put_below(self, widget: QWidget) -> None:
        """Show something below list and questions."""
        self._column.addWidget(widget)

    def place_field(self) -> None:
        """Over the window: at the bottom of the list, as high as it needs to be."""
        if self._over is None:
            return
        self.field.setFixedWidth(min(FIELD_WIDTH, self._over.width() - 2 * theme.SPACE_L))
        self.field.adjustSize()
        corner = self.said.mapTo(self._over, self.said.rect().topLeft())
        left = min(corner.x(), self._over.width() - self.field.width() - theme.SPACE_L)
        room = self._over.height() - self.field.height() - theme.SPACE_L
        self.field.move(max(theme.SPACE_L, left), max(theme.SPACE_L, min(corner.y() + 60, room)))
        self.field.raise_()

    # --- what is shown ----------------------------------------------------------------------------

    def show_all(self) -> None:
        """Show everything anew."""
        coding = self.coding
        self.palette.set_codebook(coding.codebook)
        if coding.queue is not None:
            none = tr("coding.queue_empty")
        else:
            none = tr(
                "coding.begin_segmenting",
                key=self._key("segmenting") or "Ctrl+U",
                enter=self._key("repeat_unit") or "Enter",
            )
        self.units.set_rows(coding.rows(), none)
        self._show_current()
        self._show_state()

    def _show_rows(self, units: frozenset[str]) -> None:
        by_id = {unit: self.coding.unit(unit) for unit in units}
        self.units.update_rows(
            {name: self.coding.row(unit) for name, unit in by_id.items() if unit is not None}
        )
        if self.coding.current is not None and self.coding.current.id in units:
            self._show_state()

    def _show_current(self) -> None:
        current = self.coding.current
        self.units.set_current(None if current is None else current.id)
        self.palette.set_facts(self.coding.facts())
        self._show_state()

    def _show_state(self) -> None:
        coding = self.coding
        unit = "" if coding.current is None else coding.current.id
        given = frozenset(mark.code for mark in coding.marks.of_unit(unit))
        open_ = frozenset(coding.open_spans())
        self.palette.rows.set_state(coding.marks.counts, coding.tier, given, open_)
        if coding.focused:
            self.palette.set_focused(coding.focused)

    # --- keys -------------------------------------------------------------------------------------

    def commands(self) -> dict[str, Command]:
        """What the keys of coding do, by the names of actions."""
        coding, segmenting = self.coding, self.coding.segmenting

        def segments() -> bool:
            return coding.mode == "segment"

        commands: dict[str, Command] = {
            "play": coding.toggle,
            "previous_unit": lambda: coding.step(-1),
            "next_unit": lambda: coding.step(1),
            "repeat_unit": lambda: segmenting.begin_or_end() if segments() else coding.again(),
            "leave": self.leave,
            "tier_up": lambda: coding.step_tier(-1),
            "tier_down": lambda: coding.step_tier(1),
            "take_last": lambda: segmenting.remove() if segments() else coding.take_last(),
            "undo": lambda: self._turn("undo"),
            "redo": lambda: self._turn("redo"),
            "find_code": self.find_code,
            "find": self.find,
            "edit_text": self.edit,
            "segmenting": self._segment,
            "split": segmenting.split,
            "merge": segmenting.merge,
            "begin_here": lambda: segmenting.boundary_here("begin"),
            "end_here": lambda: segmenting.boundary_here("end"),
            "begin_earlier": lambda: segmenting.nudge("begin", -NUDGE_NS),
            "begin_later": lambda: segmenting.nudge("begin", NUDGE_NS),
            "end_earlier": lambda: segmenting.nudge("end", -NUDGE_NS),
            "end_later": lambda: segmenting.nudge("end", NUDGE_NS),
            "speaker": segmenting.next_speaker,
            "freeze": self.ask_freeze,
            "redact": self.ask_redact,
            "accept_change": lambda: segmenting.settle(True),
            "decline_change": lambda: segmenting.settle(False),
            "less_reaction": lambda: coding.set_reaction(-50),
            "more_reaction": lambda: coding.set_reaction(50),
            "memo": self.memo_mark,
            "memo_code": self.memo_code,
            "memo_session": self.memo_session,
            "new_code": self.new_code,
            "recode": self.recode,
            "done": self.ask_done,
            "next_disagreement": self.next_disagreement,
            "advance": self._switch_advance,
            "hold": self._switch_hold,
            "show_old": self._switch_old,
        }
        return {
            name: command if name in WHILE_TYPING else partial(self._unless_typing, command)
            for name, command in commands.items()
        }

    def _unless_typing(self, command: Command) -> None:
        """Do something while nothing is typed: keys that mean something there do nothing else."""
        if not isinstance(QApplication.focusWidget(), QLineEdit | QPlainTextEdit):
            command()

    def unclaimed(self, event: QKeyEvent) -> bool:
        """A key that is no action: a letter or digit gives a code. Says whether it was taken."""
        held = event.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        )
        text = event.text()
        if held.value or len(text) != 1 or not text.isalnum():
            return False
        if event.isAutoRepeat():
            return True
        if event.type() == QEvent.Type.KeyRelease:
            self.coding.release(text)
        elif self.coding.mode == "segment":
            speaker = SPEAKER_KEYS.get(text.casefold())
            if speaker is not None:
                self.coding.segmenting.set_speaker(speaker)  # type: ignore[arg-type]
        else:
            self.coding.press(text)
        return True

    def leave(self) -> bool:
        """Leave what is open, the innermost first; False if nothing is."""
        if self.field.question is not None:
            self.field.leave()
        elif self.units.editing is not None:
            self.units.end_edit()
        elif self.coding.mode == "segment":
            self.coding.leave_segmenting()
        elif self.coding.queue is not None:
            self.coding.set_queue(None)
        else:
            return False
        return True

    def _turn(self, how: str) -> None:
        """Undo and redo: in a text that is being typed its own."""
        widget = QApplication.focusWidget()
        if isinstance(widget, QLineEdit | QPlainTextEdit) and widget.isVisible():
            widget.undo() if how == "undo" else widget.redo()
        elif how == "undo":
            self.coding.undo()
        else:
            self.coding.redo()

    def _segment(self) -> None:
        if self.coding.mode == "segment":
            self.coding.leave_segmenting()
        else:
            self.coding.enter_segmenting()
            enter = self._key("repeat_unit") or "Enter"
            self.notice.emit(tr("coding.segmenting_keys", key=enter))

    def _switch_advance(self) -> None:
        settings = self.coding.settings
        settings.advance = not settings.advance
        on = tr("coding.advance_on")
        self.notice.emit(on if settings.advance else tr("coding.advance_off"))

    def _switch_hold(self) -> None:
        settings = self.coding.settings
        settings.hold = not settings.hold
        held = tr("coding.hold_on")
        self.notice.emit(held if settings.hold else tr("coding.hold_off"))

    def _switch_old(self) -> None:
        settings = self.coding.settings
        settings.show_old = not settings.show_old
        shown = tr("coding.old_shown")
        self.notice.emit(shown if settings.show_old else tr("coding.old_hidden"))
        self.show_all()

    def _back(self) -> None:
        self.units.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- words ------------------------------------------------------------------------------------

    def edit(self) -> None:
        """Let the words of the current unit be typed."""
        current = self.coding.current
        if current is None or not self.units.edit(current.id):
            self.notice.emit(tr("coding.no_words_to_type"))

    def _tell_of_others(self) -> None:
        self.notice.emit(tr("coding.other_words"))

    def _edit_next(self, step: int) -> None:
        current = self.coding.current if self.coding.step(step) else None
        if current is None or not self.units.edit(current.id):
            self.units.end_edit()

    # --- finding ----------------------------------------------------------------------------------

    def find_code(self) -> None:
        """Ask for a code by its name, and give it."""
        codebook = self.coding.codebook

        def answers(text: str) -> list[str]:
            codes = find_codes(codebook, text)[:MOST_MATCHES]
            return [f"{code.key.upper() or ' '}   {code.name} · {code.tier}" for code in codes]

        def accept(text: str, chosen: int) -> bool:
            codes = find_codes(codebook, text)
            if not 0 <= chosen < len(codes):
                return False
            self.field.leave()
            self.coding.choose_tier(codes[chosen].tier)
            self.coding.give(codes[chosen].id)
            return True

        self.field.ask(DeskQuestion(tr("coding.which_code"), accept, answers=answers))

    def find(self) -> None:
        """Search words, notes and memos; Enter goes to what is chosen."""
        coding = self.coding
        texts = {u.id: t for u in coding.units if (t := coding.text(u.id)) and not coding.veiled(u)}
        notes, marks = coding.files.notes, [mark for mark in coding.marks.all if mark.memo]

        def answers(text: str) -> list[str]:
            self._matches = find_places(coding.units, texts, notes, marks, text)
            shown = self._matches[:MOST_MATCHES]
            return [f"{short_time(match.t_ns)}   {match.excerpt}" for match in shown]

        def accept(text: str, chosen: int) -> bool:
            if not 0 <= chosen < len(self._matches):
                return False
            match = self._matches[chosen]
            if match.unit is not None:
                coding.go_to(match.unit)
            else:
                coding.seek(match.t_ns)
            return True

        hint = tr("coding.search_note")
        self.field.ask(DeskQuestion(tr("button.find"), accept, answers=answers, hint=hint))

    # --- memos ------------------------------------------------------------------------------------

    def memo_mark(self) -> None:
        """Ask for a remark on the code that was given last on the current unit."""
        mark = self.coding.memo_mark()
        if mark is None:
            self.notice.emit(tr("coding.code_before_memo"))
            return
        title = tr("coding.memo_on_code", code=code_name(self.coding.codebook, mark.code))
        self.field.ask(
            DeskQuestion(title, lambda text, _: self.coding.set_memo(mark.id, text), mark.memo)
        )

    def memo_code(self) -> None:
        """Ask for a remark on the focused code itself."""
        code = self.coding.codebook.code(self.coding.focused)
        if code is None:
            self.notice.emit(tr("coding.code_for_memo"))
            return
        self._memo_of(f"code:{code.id}", tr("coding.memo_on_the_code", code=code.name))

    def memo_session(self) -> None:
        """Ask for a remark on the whole session."""
        self._memo_of("session", tr("coding.memo_on_session"))

    def _memo_of(self, about: str, title: str) -> None:
        text = self.coding.memo_of(about)
        self.field.ask(
            DeskQuestion(title, lambda new, _: self.coding.set_memo_of(about, new), text)
        )

    # --- codebook, queue, status ------------------------------------------------------------------

    def new_code(self) -> None:
        """Ask for the name of a new code of the active tier."""
        coding = self.coding

        def accept(text: str, _: int) -> bool:
            return bool(text) and coding.attempt(lambda: coding.add_code(text))

        hint = tr("coding.new_code_note")
        title = tr("coding.new_code_of", tier=coding.active.title)
        self.field.ask(DeskQuestion(title, accept, hint=hint))

    def recode(self) -> None:
        """Go through the units that were coded under an older definition, or that are in the
        place of coded ones; again: all units."""
        coding = self.coding
        if coding.recoding:
            coding.set_queue(None)
            return
        outdated = coding.find_outdated()
        units = frozenset(unit for old in outdated for unit in old.units)
        if not units:
            self.notice.emit(tr("coding.none_to_recode"))
            return
        replaced: dict[str, list[Mark]] = {}
        for old in outdated:
            for unit in old.units:
                if unit != old.mark.unit:
                    replaced.setdefault(unit, []).append(old.mark)
        coding.replaced = replaced
        coding.set_queue(units, recoding=True)
        first = next(unit for unit in coding.units if unit.id in units)
        coding.go_to(first.id)

    def ask_freeze(self) -> None:
        """Freeze the units; where nobody said who speaks, ask that first."""
        files, segmenting = self.coding.files, self.coding.segmenting
        if files.frozen or files.segmentation.speakers_said:
            segmenting.freeze()
            return
        key = self._key("speaker") or "Alt+P"
        self.field.ask(
            DeskQuestion(
                tr("coding.alone_question"),
                lambda *_: segmenting.freeze(confirmed=True),
                typed=False,
                careful=True,
                yes=tr("coding.freeze_yes"),
                hint=tr("coding.speakers_unsaid", key=key),
            )
        )

    def ask_redact(self) -> None:
        """Ask whether what is selected on the timeline, or else the current unit, is redacted."""
        unit = self.coding.current
        stretch = self.selection() or (None if unit is None else (unit.t0_ns, unit.t1_ns))
        if stretch is None:
            self.notice.emit(tr("coding.select_first"))
            return
        begin, end = stretch
        self.field.ask(
            DeskQuestion(
                tr("coding.redact_question", begin=format_time(begin), end=format_time(end)),
                lambda *_: self.coding.redact(begin, end),
                typed=False,
                careful=True,
                yes=tr("coding.redact_yes"),
                hint=tr("coding.redact_note"),
            )
        )

    def ask_done(self) -> None:
        """Say what is missing, and ask whether the coding is done; a done one is opened again."""
        coding = self.coding
        if coding.status != "draft":
            coding.set_done(False)
            return
        if coding.files.marks is None:
            self.notice.emit(tr("coding.nothing_coded"))
            return
        if coding.open_spans():
            self.notice.emit(coding.missing())
            return
        missing = coding.missing() or tr("coding.all_coded")
        coded, of = coding.progress()
        counts = counted(of, "coding.coded_units", coded=coded)
        self.field.ask(
            DeskQuestion(
                tr("coding.done_question"),
                lambda *_: coding.set_done(True),
                typed=False,
                yes=tr("coding.done"),
                hint=f"{counts}. {missing}",
            )
        )

    def next_disagreement(self) -> None:
        """Go to the next unit that another rater coded otherwise."""
        coding = self.coding
        if coding.status == "draft":
            self.notice.emit(tr("coding.others_after_done"))
            return
        units = coding.disagreements()
        if not units:
            self.notice.emit(tr("coding.no_disagreement"))
            return
        order = [unit.id for unit in coding.units]
        here = -1 if coding.current is None else order.index(coding.current.id)
        later = [unit for unit in units if order.index(unit) > here]
        coding.go_to((later or units)[0])


Source = Literal["text", "note", "memo"]
AROUND = 40
"""Characters that are shown on both sides of what matched."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A place that matched.

    t_ns: session time to go to; unit: the unit there; excerpt: what matched, with some words
    around it.
    """

    t_ns: int
    unit: str | None
    source: Source
    excerpt: str


def find_codes(codebook: Codebook, wanted: str) -> list[Code]:
    """Codes in use whose name or id has every word; those that begin so come first."""
    words = wanted.casefold().split()
    codes = [
        code
        for code in codebook.codes
        if not code.retired
        and all(word in f"{code.name} {code.id} {code.when}".casefold() for word in words)
    ]
    first = words[0] if words else ""

    def rank(code: Code) -> tuple[int, int]:
        name = code.name.casefold()
        if name.startswith(first):
            return 0, len(name)
        return (1, len(name)) if first in name or first in code.id else (2, len(name))

    return sorted(codes, key=rank)


def find_places(
    units: Sequence[Unit],
    texts: dict[str, Text],
    notes: Iterable[Mark],
    memos: Iterable[Mark],
    wanted: str,
) -> list[TextMatch]:
    """Every place in words, notes and memos that has all words of what is wanted, by time."""
    words = wanted.casefold().split()
    if not words:
        return []
    matches: list[TextMatch] = []

    def look(t_ns: int, unit: str | None, source: Source, text: str) -> None:
        folded = text.casefold()
        if all(word in folded for word in words):
            matches.append(TextMatch(t_ns, unit, source, excerpt(text, words[0])))

    for unit in units:
        if (text := texts.get(unit.id)) is not None:
            look(unit.t0_ns, unit.id, "text", text.text)
    for mark in notes:
        look(mark.t0_ns, None, "note", mark.memo)
    for mark in memos:
        look(mark.t0_ns, mark.unit, "memo", mark.memo)
    return sorted(matches, key=lambda match: (match.t_ns, match.source))


def excerpt(text: str, word: str) -> str:
    """The part of a text around the first place of a word."""
    place = max(0, text.casefold().find(word))
    begin, end = max(0, place - AROUND), min(len(text), place + len(word) + AROUND)
    return ("…" if begin else "") + text[begin:end].strip() + ("…" if end < len(text) else "")


SHOWN = 6
"""Answers that are seen at once; more are scrolled to."""
ROW_PX = 24


@dataclass(frozen=True)
class DeskQuestion:
    """What is asked in the line.

    Attributes
    ----------
    text : what it holds at first.
    answers : the answers to choose from to what is typed.
    done : told what was typed and which answer is chosen, -1 for none; False leaves the line open.
    typed : whether something is typed; else it is a question to be answered by Enter or Esc.
    careful : whether Enter answers no, for a yes cannot be taken back, or states a fact.
    """

    title: str
    done: Callable[[str, int], bool | None]
    text: str = ""
    answers: Callable[[str], Sequence[str]] | None = None
    typed: bool = True
    yes: str = ""
    hint: str = ""
    careful: bool = False


class _DeskInput(QLineEdit):
    """Esc leaves, Up and Down choose an answer."""

    left = Signal()
    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in steps:
            self.moved.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() == Qt.FocusReason.MouseFocusReason and not self.text():
            self.left.emit()


class CodingField(QFrame):
    """Hidden until something is asked.

    Signals
    -------
    left() : nothing is asked any more.
    grown() : it needs another height.
    """

    left = Signal()
    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.question: DeskQuestion | None = None
        self.title = bits.label(role="strong", wrap=True)
        self.line = _DeskInput()
        bits.limit(self.line)
        self.answers = QListWidget()
        self.answers.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.answers.setAccessibleName(tr("coding.matches"))
        self.answers.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint = bits.label(role="caption", wrap=True)
        self.yes = Button("", "compact", pressed=self.accept)
        self.no = Button(tr("button.not_now"), "compact", pressed=self.leave)
        column = bits.column(self, theme.SPACE_XS, (theme.SPACE_M, theme.SPACE_S) * 2)
        row = bits.fill(bits.row(None, theme.SPACE_S), self.yes, self.no, 1)
        bits.fill(column, self.title, self.line, self.answers, self.hint, row)
        self.line.left.connect(self.leave)
        self.line.moved.connect(self._move)
        self.line.returnPressed.connect(self.accept)
        self.line.textChanged.connect(self._look)
        self.answers.itemClicked.connect(lambda item: self.accept())
        self.hide()

    def ask(self, question: DeskQuestion) -> None:
        self.question = question
        self.title.setText(question.title)
        self.line.setVisible(question.typed)
        self.line.setAccessibleName(question.title)
        self.line.setText(question.text)
        bits.set_text(self.hint, question.hint)
        self.hint.setVisible(bool(question.hint))
        for button in (self.yes, self.no):
            button.setVisible(not question.typed)
        self.yes.setText(question.yes)
        self._look(question.text)
        self.show()
        self._fit()
        self.grown.emit()
        answer = self.no if question.careful else self.yes
        target = self.line if question.typed else answer
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        if question.typed:
            self.line.selectAll()

    def _fit(self) -> None:
        """No line of it is cut where the list above it has little room."""
        layout = self.layout()
        self.setMinimumHeight(0)
        if layout is not None and self.question is not None:
            layout.activate()
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def accept(self) -> None:
        """Take what was typed or chosen."""
        question = self.question
        if question is None:
            return
        answered = question.done(self.line.text().strip(), self.answers.currentRow()) is not False
        if answered and self.question is question:
            self.leave()

    def leave(self) -> None:
        """Ask nothing any more."""
        if self.question is not None:
            self.question = None
            self.hide()
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _look(self, text: str) -> None:
        question = self.question
        if question is None:
            return
        answers = question.answers(text.strip()) if question.answers is not None else ()
        self.answers.clear()
        for answer in answers:
            item = QListWidgetItem(answer)
            item.setToolTip(answer)
            self.answers.addItem(item)
        if answers:
            self.answers.setCurrentRow(0)
        rows = min(len(answers), SHOWN)
        self.answers.setFixedHeight(rows * ROW_PX + 4)
        self.answers.setVisible(bool(answers))
        self._fit()
        self.grown.emit()

    def _move(self, by: int) -> None:
        count = self.answers.count()
        if count:
            self.answers.setCurrentRow((self.answers.currentRow() + by) % count)
