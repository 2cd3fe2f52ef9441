"""The lists of sessions on the home: read in a thread of their own, shown where they changed.

Also the studies that the home offers: the shipped ones and one's own, and whether a file changed.

What is made in threads while the home is on the screen: decoders, sheets of what dials do, the
pictures of the chosen study, and what the explained model says of masked ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from labapp.base import resources
from labapp.base.console import say
from labapp.base.errors import LabappError, RecordError
from labapp.base.resources import pilot_root
from labapp.models.representations import package
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.sheets import TraversalSheet, traversals
from labapp.models.stimuli import gallery, pictures
from labapp.record.journal.decisions import add_comment
from labapp.record.journal.read import last_utc
from labapp.record.journal.sessions import SessionIndex, SessionSummary
from labapp.session.condition_assignment import count_quotas, people_of
from labapp.study import loading
from labapp.study.flow import blinds
from labapp.study.loading import LoadedStudy, StudyHead
from labapp.study.people import PersonState, count_states
from labapp.study.schema import Study
from labapp.ui import mistakes, remembered
from labapp.ui.background import Worker
from labapp.ui.language import tr, translate_message
from labapp.ui.moderator.checklist import Interrupted, StudyChoice
from labapp.ui.moderator.home import HomeView
from labapp.ui.remembered import Remembered
from labapp.ui.researcher.job import ReplayProcesses, open_outside

if TYPE_CHECKING:
    from labapp.ui.researcher.controller import CodingWork, Researcher


BREATH_S = 0.001
"""After each session that was read the windows' thread has its turn."""
PARTIAL_S = 0.5
"""While many sessions are read for the first time, those so far are shown so often."""


@dataclass(frozen=True, slots=True)
class Listing:
    """sessions: newest first; pilots: those that are kept apart; interrupted: those of the sessions
    that can be asked about; whole: all were read, and none are left out; people: how many took part
    in the chosen study, by what became of them; quotas: of that study, each with its count and its
    limit."""

    sessions: tuple[SessionSummary, ...] = ()
    pilots: tuple[SessionSummary, ...] = ()
    interrupted: tuple[Interrupted, ...] = ()
    whole: bool = True
    people: Mapping[PersonState, int] = field(default_factory=dict)
    quotas: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def all(self) -> list[SessionSummary]:
        """Sessions and pilots, newest first."""
        every = (*self.sessions, *self.pilots)
        return sorted(every, key=lambda line: line.started, reverse=True)

    @property
    def forbidden(self) -> frozenset[Path]:
        """Those that their study does not let go on."""
        return frozenset(line.path for line in self.interrupted if line.forbidden)


