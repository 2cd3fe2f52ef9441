"""How OIS and NIS depend on the width of their helpers (paper 001, A.4, Figure A.1)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.concept_bottlenecks import KINDS
from benchmarks.concept_bottlenecks import codes as trained
from benchmarks.reproduction.printing import Table, metric
from labapp.datasets.split import divide

Float64 = NDArray[np.float64]

WIDTHS = (2, 4, 8, 16, 32, 64, 128)
ROWS = 3_000
"""As in Table 1: OIS depends on how many there are."""
NAMES = {"ois": "OIS, one hidden layer", "nis": "NIS, two hidden layers"}


def section(path: Path | None, epochs: int, seeds: int, jobs: int) -> str:
    """From codes that `concept_bottlenecks.py` wrote, or from models trained now."""
    arrays = dict(np.load(path)) if path else trained(0, epochs, 1)
    rows = divide(len(arrays["concepts"]), ROWS, 0)[1]
    subjects = {kind: (arrays[f"{kind}-0"][rows], arrays["concepts"][rows]) for kind in KINDS}
    asked = [
        (name, what, width, seed)
        for name in NAMES
        for width in WIDTHS
        for what in subjects
        for seed in range(seeds)
    ]
    found = Parallel(n_jobs=jobs, batch_size=1)(
        delayed(_score)(name, *subjects[what], width, seed) for name, what, width, seed in asked
    )
    means = np.array(found).reshape(len(NAMES), len(WIDTHS), len(subjects), -1).mean(axis=-1)
    parts = [_told(arrays, seeds)]
    for title, table in zip(NAMES.values(), means, strict=True):
        printed = Table(["width", *subjects])
        for width, row in zip(WIDTHS, table, strict=True):
            printed.add(str(width), *(f"{100 * value:.2f}" for value in row))
        parts += [f"### {title}", str(printed)]
    return "\n\n".join(parts)


def _score(name: str, codes: Float64, concepts: Float64, width: int, seed: int) -> float:
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    return metric(name)(codes, concepts, seed=seed, hidden=width).score


def _told(arrays: Mapping[str, NDArray[np.float64]], seeds: int) -> str:
    accuracies = "; ".join(
        f"{kind}: {100 * concept:.1f} % of concepts and {100 * task:.1f} % of classes right"
        for kind in KINDS
        for concept, task in [arrays[f"{kind}-0-accuracy"]]
    )
    pictures = "pictures drawn by labapp" if arrays["rendered"] else "the official pictures"
    epochs = int(arrays["epochs"])
    return (
        f"Scores in per cent, mean over {seeds} seed(s). The bottlenecks are the joint models of "
        f"the paper's A.6, trained for {epochs} epochs (the paper: 100) on dSprites(0) "
        f"({pictures}), scored on {ROWS:,} of the test pictures ({accuracies}; whether a square "
        "is turned by less than half cannot be seen). The paper's figure prints no numbers; it "
        "says that OIS settles from 32 units and NIS from 16, and that logits are less pure than "
        "probabilities."
    )
