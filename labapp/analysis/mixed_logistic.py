"""Mixed logistic models by maximum likelihood: yes or no on fixed effects, with random intercepts.

The random effects are integrated out by Laplace's approximation, as lme4 does (Bates, Mächler,
Bolker and Walker 2015, Journal of Statistical Software 67(1); `glmer` with nAGQ = 1): given the
standard deviations of the intercepts and the fixed effects, the mode of the intercepts is found by
Newton's method, and the height there times the width is maximised. A standard deviation of 0 is
nothing special, so that factors whose levels do not differ, or have a few values each, do no harm.

The information on the factor with the most levels is a diagonal, and is eliminated first: what is
left to solve has the levels of the others alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from labapp.analysis.bootstrap import Float64, Int64

STEPS, HALVES = 60, 27
"""Most steps of Newton's method, and how often one is halved at most."""
CLOSE = 1e-8
"""Of the height: a step that promises less is the last one."""
LARGEST = 12.0
"""Log odds beyond which an effect has no finite value: yes and no are separated."""
FARTHEST = 30.0
"""Log odds at which such an effect is left: there is nothing between them and infinity."""
STARTING_SD = 0.7
SMALL, FAR = 0.05, (STARTING_SD, 2.0)
"""A standard deviation that counts as none; and those from which a search begins then, too."""
STEP = 1e-6
"""Of the differences from which the search takes its slopes."""
ROUGH = 1e-6
"""Part of the deviance that no longer matters to a rough search."""


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """A model.

    Attributes
    ----------
    mean, sd : shape (effects,), fixed effects in log odds, and their standard errors.
    spreads : standard deviations of the random intercepts, by factor.
    deviance : -2 log likelihood, by Laplace.
    """

    mean: Float64
    sd: Float64
    spreads: tuple[float, ...]
    deviance: float

    def finite(self, effect: int) -> bool:
        """Whether an effect has a finite value; it has none if yes and no are separated."""
        return bool(abs(self.mean[effect]) <= LARGEST and self.sd[effect] <= LARGEST)

    def p(self, effect: int) -> float:
        """Of an effect of 0, two-sided, by Wald's test."""
        return float(2 * scipy.stats.norm.sf(abs(self.mean[effect] / self.sd[effect])))


def fit(
    outcome: Float64,
    fixed: Float64,
    factors: Sequence[Int64],
    start: Sequence[float] | None = None,
    *,
    rough: bool = False,
) -> LogisticFit | None:
    """The model; None if its equations cannot be solved, or a spread grows without end.

    Parameters
    ----------
    outcome : shape (n,), 0 or 1.
    fixed : shape (n, effects), the design, its intercept included.
    factors : of each factor the level of each value, from 0, shape (n,).
    start : standard deviations of the intercepts from which the search begins.
    rough : whether the fixed effects are left at the mode of the intercepts, as by `glmer` with
        nAGQ = 0: several times as fast, for what is fitted thousands of times.
    """
    problem = _Likelihood(outcome, fixed, factors)
    k, effects = len(factors), fixed.shape[1]
    bounds = [(0.0, None)] * k
    minimize: Any = scipy.optimize.minimize  # its stubs know no such functions
    try:
        # Of variances: of standard deviations, every slope at 0 is flat, and a search stays there.
        # First with the fixed effects at the mode of the intercepts, then for themselves.
        near = minimize(
            lambda variances: problem.together(_root(variances))[0],
            np.square(np.full(k, STARTING_SD) if start is None else start),
            method="L-BFGS-B",
            bounds=bounds,
            options={"eps": STEP} | ({"ftol": ROUGH} if rough else {}),
        )
        theta = _root(near.x)
        deviance, mean = problem.together(theta)
        if not rough:

            def search(spreads: Float64) -> Any:
                return minimize(
                    lambda at: problem.deviance(_root(at[:k]), at[k:]),
                    np.concatenate([np.square(spreads), mean]),
                    method="L-BFGS-B",
                    bounds=[*bounds, *[(None, None)] * effects],
                    options={"eps": STEP, "ftol": 1e-12, "gtol": 1e-6},
                )

            # A spread that the first search has at 0 may hold this one there, though the likelihood
            # has a greater maximum elsewhere: of rare outcomes it has several.
            result, none = search(theta), theta < SMALL
            for far in FAR if none.any() else ():
                with suppress(np.linalg.LinAlgError):  # from too far away
                    result = min(result, search(np.where(none, far, theta)), key=lambda at: at.fun)
            theta, mean, deviance = _root(result.x[:k]), result.x[k:], float(result.fun)
        sd = problem.errors(theta, mean)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(sd).all() or theta.max(initial=0) > LARGEST:
        return None
    return LogisticFit(mean, sd, tuple(map(float, theta)), deviance)