class Reader:
    """Reads in whatever thread calls it; what did not change is not read again."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._index = SessionIndex(data)
        self._pilots = SessionIndex(pilot_root(data))
        self._asked: dict[Path, tuple[SessionSummary, Interrupted]] = {}

    def read(
        self, partly: Callable[[Listing], None], stop: threading.Event, study: Study | None = None
    ) -> Listing:
        """All sessions, and the people of a study; partly: is told of the first ones while the
        others are read."""
        told = monotonic()

        def progress(so_far: Callable[[], list[SessionSummary]]) -> None:
            nonlocal told
            if stop.is_set():
                raise _Stopped
            sleep(BREATH_S)
            if monotonic() - told >= PARTIAL_S:
                told = monotonic()
                partly(Listing(tuple(so_far()), whole=False))

        lines = tuple(self._index.read(progress))
        pilots = tuple(self._pilots.read())
        open_ended = (line for line in lines if line.state == "interrupted" and not line.withdrawn)
        self._asked = {line.path: self._ask(line) for line in open_ended}
        interrupted = tuple(asked for _, asked in self._asked.values())
        if study is None:
            return Listing(lines, pilots, interrupted)
        try:
            everybody = people_of(self._data, study)
        except LabappError:  # a damaged list of withdrawals, which the page of sessions reports
            everybody = []
        counts, limits = count_quotas(everybody, study), study.quota_limits
        quotas = {name: (n, limits[name]) for name, n in counts.items()}
        people = count_states(everybody)
        return Listing(lines, pilots, interrupted, people=people, quotas=quotas)

    def _ask(self, line: SessionSummary) -> tuple[SessionSummary, Interrupted]:
        known = self._asked.get(line.path)
        if known is not None and known[0] is line:
            return known
        try:
            last = last_utc(line.path)
        except RecordError:
            last = line.started
        from labapp.session.resuming import forbids_resume

        forbidden = forbids_resume(line.path)
        return line, Interrupted(line.path, line.study, line.participant, last, forbidden)


class _Stopped(Exception):
    """Nobody waits any more."""


class SessionLists(QObject):
    """Keeps the home's lists true. changed(): they were read, and what they show is as it is."""

    changed = Signal()
    _partly = Signal(object)
    _ended = Signal(object)
    _done = Signal(object)

    def __init__(self, data: Path, private: Path, view: HomeView, parent: QObject) -> None:
        super().__init__(parent)
        self._private = private
        self._view = view
        self._researcher: Researcher | None = None
        self._reader = Reader(data)
        self._listing = self._shown = Listing(whole=False)
        self._left: set[Path] = set()
        self._study: Study | None = None
        self._worker = Worker("sessions")
        self._withdrawals: list[Future[list[str]]] = []
        self._stop = threading.Event()
        self._reading = self._again = self._closed = False
        self._fresh = True  # nothing has happened since the lists were read
        # Queued: all come from the thread.
        queued = Qt.ConnectionType.QueuedConnection
        self._partly.connect(self._show_some, queued)
        self._ended.connect(self._read, queued)
        self._done.connect(self._receive_withdrawn, queued)
        page = view.sessions_page
        page.folder_requested.connect(lambda path: open_outside(path, page.say))
        self.replays = ReplayProcesses(self)
        self.replays.failed.connect(view.show_error)
        page.replay_requested.connect(self.replays.open)
        page.withdraw_requested.connect(self.withdraw)
        page.remarked.connect(self.remark)
        page.decided.connect(self.decide)
        page.moved.connect(self.move)
        page.tagged.connect(self.tag)
        view.interrupted.leave_requested.connect(self.leave)
        view.coding_opened.connect(self._show_coding)

    @property
    def sessions(self) -> list[SessionSummary]:
        """Sessions and pilots as they were read last, newest first."""
        return self._listing.all

    def feed(self, researcher: Researcher) -> None:
        """Pass the sessions to the Results page from now on."""
        self._researcher = researcher
        researcher.page.replay_requested.connect(self.replays.open)
        researcher.set_sessions(self._shown.sessions, whole=self._shown.whole)

    @cached_property
    def coding(self) -> CodingWork:
        """Controls the *Coding* page; created when it is first opened."""
        from labapp.ui.researcher.controller import CodingWork

        work = CodingWork(self._view.coding, self)
        work.set_sessions(self._shown.sessions)
        return work

    def _show_coding(self, shown: bool) -> None:
        if shown or self._codes:
            self.coding.set_shown(shown)

    @property
    def _codes(self) -> bool:
        """Whether the *Coding* page was opened."""
        return "coding" in vars(self)

    def show_study(self, study: Study | None) -> None:
        """The sessions of which study stand on the first page."""
        self._study = study
        self._show(self._listing, anew=True)

    def refresh(self) -> None:
        """Look again, in the thread; what changed is shown when it is known."""
        if self._reading:
            self._again = True
            return
        if self._closed:
            return
        if self._codes and self.coding.shown != self._view.coding_shown:
            self.coding.set_shown(self._view.coding_shown)  # a session is over
        self._reading, self._again = True, False
        self._stop = stop = threading.Event()
        study = self._study
        done = self._worker.submit(lambda: self._reader.read(self._partly.emit, stop, study))
        done.add_done_callback(self._ended.emit)

    def hold(self) -> None:
        """A session begins: the machine is its own. `refresh` goes on where this stopped.

        What was interrupted may be complete afterwards, so nothing is offered until it is read
        again.
        """
        self._fresh = False
        self._view.interrupted.set_lines(())
        self.replays.stop()
        if self._codes:
            self.coding.stop()
        self._again = False
        self._stop.set()

    def close(self) -> None:
        """End the thread. Withdrawals that were asked for are waited for, and told on the terminal:
        there is no window any more."""
        self._closed = True
        self.hold()
        self._worker.close(finish=True)
        what = tr("sessions.not_withdrawn")
        while self._withdrawals:
            with mistakes.show_errors(lambda error: say(error, err=True), what):
                say("\n".join(self._withdrawals.pop().result()))

    def leave(self, path: Path) -> None:
        """Do not ask about an interrupted session any more."""
        self._left.add(path)
        self._show(self._listing, anew=True)

    def remark(self, path: Path, text: str) -> None:
        """Keep a remark beside the session's data."""
        with mistakes.show_errors(self._view.show_error, tr("sessions.remark_unkept")):
            add_comment(path, text)
            self._view.sessions_page.remark.clear()
        self.refresh()

    def decide(self, path: Path, included: bool, reason: str) -> None:
        """Exclude a session from the analysis, or count it, with the reason."""
        from labapp.session.withdrawal import decide_by_hand

        with mistakes.show_errors(self._view.show_error, tr("sessions.decision_unkept")):
            self._say(decide_by_hand(path, included, reason)[1])
        self.refresh()

    def move(self, path: Path, into_study: bool, reason: str) -> None:
        """Move a pilot into the study, or back, with the reason."""
        from labapp.session.withdrawal import move_pilot

        with mistakes.show_errors(self._view.show_error, tr("sessions.not_moved")):
            self._say(move_pilot(path, into_study, reason)[1])
        self.refresh()

    def tag(self, path: Path, added: Sequence[str], removed: Sequence[str]) -> None:
        """Give a session tags, or take some away."""
        from labapp.session.withdrawal import change_tags

        with mistakes.show_errors(self._view.show_error, tr("sessions.tags_unkept")):
            change_tags(path, added, removed)
        self.refresh()

    def _say(self, lines: Iterable[str]) -> None:
        self._view.sessions_page.say("\n".join(map(translate_message, lines)))

    def withdraw(self, path: Path, delete: bool) -> None:
        """Withdraw a session's participant, in the thread: deleting may take a while."""
        if self._closed:
            return
        from labapp.session.withdrawal import withdraw

        done = self._worker.submit(lambda: withdraw(path, self._private, delete=delete).lines())
        self._withdrawals.append(done)
        done.add_done_callback(self._done.emit)

    @Slot(object)
    def _receive_withdrawn(self, done: Future[list[str]]) -> None:
        if self._closed:
            return  # `close` tells it
        self._withdrawals.remove(done)
        with mistakes.show_errors(self._view.show_error, tr("sessions.not_withdrawn")):
            self._say(done.result())
        self.refresh()

    @Slot(object)
    def _show_some(self, listing: Listing) -> None:
        if not self._listing.sessions:
            self._show(listing)

    @Slot(object)
    def _read(self, done: Future[Listing]) -> None:
        self._reading = False
        if self._closed:
            return
        with mistakes.show_errors(self._view.show_error, tr("sessions.unreadable")):
            try:
                self._listing = done.result()
            except _Stopped:
                pass  # a session begins
            else:
                # What was read before a session began says nothing about it.
                stale, self._fresh = not self._fresh, not self._stop.is_set()
                self._show(self._listing, anew=stale)
                self.changed.emit()
        if self._again:
            self.refresh()

    def _show(self, listing: Listing, *, anew: bool = False) -> None:
        """Only what changed costs the windows' thread something."""
        if listing == self._shown and not anew:
            return
        self._shown = listing
        self._view.sessions_page.set_lines(listing.all, listing.forbidden, whole=listing.whole)
        if self._researcher is not None:
            self._researcher.set_sessions(listing.sessions, whole=listing.whole)
        if self._codes:
            self.coding.set_sessions(listing.sessions)
        study = self._study.id if self._study else ""
        own = [line for line in listing.sessions if line.study == study]
        self._view.set_sessions(
            own, whole=listing.whole, people=listing.people, quotas=listing.quotas
        )
        asked = [line for line in listing.interrupted if line.path not in self._left]
        self._view.interrupted.set_lines(asked if self._fresh else ())


