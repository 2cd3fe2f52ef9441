"""Factors, and the values of participants by the cells of the factors they met.

Everything here is arithmetic on frames: one row per participant and cell, or a trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
PARTICIPANT, VALUE = "participant", "value"
Weights = Mapping[str, Mapping[str, float]]
"""By factor the weight of each of its levels; a level that is not named weighs nothing, and over a
factor that is not named the mean is taken."""


def plain_name(factor: str) -> str:
    """A factor as the study calls it."""
    return factor.removeprefix("factor_")


def term_name(factors: Iterable[str]) -> str:
    """The factors of a term as the study calls them, with × between them."""
    return " × ".join(plain_name(factor) for factor in factors)


def level_words(levels: Mapping[str, str]) -> str:
    """Levels by factor as a text."""
    return "; ".join(f"{plain_name(name)}={level}" for name, level in levels.items())


@dataclass(frozen=True, slots=True)
class Factor:
    """What is varied, or measured as a group.

    Attributes
    ----------
    name : column of the frame.
    levels : as texts, in the order of tables.
    within : each participant meets several levels.
    measured : it was not assigned; it counts among the measured ones in generalised eta squared.
    additive : it is in no interaction.
    """

    name: str
    levels: tuple[str, ...]
    within: bool = False
    measured: bool = False
    additive: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The factors of an analysis, and its covariates: columns with one number per participant."""

    factors: tuple[Factor, ...]
    covariates: tuple[str, ...] = ()

    @property
    def between(self) -> tuple[Factor, ...]:
        return tuple(factor for factor in self.factors if not factor.within)

    @property
    def within(self) -> tuple[Factor, ...]:
        return tuple(factor for factor in self.factors if factor.within)

    def met_in(self, frame: pd.DataFrame) -> Layout:
        """Without the levels that no row of a frame has."""
        factors = (
            replace(f, levels=tuple(x for x in f.levels if (frame[f.name] == x).any()))
            for f in self.factors
        )
        return replace(self, factors=tuple(factors))

    @property
    def flat(self) -> str:
        """The first factor with fewer than two levels; empty if there is none."""
        few = (plain_name(factor.name) for factor in self.factors if len(factor.levels) < 2)
        return next(few, "")

    @property
    def words(self) -> str:
        """between hint; within model; covariate age."""
        parts = []
        for name, factors in (("between", self.between), ("within", self.within)):
            if factors:
                parts.append(f"{name} {', '.join(plain_name(factor.name) for factor in factors)}")
        if self.covariates:
            parts.append(f"covariate {', '.join(self.covariates)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Wide:
    """Participants by cells of the factors within them.

    Attributes
    ----------
    participants : shape (n,), sorted.
    values : shape (n, cells), NaN if a participant has none; the last factor changes fastest.
    groups : shape (n, factors between), the numbers of the levels.
    covariates : shape (n, covariates), each centred on its mean.
    """

    layout: Layout
    participants: tuple[str, ...]
    values: Floats
    groups: Whole
    covariates: Floats

    @property
    def size(self) -> float:
        """The largest of the values; 1 if all are 0."""
        return float(np.nanmax(np.abs(self.values))) or 1.0

    @property
    def complete(self) -> Wide:
        """Those who have a value in every cell."""
        return self.of(np.asarray(np.isfinite(self.values).all(axis=1)))

    def of(self, rows: NDArray[np.bool_]) -> Wide:
        """Some of the participants; covariates are centred anew."""
        covariates = self.covariates[rows]
        return Wide(
            self.layout,
            tuple(np.array(self.participants, dtype=object)[rows]),
            self.values[rows],
            self.groups[rows],
            covariates - covariates.mean(axis=0) if covariates.size else covariates,
        )


def wide(frame: pd.DataFrame, layout: Layout) -> Wide:
    """Participants by cells: of several rows of a cell the mean.

    frame: a column `participant`, one per factor and covariate, and `value`; rows without a value,
    with a level that the layout lacks, or without a covariate are left out.
    """
    within, between = layout.within, layout.between
    rows = usable(frame, layout)
    names = tuple(sorted({str(name) for name in rows[PARTICIPANT]}))
    places = {name: at for at, name in enumerate(names)}
    person = rows[PARTICIPANT].astype(str).map(places).to_numpy(np.intp)
    n, cells = len(names), cell_count(within)
    cell = np.zeros(len(rows), np.intp)
    for factor in within:
        cell = cell * len(factor.levels) + codes_of(rows, factor)
    flat = person * cells + cell
    counts = np.bincount(flat, minlength=n * cells)
    sums = np.bincount(flat, rows[VALUE].to_numpy(np.float64), minlength=n * cells)
    with np.errstate(invalid="ignore"):
        values = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), np.nan)
    groups = np.zeros((n, len(between)), np.intp)
    covariates = np.zeros((n, len(layout.covariates)))
    for at, factor in enumerate(between):
        groups[person, at] = codes_of(rows, factor)
    for at, name in enumerate(layout.covariates):
        covariates[person, at] = rows[name].to_numpy(np.float64)
    if covariates.size:
        covariates -= covariates.mean(axis=0)
    return Wide(layout, names, values.reshape(n, cells), groups, covariates)


