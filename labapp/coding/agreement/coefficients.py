"""The coefficients themselves: of units with one code each, of numbers, and of segments.

Krippendorff's alpha: any number of raters, missing ratings, five kinds of distance.

Notes
-----
Krippendorff, Computing Krippendorff's alpha-reliability (2011). MASI: Passonneau 2006; as there the
distance itself stands for the disagreement, not its square.

Kappas: Cohen's with and without weights, Fleiss's, and Gwet's AC1; per cent and prevalence.

Notes
-----
Cohen 1960 and 1968; Fleiss 1971; Gwet 2008. Kappa max is that of Cohen 1960: the largest kappa that
the two raters' own frequencies admit.

The intraclass correlation (2,1): agreement of single raters who are drawn from many, on values.

Notes
-----
Shrout and Fleiss, Psychological Bulletin 86 (1979), case 2: units and raters are both random, and
raters who differ by a constant disagree.

Agreement on stretches of time that raters set themselves: u-alpha, and time-unit kappa.

Notes
-----
Krippendorff, Mathet, Bouvry and Widlöcher, Quality and Quantity 50 (2016). What is between
stretches counts as well: raters also agree on where nothing is. The length of an atom of time
enters the figure a little, since gaps have no units of their own; here it is `ATOM_NS`.

A table of ratings from a file of a spreadsheet program: one row per unit, one column per rater.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import AgreementError
from labapp.base.reading import files, tables
from labapp.base.reading.tables import TableError
from labapp.coding.agreement.measure import (
    MISSING,
    Coefficient,
    Interval,
    Measure,
    Ratings,
    Sums,
    by_cluster,
    cluster_interval,
    coefficient,
    one_category,
    ratings_of,
    ratio,
    shrunk,
)

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class KrippendorffAlpha:
    """Krippendorff's alpha.

    Attributes
    ----------
    level : see `Level`. The categories of ordinal ratings are in the order of the scale; those of
        interval and ratio ratings are numbers.
    scale : the values of the categories at the levels interval and ratio.
    distances : of categories that are sets of codes, shape (n_categories, n_categories).
    """

    level: Level = "nominal"
    scale: tuple[float, ...] = ()
    name: str = "Krippendorff's alpha"
    distances: NDArray[np.float64] | None = field(default=None, compare=False)

    def sums(self, ratings: Ratings) -> Sums:
        return coincidences(ratings)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sum(axis=-1)
        return alpha_of(sums, self._disagreement(totals))

    def why_none(self, ratings: Ratings) -> str:
        return one_category(ratings)

    def _disagreement(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Squared differences, or distances as they are, shape (…, n, n)."""
        if self.distances is not None:
            return self.distances
        if self.level == "nominal":
            return 1 - np.eye(totals.shape[-1])
        if self.level == "ordinal":
            rank = np.cumsum(totals, axis=-1) - totals / 2
            return np.asarray((rank[..., :, None] - rank[..., None, :]) ** 2)
        scale = shrunk(np.array(self.scale, np.float64))
        apart = scale[:, None] - scale[None, :]
        if self.level == "ratio":
            both = scale[:, None] + scale[None, :]
            apart = apart / np.where(both == 0, 1, both)
        return apart**2


def alpha_for(ratings: Ratings, level: Level) -> KrippendorffAlpha:
    """Alpha at a level, with the scale of these ratings. Raises ValueError: numbers are needed and
    the ratings are none, or a ratio is asked for of numbers below zero."""
    if level in ("nominal", "ordinal"):
        return KrippendorffAlpha(level)
    scale = tuple(float(value) for value in ratings.categories)
    if level == "ratio" and min(scale, default=0) < 0:
        raise ValueError("a ratio scale has no numbers below zero")
    return KrippendorffAlpha(level, scale)


def masi_alpha(ratings: Ratings) -> KrippendorffAlpha:
    """Alpha with MASI distance, for ratings whose categories are sets of codes."""
    sets = ratings.categories
    distances = [[1 - masi(first, second) for second in sets] for first in sets]
    square = np.array(distances, np.float64).reshape(len(sets), len(sets))
    return KrippendorffAlpha(name="Krippendorff's alpha with MASI distance", distances=square)


