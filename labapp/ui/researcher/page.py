"""The home's page for the researcher: sessions with their quality, results so far, export.

A passive view, as the home is: told through its setters, telling through its signals.

Also a page of the researcher's that scrolls up and down, and the sessions of a study with what
their data are worth.

What an analysis wrote into its folder is given to the window as plain values. They are read from
the files of `labapp analyze`, so that window and command line say the same numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from labapp.base.errors import RecordError
from labapp.base.naming import NO_PHASE
from labapp.base.reading import files
from labapp.base.reading.tables import original
from labapp.base.report.labels import Labels
from labapp.record.journal.sessions import SessionSummary
from labapp.ui import theme
from labapp.ui.language import (
    N_,
    N_all,
    Phrases,
    counted,
    current_language,
    number,
    phrases,
    tr,
    tr_known,
    translate_phrase,
)
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.sessions_page import ID, LENGTH, STATE, SessionColumn, SessionView
from labapp.ui.researcher.job import menu_of, open_outside, replayable
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button, FlowLayout

LEAST_HEIGHT = 72


class Scrolled(bits.Scrolling):
    """name: what it holds, for who hears the screen."""

    def __init__(self, name: str) -> None:
        super().__init__(QWidget(), LEAST_HEIGHT)
        self.setProperty("role", "page")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)

    def begin(self) -> QVBoxLayout:
        """An empty page in place of what was there."""
        page = self._inside = QWidget()
        layout = bits.column(page, theme.SPACE_L, (0, 0, theme.SPACE_S, 0))
        self.setWidget(page)
        return layout


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What Export asks for: sessions into a bundle at `out`, which must not exist."""

    sessions: tuple[Path, ...]
    out: Path
    deidentify: bool
    audio: bool
    zipped: bool
    flac: bool


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """Where results are kept: a folder that must not exist. formats: also a file of all numbers for
    each of these, see `DATA_FORMATS`."""

    out: Path
    formats: tuple[str, ...] = ()


DATA_FORMATS = {"xlsx": "Excel", "sav": "SPSS", "dta": "Stata"}
"""The programs for which an analysis writes files of numbers, by what `--format` calls them."""


