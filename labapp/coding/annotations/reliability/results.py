"""The figures of a tier: overall, by code, of values, and of stretches that raters set themselves,
as continua that several of them coded.

How far raters agree while they still learn a codebook: of one session, in the training round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.coding.agreement.coefficients import (
    ATOM_NS,
    CohenKappa,
    Continuum,
    FleissKappa,
    GwetAC1,
    Intraclass,
    Span,
    alpha_for,
    confusion,
    instants,
    kappa_max,
    labels_at,
    masi_alpha,
    percent,
    prevalence,
    unit_alpha,
)
from labapp.coding.agreement.measure import (
    MISSING,
    Coefficient,
    Interval,
    Measure,
    Ratings,
    coefficient,
)
from labapp.coding.annotations.codebook import Code, Codebook, Tier
from labapp.coding.annotations.model import Blinding, Mark, SessionAnnotations
from labapp.coding.annotations.reliability.gathering import (
    PRESENCE,
    CodedSession,
    SessionCoding,
    TierCoding,
    UnitTable,
    participant_numbers,
    session_numbers,
    unit_table,
)

Chosen = Callable[[Mark], bool]


@dataclass(frozen=True, slots=True)
class SharedStretch:
    """Session time that the same raters were to code.

    Attributes
    ----------
    t0, t1 : from and to, in whole atoms of time.
    spans : by rater, cut to the stretch, in whole atoms of time.
    points : by rater moments with their codes.
    """

    session: CodedSession
    raters: tuple[str, ...]
    t0: int
    t1: int
    spans: tuple[tuple[Span, ...], ...]
    points: tuple[tuple[tuple[int, str], ...], ...]

    def of_code(self, code: str) -> SharedStretch:
        """One code alone; stretches of a rater that overlap are one."""
        spans = tuple(
            tuple(_join_spans([span for span in own if span.code == code])) for own in self.spans
        )
        points = tuple(tuple(point for point in own if point[1] == code) for own in self.points)
        return SharedStretch(self.session, self.raters, self.t0, self.t1, spans, points)

    @property
    def overlapping(self) -> bool:
        """Whether stretches of a rater overlap."""
        return any(b.start < a.end for own in self.spans for a, b in pairwise(sorted(own)))


def find_shared_stretches(tier: TierCoding, raters: Sequence[str]) -> tuple[SharedStretch, ...]:
    """The stretches that two or more of these raters were to code. tier: a tier whose codes are
    given to spans; raters: who is compared."""
    return tuple(
        stretch for coding in tier.codings for stretch in _find_shared(coding, tuple(raters))
    )


def continua(stretches: Sequence[SharedStretch]) -> tuple[list[Continuum], list[int]]:
    """For u-alpha, with the number of the participant of each."""
    parts = [Continuum(each.t0, each.t1, each.spans) for each in stretches]
    return parts, participant_numbers(each.session for each in stretches)


def in_windows(stretches: Sequence[SharedStretch], step: int) -> Ratings:
    """Whether raters have a moment in each window of a grid that begins with each stretch, as
    `PRESENCE`.

    step: length of a window, in whole atoms of time.
    """
    codes: list[NDArray[np.int64]] = []
    columns = sorted({rater for stretch in stretches for rater in stretch.raters})
    for stretch in stretches:
        present = np.full((-(-(stretch.t1 - stretch.t0) // step), len(columns)), MISSING, np.int64)
        for rater, own in zip(stretch.raters, stretch.points, strict=True):
            present[:, columns.index(rater)] = 0
            hit = [(t - stretch.t0) // step for t, _ in own]
            present[hit, columns.index(rater)] = 1
        codes.append(present)
    return _ratings(stretches, codes, PRESENCE)


def _ratings(
    stretches: Sequence[SharedStretch], codes: Sequence[NDArray[np.int64]], scale: tuple[Any, ...]
) -> Ratings:
    """codes: of each stretch, (n_units, n_raters)."""
    sessions = [stretch.session for stretch in stretches]
    units = [len(own) for own in codes]
    return Ratings(
        np.concatenate(codes),
        scale,
        np.repeat(np.array(participant_numbers(sessions), np.int64), units),
        np.repeat(np.array(session_numbers(sessions), np.int64), units),
    )


def differences(stretch: SharedStretch) -> Iterator[tuple[int, int, tuple[frozenset[str], ...]]]:
    """Where raters have different codes: from and to, in whole atoms of time, and what each has."""
    edges = {stretch.t0, stretch.t1}
    edges.update(edge for own in stretch.spans for span in own for edge in span[:2])
    pending: tuple[int, int, tuple[frozenset[str], ...]] | None = None
    for begin, end in pairwise(sorted(edges)):
        codes = tuple(
            frozenset(span.code for span in own if span.start <= begin < span.end)
            for own in stretch.spans
        )
        if pending is not None and (pending[1], pending[2]) == (begin, codes):
            pending = (pending[0], end, codes)
            continue
        if pending is not None:
            yield pending
        pending = (begin, end, codes) if len(set(codes)) > 1 else None
    if pending is not None:
        yield pending


def _find_shared(coding: SessionCoding, raters: tuple[str, ...]) -> Iterator[SharedStretch]:
    present = [r for r in raters if r in coding.marks and r not in coding.partial]
    edges = sorted({edge for rater in present for pair in coding.stretches[rater] for edge in pair})
    for t0, t1 in pairwise(edges):
        here = tuple(rater for rater in present if coding.covers(rater, t0))
        begin, end = t0 // ATOM_NS, t1 // ATOM_NS
        if len(here) < 2 or begin == end:
            continue
        yield SharedStretch(
            coding.session,
            here,
            begin,
            end,
            tuple(tuple(_spans(coding.marks[rater], begin, end)) for rater in here),
            tuple(tuple(_points(coding.marks[rater], begin, end)) for rater in here),
        )


def _spans(marks: Sequence[Mark], begin: int, end: int) -> Iterator[Span]:
    for mark in sorted(marks, key=lambda mark: (mark.t0_ns, mark.t1_ns)):
        t0, t1 = max(begin, mark.t0_ns // ATOM_NS), min(end, mark.t1_ns // ATOM_NS)
        if t0 < t1:
            yield Span(t0, t1, mark.code)


def _points(marks: Sequence[Mark], begin: int, end: int) -> Iterator[tuple[int, str]]:
    for mark in marks:
        if mark.t0_ns == mark.t1_ns and begin <= mark.t0_ns // ATOM_NS < end:
            yield mark.t0_ns // ATOM_NS, mark.code


def _join_spans(spans: Sequence[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in sorted(spans):
        if last is not None and span.start < last.end:
            last = last._replace(end=max(last.end, span.end))
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


SKEWED = 0.1
"""A code that less than this share of all ratings have, or all but this share, makes kappa low
although raters agree."""

SIGHT: Mapping[Blinding, str] = {
    "names": "the names of models and conditions",
    "outcomes": "how questions ended",
    "future": "what came after the playhead",
}
"""What a rater who is not blind to it sees, that makes a coding less independent of it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of agreement, of what, and by whom.

    Attributes
    ----------
    code : the code that it is of; empty for the whole tier.
    n_sessions : sessions that two of these raters coded.
    basis : what is counted: `units`, `spans`, `instants` or `windows`.
    percent : of the basis, on which all say the same, 0 to 100.
    prevalence : the share of ratings that have the code, 0 to 1.
    kappa_max : the largest kappa that the raters' own frequencies admit.
    grid_s : of measures on instants and windows: their distance in seconds.
    """

    tier: TierCoding
    code: str
    raters: tuple[str, ...]
    result: Coefficient
    n_sessions: int
    basis: str = "units"
    same_rater: bool = False
    percent: float | None = None
    prevalence: float | None = None
    kappa_max: float | None = None
    grid_s: float | None = None

    @property
    def skewed(self) -> bool:
        """Whether the code is so rare or so frequent that kappa alone misleads."""
        return self.prevalence is not None and not SKEWED <= self.prevalence <= 1 - SKEWED


@dataclass(frozen=True, slots=True)
class TierResults:
    """The figures of a tier, and what they were worked out from.

    Attributes
    ----------
    figures : the main one first.
    units : of a tier on units.
    stretches : of a tier on spans.
    remarks : what was left out and why, a sentence each.
    """

    tier: TierCoding
    figures: tuple[Figure, ...]
    units: UnitTable | None = None
    stretches: tuple[SharedStretch, ...] = ()
    remarks: tuple[str, ...] = ()


def results_of(
    tier: TierCoding, *, step: int, again: Sequence[tuple[str, str]] = (), everybody: bool = False
) -> TierResults:
    """Work out every figure of a tier.

    Parameters
    ----------
    step : the grid of time-unit kappa, in whole atoms of time.
    again : raters who coded twice: the name of the first and of the second coding. The second is
        compared only with the first.
    everybody : whether units of all speakers are compared, not only the participant's.
    """
    seconds = {second for _, second in again}
    firsts = tuple(rater for rater in tier.raters if rater not in seconds)
    groups = [(firsts, False)] if len(firsts) > 1 or not again else []
    groups += [(pair, True) for pair in again if set(pair) <= set(tier.raters)]
    table = unit_table(tier, everybody=everybody) if tier.tier.on == "units" else None
    figures: list[Figure] = []
    stretches: tuple[SharedStretch, ...] = ()
    remarks = [*_describe_unblinded(tier), *(table.remarks if table else ())]
    for raters, same in groups:
        if table is not None:
            own = list(_of_units(tier, table.of(raters)))
        else:
            shared = find_shared_stretches(tier, raters)
            own = list(_of_spans(tier, shared, raters, step))
            if not same:
                stretches = shared
            if tier.tier.values:
                remarks.append("Values on spans are not compared: the spans differ.")
        figures += [replace(figure, same_rater=same) for figure in own]
    if table is not None:
        table = table.of(firsts)
    return TierResults(tier, tuple(figures), table, stretches, tuple(remarks))


def codes_of(tier: TierCoding) -> tuple[Code, ...]:
    """The codes of a tier that are given, and retired ones that were."""
    used = {mark.code for coding in tier.codings for own in coding.marks.values() for mark in own}
    return tuple(
        code
        for code in tier.codebook.codes
        if code.tier == tier.tier.name and (not code.retired or code.id in used)
    )


def _describe_unblinded(tier: TierCoding) -> Iterator[str]:
    """Which raters were shown what others were blind to, a sentence each."""
    for rater in tier.raters:
        marks = [mark for coding in tier.codings for mark in coding.marks.get(rater, ())]
        for what, text in SIGHT.items():
            if seen := sum(what not in mark.blind for mark in marks):
                yield f"{rater} was shown {text} at {seen} of {len(marks)} marks."


def _of_units(tier: TierCoding, table: UnitTable) -> Iterator[Figure]:
    codes = codes_of(tier)
    if tier.tier.values:
        for code in codes:
            yield from _values(tier, code.id, table)
    if tier.tier.exclusive:
        ratings = table.codes([code.id for code in codes], tier.tier.optional)
        yield from _nominal(tier, "", table.raters, ratings)
        if len(table.raters) > 2:
            for pair in combinations(range(len(table.raters)), 2):
                both = ratings.of_raters(pair).comparable()
                yield _figure(tier, "", tuple(table.raters[at] for at in pair), both, CohenKappa())
    else:
        ratings = table.sets()
        yield _figure(tier, "", table.raters, ratings, masi_alpha(ratings))
    for code in codes:
        yield from _nominal(tier, code.id, table.raters, table.presence(code.id))


def _nominal(
    tier: TierCoding, code: str, raters: tuple[str, ...], ratings: Ratings
) -> Iterator[Figure]:
    """Kappa for two raters, alpha for more; AC1 beside it, and Fleiss's kappa if it may be."""
    two = len(raters) == 2
    measures: list[Measure] = [CohenKappa()] if two else []
    measures += [alpha_for(ratings, "nominal"), GwetAC1()]
    if not two and not code:
        measures.append(FleissKappa())
    for measure in measures:
        yield _figure(tier, code, raters, ratings, measure)


