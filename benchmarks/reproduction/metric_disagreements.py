"""Figures 3 and 4 of paper 002 (5.2 and A.2): trained models on which DCIMIG contradicts MIG and
DCI, searched for in the zoo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction.figure import Reproduction
from benchmarks.reproduction.metric_ranks import asked
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.results import Results
from benchmarks.reproduction.verdicts import Claim, Count
from benchmarks.reproduction.zoo_models import TITLES, ZooModel, models
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.models.metrics.evaluation.figures import SHADES
from labapp.models.metrics.registry import METRICS as REGISTRY

PARTS = {"mig": "mutual_information", "dci": "importance"}
"""The matrix from which a metric is computed; DCIMIG's is that of MIG."""
UNITS = {"mutual_information": "mutual information, nats", "importance": "importance"}
PUBLISHED = {"mig": ((0.05, 0.233), (0.12, 0.15)), "dci": ((0.38, 0.28), (0.42, 0.17))}
"""Of both representations of Figure 3 and of Figure 4, the metric and DCIMIG; of other models."""
SAYS = (
    "Two pairs of trained models of Cars3D. In Figure 3 the first has several codes for each "
    "factor and the second a single one that tells of another factor too: MIG prefers the second "
    "(0.05 and 0.12), DCIMIG the first (0.233 and 0.15). In Figure 4 the first has more codes that "
    "are entangled: DCI prefers the second (0.38 and 0.42), DCIMIG the first (0.28 and 0.17). The "
    "matrices are printed as pictures, without numbers, and the models are not to be had. What the "
    "text reads in them, which code stands for which factor, is not judged here."
)
HOW = (
    "Of every two models of a data set, those that a metric and DCIMIG put in another order; shown "
    "is the pair on which they disagree most, which is where the smaller of the two differences, "
    "each as a share of the metric's range over the models, is largest. So these are models that "
    "were trained, not codes made for the purpose as in "
    "[reproduce_metrics.md](reproduce_metrics.md); they were searched for, as the paper's were."
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two models: DCIMIG prefers the first, the metric the second. `strength`: the smaller
    difference as a share of the metric's range."""

    metric: str
    first: ZooModel
    second: ZooModel
    strength: float


def disagreements(of_data: Sequence[ZooModel], metric: str) -> list[Disagreement]:
    """The pairs that a metric and DCIMIG put in another order, the strongest first."""
    spans = {
        name: float(np.ptp([model.score(name) for model in of_data])) if of_data else 0.0
        for name in (metric, "dcimig")
    }
    pairs = []
    for pair in combinations(of_data, 2):
        first, second = sorted(pair, key=lambda model: -model.score("dcimig"))
        prefers = {
            metric: second.score(metric) - first.score(metric),
            "dcimig": first.score("dcimig") - second.score("dcimig"),
        }
        if min(prefers.values()) > 0:
            strength = min(prefers[name] / spans[name] for name in prefers)
            pairs.append(Disagreement(metric, first, second, strength))
    return sorted(pairs, key=lambda pair: -pair.strength)


def body(results: Results) -> Sequence[str]:
    counts = Table(["data set", "metric", "pairs", "in another order", "share"])
    table = Table(
        ["data set", "metric", "model", "the metric", "DCIMIG", "published: the metric", "DCIMIG",
         "squared error"]
    )  # fmt: skip
    for data, of_data in models().items():
        for metric in PARTS:
            of_metric = disagreements(of_data, metric)
            pairs = len(of_data) * (len(of_data) - 1) // 2
            if not pairs:
                continue
            label = REGISTRY[metric].label
            share = f"{len(of_metric) / pairs:.0%}"
            counts.add(TITLES[data], f"{label} and DCIMIG", str(pairs), str(len(of_metric)), share)
            for pair in of_metric[:1]:
                for model, printed in zip(
                    (pair.first, pair.second), PUBLISHED[metric], strict=True
                ):
                    scores = (f"{model.score(name):.3f}" for name in (metric, "dcimig"))
                    theirs = (f"{number:g}" for number in printed)
                    error = f"{model.entry['error']:.2f}"
                    table.add(TITLES[data], label, model.name, *scores, *theirs, error)
    return [HOW, str(counts), str(table)] if counts.rows else ["No model is trained yet."]


def claims(results: Results) -> list[Claim]:
    """That two metrics disagree somewhere is so or not, and needs no interval."""
    counts = {
        metric: [
            Count(
                TITLES[data],
                len(disagreements(of_data, metric)),
                len(of_data) * (len(of_data) - 1) // 2,
            )
            for data, of_data in models().items()
        ]
        for metric in PARTS
    }
    return [
        Claim(
            f"There are trained models of which {REGISTRY[metric].label} and DCIMIG prefer "
            "different ones.",
            "there is a pair of them; the paper has one of Cars3D, which labapp does not draw",
            tuple(test for test in tests if test.known),
            why_not="no model is trained yet",
        )
        for metric, tests in counts.items()
    ]


def draw(results: Results) -> dict[str, Figure]:
    drawings = {}
    for data, of_data in models().items():
        pairs_of = {metric: disagreements(of_data, metric)[:1] for metric in PARTS}
        pairs = [pair for every in pairs_of.values() for pair in every]
        if not pairs:
            continue
        with mpl.rc_context(STYLE):
            figure, axes = kit.panels(2 * len(pairs), 2, 3.6, width_in=8.0)
            figure.set_label(f"{TITLES[data]}: models on which DCIMIG contradicts MIG and DCI")
            shown = ((pair, model) for pair in pairs for model in (pair.first, pair.second))
            for ax, (pair, model) in zip(axes, shown, strict=True):
                part = PARTS[pair.metric]
                matrix = model.matrix(part)
                top = max(float(of.matrix(part).max()) for of in (pair.first, pair.second))
                kit.heat_map(ax, matrix, SHADES, (0.0, top), lambda value: f"{value:.2f}")
                label = REGISTRY[pair.metric].label
                ax.set_title(
                    f"{model.name}: {label} {model.score(pair.metric):.3f}, "
                    f"DCIMIG {model.score('dcimig'):.3f}\n{UNITS[part]}",
                    fontsize=8,
                )
                factors = model.entry["factors"]
                ax.set_xticks(range(len(factors)), factors, rotation=90)
                ax.set_yticks(range(len(matrix)), [f"c{code}" for code in range(len(matrix))])
        drawings[f"metric-disagreements-{data}"] = figure
    return drawings


REPRODUCTION = Reproduction(
    "metric-disagreements",
    "Paper 002, Figures 3 and 4: models on which metrics disagree",
    SAYS,
    asked,
    body,
    claims,
    draw,
)
