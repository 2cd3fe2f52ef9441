"""The session folder: made once with exclusive create, never overwritten, held by one process.

Making a session's folder: under a hidden name, until it holds the session's first event.

A program that is killed on the way leaves a hidden folder, which no reader takes for a session and
which holds no participant's label. The next start in the study clears it away; one that holds an
event gets its own name instead, and is an interrupted session like any other.
"""

from __future__ import annotations

import errno
import json
import logging
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from labapp.base import access, durable, leftovers, resources
from labapp.base.clock import Clock, utc_label
from labapp.base.documents import parse_yaml
from labapp.base.errors import (
    DataFolderError,
    LabappError,
    ParticipantTaken,
    RecordError,
    SessionBusy,
    SessionError,
    StudyError,
)
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.journal import layout
from labapp.record.journal.decisions import withdrawals
from labapp.record.journal.layout import (
    AUDIO,
    ENVIRONMENT,
    JOURNAL,
    LOCK,
    STUDY,
    FolderName,
    study_files_of,
)
from labapp.record.journal.read import extent, is_locked
from labapp.record.journal.sessions import find_exported
from labapp.study.loading import LoadedStudy
from labapp.study.people import Visits
from labapp.study.schema import Study

LOW_DISK_BYTES = 500 * 1024 * 1024
"""Below this much free space a session is not started: an hour of sound is about 350 MB."""

LOCK_PATIENCE_S = 0.1


@dataclass(frozen=True)
class SessionFolder:
    """Paths inside a session folder."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / JOURNAL

    @property
    def study(self) -> Path:
        return self.path / STUDY

    @property
    def audio(self) -> Path:
        return self.path / AUDIO

    @property
    def environment(self) -> Path:
        return self.path / ENVIRONMENT

    @property
    def name(self) -> FolderName:
        parsed = FolderName.parse(self.path.name)
        if parsed is None:
            raise SessionError(f"{self.path} is not a session folder.", todo="Check the path.")
        return parsed

    def require_journal(self) -> None:
        """Raises RecordError when this is no session folder; it is left as it is then."""
        if not self.journal.is_file():
            raise RecordError(
                f"{self.path} is not a session folder: it contains no journal.",
                todo="Give a session's name or folder; `labapp sessions list` shows them.",
            )

    def lock(self) -> FileLock:
        """Hold the session for this process.

        Raises SessionBusy when another one does, DataFolderError when the folder cannot be written.
        """
        lock = FileLock(self.path / LOCK)
        try:
            # Checking whether it is held (`journal.lock`) takes the lock for a moment, too.
            lock.acquire(timeout=LOCK_PATIENCE_S, poll_interval=0.01)
        except Timeout as error:
            raise SessionBusy(
                f"The session {self.path.name} is open in another window.",
                todo="Close it there first.",
            ) from error
        except OSError as error:
            raise data_error(self.path, error) from error
        return lock


def sessions_of(data: Path, study: str) -> Iterator[SessionFolder]:
    """The session folders of a study, oldest first."""
    folder = data / study
    if folder.is_dir():
        folders = (child for child in folder.iterdir() if FolderName.parse(child.name))
        for child in sorted(folders, key=lambda path: path.name.rsplit("_", 1)[-1]):
            yield SessionFolder(child)


def list_taken_labels(data: Path, study: str) -> Mapping[str, list[str]]:
    """Participants with a session in this study, and their session labels. Those who withdrew are
    among them, and those of whom only a bundle is left: a label that has left the lab is never
    given to somebody else."""
    out: dict[str, list[str]] = {}
    for folder in sessions_of(data, study):
        out.setdefault(folder.name.participant, []).append(folder.name.session)
    left = [(w.participant, w.session) for w in withdrawals(data / study).values()]
    left += [(name.participant, name.session) for name in find_exported(data / study)]
    for participant, session in left:
        sessions = out.setdefault(participant, [])
        if session not in sessions:
            sessions.append(session)
    return out


def next_free(data: Path, study: Study) -> str:
    """The label after the highest one that has a session, or may have none."""
    return study.participants.next_free(
        [*list_taken_labels(data, study.id), *list_refused(data, study)]
    )


def list_pilot_labels(data: Path, study: str) -> Mapping[str, list[str]]:
    """As `list_taken_labels`, for the pilots of a data root: those too that were moved into the
    study."""
    labels = {label: list(own) for label, own in list_taken_labels(data, study).items()}
    for label, sessions in list_taken_labels(resources.pilot_root(data), study).items():
        labels[label] = list(dict.fromkeys([*labels.get(label, ()), *sessions]))
    return labels


def next_pilot(data: Path, study: Study) -> str:
    """The next free label of the pilots of a data root."""
    return study.participants.next_free(list_pilot_labels(data, study.id), pilot=True)


def list_refused(data: Path, study: Study) -> dict[str, str]:
    """Participants who may have no (further) session in this study, each with the reason: the id
    of a related study they took part in, or empty if they withdrew from this one."""
    others = find_related_studies(data, study)
    out = {participant: other for other in others for participant in list_taken_labels(data, other)}
    withdrew = (left.participant for left in withdrawals(data / study.id).values())
    return out | dict.fromkeys(withdrew, "")


def check_data_root(data: Path) -> int:
    """Free bytes of the data root, which is made if need be.

    Raises DataFolderError when it cannot be written, proved by writing and reading back a file.
    """
    probe = data / f".labapp-probe-{uuid.uuid4().hex}"
    try:
        access.own_folder(data)
        leftovers.clear(data, leftovers.PROBE)
        probe.write_bytes(b"labapp" * 1024)
        same = probe.read_bytes() == b"labapp" * 1024
        probe.unlink()
        free = shutil.disk_usage(data).free
    except OSError as error:
        with suppress(OSError):
            probe.unlink()
        raise data_error(data, error) from error
    if not same:
        raise DataFolderError(
            f"What is written to the data folder {data} cannot be read back correctly.",
            todo="Choose another data folder (--data).",
        )
    return free


def data_error(data: Path, error: OSError) -> DataFolderError:
    """What is told of a disk that refuses to be written."""
    if error.errno == errno.ENOSPC:
        return DataFolderError(
            f"The disk that holds the data folder {data} is full.",
            safe="Earlier sessions there are untouched, and no session was started.",
            todo="Free some space, or choose another data folder (--data).",
        )
    why = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        why = "there is already a file with that name"
    return DataFolderError(
        f"labapp cannot write to the data folder {data} ({why}).",
        safe="No session was started, and nothing was changed.",
        todo="Choose a folder to which you may write (--data or $LABAPP_DATA; for a "
        "simulation, --out).",
    )


def study_folder(data: Path, study: str) -> Path:
    """The folder of a study's sessions, which is made if need be. Raises DataFolderError."""
    check_data_root(data)
    path = data / study
    try:
        access.own_folder(path)
    except OSError as error:
        raise data_error(path, error) from error
    return path


