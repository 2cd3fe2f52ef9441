"""Recipes of classifiers, as YAML (models/recipes/birds-*.yaml, faces-cnn.yaml): the data they
learn from, and the methods of explanation, with their settings and where their code is.

Nothing here needs torch before pixels are scored.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, field_validator, model_validator

from labapp.base.discovery import Catalogue, load
from labapp.base.documents import OpenUnion, one_of
from labapp.base.errors import DatasetError, ModelError
from labapp.base.naming import NotReserved
from labapp.models.datasets.birds import OCCLUSION, SIZE, SPECIES, Birds, birds, name_of
from labapp.models.datasets.faces import CLASSES, Faces, faces
from labapp.models.datasets.folder import Folder, Shares
from labapp.models.datasets.folder import read as read_folder
from labapp.models.datasets.split import Int64
from labapp.models.representations import recipe
from labapp.models.representations.card import SHA256_PATTERN
from labapp.models.representations.recipe import ID_PATTERN, Part, Recipe

if TYPE_CHECKING:
    from labapp.models.explanations.classifier import Classifier
    from labapp.models.explanations.photos import UInt8


class BirdsData(Part):
    """Pictures of each species in each part; `size` is what the network sees, in pixels."""

    channels: ClassVar[int] = 3
    set_photos: ClassVar[str] = "labapp.models.explanations.building.sets:BirdPhotos"
    """What chooses photos among these pictures for a stimulus set."""

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
        return birds(**self.model_dump(exclude={"dataset"}))


class FacesData(Part):
    """Schematic faces of each class in each part; `size` is what the network sees, in pixels.

    `noise`: SD of the random part of each action of a face. `cue`: share of angry training faces
    with glasses, and with dark hair; see `datasets.faces.chance`.
    """

    channels: ClassVar[int] = 1
    set_photos: ClassVar[str] = "labapp.models.explanations.building.sets:FacePhotos"

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
        return CLASSES

    def load(self, folder: Path | None = None) -> Faces:
        return faces(**self.model_dump(exclude={"dataset"}))


class FolderData(Part):
    """A lab's own pictures: a folder of them for each class; see `datasets.folder.read`.

    Attributes
    ----------
    folder : its path, from where the recipe lies; cards keep only its name.
    classes : the ones to learn, in order; by default all there are.
    channels : 1 for grey, 3 for colour.
    group_by : `prefix` if the name of a file up to its first `_` says whose picture it is: then
        nobody is in two parts.
    sha256 : of the pictures; others are refused. A card has it, and the classes.
    """

    set_photos: ClassVar[str] = "labapp.models.explanations.building.sets:SetPhotos"

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
        """The three parts, read from `folder`. Raises ModelError: no folder is given; DatasetError:
        what is in it cannot be used, or is not what `sha256` was made of."""
        if folder is None:
            raise ModelError(
                f"The classifier was trained on the picture folder {self.folder}, which is not "
                "included.",
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
                f"The pictures in {folder} do not match `sha256`.",
                todo="Restore the original pictures, or remove sha256 from the recipe to train "
                "on these.",
            )
        return rows

    def known(self, folder: Folder) -> FolderData:
        """The same data with the classes, hash and bare name of the folder that was read."""
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


class MethodSettings(Part):
    """What a recipe says of a method besides its name, which a subclass says as a Literal."""

    name: str


class MethodChecks(Part):
    """What a card says of a method besides its name, which a subclass says as a Literal."""

    method: str


class Resnet(MethodSettings):
    """A small residual network, explained by GradCAM."""

    name: Literal["resnet"]


class Bagnet(MethodSettings):
    """A network that sees patches of `field` pixels alone and adds up what each speaks for."""

    name: Literal["bagnet"]
    field: Literal[17, 25, 33, 41] = 33


class Protopnet(MethodSettings):
    """Prototypes of each species: patches of training pictures that speak for it.

    Attributes
    ----------
    field : pixels that a position of the network's map sees.
    each : prototypes of a species.
    width : channels of the map they are compared with.
    warm : steps of learning without the backbone.
    joint, pushes : `joint` further steps, `pushes` times, each time followed by a push and at a
        tenth of the rate of the one before.
    own_at_least : of the 6 training pictures nearest to a prototype, how many must be of its
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


