"""The lists of sessions on the home: read in a thread of their own, shown where they changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from PySide6.QtCore import QObject, Qt, Signal, Slot

from labapp.console import say
from labapp.errors import LabappError, RecordError
from labapp.journal.comments import add_comment
from labapp.journal.read import last_utc
from labapp.journal.session_index import SessionIndex
from labapp.journal.sessions import SessionSummary
from labapp.resources import pilot_root
from labapp.session import resuming
from labapp.session.condition_assignment import people_of
from labapp.session.deciding import decide_by_hand, move_pilot
from labapp.session.withdrawal import withdraw
from labapp.study.people import PersonState, counted
from labapp.study.schema import Study
from labapp.ui import mistakes
from labapp.ui.language import tr, translate_message
from labapp.ui.moderator.choices import Interrupted
from labapp.ui.moderator.home import HomeView
from labapp.ui.outside import open_outside
from labapp.ui.replay_process import ReplayProcesses
from labapp.ui.researcher.coding_work import CodingWork
from labapp.ui.researcher.controller import Researcher

BREATH_S = 0.001
"""After each session that was read the windows' thread has its turn."""
PARTIAL_S = 0.5
"""While many sessions are read for the first time, those so far are shown so often."""


@dataclass(frozen=True, slots=True)
class Listing:
    """sessions: newest first; pilots: those that are kept apart; interrupted: those of the sessions
    that can be asked about; whole: all were read, and none are left out; people: how many took part
    in the chosen study, by what became of them."""

    sessions: tuple[SessionSummary, ...] = ()
    pilots: tuple[SessionSummary, ...] = ()
    interrupted: tuple[Interrupted, ...] = ()
    whole: bool = True
    people: Mapping[PersonState, int] = field(default_factory=dict)

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
        self,
        partly: Callable[[Listing], None],
        stop: threading.Event,
        study: Study | None = None,
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
        self._asked = {line.path: self._ask(line) for line in lines if _open_ended(line)}
        interrupted = tuple(asked for _, asked in self._asked.values())
        return Listing(lines, pilots, interrupted, people=self._people(study))

    def _people(self, study: Study | None) -> Mapping[PersonState, int]:
        try:
            return {} if study is None else counted(people_of(self._data, study))
        except LabappError:  # a damaged list of withdrawals, which the page of sessions reports
            return {}

    def _ask(self, line: SessionSummary) -> tuple[SessionSummary, Interrupted]:
        known = self._asked.get(line.path)
        if known is not None and known[0] is line:
            return known
        try:
            last = last_utc(line.path)
        except RecordError:
            last = line.started
        forbidden = resuming.forbids_resume(line.path)
        return line, Interrupted(line.path, line.study, line.participant, last, forbidden)


class _Stopped(Exception):
    """Nobody waits any more."""


def _open_ended(line: SessionSummary) -> bool:
    return line.state == "interrupted" and not line.withdrawn


