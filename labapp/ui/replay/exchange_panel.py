"""Exchange with other tools, as a card: what goes out, and what a file would change here.

It is no dialog: what plays goes on, and every key does what it does without it. A passive view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QGridLayout, QWidget

from labapp.exchange.formats import FORMATS, ON_TRANSCRIPT
from labapp.exchange.model import Format
from labapp.ui import theme
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.combo import Combo
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.row_table import RowModel, RowTable

TITLES = {
    "vtt": N_("WebVTT captions"),
    "srt": N_("SubRip captions"),
    "audacity": N_("Audacity’s labels"),
    "qdpx": N_("a project of NVivo, MAXQDA, ATLAS.ti or QualCoder"),
    "csv": N_("a table"),
}
"""Of formats that are called otherwise in other languages."""
SOUNDS = {
    "linked": N_("Sound linked"),
    "copied": N_("Sound copied"),
    "joined": N_("Sound as one file"),
    "none": N_("Without sound"),
}
"""What becomes of the sound, by the names in `ExportWanted`."""
INSIDE = {"linked": N_("Sound inside"), "joined": SOUNDS["joined"], "none": SOUNDS["none"]}
"""The same of files that hold the sound."""
LINE_COLUMNS = (N_("What"), N_("When"), N_("About"))
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
    format : a name of `labapp.exchange.formats.FORMATS`.
    sound : a name of `SOUNDS`.
    out : the file, or of several sound files the folder.
    on_transcript : bool
        Whether codes of units are on the transcript, instead of on words beside; of `qdpx` alone.
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
    file : of another tool.
    time : whose time it has: `session`, a sound file, or empty for what the file says.
    names : a table of what tiers and codes are called here.
    words_only : whether words go into the units that are there.
    """

    file: Path
    time: str = ""
    names: Path | None = None
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of what is told: what, when and about what; at_ns: the session time to go to."""

    what: str
    when: str
    about: str
    at_ns: int | None = None
    warns: bool = False


class Lines(RowModel[Line]):
    """What would be changed, or what was left out."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(LINE_COLUMNS)
        self._palette = palette

    def cell(self, row: Line, column: int, role: int) -> Any:
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
        self._name, self._several = "coding", False
        self._file: Path | None = None
        self._names: Path | None = None
        self.setProperty("role", "sheet")
        self.setAccessibleName(tr("Exchange with other tools"))
        self.format = Combo(palette, tr("Format"))
        self.sound = Combo(palette, tr("Sound"))
        self.on_transcript = QCheckBox(tr("Codes of units on the transcript"))
        self.on_transcript.setToolTip(
            tr("Instead of on words beside it; some tools shift them by a character.")
        )
        self.time = Combo(palette, tr("Whose time the file has"))
        self.go_out = Button(tr("Export…"), "compact")
        self.come_in = Button(tr("Choose a file…"), "compact")
        self.names = Button(tr("Names…"), "compact")
        self.names.setToolTip(
            tr("A table tier,code,to_tier,to_code: what the file’s tiers and codes are called here")
        )
        self.words_only = QCheckBox(tr("Words into units"))
        self.words_only.setToolTip(
            tr("Puts the file’s words into the units that are here and that they overlap most.")
        )
        self.state = bits.label(role="secondary", wrap=True)
        self.model = Lines(palette)
        self.lines = RowTable(self.model, tr("What is changed"), ROW_PX, (2,))
        self.accept_ = Button(tr("Bring in"), "primary")
        self.accept_.setMinimumHeight(theme.TARGET_HEIGHT + theme.SPACE_S)  # the dots of an Ü
        self.away = Button(tr("Not now"), "compact")
        self.close_ = Button(tr("Close"), "compact")
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
        self.go_out.clicked.connect(self._ask_out)
        self.come_in.clicked.connect(self._ask_in)
        self.names.clicked.connect(self._ask_names)
        self.time.activated.connect(self._again)
        self.words_only.toggled.connect(self._again)
        self.accept_.clicked.connect(self.accepted)
        self.away.clicked.connect(self.forget)
        self.close_.clicked.connect(self.left)
        self.lines.picked.connect(self._pick)
        self.hide()

    def _build(self) -> None:
        column = self._column = bits.column(self, theme.SPACE_S, theme.SPACE_M)
        head = bits.row(None, theme.SPACE_S)
        head.addWidget(bits.label(tr("Exchange with other tools"), "section"), 1)
        head.addWidget(self.close_)
        column.addLayout(head)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(theme.SPACE_XS)
        rows = (
            (tr("Export"), self.format, self.sound, self.go_out),
            (tr("Import"), self.come_in, self.time, self.names),
        )
        grid.addWidget(self.on_transcript, 1, 1, 1, 3)
        grid.addWidget(self.words_only, 3, 1, 1, 3)
        for place, (title, *widgets) in zip((0, 2), rows, strict=True):
            grid.addWidget(bits.label(title, "secondary"), place, 0)
            for at, widget in enumerate(widgets, start=1):
                grid.addWidget(widget, place, at)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)
        column.addLayout(grid)
        column.addWidget(self.state)
        self.lines.setMinimumHeight(LINES_PX)
        column.addWidget(self.lines, 1)
        self.foot = QWidget()
        foot = bits.row(self.foot, theme.SPACE_S)
        foot.addWidget(self.accept_)
        foot.addWidget(self.away)
        foot.addStretch(1)
        column.addWidget(self.foot)

    # --- what is shown ----------------------------------------------------------------------------

    def set_name(self, name: str) -> None:
        """What a file that goes out is called at first, without its ending."""
        self._name = name

    def set_sounds(self, files: Sequence[str]) -> None:
        """The names of the session's sound files."""
        self._several = len(files) > 1
        current = self.time.currentData()
        choices = [(tr("Its own time"), ""), (tr("Time of the session"), "session")]
        choices += [(tr("Time of {file}", file=file), file) for file in files]
        known = [value for _, value in choices]
        self.time.set_choices(choices, current if current in known else "")

    def set_state(self, text: str, tone: str = "") -> None:
        """What is being done, what came of it, or what went wrong."""
        bits.set_property(self.state, "tone", tone)
        bits.set_text(self.state, text)
        self.state.setVisible(bool(text))

    def set_lines(
        self, lines: Sequence[Line], state: str, tone: str = "", *, can_accept: bool = False
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
        self.set_lines((), tr("Nothing was changed."))

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
        """The format that is chosen."""
        return FORMATS[self.format.currentData()]

    def _ask_out(self) -> None:
        form, sound = self.chosen, self.sound.currentData()
        each = self._several and not form.many and form.name != "csv"
        folder = each and sound in ("linked", "copied")
        title = tr("A new folder, with a file for each sound file") if folder else tr("A new file")
        name = self._name if folder else f"{self._name}{form.suffix}"
        if path := bits.ask_new_path(self, title, name):
            if not folder and path.suffix.casefold() != form.suffix.casefold():
                path = path.with_name(f"{path.name}{form.suffix}")
            on_transcript = form.name == ON_TRANSCRIPT.name and self.on_transcript.isChecked()
            self.export_requested.emit(ExportWanted(form.name, sound, path, on_transcript))

    def _ask_in(self) -> None:
        ends = " ".join(f"*{form.suffix}" for form in FORMATS.values() if form.read is not None)
        path, _ = QFileDialog.getOpenFileName(
            self,
            tr("A file of another tool"),
            str(Path.home()),
            f"{tr('Files of other tools')} ({ends});;{tr('All files')} (*)",
        )
        if path:
            self._file = Path(path)
            self._again()

    def _ask_names(self) -> None:
        path = ""
        if self._names is None:
            title = tr("A table of what tiers and codes are called here")
            path, _ = QFileDialog.getOpenFileName(self, title, str(Path.home()), "CSV (*.csv)")
        self._names = Path(path) if path else None
        self.names.setText(tr("Without names") if path else tr("Names…"))
        self._again()

    def _again(self) -> None:
        self.time.setToolTip(self.time.currentText())
        if self._file is not None:
            time, words_only = self.time.currentData(), self.words_only.isChecked()
            self.import_requested.emit(ImportWanted(self._file, time, self._names, words_only))
