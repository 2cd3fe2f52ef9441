"""The cells, or the slot, that a participant gets if it depends on the participants before.

The emptiest cells are drawn first, and ties are broken by lot, so that every round draws without
replacement; in a declared design the first free slot of the emptiest cell is handed out. A cell is
full once as many participants as it needs are included or still running. A participant who is
excluded, ends early or withdraws gives the place back, condition and order, and is replaced. The
journals are the truth: `assignments.sqlite` next to the session folders holds a row per session, is
compared with the folders at every use, and is made again from them if it is lost.

Also how far a study that hands out places has come: who holds each, and how many are still wanted.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from labapp.base.errors import DataFolderError, RecordError, SessionBusy, SessionError, StudyFull
from labapp.base.messages import Message
from labapp.base.naming import NO_PHASE
from labapp.base.reading.values import json_value
from labapp.base.resources import twin_of
from labapp.record.events import Event
from labapp.record.events.lifecycle import QuotaMet, Refusal, SessionPlanned
from labapp.record.events.registry import kinds_of
from labapp.record.journal.decisions import decisions, withdrawals
from labapp.record.journal.layout import FolderName
from labapp.record.journal.read import is_locked, payloads, read_rows
from labapp.session import folder
from labapp.session.resuming import forbids_resume
from labapp.study import allocation
from labapp.study.allocation import Rule, Slot, Slots, read_cells, rule_of
from labapp.study.design import MODEL, Design
from labapp.study.loading import LoadedStudy
from labapp.study.people import (
    HOLDING,
    PEOPLE_WORDS,
    Person,
    SessionState,
    Visits,
    count_states,
    people,
)
from labapp.study.schema import Study

FINAL = ("included", "excluded", "declined", "withdrawn")
"""States that no journal is looked at for again; one that ended may only have seemed to (a lock
that another machine does not see)."""

ASSIGNMENTS = "assignments.sqlite"
ASSIGNMENTS_LOCK = "assignments.lock"
LOCK_PATIENCE_S = 30.0
MOST_LINES = 12
"""With more places than these, coverage does not list those that nobody has had."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS allotted (
    folder TEXT PRIMARY KEY,
    cells TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT
"""
_PHASES_SCHEMA = """
CREATE TABLE IF NOT EXISTS phases (
    folder TEXT PRIMARY KEY,
    phase TEXT NOT NULL
) STRICT
"""
_KINDS = (
    "session.planned",
    "session.completed",
    "session.ended",
    "session.reopened",
    "inclusion.decided",
)


class ConditionTaken(SessionError):
    """Another session began meanwhile and took the cells that this one was prepared for."""


@dataclass(frozen=True, slots=True)
class CellAssignment:
    """A session and its cells, or its slot. state: reserved until its first event is stored, then
    open while it runs or can be resumed; gone if its folder vanished and nobody withdrew; owner:
    whose session it is by its journal, if that is not what the folder's name says; language,
    quotas: in which the participant read the study, and the quotas that they fall under, if the
    study has several languages, or quotas; phase: of the session, None if it is not known."""

    folder: str
    cells: tuple[str, ...]
    state: SessionState
    owner: tuple[str, str] | None = None
    language: str = field(default="", compare=False)
    quotas: tuple[str, ...] = field(default=(), compare=False)
    phase: str | None = field(default=None, compare=False)

    @property
    def participant(self) -> str:
        return self.owner[0] if self.owner else self.name.participant

    @property
    def session(self) -> str:
        return self.owner[1] if self.owner else self.name.session

    @property
    def name(self) -> FolderName:
        parsed = FolderName.parse(self.folder)
        assert parsed is not None
        return parsed


def count_held_cells(everybody: Sequence[Person[CellAssignment]]) -> Counter[str]:
    """How many people hold each cell; one with several sessions holds it once."""
    return Counter(cell for person in everybody if person.holds for cell in cells_of(person))


def cells_of(person: Person[CellAssignment]) -> tuple[str, ...]:
    """The cells of a person, who has the same at every session."""
    return tuple(dict.fromkeys(cell for row in person.sessions for cell in row.cells))


def people_of(data: Path, study: Study) -> list[Person[CellAssignment]]:
    """Everybody who came for the study, or its present phase, in line with the folders; nothing is
    written."""
    rows = _of_phase(data / study.id, session_states(data / study.id), study)
    if study.languages or study.quotas:
        rows = [_with_facts(data / study.id / row.folder, row) for row in rows]
    return people(rows, Visits.of(study.design))


def _of_phase(folder: Path, rows: list[CellAssignment], study: Study) -> list[CellAssignment]:
    """The sessions that are not known to be of another phase of the study; folder: the study's."""
    if not study.phase:
        return rows
    return [row for row in _with_phases(folder, rows) if row.phase in (None, study.phase)]


