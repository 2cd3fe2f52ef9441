"""Samples instances that share the value of one factor, for BetaVAE and FactorVAE.

Both metrics are defined on a process that makes an instance of any factors and encodes it: a
`Sampler`. If there are only rows of codes and factors, `RowSampler` takes rows with the same value,
or with values that are nearly the same.

BetaVAE: whether a linear classifier can tell which factor a batch of pairs shares.

Higgins et al. (2017), as printed in paper 002, 3.1.1. (The paper says linear regressor; what
predicts one of K factors is a classifier, and the released code has one.)

FactorVAE: whether the code that varies least tells which factor a batch shares.

Kim and Mnih (2018), as printed in paper 002, 3.1.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labapp.base.errors import MetricError
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.inputs import Score, check_count, check_inputs, generator, refusal

_refuse = partial(refusal, "Instances that share a factor cannot be drawn")

ROWS_AT_ONCE = 2**16
"""Rows of codes that are in memory at once, approximately."""


class Sampler(Protocol):
    """Makes instances of any factors, and encodes them."""

    def factors(self, n: int, rng: np.random.Generator) -> Float64:
        """The factors of n instances drawn at random, shape (n, K)."""

    def codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        """Codes (n, C) of instances with these factors (n, K); a draw each where encoding is
        random."""


class InstanceSource(Protocol):
    """What the metrics draw from; `name` stands in their settings."""

    name: str
    rows: int | None
    factor_count: int

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        """Codes of instances as they occur, shape (n, C), or of all there are."""

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        """For each entry k of `fixed`, a batch of pairs of instances that share factor k: the codes
        of both, each of shape (len(fixed), batch, C)."""

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        """For each k of `fixed`, codes of instances that all share factor k: (len(fixed), batch,
        C)."""


def instance_source(
    codes: ArrayLike | None,
    factors: ArrayLike | None,
    sampler: Sampler | None,
    rng: np.random.Generator,
) -> InstanceSource:
    """The sampler if one is given, else the rows. Raises MetricError: both or neither are given;
    see `inputs.check_inputs` and `CheckedSampler`."""
    if sampler is not None and codes is None and factors is None:
        return CheckedSampler(sampler, rng)
    if sampler is None and codes is not None and factors is not None:
        return RowSampler(codes, factors)
    raise _refuse(
        "the metric needs either codes and factors or a sampler",
        "Give the two tables, or only the sampler.",
    )


class CheckedSampler:
    """Draws from a `Sampler`, whose answers are checked. Raises MetricError: factors or codes of
    another shape, or values that are no finite real numbers."""

    name = "given"
    rows: int | None = None

    def __init__(self, sampler: Sampler, rng: np.random.Generator) -> None:
        self._sampler = sampler
        self.factor_count = self._factors(2, rng).shape[1]

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        return self._codes(self._factors(n, rng), rng)

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        n, which = len(fixed) * batch, np.repeat(fixed, batch)
        first, second = self._factors(n, rng), self._factors(n, rng)
        second[np.arange(n), which] = first[np.arange(n), which]
        shape = (len(fixed), batch, -1)
        return self._codes(first, rng).reshape(shape), self._codes(second, rng).reshape(shape)

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        n, which = len(fixed) * batch, np.repeat(fixed, batch)
        factors = self._factors(n, rng)
        first = factors[::batch][np.arange(len(fixed)), fixed]
        factors[np.arange(n), which] = np.repeat(first, batch)
        return self._codes(factors, rng).reshape(len(fixed), batch, -1)

    def _factors(self, n: int, rng: np.random.Generator) -> Float64:
        # A copy: what the sampler keeps is not written into.
        return _check_draw("factors", self._sampler.factors(n, rng), n).copy()

    def _codes(self, factors: Float64, rng: np.random.Generator) -> Float64:
        return _check_draw("codes", self._sampler.codes(factors, rng), len(factors))


class RowSampler:
    """The fixed-data variant: rows are drawn anew from codes (n, C) and factors (n, K).

    A pair is a row and another one of the same value, or, for a value that no other row has, of the
    nearest value that occurs. A batch starts from the value of a row and takes any of the rows
    that have it, each once; if they are fewer than the batch, any of the rows within the least
    distance that holds as many. All factors but the fixed one are as they occur together in the
    rows: if they depend on each other, fixing one narrows others too.
    """

    name = "rows"

    def __init__(self, codes: ArrayLike, factors: ArrayLike) -> None:
        self._table, self._by = check_inputs(codes, factors)
        self.rows: int | None = len(self._table)
        self.factor_count = self._by.shape[1]
        self._found: dict[tuple[int, int], Neighbours] = {}

    def sample(self, n: int, rng: np.random.Generator) -> Float64:
        return self._table

    def pairs(self, fixed: Int64, batch: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
        first = rng.integers(len(self._table), size=(len(fixed), batch))
        second = np.empty_like(first)
        for k in np.unique(fixed):
            here = fixed == k
            second[here] = self._neighbours(int(k), 2).partners(first[here], rng)
        return self._table[first], self._table[second]

    def batches(self, fixed: Int64, batch: int, rng: np.random.Generator) -> Float64:
        if len(self._table) <= batch:
            raise _refuse(
                f"there are {len(self._table)} rows, but a batch has {batch}",
                "Give many more rows than there are in a batch, or use a smaller batch.",
            )
        first = rng.integers(len(self._table), size=len(fixed))
        places = np.empty((len(fixed), batch), dtype=np.int64)
        for k in np.unique(fixed):
            here = fixed == k
            places[here] = self._neighbours(int(k), batch).groups(first[here], rng)
        return self._table[places]

    def _neighbours(self, factor: int, size: int) -> Neighbours:
        key = (factor, size)
        if key not in self._found:
            self._found[key] = Neighbours(self._by[:, factor], size)
        return self._found[key]


class Neighbours:
    """For each row, all rows whose value in a column is no further than the nearest `size` rows'
    are, itself among them; a run of the rows in the order of their values."""

    def __init__(self, column: Float64, size: int) -> None:
        self._size = size
        self._order = np.argsort(column, kind="stable").astype(np.int64)
        n, value = len(column), column[self._order]
        place = np.arange(n)
        self._place = np.empty_like(self._order)
        self._place[self._order] = place
        # The first run of `size` whose end would not come nearer by moving on.
        start = _first(
            lambda s: value - value[s] <= value[np.minimum(s + size, n - 1)] - value,
            np.zeros(n, dtype=np.int64),
            np.full(n, n - size),
        )
        reach = np.maximum(value - value[start], value[start + size - 1] - value)
        self._low = _first(lambda s: value - value[s] <= reach, np.zeros(n, dtype=np.int64), place)
        self._high = _first(
            lambda s: value[np.minimum(s, n - 1)] - value > reach, place, np.full(n, n)
        )

    def partners(self, rows: Int64, rng: np.random.Generator) -> Int64:
        """For each row another one."""
        place = self._place[rows]
        low, high = self._low[place], self._high[place]
        other = low + rng.integers(high - low - 1)
        return np.asarray(self._order[other + (other >= place)])

    def groups(self, rows: Int64, rng: np.random.Generator) -> Int64:
        """For each row `size` different ones, shape (len(rows), size)."""
        places = np.empty((len(rows), self._size), dtype=np.int64)
        for index, place in enumerate(self._place[rows]):
            low, high = self._low[place], self._high[place]
            places[index] = low + rng.choice(high - low, self._size, replace=False, shuffle=False)
        return self._order[places]


def draw_fixed_factors(
    factor_count: int, points: int, batch: int, rng: np.random.Generator
) -> list[Int64]:
    """Which factor is shared at each point, numbers drawn from 0 to factor_count - 1; in portions
    that are made at once, so that memory does not grow with all points."""
    most = max(1, ROWS_AT_ONCE // batch)
    drawn = rng.integers(factor_count, size=points)
    return [drawn[start : start + most] for start in range(0, points, most)]


def _first(holds: Callable[[Int64], NDArray[np.bool_]], low: Int64, high: Int64) -> Int64:
    """The first place from `low` on at which a condition holds that then goes on holding, entry by
    entry; `high` if it does not before."""
    while (low < high).any():
        middle = (low + high) // 2
        reached, open_ = holds(middle), low < high
        low, high = np.where(open_ & ~reached, middle + 1, low), np.where(reached, middle, high)
    return low


def _check_draw(name: str, values: ArrayLike, n: int) -> Float64:
    array = np.asarray(values)
    if array.dtype.kind not in "buif" or array.ndim != 2 or len(array) != n or not array.shape[1]:
        raise _refuse(
            f"the sampler's {name} for {n} instances have shape {array.shape} and type "
            f"{array.dtype}",
            f"It must give real numbers of shape ({n}, columns).",
        )
    table = array.astype(np.float64, copy=False)
    if not np.isfinite(table).all():
        raise _refuse(f"the sampler's {name} are not all finite", "Put the sampler right.")
    return table


_refuse_betavae = partial(refusal, "BetaVAE cannot be computed")

BATCH = 64
POINTS = 10_000
TEST_POINTS = 5_000
ITERATIONS = 10_000
LARGEST_PUBLISHED = 1e30
"""Liblinear refuses more."""


def betavae(
    codes: ArrayLike | None = None,
    factors: ArrayLike | None = None,
    *,
    sampler: Sampler | None = None,
    batch: int = BATCH,
    points: int = POINTS,
    test_points: int = TEST_POINTS,
    seed: int = 0,
    as_published: bool = False,
) -> Score:
    """Accuracy of a linear classifier of factors, 0 to 1, higher is better; 1/K by chance.

    For each point a factor is drawn, and a batch of pairs of instances that share it; the point is
    the mean of |difference| of each code over the pairs, its class the factor. A linear classifier
    learns from `points` of them and is scored on `test_points` others.

    The paper does not say which classifier. Here it is multinomial logistic regression with the
    penalty of the released code (L2, C = 1). Each column of the points is first divided by its SD
    over the training points, which is not published: the units of the codes would otherwise decide
    how much the penalty weighs.

    Codes that each mix two factors score nearly 1 (paper 002, Fact 3). A second copy of a code
    leaves the score (Fact 1 holds that it falls, but the classifier may use either). The same under
    any order, sign and unit of the codes, up to rounding; other monotone maps may change it.

    Returns a Score with the parts `accuracy_train` (on the points learnt from), `accuracy_test`
    (the score), `per_factor` (K,), the accuracy among the test points of each factor (NaN if
    none was drawn), and `mean_difference` (C, K), the mean of the points of each factor, in the
    codes' units (NaN likewise). With one factor there is nothing to confuse: 1. Raises MetricError:
    see `sampling.instance_source`; a number or a seed outside its range; as published, a code whose
    values are beyond 1e30 apart; or a classifier that does not converge.

    codes, factors : real numbers, shapes (n, C) and (n, K), no factor constant: the fixed-data
        variant, in which pairs are rows (see `sampling.RowSampler`). A code that takes one value
        only tells nothing.
    sampler : instead of both, makes instances of any factors (see `sampling.Sampler`).
    batch : pairs in a batch, at least 1. 64 as in the large study of Locatello et al. (2019); paper
        002 has 128.
    points, test_points : at least 1.
    seed : of all draws, 0 to 2^32 - 1.
    as_published : as the released code behind the published scores, which takes the points as they
        are, so that the penalty weighs by the codes' unit: codes of an SD of 0.001 are at chance
        however clean they are. It learns one classifier for each factor against the others by
        liblinear, which scikit-learn took until 0.21, and penalises their intercepts too.
    """
    for name, value in (("batch", batch), ("points", points), ("test_points", test_points)):
        check_count(name, value, 1)
    rng = generator(seed)
    drawn = instance_source(codes, factors, sampler, rng)
    learn, label = _points(drawn, points, batch, rng)
    test, truth = _points(drawn, test_points, batch, rng)
    largest = np.max(learn, axis=0, initial=0.0)
    if as_published:
        unit = np.ones_like(largest)
        if max(largest.max(), test.max()) > LARGEST_PUBLISHED:
            raise _refuse_betavae(
                "codes differ by more than 1e30", "Give the codes in another unit."
            )
    else:
        # First to at most 1, because the SD of tiny numbers underflows.
        unit = np.where(largest > 0, largest, 1.0)
        spread = (learn / unit).std(axis=0)
        unit = unit * np.where(spread > 0, spread, 1.0)
    predict_learn, predict_test = _classify(learn / unit, label, test / unit, as_published, seed)
    right = predict_test == truth
    every = range(drawn.factor_count)
    return Score(
        metric="betavae",
        score=float(right.mean()),
        parts={
            "accuracy_train": float((predict_learn == label).mean()),
            "accuracy_test": float(right.mean()),
            "per_factor": np.stack([_mean(right[truth == k]) for k in every]),
            "mean_difference": np.stack([_mean(learn[label == k]) for k in every], axis=1),
        },
        settings={
            "sampler": drawn.name,
            "batch": batch,
            "points": points,
            "test_points": test_points,
            "classifier": "liblinear, one against the rest" if as_published else "multinomial",
            "points_standardised": not as_published,
            "seed": seed,
            "as_published": as_published,
            "rows": drawn.rows,
            "scikit_learn": sklearn.__version__,
        },
    )


def _points(
    drawn: InstanceSource, points: int, batch: int, rng: np.random.Generator
) -> tuple[Float64, Int64]:
    """Mean absolute differences (points, C) and which factor was shared (points,)."""
    differences, shared = [], draw_fixed_factors(drawn.factor_count, points, batch, rng)
    for here in shared:
        first, second = drawn.pairs(here, batch, rng)
        differences.append(np.abs(first - second).mean(axis=1))
    return np.concatenate(differences), np.concatenate(shared)


def _classify(
    learn: Float64, label: Int64, test: Float64, as_published: bool, seed: int
) -> tuple[Int64, Int64]:
    """Predictions for the points learnt from and for the others."""
    if (label == label[0]).all():
        return label, np.full(len(test), label[0])
    if as_published:
        binary = LogisticRegression(solver="liblinear", max_iter=ITERATIONS, random_state=seed)
        model = OneVsRestClassifier(binary)
    else:
        # Newton's steps end at the optimum, so that units and order do not decide; for a handful of
        # codes they are also the fastest.
        model = LogisticRegression(solver="newton-cholesky", max_iter=ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(learn, label)
        except ConvergenceWarning as unsettled:
            raise _refuse_betavae(
                f"the classifier does not converge within {ITERATIONS} steps",
                "Give the codes in units in which their values are around 1.",
            ) from unsettled
    return model.predict(learn), model.predict(test)


def _mean(rows: Float64 | NDArray[np.bool_]) -> Float64:
    return np.asarray(rows.mean(axis=0)) if len(rows) else np.full(rows.shape[1:], np.nan)


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
    score), `per_factor` (K,), the accuracy among the test points of each factor (NaN if none was
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
    """Of each code (C,), over n - 1; exactly 0 if it takes one value only."""
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
    for here in draw_fixed_factors(drawn.factor_count, points, batch, rng):
        codes = drawn.batches(here, batch, rng)[:, :, of] / sd[of]
        np.add.at(votes, (of[codes.var(axis=1, ddof=1).argmin(axis=1)], here), 1.0)
    return votes
