"""What came of each trained concept learner, kept in a file that is committed.

The report is made from this file alone. A result is keyed by the digest of what was asked for, the
size and the seed; a model that is in the file is not trained again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.models.concepts.recipe import ConceptRecipe, SizeName

STORE = Path(__file__).parents[1] / "results" / "concepts.jsonl"
Setting = str | float | tuple[int, ...]
DATA: dict[str, dict[str, str | float]] = {
    "TabularToy(0)": {"dataset": "toy"},
    "TabularToy(0.9)": {"dataset": "toy", "correlation": 0.9},
    "dSprites(0)": {"dataset": "dsprites"},
    "dSprites(4)": {"dataset": "dsprites", "correlations": 4},
    "dSprites(0), spurious background": {"dataset": "dsprites", "spurious": True},
    "3dshapes(0)": {"dataset": "3dshapes"},
    "3dshapes(5)": {"dataset": "3dshapes", "correlations": 5},
}
"""The tasks of the paper, as recipes state them; pictures in the released reading."""
BOTTLENECKS = ("cbm", "cbm-logits")
OF_BOTTLENECKS: dict[str, dict[str, Setting]] = {
    "toy": {"alpha": 0.1, "predictor": (128, 64)},
    "dsprites": {"batch": 64},
    "3dshapes": {},
}
"""What the paper, or its released code, has of bottlenecks alone, by data set."""
OF_SENN: dict[str, dict[str, Setting]] = {
    "toy": {"units": 10},
    "dsprites": {"epochs": 30},
    "3dshapes": {"epochs": 50, "variational": True},
}
"""What the released code has of SENN, by data set."""
UNTIL_LEARNT = ("dSprites(0)", "dSprites(0), spurious background")
"""Tasks whose bottlenecks are trained until they have learnt every concept, see `stopping`. The
schedule of size M leaves them without the rotation."""
FORMER_SEEDS = {True: 3, False: 5}
"""How many there were before, from pictures and of TabularToy."""
Key = tuple[str, str, int]
"""Digest of the recipe, size, seed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A learner that a figure asks for, apart from size and seed.

    Attributes
    ----------
    data : a task, one of `DATA`.
    learner : the kind of learner, as recipes name it.
    settings : what departs from that kind's usual settings, in order of name.
    briefly : see `former`.
    """

    data: str
    learner: str
    settings: tuple[tuple[str, Setting], ...] = ()
    briefly: bool = False

    @classmethod
    def of(cls, data: str, learner: str, **settings: Setting) -> Asked:
        """With what the paper, or its released code, has for this task, where nothing else is
        asked."""
        usual: dict[str, Setting] = {}
        dataset = str(DATA[data]["dataset"])
        if learner in BOTTLENECKS:
            usual = OF_BOTTLENECKS[dataset]
            if data in UNTIL_LEARNT:
                # The released code has this layer and calls it as in evaluation.
                usual = usual | {"dropout": 0.0}
        elif learner == "senn":
            usual = OF_SENN[dataset]
        return cls(data, learner, tuple(sorted((usual | settings).items())))

    @property
    def name(self) -> str:
        """In words, for tables of what is missing."""
        more = [f"{key} {_told(value)}" for key, value in self.settings]
        return ", ".join([f"{self.learner} on {self.data}", *more])

    @property
    def pictures(self) -> bool:
        """Whether its rows are pictures."""
        return DATA[self.data]["dataset"] != "toy"

    @property
    def until_learnt(self) -> bool:
        """Whether it is trained until every concept is learnt, see `stopping`."""
        return self.learner in BOTTLENECKS and self.data in UNTIL_LEARNT and not self.briefly

    @property
    def former(self) -> Asked:
        """The same learner as it was trained before there was a rule for when to stop."""
        kept = tuple(each for each in self.settings if each[0] != "dropout")
        return replace(self, settings=kept, briefly=True) if self.until_learnt else self

    def scale(self, size: SizeName) -> SizeName:
        """The size that it is trained at for a report of a size."""
        return "L" if size == "M" and self.until_learnt else size

    def recipe(self, size: SizeName, seed: int) -> ConceptRecipe:
        """What is trained for a report of a size; data and division stay those of seed 0. Raises
        ValueError for a kind of learner, or a setting of it, that there is not."""
        return _recipe(self, self.scale(size), seed)

    def key(self, size: SizeName, seed: int) -> Key:
        return (self.recipe(size, seed).digest, self.scale(size), seed)


@cache
def _recipe(asked: Asked, size: SizeName, seed: int) -> ConceptRecipe:
    recipe = ConceptRecipe.model_validate(
        {
            "id": f"reproduction/{asked.learner}",
            "title": asked.name,
            "data": DATA[asked.data],
            "learner": {"name": asked.learner, **dict(asked.settings)},
            "size": size,
            "seed": seed,
        }
    )
    # With every default written out, as in shipped recipes, whose digest it then has.
    return ConceptRecipe.model_validate(recipe.model_dump())


def _told(value: Setting) -> str:
    return "-".join(map(str, value)) if isinstance(value, tuple) else f"{value}"


@dataclass(slots=True)
class Store:
    """All results, in the order in which they came; `path` None keeps them in memory alone."""

    path: Path | None
    results: dict[Key, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Store:
        """The last line of a key counts. Raises ValueError or KeyError for a line that is no
        result."""
        store = cls(path)
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            result = json.loads(line)
            store.results[_key(result)] = result
        return store

    def has(self, asked: Asked, size: SizeName, seed: int, extra: frozenset[str]) -> bool:
        """Whether there is a result with all these further measures."""
        result = self.results.get(asked.key(size, seed))
        return result is not None and extra <= set(result["measured"])

    def add(self, result: dict[str, Any]) -> None:
        """Adds a result, and appends it to the file at once: where there is one of its key, it
        counts in that one's place from now on."""
        self.results[_key(result)] = result
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(result, allow_nan=False) + "\n")
                stream.flush()
                os.fsync(stream.fileno())

    def at(self, size: SizeName) -> Results:
        return Results(size, self.results)