def _with_phases(folder: Path, rows: Iterable[CellAssignment]) -> list[CellAssignment]:
    """The sessions with their phases: it takes long to read those that are not stored."""
    return [
        replace(row, phase=read_phase(folder / row.folder)) if row.phase is None else row
        for row in rows
    ]


def count_other_phases(folder: Path, study: Study) -> Counter[str]:
    """How many sessions each other phase of a study has; folder: the study's."""
    rows = session_states(folder) if study.phase else []
    return other_phases((row.phase for row in _with_phases(folder, rows)), study)


def other_phases(phases: Iterable[str | None], study: Study) -> Counter[str]:
    """Those that are known not to be the study's present one, counted."""
    others = (phase for phase in phases if study.phase and phase not in (None, study.phase))
    return Counter(phase or NO_PHASE for phase in others)


def read_phase(path: Path) -> str | None:
    """The phase of a session; None if its journal does not say, or is not there (yet)."""
    try:
        rows = read_rows(path, (SessionPlanned.kind,)) if path.is_dir() else []
        return next((str(each.payload.get("phase", "")) for each, _ in payloads(rows)), None)
    except RecordError:
        return None


def _with_facts(path: Path, row: CellAssignment) -> CellAssignment:
    """A session with its language and the quotas that its participant falls under."""
    try:
        rows = read_rows(path, (SessionPlanned.kind, QuotaMet.kind)) if path.is_dir() else []
        events = [event for event, _ in payloads(rows)]
    except RecordError:
        return row
    met = tuple(str(each.payload["quota"]) for each in events if each.kind == QuotaMet.kind)
    language = next((str(each.payload["language"]) for each in events), "")
    return replace(row, language=language, quotas=met)


def count_quotas(everybody: Sequence[Person[CellAssignment]], study: Study) -> dict[str, int]:
    """By quota of a study how many people who hold a place fall under it."""
    counts = dict.fromkeys(study.quotas, 0)
    for person in everybody:
        for name in {name for row in person.sessions for name in row.quotas} & counts.keys():
            counts[name] += person.holds
    return counts


def session_states(study: Path) -> list[CellAssignment]:
    """Every session of a study, oldest first; study: its folder, in which nothing is written. One
    whose folder was renamed is still the session of the participant in its journal."""
    if not study.is_dir():
        return []
    stored = {row.folder: row for row in _read_stored(study / ASSIGNMENTS)}
    there = {home.path.name for home in folder.sessions_of(study.parent, study.name)}
    left = withdrawals(study)
    by_hand = decisions(study)
    elsewhere = twin_of(study)
    rows = []
    for name in sorted({*stored, *there, *left}, key=lambda n: (n.rsplit("_", 1)[-1], n)):
        row = stored.get(name)
        if name in left:
            cells = left[name].cells or (row.cells if row else ())
            row = CellAssignment(name, cells, "withdrawn", phase=row.phase if row else None)
        elif name not in there and (elsewhere / name).is_dir():
            row = None  # moved to the pilots, or out of them: it holds its place there
        elif name not in there:
            row = replace(row, state="gone") if row and row.state != "reserved" else None
        elif row is None or row.state not in FINAL:
            row = _read_session(study / name, row)
        decidable = ("open", "included", "excluded", "ended")
        if row is not None and name in by_hand and row.state in decidable:
            # Laid over what the journal says, and so over a row that was stored before.
            row = replace(row, state="included" if by_hand[name].included else "excluded")
        if row is not None:
            rows.append(row)
    renamed = {str(FolderName(*row.owner, row.name.utc)) for row in rows if row.owner}
    return [row for row in rows if row.state != "gone" or row.folder not in renamed]


