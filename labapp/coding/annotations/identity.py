"""Which session annotations belong to: the last hash of its journal, and its sound.

Times of marks mean nothing in another session, so that files of marks name the one they are of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError
from labapp.base.reading import files
from labapp.base.resources import cache_root
from labapp.record.journal.record import Record


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """What a session is known by.

    Attributes
    ----------
    journal : hash of its last event, which all events before go into.
    sound : SHA-256 of each sound file, by its name in the session's folder.
    """

    journal: str
    sound: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """As a line of a file has it."""
        return {"journal": self.journal, "sound": dict(self.sound)}


def identity_of(record: Record, session: Path) -> SessionIdentity:
    """What a recorded session is known by. session: its folder.

    Raises
    ------
    AnnotationError : a sound file cannot be read.
    """
    sound: dict[str, str] = {}
    for audio in record.audio:
        if files.is_file(session / audio.file):
            try:
                sound[audio.file] = cached_sha256(session / audio.file)
            except OSError as error:
                raise AnnotationError(
                    f"{session / audio.file} cannot be read ({error.strerror or error}).",
                    todo="See that the file may be read.",
                ) from error
    return SessionIdentity(record.rows[-1].hash, sound)


def difference(
    stored: Mapping[str, Any], record: Record, sound: Mapping[str, str] | None = None
) -> str:
    """Why a file does not belong to a session, in words; empty where it does. A session that was
    continued since is the same: the events it had are there. stored: what the file says of it, see
    `SessionIdentity.to_json`; sound: SHA-256 of the sound files that are there; where it is left
    out, sound is not compared."""
    journal = stored.get("journal")
    if not any(row.hash == journal for row in reversed(record.rows)):
        return "its journal is not the one that was coded"
    if sound is None:
        return ""
    before = stored.get("sound")
    for name, digest in sorted((before if isinstance(before, dict) else {}).items()):
        if name in sound and sound[name] != digest:
            return f"the sound {name} is not the one that was coded"
    return ""


def cached_sha256(path: Path) -> str:
    """SHA-256 of a file, kept in the cache folder for as long as its size and time stay the same.

    Raises OSError where it cannot be read.
    """
    status = path.stat()
    known = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"
    cached = (
        cache_root() / "sound-sha256" / hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()
    )
    try:
        text = files.content(cached, 64).decode("ascii", "replace")
        if len(text) == 64:
            return text
    except OSError:
        """It was not computed yet."""
    with files.open_file(path) as stream:
        text = hashlib.file_digest(stream, "sha256").hexdigest()
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        draft = cached.with_suffix(".draft")
        draft.write_bytes(text.encode())
        draft.replace(cached)
    except OSError:
        """It is computed again next time."""
    return text
