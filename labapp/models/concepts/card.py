"""The card of a concept model: concepts.yaml of a package, checked when it is read.

It holds the whole recipe, so that the training can be repeated, and what was measured with the
weights as they are stored. Nothing here needs torch.

A lab's own concept model as its description says it: two files, the concepts and classes, and
test pictures with what is true of them.

    id: own/shapes                 what studies and commands name it
    title: Our shapes
    encoder: encoder.onnx          pictures (n, channels, size, size) -> codes (n, concepts)
    predictor: predictor.onnx      codes (n, concepts) -> scores of the classes (n, classes),
                                   before a softmax
    format: onnx                   of both; or torchscript, torch-export
    codes: logits                  what a code is; or probabilities
    size: 64                       pixels a side that the encoder takes
    channels: 3
    mean: [0.5]                    subtracted from levels 0 to 1; std: divided by then
    std: [0.5]
    concepts: [{id: size, name: Size, off: large, on: small}, ...]        each is so or not
    classes: [{id: a, name: Bav, concepts: {size: true}}, ...]            as the scores are ordered
    invented: true                 the classes' names are made up, so that studies may draw them
    pictures: pictures.csv         columns picture, class, and one for each concept: 1 or 0

Nothing here needs torch or ONNX Runtime.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from labapp.base.documents import Path_, Strict, faults_at, refuse_again
from labapp.base.errors import DatasetError
from labapp.base.naming import NotReserved
from labapp.base.reading import files, tables
from labapp.models.concepts.recipe import ConceptData, ConceptRecipe
from labapp.models.datasets import folder as folders
from labapp.models.datasets.concepts.rows import (
    ConceptRows,
    ConceptSplit,
    ConceptWords,
    Origin,
    UInt8,
    Words,
)
from labapp.models.datasets.painter import average_blocks
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.representations import recipe
from labapp.models.representations.card import SHA256_PATTERN
from labapp.models.representations.recipe import ID_PATTERN, Part
from labapp.models.stimuli.interventions import MOST_CONCEPTS
from labapp.models.stimuli.manifest import Concept, Id

FEWEST, FEWEST_OF_EACH = 20, 5
"""Test pictures that are needed at least, and of those with a concept and without it: codes are set
to percentiles of theirs, and their purity is measured."""
SHOWN = 512
"""Pixels a side in which people see pictures, if they have so many."""
LARGEST_TABLE = 16 * files.MIB
COLUMNS = "Give a CSV file with the columns picture, class, and one for each concept."
MORE = "Add test pictures that the model did not learn from."
TRUE, FALSE = {"1", "true", "yes"}, {"0", "false", "no"}

Level = Annotated[float, Field(allow_inf_nan=False)]


class OwnClass(Strict):
    """A class of a lab's own model.

    Attributes
    ----------
    id : its name in tables. `name`: what people are told.
    concepts : by id the concepts that make it, on or off, all together; none if nobody knows.
    """

    id: Id
    name: str = Field(min_length=1)
    concepts: dict[Id, bool] = Field(default_factory=dict)


class Description(Strict):
    """See the module."""

    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    encoder: str = Field(min_length=1)
    predictor: str = Field(min_length=1)
    format: Literal["onnx", "torchscript", "torch-export"] = "onnx"
    codes: Literal["probabilities", "logits"]
    size: int = Field(ge=4, le=1024)
    channels: Literal[1, 3] = 3
    mean: tuple[Level, ...] = (0.0,)
    std: tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...] = (1.0,)
    concepts: tuple[Concept, ...] = Field(min_length=1, max_length=MOST_CONCEPTS)
    classes: tuple[OwnClass, ...] = Field(min_length=2)
    invented: bool = False
    pictures: str = Field(min_length=1)

    @model_validator(mode="after")
    def _fit(self) -> Description:
        for what, every in (("concepts", self.concepts), ("classes", self.classes)):
            for key in ("id", "name"):
                refuse_again([getattr(each, key) for each in every], (what,), (key,))
        ids = [concept.id for concept in self.concepts]
        faults: dict[Path_, str] = {}
        for number, concept in enumerate(self.concepts):
            if concept.off == concept.on:
                what = (
                    f"found {concept.on!r}, which is also the word for `off`; allowed: a "
                    "different word"
                )
                faults["concepts", number, "on"] = what
        for number, class_ in enumerate(self.classes):
            for name in class_.concepts.keys() - set(ids):
                what = f"found {name!r}; allowed: {', '.join(ids)}"
                faults["classes", number, "concepts", name] = what
        for key in ("mean", "std"):
            if (count := len(getattr(self, key))) not in (1, self.channels):
                what = f"found {count} numbers; allowed: one, or one for each of {self.channels}"
                faults[key,] = f"{what} channels"
        if faults:
            raise faults_at(faults)
        return self


def read_description(path: Path) -> Description:
    """The description in a file. Raises ModelError with line, key, found and allowed."""
    return recipe.read_document(path, "description of a concept model", Description)


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """Pictures of a lab in memory: `pictures` uint8, shape (n, channels, size, size)."""

    pictures: UInt8

    def __len__(self) -> int:
        return len(self.pictures)

    def instances(self, rows: Int64) -> Float32:
        levels: Float32 = self.pictures[rows].astype(np.float32)
        return levels / np.float32(255)

    def factors(self, rows: Int64) -> Float64:
        """The row's number: which picture it is."""
        return rows[:, None].astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class OwnPictures:
    """The test pictures of a lab's own model. sha256: over the files and what is true of them;
    remarks: what is to be known of them, for people."""

    data: ConceptData
    sha256: str
    remarks: tuple[str, ...] = ()


