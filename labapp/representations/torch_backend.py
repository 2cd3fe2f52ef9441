"""Trained decoders in torch: the one module through which a loaded package reaches it.

Decoding one z is so small a job that a second thread costs more than it brings: with two OpenMP
threads on a busy machine the slowest decodes went from 2 ms to between 30 and 200. `build`
therefore sets the *process-wide* number of torch's CPU threads, to 1 unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from labapp.errors import ModelError
from labapp.representations.architectures import Architecture, Trained

Float32 = NDArray[np.float32]

DEVICES = ("cuda", "mps", "cpu")


def choose_device(configured: str | None = None) -> torch.device:
    """The configured device, else the first there is of CUDA, Apple MPS and CPU.

    Raises
    ------
    ModelError : the configured device is unknown or not there.
    """
    there = [
        name
        for name, present in (
            ("cuda", torch.cuda.is_available()),
            ("mps", torch.backends.mps.is_available()),
            ("cpu", True),
        )
        if present
    ]
    if configured is None:
        return torch.device(there[0])
    if configured not in there:
        raise ModelError(
            f"The device {configured!r} is not available on this machine.",
            safe="No model was loaded.",
            todo=f"Choose one of: {', '.join(there)}.",
        )
    return torch.device(configured)


def weights_of(network: nn.Module) -> dict[str, Float32]:
    """Parameters and statistics by name, float32. Counters of batches seen are left out."""
    return {
        name: tensor.detach().cpu().numpy().copy()
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }


def build(
    architecture: Architecture,
    width: int,
    weights: dict[str, Float32],
    *,
    device: torch.device,
    threads: int,
    exact: bool = False,
) -> Callable[[Float32], Float32]:
    """The decoder of `architecture` with these weights, as a function of float32 z.

    `exact` keeps every step in float32, as the numbers on a card are measured.

    Raises
    ------
    ModelError : the weights' names or shapes are not the architecture's, or what comes out is not
        finite or not of the architecture's shape.
    """
    assert isinstance(architecture.source, Trained)
    torch.set_num_threads(threads)
    with torch.device("meta"):
        network = architecture.source.decoder(width)
    _check(architecture, network, weights)
    state = {name: torch.from_numpy(_own(values)) for name, values in weights.items()}
    state |= {
        name: torch.zeros((), dtype=tensor.dtype)
        for name, tensor in network.state_dict().items()
        if not tensor.is_floating_point()
    }
    network.load_state_dict(state, assign=True)
    network.requires_grad_(False).eval().to(device)

    def forward(z: Float32) -> Float32:
        with torch.inference_mode():
            decoded = network(torch.from_numpy(_own(z)).to(device)).cpu().numpy()
        return np.asarray(decoded, dtype=np.float32)

    trial = forward(np.zeros((1, width), dtype=np.float32))
    if trial.shape != (1, *architecture.output_shape) or not np.isfinite(trial).all():
        raise ModelError(
            f"The weights do not make a decoder: z = 0 decodes to shape {trial.shape[1:]}, "
            "or to values that are not finite.",
            todo="Take a fresh copy of the model package from where it was published.",
        )
    return forward


def _own(values: Float32) -> Float32:
    """The array as torch needs it: in row order and writable, copied only where it is not."""
    return np.require(values, requirements=["C", "W"])


def _check(architecture: Architecture, network: nn.Module, weights: dict[str, Float32]) -> None:
    expected = {
        name: tuple(tensor.shape)
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    found = {name: values.shape for name, values in weights.items()}
    if expected == found:
        return
    problems = [f"lacks {name!r}" for name in sorted(expected.keys() - found.keys())]
    problems += [f"has {name!r} besides" for name in sorted(found.keys() - expected.keys())]
    problems += [
        f"has {name!r} of shape {found[name]} where {expected[name]} belongs"
        for name in sorted(expected.keys() & found.keys())
        if found[name] != expected[name]
    ]
    more = f" and {len(problems) - 4} more differences" if len(problems) > 4 else ""
    raise ModelError(
        f"The weights are not those of {architecture.name}: the file "
        f"{'; '.join(problems[:4])}{more}.",
        safe="No model was loaded.",
        todo="Check that model.yaml and decoder.safetensors come from the same package.",
    )
