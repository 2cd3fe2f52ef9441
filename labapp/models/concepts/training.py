"""Trains a concept learner from its recipe into a package, on the CPU; a killed run can be resumed.

A run is a function of its recipe: the order of an epoch comes from (seed, phase, epoch), and all
chance of a step from (seed, number of the step). So a run that is killed at any moment goes on from
its last checkpoint and ends with the same weights as one that was never interrupted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch

from labapp.base import resources
from labapp.models.concepts import measuring, package
from labapp.models.concepts.card import ConceptCard, DataRecord, TrainingRecord
from labapp.models.concepts.data import ConceptData
from labapp.models.concepts.learner import ConceptLearner, Setup, TrainingRows, build, in_memory
from labapp.models.concepts.model import ConceptModel
from labapp.models.concepts.recipe import ConceptRecipe
from labapp.models.concepts.settings import SizeName
from labapp.models.datasets.split import Int64
from labapp.models.representations.torch_backend import weights_of
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance, Run, StepResult, run_steps, versions

CHECKPOINT_S = 10.0
"""Seconds between two checkpoints, about an epoch of pictures; there is one more at the end of each
phase."""

# Streams of the recipe's seed; the numbers are part of what a recipe means.
_ORDER, _STEP = 0, 1


def train(
    recipe: ConceptRecipe,
    *,
    size: SizeName | None = None,
    seed: int | None = None,
    out: Path | None = None,
    data_folder: Path | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    checkpoint_s: float = CHECKPOINT_S,
) -> Path:
    """Train the recipe's learner, measure it and write its package. Returns the package's folder.
    Raises ModelError: the package exists, the checkpoint does not fit, the loss is no longer
    finite, the disk refuses. Raises DatasetError: the official files are missing or damaged.

    size, seed : others than the recipe's, which the id of the package then names.
    out : where `<id>/` is written, and checkpoints under `.training/<id>/` meanwhile; the user's
        models folder by default.
    data_folder : of the official files, where the recipe learns from them.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : called about five times a second and at the end of each phase. What it raises ends
        the run, which can then be resumed.
    threads : CPU threads of torch, process-wide; another number rounds differently.
    """
    recipe = recipe.of(size, seed)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    torch.set_num_threads(threads)
    state = out / ".training" / recipe.id
    if not resume:
        loop.clear(state)

    data = recipe.data.load(recipe.measures, data_folder)
    split = data.split
    learner = build(
        recipe.learner,
        Setup(data.shape, len(split.concept_names), split.classes, recipe.measures, recipe.seed),
    )
    seconds = fit(
        learner,
        in_memory(split.train),
        seed=recipe.seed,
        provenance=Provenance(recipe.digest, "cpu", threads),
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    model = ConceptModel(learner)
    training_codes = model.codes(split.train)
    model.values = learner.values(training_codes)
    measured = measuring.measure(model, data, training_codes)
    card = ConceptCard(
        card=1,
        recipe=recipe,
        training=TrainingRecord(
            recipe_sha256=recipe.digest,
            phases={phase.name: phase.epochs for phase in learner.phases},
            seconds=round(seconds, 1),
            threads=threads,
            versions=versions(),
        ),
        data=_record(data),
        test=measured.test,
        validation=measured.validation,
        scores=measured.scores,
        weights_sha256="0" * 64,
        codes_sha256="0" * 64,
    )
    package.write(folder, card, weights_of(learner.networks), measured.codes, measured.curves)
    loop.clear(state)
    return folder


def _record(data: ConceptData) -> DataRecord:
    split = data.split
    return DataRecord(
        name=split.name,
        origin=split.origin,
        files=dict(split.files),
        concepts=split.concept_names,
        classes=split.classes,
        train=len(split.train),
        validation=0 if data.validation is None else len(data.validation),
        test=len(split.test),
    )


def order_of(
    learner: ConceptLearner, rows: TrainingRows, seed: int, phase: int, epoch: int
) -> Int64:
    """The numbers of the rows of an epoch, in the order in which they are learned."""
    return learner.epoch(rows, np.random.default_rng([seed, _ORDER, phase, epoch]))


def steps_of(learner: ConceptLearner, count: int) -> int:
    """Steps of an epoch of so many rows, or pairs."""
    # A last batch of one row has no variance, which some layers need: it is left out.
    return max(1, math.ceil((count - 1) / learner.batch))


def fit(
    learner: ConceptLearner,
    rows: TrainingRows,
    *,
    seed: int,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None = None,
    checkpoint_s: float = CHECKPOINT_S,
) -> float:
    """Take a learner through all its phases; its networks are in evaluation mode at the end.

    Parameters and errors are those of `labapp.models.training.loop.run_steps`.

    Returns
    -------
    Seconds spent, over all restarts.
    """
    phases = learner.phases
    of_epoch = len(learner.epoch(rows, np.random.default_rng(0)))
    per_epoch = steps_of(learner, of_epoch)
    ends = list(accumulate(phase.epochs * per_epoch for phase in phases))
    begun: dict[int, TrainingRows] = {}

    @lru_cache(maxsize=1)
    def order(phase: int, epoch: int) -> Int64:
        return order_of(learner, rows, seed, phase, epoch)

    def take(iteration: int) -> StepResult:
        number = bisect_right(ends, iteration)
        phase = phases[number]
        steps = phase.epochs * per_epoch
        step = iteration - ends[number] + steps
        epoch, at = divmod(step, per_epoch)
        if number not in begun:
            begun.clear()
            learner.networks.train()
            begun[number] = learner.begin(number, rows)
        draws = np.random.default_rng([seed, _STEP, iteration])
        # Of the CPU alone: torch.manual_seed keeps a stack trace for each device that is not there.
        torch.default_generator.manual_seed(int(draws.integers(2**62)))
        chosen = order(number, epoch)[at * learner.batch : (at + 1) * learner.batch]
        losses = learner.step(begun[number].batch(chosen), draws, step / steps)
        return StepResult(
            losses,
            f"{phase.name}, epoch {epoch + 1}/{phase.epochs}",
            f"step {step + 1} of the phase {phase.name!r}",
            ends=step == steps - 1,
        )

    run = Run(learner)
    run_steps(
        run,
        ends[-1],
        take,
        provenance=provenance,
        state=state,
        progress=progress,
        checkpoint_s=checkpoint_s,
    )
    learner.networks.eval()
    return run.seconds
