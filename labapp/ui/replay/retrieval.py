"""All units with a code over the sessions of a study: listed, and played in place at a click.

Also quotes as a file, with the picture of the participant's screen at that moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QWidget

from labapp.base import access, durable, leftovers
from labapp.base.errors import DataFolderError, LabappError
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.model import SIMULATED, Redaction
from labapp.coding.annotations.redacting import QUOTES, note_handed_out, session_folders
from labapp.coding.annotations.store import annotations_of
from labapp.coding.annotations.texts import is_redacted
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import places, session_places
from labapp.record.journal.record import Record
from labapp.session.replay.history import History
from labapp.session.replay.lanes import CodedStretch, Retrieved, retrieve
from labapp.ui import mistakes, theme, timers
from labapp.ui.background import Worker
from labapp.ui.language import N_, counted, tr, tr_known, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.bits import Combo, RowModel, RowTable
from labapp.ui.moderator.wording import short_time
from labapp.ui.replay.coding_state import code_name
from labapp.ui.replay.transport import without_sound
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button, FlowLayout

if TYPE_CHECKING:
    from labapp.analysis.quotes import Quote, Quotes
    from labapp.record.audio.player import Player


ROW_PX = 34
TICK_MS = 30
AROUND_NS = 300_000_000
"""So much is played before and behind what was coded."""
COLUMNS = (
    N_("word.participant"),
    N_("find.time"),
    N_("find.code"),
    N_("word.words"),
    N_("find.outcome"),
    N_("word.raters"),
)
WORDS = 3
WIDTHS = {0: 96, 1: 64, 2: 200, 4: 110, 5: 100}
"""Of the other columns at first, in logical pixels."""
ALL = ""
NO_CODE = ""
UNCODED = "-"
"""In the choice of codes, whose ids begin with a letter: units without any."""
LONGEST = 200
"""Characters of what is looked for."""


def rater_name(rater: str) -> str:
    """What a rater is called: who is no person is named as what it is."""
    return tr("rater.simulated") if rater == SIMULATED else rater


def session_player(session: Path) -> Player:
    """The player of a session's sound. Raises LabappError."""
    from labapp.coding.sound import SessionSound
    from labapp.record.audio.player import Player
    from labapp.record.journal.opening import open_record

    return Player(SessionSound(open_record(session)))


