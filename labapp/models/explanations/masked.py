"""What the explained model predicts for masked pictures (paper 004, section 4).

The model is given the pixels that people see, reduced to its size by the mean of whole blocks.
torch is imported only for a model that is no small convolutional network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.models.datasets.painter import average_blocks
from labapp.models.explanations import cnn_scores, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.data import ids_of
from labapp.models.explanations.package import CARD, WEIGHTS, ClassifierCard
from labapp.models.stimuli import masked_pictures
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking, find_recorded_outputs
from labapp.models.training import files

UInt8 = NDArray[np.uint8]
Scores = Callable[[UInt8], NDArray[np.float32]]
"""Of pictures, uint8 (n, channels, size, size): scores of the classes, (n, classes)."""

DIGITS = 4
"""Decimals of a logit, as manifests have them: machines differ in what comes after."""


def outputs(
    stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
) -> Sequence[Logits]:
    """Logits of the set's model for a photo masked by a method's scores, in the order of the
    classes, for each percentage of the masking.

    If the set names no model, or a model that is not installed, the outputs that the set itself
    states for its masked photos, if it does. Raises StimuliError: the model is another one than the
    set was made with, has other classes, or cannot take the pictures; a file of the set is missing
    or damaged. ModelError: the model's package is damaged.
    """
    if (folder := _model_of(stimulus_set)) is None:
        return find_recorded_outputs(stimulus_set, masking, photo, method)
    model = tuple((folder / file).stat().st_mtime_ns for file in (CARD, WEIGHTS))
    files = masked_pictures.file_stamps(stimulus_set, photo, method)
    return _logits(
        _Query(stimulus_set.sha256, files, masking, photo.id, method, folder, model, stimulus_set)
    )


def has_model(stimulus_set: StimulusSet) -> bool:
    """Whether the set names a model that is installed."""
    return _model_of(stimulus_set) is not None


def refuse_another(stimulus_set: StimulusSet) -> None:
    """Raises StimuliError if the installed model is not the one that the set was made with, by its
    card alone, without loading it. ModelError: the card is damaged."""
    if (folder := _model_of(stimulus_set)) is not None:
        _refuse_another(stimulus_set, cards.read(folder))


def _model_of(stimulus_set: StimulusSet) -> Path | None:
    """The package of the set's model; None if it names none, or one that is not installed."""
    name = stimulus_set.manifest.method.classifier
    return package.find(name) if name is not None and name in package.list_packages() else None


@dataclass(frozen=True, slots=True)
class _Query:
    """What the logits depend on: a key of the cache, and the set. `files`, `written`: when the
    files that are masked, and the model, were last written."""

    manifest_sha256: str
    files: tuple[object, ...]
    masking: Masking
    photo: str
    method: str
    model: Path
    written: tuple[int, ...]
    stimulus_set: StimulusSet = field(compare=False)


@lru_cache(maxsize=1024)
def _logits(question: _Query) -> tuple[Logits, ...]:
    stimulus_set, masking = question.stimulus_set, question.masking
    card, scores = _load_cached(question.model, question.written)
    _refuse_another(stimulus_set, card)
    pictures = [
        masked_pictures.picture(
            stimulus_set,
            MaskedRef(
                stimulus_set.id,
                question.photo,
                question.method,
                masking.fill,
                masking.sign,
                percent,
            ),
        )
        for percent in masking.percents
    ]
    seen = np.stack([model_input(picture, card) for picture in pictures])
    return tuple(tuple(round(float(logit), DIGITS) for logit in logits) for logits in scores(seen))


@lru_cache(maxsize=4)
def _load_cached(folder: Path, written: tuple[int, ...]) -> tuple[ClassifierCard, Scores]:
    card = cards.read(folder)
    data = card.recipe.data
    if card.recipe.method.name != "cnn":
        return card, package.load(folder).scores
    weights = files.read_weights(folder / WEIGHTS, card.weights_sha256)
    if not cnn_scores.fits(weights, data.channels, len(data.names)):
        return card, package.load(folder).scores  # which says what is wrong with them
    return card, partial(cnn_scores.scores, weights)


def _refuse_another(stimulus_set: StimulusSet, card: ClassifierCard) -> None:
    """Raises StimuliError if the set is not about this model as it is."""
    manifest = stimulus_set.manifest
    if manifest.method.sha256 not in (None, card.weights_sha256):
        raise StimuliError(
            f"The stimulus set {stimulus_set.id} was made with a different {card.id} than the "
            "installed one: the weights differ.",
            todo="Restore the model it was made with, or build the set again.",
        )
    classes, told = tuple(class_.id for class_ in manifest.classes), ids_of(card.recipe.data.names)
    if classes != told:
        raise StimuliError(
            f"The stimulus set {stimulus_set.id} has the classes {', '.join(classes)}, but "
            f"{card.id} distinguishes {', '.join(told)}.",
            todo="In method.classifier, name the model with which the set was made, or none.",
        )


def model_input(picture: UInt8, card: ClassifierCard) -> UInt8:
    """A picture as the model takes it: uint8, shape (channels, size, size). Raises StimuliError: it
    is not square, no whole multiple of the model's size, or in colour if the model sees grey.
    `picture`: uint8, shape (height, width) or (height, width, 3)."""
    size, channels = card.recipe.data.size, card.recipe.data.channels
    height, width = picture.shape[:2]
    if height != width or height % size or (picture.ndim == 3 and channels == 1):
        kind = "grey" if picture.ndim == 2 else "coloured"
        wanted = "grey" if channels == 1 else "grey or coloured"
        raise StimuliError(
            f"{card.id} cannot take a {kind} picture of {width} × {height} pixels.",
            todo=f"Its pictures are {wanted}, {size} × {size} or a whole multiple of that.",
        )
    planes = picture[None] if picture.ndim == 2 else picture.transpose(2, 0, 1)
    if len(planes) < channels:
        planes = planes.repeat(channels, 0)
    return np.asarray(average_blocks(planes[None], size)[0])
