"""The cells, or the slot, that a participant gets where it depends on the participants before.

The emptiest cells are drawn first, and ties are broken by lot, so that every round draws without
replacement; in a declared design the first free slot of the emptiest cell is handed out. A cell is
full once as many participants as it needs are included or still running; whoever is excluded, ended
early or withdrew gives the place back, condition and order, and is replaced. The journals are
the truth: `assignments.sqlite` beside the session folders holds a row a session, is compared with
the folders at every use, and is made anew from them if it is lost.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from labapp.base.errors import DataFolderError, RecordError, SessionBusy, SessionError
from labapp.base.messages import Message
from labapp.base.reading.values import json_value
from labapp.base.resources import twin_of
from labapp.record.events import Event
from labapp.record.events.agreement import Refusal
from labapp.record.events.registry import kinds_of
from labapp.record.journal.decisions import decisions
from labapp.record.journal.layout import FolderName
from labapp.record.journal.lock import held
from labapp.record.journal.read import read_rows
from labapp.record.journal.rows import payloads
from labapp.record.journal.withdrawn import withdrawals
from labapp.session import folder
from labapp.study.allocation import drawn_cells, rule_of
from labapp.study.loading import LoadedStudy
from labapp.study.people import Person, SessionState, Visits, people
from labapp.study.schema import Study

FINAL = ("included", "excluded", "declined", "withdrawn")
"""States that no journal is looked at for again; one that ended may only have seemed to (a lock
that another machine does not see)."""

ASSIGNMENTS = "assignments.sqlite"
ASSIGNMENTS_LOCK = "assignments.lock"
LOCK_PATIENCE_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS allotted (
    folder TEXT PRIMARY KEY,
    cells TEXT NOT NULL,
    state TEXT NOT NULL
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
    open while it runs or can be resumed; gone where its folder vanished and nobody withdrew; owner:
    whose session it is by its journal, where that is not what the folder's name says."""

    folder: str
    cells: tuple[str, ...]
    state: SessionState
    owner: tuple[str, str] | None = None

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


def held_counts(everybody: Sequence[Person[CellAssignment]]) -> Counter[str]:
    """How many people hold each cell; one with several sessions holds it once."""
    return Counter(cell for person in everybody if person.holds for cell in cells_of(person))


def cells_of(person: Person[CellAssignment]) -> tuple[str, ...]:
    """The cells of a person, who has the same at every session."""
    return tuple(dict.fromkeys(cell for row in person.sessions for cell in row.cells))


def people_of(data: Path, study: Study) -> list[Person[CellAssignment]]:
    """Everybody who came for a study, in line with the folders; nothing is written."""
    return people(session_states(data / study.id), Visits.of(study.design))


def session_states(study: Path) -> list[CellAssignment]:
    """Every session of a study, oldest first; study: its folder, in which nothing is written. One
    whose folder was renamed is still the session of the participant in its journal."""
    if not study.is_dir():
        return []
    stored = {row.folder: row for row in _stored(study / ASSIGNMENTS)}
    there = {home.path.name for home in folder.sessions_of(study.parent, study.name)}
    left = withdrawals(study)
    by_hand = decisions(study)
    elsewhere = twin_of(study)
    rows = []
    for name in sorted({*stored, *there, *left}, key=lambda n: (n.rsplit("_", 1)[-1], n)):
        row = stored.get(name)
        if name in left:
            cells = left[name].cells or (row.cells if row else ())
            row = CellAssignment(name, cells, "withdrawn")
        elif name not in there and (elsewhere / name).is_dir():
            row = None  # moved to the pilots, or out of them: it holds its place there
        elif name not in there:
            row = replace(row, state="gone") if row and row.state != "reserved" else None
        elif row is None or row.state not in FINAL:
            row = _looked_at(study / name, row)
        decidable = ("open", "included", "excluded", "ended")
        if row is not None and name in by_hand and row.state in decidable:
            # Laid over what the journal says, and so over a row that was stored before.
            row = replace(row, state="included" if by_hand[name].included else "excluded")
        if row is not None:
            rows.append(row)
    renamed = {str(FolderName(*row.owner, row.name.utc)) for row in rows if row.owner}
    return [row for row in rows if row.state != "gone" or row.folder not in renamed]