USUAL = "quickstart"
"""The study that a first start shows."""

Stamp = tuple[tuple[str, int, int], ...]
"""Path, time of change in ns and size in bytes of each file; an unreadable file has -1 and -1."""


class StudyShelf:
    """Keeps what was chosen (`choices`), and watches the files of the chosen study."""

    def __init__(self) -> None:
        self.choices = Remembered()
        self.problem: LabappError | None = None
        self.chosen = ""  # whether or not it could be loaded
        self._files: list[Path] = []
        self._stamp: Stamp = ()
        self._models: tuple[str, ...] = ()
        self._model_stamp: Stamp = ()
        self._installed: Stamp | None = None
        self._shipped: list[StudyChoice] = []
        self.look_again()
        try:
            self.choices = remembered.read()
        except LabappError as error:
            self.problem = error

    def look_again(self) -> bool:
        """Whether studies, models, questionnaires or stimulus sets were installed or removed since
        this was asked last; then the titles of the studies are read again."""
        paths = loading.list_installed()
        stamp = _stamp([*paths, *_folders()])
        if stamp == self._installed:
            return False
        self._installed = stamp
        titled = [StudyChoice(path.stem, loading.title_of(path) or path.stem) for path in paths]
        self._shipped = sorted(titled, key=lambda choice: choice.title.casefold())
        return True

    def blinds(self, study: Study) -> bool:
        """Whether sessions of a study are blind unless somebody says otherwise: because they were
        left so, or because one of its tasks asks for it."""
        return self.choices.blind or blinds(study.flow)

    def watch_models(self, models: Iterable[str]) -> None:
        """Watch the files of these models, given by id."""
        self._models = tuple(models)
        self.models_changed()

    def models_changed(self) -> bool:
        """Whether a file of a watched model was written, or is gone, since this was asked last."""
        stamp = _stamp(file for model in self._models for file in package.files_of(model))
        different, self._model_stamp = stamp != self._model_stamp, stamp
        return different

    @property
    def sources(self) -> list[StudyChoice]:
        """The studies that one can be made of."""
        return list(self._shipped)

    @property
    def first(self) -> str:
        """The study to begin with: the last one, if it is still there."""
        known = [choice.study for choice in self._shipped]
        last = self.choices.study
        if last in known or Path(last).is_file():
            return last
        return USUAL if USUAL in known else next(iter(known), "")

    def offered(self) -> list[StudyChoice]:
        """Own studies first, the others by their titles; a file that is gone says so."""
        studies = []
        for path, title in self.choices.own.items():
            name = f"{title} ({Path(path).name})"
            if not Path(path).is_file():
                name = tr("sessions.study_gone", study=name)
            studies.append(StudyChoice(path, name))
        studies += self._shipped
        if self.chosen not in [choice.study for choice in studies]:  # it could not be loaded yet
            studies.insert(0, StudyChoice(self.chosen, Path(self.chosen).name))
        return studies

    def head(self, study: str) -> StudyHead:
        """What a study that is offered says of itself; read when somebody looks at the list."""
        path = Path(study)
        if not self._is_own(study):
            path = next((each for each in loading.list_installed() if each.stem == study), path)
        return loading.head_of(path)

    def group(self, study: str, head: StudyHead) -> str:
        """Under which heading a study is listed: own, published or shipped."""
        if self._is_own(study):
            return "own"
        return "published" if head.published else "shipped"

    def keep(self, **changed: object) -> None:
        """Remember a choice besides the study. Raises DataFolderError."""
        self._write(Remembered(**(vars(self.choices) | changed)))

    def choose(self, study: str, loaded: LoadedStudy | None) -> None:
        """Watch the files of a study that was chosen; remember it where it could be loaded.

        Raises DataFolderError if that cannot be kept.
        """
        self.chosen, own = study, self._is_own(study)
        if loaded is None:
            self._files = [Path(study)] if own else []
            self._stamp = _stamp(self._files)
            return
        self._files = loading.sources(loaded)
        self._stamp = _stamp(self._files)
        self.chosen = str(loaded.path.resolve()) if own else study
        self._write(self.choices.with_study(self.chosen, loaded.study.title, own=own))

    def _is_own(self, study: str) -> bool:
        return study not in [choice.study for choice in self._shipped]

    def changed(self) -> bool:
        """Whether a file of the chosen study is another by now; asked again, it says no."""
        stamp = _stamp(self._files)
        different, self._stamp = stamp != self._stamp, stamp
        return different

    def _write(self, choices: Remembered) -> None:
        if choices != self.choices:
            self.choices = choices
            remembered.write(choices)


