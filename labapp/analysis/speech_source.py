"""Where the speech of a recorded session is read from."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.analysis.speech_rows import SessionSpeech
from labapp.annotations.assignments import assignments_of
from labapp.annotations.codebook import Codebook
from labapp.annotations.model import SessionAnnotations
from labapp.annotations.simulated import shipped_codebooks
from labapp.annotations.store import annotations_of, codebooks_in
from labapp.events import Event, Payload
from labapp.journal.record import Record


def speech_of(record: Record, events: Iterable[tuple[Event, Payload]]) -> SessionSpeech:
    """Units, texts and marks of a session, and who codes it. events: its own.

    Raises AnnotationError where a file of them cannot be read.
    """
    annotations = annotations_of(record, events)
    books = _codebooks(record, annotations)
    return SessionSpeech(
        annotations,
        assignments_of(record),
        transcript=record.may("transcript"),
        code_names={
            (sha, code.id): code.name for sha, book in books.items() for code in book.codes
        },
        codebook_ids={sha: book.id for sha, book in books.items()},
    )


def _codebooks(record: Record, annotations: SessionAnnotations) -> dict[str, Codebook]:
    """The codebooks of the raters and their marks."""
    raters = annotations.raters.values()
    used = {mark.codebook for rater in raters for mark in rater.marks}
    used = (used | {rater.codebook for rater in raters}) - {""}
    books = codebooks_in(record) if used else {}
    # Those of a program need no copy in the study.
    shipped = {book.sha256: book for book in shipped_codebooks()} if used - books.keys() else {}
    return shipped | books
