"""Trained decoders on the CPU without importing torch, for windows that show recorded pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from labapp.representations import fast_decode, folding
from labapp.representations.architectures import Architecture, TrainedNetwork
from labapp.representations.decoders import Forward
from labapp.representations.native_kernels import NativeKernels, NotNative, library

Float32 = NDArray[np.float32]


def build(
    architecture: Architecture,
    width: int,
    weights: Mapping[str, Float32],
    *,
    threads: int,
    exact: bool = False,
) -> Forward | None:
    """As `torch_backend.build` on the CPU, to the same bits.

    None where it cannot be done without torch: of a network that does not say what it is made of,
    or with a library or a processor that lacks a part of what is called.

    Raises ModelError as `torch_backend.build` does.
    """
    source = architecture.source
    if not isinstance(source, TrainedNetwork) or source.parts is None:
        return None
    parts = source.parts(width)
    fast_decode.check_weights(architecture, folding.shapes(parts), weights)
    layers = folding.fold(folding.named(parts), weights)
    if layers is None:
        return None
    sigmoid = source.likelihood == "bernoulli"
    shape = architecture.output_shape
    try:
        torch = library()
        torch.set_threads(threads)
        with torch.quiet():
            steps, how = fast_decode.steps(
                layers, NativeKernels(torch), sigmoid=sigmoid, exact=exact
            )

            def compute(z: Float32) -> Float32:
                if not len(z):
                    return np.empty((0, *shape), np.float32)
                x = torch.tensor(np.ascontiguousarray(z))
                for step in steps:
                    x = step(x)
                return x.values.reshape(-1, *shape).copy()

            return fast_decode.tried(architecture, width, Forward(compute, how))
    except NotNative:
        return None