def _folders() -> list[Path]:
    """The folders that change where something is installed or removed."""
    roots = [*resources.model_roots(), resources.stimuli(), resources.user_stimuli()]
    inside = [folder for root in roots if root.is_dir() for folder in sorted(root.iterdir())]
    return [*roots, *inside, *(root / "instruments" for root in loading.asset_roots())]


def _stamp(files: Iterable[Path]) -> Stamp:
    stamp = []
    for file in files:
        try:
            known = file.stat()
            stamp.append((str(file), known.st_mtime_ns, known.st_size))
        except OSError:
            stamp.append((str(file), -1, -1))
    return tuple(stamp)


class NamedJobs(QObject):
    """Does something with what has a name, such as reading a model, in a thread, one after the
    other. ended(name, Future): in the GUI thread.

    There is no thread before the first is wanted, and none after `close`.
    """

    ended = Signal(str, object)
    _done = Signal(str, object)

    def __init__(self, thread: str, job: Callable[[str], object], parent: QObject) -> None:
        super().__init__(parent)
        self._job = job
        self._begun: set[str] = set()
        self._worker = Worker(thread)
        self._done.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def do_first(self, job: Callable[[], object]) -> None:
        """Do something else in the thread before what is wanted from now on."""
        self._worker.submit(job)

    def want(self, name: str) -> None:
        """Do it with this, unless that is being done."""
        if name in self._begun:
            return
        self._begun.add(name)
        future = self._worker.submit(self._job, name)
        future.add_done_callback(lambda done: self._done.emit(name, done))

    def close(self) -> None:
        """Wait for what is being done, forget all, and end the thread."""
        self._begun.clear()
        self._worker.close()

    @Slot(str, object)
    def _tell(self, name: str, done: Future[object]) -> None:
        if name in self._begun and not done.cancelled():
            self._begun.discard(name)
            self.ended.emit(name, done)


