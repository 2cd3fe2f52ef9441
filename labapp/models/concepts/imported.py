"""A lab's own concept model: brought in from two files, and run by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.models.concepts import package, training
from labapp.models.concepts.card import (
    CARD,
    CODES,
    ENCODER,
    INTERVENTION,
    PREDICTOR,
    Description,
    ImportedCard,
    ImportRecord,
    pictures,
    read_description,
)
from labapp.models.concepts.learner import PERCENTILES, ConceptModel
from labapp.models.concepts.training import interventions
from labapp.models.datasets.concepts.rows import ConceptRows, part
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.metrics.ois import ois
from labapp.models.representations import onnx_backend
from labapp.models.representations.importing.latents import content_of, graph_of
from labapp.models.representations.package import write_whole
from labapp.models.training import files

TRIED = 100
"""Pictures that are answered in all states of their concepts when a model comes in."""
ENOUGH = 1000
"""Pictures from which on chance adds little to OIS."""
PURE, CHANCE = 0.97, 0.1
"""How sure codes without impurity are of a concept that is there; and the OIS of such codes above
which it is told."""
_ADVICE = (
    "Check the description: size, channels, concepts and classes must match what the encoder "
    "takes, how many codes it gives, and how many scores the predictor gives. Check also that "
    "encoder and predictor are not swapped."
)


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """The two functions of a lab's own model, as a learner that is ready.

    Attributes
    ----------
    encode, predict : float32 (n, ...) -> float32 (n, k), and of these (n, classes).
    """

    encode: Callable[[Float32], Float32]
    predict: Callable[[Float32], Float32]
    logits: bool
    mean: Float32
    std: Float32
    aligned: bool = False
    aligned_as_published: bool = False

    def maps(self, x: Tensor) -> None:
        """None: whether codes sum up maps is not known."""

    def codes(self, x: Tensor, *, as_published: bool = False) -> Tensor:
        pictures = x.contiguous().numpy()
        return torch.from_numpy(self.encode((pictures - self.mean) / self.std))

    def beliefs(self, x: Tensor) -> Tensor:
        codes = self.codes(x)
        return torch.sigmoid(codes) if self.logits else codes

    def task_logits(self, x: Tensor) -> Tensor:
        return self.predict_from(self.codes(x))

    def predict_from(self, codes: Tensor) -> Tensor:
        return torch.from_numpy(self.predict(codes.numpy()))

    def values(self, codes: Float64) -> Float64:
        if not self.logits:
            return np.tile([0.0, 1.0], (codes.shape[1], 1))
        return np.percentile(codes, PERCENTILES, axis=0).T.copy()


def graphs(encoder: bytes, predictor: bytes, description: Description, name: str) -> Graphs:
    """The functions of two ONNX graphs. name: for messages. Raises ModelError: ONNX Runtime is
    missing, or a graph does not take or give what the description says."""
    shape = (description.channels, description.size, description.size)
    codes, classes = (len(description.concepts),), (len(description.classes),)
    mean, std = (
        np.array(values, np.float32).reshape(-1, 1, 1)
        for values in (description.mean, description.std)
    )
    return Graphs(
        onnx_backend.graph(encoder, f"{name}, {ENCODER}", shape, codes, todo=_ADVICE),
        onnx_backend.graph(predictor, f"{name}, {PREDICTOR}", codes, classes, todo=_ADVICE),
        description.codes == "logits",
        mean,
        std,
    )


def load(folder: Path, card: ImportedCard, values: Float64) -> ConceptModel:
    """The model of a package. Raises ModelError: a graph is damaged, or ONNX Runtime is missing."""
    description = card.description
    encoder = files.read_checked(folder / ENCODER, card.encoder_sha256)
    predictor = files.read_checked(folder / PREDICTOR, card.predictor_sha256)
    return ConceptModel(graphs(encoder, predictor, description, card.id), values, card)


def import_model(path: Path, *, out: Path | None = None, trusted: bool = False) -> Path:
    """Bring in the model that a description names, try it on its test pictures and write a package.
    Raises ModelError: the description or a file is refused, codes that are called probabilities are
    none, or the package exists; DatasetError: the pictures are refused.

    Parameters
    ----------
    out : where `<id>/` is written; the user's models folder by default.
    trusted : open files that are programs though they cannot be shut in.

    Returns
    -------
    The package's folder. The pictures stay where they are; commands that need them are given the
    description again.
    """
    description = read_description(path)
    folder = (resources.user_models() if out is None else out) / description.id
    package.refuse_existing(folder)
    own = pictures(description, path)
    shape = (description.channels, description.size, description.size)
    codes, classes = (len(description.concepts),), (len(description.classes),)
    contents = {
        ENCODER: _graph(path, description, description.encoder, shape, codes, trusted),
        PREDICTOR: _graph(path, description, description.predictor, codes, classes, trusted),
    }
    runs = graphs(contents[ENCODER], contents[PREDICTOR], description, description.id)
    model = ConceptModel(runs)
    rows = own.data.split.test
    computed = model.codes(rows)
    if not runs.logits and not (computed.min() >= 0 and computed.max() <= 1):
        raise ModelError(
            f"The codes of {path} are called probabilities, but range from {computed.min():.2f} "
            f"to {computed.max():.2f}.",
            todo="Write `codes: logits` in the description, or end the encoder with a sigmoid.",
        )
    scores = model.predict_from(computed)
    if scores is not None and (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1, atol=1e-3):
        raise ModelError(
            f"The scores of {description.predictor} are already probabilities: for every picture "
            "they add up to 1. labapp applies a softmax to scores, so it would be applied twice.",
            todo="Export the predictor without its last softmax.",
        )
    model.values = runs.values(computed)
    _try_all_states(model, rows)
    measured = training.measure(model, own.data, None)
    contents |= {
        CODES: files.pack_arrays(measured.codes),
        INTERVENTION: files.pack_arrays(measured.curves),
    }
    card = ImportedCard(
        card=1,
        description=description,
        imported=ImportRecord(
            encoder_sha256=files.digest(content_of(path.parent / description.encoder)),
            predictor_sha256=files.digest(content_of(path.parent / description.predictor)),
            pictures=len(rows),
            pictures_sha256=own.sha256,
            remarks=(
                *own.remarks,
                *_chance(measured.test.task, rows.labels_of),
                *_few(rows.concepts_of),
            ),
        ),
        test=measured.test,
        scores=measured.scores,
        encoder_sha256=files.digest(contents[ENCODER]),
        predictor_sha256=files.digest(contents[PREDICTOR]),
        codes_sha256=files.digest(contents[CODES]),
        intervention_sha256=files.digest(contents[INTERVENTION]),
    )
    return write_whole(folder, contents, CARD, card)


def _try_all_states(model: ConceptModel, rows: ConceptRows) -> None:
    """Have the model answer in every state of its concepts, to pictures from the whole table, so
    that what `stimuli` would meet is met here. Raises ModelError: it makes NaN."""
    tried = np.unique(np.linspace(0, len(rows) - 1, TRIED).astype(np.int64))
    interventions(model, part(rows, tried)).answers()


def _few(concepts: Int64) -> Iterator[str]:
    """A remark if the pictures are so few that even codes without impurity, which tell their own
    concept almost surely and nothing else, would have OIS. concepts: 0 or 1, shape (n, k)."""
    if len(concepts) >= ENOUGH:
        return
    truth = concepts.astype(np.float64)
    pure = np.where(concepts == 1, PURE, 1 - PURE)
    by_chance = float(np.mean([ois(pure, truth, seed=seed).score for seed in range(3)]))
    if by_chance > CHANCE:
        yield (
            f"With only {len(concepts)} pictures, much of OIS is chance: codes without any "
            f"impurity would have about {by_chance:.2f}. Give more test pictures, {ENOUGH:,} or "
            "more, before you use it to compare models."
        )


def _chance(right: float | None, labels: Int64) -> Iterator[str]:
    """A remark if a model is right less often than the class that most pictures have."""
    most = round(float(np.bincount(labels).max()) / len(labels), training.DIGITS)
    if right is not None and right < most:
        yield (
            f"The class is right for {100 * right:.0f} % of the pictures; always answering with "
            f"the most frequent class would be right for {100 * most:.0f} %. Check that "
            "`classes` are in the order of the predictor's scores."
        )


def _graph(
    path: Path,
    description: Description,
    name: str,
    given: tuple[int, ...],
    made: tuple[int, ...],
    trusted: bool,
) -> bytes:
    file = path.parent / name
    return graph_of(file, description.format, given, made, todo=_ADVICE, trusted=trusted)
