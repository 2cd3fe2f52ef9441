"""What `labapp concepts stimuli` does: build and write a stimulus set of the kind `interventions`,
test pictures of a concept model with its answers in every state of the concepts, so that a session
needs no model.

Pictures are chosen by what corrections do to them
(`labapp.models.stimuli.interventions.item_type`), and some at their natural frequency; of those
only whose concepts people can tell by eye, unless all are asked for. Their order follows from the
seed alone: sets of several models of one task have the same pictures wherever they can.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from labapp import __version__
from labapp.base.errors import StimuliError, UsageError
from labapp.models.concepts import package
from labapp.models.concepts.card import Card
from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.training import Interventions, interventions
from labapp.models.datasets.concepts.rows import (
    Bool,
    ConceptSplit,
    ConceptWords,
    UInt8,
    generator,
    order,
)
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.leakage import ctl, icl
from labapp.models.metrics.ois import ois
from labapp.models.stimuli import importing, library, pictures, score_files
from labapp.models.stimuli.check import inner_faults
from labapp.models.stimuli.interventions import Answers, item_type
from labapp.models.stimuli.library import refusal
from labapp.models.stimuli.manifest import (
    PATTERNS,
    SET_ID,
    Class_,
    ClassWords,
    Concept,
    ItemType,
    Manifest,
    Method,
    Photo,
)
from labapp.models.stimuli.manifest import ConceptModel as ModelRecord
from labapp.models.stimuli.manifest import ConceptWords as ManifestWords

NAMES = ("Bav", "Dup", "Fim", "Gos", "Kel", "Lun", "Mip", "Nar", "Pog", "Rin", "Tez", "Vus")
"""What classes are called: nobody knows them before."""
ITEM_TYPES: tuple[ItemType, ...] = get_args(ItemType)
NATURAL = "natural"
COUNTS = {"repair": 24, "control": 24, "trap": 12, "unrepairable": 8, NATURAL: 24}
"""How many pictures of each type a set has, if there are so many."""
PIXELS = 512
ANSWERS = "answers.npy"
DIGITS = 4
_SCORES = {"ois_standardised": "ois_common"}
"""Scores that a manifest calls otherwise than a card."""
_STREAM = 6
"""Of a seed: the order of pictures."""


@dataclass(frozen=True, slots=True, eq=False)
class PicturePool:
    """What a set is chosen from: pictures, and what a model makes of them.

    Attributes
    ----------
    answers : shape (n, 3^k, classes).
    beliefs : float64, shape (n, k), rounded as the manifest has them.
    concepts : what is true, int64 0 or 1, shape (n, k). `labels`: int64, shape (n,).
    words : of each concept. `classes`: as the manifest has them.
    picture : of a row, its name in the set, and the file; none if it is drawn when needed.
    allowed : whether a row may be chosen, shape (n,). `rule`: which may, in words.
    source : where the pictures are from. `invented`: whether the names of the classes are.
    classes_are : what texts call them.
    """

    answers: Answers
    beliefs: Float64
    concepts: Int64
    labels: Int64
    words: tuple[ConceptWords, ...]
    classes: tuple[Class_, ...]
    picture: Callable[[int], tuple[str, bytes | None]]
    allowed: Bool
    rule: str
    source: str
    invented: bool
    classes_are: Literal["objects", "species"]

    def item(self, row: int) -> ItemType | None:
        """What corrections do to a picture."""
        return item_type(
            self.answers[row],
            self.beliefs[row].tolist(),
            (self.concepts[row] == 1).tolist(),
            int(self.labels[row]),
        )


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """A set that was built. `shares`: of all pictures that it was chosen from, those of each type;
    `chosen`: how many the set has of each, and of those that were drawn whatever they are; `there`:
    how many of each there are among all test pictures, chosen from or not."""

    manifest: Manifest
    files: dict[str, bytes]
    shares: dict[str, float]
    chosen: dict[str, int]
    there: dict[str, int]


def counts_of(text: str) -> dict[str, int]:
    """The numbers in a text such as `repair=20,natural=12`, else 0. Raises UsageError."""
    counts = dict.fromkeys(COUNTS, 0)
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() not in COUNTS or not number.strip().isdecimal():
            raise UsageError(
                f"{part!r} is not TYPE=NUMBER.",
                todo="Write, for example, repair=20,control=20. The types are "
                f"{', '.join(COUNTS)}.",
            )
        counts[name.strip()] = int(number)
    return counts


def build(
    model: ConceptModel,
    split: ConceptSplit,
    set_id: str,
    *,
    seed: int = 0,
    counts: Mapping[str, int] = COUNTS,
    pixels: int = PIXELS,
    title: str | None = None,
    every: bool = False,
    options: str = "",
) -> BuiltSet:
    """Build a set of test pictures of the task that a model learned. Raises ModelError: no concept
    of the model can be set. StimuliError: people can see nothing of the task, or there are too few
    pictures.

    split : the task. People see its pictures drawn `pixels` wide, without the noise and the coarse
        pixels that the model saw.
    counts : how many pictures of each type there are to be, and how many `natural` ones, which are
        drawn whatever they are.
    every : choose from all test pictures, and not only from the clear ones.
    options : of the command besides these, for `made_with`.
    """
    card = model.card
    ready = interventions(model, split.test)
    beliefs = model.beliefs(split.test)
    assert beliefs is not None
    pool = pool_of(ready, beliefs, split, pixels, every=every)
    return choose(
        pool,
        record_of(card, ready),
        set_id,
        seed=seed,
        counts=counts,
        title=title or f"{card.title}, concepts to set",
        options=options
        + (f" --size {pixels}" if pixels != PIXELS else "")
        + (" --all-pictures" if every else ""),
    )


def pool_of(
    ready: Interventions, beliefs: Float64, split: ConceptSplit, pixels: int, *, every: bool = False
) -> PicturePool:
    """All test pictures of a task, of which the clear ones may be chosen, or `every` one. Raises
    StimuliError: people can see nothing of it."""
    if (split.draw is None and split.reference is None) or not split.words:
        raise StimuliError(
            f"{split.name} has no pictures that people could look at.",
            todo="Choose a model of a picture task: dSprites, 3dshapes or birds.",
        )
    test = split.test

    def picture(row: int) -> tuple[str, bytes | None]:
        factors = test.factors(np.array([row]))[0]
        if split.reference is not None:
            return split.reference(factors), None
        assert split.draw is not None
        return f"pictures/{row:05d}.png", _png(split.draw, tuple(factors.tolist()), pixels)

    return PicturePool(
        ready.answers(),
        beliefs.round(DIGITS),
        split.test.concepts_of,
        split.test.labels_of,
        split.words,
        classes_of(split),
        picture,
        *_select_allowed(split, every=every),
        split.name if split.origin == "own" else f"{split.name}: pictures drawn by labapp",
        split.invented,
        split.classes_are,
    )


def _select_allowed(split: ConceptSplit, *, every: bool) -> tuple[Bool, str]:
    """Which test pictures may be chosen, and by which rule, in words."""
    count = len(split.test)
    if every or not split.unclear:
        why = "" if split.unclear else "; the data set does not say which of them people can tell"
        return np.ones(count, dtype=np.bool_), f"all {count} test pictures{why}"
    clear = split.clear(split.test.factors(np.arange(count)))
    ranges = ", ".join(
        f"{split.factor_names[factor]} from {low:g} to {high:g}"
        for factor, (low, high) in split.unclear.items()
    )
    return clear, f"{clear.sum()} of {count} test pictures: those without {ranges}"


@lru_cache(maxsize=2_000)
def _png(draw: Callable[[Float64, int], UInt8], factors: tuple[float, ...], pixels: int) -> bytes:
    """A picture as a file: sets of several models share most of theirs."""
    return pictures.png(draw(np.array(factors), pixels))


def classes_of(split: ConceptSplit) -> tuple[Class_, ...]:
    """The classes, with invented names where they have none, and what makes each, by language."""
    languages = sorted({language for words in split.words for language in words.translations})
    named = split.class_names or tuple((f"c{n}", NAMES[n]) for n in range(split.classes))
    return tuple(
        Class_(
            id=named[number][0],
            name=named[number][1],
            marks=_marks(rule, split.words, ""),
            concepts={split.words[j].id: value == 1 for j, value in rule.items()},
            translations={
                language: ClassWords(marks=_marks(rule, split.words, language))
                for language in languages
            },
        )
        for number, rule in enumerate(split.rules)
    )


def _marks(rule: Mapping[int, int], concepts: Sequence[ConceptWords], language: str) -> str:
    """What makes a class, in a line; with names where concepts have the same words."""
    every = [concept.in_language(language) for concept in concepts]
    shared = Counter(word for words in every for word in words[1:])
    marks = []
    for j, value in rule.items():
        name, off, on = every[j]
        word = on if value else off
        marks.append(word if shared[word] == 1 else f"{name} {word}")
    return ", ".join(marks)


def manifest_concept(words: ConceptWords) -> Concept:
    """A concept as a manifest has it."""
    return Concept(
        id=words.id,
        name=words.name,
        off=words.off,
        on=words.on,
        translations={
            language: ManifestWords(name=known.name, off=known.off, on=known.on)
            for language, known in words.translations.items()
        },
        right=words.right,
    )


def record_of(card: Card, ready: Interventions) -> ModelRecord:
    """What a manifest says of the model, purity and all."""
    concepts = ready.concepts.astype(np.float64)
    score = ois(ready.codes, concepts)
    leaks = {"ctl": ctl(ready.codes, concepts, labels=ready.labels)}
    if concepts.shape[1] > 1:  # of one there is no other that could leak into it
        leaks["icl"] = icl(ready.codes, concepts)
    assert card.test.task is not None
    assert card.test.concepts is not None
    return ModelRecord(
        model=card.id,
        sha256=card.weights_sha256,
        learner=card.learner,
        task_accuracy=round(100 * card.test.task, 2),
        concept_accuracy=round(100 * card.test.concepts, 2),
        scores={
            **{_SCORES.get(name, name): value for name, value in card.scores.items()},
            **{name: round(leak.score, DIGITS) for name, leak in leaks.items()},
        },
        purity=matrix(score.parts["purity"]),
        oracle=matrix(score.parts["oracle"]),
    )


def matrix(values: object) -> tuple[tuple[float, ...], ...]:
    """A matrix of areas as a manifest has it."""
    rows = np.asarray(values, dtype=np.float64).round(DIGITS)
    return tuple(tuple(row) for row in rows.tolist())


def choose(
    pool: PicturePool,
    record: ModelRecord,
    set_id: str,
    *,
    seed: int,
    counts: Mapping[str, int],
    title: str,
    options: str = "",
) -> BuiltSet:
    """Choose the pictures and write down the set. options: of the command, besides these.

    Natural pictures come first in the order of the seed; then those of each type, in the same
    order, without a picture twice. Raises StimuliError: there is no picture, or no study could show
    the set.
    """
    items = [pool.item(row) for row in range(len(pool.labels))]
    everywhere = order(generator(seed, _STREAM), len(items)).tolist()
    shuffled = [row for row in everywhere if pool.allowed[row]]
    chosen = [(row, True) for row in shuffled[: counts[NATURAL]]]
    taken = {row for row, _ in chosen}
    for kind in ITEM_TYPES:
        fitting = [row for row in shuffled if items[row] == kind and row not in taken]
        chosen += [(row, False) for row in fitting[: counts[kind]]]
    if not chosen:
        raise StimuliError(
            f"The set would have no pictures. They are chosen from {pool.rule}.",
            todo="With --items, ask for types that the model has, or use --all-pictures.",
        )
    rows = [row for row, _ in chosen]
    files = {ANSWERS: score_files.encode_answers(pool.answers[rows])}
    photos = []
    for row, natural in chosen:
        name, content = pool.picture(row)
        if content is not None:
            files[name] = content
        photos.append(_photo(pool, row, name, items[row], natural=natural))
    of_type = Counter(items)
    among = Counter(items[row] for row in shuffled)
    shares: dict[str, float] = {kind: among[kind] / len(shuffled) for kind in ITEM_TYPES}
    manifest = Manifest(
        id=set_id,
        title=title,
        source=pool.source,
        chosen_from=pool.rule,
        kind="interventions",
        method=Method(
            name=record.learner,
            accuracy=record.task_accuracy,
            classifier=record.model,
            sha256=record.sha256,
        ),
        classes_are=pool.classes_are,
        invented=pool.invented,
        classes=pool.classes,
        photos=tuple(photos),
        concepts=tuple(map(manifest_concept, pool.words)),
        concept_model=record.model_copy(
            update={
                "scores": {
                    **record.scores,
                    **{f"share_{kind}": round(share, DIGITS) for kind, share in shares.items()},
                }
            }
        ),
        answers=ANSWERS,
        seed=seed,
        made_with=f"labapp {__version__}, labapp concepts stimuli {record.model} --seed {seed} "
        f"--items {','.join(f'{kind}={count}' for kind, count in counts.items())}{options}",
    )
    if faults := inner_faults(manifest):
        raise refusal("The set could not be shown", faults)
    chosen_of_type = Counter(items[row] for row, natural in chosen if not natural)
    return BuiltSet(
        manifest,
        files,
        shares,
        {
            **{kind: chosen_of_type[kind] for kind in ITEM_TYPES},
            NATURAL: sum(natural for _, natural in chosen),
        },
        {**{kind: of_type[kind] for kind in ITEM_TYPES}, NATURAL: len(items)},
    )


def _photo(
    pool: PicturePool, row: int, name: str, item: ItemType | None, *, natural: bool
) -> Photo:
    classes = pool.classes
    answer = int(pool.answers[row, 0].argmax())
    return Photo(
        id=f"p{row:05d}",
        set=1,
        photo=name,
        truth=classes[int(pool.labels[row])].id,
        prediction=classes[answer].id,
        beliefs=tuple(pool.beliefs[row].tolist()),
        concepts=tuple((pool.concepts[row] == 1).tolist()),
        item=item,
        natural=natural,
    )


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """A set that was built, and where it is. asked: pictures of each type that were asked for;
    warnings: what is probably a mistake, see `labapp.models.stimuli.check`."""

    folder: Path
    built: BuiltSet
    asked: dict[str, int]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.built.manifest.id,
            "folder": str(self.folder),
            "photos": len(self.built.manifest.photos),
            "chosen": self.built.chosen,
            "asked": self.asked,
            "chosen_from": self.built.manifest.chosen_from,
            "there": self.built.there,
            "shares": self.built.shares,
            "warnings": list(self.warnings),
        }

    def lines(self) -> list[str]:
        """For people: how many pictures of each type, also if there are fewer than asked."""
        wide = max(map(len, self.asked))
        lines = []
        for kind, wanted in self.asked.items():
            chosen = self.built.chosen[kind]
            few = ""
            if chosen < wanted:
                few = f"; {wanted} asked for, {self.built.there[kind]} among all test pictures"
            share = ""
            if kind != NATURAL:
                share = f" ({100 * self.built.shares[kind]:.1f} % of the pictures chosen from)"
            lines.append(f"{kind:{wide}}  {chosen}{share}{few}")
        return [
            f"chosen from {self.built.manifest.chosen_from}",
            *lines,
            *(f"warning: {warning}" for warning in self.warnings),
            f"stimuli: {self.folder}",
        ]


def build_stimuli(
    model: str,
    out: Path | None = None,
    set_id: str | None = None,
    *,
    items: str | None = None,
    seed: int = 0,
    pixels: int = PIXELS,
    title: str | None = None,
    every: bool = False,
    data_folder: Path | None = None,
) -> WrittenSet:
    """Build a set of a model and write it. items: see `stimulus_sets.counts_of`; every: choose from
    all test pictures, and not only from those that people can tell by eye. Raises UsageError: the
    id is none, or `items` says nothing known. ModelError, StimuliError, DatasetError: see
    `stimulus_sets.build`; the folder exists, or a shipped set has the id and `out` names no
    folder."""
    counts = dict(COUNTS) if items is None else counts_of(items)
    loaded = package.load(model)
    name = loaded.card.id.rpartition("/")[2] if set_id is None else set_id
    if not re.fullmatch(SET_ID, name):
        raise UsageError(
            f"{name!r} is not a valid id of a set: {PATTERNS[SET_ID]}.",
            todo="Give another with --id.",
        )
    if out is None:
        library.refuse_shipped(name)
    folder = library.own_folder() / name if out is None else out
    library.refuse_existing(folder)
    data = package.task_of(loaded.card, data_folder)
    built = build(
        loaded,
        data.split,
        name,
        seed=seed,
        counts=counts,
        pixels=pixels,
        title=title,
        every=every,
        options=(f" --id {set_id}" if set_id is not None else "")
        + (f" --data {data_folder.name}" if data_folder is not None else ""),
    )
    importing.write(folder, built.manifest, built.files)
    checked = importing.read_checked(folder)
    return WrittenSet(folder, built, counts, tuple(checked.warnings))
