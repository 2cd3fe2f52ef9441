"""The researcher's page at work: analyses, checks and exports by the commands of labapp.

Results belong to the sessions they were computed from: when these change while the page is looked
at, they are computed again. Nothing runs while a session does.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject

from labapp import leftovers
from labapp.errors import LabappError
from labapp.journal.sessions import SessionSummary
from labapp.reading.values import json_value
from labapp.ui import mistakes
from labapp.ui.language import counted, tr
from labapp.ui.outside import open_outside
from labapp.ui.researcher.job import Ended, Job
from labapp.ui.researcher.page import ExportRequest, ResearcherPage, Results, read_results, usable

Stand = tuple[tuple[str, str, int], ...]
"""What results were computed from: id, state and events of each session."""


@dataclass(frozen=True)
class _Done:
    """The last analysis of a study. results: its own, or where it failed those of the one before,
    if any; state: what is said of it."""

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
        self._done: dict[str, _Done] = {}
        self._of: tuple[str, Stand] = ("", ())
        self._out = Path()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs = 0
        self._analysis = Job(self)
        self._analysis.ended.connect(self._analysed)
        self._work = Job(self)
        self._work.ended.connect(self._worked)
        self._then: Callable[[Ended], None] | None = None
        page.study_chosen.connect(self.choose)
        page.analyse_requested.connect(self._analyse_or_stop)
        page.report_requested.connect(self._open_report)
        page.figures.unopened.connect(self._tell_unopened)
        page.keep_requested.connect(self.keep)
        page.verify_requested.connect(self.verify)
        page.export_requested.connect(self.export)

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
                self.page.set_about(
                    counted(
                        len(paths),
                        "{n} session verified: as it was written.",
                        "{n} sessions verified: all as they were written.",
                    ),
                    "good",
                )

        def one() -> None:
            at = tr("Verifying {n} of {of} …", n=len(paths) - len(left) + 1, of=len(paths))
            self._do(["sessions", "verify", str(left[0]), "--json"], at, following)

        if left and not self._work.running:
            one()

    def export(self, request: ExportRequest) -> None:
        """Write a bundle."""
        options = [
            *(["--zip"] if request.zipped else []),
            *(["--deidentify"] if request.deidentify else []),
            *_sound(request),
            *(["--private", str(self._private)] if self._private else []),
        ]
        paths = [str(path) for path in request.sessions]
        if not paths or self._work.running:
            return

        def told(ended: Ended) -> None:
            if ended.ok:
                self.page.set_about(tr("Exported to {path}", path=ended.after("bundle")), "good")
            else:
                self.page.set_about(_said(ended), "alarm")

        doing = counted(len(paths), "Exporting {n} session …", "Exporting {n} sessions …")
        self._do(["export", *paths, "--out", str(request.out), *options], doing, told)

    def keep(self, out: Path) -> None:
        """Copy tables, figures and report to a folder that is not there yet."""
        done = self._done.get(self._study)
        if done is None or done.results is None:
            return
        try:
            shutil.copytree(done.results.folder, out)
        except FileExistsError:
            self.page.set_state(tr("{path} exists already; nothing was changed.", path=out), "warn")
        except (OSError, shutil.Error) as error:
            self.page.set_state(
                tr("The results cannot be written to {path}: {error}", path=out, error=error),
                "alarm",
            )
        else:
            self.page.set_state(tr("Saved in {path}", path=out), "good")

    def _open_report(self) -> None:
        done = self._done.get(self._study)
        if done is not None and done.results is not None:
            open_outside(done.results.report, self._tell_unopened)

    def _tell_unopened(self, text: str) -> None:
        """Say where a file is that nothing opens here."""
        self.page.set_state(text, "warn")

    def _analyse_or_stop(self) -> None:
        if self._analysis.running:
            self._analysis.stop()
            study, stand = self._of
            self._done[study] = _Done(stand, self._earlier(study), tr("Stopped."), failed=True)
        else:
            self._analyse()
        self._show()

    # --- analysis ---------------------------------------------------------------------------------

    @property
    def _own(self) -> list[SessionSummary]:
        return [session for session in self._sessions if session.study == self._study]

    def _stand(self) -> Stand:
        return tuple(
            (session.id, session.state, session.events) for session in self._own if usable(session)
        )

    def _analyse(self) -> None:
        stand = self._stand()
        if not stand or self._analysis.running:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=leftovers.prefix("results"))
        self._runs += 1
        self._out = Path(self._folder.name) / f"{self._study}-{self._runs}"
        self._of = (self._study, stand)
        paths = [str(session.path) for session in self._own if usable(session)]
        self._analysis.start(["analyze", *paths, "--out", str(self._out)])

    def _analysed(self, ended: Ended) -> None:
        study, stand = self._of
        problem = "" if ended.ok else _said(ended)
        results = self._earlier(study)
        if ended.ok:
            try:
                with mistakes.worded(tr("The results cannot be shown.")):
                    results = read_results(self._out)
            except LabappError as error:
                problem = str(error)
        state = problem or tr("As of {time}", time=f"{datetime.now():%H:%M}")
        self._done[study] = _Done(stand, results, state, failed=bool(problem))
        self._show()

    def _earlier(self, study: str) -> Results | None:
        """The results that a study has already: a failure takes none away."""
        done = self._done.get(study)
        return None if done is None else done.results

    def _show(self) -> None:
        """Everything as it stands; computes where results are missing or of other sessions."""
        stand, done = self._stand(), self._done.get(self._study)
        fresh = done is not None and done.stand == stand
        if self._shown and not fresh and not self._analysis.running:
            self._analyse()
        running = self._analysis.running
        results = done.results if done is not None else None
        quality = {} if results is None else results.quality
        own = self._own
        counts = sum(facts.counts for key, facts in quality.items() if key[0] == self._study)
        none = tr("No session yet.") if self._whole else tr("Checking …")
        text = counted(len(own), "{n} session", "{n} sessions") if own else none
        if quality:
            text = tr("{sessions}, {n} count", sessions=text, n=counts)
        self.page.set_sessions(own, quality, text)
        if running and self._of[0] == self._study:
            n = len(self._of[1])
            state = counted(n, "Analysing {n} session …", "Analysing {n} sessions …")
        elif done is None:
            state = ""
        else:
            state = done.state
        self.page.set_results(results, self._study, state)
        failed = done is not None and done.failed and not running
        self.page.set_state(state, "warn" if failed else "")
        self._busy()

    # --- checks and exports -----------------------------------------------------------------------

    def _do(self, arguments: list[str], doing: str, then: Callable[[Ended], None]) -> None:
        self._then = then
        self._work.start(arguments)
        self.page.set_about(doing)
        self._busy()

    def _worked(self, ended: Ended) -> None:
        then, self._then = self._then, None
        if then is not None:
            then(ended)
        self._busy()

    def _busy(self) -> None:
        self.page.set_busy(
            analysing=self._analysis.running,
            working=self._work.running,
            can=bool(self._stand()),
        )


def _sound(request: ExportRequest) -> list[str]:
    """The option of the command; without one a de-identified bundle has no sound, another has."""
    if request.audio == (not request.deidentify):
        return []
    return ["--with-audio"] if request.audio else ["--no-audio"]


def _said(ended: Ended) -> str:
    """What a command that failed said."""
    return ended.error.strip() or tr("It was ended from outside.")


def _problems(path: Path, ended: Ended) -> list[str]:
    """What a check found; one line a problem."""
    try:
        report = json_value(ended.output)
        problems = [f"{path.name}: {problem}" for problem in report["problems"]]
    except (ValueError, KeyError, TypeError):
        return [f"{path.name}: {_said(ended)}"]
    return problems
