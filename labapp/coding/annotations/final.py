"""The final coding of a session: what was settled, else the primary rater's.

Tables, counts, figures, quotes and exports use it, so that a stretch that two raters coded counts
once. Marks given in training never count, and neither do those that a program gave; but if no
person coded a session, the codes that a simulated participant's words were made from do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.model import (
    SIMULATED,
    Assignment,
    Mark,
    RaterMarks,
    SessionAnnotations,
    Settlement,
)

NO_IDS: Mapping[str, str] = MappingProxyType({})
"""Where no two codebooks can be meant."""


def final_marks(
    annotations: SessionAnnotations,
    assignments: Sequence[Assignment] = (),
    codebook_ids: Mapping[str, str] = NO_IDS,
) -> tuple[Mark, ...]:
    """The marks that count in a session.

    Of each tier the marks of the primary rater, by the assignments; of a tier that a single rater
    coded, if nothing is assigned, the marks of that rater. What a named adjudicator settled
    stands instead, and so do marks of the round `reconciled`: on a unit they replace all marks of
    their tier, elsewhere those that they overlap. Of a unit that was split or merged after it was
    coded the mark counts for the time that has none on a unit in its place yet. Raises
    AnnotationError: two raters coded the same tier, and nobody is its primary rater there.

    Parameters
    ----------
    annotations : of one session.
    assignments : who codes what; those of other sessions are passed over.
    codebook_ids : the ids of codebooks by the SHA-256 of their versions: tiers of two codebooks are
        two tiers, also if they are called the same.

    Returns
    -------
    In order of time.
    """
    primaries = [
        entry
        for entry in assignments
        if entry.session == annotations.session
        and entry.role == "primary"
        and entry.round != "training"
    ]
    units = {unit.id for unit in annotations.segmentation.units}
    chosen: list[Mark] = []
    reconciled: list[Mark] = []
    for (_, tier), by_rater in _by_tier(annotations, codebook_ids).items():
        independent = {
            rater: [mark for mark in marks if mark.round == "independent"]
            for rater, marks in by_rater.items()
        }
        _refuse_rivals(annotations.session, tier, independent, primaries)
        for rater, marks in independent.items():
            own = [mark for mark in marks if _counts(mark, rater, primaries)]
            chosen += _each_time_once(own, units)
        for marks in by_rater.values():
            reconciled += [mark for mark in marks if mark.round == "reconciled"]
    chosen = _reconcile(chosen, reconciled, codebook_ids)
    for settlement in annotations.settlements:
        chosen = _settle(chosen, settlement, annotations, codebook_ids)
    if not chosen and (planted := find_planted_marks(annotations)):
        return planted.marks
    return tuple(sorted(chosen, key=lambda m: (m.t0_ns, m.t1_ns, m.tier, m.id)))


def find_planted_marks(annotations: SessionAnnotations) -> RaterMarks | None:
    """The codes that a simulated participant's words were made from, if no person has given any
    mark; None if one has, or nobody spoke by a program."""
    coded = any(rater.marks and not rater.machine for rater in annotations.raters.values())
    return None if coded else annotations.raters.get(SIMULATED)


def coding_raters(annotations: SessionAnnotations) -> tuple[str, ...]:
    """The people who gave marks that may count, by name."""
    return tuple(
        sorted(
            rater
            for rater, marks in annotations.raters.items()
            if not marks.machine and any(mark.round != "training" for mark in marks.marks)
        )
    )


def tier_of(mark: Mark, codebook_ids: Mapping[str, str]) -> tuple[str, str]:
    """The tier of a mark: the id of its codebook and the tier's name."""
    return codebook_ids.get(mark.codebook, ""), mark.tier


def _by_tier(
    annotations: SessionAnnotations, codebook_ids: Mapping[str, str]
) -> Mapping[tuple[str, str], dict[str, list[Mark]]]:
    """The marks of people outside training, by tier and rater."""
    tiers: dict[tuple[str, str], dict[str, list[Mark]]] = {}
    for rater in coding_raters(annotations):
        for mark in annotations.raters[rater].marks:
            if mark.round != "training":
                of_tier = tiers.setdefault(tier_of(mark, codebook_ids), {})
                of_tier.setdefault(rater, []).append(mark)
    return tiers


def _counts(mark: Mark, rater: str, primaries: Sequence[Assignment]) -> bool:
    """Whether a rater's mark is the primary one where it lies. Where nobody is assigned, a single
    rater coded the tier, see `_refuse_rivals`."""
    assigned = [entry.rater for entry in primaries if entry.covers(mark.t0_ns)]
    return rater in assigned or not assigned


