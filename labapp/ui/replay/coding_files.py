"""The files of a coding: a rater's marks, the session's units and its words.

Units and words belong to the session, and one window at a time writes them: they are opened when
something of them is changed, and not before. Words are let go again at once: others, such as a
recogniser, write those of other units meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import EditedFile
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import (
    TRANSCRIPT,
    UNITS,
    Mark,
    RaterMarks,
    Segmentation,
    Text,
    Unit,
    annotations_folder,
)
from labapp.coding.annotations.redacting import RedactionReport, redact
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.coding.annotations.texts import TextsFile, select_visible_texts
from labapp.coding.annotations.units import UnitsFile
from labapp.coding.exchange.plan import ImportPlan, apply
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.ui.language import tr

if TYPE_CHECKING:
    from labapp.coding.annotations.reliability.results import SoFar
    from labapp.ui.replay.coding_state import CodingRequest

PATIENCE_S = 0.5
"""A recogniser at work has the words open for an instant."""
Which = Literal["marks", "units", "texts"]


class CodingFiles:
    """What a rater works on in a session; marks: the rater's, None while the units are not frozen,
    and codes are given to units."""

    def __init__(
        self, session: Path, record: Record, request: CodingRequest, codebook: Codebook
    ) -> None:
        self.session, self.record = session, record
        self.request, self.codebook = request, codebook
        self._annotations = annotations_of(record)
        self._stretches = [
            stretch
            for stretch in assignments_of(record)
            if (stretch.rater, stretch.round) == (request.rater, request.round)
        ]
        self._units: UnitsFile | None = None
        self._texts: TextsFile | None = None
        self._wrote = False
        self._shown: dict[str, Text] | None = None
        self._as_read = self._on_disk()
        self.marks: MarksFile | None = None
        self._foreign: frozenset[str] = frozenset()
        if self.frozen or not codebook.needs_units:
            self.open_marks()

    @classmethod
    def open(cls, session: Path, request: CodingRequest) -> CodingFiles:
        """Open the files of a session for a rater. Raises LabappError."""
        record = open_record(session)
        return cls(session, record, request, find_codebook(session.parent, request.codebook))

    def open_marks(self) -> None:
        """Open the rater's marks, or open them again behind a change of units or codebook. Raises
        AnnotationError."""
        if self.marks is not None:
            self.marks.close()
            self.marks = None
        request = self.request
        versions = codebooks.versions_of(self.session.absolute().parent)
        self._foreign = frozenset(
            sha256 for sha256, book in versions.items() if book.id != self.codebook.id
        )
        self.marks = open_marks(
            self.session,
            request.rater,
            self.codebook,
            blind=request.blind,
            round=request.round,
            record=self.record,
        )

    # --- what there is ----------------------------------------------------------------------------

    @property
    def units(self) -> tuple[Unit, ...]:
        """In order of time."""
        return self.segmentation.units

    def assigned(self) -> frozenset[str] | None:
        """The ids of the units that were drawn for this rater; None if none were, as where
        nothing was drawn."""
        own = self._stretches
        if not own:
            return None
        return frozenset(
            unit.id for unit in self.units if any(stretch.covers(unit.t0_ns) for stretch in own)
        )

    @property
    def frozen(self) -> bool:
        """Whether the units may be coded."""
        return self.segmentation.frozen

    @property
    def segmentation(self) -> Segmentation:
        """The units as they are now."""
        return self._annotations.segmentation if self._units is None else self._units.segmentation

    @property
    def texts(self) -> Mapping[str, Text]:
        """By the ids of their units, without what is redacted."""
        if self._shown is None:
            self._shown = dict(self._annotations.texts)
            if self._texts is not None:
                units = {unit.id: unit for unit in self.units}
                self._shown = select_visible_texts(
                    self._texts.texts, units, self._texts.redactions, allowed=self.may_write
                )
        return self._shown

    @property
    def may_write(self) -> bool:
        """Whether the participant agreed to a transcript."""
        return self.record.may("transcript")

    def put_texts(self, *texts: Text) -> None:
        """Write the words of units. Raises AnnotationError."""
        if not self.may_write:
            raise AnnotationError(tr("coding.no_consent_to_text"), todo=tr("coding.by_ear"))
        self.texts_file.put_all(texts)
        self._shown = None

    @property
    def own(self) -> tuple[Mark, ...]:
        """The rater's marks of this round and codebook, in order of time."""
        return () if self.marks is None else self._of_round(self.marks.marks)

    @property
    def memos(self) -> Mapping[str, str]:
        """The rater's remarks on the session and on codes, by what they are about."""
        return {} if self.marks is None else self.marks.memos

    @property
    def status(self) -> str:
        """Of the rater's marks."""
        return "draft" if self.marks is None else self.marks.status

    @property
    def notes(self) -> tuple[Mark, ...]:
        """What the moderator wrote down; nothing for a rater who is blind."""
        if self.request.blind:
            return ()
        return tuple(
            mark
            for rater in self._annotations.raters.values()
            if rater.machine
            for mark in rater.marks
        )

    def others(self) -> Mapping[str, RaterMarks]:
        """The codings of other raters that are done, as they are on the disk now."""
        raters = annotations_of(self.record).raters
        round_ = self.request.round
        return {
            name: replace(marks, marks=self._of_round(marks.marks))
            for name, marks in raters.items()
            if name != self.request.rater
            and marks.statuses.get(round_, "draft") != "draft"
            and not marks.machine
        }

    def agreement(self) -> tuple[SoFar, ...]:
        """How far raters agree in a training round, where the codebook can still be bettered; the
        marks of others as they were when the session was opened. Nothing in other rounds."""
        if self.request.round != "training":
            return ()
        from labapp.coding.annotations.reliability.results import agreement_so_far

        marks = {
            name: self._of_round(rater.marks)
            for name, rater in self._annotations.raters.items()
            if not rater.machine
        }
        marks[self.request.rater] = self.own
        now = replace(self._annotations, segmentation=self.segmentation)
        return agreement_so_far(now, self.codebook, marks)

    def _of_round(self, marks: Iterable[Mark]) -> tuple[Mark, ...]:
        """Those of this round, by any version of this codebook."""
        round_ = self.request.round
        return tuple(m for m in marks if m.round == round_ and m.codebook not in self._foreign)

    @property
    def _open(self) -> list[MarksFile | UnitsFile | TextsFile]:
        return [file for file in (self.marks, self._units, self._texts) if file is not None]

    @property
    def saved(self) -> bool:
        """Whether everything would outlast a power cut by now."""
        return all(file.saved for file in self._open)

    @property
    def problem(self) -> str:
        """Why something does not reach the disk; empty while all does."""
        return next((file.problem for file in self._open if file.problem), "")

    # --- what is changed --------------------------------------------------------------------------

    @property
    def units_file(self) -> UnitsFile:
        """The units, open for work. Raises AnnotationError."""
        if self._units is None:
            file = open_units(self.session, self.request.rater, record=self.record)
            if not file.units and (spoken := self._annotations.segmentation.units):
                file.put_all(spoken)  # of a simulated participant, who has them without a file
            self._units = file
        return self._units

    @property
    def texts_file(self) -> TextsFile:
        """The words, open for work until `rest`. Raises AnnotationError."""
        if self._texts is None:
            by, record = self.request.rater, self.record
            self._wrote = True
            self._texts = open_texts(self.session, by, record=record, patience_s=PATIENCE_S)
        return self._texts

    def rest(self) -> None:
        """Let others write words. Raises AnnotationError."""
        if self._texts is None:
            return
        file, self._texts = self._texts, None
        file.close()
        self._read()

    def _on_disk(self) -> tuple[object, ...]:
        """By which it is seen that somebody else wrote words or units."""
        folder = annotations_folder(self.session)
        return tuple(map(_read_stamp, (folder / TRANSCRIPT, folder / UNITS)))

    def _read(self) -> None:
        self._as_read = self._on_disk()
        self._shown = None
        self._annotations = annotations_of(self.record)

    def look(self) -> bool:
        """Read what others wrote since; says whether anybody wrote anything. Raises
        AnnotationError."""
        if self._texts is not None or self._on_disk() == self._as_read:
            return False
        self._read()
        return True

    @property
    def marks_file(self) -> MarksFile:
        """The rater's marks. Raises AnnotationError while the units are not frozen."""
        if self.marks is None:
            self.open_marks()
        assert self.marks is not None
        return self.marks

    def redact(self, t0_ns: int, t1_ns: int) -> RedactionReport:
        """Let neither sound nor words of a stretch leave the lab. The own files are let go for it,
        since they are rewritten, and opened again. Raises LabappError."""
        self.close()
        try:
            return redact(self.session, t0_ns, t1_ns, self.request.rater)
        finally:
            self._read()
            if self.frozen or not self.codebook.needs_units:
                self.open_marks()

    def use(self, codebook: Codebook) -> None:
        """Go on by another version of the codebook. Raises AnnotationError."""
        before, self.codebook = self.codebook, codebook
        try:
            self.open_marks()
        except AnnotationError:
            self.codebook = before
            self.open_marks()
            raise

    def bring_in(self, plan: ImportPlan) -> list[str]:
        """Do what a file of another tool changes; see `labapp.coding.exchange.plan.apply`."""
        self._shown = None
        return apply(plan, self)

    def turn(self, how: Literal["undo", "redo"]) -> tuple[Which | None, bool]:
        """Take back, or do again, what this rater did last to marks, units or words, in this window
        or before; says which it was, None if nothing was done, and whether it is turned: not
        where somebody else changed it since. Raises AnnotationError."""
        last: tuple[str, Which, EditedFile] | None = None
        for which, file in self._own_files():
            if (utc := file.last_step(how)) and (last is None or utc > last[0]):
                last = (utc, which, file)
        if last is None:
            return None, False
        _, which, file = last
        if which == "marks" and self.status != "draft":
            return which, False  # the window says why nothing may change
        self._shown = None
        return which, file.undo() if how == "undo" else file.redo()

    def _own_files(self) -> Iterator[tuple[Which, EditedFile]]:
        """The files that hold something of this rater's; of those that nobody has open here, only
        where it is known that they do."""
        rater, annotations = self.request.rater, self._annotations
        if self.marks is not None:
            yield "marks", self.marks
        wrote = any(text.by == rater for text in annotations.texts.values())
        if self._wrote or (wrote and self.may_write):
            yield "texts", self.texts_file
        waiting = any(proposal.by == rater for proposal in self.segmentation.proposals)
        made = self.segmentation.by == rater and not self.frozen
        if self._units is not None or made or waiting:
            yield "units", self.units_file

    def close(self) -> None:
        """Save everything and let others open the files. Raises AnnotationError."""
        try:
            for file in self._open:
                file.close()
        finally:
            self.marks = self._units = self._texts = None


def _read_stamp(path: Path) -> object:
    """What differs once a file is written to."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def find_codebook(study: Path, wanted: str) -> Codebook:
    """The codebook of a study with that id, or its only codebook if no id is given. Raises
    AnnotationError."""
    books = codebooks.codebooks_of(study)
    if not books:
        raise AnnotationError(
            tr("coding.no_codebook", study=study), todo=tr("coding.write_codebook")
        )
    names = ", ".join(book.id for book in books)
    if not wanted and len(books) > 1:
        raise AnnotationError(
            tr("coding.several_codebooks", names=names), todo=tr("coding.name_codebook")
        )
    named = [book for book in books if not wanted or book.id == wanted]
    if not named:
        raise AnnotationError(
            tr("coding.unknown_codebook", name=repr(wanted)),
            todo=tr("coding.take_codebook", names=names),
        )
    return named[0]
