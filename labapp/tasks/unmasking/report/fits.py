"""Psychometric functions of each method, over all participants and of each (ours)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import xlogy

from labapp.analysis.bootstrap import LEVELS, Float64, divided, drawn, interval
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.curves import IMAGE, PERSON
from labapp.tasks.unmasking.report.psychometric import BEYOND, CurveFits, fit
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


def fits(cells: Cells) -> Fits:
    """See `Fits`."""
    pooled: list[dict[str, object]] = []
    own: list[dict[str, object]] = []
    counts = cells.counts.sum(IMAGE)
    for of, values in ((LABEL, cells.label), (CORRECT, cells.correct)):
        hits = cells.sums(values).sum(IMAGE)
        for place, method in enumerate(cells.methods):
            row = {"of": of, "method": method}
            together, about = _pooled(cells, hits[:, place], counts[:, place], MOST[of])
            pooled.append(row | about)
            each = _own(cells, hits[:, place], counts[:, place], together, MOST[of])
            own += [row | extra for extra in each]
    return Fits(pd.DataFrame(pooled, columns=list(POOLED)), pd.DataFrame(own, columns=list(OWN)))


def _pooled(
    cells: Cells, hits: Float64, counts: Float64, most: tuple[float, float]
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
    draws = _draws(cells, x, hits, counts, most)
    threshold = interval(pooled.threshold[0], draws.threshold)
    slope = interval(pooled.slope[0], draws.slope)
    return pooled, about | {
        "threshold": float(threshold.value),
        "threshold_low": float(threshold.low),
        "threshold_high": float(threshold.high),
        "slope": float(slope.value),
        "slope_low": float(slope.low),
        "slope_high": float(slope.high),
        "guess": float(pooled.guess[0]),
        "lapse": float(pooled.lapse[0]),
        "log_likelihood": float(pooled.log_likelihood[0]),
        "why": (
            _unclear(pooled, all_hits[None], all_counts[None], PARAMETERS - 1)[0]
            or _outside(cells, float(threshold.value))
            or _unsettled(x, draws.location)
        ),
    }


def _draws(
    cells: Cells, x: Float64, hits: Float64, counts: Float64, most: tuple[float, float]
) -> CurveFits:
    """The fits of participants who are drawn anew; draws in which nothing can be fitted left
    out."""
    of_hits, of_counts = drawn(cells.drawing, hits), drawn(cells.drawing, counts)
    some = np.array([not reason for reason in _unfit(x, of_hits, of_counts)], np.bool_)
    return fit(x, of_hits[some], of_counts[some], most=most)


def _own(
    cells: Cells,
    hits: Float64,
    counts: Float64,
    over_all: CurveFits | None,
    most: tuple[float, float],
) -> Iterator[dict[str, object]]:
    """A row a participant, in their order."""
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
    shares = divided(hits, counts)
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
    flat = xlogy(given, given / asked) + xlogy(asked - given, 1 - given / asked)
    p = stats.chi2.sf(np.maximum(2 * (fitted.log_likelihood - flat), 0), more)
    return [UNCLEAR if p_value >= ALPHA else "" for p_value in p]


def _unsettled(x: Float64, locations: Float64) -> str:
    """Whether the interval of a location reaches an end of where it is looked for."""
    if not locations.size:
        return ""
    low, high = np.percentile(locations, LEVELS)
    within = x.min() - BEYOND < low and high < x.max() + BEYOND
    return "" if within else UNSETTLED


def _outside(cells: Cells, threshold: float) -> str:
    return "" if cells.percents[0] <= threshold <= cells.percents[-1] else OUTSIDE
