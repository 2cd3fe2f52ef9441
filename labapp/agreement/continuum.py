"""Agreement on stretches of time that raters set themselves: u-alpha, and time-unit kappa.

Notes
-----
Krippendorff, Mathet, Bouvry and Widlöcher, Quality and Quantity 50 (2016). What is between
stretches counts as well: raters also agree on where nothing is. The length of an atom of time
enters the figure a little, since gaps have no units of their own; here it is `ATOM_NS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labapp.agreement.measure import (
    Coefficient,
    Interval,
    Sums,
    by_cluster,
    cluster_interval,
    ratio,
)
from labapp.agreement.ratings import Ratings

ATOM_NS = 1_000_000
"""The atom of time of u-alpha: 1 ms."""


class Span(NamedTuple):
    """A stretch from `start` to `end`, which does not belong to it, in whole atoms."""

    start: int
    end: int
    code: str


@dataclass(frozen=True, slots=True)
class Continuum:
    """What raters coded of a stretch of time, such as a session.

    Attributes
    ----------
    start, end : where it begins and ends, in whole atoms; the end does not belong to it.
    raters : by rater his or her stretches; those of a rater do not overlap.
    """

    start: int
    end: int
    raters: tuple[tuple[Span, ...], ...]


@dataclass(frozen=True, slots=True)
class UnitAlpha:
    """u-alpha. Its sums are, by pair of values, the length in which they meet, and in one column
    more what is taken off for the pairing of a stretch with itself; the first value is no code.

    Attributes
    ----------
    binary : whether all codes count as one: whether raters agree on where there is any.
    """

    binary: bool = False

    @property
    def name(self) -> str:
        return "binary u-alpha" if self.binary else "nominal u-alpha"

    level: str = "nominal"

    def value(self, sums: Sums) -> NDArray[np.float64]:
        meeting, own = sums[..., :-1], sums[..., -1]
        totals = meeting.sum(axis=-1)
        size = totals.shape[-1]
        pairs = totals[..., :, None] * totals[..., None, :] - own[..., None] * np.eye(size)
        apart = 1 - np.eye(size)
        length = totals.sum(axis=-1)
        observed = (meeting * apart).sum(axis=(-2, -1))
        expected = (pairs * apart).sum(axis=(-2, -1))
        return np.asarray(1 - ratio(observed * ratio(pairs.sum(axis=(-2, -1)), length), expected))

    def sums(self, ratings: Ratings) -> Sums:
        """None: units have no lengths. See `unit_alpha`."""
        raise TypeError("u-alpha is of stretches of time, not of units")

    def why_none(self, ratings: Ratings) -> str:
        """As `sums`."""
        raise TypeError("u-alpha is of stretches of time, not of units")


def unit_alpha(
    stretches: Sequence[Continuum],
    *,
    binary: bool = False,
    interval: bool = False,
    clusters: Sequence[int] | None = None,
) -> Coefficient:
    """u-alpha of stretches of time that two raters or more coded, not always the same number.

    Parameters
    ----------
    stretches : what was coded; whether it is cut into several makes no difference.
    clusters : sequence of int, optional
        By stretch the number of its participant, from 0, for the bootstrap. By default each is one.
    binary : see `UnitAlpha`.
    interval : whether to draw participants for its uncertainty.

    Raises
    ------
    ValueError : codings of a rater overlap, lie outside of the stretch or have no length.
    """
    measure = UnitAlpha(binary)
    numbers = [len(stretch.raters) for stretch in stretches]
    n_raters = max(numbers, default=0)
    spans = [span for stretch in stretches for rater in stretch.raters for span in rater]
    codes = sorted({span.code for span in spans})
    n_spans = len(spans)

    def result(value: float | None, reason: str, drawn: Interval) -> Coefficient:
        return Coefficient(
            measure.name, "nominal", value, n_spans, n_spans, n_raters, reason, drawn
        )

    nothing = Interval(reason="there is no value")
    if not stretches:
        return result(None, "no time was coded by two raters", nothing)
    if min(numbers) < 2:
        return result(None, "there is one rater only", nothing)
    position = dict.fromkeys(codes, 1) if binary else {c: at for at, c in enumerate(codes, 1)}
    size = max(position.values(), default=0) + 1
    parts = np.stack([_meeting(stretch, position, size) for stretch in stretches])
    of = np.arange(len(stretches)) if clusters is None else np.asarray(clusters, np.int64)
    sums = by_cluster(parts, of, int(of.max()) + 1)
    if not codes:
        return result(None, "nobody coded anything", nothing)
    value = float(measure.value(sums.sum(axis=0)))
    if not np.isfinite(value):
        why = "every rater gave all of the time one value, so that agreement by chance is certain"
        return result(None, why, nothing)
    drawn = cluster_interval(measure, sums) if interval else Interval(reason="none was asked for")
    return result(value, "", drawn)


def _meeting(session: Continuum, position: dict[str, int], size: int) -> Sums:
    """The sums of one session, shape (size, size + 1)."""
    raters = [sorted(spans) for spans in session.raters]
    for spans in raters:
        _refuse_unfit(session, spans)
    edges = {session.start, session.end}
    edges.update(edge for spans in raters for span in spans for edge in span[:2])
    bounds = np.array(sorted(edges), np.int64)
    lengths = np.diff(bounds).astype(np.float64)
    own = np.zeros(size)
    values = []
    for spans in raters:
        value = np.zeros(len(lengths), np.int64)
        for span in spans:
            first, last = np.searchsorted(bounds, [span.start, span.end])
            value[first:last] = position[span.code]
            own[position[span.code]] += float(span.end - span.start) ** 2
        own[0] += lengths[value == 0].sum()
        values.append(value)
    meeting = np.zeros((size, size))
    for one, other in permutations(values, 2):
        np.add.at(meeting, (one, other), lengths / (len(values) - 1))
    return np.column_stack([meeting, own])


def _refuse_unfit(session: Continuum, spans: Sequence[Span]) -> None:
    for span in spans:
        if not session.start <= span.start < span.end <= session.end:
            raise ValueError(f"{span} has no length, or is not within the session")
    for before, after in pairwise(spans):
        if after.start < before.end:
            raise ValueError(f"{before} and {after} overlap")


def instants(start: int, end: int, step: int) -> NDArray[np.int64]:
    """The grid of time-unit kappa: every `step` from `start` to `end`, both included."""
    return np.arange(start, end + 1, step, dtype=np.int64)


def labels_at(
    spans: Sequence[Span], grid: NDArray[np.int64], labels: dict[frozenset[str], int]
) -> NDArray[np.int64]:
    """By instant the codes that hold there, as numbers of `labels`, shape (n_instants,). Both ends
    of a stretch belong to it, as in BORIS.

    Parameters
    ----------
    spans : of one rater; they may overlap.
    grid : ndarray of int64, shape (n_instants,)
        In order of time.
    labels : the numbers of sets of codes; those that are new are added.
    """
    numbers = np.full(len(grid), labels.setdefault(frozenset(), len(labels)), np.int64)
    for span in spans:
        first = np.searchsorted(grid, span.start, "left")
        part = numbers[first : np.searchsorted(grid, span.end, "right")]
        sets = {number: codes for codes, number in labels.items()}
        before = part.copy()
        for number in np.unique(before).tolist():
            both = sets[number] | {span.code}
            part[before == number] = labels.setdefault(both, len(labels))
    return numbers