def masi(first: AbstractSet[str], second: AbstractSet[str]) -> float:
    """How alike two sets are, 0 to 1: Jaccard's index times 1 for equal sets, 2/3 where one holds
    the other, 1/3 where they overlap, and 0 where they do not."""
    if first == second:
        return 1.0
    common = len(first & second)
    if not common:
        return 0.0
    within = first <= second or second <= first
    return common / len(first | second) * (2 / 3 if within else 1 / 3)


def coincidences(ratings: Ratings) -> Sums:
    """By cluster how often each pair of categories met in a unit, each unit's pairs weighing as
    many as it has ratings, shape (n_clusters, n_categories, n_categories)."""
    size = len(ratings.categories)
    table = np.zeros((ratings.n_clusters, size, size))
    given = (ratings.codes != MISSING).sum(axis=1)
    for first in range(ratings.n_raters):
        for second in range(ratings.n_raters):
            if first == second:
                continue
            one, other = ratings.codes[:, first], ratings.codes[:, second]
            both = (one != MISSING) & (other != MISSING)
            weights = 1 / (given[both] - 1)
            np.add.at(table, (ratings.clusters[both], one[both], other[both]), weights)
    return table


def alpha_of(
    coincidence: NDArray[np.float64], disagreement: NDArray[np.float64]
) -> NDArray[np.float64]:
    """1 - observed over expected disagreement; NaN if none is expected."""
    totals = coincidence.sum(axis=-1)
    n = totals.sum(axis=-1)
    observed = (coincidence * disagreement).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * disagreement).sum(axis=(-2, -1))
    return np.asarray(1 - (n - 1) * ratio(observed, expected))


Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class CohenKappa:
    """Of two raters, over the units that both coded.

    Attributes
    ----------
    weights : what a disagreement counts: `none` as much as any other, `linear` the distance of the
        two values, `quadratic` its square.
    scale : the values of the categories, for weights; their positions if it is empty.
    """

    weights: Weights = "none"
    scale: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return "Cohen's kappa" if self.weights == "none" else f"{self.weights} weighted kappa"

    @property
    def level(self) -> str:
        return {"none": "nominal", "linear": "interval", "quadratic": "interval"}[self.weights]

    def sums(self, ratings: Ratings) -> Sums:
        first, second = ratings.codes.T
        both = (first != MISSING) & (second != MISSING)
        size = len(ratings.categories)
        sums = np.zeros((ratings.n_clusters, size, size))
        np.add.at(sums, (ratings.clusters[both], first[both], second[both]), 1)
        return sums

    def value(self, sums: Sums) -> NDArray[np.float64]:
        cost = self._cost(sums.shape[-1])
        n = sums.sum(axis=(-2, -1))
        chance = np.einsum("...i,...j,ij->...", sums.sum(axis=-1), sums.sum(axis=-2), cost)
        return np.asarray(1 - ratio(n * (sums * cost).sum(axis=(-2, -1)), chance))

    def why_none(self, ratings: Ratings) -> str:
        if ratings.n_raters != 2:
            return f"it compares two raters, but there are {ratings.n_raters}"
        return one_category(ratings)

    def _cost(self, size: int) -> NDArray[np.float64]:
        if self.weights == "none":
            return 1 - np.eye(size)
        scale = shrunk(np.array(self.scale or range(size), np.float64))
        apart = np.abs(scale[:, None] - scale[None, :])
        return apart if self.weights == "linear" else apart**2