def folder_problems(study: Path) -> Iterator[str]:
    """What is wrong with the session folders of a study, a sentence each; study: its folder."""
    everybody = people(session_states(study), Visits())
    for person in everybody:
        for row in person.sessions:
            if row.owner:
                yield Message(
                    "renamed", folder=row.folder, participant=row.participant, session=row.session
                )
        for label in person.twice:
            folders = ", ".join(row.folder for row in person.sessions if row.session == label)
            yield Message(
                "held_twice", participant=person.participant, session=label, folders=folders
            )
    known = {row.folder for person in everybody for row in person.sessions}
    for home in folder.sessions_of(study.parent, study.name):
        if home.path.name not in known and not is_locked(home.path):
            yield Message("unread_session", folder=home.path.name)


def _read_session(path: Path, row: CellAssignment | None) -> CellAssignment | None:
    """A session as its journal tells it; None if nothing was ever recorded."""
    running = is_locked(path)
    try:
        events = [event for event, _ in payloads(read_rows(path, (*_KINDS, *kinds_of(Refusal))))]
    except RecordError:
        # A damaged journal may still be repaired; without a journal nothing was ever recorded.
        begun = row is not None and (running or row.state != "reserved")
        return row if begun else None
    if not events:
        return row if running else None
    state = outcome(events, running=running)
    if state == "open" and not running and forbids_resume(path):
        state = "ended"  # by the study as the session has it, which decides on going on
    owner = (str(events[0].payload["participant"]), str(events[0].payload["session"]))
    planned = events[0].payload
    cells, phase = read_cells(planned.get("assignment", {})), str(planned.get("phase", ""))
    row = CellAssignment(path.name, cells, state, phase=phase)
    return row if owner == (row.participant, row.session) else replace(row, owner=owner)


def outcome(events: Sequence[Event], *, running: bool) -> SessionState:
    """What became of a session, by its plan, end and inclusion; running: a process holds it."""
    end: SessionState | None = None
    included: bool | None = None
    declined = False
    for event in events:
        if event.kind == "inclusion.decided":
            included = bool(event.payload["included"])
        elif event.kind in kinds_of(Refusal):
            declined = True
        elif event.kind == "session.completed":
            end = "included"
        elif event.kind == "session.ended":
            end = "withdrawn" if event.payload.get("withdrawal") else "ended"
        elif event.kind == "session.reopened":
            end = included = None
    if end is None or running:  # until its console is closed, an end can be taken back
        return "open"
    if end == "withdrawn":
        return end
    if declined:
        return "declined"
    if included is None:  # an older program did not decide
        return end
    return "included" if included else "excluded" if end == "included" else "ended"


def preview(
    data: Path, loaded: LoadedStudy, participant: str, seed: int | None = None
) -> tuple[str, ...]:
    """The cells this participant would get now, without reserving them; () in a study without.

    Raises StudyFull.
    """
    return AssignmentLedger(data, loaded).draw(participant, seed)


