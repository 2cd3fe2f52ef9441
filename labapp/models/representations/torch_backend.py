"""Trained decoders in torch; loaded packages import torch through this module alone.

For decoding one z, a second thread costs more than it gains: with two OpenMP threads on a busy
machine the slowest decodes took 30 to 200 ms in place of 2 ms. `build` therefore sets the
*process-wide* number of torch's CPU threads, by default to 1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from labapp.base.errors import ModelError
from labapp.models.representations import fast_decode, folding
from labapp.models.representations.decoders import Forward
from labapp.models.representations.fast_decode import check_weights, tried
from labapp.models.representations.folding import Layer
from labapp.models.representations.networks import described
from labapp.models.representations.recipe import Architecture, TrainedNetwork

Float32 = NDArray[np.float32]

DEVICES = ("cuda", "mps", "cpu")

WARM_UPS = 3
"""Runs before a CUDA graph is recorded: the first ones allocate memory and choose kernels."""


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
            f"{path} does not hold the weights of its card's network: {', '.join(wrong[:3])}.",
            safe="No model was loaded.",
            todo="Take a fresh copy of the package.",
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
    exact: bool = False,
) -> Forward:
    """The decoder of `architecture` with these weights, as a fast function of float32 z. Raises
    ModelError: the weights' names or shapes are not the architecture's, or what comes out is not
    finite or not of the architecture's shape.

    threads : CPU threads of torch, for the whole process.
    exact : keep every weight float32, as the numbers on a card are measured. Otherwise a large
        layer may be read as float16 where that is faster; `Forward.how` says whether it is.
    """
    torch.set_num_threads(threads)
    network = _network(architecture, width, weights)
    layers = None
    if device.type == "cpu" and (modules := described(network)) is not None:
        layers = folding.fold(modules, weights)
    if layers is not None:
        forward = _in_steps(architecture, layers, exact)
    elif device.type == "cuda":
        recorded = CudaGraph(network.to(device), width, device)
        forward = Forward(lambda z: recorded(_tensor(z)).numpy(), "float32, one CUDA graph")
    else:
        forward = _as_trained(network, device)
    return tried(architecture, width, forward)


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
    return tried(architecture, width, forward)


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

    return Forward(compute, "float32, layer by layer")


def _in_steps(architecture: Architecture, layers: list[folding.Layer], exact: bool) -> Forward:
    assert isinstance(architecture.source, TrainedNetwork)
    sigmoid = architecture.source.likelihood == "bernoulli"
    steps, how = fast_decode.steps(layers, TorchKernels(), sigmoid=sigmoid, exact=exact)
    shape = architecture.output_shape

    def compute(z: Float32) -> Float32:
        with torch.inference_mode():
            x = _tensor(z)
            for step in steps:
                x = step(x)
            decoded: Float32 = x.reshape(-1, *shape).numpy()
        return decoded

    return Forward(compute, how)


def _tensor(values: NDArray[np.floating]) -> Tensor:
    """The array's memory as torch takes it, float32; copied only where it is not so."""
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


Step = Callable[[Tensor], Tensor]


class TorchKernels:
    """See `fast_decode.Kernels`."""

    @property
    def has_half(self) -> bool:
        return "fbgemm" in torch.backends.quantized.supported_engines

    def dense(self, layer: Layer) -> Step:
        ordered = layer.channels_last()
        weight, shift = _tensor(ordered.scaled()), _tensor(ordered.shift)
        act, unfold = _activation(layer.slope), _unfold(layer)
        return lambda x: unfold(act(F.linear(x, weight, shift)))

    def half_dense(self, layer: Layer) -> Step:
        ordered = layer.channels_last()
        # The scale stays outside: multiplied in, it would take weights off the float16 grid. It is
        # multiplied and the shift added in two steps, each rounded, as any library rounds them.
        packed = torch.ops.quantized.linear_prepack_fp16(_tensor(ordered.weight), None)
        multiply = torch.ops.quantized.linear_dynamic_fp16.default
        scale = torch.ones(1) if ordered.scale is None else _tensor(ordered.scale)
        shift = _tensor(ordered.shift)
        act, unfold = _activation(layer.slope), _unfold(layer)
        return lambda x: unfold(act(multiply(x, packed).mul_(scale).add_(shift)))

    def deconvolution(self, layer: Layer) -> Step:
        weight = _tensor(layer.scaled()).contiguous(memory_format=torch.channels_last)
        shift, stride, padding = _tensor(layer.shift), layer.stride, layer.padding
        act = _activation(layer.slope)
        return lambda x: act(F.conv_transpose2d(x, weight, shift, stride, padding))

    def overlap_add(self, layer: Layer) -> Step:
        channels, _, size, _ = layer.weight.shape
        blocks = _tensor(layer.scaled()).reshape(channels, size * size).t().contiguous()
        shift, stride, padding = _tensor(layer.shift), layer.stride, layer.padding
        act = _activation(layer.slope)

        def step(x: Tensor) -> Tensor:
            height, width = ((n - 1) * stride - 2 * padding + size for n in x.shape[2:])
            columns = torch.bmm(blocks.expand(len(x), -1, -1), x.flatten(2))
            added = F.fold(columns, (height, width), size, padding=padding, stride=stride)
            return act(added.add_(shift))

        return step

    def sigmoid(self, x: Tensor) -> Tensor:
        return torch.sigmoid_(x)


def _activation(slope: float | None) -> Step:
    if slope is None:
        return lambda x: x
    if slope == 0:
        return torch.relu_
    return lambda x: F.leaky_relu(x, slope, inplace=True)


def _unfold(layer: Layer) -> Step:
    """Output in (height, width, channels) order as a picture of (n, channels, height, width)."""
    if layer.unfold is None:
        return lambda x: x
    channels, height, width = layer.unfold
    return lambda x: x.view(-1, height, width, channels).permute(0, 3, 1, 2)
