"""Seeded, recorded randomness of a study: generators by purpose, and counterbalanced orders."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

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
