"""Checks whether a stimulus set can be shown, and lists all of its faults with their places.

The schema says what a manifest may hold. This module checks whether its parts fit each other, and
whether every picture is there and is what the manifest says.

Also the reference pictures of a set of interventions: for every concept, two pictures that show
what its two words mean. They depend only on the set, so that everybody is shown the same. Who
was shown them as such must not be asked about them: plans leave out the pictures of
`find_reserved_pictures`.

Whether a set of interventions fits together, and whether its answers are those of its photos.
Whether a photo and its explanation fit each other and the rest of the set, and whether the pictures
of a set are there and are what the manifest says they are. Whether a set of pixel scores fits
together, and whether its files can rank its pictures.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from labapp.base.errors import StimuliError
from labapp.models.stimuli import interventions, pictures, score_files
from labapp.models.stimuli.interventions import Answers
from labapp.models.stimuli.library import format_place
from labapp.models.stimuli.manifest import Box, FinalSteps, Manifest, Photo, Row
from labapp.models.stimuli.sources import PLACES, Loc, ReadableSet, SetSource, readable

MOST_ROWS = 10
"""Rows of a class, or steps, that the screens are made for."""


@dataclass
class CheckResult:
    """The faults and warnings of a set; without faults, its manifest and its `files` by name."""

    manifest: Manifest | None = None
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


def check(source: SetSource) -> CheckResult:
    """Check a set. What the schema refuses is reported, and left out of the other checks."""
    out = CheckResult(faults=list(source.faults))
    if source.value is None:
        return out
    stimulus_set, refused = readable(source)
    out.faults += refused
    if stimulus_set is None:
        return out
    picture_files = PictureFiles(source.folder)
    faults = [*_set_faults(stimulus_set), *picture_faults(stimulus_set, picture_files)]
    if stimulus_set.manifest.kind == "scores":
        faults += score_file_faults(stimulus_set, picture_files)
    if stimulus_set.manifest.kind == "interventions":
        faults += intervention_file_faults(stimulus_set, picture_files)
    out.faults += [f"{source.where(loc)}: {fault}" for loc, fault in faults]
    if not out.faults:
        out.manifest, out.files = stimulus_set.manifest, picture_files.files
        out.warnings = list(_warnings(stimulus_set.manifest))
        out.warnings += picture_warnings(stimulus_set, picture_files)
        if stimulus_set.manifest.kind == "scores":
            out.warnings += score_warnings(stimulus_set.manifest, picture_files)
        if stimulus_set.manifest.kind == "interventions":
            out.warnings += intervention_warnings(stimulus_set.manifest)
    return out


def inner_faults(manifest: Manifest) -> list[str]:
    """Contradictions within a manifest that the schema accepts; its pictures are not looked at."""
    stimulus_set = ReadableSet(
        manifest,
        tuple(range(len(manifest.photos))),
        tuple(range(len(manifest.prototypes))),
        frozenset(prototype.id for prototype in manifest.prototypes),
        True,
    )
    faults = list(_set_faults(stimulus_set))
    value = manifest.model_dump(mode="json") if faults else None
    return [f"{format_place(loc, value)}: {fault}" for loc, fault in faults]


def _set_faults(stimulus_set: ReadableSet) -> Iterator[Fault]:
    manifest = stimulus_set.manifest
    if manifest.kind == "heatmaps" and manifest.scale is None:
        yield ("scale",), "missing; heatmaps need one of the following: positive, signed or ready"
    for key in ("id", "name"):
        for text in twice(getattr(class_, key) for class_ in manifest.classes):
            yield ("classes",), f"two classes have the {key} {text!r}"
    if manifest.kind == "scores":
        yield from score_set_faults(manifest)
    if manifest.kind == "interventions":
        yield from intervention_set_faults(manifest)
    else:
        for place, class_ in enumerate(manifest.classes):
            if class_.translations:
                fault = "no task shows words by language for this kind of set; leave them out"
                yield ("classes", place, "translations"), fault
    yield from _prototype_faults(stimulus_set)
    yield from _again("photos", ((loc, photo.id) for loc, photo in stimulus_set.every_photo()))
    for loc, photo in stimulus_set.every_photo():
        example = loc[0] != "photos"
        if example and photo.set is not None:
            yield (
                (*loc, "set"),
                (f"a worked example is in set {photo.set}, but it must not be in any set"),
            )
        elif not example and photo.set is None:
            yield (*loc, "set"), "missing"
        if example and photo.correct != (loc[0] == "correct_example"):
            outcome = "right" if photo.correct else "wrong"
            yield (*loc, "prediction"), f"the prediction of this example is {outcome}"
        for inner, fault in photo_faults(photo, stimulus_set):
            yield (*loc, *inner), fault
        if manifest.kind == "scores":
            for inner, fault in score_photo_faults(photo, manifest):
                yield (*loc, *inner), fault
        if manifest.kind == "interventions":
            for inner, fault in intervention_photo_faults(photo, manifest):
                yield (*loc, *inner), fault


def _again(what: str, ids: Iterable[tuple[Loc, str]]) -> Iterator[Fault]:
    """A fault for each id that was used before."""
    names: set[str] = set()
    for loc, name in ids:
        if name in names:
            yield (*loc, "id"), f"two {what} have the id {name!r}"
        names.add(name)


def _prototype_faults(stimulus_set: ReadableSet) -> Iterator[Fault]:
    manifest = stimulus_set.manifest
    classes = {class_.id for class_ in manifest.classes}
    places = (("prototypes", place) for place in stimulus_set.prototypes)
    ids = (prototype.id for prototype in manifest.prototypes)
    yield from _again("prototypes", zip(places, ids, strict=True))
    for place, prototype in zip(stimulus_set.prototypes, manifest.prototypes, strict=True):
        loc = ("prototypes", place)
        if prototype.of is not None and prototype.of not in classes:
            yield (*loc, "of"), f"{prototype.of!r} is not among the classes"
        elif prototype.of is None and manifest.kind == "prototypes":
            yield (*loc, "of"), "missing; state the class for which it speaks"
        if fault := box_fault(prototype.box):
            yield (*loc, "box"), fault
        if prototype.box is None and prototype.crop is None:
            yield loc, "neither box nor crop shows which part of its photo it is"


def _warnings(manifest: Manifest) -> Iterator[str]:
    sizes = Counter(photo.set for photo in manifest.photos)
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"set {n} has {sizes[n]}" for n in manifest.sets)
        yield f"the sets differ in size: {counts} photos"
    if manifest.sets != tuple(range(1, len(manifest.sets) + 1)):
        yield f"the sets are numbered {', '.join(map(str, manifest.sets))}"
    scores, typed = manifest.kind == "scores", manifest.kind == "interventions"
    if not scores and not typed and not all(photo.correct for photo in manifest.photos):
        for number in manifest.sets:
            photos = manifest.of_set(number)
            right = sum(photo.correct for photo in photos)
            if 2 * right != len(photos):
                yield f"set {number}: the model is right about {right} of {len(photos)} photos"
    for key, outcome in (("correct_example", "right"), ("incorrect_example", "wrong")):
        optional = typed or (scores and key == "incorrect_example")
        if getattr(manifest, key) is None and not optional:
            yield (
                f"there is no {key}: the introduction shows no photo that the model has {outcome}"
            )
    of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    for photo in manifest.photos:
        most = max(Counter(of.get(row.prototype) for row in photo.rows).values(), default=0)
        if most > MOST_ROWS:
            yield f"photo {photo.id}: {most} rows of a class are more than the {MOST_ROWS} expected"


@dataclass(frozen=True, slots=True)
class ReferencePair:
    """Two pictures of a concept.

    Attributes
    ----------
    concept : from 0.
    off, on : one without the concept, and one with it.
    differing : the other concepts in which they differ, from 0. They may also differ in what no
        concept of the set says, such as the exact shade or place: a set knows nothing of that.
    """

    concept: int
    off: Photo
    on: Photo
    differing: tuple[int, ...]


def reference_pairs(manifest: Manifest, number: int) -> tuple[ReferencePair, ...]:
    """The pairs of the set of that number, in the order of the concepts.

    Of a concept those are taken that differ in the fewest other concepts; of several those that
    need the fewest pictures more than earlier ones, from the kinds of which most are left; then the
    first in the set. Concepts with the fewest such pairs choose first. Raises ValueError for a
    concept that all pictures have, or none has.
    """
    photos = manifest.of_set(number)
    near = {place: _nearest(photos, place) for place in range(len(manifest.concepts))}
    for place, pairs in near.items():
        if not pairs:
            raise ValueError(f"all pictures show {manifest.concepts[place].name!r} in the same way")
    left = Counter(_kind(photo) for photo in photos)
    taken: set[str] = set()
    chosen: dict[int, ReferencePair] = {}

    def cost(pair: ReferencePair) -> float:
        new = {photo.id: photo for photo in (pair.off, pair.on) if photo.id not in taken}
        return sum(1 + 1 / left[_kind(photo)] for photo in new.values())

    for place in sorted(near, key=lambda each: len(near[each])):
        pair = chosen[place] = min(near[place], key=cost)
        for photo in (pair.off, pair.on):
            if photo.id not in taken:
                taken.add(photo.id)
                left[_kind(photo)] -= 1
    return tuple(chosen[place] for place in sorted(chosen))


def find_reserved_pictures(pairs: Sequence[ReferencePair]) -> frozenset[str]:
    """The pictures of such pairs. They are told by the picture, as manifests name it, and not by a
    set's own id of it: sets of several models share pictures."""
    return frozenset(photo.photo for pair in pairs for photo in (pair.off, pair.on))