def write_environment(folder: SessionFolder, environment: Mapping[str, Any]) -> None:
    """environment.json: one entry a segment, appended; written whole and renamed into place.

    Raises DataFolderError when it cannot be written, SessionError when the entries of earlier
    segments cannot be read: they are not written over.
    """
    partial = folder.environment.with_suffix(".partial")
    try:
        exists = files.exists(folder.environment)
        records = json_value(files.content(folder.environment)) if exists else []
        if not isinstance(records, list):
            raise ValueError("it is not a list")
        text = json.dumps([*records, environment], indent=2, sort_keys=True, ensure_ascii=False)
        durable.write(partial, (text + "\n").encode())
        partial.replace(folder.environment)
    except ValueError as error:
        raise SessionError(
            f"{ENVIRONMENT} of {folder.path.name} is damaged ({error}).",
            safe="It was left unchanged, and the journal has the same information.",
            todo="Move it out of the session folder (but keep it), and resume the session again.",
        ) from error
    except OSError as error:
        raise data_error(folder.path, error) from error


def find_related_studies(data: Path, study: Study) -> tuple[str, ...]:
    """Ids of the studies related to this one: a person takes part in one of them only.

    First those that this study names, then those that name it: a lab that runs either first must
    find the person too. What other studies name is read from the copies that sessions under the
    data root have of their files, and from the shipped file of that name.
    """
    names = dict.fromkeys(study.related)
    if data.is_dir():
        for other in sorted(data.iterdir()):
            direct = other.name in names or other.name == study.id
            if not direct and other.is_dir() and _names(other, study.id):
                names[other.name] = None
    return tuple(names)


