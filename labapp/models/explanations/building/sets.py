"""The stimulus sets that can be built, one for each kind of task and method, and which test photos
make a study's sets. Nothing here needs torch.

Source: paper 003, sections 3.3 and 4 (half right, half wrong); what is added is that wrong ones are
spread over groups of classes that are alike and over kinds of mistakes, that no class is met too
often in a set, and that a participant could see what decides. Which classes are alike, which
mistakes are, and what can be seen of a photo, its data set says (`set_photos`). Of pictures that
say nothing of it, such as a lab's own, each class stands for itself and each mistake for the class
that was taken.

Building a stimulus set: paint, predict, choose, explain, write.

The photos come from the test part of the data that the model was measured on. Of painted birds
there are as many as anybody asks for: if a task finds too few it looks at more of them. The same
model, seed and set give the same folder.

What the builder of stimulus sets needs of an explainer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.base.discovery import load
from labapp.base.errors import ModelError, StimuliError, UsageError
from labapp.models.datasets.birds import (
    OCCLUSION,
    SISTERS,
    SPECIES,
    BirdRows,
    deciding_visibility,
    guide,
    name_of,
)
from labapp.models.datasets.faces import CLASSES, FaceRows
from labapp.models.datasets.faces import SIZE as FACE_PX
from labapp.models.datasets.split import CHUNK, Float32, Int64
from labapp.models.explanations import package
from labapp.models.explanations.data import METHODS, SCORINGS, FolderData, ids_of
from labapp.models.explanations.package import VISIBLE
from labapp.models.explanations.photos import PictureRows, UInt8, as_bytes
from labapp.models.stimuli import importing
from labapp.models.stimuli.manifest import Class_, Kind, Manifest, Method, Photo, Prototype, Scale
from labapp.models.stimuli.pictures import bird_ref, png

if TYPE_CHECKING:
    from labapp.models.explanations.classifier import Classifier


SETS = 10
MOST_OF_A_CLASS = 2
"""Photos of a class in a set, if there are many classes."""


class TooFewPhotos(ValueError):
    """There are not enough photos to choose from."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test photo.

    Attributes
    ----------
    row : in the test part.
    truth, prediction : classes from 0.
    visible : share that can be seen of what decides.
    eligible : whether the task can show it.
    group : of classes that are alike, the one that the truth is in.
    mistake : what kind of mistake the model made; 0 for none.
    near : whether a mistake is one among classes that are alike.
    """

    row: int
    truth: int
    prediction: int
    visible: float = 1.0
    eligible: bool = True
    group: int = 0
    mistake: int = 0
    near: bool = True

    @property
    def right(self) -> bool:
        return self.truth == self.prediction


@dataclass(frozen=True, slots=True)
class SetSize:
    """Numbers of photos in a set with right and with wrong predictions, and the number of sets."""

    right: int
    wrong: int
    sets: int = SETS


@dataclass(frozen=True, slots=True)
class Selection:
    """sets: photos of each set in the order they are listed; the examples are in none of them."""

    sets: tuple[tuple[Candidate, ...], ...]
    right_example: Candidate
    wrong_example: Candidate

    def all(self) -> tuple[Candidate, ...]:
        """Every photo, the examples last."""
        return (
            *(c for photos in self.sets for c in photos),
            self.right_example,
            self.wrong_example,
        )


def select(
    candidates: Iterable[Candidate], wanted: SetSize, seed: int, most: int = MOST_OF_A_CLASS
) -> Selection:
    """Sets of photos and two examples, the same for the same candidates and seed. most: photos of a
    class in a set. Raises TooFew."""
    random = np.random.default_rng([seed, 0])
    by_row = sorted(candidates, key=lambda c: c.row)
    seen = [by_row[n] for n in random.permutation(len(by_row)) if by_row[n].visible >= VISIBLE]
    right = [c for c in seen if c.right and c.eligible]
    wrong = [c for c in seen if not c.right]
    # Those among classes that are alike, where they are enough for the sets and an example: others
    # are too plain.
    near = [c for c in wrong if c.near]
    if len(near) > wanted.wrong * wanted.sets:
        wrong = near
    sets: list[list[Candidate]] = [[] for _ in range(wanted.sets)]
    _deal(wrong, wanted.wrong, sets, _spread_wrong, most)
    _deal(right, wanted.right, sets, _spread_right, most)
    if not right or not wrong:
        raise TooFewPhotos("no photo is left for a worked example")
    mixed = tuple(tuple(dealt[n] for n in random.permutation(len(dealt))) for dealt in sets)
    return Selection(mixed, right[0], wrong[0])


Given = Counter[tuple[int, int, int]]
"""How many photos of a group, class and kind of mistake were given to sets."""
Priority = Callable[[Candidate, list[Candidate], Given], tuple[int, ...]]


def _deal(
    pool: list[Candidate], count: int, sets: list[list[Candidate]], key: Priority, most: int
) -> None:
    """Give each set so many photos, one after the other, each time the least alike; what is given
    leaves the pool. most: of a class in a set. Raises TooFew."""
    given: Given = Counter()
    for _ in range(count):
        for dealt in sets:
            free = [photo for photo in pool if sum(c.truth == photo.truth for c in dealt) < most]
            if not free:
                raise TooFewPhotos(
                    f"{len(pool)} photos are left, but none of a class that a set still needs"
                )
            best = min(free, key=lambda photo: key(photo, dealt, given))
            dealt.append(best)
            pool.remove(best)
            given[best.group, best.truth, best.mistake] += 1


def _spread_wrong(photo: Candidate, dealt: list[Candidate], given: Given) -> tuple[int, ...]:
    group = sum(n for (of, _, _), n in given.items() if of == photo.group)
    alike = sum(
        n for (of, _, mistake), n in given.items() if of == photo.group and mistake == photo.mistake
    )
    return (
        sum(c.group == photo.group for c in dealt),
        sum(c.mistake == photo.mistake for c in dealt),
        alike,
        group,
    )


def _spread_right(photo: Candidate, dealt: list[Candidate], given: Given) -> tuple[int, ...]:
    return (
        sum(c.truth == photo.truth for c in dealt),
        sum(c.group == photo.group for c in dealt),
        given[photo.group, photo.truth, 0],
    )


def options(scores: Sequence[float], truth: int, *, random: np.random.Generator) -> tuple[int, ...]:
    """Four classes to choose from, or all if there are fewer, in random places: those of the
    highest scores if the true one is among the first three; else the first three and the true
    one.

    Where the prediction is right these are the four of the highest scores. Paper 003, section 4;
    it does not say what is done when the true class is among the first three already.
    """
    order = [int(n) for n in np.argsort(-np.asarray(scores), kind="stable")]
    four = order[:4] if truth in order[:3] else [*order[:3], truth]
    return tuple(four[n] for n in random.permutation(len(four)))


@dataclass(frozen=True, slots=True)
class Spec:
    """A set to build. needs: the method of the model, as recipes name it; method: of explaining,
    its name for people; distinction: species are told apart, else predictions are agreed with."""

    id: str
    title: str
    needs: str
    model: str
    method: str
    kind: Kind
    distinction: bool
    wanted: SetSize
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class ScoredSpec:
    """A set of pixel scores to build. each, wrong: images of a class, and how many of them the
    model takes for another (paper 004 shows five of each; its model erred in 41 % of all); methods:
    that score the pixels, by name."""

    id: str
    title: str
    model: str
    each: int = 5
    wrong: int = 2
    methods: tuple[str, ...] = SCORINGS


HALF, RIGHT_4, RIGHT_10 = SetSize(5, 5), SetSize(4, 0), SetSize(10, 0)

GRADCAM = (
    Spec(
        "birds-gradcam",
        "Birds: GradCAM",
        "resnet",
        "birds/resnet",
        "GradCAM",
        "heatmaps",
        True,
        HALF,
        "positive",
    ),
)
BAGNET = (
    Spec(
        "birds-bagnet",
        "Birds: BagNet",
        "bagnet",
        "birds/bagnet",
        "BagNet",
        "heatmaps",
        True,
        HALF,
        "signed",
    ),
)
PROTOPNET = (
    Spec(
        "birds-protopnet-distinction",
        "Birds: ProtoPNet, four species each",
        "protopnet",
        "birds/protopnet",
        "ProtoPNet",
        "prototypes",
        True,
        RIGHT_4,
    ),
    Spec(
        "birds-protopnet",
        "Birds: ProtoPNet, the predicted species",
        "protopnet",
        "birds/protopnet",
        "ProtoPNet",
        "prototypes",
        False,
        HALF,
    ),
)
PROTOTREE = (
    Spec(
        "birds-prototree-distinction", "Birds: ProtoTree, the last two steps open", "prototree",
        "birds/prototree", "ProtoTree", "path", True, RIGHT_10,
    ),
    Spec(
        "birds-prototree", "Birds: ProtoTree, whole paths", "prototree", "birds/prototree",
        "ProtoTree", "path", False, HALF,
    ),
)  # fmt: skip


@cache
def _list_specs() -> dict[str, tuple[Spec, str]]:
    """By id the sets that explain birds, and where who explains them is."""
    return {
        spec.id: (spec, method.explainer)
        for method in METHODS.values()
        if method.sets
        for spec in load(method.sets)
    }


def specs() -> dict[str, Spec]:
    """The sets that explain birds, of every method, by their ids."""
    return {name: spec for name, (spec, _) in _list_specs().items()}


def explainer_of(spec: Spec) -> Any:
    """Who explains the photos of a set, see
    `labapp.models.explanations.building.sets.Explainer`."""
    return load(_list_specs()[spec.id][1])(spec)


SCORED_SPECS = {
    scored.id: scored
    for scored in (ScoredSpec("faces-unmasking", "Faces: anger and happiness", "faces/cnn"),)
}


def spec(name: str) -> Spec:
    """The set of that name. Raises UsageError."""
    if name not in specs():
        known = ", ".join((*specs(), *SCORED_SPECS))
        raise UsageError(f"There is no set {name!r} to build.", todo=f"Use one of: {known}.")
    return specs()[name]


class SetPhotos:
    """Pictures of any data set: their classes and what is in them, for sets.

    Attributes
    ----------
    rows : PictureRows
        The part of the data that photos come from.
    names : of the classes.
    classes_are, invented : see `labapp.models.stimuli.manifest.Manifest`.
    """

    classes_are: ClassVar[Literal["objects", "species"]] = "objects"
    invented: ClassVar[bool] = False
    licence: ClassVar[str] = ""

    def __init__(self, rows: Any, names: Sequence[str], dataset: str) -> None:
        self.rows = rows
        self.names = names
        self.dataset = dataset
        self.ids = ids_of(names)

    @property
    def source(self) -> str:
        """Where the pictures come from, in a sentence."""
        return f"Test part of the pictures that the model was trained on ({self.dataset})"

    def classes(self) -> tuple[Class_, ...]:
        """The classes, in the order of the scores."""
        return tuple(Class_(id=i, name=name) for i, name in zip(self.ids, self.names, strict=True))

    def most_of_a_class(self, size: int) -> int:
        """The maximum number of photos per class in a set of this size; with few classes, twice
        their share."""
        return max(MOST_OF_A_CLASS, ceil(2 * size / len(self.names)))

    def truth(self, row: int) -> int:
        """The class of a row, from 0."""
        return int(self.rows.labels(np.array([row]))[0])

    def candidate(self, row: int, prediction: int, *, eligible: bool) -> Candidate:
        """A photo as it is chosen from."""
        truth = self.truth(row)
        mistake = 0 if truth == prediction else prediction + 1
        return Candidate(row, truth, prediction, 1.0, eligible, truth, mistake)

    def photo_id(self, row: int) -> str:
        """What the photo of a row is called: happiness-041."""
        truth = self.truth(row)
        number = int((self.rows.labels(np.arange(row)) == truth).sum())
        return f"{self.ids[truth]}-{number:03}"

    def picture(self, row: int) -> tuple[str, dict[str, bytes]]:
        """The photo as a manifest names it, and its file, as people see it."""
        name = f"{self.photo_id(row)}.png"
        return name, {name: png(pixels(self.shown(np.array([row]))[0]))}

    def shown(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> UInt8:
        """What people see of rows: uint8, shape (n, channels, size, size)."""
        return as_bytes(self.rows.instances(rows))

    def facts(self, candidate: Candidate) -> dict[str, float]:
        """What else is known of a photo, for tables."""
        return {}

    def pointing(self, peak: Float32, row: int) -> dict[str, float]:
        """What is known of the place, shape (2,), that an explanation points to."""
        return {}

    def wider(self, most: int) -> PictureRows | None:
        """More rows, these first, with at most `most` of a class; None if there are none."""
        return None


class FacePhotos(SetPhotos):
    """Painted faces, which people see in full size; the model sees the mean of whole blocks."""

    licence: ClassVar[str] = "MIT"

    @property
    def source(self) -> str:
        seed = self.rows.seed
        return f"Faces painted from seed {seed} (labapp.models.datasets.faces), their test part"

    def shown(self, rows: np.ndarray[Any, np.dtype[np.int64]]) -> UInt8:
        whole: FaceRows = self.rows
        if FACE_PX % whole.size == 0:
            whole = replace(whole, size=FACE_PX)
        return as_bytes(whole.instances(rows))

    def facts(self, candidate: Candidate) -> dict[str, float]:
        """`expression`, how far its actions go towards its class, and misleading cues."""
        face = self.rows.face(candidate.row)
        e = face.expression
        actions = np.array([e.brows, e.lids, e.cheeks, e.corners, e.lips])
        towards = actions if CLASSES[face.label] == "happiness" else -actions
        return {
            "expression": round(float(towards.mean()), 3),
            "glasses": float(face.identity.glasses),
            "dark_hair": float(face.identity.dark),
        }


class BirdPhotos(SetPhotos):
    """Painted birds: species of a genus are told apart by two marks, which leaves may hide."""

    classes_are: ClassVar[Literal["objects", "species"]] = "species"
    invented: ClassVar[bool] = True
    licence: ClassVar[str] = "MIT"
    rows: BirdRows

    def __init__(self, rows: BirdRows, names: Sequence[str], dataset: str) -> None:
        super().__init__(rows, names, dataset)
        self.ids = tuple(map(class_id, range(SPECIES)))

    @property
    def source(self) -> str:
        seed = self.rows.seed
        return f"Birds painted from seed {seed} (labapp.models.datasets.birds), their test part"

    def classes(self) -> tuple[Class_, ...]:
        return tuple(
            Class_(id=class_id(n), name=name_of(n), marks=", ".join(guide(n)))
            for n in range(SPECIES)
        )

    def candidate(self, row: int, prediction: int, *, eligible: bool) -> Candidate:
        """Its group is the genus. mistake: which of the two deciding marks the model took for
        another: 0 none, 1 the second, 2 the first, 3 both; 4 if it took even the genus for
        another, so that nobody needs to look at marks."""
        truth = row % SPECIES
        inside = truth // SISTERS == prediction // SISTERS
        mistake = (truth % SISTERS) ^ (prediction % SISTERS) if inside else 4
        visible = deciding_visibility(self.rows.bird(row))
        return Candidate(
            row, truth, prediction, visible, eligible, truth // SISTERS, mistake, near=inside
        )

    def photo_id(self, row: int) -> str:
        return photo_id(row)

    def picture(self, row: int) -> tuple[str, dict[str, bytes]]:
        """Birds are painted where they are shown."""
        return ref_of(self.rows, row), {}

    def facts(self, candidate: Candidate) -> dict[str, float]:
        return {"visible": round(candidate.visible, 3), "missed": float(candidate.mistake)}

    def pointing(self, peak: Float32, row: int) -> dict[str, float]:
        from labapp.models.explanations import evaluation

        pointing = evaluation.pointing(peak[None], [self.rows.bird(row)], self.rows.size)
        return {"peak_on_mark": pointing.on_mark, "peak_on_bird": pointing.on_bird}

    def wider(self, most: int) -> BirdRows | None:
        per_species = min(2 * self.rows.per_species, most)
        wider = replace(self.rows, per_species=per_species)
        return wider if per_species > self.rows.per_species else None


def photos_of(model: Classifier, rows: PictureRows) -> SetPhotos:
    """What the model's data set says of rows. Raises ModelError: manifests cannot name them."""
    data = model.card.recipe.data
    if isinstance(rows, BirdRows) and rows.occlusion != OCCLUSION:
        raise ModelError(
            f"{model.card.id} was trained on birds with leaves over {rows.occlusion:.0%} of the "
            "marks.",
            todo=f"Train one with occlusion: {OCCLUSION}, the only kind that stimulus sets can "
            "use.",
        )
    photos: type[SetPhotos] = load(data.set_photos)
    return photos(rows, model.names, data.dataset)


