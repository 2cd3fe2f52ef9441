"""Which annotations are analysed together: those of one study, stimulus set and way of masking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from labapp.analysis.tables import Tables
from labapp.stimuli.manifest import Confusion
from labapp.tasks.unmasking.report.results import Group

_SET = ("study", "stimuli", "manifest_sha256", "classifier")
_KEY = (*_SET, "fill", "sign")


def groups_of(counted: Tables) -> list[Group]:
    """The groups by study; counted: the tables of the sessions that count. A group of which nobody
    counts has what the model makes of its pictures all the same."""
    annotations = _by_key(counted.annotations, _KEY)
    predictions = _by_key(counted.masked_predictions, _KEY)
    pool = _by_key(counted.pool, _SET)
    groups = [
        _group(
            annotations.get(key, counted.annotations[:0]),
            predictions.get(key, counted.masked_predictions[:0]),
            pool.get(key[: len(_SET)], counted.pool[:0]),
        )
        for key in sorted({*annotations, *predictions})
    ]
    return [_named(group, groups) for group in groups]


def _by_key(frame: pd.DataFrame, names: Sequence[str]) -> dict[tuple[str, ...], pd.DataFrame]:
    """The rows that have the same in these columns; what is missing is empty text."""
    keys = [frame[name].fillna("").astype(str) for name in names]
    return {
        tuple(map(str, key)): rows.reset_index(drop=True)
        for key, rows in frame.groupby(keys, sort=True)
    }


def _group(every: pd.DataFrame, predictions: pd.DataFrame, pool: pd.DataFrame) -> Group:
    shown = predictions if len(predictions) else every
    about = shown.iloc[0]
    named = shown.sort_values("method_number").drop_duplicates("method")
    classifier = about["classifier"]
    return Group(
        study=str(about["study"]),
        name=str(about["study"]),
        stimuli=str(about["stimuli"]),
        manifest_sha256=str(about["manifest_sha256"]),
        classifier=None if pd.isna(classifier) else str(classifier),
        accuracy=float(about["model_accuracy"]),
        classes=tuple(str(about["classes"]).split(";")),
        methods=dict(zip(named["method"], named["method_name"], strict=True)),
        percents=tuple(sorted(float(percent) for percent in set(shown["percent"]))),
        fill=str(about["fill"]),
        sign=str(about["sign"]),
        grid=(int(about["grid_rows"]), int(about["grid_columns"])),
        pool=tuple(
            Confusion(truth=str(truth), prediction=str(prediction), count=int(count))
            for truth, prediction, count in zip(
                pool["truth"], pool["prediction"], pool["count"], strict=True
            )
        ),
        annotations=every[~every["excluded"]].reset_index(drop=True),
        every_annotation=every,
        predictions=predictions,
    )


def _named(group: Group, others: Sequence[Group]) -> Group:
    """Told apart from other groups of its study."""
    same = [other for other in others if other.study == group.study]
    if len(same) == 1:
        return group
    parts = [group.stimuli, f"fill {group.fill}", f"scores {group.sign}"]
    ways = {(other.stimuli, other.fill, other.sign) for other in same}
    if len(ways) < len(same):
        parts.append(f"manifest {group.manifest_sha256[:8]}")
    return replace(group, name=", ".join([group.study, *parts]))
