"""The decoders of sessions against the same networks layer by layer in torch.

    python benchmarks/decode_ratios.py [--n 1000] [--device cpu] [--threads 1] [--model ID ...]

Measures random weights of every architecture, or the models given, in alternating blocks of one
process, so that whatever else the machine does weighs on both alike: "ratio" is that of the
medians. A busy machine interrupts the slower of two more often and so flatters it; "calm" is the
ratio of the tenth percentiles, where neither was interrupted. 1,000 random states tell how far
apart the pixels are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from labapp.models.representations import card as cards
from labapp.models.representations import cpu_backend, networks, package, torch_backend
from labapp.models.representations.effects import random_states
from labapp.models.representations.recipe import ARCHITECTURES, Architecture, TrainedNetwork
from labapp.models.representations.space import Continuous, LatentSpace
from labapp.models.training import files

Float32 = NDArray[np.float32]
Decode = Callable[[Float32], Float32]

DIMENSIONS = 10
ANY = LatentSpace(tuple(Continuous(f"z{i + 1}", -2.0, 2.0, 0.01) for i in range(DIMENSIONS)))
BLOCK = 25
STATES = 1_000
PEERS_MS = {"dsprites-conv": 2.51, "mnist-conv": 2.16}
"""Medians of the strongest browser peer."""


@dataclass(frozen=True, slots=True)
class Subject:
    name: str
    architecture: Architecture
    space: LatentSpace
    weights: dict[str, Float32]


def subjects(models: list[str]) -> Iterator[Subject]:
    for model in models:
        folder = package.find(model)
        card = cards.read(folder)
        weights = files.read_weights(folder / files.WEIGHTS, card.weights_sha256 or "")
        yield Subject(card.id, card.made_by, card.space, weights)
    if models:
        return
    for name, architecture in ARCHITECTURES.items():
        if isinstance(architecture.source, TrainedNetwork):
            network = architecture.source.decoder(DIMENSIONS)
            networks.initialise(network, torch.Generator().manual_seed(0))
            yield Subject(name, architecture, ANY, torch_backend.weights_of(network))


def milliseconds(decode: Decode, z: Float32) -> float:
    began = time.perf_counter_ns()
    decode(z)
    return (time.perf_counter_ns() - began) / 1e6


def alternating(contenders: list[Decode], batches: list[Float32]) -> list[NDArray[np.float64]]:
    """Times of each contender over the same batches, a block of one after a block of the other."""
    times: list[list[float]] = [[] for _ in contenders]
    for start in range(0, len(batches), BLOCK):
        for decode, into in zip(contenders, times, strict=True):
            into += [milliseconds(decode, z) for z in batches[start : start + BLOCK]]
    return [np.array(row) for row in times]


def loaded(make: Callable[[], Decode]) -> tuple[Decode, float]:
    began = time.perf_counter_ns()
    return make(), (time.perf_counter_ns() - began) / 1e6


def report(subject: Subject, device: torch.device, threads: int, n: int) -> None:
    where = {"device": device, "threads": threads}
    given = (subject.architecture, subject.space.width, subject.weights)
    plain, plain_load = loaded(lambda: torch_backend.plain(*given, **where))
    fast, fast_load = loaded(
        lambda: (
            cpu_backend.build(*given, threads=threads)
            if device.type == "cpu"
            else torch_backend.build(*given, **where)
        )
    )
    times = f"loaded in {fast_load:.0f} ms, plainly in {plain_load:.0f} ms"
    print(f"\n{subject.name} ({fast.engine}); {times}")
    print(f"{'batch':>8}{'plain':>10}{'median':>10}{'p95':>10}{'p99':>10}{'ratio':>8}{'calm':>8}")
    for size, count in ((1, n), (24, max(n // 20, BLOCK)), (35, max(n // 20, BLOCK))):
        z = random_states(subject.space, size * count).reshape(count, size, -1)
        slow, quick = alternating([plain, fast], list(z))
        median, p95, p99 = np.percentile(quick, (50, 95, 99))
        base = float(np.median(slow))
        calm = float(np.percentile(quick, 10) / np.percentile(slow, 10))
        print(
            f"{size:>8}{base:>10.3f}{median:>10.3f}{p95:>10.3f}{p99:>10.3f}"
            f"{median / base:>8.2f}{calm:>8.2f}"
        )
        peer = PEERS_MS.get(subject.architecture.name)
        if size == 1 and peer is not None:
            print(f"         {peer / median:.1f} times as fast as the browser peer's {peer} ms")
    z = random_states(subject.space, STATES + 1)
    expected, decoded = plain(z), fast(z)
    print(f"         pixels differ by at most {np.abs(decoded - expected).max():.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--n", type=int, default=1_000, help="single decodes of each contender")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of torch")
    parser.add_argument("--device", help="cuda, mps or cpu; the first there is by default")
    parser.add_argument("--model", action="append", default=[], help="a package's id or folder")
    asked = parser.parse_args()
    device = torch_backend.choose_device(asked.device)
    print(f"torch {torch.__version__}, {device.type}, {asked.threads} CPU thread(s)")
    for subject in subjects(asked.model):
        report(subject, device, asked.threads, asked.n)


if __name__ == "__main__":
    main()