def pictures(description: Description, path: Path) -> OwnPictures:
    """Read the test pictures that a description names; path: of the description. Raises
    DatasetError: the table or a picture cannot be read, a row says something else than 1 or 0 of a
    concept or names no class, two rows have the same picture, or there are too few."""
    table = path.parent / description.pictures
    rows = _rows(table, description)
    total = hashlib.sha256()
    seen, shown = [], []
    line_of: dict[str, int] = {}
    for line, (picture, class_, truths) in enumerate(rows, start=2):
        content, large = _large(_file(table, line, picture), description, f"{table}, line {line}")
        digest = hashlib.sha256(content).hexdigest()
        if (first := line_of.setdefault(digest, line)) != line:
            raise _refuse(
                f"{table}, line {line}: {picture} is the same picture as in line {first}.",
                "Remove one of the two, so that nobody sees a picture twice.",
            )
        total.update(f"{digest} {class_} {truths}\n".encode())
        seen.append(average_blocks(large[None], description.size)[0])
        shown.append(large)
    names = [each.id for each in description.classes]

    def draw(factors: Float64, pixels: int) -> UInt8:
        large = shown[int(factors[0])]
        reduced = average_blocks(large[None], min(pixels, large.shape[-1]))[0]
        three = reduced if len(reduced) == 3 else np.repeat(reduced, 3, axis=0)
        return np.ascontiguousarray(three.transpose(1, 2, 0))

    test = ConceptRows(
        OwnRows(np.stack(seen)),
        np.array([truths for _, _, truths in rows], dtype=np.int64),
        np.array([names.index(class_) for _, class_, _ in rows], dtype=np.int64),
    )
    ids = [concept.id for concept in description.concepts]
    split = ConceptSplit(
        name=description.title,
        train=test,
        test=test,
        factor_names=("picture",),
        concept_names=tuple(concept.name for concept in description.concepts),
        classes=len(names),
        origin="own",
        words=tuple(
            ConceptWords(
                concept.id,
                concept.name,
                concept.off,
                concept.on,
                {
                    language: Words(words.name, words.off, words.on)
                    for language, words in concept.translations.items()
                },
                concept.right,
            )
            for concept in description.concepts
        ),
        rules=tuple(
            {ids.index(name): int(on) for name, on in class_.concepts.items()}
            for class_ in description.classes
        ),
        draw=draw,
        invented=description.invented,
        class_names=tuple((class_.id, class_.name) for class_ in description.classes),
    )
    shape = (description.channels, description.size, description.size)
    there = {class_ for _, class_, _ in rows}
    remarks = [f"The class {name} has no picture." for name in names if name not in there]
    return OwnPictures(ConceptData(split, None, shape), total.hexdigest(), tuple(remarks))


