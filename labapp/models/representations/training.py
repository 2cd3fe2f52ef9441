"""Training a representation from its recipe into a model package.

A run is a function of its recipe: which rows make iteration i and the noise it adds are drawn from
(seed, epoch) and (seed, i). Killed at any moment, it goes on from its last checkpoint and ends, on
one device, with the very weights of a run that was left alone.

The latent sample of a trained model: dial states of its held-out instances, or of its prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32, Rows, Split, chunks
from labapp.models.representations import cpu_backend, measuring, networks, package, torch_backend
from labapp.models.representations import recipe as recipes
from labapp.models.representations.card import Dial, ModelCard, Training, choice, dials_over, slider
from labapp.models.representations.networks import Losses
from labapp.models.representations.package import PRIOR_SAMPLE
from labapp.models.representations.recipe import (
    ARCHITECTURES,
    PUBLISHED,
    Ae,
    Gt,
    InfoGan,
    Optimizer,
    Recipe,
    SsTcVae,
    TrainedNetwork,
    classes_of,
    find_published_display,
)
from labapp.models.training import loop
from labapp.models.training.loop import Progress, Provenance, Run, StepResult, run_steps, versions

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
    """Train the recipe's model and write its package. Returns the package's folder. Raises
    ModelError: the recipe is refused, the package exists, the checkpoint does not fit, the loss is
    no longer finite, the disk refuses. Raises DatasetError: the files of the data set are missing
    or damaged.

    out : where `<dataset>/<name>/` is written, and checkpoints under `.training/<dataset>/<name>/`
        meanwhile; the user's models folder by default.
    device : "cuda", "mps" or "cpu"; by default the first of these that is there.
    resume : go on from a checkpoint of the same recipe; otherwise start afresh.
    progress : called about five times a second and at the end. An exception that it raises ends the
        run, which can then be resumed.
    threads : CPU threads of torch, process-wide. The small networks train fastest on one; another
        number of threads rounds differently.
    data_folder : files of the data set, if they do not come with labapp (`Data.load`).
    """
    recipe = recipes.read(recipe_path)
    out = resources.user_models() if out is None else out
    folder = out / recipe.id
    package.refuse_existing(folder)
    chosen = torch_backend.choose_device(device)
    torch.set_num_threads(threads)

    data = recipe.data.load(data_folder)
    run = Run(build(recipe, chosen))
    provenance = Provenance(recipe.digest, chosen.type, threads)
    state = out / ".training" / recipe.id
    if not resume:
        loop.clear(state)
    # On CUDA, the same seed gives the same weights only so, and float32 is float32 only so.
    with torch.backends.cudnn.flags(benchmark=False, deterministic=True, allow_tf32=False):
        _iterate(run, recipe, data.train, provenance, state, progress)

    held = of_held_out(recipe, run.learner.networks, data)
    weights = torch_backend.weights_of(run.learner.networks.get_submodule("decoder"))
    stored = _convert_weights(recipe, weights, state)
    card = _card(recipe, run, data, held, stored, chosen, threads)
    package.write_package(folder, card, stored, held.latents, held.spread)
    loop.clear(state)
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
        return np.random.default_rng([recipe.seed, _ORDER, epoch]).permutation(len(rows))

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


def _convert_weights(recipe: Recipe, weights: dict[str, Float32], state: Path) -> StoredWeights:
    """The weights in the type in which the package stores them."""
    with np.errstate(over="ignore"):
        stored = {name: values.astype(recipe.weights) for name, values in weights.items()}
    lost = [name for name, values in stored.items() if not np.isfinite(values).all()]
    if lost:
        raise ModelError(
            f"{lost[0]!r} contains values that {recipe.weights} cannot represent.",
            safe=f"The trained networks are kept in {state}.",
            todo="Write weights: float32 in the recipe and train again.",
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
        display=find_published_display(recipe.data.dataset, architecture.display),
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
    weights = {name: values.astype(np.float32) for name, values in stored.items()}
    decode = cpu_backend.build(architecture, card.space.width, weights, threads=threads)
    if decode is None:
        decode = torch_backend.build(
            architecture, card.space.width, weights, device=device, threads=threads
        )
    measured = measuring.measure(
        card, decode, encodings.latents, encodings.spread, data, published=recipe.published
    )
    return card.model_copy(update=measured.fields())


_DECAY_BEGINS = {"constant": 1.0, "cosine": 0.0, "late-cosine": 0.8}
"""The fraction of all iterations after which a schedule's learning rate falls."""


class Learner(Protocol):
    """What the training loop steps, and a checkpoint saves."""

    networks: nn.ModuleDict
    optimizers: list[torch.optim.Adam]

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        """Learn from one batch; `done` is the fraction of all iterations behind it."""
        ...


