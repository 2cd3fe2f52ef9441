"""Whether the pictures kept with a session are those that were shown, each named by its hash, and
the manifests beside its study those it was planned with."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

from labapp.events.stimuli import StimuliStored
from labapp.journal.layout import MANIFEST, STIMULI
from labapp.journal.record import Record
from labapp.journal.rows import payloads
from labapp.plugins import registry

CHUNK = 1 << 20
_MANIFEST = re.compile(rf"{STIMULI}/[^/]+/{re.escape(MANIFEST)}")


def kept_pictures(record: Record) -> set[str]:
    """The files of the pictures that the journal says were kept, in the session's folder."""
    files: set[str] = set()
    for _, payload in payloads([row for row in record.rows if row.kind == StimuliStored.kind]):
        assert isinstance(payload, StimuliStored)
        files |= {f"{STIMULI}/{name}" for name in payload.files.values()}
    return files


def check_stimuli(record: Record) -> tuple[int, list[str]]:
    """How many pictures were checked, and what is wrong, by the file's name in the folder.

    A file has to be there for every picture that the journal says was kept, and to have the
    SHA-256 it is named by; a file that the journal does not name does not belong there. Hidden
    files in a session's folder are told of by `facts_check.check_folder`.
    """
    stored = kept_pictures(record)
    there = {
        name
        for name in record.tree.names()
        if name.startswith(f"{STIMULI}/")
        and (record.kind == "bundle" or not PurePosixPath(name).name.startswith("."))
    }
    problems = [f"{name}: missing" for name in sorted(stored - there)]
    problems += [f"{name}: the journal does not name it" for name in sorted(there - stored)]
    for name in sorted(stored & there):
        if _sha256(record, name) != PurePosixPath(name).stem:
            problems.append(f"{name}: not the picture that was shown (SHA-256)")
    return len(stored & there), problems


def split_manifests(record: Record) -> tuple[dict[str, bytes], list[str]]:
    """The files of the study itself, and what is wrong with the manifests of stimulus sets that lie
    beside them as `stimuli/ID/manifest.json`; they are no part of the study's hash."""
    files = record.study_files()
    copied = {name: files.pop(name) for name in tuple(files) if _MANIFEST.fullmatch(name)}
    if not files:  # there is no copy of the study, which its hash tells
        return files, []
    wanted = {
        f"{STIMULI}/{stimuli.name}/{MANIFEST}": stimuli.sha256
        for part in registry.known_parts(record.planned.plan)
        for stimuli in part.stimulus_sets()
    }
    problems = [f"{name}: missing" for name in sorted(wanted.keys() - copied)]
    problems += [f"{name}: the plan does not name it" for name in sorted(copied.keys() - wanted)]
    problems += [
        f"{name}: not the one the session was planned with (SHA-256)"
        for name in sorted(wanted.keys() & copied)
        if hashlib.sha256(copied[name]).hexdigest() != wanted[name]
    ]
    return files, problems


def _sha256(record: Record, name: str) -> str:
    digest = hashlib.sha256()
    with record.tree.open(name) as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