def _key(result: Mapping[str, Any]) -> Key:
    if result["size"] not in get_args(SizeName):
        raise ValueError(f"unknown size {result['size']!r}")
    return (str(result["digest"]), str(result["size"]), int(result["seed"]))


Change = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Results:
    """The results that a report of a size is made of.

    Attributes
    ----------
    former : whether they are of the models that there were before the rules of `stopping` and
        `verdicts`: three seeds from pictures and five of TabularToy.
    change : what is made of each result; None leaves it out. For sensitivity analyses.
    """

    size: SizeName
    every: Mapping[Key, Mapping[str, Any]]
    former: bool = False
    change: Change | None = None

    def result(self, asked: Asked, seed: int) -> Mapping[str, Any] | None:
        if self.former:
            if seed >= FORMER_SEEDS[asked.pictures]:
                return None
            asked = asked.former
        result = self.every.get(asked.key(self.size, seed))
        return result if result is None or self.change is None else self.change(result)

    def of(self, asked: Asked) -> list[Mapping[str, Any]]:
        """Of all seeds, in their order. Where fewer than two are trained until they have learnt
        every concept, the former models are used in their place."""
        models = self.finished(asked)
        if len(models) < 2 and asked.until_learnt:
            return replace(self, former=True).finished(asked) or models
        return models

    def finished(self, asked: Asked) -> list[Mapping[str, Any]]:
        """Of all seeds, in their order, without former models used in the place of others."""
        seeds = sorted({seed for _, _, seed in self.every})
        models = (self.result(asked, seed) for seed in seeds)
        return [model for model in models if model is not None]

    def values(self, asked: Asked, *path: str | int) -> list[float]:
        """A number of each seed's result, for example `values(model, "code", "ois", "given")`;
        seeds whose result lacks it are left out."""
        return [number for number in self.column(asked, *path) if number is not None]

    def column(self, asked: Asked, *path: str | int) -> list[float | None]:
        """The same of all seeds: None of one whose result lacks it."""
        numbers = (_at(result, path) for result in self.of(asked))
        return [None if number is None else float(number) for number in numbers]

    def arrays(self, asked: Asked, *path: str | int) -> NDArray[np.float64]:
        """The same of an array: shape (seeds, ...)."""
        arrays = [_at(result, path) for result in self.of(asked)]
        return np.array([array for array in arrays if array is not None], dtype=np.float64)


def _at(result: Mapping[str, Any], path: Sequence[str | int]) -> Any:
    value: Any = result
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            return None
    return value
