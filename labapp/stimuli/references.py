"""Reference pictures of a set of interventions: of every concept two pictures that show what its
two words mean.

They follow from the set alone, so that everybody is shown the same. Who was shown them as such must
not be asked about them: plans leave out the pictures of `reserved`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from labapp.stimuli.manifest import Manifest, Photo


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
    first in the set. Concepts with the fewest such pairs choose first.

    Raises ValueError for a concept that all pictures have, or none has.
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
    pairs = list(_pairs(photos, place))
    least = min((len(pair.differing) for pair in pairs), default=0)
    return [pair for pair in pairs if len(pair.differing) == least]


def _pairs(photos: Sequence[Photo], place: int) -> Iterator[ReferencePair]:
    off = [photo for photo in photos if not photo.concepts[place]]
    on = [photo for photo in photos if photo.concepts[place]]
    for without, with_it in product(off, on):
        both = enumerate(zip(without.concepts, with_it.concepts, strict=True))
        differing = tuple(other for other, (a, b) in both if a != b and other != place)
        yield ReferencePair(place, without, with_it, differing)


def _kind(photo: Photo) -> str:
    """What plans draw it as."""
    return "natural" if photo.natural else photo.item or ""
