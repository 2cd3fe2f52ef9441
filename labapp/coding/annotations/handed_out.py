"""What left the lab of a study's annotations: `annotations/packs.jsonl`, a line a file.

Packs for raters, quotes, clips of sound: whoever makes such a file writes it down here first, so
that a withdrawal can say where something of a session still lies. Bundles are in `exports.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError
from labapp.coding.annotations import ledger
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.places import ANNOTATIONS
from labapp.record.journal.record import Record

HANDED_OUT = "packs.jsonl"
PACK = "pack"
QUOTES = "quotes"
CLIP = "clip"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A file that was made of sessions.

    Attributes
    ----------
    kind : `pack`, `quotes`, `clip`, `still` or another word for what it is.
    sessions : the names of the folders of the sessions that something of is in it.
    facts : more about it, such as the rater of a pack.
    """

    kind: str
    file: str
    sessions: tuple[str, ...]
    utc: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def session_folders(*records: Record) -> list[Path]:
    """The folders of sessions among records, which their studies are told of; bundles have none."""
    return [Path(record.source).absolute() for record in records if record.kind == "session"]


def note_handed_out(
    study: Path, kind: str, file: Path, sessions: Iterable[str], **facts: Any
) -> None:
    """Write down that a file is about to be made; on the disk before this returns. sessions: the
    names of the folders of its sessions. Raises AnnotationError if it cannot be written down; then
    nothing may be handed out, for a withdrawal would not know."""
    body = {"file": str(file.absolute()), "sessions": sorted(set(sessions)), **facts}
    with Ledger(study / ANNOTATIONS / HANDED_OUT) as log:
        log.append(f"{kind}.made", body)
        log.flush()


def handed_out(study: Path) -> list[HandedOut]:
    """What was handed out of a study, oldest first.

    Raises
    ------
    AnnotationError : the list cannot be read, or a line of it is damaged.
    """
    path = study / ANNOTATIONS / HANDED_OUT
    result = []
    for line in ledger.read(path).lines:
        body = dict(line.body)
        file, sessions = body.pop("file", None), body.pop("sessions", None)
        if not isinstance(file, str) or not isinstance(sessions, list):
            raise AnnotationError(
                f"{path}, line {line.seq}: it names no file and no sessions.",
                todo="Put back a copy of the file.",
            )
        kind = line.kind.removesuffix(".made")
        result.append(HandedOut(kind, file, tuple(map(str, sessions)), line.utc, body))
    return result


def holders(study: Path, session: str) -> list[HandedOut]:
    """What was handed out of a session. Raises AnnotationError as `handed_out`."""
    return [entry for entry in handed_out(study) if session in entry.sessions]