def folder_problems(study: Path, everybody: Sequence[Person[CellAssignment]]) -> Iterator[str]:
    """What is wrong with the session folders of a study, a sentence each; study: its folder,
    everybody: who was found in it."""
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
        if home.path.name not in known and not held(home.path):
            yield Message("unread_session", folder=home.path.name)


def _looked_at(path: Path, row: CellAssignment | None) -> CellAssignment | None:
    """A session as its journal tells it; None where nothing was ever recorded."""
    running = held(path)
    try:
        events = [event for event, _ in payloads(read_rows(path, (*_KINDS, *kinds_of(Refusal))))]
    except RecordError:
        # A damaged journal may still be repaired; without a journal nothing was ever recorded.
        begun = row is not None and (running or row.state != "reserved")
        return row if begun else None
    if not events:
        return row if running else None
    state = outcome(events, running=running)
    from labapp.session.resuming import forbids_resume

    if state == "open" and not running and forbids_resume(path):
        state = "ended"  # by the study as the session has it, which decides on going on
    owner = (str(events[0].payload["participant"]), str(events[0].payload["session"]))
    row = CellAssignment(path.name, drawn_cells(events[0].payload.get("assignment", {})), state)
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
            f"Another program is starting a session of {loaded.study.id} and takes too long.",
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

    def draw(self, participant: str, seed: int | None = None) -> tuple[str, ...]:
        """The participant's cells; () in a study without. Raises StudyFull.

        A further session of a participant is in the condition of the one before, and in its order.
        """
        rule = rule_of(self._study)
        if rule is None:
            return ()
        for row in reversed(self._rows):
            if row.participant == participant and rule.knows(row.cells):
                return row.cells
        used = self._study.seed if seed is None else seed
        held = held_counts(people(self._rows, Visits.of(self._study.design)))
        return rule.draw(held, used, self._study.id, participant)

    def enter(self, name: str, cells: tuple[str, ...]) -> None:
        """Enter a new session with the cells it holds; committed before it returns."""
        if cells:
            self._rows = [row for row in self._rows if row.folder != name]
            self._rows.append(CellAssignment(name, cells, "reserved"))
            _store(self._path, self._rows)


def _stored(path: Path) -> list[CellAssignment]:
    """The rows as they were stored; none where the file is lost or damaged."""
    if not path.is_file():
        return []
    # A program that was killed while it stored leaves a journal of SQLite's beside the table, which
    # only somebody who may write can undo.
    mode = "rw" if path.with_name(f"{path.name}-journal").exists() else "ro"
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA busy_timeout=5000")
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return []
            rows = connection.execute("SELECT folder, cells, state FROM allotted").fetchall()
        return [
            CellAssignment(str(name), tuple(json_value(cells)), cast(SessionState, state))
            for name, cells, state in rows
            if FolderName.parse(str(name))
        ]
    except sqlite3.OperationalError as error:
        raise _unusable(path, error) from error
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return []


def _store(path: Path, rows: Sequence[CellAssignment]) -> None:
    values = [(row.folder, json.dumps(row.cells), row.state) for row in rows if not row.owner]
    try:
        try:
            _replace_rows(path, values)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            path.unlink()  # damaged: all that it held is in the journals
            _replace_rows(path, values)
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from error


def _replace_rows(path: Path, values: Sequence[tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(_SCHEMA)
        connection.execute("DELETE FROM allotted")
        connection.executemany("INSERT INTO allotted VALUES (?, ?, ?)", values)


def _unusable(path: Path, error: Exception) -> DataFolderError:
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        return DataFolderError(
            f"The disk is full: who gets which condition cannot be written to {path}.",
            safe="No session was started; what was recorded is untouched.",
            todo="Make room, or choose another data folder (--data).",
        )
    return DataFolderError(
        f"{path} cannot be used ({error}).",
        safe="No session was started; what was recorded is untouched.",
        todo="Make it readable and writable, or remove it: it is made anew from the sessions.",
    )
