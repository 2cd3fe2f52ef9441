"""Which test photos make a study's sets.

Source: paper 003, sections 3.3 and 4 (half right, half wrong); what is added is that wrong ones
are spread over genera and over the mark that was missed, that no species is met more than twice in
a set, and that a participant could see both marks that decide. Nothing here needs torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from labapp.datasets.birds.species import SISTERS
from labapp.explanations.card import VISIBLE

SETS = 10
MOST_OF_A_SPECIES = 2
"""Photos of a species in a set."""


class TooFew(ValueError):
    """There are not enough photos to choose from."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test photo.

    Attributes
    ----------
    row : in the test part.
    truth, prediction : species from 0.
    visible : of its two deciding marks the smaller share that can be seen.
    eligible : whether the task can show it.
    """

    row: int
    truth: int
    prediction: int
    visible: float
    eligible: bool = True

    @property
    def right(self) -> bool:
        return self.truth == self.prediction

    @property
    def genus(self) -> int:
        return self.truth // SISTERS

    @property
    def missed(self) -> int:
        """Which of the two deciding marks the model took for another: 0 none, 1 the second, 2 the
        first, 3 both; 4 where it took even the genus for another."""
        if self.genus != self.prediction // SISTERS:
            return 4
        return (self.truth % SISTERS) ^ (self.prediction % SISTERS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many photos a set has that the model has right, and wrong."""

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


@dataclass
class _Set:
    photos: list[Candidate] = field(default_factory=list)

    def count(self, of: Callable[[Candidate], int], value: int) -> int:
        return sum(of(photo) == value for photo in self.photos)


def select(candidates: Iterable[Candidate], wanted: Wanted, seed: int) -> Selection:
    """Sets of photos and two examples, the same for the same candidates and seed.

    Raises TooFew.
    """
    random = np.random.default_rng([seed, 0])
    by_row = sorted(candidates, key=lambda c: c.row)
    seen = [by_row[n] for n in random.permutation(len(by_row)) if by_row[n].visible >= VISIBLE]
    right = [c for c in seen if c.right and c.eligible]
    wrong = _usable([c for c in seen if not c.right], wanted)
    sets = [_Set() for _ in range(wanted.sets)]
    _deal(wrong, wanted.wrong, sets, _spread_wrong)
    _deal(right, wanted.right, sets, _spread_right)
    if not right or not wrong:
        raise TooFew("no photo is left for a worked example")
    mixed = tuple(tuple(s.photos[n] for n in random.permutation(len(s.photos))) for s in sets)
    return Selection(mixed, right[0], wrong[0])


def _usable(wrong: list[Candidate], wanted: Wanted) -> list[Candidate]:
    """The wrong ones inside a genus, where they are enough for the sets and an example: between
    genera nobody needs to look at marks."""
    inside = [c for c in wrong if c.missed < 4]
    return inside if len(inside) > wanted.wrong * wanted.sets else wrong


Key = Callable[[Candidate, _Set, Counter[tuple[int, int]]], tuple[int, ...]]


def _deal(pool: list[Candidate], count: int, sets: Sequence[_Set], key: Key) -> None:
    """Give each set so many photos, one after the other, each time the least alike; what is given
    leaves the pool. Raises TooFew."""
    given: Counter[tuple[int, int]] = Counter()
    for _ in range(count):
        for dealt in sets:
            free = [
                photo
                for photo in pool
                if dealt.count(lambda c: c.truth, photo.truth) < MOST_OF_A_SPECIES
            ]
            if not free:
                raise TooFew(
                    f"{len(pool)} photos are left, and none of a species a set still needs"
                )
            best = min(free, key=lambda photo: key(photo, dealt, given))
            dealt.photos.append(best)
            pool.remove(best)
            given[best.truth, best.missed] += 1


def _spread_wrong(
    photo: Candidate, dealt: _Set, given: Counter[tuple[int, int]]
) -> tuple[int, ...]:
    genus = sum(n for (truth, _), n in given.items() if truth // SISTERS == photo.genus)
    alike = sum(
        n
        for (truth, missed), n in given.items()
        if truth // SISTERS == photo.genus and missed == photo.missed
    )
    return (
        dealt.count(lambda c: c.genus, photo.genus),
        dealt.count(lambda c: c.missed, photo.missed),
        alike,
        genus,
    )


def _spread_right(
    photo: Candidate, dealt: _Set, given: Counter[tuple[int, int]]
) -> tuple[int, ...]:
    return (
        dealt.count(lambda c: c.truth, photo.truth),
        dealt.count(lambda c: c.genus, photo.genus),
        given[photo.truth, 0],
    )


def options(scores: Sequence[float], truth: int, *, random: np.random.Generator) -> tuple[int, ...]:
    """The four classes to choose from, in random places: the four of the highest scores where the
    true one is among the first three; else the first three and the true one.

    Where the prediction is right these are the four of the highest scores. Paper 003, section 4;
    it does not say what is done when the true class is among the first three already.
    """
    order = [int(n) for n in np.argsort(-np.asarray(scores), kind="stable")]
    four = order[:4] if truth in order[:3] else [*order[:3], truth]
    return tuple(four[n] for n in random.permutation(4))
