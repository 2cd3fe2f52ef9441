"""The concept learners: their settings in recipes, and where their code is. Nothing here needs
torch.

A new learner has a class here that names its own, and a place in `LearnerSettings`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from labapp.representations.data import Part

Width = Annotated[int, Field(ge=1, le=1024)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(Part):
    """What a recipe says of a learner besides its name, which a subclass says as a Literal.

    Attributes
    ----------
    learner : its class, as `module:name`: a `learner.ConceptLearner` that is made of these
        settings and a `learner.Setup`.
    batch : rows of a step as published; size M takes 32 of pictures.
    """

    learner: ClassVar[str]

    name: str
    batch: int = Field(default=32, ge=2, le=4096)


class BottleneckSettings(Settings):
    """A concept bottleneck model, trained jointly (Koh et al. 2020): an encoder tells concepts, a
    predictor tells the class from them alone.

    Attributes
    ----------
    alpha : weight of the concepts' loss.
    encoder : hidden layers of the encoder of TabularToy; that of pictures is fixed.
    predictor : hidden layers of the predictor.
    dropout : share of the encoder's units that are left out as published, after its convolutions.
    """

    learner: ClassVar[str] = "labapp.concepts.bottleneck:Bottleneck"

    alpha: Weight = 10.0
    encoder: tuple[Width, ...] = (128, 64)
    predictor: tuple[Width, ...] = (64, 64)
    dropout: float = Field(default=0.5, ge=0, lt=1)


class Cbm(BottleneckSettings):
    """The predictor reads probabilities of concepts."""

    name: Literal["cbm"]


class CbmLogits(BottleneckSettings):
    """The predictor reads logits of concepts."""

    name: Literal["cbm-logits"]


LearnerSettings = Annotated[Cbm | CbmLogits, Field(discriminator="name")]
