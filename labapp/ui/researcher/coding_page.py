"""The home's page for coding: how far each session is, and what is done next with it.

A passive view, as the home is: told through its setters, telling through its signals.

Also the line of the *Coding* page for writing down what was said: which model, of which sessions,
and how far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import ROUNDS
from labapp.coding.annotations.store import VEILED, SessionProgress
from labapp.ui import theme
from labapp.ui.language import N_, counted, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo, RowModel, RowTable
from labapp.ui.replay.coding import ROUND_NAMES
from labapp.ui.replay.exchange_panel import ExchangePanel
from labapp.ui.replay.retrieval import RetrievalView, rater_name
from labapp.ui.researcher.job import menu_of
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button, FlowLayout

ROW_PX = 34
LEAST_OPENED_PX = 140
"""Of what is opened below the sessions; where there is less room than it needs, it scrolls."""
FIELD_WIDTH = 200
BLIND_WIDTH = 285
COLUMNS = (
    N_("word.session"),
    N_("word.units"),
    N_("word.words"),
    N_("coding_page.column.coded_by"),
    N_("coding_page.column.second"),
    N_("coding_page.column.adjudicated"),
)
WIDE = (0, 3)
"""The columns that take the room that is left."""
STATUS_SIGNS = {"draft": "", "done": " ✓", "locked": " ✓✓"}
LONGEST = 2000
"""Characters of names and numbers, far more than any need."""
DEFAULT_BLIND = ",".join(VEILED)
BLIND = {
    DEFAULT_BLIND: N_("coding_page.hide_usual"),
    f"{DEFAULT_BLIND},screen": N_("coding_page.hide_screen"),
    "names": N_("coding_page.hide_names"),
    "none": N_("coding_page.hide_nothing"),
}
"""What is hidden from a rater, as `labapp code open --blind` takes it."""
DEFAULT_BOTH = "0.2"
DEFAULT_SEED = "1"


@dataclass(frozen=True, slots=True)
class CodingWanted:
    """What is to be opened.

    Attributes
    ----------
    session : its name.
    rater : who codes.
    round : see `labapp.coding.annotations.model.Round`.
    codebook : its id.
    blind : what is hidden, as `labapp code open --blind` takes it.
    at_ns : the session time to begin at; None for where it was left.
    """

    session: str
    rater: str
    round: str
    codebook: str
    blind: str = ",".join(VEILED)
    at_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """What is to be assigned.

    Attributes
    ----------
    raters : their names, with commas between them.
    both : which share is coded twice.
    seed : of the draw.
    training : whether it is to learn the codebook.
    """

    raters: str
    both: str
    seed: str
    training: bool = False


def _share(part: int, of: int) -> str:
    if not of:
        return "–"
    return tr("coding_page.all", n=of) if part >= of else tr("word.n_of", n=part, of=of)


def cells(row: SessionProgress) -> tuple[str, ...]:
    """A session's line: how many units, words, codes by whom, coded twice, settled."""
    if row.problem:
        return (row.session, "?", "?", "?", "?", "?")
    units = "–"
    if row.units:
        units = (
            tr("coding_page.frozen", n=row.units)
            if row.frozen
            else tr("coding_page.open", n=row.units)
        )
    if not row.speakers_said:
        units += " · " + tr("coding_page.no_speakers")
    if row.proposals:
        units += " · " + counted(row.proposals, "coding.changes_proposed")
    coded = ", ".join(
        f"{rater_name(rater.rater)} {rater.units}/{row.units}"
        f"{'' if rater.program else STATUS_SIGNS[rater.status]}"
        for rater in row.raters
    )
    return (
        row.session,
        units,
        _share(row.texts, row.units),
        coded or "–",
        "✓" if row.second else "–",
        str(row.adjudicated) if row.adjudicated else "–",
    )


