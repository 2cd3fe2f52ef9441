"""Psychometric functions by maximum likelihood, many at once.

The share of some answer as the intensity grows, between a guess and a lapse rate:

    p(x) = guess + (1 - guess - lapse) / (1 + exp(-slope * (x - location)))

with x the natural logarithm of the percentage shown, since sensation follows the logarithm of the
stimulus (paper 004, section 3.4). Guess and lapse rates are kept within bounds, without which they
run off where the masks do not reach the ends (Wichmann and Hill, The psychometric function I,
Perception & Psychophysics 63, 2001). Fisher scoring with Levenberg's damping, from the best point
of a grid; every fit of a bootstrap is a row of the same arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from labapp.analysis.bootstrap import Float64

MOST = (0.5, 0.1)
"""Upper bounds of the guess and the lapse rate, where nothing else is said."""
SLOPES = (0.2, 50.0)
"""Bounds of the slope, in logits per unit of the natural logarithm."""
BEYOND = float(np.log(4))
"""How far outside the masks a location is looked for, in natural logarithms."""
STEPS, ENOUGH, FIRMEST = 200, 1e-10, 1e9
"""Steps at most; relative change of the likelihood, and damping, at which a fit rests."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class CurveFits:
    """Parameters of each fit: float64, shape (fits,). log_likelihood without the binomial
    coefficients."""

    location: Float64
    slope: Float64
    guess: Float64
    lapse: Float64
    log_likelihood: Float64

    @property
    def threshold(self) -> Float64:
        """The location as a percentage."""
        result: Float64 = np.exp(self.location)
        return result


def share(
    percent: ArrayLike, threshold: float, slope: float, guess: float, lapse: float
) -> Float64:
    """The function itself: float64, shape as `percent`."""
    x = np.log(np.asarray(percent, np.float64))
    probability: Float64 = guess + (1 - guess - lapse) * expit(slope * (x - np.log(threshold)))
    return probability


def fit(
    x: Float64,
    hits: Float64,
    counts: Float64,
    rates: tuple[Float64, Float64] | None = None,
    most: tuple[float, float] = MOST,
) -> CurveFits:
    """Fits of hits out of counts: float64, shape (fits, intensities); x : shape (intensities,).

    rates : guess and lapse rates, each of shape (fits,), where they are known and only location and
    slope are looked for; most : upper bounds of the two.
    """
    at = _start(x, hits, counts, rates, most)
    free = slice(None) if rates is None else slice(2)
    value = _likelihood(x, at, hits, counts, most)
    damping = np.full(len(hits), 1e-3)
    going = np.ones(len(hits), np.bool_)
    for _ in range(STEPS):
        now = np.flatnonzero(going)
        if not now.size:
            break
        tried = at[now].copy()
        tried[:, free] += _step(x, at[now], hits[now], counts[now], damping[now], free, most)
        _bound(x, tried)
        best = _likelihood(x, tried, hits[now], counts[now], most)
        gain = best - value[now]
        better = gain > 0
        taken = now[better]
        at[taken], value[taken] = tried[better], best[better]
        damping[now] = np.where(better, damping[now] / 5, damping[now] * 5).clip(1e-9)
        small = better & (gain <= ENOUGH * (1 + np.abs(best)))
        going[now] = ~small & (damping[now] < FIRMEST)
    return CurveFits(at[:, 0], np.exp(at[:, 1]), *_rates(at, most), value)


# A row of parameters: location, log slope, and the two rates as logits of their part of the bound.


def _rates(at: Float64, most: tuple[float, float]) -> tuple[Float64, Float64]:
    return most[0] * expit(at[:, 2]), most[1] * expit(at[:, 3])


def _bound(x: Float64, at: Float64) -> None:
    np.clip(at[:, 0], x.min() - BEYOND, x.max() + BEYOND, out=at[:, 0])
    np.clip(at[:, 1], *np.log(SLOPES), out=at[:, 1])
    np.clip(at[:, 2:], -18, 18, out=at[:, 2:])


def _shares(x: Float64, at: Float64, most: tuple[float, float]) -> tuple[Float64, Float64]:
    """The function and its part between the rates, shape (fits, intensities)."""
    guess, lapse = _rates(at, most)
    inner = expit(np.exp(at[:, 1])[:, None] * (x - at[:, :1]))
    return guess[:, None] + (1 - guess - lapse)[:, None] * inner, inner


def _likelihood(
    x: Float64, at: Float64, hits: Float64, counts: Float64, most: tuple[float, float]
) -> Float64:
    p = _shares(x, at, most)[0].clip(_TINY, 1 - _TINY)
    total: Float64 = (hits * np.log(p) + (counts - hits) * np.log1p(-p)).sum(axis=1)
    return total


def _start(
    x: Float64,
    hits: Float64,
    counts: Float64,
    rates: tuple[Float64, Float64] | None,
    most: tuple[float, float],
) -> Float64:
    """The best point of a grid, for each fit."""
    locations = np.linspace(x.min(), x.max(), 13)
    slopes = np.log([1.0, 2.0, 4.0, 8.0, 16.0])
    if rates is None:
        guesses, lapses = logit([0.04, 0.2, 0.5]), logit([0.05, 0.4])
        grid = np.array(list(product(locations, slopes, guesses, lapses)))
        p = _shares(x, grid, most)[0].clip(_TINY, 1 - _TINY)
        values = hits @ np.log(p).T + (counts - hits) @ np.log1p(-p).T
        best_of_grid: Float64 = grid[values.argmax(axis=1)]
        return best_of_grid
    known = np.column_stack(
        [
            logit((rate / bound).clip(1e-8, 1 - 1e-8))
            for rate, bound in zip(rates, most, strict=True)
        ]
    )
    points = [
        np.column_stack([np.tile(point, (len(hits), 1)), known])
        for point in product(locations, slopes)
    ]
    best = np.argmax([_likelihood(x, point, hits, counts, most) for point in points], axis=0)
    start: Float64 = np.stack(points)[best, np.arange(len(hits))]
    return start


def _step(
    x: Float64,
    at: Float64,
    hits: Float64,
    counts: Float64,
    damping: Float64,
    free: slice,
    most: tuple[float, float],
) -> Float64:
    """A damped step of Fisher scoring, shape (fits, free parameters)."""
    p, inner = _shares(x, at, most)
    guess, lapse = (rate[:, None] for rate in _rates(at, most))
    slope = np.exp(at[:, 1])[:, None]
    steep = (1 - guess - lapse) * inner * (1 - inner)
    jacobian = np.stack(
        [
            -slope * steep,
            slope * (x - at[:, :1]) * steep,
            (1 - inner) * guess * (1 - guess / most[0]),
            -inner * lapse * (1 - lapse / most[1]),
        ],
        axis=-1,
    )[..., free]
    p = p.clip(_TINY, 1 - _TINY)
    spread = p * (1 - p)
    score = np.einsum("fkp,fk->fp", jacobian, (hits - counts * p) / spread)
    information = np.einsum("fkp,fk,fkq->fpq", jacobian, counts / spread, jacobian)
    size = information.shape[-1]
    diagonal = np.einsum("fpp->fp", information)
    scale = diagonal + 1e-6 * diagonal.max(axis=1, keepdims=True) + _TINY
    information += (damping[:, None] * scale + _TINY)[:, :, None] * np.eye(size)
    step: NDArray[np.float64] = np.linalg.solve(information, score[..., None])[..., 0]
    return step.clip(-2, 2)