class ResearcherPage(QWidget):
    """Signals
    -------
    study_chosen(str) : the study whose sessions are shown.
    only_chosen(str) : the phase or tag whose sessions are listed and analysed; empty for all.
    analyse_requested(), report_requested(), keep_requested(CopyRequest) : results; where to keep
        them.
    verify_requested(list[Path]), export_requested(ExportRequest) : the chosen sessions, or all.
    deposit_requested(), merge_requested() : a window for a deposit; for a survey's answers.
    replay_requested(Path) : the session of a row.
    """

    study_chosen = Signal(str)
    only_chosen = Signal(str)
    analyse_requested = Signal()
    report_requested = Signal()
    keep_requested = Signal(object)
    verify_requested = Signal(object)
    export_requested = Signal(object)
    deposit_requested = Signal()
    merge_requested = Signal()
    replay_requested = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.colors = palette
        self.study = Combo(palette, tr("tab.study"))
        self.only = Combo(palette, tr("results.only"))
        self.count = bits.label(role="secondary")
        self.sessions = SessionList(palette)
        self.about = bits.label(role="secondary", wrap=True)
        self.replay = Button(tr("button.replay"))
        self.verify = Button(tr("results.verify"))
        self.export = Button(tr("exchange.export_ask"), pressed=self._export)
        # What is rarely done, in a menu.
        self.deposit = Button(tr("sharing.deposit_menu"), parent=self)
        self.merge = Button(tr("sharing.merge_menu"), parent=self, pressed=self.merge_requested)
        self.deposit.hide()
        self.merge.hide()
        self.more = Button(tr("sharing.more"), "compact", pressed=self._open_more)
        self.more.setAccessibleDescription(tr("sharing.more_hint"))
        self.more.setToolTip(tr("sharing.more_hint"))
        self.deidentify = QCheckBox(tr("results.deidentified"))
        self.audio = QCheckBox(tr("results.with_sound"))
        self.flac = QCheckBox(tr("results.sound_flac"))
        self.flac.setToolTip(tr("results.sound_flac_hint"))
        self.flac.setEnabled(False)
        self.deidentify.setChecked(True)
        self.zipped = QCheckBox(tr("results.as_one_file"))
        self.results = ResultsView()
        self.figures = FiguresView()
        self.pages = QStackedWidget()
        self.tabs = [
            Button(tr("results.numbers"), "page-tab"),
            Button(tr("results.figures"), "page-tab"),
        ]
        self._results: tuple[object, str] = (object(), "")
        self.state = bits.label(role="secondary", wrap=True)
        self.analyse = TwoTexts(tr("results.analyse"), tr("button.stop"))
        self.report = Button(tr("results.open_report"), pressed=self.report_requested)
        self.keep = Button(tr("results.save_copy"), pressed=self._keep)
        self.formats = {name: QCheckBox(program) for name, program in DATA_FORMATS.items()}
        for name, box in self.formats.items():
            box.setAccessibleName(tr("results.data_for", program=DATA_FORMATS[name]))
            box.setToolTip(tr("results.data_hint"))

        layout = bits.fill(bits.row(self, theme.SPACE_L), (self._left(), 1), (self._right(), 1))
        self.beside = bits.Card(tr("results.figures"))
        layout.addWidget(self.beside, 1)
        self.beside.hide()
        # What identifies people is a choice of its own, and so is their voice.
        self.deidentify.toggled.connect(lambda on: self.audio.setChecked(False))
        self.audio.toggled.connect(self.flac.setEnabled)
        for box in (self.deidentify, self.audio):
            box.toggled.connect(self._voices)
        self.study.activated.connect(lambda at: self.study_chosen.emit(self.study.itemData(at)))
        self.only.activated.connect(lambda at: self.only_chosen.emit(self.only.itemData(at)))
        self.sessions.chosen.connect(self._show_selection)
        self.sessions.opened.connect(self._replay)
        self.sessions.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.sessions.customContextMenuRequested.connect(self._open_menu)
        self.replay.clicked.connect(lambda: self._replay(self.sessions.selected()))
        self.analyse.clicked.connect(self.analyse_requested)
        self.verify.clicked.connect(lambda: self.verify_requested.emit(self.chosen()))
        self.deposit.clicked.connect(self.deposit_requested)
        self.set_results(None, "", "")
        self._show_selection()

    def _left(self) -> QWidget:
        card = bits.Card()
        top = bits.row(None, theme.SPACE_S)
        # At the top, as the title of the other card.
        title = bits.ElidedLabel(tr("tab.sessions"), "title")
        top.addWidget(title, 1, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.more)
        head = bits.fill(QHBoxLayout(), (self.study, 1), self.only, self.count)
        bits.fill(card.body, top, head, (self.sessions, 1), self.about)
        boxes, buttons = (
            (self.deidentify, self.audio, self.flac, self.zipped),
            (self.replay, self.verify, self.export),
        )
        card.body.addLayout(FlowLayout(theme.SPACE_M, 0, widgets=boxes))
        card.body.addLayout(FlowLayout(theme.SPACE_S, theme.SPACE_S, widgets=buttons))
        return card

    def _right(self) -> QWidget:
        card = bits.Card()
        head = bits.row(None, theme.SPACE_S)
        # At the top, where the other card has its title: the tabs are taller.
        title = bits.ElidedLabel(tr("results.so_far"), "title")
        head.addWidget(title, 1, Qt.AlignmentFlag.AlignTop)
        for tab, page in zip(self.tabs, (self.results, self.figures), strict=True):
            tab.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            head.addWidget(tab)
            self.pages.addWidget(page)
        bits.turn_pages(self.tabs, self.pages.setCurrentIndex)
        bits.fill(card.body, head, self.state, (self.pages, 1))
        boxes = (bits.label(tr("results.data_files"), "secondary"), *self.formats.values())
        buttons = (self.analyse, self.keep, self.report)
        card.body.addLayout(FlowLayout(theme.SPACE_M, 0, widgets=boxes))
        card.body.addLayout(FlowLayout(theme.SPACE_S, theme.SPACE_S, widgets=buttons))
        return card

    def set_wide(self, wide: bool) -> None:
        """Whether the figures have a card of their own, next to the numbers."""
        self.tabs[0].click()
        (self.beside.body if wide else self.pages).addWidget(self.figures)
        self.figures.setVisible(wide)
        self.beside.setVisible(wide)
        for tab in self.tabs:
            tab.setVisible(not wide)
        self.setTabOrder(self.report if wide else self.results, self.figures)

    def set_studies(self, studies: Sequence[str], current: str) -> None:
        """The studies that have sessions."""
        self.study.set_choices([(study, study) for study in studies], current)
        self.study.setEnabled(bool(studies))

    def set_only(self, phases: Sequence[str], tags: Sequence[str], chosen: str) -> None:
        """The phases and tags of the study's sessions, of which one can be chosen."""
        named = {word: tr("results.only_tag", tag=word) for word in tags}
        named |= {word: tr("results.only_phase", phase=word) for word in phases}
        choices = [(tr("results.only_none"), ""), *((text, word) for word, text in named.items())]
        self.only.set_choices(choices, chosen)
        self.only.setVisible(bool(named))

    def set_sessions(
        self, lines: Sequence[SessionSummary], quality: Mapping[Key, Quality], count: str
    ) -> None:
        """The study's sessions, newest first; quality: of those that were analysed; count: how many
        there are and count, in words."""
        self.sessions.set_lines(lines, quality)
        bits.set_text(self.count, count)
        self._show_selection()

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
            self.results.show_text(tr("results.none") if study else bits.start_one())
        else:
            self.results.show_results(results, study)
        drawn = () if results is None else results.figures
        self.figures.show_figures(drawn)
        self.tabs[1].setEnabled(bool(drawn))
        if not drawn:
            self.tabs[0].click()

    def set_state(self, state: str, tone: str = "") -> None:
        """What is being done or went wrong."""
        bits.set_text(self.state, state, tone)

    def set_busy(self, *, analysing: bool, working: bool, can: bool) -> None:
        """analysing: results are being computed; working: sessions are verified or exported; can:
        there are sessions that can be analysed."""
        self.analyse.setText(tr("button.stop") if analysing else tr("results.analyse"))
        self.analyse.setEnabled(analysing or can)
        for button in (self.verify, self.export):
            button.setEnabled(not working and bool(self.sessions.lines))
        self.keep.setEnabled(not working and isinstance(self._results[0], Results))

    def set_about(self, text: str, tone: str = "") -> None:
        """What came of the last check or export."""
        bits.set_text(self.about, text, tone)

    def chosen(self) -> list[Path]:
        """The selected sessions, or all that are whole and that nobody withdrew from."""
        whole = [line for line in self.sessions.lines if usable(line)]
        return [line.path for line in self.sessions.selected_lines() or whole]

    def _show_selection(self) -> None:
        n = len(self.sessions.selected_lines())
        any_ = bool(self.sessions.lines)
        self.verify.setText(tr("results.verify_n", n=n) if n else tr("results.verify_all"))
        self.export.setText(tr("results.export_n", n=n) if n else tr("results.export_all"))
        for button in (self.verify, self.export, self.more):
            button.setEnabled(any_)
        self.replay.setEnabled(n == 1 and replayable(self.sessions.selected()))

    def _replay(self, line: SessionSummary | None) -> None:
        if line is not None and replayable(line):
            self.replay_requested.emit(line.path)

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the sessions that are selected."""
        if self.sessions.selected() is not None:
            menu_of(self.sessions.viewport(), place, (self.replay, self.verify, self.export))

    def _open_more(self) -> None:
        menu_of(self.more, self.more.rect().bottomLeft(), (self.deposit, self.merge))

    def _voices(self) -> None:
        voices = tr("results.voices_identify")
        names = tr("results.bundle_identifies")
        if self.audio.isChecked() or not self.deidentify.isChecked():
            self.set_about(voices if self.deidentify.isChecked() else names, "warn")
        elif self.about.text() in (voices, names):
            self.set_about("")

    def _export(self) -> None:
        ending = ".zip" if self.zipped.isChecked() else ""
        name = f"{self.study.currentData()}-bundle{ending}"
        if path := bits.ask_new_path(self, tr("results.bundle_title"), name):
            self.export_to(path)

    def export_to(self, out: Path) -> None:
        """Ask for the chosen sessions as a bundle at `out`."""
        boxes = (self.deidentify, self.audio, self.zipped, self.flac)
        how = (box.isChecked() for box in boxes)
        self.export_requested.emit(ExportRequest(tuple(self.chosen()), out, *how))

    def _keep(self) -> None:
        name = f"{self.study.currentData()}-results"
        title = tr("results.folder_title")
        if path := bits.ask_new_path(self, title, name):
            self.keep_in(path)

    def keep_in(self, out: Path) -> None:
        """Ask for the results in a folder."""
        formats = tuple(name for name, box in self.formats.items() if box.isChecked())
        self.keep_requested.emit(CopyRequest(out, formats))


class TwoTexts(Button):
    """A button that shows one of two texts and is as wide as the longer one needs."""

    def __init__(self, *texts: str) -> None:
        super().__init__(texts[0])
        self._texts = texts

    def sizeHint(self) -> QSize:
        hint, size = super().sizeHint(), self.fontMetrics().size
        wide = {text: size(Qt.TextFlag.TextShowMnemonic, text).width() for text in self._texts}
        hint.setWidth(hint.width() + max(wide.values()) - wide[self.text()])
        return hint


HEADINGS = (N_("results.column.of"), "n", N_("results.column.mean"), N_("results.column.median"))
DECIMALS = ((100, 0), (10, 1), (1, 2))
"""So many decimals from such a size on; 3 below."""
WIDTHS = (theme.SPACE_XL, 3 * theme.SPACE_XXXL - theme.SPACE_S, theme.SPACE_XXXL + theme.SPACE_L)
"""Least widths of the columns of numbers, so that they stand below each other."""
SHORT = 6
"""Characters of a unit that stands above the last column alone."""


def value(size: float | None, like: float | None = None) -> str:
    """A number with as many decimals as it needs to be compared; like: the number whose decimals
    are to be used (a mean's, for its standard deviation)."""
    if size is None:
        return "–"
    deciding = abs(size if like is None else like) or abs(size)
    decimals = next((some for limit, some in DECIMALS if deciding >= limit), 3) if deciding else 0
    return number(f"{size:,.{decimals}f}").replace("-", "−")


def spread(line: MeanLine) -> str:
    """Mean and sample standard deviation."""
    mean = value(line.mean)
    return mean if line.sd is None else f"{mean} ± {value(line.sd, line.mean)}"


class ResultsView(Scrolled):
    """Means by measure."""

    def __init__(self) -> None:
        super().__init__(tr("results.so_far"))
        self.show_text("")

    def show_text(self, text: str) -> None:
        """A sentence in place of results."""
        layout = self.begin()
        bits.fill(layout, bits.label(text, "secondary", wrap=True), 1)

    def show_results(self, results: Results, study: str) -> None:
        """The means of a study."""
        lines = [line for line in results.lines if study in line.study.split(" + ")]
        if not lines:
            self.show_text(tr("results.none_counted"))
            return
        layout, labels = self.begin(), results.labels.get(study, Labels({}))
        if study in results.relabelled:
            layout.addWidget(bits.label(tr("results.relabelled"), "secondary", wrap=True))
        # Where nothing has a median (of judged and masked pictures) there is no column for it.
        columns = 3 if any(line.median is not None for line in lines) else 2
        for group, own in groupby(lines, key=lambda line: line.group):
            if group:
                layout.addWidget(bits.label(group_text(labels.put(group)), "heading", wrap=True))
            for (quantity, unit), some in groupby(own, key=lambda row: (row.quantity, row.unit)):
                layout.addWidget(_measure(quantity, unit, list(some), columns, labels))
        layout.addStretch(1)


def _measure(
    quantity: str, unit: str, lines: Sequence[MeanLine], columns: int, labels: Labels
) -> QWidget:
    """One measure: a row for each model. columns: of numbers."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.SPACE_M)
    grid.setVerticalSpacing(theme.SPACE_XS)
    grid.setColumnStretch(0, 1)
    for column, width in enumerate(WIDTHS[:columns], start=1):
        grid.setColumnMinimumWidth(column, width)
    phrase = tr_known(unit, UNITS)  # a sign is the same everywhere
    wide = 1 if len(phrase) > SHORT else columns  # of the title; the unit has the rest
    grid.addWidget(bits.label(_title(quantity, labels), "strong", wrap=True), 0, 0, 1, wide)
    right = _right(bits.label(phrase, "secondary", wrap=True))
    grid.addWidget(right, 0, wide, 1, columns + 1 - wide)
    for column, text in enumerate(HEADINGS[: columns + 1]):
        head = bits.label(text if text == "n" else tr(text), "caption")
        grid.addWidget(head if column == 0 else _right(head), 1, column)
    for row, line in enumerate(lines, start=2):
        of = labels.put(line.of) or tr("results.all")
        # Several levels take several lines: shortened, cells could not be told apart.
        grid.addWidget(bits.label(of, wrap=True) if ", " in of else bits.ElidedLabel(of), row, 0)
        numbers = (str(line.n), spread(line), value(line.median))
        for column, text in enumerate(numbers[:columns], start=1):
            grid.addWidget(_right(bits.label(text)), row, column)
    return box


def _title(quantity: str, labels: Labels) -> str:
    """What was measured: as the study calls it, or else as labapp does."""
    labelled = labels.put(quantity)
    return title(quantity) if labelled == quantity else labelled


def _right(label: QLabel) -> QLabel:
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label


TITLES = {
    **N_all(
        "quantity",
        *("slide_distance", "error_auc_sum", "error_auc_mean", "confidence", "mental_demand"),
        *("physical_demand", "temporal_demand", "performance", "effort", "frustration"),
        *("raw_tlx", "weighted_tlx"),
    ),
    "completion_rate": N_("quantity.completion"),
    "response_time_s": N_("quantity.response_time"),
    "seq": N_("quantity.difficulty_seq"),
    "correctness_rate": N_("quantity.correctness"),
    "understanding": N_("quantity.dial_makes_sense"),
    "post_quiz_difficulty": N_("quantity.difficulty_quiz"),
    "systematic_plan": N_("quantity.had_plan"),
    "random_experimenting": N_("quantity.at_random"),
    "understood_dimensions": N_("quantity.understood"),
}
"""Titles of the metrics of stages, by their columns."""
QUANTITIES = {
    "distinction": N_("quantity.distinction"),
    "output prediction": N_("quantity.output_prediction"),
    "agreement": N_("quantity.agreement"),
    "warm-up, prediction rightly judged": N_("quantity.warm_up_judged"),
    "warm-up, first mistake found": N_("quantity.warm_up_mistake"),
    "first step disagreed with, {photos}: {error}": N_("quantity.first_step"),
    "similarity, chosen": N_("quantity.similarity_chosen"),
    "similarity, others": N_("quantity.similarity_others"),
    "rating at rank {rank}": N_("quantity.rating_at_rank"),
    "photos rightly assigned, as told": N_("quantity.assigned"),
    "photos rightly assigned, mean over all ways to break the ties": N_("quantity.assigned_ties"),
    "photos among which the lot decided": N_("quantity.assigned_by_lot"),
    "least accuracy, {risk} risk, not answered": N_("quantity.least_accuracy_unanswered"),
    "least accuracy, {risk} risk": N_("quantity.least_accuracy"),
    "understanding after intro": N_("quantity.understanding_intro"),
    "understanding after task": N_("quantity.understanding_task"),
    "understanding after results": N_("quantity.understanding_results"),
    "confidence, {question}, answered rightly": N_("quantity.confidence_right"),
    "confidence, {question}, answered wrongly": N_("quantity.confidence_wrong"),
    "confidence, {question}": N_("quantity.confidence_in"),
    "duration": N_("quantity.duration"),
    "gender: {who}": N_("quantity.gender"),
    "race: {who}": N_("quantity.race"),
    "experience with ML": N_("quantity.experience"),
    "reaction time, wrong prediction of the {which} image: {answer}": N_(
        "quantity.reaction_time_wrong"
    ),
    "reaction time": N_("quantity.reaction_time"),
    "model's cross-entropy, masked images": N_("quantity.cross_entropy"),
    "rank by {whom}, 1 is best": N_("quantity.rank_by"),
}
"""Quantities that the analysis writes in words, of judged explanations and masked pictures."""
GAPS: Mapping[str, Mapping[str, str] | range] = {
    "photos": {
        "all photos": N_("value.all_photos"),
        "model wrong": N_("value.model_wrong"),
        "model right": N_("value.model_right"),
    },
    "error": {
        "exact": N_("value.exact"),
        "too early": N_("value.early"),
        "too late": N_("value.late"),
    },
    "rank": range(1, 51),
    "risk": {"low": N_("value.low"), "medium": N_("value.medium"), "high": N_("value.high")},
    "question": {
        "distinction": N_("quantity.distinction"),
        "output prediction": N_("quantity.output_prediction"),
        "agreement": N_("quantity.agreement"),
    },
    "who": {
        "woman": N_("value.woman"),
        "man": N_("value.man"),
        "non binary": N_("value.non_binary"),
        "self described": N_("value.self_described"),
        "not reported": N_("value.not_reported"),
        "white": N_("value.white"),
        "black": N_("value.black"),
        "asian": N_("value.asian"),
        "american indian": N_("value.american_indian"),
        "pacific islander": N_("value.pacific_islander"),
        "hispanic": N_("value.hispanic"),
    },
    "which": {"whole": N_("value.whole"), "masked": N_("value.masked")},
    "answer": {
        "agreed": N_("value.agreed"),
        "other label": N_("value.other_label"),
        "don't know": N_("value.dont_know"),
    },
    "whom": {"people": N_("value.people"), "model": N_("value.model")},
}
"""What stands in their gaps."""
GROUPS = {
    "reconstruction, {of}": N_("group.reconstruction"),
    "single-dimension, {of}": N_("group.single"),
}
"""Groups of stages: the task, and behind it models and data sets."""
UNITS = {
    "% of questions": N_("unit.percent_of_questions"),
    "s per question": N_("unit.seconds_a_question"),
    "slider widths per question": N_("unit.widths_a_question"),
    "sum of squares × s, per stage": N_("unit.sum_of_squares"),
    "mean of squares × s, per stage": N_("unit.mean_of_squares"),
    "1 very easy – 7 very difficult": N_("unit.seq"),
    "0 perfect – 100 failure": N_("unit.tlx"),
    "photos": N_("unit.photos"),
    "rank": N_("unit.rank"),
}
"""Their units, where these have words."""


def title(quantity: str) -> str:
    """What was measured, as a heading."""
    text = tr(TITLES[quantity]) if quantity in TITLES else translate_phrase(quantity, _quantities())
    return text[:1].upper() + text[1:]


def group_text(group: str) -> str:
    """Which stages were counted together."""
    task, comma, models = group.partition(", ")
    phrase = f"{task}, {{of}}"
    return tr(GROUPS[phrase], of=models) if comma and phrase in GROUPS else group


@cache
def _quantities() -> Phrases:
    return phrases(QUANTITIES, **GAPS)


MOST_FIGURES = 12


class Picture(QLabel):
    """A figure as wide as there is room, in its own proportions, never larger than it is. A click
    (or Enter) opens it at its full size; unopened tells where it is if nothing does."""

    unopened = Signal(str)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.setProperty("role", "figure")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._full = QPixmap(str(path))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(path.stem.replace("-", " "))
        self.setToolTip(path.name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        ratio = self.devicePixelRatioF()
        width = min(round(self.contentsRect().width() * ratio), self._full.width())
        if self._full.isNull() or self.pixmap().width() == width:
            return
        shown = self._full.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        shown.setDevicePixelRatio(ratio)
        self.setPixmap(shown)
        self.setFixedHeight(round(shown.height() / ratio) + 2 * theme.RING)

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.pos()):
            self._open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open()
        else:
            event.ignore()

    def _open(self) -> None:
        open_outside(self._path, self.unopened.emit)


class FiguresView(Scrolled):
    """All figures of an analysis, or the first of many. unopened: see `Picture`."""

    unopened = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("results.figures"))
        # A bar that comes and goes would change the width, and with it the height of the figures,
        # and so whether there is a bar: without end.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

    def show_figures(self, paths: Sequence[Path]) -> None:
        """Pictures in the order given."""
        layout = self.begin()
        for path in paths[:MOST_FIGURES]:
            picture = Picture(path)
            picture.unopened.connect(self.unopened)
            layout.addWidget(picture)
        if len(paths) > MOST_FIGURES:
            more = tr("results.more_figures")
            layout.addWidget(bits.label(more, "secondary", wrap=True))
        layout.addStretch(1)


def usable(line: SessionSummary) -> bool:
    """Whether a session goes into results and exports when nothing is selected: it stands still, is
    whole, and nobody withdrew from it."""
    return line.state not in ("running", "damaged") and not line.withdrawn


def marks(line: SessionSummary, quality: Quality | None) -> tuple[str, str]:
    """What is to be known of a session's data, and its tone (good, warn, alarm or '').

    quality: None if the session was not analysed yet; then what the list itself knows."""
    if line.problem:
        return line.problem, "alarm"
    if quality is None:
        return (_format_lost_sound(line.lost_s), "warn") if line.lost_s else ("", "")
    result = []
    if not quality.counts:
        result.append(tr("results.not_counted"))
    if quality.simulated:
        result.append(tr("results.simulated"))
    if quality.lost_s:
        result.append(_format_lost_sound(quality.lost_s))
    elif not quality.sound_s:
        result.append(tr("state.no_sound"))
    if quality.gaps:
        result.append(counted(quality.gaps, "results.interruptions"))
    if quality.deviations:
        result.append(counted(quality.deviations, "results.deviations"))
    poor = not quality.counts or quality.lost_s > 0 or quality.gaps > 0
    if not result:
        return tr("results.nothing_amiss"), "good"
    return " · ".join(result), "warn" if poor else ""


def details(line: SessionSummary, quality: Quality | None) -> str:
    """All of it, with reasons and places, for the tool tip: a narrow column cuts the marks off."""
    lines = [f"{line.id}", f"{tr('sessions.column.started')}: {wording.local_time(line.started)}"]
    if known := marks(line, quality)[0]:
        lines.append(known)
    if quality is not None and quality.excluded_because:
        lines.append(tr("sessions.not_counted", why=quality.excluded_because))
    if quality is not None and quality.gaps:
        seconds = number(f"{quality.gap_s:.0f}")
        lines.append(tr("results.interrupted_for", seconds=seconds))
    if line.exported:
        lines.append(tr("researcher.exported", path=", ".join(line.exported)))
    return "\n".join(lines)


def _format_lost_sound(seconds: float) -> str:
    return tr("results.sound_lost", seconds=number(f"{seconds:.1f}"))


class SessionList(SessionView):
    """Several may be selected; nothing selected stands for all."""

    def __init__(self, palette: Palette) -> None:
        self._quality: Mapping[Key, Quality] = {}
        quality = SessionColumn(
            N_("results.column.quality"),
            lambda line: marks(line, self._of(line))[0],
            tone=lambda line: marks(line, self._of(line))[1],
            tip=lambda line: details(line, self._of(line)),
            wide=True,
        )
        columns = (ID, STATE, LENGTH, quality)
        super().__init__(columns, tr("results.sessions"), palette)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def _of(self, line: SessionSummary) -> Quality | None:
        return self._quality.get((line.study, line.participant, line.session))

    def set_lines(
        self, lines: Sequence[SessionSummary], quality: Mapping[Key, Quality] | None = None
    ) -> None:
        """Show these sessions in this order; what was selected stays so."""
        quality = quality or {}
        if quality == self._quality:
            super().set_lines(lines)
            return
        self._quality = quality
        self.keeping(lambda: self.sessions.set_lines(lines))


Key = tuple[str, str, str]
"""Study, participant, session."""


LARGEST = 64 * files.MIB
"""Bytes of a table. That of the participants of a thousand sessions has one."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How far a session can be relied on. lost_s: seconds of sound filled with silence; gap_s:
    seconds the program was not running; excluded_because: empty if the session counts."""

    counts: bool
    excluded_because: str
    deviations: int
    gaps: int
    gap_s: float
    sound_s: float
    lost_s: float
    simulated: bool


@dataclass(frozen=True, slots=True)
class MeanLine:
    """A mean of the table of statistics. of: whom, for example `sinelines/ae`, or `Gradient, 2.5 %`
    of a mask that shows so much. None if there is none."""

    study: str
    group: str
    quantity: str
    unit: str
    of: str
    n: int
    mean: float | None
    sd: float | None
    median: float | None


@dataclass(frozen=True)
class Results:
    """report: the page; figures: pictures of the analysis, in the report's order; labels: by study
    what its newest version calls outcomes and models; relabelled: studies whose earlier versions
    have other labels."""

    folder: Path
    report: Path
    quality: Mapping[Key, Quality]
    lines: tuple[MeanLine, ...]
    figures: tuple[Path, ...]
    labels: Mapping[str, Labels] = field(default_factory=dict, compare=False)
    relabelled: frozenset[str] = frozenset()


def list_words(lines: Sequence[SessionSummary]) -> tuple[list[str], list[str]]:
    """The phases of sessions, in their order, and their tags. A session that has no phase is of one
    of its own where others have one."""
    used = [line for line in lines if usable(line)]
    phases = list(dict.fromkeys(line.phase or NO_PHASE for line in used))
    tags = sorted({tag for line in used for tag in line.tags})
    return [] if phases == [NO_PHASE] else phases, tags


def read_results(folder: Path) -> Results:
    """Raises RecordError if the folder is not that of a whole analysis."""
    try:
        people = list(_rows(folder / "participants.csv"))
        quality = {
            (row["study"], row["participant"], row["session"]): _quality(row) for row in people
        }
        people.sort(key=lambda row: row.get("started_utc", ""), reverse=True)
        declared = dict.fromkeys((row["study"], row.get("declared", "")) for row in people)
        every = [(study, _labels(text)) for study, text in declared]
        newest = dict(reversed(every))
        relabelled = frozenset(study for study, labels in every if labels != newest[study])
        names = {
            (row["study"], row["method"]): row["method_name"]
            for row in _rows(folder / "masked_predictions.csv")
        }
        rows = _rows(folder / "statistics.csv")
        lines = tuple(_line(row, names) for row in rows if row["test"] == "mean")
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise RecordError(
            f"The analysis in {folder} cannot be read: {error}.",
            safe="The sessions are untouched.",
            todo="Analyse again.",
        ) from error
    return Results(
        folder,
        folder / "report.html",
        quality,
        lines,
        _figures(folder / "figures"),
        {study: Labels(labels) for study, labels in newest.items()},
        relabelled,
    )


def _labels(declared: str) -> Mapping[str, str]:
    """The labels in what a study declares (JSON), in the language of the windows."""
    from labapp.analysis.declared import read_declared  # not needed before there are results

    return read_declared(declared).labels_in(current_language())


def _figures(folder: Path) -> tuple[Path, ...]:
    """The pictures as they were drawn, which is the report's order: the metrics first."""
    pictures = folder.glob("*.png")
    return tuple(sorted(pictures, key=lambda path: (path.stat().st_mtime_ns, path.name)))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    text = files.content(path, LARGEST).decode("utf-8")
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield {name: original(value) for name, value in row.items()}


def _quality(row: Mapping[str, str]) -> Quality:
    return Quality(
        counts=row["included"] == "True",
        excluded_because=row["excluded_because"],
        deviations=int(row["n_deviations"]),
        gaps=int(row["n_gaps"]),
        gap_s=float(row["gap_s"] or 0),
        sound_s=float(row["sound_s"] or 0),
        lost_s=float(row["sound_lost_s"] or 0),
        simulated=row["simulated"] == "True",
    )


def _cell(levels: str) -> str:
    """A combination of levels, each without its factor if it is more than a number."""
    pairs = [pair.partition("=") for pair in levels.split("; ") if pair]
    return ", ".join(f"{name} {level}" if level.isdigit() else level for name, _, level in pairs)


def _line(row: Mapping[str, str], names: Mapping[tuple[str, str], str]) -> MeanLine:
    """names: of explanation methods, by study and id."""
    method = names.get((row["study"], row["method"]), row["method"])
    shown = f"{float(row['percent']):g}\N{NO-BREAK SPACE}%" if row["percent"] else ""
    cell = _cell(row["levels"]) or row["model"] or method
    of = ", ".join(part for part in (cell, shown) if part)
    mean, sd, median = (
        float(row[name]) if row[name] else None for name in ("mean", "sd", "median")
    )
    where = (row["study"], row["group"], row["quantity"], row["unit"])
    return MeanLine(*where, of, int(row["n"]), mean, sd, median)