def build(recipe: Recipe, device: torch.device) -> Learner:
    """The learner of a recipe at its beginning, on `device`."""
    if isinstance(recipe.objective, InfoGan):
        return InfoGanLearner(recipe, recipe.objective, device)
    return AutoencoderLearner(recipe, device)


class AutoencoderLearner:
    """Autoencoders of every kind, and a decoder alone on true factors."""

    def __init__(self, recipe: Recipe, device: torch.device) -> None:
        assert not isinstance(recipe.objective, InfoGan)
        source = _source(recipe)
        posterior = not isinstance(recipe.objective, Ae | Gt)
        parts: dict[str, nn.Module] = {}
        if not isinstance(recipe.objective, Gt):
            assert source.encoder is not None
            parts["encoder"] = source.encoder(recipe.dimensions, posterior)
        parts["decoder"] = source.decoder(classes_of(recipe.objective) + recipe.dimensions)
        self.networks = _begin(parts, recipe, device)
        self.optimizers = [_adam(self.networks.parameters(), recipe.optimizer)]
        self._encodes = "encoder" in parts
        self._recipe = recipe
        self._objective = recipe.objective
        self._likelihood = source.likelihood

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        noise = draws.standard_normal((len(x), self._recipe.dimensions), dtype=np.float32)
        _set_rate(self.optimizers[0], self._recipe.optimizer, done)
        with _precision(self._recipe.optimizer, x.device):
            total, parts = networks.loss(
                self._objective,
                self._likelihood,
                self.networks.get_submodule("encoder") if self._encodes else None,
                self.networks["decoder"],
                x,
                factors,
                torch.from_numpy(noise).to(x.device),
            )
        _descend(total, self.optimizers[0])
        return {"loss": total.detach(), **parts}


class InfoGanLearner:
    """InfoGAN (Chen et al. 2016): discriminator and generator take turns, and both maximise the
    mutual-information bound.

    The bound for a code is the log-likelihood of the recogniser's guess: a cross-entropy for the
    discrete code, half the squared error for the continuous codes.
    """

    def __init__(self, recipe: Recipe, objective: InfoGan, device: torch.device) -> None:
        parts: dict[str, nn.Module] = {
            "discriminator": networks.MnistDiscriminator(
                classes=objective.classes, codes=recipe.dimensions
            ),
            "decoder": _source(recipe).decoder(objective.classes + recipe.dimensions),
        }
        self.networks = _begin(parts, recipe, device)
        self.optimizers = [
            _adam(self.networks[name].parameters(), recipe.optimizer) for name in parts
        ]
        self._recipe = recipe
        self._objective = objective

    def step(self, x: Tensor, factors: Tensor, draws: np.random.Generator, done: float) -> Losses:
        discriminator, generator = self.networks["discriminator"], self.networks["decoder"]
        classes, codes = self._codes(len(x), draws, x.device)
        z = torch.cat([functional.one_hot(classes, self._objective.classes).float(), codes], 1)
        optimizer = self._recipe.optimizer
        _set_rate(self.optimizers[0], optimizer, done)
        _set_rate(self.optimizers[1], optimizer, done, self._objective.generator_rate)

        with _precision(optimizer, x.device):
            made = torch.sigmoid(generator.logits(z).float())  # type: ignore[operator]
            real = discriminator(x)[0].float()
            false, *guess = discriminator(made.detach())
            telling = _softplus(-real) + _softplus(false.float())
            information = self._information(classes, codes, *guess)
        _descend(telling - information, self.optimizers[0])

        with _precision(optimizer, x.device):
            false, *guess = discriminator(made)
            fooling = _softplus(-false.float())
            information = self._information(classes, codes, *guess)
        _descend(fooling - information, self.optimizers[1])
        return {
            "loss": (telling + fooling).detach(),
            "discriminator": telling.detach(),
            "generator": fooling.detach(),
            "information": information.detach(),
        }

    def _codes(
        self, count: int, draws: np.random.Generator, device: torch.device
    ) -> tuple[Tensor, Tensor]:
        classes = draws.integers(self._objective.classes, size=count)
        codes = draws.uniform(-1.0, 1.0, (count, self._recipe.dimensions)).astype(np.float32)
        return torch.from_numpy(classes).to(device), torch.from_numpy(codes).to(device)

    def _information(self, classes: Tensor, codes: Tensor, logits: Tensor, means: Tensor) -> Tensor:
        discrete = functional.cross_entropy(logits.float(), classes)
        continuous = 0.5 * (means.float() - codes).square().sum(1).mean()
        return -(self._objective.discrete * discrete + self._objective.continuous * continuous)


