"""Psychometric functions of each method, over all participants and of each (ours), by maximum
likelihood, many at once.

The share of some answer as the intensity grows, between a guess and a lapse rate:

    p(x) = guess + (1 - guess - lapse) / (1 + exp(-slope * (x - location)))

with x the natural logarithm of the percentage shown, since sensation follows the logarithm of the
stimulus (paper 004, section 3.4). Guess and lapse rates are kept within bounds, without which they
run off where the masks do not reach the ends (Wichmann and Hill, The psychometric function I,
Perception & Psychophysics 63, 2001). Fisher scoring with Levenberg's damping, from the best point
of a grid; every fit of a bootstrap is a row of the same arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.bootstrap import LEVELS, Float64, divide_or_nan, interval, sum_draws
from labapp.tasks.unmasking.report.curves import IMAGE, PERSON, AnnotationCells, scalars
from labapp.tasks.unmasking.report.results import CORRECT, LABEL, Fits

POOLED = (
    *("of", "method", "n", "n_participants", "threshold", "threshold_low", "threshold_high"),
    *("slope", "slope_low", "slope_high", "guess", "lapse", "log_likelihood", "why"),
)
OWN = ("of", "method", "participant", "n", "threshold", "slope", "why")
NOBODY = "no annotations"
FEW = "fewer than four masks, the parameters of the function"
FLAT = "the share is the same at every mask"
FALLS = "the share does not grow with what is shown"
UNCLEAR = "the share does not grow with what is shown by more than chance"
OUTSIDE = "the threshold lies outside the masks that were shown"
UNSETTLED = "the threshold is not settled: its interval reaches beyond all that is looked for"
NO_POOLED = "there is no fit over all participants, whose guess and lapse rates are taken"
PARAMETERS = 4
ALPHA = 0.05
"""Of the likelihood ratio test of a function against the same share at every mask."""
MOST = {LABEL: (0.5, 0.1), CORRECT: (0.5, 0.5)}
"""Upper bounds of guess and lapse rates. Where everything is shown, hardly anybody says "I don't
know", but any share may name the wrong class."""


def fits(cells: AnnotationCells) -> Fits:
    pooled: list[dict[str, object]] = []
    own: list[dict[str, object]] = []
    counts = cells.counts.sum(IMAGE)
    for of, values in ((LABEL, cells.label), (CORRECT, cells.correct)):
        hits = cells.sums(values).sum(IMAGE)
        for place, method in enumerate(cells.methods):
            row = {"of": of, "method": method}
            together, about = _fit_pooled(cells, hits[:, place], counts[:, place], MOST[of])
            pooled.append(row | about)
            each = _own(cells, hits[:, place], counts[:, place], together, MOST[of])
            own += [row | extra for extra in each]
    return Fits(pd.DataFrame(pooled, columns=list(POOLED)), pd.DataFrame(own, columns=list(OWN)))


def _fit_pooled(
    cells: AnnotationCells, hits: Float64, counts: Float64, most: tuple[float, float]
) -> tuple[CurveFits | None, dict[str, object]]:
    """hits, counts : of one method, shape (participants, masks)."""
    x = np.log(np.array(cells.percents, np.float64))
    about: dict[str, object] = {
        "n": int(counts.sum()),
        "n_participants": int((counts.sum(axis=1) > 0).sum()),
        **dict.fromkeys(POOLED[4:-1], np.nan),
    }
    all_hits, all_counts = hits.sum(PERSON), counts.sum(PERSON)
    if why := _unfit(x, all_hits[None], all_counts[None])[0]:
        return None, about | {"why": why}
    pooled = fit(x, all_hits[None], all_counts[None], most=most)
    # Draws of participants in which nothing can be fitted are left out.
    of_hits, of_counts = sum_draws(cells.drawing, hits), sum_draws(cells.drawing, counts)
    some = np.array([not reason for reason in _unfit(x, of_hits, of_counts)], np.bool_)
    draws = fit(x, of_hits[some], of_counts[some], most=most)
    threshold = interval(pooled.threshold[0], draws.threshold)
    return pooled, about | {
        **scalars(threshold, "threshold"),
        **scalars(interval(pooled.slope[0], draws.slope), "slope"),
        "guess": float(pooled.guess[0]),
        "lapse": float(pooled.lapse[0]),
        "log_likelihood": float(pooled.log_likelihood[0]),
        "why": (
            _unclear(pooled, all_hits[None], all_counts[None], PARAMETERS - 1)[0]
            or _outside(cells, float(threshold.value))
            or _explain_unsettled(x, draws.location)
        ),
    }