def _values(tier: TierCoding, code: str, table: UnitTable) -> Iterator[Figure]:
    scale = tier.tier.values
    ratings = table.values_of(code, scale)
    numbers = tuple(float(value) for value in scale)
    measures: list[Measure] = []
    if len(table.raters) == 2:
        measures += [CohenKappa("quadratic", numbers), CohenKappa("linear", numbers)]
    measures += [alpha_for(ratings, "ordinal"), alpha_for(ratings, "interval"), Intraclass()]
    for measure in measures:
        entering = ratings.complete() if isinstance(measure, Intraclass) else ratings
        figure = _figure(tier, code, table.raters, entering, measure)
        yield replace(figure, prevalence=None, basis="values")


def _of_spans(
    tier: TierCoding, stretches: tuple[SharedStretch, ...], raters: tuple[str, ...], step: int
) -> Iterator[Figure]:
    codes = codes_of(tier)
    spans = [code for code in codes if code.kind == "span"]
    overlapping = not tier.tier.exclusive or any(stretch.overlapping for stretch in stretches)
    if spans:
        if overlapping:
            yield _no_single_number(tier, raters, stretches)
        else:
            for binary in (True, False):
                yield _time(tier, "", raters, stretches, binary)
            if len(raters) == 2:
                yield _time_unit(tier, "", raters, stretches, step)
    for code in codes:
        own = tuple(stretch.of_code(code.id) for stretch in stretches)
        if code.kind == "point":
            ratings = in_windows(own, step).comparable() if own else _empty(raters)
            first: Measure = CohenKappa() if len(raters) == 2 else alpha_for(ratings, "nominal")
            for measure in (first, GwetAC1()):
                figure = _figure(tier, code.id, raters, ratings, measure)
                grid_s = step * ATOM_NS / 1e9
                yield replace(figure, basis="windows", kappa_max=None, grid_s=grid_s)
            continue
        yield _time(tier, code.id, raters, own, True)
        if len(raters) == 2:
            yield _time_unit(tier, code.id, raters, own, step)