def class_id(species: int) -> str:
    """What a species is called in manifests and tables: ashby-lorrin."""
    return name_of(species).lower().replace("'s ", "-").replace(" ", "-")


def photo_id(row: int) -> str:
    """What the bird of a row is called: ashby-lorrin-041."""
    number, species = divmod(row, SPECIES)
    return f"{class_id(species)}-{number:03}"


def ref_of(rows: BirdRows, row: int) -> str:
    """The picture of a row as manifests name it."""
    number, species = divmod(row, SPECIES)
    return bird_ref(rows.seed, rows.part, species, number)


def pixels(image: UInt8) -> UInt8:
    """A picture of shape (channels, height, width) as files have it."""
    turned: UInt8 = image[0] if len(image) == 1 else image.transpose(1, 2, 0)
    return np.ascontiguousarray(turned)


MOST = 400
"""Test photos of a species that are looked at before building a set fails."""
TREE = "tree.png"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """A set that was built. looked_at: test photos that were painted to choose from."""

    manifest: Manifest
    files: dict[str, bytes]
    looked_at: int


def build(
    spec: Spec,
    *,
    seed: int,
    model: str | Path | None = None,
    data_folder: Path | None = None,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set, in memory. model: id or folder of another classifier of the same method;
    data_folder: of the pictures of a model trained on a folder. Raises ModelError if that is
    missing or damaged, and what `build_from_classifier` raises."""
    classifier = package.load(spec.model if model is None else model)
    return build_from_classifier(
        classifier, spec, seed=seed, data_folder=data_folder, progress=progress
    )


def build_from_classifier(
    classifier: Classifier,
    spec: Spec,
    *,
    seed: int,
    data_folder: Path | None = None,
    progress: Progress | None = None,
) -> BuiltSet:
    """Build a set from a classifier. Raises ModelError: the model is of another method;
    StimuliError: too few photos meet the rules."""
    method = classifier.card.recipe.method.name
    if method != spec.needs:
        raise ModelError(
            f"{spec.id} is built from a {spec.needs}; {classifier.card.id} is a {method}.",
            todo=f"Name a model whose method is {spec.needs}.",
        )
    report = progress or (lambda *_: None)
    explainer: Explainer = explainer_of(spec)
    rows = load_test_rows(classifier, data_folder)
    most = photos_of(classifier, rows).most_of_a_class(spec.wanted.right + spec.wanted.wrong)
    looked_at: list[Candidate] = []
    while True:
        looked_at += candidates(explainer, classifier, rows, len(looked_at), report)
        try:
            chosen = select(looked_at, spec.wanted, seed, most)
        except TooFewPhotos as few:
            wider = photos_of(classifier, rows).wider(MOST)
            if wider is None:
                raise _make_too_few_error(spec, looked_at, few) from few
            rows = wider
        else:
            break
    photos = photos_of(classifier, rows)
    in_sets = [
        ExplanationJob(photos.photo_id(c.row), c, example=False)
        for dealt in chosen.sets
        for c in dealt
    ]
    examples = (chosen.right_example, chosen.wrong_example)
    jobs = in_sets + [ExplanationJob(photos.photo_id(c.row), c, example=True) for c in examples]
    explained: list[PhotoExplanation] = []
    for start in range(0, len(jobs), CHUNK):
        report("explaining", start, len(jobs))
        explained += explainer.explain(classifier, rows, jobs[start : start + CHUNK], seed)
    report("explaining", len(jobs), len(jobs))
    manifest, files = _assemble_set(
        spec, seed, classifier, explainer, photos, chosen, jobs, explained
    )
    return BuiltSet(manifest, files, len(looked_at))


def write(built: BuiltSet, folder: Path) -> Path:
    """Write a set into a new folder, whole or not at all. Raises StimuliError."""
    return importing.write(folder, built.manifest, built.files)


def load_test_rows(model: Classifier, data_folder: Path | None = None) -> PictureRows:
    """The pictures that a model was tested on. Raises ModelError if manifests cannot name them,
    or no folder is given for a model that was trained on one; UsageError if one is given for
    another."""
    data = model.card.recipe.data
    if data_folder is not None and not isinstance(data, FolderData):
        raise UsageError(
            f"{model.card.id} was trained on {data.dataset}, which need no --data folder.",
            todo="Leave out --data.",
        )
    rows: PictureRows = data.load(data_folder).test
    photos_of(model, rows)
    return rows


def candidates(
    explainer: Explainer,
    model: Classifier,
    rows: PictureRows,
    first: int,
    progress: Progress,
    *,
    last: int | None = None,
) -> list[Candidate]:
    """The candidates among the rows from `first` to before `last`."""
    result = []
    photos = photos_of(model, rows)
    end = len(rows) if last is None else last
    for start in range(first, end, CHUNK):
        progress("looking at photos", start, end)
        numbers = np.arange(start, min(start + CHUNK, end))
        pictures = as_bytes(rows.instances(numbers))
        predicted = explainer.predicted(model, pictures)
        fit = explainer.eligible(model, pictures)
        result += [
            photos.candidate(row, predicted_class, eligible=suits)
            for row, predicted_class, suits in zip(
                numbers.tolist(), predicted.tolist(), fit.tolist(), strict=True
            )
        ]
    progress("looking at photos", end, end)
    return result


def _make_too_few_error(
    spec: Spec, looked_at: Sequence[Candidate], few: TooFewPhotos
) -> StimuliError:
    seen = [c for c in looked_at if c.visible >= VISIBLE]
    right = sum(c.right and c.eligible for c in seen)
    wrong = sum(not c.right for c in seen)
    return StimuliError(
        f"There are too few photos for {spec.id}: of {len(looked_at)} photos, {right} are right "
        f"and suit the task, and {wrong} are wrong ({few}).",
        todo="Use a model that is right on 75 to 90 % of its test photos.",
    )


def _assemble_set(
    spec: Spec,
    seed: int,
    model: Classifier,
    explainer: Explainer,
    set_photos: SetPhotos,
    chosen: Selection,
    jobs: Sequence[ExplanationJob],
    explained: Sequence[PhotoExplanation],
) -> tuple[Manifest, dict[str, bytes]]:
    numbers: list[int | None] = [n for n, photos in enumerate(chosen.sets, start=1) for _ in photos]
    photos = [
        photo(job, number, set_photos, explanation)
        for job, number, explanation in zip(jobs, [*numbers, None, None], explained, strict=True)
    ]
    files = {name: content for e in explained for name, content in e.files.items()}
    for job in jobs:
        files |= set_photos.picture(job.candidate.row)[1]
    tree = explainer.tree(model)
    if tree is not None:
        files[TREE] = tree
    card = model.card
    manifest = Manifest(
        id=spec.id,
        title=spec.title,
        source=set_photos.source,
        licence=set_photos.licence,
        kind=spec.kind,
        method=Method(
            name=spec.method,
            accuracy=round(100 * card.test.accuracy, 2),
            classifier=card.id,
            sha256=card.weights_sha256,
        ),
        classes_are=set_photos.classes_are,
        invented=set_photos.invented,
        scale=spec.scale,
        classes=set_photos.classes(),
        prototypes=explainer.prototypes(model),
        photos=tuple(photos[:-2]),
        correct_example=photos[-2],
        incorrect_example=photos[-1],
        tree=None if tree is None else TREE,
        seed=seed,
        made_with=f"labapp {__version__}, labapp stimuli build {spec.id} --seed {seed}",
    )
    return manifest, files


def photo(
    job: ExplanationJob, number: int | None, set_photos: SetPhotos, explained: PhotoExplanation
) -> Photo:
    """A photo of the manifest. number: of its set, none for a worked example."""
    candidate = job.candidate
    fields = dict(explained.fields)
    return Photo(
        id=job.id,
        set=number,
        photo=set_photos.picture(candidate.row)[0],
        truth=set_photos.ids[candidate.truth],
        prediction=set_photos.ids[candidate.prediction],
        facts=set_photos.facts(candidate) | fields.pop("facts", {}),
        **fields,
    )


Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class ExplanationJob:
    """A photo to explain. example: whether it is an example of the introduction."""

    id: str
    candidate: Candidate
    example: bool


@dataclass(frozen=True, slots=True)
class PhotoExplanation:
    """An explanation: fields of the manifest's photo, and its pictures by name."""

    fields: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)