def _root(variances: Float64) -> Float64:
    return np.asarray(np.sqrt(np.maximum(variances, 0)), np.float64)


def _weight(eta: Float64) -> Float64:
    """Of values at these log odds: not 0 however large they are."""
    return np.asarray(scipy.special.expit(eta) * scipy.special.expit(-eta), np.float64)


class _Design:
    """Columns whose coefficients are searched for: `others`, the last of them fixed effects, and
    the levels of the factor that has the most.

    fixed: the places of the fixed effects; penalty: by column 1 for a level of a factor, whose
    coefficient is in standard deviations, and 0 for a fixed effect.
    """

    def __init__(self, fixed: Float64, factors: Sequence[Any]) -> None:
        *others, self.largest = factors
        self.others: Any = scipy.sparse.hstack([*others, scipy.sparse.csr_matrix(fixed)]).tocsr()
        size = self.others.shape[1]
        self.fixed = slice(size - fixed.shape[1], size)
        self.by_column: Any = self.others.T.tocsr()
        self.by_level: Any = self.largest.T.tocsr()
        self.penalty = np.ones(size + self.largest.shape[1])
        self.penalty[self.fixed] = 0
        self.last = np.zeros(self.penalty.size)

    def scale(self, spreads: Sequence[Float64]) -> Float64:
        """Of the coefficients; spreads: of the levels of each factor."""
        *others, largest = spreads
        fixed = np.ones(self.fixed.stop - self.fixed.start)
        return np.concatenate([*others, fixed, largest])

    def eta(self, scale: Float64, at: Float64) -> Float64:
        size = self.others.shape[1]
        scaled = scale * at
        return np.asarray(self.others @ scaled[:size] + self.largest @ scaled[size:])

    def slope(self, scale: Float64, residual: Float64, at: Float64) -> Float64:
        """Of the height."""
        up = np.concatenate([self.by_column @ residual, self.by_level @ residual])
        return np.asarray(scale * up - self.penalty * at)

    def information(self, scale: Float64, weight: Float64) -> _Information:
        """On the coefficients, if the values have these weights."""
        columns, size = self.by_column, self.others.shape[1]
        weighted = _like(columns, columns.data * weight[columns.indices])
        own, rest = scale[:size], scale[size:]
        diagonal = np.square(rest) * (self.by_level @ weight) + 1
        across: Any = weighted @ self.largest
        across.data *= np.repeat(own, np.diff(across.indptr)) * rest[across.indices]
        divided = _like(across, across.data / diagonal[across.indices])
        inner = own[:, None] * (weighted @ self.others).toarray() * own
        left = inner + np.diag(self.penalty[:size]) - (divided @ across.T).toarray()
        return _Information(diagonal, across, scipy.linalg.cholesky(left, lower=True))


def _like(matrix: Any, data: Float64) -> Any:
    """A sparse matrix with other values in its places."""
    return scipy.sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


