"""Recipes of concept learners, as YAML (models/recipes/concepts-*.yaml).

A file is a recipe, or with `variants` several that have most in common. Nothing here needs torch.

The concept learners: their settings in recipes, and where their code is. Nothing here needs
torch.

A new learner has a class here that names its own, and a place in `LearnerSettings`.

How large a training is: S for tests, M for a report on a desk, L as published.

The data that concept learners learn from, as recipes and cards state them.

Nothing here needs torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from labapp.base import resources
from labapp.base.errors import DatasetError, ModelError, ModelNotFound, UsageError
from labapp.base.naming import NotReserved
from labapp.models.datasets import dsprites
from labapp.models.datasets.concepts import marked_birds, rows, shapes, sprites
from labapp.models.datasets.concepts.rows import (
    ChangedRows,
    ConceptRows,
    ConceptSplit,
    Reading,
    draw_rows,
    generator,
    validation,
)
from labapp.models.datasets.split import Float32, Int64
from labapp.models.representations import recipe
from labapp.models.representations.recipe import ID_PATTERN, Part

NOISE = 5
"""Stream of the seed that noise comes from; rows, backgrounds and divisions have others."""


@dataclass(frozen=True, slots=True, eq=False)
class ConceptData:
    """A task as a learner sees it: pictures of shape (channels, pixels, pixels) in steps of 1/255,
    or rows of numbers.

    Attributes
    ----------
    split : rows to train on and to test on. `validation`: rows kept from training besides.
    shape : of an instance.
    """

    split: ConceptSplit
    validation: ConceptRows | None
    shape: tuple[int, ...]

    @property
    def tabular(self) -> bool:
        return len(self.shape) == 1


class ToyData(Part):
    """TabularToy(`correlation`), 2,000 rows to train on and 1,000 to test on."""

    dataset: Literal["toy"]
    correlation: float = Field(default=0.0, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    def shape(self, size: Size) -> tuple[int, ...]:
        return (7,)

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task; it needs no folder."""
        split = rows.tabular_toy(self.correlation, seed=self.seed)
        return ConceptData(_limit_rows(split, size, self.seed), None, self.shape(size))


class PictureData(Part):
    """What tasks of pictures have in common.

    Attributes
    ----------
    reading : "released" for the task of the released code, on which the figures of paper 001 rest,
        or "text".
    seed : of the rows, of their division and of noise.
    pictures : "rendered" by labapp, or "official": read from the published file.
    pixels : the width that learners see.
    noise : share of the pixels that are of a random grey or colour.
    held_back : share of the training rows that are kept for validation.
    """

    channels: ClassVar[int]

    reading: Reading = "released"
    seed: int = Field(default=0, ge=0)
    pictures: Literal["rendered", "official"] = "rendered"
    pixels: Literal[32, 64] = 64
    noise: float = Field(default=0.0, ge=0, lt=1)
    held_back: float = Field(default=0.1, gt=0, lt=0.5)

    def shape(self, size: Size) -> tuple[int, int, int]:
        pixels = min(self.pixels, size.pixels)
        return self.channels, pixels, pixels


class SpritesData(PictureData):
    """dSprites(`correlations`), five concepts; or with four that people can see, which are of the
    task without correlations in the released reading.

    `spurious`: three quarters of the training pictures have a background that gives the label
    away (paper 001, A.8); those for validation are of the same kind, test pictures are not.
    """

    channels: ClassVar[int] = 1

    dataset: Literal["dsprites"]
    correlations: int = Field(default=0, ge=0, le=sprites.MOST)
    concepts: Literal[4, 5] = 5
    spurious: bool = False

    @model_validator(mode="after")
    def _four_are_of_one_task(self) -> SpritesData:
        if self.concepts == 4 and (self.correlations or self.reading != "released"):
            raise ValueError(
                "four concepts are possible only with correlations 0 and the reading released"
            )
        return self

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task. Raises DatasetError: `official` without its file in `folder`."""
        official = _official(self.pictures, folder, dsprites.OFFICIAL)
        if self.concepts == 4:
            split = sprites.four_sprites(seed=self.seed, official=official)
        else:
            split = sprites.sprites(
                self.correlations, seed=self.seed, official=official, reading=self.reading
            )
        if self.spurious:
            split = sprites.spurious(split, seed=self.seed)
        return _prepare_data(self, split, size)


class ShapesData(PictureData):
    """3dshapes(`correlations`), six concepts."""

    channels: ClassVar[int] = 3

    dataset: Literal["3dshapes"]
    correlations: int = Field(default=0, ge=0, le=shapes.MOST)

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task. Raises DatasetError: `official` without its file in `folder`."""
        official = _official(self.pictures, folder, shapes.OFFICIAL)
        split = shapes.shapes(
            self.correlations, seed=self.seed, official=official, reading=self.reading
        )
        return _prepare_data(self, split, size)


