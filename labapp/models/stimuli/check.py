"""Checks whether a stimulus set can be shown, and lists all of its faults with their places.

The schema says what a manifest may hold. This module checks whether its parts fit each other, and
whether every picture is there and is what the manifest says.

Also the reference pictures of a set of interventions: for every concept, two pictures that show
what its two words mean. They follow from the set alone, so that everybody is shown the same. Who
was shown them as such must not be asked about them: plans leave out the pictures of `reserved`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from labapp.models.stimuli import check_interventions, check_photos, check_scores
from labapp.models.stimuli.check_photos import Fault, PictureFiles, box_fault, photo_faults, twice
from labapp.models.stimuli.library import named_path
from labapp.models.stimuli.manifest import Manifest, Photo
from labapp.models.stimuli.sources import Loc, ReadableSet, SetSource, readable

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
    faults = [*_set_faults(stimulus_set), *check_photos.picture_faults(stimulus_set, picture_files)]
    if stimulus_set.manifest.kind == "scores":
        faults += check_scores.score_file_faults(stimulus_set, picture_files)
    if stimulus_set.manifest.kind == "interventions":
        faults += check_interventions.intervention_file_faults(stimulus_set, picture_files)
    out.faults += [f"{source.where(loc)}: {fault}" for loc, fault in faults]
    if not out.faults:
        out.manifest, out.files = stimulus_set.manifest, picture_files.files
        out.warnings = list(_warnings(stimulus_set.manifest))
        out.warnings += check_photos.picture_warnings(stimulus_set, picture_files)
        if stimulus_set.manifest.kind == "scores":
            out.warnings += check_scores.score_warnings(stimulus_set.manifest, picture_files)
        if stimulus_set.manifest.kind == "interventions":
            out.warnings += check_interventions.intervention_warnings(stimulus_set.manifest)
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
    return [f"{named_path(loc, value)}: {fault}" for loc, fault in faults]


def _set_faults(stimulus_set: ReadableSet) -> Iterator[Fault]:
    manifest = stimulus_set.manifest
    if manifest.kind == "heatmaps" and manifest.scale is None:
        yield ("scale",), "missing; heatmaps need one of positive, signed and ready"
    for key in ("id", "name"):
        for text in twice(getattr(class_, key) for class_ in manifest.classes):
            yield ("classes",), f"two classes have the {key} {text!r}"
    if manifest.kind == "scores":
        yield from check_scores.score_set_faults(manifest)
    if manifest.kind == "interventions":
        yield from check_interventions.intervention_set_faults(manifest)
    else:
        for place, class_ in enumerate(manifest.classes):
            if class_.translations:
                fault = "no task shows words by language of a set of this kind; leave them out"
                yield ("classes", place, "translations"), fault
    yield from _prototype_faults(stimulus_set)
    yield from _again("photos", ((loc, photo.id) for loc, photo in stimulus_set.every_photo()))
    for loc, photo in stimulus_set.every_photo():
        example = loc[0] != "photos"
        if example and photo.set is not None:
            yield (*loc, "set"), f"a worked example is in set {photo.set}; it must be in none"
        elif not example and photo.set is None:
            yield (*loc, "set"), "missing"
        if example and photo.correct != (loc[0] == "correct_example"):
            outcome = "right" if photo.correct else "wrong"
            yield (*loc, "prediction"), f"the prediction of this example is {outcome}"
        for inner, fault in photo_faults(photo, stimulus_set):
            yield (*loc, *inner), fault
        if manifest.kind == "scores":
            for inner, fault in check_scores.score_photo_faults(photo, manifest):
                yield (*loc, *inner), fault
        if manifest.kind == "interventions":
            for inner, fault in check_interventions.intervention_photo_faults(photo, manifest):
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
            yield (*loc, "of"), "missing; which class it speaks for is needed"
        if fault := box_fault(prototype.box):
            yield (*loc, "box"), fault
        if prototype.box is None and prototype.crop is None:
            yield loc, "neither box nor crop says which part of its photo it is"


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
                yield f"set {number}: the model is right in {right} of {len(photos)} photos"
    for key, outcome in (("correct_example", "right"), ("incorrect_example", "wrong")):
        optional = typed or (scores and key == "incorrect_example")
        if getattr(manifest, key) is None and not optional:
            yield f"there is no {key}: the introduction shows no photo that the model has {outcome}"
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


def reserved(pairs: Sequence[ReferencePair]) -> frozenset[str]:
    """The pictures of such pairs. They are told by the picture, as manifests name it, and not by a
    set's own id of it: sets of several models share pictures."""
    return frozenset(photo.photo for pair in pairs for photo in (pair.off, pair.on))


def _nearest(photos: Sequence[Photo], place: int) -> list[ReferencePair]:
    """Of a concept the pairs that differ in the fewest others: two sets of concepts, as the bits of
    numbers, differ where one of both has a bit."""
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