def _names(other: Path, study: str) -> bool:
    """Whether the study with this folder says that it is related, by its latest file."""
    for path in _files(other):
        try:
            content = files.content(path)
        except OSError:
            continue
        if b"related" not in content or study.encode() not in content:  # most say nothing
            return False
        try:
            named = parse_yaml(path, content).value.get("related")
        except StudyError:
            continue
        return isinstance(named, list) and study in named
    return False


def _files(other: Path) -> Iterator[Path]:
    """The study's files: as its sessions have it, the latest first, then as it is shipped."""
    try:
        sessions = [child for child in other.iterdir() if FolderName.parse(child.name)]
    except OSError:
        sessions = []
    for session in sorted(sessions, key=lambda path: path.name.rsplit("_", 1)[-1], reverse=True):
        folder = session / STUDY
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        yield from (folder / name for name in study_files_of(names)[:1])
    yield resources.assets() / "studies" / f"{other.name}.yaml"


_log = logging.getLogger(__name__)
PATIENCE_S = 10.0


class NewFolder:
    """A session's folder that is being made, held by this process.

    home : its paths, under the hidden name until `publish`.
    """

    def __init__(self, data: Path, study: str, name: layout.FolderName) -> None:
        self._data = data
        self._published = data / study / str(name)
        self.home = SessionFolder(data / study / f"{layout.MAKING}{name}")
        self.lock = FileLock(self.home.path / layout.LOCK)

    def fill(self, loaded: LoadedStudy) -> None:
        """Put the study in as it is used. Raises DataFolderError."""
        try:
            for relative, content in loaded.files.items():
                target = self.home.study / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                durable.write(target, content)
            self.home.audio.mkdir()
            below = [path for path in self.home.path.rglob("*") if path.is_dir()]
            for folder in (*below, self.home.path, self.home.path.parent, self._data):
                durable.sync_folder(folder)
        except OSError as error:
            raise data_error(self.home.path, error) from error

    def publish(self) -> None:
        """Give the folder the session's name; nothing of it may be open but the lock.

        Raises ParticipantTaken when there is something of that name, DataFolderError.
        """
        with creating(self._data):
            self.lock.release()  # some systems rename no folder of which a file is open
            if self._published.exists():
                raise ParticipantTaken(
                    f"The session folder {self._published} already exists.",
                    safe="It is untouched.",
                    todo="Start again in a second.",
                )
            self.home.path.rename(self._published)
            self.home = SessionFolder(self._published)
            self.lock = self.home.lock()
        with suppress(OSError):
            durable.sync_folder(self._published.parent)

    def discard(self) -> None:
        """Remove the folder again: nothing was recorded in it."""
        self.lock.release()
        discard(self.home.path)


def create(
    data: Path, loaded: LoadedStudy, participant: str, session: str, clock: Clock
) -> NewFolder:
    """Begin the folder of a new session, with a copy of the study as used.

    Raises ParticipantTaken when the participant has this session already, withdrew, or took part in
    a related study; DataFolderError when the folder cannot be made or the disk is full; SessionBusy
    when another program takes too long to make a session.
    """
    study = study_folder(data, loaded.study.id)
    name = layout.FolderName(participant, session, utc_label(clock.utc()))
    new = NewFolder(data, loaded.study.id, name)
    # Two programs that start the same participant at once must not both find the place free.
    with creating(data):
        _clear(study)
        _refuse(data, loaded, name)
        access.own_folder(new.home.path, exist_ok=False)
        new.lock = new.home.lock()
    try:
        new.fill(loaded)
    except BaseException:
        new.discard()
        raise
    return new


def clear(data: Path, study: str) -> None:
    """Give sessions that killed starts have stored their names: they hold places of the study that
    nobody else may get. Raises SessionBusy, DataFolderError."""
    if any((data / study).glob(f"{layout.MAKING}*")):
        with creating(data):
            _clear(data / study)


def refuse_taken(data: Path, loaded: LoadedStudy, participant: str, session: str) -> None:
    """Raise the ParticipantTaken of `create` early, before models and pictures are made ready,
    which takes long. A participant who is free now may still be taken by then."""
    study = data / loaded.study.id
    if study.is_dir():  # which a first session makes
        with creating(data):
            _clear(study)
    _refuse(data, loaded, layout.FolderName(participant, session, ""))
    had = list_taken_labels(data, loaded.study.id).get(participant, ())
    if skipped := Visits.of(loaded.study.design).skipped(session, had):
        _log.warning("%s has not had session %s yet.", participant, ", ".join(skipped))


