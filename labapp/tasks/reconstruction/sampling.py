"""Drawing the initial z and the target z' of a question (paper 000, 3.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labapp.representations.space import LatentSpace
from labapp.study.assignment import attempt_at, generator
from labapp.study.sampling import draw_state, sample_of
from labapp.tasks.reconstruction.plan import ReconstructionPart


def draw_pair(
    part: ReconstructionPart,
    space: LatentSpace,
    sample: NDArray[np.float32] | None,
    seed: int,
    participant: str,
    trial: int,
    attempt: int = 1,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(z, z') of question `trial` (from 1) of an attempt at the stage, each on the sliders' steps
    and inside their limits.

    sample: held-out representation, shape (m, dimensions), float32; needed by `held_out` and
    `shuffled_pass`. Raises ValueError when the part's sampling cannot be done with what is given.
    """
    if part.sampling == "fixed":
        start, target = part.pairs[trial - 1]
        return space.snap(start), space.snap(target)
    stage = attempt_at(part.id, attempt)
    if part.sampling == "shuffled_pass":
        order = generator(seed, participant, stage, "pass")
        return _shuffled_pass(space, sample_of(part.model, sample), order, trial)
    rng = generator(seed, participant, stage, trial, "pair")
    start, target = (draw_state(part.sampling, part.model, space, sample, rng) for _ in range(2))
    return start, target


def _shuffled_pass(
    space: LatentSpace, sample: NDArray[np.float32], rng: np.random.Generator, trial: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """As the published application: one shuffled pass over the first 250 rows, two a question."""
    rows = sample[:250]
    order = rng.permutation(len(rows))
    first, second = (2 * (trial - 1) % len(rows), (2 * trial - 1) % len(rows))
    return (
        space.snap(rows[int(order[first])].tolist()),
        space.snap(rows[int(order[second])].tolist()),
    )
