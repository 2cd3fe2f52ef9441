"""Rank correlations of the metrics over models (paper 002, A.1, Figure 2)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduction.printing import Table, metric
from labapp.datasets.split import divide
from labapp.errors import MetricError
from labapp.representations import package
from labapp.representations.architectures import ClosedForm

Float64 = NDArray[np.float64]

SHIPPED = (
    "dsprites/ae", "dsprites/gt", "dsprites/vae", "sinelines/ae", "sinelines/gt", "sinelines/vae",
)  # fmt: skip
METRICS = (
    "betavae", "factorvae", "mig", "dcimig", "dci", "sap", "modularity", "explicitness", "r4",
    "ois", "nis",
)  # fmt: skip
LOWER_IS_BETTER = ("ois", "nis")
ROWS = 3_000


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    name: str
    codes: Float64
    factors: Float64

    @property
    def concepts(self) -> Float64:
        """Whether each factor is above its median; for OIS and NIS, which are about concepts."""
        return (self.factors > np.median(self.factors, axis=0)).astype(np.float64)


def subject(model: str) -> Subject:
    """`ROWS` held-out rows of a model, or all, drawn: held-out rows keep their data set's order."""
    decoder = package.load_package(model)
    card = decoder.card
    if card.data is None:
        raise SystemExit(f"{model} states no data: it cannot be measured.")
    data = card.data.load()
    every = data.held.factors(np.arange(len(data.held)))
    closed = isinstance(card.made_by.source, ClosedForm)
    codes = every if closed else decoder.latents.astype(np.float64)
    rows = divide(len(every), ROWS, 0)[1] if len(every) > ROWS else np.arange(len(every))
    return Subject(card.id, codes[rows], every[rows])


def score(name: str, of: Subject) -> float:
    """NaN where the metric does not apply."""
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    factors = of.concepts if name in LOWER_IS_BETTER else of.factors
    # No code was learnt for a concept, so it is told which code stands for which.
    settings = {"align": True} if name == "ois" else {}
    try:
        return metric(name)(of.codes, factors, **settings).score
    except MetricError as error:
        print(f"{name} of {of.name}: {error}", flush=True)
        return float("nan")


def section(more: Sequence[str], jobs: int) -> str:
    subjects = [subject(model) for model in (*SHIPPED, *more)]
    found = Parallel(n_jobs=jobs, batch_size=1)(
        delayed(score)(name, of) for name in METRICS for of in subjects
    )
    scores = np.array(found).reshape(len(METRICS), len(subjects))
    told = (
        f"{ROWS:,} held-out rows of each model; OIS, with codes aligned, and NIS on whether each "
        "factor is above its median."
    )
    return "\n\n".join(
        (
            told,
            str(_scores(subjects, scores)),
            "### Spearman rank correlation",
            _about(len(subjects)),
            str(_correlations(scores)),
        )
    )


def _scores(subjects: Sequence[Subject], scores: Float64) -> Table:
    table = Table(["metric", *(of.name for of in subjects)])
    for name, row in zip(METRICS, scores, strict=True):
        table.add(name, *("–" if np.isnan(value) else f"{value:.3f}" for value in row))
    return table


def _about(count: int) -> str:
    return (
        f"Over these {count} models of two data sets, OIS and NIS with their sign turned. With so "
        "few models a correlation is coarse: supply more with `--model`. The paper's Figure 2, of "
        "models of Locatello et al. (2018), is a picture without numbers in the text, which says "
        "that DCIMIG correlates strongly with MIG and DCI, as it does here."
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