class StretchModel(RowModel[CodedStretch]):
    """Coded stretches as rows."""

    def __init__(self) -> None:
        super().__init__(COLUMNS)
        self.codebook: Codebook | None = None

    def cell(self, row: CodedStretch, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                row.participant,
                short_time(row.t0_ns),
                code_name(self.codebook, row.code, row.value),
                f"{row.text} {tr('find.unchecked')}" if row.unread else row.text,
                outcome_name(row.outcome),
                ", ".join(map(rater_name, row.raters)),
            )[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            conditions = " · ".join(f"{name}: {is_}" for name, is_ in row.conditions.items())
            return "\n".join(filter(None, (row.text, row.memo, conditions)))
        if role == Qt.ItemDataRole.DecorationRole and column == 2 and self.codebook:
            code = self.codebook.code(row.code)
            return None if code is None else QColor(code.colour)
        return None


class StretchTable(RowTable):
    """Coded stretches; one is picked by a click, Enter or Space."""

    def __init__(self, model: StretchModel) -> None:
        super().__init__(model, tr("find.coded_units"), ROW_PX, [WORDS], by_one_click=True)
        header = self.horizontalHeader()
        for place, width in WIDTHS.items():
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(place, width)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            if (row := self.selected_row()) is not None:
                self.picked.emit(row)
            return
        super().keyPressEvent(event)


class RetrievalView(QWidget):
    """The coded units of a study, by code, condition and outcome.

    Signals
    -------
    failed(LabappError) : something could not be read or played.
    reel_requested(tuple of CodedStretch, str, dict) : a clip, a reel or quotes are to be made of
        these; and the code and condition by which all of them were chosen.
    """

    failed = Signal(object)
    reel_requested = Signal(object, str, object)
    _read = Signal(object)

    def __init__(
        self, palette: Palette, make_player: Callable[[Path], Player] = session_player
    ) -> None:
        super().__init__()
        self._make_player = make_player
        self._player: Player | None = None
        self._of: Path | None = None
        self.playing: CodedStretch | None = None
        self._study: Path | None = None
        self._all: tuple[CodedStretch, ...] = ()
        self._worker = Worker("retrieval")
        self._stop = threading.Event()
        self.code, self.condition, self.outcome = (
            Combo(palette, name)
            for name in (tr("find.code"), tr("find.condition"), tr("find.outcome"))
        )
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("find.hint"))
        self.words.setAccessibleName(tr("find.hint"))
        self.words.setClearButtonEnabled(True)
        bits.limit(self.words, LONGEST)
        self.words.textChanged.connect(self._filter)
        self.model = StretchModel()
        self.table = StretchTable(self.model)
        self.about = bits.label(role="secondary", wrap=True)
        layout = bits.column(self, theme.SPACE_S)
        head = FlowLayout(theme.SPACE_S, theme.SPACE_S)
        for combo in (self.code, self.condition, self.outcome):
            combo.setMinimumWidth(170)
            combo.activated.connect(self._filter)
            head.addWidget(combo)
        self.words.setMinimumWidth(250)
        head.addWidget(self.words)
        self.clip = Button(tr("find.clip_ask"), pressed=self._ask_clip)
        self.reel = Button(tr("find.reel_ask"), pressed=self._ask_reel)
        self.table.chosen.connect(self._look_chosen)
        foot = QWidget()
        FlowLayout(theme.SPACE_S, theme.SPACE_S, foot, (self.reel, self.clip))
        bits.fill(layout, head, (self.table, 1), foot, self.about)
        self._look_chosen()
        self._tick = timers.make_repeating_timer(self, self._look, TICK_MS)
        self.table.picked.connect(self.play)
        self._read.connect(self._show_read, Qt.ConnectionType.QueuedConnection)

    # --- what is shown ----------------------------------------------------------------------------

    def show_study(self, study: Path, codebook: Codebook | None) -> None:
        """Read a study's codes, in a thread, and show them."""
        self.rest()
        self._study, self.model.codebook = study, codebook
        bits.set_text(self.about, tr("find.reading"))
        done = self._worker.submit(retrieve, study)
        done.add_done_callback(self._read.emit)

    @Slot(object)
    def _show_read(self, done: Future[Retrieved]) -> None:
        if not self._worker.there:
            return
        with mistakes.show_errors(self.failed.emit, tr("find.unreadable")):
            self.show_stretches(done.result())

    def show_stretches(self, retrieved: Retrieved) -> None:
        self._all = retrieved.stretches
        codebook = self.model.codebook
        codes = sorted({stretch.code for stretch in self._all} - {NO_CODE})
        named = [(code_name(codebook, code), code) for code in codes]
        conditions = sorted(
            {f"{name}: {is_}" for s in self._all for name, is_ in s.conditions.items()}
        )
        outcomes = sorted({stretch.outcome for stretch in self._all} - {""})
        if any(stretch.code == NO_CODE for stretch in self._all):
            named.append((tr("find.not_coded"), UNCODED))
        _fill(self.code, tr("find.all_codes"), named)
        _fill(self.condition, tr("find.all_conditions"), [(text, text) for text in conditions])
        _fill(
            self.outcome, tr("find.all_outcomes"), [(outcome_name(text), text) for text in outcomes]
        )
        self._filter()
        if retrieved.problems:
            bits.set_text(self.about, "\n".join(retrieved.problems[:3]))

    def _filter(self) -> None:
        code, condition, outcome = (
            combo.currentData() or ALL for combo in (self.code, self.condition, self.outcome)
        )
        words = self.words.text().casefold().split()
        shown = [
            stretch
            for stretch in self._all
            if _has_code(stretch, code, bool(words))
            and all(word in f"{stretch.text} {stretch.memo}".casefold() for word in words)
            and (not outcome or stretch.outcome == outcome)
            and (
                not condition
                or condition in {f"{name}: {is_}" for name, is_ in stretch.conditions.items()}
            )
        ]
        self.model.set_rows(shown)
        self._look_chosen()
        people = len({stretch.participant for stretch in shown})
        if not any(stretch.code for stretch in self._all) and not shown:
            bits.set_text(self.about, tr("find.nothing"))
            return
        if words or code == UNCODED:
            text = counted(len(shown), "exchange.units")
        else:
            text = counted(len(shown), "find.n_coded_units")
        who = counted(people, "find.of_participants")
        bits.set_text(self.about, f"{text} {who}. {tr('find.play_tip')}")

    # --- clips, reels, quotes ---------------------------------------------------------------------

    def _look_chosen(self) -> None:
        self.reel.setEnabled(bool(self.model.rows))
        self.clip.setEnabled(self.table.selected_row() is not None)

    def _ask_clip(self) -> None:
        if (row := self.table.selected_row()) is not None:
            stretch = self.model.rows[row]
            self.reel_requested.emit((stretch,), stretch.code, dict(stretch.conditions))

    def _ask_reel(self) -> None:
        code = self.code.currentData() or ALL
        name, _, is_ = (self.condition.currentData() or ALL).partition(": ")
        where = {name: is_} if name else {}
        self.reel_requested.emit(tuple(self.model.rows), "" if code == UNCODED else code, where)

    # --- playing ----------------------------------------------------------------------------------

    def play(self, row: int) -> None:
        """Play a row in place; the one that plays is stopped."""
        stretch = self.model.rows[row]
        if self.playing is stretch:
            self.rest()
            return
        try:
            if self._player is None or self._of != stretch.session:
                self.rest()
                self._player, self._of = self._make_player(stretch.session), stretch.session
        except LabappError as error:
            self.failed.emit(error)
            return
        player = self._player
        player.seek(max(0, stretch.t0_ns - AROUND_NS))
        player.play()
        self.playing = stretch
        self._tick.start()
        if player.problem:
            bits.set_text(self.about, without_sound(translate_message(player.problem)))

    def rest(self) -> None:
        """Play nothing, and let the sound go."""
        self._tick.stop()
        self.playing = None
        if self._player is not None:
            self._player.close()
            self._player = self._of = None

    def _look(self) -> None:
        stretch, player = self.playing, self._player
        if stretch is None or player is None:
            self._tick.stop()
        elif player.heard_ns() >= stretch.t1_ns + AROUND_NS or not player.playing:
            player.pause()
            self.playing = None
            self._tick.stop()

    def close_all(self) -> None:
        """The program ends, or a session begins."""
        self.rest()
        self._worker.close()