class SessionLists(QObject):
    """Keeps the home's lists true. changed(): they were read, and what they show is as it is."""

    changed = Signal()
    _partly = Signal(object)
    _ended = Signal(object)
    _done = Signal(object)

    def __init__(
        self, data: Path, private: Path, view: HomeView, researcher: Researcher, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._private = private
        self._view = view
        self._researcher = researcher
        self._reader = Reader(data)
        self._listing = self._shown = Listing(whole=False)
        self._left: set[Path] = set()
        self._study: Study | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._withdrawals: list[Future[list[str]]] = []
        self._stop = threading.Event()
        self._reading = self._again = self._closed = False
        self._fresh = True  # nothing has happened since the lists were read
        # Queued: all come from the thread.
        queued = Qt.ConnectionType.QueuedConnection
        self._partly.connect(self._show_some, queued)
        self._ended.connect(self._read, queued)
        self._done.connect(self._withdrawn, queued)
        page = view.sessions_page
        page.folder_requested.connect(self.open_folder)
        self.replays = ReplayProcesses(self)
        self.replays.failed.connect(view.show_error)
        page.replay_requested.connect(self.replays.open)
        researcher.page.replay_requested.connect(self.replays.open)
        page.withdraw_requested.connect(self.withdraw)
        page.remarked.connect(self.remark)
        page.decided.connect(self.decide)
        page.moved.connect(self.move)
        view.leave_requested.connect(self.leave)
        self.coding = CodingWork(view.coding, self)
        view.coding_opened.connect(self.coding.set_shown)

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
        if self.coding.shown != self._view.coding_shown:
            self.coding.set_shown(self._view.coding_shown)  # a session is over
        self._reading, self._again = True, False
        self._stop = stop = threading.Event()
        study = self._study
        done = self._thread().submit(lambda: self._reader.read(self._partly.emit, stop, study))
        done.add_done_callback(self._ended.emit)

    def hold(self) -> None:
        """A session begins: the machine is its own. `refresh` goes on where this stopped.

        What was interrupted may be complete afterwards, so nothing is offered until it is read
        again.
        """
        self._fresh = False
        self._view.set_interrupted(())
        self.replays.stop()
        self.coding.stop()
        self._again = False
        self._stop.set()

    def close(self) -> None:
        """End the thread. Withdrawals that were asked for are waited for, and told on the terminal:
        there is no window any more."""
        self._closed = True
        self.hold()
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None
        what = tr("The session could not be withdrawn.")
        while self._withdrawals:
            with mistakes.caught(lambda error: say(error, err=True), what):
                say("\n".join(self._withdrawals.pop().result()))

    def leave(self, path: Path) -> None:
        """Do not ask about an interrupted session any more."""
        self._left.add(path)
        self._show(self._listing, anew=True)

    def open_folder(self, path: Path) -> None:
        """Show a session's folder in the system's file manager."""
        open_outside(path, self._view.sessions_page.say)

    def remark(self, path: Path, text: str) -> None:
        """Keep a remark beside the session's data."""
        with mistakes.caught(self._view.show_error, tr("The remark could not be kept.")):
            add_comment(path, text)
            self._view.sessions_page.remark.clear()
        self.refresh()

    def decide(self, path: Path, included: bool, reason: str) -> None:
        """Exclude a session from the analysis, or count it, with the reason."""
        with mistakes.caught(self._view.show_error, tr("The decision could not be kept.")):
            _, lines = decide_by_hand(path, included, reason)
            self._view.sessions_page.say("\n".join(map(translate_message, lines)))
        self.refresh()

    def move(self, path: Path, into_study: bool, reason: str) -> None:
        """Move a pilot into the study, or back, with the reason."""
        with mistakes.caught(self._view.show_error, tr("The session could not be moved.")):
            _, lines = move_pilot(path, into_study, reason)
            self._view.sessions_page.say("\n".join(map(translate_message, lines)))
        self.refresh()

    def withdraw(self, path: Path, delete: bool) -> None:
        """Withdraw a session's participant, in the thread: deleting may take a while."""
        if self._closed:
            return
        done = self._thread().submit(lambda: withdraw(path, self._private, delete=delete).lines())
        self._withdrawals.append(done)
        done.add_done_callback(self._done.emit)

    def _thread(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sessions")
        return self._pool

    @Slot(object)
    def _withdrawn(self, done: Future[list[str]]) -> None:
        if self._closed:
            return  # `close` tells it
        self._withdrawals.remove(done)
        with mistakes.caught(self._view.show_error, tr("The session could not be withdrawn.")):
            self._view.sessions_page.say("\n".join(map(translate_message, done.result())))
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
        with mistakes.caught(self._view.show_error, tr("The list of sessions cannot be read.")):
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
        self._view.set_all_sessions(listing.all, listing.forbidden, whole=listing.whole)
        self._researcher.set_sessions(listing.sessions, whole=listing.whole)
        self.coding.set_sessions(listing.sessions)
        study = self._study.id if self._study else ""
        own = [line for line in listing.sessions if line.study == study]
        self._view.set_sessions(own, whole=listing.whole, people=listing.people)
        asked = [line for line in listing.interrupted if line.path not in self._left]
        self._view.set_interrupted(asked if self._fresh else ())
