"""Training a representation from its recipe into a model package.

A run is a function of its recipe: which rows make iteration i and the noise it adds are drawn
from (seed, epoch) and (seed, i). Killed at any moment, it goes on from its last checkpoint and
ends, on one device, with the very weights of a run that was left alone.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from labapp import __version__, resources
from labapp.datasets.split import Rows, Split
from labapp.errors import ModelError
from labapp.representations import (
    checkpoint,
    encodings,
    learners,
    measuring,
    package,
    torch_backend,
)
from labapp.representations import (
    recipe as recipes,
)
from labapp.representations.architectures import ARCHITECTURES
from labapp.representations.card import ModelCard, Training
from labapp.representations.checkpoint import Making, Run
from labapp.representations.encodings import Encodings
from labapp.representations.learners import Learner
from labapp.representations.objectives import Losses
from labapp.representations.recipe import InfoGan, Recipe

Float32 = NDArray[np.float32]
Kept = dict[str, NDArray[np.floating]]

REPORT_S = 0.2
"""Seconds between two calls of the progress callback."""

# Streams of the recipe's seed; the numbers are part of what a recipe means.
_ORDER, _NOISE = 0, 1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    `losses` are the last batch's: "loss" and its parts. `remaining_s` is estimated from this
    process's own pace.
    """

    iteration: int
    iterations: int
    epoch: int
    epochs: int
    losses: dict[str, float]
    elapsed_s: float
    remaining_s: float


def train(
    recipe_path: Path,
    *,
    out: Path | None = None,
    device: str | None = None,
    resume: bool = True,
    progress: Callable[[Progress], None] | None = None,
    threads: int = 1,
    data_folder: Path | None = None,
) -> Path:
    """Train the recipe's model and write its package.

    Parameters
    ----------
    out : where `<dataset>/<name>/` is written, and checkpoints under `.training/<dataset>/<name>/`
        meanwhile; the user's models folder by default.
    device : "cuda", "mps" or "cpu"; by default the first of these that is there.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : called about five times a second and at the end. What it raises ends the run, which
        can then be resumed.
    threads : CPU threads of torch, process-wide. The small networks train fastest on one; another
        number of threads rounds differently.
    data_folder : files of the data set, where they do not come with labapp (`Data.load`).

    Returns
    -------
    The package's folder.

    Raises
    ------
    ModelError : the recipe is refused, the package exists, the checkpoint does not fit, the loss
        is no longer finite, the disk refuses.
    DatasetError : the files of the data set are missing or damaged.
    """
    recipe = recipes.read(recipe_path)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    chosen = torch_backend.choose_device(device)
    torch.set_num_threads(threads)

    data = recipe.data.load(data_folder)
    run = Run(learners.build(recipe, chosen))
    making = Making(recipe.digest, chosen.type, threads)
    state = out / ".training" / recipe.id
    if resume:
        checkpoint.restore(state, run, making)
    # On CUDA, the same seed gives the same weights only so, and float32 is float32 only so.
    with torch.backends.cudnn.flags(benchmark=False, deterministic=True, allow_tf32=False):
        _iterate(run, recipe, data.train, making, state, progress)

    found = encodings.of_held_out(recipe, run.learner.networks, data)
    weights = torch_backend.weights_of(run.learner.networks.get_submodule("decoder"))
    kept = _kept(recipe, weights, state)
    card = _card(recipe, run, data, found, kept, chosen, threads)
    package.write_package(folder, card, kept, found.latents, found.spread)
    checkpoint.clear(state)
    return folder