def _file(table: Path, line: int, name: str) -> Path:
    """The file that a line names, also if its name has accents that are written otherwise: of
    one sign here and of two there, as macOS has them."""
    file = table.parent / name
    if not name.strip() or file.is_dir():
        raise _refuse(f"{table}, line {line}: {name!r} is not a picture.", "Name a picture's file.")
    if file.exists() or not file.parent.is_dir():
        return file
    alike = unicodedata.normalize("NFC", file.name)
    return next(
        (
            other
            for other in file.parent.iterdir()
            if unicodedata.normalize("NFC", other.name) == alike
        ),
        file,
    )


def _large(file: Path, description: Description, place: str) -> tuple[bytes, UInt8]:
    """A file's content, and its picture as people see it: the largest whole multiple of the model's
    size that it has. place: the line that names it, for messages."""
    # How many times: the first is known to fit, and above the second none does.
    fits, most = 0, max(1, SHOWN // description.size)
    large, why, tried = None, None, most
    while fits < most:
        size = description.size * tried
        try:
            large, fits = folders.pixels(file, size=size, channels=description.channels), tried
        except DatasetError as error:  # smaller than that, or not readable at all
            why, most = error, tried - 1
        tried = (fits + most + 1) // 2
    if large is None:
        assert why is not None
        raise _refuse(f"{place}: {why.what}", why.todo) from why
    return large


def _rows(table: Path, description: Description) -> list[tuple[str, str, tuple[int, ...]]]:
    """Of each line: picture, class, and 1 or 0 of each concept."""
    ids = [concept.id for concept in description.concepts]
    try:
        read = tables.read(files.content(table, LARGEST_TABLE))
        places = read.columns(("picture", "class", *ids))
        lines = [(line, {c: cells[at] for c, at in places.items()}) for line, cells in read.rows]
    except OSError as error:
        why = error.strerror or error
        raise _refuse(f"The table of pictures {table} cannot be read: {why}.") from error
    except tables.TableError as error:
        raise _refuse(f"{table}: {error.what}.", f"{error.todo}.") from error
    if len(lines) < FEWEST:
        raise _refuse(f"{table} has {len(lines)} pictures, but at least {FEWEST} are needed.", MORE)
    made_of = {class_.id: class_.concepts for class_ in description.classes}
    rows = []
    for number, line in lines:
        if line["class"] not in made_of:
            raise _refuse(f"{table}, line {number}: {line['class']!r} is not one of the classes.")
        truths = []
        for name in ids:
            cell = line[name].strip().lower()
            if cell not in TRUE | FALSE:
                raise _refuse(
                    f"{table}, line {number}, {name}: found {cell!r}; allowed: 1 or 0 (or true or "
                    "false, yes or no)."
                )
            truths.append(int(cell in TRUE))
            needed_on = made_of[line["class"]].get(name)
            if needed_on is not None and needed_on != (cell in TRUE):
                raise _refuse(
                    f"{table}, line {number}: {name!r} is {cell}, but the description says that "
                    f"class {line['class']!r} has it {'on' if needed_on else 'off'}.",
                    "Correct the line or the class. If the class's `concepts` are not certain, "
                    "leave them out.",
                )
        rows.append((line["picture"], line["class"], tuple(truths)))
    for name, on in zip(ids, np.array([truths for _, _, truths in rows]).sum(axis=0), strict=True):
        if min(on, len(rows) - on) < FEWEST_OF_EACH:
            raise _refuse(
                f"{table} has {on} pictures with {name!r} and {len(rows) - on} without it; at "
                f"least {FEWEST_OF_EACH} of each are needed.",
                MORE,
            )
    return rows


def _refuse(what: str, todo: str = COLUMNS) -> DatasetError:
    return DatasetError(what, todo=todo)


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
    task : of classes; none if no class is learned.
    concepts : of concepts, all together; none if codes are of no known concept.
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
    test : on all test rows. `validation`: on those kept from training, if there are some.
    scores : of the codes of the test rows: `ois`, `ois_published` and `ois_standardised` (in
        coordinates that codes of other kinds can be compared in), `nis`, `nis_published`, and
        `nis_trained`, learned from training codes as in Figures 4 and 5 of paper 001; where codes
        sum up maps, `ois_maps` and `nis_maps` of these; if they were discovered in a network,
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
            raise ValueError("recipe_sha256 belongs to a different recipe than the one on the card")
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
        return recipe.read_document(folder / CARD, "concept card", ImportedCard)
    return recipe.read_document(folder / CARD, "concept card", ConceptCard)
