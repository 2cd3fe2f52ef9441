"""How well the items of a scale go together: Cronbach's alpha, and McDonald's omega total.

All items count the same way round already. Rows are people who answered all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from labapp.analysis.inference import SMALLEST

Matrix = NDArray[np.float64]
LEAST_OWN = 0.005
"""The least share of an item's variance that is taken to be its own, as in R's `factanal`."""
FACTOR_ITEMS = 3
"""With fewer items the loadings of one factor are not determined."""


@dataclass(frozen=True)
class Alpha:
    """Cronbach's (1951) coefficient, with the 95 % interval of Feldt, Woodruff and Salih (1987).

    Attributes
    ----------
    value : None where it was not worked out.
    low, high : the ends of the interval.
    why : why there is no value; else empty.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Omega:
    """McDonald's (1999) omega total of one factor.

    Attributes
    ----------
    value : None where it was not worked out.
    loadings : of the standardised items; none without a value.
    why : why there is no value, or what is to be known of it; else empty.
    """

    value: float | None = None
    loadings: tuple[float, ...] = ()
    why: str = ""


def alpha(rows: Matrix) -> Alpha:
    """Cronbach's alpha.

    k / (k − 1) · (1 − Σ variances / variance of the sum), and its interval
    1 − (1 − alpha) · F of n − 1 and (n − 1)(k − 1) degrees of freedom.

    rows : float64 of shape (people, items)
    """
    people, items = rows.shape
    if why := _unfit(rows):
        return Alpha(why=why)
    covariances = np.cov(rows, rowvar=False)
    whole, own = float(covariances.sum()), float(np.trace(covariances))
    if whole <= own:
        return Alpha(
            why="the answers do not go together: on average they vary against each other. Look "
            "whether an item is reversed that should not be, or the other way round"
        )
    value = items / (items - 1) * (1 - own / whole)
    degrees = people - 1, (people - 1) * (items - 1)
    low, high = (1 - (1 - value) * stats.f.ppf(q, *degrees) for q in (0.975, 0.025))
    return Alpha(float(value), float(low), float(high))


def _unfit(rows: Matrix) -> str:
    """Why nothing can be said of these rows; empty where something can."""
    people, items = rows.shape
    if items < 2:
        return "the scale has one item"
    if people < SMALLEST:
        return f"fewer than {SMALLEST} people answered all items"
    if (np.ptp(rows, axis=0) == 0).any():
        return "everybody gave the same answer to one of the items"
    return ""


def alphas_if_dropped(rows: Matrix) -> list[float | None]:
    """Alpha of the scale without each item; None where that cannot be worked out."""
    return [alpha(np.delete(rows, at, axis=1)).value for at in range(rows.shape[1])]


def item_rest(rows: Matrix) -> list[float | None]:
    """The correlation of each item with the sum of the others; None where one of the two is the
    same for everybody."""
    if len(rows) < SMALLEST:
        return [None] * rows.shape[1]
    correlations: list[float | None] = []
    for at, item in enumerate(rows.T):
        rest = np.delete(rows, at, axis=1).sum(axis=1)
        constant = np.ptp(item) == 0 or np.ptp(rest) == 0
        correlations.append(None if constant else float(np.corrcoef(item, rest)[0, 1]))
    return correlations


def omega(rows: Matrix) -> Omega:
    """McDonald's omega total: (Σ loadings)² / ((Σ loadings)² + Σ own variances) of the items in
    their own units, from one factor fitted by maximum likelihood.

    rows : float64 of shape (people, items)
    """
    people, items = rows.shape
    if why := _unfit(rows):
        return Omega(why=why)
    if items < FACTOR_ITEMS:
        return Omega(why=f"with fewer than {FACTOR_ITEMS} items one factor is not determined")
    correlations: Matrix = np.asarray(np.corrcoef(rows, rowvar=False), dtype=np.float64)
    if people <= items or np.linalg.matrix_rank(correlations) < items:
        return Omega(why="some items follow from others, or there are too few people for a factor")
    loadings, own, converged = one_factor(correlations)
    if not converged:
        return Omega(why="the fit of one factor did not come to an end")
    if (own <= LEAST_OWN * 1.001).any():
        return Omega(
            why="one factor explains an item wholly (a Heywood case), so that its fit says nothing"
        )
    deviations = rows.std(axis=0, ddof=1)
    shared = float((loadings * deviations).sum()) ** 2
    value = shared / (shared + float((own * deviations**2).sum()))
    against = bool((loadings < 0).any())
    why = "an item goes against the others: look whether it should be reversed" if against else ""
    return Omega(value, tuple(map(float, loadings)), why)


def one_factor(correlations: Matrix) -> tuple[Matrix, Matrix, bool]:
    """One factor by maximum likelihood (Jöreskog 1967): loadings, own variances, and whether the
    fit came to an end. The factor points where most loadings are positive."""
    items = len(correlations)

    def vectors(own: Matrix) -> tuple[Matrix, Matrix]:
        scale = 1 / np.sqrt(own)
        values, every = np.linalg.eigh(correlations * np.outer(scale, scale))
        return values, every

    def loadings_of(own: Matrix) -> Matrix:
        values, every = vectors(own)
        made: Matrix = np.sqrt(own) * every[:, -1] * np.sqrt(max(values[-1] - 1, 0.0))
        return made

    def misfit(own: Matrix) -> tuple[float, Matrix]:
        rest = vectors(own)[0][:-1]
        loadings = loadings_of(own)
        residual = np.outer(loadings, loadings) + np.diag(own) - correlations
        return -float(np.sum(np.log(rest) - rest)) + 1 - items, np.diag(residual) / own**2

    start = (1 - 0.5 / items) / np.diag(np.linalg.inv(correlations))
    fit = optimize.minimize(
        misfit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(LEAST_OWN, 1.0)] * items,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )
    own = np.asarray(fit.x, dtype=np.float64)
    loadings = loadings_of(own)
    if loadings.sum() < 0:
        loadings = -loadings
    inside = (own > LEAST_OWN) & (own < 1)
    steepest = float(np.abs(misfit(own)[1][inside]).max(initial=0.0))
    return loadings, own, bool(fit.success) or steepest < 1e-4
