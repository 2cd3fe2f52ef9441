"""What a step and an epoch of each concept learner take: CPU time of this process.

    python -m benchmarks.concept_speed [--size M] [--steps 40] [--threads 1] [PREFIX ...]

A line a phase of each shipped recipe whose id begins with a prefix (concepts/dsprites0- by
default): its weights, the median and the mean milliseconds of a step, and seconds an epoch. Steps
are taken of pictures of noise, which take as long as others.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import torch

from labapp.models.concepts import recipe as recipes
from labapp.models.concepts.learner import ConceptLearner, Setup, TrainingRows, build
from labapp.models.concepts.recipe import SIZES, ConceptRecipe

TASKS = {
    "toy": (3, 2, 2_000),
    "dsprites": (5, 8, 16_589),
    "3dshapes": (6, 12, 11_520),
}
"""Concepts, classes and rows to train on of each data set."""
ROWS = 1_600
WARM_UP = 20
"""Steps before the measured ones; the rotation of CW is learned in every twentieth."""


def rows(shape: tuple[int, ...], concepts: int, classes: int) -> TrainingRows:
    rng = np.random.default_rng(0)
    if len(shape) == 1:
        x = torch.from_numpy(rng.standard_normal((ROWS, *shape)).astype(np.float32))
    else:
        x = torch.from_numpy(rng.integers(0, 256, (ROWS, *shape), dtype=np.uint8))
    return TrainingRows(
        x,
        torch.from_numpy(rng.integers(0, 2, (ROWS, concepts))).float(),
        torch.from_numpy(rng.integers(0, classes, ROWS)),
    )


def times(learner: ConceptLearner, phase: int, own: TrainingRows, steps: int) -> list[float]:
    """Seconds of CPU of so many steps of a phase."""
    learner.networks.train()
    learned = learner.begin(phase, own)
    order = learner.epoch(own, np.random.default_rng(0))
    measured = []
    for step in range(WARM_UP + steps):
        chosen = np.take(order, np.arange(learner.batch) + step * learner.batch, 0, mode="wrap")
        began = time.process_time()
        learner.step(learned.batch(chosen), np.random.default_rng(step), 0.3)
        measured.append(time.process_time() - began)
    return measured[WARM_UP:]


def report(recipe: ConceptRecipe, steps: int) -> None:
    """Print the lines of a recipe."""
    concepts, classes, count = TASKS[recipe.data.dataset]
    shape = recipe.data.shape(recipe.measures)
    learner = build(recipe.learner, Setup(shape, concepts, classes, recipe.measures, recipe.seed))
    own = rows(shape, concepts, classes)
    parameters = sum(weight.numel() for weight in learner.networks.parameters())
    share = len(learner.epoch(own, np.random.default_rng(0))) / ROWS
    per_epoch = math.ceil(count * share / learner.batch)
    for number, phase in enumerate(learner.phases):
        seconds = np.array(times(learner, number, own, steps))
        print(
            f"{recipe.id:30} {phase.name:22} {parameters:8,} {np.median(seconds) * 1e3:7.1f} "
            f"{seconds.mean() * 1e3:7.1f} {seconds.mean() * per_epoch:7.1f} x {phase.epochs}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("prefixes", nargs="*", default=["concepts/dsprites0-"])
    parser.add_argument("--size", choices=SIZES, default="M")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    print(f"{'recipe':30} {'phase':22} {'weights':>8} {'median':>7} {'mean ms':>7} {'s/epoch':>7}")
    for name, recipe in recipes.read_shipped().items():
        if name.startswith(tuple(asked.prefixes)):
            report(recipe.of(asked.size), asked.steps)


if __name__ == "__main__":
    main()
