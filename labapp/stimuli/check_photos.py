"""Whether a photo and its explanation fit each other and the rest of the set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from labapp.stimuli.manifest import Box, FinalSteps, Manifest, Photo, Row
from labapp.stimuli.readable import ReadableSet
from labapp.stimuli.sources import PLACES, Loc

Fault = tuple[Loc, str]


def twice(values: Iterable[str]) -> list[str]:
    """Values that occur more than once."""
    return [value for value, count in Counter(values).items() if count > 1]


def box_fault(box: Box | None) -> str | None:
    """What is wrong with a box that lies within the picture."""
    if box is None or (box[0] < box[2] and box[1] < box[3]):
        return None
    return f"the box {list(box)} is empty; write left, top, right, bottom as shares of the picture"


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
            yield (key,), f"found {count} values, but {len(photo.options)} options"
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
        fault = f"found {len(photo.heatmaps)} heatmaps, but {len(photo.options)} options"
        yield ("heatmaps",), fault
    for ref in twice(photo.heatmaps):
        yield ("heatmaps",), f"{ref!r} stands for two options"


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
            yield ("rows", place, "present"), "missing; true or false is needed at every step"
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
        yield ("final", "classes"), f"{again[0]!r} is there twice; four different ones are needed"
    if photo.truth not in final.classes:
        fault = f"the true class {photo.truth!r} is not among {', '.join(final.classes)}"
        yield ("final", "classes"), fault


def _step(row: Row, loc: Loc, prototype_ids: frozenset[str]) -> Iterator[Fault]:
    yield from _row(row, loc, prototype_ids, region_needed=row.present is True)
    if row.similarity is not None and not 0 <= row.similarity <= 1:
        fault = f"found {row.similarity:g}; a tree's similarities lie between 0 and 1"
        yield (*loc, "similarity"), fault


def _row(
    row: Row, loc: Loc, prototype_ids: frozenset[str], *, region_needed: bool
) -> Iterator[Fault]:
    if row.prototype not in prototype_ids:
        yield (*loc, "prototype"), f"{row.prototype!r} is not among the prototypes"
    if fault := box_fault(row.region):
        yield (*loc, "region"), fault
    if region_needed and row.region is None and row.crop is None:
        yield loc, "neither region nor crop says which part of the photo is compared"
