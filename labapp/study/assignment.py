"""Seeded, recorded randomness of a study: generators by purpose, and counterbalanced orders.

Drawing dial states of a representation (paper 000, 3.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labapp.models.representations.space import BaseSampling, Discrete, LatentSpace, prior_of

T = TypeVar("T")


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A fresh generator for one draw, from the study's seed and what the draw is for.

    Equal arguments give equal draws on every machine; another participant, stage, trial or
    purpose gives an independent stream.
    """
    text = "\0".join(f"{type(p).__name__}:{p}" for p in (seed, *purpose))
    words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def balanced_rows(n: int) -> list[tuple[int, ...]]:
    """Orders of n conditions in which each stands equally often at each place and follows each
    other one equally often (Williams design: n rows for even n, 2n for odd; n = 1 gives one row).
    """
    first = [0]
    for step in range(1, n):
        previous = first[-1]
        first.append((previous + (step if step % 2 else -step)) % n)
    rows = [tuple((value + shift) % n for value in first) for shift in range(n)]
    if n % 2 and n > 1:
        rows += [row[::-1] for row in rows]
    return rows


def counterbalanced(items: Sequence[T], seed: int, study: str, number: int) -> tuple[T, ...]:
    """The order for participant `number` (from 1): each block of participants goes through all
    balanced rows once, in an order shuffled per block."""
    rows = balanced_rows(len(items))
    block, place = divmod(number - 1, len(rows))
    shuffled = generator(seed, study, "counterbalance", block).permutation(len(rows))
    return tuple(items[index] for index in rows[int(shuffled[place])])


def shuffled(items: Sequence[T], seed: int, *purpose: str | int) -> tuple[T, ...]:
    """A seeded random order."""
    order = generator(seed, *purpose).permutation(len(items))
    return tuple(items[int(index)] for index in order)


def in_rounds(items: Sequence[T], count: int, seed: int, *purpose: str | int) -> tuple[T, ...]:
    """So many of the items in seeded random order: each once before any comes again."""
    rounds = -(-count // len(items))
    order = [item for turn in range(rounds) for item in shuffled(items, seed, *purpose, turn)]
    return tuple(order[:count])


def attempt_at(stage: str, attempt: int) -> str:
    """The purpose of a stage's draws at an attempt. A stage that begins again draws anew, for its
    participant has seen the former questions."""
    return stage if attempt == 1 else f"{stage}, attempt {attempt}"


def draw_state(
    sampling: BaseSampling,
    model: str,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    """One dial state, on the dials' steps and inside their limits. Raises ValueError when
    the sampling cannot be done with what is given.

    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out`.
    """
    if sampling == "held_out":
        rows = sample_of(model, sample)
        return space.snap(rows[int(rng.integers(len(rows)))].tolist())
    if sampling == "prior":
        draw = prior_of(space)
        if draw is None:
            raise ValueError(f"{model} has no prior to draw from")
        return space.snap(draw(rng))
    # Uniform within the limits: for representations without a sample (InfoGAN).
    return space.snap(
        tuple(
            float(rng.integers(dimension.k))
            if isinstance(dimension, Discrete)
            else float(rng.uniform(dimension.low, dimension.high))
            for dimension in space.dimensions
        )
    )


def sample_of(model: str, sample: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """The held-out sample. Raises ValueError where there is none."""
    if sample is None or len(sample) == 0:
        raise ValueError(f"{model} has no held-out sample to draw from")
    return sample