def discard(path: Path) -> None:
    """Remove a session folder in which nothing was recorded. It is hidden first, so that a removal
    that is broken off leaves nothing that takes a participant's label."""
    hidden = path.with_name(f"{layout.MAKING}{path.name.removeprefix(layout.MAKING)}")
    with suppress(OSError):
        if path != hidden:
            path.rename(hidden)
    shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def creating(data: Path) -> Iterator[None]:
    """One program at a time makes sessions under a data root, or moves one there."""
    try:
        with FileLock(data / layout.CREATING, timeout=PATIENCE_S):
            yield
    except Timeout as error:
        raise SessionBusy(
            f"Another program is creating a session in {data}, which is taking too long.",
            todo="Try again in a moment.",
        ) from error
    except OSError as error:
        raise data_error(data, error) from error


def _refuse(data: Path, loaded: LoadedStudy, name: layout.FolderName) -> None:
    """Raise ParticipantTaken for a session that must not be begun."""
    study, participant, session = loaded.study.id, name.participant, name.session
    if (related := list_refused(data, loaded.study).get(participant)) is not None:
        took_part = f"took part in {related}, which is a related study"
        raise ParticipantTaken(
            f"{participant} {took_part if related else f'withdrew from {study}'}.",
            todo="Choose the next free participant. A label is never given to a second person.",
        )
    there = sorted((data / study).iterdir()) if (data / study).is_dir() else []
    for path in there:
        other = layout.FolderName.parse(path.name.removeprefix(layout.MAKING))
        if other is None or (other.participant, other.session) != (participant, session):
            continue
        if is_locked(path):
            if path.name.startswith(layout.MAKING):
                raise ParticipantTaken(
                    f"Another program is starting session {session} of {participant} in {study}.",
                    todo="Choose the next free participant, or try again in a moment.",
                )
        elif _holds_no_event(path):  # nor is it what labapp makes: that was cleared away
            raise ParticipantTaken(
                f"{path} contains no events of a session, only files that labapp did not write.",
                safe="It is untouched.",
                todo="Move the folder elsewhere, and start again.",
            )
    had = list_taken_labels(data, study).get(participant, ())
    if session not in had:
        visits = Visits.of(loaded.study.design)
        if visits.order == "refused" and (skipped := visits.skipped(session, had)):
            raise SessionError(
                f"{participant} has not had session {', '.join(skipped)} of {study}, but the "
                "study requires its sessions in order.",
                safe="No session was started.",
                todo=f"Start session {skipped[0]}, or choose another participant. The study file "
                "may allow it (session_order).",
            )
        return
    raise ParticipantTaken(
        f"{participant} already has session {session} in {study}.",
        safe="That session is untouched.",
        todo="Choose the next free participant, or another --session label. To continue an "
        "interrupted session: labapp sessions resume NAME",
    )


def _clear(study: Path) -> None:
    """Clear away what was left by programs that were killed while they made a session: a folder
    without any event is removed, one with an event gets its name. What is somebody else's stays."""
    for path in sorted(study.iterdir()):
        name = layout.FolderName.parse(path.name.removeprefix(layout.MAKING))
        if name is None or not path.is_dir() or is_locked(path):
            continue
        if _holds_no_event(path):
            if _only_made(path):
                discard(path)
        elif path.name.startswith(layout.MAKING) and not (study / str(name)).exists():
            path.rename(study / str(name))


def _holds_no_event(path: Path) -> bool:
    """Whether it is certain that nothing was recorded in a folder: a journal that cannot be read
    may hold everything."""
    journal = path / layout.JOURNAL
    if not journal.exists():
        return True
    try:
        # A journal without events is smaller, so that a larger one need not be read.
        return journal.stat().st_size < 64 * 1024 and extent(path)[0] == 0
    except (LabappError, OSError):
        return False


def _only_made(path: Path) -> bool:
    """Whether a folder holds what labapp makes before the first event, and nothing besides."""
    stems = (
        layout.JOURNAL,
        *(Path(name).stem + ".partial" for name in (layout.JOURNAL, layout.ENVIRONMENT)),
    )
    made = (layout.STUDY, layout.STIMULI, layout.AUDIO, layout.LOCK, layout.ENVIRONMENT)
    if not all(child.name in made or child.name.startswith(stems) for child in path.iterdir()):
        return False
    audio = path / layout.AUDIO
    return not audio.is_dir() or not any(audio.iterdir())
