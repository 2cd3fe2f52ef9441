"""The scored models of `benchmarks.model_zoo` as the figures of paper 002 read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import model_zoo
from benchmarks.reproduction.printing import Table

Float64 = NDArray[np.float64]

TITLES = {"sinelines": "Sinelines", "dsprites": "dSprites"}


@dataclass(frozen=True, slots=True)
class ZooModel:
    """A model: the dataset and objective of its recipe, its seed, and what was kept of it, see
    `model_zoo.kept`."""

    data: str
    objective: str
    seed: int
    entry: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.objective}, seed {self.seed}"

    def score(self, metric: str) -> float:
        """NaN where the metric refused the model."""
        value = self.entry["scores"][metric]
        return float("nan") if value is None else float(value)

    def matrix(self, part: str) -> Float64:
        """Codes downwards, factors across: float64 (C, K)."""
        return np.array(self.entry[part], dtype=np.float64)


def models() -> dict[str, list[ZooModel]]:
    """By data set, those whose recipe is still the one that they were trained from, but for the
    precision; in order."""
    results = model_zoo.kept()
    return {
        data: [
            ZooModel(data, name, recipe.seed, results[recipe.id])
            for name, recipe in model_zoo.recipes(data, model_zoo.SEEDS)
            if model_zoo.counts(results.get(recipe.id), recipe)
        ]
        for data in model_zoo.DATA
    }


def provenance(every: Mapping[str, Sequence[ZooModel]]) -> str:
    """Which models there are, and what they were trained on."""
    table = Table(
        ["data set", "models", "of", "seeds", "precision", "rows scored", "codes", "factors"]
    )
    of = len(model_zoo.OBJECTIVES) * model_zoo.SEEDS
    for data, of_data in every.items():
        rows = sorted({f"{model.entry['rows']:,}" for model in of_data})
        factors = ", ".join(of_data[0].entry["factors"]) if of_data else "–"
        seeds = ", ".join(map(str, sorted({model.seed for model in of_data}))) or "–"
        precisions = Counter(str(model.entry["precision"]) for model in of_data)
        table.add(
            TITLES[data], str(len(of_data)), str(of), seeds,
            ", ".join(f"{name} ({count})" for name, count in precisions.items()) or "–",
            " or ".join(rows) or "–", str(model_zoo.CODES), factors,
        )  # fmt: skip
    text = (
        "Trained by `python -m benchmarks.model_zoo` and scored on held-out rows: autoencoders, "
        "variational autoencoders whose divergence weighs 1, 2, 4, 8 or 16, and beta-TCVAEs with "
        "beta 4 or 10; Sinelines for 19,712 iterations, dSprites (pictures drawn by labapp) for "
        "10,368. No model of true factors is among them."
    )
    lacking = [TITLES[data] for data, of_data in every.items() if len(of_data) < of]
    if lacking:
        text += (
            f" **Of {' and '.join(lacking)} not all are trained yet**: the run goes on from what "
            "is there."
        )
    return f"{text}\n\n{table}"
