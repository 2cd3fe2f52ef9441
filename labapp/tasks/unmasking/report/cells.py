"""Annotations as arrays by participant, image, method and mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp.analysis.bootstrap import Float64, Int64, weights
from labapp.tasks.unmasking.report.results import Group

Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Cells:
    """Annotations that count. participants, images, methods, percents: what the axes stand for;
    where: int64, shape (4, annotations), an index for each; label, correct, ms: of each annotation
    (a class was named, the true one, reaction time; NaN where that does not count, see
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
    def of(cls, group: Group) -> Cells:
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
        return (
            len(self.participants),
            len(self.images),
            len(self.methods),
            len(self.percents),
        )

    def sums(self, values: Float64 | Bool, *, of: Bool | None = None) -> Float64:
        """Sums of values, one an annotation: float64, shape (participants, images, methods, masks).

        of : bool, the annotations that are summed; all by default.
        """
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

    def at(self, method: int, mask: int) -> Bool:
        """The annotations of a method and a mask: bool, shape (annotations,)."""
        chosen: Bool = (self.where[2] == method) & (self.where[3] == mask)
        return chosen


def places_of(group: Group, rows: pd.DataFrame) -> tuple[Int64, Int64, Int64]:
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