def usable(frame: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The rows with a value, a level of each factor, and every covariate."""
    rows = frame.dropna(subset=[VALUE, *layout.covariates])
    for factor in layout.factors:
        rows = rows[rows[factor.name].isin(factor.levels)]
    return rows.reset_index(drop=True)


def codes_of(rows: pd.DataFrame, factor: Factor) -> Whole:
    """The number of each row's level."""
    places = {level: at for at, level in enumerate(factor.levels)}
    return np.asarray(rows[factor.name].astype(str).map(places), np.intp)


def cell_count(factors: Sequence[Factor]) -> int:
    return int(np.prod([len(factor.levels) for factor in factors], dtype=np.intp))


def cell_codes(factors: Sequence[Factor]) -> Whole:
    """The numbers of the levels in every cell, shape (cells, factors), as `Wide` has them."""
    sizes = [len(factor.levels) for factor in factors]
    return np.indices(sizes).reshape(len(sizes), -1).T.astype(np.intp)


def subsets(factors: Sequence[Factor]) -> Iterator[tuple[int, ...]]:
    """The places of the factors of every term: main effects, then interactions."""
    for size in range(1, len(factors) + 1):
        yield from combinations(range(len(factors)), size)


def sum_coding(levels: int) -> Floats:
    """Sum contrasts, shape (levels, levels - 1): effects are deviations from the mean of levels."""
    return np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])


@dataclass(frozen=True, slots=True)
class Columns:
    """A design matrix with sum contrasts.

    Attributes
    ----------
    matrix : shape (rows, columns), the intercept first.
    terms : by term (the names of its factors, or a covariate) its columns; () the intercept.
    """

    matrix: Floats
    terms: Mapping[tuple[str, ...], slice]


def columns(
    factors: Sequence[Factor], codes: Whole, covariates: Mapping[str, Floats], crossed: bool = True
) -> Columns:
    """The design of rows with these levels. codes: shape (rows, factors); crossed: with every
    interaction."""
    pieces = [np.ones((len(codes), 1))]
    terms: dict[tuple[str, ...], slice] = {(): slice(0, 1)}
    at = 1

    def add(name: tuple[str, ...], piece: Floats) -> None:
        nonlocal at
        pieces.append(piece)
        terms[name] = slice(at, at + piece.shape[1])
        at += piece.shape[1]

    for name, values in covariates.items():
        add((name,), np.asarray(values, np.float64)[:, None])
    coded = [
        sum_coding(len(factor.levels))[codes[:, place]] for place, factor in enumerate(factors)
    ]
    for places in subsets(factors):
        alone = not crossed or any(factors[place].additive for place in places)
        if len(places) == 1 or not alone:
            piece = reduce(
                lambda a, b: (a[:, :, None] * b[:, None, :]).reshape(len(a), -1),
                [coded[place] for place in places],
            )
            add(tuple(factors[place].name for place in places), piece)
    return Columns(np.hstack(pieces), terms)


def cell_weights(factors: Sequence[Factor], weights: Weights) -> Floats:
    """The weight of every cell, shape (cells,): products over the factors, the mean over those that
    the weights do not name."""
    vectors = [
        np.array([weights[factor.name].get(level, 0.0) for level in factor.levels])
        if factor.name in weights
        else np.full(len(factor.levels), 1 / len(factor.levels))
        for factor in factors
    ]
    return reduce(kron, vectors, np.ones(1))


def kron(first: Floats, other: Floats) -> Floats:
    """Kronecker's product."""
    return np.asarray(np.kron(first, other), np.float64)


def fixed_effects(rows: pd.DataFrame, layout: Layout) -> tuple[Columns, Whole, bool] | None:
    """The design of usable rows, the numbers of their levels, and whether it has interactions: they
    are left out if a combination of levels has no row. None if even then the factors cannot
    be told apart. Covariates are less their means over participants."""
    codes = np.column_stack(
        [np.zeros((len(rows), 0), np.intp)] + [codes_of(rows, factor) for factor in layout.factors]
    ).astype(np.intp)
    covariates = {
        name: (rows[name] - rows.groupby(PARTICIPANT)[name].mean().mean()).to_numpy(np.float64)
        for name in layout.covariates
    }
    for crossed in (True, False):
        design = columns(layout.factors, codes, covariates, crossed)
        if np.linalg.matrix_rank(design.matrix) == design.matrix.shape[1]:
            return design, codes, crossed
    return None


def weigh_cells(layout: Layout, design: Columns, weights: Weights) -> Floats:
    """The weighted sum of the means of cells as weights of a design's coefficients, covariates at
    their mean."""
    factors = layout.factors
    crossed = len(design.terms) > 1 + len(factors) + len(layout.covariates)
    codes = cell_codes(factors) if factors else np.zeros((1, 0), np.intp)
    nothing = {name: np.zeros(len(codes)) for name in layout.covariates}
    made = cell_weights(factors, weights) @ columns(factors, codes, nothing, crossed).matrix
    return np.asarray(made, np.float64)
