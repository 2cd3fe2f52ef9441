"""What a file of another tool changes in a session: as a plan first, and then done."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from labapp.base import leftovers
from labapp.base.errors import ExchangeError
from labapp.base.messages import Message
from labapp.base.reading.values import Budget, TooMuch
from labapp.coding.annotations import marks as marks_file
from labapp.coding.annotations import units as units_file
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.final import overlap as share_time
from labapp.coding.annotations.ledger import IMPORTED, WHY, new_id
from labapp.coding.annotations.marks import MarksFile
from labapp.coding.annotations.model import (
    Blinding,
    Mark,
    Round,
    SessionAnnotations,
    check_rater,
    time_text,
)
from labapp.coding.annotations.store import (
    annotations_of,
    codebooks_in,
    history_of,
    open_marks,
    open_texts,
    open_units,
)
from labapp.coding.annotations.texts import TextsFile, is_redacted
from labapp.coding.annotations.units import UnitsFile
from labapp.coding.exchange import incoming as reading
from labapp.coding.exchange import model
from labapp.coding.exchange.files import TOO_MUCH, unreadable
from labapp.coding.exchange.gathering import (
    ExportedCoding,
    FileClock,
    clocks_of,
    sheet_of,
    silences,
)
from labapp.coding.exchange.incoming import Incoming, Translation, map_row, resolve
from labapp.coding.exchange.model import Annotation, Arrival, Format, Sheet, digest, digest_of_mark
from labapp.coding.exchange.plan import (
    Before,
    ImportPlan,
    ImportStep,
    Pairs,
    Ruler,
    UnitsIn,
    apply,
    quote_text,
)
from labapp.coding.sound import SessionSound
from labapp.record.journal.record import Record


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
) -> ImportPlan:
    """The changes that importing a file would make. Raises AnnotationError: the file is of another
    session, or the session or rater cannot be coded; UsageError: nothing says which codebook or
    whose time it is.

    Parameters
    ----------
    record : a session folder.
    translation : see `labapp.coding.exchange.incoming.read_translation`.
    codebook : the id of the codebook, if the study has several.
    time : whose time the file has, if it does not say; see
        `labapp.coding.exchange.incoming.clock_of`.
    words_only : whether words go into the units that are there, as those that they overlap most.
    round : see `labapp.coding.annotations.model.Round`; left out, the one that the rater is in.
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
        reading.translate_arrival(arrival, translation, record.participant)
        for arrival in own_arrivals
    ]
    arrivals[0] = replace(
        arrivals[0], lost=(*arrivals[0].lost, *reading.find_unused_names(own_arrivals, translation))
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
    coding = ExportedCoding(annotations, marks, book)
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
        RaterCoding(annotations, marks, book, rater, round_, _put(record, rater)),
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
    return ImportPlan(
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
    `labapp.coding.exchange.incoming.tiers_of_words`."""
    chosen = reading.choose_codebook(study, wanted)
    if chosen is not None:
        return chosen, False
    versions, own = codebooks_in(record), annotations.raters.get(rater)
    used = [versions[m.codebook] for m in (own.marks if own else ()) if m.codebook in versions]
    if used:
        return max(used, key=lambda book: book.version), False
    given = any(arrival.annotations for arrival in arrivals)
    return (reading.make_codebook(study, arrivals, words), True) if given else (None, False)


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
        raise ExchangeError(Message(why, session=str(record.name)), todo=Message(todo))


def _freeze(
    record: Record,
    annotations: SessionAnnotations,
    book: Codebook,
    rater: str,
    round_: Round,
    *,
    made: bool,
) -> bool:
    """Whether units are frozen so that codes can be given. Raises ExchangeError if they cannot
    be."""
    own = annotations.raters.get(rater)
    if own is not None and own.status_of(round_) == "locked":
        raise ExchangeError(
            Message("marks_locked", rater=rater, round=round_), todo=Message("bring_in_as_other")
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
        todo=Message("freeze_first", session=str(record.name)),
    )


# --- where no window has the session's annotations open ------------------------------------------

HEARD: tuple[Blinding, ...] = ("names", "outcomes", "screen")
"""What somebody who coded in another tool was not shown; what comes later they could hear."""


class SessionFiles:
    """The files of a session's annotations, each opened when it is asked for."""

    def __init__(self, plan: ImportPlan, session: Path, record: Record) -> None:
        self._plan, self._session, self._record = plan, session, record
        self._opened = ExitStack()

    @cached_property
    def units_file(self) -> UnitsFile:
        """Raises AnnotationError."""
        file = open_units(self._session, self._plan.rater, record=self._record)
        self._opened.enter_context(file)
        spoken = annotations_of(self._record).segmentation.units
        if not file.units and spoken:
            file.put_all(spoken)  # of a simulated participant, who has them unwritten
        return file

    @cached_property
    def texts_file(self) -> TextsFile:
        """Raises AnnotationError."""
        file = open_texts(self._session, self._plan.rater, record=self._record)
        return self._opened.enter_context(file)

    @cached_property
    def marks_file(self) -> MarksFile:
        """Raises AnnotationError."""
        plan = self._plan
        known = annotations_of(self._record).raters.get(plan.rater)
        file = open_marks(
            self._session,
            plan.rater,
            plan.codebook,
            blind=known.marks[-1].blind if known is not None and known.marks else HEARD,
            round=plan.round,
            record=self._record,
        )
        return self._opened.enter_context(file)

    def close(self) -> None:
        """Save everything and let others open the files. Raises AnnotationError."""
        self._opened.close()


def bring_in(plan: ImportPlan, session: Path, record: Record) -> list[str]:
    """Do what a plan says; see `labapp.coding.exchange.plan.apply`."""
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


MOST_NAMED = 20
"""Unknown codes of a tier that are named one by one."""


@dataclass(frozen=True, slots=True)
class RaterCoding:
    """A rater's present coding of a session.

    Attributes
    ----------
    marks : the rater's, of this round and codebook.
    codebook : by which codes are given from now on.
    ever : ids of all marks that the rater ever gave, and whether a file gave them last.
    """

    annotations: SessionAnnotations
    marks: tuple[Mark, ...]
    codebook: Codebook
    rater: str
    round: Round
    ever: Mapping[str, bool]


class MarksIn:
    """Finds what a file changes of a rater's marks. unchanged: how many are in the file as they are
    here."""

    def __init__(
        self,
        given: RaterCoding,
        form: Format,
        end_ns: int,
        budget: Budget,
        words: Sequence[str] = (),
    ) -> None:
        """budget: see `labapp.coding.exchange.plan.Pairs`. words: see
        `labapp.coding.exchange.incoming.tiers_of_words`."""
        self._words = words
        self._budget = budget
        self._given, self._ruler, self._end_ns = given, Ruler(form.precision_ns), end_ns
        self._marks = {mark.id: mark for mark in given.marks}
        self._earlier = {(mark.tier, mark.code) for mark in given.marks}
        self.put: list[Mark] = []
        self.removed: list[str] = []
        self.unchanged = 0
        self.steps: list[ImportStep] = []
        self._unknown: dict[str, Counter[Message]] = {}
        self._lost: list[Message] = []

    @property
    def lost(self) -> list[Message]:
        """What cannot be brought over."""
        unknown: list[Message] = []
        for tier, left in self._unknown.items():
            if len(left) > MOST_NAMED or tier in self._words:
                n, row = left.total(), map_row(tier)
                unknown.append(Message("left_tier", n=n, tier=repr(tier), row=row))
            else:
                unknown += (
                    Message("left_several", n=count, what=what) if count > 1 else what
                    for what, count in left.items()
                )
        return [*unknown, *self._lost]

    def meet(self, arrival: Arrival, clock: FileClock, sheet: Sheet, units: UnitsIn) -> None:
        """Take in what a file holds of a sound, or session. units: which met it before."""
        arrived, here = arrival.annotations, sheet.annotations
        stamp = arrival.stamp
        own = stamp is not None and stamp.rater == self._given.rater
        ours = set(stamp.marks) if stamp is not None and own else set()
        were = dict(zip(stamp.marks, stamp.marks_were, strict=False)) if stamp and own else {}
        ever = self._given.ever
        before = Before(were, (name for name, by_file in ever.items() if by_file))
        named = {number: self._name(annotation) for number, annotation in enumerate(arrived)}
        # What the file calls them, and what the codebook does.
        renamed = [
            annotation if isinstance(name, str) else replace(annotation, tier=name[0], code=name[1])
            for annotation, name in zip(arrived, named.values(), strict=True)
        ]
        gone = {
            n for n, a in enumerate(arrived)
            if a.id in ours and a.id in ever and a.id not in self._marks
        }  # fmt: skip
        pairs = Pairs(renamed, here, ours.__contains__, self._budget)
        pairs.by(renamed, here, _same_code, self._ruler, gone)
        pairs.by(renamed, here, self._same_place, self._ruler, gone)
        pairs.by_overlap(renamed, here, _same_code, gone)
        for number, annotation in enumerate(renamed):
            place = pairs.of.get(number)
            if place is not None:
                why = named[number]
                self._merge_known(
                    annotation, here[place], why, clock, units, before, memos=arrival.memos
                )
            elif number in gone:
                self._lose(annotation, clock, Message("mark_gone_here"))
            else:
                self._new(annotation, named[number], clock, units)
        alone = pairs.alone(here)
        for known in alone:
            if known.id in ours and known.id is not None:
                self._remove_missing(known, before)
        stay = sum(known.id not in ours for known in alone)
        if stay and arrived and not own:
            self._lost.append(Message("marks_stay", n=stay))

    # --- what a code is called --------------------------------------------------------------------

    def _name(self, annotation: Annotation) -> tuple[str, str] | Message:
        """Tier and code by the codebook, or why there are none."""
        point = annotation.t0_ns == annotation.t1_ns
        resolved = resolve(self._given.codebook, annotation.tier, annotation.code, point=point)
        name = annotation.tier, annotation.code
        # The rater may have given such a code by an earlier version of the codebook.
        return name if isinstance(resolved, str) and name in self._earlier else resolved

    def _same_place(self, a: Annotation, b: Annotation) -> bool:
        """Whether a code stands where another of the same exclusive tier does."""
        tier = self._given.codebook.tier(b.tier)
        return a.tier == b.tier and tier is not None and tier.exclusive

    # --- what is here -----------------------------------------------------------------------------

    def _merge_known(
        self,
        annotation: Annotation,
        known: Annotation,
        name: tuple[str, str] | Message,
        clock: FileClock,
        units: UnitsIn,
        before: Before,
        *,
        memos: bool,
    ) -> None:
        mark = self._marks[known.id or ""]
        if before.has_changed_here(mark.id, digest_of_mark(known)):
            if before.has_changed_there(mark.id, digest_of_mark(annotation)):
                self._lose(annotation, clock, Message("mark_changed_here"))
            else:
                self.unchanged += 1
            return
        fresh = mark
        if isinstance(name, str):
            if (annotation.tier, annotation.code) != (known.tier, known.code):
                self._miss(annotation, name)
                return
        elif name != (known.tier, known.code):
            fresh = replace(fresh, tier=name[0], code=name[1])
        timed = self._move_mark(annotation, known, fresh, clock, units)
        if isinstance(timed, str):
            self._lose(annotation, clock, timed)
            return
        fresh = replace(timed, value=annotation.value)
        if memos and digest(annotation.memo) != digest(known.memo):
            fresh = self._update_memo(fresh, annotation.memo)
        if fresh == mark:
            self.unchanged += 1
            return
        if refused := self._explain_refusal(fresh):
            self._lose(annotation, clock, refused)
            return
        self.put.append(fresh)
        what, was = "mark changed", f"{_value(mark)}{quote_text(mark.memo)}".strip()
        if (fresh.tier, fresh.code) != (mark.tier, mark.code):
            what, was = "mark recoded", _about(mark)
        elif (fresh.t0_ns, fresh.t1_ns, fresh.unit) != (mark.t0_ns, mark.t1_ns, mark.unit):
            what, was = "mark moved", f"{_clock(mark.t0_ns)}–{_clock(mark.t1_ns)}"
        self._tell(what, fresh, was or Message("step_without"))

    def _move_mark(
        self,
        annotation: Annotation,
        known: Annotation,
        mark: Mark,
        clock: FileClock,
        units: UnitsIn,
    ) -> Mark | Message:
        """The mark where the file has it, or why it cannot be there."""
        tier = self._given.codebook.tier(mark.tier)
        if mark.unit is not None and (tier is None or tier.on == "units"):
            if self._ruler.same_stretch(annotation, known):
                return mark
            unit = units.unit_at(annotation.t0_ns, annotation.t1_ns)
            if not unit:
                return Message("mark_no_unit")
            return mark if unit == mark.unit else self._on(mark, unit)
        point = mark.t0_ns == mark.t1_ns
        begin, end = mark.t0_ns, mark.t1_ns
        if not self._ruler.same(annotation.t0_ns, known.t0_ns):
            begin = clock.to_session(annotation.t0_ns)
        if point:
            end = begin
        elif not self._ruler.same_stretch(annotation, known) and not self._ruler.same(
            annotation.t1_ns, known.t1_ns
        ):
            end = clock.to_session(annotation.t1_ns)
        if not self._inside(begin, end):
            return Message("outside_session")
        return replace(mark, t0_ns=max(0, begin), t1_ns=min(max(begin, end), self._end_ns))

    def _on(self, mark: Mark, unit_id: str) -> Mark:
        unit = self._given.annotations.segmentation.unit(unit_id)
        if unit is None:
            return replace(mark, unit=unit_id)
        return replace(mark, unit=unit_id, t0_ns=unit.t0_ns, t1_ns=unit.t1_ns)

    def _remove_missing(self, known: Annotation, before: Before) -> None:
        mark = self._marks[known.id or ""]
        if before.has_changed_here(mark.id, digest_of_mark(known)):
            self._lost.append(Message("mark_gone_there", mark=_about(mark), at=_clock(mark.t0_ns)))
            return
        self.removed.append(mark.id)
        self._tell("mark removed", mark, "")

    # --- what is new ------------------------------------------------------------------------------

    def _new(
        self,
        annotation: Annotation,
        name: tuple[str, str] | Message,
        clock: FileClock,
        units: UnitsIn,
    ) -> None:
        if isinstance(name, str):
            self._miss(annotation, name)
            return
        tier, code = self._given.codebook.tier(name[0]), self._given.codebook.code(name[1])
        if tier is None or code is None or code.retired:
            self._lose(annotation, clock, Message("mark_code_retired"))
            return
        begin, end = clock.to_session(annotation.t0_ns), clock.to_session(annotation.t1_ns)
        if not self._inside(begin, end):
            self._lose(annotation, clock, Message("outside_session"))
            return
        begin, end = max(0, begin), min(end, self._end_ns)
        mark = Mark(
            new_id(), self._given.rater, *name, begin, end, None, annotation.value,
            round=self._given.round,
        )  # fmt: skip
        if tier.on == "units":
            unit = units.unit_at(annotation.t0_ns, annotation.t1_ns)
            if not unit:
                self._lose(annotation, clock, Message("mark_no_unit"))
                return
            mark = self._on(mark, unit)
        elif code.kind == "point" and end > begin:
            why = Message("mark_of_moment", mark=f"{tier.name} {code.id}")
            self._lost.append(Message("left_what", what=_place(annotation, clock), why=why))
            mark = replace(mark, t1_ns=begin)
        if annotation.memo.strip():
            mark = self._update_memo(mark, annotation.memo)
        if refused := self._explain_refusal(mark):
            self._lose(annotation, clock, refused)
            return
        self.put.append(mark)
        self._tell("mark added", mark, "")

    def _inside(self, begin: int, end: int) -> bool:
        slack = self._ruler.tolerance
        return begin >= -slack and end <= self._end_ns + slack

    def _update_memo(self, mark: Mark, memo: str) -> Mark:
        if is_redacted(mark.t0_ns, mark.t1_ns, self._given.annotations.redactions):
            self._lost.append(
                Message("mark_memo_redacted", mark=_about(mark), at=_clock(mark.t0_ns))
            )
            return mark
        return replace(mark, memo=memo)

    def _explain_refusal(self, mark: Mark) -> Message | None:
        """Why there can be no such mark by the codebook; None if there can."""
        tier, code = self._given.codebook.tier(mark.tier), self._given.codebook.code(mark.code)
        if tier is None or code is None:
            return Message("mark_code_none")
        if code.retired:
            return Message("mark_code_retired")
        if mark.value is not None and mark.value not in tier.values:
            return Message("mark_value_none", tier=repr(tier.name), value=mark.value)
        if tier.on == "spans" and mark.unit is None:
            if code.kind == "point" and mark.t0_ns != mark.t1_ns:
                return Message("mark_moments", code=code.id)
            if code.kind == "span" and mark.t0_ns == mark.t1_ns:
                return Message("mark_stretches", code=code.id)
        if (tier.on == "units") != (mark.unit is not None):
            return Message(f"mark_on_{tier.on}", tier=repr(tier.name))
        return None

    # --- what others give way to ------------------------------------------------------------------

    def cut(self) -> None:
        """Say which marks give way to those that are put, on exclusive tiers."""
        changed = {mark.id for mark in self.put} | set(self.removed)
        on_units: dict[tuple[str, str | None], list[Mark]] = {}
        others: dict[str, list[Mark]] = {}
        for mark in sorted(self._given.marks, key=lambda mark: mark.t0_ns):
            if mark.id not in changed:
                on_units.setdefault((mark.tier, mark.unit), []).append(mark)
                others.setdefault(mark.tier, []).append(mark)
        begins = {tier: [mark.t0_ns for mark in own] for tier, own in others.items()}
        longest = {tier: max(m.t1_ns - m.t0_ns for m in own) for tier, own in others.items()}
        for mark in self.put:
            tier = self._given.codebook.tier(mark.tier)
            if tier is None or not tier.exclusive or mark.tier not in others:
                continue
            near = on_units.get((mark.tier, mark.unit), [])
            if tier.on != "units":
                first = bisect_left(begins[mark.tier], mark.t0_ns - longest[mark.tier])
                near = others[mark.tier][first : bisect_right(begins[mark.tier], mark.t1_ns)]
            self._budget.compare(len(near))
            for other in near:
                if _gives_way(other, mark, tier):
                    where = Message("step_where", mark=_about(other), code=mark.code)
                    self._tell("mark cut", other, where)

    def _miss(self, annotation: Annotation, why: Message) -> None:
        """Count a code that the codebook does not have."""
        left = Message("left_unknown", what=f"{annotation.tier}: {annotation.code}", why=why)
        self._unknown.setdefault(annotation.tier, Counter())[left] += 1

    def _tell(self, what: str, mark: Mark, before: str) -> None:
        about = f"{_about(mark)}{_value(mark)}{' ' + quote_text(mark.memo) if mark.memo else ''}"
        self.steps.append(ImportStep(what, mark.t0_ns, mark.t1_ns, about, before, mark.id))  # type: ignore[arg-type]

    def _lose(self, annotation: Annotation, clock: FileClock, why: Message) -> None:
        what = f"{annotation.tier} {model.label_of(annotation)}"
        place = _place(annotation, clock)
        self._lost.append(Message("left_mark", place=place, what=what, why=why))


def _gives_way(other: Mark, mark: Mark, tier: Tier) -> bool:
    if tier.on == "units":
        return (other.tier, other.unit) == (mark.tier, mark.unit)
    point = mark.t0_ns == mark.t1_ns or other.t0_ns == other.t1_ns
    if point:
        return other.tier == mark.tier and (other.t0_ns, other.t1_ns) == (mark.t0_ns, mark.t1_ns)
    return share_time(other, mark)


def _same_code(a: Annotation, b: Annotation) -> bool:
    return (a.tier, a.code) == (b.tier, b.code)


def _about(mark: Mark) -> str:
    return f"{mark.tier} {mark.code}"


def _value(mark: Mark) -> str:
    return "" if mark.value is None else f" = {mark.value}"


def _place(annotation: Annotation, clock: FileClock) -> str:
    begin, end = (clock.to_session(t) for t in (annotation.t0_ns, annotation.t1_ns))
    time = _clock(begin) if begin == end else f"{_clock(begin)}–{_clock(end)}"
    return Message("place_timed", place=annotation.place, time=time) if annotation.place else time


def _clock(t_ns: int) -> str:
    return time_text(t_ns, 3)