def _has_code(stretch: CodedStretch, wanted: str, finding: bool) -> bool:
    """Whether a stretch has the code that is wanted; where words are looked for in all of them, it
    need not be coded."""
    if wanted == UNCODED:
        return stretch.code == NO_CODE
    return stretch.code == wanted if wanted else finding or stretch.code != NO_CODE


def outcome_name(outcome: str) -> str:
    """How a question ended; as a task calls it where that is not known here."""
    return tr_known(outcome, wording.OUTCOMES)


def _fill(combo: Combo, all_: str, choices: Sequence[tuple[str, str]]) -> None:
    current = combo.currentData() or ALL
    wanted = current if current in {data for _, data in choices} else ALL
    combo.set_choices([(all_, ALL), *choices], wanted)


Progress = Callable[[float, str], None]
REDACTED = "the moment lies in a redacted stretch."


def write_quotes(
    quotes: Quotes,
    paths: Sequence[Path],
    out: Path,
    size: tuple[int, int] | None,
    *,
    trails: bool = False,
    progress: Progress = lambda share, what: None,
) -> Quotes:
    """Write quotes with their pictures, which lie in a folder beside the file, or in the page.

    Every session is written down as having been quoted before anything of it is, so that a
    withdrawal can say where.

    Parameters
    ----------
    quotes : what is quoted.
    paths : of the sessions, bundles or folders of these that they are from.
    out : the file: .md, .html or .csv.
    size : width and height of a picture in pixels; None for no pictures.
    trails : with the movements of the dials in the last seconds.
    progress : gets the share done, and what is being done; what it raises ends the work.

    Returns
    -------
    With the paths of their pictures, or why they have none.

    Raises
    ------
    UsageError : the file is there, or its ending is none of these.
    AnnotationError : it cannot be written down what is quoted.
    DataFolderError : the file cannot be written.
    """
    from labapp.analysis.quotes import as_page, kind_of, pictures_of

    written = kind_of(out)
    refuse_inside(out)
    records = dict(_records(paths, {quote.who for quote in quotes.quotes}))
    folder = pictures_of(out)
    _note(records, *((out,) if size is None or written is as_page else (out, folder)))
    try:
        with leftovers.on_its_way(session_folders(*records.values()), out) as (hidden,):
            access.own_folder(hidden, exist_ok=False)
            if size is not None:
                drawn_in = hidden / folder.name
                access.own_folder(drawn_in)
                quotes = _with_pictures(quotes, records, drawn_in, size, trails, progress)
            file = hidden / out.name
            durable.write(file, written(quotes, hidden).encode("utf-8"))
            if written is not as_page and any(quote.picture for quote in quotes.quotes):
                (hidden / folder.name).rename(folder)  # a page holds them
            durable.take_name(file, out)
    except OSError as error:
        raise DataFolderError.unwritten(
            "The quotes", out, error, "The sessions are untouched."
        ) from error
    return quotes


