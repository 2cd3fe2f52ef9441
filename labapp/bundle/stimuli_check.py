"""Whether the pictures kept with a session are those that were shown: each is named by its hash."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

from labapp.events.judging import StimuliKept
from labapp.records.layout import STIMULI
from labapp.records.record import Record
from labapp.records.rows import bodies

CHUNK = 1 << 20


def check_stimuli(record: Record) -> tuple[int, list[str]]:
    """How many pictures were checked, and what is wrong, by the file's name in the folder.

    A file has to be there for every picture that the journal says was kept, and to have the
    SHA-256 it is named by; a file that the journal does not name does not belong there.
    """
    kept: set[str] = set()
    for _, body in bodies([row for row in record.rows if row.kind == StimuliKept.kind]):
        assert isinstance(body, StimuliKept)
        kept |= {f"{STIMULI}/{name}" for name in body.files.values()}
    there = {
        name
        for name in record.tree.names()
        if name.startswith(f"{STIMULI}/") and not PurePosixPath(name).name.startswith(".")
    }
    problems = [f"{name}: missing" for name in sorted(kept - there)]
    problems += [f"{name}: the journal does not name it" for name in sorted(there - kept)]
    for name in sorted(kept & there):
        if _sha256(record, name) != PurePosixPath(name).stem:
            problems.append(f"{name}: not the picture that was shown (SHA-256)")
    return len(kept & there), problems


def _sha256(record: Record, name: str) -> str:
    found = hashlib.sha256()
    with record.tree.open(name) as stream:
        while chunk := stream.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()