def _nearest(photos: Sequence[Photo], place: int) -> list[ReferencePair]:
    """Of a concept the pairs that differ in the fewest others: two sets of concepts, as the bits of
    numbers, differ if one of both has a bit."""
    bits = [
        (sum(1 << at for at, has in enumerate(photo.concepts) if has and at != place), photo)
        for photo in photos
    ]
    both = list(
        product(
            [each for each in bits if not each[1].concepts[place]],
            [each for each in bits if each[1].concepts[place]],
        )
    )
    least = min(((a ^ b).bit_count() for (a, _), (b, _) in both), default=0)
    return [
        ReferencePair(
            place, off, on, tuple(at for at in range((a ^ b).bit_length()) if (a ^ b) >> at & 1)
        )
        for (a, off), (b, on) in both
        if (a ^ b).bit_count() == least
    ]


def _kind(photo: Photo) -> str:
    """What plans draw it as."""
    return "natural" if photo.natural else photo.item or ""


def intervention_set_faults(manifest: Manifest) -> Iterator[Fault]:
    """Faults of what a set of interventions says of itself."""
    count = len(manifest.concepts)
    if not count:
        yield ("concepts",), "missing; list the concepts that can be set"
    if count > interventions.MOST_CONCEPTS:
        fault = f"found {count}; at most {interventions.MOST_CONCEPTS} can be shown and looked up"
        yield ("concepts",), fault
    for key in ("id", "name"):
        for text in twice(getattr(concept, key) for concept in manifest.concepts):
            yield ("concepts",), f"two concepts have the {key} {text!r}"
    for place, concept in enumerate(manifest.concepts):
        if concept.on == concept.off:
            yield ("concepts", place, "on"), f"found {concept.on!r} for on and for off"
    if manifest.answers is None:
        yield ("answers",), "missing; give the .npy file with the model's answers"
    if (model := manifest.concept_model) is None:
        yield ("concept_model",), "missing; state which model gave the answers"
    else:
        for key in ("purity", "oracle"):
            rows = getattr(model, key)
            if len(rows) != count or any(len(row) != count for row in rows):
                fault = f"found {_shape(rows)}; {count} x {count} are needed, one per concept"
                yield ("concept_model", key), fault
    ids = [concept.id for concept in manifest.concepts]
    for place, class_ in enumerate(manifest.classes):
        for name in class_.concepts:
            if name not in ids:
                yield ("classes", place, "concepts"), f"{name!r} is not among the concepts"
    yield from _translation_faults(manifest)
    for key in ("correct_example", "incorrect_example"):
        if getattr(manifest, key) is not None:
            yield (
                (key,),
                (
                    "a set of interventions has no examples, because its practice uses "
                    "its own photos"
                ),
            )


