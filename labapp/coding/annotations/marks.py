"""A rater's marks in a session: their file, folded and open for work."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from labapp.base.errors import AnnotationError
from labapp.base.messages import Message
from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.annotations.final import overlap
from labapp.coding.annotations.ledger import (
    IMPORTED,
    WHY,
    EditedFile,
    Entry,
    Line,
    body_of,
    in_order,
    new_id,
    record_from,
    switch_in,
    text_in,
)
from labapp.coding.annotations.model import (
    ROUNDS,
    STATUSES,
    Blinding,
    Mark,
    RaterMarks,
    Round,
    Segmentation,
    Status,
)

OPENED = "set.opened"
PUT = "mark.put"
REMOVED = "mark.removed"
STATUS = "status"
MEMO = "memo.put"
TOMBSTONE = "rewritten"
"""What was taken out of the file, and why: behind a redaction or a withdrawal."""


class MarksFold:
    """The marks in a rater's file.

    Attributes
    ----------
    marks : by their ids, those taken back left out.
    memos : remarks on the session (`session`) and on codes (`code:ID`), by what they are about.
    opened : what was said when it was opened last: session, codebook, rater, blind, round.
    """

    def __init__(self) -> None:
        self.marks: dict[str, Mark] = {}
        self.statuses: dict[str, Status] = {}
        self.opened: Mapping[str, Any] = {}
        self.memos: dict[str, str] = {}
        self._ordered: list[Mark] = []
        self._together: dict[tuple[str, str | None], set[str]] = defaultdict(set)

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError."""
        if line.kind == PUT:
            mark = replace(record_from(Mark, line.body), utc=line.utc)
            in_order(mark.t0_ns, mark.t1_ns)
            self._take_out(mark.id)
            self.marks[mark.id] = mark
            insort(self._ordered, mark, key=_place)
            self._together[mark.tier, mark.unit].add(mark.id)
        elif line.kind == REMOVED:
            self._take_out(text_in(line.body, "id"))
        elif line.kind == MEMO:
            about, text = text_in(line.body, "about"), text_in(line.body, "text")
            self.memos[about] = text
            if not text:
                del self.memos[about]
        elif line.kind == STATUS:
            status = text_in(line.body, "status")
            if status not in STATUSES:
                raise ValueError(f"its status is {status!r}")
            self.statuses[text_in(line.body, "round")] = cast(Status, status)
        elif line.kind == OPENED:
            text_in(line.body, "rater")
            text_in(line.body, "codebook")
            switch_in(line.body, "machine")
            if line.body.get("round") not in ROUNDS:
                raise ValueError(f"its round is {line.body.get('round')!r}")
            self.opened = line.body
        elif line.kind not in (TOMBSTONE, IMPORTED):
            raise ValueError("it was written by a newer version of labapp")

    def copy(self) -> MarksFold:
        """An independent copy with the same content."""
        other = MarksFold()
        other.marks, other.statuses = dict(self.marks), dict(self.statuses)
        other.opened, other.memos = self.opened, dict(self.memos)
        other._ordered = list(self._ordered)
        other._together.update((key, set(names)) for key, names in self._together.items())
        return other

    def _take_out(self, mark_id: str) -> None:
        mark = self.marks.pop(mark_id, None)
        if mark is not None:
            del self._ordered[bisect_left(self._ordered, _place(mark), key=_place)]
            self._together[mark.tier, mark.unit].discard(mark_id)

    def ordered(self) -> tuple[Mark, ...]:
        """The marks in order of time."""
        return tuple(self._ordered)

    def together(self, tier: str, unit: str | None) -> tuple[Mark, ...]:
        """The marks of a tier on a unit, or all that are on none; in order of time."""
        marks = (self.marks[name] for name in self._together.get((tier, unit), ()))
        return tuple(sorted(marks, key=_place))

    def rater_marks(self, rater: str) -> RaterMarks:
        """Everything as a record. rater: the name of the file."""
        opened = self.opened
        return RaterMarks(
            rater,
            self.ordered(),
            self.statuses.get(opened.get("round", ""), "draft"),
            bool(opened.get("machine", False)),
            str(opened.get("codebook", "")),
            opened.get("round", "independent"),
            dict(self.statuses),
        )


