"""What classifiers learn from, as it stands in recipes and cards.

Nothing here needs torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from labapp.datasets.birds.chance import OCCLUSION
from labapp.datasets.birds.dataset import SIZE, Birds, birds
from labapp.datasets.birds.species import SPECIES, name_of
from labapp.datasets.faces.dataset import Faces, faces
from labapp.datasets.faces.parameters import CLASSES
from labapp.representations.data import Part


class BirdsData(Part):
    """Pictures of each species in each part; `size` is what the network sees, in pixels."""

    channels: ClassVar[int] = 3

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

    `noise`: spread of the chance in each action of a face. `cue`: share of the angry training faces
    that wear glasses and have dark hair, and of the happy ones that do not; half of them in the
    other parts. See `datasets.faces.chance`.
    """

    channels: ClassVar[int] = 1

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


Data = Annotated[BirdsData | FacesData, Field(discriminator="dataset")]
