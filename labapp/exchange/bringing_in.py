"""Bringing in a file of another tool, where no window has the session's annotations open."""

from __future__ import annotations

from pathlib import Path

from labapp.annotations.marks import MarksFile
from labapp.annotations.model import Blinding
from labapp.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.annotations.texts import TextsFile
from labapp.annotations.units import UnitsFile
from labapp.exchange.incoming import write_codebook
from labapp.exchange.plan import Plan, apply
from labapp.journal.record import Record

HEARD: tuple[Blinding, ...] = ("names", "outcomes", "screen")
"""What somebody who coded in another tool was not shown; what comes later they could hear."""


class SessionFiles:
    """The files of a session's annotations, each opened when it is asked for."""

    def __init__(self, plan: Plan, session: Path, record: Record) -> None:
        self._plan, self._session, self._record = plan, session, record
        self._units: UnitsFile | None = None
        self._texts: TextsFile | None = None
        self._marks: MarksFile | None = None

    @property
    def units_file(self) -> UnitsFile:
        """Raises AnnotationError."""
        if self._units is None:
            self._units = open_units(self._session, self._plan.rater, record=self._record)
        return self._units

    @property
    def texts_file(self) -> TextsFile:
        """Raises AnnotationError."""
        if self._texts is None:
            self._texts = open_texts(self._session, self._plan.rater, record=self._record)
        return self._texts

    @property
    def marks_file(self) -> MarksFile:
        """Raises AnnotationError."""
        if self._marks is None:
            plan = self._plan
            known = annotations_of(self._record).raters.get(plan.rater)
            self._marks = open_marks(
                self._session,
                plan.rater,
                plan.codebook,
                blind=known.marks[-1].blind if known is not None and known.marks else HEARD,
                round=plan.round,
                record=self._record,
            )
        return self._marks

    def close(self) -> None:
        """Save everything and let others open the files. Raises AnnotationError."""
        for file in (self._marks, self._texts, self._units):
            if file is not None:
                file.close()


def bring_in(plan: Plan, session: Path, record: Record) -> list[str]:
    """Do what a plan says; see `labapp.exchange.plan.apply`.

    Parameters
    ----------
    plan : Plan
        Of this session.
    session : Path
        Its folder.
    record : Record
        The session.
    """
    if plan.new_codebook:
        write_codebook(session.absolute().parent, plan.codebook)
    files = SessionFiles(plan, session.absolute(), record)
    try:
        return apply(plan, files)
    finally:
        files.close()