def _own(
    cells: AnnotationCells,
    hits: Float64,
    counts: Float64,
    over_all: CurveFits | None,
    most: tuple[float, float],
) -> Iterator[dict[str, object]]:
    """One row per participant, in their order."""
    x = np.log(np.array(cells.percents, np.float64))
    without = "" if over_all is not None else NO_POOLED
    why = [reason or without for reason in _unfit(x, hits, counts)]
    threshold, slope = np.full((2, len(hits)), np.nan)
    some = np.array([not reason for reason in why], np.bool_)
    if over_all is not None and some.any():
        rates = (np.full(some.sum(), over_all.guess[0]), np.full(some.sum(), over_all.lapse[0]))
        fitted = fit(x, hits[some], counts[some], rates, most)
        threshold[some], slope[some] = fitted.threshold, fitted.slope
        unclear = _unclear(fitted, hits[some], counts[some], 1)
        for row, note in zip(np.flatnonzero(some), unclear, strict=True):
            why[row] = note
    for place, participant in enumerate(cells.participants):
        yield {
            "participant": participant,
            "n": int(counts[place].sum()),
            "threshold": float(threshold[place]),
            "slope": float(slope[place]),
            "why": why[place] or _outside(cells, float(threshold[place])),
        }


def _unfit(x: Float64, hits: Float64, counts: Float64) -> list[str]:
    """Why nothing can be fitted, of each row; hits, counts : shape (rows, masks)."""
    known = counts > 0
    shares = divide_or_nan(hits, counts)
    low = np.where(known, shares, np.inf).min(axis=1, initial=np.inf)
    high = np.where(known, shares, -np.inf).max(axis=1, initial=-np.inf)
    # The weighted slope of a straight line: a function that falls has no threshold.
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    middle = (counts * x).sum(axis=1, keepdims=True) / total
    rise = (hits * (x - middle)).sum(axis=1)
    why = np.select(
        [~known.any(axis=1), known.sum(axis=1) < PARAMETERS, low == high, rise <= 0],
        [NOBODY, FEW, FLAT, FALLS],
        "",
    )
    return [str(reason) for reason in why]


def _unclear(fitted: CurveFits, hits: Float64, counts: Float64, more: int) -> list[str]:
    """Whether each function is no better than one share at every mask. more : parameters that the
    function has beyond that share."""
    asked, given = counts.sum(axis=1), hits.sum(axis=1)
    xlogy = scipy.special.xlogy
    flat = xlogy(given, given / asked) + xlogy(asked - given, 1 - given / asked)
    p = scipy.stats.chi2.sf(np.maximum(2 * (fitted.log_likelihood - flat), 0), more)
    return [UNCLEAR if p_value >= ALPHA else "" for p_value in p]


def _explain_unsettled(x: Float64, locations: Float64) -> str:
    """Whether the interval of a location reaches an end of where it is looked for."""
    if not locations.size:
        return ""
    low, high = np.percentile(locations, LEVELS)
    within = x.min() - BEYOND < low and high < x.max() + BEYOND
    return "" if within else UNSETTLED


def _outside(cells: AnnotationCells, threshold: float) -> str:
    return "" if cells.percents[0] <= threshold <= cells.percents[-1] else OUTSIDE


MOST_RATES = (0.5, 0.1)
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
    above: Float64 = scipy.special.expit(slope * (x - np.log(threshold)))
    probability: Float64 = guess + (1 - guess - lapse) * above
    return probability


