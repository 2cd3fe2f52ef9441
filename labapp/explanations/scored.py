"""Methods that give every pixel a score, and classes, by name. Nothing here needs torch before
pixels are scored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import Int64
from labapp.discovery import load
from labapp.errors import ModelError
from labapp.explanations.methods import METHODS

if TYPE_CHECKING:
    from labapp.explanations.classifier import Classifier
    from labapp.explanations.photos import UInt8

SCORINGS = ("gradient", "guided_backprop", "lrp")
"""The methods of paper 004."""


def scorings() -> tuple[str, ...]:
    """The methods that score pixels, those of packages too."""
    return tuple(name for name, method in METHODS.items() if method.scores)


def score_pixels(
    method: str, classifier: Classifier, pictures: UInt8, classes: Int64
) -> NDArray[np.float32]:
    """What a method gives the pixels of pictures, see `ExplanationMethod.scores`.

    Raises ModelError where it cannot explain the classifier, or gives what are no scores.
    """
    scores = np.asarray(load(METHODS[method].scores)(classifier, pictures, classes))
    shape = (len(pictures), *pictures.shape[-2:])
    if scores.shape != shape or scores.dtype.kind not in "fiu" or not np.isfinite(scores).all():
        raise ModelError(
            f"The method {method!r} of {METHODS.package(method)} gives no score for each pixel of "
            f"{classifier.card.id}: {scores.dtype} of shape {scores.shape} for {shape}.",
            todo="Ask the authors of the package to mend it.",
        )
    return scores.astype(np.float32)


def ids_of(names: Sequence[str]) -> tuple[str, ...]:
    """What the classes of a model are called in manifests and tables: `Anger (CK+)` is anger-ck."""
    plain = [_plain(name) for name in names]
    return tuple(
        id_ if id_ and plain.count(id_) == 1 else f"class-{n}" for n, id_ in enumerate(plain, 1)
    )


def _plain(name: str) -> str:
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.]+", "-", ascii_).strip("-._").lower()[:100]