def _with_pictures(
    quotes: Quotes,
    records: dict[Who, Record],
    folder: Path,
    size: tuple[int, int],
    trails: bool,
    progress: Progress,
) -> Quotes:
    from labapp.ui.qtapp import make_offscreen_app

    drawn: list[Quote] = []
    for who, some in groupby(quotes.quotes, key=lambda quote: quote.who):
        make_offscreen_app()
        redactions = annotations_of(records[who]).redactions
        with History(records[who]) as history:
            for quote in some:
                file = folder / f"{len(drawn) + 1:03d}.png"
                drawn.append(_add_picture(quote, history, redactions, file, size, trails=trails))
        progress(len(drawn) / len(quotes.quotes), f"{who[1]}, session {who[2]}")
    return replace(quotes, quotes=tuple(drawn))


Who = tuple[str, str, str]


def _records(paths: Sequence[Path], wanted: set[Who]) -> Iterator[tuple[Who, Record]]:
    """The sessions that are quoted, each where it is met first."""
    for path in paths:
        for item in places(path):
            for place in session_places(item):
                record = place.open()
                who = (record.study, record.participant, record.session)
                if who in wanted:
                    wanted = wanted - {who}
                    yield who, record


def _note(records: dict[Who, Record], *places: Path) -> None:
    """Write down of whom there are quotes, and in which files. A bundle's own study keeps a list of
    what left it."""
    by_study: dict[Path, list[str]] = {}
    for folder in session_folders(*records.values()):
        by_study.setdefault(folder.parent, []).append(folder.name)
    for study, sessions in by_study.items():
        for place in places:
            note_handed_out(study, QUOTES, place, sessions)


def _add_picture(
    quote: Quote,
    history: History,
    redactions: Sequence[Redaction],
    file: Path,
    size: tuple[int, int],
    *,
    trails: bool,
) -> Quote:
    """A quote with its picture, or with why it has none."""
    from labapp.ui.replay.picture import still

    if is_redacted(quote.onset_ns, quote.onset_ns, redactions):
        return quote.with_picture("", REDACTED)
    try:
        image = still(history, quote.onset_ns, QSize(*size), trails=trails, withholds=True)
    except LabappError as error:
        return quote.with_picture("", error.what)
    if not image.save(str(file), "PNG"):  # type: ignore[call-overload]
        raise OSError(f"{file} cannot be written")
    return quote.with_picture(f"{file.parent.name}/{file.name}")