def _each_time_once(marks: Sequence[Mark], units: Collection[str]) -> Iterator[Mark]:
    """A rater's marks of a tier, those on units that are gone cut to what was not coded anew."""
    anew = sorted((m.t0_ns, m.t1_ns) for m in marks if m.unit in units)
    for mark in marks:
        if mark.unit is None or mark.unit in units:
            yield mark
            continue
        begin, pieces = mark.t0_ns, []
        for t0_ns, t1_ns in anew:
            if begin < min(t0_ns, mark.t1_ns):
                pieces.append((begin, min(t0_ns, mark.t1_ns)))
            begin = max(begin, t1_ns)
        if begin < mark.t1_ns:
            pieces.append((begin, mark.t1_ns))
        for number, (t0_ns, t1_ns) in enumerate(pieces):
            name = f"{mark.id}-{number}" if number else mark.id
            yield replace(mark, id=name, t0_ns=t0_ns, t1_ns=t1_ns)


def _refuse_rivals(
    session: str,
    tier: str,
    independent: Mapping[str, Sequence[Mark]],
    primaries: Sequence[Assignment],
) -> None:
    """Raises AnnotationError: several raters gave marks of a tier if nobody is primary, or two
    are primary at the same time."""
    rivals = sorted(
        rater
        for rater, marks in independent.items()
        if any(not any(p.covers(mark.t0_ns) for p in primaries) for mark in marks)
    )
    if len(rivals) > 1:
        raise AnnotationError(
            f"{', '.join(rivals[:-1])} and {rivals[-1]} coded {tier!r} in {session}, but none of "
            "them is its primary rater, so it is unclear whose codes count.",
            safe="All marks are unchanged.",
            todo="Assign the session, or settle the differences: *Raters* on the Coding page "
            "(labapp code assign STUDY --raters …, labapp code adjudicate).",
        )
    for mark in (mark for marks in independent.values() for mark in marks):
        at = sorted({entry.rater for entry in primaries if entry.covers(mark.t0_ns)})
        if len(at) > 1:
            raise AnnotationError(
                f"{' and '.join(at)} are both the primary rater of {session} at "
                f"{mark.t0_ns / 1e9:.1f} s, so it is unclear whose codes count.",
                safe="All marks are unchanged.",
                todo="A stretch must have only one primary rater: draw the assignments again.",
            )


def _reconcile(
    chosen: Sequence[Mark], reconciled: Sequence[Mark], codebook_ids: Mapping[str, str]
) -> list[Mark]:
    """Let what was coded together stand for what each had coded alone."""
    units = {(tier_of(mark, codebook_ids), mark.unit) for mark in reconciled}
    spans = [mark for mark in reconciled if mark.unit is None]

    def is_replaced(mark: Mark) -> bool:
        tier = tier_of(mark, codebook_ids)
        if mark.unit is not None:
            return (tier, mark.unit) in units
        return any(tier_of(span, codebook_ids) == tier and overlap(mark, span) for span in spans)

    return [*(mark for mark in chosen if not is_replaced(mark)), *reconciled]


def _settle(
    chosen: Sequence[Mark],
    settlement: Settlement,
    annotations: SessionAnnotations,
    codebook_ids: Mapping[str, str],
) -> list[Mark]:
    """Let what was settled stand for what it decided about: on a unit all marks of its tier."""
    given = (mark for rater in annotations.raters.values() for mark in rater.marks)
    about = [mark for mark in given if mark.id in settlement.of] + list(settlement.marks)
    books = {codebook_ids.get(mark.codebook, "") for mark in about}

    def is_decided(mark: Mark) -> bool:
        if settlement.unit is None:
            return mark.id in settlement.of
        same = (mark.tier, mark.unit) == (settlement.tier, settlement.unit)
        return same and (not books or codebook_ids.get(mark.codebook, "") in books)

    return [*(mark for mark in chosen if not is_decided(mark)), *settlement.marks]


def overlap(mark: Mark, other: Mark) -> bool:
    """Whether two marks of the same tier share time; a point lies in a stretch that begins or is
    going on then."""
    if mark.tier != other.tier:
        return False
    if mark.t0_ns == mark.t1_ns or other.t0_ns == other.t1_ns:
        point, stretch = (mark, other) if mark.t0_ns == mark.t1_ns else (other, mark)
        if stretch.t0_ns == stretch.t1_ns:
            return point.t0_ns == stretch.t0_ns
        return stretch.t0_ns <= point.t0_ns < stretch.t1_ns
    return mark.t0_ns < other.t1_ns and other.t0_ns < mark.t1_ns
