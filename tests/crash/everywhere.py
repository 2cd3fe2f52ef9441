"""kill -9 of a session at each of its events, on a virtual clock; then it goes on to its end.

    python -m tests.crash.everywhere FOLDER

Each run of a session is a process of its own, forked from this one. The first is killed once an
event is stored, or as soon as it is handed to the journal, which may have stored it or not; the
second goes on. Prints a JSON list for each kill: the event, its kind, the last event that was
stored, problems; and last, how many kills there were, and how many with problems.

The study has every kind of item, a comprehension check, a picture, a sound and staircases. Of the
hundreds of movements of sliders, each tenth is tried.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labapp.base.errors import ParticipantTaken
from labapp.record.events import Event, Source, UnstampedEvent
from labapp.record.events.commands import Resume
from labapp.record.events.registry import registered_kinds
from labapp.record.journal.read import read_rows
from labapp.record.journal.write import Journal, Receipt
from labapp.session import condition_assignment, opening
from labapp.session.opening import OpenSession, SessionDependencies
from labapp.session.resuming import read_verified_events, recover
from labapp.session.runner import Runner
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.person import FAST
from labapp.session.simulation.simulation_job import Decoders, simulate
from labapp.study.loading import LoadedStudy, load
from tests.helpers.live import LoopScheduler
from tests.torture.studies import awkward
from tests.torture.windows import wrong

STRATEGY = "understanding"
SPEED = 800.0
"""Of the clock of a session that goes on, which cannot be a virtual one."""
MOVES = ("dial.moved", "picture.decoded")
EVERY = 10
"""Of movements and their pictures."""
Place = tuple[Any, ...]


def place_of(runner: Runner) -> Place:
    """What is asked: the part, and in it the question, or the page and what was answered."""
    state: Any = runner.state.part_state
    number = getattr(getattr(state, "trial", None), "number", None)
    answers = json.dumps(getattr(state, "answers", {}), sort_keys=True, default=str)
    return (runner.part and runner.part.id, number, getattr(state, "page", None), answers)


@contextmanager
def handing_over(
    before: Callable[[], None], after: Callable[[Journal, Sequence[Receipt]], None]
) -> Iterator[None]:
    """Look on whenever events are handed to a journal."""
    append_all = Journal.append_all

    def watched(
        journal: Journal, events: Sequence[UnstampedEvent], source: Source
    ) -> list[Receipt]:
        before()
        receipts = append_all(journal, events, source)
        after(journal, receipts)
        return receipts

    Journal.append_all = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        Journal.append_all = append_all  # type: ignore[method-assign]


def forked(run: Callable[[], None]) -> int:
    """Run something in a process of its own; how it ended."""
    child = os.fork()
    if child == 0:
        status = 3
        try:
            run()
            status = 0
        finally:
            traceback.print_exc()
            os._exit(status)
    return os.waitpid(child, 0)[1]


@dataclass
class Reference:
    """The session that nobody kills.

    Attributes
    ----------
    events : all of them.
    places : what is asked once an event, and all that is stored with it, is.
    firsts : by event the first that was handed over with it.
    durable : events whose storing the session waits for.
    """

    events: Sequence[Event] = ()
    places: dict[int, Place] = field(default_factory=dict)
    firsts: dict[int, int] = field(default_factory=dict)
    durable: set[int] = field(default_factory=set)

    def asked_after(self, seq: int) -> list[Place]:
        """What can be asked next: between two parts, after a question has ended, and before a stage
        has drawn its question, what follows from there by itself."""
        out = []
        ended = {(e.part_id, e.trial) for e in self.events[:seq] if e.kind == "trial.ended"}
        for at in sorted(each for each in self.places if each >= seq):
            part, number, page, _ = self.places[at]
            out.append(self.places[at])
            over = (part, number) in ended
            if part and (number is not None or page is not None) and not over:
                break
        return out


@dataclass(frozen=True)
class Everywhere:
    """A study, and what its sessions need."""

    loaded: LoadedStudy
    label: str
    around: SessionDependencies
    folder: Path

    @classmethod
    def of(cls, folder: Path) -> Everywhere:
        loaded = load(awkward(folder / "study"))
        label = loaded.study.participants.label(1)
        drawn = condition_assignment.preview(folder, loaded, label)
        around = Decoders().dependencies(loaded, label, drawn, None, folder / "private")
        return cls(loaded, label, around, folder)

    def simulated(self, data: Path, until: Callable[[OpenSession], bool]) -> Path:
        around = replace(self.around, private=data / "private")
        return simulate(
            self.loaded, self.label, around, data=data, strategy=STRATEGY, pace=FAST, until=until
        )

    def refer(self) -> Reference:
        """Go through the session without a kill."""
        reference = Reference()
        sessions: list[OpenSession] = []
        last = 0

        def until(session: OpenSession) -> bool:
            sessions[:] = [session]
            return session.runner.finished

        def before() -> None:
            if sessions:
                reference.places[last] = place_of(sessions[0].runner)

        def after(journal: Journal, receipts: Sequence[Receipt]) -> None:
            nonlocal last
            for receipt in receipts:
                last = receipt.event.seq
                reference.firsts[last] = receipts[0].event.seq

        with handing_over(before, after):
            session = self.simulated(self.folder / "reference", until)
        reference.events = read_verified_events(session)
        kinds = registered_kinds()
        reference.durable |= {e.seq for e in reference.events if kinds[e.kind].durable}
        return reference

    def kill(self, seq: int, data: Path, *, stored: bool) -> Path:
        """Kill a process once it has handed over an event; what it leaves. stored: once the event
        is stored, too."""

        def after(journal: Journal, receipts: Sequence[Receipt]) -> None:
            if receipts and receipts[-1].event.seq >= seq:
                while stored and journal.committed_seq < seq:
                    time.sleep(0.001)
                os.kill(os.getpid(), signal.SIGKILL)

        def run() -> None:
            with handing_over(lambda: None, after):
                self.simulated(data, lambda session: session.runner.finished)

        status = forked(run)
        assert os.WIFSIGNALED(status), f"the process was not killed at event {seq}"
        assert os.WTERMSIG(status) == signal.SIGKILL
        if not self.sessions(data):  # it had no name yet; the next start gives it its name
            with suppress(ParticipantTaken):
                self.simulated(data, lambda session: session.runner.finished)
        (session,) = self.sessions(data)
        return session

    def sessions(self, data: Path) -> list[Path]:
        return sorted((data / self.loaded.study.id).glob("sub-*"))

    def go_on(self, session: Path, told: Path) -> int:
        """In a process of its own, from the last event that was stored to the end; how it ended."""

        def run() -> None:
            recover(session)
            around = replace(
                self.around,
                private=session.parents[1] / "private",
                make_scheduler=LoopScheduler,
                fsync_on_commit=False,  # which is about power cuts
                decode_at_once=True,
                keeps_pictures=False,
            )
            opened = opening.resume(session, lambda loaded, models: around, speed=SPEED)
            runner = opened.runner
            opened.begin()
            runner.send(Resume("it was killed"), Source.MODERATOR)
            told.write_text(json.dumps(place_of(runner)))
            driver = Driver(
                runner, opened.give_consent, STRATEGY, opened.planned.seed, self.label, FAST,
                paints=True,
            )  # fmt: skip
            driver.start()
            scheduler = runner.scheduler
            assert isinstance(scheduler, LoopScheduler)
            scheduler.run(lambda: runner.finished)
            opened.close("done")

        return forked(run)


def try_at(
    everywhere: Everywhere, reference: Reference, seq: int, *, stored: bool = True
) -> tuple[int, list[str]]:
    """Kill a session at an event (see `Everywhere.kill`), and let it go on: the last event that was
    stored, and all that is not as it should be."""
    data = everywhere.folder / f"{seq}{'' if stored else '-handed-over'}"
    session = everywhere.kill(seq, data, stored=stored)
    rows = read_rows(session)
    if rows[-1].kind == "segment.ended":  # nothing was stored, and it was begun again
        return 0, wrong(session)
    last = len(rows)
    planned = reference.events[:last]
    problems = []
    if [(row.seq, row.kind) for row in rows] != [(event.seq, event.kind) for event in planned]:
        problems.append("what is stored is not what happened")
    if stored and last < seq:
        problems.append("what was stored is lost")
    first = reference.firsts.get(min(seq, len(reference.events)), 1)
    if waited := [other for other in reference.durable if last < other < first]:
        problems.append(f"the session waited for event {waited[0]}, which is lost")
    if rows[-1].kind == "session.completed":  # there is nothing left to go on with
        return last, [*problems, *wrong(session)]
    status = everywhere.go_on(session, data / "place.json")
    if status != 0:
        return last, [*problems, f"going on ended with {os.waitstatus_to_exitcode(status)}"]
    asked = tuple(json.loads((data / "place.json").read_text()))
    expected = reference.asked_after(last)
    if asked not in expected:
        problems.append(f"it asks {asked} after the kill, and {expected} without")
    if read_rows(session)[:last] != rows:
        problems.append("what was stored before is not what it was")
    problems += wrong(session)
    if not problems:
        shutil.rmtree(data)
    return last, problems


def chosen(reference: Reference) -> list[int]:
    """The events to kill at: all up to the last, but only some movements."""
    met = 0
    events = []
    for event in reference.events:
        if event.kind == "session.completed":
            break
        met += event.kind in MOVES
        if event.kind not in MOVES or met % EVERY == 0:
            events.append(event.seq)
    return events


def main(folder: str) -> int:
    """Kill at each event, and at each third also before it may be stored."""
    everywhere = Everywhere.of(Path(folder))
    reference = everywhere.refer()
    kills = bad = 0
    for number, seq in enumerate(chosen(reference)):
        for stored in (True, False)[: 2 if number % 3 == 0 else 1]:
            last, problems = try_at(everywhere, reference, seq, stored=stored)
            kills += 1
            bad += bool(problems)
            kind = reference.events[seq - 1].kind
            print(json.dumps([seq, kind, stored, last, problems]), flush=True)
    print(json.dumps({"events": len(reference.events), "kills": kills, "with problems": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
