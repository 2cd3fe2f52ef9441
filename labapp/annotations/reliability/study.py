"""From the files of studies to a folder of figures: what the command and windows call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.annotations.assignments import assignments_of
from labapp.annotations.codebook import Codebook
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.reliability.gathering import CodedSession, gather
from labapp.annotations.reliability.results import TierResults, results_of
from labapp.annotations.reliability.writing import figure_rows, write
from labapp.annotations.store import annotations_of, codebooks_in
from labapp.annotations.study_sessions import study_sessions
from labapp.errors import UsageError
from labapp.journal.opening import is_session, iter_records, places
from labapp.journal.record import Record
from labapp.journal.sessions import sessions_in

STEP = 1_000
"""The grid of time-unit kappa unless it is said otherwise, in milliseconds."""


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """How far raters agree.

    Attributes
    ----------
    results : by codebook, version, round and tier.
    left_out : what is not compared and why, a sentence each.
    page : the page that says all of it, where it was written.
    """

    results: tuple[TierResults, ...]
    left_out: tuple[str, ...]
    page: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        figures = list(figure_rows(self.results))
        return {"page": str(self.page or ""), "figures": figures, "left_out": list(self.left_out)}

    def lines(self) -> list[str]:
        """The main figure of each tier, a line each."""
        lines = []
        for tier in self.results:
            for figure in tier.figures[:1]:
                result = figure.result
                value = f"none ({result.reason})" if result.value is None else f"{result.value:.3f}"
                lines.append(
                    f"{tier.tier.tier.name}, {tier.tier.phase}: {result.measure} {value}, "
                    f"{result.n_comparable} {figure.basis}, {', '.join(figure.raters)}"
                )
        return lines or ["There is nothing to compare."]


def study_agreement(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    step: int = STEP,
    again: Sequence[tuple[str, str]] = (),
    everybody: bool = False,
) -> StudyAgreement:
    """Compare the raters of studies.

    Parameters
    ----------
    paths : folders of studies, sessions or bundles.
    out : a folder to write, which must not exist.
    step : the grid of time-unit kappa in milliseconds.
    again : raters who coded twice: the names of the first and of the second coding.
    everybody : whether units of all speakers are compared, not the participant's alone.

    Raises
    ------
    LabappError : a place is no study, a name is nobody's, or the folder cannot be written.
    """
    coded = read_studies(paths)
    names = {rater for session in coded.sessions for rater in session.annotations.raters}
    if unknown := sorted({rater for pair in again for rater in pair} - names):
        raise UsageError(
            f"{unknown[0]} has no marks here.",
            todo=f"Raters here: {', '.join(sorted(names)) or 'none'}.",
        )
    gathered = gather(coded.sessions, coded.codebooks)
    results = tuple(
        results_of(tier, step=step, again=again, everybody=everybody) for tier in gathered.tiers
    )
    left_out = (*coded.remarks, *gathered.left_out)
    page = None
    if out is not None:
        folders = [each for path in paths for each in places(path) if is_session(each)]
        page = write(results, left_out, out, everybody=everybody, sessions=folders)
    return StudyAgreement(results, left_out, page)


@dataclass(frozen=True, slots=True)
class CodedStudies:
    """What was read.

    Attributes
    ----------
    sessions : in the order of their paths and names.
    codebooks : every version that marks were given by, by its SHA-256.
    remarks : what was left out or cut off and why, a sentence each.
    """

    sessions: tuple[CodedSession, ...]
    codebooks: dict[str, Codebook]
    remarks: tuple[str, ...]


def read_studies(paths: Sequence[Path]) -> CodedStudies:
    """Read the annotations of studies.

    Parameters
    ----------
    paths : folders of studies, sessions or bundles.

    Raises
    ------
    LabappError : something is none of these, a session is given twice, or a file of it is damaged.
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
    return CodedSession(
        record.study, record.participant, annotations, 0, end, assignments_of(record)
    )
