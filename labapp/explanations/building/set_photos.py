"""What a data set says of its pictures to whoever builds a stimulus set of them.

Which photos are chosen follows from this: which classes are alike, which mistakes are, and what of
a photo can be seen. Of pictures that say nothing of it, such as a lab's own, each class stands for
itself and each mistake for the class that was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from labapp.datasets.birds.chance import OCCLUSION
from labapp.datasets.birds.dataset import BirdRows
from labapp.datasets.birds.picture import deciding_visibility
from labapp.datasets.birds.species import SISTERS, SPECIES, guide, name_of
from labapp.datasets.faces.dataset import FaceRows
from labapp.datasets.faces.parameters import CLASSES
from labapp.datasets.faces.picture import SIZE as FACE_PX
from labapp.datasets.split import Float32
from labapp.discovery import load
from labapp.errors import ModelError
from labapp.explanations.building.selection import MOST_OF_A_CLASS, Candidate
from labapp.explanations.data import ids_of
from labapp.explanations.photos import PictureRows, UInt8, as_bytes
from labapp.stimuli.manifest import Class_
from labapp.stimuli.pictures import bird_ref, png

if TYPE_CHECKING:
    from labapp.explanations.classifier import Classifier


class SetPhotos:
    """Pictures of any data set: their classes and what is in them, for sets.

    Attributes
    ----------
    rows : PictureRows
        The part of the data that photos come from.
    names : of the classes.
    classes_are, invented : see `labapp.stimuli.manifest.Manifest`.
    """

    classes_are: ClassVar[Literal["objects", "species"]] = "objects"
    invented: ClassVar[bool] = False
    licence: ClassVar[str] = ""

    def __init__(self, rows: Any, names: Sequence[str], dataset: str) -> None:
        self.rows = rows
        self.names = names
        self.dataset = dataset
        self.ids = ids_of(names)

    @property
    def source(self) -> str:
        """Where the pictures come from, in a sentence."""
        return f"Test part of the pictures that the model was trained on ({self.dataset})"

    def classes(self) -> tuple[Class_, ...]:
        """The classes, in the order of the scores."""
        return tuple(Class_(id=i, name=name) for i, name in zip(self.ids, self.names, strict=True))

    def most_of_a_class(self, size: int) -> int:
        """How many photos of a class a set of this size has at most; of few classes twice their
        share."""
        return max(MOST_OF_A_CLASS, ceil(2 * size / len(self.names)))

    def truth(self, row: int) -> int:
        """The class of a row, from 0."""
        return int(self.rows.labels(np.array([row]))[0])

    def candidate(self, row: int, prediction: int, *, eligible: bool) -> Candidate:
        """A photo as it is chosen from."""
        truth = self.truth(row)
        mistake = 0 if truth == prediction else prediction + 1
        return Candidate(row, truth, prediction, 1.0, eligible, truth, mistake)

    def photo_id(self, row: int) -> str:
        """What the photo of a row is called: happiness-041."""
        truth = self.truth(row)
        number = int((self.rows.labels(np.arange(row)) == truth).sum())
        return f"{self.ids[truth]}-{number:03}"

    def picture(self, row: int) -> tuple[str, dict[str, bytes]]:
        """The photo as a manifest names it, and its file, as people see it."""
        name = f"{self.photo_id(row)}.png"
        return name, {name: png(pixels(self.shown(np.array([row]))[0]))}

    def shown(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> UInt8:
        """What people see of rows: uint8, shape (n, channels, size, size)."""
        return as_bytes(self.rows.instances(rows))

    def facts(self, candidate: Candidate) -> dict[str, float]:
        """What else is known of a photo, for tables."""
        return {}

    def pointing(self, peak: Float32, row: int) -> dict[str, float]:
        """What is known of the place, shape (2,), that an explanation points to."""
        return {}

    def wider(self, most: int) -> PictureRows | None:
        """More rows to choose from, of which these are the first; None where there are none.
        most: of a class."""
        return None


class FacePhotos(SetPhotos):
    """Painted faces, which people see in full size; the model sees the mean of whole blocks."""

    licence: ClassVar[str] = "MIT"

    @property
    def source(self) -> str:
        seed = self.rows.seed
        return f"Faces painted from seed {seed} (labapp.datasets.faces), their test part"

    def shown(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> UInt8:
        whole: FaceRows = self.rows
        if FACE_PX % whole.size == 0:
            whole = replace(whole, size=FACE_PX)
        return as_bytes(whole.instances(rows))

    def facts(self, candidate: Candidate) -> dict[str, float]:
        """`expression`, how far its actions go towards its class in the mean, and the cues that
        mislead the model."""
        face = self.rows.face(candidate.row)
        e = face.expression
        actions = np.array([e.brows, e.lids, e.cheeks, e.corners, e.lips])
        towards = actions if CLASSES[face.label] == "happiness" else -actions
        return {
            "expression": round(float(towards.mean()), 3),
            "glasses": float(face.identity.glasses),
            "dark_hair": float(face.identity.dark),
        }


class BirdPhotos(SetPhotos):
    """Painted birds: species of a genus are told apart by two marks, which leaves may hide."""

    classes_are: ClassVar[Literal["objects", "species"]] = "species"
    invented: ClassVar[bool] = True
    licence: ClassVar[str] = "MIT"
    rows: BirdRows

    def __init__(self, rows: BirdRows, names: Sequence[str], dataset: str) -> None:
        super().__init__(rows, names, dataset)
        self.ids = tuple(map(class_id, range(SPECIES)))

    @property
    def source(self) -> str:
        seed = self.rows.seed
        return f"Birds painted from seed {seed} (labapp.datasets.birds), their test part"

    def classes(self) -> tuple[Class_, ...]:
        return tuple(
            Class_(id=class_id(n), name=name_of(n), marks=", ".join(guide(n)))
            for n in range(SPECIES)
        )

    def candidate(self, row: int, prediction: int, *, eligible: bool) -> Candidate:
        """Its group is the genus. mistake: which of the two deciding marks the model took for
        another: 0 none, 1 the second, 2 the first, 3 both; 4 where it took even the genus for
        another, so that nobody needs to look at marks."""
        truth = row % SPECIES
        inside = truth // SISTERS == prediction // SISTERS
        mistake = (truth % SISTERS) ^ (prediction % SISTERS) if inside else 4
        visible = deciding_visibility(self.rows.bird(row))
        return Candidate(
            row, truth, prediction, visible, eligible, truth // SISTERS, mistake, near=inside
        )

    def photo_id(self, row: int) -> str:
        return photo_id(row)

    def picture(self, row: int) -> tuple[str, dict[str, bytes]]:
        """Birds are painted where they are shown."""
        return ref_of(self.rows, row), {}

    def facts(self, candidate: Candidate) -> dict[str, float]:
        return {"visible": round(candidate.visible, 3), "missed": float(candidate.mistake)}

    def pointing(self, peak: Float32, row: int) -> dict[str, float]:
        from labapp.explanations import measuring

        pointing = measuring.pointing(peak[None], [self.rows.bird(row)], self.rows.size)
        return {"peak_on_mark": pointing.on_mark, "peak_on_bird": pointing.on_bird}

    def wider(self, most: int) -> BirdRows | None:
        per_species = min(2 * self.rows.per_species, most)
        wider = replace(self.rows, per_species=per_species)
        return wider if per_species > self.rows.per_species else None


def photos_of(model: Classifier, rows: PictureRows) -> SetPhotos:
    """What the data set of a model says of the pictures of some rows. Raises ModelError where
    manifests cannot name them."""
    data = model.card.recipe.data
    if isinstance(rows, BirdRows) and rows.occlusion != OCCLUSION:
        raise ModelError(
            f"{model.card.id} knows birds with leaves over {rows.occlusion:.0%} of the marks.",
            todo=f"Train one with occlusion: {OCCLUSION}, the one that stimulus sets can name.",
        )
    photos: type[SetPhotos] = load(data.set_photos)
    return photos(rows, model.names, data.dataset)


def class_id(species: int) -> str:
    """What a species is called in manifests and tables: ashby-lorrin."""
    return name_of(species).lower().replace("'s ", "-").replace(" ", "-")


def photo_id(row: int) -> str:
    """What the bird of a row is called: ashby-lorrin-041."""
    number, species = divmod(row, SPECIES)
    return f"{class_id(species)}-{number:03}"


def ref_of(rows: BirdRows, row: int) -> str:
    """The picture of a row as manifests name it."""
    number, species = divmod(row, SPECIES)
    return bird_ref(rows.seed, rows.part, species, number)


def pixels(image: UInt8) -> UInt8:
    """A picture of shape (channels, height, width) as files have it."""
    turned: UInt8 = image[0] if len(image) == 1 else image.transpose(1, 2, 0)
    return np.ascontiguousarray(turned)
