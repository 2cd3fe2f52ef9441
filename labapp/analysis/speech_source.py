"""Where the speech of a recorded session is read from."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.analysis.speech_rows import SessionSpeech
from labapp.annotations.assignments import assignments_of
from labapp.annotations.codebook import read
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.simulated import codebook_path, codebook_sha256
from labapp.annotations.store import annotations_of, codebooks_in
from labapp.events import Event, Payload
from labapp.journal.record import Record


def speech_of(record: Record, events: Iterable[tuple[Event, Payload]]) -> SessionSpeech:
    """Units, texts and marks of a session, and who codes it. events: its own.

    Raises AnnotationError where a file of them cannot be read.
    """
    annotations = annotations_of(record, events)
    return SessionSpeech(
        annotations,
        assignments_of(record),
        transcript=record.may("transcript"),
        code_names=_code_names(record, annotations),
    )


def _code_names(record: Record, annotations: SessionAnnotations) -> dict[tuple[str, str], str]:
    """What the codebooks of the marks call their codes."""
    used = {mark.codebook for rater in annotations.raters.values() for mark in rater.marks} - {""}
    books = codebooks_in(record) if used else {}
    if codebook_sha256() in used - books.keys():  # a program's, which needs no copy in the study
        books[codebook_sha256()] = read(codebook_path())
    return {(sha, code.id): code.name for sha, book in books.items() for code in book.codes}
