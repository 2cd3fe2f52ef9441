"""SAP, separated attribute predictability: by how much the best code predicts a factor better than
the second best.

Kumar et al. (2018), as printed in paper 002, 3.2.1: the mean over factors of the difference between
the two highest scores of a linear classifier or regression on one code.

Explicitness: how well a linear classifier reads each factor out of all codes together
(Ridgeway and Mozer, 2018).
"""

from __future__ import annotations

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.information import BINS, labels
from labapp.models.metrics.inputs import (
    LEAST_ROWS,
    Score,
    check_inputs,
    check_rows,
    halves,
    z_scores,
)
from labapp.models.metrics.roc import roc_auc

MOST_CLASSES = 10
PENALTY = 0.01
LARGEST_CLASSIFIED = 1e5
"""Larger codes are brought down to this size before they classify. The penalty on their weight is
next to nothing either way; beyond 1e6 the solver ends short of the solution, and of codes of 1e100
it found no end."""
TOLERANCE = 1e-12
"""scikit-learn's own, 1e-4, stops short of the solution where a code is some tens in size."""


def sap(
    codes: ArrayLike, factors: ArrayLike, *, seed: int = 0, as_published: bool = False
) -> Score:
    """The mean gap in predictability, 0 to 1, higher is better.

    A factor of at most 10 values, all of them whole numbers, is classified: a linear support vector
    classifier (C = 0.01, classes weighted to balance) learns from half of the rows, in random
    order, and its accuracy on the other half counts. Of any other factor the squared correlation
    with the code over all rows counts.

    Only straight lines are seen: of (z1^15, z2^15) it is 0.32, and of (z1, z1^25 + z2^25, z2) 0.90
    (paper 002, Facts 6 and 8; it prints 0.98 for the latter, which its formula does not give).
    Where a factor is classified, a code that knows nothing still guesses right by chance: the
    highest score is near 1 - 1 / classes, 0.5 for two classes of equal size. The classifier sees
    codes as they are, with penalties that hold down the weight of small ones and the intercept, so
    that unit and origin of a code matter there, and only its sign does not. Raises MetricError: see
    `inputs.check_inputs` and `splitting.halves`.

    Parameters
    ----------
    codes : real numbers, shape (n, C), n at least 10. A code that takes one value among the rows
        that are learnt from predicts the commonest value of the factor there (of equals the least)
        and explains no variance. With one code the runner-up is such a one.
    factors : real numbers, shape (n, K), none of them constant. One that takes a single value among
        the rows learnt from is predicted to be that by every code: no gap.
    seed : of the order of the rows, 0 to 2^32 - 1.
    as_published : as in paper 001, Table 1: the first fifth of the rows, in the order they come in,
        is learnt from and the rest scored; correlations are those of that fifth alone. The seed is
        not used.

    Returns
    -------
    Score with the parts
        per_factor : each factor's gap, (K,).
        predictability : accuracy, or squared correlation, of each code and factor, (C, K).
        chance : what a code that knows nothing scores, (K,): 0 for a squared correlation.
    """
    c, f = check_inputs(codes, factors)
    check_rows(len(c), LEAST_ROWS)
    if as_published:
        train, test = np.split(np.arange(len(c)), [len(c) // 5])
    else:
        train, test = halves(len(c), seed)
    classified = np.array([_is_label(column) for column in f.T])
    predictability = _squared_correlations(c, f, train if as_published else np.arange(len(c)))
    chance = np.zeros(f.shape[1])
    for index in np.flatnonzero(classified):
        # By number: of a class called 1e90, scikit-learn would make a whole number that is another.
        label = np.unique(f[:, index], return_inverse=True)[1]
        chance[index] = (label[test] == int(np.bincount(label[train]).argmax())).mean()
        for row, code in enumerate(c.T):
            predictability[row, index] = _accuracy(code, label, train, test, chance[index])
    # A second code that knows nothing, where there is but one.
    compared = predictability if len(predictability) > 1 else np.vstack([predictability, chance])
    ranked = np.sort(compared, axis=0)
    per_factor = ranked[-1] - ranked[-2]
    return Score(
        metric="sap",
        score=float(per_factor.mean()),
        parts={"per_factor": per_factor, "predictability": predictability, "chance": chance},
        settings={
            "classified": classified.tolist(),
            "most_classes": MOST_CLASSES,
            "penalty": PENALTY,
            "learnt_from": "the first fifth" if as_published else "half, drawn",
            "correlated_over": "the first fifth" if as_published else "all rows",
            "seed": None if as_published else seed,
            "as_published": as_published,
            "rows": len(c),
            "scikit_learn": sklearn.__version__,
        },
    )


def _is_label(factor: Float64) -> bool:
    return len(np.unique(factor)) <= MOST_CLASSES and bool((factor == np.round(factor)).all())


def _accuracy(code: Float64, label: Int64, train: Int64, test: Int64, chance: float) -> float:
    """Share of the test rows that the classifier gets right."""
    if np.ptp(code[train]) == 0 or np.ptp(label[train]) == 0:
        return chance
    seen = code[:, None] / max(1.0, np.abs(code).max() / LARGEST_CLASSIFIED)
    # The primal problem has the same solution as the dual, and nothing is drawn for it.
    model = LinearSVC(C=PENALTY, class_weight="balanced", dual=False, tol=TOLERANCE)
    model.fit(seen[train], label[train])
    return float(model.score(seen[test], label[test]))


def _squared_correlations(codes: Float64, factors: Float64, rows: Int64) -> Float64:
    """Over these rows, shape (C, K); 0 if a column does not vary."""
    c, f = (
        z_scores(codes[rows], np.arange(len(rows))),
        z_scores(factors[rows], np.arange(len(rows))),
    )
    return np.asarray(np.square(c.T @ f / len(rows)).clip(0.0, 1.0))


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
    commonly computed, except for two choices of ours, which tables of rows ask for: the halves, in
    random order, and that a factor with more than 20 distinct values is cut into 20 equal widths.

    It says nothing of disentanglement: any mixture of the factors that a linear map undoes scores
    the same. Neither order, sign, unit nor origin of the codes matters. Raises MetricError: see
    `inputs.check_inputs` and `splitting.halves`; no factor varies in the scored half.

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
            nothing was learnt, and its area is 0.5. NaN if the factor does not vary in the
            scored half; such factors are left out of the score.
        per_factor_train : the same on the half learnt from.
        train : mean of `per_factor_train`, NaN left out; NaN if no factor varies there.
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
