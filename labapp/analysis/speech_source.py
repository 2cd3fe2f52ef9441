"""Where the speech of a recorded session is read from."""

from __future__ import annotations

from collections.abc import Iterable

from labapp.analysis.speech_rows import SessionSpeech
from labapp.annotations.assignments import assignments_of
from labapp.annotations.store import annotations_of
from labapp.events import Event, Payload
from labapp.journal.record import Record


def speech_of(record: Record, events: Iterable[tuple[Event, Payload]]) -> SessionSpeech:
    """Units, texts and marks of a session, and who codes it. events: its own.

    Raises AnnotationError where a file of them cannot be read.
    """
    return SessionSpeech(
        annotations_of(record, events), assignments_of(record), transcript=record.may("transcript")
    )
