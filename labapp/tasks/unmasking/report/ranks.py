"""Methods ranked by people and by the model, and whether the two agree (paper 004, 4.3, figure 8).

For each image and mask, methods are ranked by the mean accuracy over participants, and by the
model's cross-entropy on the masked picture. Rank 1 is best in both; ties have the average of their
ranks. The paper does not say which end is best: the rank is printed with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import (
    NORMAL,
    Float64,
    Interval,
    divided,
    drawn,
    interval,
    weights,
)
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.model import on_grid
from labapp.tasks.unmasking.report.results import MODEL, PEOPLE, Group, Ranks

KENDALL, SPEARMAN = "Kendall's tau-b", "Spearman's rho"
OVERALL, UNITS = "overall", "units"
BATCH = 100
"""Draws that are ranked at once, for memory."""


def ranked(scores: Float64) -> Float64:
    """Ranks along the last axis: float64, 1 for the greatest, ties with the average of their ranks,
    all NaN where one of the scores is, and of one score alone: there is nothing to rank."""
    first, other = scores[..., :, None], scores[..., None, :]
    above = (other > first).sum(axis=-1)
    same = (other == first).sum(axis=-1)
    ranks: Float64 = above + (same + 1) / 2
    ranks[~np.isfinite(scores).all(axis=-1)] = np.nan
    return ranks if scores.shape[-1] > 1 else np.full_like(ranks, np.nan)


def ranks(group: Group, cells: Cells) -> Ranks:
    """Figure 8; see `Ranks`."""
    model = ranked(-np.moveaxis(on_grid(group, "cross_entropy_masked"), 1, -1))
    people = _People.of(cells, model)
    methods = tuple(group.methods)
    overall, by_mask = [], []
    for who, units, low_high in (
        (PEOPLE, people.ranks, (people.overall, people.by_mask)),
        (MODEL, model, _of_images(model)),
    ):
        known = np.isfinite(units[..., 0])
        for place, method in enumerate(methods):
            about = {"who": who, "method": method}
            overall.append({**about, "n": int(known.sum()), **_at(low_high[0], place)})
            by_mask += [
                {
                    **about,
                    "percent": percent,
                    "n": int(known[:, mask].sum()),
                    **_at(low_high[1], mask, place),
                }
                for mask, percent in enumerate(group.percents)
            ]
    names = ["who", "method", "n", "rank", "low", "high"]
    return Ranks(
        pd.DataFrame(overall, columns=names),
        pd.DataFrame(by_mask, columns=[*names[:2], "percent", *names[2:]]),
        pd.DataFrame(_agreements(people, model), columns=list(AGREEMENT)),
    )


AGREEMENT = ("over", "coefficient", "n", "value", "low", "high", "why")


def _at(interval: Interval, *place: int) -> dict[str, float]:
    return {
        "rank": float(interval.value[place]),
        "low": float(interval.low[place]),
        "high": float(interval.high[place]),
    }


def _mean(units: Float64, axis: tuple[int, ...]) -> Float64:
    """Means of what is known; NaN where nothing is."""
    known = np.isfinite(units)
    return divided(np.nan_to_num(units).sum(axis=axis), known.sum(axis=axis).astype(np.float64))


@dataclass(frozen=True)
class _People:
    """ranks : of each unit, shape (images, masks, methods). overall, by_mask : average ranks with
    their intervals; draws : average ranks of each draw, shape (draws, methods); agreement : mean
    correlation with the model's ranks of each draw, by coefficient, shape (draws,)."""

    ranks: Float64
    overall: Interval
    by_mask: Interval
    draws: Float64
    agreement: dict[str, Float64]

    @classmethod
    def of(cls, cells: Cells, model: Float64) -> _People:
        """model : its ranks of each unit."""
        right, count = cells.sums(cells.correct), cells.counts
        by_accuracy = _by_accuracy(right, count, np.ones((1, len(cells.participants))))[0]
        methods, masks = len(cells.methods), len(cells.percents)
        overall, by_mask = [np.empty((0, methods))], [np.empty((0, masks, methods))]
        agreement = {name: [np.empty(0)] for name in (KENDALL, SPEARMAN)}
        for start in range(0, len(cells.drawing), BATCH):
            some = _by_accuracy(right, count, cells.drawing[start : start + BATCH])
            overall.append(_mean(some, (1, 2)))
            by_mask.append(_mean(some, (1,)))
            for name, means in agreement.items():
                means.append(_mean(correlation(some, model[None], name), (1, 2)))
        draws = np.concatenate(overall)
        return cls(
            by_accuracy,
            _around(_mean(by_accuracy, (0, 1)), draws, (1, methods)),
            _around(_mean(by_accuracy, (0,)), np.concatenate(by_mask), (1, methods)),
            draws,
            {name: np.concatenate(means) for name, means in agreement.items()},
        )


