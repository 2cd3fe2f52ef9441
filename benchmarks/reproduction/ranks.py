"""Rank correlations of the metrics over models (paper 002, A.1, Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduction.printing import Table
from labapp.metrics.evaluation.scores import compute_all
from labapp.representations.evaluation import labelled_encodings
from scripts import models_metrics

Float64 = NDArray[np.float64]

METRICS = (
    "betavae", "factorvae", "mig", "dcimig", "dci", "sap", "modularity", "explicitness", "r4",
    "ois", "nis",
)  # fmt: skip
LOWER_IS_BETTER = ("ois", "nis")


def computed(model: str) -> dict[str, float]:
    """The scores of a model that is not shipped, as those of the shipped ones were computed; NaN
    where a metric does not apply."""
    rows = labelled_encodings(model)
    if rows is None:
        raise SystemExit(f"{model} has no encodings and true factors: it cannot be measured.")
    settings = models_metrics.SETTINGS
    found = compute_all(rows.codes, rows.factors, cut=True, settings=settings, names=METRICS)
    return {
        one.metric.name: float("nan") if one.score is None else one.score.score for one in found
    }


def section(more: Sequence[str], jobs: int) -> str:
    shipped = {
        model: {name: float(one["score"]) for name, one in scores.items()}
        for model, scores in models_metrics.kept().items()
    }
    supplied = Parallel(n_jobs=jobs, batch_size=1)(delayed(computed)(model) for model in more)
    every = {**shipped, **dict(zip(more, supplied, strict=True))}
    scores = np.array([[found[name] for found in every.values()] for name in METRICS])
    told = (
        "The scores of the shipped models are those that models/metrics.json keeps, R4 among them: "
        "seed 0, on the rows that the models' cards were measured on. OIS, with codes aligned, and "
        "NIS on whether each factor is above its median."
    )
    return "\n\n".join(
        (
            told,
            str(_scores(every, scores)),
            "### Spearman rank correlation",
            _about(scores),
            str(_correlations(scores)),
        )
    )


def _scores(models: Mapping[str, object], scores: Float64) -> Table:
    table = Table(["metric", *models])
    for name, row in zip(METRICS, scores, strict=True):
        table.add(name, *("–" if np.isnan(value) else f"{value:.3f}" for value in row))
    return table


def _about(scores: Float64) -> str:
    mig, dcimig, dci = (scores[METRICS.index(name)] for name in ("mig", "dcimig", "dci"))
    return (
        f"Over these {scores.shape[1]} models, OIS and NIS with their sign turned. With so few a "
        "correlation is coarse: supply more with `--model`. The paper's Figure 2, of models of "
        "Locatello et al. (2018), is a picture without numbers in the text, which says that DCIMIG "
        "correlates strongly with MIG and DCI; here its correlations are "
        f"{_spearman(dcimig, mig)} and {_spearman(dcimig, dci)}."
    )


def _correlations(scores: Float64) -> Table:
    turned = np.array(
        [
            -row if name in LOWER_IS_BETTER else row
            for name, row in zip(METRICS, scores, strict=True)
        ]
    )
    table = Table(["", *METRICS])
    for name, one in zip(METRICS, turned, strict=True):
        table.add(name, *(_spearman(one, other) for other in turned))
    return table


def _spearman(one: Float64, other: Float64) -> str:
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < 3 or np.ptp(one[both]) == 0 or np.ptp(other[both]) == 0:
        return "–"
    return f"{stats.spearmanr(one[both], other[both]).statistic:.2f}"
