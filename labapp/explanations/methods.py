"""What a recipe says of the method itself: the network and what is particular to learning it.

Nothing here needs torch.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from labapp.representations.data import Part


class Resnet(Part):
    """A small residual network, explained by GradCAM."""

    name: Literal["resnet"]


class Bagnet(Part):
    """A network that sees patches of `field` pixels alone and adds up what each speaks for."""

    name: Literal["bagnet"]
    field: Literal[17, 25, 33, 41] = 33


class Protopnet(Part):
    """Prototypes of each species: patches of training pictures that speak for it.

    `field`: pixels that a position of the network's map sees. `each`: prototypes of a species;
    `width`: channels of the map they are compared with. Steps of learning: `warm` without the
    backbone, then `pushes` times `joint`, each followed by a push and at a tenth of the rate of the
    one before. Of the 6 training pictures nearest to a prototype, `own_at_least` must be of its
    species, or it is dropped; 3 as published.
    """

    name: Literal["protopnet"]
    field: Literal[33, 49] = 33
    each: int = Field(default=6, ge=1, le=10)
    width: int = Field(default=64, ge=1, le=512)
    warm: int = Field(ge=1)
    joint: int = Field(ge=1)
    pushes: int = Field(default=2, ge=1, le=10)
    batch: int = Field(default=32, ge=2)
    rate: float = Field(default=3e-3, gt=0, allow_inf_nan=False)
    backbone_rate: float = Field(default=3e-4, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=1e-3, ge=0, allow_inf_nan=False)
    own_at_least: int = Field(default=3, ge=0, le=6)


class Prototree(Part):
    """A tree of questions whether a patch of a training picture is there.

    `field`: pixels that a position of the network's map sees. `depth`: questions on a way at most;
    `width`: channels of the map that prototypes are compared with. It grows for `epochs` of
    `epoch_steps` steps, the first `frozen` ones without the backbone; the learning rate halves
    after each share of them in `milestones`. The backbone's last block learns at `rate` like the
    prototypes, the rest at `backbone_rate`. Leaves that say no species with more than `threshold`
    are pruned.
    """

    name: Literal["prototree"]
    field: Literal[33, 49] = 33
    depth: int = Field(default=6, ge=2, le=9)
    width: int = Field(default=64, ge=1, le=512)
    epochs: int = Field(default=15, ge=1)
    epoch_steps: int = Field(ge=1)
    frozen: int = Field(default=2, ge=1)
    batch: int = Field(default=64, ge=2)
    rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    backbone_rate: float = Field(default=1e-4, gt=0, allow_inf_nan=False)
    milestones: tuple[float, ...] = (0.6, 0.8)
    threshold: float = Field(default=0.1, ge=0, lt=1)

    @model_validator(mode="after")
    def _grows(self) -> Prototree:
        if self.frozen >= self.epochs:
            raise ValueError(f"frozen is {self.frozen} of {self.epochs} epochs: fewer are allowed")
        return self


class Cnn(Part):
    """A small convolutional network without normalisation, explained pixel by pixel.

    `augmented`: whether training pictures are mirrored, moved and lit by chance.
    """

    name: Literal["cnn"]
    augmented: bool = True


Method = Annotated[Resnet | Bagnet | Protopnet | Prototree | Cnn, Field(discriminator="name")]
