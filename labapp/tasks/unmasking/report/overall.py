"""Each method over all masks and images: the numbers that the report says in sentences (ours)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import Float64, Interval, ratio
from labapp.tasks.unmasking.report.cells import Bool, Cells, truths
from labapp.tasks.unmasking.report.curves import columns
from labapp.tasks.unmasking.report.results import Group


@dataclass(frozen=True)
class Overall:
    """methods: a row a method: method, n (annotations), median_ms (reaction time), and of each
    measure its value, with its ends as labels_low and labels_high, and so on (95 %, bootstrap over
    participants). by_mask: the mean reaction time over all methods: percent, n, ms.

    The measures: labels, share of annotations that name a class; accuracy, that name the true one;
    of_labels, the same without "I don't know"; ms, mean reaction time; repeated, share equal to the
    prediction, of the annotations of images whose prediction is wrong on the whole picture.
    """

    methods: pd.DataFrame
    by_mask: pd.DataFrame


def overall(group: Group) -> Overall:
    """Without annotations both have no rows."""
    rows = group.annotations
    cells = Cells.of(group)
    wrong = ~truths(rows["correct_prediction"])
    known = np.isfinite(cells.ms)
    measures = {
        "labels": _ratio(cells, cells.label),
        "accuracy": _ratio(cells, cells.correct),
        "of_labels": _ratio(cells, cells.correct, cells.label),
        "ms": _ratio(cells, np.nan_to_num(cells.ms), known),
        "repeated": _ratio(cells, truths(rows["follows_prediction"]) & wrong, wrong),
    }
    times = pd.Series(cells.ms)
    by_method = times.groupby(rows["method"].to_numpy(), sort=False).median()
    frame = pd.DataFrame({"method": list(cells.methods)})
    frame["n"] = cells.counts.sum((0, 1, 3)).astype(np.int64)
    frame["median_ms"] = by_method.reindex(list(cells.methods)).to_numpy(np.float64)
    for name, values in measures.items():
        frame = frame.assign(**columns(values, name, f"{name}_low", f"{name}_high"))
    by_mask = times.groupby(rows["percent"].to_numpy(np.float64), sort=True).agg(["count", "mean"])
    by_mask = by_mask.rename_axis("percent").reset_index()
    return Overall(frame[frame["n"] > 0], by_mask.set_axis(["percent", "n", "ms"], axis=1))


def _ratio(cells: Cells, over: Float64 | Bool, of: Bool | None = None) -> Interval:
    """Sum over sum of a method's annotations, each with an interval; of: those that count."""
    under = np.ones(len(cells.ms), np.bool_) if of is None else of
    chosen = cells.sums(over, of=of), cells.sums(under)
    return ratio(cells.drawing, *(sums.sum((1, 3)) for sums in chosen))
