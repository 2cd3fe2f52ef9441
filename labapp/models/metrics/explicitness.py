"""Explicitness: how well a linear classifier reads each factor out of all codes together
(Ridgeway and Mozer, 2018)."""

from __future__ import annotations

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.information import BINS, labels
from labapp.models.metrics.inputs import Score, check_inputs, halves, z_scores
from labapp.models.metrics.roc import roc_auc

ITERATIONS = 1_000
"""Enough for the solver to end; how many it takes changes nothing else."""


def explicitness(
    codes: ArrayLike, factors: ArrayLike, *, seed: int = 0, as_published: bool = False
) -> Score:
    """Mean area under the ROC curve over classes and factors: 0.5 by chance, 1 at best.

    A multinomial logistic regression (L2 penalty with C = 1) of each factor on all codes, these
    standardised by the rows learnt from, is learnt from one half of the rows; on the other, the
    predicted probability of each class tells its rows from all others, and the areas are averaged
    over the factor's classes and then over factors. The area is given as it is, not as
    2 area - 1.

    All this is as in the released code of Locatello et al. (2019), which is how the metric is
    commonly computed, but for two choices of ours, which tables of rows ask for: the halves, in
    random order, and that a factor with more than 20 distinct values is cut into 20 equal widths.

    It says nothing of disentanglement: any mixture of the factors that a linear map undoes scores
    the same. Neither order, sign, unit nor origin of the codes matters.

    Parameters
    ----------
    codes : real numbers, shape (n, C), n at least 10. A code that does not vary among the rows
        learnt from is not used.
    factors : real numbers, shape (n, K), none of them constant.
    seed : of the order of the rows, 0 to 2^32 - 1.
    as_published : taken so that all metrics are called alike. The released code computes the same,
        but draws its two sets of rows from the data set's generator and takes every distinct value
        of a factor for a class.

    Returns
    -------
    Score with the parts
        per_factor : each factor's mean area over its classes, (K,). A class without a row in the
            scored half has no curve and is left out; of a class without one in the other half
            nothing was learnt, and its area is 0.5. NaN where the factor does not vary in the
            scored half; such factors are left out of the score.
        per_factor_train : the same on the half learnt from.
        train : mean of `per_factor_train`, NaN left out; NaN where no factor varies there.

    Raises
    ------
    MetricError : see `inputs.check_inputs` and `splitting.halves`; no factor varies in the scored
        half.
    """
    c, f = check_inputs(codes, factors)
    train, test = halves(len(c), seed)
    z = z_scores(c, train)
    per_factor, per_factor_train = np.zeros(f.shape[1]), np.zeros(f.shape[1])
    for index, factor in enumerate(f.T):
        # Bins that are empty over all rows are no classes.
        label = np.unique(labels(factor), return_inverse=True)[1]
        probabilities = _probabilities(z, label, train)
        per_factor_train[index] = _mean_area(probabilities, label, train)
        per_factor[index] = _mean_area(probabilities, label, test)
    if np.isnan(per_factor).all():
        raise MetricError(
            "Explicitness cannot be computed: no factor varies in the half of the rows that is "
            "scored.",
            safe="Nothing was written.",
            todo="Give more rows, or another seed.",
        )
    return Score(
        metric="explicitness",
        score=_mean_of_defined(per_factor),
        parts={
            "per_factor": per_factor,
            "per_factor_train": per_factor_train,
            "train": _mean_of_defined(per_factor_train),
        },
        settings={
            "factors": f"labels up to {BINS} values, else binned",
            "bins": BINS,
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "scikit_learn": sklearn.__version__,
        },
    )


def _probabilities(z: Float64, label: Int64, train: Int64) -> Float64:
    """Of each class in each row, (classes, n); 0 for a class that was not learnt."""
    learnt = np.unique(label[train])
    probabilities = np.zeros((int(label.max()) + 1, len(z)))
    if len(learnt) > 1:
        # One thread: on tables as narrow as codes, threads wait for each other more than they work.
        with threadpool_limits(1, "blas"):
            model = LogisticRegression(max_iter=ITERATIONS).fit(z[train], label[train])
        probabilities[learnt] = model.predict_proba(z).T
    return probabilities


def _mean_area(probabilities: Float64, label: Int64, rows: Int64) -> float:
    classes = np.arange(len(probabilities))[:, None]
    return _mean_of_defined(roc_auc(probabilities[:, rows], label[rows] == classes))


def _mean_of_defined(values: Float64) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