class ProgressModel(RowModel[SessionProgress]):
    """Sessions and how far they are."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(COLUMNS)
        self._palette = palette

    def cell(self, row: SessionProgress, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return cells(row)[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.problem or cells(row)[column]
        if role == Qt.ItemDataRole.ForegroundRole and row.problem:
            return QColor(self._palette.alarm)
        return None


class CodingPage(QWidget):
    """Signals
    -------
    study_chosen(str) : the study whose sessions are shown.
    segment_requested(str, str), freeze_requested(str, str) : a session by
        its name, and the rater.
    segment_all_requested(list of str) : units are to be found in these sessions.
    assign_requested(Draw), pack_requested(str, Path), receive_requested(Path),
    agreement_requested(Path) : who codes what; a rater's sessions into a file; a file of another
        computer; tables and figures into a folder.
    raters_opened(), settle_opened(), codebook_opened() : a window about the study is opened.
    speakers_opened(str), videos_opened(str) : one about a session, by its name.
    check_requested() : the files of the study are to be checked.
    pack_opened(Path) : a pack from another computer is to be coded here.
    stop_requested() : what is being done is to end.
    units_shown() : the coded units are looked at.
    transcribe_opened() : the line for writing down what was said is looked at.
    exchange_opened() : the card for exchange with other tools is.
    """

    study_chosen = Signal(str)
    rater_changed = Signal(str)
    open_requested = Signal(object)
    segment_requested = Signal(str, str)
    segment_all_requested = Signal(object)
    raters_opened = Signal()
    settle_opened = Signal()
    codebook_opened = Signal()
    speakers_opened = Signal(str)
    videos_opened = Signal(str)
    check_requested = Signal()
    pack_opened = Signal(object)
    stop_requested = Signal()
    freeze_requested = Signal(str, str)
    assign_requested = Signal(object)
    pack_requested = Signal(str, object)
    receive_requested = Signal(object)
    agreement_requested = Signal(object)
    units_shown = Signal()
    transcribe_opened = Signal()
    exchange_opened = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.colors = palette
        self._working = False
        self._shown = ("", "")
        self.study = Combo(palette, tr("tab.study"))
        self.rater = bits.line_edit(tr("coding_page.rater"), tr("coding_page.rater_hint"), LONGEST)
        self.round = Combo(palette, tr("coding_page.round"))
        self.round.set_choices([(tr(ROUND_NAMES[name]), name) for name in ROUNDS], ROUNDS[1])
        self.codebook = Combo(palette, tr("coding_page.codebook"))
        self.codebook.hide()
        self.blind = Combo(palette, tr("coding_page.hidden"))
        self.blind.set_choices([(tr(text), value) for value, text in BLIND.items()], DEFAULT_BLIND)
        self.exchange = Button(tr("button.exchange"))
        self.model = ProgressModel(palette)
        self.table = RowTable(self.model, tr("coding_page.sessions"), ROW_PX, WIDE)
        self.units = RetrievalView(palette)
        self.about = bits.label(role="secondary", wrap=True)
        self.open = Button(tr("coding_page.code"), "primary")
        self.segment = Button(tr("coding_page.find_units"))
        self.freeze = Button(tr("coding_page.freeze_units"))
        self.assign = Button(tr("coding_page.assign_ask"))
        self.pack = Button(tr("coding_page.pack_ask"))
        self.receive = Button(tr("coding_page.receive_ask"))
        self.agreement = Button(tr("coding_page.agreement_ask"))
        self.segment_all = Button(tr("coding_page.find_all", n=0))
        self.speakers = Button(tr("coding_page.speakers_ask"))
        self.open_pack = Button(tr("coding_page.open_pack_ask"))
        self.raters_form = Button(tr("coding_page.raters_ask"))
        self.settle = Button(tr("coding_page.settle_ask"))
        self.videos = Button(tr("coding_page.videos_ask"))
        self.check = Button(tr("coding_page.check_files"))
        self.edit_codebook = Button(tr("coding_page.codebook_ask"))
        self.units_menu, self.raters_menu, self.files_menu = (
            Button(f"{text} ▾")
            for text in (tr("word.units"), tr("word.raters"), tr("coding_page.files"))
        )
        self._menus = {
            self.units_menu: (self.segment, self.segment_all, self.speakers, self.freeze),
            self.raters_menu: (
                *(self.assign, self.pack, self.open_pack, self.receive),
                *(self.raters_form, self.agreement, self.settle),
            ),
            self.files_menu: (self.exchange, self.videos, self.check),
        }
        self.bar = bits.WorkBar(tr("form.progress"))
        self.stop = Button(tr("button.stop"), "compact")
        self.transcribe = Button(tr("coding_page.transcribe_ask"))
        self.drawing = self._drawing_line()
        self.speech = SpeechPanel(palette)
        self.panel = ExchangePanel(palette)
        self.pages = QStackedWidget()
        self.tabs = [
            Button(tr("tab.sessions"), "page-tab"),
            Button(tr("find.coded_units"), "page-tab"),
        ]
        self._build()
        self._connect()
        self._show_selection()

    def _build(self) -> None:
        card = bits.Card()
        body = card.body
        head = bits.fill(bits.row(None, theme.SPACE_M), bits.label(tr("tab.coding"), "title"))
        for tab in self.tabs:
            tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            head.addWidget(tab)
        bits.fill(head, 1, self.study)
        body.addLayout(head)
        fields = (self.rater, self.round, self.blind, self.codebook)
        for field in fields:
            field.setMinimumWidth(FIELD_WIDTH)
        self.blind.setMinimumWidth(BLIND_WIDTH)
        body.addLayout(FlowLayout(theme.SPACE_S, theme.SPACE_S, widgets=fields))
        sessions = QWidget()
        column = bits.fill(bits.column(sessions, theme.SPACE_S), (self.table, 1), self.drawing)
        opened = QWidget()
        bits.fill(bits.column(opened, theme.SPACE_S), self.speech, self.panel, 1)
        self.opened = bits.Scrolling(opened)
        self.opened.setMinimumHeight(LEAST_OPENED_PX)
        self.opened.setMaximumWidth(theme.CONTENT_WIDTH)
        self.opened.hide()
        column.addWidget(self.opened, 3)
        self.foot = QWidget()
        buttons = (
            *(self.open, self.units_menu, self.transcribe, self.edit_codebook),
            *(self.raters_menu, self.files_menu),
        )
        FlowLayout(theme.SPACE_S, theme.SPACE_S, self.foot, buttons)
        for menu, entries in self._menus.items():
            menu.setAccessibleDescription(", ".join(entry.text() for entry in entries))
            for entry in entries:
                entry.setParent(self)
                entry.hide()
        column.addWidget(self.foot)
        self.pages.addWidget(sessions)
        self.pages.addWidget(self.units)
        bits.turn_pages(self.tabs, self._turn)
        self.working = QWidget()
        bits.fill(bits.row(self.working, theme.SPACE_S), (self.bar, 1), self.stop)
        self.working.hide()
        bits.fill(body, (self.pages, 1), self.working, bits.readable(self.about))
        bits.fill(bits.column(self, 0), (card, 1))

    def _drawing_line(self) -> QWidget:
        line = QWidget()
        self.raters = bits.line_edit(tr("word.raters"), tr("coding_page.raters_hint"), LONGEST)
        self.both = bits.line_edit(tr("coding_page.share"), longest=LONGEST)
        self.seed = bits.line_edit(tr("coding_page.seed"), longest=LONGEST)
        for field, usual in ((self.both, DEFAULT_BOTH), (self.seed, DEFAULT_SEED)):
            field.setText(usual)
            field.setMaximumWidth(72)
        self.draw = Button(tr("coding_page.assign"), "compact")
        self.leave = Button(tr("button.not_now"), "compact")
        twice, seed = (
            bits.label(text, "secondary")
            for text in (tr("coding_page.share_unit"), tr("coding_page.seed_unit"))
        )
        fields = ((self.raters, 1), twice, self.both, seed, self.seed)
        bits.fill(bits.row(line, theme.SPACE_S), *fields, self.draw, self.leave)
        line.hide()
        return line

    def _connect(self) -> None:
        self.study.activated.connect(lambda at: self.study_chosen.emit(self.study.itemData(at)))
        self.rater.textChanged.connect(self._show_selection)
        self.rater.editingFinished.connect(lambda: self.rater_changed.emit(self.rater_name))
        self.table.chosen.connect(self._show_selection)
        self.table.picked.connect(lambda _: self._open())
        self.open.clicked.connect(self._open)
        self.segment.clicked.connect(lambda: self._ask(self.segment_requested.emit))
        self.freeze.clicked.connect(lambda: self._ask(self.freeze_requested.emit))
        self.assign.clicked.connect(self._begin_draw)
        self.leave.clicked.connect(lambda: self._end(self.drawing))
        self.transcribe.clicked.connect(self._begin_speech)
        self.speech.left.connect(lambda: self._end(self.speech))
        self.exchange.clicked.connect(self._begin_exchange)
        self.panel.left.connect(lambda: self._end(self.panel))
        self.draw.clicked.connect(self._draw)
        self.raters.returnPressed.connect(self._draw)
        self.pack.clicked.connect(self._pack)
        self.receive.clicked.connect(self._receive)
        self.agreement.clicked.connect(self._agreement)
        for menu, entries in self._menus.items():
            menu.clicked.connect(
                lambda _=False, menu=menu, entries=entries: menu_of(
                    menu, menu.rect().bottomLeft(), entries
                )
            )
        self.segment_all.clicked.connect(
            lambda: self.segment_all_requested.emit(self._without_units())
        )
        self.speakers.clicked.connect(lambda: self._ask(self._emit_first(self.speakers_opened)))
        self.videos.clicked.connect(lambda: self._ask(self._emit_first(self.videos_opened)))
        self.raters_form.clicked.connect(self.raters_opened)
        self.settle.clicked.connect(self.settle_opened)
        self.open_pack.clicked.connect(self._open_pack)
        self.edit_codebook.clicked.connect(self.codebook_opened)
        self.check.clicked.connect(self.check_requested)
        self.stop.clicked.connect(self.stop_requested)

    @staticmethod
    def _emit_first(signal: Any) -> Callable[[str, str], object]:
        return lambda session, rater: signal.emit(session)

    def _without_units(self) -> list[str]:
        return [row.session for row in self.model.rows if not row.problem and not row.units]

    @property
    def rater_name(self) -> str:
        """The coding name, as typed."""
        return self.rater.text().strip()

    def set_studies(self, studies: Sequence[str], current: str) -> None:
        """The studies that have sessions."""
        self.study.set_choices([(study, study) for study in studies], current)
        self.study.setEnabled(bool(studies))

    def set_sessions(self, sessions: Sequence[SessionProgress]) -> None:
        """How far the sessions of the study are."""
        before = self._selected_session()
        if list(sessions) != self.model.rows:
            self.model.set_rows(sessions)
        names = [row.session for row in sessions]
        if before is not None and before.session in names:
            self.table.selectRow(names.index(before.session))
        elif sessions and self._selected_session() is None:
            self.table.selectRow(0)
        self._show_selection()

    def _selected_session(self) -> SessionProgress | None:
        row = self.table.selected_row()
        return None if row is None else self.model.rows[row]

    def set_codebooks(self, codebooks: Sequence[Codebook]) -> None:
        """The codebooks of the study; to be chosen from where there are several."""
        choices = [(book.title or book.id, book.id) for book in codebooks]
        current = self.codebook.currentData()
        ids = [book.id for book in codebooks]
        self.codebook.set_choices(choices, current if current in ids else next(iter(ids), ""))
        self.codebook.setVisible(len(choices) > 1)

    def set_about(self, text: str, tone: str = "") -> None:
        """What is being done, what came of it, or what went wrong."""
        bits.set_text(self.about, text, tone)

    def set_working(self, working: bool) -> None:
        """Whether a command runs."""
        self._working = working
        self.working.setVisible(working)
        self.stop.setEnabled(working)
        self.bar.set_share(None)
        self._show_selection()

    def _turn(self, page: int) -> None:
        self.pages.setCurrentIndex(page)
        if page == 1:
            self.units_shown.emit()
        else:
            self.units.rest()

    def _show_selection(self) -> None:
        row = self._selected_session()
        named = bool(self.rater_name)
        ready = row is not None and named and not row.problem
        can = not self._working
        self.open.setEnabled(ready)
        self.exchange.setEnabled(ready)
        shown = ("" if row is None else row.session, self.rater_name)
        if shown != self._shown:
            self._shown = shown
            self.panel.hide()  # it is about the session and rater that were chosen before
            self._look_opened()
        self.transcribe.setEnabled(bool(self.model.rows))
        self.speech.set_sessions(
            row.session if row is not None and not row.problem else "",
            # Whose words are still to be written down, or some of them.
            [
                row.session
                for row in self.model.rows
                if not row.problem and (not row.units or row.texts < row.units)
            ],
        )
        open_ = ready and can and not row.frozen  # type: ignore[union-attr]
        self.segment.setEnabled(open_)
        self.freeze.setEnabled(open_ and bool(row.units))  # type: ignore[union-attr]
        any_ = bool(self.model.rows) and can
        for button in (self.assign, self.agreement, self.raters_form, self.check):
            button.setEnabled(any_)
        self.edit_codebook.setEnabled(bool(self.study.count()) and can)
        self.settle.setEnabled(any_ and named)
        self.segment_all.setEnabled(can and named and bool(self._without_units()))
        self.segment_all.setText(tr("coding_page.find_all", n=len(self._without_units())))
        self.speakers.setEnabled(ready and bool(row.units))  # type: ignore[union-attr]
        self.videos.setEnabled(ready)
        self.pack.setEnabled(any_ and named)
        self.open_pack.setEnabled(named)
        self.receive.setEnabled(can)
        nameless = tr("coding_page.type_name")
        if not named:
            self.set_about(nameless)
        elif self.about.text() == nameless:
            self.set_about("")

    def _open(self) -> None:
        if self.open.isEnabled() and (wanted := self.wanted) is not None:
            self.open_requested.emit(wanted)

    def _ask(self, emit: Callable[[str, str], object]) -> None:
        row = self._selected_session()
        if row is not None and self.rater_name:
            emit(row.session, self.rater_name)

    @property
    def wanted(self) -> CodingWanted | None:
        """The session that is selected, and who codes it how; None if that is not said."""
        row = self._selected_session()
        if row is None or row.problem or not self.rater_name:
            return None
        round_, codebook = self.round.currentData(), self.codebook.currentData() or ""
        blind = self.blind.currentData()
        return CodingWanted(row.session, self.rater_name, round_, codebook, blind)

    @property
    def _openings(self) -> Mapping[QWidget, Button]:
        """What can be opened, one at a time, and the buttons that open it."""
        return {
            self.speech: self.transcribe,
            self.panel: self.files_menu,
            self.drawing: self.raters_menu,
        }

    def _begin(self, opened: QWidget) -> None:
        for each in self._openings:
            each.setVisible(each is opened)
        self._look_opened()

    def _end(self, opened: QWidget) -> None:
        opened.hide()
        self._look_opened()
        self._openings[opened].setFocus()

    def _begin_exchange(self) -> None:
        self._begin(self.panel)
        self.exchange_opened.emit()

    def _look_opened(self) -> None:
        """What is opened takes the place of the buttons, and most of that of the sessions."""
        opened = not (self.speech.isHidden() and self.panel.isHidden())
        self.opened.setVisible(opened)
        self.foot.setVisible(not opened)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape puts away what is opened, wherever the keyboard is on the page."""
        opened = next((each for each in self._openings if each.isVisible()), None)
        if event.key() == Qt.Key.Key_Escape and opened is not None:
            self._end(opened)
        else:
            super().keyPressEvent(event)

    def _begin_speech(self) -> None:
        self._begin(self.speech)
        self.transcribe_opened.emit()
        self.speech.model.setFocus()

    def _begin_draw(self) -> None:
        training = self.round.currentData() == ROUNDS[0]
        asked = N_("coding_page.assign_training") if training else N_("coding_page.assign")
        self.draw.setText(tr(asked))
        self._begin(self.drawing)
        self.raters.setFocus()

    def _draw(self) -> None:
        wanted = Draw(
            self.raters.text().replace(" ", ""),
            self.both.text().strip(),
            self.seed.text().strip(),
            self.round.currentData() == ROUNDS[0],
        )
        if wanted.raters:
            self.drawing.hide()
            self.assign_requested.emit(wanted)

    def _pack(self) -> None:
        name = f"{self.study.currentData()}-{self.rater_name}.zip"
        if path := bits.ask_new_path(self, tr("coding_page.pack_file"), name):
            self.pack_requested.emit(self.rater_name, path)

    def _open_pack(self) -> None:
        title = tr("coding_page.open_pack_title")
        if path := bits.ask_path(self, title, "ZIP (*.zip)"):
            self.pack_opened.emit(Path(path))

    def _receive(self) -> None:
        if path := bits.ask_path(self, tr("coding_page.pack_title")):
            self.receive_requested.emit(Path(path))

    def _agreement(self) -> None:
        name = f"{self.study.currentData()}-agreement"
        title = tr("coding_page.agreement_folder")
        if path := bits.ask_new_path(self, title, name):
            self.agreement_requested.emit(path)


