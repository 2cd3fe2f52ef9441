"""The home at work: finds out what the checklist shows, and starts sessions.

Also the home's microphone (which one is in use, and what it hears before a session) and the preview
that the home opens, a process of its own, so that no session has to wait for it.

Checks of studies, in a thread: one with many pictures takes seconds, and the window goes on.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTime, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication

from labapp.base import splash
from labapp.base.errors import (
    AudioError,
    Fault,
    LabappError,
    ModelError,
    ProgramError,
    StudyError,
    faults_of,
)
from labapp.base.resources import pilot_root
from labapp.models.representations.sheets import TraversalSheet
from labapp.record.audio import devices
from labapp.record.audio.devices import Device
from labapp.session import condition_assignment, folder, private
from labapp.session.environment import network_drive
from labapp.session.gate import look_at, predict_masked
from labapp.session.overview import labels_of
from labapp.session.pictures import ReadDecoder, WarmDecoders, read_decoder, warm_decoder
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, planner
from labapp.study.loading import LoadedStudy
from labapp.study.overview import prior_of, space_of
from labapp.study.people import Visits
from labapp.study.plan import models_of, pictures_of
from labapp.study.schema import Study
from labapp.ui import mistakes, timers
from labapp.ui.backup_work import BackupWork
from labapp.ui.computer import ComputerWatch, LoudspeakerTest
from labapp.ui.keyboard import NumberCards, choices, choose_screen
from labapp.ui.language import counted, tr, translate_message
from labapp.ui.moderator import checklist
from labapp.ui.moderator.bits import Described
from labapp.ui.moderator.checklist import (
    GROUPS,
    ChecklistRow,
    Microphone,
    StartRequest,
    Warm,
    about,
    lasts,
)
from labapp.ui.moderator.home import HomeView, HomeWindow
from labapp.ui.moderator.study_page import NewStudy, StudyPage, facts_of
from labapp.ui.qtapp import the_app
from labapp.ui.remembered import NO_MICROPHONE
from labapp.ui.researcher.job import Ended, Job
from labapp.ui.session_lists import NamedJobs, PictureWarmer, SessionLists, SheetMaker, StudyShelf
from labapp.ui.starting import SHOWING, RunOptions, open_again, open_new

if TYPE_CHECKING:
    from labapp.record.audio.check import MicrophoneProbe
    from labapp.session.opening import OpenSession
    from labapp.ui.controller import SessionController
    from labapp.ui.joining import JoinController
    from labapp.ui.researcher.controller import Researcher


FIRST_PAINT_MS = 30
SLOW_CHECKS_MS = 3000


class HomeController(QObject):
    """Feeds the home and opens a session from it; one at a time."""

    def __init__(self, data: Path, private_root: Path) -> None:
        super().__init__()
        self.data = data
        self.private = private_root
        self._network = network_drive(data)
        self._consent: str | None = None
        self.window = HomeWindow()
        self.view = self.window.view
        self.session: SessionController | None = None
        self._joining: JoinController | None = None
        self._loaded: LoadedStudy | None = None
        self._needed: tuple[str, ...] | None = None  # without a plan
        self._warm = WarmDecoders({}, [])
        self._warm_problem = ""
        self.microphone = HomeMicrophone(self.view, self)
        self._screen: str | None = None
        self._picture_px: int | None = None
        self.shelf = StudyShelf()
        self._cards = NumberCards(self)
        self._decoders = NamedJobs("decoders", lambda model: read_decoder(model), self)
        self._sheets = SheetMaker(self)
        self._pictures = PictureWarmer(self)
        self._preview = PreviewProcess(self.view.study, self)
        self._checks = NamedJobs("checks", _mistakes, self)
        self.lists = SessionLists(data, private_root, self.view, self)
        self.backup = BackupWork(data, self.view, self.lists, self)
        self.computer = ComputerWatch(self)
        self.loudspeaker = LoudspeakerTest(self)
        self._first = timers.once(self, self._begin_checks, FIRST_PAINT_MS)
        self._warming = timers.once(self, self._warm_next)
        self._slow = timers.make_repeating_timer(self, self._slow_checks, SLOW_CHECKS_MS)
        self._connect()

    def _connect(self) -> None:
        view = self.view
        view.session.study_changed.connect(self.choose_study)
        view.session.set_describe(self._describe_study, [tr(text) for text in GROUPS.values()])
        view.session.participant_changed.connect(lambda participant, session: self._show_plan())
        view.session.language_changed.connect(self._choose_language)
        view.ready.audio_device_changed.connect(self._choose_microphone)
        view.ready.screen_changed.connect(self._choose_screen)
        view.ready.show_cards.connect(lambda: self._cards.show(QGuiApplication.screens()))
        view.start_requested.connect(self.start)
        view.resume_requested.connect(self.resume)
        view.session.pilot.toggled.connect(lambda pilot: self._show_study())
        view.session.blind.clicked.connect(lambda blind: self._remember(blind=blind))
        view.consent_pdf_wanted.connect(self.save_consent)
        view.study_opened.connect(self._want_sheets)
        making = view.study.making
        making.check_requested.connect(self.check_study)
        self._checks.ended.connect(self._show_faults)
        making.folder_requested.connect(self._open_folder)
        making.new_requested.connect(self.make_study)
        view.results_opened.connect(self._show_results)
        view.join.clicked.connect(self.join)
        self._preview.failed.connect(view.show_error)
        self._decoders.ended.connect(self._take_decoder)
        self._sheets.made.connect(self._show_sheet)
        self._pictures.changed.connect(self._show_decoders)
        self._sheets.failed.connect(view.study.set_problem)
        self.computer.changed.connect(
            lambda computer: view.set_checklist([checklist.computer_row(computer)])
        )
        self.loudspeaker.changed.connect(self._show_loudspeaker)
        view.ready.tone_requested.connect(self.loudspeaker.begin)
        view.ready.tone_answered.connect(self.loudspeaker.answer)
        self._show_loudspeaker(self.loudspeaker.state)
        self.window.closed.connect(self.close)

    def _show_loudspeaker(self, state: str, problem: str = "") -> None:
        self.view.set_checklist([checklist.loudspeaker_row(state, problem)])
        self.view.ready.show_loudspeaker(state)

    @cached_property
    def researcher(self) -> Researcher:
        """Controls the Results page; created when the page is first opened."""
        from labapp.ui.researcher.controller import Researcher

        researcher = Researcher(self.view.results, self, self.private)
        self.lists.feed(researcher)
        return researcher

    @property
    def _analyses(self) -> bool:
        """Whether the page of analyses was opened."""
        return "researcher" in vars(self)

    def join(self) -> None:
        """Take part in a session at another computer; the home waits behind its windows."""
        from labapp.ui.joining import JoinController

        if self._joining is None:
            self._joining = JoinController()
            self._joining.ended.connect(self._joined_no_more)
            self._joining.show()

    def _joined_no_more(self) -> None:
        self._joining = None

    def _show_results(self, shown: bool) -> None:
        if shown or self._analyses:
            self.researcher.set_shown(shown)

    def show(self) -> None:
        """Paint first; sound, decoders and disk are looked at right after."""
        last = self.shelf.choices
        self._screen = last.screen or None
        self.microphone.off = last.microphone == NO_MICROPHONE
        self.microphone.remembered = last.microphone
        self.view.study.making.set_sources(self.shelf.sources)
        self.choose_study(self.shelf.first)
        if self.shelf.problem is not None:
            self.view.show_error(self.shelf.problem)
        self._show_screens()
        application = the_app()
        application.screenAdded.connect(self._show_screens)
        application.screenRemoved.connect(self._show_screens)
        self.window.show()
        self._first.start()

    def _begin_checks(self) -> None:
        splash.end()  # the home is on the screen by now
        # The windows of a session are half of all imports: Start need not wait for them.
        self._decoders.do_first(partial(importlib.import_module, "labapp.ui.controller"))
        self._begin_looking()
        for check in (self._slow_checks, self.microphone.find):
            with self._show_check_errors():
                check()

    def _begin_looking(self) -> None:
        self.microphone.begin()
        self._slow.start()
        self._warming.start(0)
        self.computer.begin()
        self.backup.begin()

    def _show_check_errors(self) -> AbstractContextManager[None]:
        """Tells what goes wrong in a check, so that the others go on."""
        return mistakes.show_errors(self.view.show_error, tr("home.unchecked"))

    def close(self) -> None:
        """The person closed the home window, so the program ends."""
        for timer in (self._first, self._warming, self._slow):
            timer.stop()
        self.microphone.rest()
        if self._joining is not None:
            self._joining.close()
        self._decoders.close()
        self._sheets.close()
        self._pictures.close()
        self._preview.stop()
        self._checks.close()
        self.backup.hold()
        self.computer.rest()
        self.loudspeaker.close()
        if self._analyses:
            self.researcher.close()
        self.lists.close()
        application = the_app()
        application.screenAdded.disconnect(self._show_screens)
        application.screenRemoved.disconnect(self._show_screens)
        if self.session is None:
            application.quit()

    def choose_study(self, study: str) -> None:
        """Load a study by id or path; a wrong one is told and leaves the choice empty."""
        if study != self.shelf.chosen:
            self.view.forget_pilot()
        self.view.session.set_study_note("")
        try:
            with mistakes.wrap_errors(tr("study.unusable")):
                self._loaded = loading.load(study)
        except LabappError as error:
            self._loaded = self._consent = None
            self._show_chosen(study)
            self.view.study.making.show_faults(faults_of(error))
            self.shelf.choose(study, None)
            self.view.session.set_studies(self.shelf.offered(), study)
            self.view.show_error(summarise_faults(study, error))
            # The first of its mistakes, for a text that is missing is shown nobody.
            first = faults_of(error)[0].what if error.faults else error.what
            self.view.set_checklist([ChecklistRow("consent", "missing", first)])
            self._needed = None
            self.view.session.set_languages((), "")
            self.microphone.set_policy(None)
            self.view.set_no_study(tr("study.unusable"))
            self.lists.show_study(None)
            return
        self.view.error.hide()
        self._show_chosen(study)
        self._keep(lambda: self.shelf.choose(study, self._loaded))
        self.view.session.set_studies(self.shelf.offered(), self.shelf.chosen)
        study_ = self._loaded.study
        self.view.set_study(study_)
        self.view.session.set_languages(study_.languages, study_.language)
        self.view.session.blind.setChecked(self.shelf.blinds(study_))
        self._show_participants(study_)
        self._show_texts()
        self._show_plan()
        self.microphone.set_policy(study_.recording.audio)
        self.lists.show_study(study_)
        self.lists.refresh()

    def _show_texts(self) -> None:
        """What of the chosen study participants read in their language."""
        assert self._loaded is not None
        consent = [item.texts()[0] for item in self._loaded.study.flow if item.consents]
        self._consent = self._loaded.text(consent[0]) if consent else None
        self.view.set_consent(tr("home.consent_text"), self._consent)
        self._show_consent()

    def _choose_language(self, language: str) -> None:
        """The next participant reads the study in another of its languages."""
        if self._loaded is None:
            return
        try:
            with mistakes.wrap_errors(tr("study.unusable")):
                self._loaded = loading.in_language_of(self._loaded, language)
        except LabappError as error:
            self.view.show_error(error)
            self.view.session.set_languages(
                self._loaded.study.languages, self._loaded.study.language
            )
            return
        self._show_texts()
        self._show_plan()

    def _describe_study(self, study: str) -> Described:
        head = self.shelf.head(study)
        group = tr(GROUPS[self.shelf.group(study, head)])
        return Described(group, head.summary, lasts(head))

    def _show_chosen(self, study: str) -> None:
        self._chosen = study
        self.view.session.set_about(about(self.shelf.head(study)))
        self.view.study.making.set_chosen(study)

    def check_study(self) -> None:
        """Look in a thread for every mistake in the chosen study and in what it names."""
        self.view.study.making.set_checking(True)
        self._checks.want(self._chosen)

    def _show_faults(self, study: str, found: Future[tuple[LabappError, ...]]) -> None:
        """What a check found; of a study that is not chosen any more it is no news."""
        making = self.view.study.making
        if study == self._chosen:
            making.set_checking(False)
            faults = [fault for error in found.result() for fault in faults_of(error)]
            making.show_faults(faults, tr("home.study_fine"))

    def make_study(self, wanted: NewStudy) -> None:
        """Create the user's own study and select it; problems are shown in place."""
        from labapp.study.authoring import new_study

        making = self.view.study.making
        try:
            path, _ = new_study(wanted.name, wanted.source, wanted.folder, wanted.language or None)
        except LabappError as error:
            making.show_faults(faults_of(error))
        except OSError as error:
            making.show_faults([Fault(str(wanted.folder), 0, "", str(error.strerror))])
        else:
            self.choose_study(str(path))
            making.show_faults((), tr("home.written", path=path))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(loading.find(self._chosen).parent)))

    def save_consent(self, path: Path) -> None:
        """Write the chosen study's blank consent form as a PDF."""
        from labapp.ui.consent_pdf import write_blank

        with mistakes.show_errors(self.view.show_error, tr("home.consent_unwritten")):
            assert self._loaded is not None  # its text is on the screen
            write_blank(path, self._loaded)

    def _keep(self, remember: Callable[[], None]) -> None:
        """What cannot be remembered is told, and holds nothing up."""
        try:
            remember()
        except LabappError as error:
            self.view.show_error(error)

    def _remember(self, **choice: object) -> None:
        self._keep(lambda: self.shelf.keep(**choice))

    def _look_at_study(self) -> None:
        """Read the chosen study again where one of its files was changed."""
        if self.shelf.look_again() | self.shelf.models_changed():
            if self._warm_problem:
                self.view.error.hide()  # told again where it is so still
            self.view.session.set_studies(self.shelf.offered(), self.shelf.chosen)
            self.view.study.making.set_sources(self.shelf.sources)
            self._needed = None  # a model may be there now, gone, or another
            self._show_plan()
        if self.shelf.changed():
            self.choose_study(self.shelf.chosen)
            if self._loaded is not None:
                now = QTime.currentTime().toString("HH:mm")
                note = tr("home.reread", time=now)
                self.view.session.set_study_note(note)

    def _show_participants(self, study: Study) -> None:
        pilot, visits = self.view.pilot, Visits.of(study.design)
        try:
            taken = (folder.list_pilot_labels if pilot else folder.list_taken_labels)(
                self.data, study.id
            )
            refused = folder.list_refused(self._root, study)
        except LabappError as error:  # nobody can tell who withdrew: no session can begin
            self.view.show_error(error)
            taken, refused = {}, {}
        people = study.participants
        self.view.set_participants(people, taken, refused, pilot=pilot, visits=visits)

    @property
    def _root(self) -> Path:
        return pilot_root(self.data) if self.view.pilot else self.data

    def _show_plan(self) -> None:
        if self._loaded is None:
            return
        participant, session = self.view.participant()
        realise = partial(
            planner.realise,
            self._loaded,
            participant,
            session,
            space_of=space_of,
            prior_of=prior_of,
            stimuli_of=stimuli_of,
        )
        try:
            with mistakes.wrap_errors(tr("home.plan_failed")):
                drawn = condition_assignment.preview(self._root, self._loaded, participant)
                made = realise(drawn=drawn)
        except LabappError as error:
            self._needed = None
            self._show_decoders()
            self.view.set_plan((), translate_message(error.what))
            if isinstance(error, ModelError | ProgramError):  # their last part says where to look
                self.view.show_error(error)
            return
        self._preview.choose(self.shelf.chosen, participant, drawn)
        label = labels_of(self._loaded.study).put
        self.view.set_plan(made.parts, drawn=drawn, label=label)
        sizes = (part.picture_px for part in made.parts)
        largest = max((size for size in sizes if size is not None), default=None)
        if largest != self._picture_px:
            self._picture_px = largest
            self._show_screens()
        # Sorted, for the list of them stands beside the choice to be blind to their order.
        needed = tuple(sorted(models_of(made.parts)))
        if self._needed is None or set(needed) != set(self._needed):
            self._needed = needed
            self._warm_problem = ""
            self._warm = self._warm.unchanged()
            self.shelf.watch_models(needed)
            if self.microphone.begun:
                self._warming.start(0)
        # Its answers are kept for the session: what takes seconds is not left to its start.
        asks = any(part.asks_model for part in made.parts)
        ask = partial(realise, predict_masked=predict_masked, drawn=drawn) if asks else None
        self._pictures.want(pictures_of(made.parts), ask)
        self._show_decoders()

    def _warm_next(self) -> None:
        """Have the next decoder read, in a thread: the window goes on."""
        missing = [m for m in self._needed or () if m not in self._warm.decoders]
        if missing and not self._warm_problem and self.session is None:
            self._decoders.want(missing[0])
        self._show_decoders()

    def _take_decoder(self, model: str, read: Future[ReadDecoder]) -> None:
        """Warm up a decoder that was read; here, for its times are those of this thread."""
        if self.session is not None:
            return
        if model in (self._needed or ()):
            try:
                with mistakes.wrap_errors(tr("home.model_unloaded")):
                    self._warm = self._warm.with_others(warm_decoder(model, read.result()))
            except LabappError as error:
                self._warm_problem = error.what
                self.view.show_error(error)
        self._warming.start(0)

    def _show_decoders(self) -> None:
        if self._needed is None:
            self.view.set_checklist([checklist.unknown("decoders"), checklist.unknown("pictures")])
            return
        warm = [Warm(w.model, w.device, w.p99_ms) for w in self._warm.warmed]
        row = checklist.decoder_row(self._needed, warm, self._warm_problem)
        shown = self._pictures
        pictures = checklist.picture_row(shown.done, shown.of, shown.problem)
        if pictures.text and not self._needed:
            row = replace(row, text="")  # that there are no decoders is no news
        self.view.set_checklist([row, pictures])
        if self.view.study_shown:
            self._want_sheets()

    def _want_sheets(self) -> None:
        """Sheets of the models that are warm, in a thread; those of others follow theirs."""
        for model in self._needed or ():
            if model in self._warm.decoders and self.session is None:
                self._sheets.want(self._warm.decoders[model])

    def _show_sheet(self, model: str, sheet: TraversalSheet) -> None:
        if model in self._warm.decoders:  # it may have gone while its sheet was made
            self.view.study.set_sheet(model, sheet, facts_of(self._warm.decoders[model].card))

    def _choose_microphone(self, spec: str | None) -> None:
        self._remember(microphone=spec or NO_MICROPHONE)
        self.microphone.choose(spec)

    # --- screens, disk, sessions ------------------------------------------------------------------

    @Slot()
    def _show_screens(self) -> None:
        screens = QGuiApplication.screens()
        options = choices(screens)
        if self._screen not in [screen.name for screen in options]:
            self._screen = choose_screen(screens, QGuiApplication.primaryScreen())
        self.view.ready.set_screens(options, self._screen)
        self.view.set_checklist([checklist.screen_row(options, self._screen, self._picture_px)])

    def _choose_screen(self, name: str) -> None:
        self._screen = name
        self._remember(screen=name)
        self._show_screens()

    def _slow_checks(self) -> None:
        if self.session is not None:
            return
        self._look_at_study()
        self._show_consent()
        minutes = None if self._loaded is None else self._loaded.study.minutes
        self.view.set_checklist([checklist.length_row(minutes, datetime.now())])
        sound = self.microphone.recorded  # of the session, not of this moment
        try:
            free = folder.check_data_root(self.data)
        except LabappError as error:
            self.view.set_checklist([checklist.disk_row(None, f"{error.what} {error.todo}")])
            self.view.set_data(self.data, None)
        else:
            row = checklist.disk_row(free, sound=sound, network=self._network)
            if not row.blocks:
                row = checklist.access_row(self.data, self.private) or row
            self.view.set_checklist([row])
            self.view.set_data(self.data, free)
        self.microphone.look_again()
        self.lists.refresh()

    def _show_consent(self) -> None:
        """Whether the consent text is complete, and what is signed can be stored."""
        if self._loaded is None:
            return
        problem = ""
        if self._consent is not None:
            try:
                book = private.book_of(self._loaded.study.id, pilot=self.view.pilot)
                private.check_private(self.private, book)
            except LabappError as error:
                problem = error.what
        flow = self._loaded.study.flow
        form = next((item.consent_form() for item in flow if item.consents), None)
        named = loading.origin_of(self._loaded, form.text) if form is not None else ""
        self.view.set_checklist([checklist.consent_row(self._consent, problem, named)])

    def start(self, request: StartRequest) -> None:
        """Open the session that was asked for; a failure is told and leaves the home as it was."""
        options = replace(
            self._options(request.audio),
            blind=request.blind,
            pilot=request.pilot,
            language=request.language,
        )
        whose = (request.study, request.participant, request.session)
        self._open(lambda: open_new(*whose, options, self._warm, step=self._tell_step), options)

    def resume(self, path: Path) -> None:
        """Recover an interrupted session and go on with it."""
        options = self._options(self.microphone.device.spec if self.microphone.device else None)
        self._open(lambda: open_again(path, options, self._warm, self._tell_step), options)

    def _tell_step(self, step: str) -> None:
        """Say what takes its time; painted at once, for the event loop is back only at the end."""
        self.view.set_starting(True, tr(step))

    def _options(self, audio: str | None) -> RunOptions:
        return RunOptions(self.data, self.private, self._screen, audio=audio or "off")

    def _open(self, make: Callable[[], OpenSession], options: RunOptions) -> None:
        from labapp.ui.controller import SessionController

        if self.session is not None:
            return
        self.view.set_starting(True)
        worded = mistakes.wrap_errors(
            tr("home.session_unopened"), tr("home.session_untouched"), tr("home.go_on_or_start")
        )
        try:
            with worded:
                self.microphone.release()
                self._decoders.close()
                self._sheets.close()  # the decoders are the session's now
                self._pictures.close()
                self._preview.stop()
                if self._analyses:
                    self.researcher.stop()
                self.backup.hold()
                self.computer.rest()
                self.loudspeaker.close()
                self.lists.hold()
                opened = make()
                self._tell_step(SHOWING)
                # What cannot be shown is closed by the controller itself.
                self.session = SessionController(opened, options, home=True)
                self.session.failed.connect(self.view.show_error)
                self.session.closed.connect(self._back)
                self.session.start()
        except LabappError as error:
            self._back()
            self.view.show_error(error)
            return
        self.microphone.rest()
        self._slow.stop()
        self.window.hide()
        self.view.forget_pilot()  # the next session is none unless somebody says so
        self.view.ready.items.untick()

    def _back(self) -> None:
        """The moderator leaves a session: to the home, with everything looked at afresh."""
        self.session = None
        self.view.set_starting(False)
        self.window.show()
        self._begin_looking()
        show_results = partial(self._show_results, self.view.results_shown)
        for check in (self._show_study, show_results, self.microphone.find, self._slow_checks):
            with self._show_check_errors():
                check()

    def _show_study(self) -> None:
        if self._loaded is not None:
            self._show_participants(self._loaded.study)
            self._show_plan()