@dataclass(frozen=True, slots=True)
class FleissKappa:
    """Of as many ratings for each unit, by whomever."""

    name: str = "Fleiss's kappa"
    level: str = "nominal"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: agreement added over units, units, ratings by category."""
        counts = ratings.counts
        agreeing = _agreeing(counts)
        rows = np.column_stack([agreeing, np.ones(len(counts)), counts])
        return by_cluster(rows, ratings.clusters, ratings.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        observed = ratio(sums[..., 0], sums[..., 1])
        totals = sums[..., 2:]
        # The disagreement by chance, so that nothing is left of it where one category has all.
        square = totals.sum(axis=-1) ** 2
        apart = square - (totals**2).sum(axis=-1)
        return np.asarray(1 - ratio((1 - observed) * square, apart))

    def why_none(self, ratings: Ratings) -> str:
        given = (ratings.codes != MISSING).sum(axis=1)
        if len(set(given.tolist())) > 1:
            return (
                f"it needs the same number of ratings for each unit, but some have {given.min()} "
                f"and others {given.max()}; use alpha if ratings are missing"
            )
        return one_category(ratings)


@dataclass(frozen=True, slots=True)
class GwetAC1:
    """Of any number of raters, ratings may be missing. By chance raters are thought to agree on
    units that are hard to code, so that it does not fall if one code is rare."""

    name: str = "Gwet's AC1"
    level: str = "nominal"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: agreement added over units of two ratings or more, these units, units of one
        or more, and shares of categories added over those."""
        counts = ratings.counts
        given = counts.sum(axis=1)
        several, some = given > 1, given > 0
        agreeing = np.where(several, _agreeing(counts), 0)
        shares = counts / np.maximum(given, 1)[:, None]
        rows = np.column_stack([agreeing, several, some, shares])
        return by_cluster(rows, ratings.clusters, ratings.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        observed = ratio(sums[..., 0], sums[..., 1])
        shares = ratio(sums[..., 3:], sums[..., 2, None])
        size = shares.shape[-1]
        if size < 2:
            return np.full(observed.shape, np.nan)
        chance = (shares * (1 - shares)).sum(axis=-1) / (size - 1)
        return np.asarray((observed - chance) / (1 - chance))

    def why_none(self, ratings: Ratings) -> str:
        return one_category(ratings) if len(ratings.categories) < 2 else ""


def confusion(ratings: Ratings, first: int = 0, second: int = 1) -> NDArray[np.int64]:
    """How often two raters gave each pair of categories, shape (n_categories, n_categories); the
    first rater's in rows."""
    table = CohenKappa().sums(ratings.of_raters([first, second])).sum(axis=0)
    return np.asarray(table, np.int64)


def kappa_max(table: NDArray[Any]) -> float:
    """The largest kappa of two raters with these frequencies; NaN if kappa is undefined.

    table: a confusion table, shape (n_categories, n_categories).
    """
    n = float(table.sum())
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    most, chance = float(np.minimum(rows, columns).sum()) * n, float(rows @ columns)
    return float(ratio(np.array(most - chance), np.array(n * n - chance)))


def percent(ratings: Ratings) -> float | None:
    """Of the units that two raters or more coded, those on which all of them agree, 0 to 100."""
    counts = ratings.counts
    given = counts.sum(axis=1)
    several = given > 1
    if not several.any():
        return None
    return float(100 * np.mean(counts[several].max(axis=1) == given[several]))


def prevalence(ratings: Ratings) -> NDArray[np.float64]:
    """The share of each category among all ratings, shape (n_categories,); NaN without ratings."""
    totals = ratings.counts.sum(axis=0)
    return ratio(totals, totals.sum())


def _agreeing(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """By unit the share of pairs of ratings that are equal; nothing if there is no pair."""
    given = counts.sum(axis=1)
    pairs = given * (given - 1)
    return np.where(pairs > 0, (counts * (counts - 1)).sum(axis=1) / np.maximum(pairs, 1), 0.0)


_ROUNDING = 1e-12
"""Below that share of all variation, a sum of squares is rounding."""


@dataclass(frozen=True, slots=True)
class Intraclass:
    """ICC(2,1), over the units that every rater gave a value."""

    name: str = "ICC(2,1)"
    level: str = "interval"

    def sums(self, ratings: Ratings) -> Sums:
        """In order: units, squared totals of units, squared values, and totals of raters; of the
        distances to the middle of all values."""
        complete = ratings.complete()
        numbers = shrunk(complete.numbers)
        centred = numbers - numbers.mean() if numbers.size else numbers
        totals = centred.sum(axis=1)
        rows = np.column_stack(
            [np.ones(len(centred)), totals**2, (centred**2).sum(axis=1), centred]
        )
        return by_cluster(rows, complete.clusters, complete.n_clusters)

    def value(self, sums: Sums) -> NDArray[np.float64]:
        n, squared, all_squares, raters = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
        k = raters.shape[-1]
        middle = ratio(raters.sum(axis=-1) ** 2, n * k)
        total = all_squares - middle
        units = squared / k - middle
        between = ratio((raters**2).sum(axis=-1), n) - middle
        rest = total - units - between
        noise = _ROUNDING * np.abs(total)
        units, between, rest = (
            np.where(np.abs(part) <= noise, 0.0, part) for part in (units, between, rest)
        )
        of_units, of_raters = ratio(units, n - 1), between / (k - 1)
        of_rest = ratio(rest, (n - 1) * (k - 1))
        denominator = of_units + (k - 1) * of_rest + k * ratio(of_raters - of_rest, n)
        unknown = (n < 2) | (total <= 0)
        value = ratio(of_units - of_rest, np.where(unknown, 0.0, denominator))
        return np.asarray(np.where(unknown, np.nan, value))

    def why_none(self, ratings: Ratings) -> str:
        numbers = ratings.complete().numbers
        if len(numbers) < 2:
            return f"it needs two units that every rater rated, but there are {len(numbers)}"
        if len(np.unique(numbers)) == 1:
            return f"all gave only {numbers.flat[0]:g}, so nothing varies"
        return ""


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


class UnitAlpha:
    """u-alpha. Its sums are, by pair of values, the length in which they meet, and in one column
    more what is taken off for the pairing of a stretch with itself; the first value is no code."""

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


def unit_alpha(
    stretches: Sequence[Continuum],
    *,
    binary: bool = False,
    interval: bool = False,
    clusters: Sequence[int] | None = None,
) -> Coefficient:
    """u-alpha of stretches of time that two raters or more coded, not always the same number.

    binary: whether all codes count as one: whether raters agree on where there is any; clusters: by
    stretch the number of its participant, from 0, for the bootstrap; by default each is one;
    interval: whether to draw participants for its uncertainty. It makes no difference
    whether what was coded is cut into several stretches. Raises ValueError if codings of a rater
    overlap, lie outside of the stretch or have no length.
    """
    measure, name = UnitAlpha(), "binary u-alpha" if binary else "nominal u-alpha"
    numbers = [len(stretch.raters) for stretch in stretches]
    n_raters = max(numbers, default=0)
    spans = [span for stretch in stretches for rater in stretch.raters for span in rater]
    codes = sorted({span.code for span in spans})
    n_spans = len(spans)

    def result(value: float | None, reason: str, drawn: Interval) -> Coefficient:
        return Coefficient(name, "nominal", value, n_spans, n_spans, n_raters, reason, drawn)

    nothing = Interval(reason="there is no value")
    if not stretches:
        return result(None, "no time was coded by two raters", nothing)
    if min(numbers) < 2:
        return result(None, "there is only one rater", nothing)
    position = dict.fromkeys(codes, 1) if binary else {c: at for at, c in enumerate(codes, 1)}
    size = max(position.values(), default=0) + 1
    parts = np.stack([_meeting(stretch, position, size) for stretch in stretches])
    of = np.arange(len(stretches)) if clusters is None else np.asarray(clusters, np.int64)
    sums = by_cluster(parts, of, int(of.max()) + 1)
    if not codes:
        return result(None, "nobody coded anything", nothing)
    value = float(measure.value(sums.sum(axis=0)))
    if not np.isfinite(value):
        why = "every rater gave the same value all the time, so agreement by chance is certain"
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


TableMeasure = Literal["alpha", "kappa", "fleiss"]
MEASURES: tuple[str, ...] = get_args(TableMeasure)

UNIT = frozenset({"unit", "units", "item", "id", "subject", "segment"})
RATER = frozenset({"rater", "raters", "coder", "annotator", "judge"})
CODE = frozenset({"code", "rating", "value", "category", "label", "score"})
"""Names of the columns of a table that has one row per rating."""
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_LIKE_MISSING = frozenset({"na", "n/a", "nan", "none", "null", ".", "-", "?", "missing", "#n/a"})
_SAFE = "The file was only read."
_SHOWN = 20
MOST_RATERS = 200
MOST_PAIRS = 16_000_000
"""Of values that each unit can have, over all units: 8 bytes each, three times."""


@dataclass(frozen=True, slots=True)
class RatingTable:
    """What a file holds.

    Attributes
    ----------
    raters : names of the columns.
    units : the first column.
    lines : by unit the line of the file, from 1.
    cells : by unit what each rater gave; empty if that is nothing.
    decimal_comma : whether a comma within a number is a decimal point, since columns are not parted
        by commas.
    notes : what was made of the file that its writer may not have meant, in sentences.
    """

    path: Path
    raters: tuple[str, ...]
    units: tuple[str, ...]
    lines: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    decimal_comma: bool
    notes: tuple[str, ...] = ()

    @property
    def doubtful(self) -> dict[str, int]:
        """Cells that look as if they stood for a missing rating, and how many there are."""
        cells = (cell for row in self.cells for cell in row)
        return dict(Counter(cell for cell in cells if cell.casefold() in _LIKE_MISSING))

    def ratings(self, level: Level) -> Ratings:
        """As codes at the nominal level, as numbers at the others. Raises AgreementError for a cell
        that is no such number."""
        if level == "nominal":
            return ratings_of([[self._category(cell) for cell in row] for row in self.cells])
        return ratings_of(
            [
                [
                    self._number(level, line, rater, cell) if cell else None
                    for rater, cell in zip(self.raters, row, strict=True)
                ]
                for line, row in zip(self.lines, self.cells, strict=True)
            ]
        )

    @property
    def differing_in_case(self) -> tuple[tuple[str, ...], ...]:
        """Categories that differ from each other only in capital letters."""
        alike: dict[str, dict[str, None]] = {}
        for row in self.cells:
            for cell in filter(None, row):
                alike.setdefault(cell.casefold(), {})[cell] = None
        return tuple(tuple(forms) for forms in alike.values() if len(forms) > 1)

    def _category(self, cell: str) -> str | None:
        """A nominal rating; 1, 1.0 and 01 are one, for programs write numbers as they like."""
        text = cell.replace(",", ".") if self.decimal_comma else cell
        if not _NUMBER.fullmatch(cell) or "," in text or not math.isfinite(float(text)):
            return cell or None
        return str((Decimal(text) + 0).normalize())

    def _number(self, level: Level, line: int, rater: str, cell: str) -> float:
        text = cell.replace(",", ".") if self.decimal_comma else cell
        if not _NUMBER.fullmatch(cell) or ("," in text) or not math.isfinite(float(text)):
            _refuse(
                self.path,
                f"line {line}, column {rater}: {_cut(cell)} is not a number, but the level "
                f"{level} needs numbers",
                "Leave the cell empty if the rating is missing; number the categories in their "
                "order; or compare them with --level nominal.",
            )
        value = float(text)
        if level == "ratio" and value < 0:
            _refuse(
                self.path,
                f"line {line}, column {rater}: {_cut(cell)} is below zero, but the level ratio "
                "does not allow negative values",
                "Compare the values with --level interval.",
            )
        return value


def agree(table: RatingTable, measure: TableMeasure, level: Level) -> Coefficient:
    """How well the raters of a table agree. Raises AgreementError: a cell does not fit the level,
    or the measure knows no such level."""
    if measure != "alpha" and level != "nominal":
        _refuse(
            table.path,
            f"{measure} treats all disagreements the same, so it works only with the level "
            f"nominal, not {level}",
            f"Give --measure alpha --level {level}, or --level nominal.",
        )
    ratings = table.ratings(level)
    # Measures count the pairs of categories in each unit.
    if ratings.n_units * len(ratings.categories) ** 2 > MOST_PAIRS:
        _refuse(
            table.path,
            f"its {ratings.n_units:,} units have {len(ratings.categories):,} different values, "
            "too many to compare all pairs of values",
            "Check that its columns contain ratings rather than text, and round numbers",
        )
    chosen: Measure
    if measure == "alpha":
        chosen = alpha_for(ratings, level)
    else:
        chosen = CohenKappa() if measure == "kappa" else FleissKappa()
    return coefficient(chosen, ratings)


def read_table(path: Path) -> RatingTable:
    """Read a table of ratings.

    CSV with commas, semicolons or tabs, in UTF-8, UTF-16 or Windows' Western European. The first
    line names the columns. Wide, the first column is the unit, each other one a rater, an empty
    cell a missing rating; long, the columns are called unit, rater and code (or rating, value,
    category, label). A nameless first column that counts the rows, as pandas writes it, is left out
    if the next column is the unit. Raises AgreementError: the file cannot be read or is no such
    table: it is empty, has rows of different lengths, fewer than two raters, a rater or a unit
    twice, or no unit.
    """
    try:
        table = tables.read(_content(path))
        lines = [(line, tuple(cell.strip() for cell in row)) for line, row in table.rows]
    except TableError as error:
        _refuse(path, error.what, error.todo)
    header = tuple(cell.strip() for cell in table.first)
    if not lines:
        _refuse(path, "it has no units below its first line", "Give a line for each unit")
    notes: list[str] = []
    if _counts_rows(header, lines):
        header, lines = header[1:], [(line, row[1:]) for line, row in lines]
        notes.append("The first column has no name and only counts the rows, so it was left out.")
    names = [name.casefold() for name in header]
    if len(names) == 3 and names[0] in UNIT and names[1] in RATER and names[2] in CODE:
        header, lines = _wide(path, lines)
    # What spreadsheet programs leave behind the last column that is used.
    rows = [row for _, row in lines]
    used = max((at for row in (header, *rows) for at, cell in enumerate(row, 1) if cell), default=1)
    header, raters = header[:used], header[1:used]
    _check_raters(path, raters)
    if _looks_like_ratings(raters, rows):
        notes.append(
            f"Line {table.line} was read as the names of the raters, but they look like ratings: "
            f"{', '.join(raters)}. Add a first line that names the columns."
        )
    seen: dict[str, int] = {}
    for line, (unit, *_) in lines:
        if not unit:
            _refuse(
                path,
                f"line {line} does not name a unit",
                "Give each unit a name in the first column",
            )
        if unit in seen:
            _refuse(
                path,
                f"the unit {_cut(unit)} is in line {seen[unit]} and in line {line}",
                "Give each unit a single line, with a column for each rater; or use three "
                "columns called unit, rater and code, with one line per rating",
            )
        seen[unit] = line
    return RatingTable(
        path,
        raters,
        tuple(seen),
        tuple(seen.values()),
        tuple(row[1:used] for row in rows),
        table.decimal_comma,
        tuple(notes),
    )


def _counts_rows(header: Sequence[str], lines: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether a table has the index of pandas or R before its unit: a first column without a name
    that counts from 0 or 1, and a second one that names each row once."""
    if header[0] or len(header) < 4:
        return False
    counted = [row[0] for _, row in lines]
    units = [row[1] for _, row in lines]
    return any(
        counted == [str(number) for number in range(first, first + len(lines))] for first in (0, 1)
    ) and (header[1].casefold() in UNIT or len(set(units)) == len(units) > 1)


def _wide(
    path: Path, lines: Sequence[tuple[int, Sequence[str]]]
) -> tuple[tuple[str, ...], list[tuple[int, tuple[str, ...]]]]:
    """One row per unit of a table that has one row per rating."""
    raters = tuple(dict.fromkeys(row[1] for _, row in lines))
    if len(raters) > MOST_RATERS:
        _refuse(
            path, f"it has {len(raters):,} raters, but at most {MOST_RATERS} can be compared", ""
        )
    given: dict[str, tuple[int, dict[str, str]]] = {}
    for line, (unit, rater, code) in lines:
        _, of_unit = given.setdefault(unit, (line, {}))
        if rater in of_unit:
            _refuse(
                path,
                f"line {line} gives the unit {_cut(unit)} a second rating by {_cut(rater)}",
                "Give each unit one rating by each rater",
            )
        of_unit[rater] = code
    rows = [
        (line, (unit, *(of_unit.get(rater, "") for rater in raters)))
        for unit, (line, of_unit) in given.items()
    ]
    return ("unit", *raters), rows


def _looks_like_ratings(raters: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the raters' names are all values that their columns hold, or numbers."""
    given = {cell for row in rows for cell in row[1:]}
    return all(name in given or _NUMBER.fullmatch(name) for name in raters)


def _check_raters(path: Path, raters: Sequence[str]) -> None:
    if len(raters) < 2:
        _refuse(
            path,
            "it has no column for a rater" if not raters else "it has only one rater",
            "Put the unit into the first column, and add a column for each rater (at least "
            "two); separate columns with commas, semicolons or tabs",
        )
    if len(raters) > MOST_RATERS:
        _refuse(
            path,
            f"it has {len(raters):,} columns of raters, but at most {MOST_RATERS} can be compared",
            "Give a column for each rater and a line for each unit",
        )
    for at, rater in enumerate(raters, 2):
        if not rater:
            _refuse(path, f"column {at} has no name", "Name each rater in the first line")
        if raters.count(rater) > 1:
            _refuse(path, f"two columns are called {_cut(rater)}", "Name each rater differently")


def _content(path: Path) -> bytes:
    try:
        return files.content(path)
    except FileNotFoundError:
        _refuse(path, "there is no such file", "Check the name and the folder")
    except OSError as error:
        _refuse(path, error.strerror or str(error), "Check that it is a file that you may read")


def _cut(text: str) -> str:
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1]}…”"


def _refuse(path: Path, what: str, todo: str) -> NoReturn:
    raise AgreementError(f"{path}: {what}.", safe=_SAFE, todo=f"{todo.rstrip('.')}.")