FOLLOWED = "followed"
"""Why a mark is another one: its code was renamed, or merged into another one."""


class MarksFile(EditedFile):
    """A rater's marks in a session, open for work. blind, round: what every mark says of how it was
    given."""

    OPENED = OPENED

    def __init__(
        self,
        path: Path,
        rater: str,
        codebook: Codebook,
        *,
        blind: Sequence[Blinding],
        round: Round,  # noqa: A002  (the field's word)
        segmentation: Segmentation,
        foreign: Iterable[str] = (),
        fold: MarksFold,
        checked: Callable[[], None] | None = None,
    ) -> None:
        self.rater = self.who = rater
        self.codebook = codebook
        self.blind = tuple(blind)
        self.round: Round = round
        self._units = {unit.id: unit for unit in segmentation.units}
        self._foreign = frozenset(foreign)
        self._marks = fold
        self._ordered: tuple[Mark, ...] | None = None
        self._loose: frozenset[str] | None = None
        super().__init__(path, self._marks, checked)

    def _inverse(self, kind: str, body: Mapping[str, Any]) -> Sequence[Entry] | None:
        if kind == IMPORTED:
            return ()
        if kind == MEMO:
            memo = self._marks.memos.get(str(body.get("about")), "")
            return ((MEMO, {"about": body.get("about"), "text": memo}),)
        if kind not in (PUT, REMOVED):
            return None
        before = self._marks.marks.get(str(body.get("id")))
        if before is not None:
            return (_putting(before),)
        return (_removal(str(body.get("id"))),) if kind == PUT else ()

    def _settles(self, opened: Line) -> bool:
        now = self._marks.opened
        return any(now.get(key) != opened.body.get(key) for key in ("codebook", "round"))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """In order of time."""
        if self._ordered is None:
            self._ordered = self._marks.ordered()
        return self._ordered

    @property
    def status(self) -> Status:
        """Of the round that is open, see `labapp.coding.annotations.model.Status`."""
        return self._marks.statuses.get(self.round, "draft")

    def get(self, mark_id: str) -> Mark | None:
        """The mark of that id; None if there is none."""
        return self._marks.marks.get(mark_id)

    def give(
        self,
        code: str,
        *,
        unit: str | None = None,
        t0_ns: int | None = None,
        t1_ns: int | None = None,
        value: int | None = None,
        memo: str = "",
    ) -> Mark:
        """Give a code to a unit, or to a span or point of its own. Raises AnnotationError as
        `put`.

        Parameters
        ----------
        unit : the id of the unit; without it, t0_ns is needed.
        t0_ns, t1_ns : session time; of a point the first alone.
        value : on a tier with values.
        """
        known = self.codebook.code(code)
        stretch = self._units.get(unit) if unit is not None else None
        begin = stretch.t0_ns if stretch is not None else t0_ns or 0
        end = stretch.t1_ns if stretch is not None else t1_ns if t1_ns is not None else begin
        tier = "" if known is None else known.tier
        return self.put(Mark(new_id(), self.rater, tier, code, begin, end, unit, value, memo))

    def put(self, mark: Mark) -> Mark:
        """Give a mark of this file's rater, codebook, round and blinding, or change the one of that
        id; what it displaces on an exclusive tier goes. Returns it as it is in the file. Raises
        AnnotationError if the codebook or the units do not allow it, or it cannot be written."""
        mark, entries, inverse = self._putting(mark)
        lines = self._do(entries, inverse)
        return replace(mark, utc=lines[-1].utc)

    def _putting(self, mark: Mark, why: str = "") -> tuple[Mark, list[Entry], list[Entry]]:
        """A mark as it will be in the file, the lines that give it, the last of them its own, and
        those that take it back. Raises AnnotationError as `put`."""
        mark = replace(
            mark,
            rater=self.rater,
            codebook=self.codebook.sha256,
            round=self.round,
            blind=self.blind,
        )
        tier = self._check_mark(mark)
        if (unit := self._units.get(mark.unit or "")) is not None:
            mark = replace(mark, t0_ns=unit.t0_ns, t1_ns=unit.t1_ns)
        before = self.get(mark.id)
        if before is not None:
            self._refuse_round(before.round)
        entries: list[Entry] = []
        inverse: list[Entry] = []
        if tier.exclusive:
            for other, rest in self._find_displaced(mark):
                pieces = [_putting(piece, "displaced") for piece in rest]
                entries += pieces or [_removal(other.id, "displaced")]
                inverse += [_removal(piece.id) for piece in rest if piece.id != other.id]
                inverse.append(_putting(other))
        for other in self._find_replaced(mark):
            entries.append(_removal(other.id, "displaced"))
            inverse.append(_putting(other))
        entries.append(_putting(mark, why))
        inverse.append(_putting(before) if before is not None else _removal(mark.id))
        return mark, entries, inverse

    def remove(self, mark_id: str) -> None:
        """Take a mark back. Raises AnnotationError if there is none of that id."""
        self._do([_removal(mark_id)], [_putting(self._removable(mark_id))])

    def _removable(self, mark_id: str) -> Mark:
        mark = self.get(mark_id)
        if mark is None:
            raise AnnotationError(Message("mark_unknown", rater=self.rater, mark=repr(mark_id)))
        self._refuse_round(mark.round)
        return mark

    def bring_in(
        self, put: Iterable[Mark], removed: Iterable[str], source: Mapping[str, Any]
    ) -> None:
        """Give, change and take back marks as one change, as a file of another tool has them.
        Raises AnnotationError as `put` and `remove`; nothing was changed then."""
        self._change_together(put, removed, IMPORTED, [(IMPORTED, dict(source))])

    def follow(self, put: Iterable[Mark], removed: Iterable[str]) -> None:
        """Let marks follow codes that the codebook renamed or merged, as one change; each line says
        so. Raises AnnotationError as `bring_in`."""
        self._change_together(put, removed, FOLLOWED, [])

    def _change_together(
        self, put: Iterable[Mark], removed: Iterable[str], why: str, entries: list[Entry]
    ) -> None:
        stored = self._marks
        self._marks = stored.copy()
        inverse: list[Entry] = []
        try:
            for mark_id in removed:
                mark = self._removable(mark_id)
                self._stage([_removal(mark_id, why)], entries)
                inverse.insert(0, _putting(mark))
            for mark in put:
                _, own, back = self._putting(mark, why)
                self._stage(own, entries)
                inverse[:0] = back
        finally:
            self._marks = stored
            self._changed()
        self._do(entries, inverse)

    def _stage(self, own: Sequence[Entry], entries: list[Entry]) -> None:
        """Add lines to those that will be written, and let what comes next see them."""
        for kind, body in own:
            self._marks.apply(Line(0, "", kind, 1, body))
        entries += own

    @property
    def memos(self) -> Mapping[str, str]:
        """Remarks on the session (`session`) and on codes (`code:ID`), by what they are about."""
        return self._marks.memos

    def put_memo(self, about: str, text: str) -> None:
        """Write a remark on the session or on a code; an empty one takes it away. Raises
        AnnotationError."""
        before = self._marks.memos.get(about, "")
        if text != before:
            entry, inverse = ({"about": about, "text": value} for value in (text, before))
            self._do([(MEMO, entry)], [(MEMO, inverse)])

    def set_status(self, status: Status) -> None:
        """Say that all is coded, or not yet, or that nothing may change any more.

        Raises AnnotationError for marks that are locked.
        """
        if status == self.status:
            return
        self._refuse_locked()
        self._append([(STATUS, {"status": status, "round": self.round})])
        self._undo.clear()
        self._redo.clear()

    def _check_mark(self, mark: Mark) -> Tier:
        """The tier of a mark. Raises AnnotationError if there can be no such mark."""
        code = self.codebook.code(mark.code)
        tier = self.codebook.tier(mark.tier)
        why: Message | None = None
        of = {"code": repr(mark.code), "tier": repr(mark.tier)}
        if code is None:
            why = Message("code_unknown", code=of["code"], codebook=self.codebook.id)
        elif tier is None or code.tier != tier.name:
            why = Message("code_of_another_tier", **of, other=repr(code.tier))
        elif code.retired:
            why = Message("code_retired", code=of["code"], why=code.retired)
        elif tier.on == "units" and mark.unit not in self._units:
            why = Message("code_for_units", tier=of["tier"])
        elif tier.on == "spans" and mark.unit is not None:
            why = Message("code_for_spans", tier=of["tier"])
        elif tier.on == "spans" and not _fits(mark, code.kind):
            ends = {"begin": mark.t0_ns / 1e9, "end": mark.t1_ns / 1e9}
            why = Message("span_empty" if code.kind == "span" else "point_long", **ends)
        elif mark.value is not None and mark.value not in tier.values:
            allowed = ", ".join(map(str, tier.values)) or "–"
            why = Message("value_unknown", tier=of["tier"], value=mark.value, allowed=allowed)
        if why is not None or tier is None:
            raise AnnotationError(Message("cannot_be_coded", why=why or ""))
        return tier

    def _find_displaced(self, mark: Mark) -> Iterator[tuple[Mark, list[Mark]]]:
        """The marks of the same tier that cannot stand beside this one, and what is left of
        each."""
        for other in self._marks.together(mark.tier, mark.unit):
            if other.id == mark.id or other.round != mark.round or other.codebook in self._foreign:
                continue
            if mark.unit is not None:
                yield other, []
            elif mark.t0_ns == mark.t1_ns or other.t0_ns == other.t1_ns:
                if (mark.t0_ns, mark.t1_ns) == (other.t0_ns, other.t1_ns):
                    yield other, []
            elif other.t0_ns < mark.t1_ns and mark.t0_ns < other.t1_ns:
                yield other, _outside(other, mark)

    def _find_replaced(self, mark: Mark) -> Iterator[Mark]:
        """The marks of units that were split or merged which this one, on a unit in their place, is
        the last to replace: by then each unit in their place has a mark of the tier."""
        if mark.unit is None:
            return
        for name in self.gone():
            other = self._marks.marks[name]
            same = (other.tier, other.round) == (mark.tier, mark.round)
            if not same or other.codebook in self._foreign or not overlap(other, mark):
                continue
            if all(
                unit.id == mark.unit or self._marks.together(mark.tier, unit.id)
                for unit in self._units.values()
                if unit.t0_ns < other.t1_ns and other.t0_ns < unit.t1_ns
            ):
                yield other

    def gone(self) -> list[str]:
        """The ids of marks whose units are gone, as units that were split or merged."""
        if self._loose is None:
            loose = (m.id for m in self.marks if m.unit is not None and m.unit not in self._units)
            self._loose = frozenset(loose)
        return [name for name in self._loose if name in self._marks.marks]

    def _refuse_locked(self) -> None:
        self._refuse_round(self.round)

    def _refuse_round(self, round_: str) -> None:
        if self._marks.statuses.get(round_) == "locked":
            raise AnnotationError(
                Message("marks_locked", rater=self.rater, round=round_),
                todo=Message("marks_locked_todo"),
            )

    def _changed(self) -> None:
        self._ordered = None


def _place(mark: Mark) -> tuple[int, int, str]:
    return mark.t0_ns, mark.t1_ns, mark.id


def _fits(mark: Mark, kind: str) -> bool:
    if mark.t0_ns < 0:
        return False
    return mark.t0_ns == mark.t1_ns if kind == "point" else mark.t0_ns < mark.t1_ns


def _outside(other: Mark, mark: Mark) -> list[Mark]:
    """What is left of a span beside another one: nothing, its beginning, its end or both."""
    left: list[Mark] = []
    if other.t0_ns < mark.t0_ns:
        left.append(replace(other, t1_ns=mark.t0_ns))
    if other.t1_ns > mark.t1_ns:
        own_id = new_id() if left else other.id
        left.append(replace(other, id=own_id, t0_ns=mark.t1_ns))
    return left


def _putting(mark: Mark, why: str = "") -> Entry:
    return PUT, body_of(mark) | ({WHY: why} if why else {})


def _removal(mark_id: str, why: str = "") -> Entry:
    return REMOVED, {"id": mark_id} | ({WHY: why} if why else {})