def _time(
    tier: TierCoding,
    code: str,
    raters: tuple[str, ...],
    stretches: tuple[SharedStretch, ...],
    binary: bool,
) -> Figure:
    parts, clusters = continua(stretches)
    result = unit_alpha(parts, binary=binary, interval=True, clusters=clusters)
    return Figure(tier, code, raters, result, _n_sessions(stretches), "spans")


def _time_unit(
    tier: TierCoding,
    code: str,
    raters: tuple[str, ...],
    stretches: tuple[SharedStretch, ...],
    step: int,
) -> Figure:
    """Kappa of what two raters have at every instant of a grid that begins with each stretch."""
    labels: dict[frozenset[str], int] = {}
    codes: list[NDArray[np.int64]] = []
    for stretch in stretches:
        grid = instants(stretch.t0, stretch.t1 - 1, step)
        codes.append(np.stack([labels_at(own, grid, labels) for own in stretch.spans], axis=1))
    ratings = _ratings(stretches, codes, tuple(labels)) if stretches else _empty(raters)
    figure = _figure(tier, code, raters, ratings, CohenKappa())
    result = replace(figure.result, measure="time-unit kappa")
    return replace(
        figure, result=result, basis="instants", kappa_max=None, grid_s=step * ATOM_NS / 1e9
    )


