"""Made-up groups of the reconstruction and single-dimension tasks, with what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from labapp.analysis.columns import Metric
from labapp.papers.interactive_reconstruction.results import (
    SCORE_METRICS,
    GroupResults,
    StudyGroup,
    comparisons,
    stars,
)
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.single_dimension.report import SINGLE_METRICS

RECONSTRUCTION = "reconstruction"
EXEMPLARS = "single-dimension-exemplars"
TRAVERSALS = "single-dimension-traversals"
THREE = ("dsprites/ae", "dsprites/vae", "dsprites/gt")
SEVEN = tuple(f"mnist8k/{one}" for one in ("ae5", "vae5", "ig5", "tc5", "ss5", "ae10", "ss10"))
LONG = (
    "our-lab/beta-vae-annealed-capacity-25-seed-3",
    "our-lab/a_name_without_any_end_to_it_at_all",
    "our-lab/factorvae",
)
QUESTIONS = 7
DIALS = ("shape", "scale", "rotation")


def group_of(
    models: Sequence[str] = THREE,
    n: int = 8,
    *,
    task: str = RECONSTRUCTION,
    study: str = "made-up",
    within: bool = True,
    rated: bool = False,
    seed: int = 1,
    only: Sequence[str] = (),
) -> StudyGroup:
    """n participants a model, all of whom met every model where `within`. rated: workload and
    understanding too; only: with the values of these metrics alone, where others are not asked
    for."""
    draw = np.random.default_rng(seed)
    metrics = [*(METRICS if task == RECONSTRUCTION else SINGLE_METRICS), *SCORE_METRICS * rated]
    rows = []
    for place, model in enumerate(models):
        for number in range(n):
            who = f"P{number:02d}" if within else f"P{place:02d}{number:02d}"
            row: dict[str, object] = {"participant": who, "session": "1", "model": model}
            row["stage"] = f"s{place}"
            row |= {one.column: _value(one, place, draw) for one in metrics}
            if "error_auc_mean" in row:
                row["error_auc_mean"] = float(str(row["error_auc_sum"])) / 784
            rows.append(row)
    shown = only or [one.column for one in metrics]
    columns = ["participant", "session", "model", "stage", *shown]
    values = pd.DataFrame(rows, columns=columns)
    trials = pd.DataFrame(
        [question for row in rows for question in _questions(row, task, draw)],
        columns=[*TRIAL, *OWN],
    )
    dataset = models[0].partition("/")[0]
    return StudyGroup(study, task, f"{task}, {dataset}", tuple(models), within, values, trials)


TRIAL = ("participant", "session", "stage", "model", "trial", "outcome")
OWN = (
    *("duration_s", "slide_distance", "error_auc_sum", "error_auc_mean", "response_s"),
    *("correct", "dimension", "dimension_name", "regime"),
)


def _value(metric: Metric, place: int, draw: np.random.Generator) -> float:
    """Higher with each model, by an amount that stands out of the noise."""
    if metric.limits is None:
        return float(100 + 40 * place + draw.normal(0, 8))
    low, high = metric.limits
    share = np.clip(0.3 + 0.1 * place + draw.normal(0, 0.1), 0, 1)
    return float(low + round(float(share) * 10) / 10 * (high - low))


def _questions(
    row: Mapping[str, object], task: str, draw: np.random.Generator
) -> list[dict[str, object]]:
    """Every question takes a second less than the one before."""
    found = []
    for trial in range(1, QUESTIONS + 1):
        one = {name: row[name] for name in ("participant", "session", "stage", "model")}
        one |= {"trial": trial}
        if task == RECONSTRUCTION:
            error = float(draw.uniform(500, 900))
            one |= {
                "outcome": "solved" if trial % 2 else "skipped",
                "duration_s": 30.0 - trial,
                "slide_distance": float(draw.uniform(1, 3)),
                "error_auc_sum": error,
                "error_auc_mean": error / 784,
            }
        else:
            dial = (trial - 1) % len(DIALS)
            one |= {
                "outcome": "answered",
                "response_s": 30.0 - trial,
                "correct": bool(draw.random() < 0.8),
                "dimension": dial + 1,
                "dimension_name": DIALS[dial],
                "regime": "low",
            }
        found.append(one)
    return found


def found_of(group: StudyGroup, n_tests: int = 20) -> GroupResults:
    """What a group says, by the tests that the report makes."""
    return GroupResults(group, comparisons(group), n_tests)


def with_p(found: GroupResults, column: str, p: Mapping[tuple[str, str], float]) -> GroupResults:
    """The same with other p of a metric's pairs, named by their models without the data set; 1 for
    pairs that are not named."""
    compared = []
    for one in found.compared:
        if one.metric.column == column:
            rows = []
            for row in one.rows:
                if row in one.pairs:
                    names = (row.model.partition("/")[2], row.compared_with.partition("/")[2])
                    given = p.get(names, 1.0)
                    shown = stars(given, one.smallest(row))
                    row = replace(row, test="paired t", p=given, stars=shown)
                rows.append(row)
            one = replace(one, rows=tuple(rows))
        compared.append(one)
    return replace(found, compared=tuple(compared))


def without(group: StudyGroup, chosen: Mapping[str, Sequence[str]]) -> StudyGroup:
    """The group with some metrics of some models missing; chosen: models by column."""
    values = group.values.copy()
    for column, models in chosen.items():
        values.loc[values["model"].isin(list(models)), column] = np.nan
    return replace(group, values=values)