def _translation_faults(manifest: Manifest) -> Iterator[Fault]:
    """A language is that of all concepts and of all marks, or of none; its words differ."""
    of_concepts = {language for each in manifest.concepts for language in each.translations}
    of_classes = {language for each in manifest.classes for language in each.translations}
    for language in sorted(of_concepts | of_classes):
        for place, concept in enumerate(manifest.concepts):
            words = concept.translations.get(language)
            if words is None:
                fault = f"there are no words in {language!r}, although others have them"
                yield ("concepts", place, "translations"), fault
            elif words.on == words.off:
                at = ("concepts", place, "translations", language, "on")
                yield at, f"found {words.on!r} for on and for off"
        for place, class_ in enumerate(manifest.classes):
            if class_.marks and not getattr(class_.translations.get(language), "marks", ""):
                fault = f"there are no marks in {language!r}, although others have them"
                yield ("classes", place, "translations"), fault
        names = {
            "concepts": [each.in_language(language).name for each in manifest.concepts],
            "classes": [each.in_language(language).name for each in manifest.classes],
        }
        for what, own in names.items():
            for text in twice(own):
                yield (what,), f"two {what} have the name {text!r} in {language!r}"


def _shape(rows: tuple[tuple[float, ...], ...]) -> str:
    return f"{len(rows)} x {len(rows[0]) if rows else 0}"