class BirdsData(Part):
    """Painted birds, six marks; `train` and `test` of each of 16 species. See `PictureData`."""

    channels: ClassVar[int] = 3

    dataset: Literal["birds"]
    train: int = Field(default=200, ge=1, le=1_000)
    test: int = Field(default=60, ge=1, le=1_000)
    seed: int = Field(default=0, ge=0)
    pixels: Literal[32, 64] = 64
    noise: float = Field(default=0.0, ge=0, lt=1)
    held_back: float = Field(default=0.1, gt=0, lt=0.5)

    def shape(self, size: Size) -> tuple[int, int, int]:
        pixels = min(self.pixels, size.pixels)
        return self.channels, pixels, pixels

    def load(self, size: Size, folder: Path | None = None) -> ConceptData:
        """The task; it needs no folder."""
        split = marked_birds.marked_birds(seed=self.seed, train=self.train, test=self.test)
        return _prepare_data(self, split, size)


Data = Annotated[ToyData | SpritesData | ShapesData | BirdsData, Field(discriminator="dataset")]


def _prepare_data(data: PictureData | BirdsData, split: ConceptSplit, size: Size) -> ConceptData:
    """The task as learners of a size see it."""
    shape = data.shape(size)

    def prepare(rows: ConceptRows, part: int) -> ConceptRows:
        change = preparing(shape, data.noise, (data.seed, NOISE, part))
        return ConceptRows(ChangedRows(rows.rows, change), rows.concepts_of, rows.labels_of)

    prepared = replace(split, train=prepare(split.train, 0), test=prepare(split.test, 1))
    train, held = validation(prepared.train, seed=data.seed, share=data.held_back)
    return ConceptData(
        _limit_rows(replace(prepared, train=train), size, data.seed),
        held if size.test is None else draw_rows(held, size.test, data.seed),
        shape,
    )


def _limit_rows(split: ConceptSplit, size: Size, seed: int) -> ConceptSplit:
    """The task with no more rows than the size has."""
    if size.train is not None:
        split = replace(split, train=draw_rows(split.train, size.train, seed))
    if size.test is not None:
        split = replace(split, test=draw_rows(split.test, size.test, seed))
    return split


def preparing(
    shape: tuple[int, int, int], noise: float, entropy: tuple[int, ...]
) -> Callable[[Float32, Int64], Float32]:
    """Pictures as learners see them: averaged to `shape`, with noise, in steps of 1/255; the noise
    of a row follows from its number."""
    channels, pixels, _ = shape

    def change(pictures: Float32, rows: Int64) -> Float32:
        side = pictures.shape[-1]
        x = pictures.reshape(len(pictures), channels, side, side)
        if pixels < side:
            each = side // pixels
            x = x.reshape(len(x), channels, pixels, each, pixels, each).mean(axis=(3, 5))
        if noise:
            for picture, row in zip(x, rows.tolist(), strict=True):
                u = generator(*entropy, row).random((1 + channels, pixels, pixels))
                picture[:] = np.where(u[0] < noise, u[1:], picture)
        levels: Float32 = np.rint(x * np.float32(255))
        return levels / np.float32(255)

    return change


def _official(pictures: str, folder: Path | None, name: str) -> Path | None:
    if pictures == "rendered":
        return None
    if folder is None:
        raise DatasetError(
            f"The file {name}, which the model learns from, does not come with labapp.",
            todo="Give its folder with --data.",
        )
    return folder / name


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

    learner: ClassVar[str] = "labapp.models.concepts.learners:Bottleneck"

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

    learner: ClassVar[str] = "labapp.models.concepts.learners:Whitened"

    name: Literal["cw"]
    batch: int = Field(default=128, ge=2, le=4096)
    windows: Windows | None = None


class Ccd(Settings):
    """Completeness-aware concept discovery (Yeh et al. 2020): directions in the code of a trained
    classifier that suffice to tell its classes.

    Attributes
    ----------
    directions : how many; as many as there are concepts if it is None.
    width : numbers of the classifier's code, in which the directions are.
    dropout : share of the encoder's units that are left out as published, after its convolutions.
    """

    learner: ClassVar[str] = "labapp.models.concepts.learners:Discovered"

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
    units : concepts that it finds; as many as there are concepts if it is None.
    epochs : most epochs of learning from pictures.
    variational : whether encoder and decoder first learn for as many epochs as a VAE does.
    robustness, reconstruction : weights of the penalty of relevances that change fast, and of the
        decoder's error.
    """

    learner: ClassVar[str] = "labapp.models.concepts.learners:Explained"

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
    units : numbers of the code; as many as there are concepts if it is None.
    """

    learner: ClassVar[str] = "labapp.models.concepts.learners:Variational"

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


