"""Figure 2 of paper 002 (5.1 and A.1): rank correlations of metrics over trained models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.model_zoo import METRICS
from benchmarks.reproduction.figure import Reproduction
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.ranks import better, correlations, spearman
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import MISSING, Claim, Evidence, above
from benchmarks.reproduction.zoo_models import TITLES, ZooModel, models, provenance
from labapp.base.figure_style import PALETTES, STYLE, USUAL_PALETTE
from labapp.base.report import kit
from labapp.models.concepts.recipe import SizeName
from labapp.models.metrics.registry import METRICS as REGISTRY

Float64 = NDArray[np.float64]

IN_THE_PAPER = ("betavae", "factorvae", "mig", "dci", "modularity", "sap", "dcimig")
NAMED = (
    ("dcimig", "mig"), ("dcimig", "dci"), ("mig", "dci"), ("mig", "sap"), ("dci", "sap"),
    ("betavae", "factorvae"), ("betavae", "mig"),
)  # fmt: skip
"""Pairs of which the paper says something: the claims, and what it repeats of Locatello et al."""
IN_PAPER = ("dsprites",)
"""Data sets of the zoo that the paper has, too."""
STRONG = 0.5
LEAST = 8
"""Models of a data set below which nothing is said of it."""
DRAWS, SEED = 10_000, 0
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#6B3A00", "#D69A4A", "#FFFFFF", PALETTES[USUAL_PALETTE].accent, "#0B2A66"]
)
"""From −1 over 0, which is white, to 1."""
SAYS = (
    "Spearman's correlations of metrics over the models of Locatello et al. (2018), for dSprites "
    "and Cars3D, with DCIMIG added: two pictures without numbers in the text. Overall all metrics "
    "are strongly correlated, DCIMIG with MIG and DCI, and these two with each other; the paper "
    "adds that these data are artificial. Cars3D is not to be had here, and Sinelines, which paper "
    "000 has, is not in this one."
)
NOTES = (
    "OIS and NIS with their sign turned; OIS with codes aligned, both on whether each factor is "
    "above its median. Intervals: 95 % of bootstrap draws over models, and, because seeds of one "
    "objective are alike, over objectives with all their seeds. Claims are judged by the latter; n "
    "counts objectives. Of so few such intervals are rather too narrow. Of BetaVAE and FactorVAE, "
    "and of SAP, Locatello et al. (2018) say that they go with each other and with MIG."
)


def values(of_data: Sequence[ZooModel], metric: str) -> Float64:
    """So that more is better."""
    return better(metric, np.array([model.score(metric) for model in of_data]))


def rho(of_data: Sequence[ZooModel], pair: tuple[str, str], *, by_objective: bool) -> Evidence:
    """Spearman's correlation with its bootstrap interval; nothing of too few models that both
    metrics score, or where either scores all alike."""
    first, other = (values(of_data, name) for name in pair)
    known = ~(np.isnan(first) | np.isnan(other))
    if known.sum() < LEAST or np.isnan(spearman(first, other)):
        return MISSING
    names = [model.objective if by_objective else model.name for model in of_data]
    groups = np.unique(names, return_inverse=True)[1]
    drawn = resampled(first, other, groups)
    return Evidence(spearman(first, other), len(np.unique(groups[known])), draws=drawn)


def resampled(first: Float64, other: Float64, groups: NDArray[np.int64]) -> Float64:
    """Spearman's correlation of each bootstrap draw of whole groups, float64 (draws,); NaN of one
    in which all are equal. Columns (n,); `groups` int64 (n,), from 0."""
    known = ~(np.isnan(first) | np.isnan(other))
    count = int(groups.max()) + 1
    chosen = np.random.default_rng(SEED).integers(count, size=(DRAWS, count))
    # How often each model is in each draw.
    times = np.apply_along_axis(np.bincount, 1, chosen, minlength=count)[:, groups[known]]
    ranks = []
    for column in (first[known], other[known]):
        below, equal = column[:, None] > column, column[:, None] == column
        ranks.append(times @ below.T + (times @ equal.T + 1) / 2)
    centred = [rank - np.average(rank, 1, times)[:, None] for rank in ranks]
    products = [(times * a * b).sum(axis=1) for a in centred for b in centred]
    scale = np.sqrt(products[0] * products[3])
    return np.divide(products[1], scale, out=np.full(DRAWS, np.nan), where=scale > 0)


def claims(results: Results) -> list[Claim]:
    values_of = {
        "DCIMIG correlates strongly with MIG": [("dcimig", "mig")],
        "DCIMIG correlates strongly with DCI": [("dcimig", "dci")],
        "MIG and DCI are strongly correlated": [("mig", "dci")],
        "Overall, all metrics are strongly correlated": list(combinations(IN_THE_PAPER, 2)),
    }
    made = []
    for data, of_data in sorted(models().items(), key=lambda item: item[0] not in IN_PAPER):
        for says, pairs in values_of.items():
            several = len(pairs) > 1
            tests = tuple(
                above(
                    " and ".join(map(_label, pair)) if several else "",
                    rho(of_data, pair, by_objective=True),
                    STRONG,
                )
                for pair in pairs
            )
            which = "each of the paper's seven metrics with each" if several else "it"
            made.append(
                Claim(
                    f"{says}, on {TITLES[data]}.",
                    f"{which} is above {STRONG} (the number is ours)",
                    tests,
                    "paper" if data in IN_PAPER else "beyond",
                    why_not=f"fewer than {LEAST} models are trained yet",
                )
            )
    return made


def _label(name: str) -> str:
    return REGISTRY[name].label


def body(results: Results) -> Sequence[str]:
    every = models()
    parts = [provenance(every), NOTES]
    for data, of_data in every.items():
        parts.append(f"#### {TITLES[data]}, {len(of_data)} models")
        if len(of_data) < LEAST:
            parts.append(f"Fewer than {LEAST} models: nothing is said of them yet.")
            continue
        table = Table(["metrics", "rho", "95 % over models", "95 % over objectives"])
        for pair in NAMED:
            over = [rho(of_data, pair, by_objective=by) for by in (False, True)]
            ends = (f"{evidence.low:.2f} to {evidence.high:.2f}" for evidence in over)
            table.add(" and ".join(map(_label, pair)), f"{over[0].mean:.2f}", *ends)
        scores = {name: np.array([model.score(name) for model in of_data]) for name in METRICS}
        parts += [str(table), str(correlations(scores)), str(_scores(of_data))]
    return parts


def _scores(of_data: Sequence[ZooModel]) -> Table:
    """Means over the seeds of an objective, and their range."""
    table = Table(["objective", "seeds", "squared error", *map(_label, METRICS)])
    for objective in dict.fromkeys(model.objective for model in of_data):
        models_of = [model for model in of_data if model.objective == objective]
        cells = []
        for name in METRICS:
            scores = [model.score(name) for model in models_of]
            low, high = f"{min(scores):.2f}", f"{max(scores):.2f}"
            cells.append(low if low == high else f"{low} to {high}")
        error = np.mean([model.entry["error"] for model in models_of])
        table.add(objective, str(len(models_of)), f"{error:.2f}", *cells)
    return table


def draw(results: Results) -> dict[str, Figure]:
    shown = {data: of_data for data, of_data in models().items() if len(of_data) >= LEAST}
    if not shown:
        return {}
    names = [_label(name) for name in METRICS]
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(shown), len(shown), 5.4, width_in=6.4 * len(shown))
        figure.set_label("Rank correlations of metrics over trained models")
        for ax, (data, of_data) in zip(axes, shown.items(), strict=True):
            turned = [values(of_data, name) for name in METRICS]
            matrix = np.array([[spearman(first, other) for other in turned] for first in turned])
            kit.heat_map(ax, matrix, SIGNED, (-1.0, 1.0), lambda value: f"{value:.2f}")
            ax.set_title(f"{TITLES[data]}: Spearman's rho, {len(of_data)} models")
            ax.set_xticks(range(len(names)), names, rotation=90)
            ax.set_yticks(range(len(names)), names)
            ax.set_aspect("equal")
    return {"metric-ranks": figure}


def asked(size: SizeName) -> list[Asked]:
    """No concept learner."""
    return []


REPRODUCTION = Reproduction(
    "metric-ranks",
    "Paper 002, Figure 2: rank correlations of metrics",
    SAYS,
    asked,
    body,
    claims,
    draw,
)
