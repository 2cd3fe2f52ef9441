"""Joint concept bottleneck models of paper 001, A.6, on dSprites(lambda): their concept codes.

    python -m benchmarks.concept_bottlenecks --out codes.npz [--epochs 100] [--seeds 5]
        [--keep FOLDER]

The concept encoder is a network of four convolutions (8, 16, 32, 64 maps, each with batch
normalisation, ReLU and pooling) and layers of 64, 64 and k; the label predictor has two hidden
layers, 64 and 64: the paper's {k, 64, 64, L} names input and output, and so has the released code.
Until November 2026 it had three here; what was made of those models says so. Loss: cross-entropy of
the class plus 10 times that of the concepts; Adam, 1e-3, batches of 32, 100 epochs in
the paper. "sigmoid" passes probabilities of concepts on, "logits" their logits.

An epoch of a model takes 20 s and more. With `--keep`, every epoch is kept: a run that was broken
off, or one of more epochs or seeds, goes on from there and ends as one run would have.
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
HIDDEN = (64, 64)
"""Units of the label predictor's hidden layers."""
STATES = ("encode", "predict", "optimiser")
"""The parts of a model that are kept, beside the order of the rows and the number of epochs."""

Pictures = tuple[Tensor, Tensor, Tensor]
"""Pictures uint8 (n, 1, 64, 64), concepts float32 (n, k), labels int64 (n,)."""


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
    widths = (concepts, *HIDDEN)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(HIDDEN[-1], classes))


class Model:
    """A model in training: `kind` of `KINDS`, for k concepts and so many classes."""

    def __init__(self, kind: str, concepts: int, classes: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.kind = kind
        # The same numbers but for rounding, in half of the time.
        self.encode = encoder(concepts).to(memory_format=torch.channels_last)
        self.predict = predictor(concepts, classes)
        parameters = [*self.encode.parameters(), *self.predict.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=RATE)
        self.order = torch.Generator().manual_seed(seed)
        self.epochs = 0

    def epoch(self, pictures: Pictures) -> float:
        """One more; the mean loss."""
        x, concepts, labels = pictures
        total = 0.0
        self.encode.train()
        for rows in torch.randperm(len(x), generator=self.order).split(BATCH):
            logits = self.encode(floats(x[rows]))
            outputs = self.predict(bottleneck(logits, self.kind))
            loss = functional.cross_entropy(outputs, labels[rows])
            loss = loss + WEIGHT * functional.binary_cross_entropy_with_logits(
                logits, concepts[rows]
            )
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            total += float(loss.detach()) * len(rows)
        self.epochs += 1
        return total / len(x)

    def tested(self, pictures: Pictures) -> Trained:
        x, concepts, labels = pictures
        self.encode.eval()
        self.predict.eval()
        with torch.inference_mode():
            logits = torch.cat([self.encode(floats(part)) for part in x.split(1_024)])
            codes = bottleneck(logits, self.kind)
            right = (self.predict(codes).argmax(dim=1) == labels).double().mean()
        return Trained(
            codes.double().numpy(),
            float(((logits > 0) == (concepts > 0.5)).double().mean()),
            float(right),
        )

    def save(self, path: Path) -> None:
        state = {name: getattr(self, name).state_dict() for name in STATES}
        new = path.with_suffix(".new")
        torch.save({**state, "order": self.order.get_state(), "epochs": self.epochs}, new)
        new.replace(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=True)
        for name in STATES:
            getattr(self, name).load_state_dict(state[name])
        self.order.set_state(state["order"])
        self.epochs = state["epochs"]


def train(
    split: ConceptSplit, pictures: Pictures, kind: str, *, epochs: int, seed: int, keep: Path | None
) -> Model:
    model = Model(kind, split.test.concepts_of.shape[1], split.classes, seed)
    kept = keep / f"{kind}-{seed}.pt" if keep else None
    if kept and kept.exists():
        model.load(kept)
    while model.epochs < epochs:
        began = time.perf_counter()
        loss = model.epoch(pictures)
        if kept:
            model.save(kept)
        seconds = time.perf_counter() - began
        print(f"{kind}-{seed}, epoch {model.epochs}: {loss:.4f} ({seconds:.0f} s)", flush=True)
    return model


def codes(
    correlations: int,
    epochs: int,
    seeds: int,
    official: Path | None = None,
    keep: Path | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Of both kinds and all seeds: "sigmoid-0" and so on (n, k), "sigmoid-0-accuracy" (of concepts,
    of the task), "sigmoid-0-epochs"; "concepts" (n, k), and "rendered", 1 where labapp drew the
    pictures; "hidden", the units of the predictor's hidden layers. `keep`: a folder of what was
    trained up to now."""
    split = sprites(correlations, official=official)
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    arrays = {
        "concepts": split.test.concepts_of.astype(np.float64),
        "rendered": np.array(float(split.origin == "rendered")),
        "hidden": np.array(HIDDEN, dtype=np.float64),
    }
    learnt, held = tensors(split.train), tensors(split.test)
    for seed in range(seeds):
        for kind in KINDS:
            model = train(split, learnt, kind, epochs=epochs, seed=seed, keep=keep)
            found = model.tested(held)
            accuracy = (found.concept_accuracy, found.task_accuracy)
            arrays[f"{kind}-{seed}"] = found.codes
            arrays[f"{kind}-{seed}-accuracy"] = np.array(accuracy)
            arrays[f"{kind}-{seed}-epochs"] = np.array(float(model.epochs))
            print(
                f"{kind}-{seed}: concepts {accuracy[0]:.4f}, task {accuracy[1]:.4f} of the test "
                "pictures",
                flush=True,
            )
    return arrays


def bottleneck(logits: Tensor, kind: str) -> Tensor:
    return torch.sigmoid(logits) if kind == "sigmoid" else logits


def floats(pictures: Tensor) -> Tensor:
    return pictures.float().to(memory_format=torch.channels_last)


def tensors(rows: ConceptRows) -> Pictures:
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
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--correlations", type=int, default=0, help="lambda, 0 to 4")
    parser.add_argument("--keep", type=Path, help="a folder of this task's models; go on from it")
    parser.add_argument("--official", type=Path, help="the authors' file of dSprites")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of torch")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    arrays = codes(asked.correlations, asked.epochs, asked.seeds, asked.official, asked.keep)
    np.savez_compressed(asked.out, **arrays)


if __name__ == "__main__":
    main()
