"""The home's page for the researcher: sessions with their quality, results so far, export.

A passive view, as the home is: told through its setters, telling through its signals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from labapp.journal.sessions import SessionSummary
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.combo import Combo
from labapp.ui.replay_process import menu_of, replayable
from labapp.ui.researcher.figures_view import FiguresView
from labapp.ui.researcher.results import Key, Quality, Results
from labapp.ui.researcher.results_view import ResultsView
from labapp.ui.researcher.session_list import SessionList, usable
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.flow import FlowLayout


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What Export asks for: sessions into a bundle at `out`, which must not exist."""

    sessions: tuple[Path, ...]
    out: Path
    deidentify: bool
    audio: bool
    zipped: bool


class ResearcherPage(QWidget):
    """Signals
    -------
    study_chosen(str) : the study whose sessions are shown.
    analyse_requested(), report_requested(), keep_requested(Path) : results; where to keep them.
    verify_requested(list[Path]), export_requested(ExportRequest) : the chosen sessions, or all.
    replay_requested(Path) : the session of a row.
    """

    study_chosen = Signal(str)
    analyse_requested = Signal()
    report_requested = Signal()
    keep_requested = Signal(object)
    verify_requested = Signal(object)
    export_requested = Signal(object)
    replay_requested = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.study = Combo(palette, tr("Study"))
        self.count = bits.label(role="secondary")
        self.sessions = SessionList(palette)
        self.about = bits.label(role="secondary", wrap=True)
        self.replay = Button(tr("Replay"))
        self.verify = Button(tr("Verify"))
        self.export = Button(tr("Export…"))
        self.deidentify = QCheckBox(tr("De-identified"))
        self.audio = QCheckBox(tr("With sound"))
        self.deidentify.setChecked(True)
        self.zipped = QCheckBox(tr("As one file"))
        self.results = ResultsView()
        self.figures = FiguresView()
        self.pages = QStackedWidget()
        self.tabs = [Button(tr("Numbers"), "page-tab"), Button(tr("Figures"), "page-tab")]
        self._results: tuple[object, str] = (object(), "")
        self.state = bits.label(role="secondary", wrap=True)
        self.analyse = Button(tr("Stop"))
        stop = self.analyse.sizeHint().width()
        self.analyse.setText(tr("Analyse"))
        self.analyse.setMinimumWidth(max(stop, self.analyse.sizeHint().width()))
        self.report = Button(tr("Open report"))
        self.keep = Button(tr("Save a copy…"))

        layout = bits.row(self, theme.SPACE_L)
        layout.addWidget(self._left(), 1)
        layout.addWidget(self._right(), 1)
        self.beside = bits.card(tr("Figures"))
        layout.addWidget(self.beside, 1)
        self.beside.hide()
        # What identifies people is a choice of its own, and so is their voice.
        self.deidentify.toggled.connect(lambda on: self.audio.setChecked(False))
        for box in (self.deidentify, self.audio):
            box.toggled.connect(self._voices)
        self.study.activated.connect(lambda at: self.study_chosen.emit(self.study.itemData(at)))
        self.sessions.chosen.connect(self._selected)
        self.sessions.opened.connect(self._replay)
        self.sessions.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.sessions.customContextMenuRequested.connect(self._open_menu)
        self.replay.clicked.connect(lambda: self._replay(self.sessions.selected()))
        self.analyse.clicked.connect(self.analyse_requested)
        self.report.clicked.connect(self.report_requested)
        self.keep.clicked.connect(self._keep)
        self.verify.clicked.connect(lambda: self.verify_requested.emit(self.chosen()))
        self.export.clicked.connect(self._export)
        self.set_results(None, "", "")
        self._selected()

    def _left(self) -> QWidget:
        card = bits.card(tr("Sessions"))
        body = card.layout()
        assert isinstance(body, QVBoxLayout)
        head = QHBoxLayout()
        head.addWidget(self.study, 1)
        head.addWidget(self.count)
        body.addLayout(head)
        body.addWidget(self.sessions, 1)
        body.addWidget(self.about)
        options = FlowLayout(theme.SPACE_M, 0)
        for box in (self.deidentify, self.audio, self.zipped):
            options.addWidget(box)
        body.addLayout(options)
        foot = FlowLayout(theme.SPACE_S, theme.SPACE_S)
        for button in (self.replay, self.verify, self.export):
            foot.addWidget(button)
        body.addLayout(foot)
        return card

    def _right(self) -> QWidget:
        card = bits.card()
        body = card.layout()
        assert isinstance(body, QVBoxLayout)
        head = bits.row(None, theme.SPACE_S)
        # At the top, where the other card has its title: the tabs are taller.
        title = bits.ElidedLabel(tr("Results so far"), "title")
        head.addWidget(title, 1, Qt.AlignmentFlag.AlignTop)
        for tab, page in zip(self.tabs, (self.results, self.figures), strict=True):
            tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            head.addWidget(tab)
            self.pages.addWidget(page)
        bits.turn_pages(self.tabs, self.pages.setCurrentIndex)
        body.addLayout(head)
        body.addWidget(self.state)
        body.addWidget(self.pages, 1)
        foot = FlowLayout(theme.SPACE_S, theme.SPACE_S)
        for button in (self.analyse, self.keep, self.report):
            foot.addWidget(button)
        body.addLayout(foot)
        return card

    def set_wide(self, wide: bool) -> None:
        """Whether the figures have a card of their own, next to the numbers."""
        self.tabs[0].click()
        place = self.beside.layout() if wide else self.pages
        assert isinstance(place, QVBoxLayout | QStackedWidget)
        place.addWidget(self.figures)
        self.figures.setVisible(wide)
        self.beside.setVisible(wide)
        for tab in self.tabs:
            tab.setVisible(not wide)
        self.setTabOrder(self.report if wide else self.results, self.figures)

    def set_studies(self, studies: Sequence[str], current: str) -> None:
        """The studies that have sessions."""
        self.study.set_choices([(study, study) for study in studies], current)
        self.study.setEnabled(bool(studies))

    def set_sessions(
        self, lines: Sequence[SessionSummary], quality: Mapping[Key, Quality], count: str
    ) -> None:
        """The study's sessions, newest first; quality: of those that were analysed; count: how many
        there are and count, in words."""
        self.sessions.set_lines(lines, quality)
        bits.set_text(self.count, count)
        self._selected()

    def set_results(self, results: Results | None, study: str, state: str) -> None:
        """The results of a study, or none yet; state: of what they are and since when."""
        bits.set_text(self.state, state)
        self.report.setEnabled(results is not None)
        self.keep.setEnabled(results is not None)
        shown, of = self._results
        if shown is results and of == study:
            return  # to build them anew would scroll back
        self._results = (results, study)  # kept, for another one could come to have its id
        if results is None:
            self.results.show_text(tr("There are no results yet.") if study else bits.start_one())
        else:
            self.results.show_results(results, study)
        drawn = () if results is None else results.figures
        self.figures.show_figures(drawn)
        self.tabs[1].setEnabled(bool(drawn))
        if not drawn:
            self.tabs[0].click()

    def set_state(self, state: str, tone: str = "") -> None:
        """What is being done or went wrong."""
        bits.set_text(self.state, state)
        bits.set_property(self.state, "tone", tone)

    def set_busy(self, *, analysing: bool, working: bool, can: bool) -> None:
        """analysing: results are being computed; working: sessions are verified or exported; can:
        there are sessions that can be analysed."""
        self.analyse.setText(tr("Stop") if analysing else tr("Analyse"))
        self.analyse.setEnabled(analysing or can)
        for button in (self.verify, self.export):
            button.setEnabled(not working and bool(self.sessions.lines))

    def set_about(self, text: str, tone: str = "") -> None:
        """What came of the last check or export."""
        bits.set_property(self.about, "tone", tone)
        bits.set_text(self.about, text)

    def chosen(self) -> list[Path]:
        """The selected sessions, or all that are whole and that nobody withdrew from."""
        whole = [line for line in self.sessions.lines if usable(line)]
        return [line.path for line in self.sessions.selected_lines() or whole]

    def _selected(self) -> None:
        n = len(self.sessions.selected_lines())
        any_ = bool(self.sessions.lines)
        self.verify.setText(tr("Verify {n}", n=n) if n else tr("Verify all"))
        self.export.setText(tr("Export {n}…", n=n) if n else tr("Export all…"))
        self.verify.setEnabled(any_)
        self.export.setEnabled(any_)
        self.replay.setEnabled(n == 1 and replayable(self.sessions.selected()))

    def _replay(self, line: SessionSummary | None) -> None:
        if line is not None and replayable(line):
            self.replay_requested.emit(line.path)

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the sessions that are selected."""
        if self.sessions.selected() is not None:
            menu_of(self.sessions.viewport(), place, (self.replay, self.verify, self.export))

    def _voices(self) -> None:
        voices = tr("The voices identify the people who speak.")
        names = tr("The bundle identifies people, for your own lab alone.")
        if self.audio.isChecked() or not self.deidentify.isChecked():
            self.set_about(voices if self.deidentify.isChecked() else names, "warn")
        elif self.about.text() in (voices, names):
            self.set_about("")

    def _export(self) -> None:
        ending = ".zip" if self.zipped.isChecked() else ""
        name = f"{self.study.currentData()}-bundle{ending}"
        if path := bits.ask_new_path(self, tr("A new folder or file for the bundle"), name):
            self.export_to(path)

    def export_to(self, out: Path) -> None:
        """Ask for the chosen sessions as a bundle at `out`."""
        self.export_requested.emit(
            ExportRequest(
                tuple(self.chosen()),
                out,
                self.deidentify.isChecked(),
                self.audio.isChecked(),
                self.zipped.isChecked(),
            )
        )

    def _keep(self) -> None:
        name = f"{self.study.currentData()}-results"
        title = tr("A new folder for tables, figures and report")
        if path := bits.ask_new_path(self, title, name):
            self.keep_requested.emit(path)
