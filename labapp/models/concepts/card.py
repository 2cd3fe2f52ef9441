"""The card of a concept model: concepts.yaml of a package, checked when it is read.

It holds the whole recipe, so that the training can be repeated, and what was measured with the
weights as they are stored. Nothing here needs torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from labapp.models.concepts.own_pictures import Description
from labapp.models.concepts.recipe import ConceptRecipe
from labapp.models.datasets.concepts.rows import Origin
from labapp.models.representations import data
from labapp.models.representations.card import SHA256_PATTERN
from labapp.models.representations.data import Part

CARD = "concepts.yaml"
WEIGHTS = "weights.safetensors"
CODES = "codes.npz"
INTERVENTION = "intervention.npz"
ENCODER, PREDICTOR = "encoder.onnx", "predictor.onnx"
"""Of a lab's own model, in place of weights."""
Share = Annotated[float, Field(ge=0, le=1)]
Sha256 = Annotated[str, Field(pattern=SHA256_PATTERN)]


class TrainingRecord(Part):
    """How the weights were trained. `phases`: epochs by name; `seconds`: over all restarts;
    `versions`: of what they were computed with."""

    recipe_sha256: Sha256
    phases: dict[str, int] = Field(min_length=1)
    seconds: float = Field(ge=0)
    threads: int = Field(ge=1)
    versions: dict[str, str]


class DataRecord(Part):
    """The task that was learned.

    Attributes
    ----------
    name : with its reading.
    origin : "computed", "rendered" by labapp, or "official".
    files : SHA-256 of what was read from files, by their published names.
    concepts : their names: what is there when one is on.
    classes, train, validation, test : how many there are, of classes and of rows.
    """

    name: str
    origin: Origin
    files: dict[str, Sha256] = Field(default_factory=dict)
    concepts: tuple[str, ...] = Field(min_length=1)
    classes: int = Field(ge=2)
    train: int = Field(ge=1)
    validation: int = Field(ge=0)
    test: int = Field(ge=1)


class Accuracy(Part):
    """Share of right answers over all rows of a part.

    Attributes
    ----------
    task : of classes; none where no class is learned.
    concepts : of concepts, all together; none where codes are of no known concept.
    each : of every concept, by name.
    """

    task: Share | None = None
    concepts: Share | None = None
    each: dict[str, Share] | None = None


class ConceptCard(Part):
    """What a package says of its concept model.

    Attributes
    ----------
    recipe : with the size and the seed that it was trained in.
    test : on all test rows. `validation`: on those kept from training, where there are some.
    scores : of the codes of the test rows: `ois`, `ois_published` and `ois_standardised` (in
        coordinates that codes of other kinds can be compared in), `nis`, `nis_published`, and
        `nis_trained`, learned from training codes as in Figures 4 and 5 of paper 001; where codes
        sum up maps, `ois_maps` and `nis_maps` of these; where they were discovered in a network,
        `completeness`.
    """

    card: Literal[1]
    recipe: ConceptRecipe
    training: TrainingRecord
    data: DataRecord
    test: Accuracy
    validation: Accuracy | None = None
    scores: dict[str, float]
    weights_sha256: Sha256
    codes_sha256: Sha256
    intervention_sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _belong_together(self) -> ConceptCard:
        if self.training.recipe_sha256 != self.recipe.digest:
            raise ValueError("recipe_sha256 is of another recipe than the one on the card")
        return self

    @property
    def id(self) -> str:
        return self.recipe.id

    @property
    def title(self) -> str:
        return self.recipe.title

    @property
    def learner(self) -> str:
        return self.recipe.learner.name

    @property
    def dataset(self) -> str:
        return self.recipe.data.dataset

    @property
    def size(self) -> str | None:
        return self.recipe.size


class ImportRecord(Part):
    """What a lab's own model was made of: the SHA-256 of both files and, over the test pictures and
    what is true of them, of these; `pictures`: how many there are; `remarks`: what is to be known,
    such as a class without pictures."""

    encoder_sha256: Sha256
    predictor_sha256: Sha256
    pictures: int = Field(ge=1)
    pictures_sha256: Sha256
    remarks: tuple[str, ...] = ()


class ImportedCard(Part):
    """What a package says of a lab's own concept model, which came in by `labapp concepts import`.

    Attributes
    ----------
    description : as the lab gave it.
    test : on the lab's test pictures, and `scores` of their codes; see `ConceptCard`. Logits are
        set to percentiles of the codes of these pictures: others are not at hand.
    """

    card: Literal[1]
    description: Description
    imported: ImportRecord
    test: Accuracy
    validation: None = None
    scores: dict[str, float]
    encoder_sha256: Sha256
    predictor_sha256: Sha256
    codes_sha256: Sha256
    intervention_sha256: Sha256

    @property
    def id(self) -> str:
        return self.description.id

    @property
    def title(self) -> str:
        return self.description.title

    @property
    def learner(self) -> str:
        return "imported"

    @property
    def dataset(self) -> str:
        return "own"

    @property
    def size(self) -> str | None:
        return None

    @property
    def weights_sha256(self) -> str:
        """Of the encoder, which has the concepts."""
        return self.encoder_sha256


Card = ConceptCard | ImportedCard


def concept_names(card: Card) -> tuple[str, ...]:
    """What the concepts of a model are called, in order."""
    if isinstance(card, ConceptCard):
        return card.data.concepts
    return tuple(concept.name for concept in card.description.concepts)


def read(folder: Path) -> Card:
    """The card of the package in `folder`. Raises ModelError (line, key, found, allowed)."""
    if (folder / ENCODER).is_file():
        return data.read(folder / CARD, "concept card", ImportedCard)
    return data.read(folder / CARD, "concept card", ConceptCard)
