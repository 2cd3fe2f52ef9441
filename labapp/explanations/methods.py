"""The methods of explanation: their settings in recipes, and where their code is.

Nothing here needs torch before pixels are scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, model_validator

from labapp.datasets.split import Int64
from labapp.discovery import Catalogue, load
from labapp.errors import ModelError
from labapp.plugins.open_union import OpenUnion, one_of
from labapp.representations.data import Part

if TYPE_CHECKING:
    from labapp.explanations.classifier import Classifier
    from labapp.explanations.photos import UInt8


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
            raise ValueError(f"frozen is {self.frozen} of {self.epochs} epochs: fewer are allowed")
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
        What a recipe says besides; derived from `MethodSettings`. None where nothing is learned.
    birds : bool
        Whether it learns birds, with their species, genera and marks; else pictures of any classes.
    approach : where its network is and how that learns: a module as `labapp.explanations.approach`
        describes it; empty where nothing is learned.
    checks : what the card says of it, as `module:Class`, derived from `MethodChecks`; empty where
        nothing is learned.
    sets : the stimulus sets that are built with it, as `module:OBJECT` of several
        `labapp.explanations.building.sets.Spec`; empty for none.
    explainer : who explains the photos of such a set, as `module:function`, which is given the
        `Spec` and returns a `labapp.explanations.building.explainer.Explainer`; empty for none.
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


HERE = "labapp.explanations"
_ALL = (
    ExplanationMethod(
        "resnet",
        Resnet,
        f"{HERE}.resnet",
        f"{HERE}.card:GradcamChecks",
        sets=f"{HERE}.building.sets:GRADCAM",
        explainer=f"{HERE}.building.heatmaps:by_gradcam",
    ),
    ExplanationMethod(
        "bagnet",
        Bagnet,
        f"{HERE}.bagnet",
        f"{HERE}.card:BagnetChecks",
        sets=f"{HERE}.building.sets:BAGNET",
        explainer=f"{HERE}.building.heatmaps:by_bagnet",
    ),
    ExplanationMethod(
        "protopnet",
        Protopnet,
        f"{HERE}.protopnet.training",
        f"{HERE}.card:ProtopnetChecks",
        sets=f"{HERE}.building.sets:PROTOPNET",
        explainer=f"{HERE}.building.prototypes:by_prototypes",
    ),
    ExplanationMethod(
        "prototree",
        Prototree,
        f"{HERE}.prototree.training",
        f"{HERE}.card:PrototreeChecks",
        sets=f"{HERE}.building.sets:PROTOTREE",
        explainer=f"{HERE}.building.paths:by_paths",
    ),
    ExplanationMethod("cnn", Cnn, f"{HERE}.cnn", f"{HERE}.card:CnnChecks", birds=False),
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
    """Why a method cannot be used; empty where it can."""
    if bool(method.scores) != bool(method.label):
        return "a method that scores pixels has scores and a label, and others neither"
    if method.settings is None:
        if method.scores or (method.sets and method.explainer):
            return ""
        return "it has neither settings to learn, nor sets that it explains, nor scores of pixels"
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
    """What a method gives the pixels of pictures, see `ExplanationMethod.scores`.

    Raises ModelError where it cannot explain the classifier, or gives what are no scores.
    """
    scores = np.asarray(load(METHODS[method].scores)(classifier, pictures, classes))
    shape = (len(pictures), *pictures.shape[-2:])
    if scores.shape != shape or scores.dtype.kind not in "fiu" or not np.isfinite(scores).all():
        raise ModelError(
            f"The method {method!r} of {METHODS.package(method)} gives no score for each pixel of "
            f"{classifier.card.id}: {scores.dtype} of shape {scores.shape} for {shape}.",
            todo="Ask the authors of the package to mend it.",
        )
    return scores.astype(np.float32)
