"""Pairs of representations on which DCIMIG contradicts MIG and DCI (paper 002, 5.2 and A.2).

The paper prints the matrices of four trained models of Cars3D as pictures, without numbers and
without the models. Made here instead: codes with the structure that the paper describes, whose
noise is set so that the scores come out near the published ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.reproduction.printing import Table, metric

Float64 = NDArray[np.float64]
Shares = tuple[float, ...]
"""How likely a code repeats each factor of its row; else it is a value by chance."""

ROWS, FACTORS, VALUES = 10_000, 3, 10
SEED = 0


def alone(share: float) -> list[Shares]:
    """A code for each factor that tells of it alone."""
    return [tuple(share * (factor == j) for j in range(FACTORS)) for factor in range(FACTORS)]


def beside(share: float, other: float) -> list[Shares]:
    """A code for each factor that tells of the next one too."""
    return [
        tuple({0: share, 1: other}.get((j - factor) % FACTORS, 0.0) for j in range(FACTORS))
        for factor in range(FACTORS)
    ]


def entangled(share: float, count: int) -> list[Shares]:
    """Codes that tell of all factors alike."""
    return [(share / FACTORS,) * FACTORS] * count


@dataclass(frozen=True, slots=True)
class Representation:
    what: str
    shares: list[Shares]
    published: tuple[float, float]
    """The other metric, and DCIMIG."""

    def rows(self) -> tuple[Float64, Float64]:
        """Codes and factors, each factor one of ten values."""
        random = np.random.default_rng(SEED)
        factors = random.integers(0, VALUES, (ROWS, FACTORS))
        columns = []
        for share in self.shares:
            source = random.choice(FACTORS + 1, size=ROWS, p=[*share, 1.0 - sum(share)])
            noise = random.integers(0, VALUES, ROWS)
            known = factors[np.arange(ROWS), source % FACTORS]
            columns.append(np.where(source < FACTORS, known, noise))
        return np.stack(columns, axis=1).astype(np.float64), factors.astype(np.float64)


PAIRS = {
    "mig": (
        Representation(
            "two codes for each factor, each of it alone (3a)",
            alone(0.452) + alone(0.39),
            (0.05, 0.233),
        ),
        Representation(
            "a code for each factor that tells of another too, and a weak second one (3b)",
            beside(0.38, 0.12) + alone(0.19),
            (0.12, 0.15),
        ),
    ),
    "dci": (
        Representation(
            "a code for each factor alone, and four that tell of all (4a)",
            alone(0.51) + entangled(0.99, 4),
            (0.38, 0.28),
        ),
        Representation(
            "a weaker code for each factor alone, and two that tell of all (4b)",
            alone(0.384) + entangled(0.8, 2),
            (0.42, 0.17),
        ),
    ),
}


def section() -> str:
    table = Table(["codes", "metric", "published", "ours", "DCIMIG published", "DCIMIG ours"])
    parts = []
    for name, pair in PAIRS.items():
        pairs = []
        for made in pair:
            codes, factors = made.rows()
            other = metric(name)(codes, factors, seed=SEED).score
            own = metric("dcimig")(codes, factors, seed=SEED).score
            pairs.append((other, own))
            table.add(
                made.what, name.upper(), f"{made.published[0]:.3g}", f"{other:.3f}",
                f"{made.published[1]:.3g}", f"{own:.3f}",
            )  # fmt: skip
        (first, own_first), (second, own_second) = pairs
        reversed_ = first < second and own_first > own_second
        parts.append(
            f"{name.upper()} prefers the second, DCIMIG the first"
            f"{'' if reversed_ else ': NOT SO HERE'}."
        )
    intro = (
        "The published pairs are trained models of Cars3D that are only shown as pictures; these "
        "codes are made to have their structure and to score near them, so the numbers show the "
        "reversal and repeat no measurement. Trained models on which these metrics disagree are in "
        "[reproduce_concepts.md](reproduce_concepts.md)."
    )
    return "\n\n".join((intro, str(table), " ".join(parts)))
