"""Tasks of concepts: instances with their concepts and the label of the task, divided for training
and test. Chance is from uniform numbers alone, which numpy promises to keep: data must not change
with it.

Which rows of a grid of factors a task keeps, so that its factors depend on each other (paper 001,
A.6): with lambda correlations, each value of factor i (i up to lambda) allows factor i + 1 only
half of its values, drawn without replacement: from the lower three quarters of them if one
concept of the row is 1, from the upper three quarters otherwise. Factors after lambda + 1 keep
every other value, so that the size hardly changes with lambda.

TabularToy(delta) has seven numbers made from three latents, whose signs are the concepts. Paper
001, A.6, after Mahinpei et al. (2021): the latents are standard normal and every two of them
correlate with delta. The task asks whether at least two of them are positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from labapp.models.datasets.split import ArrayRows, Float32, Float64, Int64, Rows, check

UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]
Reading = Literal["text", "released"]
"""How a task of paper 001 is read: by the paper's text, or by the code released with it, on which
its figures rest."""
Origin = Literal["computed", "rendered", "official", "own"]
"""Where instances come from: numbers by formula, pictures drawn by labapp, the published file, or a
lab's own pictures.
Results on rendered pictures must be called so: they are no repetition of published ones."""


@dataclass(frozen=True, slots=True, eq=False)
class ConceptRows:
    """Rows of a task, asked for by number.

    `rows` has their instances and factors; `concepts_of` int64 0 or 1, shape (n, k); `labels_of`
    int64 from 0, shape (n,).
    """

    rows: Rows
    concepts_of: Int64
    labels_of: Int64

    def __len__(self) -> int:
        return len(self.labels_of)

    def instances(self, rows: Int64) -> Float32:
        return self.rows.instances(rows)

    def factors(self, rows: Int64) -> Float64:
        return self.rows.factors(rows)

    def concepts(self, rows: Int64) -> Int64:
        return self.concepts_of[rows]

    def labels(self, rows: Int64) -> Int64:
        return self.labels_of[rows]


class Words(NamedTuple):
    """What a concept is called, and the words for what is seen when it is off and on."""

    name: str
    off: str
    on: str


@dataclass(frozen=True, slots=True)
class ConceptWords:
    """What people are told of a concept: its `id` in tables, its `name`, and the words for what is
    seen when it is `off` and `on`; `translations`: the same by language; `right`: which of the two
    stands on the right of its switch."""

    id: str
    name: str
    off: str
    on: str
    translations: Mapping[str, Words] = field(default_factory=dict)
    right: Literal["on", "off"] = "on"

    def in_language(self, language: str) -> Words:
        """The words in a language; empty for those that it has by itself."""
        return self.translations.get(language, Words(self.name, self.off, self.on))


@dataclass(frozen=True, slots=True, eq=False)
class ConceptSplit:
    """A task, divided.

    Attributes
    ----------
    classes : how many labels there are.
    files : SHA-256 of what was read from files, by their published names.
    words : of each concept, for people; none if people see nothing of it.
    rules : of each class, by number the concepts that make it, 1 or 0, all of them together; see
        `rules_of`.
    class_names : id and name of each class, if they have some. `invented`: whether nobody
        knows them before.
    classes_are : what texts call the classes.
    draw : a picture for people of one row's factors, so many pixels wide: uint8, (pixels, pixels,
        3); None if a row is no picture.
    unclear : by number of a factor, the values between which people cannot tell its concept by
        eye; see `clear`. Empty if nothing is known of that.
    reference : in place of that, what a stimulus set names such a picture by that is drawn if it
        is needed.
    """

    name: str
    train: ConceptRows
    test: ConceptRows
    factor_names: tuple[str, ...]
    concept_names: tuple[str, ...]
    classes: int
    origin: Origin
    files: Mapping[str, str] = field(default_factory=dict)
    words: tuple[ConceptWords, ...] = ()
    rules: tuple[Mapping[int, int], ...] = ()
    class_names: tuple[tuple[str, str], ...] = ()
    invented: bool = True
    classes_are: Literal["objects", "species"] = "objects"
    draw: Callable[[Float64, int], UInt8] | None = None
    reference: Callable[[Float64], str] | None = None
    unclear: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def clear(self, factors: Float64) -> Bool:
        """Whether people can tell every concept of a row, by its factors, shape (n, f): none of
        them lies in a range of `unclear`, the ends included. Shape (n,)."""
        out = np.ones(len(factors), dtype=np.bool_)
        for factor, (low, high) in self.unclear.items():
            out &= (factors[:, factor] < low) | (factors[:, factor] > high)
        return out


def rules_of(label: Callable[[Int64], Int64], count: int) -> tuple[dict[int, int], ...]:
    """What makes each class: by number the concepts that are the same in all states of its label.

    Parameters
    ----------
    label : labels of concepts, shape (n, `count`). A class must be all states that agree in these.
    """
    states = np.array(list(product((0, 1), repeat=count)), dtype=np.int64)
    labels = label(states)
    rules = []
    for class_ in range(int(labels.max()) + 1):
        of_class = states[labels == class_]
        same = (of_class == of_class[0]).all(axis=0)
        rule = {int(j): int(of_class[0, j]) for j in np.flatnonzero(same)}
        fits = np.all([states[:, j] == value for j, value in rule.items()], axis=0)
        if fits.sum() != len(of_class):
            raise ValueError(f"class {class_} is not a conjunction of concepts")
        rules.append(rule)
    return tuple(rules)


def check_reading(reading: str) -> None:
    """Raises ValueError for another reading than `Reading` has."""
    if reading not in get_args(Reading):
        raise ValueError(f"the reading must be text or released, found {reading!r}")


TEST_SHARE = 0.2
"""Kept for the test if a task has no fixed sizes, as in the released code."""
VALIDATION_SHARE = 0.1
"""Of the rows to train on, kept for validation, as in the released code."""


def divide(grid_rows: Int64, seed: int) -> tuple[Int64, Int64]:
    """Rows to train on and `TEST_SHARE` of them to test on, by the luck of `seed`; both keep the
    order of `grid_rows`, int64, shape (n,). Raises ValueError if one side would be empty."""
    held_out = round(TEST_SHARE * len(grid_rows))
    check(len(grid_rows), held_out)
    # Another stream than that of the allowed values, which are drawn by the same seed.
    shuffled = order(generator(seed, 1), len(grid_rows))
    train, test = shuffled[held_out:].copy(), shuffled[:held_out].copy()
    train.sort()
    test.sort()
    return grid_rows[train], grid_rows[test]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedRows:
    """Rows whose instances are changed by `change(instances, row numbers)`."""

    rows: Rows
    change: Callable[[Float32, Int64], Float32]

    def __len__(self) -> int:
        return len(self.rows)

    def instances(self, rows: Int64) -> Float32:
        return self.change(self.rows.instances(rows), rows)

    def factors(self, rows: Int64) -> Float64:
        return self.rows.factors(rows)


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Some of the rows of another; `numbers` int64, shape (n,), says which."""

    rows: Rows
    numbers: Int64

    def __len__(self) -> int:
        return len(self.numbers)

    def instances(self, rows: Int64) -> Float32:
        return self.rows.instances(self.numbers[rows])

    def factors(self, rows: Int64) -> Float64:
        return self.rows.factors(self.numbers[rows])


