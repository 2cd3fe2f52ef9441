"""Mixed logistic models by maximum likelihood: yes or no on fixed effects, with random intercepts.

The random effects are integrated out by Laplace's approximation, as lme4 does (Bates, Mächler,
Bolker and Walker 2015, Journal of Statistical Software 67(1); `glmer` with nAGQ = 1): given the
standard deviations of the intercepts and the fixed effects, the mode of the intercepts is found by
Newton's method, and the height there times the width is maximised. A standard deviation of 0 is
nothing special, so that factors whose levels do not differ, or have a few values each, do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize, sparse, special

from labapp.analysis.bootstrap import Float64, Int64

STEPS = 60
"""Most steps of Newton's method."""
CLOSE = 1e-8
"""Of the deviance: what no step improves on any more."""
LARGEST = 12.0
"""Log odds beyond which an effect has no finite value: yes and no are separated."""
STARTING_SD = 0.7


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model.

    Attributes
    ----------
    mean, sd : ndarray of float64, shape (effects,)
        Fixed effects in log odds, and their standard errors.
    spreads : tuple of float
        Standard deviations of the random intercepts, by factor.
    deviance : float
        -2 log likelihood, by Laplace.
    """

    mean: Float64
    sd: Float64
    spreads: tuple[float, ...]
    deviance: float

    def finite(self, effect: int) -> bool:
        """Whether an effect has a finite value; it has none where yes and no are separated."""
        return bool(abs(self.mean[effect]) <= LARGEST and self.sd[effect] <= LARGEST)


def fit(outcome: Float64, fixed: Float64, factors: Sequence[Int64]) -> Fitted | None:
    """The model; None where it does not converge.

    Parameters
    ----------
    outcome : ndarray of float64, shape (n,)
        0 or 1.
    fixed : ndarray of float64, shape (n, effects)
        The design, its intercept included.
    factors : sequence of ndarray of int64, shape (n,)
        Of each factor the level of each value, from 0.
    """
    problem = _Problem(outcome, fixed, factors)
    k, effects = len(factors), fixed.shape[1]
    bounds = [(0.0, None)] * k
    minimize: Any = optimize.minimize  # its stubs know no such functions
    try:
        # First with the fixed effects at the mode of the intercepts, then for themselves.
        near = minimize(
            lambda theta: problem.together(np.abs(theta))[0],
            np.full(k, STARTING_SD),
            method="L-BFGS-B",
            bounds=bounds,
        )
        theta = np.abs(np.asarray(near.x, np.float64))
        _, start = problem.together(theta)
        found = minimize(
            lambda at: problem.deviance(np.abs(at[:k]), at[k:]),
            np.concatenate([theta, start[:effects]]),
            method="L-BFGS-B",
            bounds=[*bounds, *[(None, None)] * effects],
            options={"ftol": 1e-12, "gtol": 1e-6},
        )
        at = np.asarray(found.x, np.float64)
        theta, mean = np.abs(at[:k]), at[k:]
        sd = problem.errors(theta, mean)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(sd).all() or theta.max(initial=0) > LARGEST:
        return None
    return Fitted(mean, sd, tuple(map(float, theta)), float(found.fun))


class _Problem:
    """The likelihood as a function of the intercepts' standard deviations and the fixed effects."""

    def __init__(self, y: Float64, x: Float64, factors: Sequence[Int64]) -> None:
        self.y, self.x = y, x
        self.sizes = [int(codes.max()) + 1 for codes in factors]
        offsets = np.cumsum([0, *self.sizes[:-1]])
        rows = np.tile(np.arange(y.size), len(factors))
        columns = np.concatenate([codes + at for codes, at in zip(factors, offsets, strict=True)])
        self.z: Any = sparse.csr_matrix(
            (np.ones(rows.size), (rows, columns)), shape=(y.size, sum(self.sizes))
        )
        self.zt: Any = self.z.T.tocsr()
        self._last: Float64 = np.zeros(sum(self.sizes))

    def _likelihood(self, eta: Float64, u: Float64) -> float:
        """Log likelihood less half the squares of the intercepts."""
        return float(self.y @ eta - np.logaddexp(0, eta).sum() - u @ u / 2)

    def _inner(self, scale: Float64, weight: Float64) -> Float64:
        """Information on the intercepts, in their standard deviations."""
        plain = np.asarray((self.zt @ self.z.multiply(weight[:, None])).todense())
        return np.asarray(scale[:, None] * plain * scale + np.eye(scale.size), np.float64)

    def _mode(self, scale: Float64, offset: Float64) -> tuple[float, Float64, Float64]:
        """The mode of the intercepts: the height, the Cholesky factor of the information there, and
        the weights of the values."""
        u = self._last
        eta = offset + self.z @ (scale * u)
        height = self._likelihood(eta, u)
        for _ in range(STEPS):
            mu = special.expit(eta)
            lower = linalg.cholesky(self._inner(scale, mu * (1 - mu)), lower=True)
            slope = scale * (self.zt @ (self.y - mu)) - u
            step, length = linalg.cho_solve((lower, True), slope), 1.0
            while True:
                tried = u + length * step
                eta = offset + self.z @ (scale * tried)
                higher = self._likelihood(eta, tried)
                if higher >= height - CLOSE or length < CLOSE:
                    break
                length /= 2
            gained, u, height = higher - height, tried, higher
            if abs(gained) < CLOSE:
                break
        self._last = u
        mu = special.expit(eta)
        weight = np.asarray(mu * (1 - mu), np.float64)
        return height, linalg.cholesky(self._inner(scale, weight), lower=True), weight

    def deviance(self, theta: Float64, beta: Float64) -> float:
        """-2 log likelihood, by Laplace."""
        scale = np.repeat(theta, self.sizes)
        height, lower, _ = self._mode(scale, self.x @ beta)
        return float(-2 * height + 2 * np.log(np.diag(lower)).sum())

    def together(self, theta: Float64) -> tuple[float, Float64]:
        """The deviance with the fixed effects at the mode of the intercepts, and both of them."""
        scale = np.repeat(theta, self.sizes)
        p = self.x.shape[1]
        both = np.zeros(p + scale.size)
        design: Any = sparse.hstack([sparse.csr_matrix(self.x), self.z.multiply(scale)]).tocsr()
        penalty = np.concatenate([np.zeros(p), np.ones(scale.size)])
        eta = design @ both
        height = self._likelihood(eta, both[p:])
        for _ in range(STEPS):
            mu = special.expit(eta)
            weight = mu * (1 - mu)
            information = np.asarray((design.T @ design.multiply(weight[:, None])).todense())
            lower = linalg.cholesky(information + np.diag(penalty), lower=True)
            step = linalg.cho_solve((lower, True), design.T @ (self.y - mu) - penalty * both)
            length = 1.0
            while True:
                tried = both + length * step
                eta = design @ tried
                higher = self._likelihood(eta, tried[p:])
                if higher >= height - CLOSE or length < CLOSE:
                    break
                length /= 2
            gained, both, height = higher - height, tried, higher
            if abs(gained) < CLOSE or np.abs(both[:p]).max() > LARGEST:
                break
        return self.deviance(theta, both[:p]), both

    def errors(self, theta: Float64, beta: Float64) -> Float64:
        """Standard errors of the fixed effects, given the intercepts' standard deviations."""
        scale = np.repeat(theta, self.sizes)
        _, lower, weight = self._mode(scale, self.x @ beta)
        weighted = weight[:, None] * self.x
        across = linalg.solve_triangular(
            lower, scale[:, None] * np.asarray(self.zt @ weighted), lower=True
        )
        information = self.x.T @ weighted - across.T @ across
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(information))), np.float64)
