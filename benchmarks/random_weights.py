"""Decoders of a real architecture and size with weights nobody trained: for measuring speed."""

from __future__ import annotations

import numpy as np
import torch

from labapp.base.errors import ModelError
from labapp.models.representations import cpu_backend, networks, torch_backend
from labapp.models.representations.card import ModelCard, dials_over
from labapp.models.representations.decoders import LoadedDecoder, percentiles_of
from labapp.models.representations.recipe import ARCHITECTURES, TrainedNetwork

LATENTS = 1_000


def random_decoder(
    architecture: str,
    *,
    dimensions: int = 5,
    seed: int = 0,
    device: str | None = None,
    threads: int = 1,
) -> LoadedDecoder:
    """A decoder that behaves as a loaded package does, with pictures that mean nothing.

    Parameters
    ----------
    architecture : "sinelines-mlp", "dsprites-conv", "mnist-conv" or "mnist-infogan".
    dimensions : continuous dials, with standard normal latents.
    device, threads : as for `load_package`.

    Raises
    ------
    ModelError : an architecture without weights, or an unknown one.
    """
    known = {
        name: network
        for name, network in ARCHITECTURES.items()
        if isinstance(network.source, TrainedNetwork)
    }
    if architecture not in known:
        raise ModelError(
            f"No architecture with weights is called {architecture!r}.",
            todo=f"Choose one of: {', '.join(known)}.",
        )
    made_by = known[architecture]
    assert isinstance(made_by.source, TrainedNetwork)
    network = made_by.source.decoder(dimensions)
    networks.initialise(network, torch.Generator().manual_seed(seed))
    generator = np.random.default_rng(seed)
    latents = generator.standard_normal((LATENTS, dimensions), dtype=np.float32)
    card = ModelCard(
        card=1,
        id=f"random/{architecture}",
        title=f"Random weights of {architecture}",
        notes="For measuring speed; its pictures mean nothing.",
        dataset=architecture.split("-", maxsplit=1)[0],
        architecture=architecture,
        display=made_by.display,
        sampling="prior",
        dimensions=dials_over(latents),
    )
    weights = torch_backend.weights_of(network)
    chosen = torch_backend.choose_device(device or "cpu")
    forward = (
        cpu_backend.build(made_by, dimensions, weights, threads=threads)
        if chosen.type == "cpu"
        else torch_backend.build(made_by, dimensions, weights, device=chosen, threads=threads)
    )
    assert forward is not None
    return LoadedDecoder(
        id=card.id,
        space=card.space,
        card=card,
        latents=latents,
        percentiles=percentiles_of(latents),
        device=chosen.type,
        threads=threads,
        forward=forward,
    )
