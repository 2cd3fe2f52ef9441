"""Making a session's folder: under a hidden name, until it holds the session's first event.

A program that is killed on the way leaves a hidden folder, which no reader takes for a session and
which holds no participant's label. The next start in the study clears it away; one that holds an
event gets its own name instead, and is an interrupted session like any other.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from labapp.base import access, durable
from labapp.base.clock import Clock, utc_label
from labapp.base.errors import LabappError, ParticipantTaken, SessionBusy, SessionError
from labapp.record.journal import layout
from labapp.record.journal.lock import held
from labapp.record.journal.read import extent
from labapp.session import folder
from labapp.session.folder import SessionFolder, data_error
from labapp.study.loading import LoadedStudy
from labapp.study.people import Visits

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
                    f"The session folder {self._published} exists already.",
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
    study = folder.study_folder(data, loaded.study.id)
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
    had = folder.taken(data, loaded.study.id).get(participant, ())
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
            f"Another program is making a session in {data} and takes too long.",
            todo="Try again in a moment.",
        ) from error
    except OSError as error:
        raise data_error(data, error) from error


def _refuse(data: Path, loaded: LoadedStudy, name: layout.FolderName) -> None:
    """Raise ParticipantTaken for a session that must not be begun."""
    study, participant, session = loaded.study.id, name.participant, name.session
    if (related := folder.refused(data, loaded.study).get(participant)) is not None:
        took_part = f"took part in {related}, which is related"
        raise ParticipantTaken(
            f"{participant} {took_part if related else f'withdrew from {study}'}.",
            todo="Choose the next free participant; the label of a person stays that person's.",
        )
    there = sorted((data / study).iterdir()) if (data / study).is_dir() else []
    for path in there:
        other = layout.FolderName.parse(path.name.removeprefix(layout.MAKING))
        if other is None or (other.participant, other.session) != (participant, session):
            continue
        if held(path):
            if path.name.startswith(layout.MAKING):
                raise ParticipantTaken(
                    f"Another program is starting session {session} of {participant} in {study}.",
                    todo="Choose the next free participant, or try again in a moment.",
                )
        elif _holds_no_event(path):  # nor is it what labapp makes: that was cleared away
            raise ParticipantTaken(
                f"{path} holds no event of a session, but files that are not labapp's.",
                safe="It is untouched.",
                todo="Move the folder elsewhere, and start again.",
            )
    had = folder.taken(data, study).get(participant, ())
    if session not in had:
        visits = Visits.of(loaded.study.design)
        if visits.order == "refused" and (skipped := visits.skipped(session, had)):
            raise SessionError(
                f"{participant} has not had session {', '.join(skipped)} of {study}, and the study "
                "wants its sessions in order.",
                safe="No session was started.",
                todo=f"Start session {skipped[0]}, or choose another participant. The study file "
                "may allow it (session_order).",
            )
        return
    raise ParticipantTaken(
        f"{participant} already has session {session} in {study}.",
        safe="That session is untouched.",
        todo="Choose the next free participant, or another --session label; one that was "
        "interrupted goes on with: labapp sessions resume NAME",
    )


def _clear(study: Path) -> None:
    """Clear away what was left by programs that were killed while they made a session: a folder
    without any event is removed, one with an event gets its name. What is somebody else's stays."""
    for path in sorted(study.iterdir()):
        name = layout.FolderName.parse(path.name.removeprefix(layout.MAKING))
        if name is None or not path.is_dir() or held(path):
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