def part(rows: ConceptRows, numbers: Int64) -> ConceptRows:
    """The rows of these numbers, int64, shape (n,), in that order."""
    return ConceptRows(
        PartRows(rows.rows, numbers), rows.concepts_of[numbers], rows.labels_of[numbers]
    )


def draw_rows(rows: ConceptRows, count: int, seed: int) -> ConceptRows:
    """So many of the rows, drawn by `seed`, in their order; all of them if there are fewer."""
    return part(rows, np.sort(order(generator(seed, 3), len(rows))[:count]))


def validation(
    rows: ConceptRows, *, seed: int, share: float = VALIDATION_SHARE
) -> tuple[ConceptRows, ConceptRows]:
    """Rows to train on, and a share of them, drawn by `seed`, to validate on; both keep their
    order. Raises ValueError if one side would be empty."""
    held_out = round(share * len(rows))
    check(len(rows), held_out)
    shuffled = order(generator(seed, 4), len(rows))
    return part(rows, np.sort(shuffled[held_out:])), part(rows, np.sort(shuffled[:held_out]))


@dataclass(frozen=True, slots=True, eq=False)
class CorrelationRule:
    """The rule, drawn.

    `allowed[i]`, bool, shape (2, values of factor i, values of factor i + 1): whether factor i + 1
    may take a value, by the deciding concept (0, 1) and the value of factor i. `sizes`: the number
    of values of each factor. `steps`: of which every so many alone are kept, 1 for all.
    """

    sizes: tuple[int, ...]
    allowed: tuple[Bool, ...]
    steps: tuple[int, ...]

    def keeps(self, indices: Int64, decides: Int64) -> Bool:
        """Which rows the task has: bool, shape (n,).

        Parameters
        ----------
        indices : numbers of the factors' values, from 0, shape (n, k).
        decides : the deciding concept of each row, 0 or 1, shape (n,); or of shape (n, k), whose
            column i decides which values of factor i + 1 are allowed.
        """
        mask: Bool = (indices % np.array(self.steps) == 0).all(axis=1)
        for i, table in enumerate(self.allowed):
            deciding = decides if decides.ndim == 1 else decides[:, i]
            mask &= table[deciding, indices[:, i], indices[:, i + 1]]
        return mask


