"""The researcher's page at work: analyses, checks and exports by the commands of labapp.

Results belong to the sessions they were computed from: when these change while the page is looked
at, they are computed again. Nothing runs while a session does.

Also the *Coding* page at work: what it shows and does is what the commands `labapp code …` say.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from labapp.base import leftovers
from labapp.base.errors import LabappError
from labapp.base.reading.values import json_value
from labapp.coding.annotations.codebook import Codebook, codebooks_of
from labapp.coding.annotations.model import time_text
from labapp.coding.annotations.store import RaterProgress, SessionProgress
from labapp.coding.transcription.models import ENGINES, WHICH, SpeechTools, model_at, speech_tools
from labapp.record.journal.decisions import Choice
from labapp.record.journal.flac import FLAC
from labapp.record.journal.sessions import SessionSummary
from labapp.session.replay.lanes import CodedStretch
from labapp.ui import mistakes
from labapp.ui.language import N_, counted, in_words, number, tr, translate_message
from labapp.ui.moderator.forms import CommandForm
from labapp.ui.remembered import read_choices, write_choices
from labapp.ui.replay.codebook_editor import CodebookEditor
from labapp.ui.replay.exchange_panel import Bench, ExchangeWork
from labapp.ui.researcher.coding_forms import (
    RatersForm,
    ReelForm,
    SettleForm,
    SpeakersForm,
    VideosForm,
)
from labapp.ui.researcher.coding_page import (
    CodingPage,
    CodingWanted,
    Draw,
    SpeechPanel,
    SpeechWanted,
)
from labapp.ui.researcher.job import Ended, Job, Progress, open_outside
from labapp.ui.researcher.page import (
    CopyRequest,
    ExportRequest,
    ResearcherPage,
    Results,
    list_words,
    read_results,
    usable,
)
from labapp.ui.researcher.sharing import DepositForm, MergeForm

Stand = tuple[tuple[str, str, int, tuple[str, ...]], ...]
"""What results were computed from: id, state, events and tags of each session."""
Of = tuple[str, tuple[str, ...]]
"""A study, and the phases and tags whose sessions are analysed."""


@dataclass(frozen=True)
class _Done:
    """The last analysis of a study, or of a phase or tag of it. results: its own, or where it
    failed those of the one before, if any; state: what is said of it."""

    stand: Stand
    results: Results | None
    state: str
    failed: bool = False


class Researcher(QObject):
    """Feeds the page with the sessions that the home lists, and does what it asks for. private: the
    lab's private folder, where it is not the usual one."""

    def __init__(
        self, page: ResearcherPage, parent: QObject | None = None, private: Path | None = None
    ) -> None:
        super().__init__(parent)
        self.page = page
        self._private = private
        self._sessions: tuple[SessionSummary, ...] = ()
        self._whole = False
        self._study = ""
        self._shown = False
        self._done: dict[Of, _Done] = {}
        self._chosen: dict[str, str] = {}  # by study the phase or tag
        self._running: tuple[Of, Stand] = (("", ()), ())
        self._out = Path()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs = 0
        self._analysis = Job(self)
        self._analysis.ended.connect(self._on_analysis_end)
        self._work = Job(self)
        self._work.ended.connect(self._on_work_end)
        self._then: Callable[[Ended], None] | None = None
        page.study_chosen.connect(self.choose)
        page.only_chosen.connect(self._choose_only)
        page.analyse_requested.connect(self._analyse_or_stop)
        page.report_requested.connect(self._open_report)
        page.figures.unopened.connect(self._tell_unopened)
        page.keep_requested.connect(self.keep)
        page.verify_requested.connect(self.verify)
        page.export_requested.connect(self.export)
        self.form: CommandForm | None = None
        page.deposit_requested.connect(self.open_deposit)
        page.merge_requested.connect(self.open_merge)

    # --- what the home tells ----------------------------------------------------------------------

    def set_sessions(self, sessions: Sequence[SessionSummary], *, whole: bool = True) -> None:
        """Every session under the data folder, newest first; whole: all were read."""
        self._sessions, self._whole = tuple(sessions), whole
        studies = sorted({session.study for session in sessions})
        if self._study not in studies:
            self._study = sessions[0].study if sessions else ""
        self.page.set_studies(studies, self._study)
        self._show()

    def set_shown(self, shown: bool) -> None:
        """Whether the page is looked at: only then results are computed by themselves."""
        self._shown = shown
        self._show()

    def stop(self) -> None:
        """A session begins: the machine is its own."""
        self._shown = False
        self._analysis.stop()
        self._work.stop()
        self._then = None
        if self.form is not None:
            self.form.close()
        self._show()

    def close(self) -> None:
        """The program ends: what was not kept goes."""
        self.stop()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # --- what the page asks for -------------------------------------------------------------------

    def choose(self, study: str) -> None:
        """Show another study."""
        self._study = study
        self.page.set_about("")
        self._show()

    def verify(self, paths: Sequence[Path]) -> None:
        """Check sessions one after another; says which are not as they were written."""
        left = list(paths)
        result: list[str] = []

        def following(ended: Ended) -> None:
            checked = left.pop(0)
            result.extend(_problems(checked, ended))
            if left:
                one()
            elif result:
                self.page.set_about("\n".join(result[:3]), "alarm")
            else:
                self.page.set_about(counted(len(paths), "researcher.verified"), "good")

        def one() -> None:
            at = tr("researcher.verifying", n=len(paths) - len(left) + 1, of=len(paths))
            self._do(["sessions", "verify", str(left[0]), "--json"], at, following)

        if left and not self._work.running:
            one()

    def export(self, request: ExportRequest) -> None:
        """Write a bundle."""
        options = ["--zip"] if request.zipped else []
        if request.deidentify:
            options.append("--deidentify")
        if request.audio == request.deidentify:  # else it is what the command does by itself
            options.append("--with-audio" if request.audio else "--no-audio")
        if request.flac and request.audio:
            options += ["--sound", FLAC]
        if self._private:
            options += ["--private", str(self._private)]
        paths = [str(path) for path in request.sessions]
        if not paths or self._work.running:
            return

        def report(ended: Ended) -> None:
            if ended.ok:
                self.page.set_about(tr("researcher.exported", path=ended.after("bundle")), "good")
            else:
                self.page.set_about(_describe_end(ended), "alarm")

        doing = counted(len(paths), "researcher.exporting")
        self._do(["export", *paths, "--out", str(request.out), *options], doing, report)

    def keep(self, request: CopyRequest) -> None:
        """Copy tables, figures and report to a folder that is not there yet; with files for other
        programs they are computed again, there."""
        out = request.out
        if (results := self._earlier(self._of)) is None:
            return
        if request.formats:
            self._analyse_into(request)
            return
        try:
            shutil.copytree(results.folder, out)
        except FileExistsError:
            self.page.set_state(tr("researcher.target_exists", path=out), "warn")
        except (OSError, shutil.Error) as error:
            text = tr("researcher.results_unwritten", path=out, error=error)
            self.page.set_state(text, "alarm")
        else:
            self.page.set_state(tr("researcher.saved", path=out), "good")

    def _analyse_into(self, request: CopyRequest) -> None:
        paths = self._paths()
        if self._work.running or not paths:
            return

        def told(ended: Ended) -> None:
            if ended.ok:
                self.page.set_state(tr("researcher.saved", path=request.out), "good")
            else:
                self.page.set_state(_describe_end(ended), "alarm")

        formats = [word for name in request.formats for word in ("--format", name)]
        doing = tr("researcher.saving", path=request.out)
        arguments = ["analyze", *paths, "--out", str(request.out), *formats, *self._options()]
        self._do(arguments, doing, told, self.page.set_state)

    def open_deposit(self) -> None:
        """Open the window for a deposit of the chosen sessions."""
        if sessions := self.page.chosen():
            self._open(DepositForm(self.page.colors, sessions, self._study), self._deposited)

    def open_merge(self) -> None:
        """Open the window for answers of the lab's survey tool."""
        if own := self._own:
            self._open(MergeForm(self.page.colors, own[0].path.parent), self._merged)

    def _open(self, form: CommandForm, describe: Callable[[Ended], str]) -> None:
        if self.form is not None:
            self.form.close()
            self.form.deleteLater()
        self.form = form
        study = self._study

        def report(ended: Ended) -> None:
            form.set_state(describe(ended) if ended.ok else _describe_end(ended),
                           "good" if ended.ok else "alarm")  # fmt: skip
            if ended.ok and isinstance(form, MergeForm):
                # Its results lack the answers.
                self._done = {of: done for of, done in self._done.items() if of[0] != study}
                self._show()

        def run(arguments: list[str]) -> None:
            if not self._work.running:
                self._do(arguments, tr("sharing.working"), report, form.set_state)

        form.requested.connect(run)
        form.set_busy(self._work.running)
        form.show_form()

    def _deposited(self, ended: Ended) -> str:
        return tr("sharing.deposited", path=ended.after("deposit"))

    def _merged(self, ended: Ended) -> str:
        made = json_value(ended.output)
        if not made["changed"]:
            return tr("sharing.unchanged")
        columns, sessions, left = (len(made[key]) for key in ("columns", "sessions", "left_out"))
        return tr("sharing.merged", columns=columns, sessions=sessions, left=left)

    def _open_report(self) -> None:
        if (results := self._earlier(self._of)) is not None:
            open_outside(results.report, self._tell_unopened)

    def _tell_unopened(self, text: str) -> None:
        """Say where a file is that nothing opens here."""
        self.page.set_state(text, "warn")

    def _analyse_or_stop(self) -> None:
        if self._analysis.running:
            self._analysis.stop()
            of, stand = self._running
            self._done[of] = _Done(stand, self._earlier(of), tr("researcher.stopped"), failed=True)
        else:
            self._analyse()
        self._show()

    # --- analysis ---------------------------------------------------------------------------------

    @property
    def _own(self) -> list[SessionSummary]:
        return [session for session in self._sessions if session.study == self._study]

    @property
    def _of(self) -> Of:
        return self._study, self._only

    def _stand(self) -> Stand:
        return tuple((line.id, line.state, line.events, line.tags) for line in self._used)

    @property
    def _used(self) -> list[SessionSummary]:
        """The sessions that an analysis takes."""
        return [line for line in self._selected if usable(line)]

    @property
    def _selected(self) -> list[SessionSummary]:
        """The sessions of the phase or tag that is chosen, or all."""
        choice = Choice(self._only)
        return [line for line in self._own if choice.takes(line.phase, line.tags, line.simulated)]

    @property
    def _only(self) -> tuple[str, ...]:
        """The phases and tags whose sessions are analysed, () for all; the newest phase where
        nobody chose."""
        (phases, tags), chosen = list_words(self._own), self._chosen.get(self._study)
        if chosen in (*phases, *tags):
            return (str(chosen),)
        return tuple(phases[:1] if chosen is None else phases) if len(phases) > 1 else ()

    def _choose_only(self, word: str) -> None:
        self._chosen[self._study] = word
        self._show()

    def _options(self) -> list[str]:
        return [option for word in self._only for option in ("--only", word)]

    def _analyse(self) -> None:
        stand = self._stand()
        if not stand or self._analysis.running:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=leftovers.prefix("results"))
        self._runs += 1
        self._out = Path(self._folder.name) / f"{self._study}-{self._runs}"
        self._running = (self._of, stand)
        out = ["--out", str(self._out)]
        self._analysis.start(["analyze", *self._paths(), *out, *self._options()])

    def _paths(self) -> list[str]:
        """The sessions that an analysis takes."""
        return [str(session.path) for session in self._used]

    def _on_analysis_end(self, ended: Ended) -> None:
        of, stand = self._running
        problem = "" if ended.ok else _describe_end(ended)
        results = self._earlier(of)
        if ended.ok:
            try:
                with mistakes.wrap_errors(tr("researcher.results_unshown")):
                    results = read_results(self._out)
            except LabappError as error:
                problem = str(error)
        state = problem or tr("researcher.as_of", time=f"{datetime.now():%H:%M}")
        self._done[of] = _Done(stand, results, state, failed=bool(problem))
        self._show()

    def _earlier(self, of: Of) -> Results | None:
        """The results that there are already: a failure takes none away."""
        done = self._done.get(of)
        return None if done is None else done.results

    def _show(self) -> None:
        """Everything as it stands; computes where results are missing or of other sessions."""
        stand, of, done = self._stand(), self._of, self._done.get(self._of)
        fresh = done is not None and done.stand == stand
        if self._shown and not fresh and not self._analysis.running:
            self._analyse()
        running = self._analysis.running
        results = self._earlier(of)
        quality = {} if results is None else results.quality
        shown = self._selected
        counts = sum(facts.counts for key, facts in quality.items() if key[0] == self._study)
        none = tr("sessions.none_yet") if self._whole else tr("state.checking")
        text = counted(len(shown), "researcher.sessions") if shown else none
        if quality:
            text = tr("researcher.sessions_count", sessions=text, n=counts)
        self.page.set_sessions(shown, quality, text)
        only = of[1]
        self.page.set_only(*list_words(self._own), only[0] if len(only) == 1 else "")
        state = "" if done is None else done.state
        if running and self._running[0] == of:
            state = counted(len(self._running[1]), "researcher.analysing")
        self.page.set_results(results, self._study, state)
        failed = done is not None and done.failed and not running
        self.page.set_state(state, "warn" if failed else "")
        self._busy()

    # --- checks and exports -----------------------------------------------------------------------

    def _do(
        self,
        arguments: list[str],
        doing: str,
        then: Callable[[Ended], None],
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._then = then
        self._work.start(arguments)
        (tell or self.page.set_about)(doing)
        self._busy()

    def _on_work_end(self, ended: Ended) -> None:
        then, self._then = self._then, None
        if then is not None:
            then(ended)
        self._busy()

    def _busy(self) -> None:
        analysing, working = self._analysis.running, self._work.running
        self.page.set_busy(analysing=analysing, working=working, can=bool(self._stand()))
        if self.form is not None:
            self.form.set_busy(working)


def _describe_end(ended: Ended) -> str:
    return ended.error.strip() or tr("researcher.ended_outside")


def _problems(path: Path, ended: Ended) -> list[str]:
    """What a check found; one line a problem."""
    try:
        report = json_value(ended.output)
        problems = [f"{path.name}: {problem}" for problem in report["problems"]]
    except (ValueError, KeyError, TypeError):
        return [f"{path.name}: {_describe_end(ended)}"]
    return problems


WorkForm = CodebookEditor | RatersForm | SettleForm | SpeakersForm | VideosForm | ReelForm
FILE = "coding.json"
WINDOW = "page for coding"


@dataclass(frozen=True)
class CodingChoices:
    """The last choices on the page. rater: who coded last on this machine; model: the path of the
    speech model that was chosen last."""

    rater: str = ""
    model: str = ""


class CodingWork(QObject):
    """Feeds the page with the sessions that the home lists, and does what it asks for."""

    def __init__(self, page: CodingPage, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.page = page
        self._sessions: tuple[SessionSummary, ...] = ()
        self._study = ""
        self.shown = False  # whether the page is looked at
        self._windows: dict[tuple[str, str], Job] = {}
        self._status = Job(self)
        self._status.ended.connect(self._show_status)
        self._again = False
        self._work = Job(self)
        self._work.ended.connect(self._on_work_end)
        self._out: Path | None = None
        page.study_chosen.connect(self.choose)
        self._choices = CodingChoices()
        try:
            self._choices = read_choices(FILE, self._choices, WINDOW)
        except LabappError as error:
            self._tell(error)
        page.rater.setText(self._choices.rater)
        page.rater_changed.connect(
            lambda rater: self._remember(replace(self._choices, rater=rater))
        )
        self.speech = SpeechWork(page.speech, self._path, self._choices.model, self)
        self.speech.changed.connect(self.refresh)
        self.speech.model_changed.connect(
            lambda model: self._remember(replace(self._choices, model=model))
        )
        page.transcribe_opened.connect(self.speech.look)
        self.exchange = ExchangeWork(page.panel, self._bench, parent=self)
        self.exchange.changed.connect(self.refresh)
        page.exchange_opened.connect(self.exchange.show)
        page.open_requested.connect(self.open)
        page.segment_requested.connect(partial(self._segment, freeze=False))
        page.freeze_requested.connect(partial(self._segment, freeze=True))
        page.assign_requested.connect(self.assign)
        page.pack_requested.connect(self.pack)
        page.receive_requested.connect(self.receive)
        page.agreement_requested.connect(self.agree)
        page.segment_all_requested.connect(self._segment_all)
        page.check_requested.connect(self.check)
        page.stop_requested.connect(self._ask_to_stop)
        page.pack_opened.connect(self._open_pack)
        page.raters_opened.connect(self._open_raters)
        page.settle_opened.connect(self._open_settle)
        page.codebook_opened.connect(self._open_codebook)
        page.speakers_opened.connect(self._open_speakers)
        page.videos_opened.connect(self._open_videos)
        page.units.reel_requested.connect(self._open_reel)
        self._work.progressed.connect(self._show_progress)
        self.form: CommandForm | None = None
        self._of_form: WorkForm | None = None
        page.units_shown.connect(self._show_units)
        page.units.failed.connect(self._tell)

    def set_sessions(self, sessions: Sequence[SessionSummary]) -> None:
        """Every session under the data folder, newest first."""
        self._sessions = tuple(session for session in sessions if not session.withdrawn)
        studies = sorted({session.study for session in self._sessions})
        if self._study not in studies:
            self._study = self._sessions[0].study if self._sessions else ""
        self.page.set_studies(studies, self._study)
        self.refresh()

    def set_shown(self, shown: bool) -> None:
        """Whether the page is looked at: only then it is read how far the sessions are."""
        self.shown = shown
        if shown:
            self.refresh()
        else:
            self.page.units.rest()

    def _remember(self, choices: CodingChoices) -> None:
        if choices == self._choices:
            return
        self._choices = choices
        try:
            write_choices(FILE, self._choices, WINDOW)
        except LabappError as error:
            self._tell(error)

    def choose(self, study: str) -> None:
        """Show another study."""
        self._study = study
        self.page.set_about("")
        self.refresh()
        if self.page.pages.currentIndex() == 1:
            self._show_units()

    def refresh(self) -> None:
        """Read how far the sessions are, in a process of its own."""
        folder = self._folder()
        if folder is None:
            self.page.set_sessions(())
        if not self.shown or folder is None:
            return
        self._again = self._status.running
        if self._again:
            return
        self.page.set_codebooks(self._codebooks(folder))
        self._status.start(["code", "status", str(folder), "--json"])

    def stop(self) -> None:
        """A session begins: the machine is its own."""
        self.shown = False
        for job in (self._status, self._work, *self._windows.values()):
            job.stop()
        self._windows.clear()
        if self.form is not None:
            self.form.close()
        self.speech.stop()
        self.exchange.close()
        self.page.units.close_all()
        self.page.set_working(False)

    # --- what the page asks for -------------------------------------------------------------------

    def open(self, wanted: CodingWanted) -> None:
        """Open a session to be coded, in a process of its own; an open one stays as it is."""
        path, key = self._path(wanted.session), (wanted.session, wanted.rater)
        if path is None or key in self._windows:
            return
        job = self._windows[key] = Job(self)
        job.ended.connect(partial(self._on_coding_end, key))
        arguments = ["code", "open", str(path), "--rater", wanted.rater, "--round", wanted.round]
        arguments += ["--blind", wanted.blind]
        if wanted.at_ns is not None:
            arguments += ["--at", time_text(wanted.at_ns, 3)]
        job.start([*arguments, *(["--codebook", wanted.codebook] if wanted.codebook else [])])
        self.page.set_about(tr("researcher.opening", session=wanted.session))

    def _open_pack(self, pack: Path) -> None:
        """Let a rater code on from a pack of another computer, in a process of its own."""
        key = (str(pack), self.page.rater_name)
        if key in self._windows:
            return
        job = self._windows[key] = Job(self)
        job.ended.connect(partial(self._on_coding_end, key))
        job.start(["code", "open", str(pack), "--rater", self.page.rater_name])
        self.page.set_about(tr("researcher.opening", session=pack.name))

    def _bench(self) -> Bench | None:
        wanted = self.page.wanted
        path = None if wanted is None else self._path(wanted.session)
        if wanted is None or path is None:
            return None
        return Bench(path, wanted.rater, wanted.codebook, wanted.round)  # type: ignore[arg-type]

    def _segment(self, session: str, rater: str, *, freeze: bool) -> None:
        path = self._path(session)
        if path is not None:
            arguments = ["code", "segment", str(path), "--by", rater]
            doing = tr("researcher.freezing") if freeze else tr("researcher.segmenting")
            self._do([*arguments, "--freeze"] if freeze else arguments, doing)

    def _segment_all(self, sessions: Sequence[str]) -> None:
        paths = [str(path) for name in sessions if (path := self._path(name))]
        if paths:
            by = ("--by", self.page.rater_name)
            self._do(["code", "segment", *paths, *by], tr("researcher.segmenting"))

    def check(self) -> None:
        """Check that the files of annotations are what was written."""
        if (folder := self._folder()) is not None:
            self._do(["code", "verify", str(folder)], tr("researcher.checking_files"))

    def assign(self, wanted: Draw) -> None:
        """Draw who codes what."""
        if (folder := self._folder()) is not None:
            how = ("--raters", wanted.raters, "--both", wanted.both, "--seed", wanted.seed)
            arguments = ["code", "assign", str(folder), *how]
            arguments += ["--training"] if wanted.training else []
            self._do(arguments, tr("researcher.assigning"))

    def pack(self, rater: str, out: Path) -> None:
        """Pack what a rater codes on another computer."""
        if (folder := self._folder()) is not None:
            arguments = ["code", "pack", str(folder), "--rater", rater, "--out", str(out)]
            if self.page.round.currentData() == "training":
                arguments.append("--training")
            self._do(arguments, tr("researcher.writing_pack"))

    def receive(self, file: Path) -> None:
        """Take in what came back from another computer."""
        if (folder := self._folder()) is not None:
            arguments = ["code", "receive", str(file), "--study", str(folder)]
            self._do(arguments, tr("researcher.reading_pack"))

    def agree(self, out: Path) -> None:
        """Work out how far raters agree, and show the folder."""
        if (folder := self._folder()) is not None:
            self._out = out
            arguments = ["code", "agree", str(folder), "--out", str(out)]
            self._do(arguments, tr("researcher.agreement"))

    # --- windows ----------------------------------------------------------------------------------

    def _open_raters(self) -> None:
        if (folder := self._folder()) is not None:
            form = RatersForm(self.page.colors, folder)
            form.set_sessions(self.page.model.rows)
            self._open_form(form)

    def _open_codebook(self) -> None:
        if (folder := self._folder()) is not None:
            form = CodebookEditor(self.page.colors, folder, self.page.codebook.currentData() or "")
            form.saved.connect(lambda _: self.refresh())
            self._open_form(form)

    def _open_settle(self) -> None:
        if (folder := self._folder()) is not None:
            books = self._codebooks(folder)
            form = SettleForm(self.page.colors, folder, self.page.rater_name, books)
            form.open_requested.connect(self._open_at)
            self._open_form(form)

    def _open_at(self, session: str, t_ns: int) -> None:
        wanted = self.page.wanted
        if wanted is not None:
            self.open(replace(wanted, session=session, round="reconciled", at_ns=t_ns))

    def _open_speakers(self, session: str) -> None:
        if (path := self._path(session)) is not None:
            self._open_form(SpeakersForm(self.page.colors, path, self.page.rater_name))

    def _open_videos(self, session: str) -> None:
        if (path := self._path(session)) is not None:
            self._open_form(VideosForm(self.page.colors, path, self.page.rater_name))

    def _open_reel(
        self, stretches: Sequence[CodedStretch], code: str, where: Mapping[str, str]
    ) -> None:
        if (folder := self._folder()) is not None:
            book = self.page.units.model.codebook
            self._open_form(ReelForm(self.page.colors, folder, stretches, book, code, where))

    def _open_form(self, form: WorkForm) -> None:
        """Open a window in the place of the one that is open, unless that one asks first."""
        if self.form is not None:
            if not self.form.close():
                self.form.raise_()
                self.form.activateWindow()
                form.deleteLater()
                return
            self.form.deleteLater()
        self.form = form

        def run(arguments: list[str]) -> None:
            if not arguments:
                self.refresh()
            elif self._work.running:
                form.set_state(tr("researcher.wait"), "warn")
            else:
                self._of_form = form
                form.set_busy(True)
                form.set_running(True)
                form.set_state(tr("sharing.working"))
                self.page.set_working(True)
                self._work.start(arguments)

        form.requested.connect(run)
        form.stop_requested.connect(self._ask_to_stop)
        form.set_busy(self._work.running)
        form.refresh()
        form.show_form()

    def _on_form_end(self, form: WorkForm, ended: Ended) -> None:
        form.set_busy(False)
        if not ended.ok:
            stopped = ended.status == STOPPED
            text = tr("researcher.work_stopped") if stopped else _describe_end(ended)
            form.set_state(text, "warn" if stopped else "alarm")
            return
        with mistakes.show_errors(lambda error: form.set_state(in_words(error), "alarm"),
                                  tr("researcher.results_unshown")):  # fmt: skip
            form.set_state(form.describe(ended.output), "good")
        form.refresh()

    def _ask_to_stop(self) -> None:
        self.page.stop.setEnabled(False)
        self._work.ask_to_end()

    def _show_progress(self, progress: Progress) -> None:
        self.page.bar.set_share(progress.share)
        if self._of_form is not None:
            self._of_form.bar.set_share(progress.share)

    # --- what came of it --------------------------------------------------------------------------

    def _do(self, arguments: Sequence[str], doing: str) -> None:
        if self._work.running:
            self.page.set_about(tr("researcher.wait"), "warn")
            return
        self.page.set_about(doing)
        self.page.set_working(True)
        self._work.start(arguments)

    def _on_work_end(self, ended: Ended) -> None:
        self.page.set_working(False)
        out, self._out = self._out, None
        form, self._of_form = self._of_form, None
        if form is not None:
            self._on_form_end(form, ended)
        elif ended.status == STOPPED:
            self.page.set_about(tr("researcher.work_stopped"), "warn")
        elif ended.ok:
            self.page.set_about(ended.output.strip())
            if out is not None:
                open_outside(out, lambda text: self.page.set_about(text, "warn"))
        else:
            self.page.set_about(_describe_end(ended), "alarm")
        self.refresh()

    def _on_coding_end(self, key: tuple[str, str], ended: Ended) -> None:
        job = self._windows.pop(key, None)
        if job is not None:
            job.deleteLater()
        self.page.set_about("" if ended.ok else _describe_end(ended), "" if ended.ok else "alarm")
        self.refresh()

    def _show_status(self, ended: Ended) -> None:
        if ended.ok:
            try:
                rows = [_progress(row) for row in json_value(ended.output)]
                self.page.set_sessions(rows)
                if isinstance(self.form, RatersForm):
                    self.form.set_sessions(rows)
            except (ValueError, TypeError, KeyError) as error:
                self.page.set_about(tr("researcher.progress_unread", why=error))
        else:
            self.page.set_about(ended.error.strip(), "alarm")
        if self._again:
            self.refresh()

    def _show_units(self) -> None:
        if (folder := self._folder()) is not None:
            books = self._codebooks(folder)
            chosen = self.page.codebook.currentData()
            book = next((book for book in books if book.id == chosen), None)
            self.page.units.show_study(folder, book)

    def _codebooks(self, folder: Path) -> tuple[Codebook, ...]:
        try:
            return codebooks_of(folder)
        except LabappError as error:
            self._tell(error)
            return ()

    def _tell(self, error: LabappError) -> None:
        self.page.set_about(in_words(error), "alarm")

    def _folder(self) -> Path | None:
        own = (session.path.parent for session in self._sessions if session.study == self._study)
        return next(own, None)

    def _path(self, session: str) -> Path | None:
        named = (line.path for line in self._sessions if line.path.name == session)
        return next(named, None)


def _progress(row: dict[str, object]) -> SessionProgress:
    raters = tuple(RaterProgress(**rater) for rater in row.pop("raters"))  # type: ignore[attr-defined]
    return SessionProgress(raters=raters, **row)  # type: ignore[arg-type]


STOPPED = 130
"""The exit status of a command that was asked to end."""


class SpeechWork(QObject):
    """Does what the line for it asks for. changed(): something was written down;
    model_changed(str): another model is to be remembered."""

    changed = Signal()
    model_changed = Signal(str)

    def __init__(
        self,
        panel: SpeechPanel,
        path_of: Callable[[str], Path | None],
        model: str = "",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.panel, self._path_of, self._model = panel, path_of, model
        self._at = ""
        self._job = Job(self)
        self._job.ended.connect(self._on_end)
        self._job.progressed.connect(self._progressed)
        panel.wanted.connect(self.begin)
        panel.model_chosen.connect(self.choose)
        panel.stop_requested.connect(self._ask_to_stop)

    def look(self) -> None:
        """Say which models and engines are here, and what to get where none are."""
        if self._job.running:
            return
        tools = speech_tools()
        known = [str(model.path) for model in tools.models]
        if self._model and self._model not in known:
            known.append(self._model)
        if not self._model and tools.usable:
            self._model = str(tools.usable[0].path)
        self.panel.set_models(known, self._model)
        try:
            model = model_at(Path(self._model)) if self._model else None
        except LabappError as error:
            self.panel.set_state(in_words(error), "warn")
            return
        if model is None:
            self.panel.set_state(missing(tools), "warn")
            return
        text = tr(
            "transcribing.model",
            model=model.name,
            engine=f"{model.engine.package} {model.engine.version}",
        )
        self.panel.set_state(text)

    def choose(self, path: str) -> None:
        """Take a model from now on."""
        self._model = path
        self.model_changed.emit(path)
        self.look()

    def begin(self, wanted: SpeechWanted) -> None:
        """Write sessions down; units that have a text keep it."""
        paths = [str(path) for name in wanted.sessions if (path := self._path_of(name))]
        if self._job.running or not paths:
            return
        arguments = ["transcribe", *paths, "--model", wanted.model, "--json"]
        if wanted.language:
            arguments += ["--language", wanted.language]
        if wanted.words:
            arguments += ["--words", wanted.words]
        self._at = ""
        self.panel.set_working(True)
        self.panel.bar.set_share(None)
        self.panel.set_state(tr("transcribing.opening"))
        self._job.start(arguments)

    def stop(self) -> None:
        """A session begins, or the program ends: what was written down is stored."""
        if self._job.running:
            self._job.stop()
            self.panel.set_working(False)
            self.panel.set_state(describe_stop(), "warn")

    def _ask_to_stop(self) -> None:
        self.panel.stop.setEnabled(False)
        self._job.ask_to_end()

    def _progressed(self, progress: Progress) -> None:
        self.panel.bar.set_share(progress.share)
        if not progress.share:
            return
        percent = number(f"{100 * progress.share:.0f}")
        form, left = N_("transcribing.progress"), ""
        if progress.left_s is not None:
            form = N_("transcribing.progress_left")
            left = duration(progress.left_s)
        self.panel.set_state(tr(form, percent=percent, left=left, what=progress.what))
        session = progress.what.partition(",")[0]
        if session != self._at:
            self._at = session
            self.changed.emit()

    def _on_end(self, ended: Ended) -> None:
        self.panel.set_working(False)
        if ended.status == STOPPED:
            self.panel.set_state(describe_stop(), "warn")
        else:
            told = [*summary(ended.output), *ended.error.strip().splitlines()]
            if ended.status is None:
                told.append(tr("researcher.ended_outside"))
            self.panel.set_state("\n".join(told), "" if ended.ok else "alarm")
        self.changed.emit()


def describe_stop() -> str:
    """What is told where the work was stopped."""
    return tr("transcribing.stopped")


def missing(tools: SpeechTools) -> str:
    """What to get so that something can be written down, in words."""
    lines = []
    if not tools.models:
        none = tr("transcribing.no_model", folder=tools.folder)
        models = [
            tr(
                "transcribing.to_get",
                engine=engine.package,
                model=translate_message(engine.model),
                get=translate_message(engine.get),
            )
            for engine in ENGINES.values()
        ]
        lines = [none, *models, translate_message(WHICH)]
    if (engine := tools.missing) is not None:
        name, command = engine.package, engine.install
        lines.append(tr("transcribing.install", engine=name, command=command))
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """About how long, in words."""
    if seconds < 60:
        return counted(max(1, round(seconds)), "transcribing.seconds")
    if seconds < 5400:
        return counted(round(seconds / 60), "transcribing.minutes")
    return tr("transcribing.hours", n=number(f"{seconds / 3600:.1f}"))


def summary(output: str) -> list[str]:
    """What came of it: a line of `labapp transcribe --json` for each session."""
    try:
        rows = json_value(output) if output.strip() else []
        return [_line(row) for row in rows]
    except (ValueError, TypeError, KeyError) as error:
        return [tr("transcribing.untold", why=error)]


def _line(row: dict[str, object]) -> str:
    counts = {name: value for name, value in row.items() if isinstance(value, int)}
    parts = [tr("transcribing.units", n=row["written"], of=row["units"])]
    if n := counts["doubtful"]:
        parts.append(tr("transcribing.invented", n=n))
    if n := counts["kept"] + counts["overtaken"]:
        parts.append(tr("transcribing.had_text", n=n))
    if n := counts["silent"]:
        parts.append(tr("transcribing.silent", n=n))
    return f"{row['session']}: {', '.join(parts)}."
