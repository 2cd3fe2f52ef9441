"""CTL and ICL: how much more codes tell of the task, and of each other, than the concepts do.

Parisini et al. (2025, arXiv 2504.14094), concepts-task and interconcept leakage. With code i for
concept i,

    CTL_i  = max(0, I(code_i; y) / H(y) - I(concept_i; y) / H(y))
    ICL_ij = max(0, I(code_i; code_j) / sqrt(H(code_i) H(code_j))
                    - I(concept_i; concept_j) / sqrt(H(concept_i) H(concept_j)))

and the scores are the means over concepts, and over pairs. Formulas and estimators are those of the
code released with the paper, which is adapted from scikit-learn; here scikit-learn estimates
itself, which scales codes to an SD of 1 before it compares distances in two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.information import BINS, discretise
from labapp.models.metrics.inputs import (
    JSON,
    Concepts,
    Score,
    check_count,
    check_inputs,
    check_seed,
    concepts,
    refusal,
    task,
)
from labapp.models.metrics.ois import align as aligned
from labapp.models.metrics.ois import check_enough

_refuse = partial(refusal, "Leakage cannot be computed")

Estimator = Literal["neighbours", "bins"]
NEIGHBOURS = 3
"""As in the released code."""
Column = Int64 | Float64
"""Values of one code or concept, shape (n,): classes, int64, or measurements, float64."""
Shared = Callable[[Column, Column], float]
"""Mutual information of two columns, nats; of a column with itself, its entropy."""


def ctl(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    labels: ArrayLike,
    estimator: Estimator = "neighbours",
    neighbours: int = NEIGHBOURS,
    align: bool = False,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Concepts-task leakage, lower is better: by how much more of the label each code tells than
    the concept that it stands for, as a share of the label's entropy; 0 if none does.

    Returns a Score with the parts `per_factor` (K,), the leakage of each code, whose mean is the
    score; and `codes_on_task` and `concepts_on_task` (K,), shares of the label's entropy. Raises
    MetricError: see `inputs.check_inputs`, `inputs.concepts` and `inputs.task`; more codes than
    concepts if they are not aligned, or fewer; fewer neighbours than 1 or more than there are
    other rows, an unknown estimator, or a seed outside its range.

    codes : real numbers, shape (n, C): code i stands for concept i.
    factors : the concepts: columns of classes, shape (n, K). See `concepts.concepts`.
    labels : the label of each row in the task, shape (n,): up to 1,000 classes.
    estimator : "neighbours" counts nearest neighbours (Ross, 2014; Kraskov et al., 2004), as in the
        released code; "bins" counts in 20 bins of equal frequency. A code of whole numbers is
        counted value by value either way.
    neighbours : how many are looked at.
    align : put codes that were learnt without concepts into the concepts' order first, and leave
        out those that stand for none; see `alignment.align`.
    seed : of the tiny noise that parts equal values, and of the alignment; 0 to 2^32 - 1.
    as_published : taken so that all metrics are called alike: the default is as released.
    """
    c, targets, order = _pair_codes(codes, factors, align, seed)
    classes = task(labels, len(c)).labels[:, 0]
    shared = _estimator(estimator, neighbours, len(c), seed)
    entropy = shared(classes, classes)
    of_codes, of_concepts = (
        np.array([shared(column, classes) / entropy for column in columns])
        for columns in (_columns(c, estimator), targets.labels.T)
    )
    leaked = np.maximum(0.0, of_codes - of_concepts)
    return Score(
        metric="ctl",
        score=float(leaked.mean()),
        parts={"per_factor": leaked, "codes_on_task": of_codes, "concepts_on_task": of_concepts},
        settings=_settings(estimator, neighbours, order, seed, as_published, len(c)),
    )


