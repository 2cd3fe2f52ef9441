"""The figures of a tier: overall, by code, of values and of stretches of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from labapp.agreement.alpha import alpha_for, masi_alpha
from labapp.agreement.continuum import ATOM_NS, unit_alpha
from labapp.agreement.intraclass import Intraclass
from labapp.agreement.kappa import (
    CohenKappa,
    FleissKappa,
    GwetAC1,
    confusion,
    kappa_max,
    percent,
    prevalence,
)
from labapp.agreement.measure import Coefficient, Interval, Measure, coefficient
from labapp.agreement.ratings import Ratings
from labapp.annotations.codebook import Code
from labapp.annotations.model import Blinding
from labapp.annotations.reliability.gathering import TierCoding, session_numbers
from labapp.annotations.reliability.spans import (
    SharedStretch,
    at_instants,
    continua,
    in_windows,
    shared_stretches,
)
from labapp.annotations.reliability.units import PRESENCE, UnitTable, unit_table

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
    tier : the tier, its codebook and the round.
    code : the code that it is of; empty for the whole tier.
    raters : who is compared.
    result : the value, or why there is none.
    n_sessions : sessions that two of these raters coded.
    basis : what is counted: `units`, `spans`, `instants` or `windows`.
    same_rater : whether it is one rater who coded twice.
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
    tier : the tier, its codebook and the round.
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
    tier: TierCoding,
    *,
    step: int,
    again: Sequence[tuple[str, str]] = (),
    everybody: bool = False,
) -> TierResults:
    """Work out every figure of a tier.

    Parameters
    ----------
    tier : the marks.
    step : the grid of time-unit kappa, in whole atoms of time.
    again : raters who coded twice: the name of the first and of the second coding. The second is
        compared with the first alone.
    everybody : whether units of all speakers are compared, not the participant's alone.
    """
    seconds = {second for _, second in again}
    firsts = tuple(rater for rater in tier.raters if rater not in seconds)
    groups = [(firsts, False)] if len(firsts) > 1 or not again else []
    groups += [(pair, True) for pair in again if set(pair) <= set(tier.raters)]
    table = unit_table(tier, everybody=everybody) if tier.tier.on == "units" else None
    figures: list[Figure] = []
    stretches: tuple[SharedStretch, ...] = ()
    remarks = [*_sighted(tier), *(table.remarks if table else ())]
    for raters, same in groups:
        if table is not None:
            own = list(_of_units(tier, table.of(raters)))
        else:
            shared = shared_stretches(tier, raters)
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


def _sighted(tier: TierCoding) -> Iterator[str]:
    """Who was not blind to what, a sentence each."""
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
    """Kappa for two raters, alpha for more; AC1 beside it, and Fleiss's kappa where it may be."""
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
    measures += [
        alpha_for(ratings, "ordinal"),
        alpha_for(ratings, "interval"),
        Intraclass(),
    ]
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
    ratings = at_instants(stretches, step) if stretches else _empty(raters)
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
        "several codes may hold at once, for which there is no single figure: each code is "
        "compared by itself"
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
