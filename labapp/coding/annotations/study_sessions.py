"""The sessions of a study whose annotations may be used: over, readable, not withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labapp.base.errors import LabappError
from labapp.coding.annotations.model import SessionAnnotations
from labapp.coding.annotations.store import annotations_of
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.record.journal.sessions import sessions_in


@dataclass(frozen=True)
class AnnotatedSession:
    """A session with what was said about it.

    Attributes
    ----------
    path : its folder.
    record : as recorded.
    annotations : what was said about it, as far as it may be shown.
    """

    path: Path
    record: Record
    annotations: SessionAnnotations

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.path.name


@dataclass(frozen=True)
class StudySessions:
    """The sessions of a study.

    Attributes
    ----------
    usable : in the order of their starts.
    left_out : the names of the others, and why each is left out.
    """

    usable: tuple[AnnotatedSession, ...]
    left_out: tuple[tuple[str, str], ...]


def study_sessions(study: Path) -> StudySessions:
    """The sessions of a study; none of somebody who withdrew is among the usable ones."""
    usable: list[AnnotatedSession] = []
    left_out: list[tuple[str, str]] = []
    for path in sessions_in(study.absolute()):
        try:
            record = open_record(path)
            if record.withdrawn:
                left_out.append((path.name, "its participant withdrew"))
            elif record.running:
                left_out.append((path.name, "it is being recorded"))
            else:
                usable.append(AnnotatedSession(path, record, annotations_of(record)))
        except LabappError as error:
            left_out.append((path.name, error.what))
    return StudySessions(tuple(usable), tuple(left_out))
