"""Recipes of models for `labapp models train`, as YAML (models/recipes/*.yaml); the registry of
architectures that model packages may name; and what a model's card says of the tasks that it is
used in, if a study file says nothing else.

Listing and checking need no torch; building a trained decoder does, and imports it then. A package
adds an architecture by an entry point of the group `labapp.decoders` that names an `Architecture`.

The layers of decoders in words, without torch.

`networks` makes modules of them to be trained, and `cpu_backend` what is computed at a decode. A
layer has the name of its weights from the part that it is in and its place there: `dense.3.weight`.

The data that a model learns from, and what is held out, as recipes and cards state them.

Model cards and recipes: documents that are refused with a ModelError.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, TypeVar

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from labapp.base.discovery import Catalogue
from labapp.base.documents import LARGEST, MODEL, Strict, parse_yaml, refusal
from labapp.base.errors import DatasetError, LabappError, ModelError
from labapp.base.naming import NotReserved
from labapp.base.reading import files
from labapp.models.datasets import circles, dsprites, mnist, sinelines
from labapp.models.datasets.split import Float32, Split
from labapp.models.representations.distance import DistanceName
from labapp.models.representations.space import Chart, Display

if TYPE_CHECKING:
    from torch import nn

    from labapp.models.representations.card import ModelCard


class Part(BaseModel):
    """Base of the parts of recipes and cards: frozen, and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SinelinesData(Part):
    """`held_out` of `count` draws from the prior are kept from training."""

    factors: ClassVar[int] = len(sinelines.NAMES)

    dataset: Literal["sinelines"]
    count: int = Field(ge=2)
    held_out: int = Field(ge=1)
    seed: int = Field(ge=0)

    @field_validator("held_out")
    @classmethod
    def _leaves_some(cls, value: int, info: ValidationInfo) -> int:
        count = info.data.get("count")
        if count is not None and value >= count:
            raise ValueError(f"allowed: 1 to {count - 1}, below count")
        return value

    def load(self, folder: Path | None = None) -> Split:
        """The series, divided; they need no folder."""
        return sinelines.split(count=self.count, held_out=self.held_out, seed=self.seed)


class DspritesData(Part):
    """`held_out` of the 737,280 pictures are kept from training.

    `pictures`: "rendered" by labapp, or "official": read from the published npz file.
    """

    factors: ClassVar[int] = len(dsprites.NAMES)

    dataset: Literal["dsprites"]
    pictures: Literal["rendered", "official"] = "rendered"
    held_out: int = Field(ge=1, lt=dsprites.COUNT)
    seed: int = Field(ge=0)

    def load(self, folder: Path | None = None) -> Split:
        """The pictures, divided. Raises DatasetError: `official` without its file in `folder`."""
        if self.pictures == "rendered":
            return dsprites.split(held_out=self.held_out, seed=self.seed)
        path = _require_folder(folder, "dSprites") / dsprites.OFFICIAL
        return dsprites.split(held_out=self.held_out, seed=self.seed, official=path)


class MnistData(Part):
    """`digits`: "t10k" divides the 10,000 test digits; "all" holds them out, as published."""

    dataset: Literal["mnist"]
    digits: Literal["t10k", "all"]
    held_out: int = Field(ge=1, le=mnist.COUNTS["t10k"])
    seed: int = Field(default=0, ge=0)

    @field_validator("held_out")
    @classmethod
    def _leaves_some(cls, value: int, info: ValidationInfo) -> int:
        whole = mnist.COUNTS["t10k"]
        if info.data.get("digits") == "all" and value != whole:
            raise ValueError(f"allowed: {whole} where all digits are used")
        if info.data.get("digits") == "t10k" and value == whole:
            raise ValueError(f"allowed: 1 to {whole - 1}")
        return value

    @property
    def trained_on(self) -> int:
        """How many digits are not held out."""
        if self.digits == "all":
            return mnist.COUNTS["train"]
        return mnist.COUNTS["t10k"] - self.held_out

    def load(self, folder: Path | None = None) -> Split:
        """The digits, divided. Raises DatasetError: no folder, or not MNIST in it."""
        where = _require_folder(folder, "MNIST")
        if self.digits == "all":
            return mnist.split_all(where)
        return mnist.split_test_digits(where, held_out=self.held_out, seed=self.seed)


