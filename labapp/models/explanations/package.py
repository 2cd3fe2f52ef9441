"""Classifier packages: folders `<dataset>/<name>/` with a card and weights.

    classifier.yaml       what it is, how it was made, how good it is, the hash of the weights
    weights.safetensors   parameters and statistics, float32

Listing packages and reading cards leave torch alone.

The card of a classifier: classifier.yaml of a package, checked when it is read.

It holds the whole recipe, so that the training can be repeated, and what was measured with the
weights as they are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from labapp.models.datasets.birds import SPECIES
from labapp.models.datasets.split import Float32
from labapp.models.explanations.data import Checks, ClassifierRecipe, MethodChecks
from labapp.models.representations import package, recipe
from labapp.models.representations.card import SHA256_PATTERN
from labapp.models.representations.recipe import Part
from labapp.models.training import files

if TYPE_CHECKING:
    from labapp.models.explanations.classifier import Classifier


CARD = "classifier.yaml"
WEIGHTS = "weights.safetensors"

VISIBLE = 0.6
"""Least share of a mark's area that must be seen for the mark to count as visible."""
HUNDRED = 100
"""Number of successive test pictures over which the card counts hits."""
Share = Annotated[float, Field(ge=0, le=1)]


class TrainingRecord(Part):
    """How the weights were trained. `phases`: steps by name; `seconds`: over all restarts."""

    recipe_sha256: str = Field(pattern=SHA256_PATTERN)
    phases: dict[str, int] = Field(min_length=1)
    seconds: float = Field(ge=0)
    device: Literal["cpu"] = "cpu"
    threads: int = Field(ge=1)
    versions: dict[str, str]


class BirdTest(Part):
    """Performance on the test part, which was used neither for training nor for any choice.

    Attributes
    ----------
    recall : by species.
    hits : right answers in each `HUNDRED` pictures in turn, in the order of the rows, so that a
        card can be told wrong from a part of the pictures.
    inside_genus : share of the errors whose genus is right.
    usable : those errors, which studies can show.
    decidable : share of them where both deciding marks are visible (`VISIBLE`).
    """

    pictures: int = Field(ge=1)
    accuracy: Share
    genus_accuracy: Share
    recall: list[Share] = Field(min_length=SPECIES, max_length=SPECIES)
    hits: list[int] = Field(min_length=1)
    errors: int = Field(ge=0)
    inside_genus: Share
    usable: int = Field(ge=0)
    decidable: Share

    @model_validator(mode="after")
    def _consistent(self) -> BirdTest:
        _adds_up(self)
        return self


class ClassNumbers(Part):
    """Precision, recall, F1 and support of one class, as scikit-learn computes them."""

    precision: Share
    recall: Share
    f1: Share
    support: int = Field(ge=0)


class ClassTest(Part):
    """Performance on the test part, for classes that have neither genus nor marks.

    `classes` by name, in the order of the scores, and their `average` weighted by support, as in
    table 2 of Biessmann and Refiano (2019). `confusion`: pictures of each class (row) called each
    class (column). `hits` as for `BirdTest`.
    """

    pictures: int = Field(ge=1)
    accuracy: Share
    classes: dict[str, ClassNumbers] = Field(min_length=2)
    average: ClassNumbers
    confusion: list[list[int]]
    hits: list[int] = Field(min_length=1)
    errors: int = Field(ge=0)

    @model_validator(mode="after")
    def _consistent(self) -> ClassTest:
        _adds_up(self)
        rows = [sum(row) for row in self.confusion]
        if rows != [class_.support for class_ in self.classes.values()]:
            raise ValueError(
                f"the rows of confusion add up to {rows}, which does not match the support"
            )
        right = sum(row[k] for k, row in enumerate(self.confusion))
        if right != sum(self.hits):
            raise ValueError(f"confusion has {right} on its diagonal, hits {sum(self.hits)}")
        return self


def _adds_up(test: BirdTest | ClassTest) -> None:
    right = sum(test.hits)
    if right != test.pictures - test.errors:
        raise ValueError(
            f"hits sum to {right}, but {test.pictures} pictures have {test.errors} errors"
        )
    if abs(test.accuracy - right / test.pictures) > 5e-5:
        raise ValueError(f"accuracy is {test.accuracy}, but {right} of {test.pictures} are hit")


def _kind_of_test(test: object) -> str:
    """Tag of the model for the `test` block of a card."""
    by_class = isinstance(test, ClassTest) or (isinstance(test, dict) and "classes" in test)
    return "classes" if by_class else "birds"


Test = Annotated[
    Annotated[BirdTest, Tag("birds")] | Annotated[ClassTest, Tag("classes")],
    Discriminator(_kind_of_test),
]


class Pointing(Part):
    """Where an explanation of the predicted species points: its peak, over so many test pictures.

    `on_mark`: share within a cell (8 pixels of 96) of a mark that tells the species from its
    sisters, `by_chance` the share of the area that counts so. `on_bird`: share on the bird.
    """

    pictures: int = Field(ge=1)
    on_mark: Share
    by_chance: Share
    on_bird: Share


class GradcamChecks(MethodChecks):
    """`sisters`: mean correlation of the predicted species' map with those of its sisters."""

    method: Literal["resnet"]
    pointing: Pointing
    sisters: float = Field(ge=-1, le=1)


class BagnetChecks(MethodChecks):
    """`field`: width and height, in pixels, of what changed one position's evidence, measured by
    changing pixels. `map_error`: greatest difference of a score from the mean of its map."""

    method: Literal["bagnet"]
    field: tuple[int, int]
    map_error: float = Field(ge=0)
    pointing: Pointing
    sisters: float = Field(ge=-1, le=1)