def fit(
    x: Float64,
    hits: Float64,
    counts: Float64,
    rates: tuple[Float64, Float64] | None = None,
    most: tuple[float, float] = MOST_RATES,
) -> CurveFits:
    """Fits of hits out of counts: float64, shape (fits, intensities); x : shape (intensities,).
    rates : guess and lapse rates, each of shape (fits,), where they are known and only location and
    slope are looked for; most : upper bounds of the two."""
    asked = _Asked(x, hits, counts, most)
    at = asked.start(rates)
    free = slice(None) if rates is None else slice(2)
    value = asked.likelihood(at)
    damping = np.full(len(hits), 1e-3)
    going = np.ones(len(hits), np.bool_)
    for _ in range(STEPS):
        now = np.flatnonzero(going)
        if not now.size:
            break
        some = _Asked(x, hits[now], counts[now], most)
        tried = at[now].copy()
        tried[:, free] += some.step(at[now], damping[now], free)
        np.clip(tried[:, 0], x.min() - BEYOND, x.max() + BEYOND, out=tried[:, 0])
        np.clip(tried[:, 1], *np.log(SLOPES), out=tried[:, 1])
        np.clip(tried[:, 2:], -18, 18, out=tried[:, 2:])
        best = some.likelihood(tried)
        gain = best - value[now]
        better = gain > 0
        taken = now[better]
        at[taken], value[taken] = tried[better], best[better]
        damping[now] = np.where(better, damping[now] / 5, damping[now] * 5).clip(1e-9)
        small = better & (gain <= ENOUGH * (1 + np.abs(best)))
        going[now] = ~small & (damping[now] < FIRMEST)
    return CurveFits(at[:, 0], np.exp(at[:, 1]), *asked.rates(at), value)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What functions are fitted to, see `fit`. A row of parameters (at) is the location, the log
    slope, and the two rates as logits of their part of the bound."""

    x: Float64
    hits: Float64
    counts: Float64
    most: tuple[float, float]

    def rates(self, at: Float64) -> tuple[Float64, Float64]:
        expit = scipy.special.expit
        return self.most[0] * expit(at[:, 2]), self.most[1] * expit(at[:, 3])

    def shares(self, at: Float64) -> tuple[Float64, Float64]:
        """The function and its part between the rates, shape (fits, intensities)."""
        guess, lapse = self.rates(at)
        inner = scipy.special.expit(np.exp(at[:, 1])[:, None] * (self.x - at[:, :1]))
        return guess[:, None] + (1 - guess - lapse)[:, None] * inner, inner

    def likelihood(self, at: Float64) -> Float64:
        p = self.shares(at)[0].clip(_TINY, 1 - _TINY)
        missed = self.counts - self.hits
        total: Float64 = (self.hits * np.log(p) + missed * np.log1p(-p)).sum(axis=1)
        return total

    def start(self, rates: tuple[Float64, Float64] | None) -> Float64:
        """The best point of a grid, for each fit."""
        locations = np.linspace(self.x.min(), self.x.max(), 13)
        slopes = np.log([1.0, 2.0, 4.0, 8.0, 16.0])
        if rates is None:
            guesses, lapses = map(scipy.special.logit, ([0.04, 0.2, 0.5], [0.05, 0.4]))
            grid = np.array(list(product(locations, slopes, guesses, lapses)))
            p = self.shares(grid)[0].clip(_TINY, 1 - _TINY)
            values = self.hits @ np.log(p).T + (self.counts - self.hits) @ np.log1p(-p).T
            best_of_grid: Float64 = grid[values.argmax(axis=1)]
            return best_of_grid
        parts = [rate / bound for rate, bound in zip(rates, self.most, strict=True)]
        known = scipy.special.logit(np.column_stack(parts).clip(1e-8, 1 - 1e-8))
        points = [
            np.column_stack([np.tile(point, (len(known), 1)), known])
            for point in product(locations, slopes)
        ]
        best = np.argmax([self.likelihood(point) for point in points], axis=0)
        start: Float64 = np.stack(points)[best, np.arange(len(known))]
        return start

    def step(self, at: Float64, damping: Float64, free: slice) -> Float64:
        """A damped step of Fisher scoring, shape (fits, free parameters)."""
        p, inner = self.shares(at)
        guess, lapse = (rate[:, None] for rate in self.rates(at))
        slope = np.exp(at[:, 1])[:, None]
        steep = (1 - guess - lapse) * inner * (1 - inner)
        jacobian = np.stack(
            [
                -slope * steep,
                slope * (self.x - at[:, :1]) * steep,
                (1 - inner) * guess * (1 - guess / self.most[0]),
                -inner * lapse * (1 - lapse / self.most[1]),
            ],
            axis=-1,
        )[..., free]
        p = p.clip(_TINY, 1 - _TINY)
        spread = p * (1 - p)
        score = np.einsum("fkp,fk->fp", jacobian, (self.hits - self.counts * p) / spread)
        information = np.einsum("fkp,fk,fkq->fpq", jacobian, self.counts / spread, jacobian)
        size = information.shape[-1]
        diagonal = np.einsum("fpp->fp", information)
        scale = diagonal + 1e-6 * diagonal.max(axis=1, keepdims=True) + _TINY
        information += (damping[:, None] * scale + _TINY)[:, :, None] * np.eye(size)
        step: NDArray[np.float64] = np.linalg.solve(information, score[..., None])[..., 0]
        return step.clip(-2, 2)
