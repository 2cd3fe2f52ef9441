"""ONNX Runtime beside torch: the same networks, one decode at a time, in alternating blocks of one
process, and decoders as labs import them, which only ONNX Runtime computes.

    python benchmarks/decode_backends.py [--n 1000] [--model ID ...] [--device cpu|cuda]

"torch" is the path of sessions (`fast_decode`, on CUDA a recorded graph), whose large layers may
have float16 weights; "ratio" is ONNX Runtime's median over torch's. Neither is chosen by such a
measurement: what computes a model stands on its card.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.decode_ratios import Subject, alternating, subjects
from benchmarks.onnx_decoders import write
from benchmarks.slider_path import OWN
from labapp.base.errors import ModelError
from labapp.models.representations import onnx_backend, package, torch_backend
from labapp.models.representations.decoders import Forward
from labapp.models.representations.effects import random_states, warm_up
from labapp.models.representations.recipe import TrainedNetwork

STATES = 200


def exported(subject: Subject) -> bytes:
    """The network as an ONNX graph."""
    source = subject.architecture.source
    assert isinstance(source, TrainedNetwork)
    network: nn.Module = source.decoder(subject.space.width)
    state = {name: torch.from_numpy(values) for name, values in subject.weights.items()}
    network.load_state_dict(state, strict=False)  # counters of batches are not among the weights
    width = subject.space.width
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / "decoder.onnx"
        torch.onnx.export(
            network.eval(),
            (torch.zeros(1, width),),
            str(file),
            input_names=["z"],
            output_names=["x"],
            dynamic_axes={"z": {0: "n"}, "x": {0: "n"}},
            dynamo=False,
        )
        return file.read_bytes()


def report(subject: Subject, device: torch.device, n: int) -> None:
    given = (subject.architecture, subject.space.width)
    fast = torch_backend.build(*given, subject.weights, device=device, threads=1)
    where = {"device": device.type, "threads": 1, "model": subject.name}
    graph: Forward = onnx_backend.build(*given, exported(subject), **where)
    z = random_states(subject.space, n)[:, None]
    ours, theirs = alternating([fast, graph], list(z))
    (median, p99), (other, other99) = (np.percentile(row, (50, 99)) for row in (ours, theirs))
    some = random_states(subject.space, STATES)
    plain = torch_backend.plain(*given, subject.weights, device=device, threads=1)
    apart = np.abs(graph(some) - plain(some)).max()
    print(
        f"{subject.name:22}{median:10.3f}{p99:10.3f}{other:10.3f}{other99:10.3f}"
        f"{other / median:8.2f}{apart:14.1e}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--n", type=int, default=1_000, help="single decodes of each")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--model", action="append", default=[], help="a shipped model's id")
    asked = parser.parse_args()
    try:
        device = torch_backend.choose_device(asked.device)
        onnx_backend.choose_device(asked.device)
    except ModelError as error:
        print(f"skipped: {error.what}")
        return 0
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"torch {torch.__version__}, {device.type}, 1 CPU thread, {load}")
    print(f"{'':22}{'torch':>10}{'p99':>10}{'onnx':>10}{'p99':>10}{'ratio':>8}{'x apart':>14}   ms")
    for subject in subjects(asked.model):
        report(subject, device, asked.n)
    if not asked.model:
        with tempfile.TemporaryDirectory() as folder:
            for title, model, shape in OWN:
                decoder = package.load_package(write(Path(folder), model, shape), device.type)
                times = warm_up(decoder, asked.n)
                print(f"{title:22}{'':20}{times.median_ms:10.3f}{times.p99_ms:10.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