class SheetMaker(QObject):
    """made(model, Sheet), failed(model, text): in the GUI thread, for each sheet that was wanted.

    There is no thread before the first sheet is wanted, and none after `close`.
    """

    made = Signal(str, object)
    failed = Signal(str, str)
    _ended = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._wanted: dict[str, LoadedDecoder] = {}
        self._kept: dict[str, TraversalSheet] = {}
        self._worker = Worker("sheets")
        self._ended.connect(self._tell)

    def want(self, decoder: LoadedDecoder) -> None:
        """Make the sheet of a decoder, or tell the one that is kept; no longer that of another one
        with the same id."""
        model = decoder.id
        if self._wanted.get(model) is decoder:
            if model in self._kept:
                self.made.emit(model, self._kept[model])
            return
        self._wanted[model] = decoder
        self._kept.pop(model, None)
        # The signal is emitted in the worker and received here: Qt queues it.
        future = self._worker.submit(traversals, decoder)
        future.add_done_callback(lambda done: self._ended.emit(decoder, done))

    def close(self) -> None:
        """Forget what was not begun, wait for what was, and end the thread."""
        self._worker.close()
        self._wanted = {model: self._wanted[model] for model in self._kept}

    @Slot(object, object)
    def _tell(self, decoder: LoadedDecoder, done: Future[TraversalSheet]) -> None:
        model = decoder.id
        if done.cancelled() or self._wanted.get(model) is not decoder:
            return
        try:
            with mistakes.wrap_errors(tr("pictures.failed", model=model)):
                self._kept[model] = done.result()
        except LabappError as error:
            del self._wanted[model]  # wanted again, it is tried again
            self.failed.emit(model, error.what)
        else:
            self.made.emit(model, self._kept[model])


class _Unwanted(Exception):
    """Other pictures are wanted now, or none."""


class PictureWarmer(QObject):
    """changed: done, of or problem are others; in the GUI thread. Of the pictures only birds take
    time: until all are there, done and of count those, or all where there are none.

    There is no thread before the first pictures are wanted, and none after `close`.
    """

    changed = Signal()
    _progressed = Signal(int, int, int)
    _ended = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.of = self.done = 0
        self.problem = ""
        self._wanted: tuple[str, ...] = ()
        self._number = 0
        self._stop = Event()
        self._worker = Worker("pictures")
        self._progressed.connect(self._count)
        # Queued also where it comes from the GUI thread, as it does of pictures that were there
        # already: what is counted last is the end, and not a picture before it.
        self._ended.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def want(self, refs: Sequence[str], ask: Callable[[], object] | None = None) -> None:
        """Make these pictures, and no longer those that were wanted before. ask: what else is to be
        known of them before a session begins, and takes its time."""
        if tuple(refs) == self._wanted:
            return
        self._wanted = tuple(refs)
        self._stop.set()
        self._stop = stop = Event()
        self._number += 1
        birds = sum(pictures.is_bird(ref) for ref in refs)
        self.of, self.done, self.problem = birds or len(refs), 0, ""
        number = self._number

        def progress(done: int, of: int) -> None:
            if stop.is_set():
                raise _Unwanted
            self._progressed.emit(number, done, of)

        def make() -> None:
            gallery.warm(refs, progress)
            if ask is not None and not stop.is_set():
                ask()

        if refs:
            # Signals are emitted in the worker and received here: Qt queues them.
            future = self._worker.submit(make)
            future.add_done_callback(lambda done: self._ended.emit(number, done))
        self.changed.emit()

    def close(self) -> None:
        """Finish the picture that is being made, forget the others, and end the thread."""
        self._stop.set()
        self._worker.close()
        self._wanted = ()

    @Slot(int, int, int)
    def _count(self, number: int, done: int, of: int) -> None:
        if number == self._number and done < of:
            self.done, self.of = done, of
            self.changed.emit()

    @Slot(int, object)
    def _tell(self, number: int, ended: Future[None]) -> None:
        if number != self._number or ended.cancelled():
            return
        error = ended.exception()
        if isinstance(error, _Unwanted):
            return
        if error is None:
            self.of = self.done = len(self._wanted)
        else:
            self.problem = error.what if isinstance(error, LabappError) else str(error)
        self.changed.emit()