PATTERN = "concepts-*.yaml"
"""Names of the files of shipped recipes."""
SEEDS = 2**63
"""Seeds are below this: torch takes no larger ones."""


class ConceptRecipe(Part):
    """A concept learner to train: recipe and number of CPU threads decide the weights."""

    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    data: Data
    learner: LearnerSettings
    size: SizeName = "M"
    seed: int = Field(default=0, ge=0, lt=SEEDS)

    @property
    def measures(self) -> Size:
        """The size, with all that it means."""
        return SIZES[self.size]

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides the weights: not id, title and notes.

        Fields that a card leaves to their default do not count, so that a new setting leaves the
        digest of an old card's recipe as it was; nor do those that say nothing, which it leaves
        out.
        """
        deciding = self.model_dump_json(
            exclude={"id", "title", "notes"}, exclude_unset=True, exclude_none=True
        )
        return hashlib.sha256(deciding.encode()).hexdigest()

    def of(self, size: SizeName | None = None, seed: int | None = None) -> ConceptRecipe:
        """The same recipe in another size or with another seed, which its id then names. Raises
        UsageError: a seed outside 0 to `SEEDS` - 1."""
        name = self.id
        changed: dict[str, Any] = {}
        if size is not None and size != self.size:
            changed["size"] = size
            name += f"-{size.lower()}"
        if seed is not None and not 0 <= seed < SEEDS:
            raise UsageError(
                f"The seed {seed} is outside 0 to {SEEDS - 1}.",
                safe="Nothing was trained.",
                todo="Give a smaller one.",
            )
        if seed is not None and seed != self.seed:
            changed["seed"] = seed
            name += f"-seed{seed}"
        if not changed:
            return self
        return type(self).model_validate(
            self.model_dump(exclude_unset=True) | changed | {"id": name}
        )


class RecipeFile(Part):
    """What a file of recipes says: the keys of a recipe, and `variants`: by name what is otherwise
    in each. The id of a variant is that of the file, `-` and its name."""

    id: str
    title: str = ""
    notes: str = ""
    data: dict[str, Any]
    learner: dict[str, Any]
    size: SizeName = "M"
    seed: int = Field(default=0, ge=0)
    variants: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _each_is_a_recipe(self) -> RecipeFile:
        self.recipes()
        return self

    def recipes(self) -> tuple[ConceptRecipe, ...]:
        """The recipes, in order. Raises ValueError: one of them is none."""
        base = self.model_dump(exclude={"variants"}, exclude_unset=True)
        if not self.variants:
            return (_validate(base, ""),)
        return tuple(
            _validate({**_merge(base, values), "id": f"{self.id}-{name}"}, f"variants, {name}: ")
            for name, values in self.variants.items()
        )


def _validate(values: dict[str, Any], where: str) -> ConceptRecipe:
    try:
        # With every default written out, as on a card.
        return ConceptRecipe.model_validate(ConceptRecipe.model_validate(values).model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}{place}: {first['msg']}") from error


def _merge(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        own = merged.get(key)
        merged[key] = (
            _merge(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
        )
    return merged


def read(path: Path) -> tuple[ConceptRecipe, ...]:
    """The recipes in a file. Raises ModelError with line, key, found and allowed."""
    return recipe.read_document(path, "recipe", RecipeFile).recipes()


def read_shipped() -> dict[str, ConceptRecipe]:
    """The recipes that come with labapp, by id. Raises ModelError."""
    folder = resources.models() / "recipes"
    return {recipe.id: recipe for path in sorted(folder.glob(PATTERN)) for recipe in read(path)}


def find(reference: str | Path) -> tuple[ConceptRecipe, ...]:
    """The recipes in a file, or the shipped one of that id. Raises ModelError."""
    if Path(reference).is_file():
        if {"encoder", "predictor"} <= recipe.keys(Path(reference)):
            raise ModelError(
                f"{reference} describes a trained model and is not a recipe.",
                safe="Nothing was trained.",
                todo=f"Import it: labapp concepts import {reference}",
            )
        return read(Path(reference))
    known = read_shipped()
    if str(reference) in known:
        return (known[str(reference)],)
    raise ModelNotFound(
        f"There is no recipe {str(reference)!r}: it is neither a file nor the id of a shipped "
        "recipe.",
        safe="Nothing was trained.",
        todo="`labapp concepts list` shows the ids.",
    )


def is_concept_recipe(path: Path) -> bool:
    """Whether a recipe is a concept learner's, right or wrong, by a key that only those have."""
    return "learner" in recipe.keys(path)
