"""Which rows of a grid of factors a task keeps, so that its factors depend on each other.

Paper 001, A.6: with lambda correlations, each value of factor i (i up to lambda) allows factor
i + 1 only half of its values, drawn without replacement: from the lower three quarters of them
where one concept of the row is 1, from the upper three quarters otherwise. Factors after
lambda + 1 keep every other value, so that the size hardly changes with lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.concepts.chance import generator, order
from labapp.datasets.split import Int64

Bool = NDArray[np.bool_]


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


def correlated(
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
    rounded down, which of 6 values are all 6.) A task with lambda correlations has those of
    lambda - 1 with the same seed, and one more.

    Parameters
    ----------
    steps : of each factor, which values are kept: every so many; by default those of the text.
    halves : of each factor, from how many lower or upper values how many are drawn, where these are
        not three quarters and half; None for a factor of which they are.

    Raises
    ------
    ValueError : fewer than 0 or more than k - 1 correlations.
    """
    if not 0 <= correlations < len(sizes):
        raise ValueError(
            f"correlations must lie between 0 and {len(sizes) - 1}, found {correlations}"
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
