"""Recipes of concept learners, as YAML (models/recipes/concepts-*.yaml).

A file is a recipe, or with `variants` several that have most in common. Nothing here needs torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from labapp.base import resources
from labapp.base.errors import ModelError, UsageError
from labapp.base.naming import NotReserved
from labapp.models.concepts.data import Data
from labapp.models.concepts.settings import SIZES, LearnerSettings, Size, SizeName
from labapp.models.representations import data
from labapp.models.representations.data import Part
from labapp.models.representations.recipe import ID_PATTERN

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
                f"The seed {seed} lies outside 0 to {SEEDS - 1}.",
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
            return (_checked(base, ""),)
        return tuple(
            _checked({**_merged(base, values), "id": f"{self.id}-{name}"}, f"variants, {name}: ")
            for name, values in self.variants.items()
        )


def _checked(values: dict[str, Any], where: str) -> ConceptRecipe:
    try:
        # With every default written out, as on a card.
        return ConceptRecipe.model_validate(ConceptRecipe.model_validate(values).model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}{place}: {first['msg']}") from error


def _merged(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in values.items():
        own = merged.get(key)
        merged[key] = (
            _merged(own, value)
            if isinstance(own, Mapping) and isinstance(value, Mapping)
            else value
        )
    return merged


def read(path: Path) -> tuple[ConceptRecipe, ...]:
    """The recipes in a file. Raises ModelError with line, key, found and allowed."""
    return data.read(path, "recipe", RecipeFile).recipes()


def shipped() -> dict[str, ConceptRecipe]:
    """The recipes that come with labapp, by id. Raises ModelError."""
    folder = resources.models() / "recipes"
    return {recipe.id: recipe for path in sorted(folder.glob(PATTERN)) for recipe in read(path)}


def find(reference: str | Path) -> tuple[ConceptRecipe, ...]:
    """The recipes in a file, or the shipped one of that id. Raises ModelError."""
    if Path(reference).is_file():
        if {"encoder", "predictor"} <= data.keys(Path(reference)):
            raise ModelError(
                f"{reference} describes a model that is trained already, and is no recipe.",
                safe="Nothing was trained.",
                todo=f"Bring it in: labapp concepts import {reference}",
            )
        return read(Path(reference))
    known = shipped()
    if str(reference) in known:
        return (known[str(reference)],)
    raise ModelError(
        f"There is no recipe {str(reference)!r}: neither a file nor the id of a shipped recipe.",
        safe="Nothing was trained.",
        todo="labapp concepts list shows the ids there are.",
    )


def is_concept_recipe(path: Path) -> bool:
    """Whether a recipe is a concept learner's, right or wrong, by a key that only those have."""
    return "learner" in data.keys(path)
