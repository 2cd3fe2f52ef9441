"""TabularToy(delta): seven numbers made from three latents, whose signs are the concepts.

Paper 001, A.6, after Mahinpei et al. (2021): the latents are standard normal and every two of them
correlate with delta. The task asks whether at least two of them are positive.
"""

from __future__ import annotations

import numpy as np

from labapp.datasets.concepts.chance import equicorrelated, generator
from labapp.datasets.concepts.rows import ConceptRows, ConceptSplit
from labapp.datasets.split import ArrayRows, Float32, Float64

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
    """Freshly drawn rows; factors are the latents.

    Parameters
    ----------
    delta : correlation of every two latents, 0 to 1.
    train, test : numbers of rows; the paper's by default.

    Raises
    ------
    ValueError : delta outside 0 to 1, or a part without a row.
    """
    if train < 1 or test < 1:
        raise ValueError(f"both parts need a row, found {train} and {test}")
    z = equicorrelated(generator(seed), train + test, len(LATENTS), delta)
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
