"""What raters disagreed about, and what a named adjudicator settled: `settlements.jsonl`.

The marks that raters gave by themselves stay as they are: agreement is computed from them. What was
settled, and why, lies beside them, and the final coding uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labapp.base.errors import AnnotationError
from labapp.base.messages import Message
from labapp.coding.annotations.final import NO_IDS, coding_raters, overlap, tier_of
from labapp.coding.annotations.ledger import (
    EditedFile,
    Entry,
    Line,
    body_of,
    new_id,
    record_from,
    text_in,
)
from labapp.coding.annotations.marks import TOMBSTONE
from labapp.coding.annotations.model import Assignment, Mark, SessionAnnotations, Settlement

SETTLEMENTS = "settlements.jsonl"
OPENED = "settlements.opened"
PUT = "settlement.put"
REMOVED = "settlement.removed"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A unit, or a stretch, that two or more raters coded and not all alike.

    Attributes
    ----------
    unit : the id of the unit; None for spans and points.
    marks : by rater, of all who coded there; empty for one who gave no code.
    """

    session: str
    tier: str
    t0_ns: int
    t1_ns: int
    unit: str | None
    marks: Mapping[str, tuple[Mark, ...]]
    settlement: Settlement | None = None


def disagreements(
    annotations: SessionAnnotations,
    assignments: Sequence[Assignment] = (),
    codebook_ids: Mapping[str, str] = NO_IDS,
) -> list[Disagreement]:
    """Where raters differ, in order of time.

    Units are compared where two raters were to code them: by the assignments, and where there are
    none, where both gave marks on the tier. Spans are joined to stretches by overlap, and differ
    where their codes do, or where a rater gave none.

    Parameters
    ----------
    assignments : who codes what; those of other sessions are passed over.
    codebook_ids : as in `labapp.coding.annotations.final.final_marks`.
    """
    raters = coding_raters(annotations)
    own = [a for a in assignments if a.session == annotations.session and a.round == "independent"]
    independent = {
        rater: [m for m in annotations.raters[rater].marks if m.round == "independent"]
        for rater in raters
    }
    tiers = sorted(
        {tier_of(mark, codebook_ids) for marks in independent.values() for mark in marks}
    )
    result: list[Disagreement] = []
    for book, tier in tiers:
        of_tier = {
            rater: [m for m in marks if tier_of(m, codebook_ids) == (book, tier)]
            for rater, marks in independent.items()
        }
        coders = [rater for rater, marks in of_tier.items() if marks]
        result += _units_that_differ(annotations, tier, of_tier, coders, own)
        result += _spans_that_differ(annotations, tier, of_tier, coders, own)
    result = [replace(d, settlement=_settlement_of(d, annotations.settlements)) for d in result]
    return sorted(result, key=lambda d: (d.t0_ns, d.t1_ns, d.tier))


def _settlement_of(
    disagreement: Disagreement, settlements: Iterable[Settlement]
) -> Settlement | None:
    """What was settled about it; of spans where the same stretch differed."""
    times = (disagreement.t0_ns, disagreement.t1_ns)
    about = (
        settlement
        for settlement in settlements
        if (disagreement.unit is not None or times == (settlement.t0_ns, settlement.t1_ns))
        and _is_about(settlement, disagreement)
    )
    return next(about, None)


def _is_about(settlement: Settlement, disagreement: Disagreement) -> bool:
    """Whether it decides about marks of these."""
    of = {mark.id for given in disagreement.marks.values() for mark in given}
    same = (settlement.tier, settlement.unit) == (disagreement.tier, disagreement.unit)
    return same and not of.isdisjoint(settlement.of)


def _units_that_differ(
    annotations: SessionAnnotations,
    tier: str,
    marks: Mapping[str, Sequence[Mark]],
    coders: Sequence[str],
    own: Sequence[Assignment],
) -> Iterable[Disagreement]:
    on_units: dict[str, dict[str, list[Mark]]] = {}
    for rater in coders:
        for mark in marks[rater]:
            if mark.unit is not None:
                on_units.setdefault(mark.unit, {}).setdefault(rater, []).append(mark)
    for unit in annotations.segmentation.units:
        given = on_units.get(unit.id, {})
        due = _due(unit.t0_ns, coders, own)
        if len(due) < 2 or not given:
            continue
        codes = {rater: {(m.code, m.value) for m in given.get(rater, ())} for rater in due}
        if len(set(map(frozenset, codes.values()))) > 1:
            marks_of = {rater: tuple(given.get(rater, ())) for rater in due}
            times = (unit.t0_ns, unit.t1_ns)
            yield Disagreement(annotations.session, tier, *times, unit.id, marks_of)