def _around(value: Float64, draws: Float64, limits: tuple[float, float]) -> Interval:
    """A value ± 1.96 standard deviations of its draws, within limits.

    Percentiles will not do for ranks: each draw adds noise of its own, by which methods change
    places, so that the ranks of draws lie nearer to the middle than those of the sample.
    """
    if not len(draws):
        return interval(value, draws)
    known = np.ma.masked_invalid(draws)
    half = NORMAL * np.ma.filled(known.std(axis=0, ddof=1), np.nan)
    return Interval(value, np.clip(value - half, *limits), np.clip(value + half, *limits))


def _by_accuracy(right: Float64, count: Float64, drawing: Float64) -> Float64:
    """Ranks by mean accuracy: shape (draws, images, masks, methods). right, count : see
    `Cells.sums`."""
    shares = divided(drawn(drawing, right), drawn(drawing, count))
    return ranked(np.moveaxis(shares, 2, -1))


def _of_images(units: Float64) -> tuple[Interval, Interval]:
    """Average ranks overall and by mask, with intervals over images."""
    drawing = weights(len(units))
    known = np.isfinite(units).astype(np.float64)
    given = np.nan_to_num(units)
    by_mask = divided(drawn(drawing, given), drawn(drawing, known))
    overall = divided(drawn(drawing, given.sum(axis=1)), drawn(drawing, known.sum(axis=1)))
    return interval(_mean(units, (0, 1)), overall), interval(_mean(units, (0,)), by_mask)


def correlation(values: Float64, other: Float64, coefficient: str) -> Float64:
    """Kendall's tau-b or Spearman's rho of ranks along the last axis; NaN where one of the two does
    not vary, or is not there."""
    if coefficient == KENDALL:
        first, second = (np.sign(x[..., :, None] - x[..., None, :]) for x in (values, other))
        axes: tuple[int, ...] = (-2, -1)
    else:
        first, second = (x - x.mean(axis=-1, keepdims=True) for x in (values, other))
        axes = (-1,)
    under = np.sqrt((first**2).sum(axis=axes) * (second**2).sum(axis=axes))
    result = divided((first * second).sum(axis=axes), np.nan_to_num(under))
    result[np.isnan(under)] = np.nan
    return result


def _agreements(people: _People, model: Float64) -> Iterator[dict[str, object]]:
    for coefficient in (KENDALL, SPEARMAN):
        its = _order(_mean(model, (0, 1))[None])
        value = correlation(_order(people.overall.value[None]), its, coefficient)[0]
        of_draws = correlation(_order(people.draws), its, coefficient)
        yield _row(OVERALL, coefficient, its.size, interval(value, of_draws))
        units = correlation(people.ranks, model, coefficient)
        rounded = _around(_mean(units, (0, 1)), people.agreement[coefficient], (-1, 1))
        yield _row(UNITS, coefficient, int(np.isfinite(units).sum()), rounded)


def _order(averages: Float64) -> Float64:
    """Average ranks as ranks. Averages of the same ranks in another order may differ by rounding:
    that is a tie."""
    return ranked(-np.round(averages, 9))


def _row(over: str, coefficient: str, n: int, interval: Interval) -> dict[str, object]:
    value = float(interval.value)
    why = "" if np.isfinite(value) else "one of the two rankings has only ties, or is not there"
    return {
        "over": over,
        "coefficient": coefficient,
        "n": n,
        "value": value,
        "low": float(interval.low),
        "high": float(interval.high),
        "why": why,
    }