Data = Annotated[SinelinesData | DspritesData | MnistData, Field(discriminator="dataset")]


def _require_folder(folder: Path | None, name: str) -> Path:
    if folder is None:
        raise DatasetError(
            f"The files of {name}, from which the model learns, do not come with labapp.",
            todo="Give their folder with --data.",
        )
    return folder


Document = TypeVar("Document", bound=BaseModel)


def read_document(path: Path, kind: str, model: type[Document]) -> Document:
    """The document in `path`. Raises ModelError: the file is missing, too large, not YAML, or not
    what `model` declares; the message names line, key, what was found and what is allowed. `kind`:
    what a person calls such a file, for example "model card"."""
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise ModelError(
            f"The {kind} {path} cannot be read: {error.strerror}.",
            todo="Check the path and its permissions.",
        ) from error
    located = parse_yaml(path, content, ModelError)
    try:
        return model.model_validate(located.value)
    except ValidationError as error:
        raise refusal(path, located, error, kind, model, ModelError) from error


def keys(path: Path) -> set[str]:
    """The keys of the document in `path`, right or wrong; none if it cannot be read."""
    try:
        value = parse_yaml(path, files.content(path, LARGEST), ModelError).value
    except (OSError, LabappError):
        return set()
    return set(value) if isinstance(value, dict) else set()


def dump(document: BaseModel) -> str:
    """The document as YAML, keys in their declared order, fields left at None omitted."""
    values = document.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)


HIDDEN = 256


@dataclass(frozen=True, slots=True)
class Dense:
    """W x + b of vectors; weight (out, into)."""

    into: int
    out: int
    bias: bool = True


@dataclass(frozen=True, slots=True)
class Deconvolution:
    """A transposed convolution of pictures; weight (into, out, size, size)."""

    into: int
    out: int
    bias: bool = True
    size: int = 4
    stride: int = 2
    padding: int = 1


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Batch normalisation with factors and shifts that are learned; of pictures, or of vectors."""

    channels: int
    pictures: bool = False
    eps: float = 1e-5


@dataclass(frozen=True, slots=True)
class Rectifier:
    """x if it is positive, else slope * x: a ReLU, or a leaky one."""

    slope: float = 0.0


@dataclass(frozen=True, slots=True)
class Unfold:
    """A vector becomes a picture (channels, height, width)."""

    shape: tuple[int, int, int]


Layer = Dense | Deconvolution | Normalisation | Rectifier | Unfold
Parts = Mapping[str, tuple[Layer, ...]]
"""By the names of a network's parts, in the order in which they run, the layers of each."""


def sinelines_layers(width: int, points: int) -> Parts:
    """width -> 256 -> 256 -> points, ReLU, linear output."""
    dense = Dense(width, HIDDEN), Rectifier(), Dense(HIDDEN, HIDDEN), Rectifier()
    return {"body": (*dense, Dense(HIDDEN, points))}


def dsprites_layers(width: int) -> Parts:
    """Dense 256 and 512, then four 4 x 4 stride-2 deconvolutions from 4 x 4 x 32."""
    return {
        "dense": (Dense(width, 256), Rectifier(), Dense(256, 512), Rectifier()),
        "deconv": (
            Unfold((32, 4, 4)),
            *(Deconvolution(32, 32), Rectifier()) * 3,
            Deconvolution(32, 1),
        ),
    }


def mnist_layers(width: int, *, generator: bool = False) -> Parts:
    """Dense 1024 and 6272, then deconvolutions 64 and 1 from 7 x 7 x 128.

    Batch normalisation and leaky ReLU 0.2 after each but the last; a layer in front of batch
    normalisation has no bias of its own, since the normalisation takes it away again. The
    `generator` of the published InfoGAN has plain ReLU and biases in its deconvolutions.
    """
    bend = Rectifier(0.0 if generator else 0.2)
    return {
        "dense": (
            *(Dense(width, 1024, bias=False), Normalisation(1024), bend),
            *(Dense(1024, 6272, bias=False), Normalisation(6272), bend),
        ),
        "deconv": (
            Unfold((128, 7, 7)),
            *(Deconvolution(128, 64, bias=generator), Normalisation(64, pictures=True), bend),
            Deconvolution(64, 1),
        ),
    }


