"""Exchange with other tools, as a card: what goes out, and what a file would change here.

It is no dialog: what plays goes on, and every key does what it does without it. A passive view.

What the card asks for is done in a thread, so that what plays goes on. A file that comes in is only
looked at first. What it would change is told, and done after a click, if it is still the same then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QWidget

from labapp.base.errors import AnnotationError, LabappError
from labapp.base.messages import Message
from labapp.coding.annotations.model import Round
from labapp.coding.annotations.store import annotations_of
from labapp.coding.exchange import incoming
from labapp.coding.exchange.coming_in import bring_in, plan_import
from labapp.coding.exchange.gathering import Exported, export_coding
from labapp.coding.exchange.incoming import FORMATS, ON_TRANSCRIPT, format_named
from labapp.coding.exchange.model import Format
from labapp.coding.exchange.plan import ImportPlan, ImportStep
from labapp.record.journal.opening import open_record
from labapp.ui import theme
from labapp.ui.background import Background
from labapp.ui.language import N_, N_all, counted, in_words, tr, tr_known, translate_message
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo, RowModel, RowTable
from labapp.ui.moderator.wording import format_time
from labapp.ui.replay.coding_state import SPEAKER_NAMES
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

if TYPE_CHECKING:
    from labapp.ui.replay.coding import Coding


TITLES = N_all("exchange.format", "vtt", "srt", "audacity", "qdpx", "csv")
"""Of formats that are called otherwise in other languages."""
SOUNDS = {
    "linked": N_("exchange.sound.linked"),
    "copied": N_("exchange.sound.copied"),
    "joined": N_("exchange.sound.joined"),
    "none": N_("deviation.no_sound"),
}
"""What becomes of the sound, by the names in `ExportWanted`."""
INSIDE = {"linked": N_("exchange.sound.inside"), "joined": SOUNDS["joined"], "none": SOUNDS["none"]}
"""The same of files that hold the sound."""
ROW_PX = 26
LINES_PX = 96
MOST_ROWS = 10
WIDTH = 620
"""Of the card, in logical pixels, where there is so much room."""


@dataclass(frozen=True, slots=True)
class ExportWanted:
    """What is to be written.

    Attributes
    ----------
    format : a name of `labapp.coding.exchange.incoming.FORMATS`.
    sound : a name of `SOUNDS`.
    out : the file, or of several sound files the folder.
    on_transcript : whether codes of units are on the transcript, instead of on words beside; for
        `qdpx` only.
    """

    format: str
    sound: str
    out: Path
    on_transcript: bool = False


@dataclass(frozen=True, slots=True)
class ImportWanted:
    """What is to be read.

    Attributes
    ----------
    time : whose time it has: `session`, a sound file, or empty for what the file says.
    names : a table of what tiers and codes are called here.
    words_only : whether words go into the units that are there.
    """

    file: Path
    time: str = ""
    names: Path | None = None
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A line of what is told: what, when and about what; at_ns: the session time to go to."""

    what: str
    when: str
    about: str
    at_ns: int | None = None
    warns: bool = False


