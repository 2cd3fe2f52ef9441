"""The session folder: made once with exclusive create, never overwritten, held by one process."""

from __future__ import annotations

import errno
import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from labapp.base import access, durable, leftovers, resources
from labapp.base.documents import parse_yaml
from labapp.base.errors import DataFolderError, RecordError, SessionBusy, SessionError, StudyError
from labapp.base.reading import files
from labapp.base.reading.values import json_value
from labapp.record.journal.layout import (
    AUDIO,
    ENVIRONMENT,
    JOURNAL,
    LOCK,
    STUDY,
    FolderName,
    study_files_of,
)
from labapp.record.journal.sessions import exported_from
from labapp.record.journal.withdrawn import withdrawals
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
                f"{self.path} is not a session folder: it holds no journal.",
                safe="Nothing was changed.",
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


def taken(data: Path, study: str) -> Mapping[str, list[str]]:
    """Participants with a session in this study, and their session labels. Those who withdrew are
    among them, and those of whom only a bundle is left: a label that has left the lab is never
    given to somebody else."""
    out: dict[str, list[str]] = {}
    for folder in sessions_of(data, study):
        out.setdefault(folder.name.participant, []).append(folder.name.session)
    left = [(w.participant, w.session) for w in withdrawals(data / study).values()]
    left += [(name.participant, name.session) for name in exported_from(data / study)]
    for participant, session in left:
        sessions = out.setdefault(participant, [])
        if session not in sessions:
            sessions.append(session)
    return out


def next_free(data: Path, study: Study) -> str:
    """The label after the highest one that has a session, or may have none."""
    return study.participants.next_free([*taken(data, study.id), *refused(data, study)])


def taken_by_pilots(data: Path, study: str) -> Mapping[str, list[str]]:
    """As `taken`, for the pilots of a data root: those too that were moved into the study."""
    labels = {label: list(own) for label, own in taken(data, study).items()}
    for label, sessions in taken(resources.pilot_root(data), study).items():
        labels[label] = list(dict.fromkeys([*labels.get(label, ()), *sessions]))
    return labels


def next_pilot(data: Path, study: Study) -> str:
    """The next free label of the pilots of a data root."""
    return study.participants.next_free(taken_by_pilots(data, study.id), pilot=True)


def refused(data: Path, study: Study) -> dict[str, str]:
    """Participants who may have no (further) session in this study, each with the reason: the id
    of a related study they took part in, or empty where they withdrew from this one."""
    others = related(data, study)
    out = {participant: other for other in others for participant in taken(data, other)}
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
            f"The data folder {data} does not give back what is written to it.",
            todo="Choose another data folder (--data).",
        )
    return free


def data_error(data: Path, error: OSError) -> DataFolderError:
    """What is told of a disk that refuses to be written."""
    if error.errno == errno.ENOSPC:
        return DataFolderError(
            f"The disk of the data folder {data} is full.",
            safe="Sessions recorded there before are untouched; none was started.",
            todo="Make room, or choose another data folder (--data).",
        )
    why = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        why = "there is a file of that name"
    return DataFolderError(
        f"The data folder {data} cannot be written ({why}).",
        safe="No session was started; nothing was changed.",
        todo="Choose a folder you may write to (--data or $LABAPP_DATA; of a simulation --out).",
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
            safe="It was left as it is; the journal holds the same facts.",
            todo="Move it out of the session folder, keep it, and resume the session again.",
        ) from error
    except OSError as error:
        raise data_error(folder.path, error) from error


def related(data: Path, study: Study) -> tuple[str, ...]:
    """Ids of the studies related to this one: a person takes part in one of them only.

    First those that this study names, then those that name it: whoever runs either first must find
    the person too. What other studies name is read from the copies that sessions under the data
    root have of their files, and from the shipped file of that name.
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
