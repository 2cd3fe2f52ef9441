"""The coded sessions of studies, as they lie on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.annotations.assignments import assignments_of
from labapp.annotations.codebook import Codebook
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.reliability.gathering import CodedSession
from labapp.annotations.store import annotations_of, codebooks_in
from labapp.annotations.study_sessions import study_sessions
from labapp.errors import UsageError
from labapp.journal.opening import iter_records
from labapp.journal.record import Record
from labapp.journal.sessions import sessions_in


@dataclass(frozen=True, slots=True)
class CodedStudies:
    """What was read.

    Attributes
    ----------
    sessions : tuple of CodedSession
        In the order of their paths and names.
    codebooks : dict of str to Codebook
        Every version that marks were given by, by its SHA-256.
    remarks : tuple of str
        What was left out or cut off and why, a sentence each.
    """

    sessions: tuple[CodedSession, ...]
    codebooks: dict[str, Codebook]
    remarks: tuple[str, ...]


def read_studies(paths: Sequence[Path]) -> CodedStudies:
    """Read the annotations of studies.

    Parameters
    ----------
    paths : sequence of Path
        Folders of studies, sessions or bundles.

    Raises
    ------
    LabappError
        Something is none of these, a session is given twice, or a file of it is damaged.
    """
    sessions: dict[tuple[str, str], CodedSession] = {}
    codebooks: dict[str, Codebook] = {}
    remarks: list[str] = []
    for path in paths:
        for record, coded in _records(path, remarks):
            key = record.study, str(record.name)
            if key in sessions:
                raise UsageError(
                    f"{key[1]} is given twice.", todo="Name each study, session or bundle once."
                )
            remarks += [f"{key[1]}: {remark}" for remark in coded.remarks]
            codebooks.update(codebooks_in(record))
            sessions[key] = _coded(record, coded)
    return CodedStudies(tuple(sessions.values()), codebooks, tuple(remarks))


def _records(path: Path, remarks: list[str]) -> Iterator[tuple[Record, SessionAnnotations]]:
    """The sessions that may be used; the others are told of in `remarks`."""
    if sessions_in(path):
        study = study_sessions(path)
        remarks += [f"{name}: {why.rstrip('.')}." for name, why in study.left_out]
        yield from ((session.record, session.annotations) for session in study.usable)
        return
    for record in iter_records(path):
        if record.withdrawn:
            remarks.append(f"{record.name}: its participant withdrew.")
        else:
            yield record, annotations_of(record)


def _coded(record: Record, annotations: SessionAnnotations) -> CodedSession:
    units = annotations.segmentation.units
    end = max(record.rows[-1].t_ns, *(unit.t1_ns for unit in units), 0) + 1
    return CodedSession(record.study, annotations, 0, end, assignments_of(record))