def _source(recipe: Recipe) -> TrainedNetwork:
    source = ARCHITECTURES[recipe.architecture].source
    assert isinstance(source, TrainedNetwork)
    return source


def _begin(parts: dict[str, nn.Module], recipe: Recipe, device: torch.device) -> nn.ModuleDict:
    whole = nn.ModuleDict(parts)
    networks.initialise(whole, torch.Generator().manual_seed(recipe.seed))
    # Convolutions are faster in this order of memory; it changes no result but by rounding.
    whole.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return whole.train()


def _adam(parameters: Iterable[nn.Parameter], optimizer: Optimizer) -> torch.optim.Adam:
    # One pass over memory for each weight instead of a dozen: a third of a step on a CPU.
    return torch.optim.Adam(
        parameters, lr=optimizer.learning_rate, betas=(optimizer.beta1, 0.999), fused=True
    )


def _descend(loss: Tensor, adam: torch.optim.Adam) -> None:
    """One step of the optimizer's parameters down the gradient of the loss."""
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()


def _set_rate(adam: torch.optim.Adam, optimizer: Optimizer, done: float, factor: float = 1) -> None:
    """The learning rate after the fraction `done` of all iterations."""
    begins = _DECAY_BEGINS[optimizer.schedule]
    fallen = max(0.0, done - begins) / (1.0 - begins) if begins < 1.0 else 0.0
    rate = optimizer.learning_rate * factor * 0.5 * (1.0 + math.cos(math.pi * fallen))
    for group in adam.param_groups:
        group["lr"] = rate


def _precision(optimizer: Optimizer, device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=optimizer.precision == "bfloat16")


def _softplus(logits: Tensor) -> Tensor:
    """Mean of log(1 + exp(logits)): the binary cross-entropy against 0; of -logits against 1."""
    return functional.softplus(logits).mean()


@dataclass(frozen=True, slots=True)
class Encodings:
    """Dial states, float32, shape (n, dimensions), and the dials that hold them.

    `spread` holds the standard deviations of the posteriors, of the same shape, or is None. Of
    a label it is 0.
    """

    latents: Float32
    spread: Float32 | None
    dials: list[Dial]


def of_held_out(recipe: Recipe, networks: nn.ModuleDict, data: Split) -> Encodings:
    """The encodings of the held-out split by a trained learner's networks, row for row.

    InfoGAN has no encoder: its latents are `PRIOR_SAMPLE` seeded draws of its codes.
    """
    objective = recipe.objective
    if isinstance(objective, InfoGan):
        return _prior(objective.classes, recipe.dimensions, recipe.seed)
    if isinstance(objective, Gt):
        factors = _factors(data.held)
        names = data.factor_names
        return Encodings(
            factors,
            None,
            [
                slider(name, float(column.min()), float(column.max()))
                for name, column in zip(names, factors.T, strict=True)
            ],
        )
    mean, spread = _encode(networks.get_submodule("encoder"), data.held)
    dials = dials_over(mean)
    if not isinstance(objective, SsTcVae):
        return Encodings(mean, spread, dials)
    labels = _factors(data.held)
    assert spread is not None
    return Encodings(
        np.concatenate([labels, mean], axis=1),
        np.concatenate([np.zeros_like(labels), spread], axis=1),
        [choice(objective.classes), *dials],
    )


def _prior(classes: int, codes: int, seed: int) -> Encodings:
    draws = np.random.Generator(np.random.PCG64(seed)).random((PRIOR_SAMPLE, 1 + codes))
    latents = 2.0 * draws - 1.0
    latents[:, 0] = np.floor(draws[:, 0] * classes)
    dials = [slider(f"z{index}", -1.0, 1.0) for index in range(1, codes + 1)]
    return Encodings(latents.astype(np.float32), None, [choice(classes), *dials])


def _factors(rows: Rows) -> Float32:
    return rows.factors(np.arange(len(rows))).astype(np.float32)


def _encode(encoder: nn.Module, rows: Rows) -> tuple[Float32, Float32 | None]:
    """Means and, if there is a posterior, standard deviations."""
    device = next(encoder.parameters()).device
    encoder.eval()
    means: list[Float32] = []
    spreads: list[Float32] = []
    with torch.inference_mode():
        for part in chunks(len(rows)):
            x = torch.from_numpy(rows.instances(part)).to(device)
            mean, log_variance = cast(tuple[Tensor, Tensor | None], encoder(x))
            means.append(mean.cpu().numpy())
            if log_variance is not None:
                spreads.append(torch.exp(0.5 * log_variance).cpu().numpy())
    return np.concatenate(means), np.concatenate(spreads) if spreads else None