def make_correlation_rule(
    sizes: Sequence[int],
    correlations: int,
    seed: int,
    *,
    steps: Sequence[int] | None = None,
    halves: Sequence[tuple[int, int] | None] | None = None,
) -> CorrelationRule:
    """The rule for factors with these numbers of values.

    Three quarters and halves are rounded down, and the upper quarters mirror the lower ones: of 6
    values, from 0, halves are drawn from 0 to 3 and from 2 to 5, as in the released code. (The
    paper's formula, whose values count from 1, lets the upper ones begin at a quarter of them,
    rounded down, which of 6 values are all 6.) A task with lambda correlations has those of lambda
    - 1 with the same seed, and one more. Raises ValueError: fewer than 0 or more than k - 1
    correlations.

    Parameters
    ----------
    steps : of each factor, which values are kept: every so many; by default those of the text.
    halves : of each factor, from how many lower or upper values how many are drawn, if these are
        not three quarters and half; None for a factor of which they are.
    """
    if not 0 <= correlations < len(sizes):
        raise ValueError(
            f"correlations must be between 0 and {len(sizes) - 1}, found {correlations}"
        )
    allowed = []
    for i in range(correlations):
        random = generator(seed, 0, i)
        values, later = sizes[i], sizes[i + 1]
        other = halves[i + 1] if halves is not None else None
        quarters, half = other or (3 * later // 4, later // 2)
        table = np.zeros((2, values, later), dtype=np.bool_)
        for value in range(values):
            table[1, value, order(random, quarters)[:half]] = True
            table[0, value, later - quarters + order(random, quarters)[:half]] = True
        allowed.append(table)
    if steps is None:
        # Without correlations too, the first factor keeps all of its values.
        steps = [1 if i <= correlations else 2 for i in range(len(sizes))]
    return CorrelationRule(tuple(sizes), tuple(allowed), tuple(steps))


def binary(*digits: Int64) -> Int64:
    """The number that binary digits, each int64 of shape (n,), write, the greatest first."""
    number = np.zeros_like(digits[0])
    for digit in digits:
        number = 2 * number + digit
    return number


def generator(*entropy: int) -> np.random.Generator:
    """Equal numbers give equal draws; `entropy` are whole numbers from 0."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def draw_equicorrelated(
    random: np.random.Generator, rows: int, columns: int, rho: float
) -> Float64:
    """Standard normal numbers, every two columns of which correlate with `rho`, 0 to 1.

    float64, shape (rows, columns): each is sqrt(rho) of a number that its row shares plus sqrt(1 -
    rho) of one of its own, so that the covariance may also be singular. Raises ValueError if
    `rho` lies outside 0 to 1.
    """
    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"the correlation must be between 0 and 1, found {rho}")
    u = random.random((2, rows, columns + 1))
    # Box and Muller; 1 - u lies in (0, 1], so that its logarithm is finite.
    normal = np.sqrt(-2.0 * np.log(1.0 - u[0])) * np.cos(2.0 * np.pi * u[1])
    return np.asarray(np.sqrt(rho) * normal[:, :1] + np.sqrt(1.0 - rho) * normal[:, 1:])


def order(random: np.random.Generator, count: int) -> Int64:
    """0 to count - 1 in an order by chance."""
    return np.argsort(random.random(count), kind="stable").astype(np.int64)


TRAIN, TEST = 2_000, 1_000
LATENTS = ("z1", "z2", "z3")
CONCEPTS = ("z1 > 0", "z2 > 0", "z3 > 0")


def inputs(z: Float64) -> Float32:
    """The seven numbers of latents of shape (n, 3): float32, shape (n, 7)."""
    columns = []
    for latent in z.T:
        columns += [np.sin(latent) + latent, np.cos(latent) + latent]
    columns.append(np.square(z).sum(axis=1))
    return np.stack(columns, axis=1).astype(np.float32)


def tabular_toy(
    delta: float, *, seed: int = 0, train: int = TRAIN, test: int = TEST
) -> ConceptSplit:
    """Freshly drawn rows; factors are the latents. Raises ValueError: delta outside 0 to 1, or a
    part without a row. `delta`: correlation of every two latents, 0 to 1. `train`, `test`: numbers
    of rows; the paper's by default."""
    if train < 1 or test < 1:
        raise ValueError(f"both parts need a row, found {train} and {test}")
    z = draw_equicorrelated(generator(seed), train + test, len(LATENTS), delta)
    return ConceptSplit(
        name=f"TabularToy({delta:g})",
        train=_rows(z[:train]),
        test=_rows(z[train:]),
        factor_names=LATENTS,
        concept_names=CONCEPTS,
        classes=2,
        origin="computed",
    )


def _rows(z: Float64) -> ConceptRows:
    concepts = (z > 0).astype(np.int64)
    labels = (concepts.sum(axis=1) >= 2).astype(np.int64)
    return ConceptRows(ArrayRows(inputs(z), z), concepts, labels)