def icl(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    estimator: Estimator = "neighbours",
    neighbours: int = NEIGHBOURS,
    align: bool = False,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Interconcept leakage, lower is better: by how much more two codes tell of each other than the
    concepts they stand for, as a share of their entropies; 0 if no pair does.

    A measurement has no entropy. By "neighbours", as in the released code, what a code tells of
    itself stands for it, which is the logarithm of the number of rows, less about 0.9, whatever the
    code is: 6.0 nats of 1,000 rows, if a concept of two classes has at most 0.7. So codes score
    low, the lower the more rows there are, and lower than the same codes cut into classes. "bins"
    counts codes and their entropies alike. Raises MetricError: as `ctl`; or a single concept, which
    has no pair.

    Parameters
    ----------
    codes : real numbers, shape (n, C): code i stands for concept i; at least two.
    factors, estimator, neighbours, align, seed, as_published : as in `ctl`.

    Returns
    -------
    Score with the parts `leakage` (K, K), symmetric, 0 on the diagonal, whose mean over pairs is
    the score; `between_codes` and `between_concepts` (K, K), the two shares that it is made of, 1
    on the diagonal; and `per_factor` (K,), the mean of each concept's pairs.
    """
    c, targets, order = _pair_codes(codes, factors, align, seed)
    count = len(targets.classes)
    if count < 2:
        raise _refuse(
            "there is only one concept, but a pair is needed", "Give at least two concepts."
        )
    shared = _estimator(estimator, neighbours, len(c), seed)
    of_codes = _between(_columns(c, estimator), shared)
    of_concepts = _between(list(targets.labels.T), shared)
    leaked = np.maximum(0.0, of_codes - of_concepts)
    np.fill_diagonal(leaked, 0.0)
    return Score(
        metric="icl",
        score=float(leaked.sum() / (count * (count - 1))),
        parts={
            "leakage": leaked,
            "between_codes": of_codes,
            "between_concepts": of_concepts,
            "per_factor": leaked.sum(axis=0) / (count - 1),
        },
        settings=_settings(estimator, neighbours, order, seed, as_published, len(c)),
    )


def _pair_codes(
    codes: ArrayLike, factors: ArrayLike, align: bool, seed: int
) -> tuple[Float64, Concepts, Int64 | None]:
    """The code of each concept, (n, K); the concepts; the order of codes, if it was found."""
    c, f = check_inputs(codes, factors)
    check_seed(seed)
    check_enough(c.shape[1], f.shape[1], exactly=not align)
    order = aligned(c, f, seed=seed).order if align else None
    return c if order is None else c[:, order], concepts(f), order


def _columns(codes: Float64, estimator: Estimator) -> list[Column]:
    """Codes of whole numbers, or of one value, as classes; others as they are, or as their bins."""
    columns: list[Column] = []
    for column in codes.T:
        if (column == np.rint(column)).all() or column.min() == column.max():
            columns.append(np.unique(column, return_inverse=True)[1])
        else:
            columns.append(
                column if estimator == "neighbours" else discretise(column, BINS, "equal-frequency")
            )
    return columns


def _estimator(name: Estimator, neighbours: int, rows: int, seed: int) -> Shared:
    if name not in get_args(Estimator):
        raise _refuse(f"the estimator is {name!r}", f"Allowed: {', '.join(get_args(Estimator))}.")
    check_count("neighbours", neighbours, 1)
    if neighbours >= rows:
        raise _refuse(
            f"{neighbours} neighbours were requested, but there are only {rows} rows",
            "Request fewer neighbours, or give more rows.",
        )

    def estimate(a: Column, b: Column) -> float:
        if a.dtype.kind == "i" and b.dtype.kind == "i":
            return float(mutual_info_score(a, b))
        if a.dtype.kind == "i":
            a, b = b, a
        estimate = mutual_info_classif if b.dtype.kind == "i" else mutual_info_regression
        return float(
            estimate(
                a[:, None], b, discrete_features=False, n_neighbors=neighbours, random_state=seed
            )[0]
        )

    return estimate


def _between(columns: list[Column], shared: Shared) -> Float64:
    """Mutual information of pairs over the root of their entropies' product, (K, K); 0 if that
    is 0."""
    count = len(columns)
    mutual = np.zeros((count, count))
    for i in range(count):
        for j in range(i, count):
            mutual[i, j] = mutual[j, i] = shared(columns[i], columns[j])
    entropies = np.diag(mutual)
    scale = np.sqrt(np.outer(entropies, entropies))
    shares = np.divide(mutual, scale, out=np.zeros_like(mutual), where=scale > 0)
    np.fill_diagonal(shares, 1.0)
    return shares


def _settings(
    estimator: Estimator,
    neighbours: int,
    order: Int64 | None,
    seed: int,
    as_published: bool,
    rows: int,
) -> dict[str, JSON]:
    counted: dict[str, JSON] = (
        {"neighbours": neighbours}
        if estimator == "neighbours"
        else {"bins": BINS, "binning": "equal-frequency"}
    )
    return {
        "codes": "in the order of the concepts" if order is None else "aligned greedily",
        **({} if order is None else {"alignment": [int(code) for code in order]}),
        "estimator": estimator,
        **counted,
        "seed": seed,
        "as_published": as_published,
        "rows": rows,
    }