def _iterate(
    run: Run[Learner],
    recipe: Recipe,
    rows: Rows,
    making: Making,
    state: Path,
    progress: Callable[[Progress], None] | None,
) -> None:
    device = torch.device(making.device)
    batch, epochs = recipe.optimizer.batch, recipe.optimizer.epochs
    per_epoch = math.ceil(len(rows) / batch)
    iterations = per_epoch * epochs

    began, first, before = time.perf_counter(), run.iteration, run.seconds
    reported = began
    order, ordered = np.empty(0, np.int64), -1
    while run.iteration < iterations:
        epoch, at = divmod(run.iteration, per_epoch)
        if epoch != ordered:
            order, ordered = _order(recipe, len(rows), epoch), epoch
        chosen = order[at * batch : (at + 1) * batch]
        losses = run.learner.step(
            torch.from_numpy(rows.instances(chosen)).to(device),
            torch.from_numpy(rows.factors(chosen).astype(np.float32)).to(device),
            np.random.default_rng([recipe.seed, _NOISE, run.iteration]),
            run.iteration / iterations,
        )
        run.iteration += 1

        now = time.perf_counter()
        run.seconds = before + now - began
        last = run.iteration == iterations
        due = run.iteration % recipe.checkpoint_iterations == 0
        if due or last:
            _check(losses, run.iteration, state)
            checkpoint.save(state, run, making)
        if progress is not None and (last or now - reported >= REPORT_S):
            reported = now
            progress(
                Progress(
                    iteration=run.iteration,
                    iterations=iterations,
                    epoch=epoch + 1,
                    epochs=epochs,
                    losses={name: float(value) for name, value in losses.items()},
                    elapsed_s=run.seconds,
                    remaining_s=(now - began)
                    / (run.iteration - first)
                    * (iterations - run.iteration),
                )
            )


def _order(recipe: Recipe, rows: int, epoch: int) -> NDArray[np.int64]:
    return np.random.default_rng([recipe.seed, _ORDER, epoch]).permutation(rows)


def _check(losses: Losses, iteration: int, state: Path) -> None:
    if not math.isfinite(float(losses["loss"])):
        raise ModelError(
            f"The loss is no longer finite at iteration {iteration}.",
            safe=f"The last checkpoint with a finite loss, if any, is kept in {state}.",
            todo="Lower the learning rate in the recipe.",
        )


def _kept(recipe: Recipe, weights: dict[str, Float32], state: Path) -> Kept:
    """The weights in the type in which the package keeps them."""
    with np.errstate(over="ignore"):
        kept = {name: values.astype(recipe.weights) for name, values in weights.items()}
    lost = [name for name, values in kept.items() if not np.isfinite(values).all()]
    if lost:
        raise ModelError(
            f"{lost[0]!r} holds values that {recipe.weights} cannot.",
            safe=f"The trained networks are kept in {state}.",
            todo="Say weights: float32 in the recipe and train anew.",
        )
    return kept


def _card(
    recipe: Recipe,
    run: Run[Learner],
    data: Split,
    found: Encodings,
    kept: Kept,
    device: torch.device,
    threads: int,
) -> ModelCard:
    """The card, all of it measured on the weights as they are kept."""
    architecture = ARCHITECTURES[recipe.architecture]
    card = ModelCard(
        card=1,
        id=recipe.id,
        title=recipe.title,
        notes=recipe.notes,
        dataset=recipe.data.dataset,
        architecture=architecture.name,
        display=architecture.display,
        sampling="prior" if isinstance(recipe.objective, InfoGan) else "held-out",
        dimensions=found.dials,
        objective=recipe.objective,
        data=recipe.data,
        data_sha256=dict(data.files) or None,
        training=Training(
            recipe_sha256=recipe.digest,
            optimizer=recipe.optimizer,
            iterations=run.iteration,
            seed=recipe.seed,
            seconds=round(run.seconds, 1),
            device=device.type,
            threads=threads,
            versions={
                "labapp": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "torch": str(torch.__version__),
            },
        ),
    )
    decode = torch_backend.build(
        architecture,
        card.space.width,
        {name: values.astype(np.float32) for name, values in kept.items()},
        device=device,
        threads=threads,
        exact=True,
    )
    measured = measuring.measure(
        card, decode, found.latents, found.spread, data, published=recipe.published
    )
    return card.model_copy(update=measured.fields())
