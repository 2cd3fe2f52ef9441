"""A second copy of each finished session, on another disk.

The place is a folder that was chosen once. It holds a marker of its own, so that an empty folder
where a disk is usually mounted is never taken for it. A session is copied under a hidden name, read
back, compared by the SHA-256 of every file, and then gets its name; next to it lies the list of
these hashes, which `sha256sum -c` reads. Nothing in the place is overwritten: a copy that differs
is reported.

What was copied is logged next to the sessions (`backups.jsonl`). So the copies of a participant who
withdrew are deleted with the data, or, if the place is away, with the next backup.

Names and signatures are copied only when asked for. Annotations, remarks and decisions change after
a session and are not copied.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from labapp.base import access, durable, leftovers
from labapp.base.clock import utc_text
from labapp.base.errors import DataFolderError, LabappError, NotFoundError, RecordError, UsageError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.base.resources import PILOT, pilot_root, twin_of
from labapp.record.journal import anchor
from labapp.record.journal.decisions import withdrawals
from labapp.record.journal.layout import BACKUPS, JOURNAL, LEAVING, LOCK, FolderName, refuse_inside
from labapp.record.journal.sessions import (
    SessionSummary,
    list_sessions,
    study_folders,
    summarise_recorded,
)
from labapp.session import private as private_tables
from labapp.session.folder import SessionFolder

MARKER = "labapp-backup.json"
SESSIONS, PRIVATE = "sessions", "private"
"""Folders in the place."""
SUMS = ".sha256"
"""Behind the name of a copied session: the list of the hashes of its files."""
FINISHED = ("complete", "ended_early")
NOT_COPIED = (LOCK, f"{JOURNAL}-shm")
"""Files of a session that only say that a program has it open."""
MADE, REMOVED = "made", "removed"
CHUNK = 1 << 20

Tell = Callable[[float | None, str], None]
"""Is told the share that is done, and what is done now."""


class Place(NamedTuple):
    """Where copies are kept. id: as its marker says."""

    folder: Path
    id: str

    @property
    def there(self) -> bool:
        """Whether the disk with this folder is there now."""
        return _read_marker(self.folder) == self.id


def prepare_place(folder: Path, data: Path) -> Place:
    """Make a folder a place for copies, or take it as the one it is.

    Raises NotFoundError if there is no such folder, UsageError for one among the sessions,
    DataFolderError if it cannot be written.
    """
    folder = folder.absolute()
    if not folder.is_dir():
        raise NotFoundError(
            f"There is no folder {folder}.",
            safe="Nothing was copied.",
            todo="Connect the disk or network drive, create the folder, and run the command again.",
        )
    refuse_inside(folder)
    inside = folder.resolve()
    for root in (data, pilot_root(data)):
        if root.resolve() in (inside, *inside.parents) or inside in root.resolve().parents:
            raise UsageError(
                f"The folder {folder} and the data folder {root} are inside one another.",
                safe="Nothing was copied.",
                todo="Choose a folder on another disk.",
            )
    if (known := _read_marker(folder)) is not None:
        return Place(folder, known)
    place = Place(folder, uuid.uuid4().hex)
    try:
        _write_new(folder / MARKER, json.dumps({"labapp-backup": 1, "id": place.id}).encode())
    except FileExistsError:  # another program was first; a file that is no marker is left alone
        if (known := _read_marker(folder)) is None:
            raise _unwritable(folder, f"{MARKER} there is no marker of a backup") from None
        return Place(folder, known)
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from error
    return place


def _unwritable(folder: Path, why: str) -> DataFolderError:
    return DataFolderError(
        f"{folder} cannot be used for copies ({why}).",
        safe="Nothing was copied.",
        todo="Make sure that you may write there, or choose another folder.",
    )


def _read_marker(folder: Path) -> str | None:
    try:
        marker = json_value(files.content(folder / MARKER, 4096))
    except (OSError, ValueError):
        return None
    known = marker.get("id") if isinstance(marker, dict) else None
    return known if isinstance(known, str) else None


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet, whole or not at all. Raises OSError."""
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        durable.write(draft, content)
        durable.take_name(draft, path)
    finally:
        leftovers.drop(draft)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a session, as logged.

    Attributes
    ----------
    session : name of its folder.
    place, to : id of the place, and the folder that it was.
    path : from there, with forward slashes.
    state : made or removed.
    sha256 : of the list of hashes.
    files, bytes : how many there are.
    book : the private table that has the signed consent.
    """

    session: str
    place: str
    to: str
    path: str
    state: str
    sha256: str = ""
    files: int = 0
    bytes: int = 0
    book: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Copy | None:
        """What a line says; None if it says nothing of a copy."""
        try:
            copy = msgspec.convert(entry, cls)
        except msgspec.ValidationError:
            return None
        parts = PurePosixPath(copy.path).parts
        whole = len(parts) == 3 and ".." not in parts and not copy.path.startswith(("/", "\\"))
        named = FolderName.parse(copy.session) is not None and parts[-1:] == (copy.session,)
        return copy if whole and named else None


def copies(study: Path) -> dict[tuple[str, str], Copy]:
    """The copies of a study's sessions that are not removed, by session and place: also those that
    were made before a session was moved from the pilots, or to them."""
    last: dict[tuple[str, str], Copy] = {}
    for folder in (twin_of(study), study):
        for copy in _logged(folder):
            last[copy.session, copy.place] = copy
    return {key: copy for key, copy in last.items() if copy.state == MADE}


def _logged(study: Path) -> list[Copy]:
    try:
        content = files.content(study / BACKUPS, anchor.LARGEST)
    except OSError:
        return []
    entries = map(anchor.entry_in, content.split(b"\n"))
    return [copy for entry in entries if entry and (copy := Copy.of(entry)) is not None]


def _log(study: Path, copy: Copy) -> None:
    anchor.add_line(study / BACKUPS, {"utc": utc_text(datetime.now(UTC)), **asdict(copy)})


def missing(lines: Iterable[SessionSummary], place: Place) -> list[SessionSummary]:
    """The finished sessions of which the place has no copy, as logged."""
    known: dict[Path, dict[tuple[str, str], Copy]] = {}
    result = []
    for line in filter(is_finished, lines):
        study = line.path.parent
        if study not in known:
            known[study] = copies(study)
        if (line.id, place.id) not in known[study]:
            result.append(line)
    return result


def is_finished(line: SessionSummary) -> bool:
    """Whether a session is over and its data are to be kept."""
    return line.state in FINISHED and line.withdrawn != "delete"


@dataclass
class BackupReport:
    """What a backup did.

    Attributes
    ----------
    to : the place.
    done : the copies that were made or taken over now.
    there : how many sessions had a copy already.
    left_out : sessions without one, and why.
    deleted : copies of withdrawn sessions that were deleted.
    still_there : such copies that are elsewhere, or could not be deleted.
    consents : signed consents that were copied.
    notes : what is to be known besides.
    """

    to: Path
    done: list[Copy] = field(default_factory=list)
    there: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    still_there: list[str] = field(default_factory=list)
    consents: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not (self.left_out or self.still_there)

    def lines(self) -> list[str]:
        """The report for people."""
        lines: list[str] = [
            f"{copy.session}: {copy.files} files, copied and compared" for copy in self.done
        ]
        lines += [f"{session}: NOT backed up. {why}" for session, why in self.left_out]
        lines += [f"deleted, because the participant withdrew: {path}" for path in self.deleted]
        if self.still_there:
            lines.append(Message("withdrawn_copies_left", paths=", ".join(self.still_there)))
        if self.consents:
            lines.append(f"signed consents copied: {self.consents}")
        lines += self.notes
        in_all = self.there + len(self.done)
        return [*lines, f"backup: {self.to} has {in_all} of {in_all + len(self.left_out)} sessions"]

    def to_json(self) -> dict[str, Any]:
        return {
            "to": str(self.to),
            "done": [
                {"session": c.session, "files": c.files, "bytes": c.bytes, "sha256": c.sha256}
                for c in self.done
            ],
            "there": self.there,
            "left_out": [{"session": session, "why": why} for session, why in self.left_out],
            "deleted": self.deleted,
            "still_there": self.still_there,
            "consents": self.consents,
            "notes": self.notes,
        }


def back_up(
    data: Path, place: Place, private: Path | None = None, tell: Tell = lambda share, what: None
) -> BackupReport:
    """Copy every finished session that the place has no copy of, pilots too, and delete the copies
    of sessions whose participants withdrew.

    private : the folder of names and signatures, if these are to be copied as well.

    Raises DataFolderError if the place is not there.
    """
    if not place.there:
        raise DataFolderError(
            f"The backup folder {place.folder} does not exist, or it is a different one.",
            safe="The sessions are unchanged, and nothing was copied.",
            todo="Connect its disk or network drive and try again, or choose another folder: "
            "labapp sessions backup --to FOLDER",
        )
    report = BackupReport(place.folder)
    if rights := access.wide(place.folder):
        report.notes.append(f"Others can read the backup folder ({rights}).")
    for root in (data, pilot_root(data)):
        for study in study_folders(root):
            _delete_withdrawn(study, place, report)
    lines = [line for root in (data, pilot_root(data)) for line in list_sessions(root)]
    report.left_out += [
        (line.id, line.problem or "It is damaged.") for line in lines if line.state == "damaged"
    ]
    finished = list(filter(is_finished, lines))
    for number, line in enumerate(finished):
        tell(number / len(finished), line.id)
        try:
            copy = _back_up(line, place)
        except (OSError, LabappError) as error:
            why = "The backup folder no longer exists."
            if place.there:
                why = error.what if isinstance(error, LabappError) else _describe(error)
            report.left_out.append((line.id, why))
        else:
            report.there += copy is None
            report.done += [] if copy is None else [copy]
    if private is not None:
        _copy_consents(finished, private, place, report)
    return report


def _describe(error: OSError) -> str:
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."


def _back_up(line: SessionSummary, place: Place) -> Copy | None:
    """Make the copy of a session; None if there is one already. Raises OSError, LabappError."""
    session = line.path
    known = copies(session.parent).get((line.id, place.id))
    kind = SESSIONS + (PILOT if session.parent.parent.name.endswith(PILOT) else "")
    path = known.path if known else f"{kind}/{session.parent.name}/{session.name}"
    goal = place.folder / path
    names = [name for name in files.below(session) if name not in NOT_COPIED]
    if known and _has_same_sizes(session, goal, names):
        return None
    with SessionFolder(session).lock():
        if os.path.lexists(goal):
            sums = {name: _hash(session / name) for name in names}
            _refuse_different(goal, sums)
        else:
            goal.parent.mkdir(parents=True, exist_ok=True)
            with leftovers.on_its_way([session], goal) as (draft,):
                sums = {name: _copy(session / name, draft / name) for name in names}
                for inside in (*(child for child in draft.rglob("*") if child.is_dir()), draft):
                    durable.sync_folder(inside)
                _refuse_different(draft, sums)
                durable.take_name(draft, goal)
        listed = "".join(f"{sums[name]}  {session.name}/{name}\n" for name in names).encode()
        listing = goal.with_name(f"{goal.name}{SUMS}")
        if not os.path.lexists(listing):
            _write_new(listing, listed)
        elif files.content(listing) != listed:
            raise _differs(listing)
        copy = Copy(
            session.name,
            place.id,
            str(place.folder),
            path,
            MADE,
            hashlib.sha256(listed).hexdigest(),
            len(names),
            sum((session / name).stat().st_size for name in names),
            _find_book(line),
        )
        _log(session.parent, copy)
    return copy


def _find_book(line: SessionSummary) -> str:
    """The private table that has the signed consent of a session: that of how it was recorded."""
    return private_tables.book_of(line.study, pilot=summarise_recorded(line.path).pilot)


def _has_same_sizes(session: Path, copy: Path, names: Sequence[str]) -> bool:
    """Whether a copy that was compared once is still there, as far as sizes tell."""
    try:
        if files.below(copy) != list(names) or not files.is_file(Path(f"{copy}{SUMS}")):
            return False
        return all((session / n).stat().st_size == (copy / n).stat().st_size for n in names)
    except OSError:
        return False


def _copy(source: Path, goal: Path) -> str:
    """Copy a file onto the disk; the hash of what was read. Raises OSError."""
    goal.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with files.open_file(source, follow=False) as reading, goal.open("xb") as writing:
        while chunk := reading.read(CHUNK):
            digest.update(chunk)
            writing.write(chunk)
        writing.flush()
        os.fsync(writing.fileno())
        if hasattr(os, "posix_fadvise"):  # so that it is read back from the disk
            os.posix_fadvise(writing.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    shutil.copystat(source, goal)
    return digest.hexdigest()


def _hash(path: Path) -> str:
    with files.open_file(path, follow=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _refuse_different(copy: Path, sums: Mapping[str, str]) -> None:
    """Read a copy back. Raises DataFolderError if it has other files, or others in them."""
    there = {name: _hash(copy / name) for name in files.below(copy)}
    if there != dict(sums):
        name = next(n for n in sorted({*there, *sums}) if there.get(n) != sums.get(n))
        raise _differs(copy / name)


def _differs(path: Path) -> DataFolderError:
    return DataFolderError(
        f"The copy differs from the session: {path}.",
        safe="The session is unchanged. Nothing in the backup was overwritten.",
        todo="Move that copy away, check the disk, and back up again.",
    )


def _delete_withdrawn(study: Path, place: Place, report: BackupReport) -> None:
    """Delete the copies of sessions whose data their participants wanted deleted."""
    if not copies(study):
        return
    try:
        left = withdrawals(study)
    except RecordError as error:  # nobody can tell whose copies are to be deleted
        report.notes.append(f"{error.what} No copy was deleted.")
        return
    for session in dict.fromkeys(session for session, _ in copies(study)):
        if session in left and not left[session].kept:
            deleted, still_there = delete_copies(study, session, place)
            report.deleted += deleted
            report.still_there += still_there


def delete_copies(
    study: Path, session: str, place: Place | None = None
) -> tuple[list[str], list[str]]:
    """Delete the copies of a session that is deleted itself: those deleted, and those that still
    are somewhere.

    place : one that is there now, perhaps where it was not before.
    """
    deleted, still_there = [], []
    for copy in list(copies(study).values()):
        if copy.session != session:
            continue
        logged = Place(Path(copy.to), copy.place)
        now = place if place is not None and place.id == copy.place else logged
        goal = now.folder / copy.path
        try:
            if not now.there:
                raise OSError("the place is away")
            _delete(goal)
            name = FolderName.parse(session)
            if copy.book and name is not None:
                private_tables.forget_consent(
                    now.folder / PRIVATE, copy.book, name.participant, name.session
                )
            _log(study, Copy(session, copy.place, copy.to, copy.path, REMOVED))
        except (OSError, LabappError):
            still_there.append(str(goal))
        else:
            deleted.append(str(goal))
    return deleted, still_there


def _delete(goal: Path) -> None:
    """Delete a copy; if that is broken off, nothing takes the rest for a session. Raises
    OSError."""
    leaving = goal.with_name(f"{LEAVING}{goal.name}")
    if goal.is_symlink():
        raise OSError("it is a link")
    if leaving.is_dir():
        shutil.rmtree(leaving)
    if goal.is_dir():
        goal.rename(leaving)
        shutil.rmtree(leaving)
    goal.with_name(f"{goal.name}{SUMS}").unlink(missing_ok=True)
    with suppress(OSError):
        goal.parent.rmdir()


def _copy_consents(
    lines: Iterable[SessionSummary], private: Path, place: Place, report: BackupReport
) -> None:
    """Add the signed consents that the place lacks to the tables there."""
    for book in sorted({_find_book(line) for line in lines}):
        try:
            there = private_tables.consents(place.folder / PRIVATE, book)
            for consent in private_tables.consents(private, book):
                if consent not in there:
                    private_tables.store_consent(place.folder / PRIVATE, book, consent)
                    report.consents += 1
        except LabappError as error:
            report.left_out.append((f"signed consents of {book}", error.what))