class PlanLines(RowModel[PlanLine]):
    """What would be changed, or what was left out."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(
            (N_("exchange.column.what"), N_("exchange.column.when"), N_("exchange.column.about"))
        )
        self._palette = palette

    def cell(self, row: PlanLine, column: int, role: int) -> Any:
        text = (row.what, row.when, row.about)[column]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return text
        if role == Qt.ItemDataRole.ForegroundRole and row.warns:
            return self._palette.color("warn")
        return None


class ExchangePanel(QFrame):
    """Signals
    -------
    export_requested(ExportWanted), import_requested(ImportWanted) : something is to go out; a file
        is to be looked at.
    accepted() : what was told of the file is to be done.
    picked(int) : a session time to go to.
    left() : it is put away.
    grown() : it needs another height.
    """

    export_requested = Signal(object)
    import_requested = Signal(object)
    accepted = Signal()
    picked = Signal(object)
    left = Signal()
    grown = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = "coding"
        """What a file that goes out is called at first, without its ending."""
        self._several = False
        self._file: Path | None = None
        self._names: Path | None = None
        self.setProperty("role", "sheet")
        self.setAccessibleName(tr("exchange.title"))
        self.format = Combo(palette, tr("exchange.format"))
        self.sound = Combo(palette, tr("exchange.sound"))
        self.on_transcript = QCheckBox(tr("exchange.on_transcript"))
        self.on_transcript.setToolTip(tr("exchange.on_transcript_tip"))
        self.time = Combo(palette, tr("exchange.time_tip"))
        self.go_out = Button(tr("exchange.export_ask"), "compact", pressed=self._ask_out)
        self.come_in = Button(tr("exchange.choose_file"), "compact", pressed=self._ask_in)
        self.names = Button(tr("exchange.names"), "compact", pressed=self._ask_names)
        self.names.setToolTip(tr("exchange.names_tip"))
        self.words_only = QCheckBox(tr("exchange.into_units"))
        self.words_only.setToolTip(tr("exchange.into_units_tip"))
        self.state = bits.label(role="secondary", wrap=True)
        self.model = PlanLines(palette)
        self.lines = RowTable(self.model, tr("exchange.changes_title"), ROW_PX, (2,))
        self.accept_ = Button(tr("exchange.bring_in"), "primary", pressed=self.accepted)
        self.accept_.setMinimumHeight(theme.TARGET_HEIGHT + theme.SPACE_S)  # the dots of an Ü
        self.away = Button(tr("button.not_now"), "compact", pressed=self.forget)
        self.close_ = Button(tr("button.close"), "compact", pressed=self.left)
        choices = [
            (f"{tr(TITLES[name]) if name in TITLES else form.title} ({form.suffix})", name)
            for name, form in FORMATS.items()
        ]
        self.format.set_choices(choices, choices[0][1])
        self.sound.set_choices([(tr(text), name) for name, text in SOUNDS.items()], "linked")
        self.set_sounds(())
        self._build()
        self.set_lines((), "")
        self._look()
        self.format.activated.connect(self._look)
        self.time.activated.connect(self._again)
        self.words_only.toggled.connect(self._again)
        self.lines.picked.connect(self._pick)
        self.hide()

    def _build(self) -> None:
        column = self._column = bits.column(self, theme.SPACE_S, theme.SPACE_M)
        heading = bits.label(tr("exchange.title"), "section")
        bits.fill(column, bits.fill(bits.row(None, theme.SPACE_S), (heading, 1), self.close_))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(theme.SPACE_XS)
        rows = (
            (tr("exchange.export"), self.format, self.sound, self.go_out),
            (tr("exchange.import"), self.come_in, self.time, self.names),
        )
        grid.addWidget(self.on_transcript, 1, 1, 1, 3)
        grid.addWidget(self.words_only, 3, 1, 1, 3)
        for place, (title, *widgets) in zip((0, 2), rows, strict=True):
            grid.addWidget(bits.label(title, "secondary"), place, 0)
            for at, widget in enumerate(widgets, start=1):
                grid.addWidget(widget, place, at)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)
        bits.fill(column, grid, self.state)
        self.lines.setMinimumHeight(LINES_PX)
        column.addWidget(self.lines, 1)
        self.foot = QWidget()
        bits.fill(bits.row(self.foot, theme.SPACE_S), self.accept_, self.away, 1)
        column.addWidget(self.foot)

    # --- what is shown ----------------------------------------------------------------------------

    def set_sounds(self, files: Sequence[str]) -> None:
        """The names of the session's sound files."""
        self._several = len(files) > 1
        current = self.time.currentData()
        choices = [(tr("exchange.time.own"), ""), (tr("exchange.time.session"), "session")]
        choices += [(tr("exchange.time.file", file=file), file) for file in files]
        known = [value for _, value in choices]
        self.time.set_choices(choices, current if current in known else "")

    def set_state(self, text: str, tone: str = "") -> None:
        """What is being done, what came of it, or what went wrong."""
        bits.set_property(self.state, "tone", tone)
        bits.set_text(self.state, text)
        self.state.setVisible(bool(text))

    def set_lines(
        self, lines: Sequence[PlanLine], state: str, tone: str = "", *, can_accept: bool = False
    ) -> None:
        """Show what would be changed or was left out; can_accept: whether it can be done."""
        self.model.set_rows(lines)
        self.lines.setVisible(bool(lines))
        self.foot.setVisible(can_accept)
        self.set_state(state, tone)
        self.grown.emit()

    def set_busy(self, busy: bool) -> None:
        """Whether something is being written or read."""
        for widget in (self.go_out, self.come_in, self.names, self.time, self.accept_):
            widget.setEnabled(not busy)
        if not busy:
            self._look()

    def forget(self) -> None:
        """Do nothing of what was told."""
        self._file = None
        self.set_lines((), tr("message.nothing_changed"))

    def place_in(self, room: QRect) -> None:
        """Lie over a window: at the top left of the room there is, no larger than it needs."""
        width = min(room.width(), WIDTH)
        self.setFixedWidth(width)
        self._column.activate()
        high = self._column.totalSizeHint().height()
        if not self.state.isHidden():
            inside = width - 2 * theme.SPACE_M
            high += self.state.heightForWidth(inside) - self.state.sizeHint().height()
        high -= 0 if self.lines.isHidden() else self.lines.sizeHint().height()
        if not self.lines.isHidden():
            high += max(LINES_PX, ROW_PX * (min(len(self.model.rows), MOST_ROWS) + 3))
        self.setGeometry(room.x(), room.y(), width, min(room.height(), high))

    def leave(self) -> bool:
        """Put it away; says whether it was there."""
        shown = self.isVisible()
        if shown:
            self.left.emit()
        return shown

    def _look(self) -> None:
        sounds = INSIDE if self.chosen.holds_sound else SOUNDS
        wanted = self.sound.currentData()
        choices = [(tr(text), name) for name, text in sounds.items()]
        self.sound.set_choices(choices, wanted if wanted in sounds else "linked")
        self.sound.setEnabled(self.chosen.name != "csv")
        self.on_transcript.setHidden(self.chosen.name != ON_TRANSCRIPT.name)
        self.grown.emit()

    def _pick(self, place: int) -> None:
        at_ns = self.model.rows[place].at_ns
        if at_ns is not None:
            self.picked.emit(at_ns)

    # --- what is asked for ------------------------------------------------------------------------

    @property
    def chosen(self) -> Format:
        return FORMATS[self.format.currentData()]

    def _ask_out(self) -> None:
        form, sound = self.chosen, self.sound.currentData()
        each = self._several and not form.many and form.name != "csv"
        folder = each and sound in ("linked", "copied")
        title = tr("exchange.new_folder") if folder else tr("exchange.new_file")
        name = self.name if folder else f"{self.name}{form.suffix}"
        if path := bits.ask_new_path(self, title, name):
            if not folder and path.suffix.casefold() != form.suffix.casefold():
                path = path.with_name(f"{path.name}{form.suffix}")
            on_transcript = form.name == ON_TRANSCRIPT.name and self.on_transcript.isChecked()
            self.export_requested.emit(ExportWanted(form.name, sound, path, on_transcript))

    def _ask_in(self) -> None:
        ends = " ".join(f"*{form.suffix}" for form in FORMATS.values() if form.read is not None)
        kinds = f"{tr('exchange.files_of_others')} ({ends});;{tr('exchange.all_files')} (*)"
        if path := bits.ask_path(self, tr("exchange.file_of_other"), kinds):
            self._file = Path(path)
            self._again()

    def _ask_names(self) -> None:
        path = ""
        if self._names is None:
            path = bits.ask_path(self, tr("exchange.names_table"), "CSV (*.csv)")
        self._names = Path(path) if path else None
        self.names.setText(tr("exchange.no_names") if path else tr("exchange.names"))
        self._again()

    def _again(self) -> None:
        self.time.setToolTip(self.time.currentText())
        if self._file is not None:
            time, words_only = self.time.currentData(), self.words_only.isChecked()
            self.import_requested.emit(ImportWanted(self._file, time, self._names, words_only))


