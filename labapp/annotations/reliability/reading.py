"""The coded sessions of studies, as they lie on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.annotations.assignments import assignments_of
from labapp.annotations.codebook import Codebook
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.reliability.gathering import CodedSession
from labapp.annotations.store import annotations_of, codebooks_in
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
    sessions: list[CodedSession] = []
    codebooks: dict[str, Codebook] = {}
    remarks: list[str] = []
    seen: set[tuple[str, str]] = set()
    for path in paths:
        folders = sessions_in(path) or [path]
        for folder in folders:
            for record in iter_records(folder):
                name = str(record.name)
                study = record.study
                if (study, name) in seen:
                    raise UsageError(
                        f"{name} is given twice.", todo="Name each study, session or bundle once."
                    )
                seen.add((study, name))
                if record.withdrawn:
                    remarks.append(f"{name}: left out, the participant withdrew.")
                    continue
                annotations = annotations_of(record)
                remarks += [f"{name}: {remark}" for remark in annotations.remarks]
                codebooks.update(codebooks_in(record))
                sessions.append(_coded(record, study, annotations))
    return CodedStudies(tuple(sessions), codebooks, tuple(remarks))


def _coded(record: Record, study: str, annotations: SessionAnnotations) -> CodedSession:
    units = annotations.segmentation.units
    end = max(record.rows[-1].t_ns, *(unit.t1_ns for unit in units), 0) + 1
    return CodedSession(study, annotations, 0, end, assignments_of(record))