@contextmanager
def open_ledger(data: Path, loaded: LoadedStudy) -> Iterator[AssignmentLedger]:
    """The assignments of a study, held by this process until the new session is entered.

    Raises SessionBusy when another program holds it for too long, DataFolderError when it
    cannot be written. A study that hands out no places has nothing to hold.
    """
    if rule_of(loaded.study) is None:
        yield AssignmentLedger(data, loaded)
        return
    lock = FileLock(folder.study_folder(data, loaded.study.id) / ASSIGNMENTS_LOCK)
    try:
        lock.acquire(timeout=LOCK_PATIENCE_S)
    except Timeout as error:
        raise SessionBusy(
            f"Another program is starting a session of {loaded.study.id}, which is taking too "
            "long.",
            todo="Try again in a moment.",
        ) from error
    except OSError as error:
        raise _unusable(Path(lock.lock_file), error) from error
    try:
        yield AssignmentLedger(data, loaded)
    finally:
        lock.release()


class AssignmentLedger:
    """Who has which cells, at the moment it is opened."""

    def __init__(self, data: Path, loaded: LoadedStudy) -> None:
        self._study = loaded.study
        self._path = data / loaded.study.id / ASSIGNMENTS
        self._rows = session_states(self._path.parent) if rule_of(loaded.study) else []
        if loaded.study.phase:
            self._rows = _with_phases(self._path.parent, self._rows)
        self._own = _of_phase(self._path.parent, self._rows, loaded.study)

    def draw(self, participant: str, seed: int | None = None) -> tuple[str, ...]:
        """The participant's cells; () in a study without. Raises StudyFull.

        A further session of a participant is in the condition of the one before, and in its order.
        """
        rule = rule_of(self._study)
        if rule is None:
            return ()
        for row in reversed(self._own):
            if row.participant == participant and rule.knows(row.cells):
                return row.cells
        used = self._study.seed if seed is None else seed
        held = count_held_cells(people(self._own, Visits.of(self._study.design)))
        return rule.draw(held, used, self._study.id, participant)

    def enter(self, name: str, cells: tuple[str, ...]) -> None:
        """Enter a new session with the cells it holds; committed before it returns."""
        if cells:
            self._rows = [row for row in self._rows if row.folder != name]
            phase = self._study.phase or ""
            self._rows.append(CellAssignment(name, cells, "reserved", phase=phase))
            _store(self._path, self._rows)


def _read_stored(path: Path) -> list[CellAssignment]:
    """The rows as they were stored; none if the file is lost or damaged."""
    if not path.is_file():
        return []
    # A program that was killed while it stored leaves a journal of SQLite's beside the table, which
    # only somebody who may write can undo.
    mode = "rw" if path.with_name(f"{path.name}-journal").exists() else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA busy_timeout=5000")
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not tables:
                return []
            rows = connection.execute("SELECT folder, cells, state FROM allotted").fetchall()
            known = "SELECT folder, phase FROM phases"
            phases = dict(connection.execute(known)) if "phases" in tables else {}
        return [
            CellAssignment(
                str(name),
                tuple(json_value(cells)),
                cast(SessionState, state),
                phase=phases.get(name),
            )
            for name, cells, state in rows
            if FolderName.parse(str(name))
        ]
    except sqlite3.OperationalError as error:
        raise _unusable(path, error) from error
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return []


def _store(path: Path, rows: Sequence[CellAssignment]) -> None:
    own = [row for row in rows if not row.owner]
    try:
        try:
            _replace_rows(path, own)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            path.unlink()  # damaged: all that it held is in the journals
            _replace_rows(path, own)
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from error


def _replace_rows(path: Path, rows: Sequence[CellAssignment]) -> None:
    values = [(row.folder, json.dumps(row.cells), row.state) for row in rows]
    phases = [(row.folder, row.phase) for row in rows if row.phase is not None]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous=FULL")
        for schema, table in ((_SCHEMA, "allotted"), (_PHASES_SCHEMA, "phases")):
            connection.execute(schema)
            connection.execute(f"DELETE FROM {table}")
        connection.executemany("INSERT INTO allotted VALUES (?, ?, ?)", values)
        connection.executemany("INSERT INTO phases VALUES (?, ?)", phases)


