"""A session on a virtual clock in which a moderator does all she can in every kind of part, and the
session folders that a kill after any of its rows leaves."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labapp.base.errors import UsageError
from labapp.record.events import Source, UnstampedEvent, payload_of
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    AskToLeave,
    Command,
    CorrectNote,
    EndSession,
    GivePrompt,
    Pause,
    Reopen,
    Resume,
    Skip,
    SkipStage,
    StayHere,
    TakeBackSkip,
    Unblind,
)
from labapp.record.journal.layout import JOURNAL, LOCK
from labapp.record.journal.read import read_rows
from labapp.record.journal.write import Receipt
from labapp.session import condition_assignment
from labapp.session.opening import OpenSession
from labapp.session.pictures import WarmDecoders
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.fitting import check_fits
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.person import FAST
from labapp.session.simulation.simulation_job import Decoders, simulate
from labapp.study.loading import LoadedStudy, load
from labapp.study.plan import parts_of
from labapp.study.plugins.part import PlannedPart, TrialsPart

WITHIN = 5
"""A part with questions is looked at so many timers after it came up: a question is on by then."""
END_IN = 3
"""The session is ended, and opened again, in the part of this many kinds."""


@dataclass(frozen=True)
class Rehearsal:
    """A session that came to its end. ends: sequence numbers of the rows after which a kill can
    fall: what is appended together is stored together. warm: the decoders of its plan."""

    folder: Path
    study: str
    strategy: str
    ends: frozenset[int]
    warm: WarmDecoders


@dataclass(frozen=True)
class Place:
    """A row after which a session is to be resumed. part: the kind of the part that runs then;
    event: a kind of event that was stored last; position: of the question in its part."""

    seq: int
    part: str
    event: str
    position: str

    def __str__(self) -> str:
        return f"{self.part} after {self.event} ({self.position or 'no question'}, row {self.seq})"


def strategy_for(loaded: LoadedStudy) -> str:
    """One that can do the study, and is quick about it."""
    try:
        check_fits(ORACLE, loaded.study)
    except UsageError:
        return "random"
    return ORACLE


def rehearse(study: str | Path, out: Path, decoders: Decoders) -> Rehearsal:
    """Simulate the first participant of a study, with a busy moderator."""
    loaded = load(study)
    moderator = Moderator()
    strategy = strategy_for(loaded)
    label = loaded.study.participants.label(1)
    drawn = condition_assignment.preview(out, loaded, label)
    around = decoders.dependencies(loaded, label, drawn, None, out / "private")
    warm = WarmDecoders(dict(around.decoders), list(around.warmed))
    folder = simulate(
        loaded,
        label,
        replace(around, blind=True),
        data=out,
        strategy=strategy,
        pace=FAST,
        until=moderator,
    )
    return Rehearsal(folder, str(study), strategy, frozenset(moderator.ends), warm)


class Moderator:
    """Called before every timer of the session; True when it is over."""

    def __init__(self) -> None:
        self.ends: set[int] = {1}
        self._met: Counter[str] = Counter()
        self._note = 0
        self._ended = 0
        self._listening = False

    def __call__(self, session: OpenSession) -> bool:
        runner = session.runner
        if not self._listening:
            self._listening = True
            self._listen(session)
        if runner.part is not None and not runner.state.pauses.paused:
            kind = kind_of(runner.part)
            self._met[kind] += 1
            if self._met[kind] == (WITHIN if isinstance(runner.part, TrialsPart) else 1):
                self._act(session, end=len(self._met) == END_IN)
        return runner.finished

    def _act(self, session: OpenSession, *, end: bool) -> None:
        """All that a moderator and a participant who wavers can do in a part."""
        hers, theirs = Source.MODERATOR, Source.PARTICIPANT
        commands: list[tuple[Command, Source]] = [
            (AddFlag(1), hers),
            (GivePrompt("Please keep talking"), hers),
            (AddDeviation("the door stood open", 0), hers),
            (Pause("a knock at the door"), hers),
            (Resume("it was nothing"), hers),
            (AskToLeave("escape"), theirs),
            (StayHere(), theirs),
            (SkipStage(), hers),
            (TakeBackSkip("part"), hers),
            (Skip(), theirs),
            (TakeBackSkip("trial"), theirs),
        ]
        send = session.runner.send
        send(AddNote("looks closely", 0), hers)
        send(CorrectNote(self._note, "looks very closely", 0), hers)
        for command, source in commands:
            send(command, source)
        if end:
            send(Unblind(), hers)
            send(EndSession("the fire alarm rang"), hers)
            send(Reopen(self._ended), hers)
            send(Resume("the end was taken back"), hers)

    def _listen(self, session: OpenSession) -> None:
        """Note where what is stored together ends."""
        journal = session.runner.journal
        append_all = journal.append_all

        def noted(events: Sequence[UnstampedEvent], source: Source) -> list[Receipt]:
            receipts = append_all(events, source)
            self.ends.add(receipts[-1].event.seq)
            for receipt in receipts:
                if receipt.event.kind == "note.added":
                    self._note = receipt.event.seq
                elif receipt.event.kind == "session.ended":
                    self._ended = receipt.event.seq
            return receipts

        journal.append_all = noted  # type: ignore[method-assign]
        self.ends.add(journal.committed_seq)


def kind_of(part: PlannedPart) -> str:
    """The kind of a part, as finely as screens differ."""
    more = [getattr(part, name, None) for name in ("task", "visualisation", "instrument")]
    if getattr(part, "marks", False):
        more.append("marks")
    return " ".join([part.part, *(str(one) for one in more if one)])


def places(rehearsal: Rehearsal) -> list[Place]:
    """For every kind of event of every kind of part a row after which a kill can fall, at the
    first, a later and the last question of a part."""
    events = read_verified_events(rehearsal.folder)
    planned: Any = payload_of(events[0])
    parts = parts_of(planned)
    running: PlannedPart | None = None
    waiting: list[Place] = []
    found: dict[tuple[str, str, str], list[Place]] = {}
    for event in events:
        if event.kind == "part.started":
            running = parts[event.payload["index"]]
        kind = "between parts" if running is None else kind_of(running)
        waiting.append(Place(event.seq, kind, event.kind, _position(running, event.trial)))
        if event.kind == "part.ended":
            running = None
        if event.seq in rehearsal.ends:
            for place in waiting:
                key = (place.part, place.event, place.position)
                found.setdefault(key, []).append(replace(place, seq=event.seq))
            waiting = []
    over = max(event.seq for event in events if event.kind in ("session.completed",))
    last = max(seq for seq in rehearsal.ends if seq < over)
    return [
        choice
        for (number, choices) in enumerate(found.values())
        if (choice := choices[(number * 7) % len(choices)]).seq <= last
        and not _ended(events, choice.seq)
    ]


def _ended(events: Sequence[Any], seq: int) -> bool:
    """Whether a session with its rows up to this one is over."""
    state = ""
    for event in events[:seq]:
        if event.kind in ("session.ended", "session.completed", "session.reopened"):
            state = event.kind
    return state in ("session.ended", "session.completed")


def _position(part: PlannedPart | None, trial: int | None) -> str:
    if not isinstance(part, TrialsPart) or trial is None:
        return ""
    if trial == 1:
        return "first"
    return "last" if trial == part.trials else "later"


def cut(rehearsal: Rehearsal, seq: int, out: Path) -> Path:
    """The folder that a kill after a row leaves; returns it."""
    session = rehearsal.folder
    target = out / session.parent.name / session.name
    target.parent.mkdir(parents=True)
    shutil.copytree(session, target, ignore=shutil.ignore_patterns(LOCK))
    with closing(sqlite3.connect(target / JOURNAL)) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (seq,))
    assert read_rows(target)[-1].seq == seq
    return target
