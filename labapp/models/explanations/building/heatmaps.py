"""Heatmaps of four classes of a photo, as grey pictures on the scale of all its classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.birds import SIZE
from labapp.models.datasets.split import Float32, Int64
from labapp.models.explanations import bagnet, evaluation, resnet
from labapp.models.explanations.building.sets import (
    ExplanationJob,
    PhotoExplanation,
    Spec,
    options,
    photos_of,
    pictures_of,
    random_of,
)
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import PictureRows, UInt8
from labapp.models.stimuli.manifest import Prototype
from labapp.models.stimuli.pictures import png

GRADCAM_PX, BAGNET_PX = 24, 48
"""Width and height of the stored pictures, which are enlarged when they are shown."""


@dataclass(frozen=True, slots=True)
class ClassMaps:
    """Heatmaps of all classes of some photos.

    Attributes
    ----------
    maps : float32 array
        As the method has them, shape (n, classes, rows, columns).
    shown : float32 array
        From 0, black, to 1, white, on one scale for all classes of a photo; of the same shape, but
        for rows and columns, which may be more.
    strengths : float32 array
        How much each shows, as somebody would read it who follows it, shape (n, classes).
    """

    maps: Float32
    shown: Float32
    strengths: Float32


class HeatmapExplainer(ABC):
    """Explains a photo by a heatmap for each of four classes."""

    @abstractmethod
    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> ClassMaps:
        """The heatmaps of pictures. `pictures`: shape (n, 3, size, size). `scores`: what the model
        says of them, shape (n, classes)."""

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        return model.predicted(pictures)

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        return np.ones(len(pictures), bool)

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        return ()

    def tree(self, model: Classifier) -> None:
        return None

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        photos = photos_of(model, rows)
        pictures = pictures_of(rows, jobs)
        scores = model.scores(pictures)
        heat = self.maps(model, pictures, scores)
        heatmaps = np.rint(heat.shown * 255).astype(np.uint8)
        stride = pictures.shape[-1] / heat.maps.shape[-1]
        n_photos, n_classes = heat.maps.shape[:2]
        flat = heat.maps.reshape(n_photos * n_classes, *heat.maps.shape[2:])
        peaks = evaluation.peaks(flat, stride).reshape(n_photos, n_classes, 2)
        explained = []
        for n, job in enumerate(jobs):
            chosen = options(scores[n].tolist(), job.candidate.truth, random=random_of(seed, job))
            names = [f"{job.id}-{place}.png" for place in range(1, len(chosen) + 1)]
            own = peaks[n, job.candidate.prediction]
            fields = {
                "options": tuple(photos.ids[class_] for class_ in chosen),
                "heatmaps": tuple(names),
                "logits": tuple(round(float(scores[n, k]), 3) for k in chosen),
                "strengths": tuple(round(float(heat.strengths[n, k]), 3) for k in chosen),
                "facts": photos.pointing(own, job.candidate.row),
            }
            files = {name: png(heatmaps[n, k]) for name, k in zip(names, chosen, strict=True)}
            explained.append(PhotoExplanation(fields, files))
        return explained


class GradcamExplainer(HeatmapExplainer):
    """GradCAM: 0 to 1 over all classes of a photo."""

    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> ClassMaps:
        maps = resnet.gradcam(model, pictures)
        return ClassMaps(maps, upsample(maps, GRADCAM_PX), maps.max((2, 3)))


class EvidenceExplainer(HeatmapExplainer):
    """BagNet's evidence: -1 to 1 about no evidence, at the 99th percentile over all classes."""

    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> ClassMaps:
        # The authors show the evidence of the patch around every pixel, but the model uses few of
        # these patches: in one of eight photos their sum is greatest for a class that the model
        # does not predict. So the positions of the map are shown, whose mean is the score.
        maps = bagnet.evidence(model, pictures)
        greatest = bagnet.symmetric_range(maps)[:, None, None, None]
        shares = (upsample(maps, BAGNET_PX) / greatest).clip(-1, 1)
        return ClassMaps(maps, np.asarray(shares / 2 + 0.5, np.float32), scores)


def by_gradcam(spec: Spec) -> GradcamExplainer:
    return GradcamExplainer()


def by_bagnet(spec: Spec) -> EvidenceExplainer:
    return EvidenceExplainer()


def upsample(maps: Float32, size: int, pixels: int = SIZE) -> Float32:
    """Maps at every pixel of a picture that is shown in `size` pixels, linearly in between.

    A network's map has one position for each `stride` pixels of what it sees, and position i looks
    at the surroundings of pixel i * stride, not of the middle of an i-th cell: it is put there.

    Parameters
    ----------
    maps : float32, shape (n, classes, h, w).
    pixels : width and height of what the network saw.

    Returns
    -------
    float32, shape (n, classes, size, size).
    """
    rows, columns = (_weights(size, pixels, positions) for positions in maps.shape[-2:])
    return np.asarray(rows @ maps @ columns.T, np.float32)


def _weights(size: int, pixels: int, positions: int) -> Float32:
    """How much each pixel shown takes from each position: (size, positions), rows sum to 1."""
    stride = pixels / positions
    middle = (np.arange(size) + 0.5) * pixels / size - 0.5
    place = (middle / stride).clip(0, positions - 1)
    low = np.floor(place).astype(int).clip(0, max(positions - 2, 0))
    share = place - low
    weights = np.zeros((size, positions), np.float32)
    weights[np.arange(size), low] = 1 - share
    weights[np.arange(size), np.minimum(low + 1, positions - 1)] += share
    return weights
