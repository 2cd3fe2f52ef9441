"""The latent sample of a trained model: dial states of its held-out instances, or of its prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from labapp.models.datasets.split import Float32, Rows, Split, chunks
from labapp.models.representations.card import Dial, choice, dials_over, slider
from labapp.models.representations.package import PRIOR_SAMPLE
from labapp.models.representations.recipe import Gt, InfoGan, Recipe, SsTcVae


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
    """Means and, where there is a posterior, standard deviations."""
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
