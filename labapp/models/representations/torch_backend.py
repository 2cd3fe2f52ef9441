"""Trained decoders in torch: on a GPU, and on the CPU if `cpu_backend` does not know the layers.

Loaded packages import torch through this module alone. For decoding one z, a second thread costs
more than it gains: with two OpenMP threads on a busy machine the slowest decodes took 30 to 200 ms
in place of 2 ms. `build` therefore sets the *process-wide* number of torch's CPU threads, by
default to 1.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labapp.base.errors import DeviceMissing, ModelError
from labapp.models.datasets.split import Float32
from labapp.models.representations.cpu_backend import check_weights, try_decoder
from labapp.models.representations.decoders import Forward
from labapp.models.representations.recipe import Architecture, TrainedNetwork

DEVICES = ("cuda", "mps", "cpu")

WARM_UPS = 3
"""Runs before a CUDA graph is recorded: the first ones allocate memory and choose kernels."""


def devices() -> list[str]:
    """The devices of this machine, the quickest first."""
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    return [name for name, here in present.items() if here]


def choose_device(configured: str | None = None) -> torch.device:
    """The configured device, else the first there is of CUDA, Apple MPS and CPU. Raises
    DeviceMissing: the configured device is unknown or not there."""
    there = devices()
    if configured is None:
        return torch.device(there[0])
    if configured not in there:
        raise DeviceMissing(
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


def load_weights(network: nn.Module, weights: Mapping[str, Float32], path: Path) -> None:
    """Put the weights of a package into the network of its card. Counters of batches and steps,
    which nothing reads after training, stay as they are. Raises ModelError: they are of another
    network; `path` names their file in the message."""
    expected = {
        name: tuple(value.shape)
        for name, value in network.state_dict().items()
        if value.is_floating_point()
    }
    if expected != {name: values.shape for name, values in weights.items()}:
        wrong = sorted(expected.keys() ^ weights.keys()) or ["the shapes"]
        raise ModelError(
            f"{path} does not contain the weights of the network on its card: "
            f"{', '.join(wrong[:3])}.",
            safe="No model was loaded.",
            todo="Get a fresh copy of the package.",
        )
    network.load_state_dict(
        {name: torch.from_numpy(values) for name, values in weights.items()}, strict=False
    )


def build(
    architecture: Architecture,
    width: int,
    weights: dict[str, Float32],
    *,
    device: torch.device,
    threads: int,
) -> Forward:
    """The decoder of `architecture` with these weights, as a fast function of float32 z. Raises
    ModelError: the weights' names or shapes are not the architecture's, or what comes out is not
    finite or not of the architecture's shape.

    Parameters
    ----------
    threads : CPU threads of torch, for the whole process.
    """
    torch.set_num_threads(threads)
    network = _network(architecture, width, weights)
    if device.type == "cuda":
        recorded = CudaGraph(network.to(device), width, device)
        how = "float32, one CUDA graph"
        forward = Forward(lambda z: recorded(_tensor(z)).numpy(), how, "torch")
    else:
        forward = _as_trained(network, device)
    return try_decoder(architecture, width, forward)


def plain(
    architecture: Architecture,
    width: int,
    weights: dict[str, Float32],
    *,
    device: torch.device,
    threads: int,
) -> Forward:
    """As `build`, but the network as it was trained, layer by layer: what `build` is held against.
    Raises ModelError as `build` does."""
    torch.set_num_threads(threads)
    forward = _as_trained(_network(architecture, width, weights), device)
    return try_decoder(architecture, width, forward)


def _network(architecture: Architecture, width: int, weights: dict[str, Float32]) -> nn.Module:
    assert isinstance(architecture.source, TrainedNetwork)
    with torch.device("meta"):
        network = architecture.source.decoder(width)
    expected = {
        name: tuple(tensor.shape)
        for name, tensor in network.state_dict().items()
        if tensor.is_floating_point()
    }
    check_weights(architecture, expected, weights)
    state = {name: _tensor(values) for name, values in weights.items()}
    state |= {
        name: torch.zeros((), dtype=tensor.dtype)
        for name, tensor in network.state_dict().items()
        if not tensor.is_floating_point()
    }
    network.load_state_dict(state, assign=True)
    return network.requires_grad_(False).eval()


def _as_trained(network: nn.Module, device: torch.device) -> Forward:
    network.to(device)

    def compute(z: Float32) -> Float32:
        with torch.inference_mode():
            decoded = network(_tensor(z).to(device)).cpu().numpy()
        return np.asarray(decoded, dtype=np.float32)

    return Forward(compute, "float32, layer by layer", "torch")


def _tensor(values: NDArray[np.floating]) -> Tensor:
    """The array's memory as torch takes it, float32; copied only if it is not so."""
    return torch.from_numpy(np.require(values, np.float32, ["C", "W"]))


class CudaGraph:
    """A network on an NVIDIA card: at batch 1 as a recorded CUDA graph, else as it is.

    A decoder of a dozen small kernels spends its time in launching them. A CUDA graph records the
    launches once, with the memory they read and write, and replays them as one.

    TF32, which keeps 11 bits of every factor, is switched off while the network runs, so that x
    agrees with the CPU's.
    """

    def __init__(self, network: nn.Module, width: int, device: torch.device) -> None:
        self._network = network
        self._lock = threading.Lock()  # the graph's memory serves one decode at a time
        with torch.cuda.device(device), torch.no_grad(), _full_precision():
            self._z = torch.zeros(1, width, device=device)
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(WARM_UPS):
                    network(self._z)
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._x = cast(Tensor, network(self._z))

    def __call__(self, z: Tensor) -> Tensor:
        """x of z, both on the CPU; the result's memory is its own."""
        if len(z) != 1:
            with torch.no_grad(), _full_precision():
                return cast(Tensor, self._network(z.to(self._z.device))).cpu()
        with self._lock:
            self._z.copy_(z)
            self._graph.replay()
            return self._x.cpu()


def _full_precision() -> AbstractContextManager[None]:
    return torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
