"""Recipes of classifiers, as YAML (models/recipes/birds-*.yaml, faces-cnn.yaml).

Nothing here needs torch, so that recipes and cards are read and refused at once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from labapp.datasets.folder import Folder
from labapp.documents import LARGEST, parse_yaml
from labapp.errors import LabappError, ModelError
from labapp.explanations.data import BirdsData, Data, FolderData
from labapp.explanations.methods import METHODS, Method
from labapp.naming import NotReserved
from labapp.reading import files
from labapp.representations import document
from labapp.representations.data import Part
from labapp.representations.recipe import ID_PATTERN, Recipe


class Schedule(Part):
    """AdamW with one cycle of the learning rate: up to `peak` for a share `warm_up` of the steps,
    then down to nothing. The weights' decay leaves biases and normalisation alone.
    """

    steps: int = Field(ge=1)
    batch: int = Field(default=32, ge=2)
    peak: float = Field(gt=0, allow_inf_nan=False)
    warm_up: float = Field(default=0.2, ge=0, lt=1)
    weight_decay: float = Field(default=0.05, ge=0, allow_inf_nan=False)


class ClassifierRecipe(Part):
    """A classifier to train, whole: the same recipe with the same number of CPU threads gives the
    same weights. `schedule` is that of learning to classify; what a method learns beside, and
    how, stands under `method`.
    """

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
                f"{method.name} does not learn {self.data.dataset}, but "
                f"{'birds' if method.birds else 'faces or folder'}; "
                f"allowed methods: {birds} for birds, {rest} for the rest"
            )
        return self

    @property
    def birds(self) -> BirdsData:
        """The data of a classifier of birds. Raises ModelError: it is one of other pictures."""
        if isinstance(self.data, BirdsData):
            return self.data
        raise ModelError(
            f"{self.id} was trained on {self.data.dataset}, not on birds.",
            todo="Name a model whose dataset is birds.",
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
    return document.read(path, "recipe", ClassifierRecipe).whole()


def is_classifier_recipe(path: Path) -> bool:
    """Whether the recipe in `path` is a classifier's, right or wrong, by the keys that only those
    have."""
    try:
        value = parse_yaml(path, files.content(path, LARGEST), ModelError).value
    except (OSError, LabappError):
        return False
    own = ClassifierRecipe.model_fields.keys() - Recipe.model_fields.keys()
    return isinstance(value, dict) and not own.isdisjoint(value)
