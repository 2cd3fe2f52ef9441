"""The data that classifiers learn from, as recipes and cards state them.

Nothing here needs torch.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from labapp.datasets.birds.chance import OCCLUSION
from labapp.datasets.birds.dataset import SIZE, Birds, birds
from labapp.datasets.birds.species import SPECIES, name_of
from labapp.datasets.faces.dataset import Faces, faces
from labapp.datasets.faces.parameters import CLASSES
from labapp.datasets.folder import Folder, Shares
from labapp.datasets.folder import read as read_folder
from labapp.errors import DatasetError, ModelError
from labapp.representations.card import SHA256_PATTERN
from labapp.representations.data import Part


class BirdsData(Part):
    """Pictures of each species in each part; `size` is what the network sees, in pixels."""

    channels: ClassVar[int] = 3
    set_photos: ClassVar[str] = "labapp.explanations.building.set_photos:BirdPhotos"
    """What these pictures are to whoever builds a stimulus set of them."""

    dataset: Literal["birds"]
    seed: int = Field(ge=0)
    train: int = Field(ge=1, le=1_000)
    validation: int = Field(default=20, ge=1, le=1_000)
    test: int = Field(default=100, ge=1, le=1_000)
    size: int = Field(default=SIZE, ge=48, le=192, multiple_of=8)
    occlusion: float = Field(default=OCCLUSION, ge=0, le=1)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called, in the order of the scores."""
        return tuple(name_of(species) for species in range(SPECIES))

    def load(self, folder: Path | None = None) -> Birds:
        """The three parts; pictures are painted when they are asked for, and need no folder."""
        return birds(
            seed=self.seed,
            train=self.train,
            validation=self.validation,
            test=self.test,
            size=self.size,
            occlusion=self.occlusion,
        )


class FacesData(Part):
    """Schematic faces of each class in each part; `size` is what the network sees, in pixels.

    `noise`: SD of the random part of each action of a face. `cue`: share of angry training faces
    with glasses, and with dark hair; see `datasets.faces.chance`.
    """

    channels: ClassVar[int] = 1
    set_photos: ClassVar[str] = "labapp.explanations.building.set_photos:FacePhotos"

    dataset: Literal["faces"]
    seed: int = Field(ge=0)
    train: int = Field(default=300, ge=1, le=10_000)
    validation: int = Field(default=100, ge=1, le=10_000)
    test: int = Field(default=300, ge=1, le=10_000)
    size: Literal[48, 64, 96] = 48
    noise: float = Field(default=0.35, ge=0, le=2)
    cue: float = Field(default=0.65, ge=0, le=1)

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called, in the order of the scores."""
        return CLASSES

    def load(self, folder: Path | None = None) -> Faces:
        """The three parts; pictures are painted when they are asked for, and need no folder."""
        return faces(
            seed=self.seed,
            train=self.train,
            validation=self.validation,
            test=self.test,
            size=self.size,
            noise=self.noise,
            cue=self.cue,
        )


class FolderData(Part):
    """A lab's own pictures: a folder of them for each class; see `datasets.folder.read`.

    Attributes
    ----------
    folder : its path, from where the recipe lies; cards keep its name alone.
    classes : the ones to learn, in order; by default all there are.
    channels : 1 for grey, 3 for colour.
    group_by : `prefix` where the name of a file up to its first `_` says whose picture it is: then
        nobody is in two parts.
    sha256 : of the pictures; others are refused. A card has it, and the classes.
    """

    set_photos: ClassVar[str] = "labapp.explanations.building.set_photos:SetPhotos"

    dataset: Literal["folder"]
    folder: str = Field(min_length=1)
    classes: tuple[str, ...] | None = Field(default=None, min_length=2)
    size: Literal[48, 64, 96] = 48
    channels: Literal[1, 3] = 1
    validation: float = Field(default=0.15, gt=0, lt=1)
    test: float = Field(default=0.25, gt=0, lt=1)
    group_by: Literal["prefix"] | None = None
    seed: int = Field(ge=0)
    sha256: str | None = Field(default=None, pattern=SHA256_PATTERN)

    @field_validator("classes")
    @classmethod
    def _differ(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and len(set(value)) < len(value):
            raise ValueError("each class once")
        return value

    @model_validator(mode="after")
    def _leaves_some(self) -> FolderData:
        if self.validation + self.test >= 1:
            raise ValueError("validation and test together must be less than 1")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called, in the order of the scores; () until they are read."""
        return self.classes or ()

    def load(self, folder: Path | None = None) -> Folder:
        """The three parts, read from `folder`.

        Raises
        ------
        ModelError : no folder is given.
        DatasetError : what is in it cannot be used, or is not what `sha256` was made of.
        """
        if folder is None:
            raise ModelError(
                f"The classifier was trained on a folder of pictures, {self.folder}, which is not "
                "part of it.",
                todo="Give the folder with --data.",
            )
        rows = read_folder(
            folder,
            size=self.size,
            channels=self.channels,
            shares=Shares(validation=self.validation, test=self.test),
            seed=self.seed,
            names=self.classes,
            by_prefix=self.group_by == "prefix",
        )
        if self.sha256 not in (None, rows.sha256):
            raise DatasetError(
                f"The pictures in {folder} are not those that `sha256` was made of.",
                todo="Put back the pictures as they were, or take sha256 out of the recipe to "
                "train on these.",
            )
        return rows

    def known(self, folder: Folder) -> FolderData:
        """The same data with the classes and the hash of the folder that was read; of its path, the
        name alone is left."""
        return self.model_copy(
            update={
                "folder": PurePath(self.folder).name or self.folder,
                "classes": folder.names,
                "sha256": folder.sha256,
            }
        )


Data = Annotated[BirdsData | FacesData | FolderData, Field(discriminator="dataset")]


def ids_of(names: Sequence[str]) -> tuple[str, ...]:
    """Ids of a model's classes in manifests and tables: `Anger (CK+)` becomes anger-ck."""
    plain = [_plain(name) for name in names]
    return tuple(
        id_ if id_ and plain.count(id_) == 1 else f"class-{n}" for n, id_ in enumerate(plain, 1)
    )


def _plain(name: str) -> str:
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.]+", "-", ascii_).strip("-._").lower()[:100]
