"""What a file of another tool changes in a session: as a plan, which nothing is done by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labapp.annotations.codebook import Codebook
from labapp.annotations.editing import IMPORTED, WHY
from labapp.annotations.history import history_of
from labapp.annotations.marks import PUT
from labapp.annotations.model import Round, SessionAnnotations
from labapp.annotations.places import check_rater
from labapp.annotations.store import annotations_of, codebooks_in
from labapp.errors import ExchangeError
from labapp.exchange import incoming as reading
from labapp.exchange.gathering import Coding, FileClock, clocks_of, sheet_of, silences
from labapp.exchange.incoming import Incoming, Translation
from labapp.exchange.marks_in import Given, MarksIn
from labapp.exchange.model import Annotation, Arrival, Sheet
from labapp.exchange.plan import Plan
from labapp.exchange.units_in import UnitsIn
from labapp.journal.record import Record
from labapp.replay.sound import SessionSound


def plan_import(
    record: Record,
    rater: str,
    incoming: Incoming,
    *,
    translation: Translation | None = None,
    codebook: str = "",
    time: str = "",
    round: Round | None = None,  # noqa: A002  (the field's word)
) -> Plan:
    """What bringing in a file would change.

    Parameters
    ----------
    record : Record
        A session folder.
    rater : str
        Whose marks its codes become.
    incoming : Incoming
        The file.
    translation : mapping, optional
        See `labapp.exchange.incoming.read_translation`.
    codebook : str
        The id of the codebook, where the study has several.
    time : str
        Whose time the file has, where it does not say; see `labapp.exchange.incoming.clock_of`.
    round : str, optional
        See `labapp.annotations.model.Round`; left out, the one that the rater is in.

    Raises
    ------
    AnnotationError
        The file is of another session, or the session or rater cannot be coded.
    UsageError
        Nothing says which codebook or whose time it is.
    """
    study = Path(record.source).absolute().parent
    _refuse_uncoded(record)
    check_rater(rater, study)
    reading.refuse_foreign(incoming.arrivals, str(record.name), incoming.name)
    annotations = annotations_of(record)
    own = annotations.raters.get(rater)
    round_ = round or (own.round if own else "independent")
    arrivals = [reading.translated(arrival, translation or {}) for arrival in incoming.arrivals]
    book, new = _codebook(record, annotations, rater, study, codebook, arrivals)
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
        for arrival in arrivals:
            clock, why = reading.clock_of(arrival, incoming.name, incoming.form, clocks, time)
            times[why] = None
            placed.append((arrival, clock, sheet_of(record, rater, coding, clock, sound)))
            lost += arrival.lost
        end_ns = clocks[0].t1_ns
    finally:
        sound.close()
    units = UnitsIn(annotations, rater, incoming.form, end_ns, allowed=record.may("transcript"))
    given = MarksIn(
        Given(annotations, marks, book, rater, round_, _brought_in(record, rater)),
        incoming.form,
        end_ns,
    )
    for arrival, clock, sheet in placed:
        units.meet(arrival, clock, sheet)
        given.meet(arrival, clock, sheet, units)
    given.cut()
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
) -> tuple[Codebook | None, bool]:
    """The codebook that codes are given by, and whether it is made of the file."""
    chosen = reading.chosen_codebook(study, wanted)
    if chosen is not None:
        return chosen, False
    versions, own = codebooks_in(record), annotations.raters.get(rater)
    used = [versions[m.codebook] for m in (own.marks if own else ()) if m.codebook in versions]
    if used:
        return max(used, key=lambda book: book.version), False
    every: list[Annotation] = [a for arrival in arrivals for a in arrival.annotations]
    return (reading.made_codebook(study, every), True) if every else (None, False)


def _brought_in(record: Record, rater: str) -> frozenset[str]:
    """The ids of the rater's marks that a file put last."""
    last: dict[str, bool] = {}
    for step in history_of(record, rater):
        if step.line.kind == PUT:
            last[str(step.line.body.get("id"))] = step.line.body.get(WHY) == IMPORTED
    return frozenset(name for name, brought in last.items() if brought)


def _refuse_uncoded(record: Record) -> None:
    why = todo = ""
    if record.kind != "session":
        why, todo = "is a bundle: what was exported is not written to", "Name the session itself."
    elif record.running:
        why, todo = "is being recorded", "Bring the file in once the session is over."
    elif record.withdrawn:
        why, todo = "is of a participant who withdrew", "Bring nothing of it in any more."
    if why:
        raise ExchangeError(f"{record.name} {why}.", safe="Nothing was changed.", todo=todo)


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
            f"The marks of {rater} in the round {round_} are locked: agreement was computed from "
            "them.",
            safe="Nothing was changed.",
            todo="Bring the file in as another rater, or settle what differs (labapp code "
            "adjudicate).",
        )
    if not book.needs_units or annotations.segmentation.frozen:
        return False
    if made:
        return True
    units = annotations.segmentation.units
    raise ExchangeError(
        f"{record.name} has {'units that are not frozen' if units else 'no units yet'}, and codes "
        f"of {book.id} are given to units.",
        safe="Nothing was changed.",
        todo=f"Make and freeze them first: labapp code segment {record.name} --freeze",
    )
