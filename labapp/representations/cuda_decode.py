"""Decoding one z on an NVIDIA card: the whole network as one launch.

A decoder of a dozen small kernels spends its time in launching them, not in running them. A CUDA
graph records the launches once, with the memory they read and write, and replays them as one.
Batches are large enough to go the ordinary way.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import cast

import torch
from torch import Tensor, nn

WARM_UPS = 3
"""Runs before recording: libraries choose kernels and allocate during the first ones."""


def _full_precision() -> AbstractContextManager[None]:
    return torch.backends.cudnn.flags(enabled=True, allow_tf32=False)


class OneByOne:
    """`network` at batch 1 as a recorded graph, and at any other batch as it is.

    TF32, which keeps 11 bits of every factor, is switched off while the network runs: x agrees
    with the CPU's.
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