def _unusable(path: Path, error: Exception) -> DataFolderError:
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        return DataFolderError(
            f"The disk is full: the assignment to conditions cannot be written to {path}.",
            safe="No session was started, and recorded sessions are untouched.",
            todo="Free some space, or choose another data folder (--data).",
        )
    return DataFolderError(
        f"{path} cannot be used ({error}).",
        safe="No session was started, and recorded sessions are untouched.",
        todo="Make it readable and writable, or remove it. labapp then creates it again from "
        "the sessions.",
    )


@dataclass(frozen=True)
class Coverage:
    """The people of a study by the places they hold. rule: hands out the places; people: everybody
    so far, with their sessions and places."""

    rule: Rule
    people: Sequence[Person[CellAssignment]]

    @property
    def sessions(self) -> list[CellAssignment]:
        """Every session so far."""
        return [row for person in self.people for row in person.sessions]

    def counts(self) -> dict[str, Counter[str]]:
        """People by cell, then by state."""
        counts: dict[str, Counter[str]] = {cell: Counter() for cell in self.rule.cells}
        for person in self.people:
            for cell in {self.rule.cell_of(place) for place in cells_of(person)}:
                if cell in counts:  # else see `former`
                    counts[cell][person.state] += 1
        return counts

    def beyond(self) -> dict[str, int]:
        """Cells that more people hold than are wanted, and how many do."""
        held = {cell: sum(count[s] for s in HOLDING) for cell, count in self.counts().items()}
        sizes = self.rule.sizes
        return {cell: n for cell, n in held.items() if sizes is not None and n > sizes[cell]}

    def former(self) -> dict[str, int]:
        """Sessions by cells that the study used to have but no longer has (or has renamed); they
        fill no place."""
        cells = (self.rule.cell_of(place) for row in self.sessions for place in row.cells)
        counts = Counter(cell for cell in cells if cell not in self.rule.cells)
        return dict(sorted(counts.items()))

    @property
    def complete(self) -> bool:
        """Whether every cell has its included participants."""
        sizes, counts = self.rule.sizes, self.counts()
        return sizes is not None and all(
            count["included"] >= sizes[cell] for cell, count in counts.items()
        )

    def retention(self) -> tuple[int, int]:
        """People who are included, of all who came to an end. Who did not agree to take part was
        never recruited, here as in the report."""
        ends = count_states(self.people)
        still_open = ("running", "awaited", "declined", "gone")
        over = sum(n for state, n in ends.items() if state not in still_open)
        return ends.get("included", 0), over

    def upcoming(self, labels: Iterable[str], seed: int, study: str) -> dict[str, tuple[str, ...]]:
        """The places the next participants would get if all of them were included, until the study
        is full."""
        counts = count_held_cells(self.people)
        out: dict[str, tuple[str, ...]] = {}
        for label in labels:
            try:
                out[label] = self.rule.draw(counts, seed, study, label)
            except StudyFull:
                break
            counts.update(out[label])
        return out

    def to_json(self) -> dict[str, Any]:
        included, over = self.retention()
        cells = {cell: {s: of[s] for s in PEOPLE_WORDS} for cell, of in self.counts().items()}
        return {
            "variable": self.rule.variable,
            "draw": self.rule.draws,
            "wanted": self.rule.wanted,
            "sizes": dict(self.rule.sizes or {}),
            "complete": self.complete,
            "included": included,
            "finished": over,
            "cells": cells,
            "former": self.former(),
            "beyond": self.beyond(),
            "gone": [row.folder for row in self.sessions if row.state == "gone"],
        }

    def lines(self) -> list[str]:
        sizes = self.rule.sizes
        always = ("running", "excluded", "ended", "withdrawn")
        out = [f"Coverage of {self.rule.title}:"]
        width = max(map(len, self.rule.cells))
        counts = self.counts()
        unused = [cell for cell, count in counts.items() if not any(count.values())]
        brief = len(counts) > MOST_LINES and 0 < len(unused) < len(counts)
        for cell, count in counts.items():
            if brief and cell in unused:
                continue
            of = f" of {sizes[cell]}" if sizes is not None else ""
            others = [
                f"{count[state]} {words}"
                for state, words in PEOPLE_WORDS.items()
                if state in always or (count[state] and state not in ("included", "gone"))
            ]
            name = f"{cell:{width}}  " if cell else ""
            out.append(f"  {name}{count['included']}{of} included, {', '.join(others)}")
        if brief:
            out.append(f"  Nobody yet in {len(unused)} others of {len(counts)}.")
        if former := self.former():
            listed = ", ".join(f"{cell} ({n})" for cell, n in former.items())
            out.append(f"  In conditions that the study no longer has: {listed}.")
        included, over = self.retention()
        if over:
            share = f"{included / over * 100:.0f} %"
            out.append(f"  Retention: {included} of {over} participants who finished ({share}).")
        for cell, n in self.beyond().items():
            named = f" of {cell}" if cell else ""
            wanted = (sizes or {}).get(cell, 0)
            out.append(f"  {n} participants occupy the {wanted} places{named}.")
        for person in self.people:
            free = "" if person.holds else ": its condition is free again"
            out += [
                f"  {row.folder} is missing, although nobody withdrew{free}."
                for row in person.sessions
                if row.state == "gone"
            ]
        return out