WHATS = N_all(
    "exchange.step",
    *("mark added", "mark moved", "mark recoded", "mark changed", "mark removed"),
    *("mark cut", "unit made", "unit changed", "unit removed", "unit proposed"),
    *("text written",),
)
"""What a step of a plan is called, by `labapp.coding.exchange.plan.What`."""


@dataclass(frozen=True)
class Bench:
    """Whose coding goes out, or comes in; codebook: its id, empty for the only one; round: None for
    the one that the rater is in."""

    session: Path
    rater: str
    codebook: str = ""
    round: Round | None = None


class ExchangeWork(QObject):
    """Does what the card asks for.

    Signals
    -------
    changed() : a file was brought in.
    """

    changed = Signal()

    def __init__(
        self,
        panel: ExchangePanel,
        bench: Callable[[], Bench | None],
        take: Callable[[ImportPlan], None] | None = None,
        parent: QObject | None = None,
    ) -> None:
        """bench: what is worked on, None for nothing; take: does what a plan says, in the window's
        thread, and raises LabappError; without it the files of annotations are opened for it."""
        super().__init__(parent)
        self.panel, self._bench = panel, bench
        self._take = take or self._take_in
        self._background = Background("exchange", self)
        self._wanted: ImportWanted | None = None
        self._plan: ImportPlan | None = None
        panel.export_requested.connect(self.export)
        panel.import_requested.connect(self.look)
        panel.accepted.connect(self.bring_in)

    @property
    def busy(self) -> bool:
        """Whether something is being read or written."""
        return self._background.busy

    def show(self) -> None:
        """Show the card for what is worked on now."""
        bench = self._bench()
        if bench is None:
            return
        self._plan = self._wanted = None
        self.panel.set_busy(self.busy)
        self.panel.name = f"{bench.session.name}_{bench.rater}"
        try:
            record = open_record(bench.session)
            audio = record.audio
            # Units that are coded stay what they are: words that come later go into them.
            frozen = annotations_of(record).segmentation.frozen
            with QSignalBlocker(self.panel.words_only):
                self.panel.words_only.setChecked(frozen)
        except LabappError as error:
            self.panel.set_lines((), in_words(error), "alarm")
        else:
            self.panel.set_sounds([PurePosixPath(sound.file).name for sound in audio])
            self.panel.set_lines((), "")
        self.panel.show()
        self.panel.raise_()

    def close(self) -> None:
        """Wait for what was begun, and end the thread."""
        self._background.close()

    # --- going out --------------------------------------------------------------------------------

    def export(self, wanted: ExportWanted) -> None:
        """Write a coding for another tool."""
        bench = self._bench()
        if bench is not None:
            self._begin(lambda: _export(bench, wanted), self._show_exported, tr("exchange.writing"))

    def _show_exported(self, exported: Exported) -> None:
        lines = _warnings(tr("exchange.missing"), exported.lost)
        lines += [PlanLine(tr("exchange.file"), "", str(path)) for path in exported.files]
        marks = counted(exported.marks, "exchange.codes")
        units = counted(exported.units, "exchange.units")
        self.panel.set_lines(lines, tr("exchange.written", marks=marks, units=units))

    # --- coming in --------------------------------------------------------------------------------

    def look(self, wanted: ImportWanted) -> None:
        """Tell what a file would change; nothing is changed."""
        self._wanted, self._plan = wanted, None
        self._read(self._show_plan)

    def bring_in(self) -> None:
        """Do what was told, if it is still what the file would change."""
        if self._plan is not None:
            self._read(self._take_plan)

    def _read(self, then: Callable[[ImportPlan], None]) -> None:
        bench, wanted = self._bench(), self._wanted
        if bench is not None and wanted is not None:
            self._begin(lambda: _plan(bench, wanted), then, tr("exchange.reading"))

    def _show_plan(self, plan: ImportPlan) -> None:
        self._plan = plan
        told = [translate_message(why) for why in plan.times]
        if plan.new_codebook:
            codes = ", ".join(code.id for code in plan.codebook.codes)
            told.append(tr("exchange.codebook_made", codes=codes))
        if plan.freeze:
            told.append(tr("exchange.units_frozen"))
        same = counted(plan.unchanged, "exchange.same")
        if plan.empty:
            told.append(tr("exchange.no_change", file=plan.file, same=same))
        else:
            many = counted(len(plan.steps), "exchange.changes")
            told.append(tr("exchange.plan", file=plan.file, changes=many, same=same))
        lines = [*map(_line, plan.steps), *_warnings(tr("exchange.not_brought"), plan.lost)]
        self.panel.set_lines(lines, " ".join(told), can_accept=not plan.empty)

    def _take_plan(self, plan: ImportPlan) -> None:
        before = self._plan
        if before is None or _summarise_plan(before) != _summarise_plan(plan):
            self._show_plan(plan)
            self.panel.set_state(tr("exchange.changed_since"), "warn")
            return
        try:
            self._take(plan)
        except LabappError as error:
            self.panel.set_state(in_words(error), "alarm")
            return
        self._plan = None
        done = counted(len(plan.steps), "exchange.done")
        lost = _warnings(tr("exchange.not_brought"), plan.lost)
        self.panel.set_lines(lost, tr("exchange.brought_in", file=plan.file, done=done))
        self.changed.emit()

    def _take_in(self, plan: ImportPlan) -> None:
        bench = self._bench()
        if bench is not None:
            bring_in(plan, bench.session, open_record(bench.session))

    # --- the thread -------------------------------------------------------------------------------

    def _begin(self, work: Callable[[], Any], then: Callable[[Any], None], doing: str) -> None:
        def show(result: Any) -> None:
            self.panel.set_busy(False)
            then(result)

        if self._background.begin(work, show, self._show_failure):
            self.panel.set_busy(True)
            self.panel.set_state(doing)

    def _show_failure(self, error: LabappError) -> None:
        self._plan = None
        self.panel.set_busy(False)
        self.panel.set_lines((), in_words(error), "alarm")


