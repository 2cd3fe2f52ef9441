"""What a file of another tool changes in a session: as a plan first, and then done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from labapp import leftovers
from labapp.annotations import marks as marks_file
from labapp.annotations import units as units_file
from labapp.annotations.codebook import Codebook
from labapp.annotations.editing import IMPORTED, WHY
from labapp.annotations.history import history_of
from labapp.annotations.marks import MarksFile
from labapp.annotations.model import Blinding, Round, SessionAnnotations
from labapp.annotations.places import check_rater
from labapp.annotations.store import (
    annotations_of,
    codebooks_in,
    open_marks,
    open_texts,
    open_units,
)
from labapp.annotations.texts import TextsFile
from labapp.annotations.units import UnitsFile
from labapp.errors import NOTHING_CHANGED, ExchangeError
from labapp.exchange import incoming as reading
from labapp.exchange.files import TOO_MUCH, unreadable
from labapp.exchange.gathering import Coding, FileClock, clocks_of, sheet_of, silences
from labapp.exchange.incoming import Incoming, Translation
from labapp.exchange.marks_in import Given, MarksIn
from labapp.exchange.model import Arrival, Sheet
from labapp.exchange.plan import Plan, apply
from labapp.exchange.units_in import UnitsIn
from labapp.journal.record import Record
from labapp.messages import Message
from labapp.reading.values import Budget, TooMuch
from labapp.replay.sound import SessionSound


def plan_import(
    record: Record,
    rater: str,
    incoming: Incoming,
    *,
    translation: Translation | None = None,
    codebook: str = "",
    time: str = "",
    words_only: bool = False,
    round: Round | None = None,  # noqa: A002  (the field's word)
) -> Plan:
    """What bringing in a file would change.

    Parameters
    ----------
    record : a session folder.
    rater : whose marks its codes become.
    incoming : the file.
    translation : see `labapp.exchange.incoming.read_translation`.
    codebook : the id of the codebook, where the study has several.
    time : whose time the file has, where it does not say; see `labapp.exchange.incoming.clock_of`.
    words_only : whether words go into the units that are there, as those that they overlap most.
    round : see `labapp.annotations.model.Round`; left out, the one that the rater is in.

    Raises
    ------
    AnnotationError : the file is of another session, or the session or rater cannot be coded.
    UsageError : nothing says which codebook or whose time it is.
    """
    study = Path(record.source).absolute().parent
    _refuse_uncoded(record)
    check_rater(rater, study)
    own_arrivals = reading.of_session(incoming.arrivals, str(record.name), incoming.name)
    annotations = annotations_of(record)
    own = annotations.raters.get(rater)
    round_ = round or (own.round if own else "independent")
    translation = translation or {}
    arrivals = [
        reading.translated(arrival, translation, record.participant) for arrival in own_arrivals
    ]
    arrivals[0] = replace(
        arrivals[0], lost=(*arrivals[0].lost, *reading.unused(own_arrivals, translation))
    )
    words = reading.tiers_of_words(arrivals, translation)
    book, new = _codebook(record, annotations, rater, study, codebook, arrivals, words)
    versions = codebooks_in(record)
    marks = tuple(
        mark
        for mark in (own.marks if own else ())
        if mark.round == round_
        and (book is None or mark.codebook not in versions or versions[mark.codebook].id == book.id)
    )
    book = book or Codebook("none", 1, "", (), ())
    coding = Coding(annotations, marks, book)
    times: dict[str, None] = {}
    lost: list[str] = []
    sound = SessionSound(record, silences(annotations))
    try:
        clocks = [*clocks_of(record, "session", sound)]
        clocks += [clock for clock in clocks_of(record, "files", sound) if clock.fit is not None]
        placed: list[tuple[Arrival, FileClock, Sheet]] = []
        timed, foreign = reading.with_clocks(arrivals, incoming, clocks, time)
        lost += foreign
        for arrival, clock, why in timed:
            times[why] = None
            placed.append((arrival, clock, sheet_of(record, rater, coding, clock, sound)))
            lost += arrival.lost
        end_ns = clocks[0].t1_ns
    finally:
        sound.close()
    may = record.may("transcript")
    budget = Budget()
    units = UnitsIn(
        annotations,
        rater,
        incoming.form,
        end_ns,
        frozenset(_put(record, "")),
        allowed=may,
        budget=budget,
        words_only=words_only,
    )
    given = MarksIn(
        Given(annotations, marks, book, rater, round_, _put(record, rater)),
        incoming.form,
        end_ns,
        budget,
        words,
    )
    try:
        for arrival, clock, sheet in placed:
            units.meet(arrival, clock, sheet)
            units.keep_words(arrival.annotations, clock)
            given.meet(arrival, clock, sheet, units)
        given.cut()
    except TooMuch as error:
        raise unreadable(incoming.name, str(error), TOO_MUCH) from error
    changes, freeze = units.changes(), False
    if given.put or given.removed:
        freeze = _freeze(record, annotations, book, rater, round_, made=units.making)
    steps = sorted((*units.steps, *given.steps), key=lambda step: (step.t0_ns, step.t1_ns))
    return Plan(
        incoming.name,
        incoming.sha256,
        incoming.form.name,
        str(record.name),
        rater,
        tuple(times),
        book,
        new,
        round_,
        tuple(given.put),
        tuple(given.removed),
        tuple(changes),
        freeze,
        tuple(units.texts),
        tuple(steps),
        given.unchanged,
        (*lost, *units.lost, *given.lost),
    )


def _codebook(
    record: Record,
    annotations: SessionAnnotations,
    rater: str,
    study: Path,
    wanted: str,
    arrivals: Sequence[Arrival],
    words: Sequence[str],
) -> tuple[Codebook | None, bool]:
    """The codebook that codes are given by, and whether it is made of the file. words: see
    `labapp.exchange.incoming.tiers_of_words`."""
    chosen = reading.chosen_codebook(study, wanted)
    if chosen is not None:
        return chosen, False
    versions, own = codebooks_in(record), annotations.raters.get(rater)
    used = [versions[m.codebook] for m in (own.marks if own else ()) if m.codebook in versions]
    if used:
        return max(used, key=lambda book: book.version), False
    given = any(arrival.annotations for arrival in arrivals)
    return (reading.made_codebook(study, arrivals, words), True) if given else (None, False)


def _put(record: Record, rater: str) -> dict[str, bool]:
    """The ids of all marks that a rater, or units that anybody, ever gave, and whether a file gave
    them last. rater: empty for units."""
    kind = marks_file.PUT if rater else units_file.PUT
    return {
        str(step.line.body.get("id")): step.line.body.get(WHY) == IMPORTED
        for step in history_of(record, rater)
        if step.line.kind == kind
    }


def _refuse_uncoded(record: Record) -> None:
    why = todo = ""
    if record.kind != "session":
        why, todo = "coding_bundle", "name_session"
    elif record.running:
        why, todo = "coding_recorded", "bring_in_later"
    elif record.withdrawn:
        why, todo = "session_withdrew", "bring_in_no_more"
    if why:
        raise ExchangeError(
            Message(why, session=str(record.name)), safe=NOTHING_CHANGED, todo=Message(todo)
        )


def _freeze(
    record: Record,
    annotations: SessionAnnotations,
    book: Codebook,
    rater: str,
    round_: Round,
    *,
    made: bool,
) -> bool:
    """Whether units are frozen so that codes can be given. Raises ExchangeError where they cannot
    be."""
    own = annotations.raters.get(rater)
    if own is not None and own.status_of(round_) == "locked":
        raise ExchangeError(
            Message("marks_locked", rater=rater, round=round_),
            safe="Nothing was changed.",
            todo=Message("bring_in_as_other"),
        )
    if not book.needs_units or annotations.segmentation.frozen:
        return False
    if made:
        return True
    units = annotations.segmentation.units
    raise ExchangeError(
        Message(
            "units_open" if units else "units_none", session=str(record.name), codebook=book.id
        ),
        safe="Nothing was changed.",
        todo=Message("freeze_first", session=str(record.name)),
    )


# --- where no window has the session's annotations open ------------------------------------------

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
            spoken = annotations_of(self._record).segmentation.units
            if not self._units.units and spoken:
                self._units.put_all(spoken)  # of a simulated participant, who has them unwritten
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
    plan : of this session.
    session : its folder.
    record : the session.
    """
    study = session.absolute().parent
    made = reading.write_codebook(study, plan.codebook) if plan.new_codebook else None
    files = SessionFiles(plan, session.absolute(), record)
    try:
        return apply(plan, files)
    except BaseException:
        if made is not None:
            leftovers.drop(made)
        raise
    finally:
        files.close()
