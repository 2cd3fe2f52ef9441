"""Heatmaps of four classes of a photo, as grey pictures on the scale of all its classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.split import Float32, Int64
from labapp.explanations import bagnet, gradcam, measuring
from labapp.explanations.building.explainer import (
    Job,
    PhotoExplanation,
    pictures_of,
    random_of,
)
from labapp.explanations.building.selection import options
from labapp.explanations.building.set_photos import photos_of
from labapp.explanations.building.sets import Spec
from labapp.explanations.classifier import Classifier
from labapp.explanations.maps import upsampled
from labapp.explanations.photos import PictureRows, UInt8
from labapp.stimuli.manifest import Prototype
from labapp.stimuli.pictures import png

GRADCAM_PX, BAGNET_PX = 24, 48
"""Width and height of the pictures kept; they are enlarged where they are shown."""


@dataclass(frozen=True, slots=True)
class Maps:
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


class Heatmaps(ABC):
    """Explains a photo by a heatmap for each of four classes."""

    @abstractmethod
    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> Maps:
        """The heatmaps of pictures.

        Parameters
        ----------
        pictures : uint8 array
            Shape (n, 3, size, size).
        scores : float32 array
            What the model says of them, shape (n, classes).
        """

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        return model.predicted(pictures)

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        return np.ones(len(pictures), bool)

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        return ()

    def tree(self, model: Classifier) -> None:
        return None

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[Job], seed: int
    ) -> list[PhotoExplanation]:
        photos = photos_of(model, rows)
        pictures = pictures_of(rows, jobs)
        scores = model.scores(pictures)
        heat = self.maps(model, pictures, scores)
        heatmaps = np.rint(heat.shown * 255).astype(np.uint8)
        stride = pictures.shape[-1] / heat.maps.shape[-1]
        n_photos, n_classes = heat.maps.shape[:2]
        flat = heat.maps.reshape(n_photos * n_classes, *heat.maps.shape[2:])
        peaks = measuring.peaks(flat, stride).reshape(n_photos, n_classes, 2)
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


class Gradcam(Heatmaps):
    """GradCAM: 0 to 1 over all classes of a photo."""

    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> Maps:
        maps = gradcam.gradcam(model, pictures)
        return Maps(maps, upsampled(maps, GRADCAM_PX), maps.max((2, 3)))


class Evidence(Heatmaps):
    """BagNet's evidence: -1 to 1, symmetric about no evidence, at the 99th percentile over all
    classes."""

    def maps(self, model: Classifier, pictures: UInt8, scores: Float32) -> Maps:
        # The authors show the evidence of the patch around every pixel, most of which the model
        # never looks at: in one of eight photos it adds up to most for a class that the model
        # does not predict. So what is shown is what the score is the mean of.
        maps = bagnet.evidence(model, pictures)
        greatest = bagnet.symmetric_range(maps)[:, None, None, None]
        shares = (upsampled(maps, BAGNET_PX) / greatest).clip(-1, 1)
        return Maps(maps, np.asarray(shares / 2 + 0.5, np.float32), scores)


def by_gradcam(spec: Spec) -> Gradcam:
    """Who explains the photos of a set."""
    return Gradcam()


def by_bagnet(spec: Spec) -> Evidence:
    """Who explains the photos of a set."""
    return Evidence()
