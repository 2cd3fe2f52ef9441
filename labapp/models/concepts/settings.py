"""The concept learners: their settings in recipes, and where their code is. Nothing here needs
torch.

A new learner has a class here that names its own, and a place in `LearnerSettings`.

How large a training is: S for tests, M for a report on a desk, L as published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from labapp.models.representations.data import Part

Width = Annotated[int, Field(ge=1, le=1024)]
InitialWeights = Literal["fan-in"]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(Part):
    """What a recipe says of a learner besides its name, which a subclass says as a Literal.

    Attributes
    ----------
    learner : its class, as `module:name`: a `learner.ConceptLearner` that is made of these
        settings and a `learner.Setup`.
    batch : rows of a step as published; size M takes 32 of pictures.
    initial_weights : None for those of Keras, as published: Glorot-uniform, and biases 0.
        "fan-in" for those of PyTorch: weights and biases uniform up to one over the root of a
        unit's inputs.
    """

    learner: ClassVar[str]

    name: str
    batch: int = Field(default=32, ge=2, le=4096)
    initial_weights: InitialWeights | None = None

    @property
    def codes(self) -> int | None:
        """How many codes are learned; None: one for each concept."""
        return None


class BottleneckSettings(Settings):
    """A concept bottleneck model, trained jointly (Koh et al. 2020): an encoder tells concepts, a
    predictor tells the class from them alone.

    Attributes
    ----------
    alpha : weight of the concepts' loss.
    encoder : hidden layers of the encoder of TabularToy; that of pictures is fixed.
    predictor : hidden layers of the predictor.
    dropout : share of the encoder's units that are left out at size L, after its convolutions. The
        released code has this layer and calls it as in evaluation, so that it never acted there.
    """

    learner: ClassVar[str] = "labapp.models.concepts.bottleneck:Bottleneck"

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


Windows = Literal["each-channel"]


class Cw(Settings):
    """Concept whitening (Chen et al. 2020): a classifier with a layer whose channels are
    decorrelated, and turned so that the first ones follow the concepts.

    Attributes
    ----------
    windows : where, in maps, the activations lie by which a channel is turned: None for those
        where the channel itself wins max-pooling, which is the gradient of what it shall raise;
        "each-channel" for those where each channel that it is turned to wins, as released.
    """

    learner: ClassVar[str] = "labapp.models.concepts.whitening:Whitened"

    name: Literal["cw"]
    batch: int = Field(default=128, ge=2, le=4096)
    windows: Windows | None = None


class Ccd(Settings):
    """Completeness-aware concept discovery (Yeh et al. 2020): directions in the code of a trained
    classifier that suffice to tell its classes.

    Attributes
    ----------
    directions : how many; as many as there are concepts where it is None.
    width : numbers of the classifier's code, in which the directions are.
    dropout : share of the encoder's units that are left out as published, after its convolutions.
    """

    learner: ClassVar[str] = "labapp.models.concepts.discovered:Discovered"

    name: Literal["ccd"]
    directions: Width | None = None
    width: Width = 10
    dropout: float = Field(default=0.5, ge=0, lt=1)

    @property
    def codes(self) -> int | None:
        return self.directions


class Senn(Settings):
    """A self-explaining neural network (Alvarez-Melis and Jaakkola 2018): concepts that it finds
    itself, each times a relevance to a class that changes slowly with the instance.

    Attributes
    ----------
    units : concepts that it finds; as many as there are concepts where it is None.
    epochs : most epochs of learning from pictures.
    variational : whether encoder and decoder first learn for as many epochs as a VAE does.
    robustness, reconstruction : weights of the penalty of relevances that change fast, and of the
        decoder's error.
    """

    learner: ClassVar[str] = "labapp.models.concepts.explained:Explained"

    name: Literal["senn"]
    units: Width | None = None
    epochs: int = Field(default=100, ge=1)
    variational: bool = False
    robustness: Weight = 0.1
    reconstruction: Weight = 2e-5

    @property
    def codes(self) -> int | None:
        return self.units


class VaeSettings(Settings):
    """A variational autoencoder, which learns neither concepts nor classes.

    Attributes
    ----------
    beta : weight of the divergence from the prior.
    units : numbers of the code; as many as there are concepts where it is None.
    """

    learner: ClassVar[str] = "labapp.models.concepts.explained:Variational"

    beta: Weight = 1.0
    units: Width | None = None

    @property
    def codes(self) -> int | None:
        return self.units


class Vae(VaeSettings):
    """Kingma and Welling 2014."""

    name: Literal["vae"]


class BetaVae(VaeSettings):
    """Higgins et al. 2017."""

    name: Literal["beta-vae"]
    beta: Weight = 10.0


class AdaGvae(VaeSettings):
    """Learns from pairs that share concepts, and averages codes that are near (Locatello et al.
    2020)."""

    name: Literal["ada-gvae"]


class AdaMlvae(VaeSettings):
    """As Ada-GVAE, with another average."""

    name: Literal["ada-mlvae"]


LearnerSettings = Annotated[
    Cbm | CbmLogits | Cw | Ccd | Senn | Vae | BetaVae | AdaGvae | AdaMlvae,
    Field(discriminator="name"),
]


SizeName = Literal["S", "M", "L"]

RATE = 1e-3
"""Of Adam, in paper 001."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size of training. Of TabularToy, M is as published: it takes seconds.

    Attributes
    ----------
    train, test : most rows to train on and to test on; None for all.
    pixels : the most that pictures are wide.
    epochs, toy_epochs : of a learner that has one phase, on pictures and on TabularToy.
    peak : of a learning rate that rises and falls once over a phase of learning from pictures;
        None for a constant `RATE`.
    published : whether pictures are learned from as published: with the batch, the dropout and the
        7 x 7, 5 x 5, 3 x 3 and 3 x 3 kernels of the released code, in place of 32, none and 3 x 3.
    """

    name: SizeName
    train: int | None
    test: int | None
    pixels: int
    epochs: int
    toy_epochs: int
    peak: float | None
    published: bool


SIZES: dict[SizeName, Size] = {
    "S": Size("S", 600, 300, 32, 2, 20, 2e-3, published=False),
    "M": Size("M", None, None, 64, 15, 300, 2e-3, published=False),
    "L": Size("L", None, None, 64, 100, 300, None, published=True),
}
