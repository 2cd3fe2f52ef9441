"""Joint concept bottleneck models of paper 001, A.6, on dSprites(lambda): their concept codes.

    python benchmarks/concept_bottlenecks.py --out codes.npz [--epochs 100] [--seeds 1]

The concept encoder is a network of four convolutions (8, 16, 32, 64 maps, each with batch
normalisation, ReLU and pooling) and layers of 64, 64 and k; the label predictor has layers of 64,
64, 64 and as many as there are classes. Loss: cross-entropy of the class plus 10 times that of the
concepts; Adam, 1e-3, batches of 32, 100 epochs in the paper. "sigmoid" passes probabilities of
concepts on, "logits" their logits.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labapp.datasets.concepts.rows import ConceptRows, ConceptSplit
from labapp.datasets.concepts.sprites import sprites

KINDS = ("sigmoid", "logits")
BATCH, RATE, WEIGHT = 32, 1e-3, 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """`codes` float64, shape (n, k): what the bottleneck holds for the test pictures."""

    codes: NDArray[np.float64]
    concept_accuracy: float
    task_accuracy: float


def encoder(concepts: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    maps = (1, 8, 16, 32, 64)
    for before, after in pairwise(maps):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        layers += [nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(64 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(64, concepts))


def predictor(concepts: int, classes: int) -> nn.Sequential:
    widths = (concepts, 64, 64, 64)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(64, classes))


def train(split: ConceptSplit, kind: str, *, epochs: int, seed: int) -> Trained:
    torch.manual_seed(seed)
    k = split.test.concepts_of.shape[1]
    encode, predict = encoder(k), predictor(k, split.classes)
    x, concepts, labels = tensors(split.train)
    optimiser = torch.optim.Adam([*encode.parameters(), *predict.parameters()], lr=RATE)
    for epoch in range(epochs):
        began, total = time.perf_counter(), 0.0
        for rows in torch.randperm(len(x)).split(BATCH):
            logits = encode(x[rows].float())
            loss = functional.cross_entropy(predict(bottleneck(logits, kind)), labels[rows])
            loss = loss + WEIGHT * functional.binary_cross_entropy_with_logits(
                logits, concepts[rows]
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(rows)
        seconds = time.perf_counter() - began
        print(f"{kind}, epoch {epoch + 1}: {total / len(x):.4f} ({seconds:.0f} s)", flush=True)
    return tested(split.test, encode, predict, kind)


def tested(rows: ConceptRows, encode: nn.Module, predict: nn.Module, kind: str) -> Trained:
    x, concepts, labels = tensors(rows)
    encode.eval()
    predict.eval()
    with torch.inference_mode():
        logits = torch.cat([encode(part.float()) for part in x.split(1_024)])
        codes = bottleneck(logits, kind)
        right = (predict(codes).argmax(dim=1) == labels).double().mean()
    return Trained(
        codes.double().numpy(),
        float(((logits > 0) == (concepts > 0.5)).double().mean()),
        float(right),
    )


def codes(
    correlations: int, epochs: int, seeds: int, official: Path | None = None
) -> dict[str, NDArray[np.float64]]:
    """Of both kinds and all seeds: "sigmoid-0" and so on (n, k), "sigmoid-0-accuracy" (of concepts,
    of the task), "concepts" (n, k), "epochs" and "rendered", 1 where labapp drew the pictures."""
    split = sprites(correlations, official=official)
    arrays = {
        "concepts": split.test.concepts_of.astype(np.float64),
        "epochs": np.array(float(epochs)),
        "rendered": np.array(float(split.origin == "rendered")),
    }
    for seed in range(seeds):
        for kind in KINDS:
            found = train(split, kind, epochs=epochs, seed=seed)
            accuracy = (found.concept_accuracy, found.task_accuracy)
            arrays[f"{kind}-{seed}"] = found.codes
            arrays[f"{kind}-{seed}-accuracy"] = np.array(accuracy)
            print(
                f"{kind}, seed {seed}: concepts {accuracy[0]:.4f}, task {accuracy[1]:.4f} of the "
                "test pictures"
            )
    return arrays


def bottleneck(logits: Tensor, kind: str) -> Tensor:
    return torch.sigmoid(logits) if kind == "sigmoid" else logits


def tensors(rows: ConceptRows) -> tuple[Tensor, Tensor, Tensor]:
    """Pictures uint8 (n, 1, 64, 64), concepts float32 (n, k), labels int64 (n,)."""
    every = np.arange(len(rows))
    x = torch.empty((len(rows), 1, 64, 64), dtype=torch.uint8)
    for part in np.array_split(every, max(1, len(rows) // 1_000)):
        x[part, 0] = torch.from_numpy(rows.instances(part)).to(torch.uint8)
    concepts = torch.from_numpy(rows.concepts(every)).float()
    return x, concepts, torch.from_numpy(rows.labels(every))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, help="the npz file to write")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--correlations", type=int, default=0, help="lambda, 0 to 4")
    parser.add_argument("--official", type=Path, help="the authors' file of dSprites")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of torch")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    arrays = codes(asked.correlations, asked.epochs, asked.seeds, asked.official)
    np.savez_compressed(asked.out, **arrays)


if __name__ == "__main__":
    main()
