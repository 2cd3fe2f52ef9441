"""Whether a session folder holds the files of a session, and nothing besides.

Pictures and the study's files are looked at one by one elsewhere; here it is their places that
count. Links, pipes and devices are no part of a session: its files are its own.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from labapp.journal.layout import AUDIO, ENVIRONMENT, JOURNAL, LOCK, STIMULI, STUDY
from labapp.journal.record import Record
from labapp.journal.tree import FolderTree

_OWN = frozenset({JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", LOCK, ENVIRONMENT})
_UNFINISHED = re.compile(
    rf"(environment|journal)\.partial(-wal|-shm|-journal)?|{STIMULI}/\..+-[0-9a-f]{{32}}"
)
"""Files that a run was writing when it was killed; another run writes its own."""
_SOUND = re.compile(rf"{AUDIO}/segment-[0-9]{{2,}}(-[0-9]+)?\.wav")
_NO_SOUND = 44
"""Bytes of a sound file that was just made: a header alone. A run that is killed then has not told
the journal of it."""
_DAMAGED = f"{STIMULI}/.damaged-"
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def check_files(record: Record) -> tuple[list[str], list[str]]:
    """Problems and notes about the files of a session folder, each by its name."""
    problems, notes = [], []
    sounds = {sound.file for sound in record.audio}
    for name, mode, size in _below(Path(record.source)):
        odd = next((what for is_kind, what in _KINDS if is_kind(mode)), "")
        if odd:
            problems.append(f"{name}: {odd}, and a session holds its own files")
        elif name in _OWN or name in sounds:
            continue
        elif _UNFINISHED.fullmatch(name) or (_SOUND.fullmatch(name) and size <= _NO_SOUND):
            if not record.running:
                notes.append(f"{name}: left by a run that was killed while it wrote it")
        elif name.startswith(_DAMAGED):
            notes.append(f"{name}: a damaged picture, put aside when the session was resumed")
        elif name.startswith(f"{STIMULI}/."):
            problems.append(f"{name}: the journal does not name it")
        elif not name.startswith((f"{STUDY}/", f"{STIMULI}/")):
            problems.append(f"{name}: not part of the session")
    return problems, notes


def _below(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Name, mode and size of all that is no folder, hidden files too; links are not followed."""
    for name in FolderTree(folder).names():
        status = (folder / name).lstat()
        yield name, status.st_mode, status.st_size
