"""Which test photos make a study's sets.

Source: paper 003, sections 3.3 and 4 (half right, half wrong); what is added is that wrong ones
are spread over groups of classes that are alike and over kinds of mistakes, that no class is met
too often in a set, and that a participant could see what decides. What is alike, the data set says
(`set_photos`). Nothing here needs torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from labapp.explanations.card import VISIBLE

SETS = 10
MOST_OF_A_CLASS = 2
"""Photos of a class in a set, where there are many classes."""


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


@dataclass
class _DraftSet:
    photos: list[Candidate] = field(default_factory=list)

    def count(self, of: Callable[[Candidate], int], value: int) -> int:
        return sum(of(photo) == value for photo in self.photos)


def select(
    candidates: Iterable[Candidate], wanted: SetSize, seed: int, most: int = MOST_OF_A_CLASS
) -> Selection:
    """Sets of photos and two examples, the same for the same candidates and seed. most: photos of a
    class in a set.

    Raises TooFew.
    """
    random = np.random.default_rng([seed, 0])
    by_row = sorted(candidates, key=lambda c: c.row)
    seen = [by_row[n] for n in random.permutation(len(by_row)) if by_row[n].visible >= VISIBLE]
    right = [c for c in seen if c.right and c.eligible]
    wrong = _usable([c for c in seen if not c.right], wanted)
    sets = [_DraftSet() for _ in range(wanted.sets)]
    _deal(wrong, wanted.wrong, sets, _spread_wrong, most)
    _deal(right, wanted.right, sets, _spread_right, most)
    if not right or not wrong:
        raise TooFewPhotos("no photo is left for a worked example")
    mixed = tuple(tuple(s.photos[n] for n in random.permutation(len(s.photos))) for s in sets)
    return Selection(mixed, right[0], wrong[0])


def _usable(wrong: list[Candidate], wanted: SetSize) -> list[Candidate]:
    """The wrong ones among classes that are alike, where they are enough for the sets and an
    example: others are too plain."""
    inside = [c for c in wrong if c.near]
    return inside if len(inside) > wanted.wrong * wanted.sets else wrong


Given = Counter[tuple[int, int, int]]
"""How many photos of a group, class and kind of mistake were given to sets."""
Priority = Callable[[Candidate, _DraftSet, Given], tuple[int, ...]]


def _deal(
    pool: list[Candidate], count: int, sets: Sequence[_DraftSet], key: Priority, most: int
) -> None:
    """Give each set so many photos, one after the other, each time the least alike; what is given
    leaves the pool. most: of a class in a set. Raises TooFew."""
    given: Given = Counter()
    for _ in range(count):
        for dealt in sets:
            free = [photo for photo in pool if dealt.count(lambda c: c.truth, photo.truth) < most]
            if not free:
                raise TooFewPhotos(
                    f"{len(pool)} photos are left, and none of a class a set still needs"
                )
            best = min(free, key=lambda photo: key(photo, dealt, given))
            dealt.photos.append(best)
            pool.remove(best)
            given[best.group, best.truth, best.mistake] += 1


def _spread_wrong(photo: Candidate, dealt: _DraftSet, given: Given) -> tuple[int, ...]:
    group = sum(n for (of, _, _), n in given.items() if of == photo.group)
    alike = sum(
        n for (of, _, mistake), n in given.items() if of == photo.group and mistake == photo.mistake
    )
    return (
        dealt.count(lambda c: c.group, photo.group),
        dealt.count(lambda c: c.mistake, photo.mistake),
        alike,
        group,
    )


def _spread_right(photo: Candidate, dealt: _DraftSet, given: Given) -> tuple[int, ...]:
    return (
        dealt.count(lambda c: c.truth, photo.truth),
        dealt.count(lambda c: c.group, photo.group),
        given[photo.group, photo.truth, 0],
    )


def options(scores: Sequence[float], truth: int, *, random: np.random.Generator) -> tuple[int, ...]:
    """Four classes to choose from, or all where there are fewer, in random places: those of the
    highest scores where the true one is among the first three; else the first three and the true
    one.

    Where the prediction is right these are the four of the highest scores. Paper 003, section 4;
    it does not say what is done when the true class is among the first three already.
    """
    order = [int(n) for n in np.argsort(-np.asarray(scores), kind="stable")]
    four = order[:4] if truth in order[:3] else [*order[:3], truth]
    return tuple(four[n] for n in random.permutation(len(four)))
