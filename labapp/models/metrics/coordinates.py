"""The coordinates in which a metric reads codes: their unit and origin count where a network is
trained briefly on them.

Two codes that are one-to-one functions of each other hold the same information, and a metric of
information should score them alike. OIS does not: logits score higher than the probabilities made
of them. Only scores in the same coordinates compare such codes.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64
from labapp.models.metrics.inputs import z_scores

Coordinates = Literal["as given", "standardised", "ranks"]
"""As given; less the mean and over the SD of each number; or standardised ranks, which any map that
keeps the order of rows leaves alone, logits and their probabilities among them."""


def in_coordinates(
    codes: Float64, coordinates: Coordinates, learnt_from: Float64 | None = None
) -> Float64:
    """Codes in these coordinates, float64, of the same shape.

    Parameters
    ----------
    codes : float64, shape (n, C, d).
    coordinates : see `Coordinates`. A number that takes one value only is 0 but as given.
    learnt_from : the rows, shape (m, C, d), whose mean, SD and ranks are taken; by default `codes`.

    Raises
    ------
    MetricError : other coordinates than these.
    """
    known = get_args(Coordinates)
    if coordinates not in known:
        raise MetricError(
            f"There are no coordinates {coordinates!r}.",
            safe="Nothing was written.",
            todo=f"Use one of: {', '.join(known)}.",
        )
    if coordinates == "as given":
        return codes
    rows, count = codes.reshape(len(codes), -1), len(codes)
    basis = rows if learnt_from is None else learnt_from.reshape(len(learnt_from), -1)
    if coordinates == "ranks":
        rows, basis = (
            np.stack([_ranks(*pair) for pair in zip(table.T, basis.T, strict=True)], axis=1)
            for table in (rows, basis)
        )
    whole = np.concatenate([rows, basis])
    return z_scores(whole, np.arange(count, len(whole)))[:count].reshape(codes.shape)


def _ranks(values: Float64, basis: Float64) -> Float64:
    """The share of the basis below each value, an equal one counting half."""
    ordered = np.sort(basis)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + up_to) / (2 * len(basis)))