def _no_single_number(
    tier: TierCoding, raters: tuple[str, ...], stretches: tuple[SharedStretch, ...]
) -> Figure:
    number = sum(len(own) for stretch in stretches for own in stretch.spans)
    why = (
        "several codes may apply at once, so there is no single figure, and each code is "
        "compared separately"
    )
    result = Coefficient(
        "nominal u-alpha", "nominal", None, number, number, len(raters), why,
        Interval(reason="there is no value"),
    )  # fmt: skip
    return Figure(tier, "", raters, result, _n_sessions(stretches), "spans")


def _figure(
    tier: TierCoding, code: str, raters: tuple[str, ...], ratings: Ratings, measure: Measure
) -> Figure:
    result = coefficient(measure, ratings, interval=True)
    of_two = isinstance(measure, CohenKappa) and measure.weights == "none" and len(raters) == 2
    most = kappa_max(confusion(ratings)) if of_two and ratings.n_units else float("nan")
    presence = bool(code) and ratings.categories == PRESENCE and ratings.n_units > 0
    share = prevalence(ratings)[1] if presence else float("nan")
    return Figure(
        tier,
        code,
        raters,
        result,
        ratings.n_sessions,
        percent=percent(ratings),
        prevalence=float(share) if np.isfinite(share) else None,
        kappa_max=float(most) if np.isfinite(most) else None,
    )