def intervention_photo_faults(photo: Photo, manifest: Manifest) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    classes = tuple(class_.id for class_ in manifest.classes)
    if photo.options and photo.options != classes:
        yield (
            ("options",),
            f"leave them out, or give all classes in their order ({', '.join(classes)})",
        )
    count = len(manifest.concepts)
    for key in ("beliefs", "concepts"):
        if len(getattr(photo, key)) != count:
            yield (key,), f"found {len(getattr(photo, key))} values, but {count} concepts"
    if len(photo.concepts) != count:
        return
    truth = next((class_ for class_ in manifest.classes if class_.id == photo.truth), None)
    for concept, there in zip(manifest.concepts, photo.concepts, strict=True):
        if truth is not None and truth.concepts.get(concept.id, there) != there:
            fault = f"{concept.id!r} is {_word(there)}, but class {truth.id!r} needs it "
            yield ("concepts",), f"{fault}{_word(not there)}"


def _word(there: bool) -> str:
    return "on" if there else "off"


def intervention_file_faults(
    stimulus_set: ReadableSet, picture_files: PictureFiles
) -> Iterator[Fault]:
    """Faults of the file of answers, and of photos beside it; what can be read joins the files."""
    manifest = stimulus_set.manifest
    ref = manifest.answers
    if ref is None:
        return
    try:
        content = pictures.content_of(picture_files.folder, ref, score_files.ANSWERS)
        answers = score_files.decode_answers(content, ref)
    except StimuliError as error:
        yield ("answers",), f"{error.what} {error.todo}"
        return
    picture_files.files[ref] = content
    if not stimulus_set.whole:
        return  # which row is of which photo cannot be told
    every, single = (
        (len(manifest.photos), rows, len(manifest.classes))
        for rows in interventions.counts(len(manifest.concepts))
    )
    if answers.shape not in (every, single):
        fault = (
            f"{ref!r} has the shape {answers.shape}; it must be {every} or, for single "
            f"changes, {single}"
        )
        yield ("answers",), fault
        return
    for number, photo in enumerate(manifest.photos):
        for inner, fault in answer_faults(photo, manifest, answers[number]):
            yield ("photos", number, *inner), fault


def answer_faults(photo: Photo, manifest: Manifest, answers: Answers) -> Iterator[Fault]:
    """What a photo says that its answers do not."""
    classes = [class_.id for class_ in manifest.classes]
    count = len(manifest.concepts)
    if photo.truth not in classes or {len(photo.beliefs), len(photo.concepts)} != {count}:
        return
    answer = classes[int(answers[0].argmax())]  # as the model has it
    if photo.prediction in classes and photo.prediction != answer:
        yield ("prediction",), f"found {photo.prediction!r}, but the answers have {answer!r}"
    if len(answers) != 3**count:
        if photo.item is not None:
            yield ("item",), "leave it out, because answers to single changes do not show it"
        return
    truth = classes.index(photo.truth)
    item = interventions.item_type(answers, photo.beliefs, photo.concepts, truth)
    if photo.item != item:
        yield ("item",), f"found {photo.item or 'none'}; by its answers it is {item or 'none'}"


def intervention_warnings(manifest: Manifest) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    if not all(class_.concepts for class_ in manifest.classes):
        yield (
            "not every class states which concepts define it, so there is no practice with "
            "perfect switches and side effects cannot be detected"
        )
    ruled = [class_ for class_ in manifest.classes if class_.concepts]
    places = {concept.id: place for place, concept in enumerate(manifest.concepts)}
    both = interventions.first_overlap(
        [{places[name]: on for name, on in class_.concepts.items()} for class_ in ruled]
    )
    if both is not None:
        first, second = (ruled[place].id for place in both)
        yield (
            f"one state of the concepts defines both classes {first!r} and {second!r}, so "
            "nobody can tell them apart and there is no practice with perfect switches"
        )


Fault = tuple[Loc, str]