@dataclass(frozen=True)
class SlotLine:
    """A slot of a design: its orders, and who has had it.

    Attributes
    ----------
    slot : its cell and number.
    orders : by factor within participants its levels in the slot's order.
    people : those who have had it, the first one first.
    """

    slot: Slot
    orders: Mapping[str, tuple[str, ...]]
    people: Sequence[Person[CellAssignment]]

    @property
    def held(self) -> bool:
        return any(person.holds for person in self.people)

    @property
    def open(self) -> bool:
        """Whether it was handed out and waits for a replacement."""
        return bool(self.people) and not self.held

    def to_json(self) -> dict[str, Any]:
        return {
            "slot": str(self.slot),
            "cell": self.slot.cell,
            "number": self.slot.number,
            "orders": {factor: list(levels) for factor, levels in self.orders.items()},
            "state": "held" if self.held else "open replacement" if self.open else "free",
            "people": [person.to_json() for person in self.people],
        }

    def text(self) -> str:
        who = ", ".join(
            f"{person.participant} {PEOPLE_WORDS[person.state]}" for person in self.people
        )
        state = who if self.held else f"{who}; open for a replacement" if who else "free"
        orders = "; ".join(" → ".join(levels) for levels in self.orders.values())
        return f"#{self.slot.number:<3} {orders + '  ' if orders else ''}{state}"


