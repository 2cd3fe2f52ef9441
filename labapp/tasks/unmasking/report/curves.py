"""What people do as more and more is shown: confidence, reaction time and accuracy (paper 004,
section 4.1, figures 3 to 6), from annotations as arrays by participant, image, method and mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.bootstrap import Float64, Int64, Interval, interval, median, ratio, weights
from labapp.tasks.unmasking.report.results import AnnotationGroup

PERSON, IMAGE, METHOD = 0, 1, 2
"""Axes of sums."""


def labels(cells: AnnotationCells) -> pd.DataFrame:
    """Figure 3: labels against "I don't know" by mask; see `Found.labels`."""
    label, count = cells.sums(cells.label), cells.counts
    return _labels(cells, label.sum((IMAGE, METHOD)), count.sum((IMAGE, METHOD)), ())


def labels_by_method(cells: AnnotationCells) -> pd.DataFrame:
    """Figure 4: the same by method; see `Found.labels_by_method`."""
    label, count = cells.sums(cells.label), cells.counts
    return _labels(cells, label.sum(IMAGE), count.sum(IMAGE), cells.methods)


def _labels(
    cells: AnnotationCells, label: Float64, count: Float64, methods: tuple[str, ...]
) -> pd.DataFrame:
    shares = ratio(cells.drawing, label, count)
    given, asked = label.sum(PERSON).ravel(), count.sum(PERSON).ravel()
    frame = by_mask(cells.percents, methods)
    frame["labels"] = given.astype(np.int64)
    frame["dont_know"] = (asked - given).astype(np.int64)
    frame["n"] = asked.astype(np.int64)
    return frame.assign(**columns(shares, "share", "low", "high"))


def accuracy(cells: AnnotationCells) -> pd.DataFrame:
    """Figure 6: correct labels of all annotations, and of the labels; see `Found.accuracy`."""
    count = cells.counts.sum(IMAGE)
    label = cells.sums(cells.label).sum(IMAGE)
    right = cells.sums(cells.correct).sum(IMAGE)
    frame = by_mask(cells.percents, cells.methods)
    frame["n"] = count.sum(PERSON).ravel().astype(np.int64)
    frame = frame.assign(**columns(ratio(cells.drawing, right, count), "share", "low", "high"))
    frame["n_labels"] = label.sum(PERSON).ravel().astype(np.int64)
    of_labels = ratio(cells.drawing, right, label)
    return frame.assign(**columns(of_labels, "share_of_labels", "labels_low", "labels_high"))


def times(cells: AnnotationCells) -> pd.DataFrame:
    """Figure 5: mean and median of the reaction times (ms) that count; see `Found.times`."""
    frame = by_mask(cells.percents, cells.methods)
    _, _, methods, masks = cells.where
    places = product(range(len(cells.methods)), range(len(cells.percents)))
    chosen: list[Bool] = [(methods == method) & (masks == mask) for method, mask in places]
    return pd.concat([frame, of_times(cells, chosen)], axis=1)


def of_times(cells: AnnotationCells, chosen: list[Bool]) -> pd.DataFrame:
    """n, mean and median of the reaction times (ms) of some annotations, a row each choice of
    them."""
    rows = []
    for some in chosen:
        known = some & np.isfinite(cells.ms)
        owner, ms = cells.where[PERSON][known], cells.ms[known]
        mean, middle = _mean(cells.drawing, owner, ms), median(cells.drawing, owner, ms)
        rows.append({"n": int(known.sum()), **scalars(mean, "mean"), **scalars(middle, "median")})
    return pd.DataFrame(rows)


def _mean(drawing: Float64, owner: Int64, values: Float64) -> Interval:
    size = drawing.shape[1]
    if not values.size:
        return interval(np.nan, np.empty((0,)))
    return ratio(
        drawing,
        np.asarray(np.bincount(owner, values, size), np.float64),
        np.asarray(np.bincount(owner, minlength=size), np.float64),
    )


def by_mask(percents: tuple[float, ...], methods: tuple[str, ...] = ()) -> pd.DataFrame:
    """A row each mask, of each method where there are some."""
    if not methods:
        return pd.DataFrame({"percent": np.array(percents, np.float64)})
    return pd.DataFrame(
        {
            "method": np.repeat(np.array(methods, object), len(percents)),
            "percent": np.tile(np.array(percents, np.float64), len(methods)),
        }
    )


def columns(interval: Interval, value: str, low: str, high: str) -> dict[str, Float64]:
    """A value and its interval as flat columns with these names."""
    return {value: interval.value.ravel(), low: interval.low.ravel(), high: interval.high.ravel()}


def scalars(interval: Interval, name: str) -> dict[str, float]:
    """A single value and the ends of its interval, as name, name_low and name_high."""
    ends = {f"{name}_low": float(interval.low), f"{name}_high": float(interval.high)}
    return {name: float(interval.value), **ends}


Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class AnnotationCells:
    """Annotations that count. participants, images, methods, percents: what the axes stand for;
    where: int64, shape (4, annotations), an index for each; label, correct, ms: of each annotation
    (a class was named, the true one, reaction time; NaN if that does not count, see
    `keyboard_away`).
    """

    participants: tuple[str, ...]
    images: tuple[str, ...]
    methods: tuple[str, ...]
    percents: tuple[float, ...]
    where: Int64
    label: Bool
    correct: Bool
    ms: Float64
    rows: pd.DataFrame

    @classmethod
    def of(cls, group: AnnotationGroup) -> AnnotationCells:
        rows = group.annotations
        participants = tuple(sorted(set(rows["participant"])))
        where = np.vstack(
            [places(rows["participant"], participants), *places_of(group, rows)], dtype=np.int64
        )
        return cls(
            participants,
            group.images,
            tuple(group.methods),
            group.percents,
            where,
            truths(~rows["dont_know"]),
            truths(rows["correct"]),
            rows["reaction_time_ms"].mask(truths(rows["keyboard_away"])).to_numpy(np.float64),
            rows,
        )

    @cached_property
    def drawing(self) -> Float64:
        """The participants who are drawn anew: see `labapp.analysis.bootstrap`."""
        return weights(len(self.participants))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Participants, images, methods, masks."""
        return len(self.participants), len(self.images), len(self.methods), len(self.percents)

    def sums(self, values: Float64 | Bool, *, of: Bool | None = None) -> Float64:
        """Sums of values, one an annotation: float64, shape (participants, images, methods, masks).
        of : bool, the annotations that are summed; all by default."""
        size = int(np.prod(self.shape))
        flat = np.ravel_multi_index(tuple(self.where), self.shape) if size else np.empty(0, int)
        given = np.asarray(values, np.float64)
        if of is not None:
            flat, given = flat[of], given[of]
        return np.asarray(np.bincount(flat, given, size), np.float64).reshape(self.shape)

    @cached_property
    def counts(self) -> Float64:
        """How many annotations there are, shape as `sums`."""
        return self.sums(np.ones(len(self.ms)))


def places_of(group: AnnotationGroup, rows: pd.DataFrame) -> tuple[Int64, Int64, Int64]:
    """Of each row of annotations or predictions its image, method and mask, as places on the axes
    of the group, from 0."""
    return (
        places(rows["image"], group.images),
        places(rows["method"], tuple(group.methods)),
        places(rows["percent"], group.percents),
    )


def places(column: pd.Series[Any], known: Sequence[Any]) -> Int64:
    """Where each value of a column stands among those that are known, from 0."""
    where = {value: place for place, value in enumerate(known)}
    return np.fromiter((where[value] for value in column), np.int64, len(column))


def truths(column: pd.Series[bool]) -> Bool:
    """As bools; what is missing is no."""
    return column.fillna(False).to_numpy(np.bool_)
