"""Training a representation from its recipe into a model package.

A run is a function of its recipe: which rows make iteration i and the noise it adds are drawn
from (seed, epoch) and (seed, i). Killed at any moment, it goes on from its last checkpoint and
ends, on one device, with the very weights of a run that was left alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from labapp import resources
from labapp.datasets.split import Rows, Split
from labapp.errors import ModelError
from labapp.representations import (
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
from labapp.representations.encodings import Encodings
from labapp.representations.learners import Learner
from labapp.representations.recipe import InfoGan, Recipe
from labapp.representations.task import PUBLISHED, published_display
from labapp.training import checkpoint
from labapp.training.checkpoint import Provenance, Run
from labapp.training.loop import Progress, StepResult, run_steps, versions

Float32 = NDArray[np.float32]
StoredWeights = dict[str, NDArray[np.floating]]

# Streams of the recipe's seed; the numbers are part of what a recipe means.
_ORDER, _NOISE = 0, 1


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
    provenance = Provenance(recipe.digest, chosen.type, threads)
    state = out / ".training" / recipe.id
    if not resume:
        checkpoint.clear(state)
    # On CUDA, the same seed gives the same weights only so, and float32 is float32 only so.
    with torch.backends.cudnn.flags(benchmark=False, deterministic=True, allow_tf32=False):
        _iterate(run, recipe, data.train, provenance, state, progress)

    of_held_out = encodings.of_held_out(recipe, run.learner.networks, data)
    weights = torch_backend.weights_of(run.learner.networks.get_submodule("decoder"))
    stored = _stored_weights(recipe, weights, state)
    card = _card(recipe, run, data, of_held_out, stored, chosen, threads)
    package.write_package(folder, card, stored, of_held_out.latents, of_held_out.spread)
    checkpoint.clear(state)
    return folder


def _iterate(
    run: Run[Learner],
    recipe: Recipe,
    rows: Rows,
    provenance: Provenance,
    state: Path,
    progress: Callable[[Progress], None] | None,
) -> None:
    device = torch.device(provenance.device)
    batch, epochs = recipe.optimizer.batch, recipe.optimizer.epochs
    per_epoch = math.ceil(len(rows) / batch)
    iterations = per_epoch * epochs

    @lru_cache(maxsize=1)
    def order(epoch: int) -> NDArray[np.int64]:
        return _order(recipe, len(rows), epoch)

    def take(iteration: int) -> StepResult:
        epoch, at = divmod(iteration, per_epoch)
        chosen = order(epoch)[at * batch : (at + 1) * batch]
        losses = run.learner.step(
            torch.from_numpy(rows.instances(chosen)).to(device),
            torch.from_numpy(rows.factors(chosen).astype(np.float32)).to(device),
            np.random.default_rng([recipe.seed, _NOISE, iteration]),
            iteration / iterations,
        )
        number = iteration + 1
        ends = number % recipe.checkpoint_iterations == 0 or number == iterations
        return StepResult(losses, f"epoch {epoch + 1}/{epochs}", f"iteration {number}", ends)

    run_steps(run, iterations, take, provenance=provenance, state=state, progress=progress)


def _order(recipe: Recipe, rows: int, epoch: int) -> NDArray[np.int64]:
    return np.random.default_rng([recipe.seed, _ORDER, epoch]).permutation(rows)


def _stored_weights(recipe: Recipe, weights: dict[str, Float32], state: Path) -> StoredWeights:
    """The weights in the type in which the package stores them."""
    with np.errstate(over="ignore"):
        stored = {name: values.astype(recipe.weights) for name, values in weights.items()}
    lost = [name for name, values in stored.items() if not np.isfinite(values).all()]
    if lost:
        raise ModelError(
            f"{lost[0]!r} holds values that {recipe.weights} cannot.",
            safe=f"The trained networks are kept in {state}.",
            todo="Say weights: float32 in the recipe and train anew.",
        )
    return stored


def _card(
    recipe: Recipe,
    run: Run[Learner],
    data: Split,
    encodings: Encodings,
    stored: StoredWeights,
    device: torch.device,
    threads: int,
) -> ModelCard:
    """The card, measured with the weights as they are stored."""
    architecture = ARCHITECTURES[recipe.architecture]
    card = ModelCard(
        card=1,
        id=recipe.id,
        title=recipe.title,
        notes=recipe.notes,
        dataset=recipe.data.dataset,
        architecture=architecture.name,
        display=published_display(recipe.data.dataset, architecture.display),
        task=PUBLISHED.get(recipe.data.dataset),
        sampling="prior" if isinstance(recipe.objective, InfoGan) else "held-out",
        dimensions=encodings.dials,
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
            versions=versions(),
        ),
    )
    decode = torch_backend.build(
        architecture,
        card.space.width,
        {name: values.astype(np.float32) for name, values in stored.items()},
        device=device,
        threads=threads,
        exact=True,
    )
    measured = measuring.measure(
        card, decode, encodings.latents, encodings.spread, data, published=recipe.published
    )
    return card.model_copy(update=measured.fields())
