"""R4: whether each factor has a code that predicts it and is predicted by it.

Ross and Doshi-Velez (2021), as their released code and paper 001, A.1, describe it: the coefficient
of determination, R^2, in both directions, and its geometric mean.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import train_test_split

from labapp.base.parallel.processes import cores
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.dci import r2, standardise
from labapp.models.metrics.inputs import Score, check_count, check_inputs, check_rows, generator

Division = tuple[Int64, Int64]
"""Numbers of training and of test rows."""
SPLITS = 5
TEST_SHARE = 0.25
LEAST_ROWS = 8
"""With fewer, the held-out quarter is a single row, on which no prediction can be measured."""
MOST_CATEGORIES = 10


def r4(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    splits: int = SPLITS,
    progress: Callable[[float], None] | None = None,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """The mean over factors of the best code's sqrt(r(code to factor) r(factor to code)), 0 to 1,
    higher is better.

    r is R^2 on held-out rows of gradient boosting (scikit-learn's defaults) that predicts one
    column from one other: the mean over random divisions into 75 % training and 25 % test rows,
    and 0 if that is negative. So the score asks for a code and a factor that are each a function
    of the other, of whatever shape. A code that mixes factors scores low, for no single factor
    predicts it; further codes, copies or others, cannot lower the score, and since the best of
    noisy values is taken, they raise it a little.

    The regressor, the divisions and their number are those of the released code, and so are the
    means. R^2 of targets of a few values, classes among them, too is our reading: it is what the
    metric is named for and described by, and it gives 0 to a code that knows nothing, where the
    released code gives the accuracy of a guess.

    The same under any order, sign and unit of the codes, but for ties that the trees break by
    chance. Other monotone maps move R^2 of the code, whose spread they change. It takes 2 C K
    `splits` fits, minutes for some thousand rows; they run on all processors, which changes no
    number. Raises MetricError: see `inputs.check_inputs`; fewer than 8 rows; a number or a seed
    outside its range.

    Parameters
    ----------
    codes : real numbers, shape (n, C), n at least 8. A code that takes one value only predicts
        nothing and is predicted by nothing: 0 with every factor.
    factors : real numbers, shape (n, K), none of them constant.
    splits : how many random divisions, at least 1.
    progress : told what share of the work is done, above 0 to 1.
    seed : of the divisions, which are the same for all pairs, and of the trees, 0 to 2^32 - 1.
    as_published : as the released code behind papers 000 and 001, whose r is the *accuracy* of a
        gradient boosting classifier if the target has at most 10 values and all are whole
        numbers: a code that knows nothing of such a factor still has the share of its commonest
        value. A target that takes one value only among the training or the test rows counts as
        predicted, r = 1; so a constant code is perfectly predicted.

    Returns
    -------
    Score with the parts `per_factor` (K,) and the matrices (C, K) `r4`, of the roots,
    `code_to_factor` and `factor_to_code`, of r; negative if a guess at the mean would be better.
    By default, divisions among whose test rows the target does not vary are left out; with none
    left, r is 0.
    """
    c, f = check_inputs(codes, factors)
    check_rows(len(c), LEAST_ROWS)
    check_count("splits", splits, 1)
    divisions: list[Division] = [
        tuple(train_test_split(np.arange(len(c)), test_size=TEST_SHARE, random_state=int(drawn)))
        for drawn in generator(seed).integers(2**32, size=splits)
    ]
    code_inputs, factor_inputs = standardise(c), standardise(f)
    # Classes are told by the values as they were given, a regression is on standardised ones.
    code_targets = c if as_published else code_inputs
    factor_targets = f if as_published else factor_inputs
    score = _score_as_released if as_published else _predictability
    directions = [
        direction
        for j, k in np.ndindex(c.shape[1], f.shape[1])
        for direction in (
            (code_inputs[:, j], factor_targets[:, k]),
            (factor_inputs[:, k], code_targets[:, j]),
        )
    ]
    scores = _each(lambda direction: score(*direction, divisions, seed), directions, progress)
    forth, back = np.moveaxis(np.reshape(scores, (c.shape[1], f.shape[1], 2)), 2, 0)
    roots = np.sqrt(np.maximum(forth, 0.0) * np.maximum(back, 0.0))
    best = roots.max(axis=0)
    return Score(
        metric="r4",
        score=float(best.mean()),
        parts={"per_factor": best, "r4": roots, "code_to_factor": forth, "factor_to_code": back},
        settings={
            "splits": splits,
            "test_share": TEST_SHARE,
            "categories_scored_by": "accuracy" if as_published else "r2",
            "seed": seed,
            "as_published": as_published,
            "rows": len(c),
            "scikit_learn": sklearn.__version__,
        },
    )


def _each(
    score: Callable[[tuple[Float64, Float64]], float],
    directions: list[tuple[Float64, Float64]],
    progress: Callable[[float], None] | None,
) -> list[float]:
    """The score of each source and target, in their order, on as many threads as the process has
    processors: a tree that grows needs no interpreter."""
    values = []
    threads = ThreadPoolExecutor(cores())
    try:
        for value in threads.map(score, directions):
            values.append(value)
            if progress is not None:
                progress(len(values) / len(directions))
    finally:
        # Of an interrupted one, what has not begun is left.
        threads.shutdown(cancel_futures=True)
    return values


def _predictability(
    source: Float64, target: Float64, divisions: list[Division], seed: int
) -> float:
    """Mean R^2 of the target (n,) predicted from the source (n,), over divisions where it varies
    among the test rows; 0 without any."""
    if (source == source[0]).all():
        return 0.0
    scores = []
    for train, test in divisions:
        if (target[test] == target[test[0]]).all():
            continue
        # A target with one value among the training rows is that value, whatever the source is.
        predicted = np.full(len(test), target[train[0]])
        if (target[train] != target[train[0]]).any():
            model = GradientBoostingRegressor(random_state=seed)
            model.fit(source[train, None], target[train])
            predicted = model.predict(source[test, None])
        scores.append(r2(target[test], predicted))
    return float(np.mean(scores)) if scores else 0.0


def _score_as_released(
    source: Float64, target: Float64, divisions: list[Division], seed: int
) -> float:
    """As `_predictability`, as in the released code; the target as it was given."""
    values, place = np.unique(target, return_inverse=True)
    categories = len(values) <= MOST_CATEGORIES and bool((values == np.round(values)).all())
    # Standardised for its unit's sake alone: R^2 is the same.
    wanted = place if categories else standardise(target[:, None])[:, 0]
    boosting = GradientBoostingClassifier if categories else GradientBoostingRegressor
    scores = []
    for train, test in divisions:
        if any((wanted[rows] == wanted[rows[0]]).all() for rows in (train, test)):
            scores.append(1.0)
            continue
        model = boosting(random_state=seed).fit(source[train, None], wanted[train])
        scores.append(float(model.score(source[test, None], wanted[test])))
    return float(np.mean(scores))