MODEL_WIDTH, LANGUAGE_WIDTH, WORDS_WIDTH = 220, 190, 230


@dataclass(frozen=True, slots=True)
class SpeechWanted:
    """What is to be written down.

    Attributes
    ----------
    sessions : their names.
    model : the path of a speech model.
    language : what was spoken, as `de`; empty for what the study says.
    words : the path of a file with words that may come up; empty for none.
    """

    sessions: tuple[str, ...]
    model: str
    language: str
    words: str


class SpeechPanel(QWidget):
    """Signals
    -------
    wanted(SpeechWanted) : sessions are to be written down.
    model_chosen(str) : the path of a model.
    stop_requested() : what is at work is to end.
    left() : it is put away.
    """

    wanted = Signal(object)
    model_chosen = Signal(str)
    stop_requested = Signal()
    left = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._session = ""
        self._pending: tuple[str, ...] = ()
        self._working = False
        self.state = bits.label(role="secondary", wrap=True)
        self.model = Combo(palette, tr("coding_page.speech_model"))
        self.file = Button(tr("coding_page.model_file"), "compact", pressed=self._ask_file)
        self.folder = Button(tr("coding_page.model_folder"), "compact", pressed=self._ask_folder)
        spoken, expected = (tr("coding_page.language_hint"), tr("coding_page.expected_words"))
        self.language = bits.line_edit(spoken, tr("coding_page.study_language"), LONGEST)
        self.words = bits.line_edit(expected, expected, LONGEST)
        self.find_words = Button(tr("button.choose"), "compact", pressed=self._ask_words)
        self.bar = bits.WorkBar(tr("coding_page.written_tip"))
        self.single = Button(tr("coding_page.this_session"), "compact")
        self.all = Button(tr("coding_page.all_pending"), "compact")
        self.stop = Button(tr("button.stop"), "compact", pressed=self.stop_requested)
        self.leave = Button(tr("button.not_now"), "compact")
        self.hide_ = Button(tr("button.hide"), "compact")
        self._build()
        self.model.activated.connect(lambda at: self._choose(self.model.itemData(at)))
        self.single.clicked.connect(lambda: self._begin((self._session,)))
        self.all.clicked.connect(lambda: self._begin(self._pending))
        for button in (self.leave, self.hide_):
            button.clicked.connect(self.left)
        self.set_working(False)
        self.hide()

    def _build(self) -> None:
        column = bits.fill(bits.column(self, theme.SPACE_XS), bits.hairline())
        self.choices, self.work = QWidget(), QWidget()
        for field, width in (
            (self.model, MODEL_WIDTH),
            (self.language, LANGUAGE_WIDTH),
            (self.words, WORDS_WIDTH),
        ):
            field.setFixedWidth(width)
        widgets = (
            *(self.model, self.file, self.folder, self.language, self.words, self.find_words),
            *(self.single, self.all, self.leave),
        )
        FlowLayout(theme.SPACE_S, theme.SPACE_XS, self.choices, widgets)
        bits.fill(bits.row(self.work, theme.SPACE_S), (self.bar, 1), self.stop, self.hide_)
        bits.fill(column, self.choices, self.work, self.state)

    # --- what is shown ----------------------------------------------------------------------------

    def set_models(self, paths: Sequence[str], chosen: str) -> None:
        """The models that can be chosen from, by their paths."""
        self.model.set_choices([(Path(path).name, path) for path in paths], chosen)
        self.model.setToolTip(chosen)
        self.model.setEnabled(bool(paths))
        self._look()

    def set_state(self, text: str, tone: str = "") -> None:
        """What is here, what is missing, or what came of it."""
        bits.set_text(self.state, text, tone)

    def set_sessions(self, session: str, pending: Sequence[str]) -> None:
        """The session that is selected, empty for none; and those that are not written down."""
        self._session, self._pending = session, tuple(pending)
        self.all.setText(tr("coding_page.all_pending_n", n=len(pending)))
        self._look()

    def set_working(self, working: bool) -> None:
        """Whether something is being written down."""
        self._working = working
        self.stop.setEnabled(True)
        self.work.setVisible(working)
        self.choices.setVisible(not working)
        self._look()

    def _look(self) -> None:
        ready = self.model.currentData() is not None and not self._working
        self.single.setEnabled(ready and bool(self._session))
        self.all.setEnabled(ready and bool(self._pending))

    # --- what is asked for ------------------------------------------------------------------------

    def _choose(self, path: str) -> None:
        self.model.setToolTip(path)
        self.model_chosen.emit(path)

    def _ask_file(self) -> None:
        title = tr("coding_page.model_file_title")
        path, _ = QFileDialog.getOpenFileName(self, title, self._at())
        if path:
            self._choose(path)

    def _ask_folder(self) -> None:
        title = tr("coding_page.model_folder_title")
        if path := QFileDialog.getExistingDirectory(self, title, self._at()):
            self._choose(path)

    def _ask_words(self) -> None:
        if path := bits.ask_path(self, tr("coding_page.expected_words_title")):
            self.words.setText(path)

    def _at(self) -> str:
        chosen = self.model.currentData()
        return str(Path(chosen).parent if chosen else Path.home())

    def _begin(self, sessions: tuple[str, ...]) -> None:
        if sessions and not self._working:
            language, words = (field.text().strip() for field in (self.language, self.words))
            self.wanted.emit(SpeechWanted(sessions, self.model.currentData(), language, words))
