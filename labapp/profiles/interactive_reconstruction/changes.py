"""How each metric changes over the questions of a stage (paper 000, Figure 10)."""

from __future__ import annotations

import pandas as pd

from labapp.analysis.columns import Metric
from labapp.profiles.interactive_reconstruction.results import Group

LEFT = ("solved", "skipped")
"""Outcomes of questions that ended by Next or Skip: only these have a response time."""
_STAGE = ["participant", "model", "session", "stage"]


def changes(group: Group, metric: Metric) -> pd.DataFrame:
    """Last minus first (n - 1) / 2 of the n questions that count, in the metric's unit, a question:
    columns participant, model, change; empty for a metric that single questions do not have.

    A participant who had a model in several stages has the mean of them. The same as the columns
    change_* of the table of stages.
    """
    questions = _values(group, metric)
    if questions is None:
        return pd.DataFrame({"participant": [], "model": [], "change": []})
    known = group.trials.assign(value=questions * metric.factor)
    if group.task != "reconstruction":
        known = known[known["correct"].notna()]
    known = known.sort_values("trial", kind="stable")
    of_stage = known.groupby(_STAGE)["value"]
    place, n = of_stage.cumcount(), of_stage.transform("size")
    size = (n - 1) // 2
    first, last = known[place < size], known[place >= n - size]
    change = (_level(metric, last) - _level(metric, first)).rename("change").dropna()
    return change.groupby(["participant", "model"]).mean().reset_index()


def _level(metric: Metric, half: pd.DataFrame) -> pd.Series[float]:
    """Of some questions of each stage; NaN where none of them has a value."""
    values = half.groupby(_STAGE)["value"]
    if metric.column.startswith("error_auc"):  # a sum over the stage: a missing one adds nothing
        return values.sum(min_count=1) / values.size()
    return values.mean()


def _values(group: Group, metric: Metric) -> pd.Series[float] | None:
    """The metric of each question; None where it has none."""
    trials = group.trials
    match metric.column:
        case "completion_rate":
            return (trials["outcome"] == "solved").astype(float)
        case "correctness_rate":
            return trials["correct"].astype(float)
        case "response_time_s" if group.task == "reconstruction":
            return trials["duration_s"].astype(float).where(trials["outcome"].isin(LEFT))
        case "response_time_s":
            return trials["response_s"].astype(float)
        case "slide_distance" | "error_auc_sum" | "error_auc_mean":
            return trials[metric.column].astype(float)
    return None