class ProtopnetChecks(MethodChecks):
    """`accuracy` on test pictures: before the last push, after it ("pushed"), with the last layer
    fitted again ("weighed"), and after pruning, with it fitted once more ("pruned").

    Attributes
    ----------
    prototypes : how many were learned.
    kept : after pruning.
    fewest : of a species.
    copies : that were the same patch as another of their species.
    own_similarity : the smallest similarity of a kept prototype with the patch it was taken from,
        which should be `greatest_similarity`.
    prototypes_on : where the patches of the prototypes lie in their own pictures.
    on_parts : the share on the bird or within a cell of a deciding mark.
    pointing : where the prototype that speaks most for the prediction is found.
    """

    method: Literal["protopnet"]
    accuracy: dict[Literal["before", "pushed", "weighed", "pruned"], Share]
    prototypes: int = Field(ge=1)
    kept: int = Field(ge=1)
    fewest: int = Field(ge=1)
    copies: int = Field(ge=0)
    own_similarity: float
    greatest_similarity: float
    prototypes_on: Pointing
    on_parts: Share
    pointing: Pointing


class TreeAccuracy(Part):
    """`soft`: over all ways of the tree; `greedy`: along the likelier answers alone."""

    soft: Share
    greedy: Share


class PrototreeChecks(MethodChecks):
    """`accuracy` on test pictures, when grown, after pruning and after projection. `depth`,
    `questions`, `leaves`: of the tree at last. Over the test pictures: `mean_steps` of the ways,
    share of them answered `present`, and `eligible` pictures: right, with last two steps that
    decide between four species. `share_error`: greatest difference from 1 of the probabilities of
    all ways together. `prototypes_on` and `on_parts` as for `ProtopnetChecks`."""

    method: Literal["prototree"]
    accuracy: dict[Literal["grown", "pruned", "projected"], TreeAccuracy]
    depth: int = Field(ge=1)
    questions: int = Field(ge=1)
    leaves: int = Field(ge=2)
    mean_steps: float = Field(ge=0)
    present: Share
    eligible: int = Field(ge=0)
    share_error: float = Field(ge=0)
    prototypes_on: Pointing
    on_parts: Share


class Cue(Part):
    """What a cue of the training pictures alone does: accuracy on the test pictures in which it
    says the right class (`agreeing`) and on the others (`misleading`), and how many the latter
    are."""

    agreeing: Share
    misleading: Share
    misleading_pictures: int = Field(ge=0)


class CnnChecks(MethodChecks):
    """`parameters`: how many were learned. `train_accuracy`: on the training pictures as they are.
    `cues`: by name, if the data have some."""

    method: Literal["cnn"]
    parameters: int = Field(ge=1)
    train_accuracy: Share
    cues: dict[str, Cue] | None = None


class ClassifierCard(Part):
    """What a package says of its classifier.

    `parts`: pictures of each class in each part, if the recipe gives only their shares.
    """

    card: Literal[1]
    recipe: ClassifierRecipe
    training: TrainingRecord
    parts: dict[Literal["train", "validation", "test"], dict[str, int]] | None = None
    validation_accuracy: Share
    test: Test
    checks: Checks
    weights_sha256: str = Field(pattern=SHA256_PATTERN)

    @model_validator(mode="after")
    def _belong_together(self) -> ClassifierCard:
        if self.checks.method != self.recipe.method.name:
            raise ValueError(
                f"checks belong to {self.checks.method}, not {self.recipe.method.name}"
            )
        if self.training.recipe_sha256 != self.recipe.digest:
            raise ValueError("recipe_sha256 belongs to a different recipe than the one on the card")
        return self

    @property
    def id(self) -> str:
        return self.recipe.id


find = partial(package.find, card=CARD)
list_packages = partial(package.list_packages, card=CARD)
refuse_existing = partial(package.refuse_existing, card=CARD)


def read(folder: Path) -> ClassifierCard:
    """The card of the package in `folder`. Raises ModelError (line, key, found, allowed)."""
    return recipe.read_document(folder / CARD, "classifier card", ClassifierCard)


def load(path_or_id: str | Path, threads: int = 1, *, root: Path | None = None) -> Classifier:
    """A classifier, checked and ready. Raises ModelError: missing, foreign, damaged, pickled,
    mislabelled: the message says which. `threads`: CPU threads of torch, set for the *whole
    process*."""
    folder = find(path_or_id, root)
    card = read(folder)
    package.refuse_other_id(folder, card.id, path_or_id)
    weights = files.read_weights(folder / WEIGHTS, card.weights_sha256)
    import torch

    from labapp.models.explanations.classifier import Classifier, approach
    from labapp.models.representations.torch_backend import load_weights

    torch.set_num_threads(threads)
    network = approach(card.recipe.method.name).network(card.recipe)
    load_weights(network, weights, folder / WEIGHTS)
    return Classifier(card, network.eval())


def write(folder: Path, card: ClassifierCard, weights: Mapping[str, Float32]) -> Path:
    """Write a package, whole or not at all; the hash of the weights is set here. Raises ModelError:
    `folder` exists (a package is never overwritten) or cannot be written."""
    refuse_existing(folder)
    content = files.pack_weights(weights)
    card = card.model_copy(update={"weights_sha256": files.digest(content)})
    return package.write_whole(folder, {WEIGHTS: content}, CARD, card)