class Explainer(Protocol):
    """Explains photos of one part of a data set by one model."""

    def predicted(self, model: Classifier, pictures: UInt8) -> Int64:
        """Classes the explanation leads to, from 0, of pictures uint8 (n, channels, size, size)."""

    def eligible(self, model: Classifier, pictures: UInt8) -> NDArray[np.bool_]:
        """Whether the task can show each picture, if the prediction is right."""

    def prototypes(self, model: Classifier) -> tuple[Prototype, ...]:
        """All prototypes of the model."""

    def explain(
        self, model: Classifier, rows: PictureRows, jobs: Sequence[ExplanationJob], seed: int
    ) -> list[PhotoExplanation]:
        """The explanations of photos, each the same whichever others are asked for."""

    def tree(self, model: Classifier) -> bytes | None:
        """A picture of the whole tree, if there is one, as PNG."""


def pictures_of(rows: PictureRows, jobs: Sequence[ExplanationJob]) -> UInt8:
    """Photos in the size that the model sees: uint8, shape (n, 3, size, size)."""
    return as_bytes(rows.instances(np.array([job.candidate.row for job in jobs], np.int64)))


def round_box(box: Sequence[float]) -> Box:
    """A box rounded to a thousandth of the picture's width, half a pixel."""
    left, top, right, bottom = (round(min(max(float(side), 0.0), 1.0), 3) for side in box)
    return left, top, right, bottom


def random_of(seed: int, job: ExplanationJob) -> np.random.Generator:
    """The random generator of one photo, independent of the others."""
    return np.random.default_rng([seed, 1, job.candidate.row])