def taker_of(coding: Coding) -> Callable[[ImportPlan], None]:
    """Brings plans into the files that a window has open; each file's change is one to undo."""

    def take(plan: ImportPlan) -> None:
        if coding.status != "draft" and (plan.put or plan.removed):
            raise AnnotationError(tr("coding.done_already"), todo=tr("exchange.press_go_on"))
        if plan.codebook.sha256 != coding.codebook.sha256 and plan.put:
            raise AnnotationError(tr("exchange.codebook_changed"), todo=tr("exchange.open_again"))
        for which in coding.files.bring_in(plan):
            coding.drawn(which, frozenset())
        coding.refresh()

    return take


def _export(bench: Bench, wanted: ExportWanted) -> Exported:
    base = {"joined": "joined", "none": "session"}.get(wanted.sound, "files")
    return export_coding(
        open_record(bench.session),
        bench.rater,
        ON_TRANSCRIPT if wanted.on_transcript else format_named(wanted.format),
        wanted.out,
        base=base,  # type: ignore[arg-type]
        codebook=bench.codebook,
        with_sound=wanted.sound == "copied",
    )


def _plan(bench: Bench, wanted: ImportWanted) -> ImportPlan:
    names = None if wanted.names is None else incoming.read_translation(wanted.names)
    return plan_import(
        open_record(bench.session),
        bench.rater,
        incoming.read(wanted.file),
        translation=names,
        codebook=bench.codebook,
        time=wanted.time,
        words_only=wanted.words_only,
        round=bench.round,
    )


def _summarise_plan(plan: ImportPlan) -> Sequence[object]:
    """What was shown of a plan, to compare plans: their ids differ each time."""
    steps = [(s.what, s.t0_ns, s.t1_ns, s.about, s.before) for s in plan.steps]
    return [steps, plan.lost, plan.freeze, plan.unchanged, plan.sha256]


def _warnings(what: str, lost: Sequence[str]) -> list[PlanLine]:
    return [PlanLine(what, "", translate_message(why), warns=True) for why in lost]


def _line(step: ImportStep) -> PlanLine:
    when = format_time(step.t0_ns, 1)
    if step.t1_ns > step.t0_ns:
        when += f"–{format_time(step.t1_ns, 1)}"
    was = translate_message(step.before) if isinstance(step.before, Message) else step.before
    before = f" ({tr('exchange.before', before=was)})" if step.before else ""
    about = tr(SPEAKER_NAMES[step.about]) if step.what.startswith("unit") else step.about
    return PlanLine(tr_known(step.what, WHATS), when, f"{about}{before}", step.t0_ns)