LEVEL_MS = 100
Policy = Literal["required", "optional", "off"]


class HomeMicrophone(QObject):
    """Finds microphones, listens to the chosen one, and shows both on the home.

    Attributes
    ----------
    device : the microphone in use.
    off : bool
        Whether the moderator wants no sound where the study leaves the choice.
    remembered : str
        Spec of the microphone of the last time, which is preferred.
    """

    def __init__(self, view: HomeView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self.device: Device | None = None
        self.off = False
        self.remembered = ""
        self._policy: Policy | None = None
        self._devices: list[Device] | None = None  # before they were looked for
        self._probe: MicrophoneProbe | None = None
        self._heard = False
        self._problem = ""
        self._timer = timers.make_repeating_timer(self, self._show_level, LEVEL_MS)

    @property
    def policy(self) -> Policy:
        """Of the chosen study; optional where there is none."""
        return self._policy or "optional"

    @property
    def silent(self) -> bool:
        """Whether no sound was chosen, where the study leaves that choice."""
        return self.off and self.policy != "required"

    @property
    def recorded(self) -> bool:
        """Whether a session will have sound, were there a microphone."""
        return not self.silent and self.policy != "off"

    def begin(self) -> None:
        """Show the level from now on."""
        self._timer.start()

    @property
    def begun(self) -> bool:
        return self._timer.isActive()

    def rest(self) -> None:
        """Show no level, and leave the microphone to others."""
        self._timer.stop()
        self.release()

    def release(self) -> None:
        """Leave the microphone to others."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def set_policy(self, policy: Policy | None) -> None:
        """What the chosen study says of sound; None if none can be used."""
        changed = (policy or "optional") != self.policy
        self._policy = policy
        if self.begun and changed:
            self._use(self._find_wanted())
        else:
            self._show()

    def find(self) -> None:
        """Look for microphones, and listen to the one that is wanted."""
        self._devices, problem = [], ""  # looked for, whatever comes of it
        try:
            self._devices = devices.list_devices()
        except AudioError as error:
            problem = error.what
        self._use(self._find_wanted(), problem)

    def choose(self, spec: str | None) -> None:
        """Use another one; None for no sound."""
        self.off = spec is None
        self._use(next((d for d in self._devices or () if d.spec == spec), None))

    def look_again(self) -> None:
        """Whether the microphone is still there, or another one was plugged in."""
        if self._probe is not None and self._probe.level().state == "lost":
            self._use(None)
        if self.device is None and not self.silent:
            # PortAudio looks again only while nothing is open.
            self.find()

    def _find_wanted(self) -> Device | None:
        """The microphone in use or remembered, else the usual one; None if none is wanted."""
        if self.silent:
            return None
        before = self.remembered if self.device is None else self.device.spec
        ranked = sorted(self._devices or (), key=lambda d: (d.spec != before, not d.is_default))
        return next(iter(ranked), None)

    def _use(self, device: Device | None, problem: str = "") -> None:
        """Listen to a microphone; problem: why there is none."""
        self.release()
        self.device, self._heard, self._problem = device, False, problem
        if device is not None and self.policy != "off":
            from labapp.record.audio.check import MicrophoneProbe

            try:
                self._probe = MicrophoneProbe(device)
            except AudioError as error:
                self._problem = error.what
        self._show()

    def _show(self) -> None:
        if self._policy is not None:
            current = self.device.spec if self.device else None
            self._view.ready.set_audio(self._policy, self._devices, current)
            self._show_level()

    def _show_level(self) -> None:
        level = self._probe.level() if self._probe else None
        self._heard |= level is not None and level.state == "heard"
        problem = self._problem or (level.problem if level else "")
        name = self.device.label if self.device else None
        state = "unknown" if self._devices is None else level.state if level else "starting"
        self._view.ready.set_level(level)
        if self._policy is not None:
            microphone = Microphone(name, self._heard, state, problem)
            self._view.set_checklist([checklist.microphone_row(self._policy, microphone)])


class PreviewProcess(QObject):
    """Runs `labapp studies preview` when the study's page asks for it, one at a time.

    failed(LabappError): why it could not be shown.
    """

    failed = Signal(object)

    def __init__(self, page: StudyPage, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self._arguments: Sequence[str] = ()
        self._job = Job(self)
        self._job.ended.connect(self._on_end)
        page.preview_requested.connect(self._open)

    def choose(self, study: str, participant: str, drawn: Sequence[str]) -> None:
        """Say what would be shown.

        Parameters
        ----------
        study : id or path.
        participant : the label whose plan it is.
        drawn : the conditions that the participant gets; empty if none is drawn.
        """
        condition = [f"--condition={','.join(drawn)}"] if drawn else []
        self._arguments = [f"--participant={participant}", *condition, "--", study]

    def stop(self) -> None:
        """Close it: a session begins, or the program ends."""
        self._job.stop()
        self._page.set_previewing(False)

    def _open(self) -> None:
        if not self._job.running:
            self._job.start(["studies", "preview", *self._arguments])
            self._page.set_previewing(True)

    def _on_end(self, ended: Ended) -> None:
        self._page.set_previewing(False)
        if not ended.ok:
            self.failed.emit(
                ProgramError(
                    tr("home.preview_failed"),
                    safe=tr("home.preview_safe"),
                    todo=ended.error.strip(),
                )
            )


def _mistakes(study: str) -> tuple[LabappError, ...]:
    try:
        with mistakes.wrap_errors(tr("study.unusable")):
            return look_at(study).errors
    except LabappError as error:
        return (error,)


def summarise_faults(study: str, error: LabappError) -> LabappError:
    """An error for the strip above the page. Faults with lines are listed on the study's page; here
    is only their number."""
    if not any(fault.line for fault in error.faults):
        return error
    what = counted(len(error.faults), "study.faults", study=study)
    todo = tr("study.faults_on_page", page=tr("tab.study"))
    return StudyError(what, safe=error.safe, todo=todo)
