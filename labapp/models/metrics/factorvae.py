"""FactorVAE: whether the code that varies least tells which factor a batch shares.

Kim and Mnih (2018), as printed in paper 002, 3.1.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import Score, check_count, generator
from labapp.models.metrics.sampling import InstanceSource, Sampler, fixed_factors, instance_source

BATCH = 64
POINTS = 10_000
TEST_POINTS = 5_000
SPREAD_ROWS = 10_000
PUBLISHED_THRESHOLD = 0.05


def factorvae(
    codes: ArrayLike | None = None,
    factors: ArrayLike | None = None,
    *,
    sampler: Sampler | None = None,
    batch: int = BATCH,
    points: int = POINTS,
    test_points: int = TEST_POINTS,
    spread_rows: int = SPREAD_ROWS,
    threshold: float | None = None,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Accuracy of a majority vote on factors, 0 to 1, higher is better; 1/K by chance.

    For each point a factor is drawn, and a batch of instances that all share it; the point is the
    code with the least variance in the batch, each code measured in its SD over all instances.
    `points` of them vote: every code stands for the factor that it was least varied for most often
    (the first of equals; a code without a vote for the first factor). The score is how often that
    is right among `test_points` others.

    Codes that mix all factors score 1 if each holds a little more of one (paper 002, Fact 4). A
    second copy of a code leaves the score (Fact 1 holds that it falls, but both copies vote for the
    same factor). Of codes that vary equally little, by not varying at all, the first counts, so
    that the order of codes can matter; sign and unit do not at a threshold of 0, up to rounding.

    Returns a Score with the parts `accuracy_train` (of the votes themselves), `accuracy_test` (the
    score), `per_factor` (K,), the accuracy among the test points of each factor (NaN where none was
    drawn), `votes` (C, K), `sd` (C,), and `active` (C,), 1 or 0. With no active code, all
    accuracies are 0. Raises MetricError: see `sampling.instance_source` and `sampling.RowSampler`;
    a number or a seed outside its range.

    codes, factors : real numbers, shapes (n, C) and (n, K), no factor constant, n more than
        `batch`: the fixed-data variant, in which batches are rows (see `sampling.RowSampler`).
    sampler : instead of both, makes instances of any factors (see `sampling.Sampler`).
    batch : instances in a batch, at least 2. 64 as in the large study of Locatello et al. (2019);
        paper 002 has 128.
    points, test_points : at least 1.
    spread_rows : from how many instances of the sampler SDs are estimated, at least 2; of rows, all
        are taken.
    threshold : codes of a lower SD are inactive and never counted, nor are those that take one
        value only. It is an absolute SD: above 0, rescaling a code can change the score. By
        default 0, for the paper has none; 0.05 as published.
    seed : of all draws, 0 to 2^32 - 1.
    as_published : as in the released code's large study, whose threshold is 0.05.
    """
    for name, value, least in (
        ("batch", batch, 2),
        ("points", points, 1),
        ("test_points", test_points, 1),
        ("spread_rows", spread_rows, 2),
    ):
        check_count(name, value, least)
    limit = (PUBLISHED_THRESHOLD if as_published else 0.0) if threshold is None else threshold
    if not 0 <= limit < np.inf:
        raise MetricError(
            f"FactorVAE cannot be computed: the threshold is {limit}.",
            safe="Nothing was written.",
            todo="Give an SD of 0 or more.",
        )
    rng = generator(seed)
    drawn = instance_source(codes, factors, sampler, rng)
    sd = _sd(drawn.sample(spread_rows, rng))
    active = (sd > 0) & (sd >= limit)
    votes = np.zeros((len(sd), drawn.factor_count))
    tested = np.zeros_like(votes)
    if active.any():
        votes = _count(drawn, points, batch, sd, active, rng)
        tested = _count(drawn, test_points, batch, sd, active, rng)
    stands_for = np.arange(drawn.factor_count) == votes.argmax(axis=1)[:, None]
    right = np.where(stands_for, tested, 0.0).sum(axis=0)
    drawn_for = tested.sum(axis=0)
    score = float(right.sum()) / test_points
    per_factor = np.full(drawn.factor_count, np.nan if active.any() else 0.0)
    np.divide(right, drawn_for, out=per_factor, where=drawn_for > 0)
    return Score(
        metric="factorvae",
        score=score,
        parts={
            "accuracy_train": float(np.where(stands_for, votes, 0.0).sum()) / points,
            "accuracy_test": score,
            "per_factor": per_factor,
            "votes": votes,
            "sd": sd,
            "active": active.astype(np.float64),
        },
        settings={
            "sampler": drawn.name,
            "batch": batch,
            "points": points,
            "test_points": test_points,
            "spread_rows": spread_rows if drawn.rows is None else drawn.rows,
            "threshold": limit,
            "seed": seed,
            "as_published": as_published,
            "rows": drawn.rows,
        },
    )


def _sd(codes: Float64) -> Float64:
    """Of each code (C,), over n - 1; exactly 0 where it takes one value only."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    width = np.where(low < high, high - low, 1.0)
    # Measured from 0 to 1, because the squares of tiny numbers underflow.
    return np.where(low < high, ((codes - low) / width).std(axis=0, ddof=1) * width, 0.0)


def _count(
    drawn: InstanceSource,
    points: int,
    batch: int,
    sd: Float64,
    active: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Float64:
    """How often each code varied least when each factor was shared, shape (C, K)."""
    votes, of = np.zeros((len(sd), drawn.factor_count)), np.flatnonzero(active)
    for here in fixed_factors(drawn.factor_count, points, batch, rng):
        codes = drawn.batches(here, batch, rng)[:, :, of] / sd[of]
        np.add.at(votes, (of[codes.var(axis=1, ddof=1).argmin(axis=1)], here), 1.0)
    return votes
