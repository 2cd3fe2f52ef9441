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
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labapp import __version__, resources
from labapp.datasets.split import Split
from labapp.errors import ModelError
from labapp.representations import (
    checkpoint,
    heldout,
    networks,
    objectives,
    package,
    torch_backend,
)
from labapp.representations import (
    recipe as recipes,
)
from labapp.representations.architectures import ARCHITECTURES, Trained
from labapp.representations.card import HeldOutError, ModelCard, Training, dials_over
from labapp.representations.checkpoint import Run
from labapp.representations.recipe import Optimizer, Recipe, Vae

Float32 = NDArray[np.float32]

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
) -> Path:
    """Train the recipe's model and write its package.

    Parameters
    ----------
    out : where `<dataset>/<name>/` is written, and checkpoints under `.training/<dataset>/<name>/`
        meanwhile; the shipped models' folder by default.
    device : "cuda", "mps" or "cpu"; by default the first of these that is there.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : called about five times a second and at the end. What it raises ends the run, which
        can then be resumed.
    threads : CPU threads of torch, process-wide. A network this small trains fastest on one.

    Returns
    -------
    The package's folder.

    Raises
    ------
    ModelError : the recipe is refused, the package exists, the checkpoint does not fit, the loss
        is no longer finite, the disk refuses.
    """
    recipe = recipes.read(recipe_path)
    out = resources.models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    chosen = torch_backend.choose_device(device)
    torch.set_num_threads(threads)

    data = recipe.data.load()
    run = _begin(recipe, chosen)
    state = out / ".training" / recipe.id
    if resume:
        checkpoint.restore(state, run, recipe.digest)
    _iterate(run, recipe, data, state, progress)

    mean, spread = _encode(run.networks["encoder"], data.held_x)
    card = _card(recipe, run, data, mean, spread, chosen, threads)
    weights = torch_backend.weights_of(run.networks["decoder"])
    package.write_package(folder, card, weights, mean, spread)
    checkpoint.clear(state)
    return folder


def _begin(recipe: Recipe, device: torch.device) -> Run:
    source = ARCHITECTURES[recipe.architecture].source
    assert isinstance(source, Trained)
    assert source.encoder is not None
    pair = nn.ModuleDict(
        {
            "encoder": source.encoder(recipe.dimensions, isinstance(recipe.objective, Vae)),
            "decoder": source.decoder(recipe.dimensions),
        }
    )
    networks.initialise(pair, torch.Generator().manual_seed(recipe.seed))
    pair.to(device)
    optimizer = torch.optim.Adam(pair.parameters(), lr=recipe.optimizer.learning_rate)
    return Run(pair, optimizer)


def _learning_rate(optimizer: Optimizer, done: float) -> float:
    """The rate after the fraction `done` of all iterations."""
    if optimizer.schedule == "cosine":
        return optimizer.learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))
    return optimizer.learning_rate


def _iterate(
    run: Run,
    recipe: Recipe,
    data: Split,
    state: Path,
    progress: Callable[[Progress], None] | None,
) -> None:
    rows, batch, epochs = len(data.train_x), recipe.optimizer.batch, recipe.optimizer.epochs
    per_epoch = math.ceil(rows / batch)
    iterations = per_epoch * epochs
    device = next(run.networks.parameters()).device
    x = torch.from_numpy(data.train_x).to(device)
    run.networks.train()

    began, first, before = time.perf_counter(), run.iteration, run.seconds
    reported = began
    order, ordered = torch.empty(0), -1
    while run.iteration < iterations:
        epoch, at = divmod(run.iteration, per_epoch)
        if epoch != ordered:
            order, ordered = _order(recipe, rows, epoch), epoch
        chosen = x[order[at * batch : (at + 1) * batch].to(device)]
        rate = _learning_rate(recipe.optimizer, run.iteration / iterations)
        losses = _step(run, recipe, chosen, rate)
        run.iteration += 1

        now = time.perf_counter()
        run.seconds = before + now - began
        last = run.iteration == iterations
        due = run.iteration % recipe.checkpoint_iterations == 0
        if due or last:
            _check(losses, run.iteration, state)
            checkpoint.save(state, run, recipe.digest)
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


def _order(recipe: Recipe, rows: int, epoch: int) -> Tensor:
    generator = np.random.default_rng([recipe.seed, _ORDER, epoch])
    return torch.from_numpy(generator.permutation(rows))


def _step(run: Run, recipe: Recipe, x: Tensor, rate: float) -> dict[str, Tensor]:
    generator = np.random.default_rng([recipe.seed, _NOISE, run.iteration])
    noise = generator.standard_normal((len(x), recipe.dimensions), dtype=np.float32)
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    run.optimizer.zero_grad()
    total, parts = objectives.loss(
        recipe.objective,
        run.networks["encoder"],
        run.networks["decoder"],
        x,
        torch.from_numpy(noise).to(x.device),
    )
    total.backward()  # type: ignore[no-untyped-call]
    run.optimizer.step()
    return {"loss": total.detach(), **parts}


def _check(losses: dict[str, Tensor], iteration: int, state: Path) -> None:
    if not math.isfinite(float(losses["loss"])):
        raise ModelError(
            f"The loss is no longer finite at iteration {iteration}.",
            safe=f"The last checkpoint with a finite loss, if any, is kept in {state}.",
            todo="Lower the learning rate in the recipe.",
        )


def _encode(encoder: nn.Module, x: Float32) -> tuple[Float32, Float32 | None]:
    """Encodings of x: means and, where there is a posterior, standard deviations."""
    device = next(encoder.parameters()).device
    encoder.eval()
    with torch.inference_mode():
        mean, log_variance = cast(
            tuple[Tensor, Tensor | None], encoder(torch.from_numpy(x).to(device))
        )
        spread = None if log_variance is None else torch.exp(0.5 * log_variance).cpu().numpy()
    return mean.cpu().numpy(), spread


def _card(
    recipe: Recipe,
    run: Run,
    data: Split,
    mean: Float32,
    spread: Float32 | None,
    device: torch.device,
    threads: int,
) -> ModelCard:
    architecture = ARCHITECTURES[recipe.architecture]
    decode = torch_backend.build(
        architecture,
        recipe.dimensions,
        torch_backend.weights_of(run.networks["decoder"]),
        device=device,
        threads=threads,
    )

    def error(z: Float32) -> float:
        return round(heldout.error(decode, z, data.held_x), 6)

    return ModelCard(
        card=1,
        id=recipe.id,
        title=recipe.title,
        notes=recipe.notes,
        dataset=recipe.data.dataset,
        architecture=architecture.name,
        display=architecture.display,
        sampling="held-out",
        dimensions=dials_over(mean),
        objective=recipe.objective,
        data=recipe.data,
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
        held_out_error=HeldOutError(
            mean=error(mean),
            sampled=None if spread is None else error(heldout.draw(mean, spread)),
            published=recipe.published_error,
        ),
    )
