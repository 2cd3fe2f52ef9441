"""The moderator's start: choose, check, start.

A passive view. It is told everything through its setters and tells through its signals what the
person asked for; it reads no file, opens no device and starts nothing.

Also the checklist, with the controls that make its rows green, and Start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QWidget,
)

from labapp.base.errors import LabappError
from labapp.record import lsl
from labapp.record.journal.sessions import SessionSummary
from labapp.study.people import PersonState, Visits
from labapp.study.plugins.part import PlannedPart
from labapp.study.schema import Participants, Study
from labapp.ui import fitting, theme
from labapp.ui.documentation import open_documentation
from labapp.ui.fitting import Fitted
from labapp.ui.language import N_, current_language, tr, translate_message
from labapp.ui.moderator import bits, checklist, wording
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.checklist import (
    BACKUP,
    COMPUTER,
    ITEMS,
    LENGTH,
    LOUDSPEAKER,
    LSL,
    ORDER,
    PICTURES,
    ROWS,
    ChecklistRow,
    Interrupted,
    Readiness,
    ScreenChoice,
    StartRequest,
)
from labapp.ui.moderator.sessions_page import SessionCard, SessionsPage, SessionTable
from labapp.ui.moderator.study_page import StudyPage
from labapp.ui.moderator.voice_panel import LevelBars
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.markdown import MarkdownView
from labapp.ui.widgets.painting import metrics

if TYPE_CHECKING:
    from labapp.record.audio.devices import Device
    from labapp.record.audio.recorder import Level
    from labapp.ui.researcher.coding_page import CodingPage
    from labapp.ui.researcher.page import ResearcherPage

PALETTE = theme.LIGHT
LEAST_HEIGHT = 240
"""Of what is chosen for a session, in logical pixels: it scrolls beside the checklist."""
NOBODY: Mapping[PersonState, int] = {}
NO_QUOTAS: Mapping[str, tuple[int, int]] = {}
NEW, SESSIONS, STUDY, RESULTS, CODING, READER = range(6)
HELP_KEY = "F1"
TABS = (
    N_("tab.new_session"),
    N_("tab.sessions"),
    N_("tab.study"),
    N_("tab.results"),
    N_("tab.coding"),
)
MOST_HEIGHT, ANY_HEIGHT = 1000, 16_777_215
"""On a tall screen the page stays together: Start belongs near its checklist. The study's page
scrolls, and takes what there is (Qt's QWIDGETSIZE_MAX)."""
THREE_REGIONS, WIDE_CONTENT = 1700, theme.CONTENT_WIDTH * 3 // 2
"""From this width of the window on, in logical pixels, there are three regions instead of two, each
as wide as before; and all of them together."""


class HomeView(QWidget):
    """Signals
    -------
    start_requested(StartRequest) : Start was pressed; only possible when everything is ready.
    resume_requested(Path) : go on with an interrupted session.
    consent_pdf_wanted(Path) : write the blank consent form to this file.
    study_opened() : the study's page is looked at; `study_shown` says whether it still is.
    results_opened(bool), coding_opened(bool) : whether one of these pages is looked at.

    Setters, of its cards and pages too, may be called at any time and as often as wanted; what did
    not change costs nothing.
    """

    start_requested = Signal(object)
    resume_requested = Signal(object)
    consent_pdf_wanted = Signal(object)
    study_opened = Signal()
    results_opened = Signal(bool)
    coding_opened = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._rows = {key: ChecklistRow(key, "busy", tr("state.checking")) for key in ORDER}
        self._starting = False
        self.session = SessionCard(PALETTE)
        self.ready = ReadyCard(PALETTE)
        self.interrupted = InterruptedBanner(PALETTE)
        self.error = ErrorBanner(PALETTE)
        self.so_far = SessionTable(PALETTE, wide=False)
        self.none_yet = bits.label(tr("state.checking"), "secondary")
        self.people = bits.label("", "secondary")
        self.sessions_page = SessionsPage(PALETTE)
        self.reader = MarkdownView()
        self.study = StudyPage(PALETTE)
        self.pages = QStackedWidget()
        self.pages.setMaximumHeight(MOST_HEIGHT)

        layout = bits.fill(bits.column(self, 0), self._header())
        self._wide = False
        self._column = column = QWidget()
        inner = bits.column(column, theme.SPACE_L, (0, theme.SPACE_L, 0, theme.SPACE_L))
        for banner in (self.error, self.interrupted):
            banner.setMaximumWidth(theme.CONTENT_WIDTH)
        bits.fill(inner, self.error, self.interrupted, (self.pages, 1), 0)
        centred = bits.row(None, 0, (theme.SPACE_XL, 0, theme.SPACE_XL, 0))
        layout.addLayout(bits.fill(centred, 1, (column, 100), 1), 1)
        self._later = QWidget(), QWidget()  # for two pages that are made when they are opened
        pages = (bits.Scrolling(self.sessions_page), self.study, *self._later)
        for page in (self._new_session_page(), *pages, self._reader_page()):
            self.pages.addWidget(page)
        self.opening = OpeningCard(self)
        self._connect()
        self._limit_width()
        self._judge()

    def _header(self) -> QWidget:
        bar = QFrame()
        bar.setProperty("role", "bar")
        bar.setFixedHeight(56)
        row = bits.row(bar, theme.SPACE_M, (theme.SPACE_XXL, 0, theme.SPACE_XXL, 0))
        bits.fill(row, bits.label("labapp", "brand"), bits.Gap(theme.SPACE_M))
        self.tabs = [Button(tr(text), "tab") for text in TABS]
        for tab in self.tabs:
            row.addWidget(tab)
        bits.turn_pages(self.tabs, self.pages.setCurrentIndex)
        self.help = Button(tr("button.help"))
        self.help.setShortcut(HELP_KEY)
        self.help.setToolTip(tr("home.help_tip"))
        self.join = Button(tr("join.button"))
        self.data = bits.ElidedLabel(role="secondary")
        self.data.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bits.fill(row, (self.data, 1), self.join, self.help)
        return bar

    def _new_session_page(self) -> QWidget:
        page = QWidget()
        self._row = row = bits.row(page, theme.SPACE_L)
        chosen = QWidget()
        self._left = left = bits.column(chosen, theme.SPACE_L)
        left.addWidget(self.session)
        self._so_far = so_far = bits.Card(tr("home.so_far"))
        bits.fill(so_far.body, self.none_yet, self.people, self.so_far)
        bits.fill(left, (so_far, 1), 0)
        bits.fill(row, (bits.Scrolling(chosen, LEAST_HEIGHT), 1), (self.ready, 1))
        self.so_far.hide()
        so_far.body.setAlignment(Qt.AlignmentFlag.AlignTop)
        return bits.Scrolling(page)  # with banners above it, it may be too high

    def _reader_page(self) -> QWidget:
        page = bits.Card()
        head = QHBoxLayout()
        self.reader_title = bits.label(role="title")
        self.reader_back = Button(tr("button.back"))
        self.reader_pdf = Button(tr("home.save_pdf"))
        bits.fill(head, (self.reader_title, 1), self.reader_pdf, self.reader_back)
        bits.fill(page.body, head, bits.hairline(), (self.reader, 1), 0)
        return page

    def _connect(self) -> None:
        self.session.participant_changed.connect(lambda *_: self._judge())
        self.ready.read_consent.connect(lambda: self._open_reader())
        self.ready.start.connect(self._start)
        self.ready.items.changed.connect(self._show_items)
        self.interrupted.resume_requested.connect(self.resume_requested)
        self.help.clicked.connect(lambda: open_documentation(self.show_error))
        self.reader_back.clicked.connect(self._close_reader)
        self.reader_pdf.clicked.connect(self._choose_pdf)
        self.pages.currentChanged.connect(self._page_changed)
        self.session.blind.toggled.connect(self.study.set_blind)
        self.sessions_page.resume_requested.connect(self.resume_requested)

    def set_data(self, folder: Path, free_bytes: int | None) -> None:
        """Data folder and its free space, for the header."""
        text = str(folder)
        if free_bytes is not None:
            text += "  ·  " + tr("word.free", size=wording.size(free_bytes))
        self.data.set_full(text)

    @property
    def pilot(self) -> bool:
        """Whether the session that would start is a pilot."""
        return self.session.pilot.isChecked()

    def forget_pilot(self) -> None:
        """Untick *Pilot*; the caller shows participants and plan again."""
        with QSignalBlocker(self.session.pilot):
            self.session.pilot.setChecked(False)

    def set_study(self, study: Study) -> None:
        """The chosen study, for its page; and whether its events can be sent."""
        self.study.set_study(study)
        self.set_checklist([checklist.lsl_row(study.recording.lsl, lsl.problem)])
        self.ready.items.set_items(study.checklist_in(current_language()))

    def _show_items(self) -> None:
        items = self.ready.items
        row = checklist.items_row([box.text() for box in items.boxes], items.ticked)
        # The boxes say it themselves.
        shown = replace(row, text=tr("checklist.items")) if row.state == "todo" else row
        self.ready.set_rows([shown])
        self._rows[ITEMS] = row
        self._judge()

    def set_no_study(self, why: str) -> None:
        """The chosen study cannot be used: nothing that is shown is of another one."""
        self.study.set_no_study()
        self.ready.items.set_items(())
        self.set_plan((), why)
        self.set_consent(tr("home.consent_text"), None)
        self.set_checklist([checklist.unknown(key) for key in checklist.OF_STUDY])

    @property
    def study_shown(self) -> bool:
        """Whether the study's page is visible and not blind."""
        return self.pages.currentIndex() == STUDY and not self.session.blind.isChecked()

    @property
    def results_shown(self) -> bool:
        return self.pages.currentIndex() == RESULTS

    @property
    def coding_shown(self) -> bool:
        return self.pages.currentIndex() == CODING

    def set_participants(
        self,
        participants: Participants,
        taken: Mapping[str, Sequence[str]],
        refused: Mapping[str, str] | None = None,
        *,
        pilot: bool = False,
        visits: Visits = checklist.ANY_VISIT,
    ) -> None:
        """The study's naming, `session.folder.taken` and `refused`; proposes the next free id.
        pilot: all of this is of pilots; visits: the study's sessions."""
        self.session.set_participants(
            participants, taken, refused or {}, pilot=pilot, visits=visits
        )
        self._judge()

    def participant(self) -> tuple[str, str]:
        """Participant and session label as they stand."""
        return self.session.participant.text().strip(), self.session.session_label

    def set_plan(
        self,
        parts: Sequence[PlannedPart],
        problem: str = "",
        *,
        drawn: Sequence[str] = (),
        label: Callable[[str], str] = str,
    ) -> None:
        """The plan realised for the participant that is typed; see `SessionCard.set_plan`."""
        self.session.set_plan(parts, problem, drawn, label)
        self.study.set_plan(parts, problem)
        self._judge()

    def set_checklist(self, rows: Sequence[ChecklistRow]) -> None:
        """Rows by their key; those left out stay as they are."""
        self._rows.update((row.key, row) for row in rows)
        self.ready.set_rows(rows)
        self._judge()

    def _choose_pdf(self) -> None:
        title = tr("home.consent_save")
        if chosen := bits.ask_new_path(self, title, tr("home.consent_file"), "PDF (*.pdf)"):
            pdf = chosen.suffix.casefold() == ".pdf"
            self.consent_pdf_wanted.emit(chosen if pdf else chosen.with_name(f"{chosen.name}.pdf"))

    def set_consent(self, title: str, markdown: str | None) -> None:
        """The consent text to read; None if the study has none."""
        self.reader_title.setText(title)
        self.ready.read.setVisible(markdown is not None)
        self.reader.show_text(markdown or "")
        self.reader.setAccessibleName(tr("home.consent_text"))  # not the study's own heading
        if markdown is None and self.pages.currentIndex() == READER:
            self._close_reader()

    def set_sessions(
        self,
        lines: Sequence[SessionSummary],
        *,
        whole: bool = True,
        people: Mapping[PersonState, int] = NOBODY,
        quotas: Mapping[str, tuple[int, int]] = NO_QUOTAS,
    ) -> None:
        """The sessions of the chosen study, newest first; whole: all were read; people: how many
        took part, by what became of them; quotas: of the study, each with its count and limit."""
        lines_of_people = [wording.people_text(people)] if people else []
        lines_of_people += [wording.quota_text(name, *n) for name, n in quotas.items()]
        bits.set_text(self.people, "\n".join(lines_of_people))
        self.people.setVisible(bool(lines_of_people))
        self.so_far.set_lines(lines)
        self.so_far.setVisible(bool(lines))
        self.none_yet.setVisible(not lines)
        bits.set_text(self.none_yet, tr("sessions.none_yet") if whole else tr("state.checking"))

    def set_starting(self, starting: bool, step: str = "") -> None:
        """A session is being opened; Start waits until it is, or failed.

        step: what is done now. It lies over the page and is painted at once.
        """
        self._starting = starting
        self.opening.setVisible(bool(step))
        if step:
            self.opening.say(step)
        self._judge()

    def show_error(self, error: LabappError) -> None:
        """Tell what happened, what is safe and what to do, in a strip that can be dismissed."""
        self.error.show_error(error)

    def _judge(self) -> None:
        rows = [self.session.plan_row(), self.session.participant_row(), *self._rows.values()]
        self.ready.set_readiness(checklist.readiness(rows), starting=self._starting)

    def _start(self) -> None:
        request = StartRequest(
            str(self.session.study.currentData()),
            *self.participant(),
            audio=self.ready.device.currentData(),
            screen=str(self.ready.screen_choice.currentData()),
            blind=self.session.blind.isChecked(),
            pilot=self.session.pilot.isChecked(),
            language=self.session.language.currentData(),
        )
        self.start_requested.emit(request)

    def _page_changed(self, page: int) -> None:
        self.pages.setMaximumHeight(MOST_HEIGHT if page in (NEW, READER) else ANY_HEIGHT)
        self._limit_width()
        if page in (RESULTS, CODING):
            getattr(self, "results" if page == RESULTS else "coding")  # makes it
        self.results_opened.emit(page == RESULTS)
        self.coding_opened.emit(page == CODING)
        if self.study_shown:
            self.study_opened.emit()

    @cached_property
    def results(self) -> ResearcherPage:
        """The Results page, created when first opened."""
        from labapp.ui.researcher.page import ResearcherPage

        page = ResearcherPage(PALETTE)
        page.set_wide(self._wide)
        bits.fill(bits.column(self._later[0], 0), bits.Scrolling(page))
        return page

    @cached_property
    def coding(self) -> CodingPage:
        from labapp.ui.researcher.coding_page import CodingPage

        page = CodingPage(PALETTE)
        bits.fill(bits.column(self._later[1], 0), bits.Scrolling(page))
        return page

    def _limit_width(self) -> None:
        """Tables grow with the window, and text does not."""
        grows = self._wide and self.pages.currentIndex() not in (STUDY, READER)
        self._column.setMaximumWidth(WIDE_CONTENT if grows else theme.CONTENT_WIDTH)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._wide != (wide := self.width() >= THREE_REGIONS):
            self._wide = wide
            # Next to the card of the session, or below it.
            (self._row if wide else self._left).insertWidget(1, self._so_far, 1)
            if "results" in vars(self):
                self.results.set_wide(wide)
            self._limit_width()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pages.currentIndex() == READER:
            self._close_reader()
            return
        super().keyPressEvent(event)

    def _open_reader(self) -> None:
        self.pages.setCurrentIndex(READER)
        self.reader_back.setFocus()

    def _close_reader(self) -> None:
        self.pages.setCurrentIndex(NEW)
        self.tabs[NEW].setChecked(True)
        self.ready.read.setFocus()


class HomeWindow(Fitted, QMainWindow):
    """The home in a window of its own. closed: the person closed it."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("labapp")
        self.view = HomeView()
        self.setCentralWidget(self.view)
        self.view.setStyleSheet(bits.stylesheet(PALETTE))  # last: whatever moves is styled again
        self.view.session.participant.setFocus()
        self.setMinimumSize(*fitting.HOME)
        self.resize(1280, 720)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        if event.isAccepted():
            self.closed.emit()


class _Band(QFrame):
    def __init__(self, palette: Palette, state: str, tone: str) -> None:
        super().__init__()
        self.setProperty("role", "band")
        self.setProperty("tone", tone)
        self.title = bits.label(role="strong", wrap=True)
        self.text = bits.label(role="secondary", wrap=True)
        around = (theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        self.row = bits.row(self, theme.SPACE_M, around)
        words = bits.fill(bits.column(None, 2), self.title, self.text)
        icon = bits.StatusIcon(palette, state)
        bits.fill(self.row, (icon, Qt.AlignmentFlag.AlignTop), (words, 1))
        self.hide()


INTERRUPTED = N_("home.interrupted")
FORBIDDEN = N_("home.not_resumable")


class InterruptedBanner(_Band):
    """resume_requested(path), leave_requested(path): the answer for the session shown."""

    resume_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, "warn", "warn")
        self.lines: list[Interrupted] = []
        self.leave = Button(tr("home.leave"), pressed=self._left)
        self.resume = Button(tr("button.resume"), "primary")
        bits.fill(self.row, self.leave, self.resume)
        self.resume.clicked.connect(lambda: self.resume_requested.emit(self.lines[0].path))

    def set_lines(self, lines: Sequence[Interrupted]) -> None:
        """The interrupted sessions; they are asked about one after the other."""
        self.lines = list(lines)
        self._show()

    def _left(self) -> None:
        line = self.lines.pop(0)
        self._show()
        self.leave_requested.emit(line.path)

    def _show(self) -> None:
        self.setVisible(bool(self.lines))
        if not self.lines:
            return
        line = self.lines[0]
        title = tr(
            "home.interrupted_title",
            participant=line.participant,
            when=wording.local_time(line.last_utc),
        )
        bits.set_text(self.title, title)
        text = tr(FORBIDDEN if line.forbidden else INTERRUPTED, study=line.study)
        self.resume.setVisible(not line.forbidden)
        if more := len(self.lines) - 1:
            text += " " + tr("home.more_interrupted", n=more)
        bits.set_text(self.text, text)


class ErrorBanner(_Band):
    """What happened, what is safe, what to do; stays until it is dismissed."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, "missing", "alarm")
        self.dismiss = Button(tr("button.dismiss"), pressed=self.hide)
        self.row.addWidget(self.dismiss)

    def show_error(self, error: LabappError) -> None:
        bits.set_text(self.title, translate_message(error.what))
        then = filter(None, (error.safe, error.todo))
        bits.set_text(self.text, " ".join(map(translate_message, then)))
        self.show()


class OpeningCard(bits.Card):
    """Over the home while a session is opened: what is done now."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(tr("home.opening"), theme.SPACE_S)
        self.setParent(over)
        self._over = over
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = bits.label(role="secondary", wrap=True)
        self.text.setMinimumWidth(360)
        self.body.addWidget(self.text)
        self.hide()

    def say(self, step: str) -> None:
        """Show a sentence at once, without the event loop."""
        bits.set_text(self.text, step)
        self.adjustSize()
        self.move(self._over.rect().center() - self.rect().center())
        self.raise_()
        self._over.repaint()


TITLES = {
    "microphone": N_("word.microphone"),
    "screen": N_("home.row.screen"),
    "decoders": N_("home.row.models"),
    PICTURES: N_("home.row.pictures"),
    "disk": N_("word.disk"),
    "consent": N_("home.consent_text"),
    LSL: N_("word.lsl"),
    LENGTH: N_("home.row.length"),
    COMPUTER: N_("home.row.computer"),
    LOUDSPEAKER: N_("home.row.loudspeaker"),
    BACKUP: N_("home.row.backup"),
    ITEMS: N_("home.row.items"),
}
TITLE_WIDTH, NARROW_WIDTH, CARD_HEIGHT = 116, 420, 120
TONES = {"ok": "", "warn": "warn", "missing": "alarm", "busy": "", "todo": ""}


class ChecklistRowView(QWidget):
    """Icon, title and finding; on the right the row's control, and below them its choice. In a
    narrow row the finding comes below the title.
    """

    def __init__(
        self,
        palette: Palette,
        title: str,
        control: QWidget | None = None,
        choice: QWidget | None = None,
    ) -> None:
        super().__init__()
        self.icon = bits.StatusIcon(palette)
        self.text = bits.label(wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.name = bits.label(title, "strong", wrap=True)
        self._control, self._choice = control, choice
        self._narrow: bool | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, theme.SPACE_S, 0, theme.SPACE_S)
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(theme.SPACE_S)
        self._grid.setColumnStretch(2, 1)
        self._arrange(narrow=False)

    def minimumSizeHint(self) -> QSize:
        """As wide as it must be while it is narrow: what it is arranged like now keeps no column
        of the page from giving way."""
        icon, between = self.icon.sizeHint().width(), theme.SPACE_M
        control = 0 if self._control is None else between + self._control.sizeHint().width()
        choice = 0 if self._choice is None else self._choice.minimumSizeHint().width()
        width = icon + between + max(TITLE_WIDTH + control, choice)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(narrow=self.width() < NARROW_WIDTH)

    def _arrange(self, *, narrow: bool) -> None:
        if narrow == self._narrow:
            return
        self._narrow = narrow
        top, line = Qt.AlignmentFlag.AlignTop, int(narrow)
        self.name.setMinimumWidth(TITLE_WIDTH)
        self.name.setMaximumWidth(self.width() if narrow else TITLE_WIDTH)
        self._grid.addWidget(self.icon, 0, 0, 2, 1, top)
        self._grid.addWidget(self.name, 0, 1, 1 if narrow else 2, 1, top)
        self._grid.addWidget(self.text, line, 1 if narrow else 2, 1, 3 if narrow else 1, top)
        if self._control is not None:
            aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            self._grid.addWidget(self._control, 0, 3, aligned)
        if self._choice is not None:
            self._grid.addWidget(self._choice, line + 1, 1 if narrow else 2, 1, 3 if narrow else 2)

    def show_row(self, row: ChecklistRow) -> None:
        self.icon.set_state(row.state)
        bits.set_text(self.text, row.text, TONES[row.state])


class OwnItems(QWidget):
    """The study's own list: a box to tick for each line. changed: another one is ticked."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: list[QCheckBox] = []
        self._column = bits.column(self, 0)

    @property
    def ticked(self) -> list[str]:
        return [box.text() for box in self.boxes if box.isChecked()]

    def set_items(self, items: Sequence[str]) -> None:
        """Offer these lines; where they are others than before, none is ticked."""
        if list(items) == [box.text() for box in self.boxes]:
            return
        for box in self.boxes:
            box.setParent(None)
            box.deleteLater()
        self.boxes = [QCheckBox(item) for item in items]
        for box in self.boxes:
            box.toggled.connect(lambda _: self.changed.emit())
            self._column.addWidget(box)
        self.changed.emit()

    def untick(self) -> None:
        """Begin the list again, for the next session."""
        for box in self.boxes:
            box.setChecked(False)


class ReadyCard(bits.Card):
    """audio_device_changed(spec or None), screen_changed(name), show_cards, read_consent, start;
    tone_requested, tone_answered(heard), backup_requested."""

    audio_device_changed = Signal(object)
    screen_changed = Signal(str)
    show_cards = Signal()
    read_consent = Signal()
    start = Signal()
    tone_requested = Signal()
    tone_answered = Signal(bool)
    backup_requested = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__(tr("home.ready_question"), 0)
        self.device = Combo(palette, tr("word.microphone"))
        self.bars = LevelBars(palette, 16, QSize(72, 24))
        self.bars.setFixedWidth(72)
        self.screen_choice = Combo(palette, tr("home.row.screen"))
        self.cards = Button(tr("home.show_numbers"), "link", pressed=self.show_cards)
        self.cards.setToolTip(tr("home.show_numbers_tip"))
        self.read = Button(tr("home.read"), "link", pressed=self.read_consent)
        self.read.setAccessibleName(tr("home.read_tip"))
        self.tone = Button(tr("home.play_tone"), "link", pressed=self.tone_requested)
        self.heard, self.heard_it = QWidget(), Button(tr("home.tone_heard"), "compact")
        self.not_heard = Button(tr("home.tone_unheard"), "compact")
        bits.fill(bits.row(self.heard, theme.SPACE_S), self.heard_it, self.not_heard, 1)
        self.heard.hide()
        self.backup, below = Button(tr("home.backup_choose"), "link"), QWidget()
        bits.fill(bits.row(below, 0), self.backup, 1)  # a path needs the width
        self.items = OwnItems()
        self.why = bits.label(role="secondary", wrap=True)
        self.start_button = Button(tr("home.start"), "primary", pressed=self.start)
        self.start_button.setMinimumHeight(44)
        self.start_button.setMinimumWidth(150)
        controls = {
            "microphone": (self.bars, self.device),
            "screen": (self.cards, self.screen_choice),
            "consent": (self.read, None),
            LOUDSPEAKER: (self.tone, self.heard),
            BACKUP: (None, below),
            ITEMS: (None, self.items),
        }
        self.rows = {
            key: ChecklistRowView(palette, tr(title), *controls.get(key, ()))
            for key, title in TITLES.items()
        }

        self.body.addSpacing(theme.SPACE_XS)
        checked = QWidget()
        column = bits.column(checked, 0)
        self._above = {key: bits.hairline() for key in ROWS[1:]}
        for key in ROWS:
            line = self._above.get(key)
            bits.fill(column, *([] if line is None else [line]), self.rows[key])
            if key not in ORDER:
                self.rows[key].hide()
        bits.fill(column, 1)
        # Start stays in sight below it.
        self.area = bits.Scrolling(checked, CARD_HEIGHT)
        bits.fill(self.body, (self.area, 1), bits.hairline())
        self._part_rows()
        # What the microphone hears changes all the time; the rows below must not move with it.
        self.rows["microphone"].text.setMinimumHeight(2 * ceil(metrics().lineSpacing()))
        self.body.addSpacing(theme.SPACE_L)
        foot = bits.fill(bits.row(None, theme.SPACE_L), (self.why, 1), self.start_button)
        self.body.addLayout(foot)

        device, screen = self.device, self.screen_choice
        device.activated.connect(lambda at: self.audio_device_changed.emit(device.itemData(at)))
        screen.activated.connect(lambda at: self.screen_changed.emit(screen.itemData(at)))
        self.heard_it.clicked.connect(lambda: self.tone_answered.emit(True))
        self.not_heard.clicked.connect(lambda: self.tone_answered.emit(False))
        self.backup.clicked.connect(self.backup_requested)

    def set_audio(self, policy: str, devices: Sequence[Device] | None, current: str | None) -> None:
        """policy: the study's `recording.audio`; without sound is a choice where it allows it;
        devices: None before they were looked for."""
        choices: list[tuple[str, str | None]] = []
        if policy != "off":
            choices = [(f"{d.label} · {d.host_api}", d.spec) for d in devices or ()]
        if devices is None:
            choices = [(tr("state.checking"), None)]
        elif policy != "required":
            choices.append((tr("home.sound_off"), None))
        elif not choices:
            choices.append((tr("home.no_microphone"), None))
        self.device.set_choices(choices, current)
        self.device.setVisible(policy != "off")
        self.bars.setVisible(policy != "off" and current is not None)

    def set_screens(self, screens: Sequence[ScreenChoice], chosen: str | None) -> None:
        self.screen_choice.set_choices([(s.label, s.name) for s in screens], chosen)

    def set_level(self, level: Level | None) -> None:
        """What the microphone hears now; None: nothing listens."""
        self.bars.set_peaks(level.envelope if level else ())

    def set_rows(self, rows: Sequence[ChecklistRow]) -> None:
        for row in rows:
            if row.key in self.rows:
                self.rows[row.key].show_row(row)
                self.rows[row.key].setVisible(bool(row.text))
        self._part_rows()

    def _part_rows(self) -> None:
        """A line between each two rows that are shown."""
        below = False
        for key in ROWS:
            shown = not self.rows[key].isHidden()
            if key in self._above:
                self._above[key].setVisible(shown and below)
            below |= shown

    def show_loudspeaker(self, state: str) -> None:
        """Ask for an answer once the tone was played. state: of `LoudspeakerTest`."""
        self.heard.setVisible(state == "asked")
        self.tone.setEnabled(state != "playing")

    def show_backup(self, *, chooses: bool, able: bool) -> None:
        """What the button of the backup does. chooses: it asks for the folder; able: it can be
        pressed."""
        self.backup.setText(tr(N_("home.backup_choose") if chooses else N_("home.backup_now")))
        self.backup.setEnabled(able)

    def set_readiness(self, verdict: Readiness, *, starting: bool) -> None:
        """starting: the session is being opened; Start waits."""
        self.start_button.setEnabled(verdict.ready and not starting)
        self.start_button.setText(tr("home.starting") if starting else tr("home.start"))
        bits.set_text(self.why, tr("home.opening") if starting else verdict.why)