ID_PATTERN = MODEL
"""`<dataset>/<name>`, lower case: no dot, no slash beyond the one, hence no way out of a folder."""


class Ae(Part):
    """Autoencoder: the reconstruction error of decode(encode(x))."""

    name: Literal["ae"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class Gt(Part):
    """Ground truth: a decoder alone, which learns x from the true factors."""

    name: Literal["gt"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)


class Vae(Part):
    """Variational autoencoder: reconstruction * error + kl * KL(q(z|x) || N(0, I))."""

    name: Literal["vae"]
    reconstruction: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    kl: float = Field(default=1.0, ge=0, allow_inf_nan=False)


class TcVae(Part):
    """beta-TCVAE: the variational autoencoder's loss + (beta - 1) * total correlation of q(z)."""

    name: Literal["tcvae"]
    beta: float = Field(default=10.0, ge=1, allow_inf_nan=False)


class SsTcVae(Part):
    """beta-TCVAE whose decoder is told the label, a one-hot of `classes` in front of z."""

    name: Literal["ss-tcvae"]
    beta: float = Field(default=10.0, ge=1, allow_inf_nan=False)
    classes: int = Field(default=10, ge=2, le=1000)


class InfoGan(Part):
    """InfoGAN: a generator of a discrete code and continuous codes in (-1, 1), no further noise.

    `discrete` and `continuous` weigh the two parts of the mutual-information bound;
    `generator_rate` multiplies the learning rate of the generator; the recogniser's heads learn at
    the discriminator's.
    """

    name: Literal["infogan"]
    classes: int = Field(default=10, ge=2, le=1000)
    discrete: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    continuous: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    generator_rate: float = Field(default=5.0, gt=0, allow_inf_nan=False)


Objective = Annotated[Ae | Gt | Vae | TcVae | SsTcVae | InfoGan, Field(discriminator="name")]


def classes_of(objective: Objective) -> int:
    """Width of the one-hot in front of z: 0 if there is none."""
    return objective.classes if isinstance(objective, SsTcVae | InfoGan) else 0


class Optimizer(Part):
    """Adam with TensorFlow's and the paper's constants except for the learning rate.

    `schedule`: "constant" as in the paper; "cosine" from the learning rate down to 0; or
    "late-cosine", constant for four fifths of the iterations and then a cosine down to 0.
    `beta1`: how long the first moment remembers. `precision`: "bfloat16" multiplies matrices at
    half the width and keeps weights, moments and losses in float32.
    """

    name: Literal["adam"] = "adam"
    learning_rate: float = Field(gt=0, allow_inf_nan=False)
    schedule: Literal["constant", "cosine", "late-cosine"] = "constant"
    batch: int = Field(ge=1)
    epochs: int = Field(ge=1)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    precision: Literal["float32", "bfloat16"] = "float32"


class PublishedScores(Part):
    """What Table 2 of paper 000 says of the model that this recipe follows.

    `error` is the sum of squared errors, sampled from the posterior if there is one.
    """

    error: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    mig: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    dci: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Recipe(Part):
    """A model to train. The same recipe on the same device gives the same weights.

    `dimensions`: number of continuous dimensions. `weights`: type in which the package stores them;
    the errors on the card are measured with the stored weights.
    """

    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    data: Data
    architecture: str
    dimensions: int = Field(ge=1, le=64)
    objective: Objective
    optimizer: Optimizer
    weights: Literal["float32", "float16"] = "float32"
    seed: int = Field(ge=0)
    checkpoint_iterations: int = Field(default=5_000, ge=1)
    published: PublishedScores = PublishedScores()

    @field_validator("architecture")
    @classmethod
    def _trainable(cls, value: str, info: ValidationInfo) -> str:
        able = [
            name
            for name, architecture in ARCHITECTURES.items()
            if isinstance(architecture.source, TrainedNetwork)
        ]
        data = info.data.get("data")
        if data is not None:
            able = [name for name in able if name.startswith(f"{data.dataset}-")]
        if value not in able:
            raise ValueError(f"allowed: {', '.join(able)}")
        return value

    @model_validator(mode="after")
    def _go_together(self) -> Recipe:
        source = ARCHITECTURES[self.architecture].source
        assert isinstance(source, TrainedNetwork)
        adversarial = isinstance(self.objective, InfoGan)
        if adversarial != (source.encoder is None):
            raise ValueError(
                "the objective infogan and the architecture mnist-infogan can be used only together"
            )
        if isinstance(self.objective, SsTcVae) and not isinstance(self.data, MnistData):
            raise ValueError("ss-tcvae needs labels: its data must be mnist")
        if isinstance(self.data, MnistData):
            self._fits_digits(self.data)
        elif isinstance(self.objective, Gt) and self.dimensions != self.data.factors:
            raise ValueError(
                f"gt decodes the {self.data.factors} factors of {self.data.dataset}: dimensions "
                f"must be {self.data.factors}, found {self.dimensions}"
            )
        return self

    def _fits_digits(self, data: MnistData) -> None:
        if isinstance(self.objective, Gt):
            raise ValueError(
                "gt needs the factors that generated the data, which mnist does not have"
            )
        classes = classes_of(self.objective)
        if isinstance(self.objective, SsTcVae) and classes != mnist.CLASSES:
            raise ValueError(f"classes must be {mnist.CLASSES}, as the digits, found {classes}")
        if isinstance(self.objective, InfoGan) and classes > mnist.CLASSES:
            raise ValueError(f"classes must be at most {mnist.CLASSES}, found {classes}")
        batch = self.optimizer.batch
        if batch == 1 or data.trained_on % batch == 1:
            raise ValueError(
                f"{data.trained_on:,} digits in batches of {batch} leave a batch of one digit, "
                "which cannot be normalised; choose another batch or held_out"
            )

    @property
    def digest(self) -> str:
        """SHA-256 of everything that decides the weights (not of titles and notes)."""
        deciding = self.model_dump_json(
            exclude={"id", "title", "notes", "checkpoint_iterations", "published"}
        )
        return hashlib.sha256(deciding.encode()).hexdigest()


def read(path: Path) -> Recipe:
    """The recipe in `path`. Raises ModelError with line, key, found and allowed."""
    return read_document(path, "recipe", Recipe)


Likelihood = Literal["gaussian", "bernoulli"]


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """An exact formula x(z), with the names and limits of its dials and a sampler of its prior."""

    decode: Callable[[Float32], Float32]
    names: tuple[str, ...]
    limits: tuple[tuple[float, float], ...]
    sample_prior: Callable[[int, int], Float32]
    """(count, seed) -> dial states, float32 (count, dimensions)."""


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A network whose weights are learned."""

    decoder: Callable[[int], nn.Module]
    """Width of z -> the decoder, untrained."""
    encoder: Callable[[int, bool], nn.Module] | None
    """(width, with a log-variance head) -> the encoder; None for a generator, which has none."""
    likelihood: Likelihood
    """How a decoded x is read: as the mean of a Gaussian, or as Bernoulli probabilities."""
    parts: Callable[[int], Parts] | None = None
    """Width of z -> the same decoder's layers, by which it is also computed without importing
    torch; None for a network that `decoder` alone knows."""


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """A network whose whole graph lies in the package, as ONNX."""


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of a Python package that is installed where the model is used."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """How the decoder of a model package is built.

    Attributes
    ----------
    name : what `architecture` in a card or a recipe says.
    output_shape : of a single instance x.
    display : whether x is drawn as a series or as an image.
    source : an exact rule; a network, whose weights lie in the package; one that lies there whole;
        or a function that is installed beside labapp.
    """

    name: str
    output_shape: tuple[int, ...]
    display: Display
    source: ClosedForm | TrainedNetwork | OnnxGraph | PythonFunction


def _sinelines_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.models.representations.networks import MlpEncoder

    return MlpEncoder(width, points=sinelines.POINTS, posterior=posterior)


def _sinelines_decoder(width: int) -> nn.Module:
    from labapp.models.representations.networks import MlpDecoder

    return MlpDecoder(width, points=sinelines.POINTS)


def _dsprites_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.models.representations.networks import DspritesEncoder

    return DspritesEncoder(width, posterior=posterior)


def _mnist_encoder(width: int, posterior: bool) -> nn.Module:
    from labapp.models.representations.networks import MnistEncoder

    return MnistEncoder(width, posterior=posterior)


def _of_pictures(parts: Callable[[int], Parts]) -> Callable[[int], nn.Module]:
    def decoder(width: int) -> nn.Module:
        from labapp.models.representations.networks import PictureDecoder

        return PictureDecoder(parts(width))

    return decoder


_sinelines = partial(sinelines_layers, points=sinelines.POINTS)
_generator = partial(mnist_layers, generator=True)

_ALL = (
    Architecture(
        "closed-form:circles",
        (circles.SIZE, circles.SIZE),
        "image",
        ClosedForm(circles.pictures, circles.NAMES, circles.LIMITS, circles.sample_prior),
    ),
    Architecture(
        "closed-form:sinelines",
        (sinelines.POINTS,),
        "series",
        ClosedForm(sinelines.series, sinelines.NAMES, sinelines.LIMITS, sinelines.sample_prior),
    ),
    Architecture(
        "sinelines-mlp",
        (sinelines.POINTS,),
        "series",
        TrainedNetwork(_sinelines_decoder, _sinelines_encoder, "gaussian", _sinelines),
    ),
    Architecture(
        "dsprites-conv",
        (64, 64),
        "image",
        TrainedNetwork(
            _of_pictures(dsprites_layers), _dsprites_encoder, "bernoulli", dsprites_layers
        ),
    ),
    Architecture(
        "mnist-conv",
        (28, 28),
        "image",
        TrainedNetwork(_of_pictures(mnist_layers), _mnist_encoder, "bernoulli", mnist_layers),
    ),
    Architecture(
        "mnist-infogan",
        (28, 28),
        "image",
        TrainedNetwork(_of_pictures(_generator), None, "bernoulli", _generator),
    ),
)

ARCHITECTURES: Catalogue[Architecture] = Catalogue(
    "labapp.decoders", "an architecture", Architecture, lambda: _ALL
)


class Task(Strict):
    """How reconstruction with a model goes if the study does not say.

    Attributes
    ----------
    distance : how pictures are compared, by its name, see `labapp.models.representations.distance`.
    target_alignment : how alike they must be for a question to be solved, 0 to 1.
    skip_after_s : seconds of active time after which a question can be skipped.
    overlay_at_start : whether the two pictures lie over one another at first.
    labels_editable : whether participants name the dials.
    """

    distance: DistanceName
    target_alignment: float = Field(gt=0, le=1)
    skip_after_s: float = Field(gt=0, le=3600)
    overlay_at_start: bool = False
    labels_editable: bool = False


def _make_task(distance: str, target: float, seconds: float, overlay: bool, labels: bool) -> Task:
    return Task(
        distance=distance,
        target_alignment=target,
        skip_after_s=seconds,
        overlay_at_start=overlay,
        labels_editable=labels,
    )


PUBLISHED = {
    "sinelines": _make_task("sinelines", 0.90, 30.0, True, False),
    "dsprites": _make_task("dsprites", 0.90, 30.0, True, False),
    "mnist": _make_task("mnist", 0.75, 45.0, False, True),
    "circles": _make_task("dsprites", 0.98, 30.0, False, False),
}
"""What the published studies fix for each data set (paper 000, 4.3, A.2 and A.4, and the published
application). It stands on the cards that are made here, and fills those of older packages, which
say nothing of tasks."""
SHOWN_ROUNDED = frozenset({"mnist"})
"""Data sets whose pictures the published studies show in black and white."""


class InTasks(NamedTuple):
    """What tasks follow of a model. task: None if neither its card nor the table says it; chart:
    of a series whose chart is not the published one."""

    display: Display
    task: Task | None
    chart: Chart | None = None


def in_tasks(card: ModelCard) -> InTasks:
    """What a card says; one of an older package as the published study with its data set."""
    if card.task is not None or card.dataset not in PUBLISHED:
        return InTasks(card.display, card.task, card.chart)
    return InTasks(find_published_display(card.dataset, card.display), PUBLISHED[card.dataset])


def find_published_display(dataset: str, display: Display) -> Display:
    """How the published studies show pictures of a data set that are drawn like this."""
    return "binary_image" if dataset in SHOWN_ROUNDED and display == "image" else display