def _spans_that_differ(
    annotations: SessionAnnotations,
    tier: str,
    marks: Mapping[str, Sequence[Mark]],
    coders: Sequence[str],
    own: Sequence[Assignment],
) -> Iterable[Disagreement]:
    spans = sorted(
        (m for rater in coders for m in marks[rater] if m.unit is None),
        key=lambda m: (m.t0_ns, m.t1_ns),
    )
    groups: list[list[Mark]] = []
    for mark in spans:
        if groups and any(overlap(mark, other) for other in groups[-1]):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    for group in groups:
        due = _due(group[0].t0_ns, coders, own)
        given = {rater: tuple(m for m in group if m.rater == rater) for rater in due}
        codes = {frozenset((m.code, m.value) for m in own_) for own_ in given.values()}
        if len(due) > 1 and len(codes) > 1:
            t0_ns, t1_ns = group[0].t0_ns, max(m.t1_ns for m in group)
            yield Disagreement(annotations.session, tier, t0_ns, t1_ns, None, given)


def _due(t_ns: int, coders: Sequence[str], own: Sequence[Assignment]) -> list[str]:
    """Who of those who coded a tier was to code what begins at a time."""
    if not own:
        return list(coders)
    return [r for r in coders if any(a.rater == r and a.covers(t_ns) for a in own)]


class SettlementsFold:
    """What was settled in a session. settlements: by their ids, those taken back left out."""

    def __init__(self) -> None:
        self.settlements: dict[str, Settlement] = {}
        self.opened: Mapping[str, Any] = {}

    def apply(self, line: Line) -> None:
        """Take in the next line. Raises ValueError."""
        if line.kind == PUT:
            settlement = replace(record_from(Settlement, line.body), utc=line.utc)
            self.settlements[settlement.id] = settlement
        elif line.kind == REMOVED:
            self.settlements.pop(text_in(line.body, "id"), None)
        elif line.kind == OPENED:
            text_in(line.body, "by")
            self.opened = line.body
        elif line.kind != TOMBSTONE:
            raise ValueError("it was written by a newer version of labapp")

    def ordered(self) -> tuple[Settlement, ...]:
        """In order of time."""
        every = self.settlements.values()
        return tuple(sorted(every, key=lambda s: (s.t0_ns, s.t1_ns, s.tier, s.id)))


class SettlementsFile(EditedFile):
    """What is settled in a session, open for work; undo as in every such file."""

    OPENED = OPENED

    def __init__(
        self,
        path: Path,
        by: str,
        *,
        fold: SettlementsFold,
        checked: Callable[[], None] | None = None,
    ) -> None:
        self.by = by
        self._settled = fold
        super().__init__(path, fold, checked)

    @property
    def settlements(self) -> tuple[Settlement, ...]:
        """In order of time."""
        return self._settled.ordered()

    def settle(self, disagreement: Disagreement, marks: Sequence[Mark], reason: str) -> Settlement:
        """Say what holds of a disagreement, and why; what was settled of it before is replaced.
        marks: those of the raters, or others; none if nothing was to be coded. Raises
        AnnotationError if there is no reason, or it cannot be written."""
        reason = " ".join(reason.split())
        if not reason:
            raise AnnotationError(
                Message("settled_without_reason"), todo=Message("settled_without_reason_todo")
            )
        # Somebody may have been quicker.
        before = [s for s in self.settlements if _is_about(s, disagreement)]
        name = before[0].id if before else new_id()
        holding = tuple(
            replace(mark, id=f"{name}-{number}", rater=self.by, round="reconciled", memo="", utc="")
            for number, mark in enumerate(marks)
        )
        settlement = Settlement(
            name,
            disagreement.tier,
            disagreement.t0_ns,
            disagreement.t1_ns,
            disagreement.unit,
            tuple(mark.id for given in disagreement.marks.values() for mark in given),
            holding,
            self.by,
            reason,
        )
        entries: list[Entry] = [(REMOVED, {"id": other.id}) for other in before[1:]]
        inverse: list[Entry] = [(PUT, body_of(other)) for other in before]
        lines = self._do(
            [*entries, (PUT, body_of(settlement))], inverse or [(REMOVED, {"id": name})]
        )
        return replace(settlement, utc=lines[-1].utc)

    def remove(self, settlement_id: str) -> None:
        """Take back what was settled. Raises AnnotationError if there is nothing of that id."""
        before = self._settled.settlements.get(settlement_id)
        if before is None:
            raise AnnotationError(Message("settlement_unknown", settlement=repr(settlement_id)))
        self._do([(REMOVED, {"id": settlement_id})], [(PUT, body_of(before))])
