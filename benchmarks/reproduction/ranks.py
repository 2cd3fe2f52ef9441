"""Rank correlations of the metrics over models (paper 002, A.1, Figure 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduction.printing import Table
from labapp.base import resources
from labapp.models.metrics.evaluation.scores import LEARNT_WITHOUT_CONCEPTS, compute_all
from labapp.models.metrics.registry import METRICS as REGISTRY
from labapp.models.representations import card as cards
from labapp.models.representations import package
from labapp.models.representations.measuring import load_labelled_encodings
from labapp.models.representations.recipe import ClosedForm, Gt
from scripts import models_metrics

Float64 = NDArray[np.float64]

METRICS = (
    "betavae", "factorvae", "mig", "dcimig", "dci", "sap", "modularity", "explicitness", "r4",
    "ois", "nis",
)  # fmt: skip
LEAST = 3
"""Of two models, a rank correlation is 1 or -1 whatever they are."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A model. `scores` by metric, NaN where one does not apply; `true`: whether its codes are the
    true factors, on which all metrics agree whatever else they measure."""

    scores: Mapping[str, float]
    dataset: str
    true: bool


def computed(model: str) -> dict[str, float]:
    """The scores of a model that is not shipped, as those of the shipped ones were computed; NaN
    where a metric does not apply."""
    rows = load_labelled_encodings(model)
    if rows is None:
        raise SystemExit(f"{model} has no encodings and true factors: it cannot be measured.")
    results = compute_all(
        rows.codes, rows.factors, cut=True, settings=LEARNT_WITHOUT_CONCEPTS, names=METRICS
    )
    return {
        result.metric.name: float("nan") if result.score is None else result.score.score
        for result in results
    }


def section(more: Sequence[str], jobs: int) -> str:
    shipped = {
        model: {name: float(scores[name]["score"]) for name in METRICS}
        for model, scores in models_metrics.kept().items()
    }
    supplied = Parallel(n_jobs=jobs, batch_size=1)(delayed(computed)(model) for model in more)
    every = {
        **{model: _scored(model, scores, resources.models()) for model, scores in shipped.items()},
        **{model: _scored(model, scores) for model, scores in zip(more, supplied, strict=True)},
    }
    text = (
        "The scores of the shipped models are those that models/metrics.json keeps, R4 among them: "
        "seed 0, on the rows that the models' cards were measured on. OIS, with codes aligned, and "
        "NIS on whether each factor is above its median."
    )
    parts = [text, str(_scores(every)), "### Spearman rank correlation", ABOUT]
    for title, models in _groups(every):
        parts.append(f"#### {title}")
        if len(models) < LEAST:
            parts.append(f"{len(models)} models: too few for a correlation.")
        else:
            by_metric = {
                name: np.array([model.scores[name] for model in models]) for name in METRICS
            }
            parts += [_dcimig(by_metric), str(correlations(by_metric))]
    return "\n\n".join(parts)


ABOUT = (
    "OIS and NIS with their sign turned. With so few models a correlation is coarse, and the "
    "models of the true factors, first by every metric, make most of it: see "
    "[reproduce_concepts.md](reproduce_concepts.md), of 24 trained models a data set. The paper's "
    "Figure 2, of models of Locatello et al. (2018), a matrix a data set, is a picture without "
    "numbers in the text, which says that DCIMIG correlates strongly with MIG and DCI."
)


def _scored(model: str, scores: Mapping[str, float], root: Path | None = None) -> Scored:
    card = cards.read(package.find(model, root))
    true = isinstance(card.objective, Gt) or isinstance(card.made_by.source, ClosedForm)
    return Scored(scores, card.dataset, true)


def _groups(every: Mapping[str, Scored]) -> Iterator[tuple[str, list[Scored]]]:
    models = list(every.values())
    learnt = [model for model in models if not model.true]
    yield f"All {len(models)} models", models
    yield f"The {len(learnt)} models that learnt their codes", learnt
    for dataset in sorted({model.dataset for model in learnt}):
        of_data = [model for model in learnt if model.dataset == dataset]
        yield f"Those of {dataset} that learnt their codes", of_data


def _scores(every: Mapping[str, Scored]) -> Table:
    table = Table(["metric", *every])
    for name in METRICS:
        values = [model.scores[name] for model in every.values()]
        table.add(name, *("–" if np.isnan(value) else f"{value:.3f}" for value in values))
    return table


def _dcimig(by_metric: Mapping[str, Float64]) -> str:
    mig, dci = (_told(spearman(by_metric["dcimig"], by_metric[name])) for name in ("mig", "dci"))
    return f"DCIMIG with MIG {mig}, with DCI {dci}, over {len(by_metric['mig'])} models."


def correlations(by_metric: Mapping[str, Float64]) -> Table:
    """Spearman's, of every two metrics over the same models: `by_metric` float64 (models,)."""
    table = Table(["", *by_metric])
    turned = {name: better(name, values) for name, values in by_metric.items()}
    for name, values in turned.items():
        table.add(name, *(_told(spearman(values, other)) for other in turned.values()))
    return table


def better(name: str, values: Float64) -> Float64:
    """The scores so that more is better."""
    return -values if REGISTRY[name].better == "lower" else values


def spearman(first: Float64, other: Float64) -> float:
    """Over the models that both metrics score; NaN of fewer than three, or of equal scores."""
    both = ~(np.isnan(first) | np.isnan(other))
    if both.sum() < LEAST or np.ptp(first[both]) == 0 or np.ptp(other[both]) == 0:
        return float("nan")
    return float(stats.spearmanr(first[both], other[both]).statistic)


def _told(rho: float) -> str:
    return "–" if np.isnan(rho) else f"{rho:.2f}"