@dataclass(frozen=True, slots=True)
class _Information:
    """An information matrix: the diagonal of the largest factor, what it shares with the other
    columns, and the Cholesky factor of what is left of these, those of fixed effects last."""

    diagonal: Float64
    across: Any
    lower: Float64

    def log_determinant(self, fixed: slice) -> float:
        """Without the fixed effects."""
        roots = np.diag(self.lower)[: fixed.start]
        return float(np.log(self.diagonal).sum() + 2 * np.log(roots).sum())

    def solve(self, right: Float64) -> Float64:
        """right: shape (columns, ...)."""
        size = len(self.lower)
        diagonal = self.diagonal.reshape(-1, *[1] * (right.ndim - 1))
        divided = right[size:] / diagonal
        others = scipy.linalg.cho_solve((self.lower, True), right[:size] - self.across @ divided)
        return np.concatenate([others, divided - (self.across.T @ others) / diagonal])


class _Likelihood:
    """The likelihood as a function of the intercepts' standard deviations and the fixed effects."""

    def __init__(self, y: Float64, x: Float64, factors: Sequence[Int64]) -> None:
        self.y, self.x = y, x
        sizes = [int(codes.max()) + 1 for codes in factors]
        self.order = [(at, sizes[at]) for at in np.argsort(sizes, kind="stable")]
        each = np.arange(y.size)
        columns = [
            scipy.sparse.csr_matrix((np.ones(y.size), (each, factors[at])), shape=(y.size, size))
            for at, size in self.order
        ]
        self.alone, self.both = _Design(x[:, :0], columns), _Design(x, columns)

    def _scale(self, design: _Design, theta: Float64) -> Float64:
        return design.scale([np.full(size, theta[at]) for at, size in self.order])

    def _height(self, design: _Design, eta: Float64, at: Float64) -> float:
        """Log likelihood less half the squares of the intercepts; NaN far from any mode."""
        with np.errstate(over="ignore", invalid="ignore"):
            likelihood = self.y @ eta - np.logaddexp(0, eta).sum()
            return float(likelihood - design.penalty @ np.square(at) / 2)

    def _mode(
        self, design: _Design, scale: Float64, offset: Float64 | float
    ) -> tuple[float, Float64, Float64]:
        """The greatest height, from where it was the last time: the height, the coefficients, and
        the weights of the values there."""
        at = design.last
        eta = offset + design.eta(scale, at)
        height = self._height(design, eta, at)
        for _ in range(STEPS):
            slope = design.slope(scale, self.y - scipy.special.expit(eta), at)
            step = design.information(scale, _weight(eta)).solve(slope)
            for halved in range(HALVES):
                tried = at + step / 2**halved
                # An effect without a finite value ends here, where nothing is gained any more.
                tried[design.fixed] = np.clip(tried[design.fixed], -FARTHEST, FARTHEST)
                eta_there = offset + design.eta(scale, tried)
                higher = self._height(design, eta_there, tried)
                if higher >= height - CLOSE:
                    break
            else:
                break
            at, eta, height = tried, eta_there, higher
            if slope @ step < CLOSE:
                break
        design.last = at
        return height, at, _weight(eta)

    def deviance(self, theta: Float64, beta: Float64) -> float:
        """-2 log likelihood, by Laplace."""
        return self._laplace(self.alone, theta, self.x @ beta)[0]

    def together(self, theta: Float64) -> tuple[float, Float64]:
        """The deviance with the fixed effects at the mode of the intercepts, and these effects."""
        return self._laplace(self.both, theta, 0.0)

    def _laplace(
        self, design: _Design, theta: Float64, offset: Float64 | float
    ) -> tuple[float, Float64]:
        scale = self._scale(design, theta)
        height, at, weight = self._mode(design, scale, offset)
        determinant = design.information(scale, weight).log_determinant(design.fixed)
        return determinant - 2 * height, at[design.fixed]

    def errors(self, theta: Float64, beta: Float64) -> Float64:
        """Standard errors of the fixed effects, given the intercepts' standard deviations."""
        weight = self._mode(self.alone, self._scale(self.alone, theta), self.x @ beta)[2]
        information = self.both.information(self._scale(self.both, theta), weight)
        wanted = np.eye(self.both.penalty.size)[:, self.both.fixed]
        return np.asarray(np.sqrt(np.diag(information.solve(wanted)[self.both.fixed])), np.float64)