def _empty(raters: Sequence[str]) -> Ratings:
    none = np.empty(0, np.int64)
    return Ratings(np.empty((0, len(raters)), np.int64), PRESENCE, none, none)


def _n_sessions(stretches: Sequence[SharedStretch]) -> int:
    return len(set(session_numbers(stretch.session for stretch in stretches)))


@dataclass(frozen=True, slots=True)
class SoFar:
    """The agreement on a tier so far.

    Attributes
    ----------
    tier : the tier.
    raters : who coded it.
    result : kappa of two raters or alpha of more, alpha with MASI distance if a unit may have
        several codes, nominal u-alpha of spans; without an interval, for there is one session.
    """

    tier: Tier
    raters: tuple[str, ...]
    result: Coefficient


def agreement_so_far(
    annotations: SessionAnnotations, codebook: Codebook, marks: Mapping[str, Sequence[Mark]]
) -> tuple[SoFar, ...]:
    """Compare raters on what each of them has reached.

    Parameters
    ----------
    marks : by rater those of the training round. What lies behind a rater's last mark on a tier is
        not yet coded, and not compared.

    Returns
    -------
    By tier; nothing of tiers that fewer than two raters have begun, nor of spans that may overlap,
    for which there is no single figure.
    """
    own = {
        rater: tuple(mark for mark in given if mark.codebook == codebook.sha256)
        for rater, given in sorted(marks.items())
    }
    end = max((mark.t1_ns for given in own.values() for mark in given), default=0) + 1
    session = CodedSession("", "", annotations, 0, end)
    results = []
    for tier in codebook.tiers:
        given = {
            rater: of_tier
            for rater, given_marks in own.items()
            if (of_tier := tuple(mark for mark in given_marks if mark.tier == tier.name))
        }
        if len(given) < 2:
            continue
        # What a rater left without a code on an optional tier counts up to the last code of it:
        # tiers may be gone through one after the other.
        reached = {
            rater: ((0, max(max(mark.t1_ns, mark.t0_ns + 1) for mark in of_tier)),)
            for rater, of_tier in given.items()
        }
        coding = TierCoding(codebook, tier, "training", (SessionCoding(session, given, reached),))
        result = _result(coding)
        if result is not None:
            results.append(SoFar(tier, coding.raters, result))
    return tuple(results)


def _result(of_tier: TierCoding) -> Coefficient | None:
    tier, raters = of_tier.tier, of_tier.raters
    if tier.on == "units":
        table = unit_table(of_tier).of(raters)
        if not tier.exclusive:
            sets = table.sets()
            return coefficient(masi_alpha(sets), sets)
        ratings = table.codes([code.id for code in codes_of(of_tier)], tier.optional)
        two = len(raters) == 2
        return coefficient(CohenKappa() if two else alpha_for(ratings, "nominal"), ratings)
    stretches = find_shared_stretches(of_tier, raters)
    if not tier.exclusive or any(stretch.overlapping for stretch in stretches):
        return None
    parts, clusters = continua(stretches)
    return unit_alpha(parts, clusters=clusters)