def twice(values: Iterable[str]) -> list[str]:
    """Values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def box_fault(box: Box | None) -> str | None:
    """The problem with a box inside the picture, if any."""
    if box is None or (box[0] < box[2] and box[1] < box[3]):
        return None
    return (
        f"the box {list(box)} is empty; give left, top, right and bottom as shares of the picture"
    )


def photo_faults(photo: Photo, stimulus_set: ReadableSet) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    manifest = stimulus_set.manifest
    classes = {class_.id for class_ in manifest.classes}
    for key in ("truth", "prediction"):
        if (class_ := getattr(photo, key)) not in classes:
            yield (key,), f"{class_!r} is not among the classes"
        elif photo.options and class_ not in photo.options:
            yield (key,), f"{class_!r} is not among the options ({', '.join(photo.options)})"
    for place, option in enumerate(photo.options):
        if option not in classes:
            yield ("options", place), f"{option!r} is not among the classes"
    for option in twice(photo.options):
        yield ("options",), f"{option!r} is there twice"
    for key in ("logits", "strengths"):
        if (count := len(getattr(photo, key))) not in (0, len(photo.options)):
            yield (key,), f"found {count} values for {len(photo.options)} options"
    match manifest.kind:
        case "heatmaps":
            yield from _heatmaps(photo)
        case "prototypes":
            yield from _prototypes(photo, manifest, stimulus_set.prototype_ids)
        case "path":
            yield from _path(photo, manifest, stimulus_set.prototype_ids)


def _heatmaps(photo: Photo) -> Iterator[Fault]:
    if len(photo.options) < 2:
        yield ("options",), f"found {len(photo.options)} classes to choose from; at least 2"
    if len(photo.heatmaps) != len(photo.options):
        fault = f"found {len(photo.heatmaps)} heatmaps for {len(photo.options)} options"
        yield ("heatmaps",), fault
    for ref in twice(photo.heatmaps):
        yield ("heatmaps",), f"{ref!r} is used for two options"


def _prototypes(photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    groups: dict[str | None, list[tuple[int, Row]]] = {}
    for place, row in enumerate(photo.rows):
        yield from _row(row, ("rows", place), prototype_ids, region_needed=True)
        if row.prototype in of:
            groups.setdefault(of[row.prototype], []).append((place, row))
    wanted = photo.options or (photo.prediction,)
    for owner, rows in groups.items():
        if owner is not None and owner not in wanted:
            reason = f"is not {photo.prediction!r}, the prediction"
            if photo.options:
                reason = "is not among the options"
            yield ("rows", rows[0][0]), f"a prototype of {owner!r}, which {reason}"
        yield from _ranks(rows)
        for name in twice(row.prototype for _, row in rows):
            yield ("rows",), f"the prototype {name!r} is compared twice"
    if all(row.prototype in of for row in photo.rows):
        for option in wanted:
            if option not in groups:
                yield ("rows",), f"there is no row with a prototype of {option!r}"


def _ranks(rows: Sequence[tuple[int, Row]]) -> Iterator[Fault]:
    """Faults of the ranks of the rows of one class."""
    ranks = [row.rank for _, row in rows]
    if all(rank is None for rank in ranks):
        return
    place = rows[0][0]
    if any(rank is None for rank in ranks):
        yield ("rows", place), "some rows of the class have a rank and others none"
        return
    own_ranks = sorted(rank for rank in ranks if rank is not None)
    if own_ranks != list(range(1, len(rows) + 1)):
        yield ("rows", place), f"the ranks of its class are {own_ranks}; expected 1 to {len(rows)}"
        return
    ordered = sorted(rows, key=lambda placed: placed[1].rank or 0)
    for (_, better), (place, worse) in pairwise(ordered):
        if better.similarity is None or worse.similarity is None:
            continue
        if worse.similarity > better.similarity:
            said_of = f"{worse.similarity:g} at rank {worse.rank}"
            yield (
                ("rows", place, "similarity"),
                f"found {said_of}, but {better.similarity:g} at rank {better.rank}",
            )


def _path(photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    if not photo.rows:
        yield ("rows",), "there are no steps"
    for place, row in enumerate(photo.rows):
        yield from _step(row, ("rows", place), prototype_ids)
        if row.present is None:
            yield ("rows", place, "present"), "missing; every step needs true or false"
    if photo.first_wrong is not None:
        if photo.first_wrong > len(photo.rows):
            fault = f"found step {photo.first_wrong}, but {len(photo.rows)} steps"
            yield ("first_wrong",), fault
        elif photo.correct:
            yield ("first_wrong",), "a step is wrong, but the prediction is right"
    if photo.final is not None:
        yield from _final(photo.final, photo, manifest, prototype_ids)


def _final(
    final: FinalSteps, photo: Photo, manifest: Manifest, prototype_ids: frozenset[str]
) -> Iterator[Fault]:
    for key in PLACES:
        yield from _step(getattr(final, key), ("final", key), prototype_ids)
    classes = {class_.id for class_ in manifest.classes}
    for place, name in enumerate(final.classes):
        if name not in classes:
            yield ("final", "classes", place), f"{name!r} is not among the classes"
    if again := twice(final.classes):
        yield (
            ("final", "classes"),
            (f"{again[0]!r} is listed twice; four different classes are needed"),
        )
    if photo.truth not in final.classes:
        fault = f"the true class {photo.truth!r} is not among {', '.join(final.classes)}"
        yield ("final", "classes"), fault


def _step(row: Row, loc: Loc, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    yield from _row(row, loc, prototype_ids, region_needed=row.present is True)
    if row.similarity is not None and not 0 <= row.similarity <= 1:
        fault = f"found {row.similarity:g}; a tree's similarities are between 0 and 1"
        yield (*loc, "similarity"), fault


def _row(
    row: Row, loc: Loc, prototype_ids: frozenset[str], *, region_needed: bool
) -> Iterator[Fault]:
    if row.prototype not in prototype_ids:
        yield (*loc, "prototype"), f"{row.prototype!r} is not among the prototypes"
    if fault := box_fault(row.region):
        yield (*loc, "region"), fault
    if region_needed and row.region is None and row.crop is None:
        yield loc, "neither region nor crop shows which part of the photo is compared"


LARGE = 4_000_000
"""Pixels from which a picture takes a second or more to come on the screen."""
COARSE = 200
"""Pixels of the shorter side below which a picture looks coarse."""
LISTED = 5
COLOURED = 8
"""Difference of red, green and blue from which a picture is not grey: JPEG alone makes a few."""


@dataclass
class PictureFiles:
    """The pictures of a set, each read once.

    files : the bytes of picture files and score files, by name.
    flat : names of score files whose numbers are all the same.
    sizes : width and height of those that can be read, in the order they are named.
    coloured, grey : names of files in colour, and of those of one channel.
    """

    folder: Path
    files: dict[str, bytes] = field(default_factory=dict)
    flat: list[str] = field(default_factory=list)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    coloured: set[str] = field(default_factory=set)
    grey: set[str] = field(default_factory=set)
    _said: dict[str, str | None] = field(default_factory=dict)
    _means: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def fault(self, ref: str) -> str | None:
        """What is wrong with a picture; None if nothing is, or if it was reported before."""
        if ref in self._said:
            return None
        self._said[ref] = None
        try:
            if pictures.is_bird(ref):
                pictures.bird_of(ref)
                self.sizes[ref] = (pictures.bird_size(ref),) * 2
                return None
            content = pictures.content_of(self.folder, ref)
            pixels = pictures.native(content, ref)
        except StimuliError as error:
            self._said[ref] = f"{error.what} {error.todo}"
            return self._said[ref]
        if not pictures.is_shared(ref):
            self.files[ref] = content
        self.sizes[ref] = (pixels.shape[1], pixels.shape[0])
        self._means[ref] = _mean(pixels)
        if pixels.ndim == 2:
            self.grey.add(ref)
        elif int(np.ptp(pixels.astype(np.int16), axis=2).max()) > COLOURED:
            self.coloured.add(ref)
        return None

    def mean(self, ref: str) -> tuple[float, ...]:
        """Mean level of the pixels, from 0 to 1: of grey, or of red, green and blue."""
        if ref not in self._means and pictures.is_bird(ref):
            self._means[ref] = _mean(pictures.paint_bird(ref))
        return self._means[ref]

    def content(self, ref: str) -> str:
        """A text that is the same for the same picture under another name."""
        content = self.files.get(ref)
        return ref if content is None else hashlib.sha256(content).hexdigest()


def _mean(pixels: pictures.UInt8) -> tuple[float, ...]:
    return tuple(np.atleast_1d(pixels.mean((0, 1)) / 255).tolist())


def picture_faults(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[Fault]:
    """Faults of all pictures of a set, each with its place."""
    manifest = stimulus_set.manifest
    for loc, ref in _walk_pictures(stimulus_set):
        if fault := picture_files.fault(ref):
            yield loc, fault
    first_place: dict[str, str] = {}
    for loc, photo in stimulus_set.every_photo():
        place = "a worked example" if photo.set is None else f"set {photo.set}"
        content = picture_files.content(photo.photo)
        if content in first_place:
            first = first_place[content]
            where = "twice" if first == place else f"and in {first}"
            yield (*loc, "photo"), f"{photo.photo!r} is in {place} {where}"
        first_place.setdefault(content, place)
        if manifest.kind != "heatmaps":
            continue
        sizes = {picture_files.sizes.get(ref) for ref in photo.heatmaps} - {None}
        if len(sizes) > 1:
            listed = ", ".join(f"{w} × {h}" for w, h in sorted(s for s in sizes if s is not None))
            yield (*loc, "heatmaps"), f"the heatmaps differ in size: {listed}"
        if manifest.scale in ("positive", "signed"):
            for place_of, ref in enumerate(photo.heatmaps):
                if ref in picture_files.coloured:
                    fault = (
                        f"{ref!r} is in colour, but for the scale {manifest.scale} it must be grey"
                    )
                    yield (*loc, "heatmaps", place_of), f"{fault}, or scale: ready"


def picture_warnings(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    for ref, (width, height) in picture_files.sizes.items():
        if width * height > LARGE:
            yield (
                f"the picture {ref!r} has {width} × {height} pixels, so it will load slowly; "
                "512 to 1024 pixels per side are enough"
            )
    coarse: list[str] = []
    for _, photo in stimulus_set.every_photo():
        size = picture_files.sizes.get(photo.photo)
        if size is None:
            continue
        if min(size) < COARSE and stimulus_set.manifest.kind != "scores":
            coarse.append(f"{photo.id} ({size[0]} × {size[1]})")
        for ref in photo.heatmaps[:1]:
            heat = picture_files.sizes.get(ref)
            if heat is not None and abs(heat[0] / heat[1] - size[0] / size[1]) > 0.05:
                yield (
                    f"photo {photo.id}: heatmaps of {heat[0]} × {heat[1]} are stretched over a "
                    f"photo of {size[0]} × {size[1]}"
                )
    if coarse:
        listed = ", ".join(coarse[:LISTED]) + (", …" if len(coarse) > LISTED else "")
        yield f"less than {COARSE} pixels per side, which will look coarse: photo {listed}"


def _walk_pictures(stimulus_set: ReadableSet) -> Iterator[tuple[Loc, str]]:
    """Every picture that a set names, with its place."""
    manifest = stimulus_set.manifest
    for place, prototype in zip(stimulus_set.prototypes, manifest.prototypes, strict=True):
        yield ("prototypes", place, "photo"), prototype.photo
        if prototype.crop is not None:
            yield ("prototypes", place, "crop"), prototype.crop
    for loc, photo in stimulus_set.every_photo():
        for inner, ref in _of_photo(photo):
            yield (*loc, *inner), ref
    if manifest.tree is not None:
        yield ("tree",), manifest.tree


def _of_photo(photo: Photo) -> Iterator[tuple[Loc, str]]:
    yield ("photo",), photo.photo
    for place, ref in enumerate(photo.heatmaps):
        yield ("heatmaps", place), ref
    for place, row in enumerate(photo.rows):
        yield from _of_row(row, ("rows", place))
    for key in PLACES if photo.final is not None else ():
        yield from _of_row(getattr(photo.final, key), ("final", key))


def _of_row(row: Row, loc: Loc) -> Iterator[tuple[Loc, str]]:
    if row.crop is not None:
        yield (*loc, "crop"), row.crop


OFF = 0.5
"""Percentage points by which an accuracy may be rounded."""


def score_set_faults(manifest: Manifest) -> Iterator[Fault]:
    """Faults of what a set of scores says of itself."""
    if not manifest.methods:
        yield ("methods",), "missing; list the methods whose scores the photos have"
    for key in ("id", "name"):
        for text in twice(getattr(method, key) for method in manifest.methods):
            yield ("methods",), f"two methods have the {key} {text!r}"
    classes = [class_.id for class_ in manifest.classes]
    counted: set[tuple[str, str]] = set()
    for place, cell in enumerate(manifest.pool):
        for key in ("truth", "prediction"):
            if (class_ := getattr(cell, key)) not in classes:
                yield ("pool", place, key), f"{class_!r} is not among the classes"
        if (cell.truth, cell.prediction) in counted:
            yield ("pool", place), f"{cell.truth} predicted as {cell.prediction} is already counted"
        counted.add((cell.truth, cell.prediction))


def score_photo_faults(photo: Photo, manifest: Manifest) -> Iterator[Fault]:
    """Faults of a photo, each with its place within the photo."""
    classes = tuple(class_.id for class_ in manifest.classes)
    if photo.options != classes:
        options = ", ".join(photo.options) or "none"
        needed = ", ".join(classes)
        yield ("options",), f"found {options}; all classes are needed, in their order ({needed})"
    elif not photo.logits:
        yield ("logits",), "missing; give the model's scores for all classes"
    elif len(photo.logits) == len(classes):
        most = max(photo.logits)
        best = [name for name, logit in zip(classes, photo.logits, strict=True) if logit == most]
        if photo.prediction in classes and photo.prediction not in best:
            fault = f"found {photo.prediction!r}, but {best[0]!r} has the highest logit"
            yield ("prediction",), fault
    methods = [method.id for method in manifest.methods]
    for method in methods:
        if method not in photo.scores:
            yield ("scores",), f"there are no scores of the method {method!r}"
    for method in photo.scores:
        if method not in methods:
            yield ("scores", method), f"{method!r} is not among the methods"
    for ref in twice(photo.scores.values()):
        yield ("scores",), f"{ref!r} is used for two methods"
    yield from _check_masked(photo, methods, len(classes))


def _check_masked(photo: Photo, methods: Sequence[str], classes: int) -> Iterator[Fault]:
    keys: set[tuple[str, float, str, str]] = set()
    for place, masked in enumerate(photo.masked):
        loc: Loc = ("masked", place)
        if masked.method not in methods:
            yield (*loc, "method"), f"{masked.method!r} is not among the methods"
        if len(masked.logits) != classes:
            yield (*loc, "logits"), f"found {len(masked.logits)} values, but {classes} classes"
        key = (masked.method, masked.percent, masked.fill, masked.sign)
        if key in keys:
            masking = f"{masked.method}, {masked.percent:g} %, {masked.fill}, {masked.sign}"
            yield loc, f"the photo masked by {masking} is already listed"
        keys.add(key)


def score_file_faults(stimulus_set: ReadableSet, picture_files: PictureFiles) -> Iterator[Fault]:
    """Faults of score files, each with its place; what can be read joins the files of the set."""
    grid: tuple[int, ...] | None = None
    for loc, photo in stimulus_set.every_photo():
        size = picture_files.sizes.get(photo.photo)
        if (
            size is not None
            and photo.photo in picture_files.grey
            and len(stimulus_set.manifest.mean_level or ()) > 1
        ):
            fault = f"{photo.photo!r} is grey, but mean_level has red, green and blue"
            yield (*loc, "photo"), fault
        for method, ref in photo.scores.items():
            place: Loc = (*loc, "scores", method)
            try:
                content = pictures.content_of(picture_files.folder, ref, score_files.SCORES)
                scores = score_files.decode_scores(content, ref)
            except StimuliError as error:
                yield place, f"{error.what} {error.todo}"
                continue
            picture_files.files[ref] = content
            if grid is None:
                grid = scores.shape
            if scores.shape != grid:
                fault = f"{ref!r} has {_grid(scores.shape)} cells, others have {_grid(grid)}"
                yield place, f"{fault}; all need the same grid"
            elif size is not None and (size[0] % grid[1] or size[1] % grid[0]):
                text = f"a photo of {size[0]} × {size[1]} pixels has no whole blocks for "
                yield place, f"{text}{_grid(grid)} cells"
            if float(np.ptp(scores)) == 0:
                picture_files.flat.append(ref)


def _grid(grid: tuple[int, ...]) -> str:
    return f"{grid[1]} × {grid[0]}"


def score_warnings(manifest: Manifest, picture_files: PictureFiles) -> Iterator[str]:
    """What can be shown, but is probably a mistake."""
    for ref in picture_files.flat:
        yield f"all scores in {ref!r} are equal, so its pixels are shown in random order"
    if manifest.mean_level is None:
        fault = (
            "mean_level is missing, so masked pixels cannot be replaced by the mean of the pictures"
        )
        levels = [picture_files.mean(photo.photo) for photo in manifest.photos]
        mean = [round(float(level), 4) for level in np.mean(np.broadcast_arrays(*levels), 0)]
        yield f"{fault}, as they do where a study says nothing else; of these photos it is {mean}"
    if all(photo.correct for photo in manifest.photos):
        yield "the model is right about all photos, so nobody can follow its errors"
    if manifest.pool:
        count = sum(cell.count for cell in manifest.pool)
        right = sum(cell.count for cell in manifest.pool if cell.truth == cell.prediction)
        if count == 0 or abs(100 * right / count - manifest.method.accuracy) > OFF:
            yield (
                f"pool counts {right} of {count} photos as right, but the accuracy of the model is "
                f"{manifest.method.accuracy:g} %"
            )
    photos_of = Counter(
        (masked.method, masked.percent, masked.fill, masked.sign)
        for photo in manifest.photos
        for masked in photo.masked
    )
    missing = [key for key, count in photos_of.items() if count < len(manifest.photos)]
    if missing:
        method, percent, fill, sign = missing[0]
        yield (
            f"the model's output for masked photos is missing for some photos: e.g. {method}, "
            f"{percent:g} %, {fill}, {sign} for {photos_of[missing[0]]} of {len(manifest.photos)}"
        )