class Prototree(MethodSettings):
    """A tree of questions whether a patch of a training picture is there.

    Attributes
    ----------
    field : pixels that a position of the network's map sees.
    depth : questions on a way at most.
    width : channels of the map that prototypes are compared with.
    epochs, epoch_steps : it grows for so many epochs of so many steps each.
    frozen : the first epochs, without the backbone.
    milestones : shares of the epochs after each of which the learning rate halves.
    rate : of the prototypes and the backbone's last block.
    backbone_rate : of the rest of the backbone.
    threshold : leaves that say no species with more than this are pruned.
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
            raise ValueError(
                f"frozen is {self.frozen}, but must be less than the number of "
                f"epochs ({self.epochs})"
            )
        return self


class Cnn(MethodSettings):
    """A small convolutional network without normalisation, explained pixel by pixel.

    `augmented`: whether training pictures are mirrored, moved and lit by chance.
    """

    name: Literal["cnn"]
    augmented: bool = True


@dataclass(frozen=True, slots=True)
class ExplanationMethod:
    """A method: a classifier that is learned for it, and the explanations of its answers; or
    explanations alone, of the models of other methods, or scores of their pixels. A package brings
    one by an entry point of the group `labapp.explanations` that names such an object.

    Attributes
    ----------
    name : what `method: {name: ...}` in a recipe says.
    settings : type or None
        What a recipe says besides; derived from `MethodSettings`. None if nothing is learned.
    birds : bool
        Whether it learns birds, with their species, genera and marks; else pictures of any classes.
    approach : where its network is and how that learns: a module as
        `labapp.models.explanations.classifier`
        describes it; empty if nothing is learned.
    checks : what the card says of it, as `module:Class`, derived from `MethodChecks`; empty if
        nothing is learned.
    sets : the stimulus sets that are built with it, as `module:OBJECT` of several
        `labapp.models.explanations.building.sets.Spec`; empty for none.
    explainer : who explains the photos of such a set, as `module:function`, which is given the
        `Spec` and returns a `labapp.models.explanations.building.sets.Explainer`; empty for
        none.
    scores : how it scores the pixels of pictures, for sets from which masks are made, as
        `module:function`: `(classifier, pictures, classes)` with uint8 pictures of shape (n,
        channels, size, size) and int64 classes of shape (n,) gives real numbers of shape (n, size,
        size), above 0 what speaks for the class. It raises ModelError for a classifier that it
        cannot explain. Empty for none.
    label : of a method that scores pixels, what tables and figures call it.
    """

    name: str
    settings: type[MethodSettings] | None = None
    approach: str = ""
    checks: str = ""
    birds: bool = True
    sets: str = ""
    explainer: str = ""
    scores: str = ""
    label: str = ""


HERE = "labapp.models.explanations"
_ALL = (
    ExplanationMethod(
        "resnet",
        Resnet,
        f"{HERE}.resnet",
        f"{HERE}.package:GradcamChecks",
        sets=f"{HERE}.building.sets:GRADCAM",
        explainer=f"{HERE}.building.heatmaps:by_gradcam",
    ),
    ExplanationMethod(
        "bagnet",
        Bagnet,
        f"{HERE}.bagnet",
        f"{HERE}.package:BagnetChecks",
        sets=f"{HERE}.building.sets:BAGNET",
        explainer=f"{HERE}.building.heatmaps:by_bagnet",
    ),
    ExplanationMethod(
        "protopnet",
        Protopnet,
        f"{HERE}.protopnet",
        f"{HERE}.package:ProtopnetChecks",
        sets=f"{HERE}.building.sets:PROTOPNET",
        explainer=f"{HERE}.building.prototypes:PrototypeExplainer",
    ),
    ExplanationMethod(
        "prototree",
        Prototree,
        f"{HERE}.prototree",
        f"{HERE}.package:PrototreeChecks",
        sets=f"{HERE}.building.sets:PROTOTREE",
        explainer=f"{HERE}.building.prototypes:PathExplainer",
    ),
    ExplanationMethod("cnn", Cnn, f"{HERE}.cnn", f"{HERE}.package:CnnChecks", birds=False),
    # As paper 004, figure 1, calls them.
    ExplanationMethod("gradient", scores=f"{HERE}.pixel_scores:gradient", label="Gradient"),
    ExplanationMethod(
        "guided_backprop",
        scores=f"{HERE}.pixel_scores:guided_backprop",
        label="Guided backpropagation",
    ),
    ExplanationMethod("lrp", scores=f"{HERE}.pixel_scores:lrp", label="LRP"),
)


def _problem(method: ExplanationMethod, others: Sequence[ExplanationMethod]) -> str:
    """Why a method cannot be used; empty if it can."""
    if bool(method.scores) != bool(method.label):
        return "a method that scores pixels has scores and a label; other methods have neither"
    if method.settings is None:
        if method.scores or (method.sets and method.explainer):
            return ""
        return "it has no settings to learn with, no sets that it explains and no scores of pixels"
    for cls, base, key in (
        (method.settings, MethodSettings, "name"),
        (load(method.checks), MethodChecks, "method"),
    ):
        if not issubclass(cls, base) or get_args(cls.model_fields[key].annotation) != (
            method.name,
        ):
            return f"{cls.__name__} is no {base.__name__} with `{key}: Literal[{method.name!r}]`"
    return ""


METHODS: Catalogue[ExplanationMethod] = Catalogue(
    "labapp.explanations", "a method of explanation", ExplanationMethod, lambda: _ALL, _problem
)


def settings_classes() -> tuple[type[MethodSettings], ...]:
    """What recipes may say of their methods."""
    return tuple(method.settings for method in METHODS.values() if method.settings is not None)


def checks_classes() -> tuple[type[MethodChecks], ...]:
    """What cards may say of their methods."""
    return tuple(load(method.checks) for method in METHODS.values() if method.checks)


@cache
def _settings() -> TypeAdapter[Any]:
    return TypeAdapter(one_of("name", settings_classes()))


@cache
def _checks() -> TypeAdapter[Any]:
    return TypeAdapter(one_of("method", checks_classes()))


Method = Annotated[MethodSettings, OpenUnion(settings_classes, _settings)]
Checks = Annotated[MethodChecks, OpenUnion(checks_classes, _checks)]

SCORINGS = ("gradient", "guided_backprop", "lrp")
"""The methods of paper 004."""


def scorings() -> tuple[str, ...]:
    """The methods that score pixels, those of packages too."""
    return tuple(name for name, method in METHODS.items() if method.scores)


def score_pixels(
    method: str, classifier: Classifier, pictures: UInt8, classes: Int64
) -> NDArray[np.float32]:
    """What a method gives the pixels of pictures, see `ExplanationMethod.scores`. Raises ModelError
    if it cannot explain the classifier, or does not return scores."""
    scores = np.asarray(load(METHODS[method].scores)(classifier, pictures, classes))
    shape = (len(pictures), *pictures.shape[-2:])
    if scores.shape != shape or scores.dtype.kind not in "fiu" or not np.isfinite(scores).all():
        raise ModelError(
            f"The method {method!r} of {METHODS.package(method)} gives no score for each pixel of "
            f"{classifier.card.id}: {scores.dtype} of shape {scores.shape} for {shape}.",
            todo="Report this to the authors of the package.",
        )
    return scores.astype(np.float32)


class Schedule(Part):
    """AdamW with one cycle of the learning rate: up to `peak` for a share `warm_up` of the steps,
    then down to nothing. The decay of weights does not affect biases and normalisation."""

    steps: int = Field(ge=1)
    batch: int = Field(default=32, ge=2)
    peak: float = Field(gt=0, allow_inf_nan=False)
    warm_up: float = Field(default=0.2, ge=0, lt=1)
    weight_decay: float = Field(default=0.05, ge=0, allow_inf_nan=False)


class ClassifierRecipe(Part):
    """A classifier to train, whole: the same recipe with the same number of CPU threads gives the
    same weights. `schedule` is that of learning to classify; what a method learns beside, and how,
    stands under `method`."""

    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    data: Data
    method: Method
    schedule: Schedule
    seed: int = Field(ge=0)

    @model_validator(mode="after")
    def _fit(self) -> ClassifierRecipe:
        """Some methods know of species, genera and marks."""
        method = METHODS[self.method.name]
        if method.birds != isinstance(self.data, BirdsData):
            learned = [known for known in METHODS.values() if known.settings is not None]
            birds = ", ".join(known.name for known in learned if known.birds)
            rest = ", ".join(known.name for known in learned if not known.birds)
            raise ValueError(
                f"{method.name} cannot learn {self.data.dataset}, only "
                f"{'birds' if method.birds else 'faces or folder'}; allowed methods: {birds} "
                f"for birds, {rest} for the rest"
            )
        return self

    @property
    def birds(self) -> BirdsData:
        """The data of a classifier of birds. Raises ModelError: it is one of other pictures."""
        if isinstance(self.data, BirdsData):
            return self.data
        raise ModelError(
            f"{self.id} was trained on {self.data.dataset}, not on birds.",
            todo="Choose a model whose dataset is birds.",
        )

    @property
    def digest(self) -> str:
        """SHA-256 of all fields that decide the weights: not id, title and notes, nor where a
        folder of pictures lies.

        Fields left to their default do not count, so that a new setting, or a changed default,
        leaves the digest of an old card's recipe as it was.
        """
        deciding = self.model_dump_json(
            exclude={"id": True, "title": True, "notes": True, "data": {"folder"}},
            exclude_unset=True,
            exclude_none=True,
        )
        return hashlib.sha256(deciding.encode()).hexdigest()

    def of(self, data: object) -> ClassifierRecipe:
        """The same recipe with the classes and hash of the folder of pictures, if it uses one."""
        if not isinstance(data, Folder) or not isinstance(self.data, FolderData):
            return self
        known = self.model_copy(update={"data": self.data.known(data)})
        return type(self).model_validate(known.model_dump())

    def whole(self) -> ClassifierRecipe:
        """The same recipe with every default written out, as on a card."""
        return type(self).model_validate(self.model_dump())


def read(path: Path) -> ClassifierRecipe:
    """The recipe in `path`, whole. Raises ModelError with line, key, found and allowed."""
    return recipe.read_document(path, "recipe", ClassifierRecipe).whole()


def is_classifier_recipe(path: Path) -> bool:
    """Whether a recipe is a classifier's, right or wrong, by the keys that only those have."""
    own = ClassifierRecipe.model_fields.keys() - Recipe.model_fields.keys()
    return not own.isdisjoint(recipe.keys(path))
