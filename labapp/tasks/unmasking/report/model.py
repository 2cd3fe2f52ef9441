"""What the explained model makes of masked pictures: no human in the loop (paper 004, 3.4, 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import (
    Float64,
    divided,
    ratio,
    weights,
)
from labapp.tasks.unmasking.report.cells import places_of, truths
from labapp.tasks.unmasking.report.curves import by_mask, columns
from labapp.tasks.unmasking.report.results import Group


def on_grid(group: Group, column: str) -> Float64:
    """A column of the masked predictions: float64, shape (images, methods, masks); NaN where there
    is no output of the model."""
    rows = group.predictions
    values = np.full((len(group.images), len(group.methods), len(group.percents)), np.nan)
    values[places_of(group, rows)] = rows[column].to_numpy(np.float64, na_value=np.nan)
    return values


def accuracy(group: Group) -> pd.DataFrame:
    """Figure 7: see `Found.model`. Intervals are over images."""
    right, loss = (
        on_grid(group, "correct_prediction_masked"),
        on_grid(group, "cross_entropy_masked"),
    )
    known = np.isfinite(right)
    frame = by_mask(group.percents, tuple(group.methods))
    frame["n"] = known.sum(axis=0).ravel()
    shares = ratio(weights(len(right)), np.nan_to_num(right), known.astype(np.float64))
    frame = frame.assign(**columns(shares, "share", "low", "high"))
    losses = divided(np.nan_to_num(loss).sum(axis=0), known.sum(axis=0).astype(np.float64))
    return frame.assign(cross_entropy=losses.ravel())


def whole(group: Group) -> pd.DataFrame:
    """The model on the whole pictures of the study: see `Found.whole`."""
    images = group.predictions.drop_duplicates("image")
    right = truths(images["correct_prediction"])
    share = float(right.mean()) if len(right) else np.nan
    return pd.DataFrame({"n": [len(images)], "share": [share]})


def classes(group: Group) -> pd.DataFrame:
    """Table 1: see `Found.classes`."""
    images = group.predictions.drop_duplicates("image")
    shown = images["truth"].value_counts()
    table = confusion(group)
    return pd.DataFrame(
        {
            "class": list(group.classes),
            "n": pd.array(table.sum(axis=1) if group.pool else [None] * len(table), "Int64"),
            "n_shown": [int(shown.get(class_, 0)) for class_ in group.classes],
        }
    )


def confusion(group: Group) -> Float64:
    """Photos of the pool by true and predicted class: float64, shape (classes, classes)."""
    table = np.zeros((len(group.classes), len(group.classes)))
    for pair in group.pool:
        table[group.classes.index(pair.truth), group.classes.index(pair.prediction)] += pair.count
    return table


def report(group: Group) -> pd.DataFrame:
    """Table 2: see `Found.report`. A quotient of nothing has no value and is left out of the
    average."""
    names = ["class", "precision", "recall", "f1", "support"]
    if not group.pool:
        return pd.DataFrame(columns=names)
    table = confusion(group)
    right, support, predicted = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    scores: Mapping[str, Float64] = {
        "precision": divided(right, predicted),
        "recall": divided(right, support),
        "f1": divided(2 * right, support + predicted),
    }
    frame = pd.DataFrame({"class": list(group.classes), **scores, "support": support.astype(int)})
    average = {name: _weighted(values, support) for name, values in scores.items()}
    last = pd.DataFrame([{"class": "", **average, "support": int(support.sum())}])
    return pd.concat([frame, last], ignore_index=True)


def _weighted(values: Float64, by: Float64) -> float:
    known = np.isfinite(values) & (by > 0)
    return float(np.average(values[known], weights=by[known])) if known.any() else np.nan
