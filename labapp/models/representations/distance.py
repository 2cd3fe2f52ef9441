"""Distances between an instance x and a target x': those of the published studies (paper 000, 3.1
and A.2), and usual ones for any picture or series. All are in [0, 1]; alignment = 1 - distance.

A usual one can be told a scale behind a stroke, as `mse/0.04`: then alignment is 1 where the two
are equal and 0 where they are as far apart as two pictures of the model usually are, or farther.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

Array = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distance:
    """How far a picture is from a target.

    many: the distances of pictures, shape (n, *shape), from a target of that shape: shape (n,).
    """

    many: Callable[[Array, Array], Float64]

    def __call__(self, x: Array, target: Array) -> float:
        return float(self.many(x[None], target)[0])


TOLERANCE = 0.5
"""Sinelines: points that differ by more than this disagree (A.2.1)."""
ALIGNMENT_SLACK = 0.001
"""A target is reached when alignment >= target - 0.001 (the published application)."""


def _sums(values: NDArray[np.float32 | np.bool_], dtype: type) -> NDArray[Any]:
    """The sum of each picture: shape (n,), of that type."""
    sums: NDArray[Any] = np.add.reduce(values.reshape(len(values), -1), axis=1, dtype=dtype)
    return sums


@Distance
def sinelines(x: Array, target: Array) -> Float64:
    """Fraction of the points whose absolute difference exceeds 0.5. Shapes (64,)."""
    return np.asarray(_sums(np.abs(x - target) > TOLERANCE, np.intp) / target.size)


def _over_the_whole(x: Array, target: Array, besides: float) -> Float64:
    """Sum of absolute differences over the sum of absolute values."""
    total = _sums(np.abs(x), np.float64) + _sums(np.abs(target)[None], np.float64) + besides
    apart = _sums(np.abs(x - target), np.float64)
    return np.asarray(apart / np.where(total == 0, 1.0, total))


@Distance
def dsprites(x: Array, target: Array) -> Float64:
    """Sum of absolute differences over the sum of absolute values, 0 when both are empty."""
    return _over_the_whole(x, target, 0.0)


@Distance
def dsprites_as_published(x: Array, target: Array) -> Float64:
    """As `dsprites`, with the 0.01 that the published application adds to the denominator."""
    return _over_the_whole(x, target, 0.01)


@Distance
def mnist(x: Array, target: Array) -> Float64:
    """1 - intersection over union of the rounded pixels; both empty: 0."""
    ours, theirs = x >= 0.5, target >= 0.5
    union, both = _sums(ours | theirs, np.intp), _sums(ours & theirs, np.intp)
    return np.where(union == 0, 0.0, 1.0 - both / np.maximum(union, 1))


def _means(values: Float64) -> Float64:
    return np.asarray(values.reshape(len(values), -1).mean(axis=1))


@Distance
def mse(x: Array, target: Array) -> Float64:
    """Mean of the squared differences of values in [0, 1]."""
    return _means(np.square(x.astype(np.float64) - target))


@Distance
def mae(x: Array, target: Array) -> Float64:
    """Mean of the absolute differences of values in [0, 1]."""
    return _means(np.abs(x.astype(np.float64) - target))


@Distance
def ssim(x: Array, target: Array) -> Float64:
    """(1 - SSIM) / 2, SSIM as Wang, Bovik, Sheikh and Simoncelli (2004) define it for values in [0,
    1]: Gaussian windows of standard deviation 1.5, cut at 11 points and by the edge of the picture;
    of colours the mean over the three."""
    return np.array([_ssim(picture, target) for picture in x])


def _ssim(x: Array, target: Array) -> float:
    from scipy.ndimage import gaussian_filter

    axes = tuple(range(min(x.ndim, 2)))
    a, b = x.astype(np.float64), target.astype(np.float64)

    def local(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(gaussian_filter(values, 1.5, truncate=3.5, axes=axes))

    mean_a, mean_b = local(a), local(b)
    variance_a, variance_b = local(a * a) - mean_a**2, local(b * b) - mean_b**2
    covariance = local(a * b) - mean_a * mean_b
    c_1, c_2 = 0.01**2, 0.03**2
    index = ((2 * mean_a * mean_b + c_1) * (2 * covariance + c_2)) / (
        (mean_a**2 + mean_b**2 + c_1) * (variance_a + variance_b + c_2)
    )
    edge = tuple(slice(5, -5) if size > 10 else slice(None) for size in x.shape[: len(axes)])
    return float((1.0 - index[edge].mean()) / 2.0)


PUBLISHED: dict[str, Distance] = {
    "sinelines": sinelines,
    "dsprites": dsprites,
    "dsprites_as_published": dsprites_as_published,
    "mnist": mnist,
}
USUAL: dict[str, Distance] = {"mse": mse, "mae": mae, "ssim": ssim}
NAMES = (*PUBLISHED, *USUAL)


@lru_cache(maxsize=64)
def get_distance(name: str) -> Distance:
    """The distance of a name, such as `mnist` or `mse/0.04`. Raises ValueError with all names."""
    kind, stroke, scale = name.partition("/")
    if kind in PUBLISHED and not stroke:
        return PUBLISHED[kind]
    try:
        size = float(scale) if stroke else 1.0
    except ValueError:
        size = 0.0
    if kind not in USUAL or not 0 < size < float("inf"):
        raise ValueError(
            f"one of {', '.join(NAMES)}, or {', '.join(USUAL)} with a scale, such as mse/0.04"
        )
    many = USUAL[kind].many
    return Distance(lambda x, target: np.minimum(1.0, many(x, target) / size))


def check_distance_name(name: str) -> str:
    """The name, if there is such a distance. Raises ValueError."""
    get_distance(name)
    return name


DistanceName = Annotated[str, AfterValidator(check_distance_name)]

TOLERANT = frozenset({"sinelines"})
"""Distances that count points which differ by more than `TOLERANCE`."""


def reaches_target(alignment: float, target: float) -> bool:
    """Whether an alignment counts as the target's."""
    return alignment >= target - ALIGNMENT_SLACK


def squared_errors(x: Array, target: Array) -> tuple[Float64, Float64]:
    """Sum and mean over pixels of the squared difference of pictures, shape (n, *shape), from a
    target: shape (n,) each.

    The paper calls the error a mean; its application and its published tables use the sum. Both
    are recorded.
    """
    differences = np.subtract(x, target, dtype=np.float64).reshape(len(x), -1)
    totals = np.add.reduce(differences * differences, axis=1)
    return totals, totals / target.size