@dataclass(frozen=True)
class Allocation(Coverage):
    """Who has which slot of a declared design, and how even that is now.

    Attributes
    ----------
    design : the design.
    models : by cell the models that its participants compare.
    seed, study : of the orders.
    """

    design: Design
    models: Mapping[str, tuple[str, ...]]
    seed: int
    study: str

    @cached_property
    def slots(self) -> list[SlotLine]:
        """Every slot up to the last that was handed out, or that is wanted."""
        rows: dict[Slot, list[Person[CellAssignment]]] = {}
        for person in sorted(self.people, key=lambda person: person.sessions[0].name.utc):
            for place in cells_of(person):
                if self.rule.knows((place,)):
                    rows.setdefault(Slot.parse(place), []).append(person)
        out = []
        for cell in self.rule.cells:
            last = max((slot.number for slot in rows if slot.cell == cell), default=0)
            for number in range(1, max(last, (self.rule.sizes or {}).get(cell, 0)) + 1):
                slot = Slot(cell, number)
                out.append(SlotLine(slot, self.orders(slot), rows.get(slot, ())))
        return out

    def levels(self, cell: str) -> dict[str, tuple[str, ...]]:
        """By factor within participants its levels in a cell, as the study lists them."""
        return {
            factor: self.models[cell] if own is None else tuple(map(str, own))
            for factor, own in self.design.within_levels.items()
        }

    def orders(self, slot: Slot) -> dict[str, tuple[str, ...]]:
        """By factor within participants its levels in the order of a slot."""
        return {
            factor: allocation.by_design(self.design, own, slot, self.seed, self.study, factor)
            for factor, own in self.levels(slot.cell).items()
        }

    @cached_property
    def places(self) -> dict[str, dict[str, dict[str, list[int]]]]:
        """By cell, factor and level: how many participants who count, or are running, meet the
        level first, second …"""
        out: dict[str, dict[str, dict[str, list[int]]]] = {}
        for cell in self.rule.cells:
            held = [line.orders for line in self.slots if line.slot.cell == cell and line.held]
            for factor, levels in self.levels(cell).items():
                table = {level: [0] * len(levels) for level in levels}
                for orders in held:
                    for place, level in enumerate(orders[factor]):
                        table[level][place] += 1
                out.setdefault(cell, {})[factor] = table
        return out

    def apart(self, cell: str, factor: str) -> int:
        """How much more often a level stands at a place than another one, at most."""
        counts = [n for row in self.places[cell][factor].values() for n in row]
        return max(counts) - min(counts)

    def follow_apart(self, cell: str, factor: str) -> int:
        """The same of how often a level follows another one directly."""
        levels = self.levels(cell)[factor]
        pairs = Counter({(a, b): 0 for a in levels for b in levels if a != b})
        for line in self.slots:
            if line.slot.cell == cell and line.held:
                pairs.update(pairwise(line.orders[factor]))
        return max(pairs.values(), default=0) - min(pairs.values(), default=0)

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "order": self.design.order,
            "slots": [line.to_json() for line in self.slots],
            "open replacements": sum(line.open for line in self.slots),
            "places": self.places,
            "balance": {
                cell: {
                    factor: {
                        "places apart": self.apart(cell, factor),
                        "successions apart": self.follow_apart(cell, factor),
                    }
                    for factor in self.design.within_levels
                }
                for cell in self.rule.cells
            },
            "promised": self.promise,
        }

    @property
    def promise(self) -> str:
        """What the design balances, and when."""
        if self.design.order in ("random", "as_listed") or not self.design.within:
            orders = "" if not self.design.within else f" Orders are {self.design.order}."
            return (
                "Cells are at most one participant apart, plus one for each open replacement."
                f"{orders}"
            )
        return (
            "Within every cell, each level is in each position equally often: counts differ by "
            "at most one, plus one for each open replacement. The same applies to the sizes of "
            "cells. This balance applies to the assigned places; excluding participants "
            "afterwards can unbalance the design."
        )

    def lines(self) -> list[str]:
        out = super().lines()
        free = sum(line.open for line in self.slots)
        if self.slots:
            out += ["", "Slots (a slot is the condition and order of one participant):"]
        cell = None
        for line in self.slots:
            if line.slot.cell != cell:
                cell = line.slot.cell
                out += [f"  {cell}"] * bool(cell)
            out.append(f"    {line.text()}")
        if self.design.within:
            out += ["", "Balance now, by places (included or running):"]
            for name, factors in self.places.items():
                for factor, table in factors.items():
                    apart = self.apart(name, factor)
                    where = f"{name}; " if name else ""
                    out.append(f"  {where}{factor}: at most {apart} apart")
                    width = max(map(len, table))
                    out += [
                        f"    {level:{width}}  {'  '.join(map(str, counts))}"
                        for level, counts in table.items()
                    ]
        out += ["", f"Open replacements: {free}. {self.promise}"]
        return out


def coverage(data: Path, loaded: LoadedStudy) -> Coverage | None:
    """The coverage of a study's places so far; None in a study that hands out none."""
    rule = rule_of(loaded.study)
    if rule is None:
        return None
    study = loaded.study
    everybody = people_of(data, study)
    if study.design is None or not isinstance(rule, Slots):
        return Coverage(rule, everybody)
    models = allocation.models_by_cell(study) if MODEL in study.design.within_levels else {}
    return Allocation(rule, everybody, study.design, models, study.seed, study.id)
